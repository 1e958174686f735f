//! A cell that runs: what comes of it → messages, in order.
//!
//! The last value of a cell is its result, the values before it are displayed. Which one is the last is
//! not known while the cell runs, so a value is held back for [`MAX_HELD_AGE`]; definitions that follow
//! each other are shown as one.
//!
//! A cell that has shown nothing for [`PROGRESS_AFTER`] shows a line that says how far it is. Outputs of a
//! notebook can be replaced, but only cleared all together: before anything else is shown, and at the
//! end, all are cleared and those before the line are sent once more. So nothing of the line stays in
//! the notebook. A cell whose outputs are long ([`MAX_REPEATED_BYTES`]) has none.

use crate::media;
use crate::printed::{Budget, Decoder, NOTICE, Part};
use crate::publish::Publisher;
use jupyter_protocol::{
    ClearOutput, DisplayData, ErrorOutput, ExecuteResult, ExecutionCount, Header,
    JupyterMessageContent, Media, Transient, UpdateDisplayData,
};
use nesl_engine::{Report, Round};
use nesl_interactive::bundle::Bundle;
use nesl_interactive::output::{INTERRUPTED, Outcome, Output, Problem, Stream};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A value is held back for at most so long.
const MAX_HELD_AGE: Duration = Duration::from_millis(50);

/// Cells that show nothing for longer show how far they are.
const PROGRESS_AFTER: Duration = Duration::from_millis(500);

/// The line that says how far a cell is changes after each of these.
const PROGRESS_EVERY: Duration = Duration::from_millis(500);

/// The outputs before the line that says how far a cell is take so many bytes, at most.
const MAX_REPEATED_BYTES: usize = 1 << 15;

/// The windows that were shown since the kernel began, by the ids of their displays.
pub type Windows = Arc<Mutex<HashSet<String>>>;

/// A cell that runs.
pub struct Cell {
    publisher: Publisher,
    parent: Arc<Header>,
    /// The manner in which the cell is asked to behave.
    manner: Manner,
    /// The number of the cell, once it has begun.
    count: Option<usize>,
    windows: Windows,
    /// A value or definitions, and what followed.
    held: Vec<Output>,
    held_since: Instant,
    decoders: [Decoder; 2],
    budget: Budget,
    progress: ProgressLine,
    /// The outputs that the cell has published, to be sent once more; `None` once they are too long.
    sent: Option<Vec<Sent>>,
    sent_bytes: usize,
    first_problem: Option<Problem>,
    pages: Vec<Bundle>,
    finished: bool,
}

/// An output that was published.
#[derive(Clone)]
enum Sent {
    /// Text on a stream.
    Text(&'static str, String),
    /// A message of its own.
    Content(JupyterMessageContent),
}

/// The manner in which a cell is asked to behave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// Nothing is shown.
    pub silent: bool,
    /// Answers are for the reply: they are read in a pager.
    pub pager: bool,
}

/// The line that says how far the cell is.
struct ProgressLine {
    /// The time since which nothing was shown.
    since: Instant,
    id: String,
    /// The time at which the line was shown or changed, while it is there.
    shown: Option<Instant>,
    /// True while somebody is asked for input.
    paused: bool,
}

impl Cell {
    /// Makes a cell that is to be run.
    pub fn new(
        publisher: Publisher,
        parent: Arc<Header>,
        manner: Manner,
        windows: Windows,
    ) -> Cell {
        let now = Instant::now();
        let id = format!("nesl-progress-{}", uuid::Uuid::new_v4());
        Cell {
            publisher,
            parent,
            manner,
            count: None,
            windows,
            held: Vec::new(),
            held_since: now,
            decoders: Default::default(),
            budget: Budget::new(now),
            progress: ProgressLine { since: now, id, shown: None, paused: false },
            sent: Some(Vec::new()),
            sent_bytes: 0,
            first_problem: None,
            pages: Vec::new(),
            finished: false,
        }
    }

