//! A session for another program: requests and answers are JSON, one object a line.
//!
//! ```text
//! {"id": 1, "enter": "x = [1, 2]; sum(x);", "name": "cell 1"}
//!     {"id": 1, "output": {"kind": "value", "text": "3 : int", …}}    any number of outputs
//!     {"id": 1, "done": "ok"}             or failed, interrupted, aborted, exit
//! {"id": 2, "bind": "x", "type": "[float]", "columns": ["/dev/shm/…/0", "/dev/shm/…/1"]}
//! {"id": 3, "fetch": "/dev/shm/…"}        the value of the last expression, as files in a folder
//!     {"id": 3, "type": "[float]", "columns": [["lengths", 1], ["floats", 2]], "done": "ok"}
//! {"id": 4, "interrupt": true}
//! {"id": 5, "complete": "sum(x", "cursor": 5}
//!     {"id": 5, "start": 4, "completions": [["x", "[int]"]], "done": "ok"}
//! ```
//!
//! Values travel as columns (see [`nesl_engine::exchange`]), each a file of numbers in the byte order of
//! the machine: `lengths` and `ints` have 8 bytes each, `floats` too, `bools` and `chars` one. The
//! client chooses where the files are, in memory if it can, and removes them. An entry, a `bind` and
//! a `fetch` are done in order; an interrupt and a completion at once.

use crate::assist::Assist;
use crate::bundle::Bundle;
use crate::output::{Outcome, Output, Stream};
use crate::worker::{Request, Worker};
use nesl_engine::data::ValueType;
use nesl_engine::exchange::Column;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The writer of answers, for all threads.
#[derive(Clone)]
struct Answers(Arc<Mutex<dyn Write + Send>>);

impl Answers {
    fn send(&self, answer: &Value) {
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever asked may be gone; then nobody misses the answer.
        let _ = writeln!(out, "{answer}").and_then(|()| out.flush());
    }

    fn done(&self, id: &Value, result: Result<(), String>) {
        self.send(&match result {
            Ok(()) => json!({"id": id, "done": "ok"}),
            Err(message) => failed(id, &message),
        });
    }
}

/// Answers the requests that `input` gives until there are no more.
pub fn serve(worker: &Worker, input: impl BufRead, output: impl Write + Send + 'static) {
    let answers = Answers(Arc::new(Mutex::new(output)));
    let mut assist = Assist::new(worker.outlook()).with_commands(worker.commands());
    for line in input.lines() {
        let Ok(line) = line else { return };
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str::<Value>(&line) {
            Ok(request) => answer(worker, &mut assist, &answers, &request),
            Err(error) => answers.send(&failed(&Value::Null, &format!("no JSON: {error}"))),
        }
    }
}

fn failed(id: &Value, message: &str) -> Value {
    let error = json!({"kind": "Request error", "message": message, "text": message});
    json!({"id": id, "done": "failed", "error": error})
}

