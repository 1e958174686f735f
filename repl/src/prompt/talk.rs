//! A person and a session: lines are read, entries are run, one after the other.
//!
//! The session begins on its own thread while the first line is typed. While an entry runs that takes longer, a
//! line says how far it is; behind one that took long stands what it took.

use super::definitions::Files;
use super::front::Editing;
use super::helper::{Helper, PROMPT_STYLE};
use super::highlight::{DIM, PLAIN};
use super::history::{self, Past, Walk};
use super::keys::{self, Known};
use super::lines::{PROMPT, padded, plain, question};
use super::paste::{self, Block};
use super::pieces::is_large;
use super::relay::{Lines, Pasted, Relay};
use super::session::{Done, Flow, Job, Link, Reply, serve};
use super::{mode, setup, terminal};
use crate::cli::{Global, Measures};
use crate::exit::OK;
use crate::interrupt;
use crate::output::{Output, set_screen};
use anyhow::{Result, anyhow};
use nesl_core::syntax::split;
use nesl_engine::{Report, Round};
use nesl_interactive::entry::close;
use nesl_interactive::measure::duration;
use nesl_interactive::table::grouped;
use nesl_interactive::text::wrapped;
use rustyline::config::Configurer;
use rustyline::error::ReadlineError;
use rustyline::{Behavior, ColorMode, CompletionType, Config, EditMode, Editor};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The time for which the first prompt waits for what the session prints when it begins: most begin sooner.
const MAX_BEGINNING: Duration = Duration::from_millis(20);
/// The time after which a computation says how far it is.
const MIN_PROGRESS: Duration = Duration::from_millis(500);
/// The time between two such lines.
const PROGRESS_PERIOD: Duration = Duration::from_millis(200);
/// The time after which it is told what an entry took.
const MIN_TOLD: Duration = Duration::from_secs(1);
/// The time within which a transcript goes on that comes line by line. Nobody types a line so fast.
const MAX_PASTE_PAUSE: Duration = Duration::from_millis(250);
/// The line that says that not all of what was pasted was run.
const RESULTS: &str = "A result in what was pasted; it was not run.";

/// The prompt's side of a session.
struct Talk {
    jobs: Sender<Job>,
    replies: Receiver<Reply>,
    link: Arc<Link>,
    editor: Editor<Helper, Past>,
    known: Known,
    /// The relay of the keys, where there can be one.
    relay: Option<Relay>,
    /// The text for the editor before and behind its cursor: the end of what was pasted.
    unfinished: (String, String),
    /// The file of the history, if there is one.
    path: Option<PathBuf>,
    /// The number of entries so far.
    entries: usize,
    /// True once the session has begun.
    begun: bool,
    /// The number of presses of Ctrl-C ([`interrupt::seen`]) when the text was read that runs: further ones end it.
    seen: usize,
    /// The number of pictures that could not be written.
    unsaved: usize,
    /// The time at which the prompt has run a transcript, if nothing was entered since.
    transcript_run: Option<Instant>,
    /// The text that the last entry of that transcript has printed.
    printed: String,
    /// True if the last text had entries.
    has_run: bool,
    /// True once it was told that the transcript has results.
    is_told: bool,
    colors: bool,
}

