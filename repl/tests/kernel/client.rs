//! A client of the kernel: requests without waiting, answers by the request that they belong to.

use jupyter_protocol::{JupyterMessage, UnknownMessage};
use jupyter_zmq_client::{
    ClientControlConnection, ClientHeartbeatConnection, ClientIoPubConnection,
    ClientShellConnection, ClientStdinConnection, RawMessage, create_client_control_connection,
    create_client_heartbeat_connection, create_client_iopub_connection,
    create_client_shell_connection_with_identity, create_client_stdin_connection_with_identity,
    peer_identity_for_session,
};
use nesl_kernel::client::Started;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::future::Future;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Runtime;
use zeromq::{SocketRecv, ZmqMessage};

/// A wait that takes longer has failed.
pub const MAX_WAIT: Duration = Duration::from_secs(30);

/// A channel that is connected late is connected after this.
const LATE: Duration = Duration::from_millis(700);

/// The session that the client says it is.
const SESSION: &str = "the-client";

/// A message that the kernel sent, whose signature is right.
#[derive(Clone, Debug)]
pub struct Message {
    pub kind: String,
    pub parent: String,
    pub content: Value,
    pub id: String,
}

/// A kernel's process, and a client of it.
pub struct Client {
    runtime: Runtime,
    pub kernel: Started,
    pub shell: ClientShellConnection,
    control: ClientControlConnection,
    iopub: ClientIoPubConnection,
    stdin: ClientStdinConnection,
    heartbeat: ClientHeartbeatConnection,
    replies: VecDeque<Message>,
    published: VecDeque<Message>,
}

/// The messages that came of a cell.
#[derive(Debug)]
pub struct Done {
    /// The content of the reply.
    pub reply: Value,
    /// Everything published, from `busy` to `idle`: the kinds of messages, and their contents.
    pub published: Vec<(String, Value)>,
}

impl Done {
    /// The contents of the messages of a kind.
    pub fn all(&self, kind: &str) -> Vec<&Value> {
        self.published.iter().filter(|(each, _)| each == kind).map(|(_, content)| content).collect()
    }

    /// Returns what a notebook keeps: the outputs that are not cleared later, in a short form.
    pub fn kept(&self) -> Vec<String> {
        let (mut kept, mut clears) = (Vec::new(), false);
        for (kind, content) in &self.published {
            match kind.as_str() {
                "clear_output" if content["wait"] == true => clears = true,
                "clear_output" => kept.clear(),
                "status" | "execute_input" | "update_display_data" => {}
                _ => {
                    if std::mem::take(&mut clears) {
                        kept.clear();
                    }
                    let one = vec![(kind.clone(), content.clone())];
                    let one = Done { reply: Value::Null, published: one };
                    kept.extend(one.said());
                }
            }
        }
        kept
    }

    /// Everything published besides statuses and the text itself, in a short form.
    pub fn said(&self) -> Vec<String> {
        let said = self.published.iter().filter_map(|(kind, content)| match kind.as_str() {
            "status" | "execute_input" => None,
            "stream" => {
                let name = content["name"].as_str().unwrap_or("?");
                Some(format!("{name}: {}", content["text"].as_str().unwrap_or("?")))
            }
            "error" => Some(format!("error: {}", content["evalue"].as_str().unwrap_or("?"))),
            kind => {
                Some(format!("{kind}: {}", content["data"]["text/plain"].as_str().unwrap_or("?")))
            }
        });
        said.collect()
    }
}

/// Starts a kernel.
pub fn start() -> Client {
    start_with(&[], Stdio::null())
}

/// Starts a kernel with arguments of its own.
pub fn start_with_arguments(arguments: &[&str]) -> Client {
    connect(&[&[env!("CARGO_BIN_EXE_nesl")], arguments].concat(), Stdio::null(), None).0
}

/// Starts a kernel, and connects the other channels only after the reply to a first cell; returns the id of the
/// request, too.
pub fn start_and_subscribe_late(code: &str) -> (Client, String) {
    connect(&[env!("CARGO_BIN_EXE_nesl")], Stdio::null(), Some(First { code, asks: false }))
}

/// Starts a kernel, and connects the other channels only after a first cell has asked for a line; returns the id
/// of the request, too.
pub fn start_and_listen_late(code: &str) -> (Client, String) {
    connect(&[env!("CARGO_BIN_EXE_nesl")], Stdio::null(), Some(First { code, asks: true }))
}

/// A cell that is sent as soon as the shell channel is connected, before the other channels are.
#[derive(Clone, Copy)]
struct First<'a> {
    code: &'a str,
    /// True if it asks for a line, so that there is no reply yet.
    asks: bool,
}

/// Starts a kernel by a program that starts it, or none; its errors go to `errors`.
pub fn start_with(starter: &[&str], errors: Stdio) -> Client {
    connect(&[starter, &[env!("CARGO_BIN_EXE_nesl")]].concat(), errors, None).0
}

/// Held while a kernel starts.
static STARTING: Mutex<()> = Mutex::new(());

