//! Lines that a program reads: the client that sent the cell is asked for them.

use crate::cell::Cell;
use crate::wire;
use jupyter_protocol::{InputRequest, JupyterMessage};
use nesl_engine::LineInput;
use serde::Deserialize;
use std::io::{Error, ErrorKind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// An interrupt is noticed after at most this.
const POLL_EVERY: Duration = Duration::from_millis(20);

/// The way of answers from the socket to the program that waits.
#[derive(Clone, Default)]
pub struct Answers(Arc<Mutex<Option<Question>>>);

/// A question that is open.
struct Question {
    /// The id of the message that asked it.
    id: String,
    answer: Sender<String>,
}

/// The content of an answer, with defaults for what clients omit.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// The line that was typed.
    pub value: String,
}

impl Answers {
    fn lock(&self) -> MutexGuard<'_, Option<Question>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the program that waits an answer. One that nobody waits for is forgotten, and so is the
    /// late answer to another question, if the client says which it answers.
    pub fn give(&self, question: Option<&str>, line: String) {
        let mut waiting = self.lock();
        let fits = |open: &mut Question| question.is_none_or(|id| id == open.id);
        if let Some(open) = waiting.take_if(fits) {
            let _ = open.answer.send(line);
        }
    }

    fn expect(&self, id: &str) -> Receiver<String> {
        let (answer, receiver) = channel();
        *self.lock() = Some(Question { id: id.to_owned(), answer });
        receiver
    }
}

/// Asks a client for lines.
pub struct Asker {
    /// The cell that asks.
    pub cell: Arc<Mutex<Cell>>,
    /// The request that the cell came with.
    pub request: crate::wire::Request,
    /// The queue of questions to people.
    pub questions: UnboundedSender<JupyterMessage>,
    /// The way back of their answers.
    pub answers: Answers,
    /// The number of interrupts so far.
    pub interrupts: Arc<AtomicU64>,
    /// The number of them when the cell was queued.
    pub interrupts_before: u64,
}

impl LineInput for Asker {
    fn line(&mut self, question: &str) -> std::io::Result<Option<String>> {
        self.cell.lock().unwrap_or_else(PoisonError::into_inner).pause();
        let content = InputRequest { prompt: question.to_owned(), password: false };
        let message = wire::message(
            self.request.identities.clone(),
            Some(&self.request.header),
            content.into(),
        );
        let answer = self.answers.expect(&message.header.msg_id);
        self.questions.send(message).map_err(|_| Error::from(ErrorKind::BrokenPipe))?;
        let line = loop {
            match answer.recv_timeout(POLL_EVERY) {
                Ok(line) => break Ok(Some(line)),
                Err(RecvTimeoutError::Disconnected) => break Ok(None),
                Err(RecvTimeoutError::Timeout) => {
                    if self.interrupts.load(Ordering::SeqCst) != self.interrupts_before {
                        self.answers.lock().take();
                        // Readers try again after an error of the kind `Interrupted`.
                        break Err(Error::other("interrupted"));
                    }
                }
            }
        };
        self.cell.lock().unwrap_or_else(PoisonError::into_inner).resume();
        line
    }
}