/// Reads lines and runs them until the session ends; `first` is entered before anything is read.
pub fn talk(global: &Global, measures: Measures, files: Files, first: Option<&str>) -> Result<u8> {
    interrupt::keep_session();
    interrupt::handle();
    if !global.quiet {
        let version = env!("CARGO_PKG_VERSION");
        let text = format!("NESL {version}. :help tells what there is, :quit or Ctrl-D leaves.");
        let columns = terminal::screen().map_or(usize::MAX, |(columns, _)| columns);
        println!("{}", wrapped(&text, columns));
    }
    let link = Arc::new(Link {
        output: Output::stdout(),
        sight: Arc::default(),
        progress: OnceLock::new(),
        typing: Mutex::new(false),
        canvas: Arc::default(),
    });
    let (jobs, queue) = channel();
    let (sender, replies) = channel();
    let colors = global.colors(&std::io::stdout());
    let known = Known {
        walk: Walk::default(),
        commands: setup(global).commands(),
        pasted: Pasted::default(),
        searches: Arc::default(),
    };
    let helper = Helper::new(link.sight.clone(), &known, colors);
    let mut editor = editor(&known, helper)?;
    let printer = editor.create_external_printer().ok();
    let awaited = printer.is_none();
    let (own, own_global) = (link.clone(), global.clone());
    let session = move || serve(&own_global, measures, files, (&queue, &sender), &own, printer);
    std::thread::Builder::new().name("session".to_owned()).spawn(session)?;
    let path = history::path();
    if let Some(path) = &path {
        // There is none the first time.
        let _ = editor.load_history(path);
    }
    let relay = Relay::new(known.pasted.clone());
    if relay.is_none() {
        link.canvas.never_ask();
    }
    let mut talk = Talk {
        jobs,
        replies,
        link,
        editor,
        relay,
        known,
        unfinished: (String::new(), String::new()),
        path,
        entries: 0,
        begun: false,
        seen: interrupt::seen(),
        unsaved: 0,
        transcript_run: None,
        printed: String::new(),
        has_run: false,
        is_told: false,
        colors,
    };
    let is_awaited = awaited || first.is_some();
    talk.begin((!is_awaited).then_some(MAX_BEGINNING))
        .map_err(|missing| global.missing(&missing))?;
    talk.run(first).map_err(|failure| match failure {
        Failure::Missing(missing) => global.missing(&missing),
        Failure::Other(error) => error,
    })
}

/// The reason why a session cannot go on.
enum Failure {
    /// This machine lacks the runtime.
    Missing(String),
    /// The session failed for another reason.
    Other(anyhow::Error),
}

fn editor(known: &Known, helper: Helper) -> Result<Editor<Helper, Past>> {
    let config = Config::builder()
        .auto_add_history(false)
        .history_ignore_dups(true)?
        .max_history_size(10_000)?
        .completion_type(CompletionType::List)
        // No list is longer than the screen, so nothing is asked: the answer would be taken from the line.
        .completion_prompt_limit(usize::MAX)
        .bracketed_paste(true)
        .behavior(Behavior::Stdio)
        // The marks of further lines are shown without colours, too.
        .color_mode(ColorMode::Enabled)
        .build();
    let past = Past::new(&config, known.walk.clone());
    let mut editor = Editor::with_history(config, past)?;
    editor.set_helper(Some(helper));
    keys::bind(&mut editor, known);
    Ok(editor)
}

impl Talk {
    /// Waits until the session has begun, for some time if one is given; fails with the reason why it cannot.
    fn begin(&mut self, time: Option<Duration>) -> Result<(), String> {
        let reply = match time {
            Some(time) => self.replies.recv_timeout(time).ok(),
            None => self.replies.recv().ok(),
        };
        let reply = match reply {
            Some(reply) => Some(reply),
            None => {
                let mut typing = self.link.typing.lock().unwrap_or_else(PoisonError::into_inner);
                *typing = true;
                // It may have begun just now.
                self.replies.try_recv().ok()
            }
        };
        match reply {
            Some(Reply::Ready(printed)) => {
                self.begun = true;
                print!("{printed}");
            }
            Some(Reply::Missing(missing)) => return Err(missing),
            Some(Reply::Done(_) | Reply::Left) | None => {}
        }
        Ok(())
    }