/// Starts a kernel by a command, and connects to it. Returns the id of the first cell, if there is one, or an
/// empty text.
fn connect(command: &[&str], errors: Stdio, first: Option<First<'_>>) -> (Client, String) {
    let kernel = ["kernel", "--connection-file", "{connection_file}"];
    let words = command.iter().chain(&kernel);
    let argv: Vec<String> = words.map(|word| (*word).to_owned()).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    // Ports are free when they are chosen, and taken when the kernel listens.
    let one_at_a_time = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    let connected = runtime.block_on(async {
        let mut kernel = Started::start(&argv, errors).expect("it starts");
        let mut shell = kernel.shell(SESSION, MAX_WAIT).await.expect("it listens");
        let (mut asked, mut replies) = (String::new(), VecDeque::new());
        if let Some(First { code, asks }) = first {
            let content = json!({ "code": code, "allow_stdin": asks });
            let message = request("execute_request", content);
            asked.clone_from(&message.header.msg_id);
            within(shell.send(message)).await.expect("it is sent");
            if asks {
                tokio::time::sleep(LATE).await;
            }
        }
        if first.is_some_and(|first| !first.asks) {
            let reply = within(shell.socket.recv()).await.expect("a reply");
            let reply = RawMessage::from_multipart(reply, &shell.mac).expect("it is signed");
            replies.push_back(parsed(&reply));
        }
        let info = &kernel.info;
        let identity = peer_identity_for_session(SESSION).expect("an identity");
        let control = create_client_control_connection(info, SESSION).await.expect("control");
        let stdin = create_client_stdin_connection_with_identity(info, SESSION, identity);
        let stdin = stdin.await.expect("stdin");
        let heartbeat = create_client_heartbeat_connection(info).await.expect("heartbeat");
        let iopub = create_client_iopub_connection(info, "", SESSION).await.expect("iopub");
        (kernel, shell, control, iopub, stdin, heartbeat, asked, replies)
    });
    drop(one_at_a_time);
    let (kernel, shell, control, iopub, stdin, heartbeat, asked, replies) = connected;
    let mut client = Client {
        runtime,
        kernel,
        shell,
        control,
        iopub,
        stdin,
        heartbeat,
        replies,
        published: VecDeque::new(),
    };
    // It says that it starts to those who are there by then.
    let welcome = client.next_published();
    assert_eq!(
        (welcome.kind.as_str(), &welcome.content["subscription"]),
        ("iopub_welcome", &json!(""))
    );
    (client, asked)
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(MAX_WAIT, future).await.expect("it is in time")
}

fn request(kind: &str, content: Value) -> JupyterMessage {
    UnknownMessage { msg_type: kind.to_owned(), content }.into()
}

