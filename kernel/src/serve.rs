//! A kernel's process: its sockets, its signals, its end.
//!
//! All messages go through one thread, which never computes anything long: the session and the
//! questions about texts have threads of their own.

use crate::input;
use crate::kernel::{Kernel, Replies};
use crate::log;
use crate::parent;
use crate::publish::{Next, Publisher};
use crate::relay;
use crate::replies::{MAX_SEND_TIME, send};
use crate::wire::{Channel, Request};
use jupyter_protocol::{
    ConnectionInfo, Header, IoPubWelcome, JupyterMessage, JupyterMessageContent, Status,
};
use jupyter_zmq_client::{
    KernelHeartbeatConnection, KernelIoPubXPubConnection, RawMessage, RouterRecvConnection,
    RuntimeError, SubscriptionEvent, create_kernel_control_connection,
    create_kernel_heartbeat_connection, create_kernel_shell_connection,
    create_kernel_stdin_connection,
};
use nesl_interactive::state::Setup;
use nesl_interactive::worker::Worker;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::unbounded_channel;
use zeromq::{SocketRecv, SocketSend};

/// The longest time for which what is published about the first request waits for a subscriber.
const MAX_SUBSCRIPTION_TIME: Duration = Duration::from_secs(5);

/// At the end, messages have so long to leave.
const MAX_LINGER: Duration = Duration::from_secs(1);

/// The sockets have so long to write their last messages.
const LAST_WRITES: Duration = Duration::from_millis(50);

/// The session has so long to stop what it computes.
const MAX_STOP_TIME: Duration = Duration::from_millis(500);

/// The cell that runs is looked at after each of these.
const TICK: Duration = Duration::from_millis(50);

/// A reason why a kernel cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The connection file cannot be used.
    #[error("the connection file {0} cannot be used: {1}")]
    Connection(PathBuf, String),
    /// A socket cannot be used.
    #[error("the kernel cannot listen: {0}")]
    Socket(#[from] RuntimeError),
    /// The session cannot begin.
    #[error("the session cannot begin: {0}")]
    Session(String),
    /// The system refuses something.
    #[error("{0}")]
    System(#[from] std::io::Error),
}

/// Reads a connection file.
pub fn connection(path: &Path) -> Result<ConnectionInfo, Error> {
    let wrong = |reason: String| Error::Connection(path.to_owned(), reason);
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let info: ConnectionInfo =
        serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if info.signature_scheme != "hmac-sha256" {
        let scheme = &info.signature_scheme;
        return Err(wrong(format!("messages are signed by hmac-sha256, not by {scheme}")));
    }
    Ok(info)
}

/// Serves the clients of a connection file until one asks for the end, or the parent process ends.
pub fn serve(connection_file: &Path, setup: Setup) -> Result<(), Error> {
    let info = connection(connection_file)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // First of all: from here on, Ctrl-C does not end the process.
    let interrupts = {
        let _within = runtime.enter();
        interrupts()?
    };
    let worker = Worker::start(setup).map_err(Error::Session)?;
    let kernel = runtime.block_on(run(&info, worker, interrupts))?;
    // Whoever waits for the end of the process must not wait for a computation.
    let (stopped, wait) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        drop(kernel);
        let _ = stopped.send(());
    });
    let _ = wait.recv_timeout(MAX_STOP_TIME);
    Ok(())
}

