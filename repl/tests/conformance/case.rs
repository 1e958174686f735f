//! Runs a recorded case and judges its output.

use crate::value::{Type, Value, differ, find_result};
use crate::{fresh, wanted};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The time limit of a case.
const MAX_CASE_TIME: Duration = Duration::from_secs(60);

/// A recorded case.
pub struct Case {
    /// The unique name of the case.
    pub id: String,
    /// The topics of the case, and the built-ins and constructs that it uses.
    pub features: Vec<String>,
    source: String,
    outcome: Outcome,
    prints: String,
}

enum Outcome {
    Error { kinds: Vec<String> },
    Value { value: Value, ty: Type },
}

/// The result of a run.
struct Ran {
    status: ExitStatus,
    out: String,
    err: String,
}

/// Loads the recorded cases; where this implementation deliberately differs, its own expectation
/// replaces that of the original.
pub fn load(folder: &Path) -> Vec<Case> {
    let decided: HashMap<String, Json> =
        lines(&folder.join("decided.jsonl")).map(|case| (text(&case, "id"), case)).collect();
    let cases = lines(&folder.join("open.jsonl")).map(|mut case| {
        if let Some(ours) = decided.get(&text(&case, "id"))
            && let (Some(fields), Some(ours)) = (case.as_object_mut(), ours.as_object())
        {
            fields.extend(ours.clone());
        }
        Case::new(&case)
    });
    cases.filter(wanted).collect()
}

fn lines(path: &Path) -> impl Iterator<Item = Json> + use<> {
    let content = std::fs::read_to_string(path).expect("the cases are there");
    let lines: Vec<Json> = content
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).expect("each line is an object"))
        .collect();
    lines.into_iter()
}

fn text(case: &Json, field: &str) -> String {
    case[field].as_str().unwrap_or_default().to_string()
}

fn texts(case: &Json, field: &str) -> Vec<String> {
    let texts = case[field].as_array().into_iter().flatten();
    texts.filter_map(|text| text.as_str().map(String::from)).collect()
}

impl Case {
    fn new(case: &Json) -> Case {
        let id = text(case, "id");
        let outcome = match case["error"].as_str() {
            Some(kind) => {
                let mut kinds = vec![kind.to_string()];
                kinds.extend(texts(case, "also"));
                Outcome::Error { kinds }
            }
            None => Outcome::Value {
                value: Value::parse(&text(case, "expect")).unwrap_or_else(|e| panic!("{id}: {e}")),
                ty: Type::parse(&text(case, "type")).unwrap_or_else(|e| panic!("{id}: {e}")),
            },
        };
        Case {
            features: texts(case, "features"),
            source: text(case, "source"),
            prints: text(case, "prints"),
            id,
            outcome,
        }
    }

    /// Runs the case; an error describes what is wrong.
    pub fn run(&self, command: &[String]) -> Result<(), String> {
        let (top, work) = fresh();
        let path = top.path().join("case.nesl");
        let source = self.source.replace("@TMP@", &work.display().to_string()) + "\n";
        // The original system reads bytes, so the source is written as Latin-1.
        let latin1: Vec<u8> = source.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect();
        std::fs::write(&path, latin1).map_err(|e| e.to_string())?;
        let ran = run(command, &path, top.path(), &work)?;
        match &self.outcome {
            Outcome::Error { kinds } => judge_error(kinds, &ran),
            Outcome::Value { value, ty } => self.judge_value(value, ty, &ran),
        }
    }

    fn judge_value(&self, value: &Value, ty: &Type, ran: &Ran) -> Result<(), String> {
        if !ran.status.success() {
            return Err(format!("{}: {}", ran.status, start(&ran.err)));
        }
        let found = find_result(&ran.out).map_err(|e| format!("{e} in {:?}", start(&ran.out)))?;
        if let Some(difference) = differ(value, &found.value, "value") {
            return Err(difference);
        }
        if *ty != found.ty {
            return Err(format!("the type is {}", found.ty_text));
        }
        let mut rest = found.before;
        for word in self.prints.split_whitespace() {
            match rest.find(word) {
                Some(at) => rest = &rest[at + word.len()..],
                None => return Err(format!("`{word}` of `{}` is not printed", self.prints)),
            }
        }
        Ok(())
    }
}

/// Checks a case that must fail: the exit code must say so, and standard error must contain a
/// position and the kind of the error.
fn judge_error(kinds: &[String], ran: &Ran) -> Result<(), String> {
    let wanted = kinds.join(" or ");
    match ran.status.code() {
        Some(0) => return Err(format!("accepted, but a {wanted} error was expected")),
        None => return Err(format!("killed: {}", ran.status)),
        Some(_) => {}
    }
    if !has_place(&ran.err) {
        return Err(format!("no line:column in {:?}", start(&ran.err)));
    }
    let err = ran.err.to_lowercase();
    let words: Vec<&str> = err.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    if kinds.iter().any(|kind| words.contains(&kind.as_str())) {
        Ok(())
    } else {
        Err(format!("not a {wanted} error: {:?}", start(&ran.err)))
    }
}

/// Returns true if a text contains a position such as `12:34`.
fn has_place(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    (1..bytes.len()).any(|at| bytes[at] == b':' && digit(at - 1) && digit(at + 1))
}

fn run(command: &[String], file: &Path, top: &Path, work: &Path) -> Result<Ran, String> {
    let file = file.display().to_string();
    let words: Vec<String> = command.iter().map(|word| word.replace("{file}", &file)).collect();
    let (out, err) = (top.join("out"), top.join("err"));
    let create = |path: &Path| File::create(path).map_err(|e| e.to_string());
    let mut child = Command::new(&words[0])
        .args(&words[1..])
        .current_dir(work)
        .stdin(Stdio::null())
        .stdout(create(&out)?)
        .stderr(create(&err)?)
        .spawn()
        .map_err(|e| format!("{}: {e}", words[0]))?;
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            break status;
        }
        if begun.elapsed() > MAX_CASE_TIME {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("still running after {} s", MAX_CASE_TIME.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let read = |path: &Path| -> Result<String, String> {
        let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
        Ok(bytes.into_iter().map(char::from).collect::<String>().replace("\r\n", "\n"))
    };
    Ok(Ran { status, out: read(&out)?, err: read(&err)? })
}

fn start(text: &str) -> String {
    text.trim().chars().take(200).collect()
}
