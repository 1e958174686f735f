//! Diagnostics, published after every change.
//!
//! One task does it for all documents, so that what is told of a document is told in order. A
//! document that changes while it is being looked at is looked at again: the change has stopped the
//! look.

use crate::convert;
use crate::reading::{Unread, read};
use crate::world::{Snapshot, World};
use nesl_core::base;
use nesl_core::db::FileRange;
use nesl_core::ide::{self, Problems};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;
use tower_lsp_server::Client;
use tower_lsp_server::ls_types::{Diagnostic, MessageType, Uri};

/// The documents whose diagnostics must be updated.
#[derive(Default)]
pub struct Queue {
    uris: Mutex<VecDeque<Uri>>,
    more: Notify,
}

impl Queue {
    /// Adds documents; one that is in the queue keeps its place.
    pub fn add(&self, uris: impl IntoIterator<Item = Uri>) {
        let mut waiting = self.uris.lock().unwrap_or_else(|e| e.into_inner());
        for uri in uris {
            if !waiting.contains(&uri) {
                waiting.push_back(uri);
            }
        }
        drop(waiting);
        self.more.notify_one();
    }

    fn next(&self) -> Option<Uri> {
        self.uris.lock().unwrap_or_else(|e| e.into_inner()).pop_front()
    }
}

/// Publishes the diagnostics of the documents of the queue, for ever.
pub async fn publish(client: Client, world: Arc<Mutex<World>>, queue: Arc<Queue>) {
    let mut known: FxHashMap<Uri, Arc<Mutex<Problems>>> = FxHashMap::default();
    loop {
        let Some(uri) = queue.next() else {
            queue.more.notified().await;
            continue;
        };
        let snapshot = world.lock().unwrap_or_else(|e| e.into_inner()).snapshot(&uri);
        let Some(snapshot) = snapshot else {
            // It was closed: nothing is wrong with it any more.
            known.remove(&uri);
            client.publish_diagnostics(uri, Vec::new(), None).await;
            continue;
        };
        let version = snapshot.version;
        // What a look learns that is stopped half-way is known to the next.
        let memory = known.entry(uri.clone()).or_default().clone();
        let look = move |snapshot: &Snapshot| {
            of(snapshot, &mut memory.lock().unwrap_or_else(PoisonError::into_inner))
        };
        match read(snapshot, look).await {
            Ok(all) => client.publish_diagnostics(uri, all, Some(version)).await,
            Err(Unread::Stopped) => queue.add([uri]),
            Err(Unread::Panicked(why)) => {
                client.log_message(MessageType::ERROR, format!("internal error: {why}")).await;
            }
        }
    }
}

/// The diagnostics of a document; `known` are the facts kept since the last time.
pub fn of(snapshot: &Snapshot, known: &mut Problems) -> Vec<Diagnostic> {
    let db = &snapshot.db;
    let problems = known.of(db, snapshot.file);
    let mut all: Vec<_> = problems.iter().map(|one| convert::diagnostic(snapshot, one)).collect();
    let links = ide::links(db, snapshot.file).into_iter();
    for link in links.filter(|link| db.loaded(link.item).is_none()) {
        let at = FileRange { file: snapshot.file, range: link.range };
        let message = format!("cannot read `{0}.nesl` or `{0}`, or it loads itself", link.path);
        let problem = base::Diagnostic::warning(base::DiagnosticKind::Name, at, message);
        all.push(convert::diagnostic(snapshot, &problem));
    }
    all
}
