//! Diagnostics, published after every change.
//!
//! One task does it for all documents, so that what is told of a document is told in order. A
//! document that changes while it is being looked at is looked at again: the change has stopped the
//! look.

use crate::convert;
use crate::loads::Loaded;
use crate::queue::Queue;
use crate::reading::{Unread, read};
use crate::run::Runs;
use crate::world::{Snapshot, World};
use nesl_core::ide::Problems;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tower_lsp_server::Client;
use tower_lsp_server::ls_types::{Diagnostic, MessageType, Uri};

/// The facts about a document that are kept between two looks at it.
#[derive(Default)]
pub struct Known {
    own: Problems,
    loaded: Loaded,
}

/// Publishes the diagnostics of the documents of the queue, for ever.
pub async fn publish(client: Client, world: Arc<Mutex<World>>, queue: Arc<Queue>, runs: Arc<Runs>) {
    let mut known: FxHashMap<Uri, Arc<Mutex<Known>>> = FxHashMap::default();
    loop {
        let uri = queue.next().await;
        let snapshot = world.lock().unwrap_or_else(|e| e.into_inner()).snapshot(&uri);
        let Some(snapshot) = snapshot else {
            // It was closed: nothing is wrong with it any more.
            known.remove(&uri);
            client.publish_diagnostics(uri, Vec::new(), None).await;
            continue;
        };
        let version = snapshot.version;
        if snapshot.options.pull {
            continue;
        }
        let runs = runs.clone();
        // What a look learns that is stopped half-way is known to the next.
        let memory = known.entry(uri.clone()).or_default().clone();
        let look = move |snapshot: &Snapshot| {
            let known = &mut *memory.lock().unwrap_or_else(PoisonError::into_inner);
            let mut all = of(snapshot, known);
            all.extend(runs.problems(snapshot));
            all
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

/// The diagnostics of a document: its errors and warnings, those of the files that it loads, and names that
/// are not used. `known` are the facts kept since the last time.
pub fn of(snapshot: &Snapshot, known: &mut Known) -> Vec<Diagnostic> {
    let problems = known.own.of(&snapshot.db, snapshot.file);
    let mut all: Vec<_> = problems.iter().map(|one| convert::diagnostic(snapshot, one)).collect();
    all.extend(known.loaded.problems(snapshot));
    if snapshot.client.tags {
        let unused = known.own.unused(&snapshot.db);
        all.extend(unused.iter().map(|unused| convert::unused(snapshot, unused)));
    }
    all
}