    /// Begins to run the cell, by its number.
    pub fn begin(&mut self, count: usize) {
        let now = Instant::now();
        self.count = Some(count);
        self.budget = Budget::new(now);
        self.progress.since = now;
    }

    /// Shows something that came of the cell.
    pub fn show(&mut self, output: Output) {
        if let Output::Error(problem) = &output {
            self.first_problem.get_or_insert_with(|| problem.clone());
        }
        if self.manner.silent {
            return;
        }
        match output {
            Output::Printed(stream, bytes) => {
                self.release(false);
                self.print(stream, &bytes);
            }
            Output::Value(_) => {
                self.release(false);
                self.hold(output);
            }
            Output::Defined(_) => self.hold(output),
            Output::Answer(bundle) if self.manner.pager => self.pages.push(bundle),
            other if self.held.is_empty() => self.emit(other, false),
            other => self.hold(other),
        }
    }

    fn hold(&mut self, output: Output) {
        if self.held.is_empty() {
            self.held_since = Instant::now();
        }
        self.held.push(output);
    }

    /// Shows what was held back; a value in it is the result if nothing follows.
    fn release(&mut self, last: bool) {
        let mut definitions = Vec::new();
        for output in std::mem::take(&mut self.held) {
            match output {
                Output::Defined(bundle) => definitions.push(bundle),
                other => {
                    self.define(&mut definitions);
                    self.emit(other, last);
                }
            }
        }
        self.define(&mut definitions);
    }

    fn define(&mut self, definitions: &mut Vec<Bundle>) {
        if !definitions.is_empty() {
            self.display(media::definitions(std::mem::take(definitions)), None);
        }
    }

    fn emit(&mut self, output: Output, last: bool) {
        match output {
            Output::Printed(stream, bytes) => self.print(stream, &bytes),
            Output::Value(bundle) if last => {
                let result = ExecuteResult {
                    execution_count: ExecutionCount::new(self.count.unwrap_or(0)),
                    data: media::media(bundle),
                    metadata: Map::new(),
                    // `null` is not what the protocol allows here.
                    transient: Some(Transient::default()),
                };
                self.publish(Sent::Content(result.into()));
            }
            Output::Value(bundle) | Output::Answer(bundle) | Output::Defined(bundle) => {
                self.display(media::media(bundle), None);
            }
            Output::Picture(window, bundle) => {
                let id = format!("nesl-window-{window}-{}", bundle.plain);
                let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
                let seen = !windows.insert(id.clone());
                drop(windows);
                let data = media::media(bundle);
                if seen {
                    // Where it was shown before it is replaced. The cell may be one of those whose
                    // output was just cleared, so it is shown here as well.
                    let update = UpdateDisplayData::new(data.clone(), &id);
                    self.update_sent(&update);
                    self.publisher.send(Some(&self.parent), update);
                }
                self.display(data, Some(id));
            }
            Output::Warning(bundle) => {
                self.publish(Sent::Text("stderr", format!("{}\n", bundle.terminal(true))));
            }
            Output::Error(problem) => {
                let error = ErrorOutput {
                    traceback: traceback(&problem),
                    ename: problem.kind,
                    evalue: problem.message,
                };
                self.publish(Sent::Content(error.into()));
            }
        }
    }

    fn display(&mut self, data: Media, id: Option<String>) {
        self.publish(Sent::Content(display(data, id).into()));
    }

    /// Publishes an output behind those so far.
    fn publish(&mut self, output: Sent) {
        self.take_progress_away(true);
        self.send(&output);
        if self.sent.is_some() {
            self.sent_bytes += output.bytes();
            self.sent.take_if(|_| self.sent_bytes > MAX_REPEATED_BYTES);
        }
        match (&mut self.sent, output) {
            (None, _) => {}
            (Some(sent), Sent::Text(stream, text)) => match sent.last_mut() {
                Some(Sent::Text(last, joined)) if *last == stream => joined.push_str(&text),
                _ => sent.push(Sent::Text(stream, text)),
            },
            (Some(sent), output) => sent.push(output),
        }
    }

