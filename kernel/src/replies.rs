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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;
    use jupyter_protocol::ConnectionInfo;
    use jupyter_protocol::connection_info::Transport;
    use jupyter_zmq_client::{
        ClientShellConnection, create_client_shell_connection_with_identity,
        create_kernel_shell_connection, peer_identity_for_session,
    };
    use std::net::Ipv4Addr;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
    use std::thread;
    use tokio::sync::mpsc::unbounded_channel;
    use zeromq::{Endpoint, Socket, SocketRecv};

    /// So many messages to the busy client are on their way at any time.
    const UNDER_WAY: usize = 20_000;

    /// The test fails if it takes longer.
    const MAX_WAIT: Duration = Duration::from_secs(30);

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(future)
    }

    fn message(client: &str) -> JupyterMessage {
        let identity = Bytes::copy_from_slice(client.as_bytes());
        wire::message(vec![identity], None, wire::content("test_reply", serde_json::json!({})))
    }

    async fn connect(info: &ConnectionInfo, client: &str) -> ClientShellConnection {
        let identity = peer_identity_for_session(client).expect("an identity");
        let connect = create_client_shell_connection_with_identity(info, client, identity);
        connect.await.expect("it listens")
    }

    /// Sends the messages of a queue on a thread of its own; returns the address of the socket.
    fn serve(queue: UnboundedReceiver<JupyterMessage>) -> ConnectionInfo {
        let (told, listens) = std::sync::mpsc::channel();
        thread::spawn(move || {
            block_on(async {
                let mut info = ConnectionInfo {
                    ip: Ipv4Addr::LOCALHOST.to_string(),
                    transport: Transport::TCP,
                    shell_port: 0,
                    iopub_port: 0,
                    stdin_port: 0,
                    control_port: 0,
                    hb_port: 0,
                    key: "a key".to_owned(),
                    signature_scheme: "hmac-sha256".to_owned(),
                    kernel_name: None,
                };
                let mut shell =
                    create_kernel_shell_connection(&info, "kernel").await.expect("a port");
                if let Some(Endpoint::Tcp(_, port)) = shell.socket.binds().keys().next() {
                    info.shell_port = *port;
                }
                let (out, _received) = shell.split();
                told.send(info).expect("the test waits for it");
                send(out, queue).await;
            });
        });
        listens.recv().expect("it listens")
    }

    #[test]
    fn a_message_that_waits_is_sent_although_the_queue_is_never_empty() {
        let (replies, queue) = unbounded_channel();
        let info = serve(queue);
        let (received, ends) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let busy = {
            let (info, received) = (info.clone(), received.clone());
            let (told, connected) = std::sync::mpsc::channel();
            thread::spawn(move || {
                block_on(async {
                    let mut busy = connect(&info, "busy").await;
                    told.send(()).expect("the test waits for it");
                    while busy.socket.recv().await.is_ok() {
                        received.fetch_add(1, SeqCst);
                    }
                });
            });
            connected
        };
        busy.recv().expect("it connects");
        replies.send(message("late")).expect("it is queued");
        let feeds = {
            let ends = ends.clone();
            thread::spawn(move || {
                let mut sent = 0;
                while !ends.load(SeqCst) {
                    if sent - received.load(SeqCst) < UNDER_WAY {
                        replies.send(message("busy")).expect("it is queued");
                        sent += 1;
                    } else {
                        thread::sleep(Duration::from_millis(1));
                    }
                }
                received.load(SeqCst)
            })
        };
        // The client connects when the queue has been busy for a while.
        thread::sleep(10 * RETRY_AFTER);
        let arrived = block_on(async {
            let mut late = connect(&info, "late").await;
            tokio::time::timeout(MAX_WAIT, late.socket.recv()).await.is_ok()
        });
        ends.store(true, SeqCst);
        let taken = feeds.join().expect("no panic");
        assert!(arrived, "others were sent {taken} messages meanwhile");
    }
}
