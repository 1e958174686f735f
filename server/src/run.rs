//! Running documents, in processes of their own: nothing a program does can hurt the editor.
//!
//! A run is `nesl run --json -`, which is given the document's text; each line that it prints is a
//! value or a problem, with its line. Values belong to the form that they are of: a form that is
//! edited loses its value, one that moves takes it along. A run ends when it is done, when it is
//! stopped, when the same document is run again or is closed.

use crate::child::{self, add_form, definitions_above};
use crate::convert;
use crate::cost::Costs;
use crate::lines::Lines;
use crate::options::{Options, Values};
use crate::protocol::{RunParams, RunState, ValueShown, ValuesNotification, ValuesParams};
use crate::world::{Snapshot, World};
use nesl_core::base::shorten;
use nesl_core::base::{ItemId, TextRange, TextSize};
use nesl_core::syntax::RawKind;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines as LinesOf};
use tokio::process::{Child, ChildStdout};
use tokio::sync::oneshot;
use tower_lsp_server::Client;
use tower_lsp_server::ls_types::{self as lsp, Uri};

/// The largest width of a value shown after a line, in characters.
const INLINE_CHARS: usize = 80;
/// The largest length of a value that is kept, in characters.
const KEPT_CHARS: usize = 4_000;
/// The length of a program's output that is kept: its end, in bytes.
const KEPT_OUTPUT_BYTES: usize = 64 * 1024;
/// The interval in which values are collected to be sent together.
const VALUES_INTERVAL: Duration = Duration::from_millis(30);

/// The last run of each document.
pub struct Runs {
    client: Client,
    world: Arc<Mutex<World>>,
    /// The path of `nesl`, which runs programs.
    executable: PathBuf,
    /// Receives the work and depth that runs have counted.
    costs: Arc<Costs>,
    runs: Mutex<FxHashMap<Uri, Run>>,
    count: Mutex<u64>,
}

/// The last run of a document.
struct Run {
    number: u64,
    state: RunState,
    values: Vec<Value>,
    output: String,
    /// Kills the process when a message is sent, or it is dropped.
    stop: Option<oneshot::Sender<()>>,
}

/// The value of a form, or the error that it ended with.
#[derive(Clone)]
struct Value {
    /// The form, and the text it had.
    of: Option<(ItemId, Arc<str>)>,
    /// The place of an expression that is not in the document.
    at: Option<lsp::Position>,
    text: String,
    detail: String,
    seconds: f64,
    /// Work and depth, if they were counted.
    cost: Option<(u64, u64)>,
    error: bool,
}

/// A line that `nesl run --json` prints.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Problem {
        problem: Problem,
    },
    Form(Form),
    /// Statistics, or an object of a later version.
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct Form {
    line: u32,
    name: String,
    #[serde(rename = "type")]
    ty: String,
    value: Option<String>,
    seconds: f64,
    work: Option<u64>,
    depth: Option<u64>,
}

#[derive(Deserialize)]
struct Problem {
    message: String,
    severity: String,
    line: u32,
    hints: Vec<Hint>,
}

#[derive(Deserialize)]
struct Hint {
    text: String,
}

/// The text to be run, and the places that its values belong to.
struct Plan {
    text: String,
    /// The forms whose values are wanted: first and last line from 1, and the form.
    wanted: Vec<(u32, u32, ItemId, Arc<str>)>,
    /// An expression that is not in the document: the first line that it has in `text`, and the position and text
    /// with which its value is shown.
    beyond: Option<(u32, lsp::Position, String)>,
}

impl Runs {
    /// The runs of no document yet.
    pub fn new(
        client: Client,
        world: Arc<Mutex<World>>,
        executable: PathBuf,
        costs: Arc<Costs>,
    ) -> Runs {
        let (runs, count) = (Mutex::default(), Mutex::default());
        Runs { client, world, executable, costs, runs, count }
    }