    fn send(&self, output: &Sent) {
        match output {
            Sent::Text(stream, text) => self.publisher.print(&self.parent, stream, text),
            Sent::Content(content) => self.publisher.send(Some(&self.parent), content.clone()),
        }
    }

    /// Notes that a display has other data now.
    fn update_sent(&mut self, update: &UpdateDisplayData) {
        for output in self.sent.iter_mut().flatten() {
            if let Sent::Content(JupyterMessageContent::DisplayData(display)) = output
                && display
                    .transient
                    .as_ref()
                    .is_some_and(|t| t.display_id == update.transient.display_id)
            {
                display.data = update.data.clone();
            }
        }
    }

    /// Takes the line away that says how far the cell is, if it is there. Something else `follows`, or
    /// nothing does.
    fn take_progress_away(&mut self, follows: bool) {
        self.progress.since = Instant::now();
        if self.progress.shown.take().is_none() {
            return;
        }
        let sent = self.sent.as_deref().unwrap_or_default();
        // What is there is cleared by what follows, so that nothing flickers.
        let wait = follows || !sent.is_empty();
        self.publisher.send(Some(&self.parent), ClearOutput { wait });
        sent.iter().for_each(|output| self.send(output));
    }

    fn print(&mut self, stream: Stream, bytes: &[u8]) {
        let (name, decoder) = match stream {
            Stream::Output => ("stdout", 0),
            Stream::Errors => ("stderr", 1),
        };
        let first = self.budget.left_out == 0;
        let Some(admitted) = self.budget.admit(bytes, Instant::now()) else {
            if first {
                self.publish(Sent::Text("stderr", NOTICE.to_owned()));
            }
            return;
        };
        if admitted.gap > 0 {
            // What came before the gap does not go on behind it.
            self.decoders = Default::default();
            let text = format!("[{} are left out here.]\n", amount(admitted.gap));
            self.publish(Sent::Text("stderr", text));
        }
        for part in self.decoders[decoder].decode(admitted.bytes) {
            self.part(name, part);
        }
    }

    fn part(&mut self, stream: &'static str, part: Part) {
        match part {
            Part::Text(text) => self.publish(Sent::Text(stream, text)),
            // Cleared once there is something new: what is drawn again and again does not flicker.
            Part::Clear => {
                self.publish(Sent::Content(ClearOutput { wait: true }.into()));
                // Nothing before it need be sent again, however much that was.
                (self.sent, self.sent_bytes) = (Some(Vec::new()), 0);
            }
        }
    }

    /// Shows everything so far, before somebody is asked for input; until [`Cell::resume`] the cell
    /// does not say how far it is.
    pub fn pause(&mut self) {
        self.release(false);
        self.take_progress_away(false);
        self.progress.paused = true;
        self.publisher.flush();
    }

    /// Goes on after input.
    pub fn resume(&mut self) {
        self.progress.paused = false;
    }

    /// Shows what was held back for long enough, and how far the cell is.
    pub fn tick(&mut self, report: Option<Report>) {
        if self.finished {
            return;
        }
        if !self.held.is_empty() && self.held_since.elapsed() > MAX_HELD_AGE {
            self.release(false);
        }
        let line = &self.progress;
        let due = match line.shown {
            None => self.sent.is_some() && line.since.elapsed() >= PROGRESS_AFTER,
            Some(shown) => shown.elapsed() >= PROGRESS_EVERY,
        };
        let Some(report) = report.filter(|_| due && !line.paused && !self.manner.silent) else {
            return;
        };
        let data = media::progress(&describe(report));
        let id = line.id.clone();
        if line.shown.is_some() {
            self.publisher.send(Some(&self.parent), UpdateDisplayData::new(data, &id));
        } else {
            self.publisher.send(Some(&self.parent), display(data, Some(id)));
        }
        self.progress.shown = Some(Instant::now());
    }