    fn run(&mut self, first: Option<&str>) -> Result<u8, Failure> {
        if let Some(first) = first {
            self.echo(first);
            if self.enter(first)? == Flow::Leave {
                self.leave();
                return Ok(OK);
            }
        }
        let mut asked = false;
        loop {
            if let Some((columns, rows)) = self.editor.dimensions() {
                set_screen(usize::from(columns), usize::from(rows));
            }
            self.known.walk.end();
            // Where no relay reads keys, no terminal is asked anything.
            if let Some(relay) = &self.relay {
                relay.add(&self.link.canvas.take_typed());
            }
            let (before, behind) = std::mem::take(&mut self.unfinished);
            let began = Instant::now();
            if let Some(helper) = self.editor.helper() {
                helper.begin();
            }
            if self.editor.config_mut().edit_mode() == EditMode::Vi {
                mode::begin();
            }
            let mut edit = || {
                let read = self.editor.readline_with_initial(PROMPT, (&before, &behind));
                // Ctrl-C is a key up to here.
                self.seen = interrupt::seen();
                read
            };
            let read = match &self.relay {
                Some(relay) => relay.read(edit),
                None => edit(),
            };
            mode::leave();
            self.transcript_run.take_if(|_| began.elapsed() > MAX_PASTE_PAUSE);
            let line = match read {
                Ok(_) if self.known.pasted.is_ended() => break,
                Ok(line) => line,
                Err(ReadlineError::Interrupted) => {
                    asked = false;
                    if let Some(relay) = &self.relay {
                        relay.forget(false);
                    }
                    // It is the session that begins: what the files and the user's own definitions compute.
                    if !self.begun {
                        interrupt::stop();
                    }
                    continue;
                }
                Err(ReadlineError::Eof) => {
                    if !std::mem::replace(&mut asked, true)
                        && let Some(question) = self.question()
                    {
                        println!("{question} Ctrl-D again leaves.");
                        continue;
                    }
                    break;
                }
                Err(error) => return Err(Failure::Other(error.into())),
            };
            asked = false;
            let flow = match self.known.pasted.take_lines() {
                Some(lines) => self.paste(&lines)?,
                None => self.enter(&plain(&line))?,
            };
            if flow == Flow::Leave {
                break;
            }
        }
        self.leave();
        Ok(OK)
    }

    /// Shows an entry that was not typed here as if it were.
    fn echo(&self, text: &str) {
        let text = padded(text.trim_end());
        let shown = self.editor.helper().map_or(text.clone(), |helper| helper.shown(&text));
        println!("{}{shown}", self.colored(PROMPT_STYLE, PROMPT));
    }

    /// Returns what is to be said before the session is left, if something would be lost.
    fn question(&mut self) -> Option<String> {
        self.poll();
        if !self.begun {
            return Some("The session is still being loaded.".to_owned());
        }
        match self.unsaved {
            0 => None,
            1 => Some("1 picture could not be written.".to_owned()),
            count => Some(format!("{count} pictures could not be written.")),
        }
    }

    /// Notes that the session has begun, if it has.
    fn poll(&mut self) {
        if !self.begun
            && let Ok(Reply::Ready(printed)) = self.replies.try_recv()
        {
            self.begun = true;
            print!("{printed}");
        }
    }

    /// Runs what was typed: an entry, or several.
    fn enter(&mut self, text: &str) -> Result<Flow, Failure> {
        let text = text.trim_end();
        if text.trim().is_empty() {
            return Ok(Flow::Go);
        }
        let mut block = self.block(&format!("{text}\n"));
        if !block.rest.trim().is_empty() {
            // Enter was pressed nevertheless.
            block.entries.push(std::mem::take(&mut block.rest));
        }
        if !block.is_transcript {
            self.keep(text);
        }
        let is_shown = block.entries.len() > 1;
        self.run_all(&block, is_shown, block.is_transcript)
    }

    /// Runs the lines that were pasted, as if they were typed one by one; the end may still be edited.
    fn paste(&mut self, lines: &Lines) -> Result<Flow, Failure> {
        let (first, further) = lines.text.split_once('\n').unwrap_or((&lines.text, ""));
        let before = plain(&lines.before);
        let text = format!("{before}{first}{}\n{further}", plain(&lines.behind));
        let mut block = self.block(&text);
        if is_large(&block.rest) {
            block.entries.push(std::mem::take(&mut block.rest));
        }
        // In place of the line that the editor has handed over.
        print!("\x1b[A\r\x1b[K");
        self.unfinished = (padded(&block.rest), String::new());
        self.run_all(&block, true, true)
    }

    /// Returns the entries of a text.
    fn block(&mut self, text: &str) -> Block {
        let recent = self.link.output.recent();
        let goes_on = self.transcript_run.take().is_some();
        // Where results come line by line, they are those of one entry.
        if self.has_run {
            self.printed = recent;
        }
        self.is_told &= goes_on;
        let block = paste::read(text, self.known.commands, goes_on.then_some(&*self.printed));
        self.has_run = !block.entries.is_empty();
        block
    }