    /// Begins a run; returns its number and the version of the document that runs, or the reason why it cannot.
    pub async fn start(self: &Arc<Runs>, params: RunParams) -> Result<(u64, i32), String> {
        let uri = params.text_document.uri.clone();
        let snapshot = self.snapshot(&uri).ok_or("this document is not open")?;
        let (version, options) = (snapshot.version, snapshot.options.clone());
        let plan = crate::reading::read(snapshot, move |snapshot| plan(snapshot, &params))
            .await
            .map_err(|_| "the text has changed: run it again".to_owned())?;
        let mut child = self
            .spawn(&uri, &options)
            .map_err(|error| format!("cannot start {}: {error}", self.executable.display()))?;
        let number = {
            let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
            *count += 1;
            *count
        };
        let (stop, stopped) = oneshot::channel();
        // The run before, if there is one, ends here: its `stop` is dropped.
        let run = Run {
            number,
            state: RunState::Running,
            values: Vec::new(),
            output: String::new(),
            stop: Some(stop),
        };
        self.runs().insert(uri.clone(), run);
        let input = child.stdin.take();
        let text = plan.text.clone();
        tokio::spawn(async move {
            if let Some(mut input) = input {
                let _ = input.write_all(text.as_bytes()).await;
            }
        });
        let all = self.clone();
        tokio::spawn(async move { all.follow(uri, number, child, plan, stopped).await });
        Ok((number, version))
    }

    /// Ends the run of a document, if there is one.
    pub async fn stop(&self, uri: &Uri) {
        let stop = self.runs().get_mut(uri).and_then(|run| run.stop.take());
        if let Some(stop) = stop {
            let _ = stop.send(());
        }
    }

    /// Removes the values of forms that a change of the document has changed.
    pub async fn changed(&self, uri: &Uri) {
        if self.runs().contains_key(uri) {
            self.tell(uri).await;
        }
    }

    /// Ends and forgets the run of a document that was closed.
    pub fn closed(&self, uri: &Uri) {
        self.runs().remove(uri);
    }

    /// Ends all runs, because the server ends.
    pub fn stop_all(&self) {
        self.runs().clear();
    }

    /// Values as inlay hints at the ends of lines, for clients that do not show values themselves.
    pub fn hints(&self, snapshot: &Snapshot, range: TextRange) -> Vec<lsp::InlayHint> {
        let values = self.runs().get(&snapshot.uri).map(|run| run.values.clone());
        let shown = values.unwrap_or_default().into_iter().filter_map(|value| {
            let at = place(snapshot, &value)?;
            range.contains_inclusive(snapshot.lines.offset(at)).then_some((at, value))
        });
        shown.map(|(at, value)| hint(at, &value)).collect()
    }

