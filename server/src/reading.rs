//! Answering a request in a thread of its own, while the text may change.
//!
//! A reading ends in one of four ways: with its answer; stopped, because a text changed (the client
//! is told, and asks again, or the new text is read instead); stopped, because the client no longer
//! wants it (the future is dropped, and the thread, which cannot be, is told); with a panic, which is
//! a bug of ours: it is logged, the request is answered with an error, and the server lives.

use crate::world::Snapshot;
use nesl_core::db::{Stopped, Stopper, reading};
use nesl_runtime::bug::without_request;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Result};

/// Stops a reading when the future that waits for it is dropped.
struct StopWhenDropped(Option<Stopper>);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        if let Some(stopper) = self.0.take() {
            stopper.stop();
        }
    }
}

/// The reason why a reading ended without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// A text changed, or the request was cancelled.
    Stopped,
    /// A bug of ours, with the message of the panic.
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
    Ok(read(snapshot, from).await?)
}

/// Answers a request also if the text changes meanwhile: from the new text, at the old position. VS Code asks for
/// completions only at the first letter of a word, and would take an error to mean that there are none.
pub async fn answer_yet<T: Default + Send + 'static>(
    mut snapshot: impl FnMut() -> Option<Snapshot>,
    from: impl Fn(&Snapshot) -> T + Clone + Send + 'static,
) -> Result<T> {
    loop {
        let Some(snapshot) = snapshot() else { return Ok(T::default()) };
        match read(snapshot, from.clone()).await {
            Err(Unread::Stopped) => {}
            ended => return Ok(ended?),
        }
    }
}

impl From<Unread> for Error {
    fn from(unread: Unread) -> Error {
        match unread {
            Unread::Stopped => Error::content_modified(),
            Unread::Panicked(why) => Error {
                code: ErrorCode::InternalError,
                message: format!("internal error of nesl, please report it: {why}").into(),
                data: None,
            },
        }
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    without_request(text.unwrap_or("unknown")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::World;
    use std::str::FromStr;
    use tower_lsp_server::ls_types::Uri;

    fn world() -> (World, Uri) {
        let uri = Uri::from_str("untitled:test").expect("an address");
        let mut world = World::default();
        world.open(uri.clone(), 1, "x = 1;".to_owned());
        (world, uri)
    }

    /// Says that it has begun, and reads until it is stopped.
    fn read_for_ever(snapshot: &Snapshot, begun: tokio::sync::oneshot::Sender<()>) {
        let _ = begun.send(());
        let first = snapshot.db.outline(snapshot.file).forms[0].id();
        while snapshot.db.diagnostics(first).is_empty() {}
    }

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        let (world, uri) = world();
        let broken = read(world.snapshot(&uri).expect("open"), |_| panic!("a bug")).await;
        let broken: std::result::Result<(), Unread> = broken;
        assert_eq!(broken, Err(Unread::Panicked("a bug".to_owned())));
        let alive = read(world.snapshot(&uri).expect("open"), |s| s.lines.text.len()).await;
        assert_eq!(alive, Ok(6));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_change_stops_a_reading() {
        let (mut world, uri) = world();
        let snapshot = world.snapshot(&uri).expect("open");
        let (begun, reads) = tokio::sync::oneshot::channel();
        let reading = tokio::spawn(read(snapshot, |s| read_for_ever(s, begun)));
        reads.await.expect("it has begun");
        world.open(uri.clone(), 2, "x = 2;".to_owned());
        assert_eq!(reading.await.expect("it ends"), Err(Unread::Stopped));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_change_may_be_read_instead() {
        let (world, uri) = world();
        let world = std::sync::Arc::new(std::sync::Mutex::new(world));
        let (begun, mut reads) = tokio::sync::mpsc::unbounded_channel();
        let (asked, its) = (world.clone(), uri.clone());
        let snapshot = move || asked.lock().expect("no panic").snapshot(&its);
        let reading = tokio::spawn(answer_yet(snapshot, move |s| {
            let _ = begun.send(());
            loop {
                s.db.diagnostics(s.db.outline(s.file).forms[0].id());
                if s.version == 2 {
                    return s.version;
                }
            }
        }));
        reads.recv().await.expect("it has begun");
        world.lock().expect("no panic").open(uri, 2, "x = 2;".to_owned());
        assert_eq!(reading.await.expect("it ends"), Ok(2));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nobody_waits_nobody_reads() {
        let (mut world, uri) = world();
        let snapshot = world.snapshot(&uri).expect("open");
        let (begun, reads) = tokio::sync::oneshot::channel();
        let reading = tokio::spawn(read(snapshot, |s| read_for_ever(s, begun)));
        reads.await.expect("it has begun");
        reading.abort();
        assert!(reading.await.is_err_and(|error| error.is_cancelled()));
        // Would wait for ever if it went on.
        world.open(uri, 2, "x = 2;".to_owned());
    }
}
