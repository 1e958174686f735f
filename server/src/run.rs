//! Running documents, in processes of their own: nothing a program does can hurt the editor.
//!
//! A run is `nesl run --json -`, which is given the document's text; each line that it prints is a
//! value or a problem, with its line. Values belong to the form that they are of: a form that is
//! edited loses its value, one that moves takes it along, and one that depends on a form that was
//! edited shows its value as stale. What a run does not compute stays from the runs before it. A run
//! ends when it is done, when it is stopped, when the same document is run again or is closed.
//!
//! | file | contents |
//! |---|---|
//! | here | processes, and what clients are told of them |
//! | `plan` | the program that a process is given; the values that it prints |
//! | `value` | values, where they are shown, and whether they are stale |

mod plan;
mod value;

use crate::child;
use crate::convert;
use crate::cost::Costs;
use crate::options::{Options, Values};
use crate::protocol::{RunParams, RunState, ValueShown, ValuesNotification, ValuesParams};
use crate::queue::Queue;
use crate::reading::{Unread, read};
use crate::world::{Snapshot, World};
use nesl_core::base::{self, ItemId, TextRange};
use nesl_core::db::FileRange;
use plan::Plan;
use rustc_hash::FxHashMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines as LinesOf};
use tokio::process::{Child, ChildStdout};
use tokio::sync::oneshot;
use tower_lsp_server::ls_types::{self as lsp, Uri};
use tower_lsp_server::{Client, NotCancellable, OngoingProgress, Unbounded};
use value::{Anchor, Freshness, Value};

/// The length of a program's output that is kept: its end, in bytes.
const KEPT_OUTPUT_BYTES: usize = 64 * 1024;
/// The interval in which values are collected to be sent together.
const VALUES_INTERVAL: Duration = Duration::from_millis(30);
/// The time after which a form that is still running says so.
const LONG_TIME: Duration = Duration::from_millis(400);
/// The interval in which the time of a long run is told.
const TICK: Duration = Duration::from_secs(1);

/// The progress of a run that a client is told, once it takes long.
type Told = tokio::sync::Mutex<Option<OngoingProgress<Unbounded, NotCancellable>>>;

/// The last run of each document.
pub struct Runs {
    client: Client,
    world: Arc<Mutex<World>>,
    /// The path of `nesl`, which runs programs.
    executable: PathBuf,
    /// Receives the work and depth that runs have counted.
    costs: Arc<Costs>,
    /// Documents whose diagnostics must be updated.
    queue: Arc<Queue>,
    runs: Mutex<FxHashMap<Uri, Run>>,
    count: Mutex<u64>,
}

/// The last run of a document.
struct Run {
    number: u64,
    state: RunState,
    /// The values of this run and of those before it.
    values: Vec<Value>,
    /// The places that this run has no value for yet, in order: the first is being computed.
    expected: Vec<Anchor>,
    output: String,
    /// The time at which it began, and at which its last value came.
    began: Instant,
    last: Instant,
    ended: Option<Instant>,
    /// Kills the process when a message is sent, or it is dropped.
    stop: Option<oneshot::Sender<()>>,
}

impl Run {
    /// The place that is being computed, or was when the run was stopped.
    fn current(&self) -> Option<&Anchor> {
        self.expected.first()
    }

    /// Takes a new value, which replaces an older one of the same form.
    fn take(&mut self, value: Value) {
        if let Some(at) = self.expected.iter().position(|anchor| *anchor == value.anchor) {
            self.expected.drain(..=at);
        }
        self.values.retain(|old| !(old.outdated && old.anchor.item() == value.anchor.item()));
        self.values.push(value);
        self.last = Instant::now();
    }
}

impl Runs {
    /// The runs of no document yet.
    pub fn new(
        client: Client,
        world: Arc<Mutex<World>>,
        executable: PathBuf,
        costs: Arc<Costs>,
        queue: Arc<Queue>,
    ) -> Runs {
        let (runs, count) = (Mutex::default(), Mutex::default());
        Runs { client, world, executable, costs, queue, runs, count }
    }

