//! Long answers as text, of which most was in the last answer.
//!
//! The outline and the lenses of a file are asked after each key. Both are lists in which few entries
//! change: so the text of each entry is kept with its place, and copied if neither has changed.

use crate::options::Options;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use tower_lsp_server::ls_types::{Position, Uri};

/// The last answer for each document, entry by entry.
pub struct Written<T>(Mutex<FxHashMap<Uri, Last<T>>>);

/// An answer, and the entries that it was written from.
struct Last<T> {
    options: Arc<Options>,
    text: Vec<u8>,
    /// The entries, by their addresses.
    parts: FxHashMap<usize, Part<T>>,
}

struct Part<T> {
    /// The entry: as long as it is kept, no other one has its address.
    _entry: Arc<T>,
    at: Position,
    text: Range<usize>,
}

impl<T> Default for Written<T> {
    fn default() -> Written<T> {
        Written(Mutex::default())
    }
}

impl<T> Written<T> {
    /// The text of a list with some entries, which are at some places; `write` appends the text of one, or of
    /// several with commas between them, or nothing.
    pub fn list(
        &self,
        uri: &Uri,
        options: &Arc<Options>,
        entries: Vec<(Position, Arc<T>)>,
        mut write: impl FnMut(Position, &Arc<T>, &mut Vec<u8>),
    ) -> Vec<u8> {
        // A reading that is stopped loses what was kept, and nothing else.
        let old = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
        let old = old.filter(|last| Arc::ptr_eq(&last.options, options));
        let mut text = Vec::with_capacity(old.as_ref().map_or(0, |last| last.text.len()) + 1024);
        let mut parts =
            FxHashMap::with_capacity_and_hasher(entries.len(), rustc_hash::FxBuildHasher);
        text.push(b'[');
        for (at, entry) in entries {
            if text.len() > 1 {
                text.push(b',');
            }
            let from = text.len();
            let address = Arc::as_ptr(&entry).cast::<()>() as usize;
            let known = old.as_ref().and_then(|last| Some((last, last.parts.get(&address)?)));
            match known.filter(|(_, part)| part.at == at) {
                Some((last, part)) => text.extend_from_slice(&last.text[part.text.clone()]),
                None => write(at, &entry, &mut text),
            }
            let own = from..text.len();
            if own.is_empty() && from > 1 {
                text.pop();
            }
            parts.insert(address, Part { _entry: entry, at, text: own });
        }
        text.push(b']');
        let last = Last { options: options.clone(), text: text.clone(), parts };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(uri.clone(), last);
        text
    }

    /// Forgets a document that was closed.
    pub fn closed(&self, uri: &Uri) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::str::FromStr;

    #[test]
    fn point_19_only_what_has_changed_is_written_again() {
        let uri = Uri::from_str("untitled:a").expect("an address");
        let (written, options) = (Written::default(), Arc::<Options>::default());
        let entries: Vec<Arc<&str>> = ["one", "", "two", "three"].map(Arc::new).to_vec();
        let at = |line| Position::new(line, 0);
        let ask = |entries: &[(u32, &Arc<&'static str>)]| {
            let all = entries.iter().map(|(line, entry)| (at(*line), (*entry).clone())).collect();
            let mut count = 0;
            let text = written.list(&uri, &options, all, |at, entry, out| {
                count += 1;
                let text = match entry.is_empty() {
                    true => String::new(),
                    false => format!("\"{entry}{}\"", at.line),
                };
                out.extend_from_slice(text.as_bytes());
            });
            (String::from_utf8(text).expect("text"), count)
        };
        let [one, none, two, three] = &entries[..] else { return };
        let whole = "[\"one0\",\"two2\",\"three3\"]".to_owned();
        assert_eq!(ask(&[(0, one), (1, none), (2, two), (3, three)]), (whole.clone(), 4));
        assert_eq!(ask(&[(0, one), (1, none), (2, two), (3, three)]), (whole, 0));
        // One has gone, and one has moved.
        assert_eq!(
            ask(&[(1, none), (2, two), (4, three)]),
            ("[\"two2\",\"three4\"]".to_owned(), 1)
        );
        assert_eq!(ask(&[(1, none)]), ("[]".to_owned(), 0));
    }
}
