//! Lines that an entry reads: the other program is asked for them.

use super::{Answers, lock};
use nesl_engine::LineInput;
use serde_json::{Value, json};
use std::io::Error;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// An interrupt is noticed after at most this.
const POLL_EVERY: Duration = Duration::from_millis(20);

/// The question that is open, if one is.
#[derive(Clone, Default)]
pub(super) struct Questions(Arc<Mutex<Option<Question>>>);

/// A question that is open.
struct Question {
    /// The id of the entry that asks it.
    id: Value,
    answer: Sender<Option<String>>,
}

impl Questions {
    /// Gives the entry that waits an answer; without a line nobody can be asked. Returns false if no entry
    /// of this id waits for one.
    pub(super) fn give(&self, id: &Value, line: Option<String>) -> bool {
        let open = lock(&self.0).take_if(|open| open.id == *id);
        open.is_some_and(|open| open.answer.send(line).is_ok())
    }
}

/// Asks the other program for the lines that an entry reads.
pub(super) struct Asker {
    /// The id of the entry.
    pub(super) id: Value,
    /// The way of the questions.
    pub(super) questions_out: Answers,
    /// The way of their answers.
    pub(super) questions: Questions,
    /// Says whether the entry was interrupted.
    pub(super) is_interrupted: Box<dyn Fn() -> bool + Send>,
}

impl LineInput for Asker {
    fn line(&mut self, question: &str) -> std::io::Result<Option<String>> {
        let (answer, line) = channel();
        *lock(&self.questions.0) = Some(Question { id: self.id.clone(), answer });
        self.questions_out.send(&json!({"id": self.id, "ask": question}));
        loop {
            match line.recv_timeout(POLL_EVERY) {
                Ok(Some(line)) => return Ok(Some(line)),
                Ok(None) | Err(RecvTimeoutError::Disconnected) => {
                    // The end of the input would be taken for an empty answer.
                    return Err(Error::other(crate::worker::NOBODY_TO_ASK));
                }
                Err(RecvTimeoutError::Timeout) if (self.is_interrupted)() => {
                    lock(&self.questions.0).take();
                    // Readers try again after an error of the kind `Interrupted`.
                    return Err(Error::other("interrupted"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}