fn parsed(raw: &RawMessage) -> Message {
    let part = |at: usize| -> Value {
        serde_json::from_slice(&raw.jparts[at]).expect("the parts of messages are JSON")
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let header = part(0);
    assert_eq!(header["version"], "5.4");
    Message {
        kind: text(&header["msg_type"]),
        id: text(&header["msg_id"]),
        parent: text(&part(1)["msg_id"]),
        content: part(3),
    }
}

/// Receives a message on a connection, after which its signature is right.
macro_rules! receive {
    ($client:ident, $connection:ident) => {{
        let connection = &mut $client.$connection;
        let raw = $client.runtime.block_on(within(connection.socket.recv())).expect("a message");
        parsed(&RawMessage::from_multipart(raw, &connection.mac).expect("it is signed"))
    }};
}

impl Client {
    /// Sends a request on the shell channel; returns its id.
    pub fn send(&mut self, kind: &str, content: Value) -> String {
        let message = request(kind, content);
        let id = message.header.msg_id.clone();
        self.runtime.block_on(within(self.shell.send(message))).expect("it is sent");
        id
    }

    /// Sends a request on the control channel; returns its id.
    pub fn send_control(&mut self, kind: &str, content: Value) -> String {
        let message = request(kind, content);
        let id = message.header.msg_id.clone();
        self.runtime.block_on(within(self.control.send(message))).expect("it is sent");
        id
    }

    /// Sends the parts of a message on the shell channel as they are.
    pub fn send_parts(&mut self, parts: &[&[u8]]) {
        let (first, rest) = parts.split_first().expect("there are parts");
        let mut message = ZmqMessage::from(first.to_vec());
        rest.iter().for_each(|part| message.push_back(part.to_vec().into()));
        let send = zeromq::SocketSend::send(&mut self.shell.socket, message);
        self.runtime.block_on(within(send)).expect("it is sent");
    }

    /// Closes the connection of the shell channel.
    pub fn leave_shell(&mut self) {
        self.runtime.block_on(async {
            // A connection under another name takes its place.
            let other = self.kernel.shell("nobody", MAX_WAIT).await.expect("it listens");
            drop(std::mem::replace(&mut self.shell, other));
            // It is closed by a task.
            tokio::time::sleep(Duration::from_millis(50)).await;
        });
    }

    /// Connects the shell channel again, under the same name.
    pub fn enter_shell(&mut self) {
        let identity = peer_identity_for_session(SESSION).expect("an identity");
        let info = &self.kernel.info;
        let connect = create_client_shell_connection_with_identity(info, SESSION, identity);
        self.shell = self.runtime.block_on(within(connect)).expect("shell");
    }

    /// Asks to run a cell; returns the id of the request.
    pub fn execute(&mut self, code: &str) -> String {
        self.send("execute_request", json!({ "code": code }))
    }

    /// The next reply on the shell channel.
    pub fn next_reply(&mut self) -> Message {
        receive!(self, shell)
    }

    /// The reply to a request on the shell channel.
    pub fn reply(&mut self, id: &str) -> Message {
        if let Some(at) = self.replies.iter().position(|message| message.parent == id) {
            return self.replies.remove(at).expect("it is there");
        }
        loop {
            let message = self.next_reply();
            if message.parent == id {
                return message;
            }
            self.replies.push_back(message);
        }
    }

    /// The reply to a request on the shell channel, if it comes in time.
    pub fn reply_within(&mut self, id: &str, longest: Duration) -> Option<Message> {
        let (socket, mac) = (&mut self.shell.socket, &self.shell.mac);
        let next =
            self.runtime.block_on(async { tokio::time::timeout(longest, socket.recv()).await });
        let raw = next.ok()?.expect("a message");
        let message = parsed(&RawMessage::from_multipart(raw, mac).expect("it is signed"));
        assert_eq!(message.parent, id);
        Some(message)
    }

    /// The next reply on the control channel.
    pub fn control_reply(&mut self) -> Message {
        receive!(self, control)
    }

    /// The next question to the person.
    pub fn question(&mut self) -> Message {
        receive!(self, stdin)
    }

    /// Answers a question.
    pub fn answer(&mut self, question: &Message, value: &str) {
        let mut message = request("input_reply", json!({ "value": value, "status": "ok" }));
        let mut parent = message.header.clone();
        parent.msg_id.clone_from(&question.id);
        message.parent_header = Some(parent);
        self.runtime.block_on(within(self.stdin.send(message))).expect("it is sent");
    }

    /// Sends a heartbeat, and waits for its answer.
    pub fn beat(&mut self) {
        self.runtime.block_on(within(self.heartbeat.single_heartbeat())).expect("a heartbeat");
    }

    /// The next message that was published.
    pub fn next_published(&mut self) -> Message {
        receive!(self, iopub)
    }

    /// The messages that were published of a request, up to its `idle`; those of others are kept.
    pub fn published(&mut self, id: &str) -> Vec<Message> {
        let mut all = Vec::new();
        let mut earlier = std::mem::take(&mut self.published);
        loop {
            let message = match earlier.pop_front() {
                Some(message) => message,
                None => self.next_published(),
            };
            if message.parent != id {
                self.published.push_back(message);
                continue;
            }
            let ends = message.content["execution_state"] == "idle";
            all.push(message);
            if ends {
                self.published.append(&mut earlier);
                return all;
            }
        }
    }

    /// Waits until a message of a kind is published of a request.
    pub fn wait_for(&mut self, id: &str, kind: &str) -> Message {
        loop {
            let message = self.next_published();
            let found = message.parent == id && message.kind == kind;
            self.published.push_back(message.clone());
            if found {
                return message;
            }
        }
    }

    /// Runs a cell to its end.
    pub fn run(&mut self, code: &str) -> Done {
        self.run_with(json!({ "code": code }))
    }

    /// Does a request to run a cell.
    pub fn run_with(&mut self, content: Value) -> Done {
        let id = self.send("execute_request", content);
        self.done(&id)
    }

    /// Waits for the end of a cell.
    pub fn done(&mut self, id: &str) -> Done {
        let reply = self.reply(id);
        assert_eq!(reply.kind, "execute_reply");
        let messages = self.published(id);
        assert_eq!(messages[0].content["execution_state"], "busy");
        let published = messages.into_iter().map(|message| (message.kind, message.content));
        Done { reply: reply.content, published: published.collect() }
    }

    /// Asks something, and returns the content of the answer.
    pub fn ask(&mut self, kind: &str, content: Value) -> Value {
        let id = self.send(kind, content);
        let reply = self.reply(&id);
        let published = self.published(&id);
        let states: Vec<_> =
            published.iter().map(|message| message.content["execution_state"].clone()).collect();
        assert_eq!(states, ["busy", "idle"]);
        reply.content
    }

    /// Interrupts what runs.
    pub fn interrupt(&mut self) {
        self.send_control("interrupt_request", json!({}));
        let reply = self.control_reply();
        assert_eq!(
            (reply.kind.as_str(), &reply.content["status"]),
            ("interrupt_reply", &json!("ok"))
        );
    }

    /// The memory that the process has now, in MB.
    #[cfg(target_os = "linux")]
    pub fn memory_mb(&self) -> u64 {
        let path = format!("/proc/{}/status", self.kernel.child.id());
        let status = std::fs::read_to_string(path).expect("the process is there");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("its memory");
        let kb: u64 = line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).expect("kB");
        kb / 1_000
    }
}
