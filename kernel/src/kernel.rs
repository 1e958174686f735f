//! The kernel between its sockets and its session: who answers which request.
//!
//! | requests | answered by |
//! |---|---|
//! | `execute` | the session's thread, in order |
//! | `complete`, `inspect`, `is_complete` | a thread of their own |
//! | all others | at once |
//!
//! Everything that comes of a request is between its `busy` and its `idle`.

mod execute;

use crate::ask::{Ask, Asked};
use crate::cell::{Cell, Windows};
use crate::history::{self, History};
use crate::info;
use crate::input::Answers;
use crate::publish::Publisher;
use crate::wire::{self, Channel, Request};
use execute::execute;
use jupyter_protocol::{
    CommClose, CommId, CommInfoReply, JupyterMessage, JupyterMessageContent, Status,
};
use nesl_interactive::worker::Worker;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;

/// The kernel between its sockets and its session.
pub struct Kernel {
    /// The queue of the messages that everybody sees.
    pub publisher: Publisher,
    /// The queue of questions to people.
    pub questions: UnboundedSender<JupyterMessage>,
    /// The way back of their answers.
    pub answers: Answers,
    /// The session of the kernel.
    pub worker: Worker,
    /// The cells that were run.
    pub history: Mutex<History>,
    /// The windows that were shown.
    pub windows: Windows,
    /// The number of interrupts so far.
    pub interrupts: Arc<AtomicU64>,
    /// The number of cells that have arrived.
    pub arrivals: AtomicU64,
    /// While the reply of a cell that has failed waits: the cells that are to be refused after it, by the
    /// order in which they arrived.
    pub settling: Mutex<Option<BTreeMap<u64, Request>>>,
    /// Runs what is to be done later.
    pub tasks: Handle,
    /// Told when the kernel is to end.
    pub ending: Notify,
    /// Told when a cell has begun.
    began: Notify,
    shell: UnboundedSender<JupyterMessage>,
    control: UnboundedSender<JupyterMessage>,
    asked: Asked,
    running: Mutex<Option<Arc<Mutex<Cell>>>>,
    /// The number of the last cell.
    count: AtomicUsize,
}

