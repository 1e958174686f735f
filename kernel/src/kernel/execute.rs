//! Requests to run a cell.
//!
//! A cell that fails refuses those that were sent before anyone could know of it ("Run all"). Some of
//! these may still be on their way when it ends, so its reply waits for [`FAILURE_SETTLES`]; a cell that
//! arrives meanwhile was sent without knowing the reply, and is refused, too. What is sent after
//! the reply runs.

use crate::cell::{Cell, Manner};
use crate::input::Asker;
use crate::kernel::Kernel;
use crate::media;
use crate::question::{answering, asked_about};
use crate::wire::{self, Request};
use jupyter_protocol::{ExecuteInput, ExecutionCount, Status};
use nesl_engine::LineInput;
use nesl_interactive::output::{Outcome, Output};
use nesl_interactive::worker;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Cells that arrive so long after one has failed are refused with those that were there.
const FAILURE_SETTLES: Duration = Duration::from_millis(20);

/// The content of a request, with defaults for what clients omit.
#[derive(Debug, Deserialize)]
#[serde(default)]
struct Asked {
    code: String,
    silent: bool,
    store_history: bool,
    user_expressions: BTreeMap<String, String>,
    allow_stdin: bool,
    stop_on_error: bool,
}

impl Default for Asked {
    fn default() -> Asked {
        Asked {
            code: String::new(),
            silent: false,
            store_history: true,
            user_expressions: BTreeMap::new(),
            allow_stdin: false,
            stop_on_error: true,
        }
    }
}

/// A cell that is run, as the threads that take part share it.
struct Run {
    kernel: Arc<Kernel>,
    request: Request,
    /// The number of cells that arrived before.
    arrival: u64,
    cell: Arc<Mutex<Cell>>,
    stop_on_error: bool,
    /// The end of the cell, and the content of its reply.
    ended: Mutex<Option<(Outcome, Value)>>,
    /// The values that the request asks for, by name.
    expressions: Mutex<Map<String, Value>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts a cell into the queue of those to be run.
pub fn execute(kernel: &Arc<Kernel>, request: Request) {
    let arrival = kernel.arrivals.fetch_add(1, Ordering::SeqCst);
    if let Some(waiting) = &mut *lock(&kernel.settling) {
        waiting.insert(arrival, request);
        return;
    }
    let asked: Asked = match request.content() {
        Ok(asked) => asked,
        Err(message) => return kernel.refuse(&request, "Malformed request", &message),
    };
    let name = asked_about(&asked.code);
    let manner = Manner { silent: asked.silent, pager: name.is_some() };
    let cell =
        Cell::new(kernel.publisher.clone(), request.header.clone(), manner, kernel.windows.clone());
    let run = Arc::new(Run {
        kernel: kernel.clone(),
        request,
        arrival,
        cell: Arc::new(Mutex::new(cell)),
        stop_on_error: asked.stop_on_error,
        ended: Mutex::new(None),
        expressions: Mutex::new(Map::new()),
    });
    let text = name.map_or_else(|| asked.code.clone(), answering);
    let numbered = asked.store_history && !asked.silent;
    let asker = asked.allow_stdin.then(|| run.asker());
    let (sunk, ended, concludes) = (run.clone(), run.clone(), asked.user_expressions.is_empty());
    kernel.worker.enter(worker::Request {
        begin: run.clone().begin(asked.code, asked.silent, numbered),
        text,
        defines_it: !asked.silent,
        stop_on_error: asked.stop_on_error,
        input: asker.map(|asker| Box::new(asker) as Box<dyn LineInput>),
        sink: Box::new(move |output| sunk.show(output)),
        done: Box::new(move |outcome| {
            ended.end(outcome);
            if concludes {
                ended.conclude();
            }
        }),
    });
    // These are queued at once, so that no other cell comes between.
    for (name, text) in asked.user_expressions {
        run.clone().evaluate(name, text);
    }
    if !concludes {
        kernel.worker.call(move |_| run.conclude());
    }
}

impl Run {
    /// Returns what is done when the cell begins.
    fn begin(
        self: Arc<Run>,
        code: String,
        silent: bool,
        numbered: bool,
    ) -> Box<dyn FnOnce() -> Option<String> + Send> {
        Box::new(move || {
            let kernel = &self.kernel;
            let header = &self.request.header;
            // It arrived after a cell had failed, and before that was noted.
            if lock(&kernel.settling).is_some() {
                return None;
            }
            let count = kernel.next_count(numbered);
            lock(&self.cell).begin(count);
            kernel.publisher.send(Some(header), Status::busy());
            if !silent {
                let input = ExecuteInput {
                    code: code.clone(),
                    execution_count: ExecutionCount::new(count),
                };
                kernel.publisher.send(Some(header), input);
            }
            if numbered {
                lock(&kernel.history).push(count, &code);
            }
            kernel.running(Some(self.cell.clone()));
            Some(if numbered { format!("In [{count}]") } else { "In [ ]".to_owned() })
        })
    }