    /// Begins a run; returns its number and the version of the document that runs, or the reason why it cannot.
    pub async fn start(self: &Arc<Runs>, params: RunParams) -> Result<(u64, i32), String> {
        let uri = params.text_document.uri.clone();
        let snapshot = self.snapshot(&uri).ok_or("this document is not open")?;
        let (version, options) = (snapshot.version, snapshot.options.clone());
        let planned =
            move |snapshot: &Snapshot| (Plan::new(snapshot, &params), child::folder_of(snapshot));
        let (plan, folder) = read(snapshot, planned)
            .await
            .map_err(|_| "the text has changed: run it again".to_owned())?;
        let mut child = self
            .spawn(&uri, folder, &options)
            .map_err(|error| format!("cannot start {}: {error}", self.executable.display()))?;
        let number = {
            let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
            *count += 1;
            *count
        };
        let (stop, stopped) = oneshot::channel();
        let expected = plan.expected();
        {
            let mut runs = self.runs();
            // The run before, if there is one, ends here: its `stop` is dropped.
            let mut values = runs.remove(&uri).map_or_else(Vec::new, |run| run.values);
            for value in &mut values {
                value.outdated |= expected.contains(&value.anchor);
            }
            let now = Instant::now();
            let run = Run {
                number,
                state: RunState::Running,
                values,
                expected,
                output: String::new(),
                began: now,
                last: now,
                ended: None,
                stop: Some(stop),
            };
            runs.insert(uri.clone(), run);
        }
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
    pub async fn changed(self: &Arc<Runs>, uri: &Uri) {
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
        let runs = self.runs();
        let shown = runs.get(&snapshot.uri).map(|run| values(snapshot, run)).unwrap_or_default();
        let inside = |at| range.contains_inclusive(snapshot.lines.offset(at));
        shown.iter().filter(|value| inside(value.position)).map(hint).collect()
    }

    /// The form of a document that has been running for long, and the time in seconds.
    pub fn running(&self, uri: &Uri) -> Option<(ItemId, u64)> {
        let runs = self.runs();
        let run = runs.get(uri).filter(|run| run.state == RunState::Running)?;
        let long = run.last.elapsed() >= LONG_TIME;
        long.then_some(())?;
        Some((run.current()?.item()?, run.last.elapsed().as_secs()))
    }

    /// The errors of the last runs of a document, where they are in its text.
    pub fn problems(&self, snapshot: &Snapshot) -> Vec<lsp::Diagnostic> {
        let runs = self.runs();
        let values = runs.get(&snapshot.uri).into_iter().flat_map(|run| &run.values);
        let problems = values.filter(|value| !value.outdated).filter_map(|value| {
            let fault = value.fault.as_ref()?;
            let at = FileRange { file: snapshot.file, range: fault.place(snapshot)? };
            let kind = base::DiagnosticKind::Runtime;
            let problem = base::Diagnostic::error(kind, at, fault.message.clone());
            // An error inside a function: the expression that has called it.
            let caller = value.anchor.item().filter(|item| *item != fault.item);
            let problem = match caller {
                Some(caller) => problem.label(snapshot.db.whole(caller), "called from here"),
                None => problem,
            };
            Some(convert::diagnostic(snapshot, &problem))
        });
        problems.collect()
    }

    fn runs(&self) -> std::sync::MutexGuard<'_, FxHashMap<Uri, Run>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn snapshot(&self, uri: &Uri) -> Option<Snapshot> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner).snapshot(uri)
    }