    /// Shows what is left, and returns the content of the reply.
    pub fn finish(&mut self, outcome: &Outcome) -> Value {
        self.finished = true;
        for (at, stream) in ["stdout", "stderr"].into_iter().enumerate() {
            if let Some(part) = self.decoders[at].finish() {
                self.part(stream, part);
            }
        }
        if *outcome == Outcome::Interrupted && self.first_problem.is_none() {
            // Interrupted while a value was shown, or between two forms.
            self.show(Output::Error(Problem::interrupted()));
        }
        self.release(true);
        if self.budget.left_out > 0 && !self.manner.silent {
            let text = format!("\n[{} were left out in all.]\n", amount(self.budget.left_out));
            self.publish(Sent::Text("stderr", text));
        }
        self.take_progress_away(false);
        let count = self.count.unwrap_or(0);
        match outcome {
            Outcome::Done => json!({
                "status": "ok", "execution_count": count, "user_expressions": {},
                "payload": self.payload(),
            }),
            Outcome::Exit => {
                let text =
                    "A notebook ends its session from its menu, by shutting down its kernel.\n";
                self.publisher.print(&self.parent, "stderr", text);
                json!({
                    "status": "ok", "execution_count": count, "user_expressions": {},
                    "payload": [{ "source": "ask_exit", "keepkernel": false }],
                })
            }
            // Of a cell that has not begun nothing is told.
            Outcome::Aborted => Value::Null,
            Outcome::Failed(_) | Outcome::Interrupted => {
                let problem = match (&self.first_problem, outcome) {
                    (_, Outcome::Failed(problem)) => problem.clone(),
                    (Some(problem), _) if problem.kind == INTERRUPTED => problem.clone(),
                    // Whatever else was wrong before.
                    _ => Problem::interrupted(),
                };
                json!({
                    "status": "error", "execution_count": count, "ename": problem.kind,
                    "evalue": problem.message, "traceback": traceback(&problem),
                    "user_expressions": {}, "payload": [],
                })
            }
        }
    }

    fn payload(&mut self) -> Vec<Value> {
        let pages = std::mem::take(&mut self.pages);
        let page =
            |bundle: Bundle| json!({ "source": "page", "data": media::media(bundle), "start": 0 });
        pages.into_iter().map(page).collect()
    }
}

impl Sent {
    /// Returns about how many bytes the output takes.
    fn bytes(&self) -> usize {
        match self {
            Sent::Text(_, text) => text.len(),
            Sent::Content(content) => serde_json::to_string(content).map_or(0, |text| text.len()),
        }
    }
}

/// Returns the message that displays something.
fn display(data: Media, id: Option<String>) -> DisplayData {
    DisplayData { data, metadata: Map::new(), transient: Some(Transient { display_id: id }) }
}

/// Returns a message as lines, with the colours of a terminal.
fn traceback(problem: &Problem) -> Vec<String> {
    problem.shown.terminal(true).lines().map(str::to_owned).collect()
}

/// Returns how far a cell is, in a line.
fn describe(report: Report) -> String {
    let Report { forms, forms_done, launches, elapsed, round } = report;
    let mut parts = Vec::new();
    match round {
        // Each round has the same forms.
        Some(Round { of, now, all }) => parts.push(format!("{of} {now}/{all}")),
        None if forms > 0 => parts.push(format!("forms {forms_done}/{forms}")),
        None => {}
    }
    match launches {
        0 => {}
        1 => parts.push("1 launch".to_owned()),
        more => parts.push(format!("{more} launches")),
    }
    parts.push(format!("{:.1} s", elapsed.as_secs_f64()));
    parts.join(" · ")
}

/// Returns a number of bytes as people write it.
fn amount(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