    fn runs(&self) -> std::sync::MutexGuard<'_, FxHashMap<Uri, Run>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn snapshot(&self, uri: &Uri) -> Option<Snapshot> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner).snapshot(uri)
    }

    fn spawn(&self, uri: &Uri, options: &Options) -> std::io::Result<Child> {
        let mut command = child::command(&self.executable, child::folder_of(uri));
        command.args(["run", "--json", "--color", "never", "--print-length", "100"]);
        if let Some(runtime) = options.runtime {
            command.args(["--runtime", runtime.name]);
        }
        command.args(["--precision", &options.precision.bits().to_string(), "-"]);
        command.stderr(Stdio::piped()).spawn()
    }

    /// Reads the output of a process until it ends or is stopped.
    async fn follow(
        self: Arc<Runs>,
        uri: Uri,
        number: u64,
        mut child: Child,
        plan: Plan,
        mut stopped: oneshot::Receiver<()>,
    ) {
        let lines = child.stdout.take().map(|out| BufReader::new(out).lines());
        let printed = child.stderr.take();
        let all = self.clone();
        let (output_of, output_uri) = (number, uri.clone());
        let printing = tokio::spawn(async move {
            let Some(mut printed) = printed else { return };
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = printed.read(&mut buffer).await {
                let text = String::from_utf8_lossy(&buffer[..n]).into_owned();
                all.with(&output_uri, output_of, |run| append(&mut run.output, &text));
            }
        });
        let ended = tokio::select! {
            () = self.values(&uri, number, lines, &plan) => RunState::Done,
            _ = &mut stopped => RunState::Stopped,
        };
        let mut state = ended;
        if ended == RunState::Stopped {
            let _ = child.kill().await;
        } else {
            let _ = printing.await;
            match child.wait().await {
                // 1 is a program with errors, which are shown where they are.
                Ok(status) if matches!(status.code(), Some(0 | 1)) => {}
                _ => state = RunState::Failed,
            }
        }
        let current = self.with(&uri, number, |run| {
            run.state = state;
            run.stop = None;
        });
        if current {
            self.tell(&uri).await;
        }
    }

    async fn values(
        &self,
        uri: &Uri,
        number: u64,
        lines: Option<LinesOf<BufReader<ChildStdout>>>,
        plan: &Plan,
    ) {
        let Some(mut lines) = lines else { return };
        self.tell(uri).await;
        let mut told = tokio::time::Instant::now();
        let mut untold = false;
        loop {
            let line = if untold {
                match tokio::time::timeout_at(told + VALUES_INTERVAL, lines.next_line()).await {
                    Ok(line) => line,
                    Err(_) => {
                        self.tell(uri).await;
                        (told, untold) = (tokio::time::Instant::now(), false);
                        continue;
                    }
                }
            } else {
                lines.next_line().await
            };
            let Ok(Some(line)) = line else { return };
            if let Some(value) = value(plan, &line) {
                if let (Some((item, text)), Some((work, depth))) = (&value.of, value.cost) {
                    self.costs.counted(*item, text.clone(), work, depth);
                }
                if !self.with(uri, number, |run| run.values.push(value)) {
                    return;
                }
                untold = true;
            }
        }
    }

    /// Changes a run, if it is still the document's last.
    fn with(&self, uri: &Uri, number: u64, change: impl FnOnce(&mut Run)) -> bool {
        match self.runs().get_mut(uri) {
            Some(run) if run.number == number => {
                change(run);
                true
            }
            _ => false,
        }
    }

    /// Sends the values of a document to the client.
    async fn tell(&self, uri: &Uri) {
        let Some(snapshot) = self.snapshot(uri) else { return };
        let (way, can) = (snapshot.options.values, snapshot.client);
        let params = match self.runs().get_mut(uri) {
            None => return,
            Some(run) => {
                // What is gone stays gone, also if the old text comes back.
                run.values.retain(|value| place(&snapshot, value).is_some());
                shown(&snapshot, run)
            }
        };
        drop(snapshot);
        match way {
            Values::Notification => {
                self.client.send_notification::<ValuesNotification>(params).await;
            }
            Values::Hints if can.refresh_hints => {
                let client = self.client.clone();
                tokio::spawn(async move { client.inlay_hint_refresh().await });
            }
            Values::Hints | Values::Off => {}
        }
    }
}

fn append(output: &mut String, text: &str) {
    output.push_str(text);
    if output.len() > KEPT_OUTPUT_BYTES {
        let mut from = output.len() - KEPT_OUTPUT_BYTES;
        while !output.is_char_boundary(from) {
            from += 1;
        }
        output.drain(..from);
    }
}

/// The text to run: the document up to the end of the range, without expressions outside the range, behind the
/// definitions of the cells above it.
fn plan(snapshot: &Snapshot, params: &RunParams) -> Plan {
    let (db, lines) = (&snapshot.db, &snapshot.lines);
    let range = params.range.map(|range| lines.range(range));
    let text = definitions_above(snapshot);
    let above = text.matches('\n').count() as u32;
    let mut plan = Plan { text, wanted: Vec::new(), beyond: None };
    for form in &db.outline(snapshot.file).forms {
        let text = db.item_text(form.id());
        let own = db.whole(form.id()).range;
        if range.is_some_and(|range| own.start() > range.end()) {
            break;
        }
        let touched = range.is_none_or(|range| range.intersect(own).is_some());
        // Behind the last form there may be blanks, on its line.
        let wanted = touched && params.expression.is_none() && form.kind != RawKind::Blank;
        add_form(&mut plan.text, &text, wanted || form.kind != RawKind::Expr);
        if wanted {
            let (first, last) = (lines.position(own.start()).line, lines.position(own.end()).line);
            plan.wanted.push((above + first + 1, above + last + 1, form.id(), text.clone()));
        }
    }
    if let Some(expression) = &params.expression {
        plan.text.push('\n');
        let line = plan.text.matches('\n').count() as u32 + 1;
        plan.text.push_str(expression);
        if !expression.trim_end().ends_with(';') {
            plan.text.push(';');
        }
        plan.text.push('\n');
        let end = || lines.position(TextSize::of(&*lines.text));
        let written = shorten(expression.trim().trim_end_matches(';'), INLINE_CHARS);
        plan.beyond = Some((line, params.position.unwrap_or_else(end), written));
    }
    plan
}