    fn spawn(
        &self,
        uri: &Uri,
        folder: Option<PathBuf>,
        options: &Options,
    ) -> std::io::Result<Child> {
        let mut command = child::command(&self.executable, uri, folder);
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
        let progress = Told::default();
        let ended = tokio::select! {
            () = self.values(&uri, number, lines, &plan, &progress) => RunState::Done,
            _ = &mut stopped => RunState::Stopped,
        };
        if let Some(progress) = progress.into_inner() {
            progress.finish().await;
        }
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
            run.ended = Some(Instant::now());
            if state == RunState::Done {
                // What should have been computed again, and was not, has no value now.
                run.values.retain(|value| !value.outdated);
                run.expected.clear();
            }
        });
        if current {
            self.tell(&uri).await;
            self.refresh_lenses(&uri);
        }
    }

    async fn values(
        self: &Arc<Runs>,
        uri: &Uri,
        number: u64,
        lines: Option<LinesOf<BufReader<ChildStdout>>>,
        plan: &Plan,
        progress: &Told,
    ) {
        let Some(mut lines) = lines else { return };
        self.tell(uri).await;
        let mut told = tokio::time::Instant::now();
        let mut untold = false;
        let mut wait = LONG_TIME;
        loop {
            let interval = if untold { VALUES_INTERVAL } else { wait };
            let line = match tokio::time::timeout_at(told + interval, lines.next_line()).await {
                Ok(line) => line,
                Err(_) => {
                    self.tell(uri).await;
                    if !untold {
                        // Nothing came for a while: somebody waits, and sees the time go by.
                        self.refresh_lenses(uri);
                        self.tell_progress(uri, number, progress).await;
                        wait = TICK;
                    }
                    (told, untold) = (tokio::time::Instant::now(), false);
                    continue;
                }
            };
            let Ok(Some(line)) = line else { return };
            if let Some(value) = plan.value(&line) {
                if let (Anchor::Form(item, text), Some((work, depth))) = (&value.anchor, value.cost)
                {
                    self.costs.counted(*item, text.clone(), work, depth);
                }
                if !self.with(uri, number, |run| run.take(value)) {
                    return;
                }
                untold = true;
                wait = LONG_TIME;
            }
        }
    }

    /// Tells the client how long a run takes, if the client does not show that itself.
    async fn tell_progress(&self, uri: &Uri, number: u64, progress: &Told) {
        let Some((options, can)) = self.snapshot(uri).map(|s| (s.options.clone(), s.client)) else {
            return;
        };
        if !can.progress || options.values == Values::Notification {
            return;
        }
        let began = self.runs().get(uri).map(|run| run.began);
        let seconds = began.map_or(0, |began| began.elapsed().as_secs());
        let mut progress = progress.lock().await;
        if let Some(progress) = &*progress {
            progress.report(format!("{seconds} s")).await;
            return;
        }
        let token = lsp::ProgressToken::String(format!("nesl/run/{number}"));
        if self.client.create_work_done_progress(token.clone()).await.is_ok() {
            let name = uri.as_str().rsplit('/').next().unwrap_or_default();
            let begun = self.client.progress(token, format!("Running {name}"));
            *progress = Some(begun.begin().await);
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

    /// Asks the client to look at the lenses again: one of them stops the run.
    fn refresh_lenses(&self, uri: &Uri) {
        let can = self.world.lock().unwrap_or_else(PoisonError::into_inner).client;
        let shown = self.snapshot(uri).is_some_and(|snapshot| snapshot.options.lenses.run);
        if can.refresh_lenses && shown {
            let client = self.client.clone();
            tokio::spawn(async move { client.code_lens_refresh().await });
        }
    }

    /// Sends the values of a document to the client.
    async fn tell(self: &Arc<Runs>, uri: &Uri) {
        let told = loop {
            let Some(snapshot) = self.snapshot(uri) else { return };
            let (way, can) = (snapshot.options.values, snapshot.client);
            let all = self.clone();
            match read(snapshot, move |snapshot| all.shown(snapshot)).await {
                Ok(told) => break told.map(|(params, had_faults)| (params, had_faults, way, can)),
                // The text has changed meanwhile.
                Err(Unread::Stopped) => {}
                Err(Unread::Panicked(_)) => return,
            }
        };
        let Some((params, had_faults, way, can)) = told else { return };
        if had_faults {
            self.queue.add([uri.clone()]);
        }
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

    /// Returns what a client is told of the values of a document, and whether there are errors among them.
    fn shown(&self, snapshot: &Snapshot) -> Option<(ValuesParams, bool)> {
        let mut runs = self.runs();
        let run = runs.get_mut(&snapshot.uri)?;
        let had_faults = run.values.iter().any(|value| value.fault.is_some());
        // What is gone stays gone, also if the old text comes back.
        run.values.retain(|value| value.anchor.place(snapshot).is_some());
        Some((shown(snapshot, run), had_faults))
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

/// The values to be seen in a document, in order; what runs long, or was stopped, among them.
fn values(snapshot: &Snapshot, run: &Run) -> Vec<ValueShown> {
    let mut freshness = Freshness::new(snapshot);
    let mut all: Vec<ValueShown> = Vec::with_capacity(run.values.len() + 1);
    let long = run.last.elapsed() >= LONG_TIME;
    let current = match run.state {
        RunState::Running if long => run.current(),
        RunState::Stopped => run.current(),
        RunState::Running | RunState::Done | RunState::Failed => None,
    };
    for value in &run.values {
        if current.is_some_and(|current| *current == value.anchor) {
            continue;
        }
        let Some(position) = value.anchor.place(snapshot) else { continue };
        all.push(ValueShown {
            position,
            text: value.text.clone(),
            detail: value.detail.clone(),
            seconds: value.seconds,
            error: value.error,
            stale: freshness.is_stale(value),
            running: false,
        });
    }
    if let Some(position) = current.and_then(|anchor| anchor.place(snapshot)) {
        let running = run.state == RunState::Running;
        let time = run.ended.unwrap_or_else(Instant::now).duration_since(run.last);
        let seconds = time.as_secs_f64();
        all.push(ValueShown {
            position,
            text: match running {
                true => "… running".to_owned(),
                false => format!("stopped after {}", duration(seconds)),
            },
            detail: match running {
                true => format!("It has been running for {}.", duration(seconds)),
                false => "The run was stopped here.".to_owned(),
            },
            seconds: if running { seconds } else { 0.0 },
            error: false,
            stale: !running,
            running,
        });
    }
    all.sort_by_key(|value| (value.position.line, value.position.character));
    all
}

/// A time for people: whole seconds, or tenths of few.
fn duration(seconds: f64) -> String {
    match seconds {
        ..10.0 => format!("{seconds:.1} s"),
        _ => format!("{seconds:.0} s"),
    }
}

fn shown(snapshot: &Snapshot, run: &Run) -> ValuesParams {
    ValuesParams {
        text_document: lsp::VersionedTextDocumentIdentifier {
            uri: snapshot.uri.clone(),
            version: snapshot.version,
        },
        state: run.state,
        run: run.number,
        seconds: run.ended.unwrap_or_else(Instant::now).duration_since(run.began).as_secs_f64(),
        values: values(snapshot, run),
        output: run.output.clone(),
    }
}

fn hint(value: &ValueShown) -> lsp::InlayHint {
    let text = match (value.running, value.stale) {
        (true, _) => format!("{} {}", value.text, duration(value.seconds)),
        (false, true) if !value.text.starts_with("stopped") => format!("{} (stale)", value.text),
        (false, _) => value.text.clone(),
    };
    lsp::InlayHint {
        position: value.position,
        label: lsp::InlayHintLabel::String(text),
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
