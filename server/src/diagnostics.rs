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
use nesl_core::db::FileId;
use nesl_core::ide::Problems;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use tower_lsp_server::Client;
use tower_lsp_server::ls_types::{
    Diagnostic, DocumentDiagnosticReport, FullDocumentDiagnosticReport, MessageType,
    RelatedFullDocumentDiagnosticReport, RelatedUnchangedDocumentDiagnosticReport,
    UnchangedDocumentDiagnosticReport, Uri,
};

/// The facts about a document that are kept between two looks at it.
#[derive(Default)]
pub struct Known {
    /// The file of the document, which is another one when the document was closed and opened again.
    file: Option<FileId>,
    own: Problems,
    loaded: Loaded,
}

/// The facts about the open documents, whether their diagnostics are published or asked for.
#[derive(Default)]
pub struct Looks(Mutex<FxHashMap<Uri, Arc<Mutex<Known>>>>);

impl Looks {
    /// Returns the diagnostics of a document. What a look learns that is stopped half-way is known to the next.
    pub fn diagnostics(&self, snapshot: &Snapshot, runs: &Runs) -> Vec<Diagnostic> {
        let known = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.entry(snapshot.uri.clone()).or_default().clone()
        };
        let mut all = of(snapshot, &mut known.lock().unwrap_or_else(PoisonError::into_inner));
        all.extend(runs.problems(snapshot));
        all
    }

    /// Forgets a document that was closed.
    pub fn closed(&self, uri: &Uri) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }
}

/// Publishes the diagnostics of the documents of the queue, for ever.
pub async fn publish(
    client: Client,
    world: Arc<Mutex<World>>,
    queue: Arc<Queue>,
    runs: Arc<Runs>,
    looks: Arc<Looks>,
) {
    loop {
        let uri = queue.next().await;
        let snapshot = world.lock().unwrap_or_else(|e| e.into_inner()).snapshot(&uri);
        let Some(snapshot) = snapshot else {
            // It was closed: nothing is wrong with it any more.
            looks.closed(&uri);
            client.publish_diagnostics(uri, Vec::new(), None).await;
            continue;
        };
        let version = snapshot.version;
        if snapshot.options.pull {
            continue;
        }
        let (runs, looks) = (runs.clone(), looks.clone());
        let look = move |snapshot: &Snapshot| looks.diagnostics(snapshot, &runs);
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
    if known.file != Some(snapshot.file) {
        *known = Known { file: Some(snapshot.file), ..Known::default() };
    }
    let problems = known.own.of(&snapshot.db, snapshot.file);
    let mut all: Vec<_> = problems.iter().map(|one| convert::diagnostic(snapshot, one)).collect();
    all.extend(known.loaded.problems(snapshot));
    if snapshot.client.tags {
        let unused = known.own.unused(&snapshot.db);
        all.extend(unused.iter().map(|unused| convert::unused(snapshot, unused)));
    }
    all
}

/// The answer to a client that asks for diagnostics: none where it has them already, by the name of those it has.
pub fn report(items: Vec<Diagnostic>, known: Option<String>) -> DocumentDiagnosticReport {
    let mut hasher = FxHasher::default();
    serde_json::to_string(&items).unwrap_or_default().hash(&mut hasher);
    let name = format!("{:x}", hasher.finish());
    if known.as_ref() == Some(&name) {
        let report = UnchangedDocumentDiagnosticReport { result_id: name };
        return DocumentDiagnosticReport::Unchanged(RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: report,
        });
    }
    let report = FullDocumentDiagnosticReport { result_id: Some(name), items };
    DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
        related_documents: None,
        full_document_diagnostic_report: report,
    })
}
