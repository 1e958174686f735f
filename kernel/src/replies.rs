//! Messages to single clients: replies, and questions to people.
//!
//! A client may not be connected when something is to be sent to it: its channels connect one after
//! another, each in its own time, so that a cell may ask for a line before the channel for questions is
//! there; and a client whose connection fails connects again under its old name. The socket refuses
//! what it has no connection for. Here that waits for the client, in order.

use crate::log;
use bytes::Bytes;
use jupyter_protocol::JupyterMessage;
use jupyter_zmq_client::RouterSendConnection;
use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout_at;

/// A client that does not take a message within this misses it.
pub const MAX_SEND_TIME: Duration = Duration::from_secs(1);

/// A message waits for so long for its client to connect.
const MAX_ABSENCE: Duration = Duration::from_secs(30);

/// Clients that are not connected are tried again after this.
const RETRY_AFTER: Duration = Duration::from_millis(20);

/// The number of messages that wait for clients, at most.
const MAX_WAITING_MESSAGES: usize = 10_000;

/// The messages to clients that are not connected.
#[derive(Default)]
struct Waiting {
    /// By the name of the client: its messages, in order, and the times at which they were to be sent.
    clients: HashMap<Bytes, VecDeque<(Instant, JupyterMessage)>>,
    /// The number of all messages.
    messages: usize,
}

/// Sends the messages of a queue.
pub async fn send(mut to: RouterSendConnection, mut queue: UnboundedReceiver<JupyterMessage>) {
    let mut waiting = Waiting::default();
    let mut retry_at = tokio::time::Instant::now();
    loop {
        // Whatever is sent to other clients in the meantime.
        if waiting.messages > 0 && tokio::time::Instant::now() >= retry_at {
            waiting.try_again(&mut to).await;
            retry_at = tokio::time::Instant::now() + RETRY_AFTER;
        }
        let next = match waiting.messages {
            0 => queue.recv().await,
            _ => match timeout_at(retry_at, queue.recv()).await {
                Ok(next) => next,
                Err(_) => continue,
            },
        };
        let Some(message) = next else { return };
        let client = client(&message);
        // What waits for the same client comes first.
        let refused = match waiting.clients.contains_key(&client) {
            true => Some(message),
            false => try_to_send(&mut to, message).await,
        };
        if let Some(message) = refused {
            waiting.push(client, message);
        }
    }
}

/// Returns the name of the client that a message goes to.
fn client(message: &JupyterMessage) -> Bytes {
    message.zmq_identities.first().cloned().unwrap_or_default()
}

/// Sends a message; returns it if its client is not connected.
async fn try_to_send(
    to: &mut RouterSendConnection,
    message: JupyterMessage,
) -> Option<JupyterMessage> {
    match tokio::time::timeout(MAX_SEND_TIME, to.send(message.clone())).await {
        Ok(Ok(())) => None,
        Ok(Err(_)) => Some(message),
        Err(_) => {
            log("a client does not take its replies");
            None
        }
    }
}

impl Waiting {
    fn push(&mut self, client: Bytes, message: JupyterMessage) {
        if self.messages == MAX_WAITING_MESSAGES {
            return log("a reply is dropped: too many wait for clients that are not connected");
        }
        self.messages += 1;
        self.clients.entry(client).or_default().push_back((Instant::now(), message));
    }

    /// Sends what waits for clients that are connected by now, and drops what has waited for too long.
    async fn try_again(&mut self, to: &mut RouterSendConnection) {
        for messages in self.clients.values_mut() {
            while let Some((since, message)) = messages.pop_front() {
                let Some(refused) = try_to_send(to, message).await else {
                    self.messages -= 1;
                    continue;
                };
                if since.elapsed() < MAX_ABSENCE {
                    messages.push_front((since, refused));
                    break;
                }
                self.messages -= 1;
                // A client that has gone is no surprise.
                log("a reply is dropped: its client is not connected any more");
            }
        }
        self.clients.retain(|_, messages| !messages.is_empty());
    }
}