/// Serves clients until the end.
async fn run(
    info: &ConnectionInfo,
    worker: Worker,
    interrupts: Interrupts,
) -> Result<Arc<Kernel>, Error> {
    let session = uuid::Uuid::new_v4().to_string();
    // First of all: a client that reaches the shell can also subscribe.
    let iopub = relay::listen(info, &session).await?;
    let (shell_out, shell) = create_kernel_shell_connection(info, &session).await?.split();
    let (control_out, control) = create_kernel_control_connection(info, &session).await?.split();
    let (stdin_out, stdin) = create_kernel_stdin_connection(info, &session).await?.split();
    let heartbeat = create_kernel_heartbeat_connection(info).await?;

    let publisher = Publisher::default();
    let (shell_queue, shell_messages) = unbounded_channel();
    let (control_queue, control_messages) = unbounded_channel();
    let (questions, question_messages) = unbounded_channel();
    let replies = Replies { shell: shell_queue, control: control_queue, questions };
    let handle = tokio::runtime::Handle::current();
    let kernel = Arc::new(Kernel::new(worker, publisher.clone(), replies, handle)?);

    publisher.send(None, Status::starting());
    tokio::spawn(publish(iopub, publisher.clone()));
    tokio::spawn(send(shell_out, shell_messages));
    tokio::spawn(send(control_out, control_messages));
    tokio::spawn(send(stdin_out, question_messages));
    tokio::spawn(beat(heartbeat));
    tokio::spawn(receive_interruptible(kernel.clone(), shell, interrupts));
    tokio::spawn(receive(kernel.clone(), Channel::Control, control));
    tokio::spawn(hear(kernel.clone(), stdin));
    tokio::spawn(tick(kernel.clone()));

    tokio::select! {
        () = kernel.ending.notified() => {}
        () = parent::gone() => eprintln!("nesl kernel: the process that started it has ended"),
    }
    kernel.interrupt();
    let end = Instant::now() + MAX_LINGER;
    while !publisher.is_empty() && Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(LAST_WRITES).await;
    Ok(kernel)
}

/// Receives a message whose signature is right; others are logged and dropped.
async fn next(connection: &mut RouterRecvConnection) -> Option<RawMessage> {
    let received = match connection.socket.recv().await {
        Ok(received) => received,
        Err(error) => {
            log(format_args!("a message could not be received: {error}"));
            // Not at once again: the error may stay.
            tokio::time::sleep(Duration::from_millis(10)).await;
            return None;
        }
    };
    match RawMessage::from_multipart(received, &connection.mac) {
        Ok(message) => Some(message),
        Err(error) => {
            log(format_args!("a message was refused: {error}"));
            None
        }
    }
}

/// Does what the requests of a channel ask for.
async fn receive(kernel: Arc<Kernel>, channel: Channel, mut connection: RouterRecvConnection) {
    loop {
        if let Some(raw) = next(&mut connection).await {
            handle(&kernel, channel, &raw);
        }
    }
}

/// Does what the requests of the shell channel ask for, and interrupts at the signal that Ctrl-C sends.
///
/// A request that was sent after the signal must not be interrupted by it. The system says of both that they are
/// there, in any order; so the signals that arrived before a request are looked for before it is handled.
async fn receive_interruptible(
    kernel: Arc<Kernel>,
    mut connection: RouterRecvConnection,
    mut interrupts: Interrupts,
) {
    loop {
        let raw = tokio::select! {
            biased;
            _ = interrupts.recv() => {
                kernel.interrupt();
                continue;
            }
            raw = next(&mut connection) => raw,
        };
        let Some(raw) = raw else { continue };
        // The runtime hears of signals when it looks for events.
        tokio::task::yield_now().await;
        tokio::select! {
            biased;
            _ = interrupts.recv() => kernel.interrupt(),
            () = std::future::ready(()) => {}
        }
        handle(&kernel, Channel::Shell, &raw);
    }
}

fn handle(kernel: &Arc<Kernel>, channel: Channel, raw: &RawMessage) {
    match Request::read(channel, raw) {
        Ok(request) => kernel.handle(request),
        Err(reason) => log(format_args!("a message was refused: {reason}")),
    }
}

