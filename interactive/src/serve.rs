//! A session for another program: requests and answers are JSON, one object a line, and values follow
//! their lines as bytes.
//!
//! ```text
//! {"id": 1, "enter": "x = [1, 2]; sum(x);", "name": "cell 1"}
//!     {"id": 1, "output": {"kind": "value", "text": "3 : int", …}}    any number of outputs
//!     {"id": 1, "done": "ok"}             or failed, interrupted, aborted, exit
//! {"id": 2, "bind": "x", "type": "[float]", "columns": [1, 1000], "bytes": 8008}   and 8008 bytes
//!     {"id": 2, "done": "ok"}
//! {"id": 3, "fetch": "x"}
//!     {"id": 3, "type": "[float]", "columns": [["lengths", 1], ["floats", 1000]], "bytes": 8008}
//!     and 8008 bytes, then {"id": 3, "done": "ok"}
//! {"id": 4, "enter": "sum(x)", "value": true}      the value of the last expression, as if fetched
//! {"id": 5, "interrupt": true}
//! {"id": 6, "complete": "sum(x", "cursor": 5}
//!     {"id": 6, "start": 4, "completions": [["x", "[int]"]], "done": "ok"}
//! {"id": 7, "enter": "prompt(\"name? \")", "ask": true}
//!     {"id": 7, "ask": "name? "}          for each line that the program reads from the standard input
//! {"id": 7, "answer": "Ada"}              has no answer of its own; with null nobody can be asked
//! ```
//!
//! The bytes are the columns of a value, see [`nesl_engine::exchange`]. An entry, a `bind` and a `fetch`
//! are done in order; an interrupt, a completion and an answer at once. What follows a `bind` is read once
//! its bytes were, and these once the session is ready for them, so no `bind` comes between a question and
//! its answer. Without `"ask": true`, reading a line is an error of the program. With `"show": false`, and with `"value"`,
//! definitions and expressions show nothing, which saves making it. An answer without a value has
//! no `type`: the last form was no expression, or the variable of a `fetch` is not there or not computed
//! yet, which entering its name does.
//!
//! Bytes go through the same streams as lines because that is fast (a pipe's few pages stay in the cache,
//! where a shared file of the size of the array would have to be made and mapped twice), works
//! everywhere, and leaves nothing behind, whoever ends first.

use crate::assist::Assist;
use crate::bundle::Bundle;
use crate::output::{Outcome, Output, Stream};
use crate::state::State;
use crate::worker::{Request, Worker};
use nesl_engine::data::{DataLimits, ValueType};
use nesl_engine::exchange::{Taken, kinds};
use nesl_engine::{LineInput, ShownValues};
use questions::{Asker, Questions};
use serde_json::{Value, json};
use std::io::{BufRead, Read, Write};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};

/// The writer of answers, for all threads.
#[derive(Clone)]
struct Answers(Arc<Mutex<dyn Write + Send>>);

impl Answers {
    fn send(&self, answer: &Value) {
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever asked may be gone; then nobody misses the answer. A line is one write, so that it is
        // one read on the other side.
        let _ = out.write_all(format!("{answer}\n").as_bytes()).and_then(|()| out.flush());
    }

    fn done(&self, id: &Value, result: Result<(), String>) {
        self.send(&match result {
            Ok(()) => json!({"id": id, "done": "ok"}),
            Err(message) => failed(id, &message),
        });
    }

    /// Sends a value, if there is one, and says that this is all.
    fn value(&self, id: &Value, taken: Result<Option<Taken>, String>) {
        let taken = match taken {
            Ok(Some(taken)) => taken,
            Ok(None) => return self.done(id, Ok(())),
            Err(message) => return self.done(id, Err(message)),
        };
        let columns: Vec<(&str, usize)> =
            taken.columns().map(|(kind, count)| (kind.name(), count)).collect();
        let bytes: usize = taken.columns().map(|(kind, count)| count * kind.element_bytes()).sum();
        let ty = format!("{:#}", taken.ty());
        let head = json!({"id": id, "type": ty, "columns": columns, "bytes": bytes});
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Nothing may come between the line and the bytes.
        let mut written = Ok(());
        if out.write_all(format!("{head}\n").as_bytes()).is_ok() {
            written = taken.write_to(&mut *out);
        }
        drop(out);
        self.done(id, written);
    }
}

/// The bytes that follow a line, which are read whole whatever becomes of them.
struct Body<R: Read> {
    input: Arc<Mutex<R>>,
    left: u64,
}

impl<R: Read> Read for Body<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let most = usize::try_from(self.left).map_or(into.len(), |left| into.len().min(left));
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let read = input.read(&mut into[..most])?;
        self.left -= read as u64;
        Ok(read)
    }
}

