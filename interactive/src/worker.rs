//! A session on a thread of its own.
//!
//! Requests are done in order. An interrupt ends the one that runs and refuses those that wait; it
//! does not touch those that are made later, and none is lost, whatever moment it arrives: requests
//! are numbered when they are made, and whether one may begin is decided under the same lock as the
//! interrupt.
//!
//! A session that was idle for some time ([`Setup::idle`]) gives its device back, with all memory there:
//! others may need it. The next request that needs the device gets it again.

use crate::output::{Outcome, Problem};
use crate::state::commands::Commands;
use crate::state::{Setup, Sink, State};
use nesl_engine::{LineInput, Outlook, Progress};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// A session on a thread of its own.
pub struct Worker {
    jobs: Option<Sender<Job>>,
    gate: Arc<Gate>,
    progress: Progress,
    outlook: Outlook,
    commands: Commands,
    thread: Option<JoinHandle<()>>,
}

/// An entry to be run.
pub struct Request {
    /// Called when the request begins, on the session's thread. Returns what messages call the text,
    /// such as `In [3]`; with `None` the request is given up.
    pub begin: Box<dyn FnOnce() -> Option<String> + Send>,
    /// The text: commands, and forms after them.
    pub text: String,
    /// True if its expressions define `it`.
    pub defines_it: bool,
    /// True if the requests that wait are refused once this one has failed.
    pub stop_on_error: bool,
    /// Gives the lines that the program reads; without it there are none.
    pub input: Option<Box<dyn LineInput>>,
    /// Receives what there is to show, on the session's thread.
    pub sink: Sink,
    /// Called once at the end, on the session's thread.
    pub done: Box<dyn FnOnce(Outcome) + Send>,
}

enum Job {
    Enter(u64, Request),
    Call(Box<dyn FnOnce(&mut State) + Send>),
}

/// Decides which requests may begin.
struct Gate {
    state: Mutex<GateState>,
    /// The flag that the session polls.
    flag: Arc<AtomicBool>,
}

#[derive(Default)]
struct GateState {
    /// The number of the next request.
    next: u64,
    /// Requests with smaller numbers are refused.
    refused: u64,
    /// True while a request runs.
    running: bool,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a number for a request.
    fn number(&self) -> u64 {
        let mut state = self.lock();
        state.next += 1;
        state.next - 1
    }

    /// Returns true if a request may begin.
    fn begin(&self, number: u64) -> bool {
        let mut state = self.lock();
        let begins = number >= state.refused;
        if begins {
            self.flag.store(false, Ordering::SeqCst);
            state.running = true;
        }
        begins
    }

    /// Ends the request that runs; refuses those that wait if it failed.
    fn end(&self, refuse: bool) {
        let mut state = self.lock();
        state.running = false;
        self.flag.store(false, Ordering::SeqCst);
        if refuse {
            state.refused = state.next;
        }
    }

    /// Ends the request that runs, if one does, and refuses those that wait.
    fn interrupt(&self) {
        let mut state = self.lock();
        state.refused = state.next;
        if state.running {
            self.flag.store(true, Ordering::SeqCst);
        }
    }
}

impl Worker {
    /// Begins a session. Fails with the reason why this machine does not have the runtime.
    pub fn start(setup: Setup) -> Result<Worker, String> {
        let (jobs, queue) = channel();
        let commands = setup.commands();
        let (ready, started) = channel();
        let run = move || match State::new(setup) {
            Ok(state) => {
                let (session, gate) = (&state.session, Gate::default_for(&state));
                let gate = Arc::new(gate);
                let handles = (gate.clone(), session.progress(), session.outlook());
                if ready.send(Ok(handles)).is_ok() {
                    serve(state, &queue, &gate);
                }
            }
            Err(missing) => drop(ready.send(Err(missing))),
        };
        let thread = std::thread::Builder::new().name("session".to_owned()).spawn(run);
        let thread = thread.map_err(|error| format!("no thread can be started: {error}"))?;
        let started = started.recv().map_err(|_| "the session could not begin".to_owned())?;
        let (gate, progress, outlook) = started?;
        Ok(Worker { jobs: Some(jobs), gate, progress, outlook, commands, thread: Some(thread) })
    }

