//! The documents whose diagnostics must be published, in the order in which they changed.

use std::collections::VecDeque;
use std::sync::Mutex;
use tokio::sync::Notify;
use tower_lsp_server::ls_types::Uri;

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

    /// Takes the document that has waited longest, as soon as there is one.
    pub async fn next(&self) -> Uri {
        loop {
            let first = self.uris.lock().unwrap_or_else(|e| e.into_inner()).pop_front();
            if let Some(uri) = first {
                return uri;
            }
            self.more.notified().await;
        }
    }
}