impl<R: Read> Drop for Body<R> {
    fn drop(&mut self) {
        let left = self.left;
        let _ = std::io::copy(&mut self.by_ref().take(left), &mut std::io::sink());
    }
}

/// Answers the requests that `input` gives until there are no more. The output need not be buffered.
pub fn serve(
    worker: &Worker,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) {
    let answers = Answers(Arc::new(Mutex::new(output)));
    let mut assist = Assist::new(worker.outlook()).with_commands(worker.commands());
    let questions = Questions::default();
    let input = Arc::new(Mutex::new(input));
    loop {
        let mut line = Vec::new();
        let read = input
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .read_until(b'\n', &mut line)
            .unwrap_or(0);
        if read == 0 {
            return;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let request = match serde_json::from_slice::<Value>(&line) {
            Ok(request) => request,
            Err(error) => {
                answers.send(&failed(&Value::Null, &format!("no JSON: {error}")));
                continue;
            }
        };
        let body = Body { input: input.clone(), left: request["bytes"].as_u64().unwrap_or(0) };
        match request["bind"].as_str() {
            Some(name) => bind(worker, &answers, &request, name.to_owned(), body),
            None => {
                drop(body);
                answer(worker, &mut assist, &answers, &questions, &request);
            }
        }
    }
}

fn failed(id: &Value, message: &str) -> Value {
    let error = json!({"kind": "Request error", "message": message, "text": message});
    json!({"id": id, "done": "failed", "error": error})
}

/// Defines a variable by the bytes that follow the request; returns once they were read.
fn bind(
    worker: &Worker,
    answers: &Answers,
    request: &Value,
    name: String,
    mut body: Body<impl Read + Send + 'static>,
) {
    let (id, answers) = (request["id"].clone(), answers.clone());
    let shape = shape(request, body.left);
    let (was_read, wait) = channel::<()>();
    worker.call(move |state| {
        let bound =
            shape.and_then(|(ty, counts)| state.session.bind(&name, &ty, &counts, &mut body));
        drop(body);
        drop(was_read);
        answers.done(&id, bound);
    });
    // The other end is dropped, and nothing is sent.
    let _ = wait.recv();
}

/// Reads the type of a `bind` and the numbers of elements of its columns.
fn shape(request: &Value, bytes: u64) -> Result<(ValueType, Vec<usize>), String> {
    let ty = ValueType::parse(request["type"].as_str().unwrap_or(""))?;
    let counts = request["columns"].as_array().map(Vec::as_slice).unwrap_or_default();
    let count = |count: &Value| count.as_u64().and_then(|count| usize::try_from(count).ok());
    let counts: Option<Vec<usize>> = counts.iter().map(count).collect();
    let counts = counts.ok_or("the columns are numbers of elements")?;
    let sum = kinds(&ty).iter().zip(&counts).try_fold(0_u64, |sum, (kind, count)| {
        sum.checked_add((*count as u64).checked_mul(kind.element_bytes() as u64)?)
    });
    match sum {
        Some(sum) if sum == bytes => Ok((ty, counts)),
        _ => Err(format!("the columns do not have {bytes} bytes")),
    }
}

fn answer(
    worker: &Worker,
    assist: &mut Assist,
    answers: &Answers,
    questions: &Questions,
    request: &Value,
) {
    let id = request["id"].clone();
    let text = |field: &str| request[field].as_str().map(str::to_owned);
    if let Some(entry) = text("enter") {
        enter(worker, answers, questions, request, entry);
    } else if let Some(line) = request.get("answer") {
        // One that comes after an interrupt is for nobody, which is no mistake.
        questions.give(&id, line.as_str().map(str::to_owned));
    } else if let Some(name) = text("fetch") {
        let answers = answers.clone();
        worker.call(move |state| answers.value(&id, state.session.take(&name)));
    } else if request["interrupt"].as_bool() == Some(true) {
        worker.interrupt();
        answers.done(&id, Ok(()));
    } else if let Some(entry) = text("complete") {
        let cursor = request["cursor"].as_u64().map_or(entry.len(), |at| at as usize);
        let found = assist.complete(&entry, cursor);
        let all: Vec<Value> = found.all.iter().map(|c| json!([c.text, c.ty])).collect();
        let start = found.range.start;
        answers.send(&json!({"id": id, "start": start, "completions": all, "done": "ok"}));
    } else {
        answers.send(&failed(
            &id,
            "a request has one of enter, bind, fetch, interrupt, complete, answer",
        ));
    }
}

/// The settings that say what a session shows; kept while an entry shows nothing.
type Shown = Arc<Mutex<Option<(ShownValues, Option<DataLimits>)>>>;

/// Runs an entry.
fn enter(worker: &Worker, answers: &Answers, questions: &Questions, request: &Value, text: String) {
    let id = request["id"].clone();
    let name = request["name"].as_str().unwrap_or("<entry>").to_owned();
    let wants_value = request["value"].as_bool() == Some(true);
    let shows = !wants_value && request["show"].as_bool() != Some(false);
    let kept = Shown::default();
    if !shows {
        let kept = kept.clone();
        worker.call(move |state| {
            let settings = state.session.settings_mut();
            let shown = std::mem::replace(&mut settings.shown, ShownValues::Scalars);
            *lock(&kept) = Some((shown, settings.data.take()));
        });
    }
    let ended: Arc<Mutex<(bool, Option<Outcome>)>> = Arc::default();
    let (at_output, at_end) = (ended.clone(), ended.clone());
    let (to_output, to_done, to_value) = (answers.clone(), answers.clone(), answers.clone());
    let (of_output, of_done) = (id.clone(), id.clone());
    let asker = (request["ask"].as_bool() == Some(true)).then(|| Asker {
        id: id.clone(),
        questions_out: answers.clone(),
        questions: questions.clone(),
        is_interrupted: Box::new(worker.interrupted()),
    });
    worker.enter(Request {
        begin: Box::new(move || Some(name)),
        text,
        defines_it: true,
        stop_on_error: request["stop_on_error"].as_bool().unwrap_or(true),
        input: asker.map(|asker| Box::new(asker) as Box<dyn LineInput>),
        sink: Box::new(move |output| match &output {
            Output::Value(_) if !shows => lock(&at_output).0 = true,
            Output::Defined(_) if !shows => {}
            _ => {
                let output = output_object(&output);
                to_output.send(&json!({"id": of_output, "output": output}));
            }
        }),
        done: Box::new(move |outcome| match shows {
            true => to_done.send(&done_object(&of_done, &outcome)),
            false => lock(&at_end).1 = Some(outcome),
        }),
    });
    if !shows {
        worker.call(move |state| {
            show_again(state, &kept);
            let (has_value, outcome) = std::mem::take(&mut *lock(&ended));
            match outcome {
                Some(Outcome::Done) if has_value && wants_value => {
                    to_value.value(&id, state.session.take("it"))
                }
                outcome => to_value.send(&done_object(&id, &outcome.unwrap_or(Outcome::Aborted))),
            }
        });
    }
}

/// Lets a session show again what it showed before.
fn show_again(state: &mut State, kept: &Shown) {
    if let Some((shown, data)) = lock(kept).take() {
        let settings = state.session.settings_mut();
        (settings.shown, settings.data) = (shown, data);
    }
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn done_object(id: &Value, outcome: &Outcome) -> Value {
    let done = match outcome {
        Outcome::Done => "ok",
        Outcome::Failed(problem) => {
            let error = json!({
                "kind": problem.kind, "message": problem.message, "text": problem.shown.plain,
            });
            return json!({"id": id, "done": "failed", "error": error});
        }
        Outcome::Interrupted => "interrupted",
        Outcome::Aborted => "aborted",
        Outcome::Exit => "exit",
    };
    json!({"id": id, "done": done})
}

fn output_object(output: &Output) -> Value {
    match output {
        Output::Printed(stream, bytes) => {
            let kind = match stream {
                Stream::Output => "printed",
                Stream::Errors => "printed_errors",
            };
            json!({"kind": kind, "text": String::from_utf8_lossy(bytes)})
        }
        Output::Value(bundle) => bundle_object("value", bundle),
        Output::Defined(bundle) => bundle_object("defined", bundle),
        Output::Answer(bundle) => bundle_object("answer", bundle),
        Output::Warning(bundle) => bundle_object("warning", bundle),
        Output::Error(problem) => bundle_object("error", &problem.shown),
        Output::Picture(window, bundle) => {
            let mut object = bundle_object("picture", bundle);
            object["window"] = json!(window);
            object
        }
    }
}

fn bundle_object(kind: &str, bundle: &Bundle) -> Value {
    let mut object = json!({"kind": kind, "text": bundle.plain});
    let forms = [("ansi", &bundle.ansi), ("html", &bundle.html), ("svg", &bundle.svg)];
    for (form, text) in forms {
        if let Some(text) = text {
            object[form] = json!(text);
        }
    }
    if let Some(plot) = &bundle.plot {
        object["plot"] = plot.clone();
    }
    object
}

mod questions;
#[cfg(test)]
mod tests;