    /// Runs an entry once those before it have ended.
    pub fn enter(&self, request: Request) {
        let number = self.gate.number();
        self.send(Job::Enter(number, request));
    }

    /// Calls a function with the session once the requests before it have ended.
    pub fn call(&self, function: impl FnOnce(&mut State) + Send + 'static) {
        self.send(Job::Call(Box::new(function)));
    }

    fn send(&self, job: Job) {
        // The thread ends after the sender is gone only.
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(job);
        }
    }

    /// Ends the entry that runs, and refuses those that wait.
    pub fn interrupt(&self) {
        self.gate.interrupt();
    }

    /// Returns a function that does what [`Worker::interrupt`] does, for other threads.
    pub fn interrupter(&self) -> impl Fn() + Clone + Send + Sync + 'static {
        let gate = self.gate.clone();
        move || gate.interrupt()
    }

    /// Returns a function that says, while an entry runs, whether it is to end, for other threads.
    pub fn interrupted(&self) -> impl Fn() -> bool + Send + 'static {
        let flag = self.gate.flag.clone();
        move || flag.load(Ordering::SeqCst)
    }

    /// Returns a handle that says how far the entry is that runs.
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Returns the commands that can be entered.
    pub fn commands(&self) -> Commands {
        self.commands
    }

    /// Returns a handle to what the next entry would see.
    pub fn outlook(&self) -> Outlook {
        self.outlook.clone()
    }
}

impl Drop for Worker {
    /// Interrupts what runs, and waits until the session has ended.
    fn drop(&mut self) {
        self.interrupt();
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Gate {
    fn default_for(state: &State) -> Gate {
        Gate { state: Mutex::default(), flag: state.session.interrupt_handle() }
    }
}

/// Waits for the next job, and gives the device back when that takes long; `None` if there are no more.
fn next_job(state: &State, queue: &Receiver<Job>) -> Option<Job> {
    if let Some(idle) = state.setup.idle {
        match queue.recv_timeout(idle) {
            Ok(job) => return Some(job),
            Err(RecvTimeoutError::Disconnected) => return None,
            // If that is not possible, the device is kept until the session is idle once more.
            Err(RecvTimeoutError::Timeout) => drop(state.session.release_device()),
        }
    }
    queue.recv().ok()
}

/// Does the jobs until there are no more.
fn serve(mut state: State, queue: &Receiver<Job>, gate: &Gate) {
    while let Some(job) = next_job(&state, queue) {
        match job {
            Job::Enter(number, request) => {
                let Request { begin, text, defines_it, stop_on_error, input, sink, done } = request;
                if !gate.begin(number) {
                    drop(sink);
                    done(Outcome::Aborted);
                    continue;
                }
                let Some(name) = begin() else {
                    gate.end(false);
                    done(Outcome::Aborted);
                    continue;
                };
                state.session.set_input(input.unwrap_or_else(|| Box::new(NoInput)));
                // A bug of ours must not cost a person the session.
                state.session.settings_mut().defines_it = defines_it;
                let entered = catch_unwind(AssertUnwindSafe(|| state.enter(&name, &text, sink)));
                state.session.settings_mut().defines_it = true;
                let outcome = entered.unwrap_or_else(|_| {
                    let problem = Problem::of_command("nesl has a bug; the session goes on");
                    state.abandon(problem)
                });
                let failed = outcome != Outcome::Done;
                gate.end(failed && stop_on_error);
                done(outcome);
            }
            Job::Call(function) => {
                let _ = catch_unwind(AssertUnwindSafe(|| function(&mut state)));
            }
        }
    }
}

/// A program is told this that reads a line where nobody can be asked.
pub(crate) const NOBODY_TO_ASK: &str = "nobody can be asked for input here";

/// The input of programs that nobody can be asked for.
struct NoInput;

impl LineInput for NoInput {
    fn line(&mut self, _question: &str) -> std::io::Result<Option<String>> {
        // The end of the input would be taken for an empty answer.
        Err(std::io::Error::other(NOBODY_TO_ASK))
    }
}

#[cfg(test)]
mod tests;