    /// Asks the client that sent the cell for the lines that it reads.
    fn asker(&self) -> Asker {
        Asker {
            cell: self.cell.clone(),
            request: self.request.clone(),
            questions: self.kernel.questions.clone(),
            answers: self.kernel.answers.clone(),
            interrupts: self.kernel.interrupts.clone(),
            interrupts_before: self.kernel.interrupts.load(Ordering::SeqCst),
        }
    }

    fn show(&self, output: Output) {
        if self.stop_on_error && matches!(output, Output::Error(_)) {
            self.settle();
        }
        lock(&self.cell).show(output);
    }

    /// Keeps back the cells that arrive from now on until the reply is sent.
    fn settle(&self) {
        lock(&self.kernel.settling).get_or_insert_default();
    }

    /// Notes how the cell has ended.
    fn end(&self, outcome: Outcome) {
        let failed = matches!(outcome, Outcome::Failed(_) | Outcome::Interrupted);
        if failed && self.stop_on_error {
            self.settle();
        }
        self.kernel.running(None);
        let content = lock(&self.cell).finish(&outcome);
        *lock(&self.ended) = Some((outcome, content));
    }

    /// Evaluates an expression after the cell, if the cell is well.
    fn evaluate(self: Arc<Run>, name: String, text: String) {
        let result = Arc::new(Mutex::new(None));
        let (begins, shown) = (self.clone(), result.clone());
        self.kernel.clone().worker.enter(worker::Request {
            begin: Box::new(move || {
                let well = matches!(&*lock(&begins.ended), Some((Outcome::Done, _)));
                well.then(|| "In [ ]".to_owned())
            }),
            text,
            defines_it: false,
            stop_on_error: false,
            input: None,
            sink: Box::new(move |output| {
                let answer = match output {
                    Output::Value(bundle) => json!({
                        "status": "ok", "data": media::media(bundle), "metadata": {},
                    }),
                    Output::Error(problem) => json!({
                        "status": "error", "ename": problem.kind, "evalue": problem.message,
                        "traceback": [problem.shown.plain],
                    }),
                    _ => return,
                };
                lock(&shown).get_or_insert(answer);
            }),
            done: Box::new(move |outcome| {
                if outcome == Outcome::Aborted {
                    return;
                }
                // A definition has no value, and neither have a comment and most commands.
                let nothing = || json!({ "status": "ok", "data": {}, "metadata": {} });
                let answer = lock(&result).take().unwrap_or_else(nothing);
                lock(&self.expressions).insert(name, answer);
            }),
        });
    }

    /// Sends the reply.
    fn conclude(&self) {
        let Some((outcome, mut content)) = lock(&self.ended).take() else { return };
        let expressions = std::mem::take(&mut *lock(&self.expressions));
        if !expressions.is_empty() {
            content["user_expressions"] = Value::Object(expressions);
        }
        let (kernel, request) = (self.kernel.clone(), self.request.clone());
        match outcome {
            Outcome::Failed(_) | Outcome::Interrupted if self.stop_on_error => {
                self.kernel.tasks.spawn(async move {
                    tokio::time::sleep(FAILURE_SETTLES).await;
                    let told = kernel.clone();
                    // On the session's thread, where all other cells are answered: those that were in its
                    // queue are among the ones that wait by then, and none is answered meanwhile.
                    kernel.worker.call(move |_| {
                        let waiting = lock(&told.settling).take().unwrap_or_default();
                        reply(&told, &request, content);
                        waiting.values().for_each(|request| abort(&told, request));
                    });
                });
            }
            // The reply of the cell that has failed comes first.
            Outcome::Aborted => match &mut *lock(&kernel.settling) {
                // Others that came later may be there already.
                Some(waiting) => drop(waiting.insert(self.arrival, request)),
                None => abort(&kernel, &request),
            },
            _ => {
                let waiting = lock(&kernel.settling).take().unwrap_or_default();
                reply(&kernel, &request, content);
                // It has failed, and yet it ended well: it asked for the end of the session.
                waiting.into_values().for_each(|request| execute(&kernel, request));
            }
        }
    }
}

/// Answers a request to run a cell that is not run.
fn abort(kernel: &Kernel, request: &Request) {
    kernel.publisher.send(Some(&request.header), Status::busy());
    // A number would be shown as that of the cell.
    let content = json!({ "status": "aborted" });
    reply(kernel, request, content);
}

/// Sends a reply, and says that the request is done.
fn reply(kernel: &Kernel, request: &Request, content: Value) {
    kernel.reply(request, wire::content("execute_reply", content));
    kernel.publisher.send(Some(&request.header), Status::idle());
}