fn answer(worker: &Worker, assist: &mut Assist, answers: &Answers, request: &Value) {
    let id = request["id"].clone();
    let text = |field: &str| request[field].as_str().map(str::to_owned);
    if let Some(entry) = text("enter") {
        let (to_output, to_done) = (answers.clone(), answers.clone());
        let (of_output, of_done) = (id.clone(), id);
        let name = text("name").unwrap_or_else(|| "<entry>".to_owned());
        worker.enter(Request {
            begin: Box::new(move || Some(name)),
            text: entry,
            defines_it: true,
            stop_on_error: request["stop_on_error"].as_bool().unwrap_or(true),
            input: None,
            sink: Box::new(move |output| {
                to_output.send(&json!({"id": of_output, "output": output_object(&output)}));
            }),
            done: Box::new(move |outcome| to_done.send(&done_object(&of_done, &outcome))),
        });
    } else if let Some(name) = text("bind") {
        let (answers, request) = (answers.clone(), request.clone());
        worker.call(move |state| {
            let bound =
                bound(&request).and_then(|(ty, columns)| state.session.bind(&name, &ty, columns));
            answers.done(&id, bound);
        });
    } else if let Some(folder) = text("fetch") {
        let answers = answers.clone();
        worker.call(move |state| {
            let fetched = state.session.last_value();
            answers.send(&match fetched.and_then(|value| written(value, Path::new(&folder))) {
                Ok(mut object) => {
                    object["id"] = id;
                    object
                }
                Err(message) => failed(&id, &message),
            });
        });
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
        answers.send(&failed(&id, "a request has one of enter, bind, fetch, interrupt, complete"));
    }
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

/// Reads the type and the columns of a `bind`.
fn bound(request: &Value) -> Result<(ValueType, Vec<Column>), String> {
    let ty = ValueType::parse(request["type"].as_str().unwrap_or(""))?;
    let files = request["columns"].as_array().cloned().unwrap_or_default();
    let mut kinds = Vec::new();
    column_kinds(&ty, &mut kinds);
    if kinds.len() != files.len() {
        return Err(format!("{ty} has {} columns, not {}", kinds.len(), files.len()));
    }
    let columns = kinds.iter().zip(&files).map(|(kind, file)| {
        let path = file.as_str().unwrap_or("");
        read(kind, Path::new(path))
    });
    Ok((ty, columns.collect::<Result<_, String>>()?))
}

/// Lists the kinds of the columns of a type without datatypes.
fn column_kinds(ty: &ValueType, kinds: &mut Vec<&'static str>) {
    match ty {
        ValueType::Int => kinds.push("ints"),
        ValueType::Float => kinds.push("floats"),
        ValueType::Bool => kinds.push("bools"),
        ValueType::Char => kinds.push("chars"),
        ValueType::Sequence(element) => {
            kinds.push("lengths");
            column_kinds(element, kinds);
        }
        ValueType::Tuple(parts) | ValueType::Record(_, parts) => {
            parts.iter().for_each(|part| column_kinds(part, kinds));
        }
        ValueType::Function | ValueType::Unknown => {}
    }
}

/// Reads a column of a kind from a file.
fn read(kind: &str, path: &Path) -> Result<Column, String> {
    let refuse = |why: &dyn std::fmt::Display| format!("cannot read {}: {why}", path.display());
    let mut file = File::open(path).map_err(|error| refuse(&error))?;
    let bytes = file.metadata().map_err(|error| refuse(&error))?.len() as usize;
    let length = match kind {
        "bools" | "chars" => bytes,
        _ if bytes.is_multiple_of(8) => bytes / 8,
        _ => return Err(refuse(&"its size is no multiple of 8 bytes")),
    };
    // The bytes go to their final place: arrays may be large.
    let mut fill = |into: &mut [u8]| file.read_exact(into).map_err(|error| refuse(&error));
    Ok(match kind {
        "chars" | "bools" => {
            let mut all = vec![0; length];
            fill(&mut all)?;
            match kind {
                "chars" => Column::Chars(all),
                _ => Column::Bools(all.iter().map(|byte| *byte != 0).collect()),
            }
        }
        "floats" => {
            let mut all = vec![0.0; length];
            fill(bytemuck::cast_slice_mut(&mut all))?;
            Column::Floats(all)
        }
        kind => {
            let mut all = vec![0; length];
            fill(bytemuck::cast_slice_mut(&mut all))?;
            if kind == "lengths" { Column::Lengths(all) } else { Column::Ints(all) }
        }
    })
}

/// Writes the columns of a value to files that are named by their numbers; returns what they are.
fn written(value: Option<(ValueType, Vec<Column>)>, folder: &Path) -> Result<Value, String> {
    let Some((ty, columns)) = value else {
        return Err("there is no value, or it is a function".to_owned());
    };
    let mut described = Vec::new();
    for (number, column) in columns.iter().enumerate() {
        let path = folder.join(number.to_string());
        let bools: Vec<u8>;
        let (kind, bytes): (&str, &[u8]) = match column {
            Column::Lengths(all) => ("lengths", bytemuck::cast_slice(all)),
            Column::Ints(all) => ("ints", bytemuck::cast_slice(all)),
            Column::Floats(all) => ("floats", bytemuck::cast_slice(all)),
            Column::Chars(all) => ("chars", all),
            Column::Bools(all) => {
                bools = all.iter().map(|b| u8::from(*b)).collect();
                ("bools", &bools)
            }
        };
        std::fs::write(&path, bytes)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        described.push(json!([kind, column.len()]));
    }
    Ok(json!({"type": format!("{ty:#}"), "columns": described, "done": "ok"}))
}
