//! Answering a request in a thread of its own, while the text may move on.
//!
//! A reading ends in one of four ways: with its answer; stopped, because a text changed (the client
//! is told, and asks again); stopped, because the client no longer wants it (the future is dropped,
//! and the thread, which cannot be, is told); with a panic, which is a bug of ours: it is logged,
//! the request is answered with an error, and the server lives.

use crate::world::Snapshot;
use nesl_core::db::{Stopped, Stopper, reading};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Result};

/// Stops a reading when whoever waits for it goes away.
struct StopWhenDropped(Option<Stopper>);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        if let Some(stopper) = self.0.take() {
            stopper.stop();
        }
    }
}

/// How a reading ended without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// A text changed, or nobody waits for it any more.
    Stopped,
    /// A bug of ours: its message.
    Panicked(String),
}

/// Reads a snapshot in a thread of its own.
pub async fn read<T: Send + 'static>(
    snapshot: Snapshot,
    answer: impl FnOnce(&Snapshot) -> T + Send + 'static,
) -> std::result::Result<T, Unread> {
    let mut guard = StopWhenDropped(Some(snapshot.db.stopper()));
    let task = tokio::task::spawn_blocking(move || {
        let outcome =
            catch_unwind(AssertUnwindSafe(|| reading(AssertUnwindSafe(|| answer(&snapshot)))));
        // Those who change the program wait until it is gone.
        drop(snapshot);
        outcome
    });
    let outcome = task.await;
    guard.0 = None;
    match outcome {
        Ok(Ok(Ok(answer))) => Ok(answer),
        Ok(Ok(Err(Stopped))) => Err(Unread::Stopped),
        Ok(Err(panic)) => Err(Unread::Panicked(message(panic.as_ref()))),
        Err(join) => Err(Unread::Panicked(join.to_string())),
    }
}

/// Answers a request from a snapshot; a document that is not open has no answer.
pub async fn answer<T: Default + Send + 'static>(
    snapshot: Option<Snapshot>,
    from: impl FnOnce(&Snapshot) -> T + Send + 'static,
) -> Result<T> {
    let Some(snapshot) = snapshot else { return Ok(T::default()) };
    read(snapshot, from).await.map_err(|unread| match unread {
        Unread::Stopped => Error::content_modified(),
        Unread::Panicked(why) => Error {
            code: ErrorCode::InternalError,
            message: format!("internal error of nesl, please report it: {why}").into(),
            data: None,
        },
    })
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "unknown".to_owned())
}