/// The value that a line of the process gives, if it is wanted.
fn value(plan: &Plan, line: &str) -> Option<Value> {
    let (line, mut value) = match serde_json::from_str(line).ok()? {
        Line::Form(form) => (form.line, of_form(&form)),
        Line::Problem { problem } if problem.severity == "error" => {
            (problem.line, of_problem(&problem))
        }
        Line::Problem { .. } | Line::Other(_) => return None,
    };
    if let Some((beyond, at, written)) = &plan.beyond {
        value.at = Some(*at);
        if !value.error {
            value.text = format!("{written} {}", value.text);
        }
        return (line >= *beyond).then_some(value);
    }
    let mut inside =
        plan.wanted.iter().filter(|(first, last, ..)| (*first..=*last).contains(&line));
    let (_, _, item, text) = inside.next_back()?;
    value.of = Some((*item, text.clone()));
    Some(value)
}

fn of_form(form: &Form) -> Value {
    let value = form.value.clone().unwrap_or_else(|| "…".to_owned());
    let seconds = form.seconds;
    let mut detail = String::new();
    let mut kept: String = value.chars().take(KEPT_CHARS).collect();
    if kept.len() < value.len() {
        kept.push('…');
    }
    detail.push_str("```nesl\n");
    detail.push_str(&format!("{} = {kept}\n```\n*{}*", form.name, form.ty));
    let text = format!("= {}", shorten(&value, INLINE_CHARS));
    let cost = form.work.zip(form.depth);
    Value { of: None, at: None, text, detail, seconds, cost, error: false }
}

fn of_problem(problem: &Problem) -> Value {
    let mut detail = problem.message.clone();
    for hint in &problem.hints {
        detail.push_str(&format!("\n\n*{}*", hint.text));
    }
    let text = shorten(&problem.message, INLINE_CHARS);
    Value { of: None, at: None, text, detail, seconds: 0.0, cost: None, error: true }
}

/// The present position of a value; none if its form has changed.
fn place(snapshot: &Snapshot, value: &Value) -> Option<lsp::Position> {
    let Some((item, text)) = &value.of else { return value.at };
    let (file, _) = snapshot.db.position_of(*item)?;
    let same = file == snapshot.file && *snapshot.db.item_text(*item) == **text;
    same.then(|| end_of_line(&snapshot.lines, snapshot.db.whole(*item).range.end()))
}

fn end_of_line(lines: &Lines, offset: TextSize) -> lsp::Position {
    let line = lines.position(offset).line;
    lines.position(lines.offset(lsp::Position::new(line, u32::MAX)))
}

fn shown(snapshot: &Snapshot, run: &Run) -> ValuesParams {
    let values = run.values.iter().filter_map(|value| {
        Some(ValueShown {
            position: place(snapshot, value)?,
            text: value.text.clone(),
            detail: value.detail.clone(),
            seconds: value.seconds,
            error: value.error,
        })
    });
    ValuesParams {
        text_document: lsp::VersionedTextDocumentIdentifier {
            uri: snapshot.uri.clone(),
            version: snapshot.version,
        },
        state: run.state,
        run: run.number,
        values: values.collect(),
        output: run.output.clone(),
    }
}

fn hint(at: lsp::Position, value: &Value) -> lsp::InlayHint {
    lsp::InlayHint {
        position: at,
        label: lsp::InlayHintLabel::String(value.text.clone()),
        kind: None,
        text_edits: None,
        tooltip: Some(lsp::InlayHintTooltip::MarkupContent(convert::markdown(
            value.detail.clone(),
        ))),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    }
}