/// The queues of replies.
pub struct Replies {
    /// To requests on the shell channel.
    pub shell: UnboundedSender<JupyterMessage>,
    /// To requests on the control channel.
    pub control: UnboundedSender<JupyterMessage>,
    /// Questions to people.
    pub questions: UnboundedSender<JupyterMessage>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kernel {
    /// Makes a kernel for a session.
    pub fn new(
        worker: Worker,
        publisher: Publisher,
        replies: Replies,
        tasks: Handle,
    ) -> std::io::Result<Kernel> {
        Ok(Kernel {
            publisher,
            questions: replies.questions,
            answers: Answers::default(),
            asked: Asked::start(worker.outlook(), worker.commands())?,
            worker,
            history: Mutex::default(),
            windows: Windows::default(),
            interrupts: Arc::default(),
            arrivals: AtomicU64::new(0),
            settling: Mutex::default(),
            tasks,
            ending: Notify::new(),
            began: Notify::new(),
            shell: replies.shell,
            control: replies.control,
            running: Mutex::default(),
            count: AtomicUsize::new(0),
        })
    }

    /// Sends the reply to a request.
    pub fn reply(&self, request: &Request, content: JupyterMessageContent) {
        let message = wire::message(request.identities.clone(), Some(&request.header), content);
        let replies = match request.channel {
            Channel::Shell => &self.shell,
            Channel::Control => &self.control,
        };
        // The receiver is there as long as the kernel.
        let _ = replies.send(message);
    }

    /// Answers a request that cannot be done, if it asks for an answer.
    pub fn refuse(&self, request: &Request, name: &str, message: &str) {
        self.publisher.send(Some(&request.header), Status::busy());
        if let Some(reply_type) = request.reply_type() {
            self.reply(request, wire::refusal(&reply_type, name, message));
        }
        self.publisher.send(Some(&request.header), Status::idle());
    }

    /// Returns the number of a cell that begins; one that is not numbered leaves it to the next.
    pub fn next_count(&self, numbered: bool) -> usize {
        // Only the session's thread counts.
        let next = self.count() + 1;
        if numbered {
            self.count.store(next, Ordering::SeqCst);
        }
        next
    }

    /// Returns the number of the last cell.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// Sets the cell that runs.
    pub fn running(&self, cell: Option<Arc<Mutex<Cell>>>) {
        let begins = cell.is_some();
        *lock(&self.running) = cell;
        if begins {
            self.began.notify_one();
        }
    }

    /// Lets the cell that runs show how far it is; waits for one if none runs.
    pub async fn tick(&self) {
        // The lock must not be held while the cell is asked: the session's thread takes them in the
        // other order.
        let running = lock(&self.running).clone();
        match running {
            Some(cell) => lock(&cell).tick(self.worker.progress().report()),
            None => self.began.notified().await,
        }
    }

    /// Ends the cell that runs, and refuses those that wait.
    pub fn interrupt(&self) {
        // Counted first: whoever waits for input sees the number, or is refused.
        self.interrupts.fetch_add(1, Ordering::SeqCst);
        self.worker.interrupt();
    }

    /// Does what a request asks for.
    pub fn handle(self: &Arc<Kernel>, request: Request) {
        let header = request.header.clone();
        match (header.msg_type.as_str(), request.channel) {
            ("execute_request", Channel::Shell) => execute(self, request),
            ("complete_request", _) => self.ask(request, Ask::Complete),
            ("inspect_request", _) => self.ask(request, Ask::Inspect),
            ("is_complete_request", _) => self.ask(request, Ask::IsComplete),
            (kind, _) => {
                self.publisher.send(Some(&header), Status::busy());
                let answer = self.answer(kind, &request);
                let refused = answer.unwrap_or_else(|message| {
                    let reply_type = request.reply_type()?;
                    Some(wire::refusal(&reply_type, "Unknown request", &message))
                });
                if let Some(content) = refused {
                    self.reply(&request, content);
                }
                self.publisher.send(Some(&header), Status::idle());
                if kind == "shutdown_request" {
                    self.ending.notify_one();
                }
            }
        }
    }

    /// Returns the content of the reply to a request that is answered at once; none if there is nothing
    /// to answer, and what is wrong if it cannot be done.
    fn answer(
        &self,
        kind: &str,
        request: &Request,
    ) -> Result<Option<JupyterMessageContent>, String> {
        Ok(Some(match kind {
            "kernel_info_request" => info::reply(),
            "history_request" => {
                let asked: history::Asked = request.content()?;
                let entries = lock(&self.history).answer(&asked);
                let content = json!({ "status": "ok", "history": entries });
                wire::content("history_reply", content)
            }
            "comm_info_request" => CommInfoReply::default().into(),
            "comm_open" => {
                // No targets are registered; the protocol asks to close what is not known.
                let asked: CommOpened = request.content()?;
                let close = CommClose { comm_id: CommId(asked.comm_id), data: Map::new() };
                self.publisher.send(Some(&request.header), close);
                return Ok(None);
            }
            "interrupt_request" => {
                self.interrupt();
                wire::content("interrupt_reply", json!({ "status": "ok" }))
            }
            "shutdown_request" => {
                let asked: Shutdown = request.content()?;
                self.interrupt();
                let content = json!({ "status": "ok", "restart": asked.restart });
                let reply = wire::content("shutdown_reply", content);
                self.publisher.send(Some(&request.header), reply.clone());
                reply
            }
            "debug_request" => {
                let asked: Value = request.content.clone();
                let field = |name: &str| asked.get(name).cloned().unwrap_or(Value::Null);
                let content = json!({
                    "type": "response", "success": false, "request_seq": field("seq"),
                    "seq": 0, "command": field("command"),
                    "message": "NESL has no debugger", "body": {},
                });
                wire::content("debug_reply", content)
            }
            "comm_msg" | "comm_close" => return Ok(None),
            other => return Err(format!("this kernel does not know `{other}`")),
        }))
    }

    /// Answers a question about a text.
    fn ask<T: for<'a> Deserialize<'a>>(
        self: &Arc<Kernel>,
        request: Request,
        question: impl FnOnce(T) -> Ask,
    ) {
        let at = match request.content() {
            Ok(at) => at,
            Err(message) => return self.refuse(&request, "Malformed request", &message),
        };
        self.publisher.send(Some(&request.header), Status::busy());
        let kernel = self.clone();
        self.asked.ask(question(at), move |content| {
            kernel.reply(&request, content);
            kernel.publisher.send(Some(&request.header), Status::idle());
        });
    }
}

/// The content of `comm_open`, as far as it matters.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CommOpened {
    comm_id: String,
}

/// The content of `shutdown_request`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Shutdown {
    restart: bool,
}