    /// Runs the entries of a text until Ctrl-C is pressed. They are shown if `is_shown`, and kept in the history if
    /// `is_kept`.
    fn run_all(&mut self, block: &Block, is_shown: bool, is_kept: bool) -> Result<Flow, Failure> {
        for (at, entry) in block.entries.iter().enumerate() {
            if is_shown {
                self.echo(entry);
            }
            if is_kept {
                self.keep(entry.trim_end());
            }
            let has_more = at + 1 < block.entries.len();
            if self.entry(entry.trim_end(), has_more)? == Flow::Leave {
                return Ok(Flow::Leave);
            }
            if interrupt::seen() > self.seen && self.begun {
                self.unfinished = (String::new(), String::new());
                self.forget_typed().map_err(Failure::Other)?;
                return Ok(Flow::Go);
            }
        }
        if block.has_results && !self.is_told {
            self.dim(RESULTS);
            self.is_told = true;
        }
        self.transcript_run = block.is_transcript.then(Instant::now);
        Ok(Flow::Go)
    }

    /// Keeps a text in the history.
    fn keep(&mut self, text: &str) {
        if is_large(text) {
            return;
        }
        // Failing to keep it is no reason to disturb the session.
        let _ = self.editor.history_mut().keep(text, self.path.as_deref());
    }

    /// Runs an entry, each of its values with a number of its own; `has_more` is true if others are to follow.
    fn entry(&mut self, text: &str, has_more: bool) -> Result<Flow, Failure> {
        let text = question(text).unwrap_or_else(|| text.to_owned());
        let pieces = paste::by_values(&text);
        let mut forms = Forms { before: 0, all: 0 };
        if pieces.len() > 1 {
            forms.all = split(&close(&text)).len() as u64;
        }
        for (at, piece) in pieces.iter().enumerate() {
            let done = self.numbered(piece, forms, at > 0)?;
            let is_stopped = interrupt::seen() > self.seen;
            if is_stopped && !done.has_failed && (has_more || at + 1 < pieces.len()) {
                // What ran had come to its end, and did not say so.
                self.link.output.message("Interrupted.\n");
            }
            if done.has_failed || done.flow == Flow::Leave || is_stopped {
                return Ok(done.flow);
            }
            forms.before += split(&close(piece)).len() as u64;
        }
        Ok(Flow::Go)
    }

    /// Runs an entry under the next number; `goes_on` is true if it is a part of the one before.
    fn numbered(&mut self, text: &str, forms: Forms, goes_on: bool) -> Result<Done, Failure> {
        self.entries += 1;
        let began = Instant::now();
        let job = Job::Enter(self.entries, text.to_owned(), goes_on);
        // Ctrl-C may have been pressed behind the part before.
        let done = interrupt::during_since(self.seen, || {
            self.jobs.send(job).map_err(|_| Failure::Other(anyhow!("the session has ended")))?;
            self.wait(began, forms)
        })?;
        let took = began.elapsed().saturating_sub(done.away);
        if took >= MIN_TOLD {
            self.dim(&told(took, done.launches));
        }
        self.unsaved = done.unsaved;
        self.editor.set_edit_mode(match done.editing {
            Editing::Emacs => EditMode::Emacs,
            Editing::Vi => EditMode::Vi,
        });
        Ok(done)
    }

    /// Forgets what was read before Ctrl-C was pressed and not yet played. (What nobody had read then, the terminal
    /// has forgotten.) It is in the editor, too, so there is another one.
    fn forget_typed(&mut self) -> Result<()> {
        if let Some(relay) = &self.relay {
            relay.forget(true);
        }
        let helper = Helper::new(self.link.sight.clone(), &self.known, self.colors);
        let mut editor = editor(&self.known, helper)?;
        editor.set_edit_mode(self.editor.config_mut().edit_mode());
        std::mem::swap(editor.history_mut(), self.editor.history_mut());
        self.editor = editor;
        Ok(())
    }