/// Hands the answers of people to the program that waits for them.
async fn hear(kernel: Arc<Kernel>, mut connection: RouterRecvConnection) {
    loop {
        let Some(raw) = next(&mut connection).await else { continue };
        let question =
            raw.jparts.get(1).and_then(|part| serde_json::from_slice::<Header>(part).ok());
        match Request::read(Channel::Shell, &raw) {
            Ok(reply) if reply.header.msg_type == "input_reply" => {
                let answer: input::Answer = reply.content().unwrap_or_default();
                kernel.answers.give(question.as_ref().map(|header| &*header.msg_id), answer.value);
            }
            Ok(other) => log(format_args!("{} is no answer", other.header.msg_type)),
            Err(reason) => log(format_args!("a message was refused: {reason}")),
        }
    }
}

/// Sends everyone what is published, and welcomes those who subscribe.
async fn publish(mut iopub: KernelIoPubXPubConnection, publisher: Publisher) {
    let mut has_subscribers = false;
    loop {
        // Subscriptions first: who has subscribed misses nothing that is published later.
        let next = tokio::select! {
            biased;
            event = iopub.recv_subscription() => {
                has_subscribers |= welcome(&mut iopub, event).await;
                continue;
            }
            next = due(&publisher) => next,
        };
        if !has_subscribers && next.parent_header.is_some() {
            // A client's first request may arrive before its subscription, on another socket; an answer that is
            // published sooner would be lost, and some clients wait for it for ever.
            let first = async {
                loop {
                    let event = iopub.recv_subscription().await;
                    if welcome(&mut iopub, event).await {
                        break;
                    }
                }
            };
            let _ = tokio::time::timeout(MAX_SUBSCRIPTION_TIME, first).await;
            has_subscribers = true;
        }
        put(&mut iopub, next).await;
    }
}

/// Welcomes a new subscriber; returns true if the event was one.
async fn welcome<E>(
    iopub: &mut KernelIoPubXPubConnection,
    event: Result<SubscriptionEvent, E>,
) -> bool {
    match event {
        Ok(SubscriptionEvent::Subscribe(topic)) => {
            let content: JupyterMessageContent = IoPubWelcome::new(topic.clone()).into();
            let topic = bytes::Bytes::from(topic);
            put(iopub, crate::wire::message(vec![topic], None, content)).await;
            true
        }
        Ok(SubscriptionEvent::Unsubscribe(_)) => false,
        // The client has gone.
        Err(_) => {
            tokio::task::yield_now().await;
            false
        }
    }
}

/// Waits for the next message that is to be sent.
async fn due(publisher: &Publisher) -> JupyterMessage {
    loop {
        match publisher.next() {
            Next::Send(message) => return *message,
            Next::Wait(None) => publisher.changed().await,
            Next::Wait(Some(longest)) => {
                let _ = tokio::time::timeout(longest, publisher.changed()).await;
            }
        }
    }
}

async fn put(iopub: &mut KernelIoPubXPubConnection, message: JupyterMessage) {
    match tokio::time::timeout(MAX_SEND_TIME, iopub.send(message)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => log(format_args!("a message could not be published: {error}")),
        Err(_) => log("a client does not take what is published"),
    }
}

/// Answers heartbeats with what they say.
async fn beat(mut heartbeat: KernelHeartbeatConnection) {
    loop {
        match heartbeat.socket.recv().await {
            Ok(beat) => drop(heartbeat.socket.send(beat).await),
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

/// Lets cells show how far they are.
async fn tick(kernel: Arc<Kernel>) {
    loop {
        kernel.tick().await;
        tokio::time::sleep(TICK).await;
    }
}

/// The signals that Ctrl-C sends.
#[cfg(unix)]
type Interrupts = tokio::signal::unix::Signal;

/// The signals that Ctrl-C sends.
#[cfg(windows)]
type Interrupts = tokio::signal::windows::CtrlC;

/// Begins to listen for the signals that Ctrl-C sends.
fn interrupts() -> std::io::Result<Interrupts> {
    #[cfg(unix)]
    return tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt());
    #[cfg(windows)]
    return tokio::signal::windows::ctrl_c();
}