    /// Waits for the end of an entry; says meanwhile how far it is, but not while it waits for something itself:
    /// somebody may be typing what it reads.
    fn wait(&mut self, began: Instant, forms: Forms) -> Result<Done, Failure> {
        let mut before = None;
        loop {
            match self.replies.recv_timeout(PROGRESS_PERIOD) {
                Ok(Reply::Done(done)) => {
                    self.link.output.status(None);
                    return Ok(done);
                }
                Ok(Reply::Ready(printed)) => {
                    self.begun = true;
                    print!("{printed}");
                }
                Ok(Reply::Missing(missing)) => return Err(Failure::Missing(missing)),
                Ok(Reply::Left) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::Other(anyhow!("the session has ended")));
                }
                Err(RecvTimeoutError::Timeout) => {
                    let report = self.link.progress.get().and_then(|progress| progress.report());
                    let now = report.map(|report| (report.launches, report.forms_done, ticks()));
                    let is_busy = now != before || now.is_some_and(|now| now.2.is_none());
                    before = now;
                    let is_long = began.elapsed() >= MIN_PROGRESS;
                    if let Some(report) = report.filter(|_| is_busy && is_long) {
                        self.link
                            .output
                            .status(Some(&self.dimmed(&progress(&forms.all_of(report)))));
                    }
                }
            }
        }
    }

    /// Ends the session, but does not wait for one that has not begun.
    fn leave(&mut self) {
        self.poll();
        if !self.begun {
            return;
        }
        if self.jobs.send(Job::Leave).is_ok() {
            while let Ok(reply) = self.replies.recv() {
                if matches!(reply, Reply::Left) {
                    break;
                }
            }
        }
    }

    fn dimmed(&self, text: &str) -> String {
        self.colored(DIM, text)
    }

    fn colored(&self, style: &str, text: &str) -> String {
        if self.colors { format!("{style}{text}{PLAIN}") } else { text.to_owned() }
    }

    /// Prints a line in grey.
    fn dim(&self, text: &str) {
        self.link.output.line(&self.dimmed(text));
        self.link.output.show();
    }
}

/// The forms of what was entered at once.
#[derive(Clone, Copy)]
struct Forms {
    /// The number of those that ran before.
    before: u64,
    /// The number of all; 0 if they are those that run.
    all: u64,
}

impl Forms {
    /// Returns a report on some of the forms as one on all.
    fn all_of(self, report: Report) -> Report {
        let Forms { before, all } = self;
        let forms_done = report.forms_done + before;
        Report { forms: report.forms.max(all), forms_done, ..report }
    }
}

/// Returns the processor time that the process has used, in ticks of the system; `None` where it does not tell.
fn ticks() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name of the program, which may have blanks, stand the state and, eleven fields further, the times.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    // Less is used by waiting itself.
    Some((next()? + next()?) / 3)
}

/// Returns how far a computation is.
fn progress(report: &Report) -> String {
    let Report { forms, forms_done, launches, elapsed, round } = *report;
    let mut parts = vec![format!("{:.1} s", elapsed.as_secs_f64())];
    if let Some(Round { of, now, all }) = round {
        // Each round has the same forms.
        parts.push(format!("{of} {} of {}", grouped(now), grouped(all)));
    } else if forms > 1 {
        parts.push(format!("form {} of {}", grouped(forms_done + 1), grouped(forms)));
    }
    if launches > 0 {
        parts.push(launched(launches));
    }
    parts.push("Ctrl-C stops".to_owned());
    parts.join(" · ")
}

/// Returns what an entry took.
fn told(took: Duration, launches: u64) -> String {
    let mut out = duration(took.as_secs_f64());
    if launches > 0 {
        out += " · ";
        out += &launched(launches);
    }
    out
}

fn launched(launches: u64) -> String {
    if launches == 1 { "1 launch".to_owned() } else { format!("{} launches", grouped(launches)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_has_what_there_is() {
        let elapsed = Duration::from_millis(1530);
        let report = Report { forms: 1, forms_done: 0, launches: 0, elapsed, round: None };
        assert_eq!(progress(&report), "1.5 s · Ctrl-C stops");
        let report = Report { forms: 12, forms_done: 3, launches: 1234, elapsed, round: None };
        assert_eq!(progress(&report), "1.5 s · form 4 of 12 · 1,234 launches · Ctrl-C stops");
        let round = Some(Round { of: "size", now: 3, all: 7 });
        let report = Report { forms: 0, forms_done: 0, launches: 0, elapsed, round };
        assert_eq!(progress(&report), "1.5 s · size 3 of 7 · Ctrl-C stops");
    }

    #[test]
    fn what_an_entry_took_is_told() {
        assert_eq!(told(Duration::from_millis(2500), 41), "2.50 s · 41 launches");
        assert_eq!(told(Duration::from_secs(3), 0), "3.00 s");
    }
}
