//! The lenses and hints of a text that is broken: those that were there before.
//!
//! A form that does not parse has no lenses and no hints. If those that it had went away, the text
//! below would jump up while somebody types, and down again. So the last ones stay, each at the place
//! where its text is now, until the form is whole again.

use nesl_core::base::{TextRange, TextSize};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tower_lsp_server::ls_types::Uri;

/// The things last shown in each document, with their places in the text of that time.
pub struct Kept<T>(Mutex<FxHashMap<Uri, Shown<T>>>);

/// A text, and the things shown in it.
type Shown<T> = (Arc<str>, Vec<(TextSize, T)>);

impl<T> Default for Kept<T> {
    fn default() -> Kept<T> {
        Kept(Mutex::default())
    }
}

impl<T: Clone> Kept<T> {
    /// The things to be shown in a part of a text: the new ones, and in broken forms, and in those that may
    /// depend on them, the last ones. `form` says which form is at a place.
    pub fn with_last(
        &self,
        uri: &Uri,
        text: &Arc<str>,
        part: TextRange,
        broken: &[TextRange],
        form: impl Fn(TextSize) -> Option<TextRange>,
        new: Vec<(TextSize, T)>,
    ) -> Vec<(TextSize, T)> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (old_text, old) = known.remove(uri).unwrap_or_default();
        let moved = Moved::new(&old_text, text);
        let mut shown = new;
        let mut places: Vec<TextSize> = shown.iter().map(|(at, _)| *at).collect();
        places.sort_unstable();
        let mut elsewhere = Vec::new();
        for (at, thing) in old {
            let Some(at) = moved.place(at) else { continue };
            let is_broken = |at| broken.iter().any(|form| form.contains_inclusive(at));
            // Of a form that was not touched it may be missing because of another one that is broken.
            let untouched = || form(at).is_some_and(|own| !moved.touches(own));
            if !part.contains_inclusive(at) {
                elsewhere.push((at, thing));
            } else if !broken.is_empty()
                && places.binary_search(&at).is_err()
                && (is_broken(at) || untouched())
            {
                shown.push((at, thing));
            }
        }
        shown.sort_by_key(|(at, _)| *at);
        elsewhere.extend(shown.iter().cloned());
        known.insert(uri.clone(), (text.clone(), elsewhere));
        shown
    }

    /// Forgets a document that was closed.
    pub fn closed(&self, uri: &Uri) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }
}

/// The map from the places of an old text to those of a new one: what lies before the first difference stays, what
/// lies behind the last moves along.
struct Moved {
    head: usize,
    old_tail: usize,
    old_len: usize,
    new_len: usize,
}

impl Moved {
    fn new(old: &Arc<str>, new: &Arc<str>) -> Moved {
        let (old_len, new_len) = (old.len(), new.len());
        if Arc::ptr_eq(old, new) {
            return Moved { head: old_len, old_tail: old_len, old_len, new_len };
        }
        let same = |(a, b): &(&u8, &u8)| a == b;
        let (a, b) = (old.as_bytes(), new.as_bytes());
        let head = a.iter().zip(b).take_while(same).count();
        let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(same).count();
        Moved { head, old_tail: old_len - tail, old_len, new_len }
    }

    /// Returns true if a part of the new text has changed.
    fn touches(&self, part: TextRange) -> bool {
        let end = self.new_len - (self.old_len - self.old_tail);
        let (start, stop) = (usize::from(part.start()), usize::from(part.end()));
        let same = self.head == self.old_len && self.old_len == self.new_len;
        !same && start <= end && self.head <= stop
    }

    fn place(&self, at: TextSize) -> Option<TextSize> {
        let at = usize::from(at);
        let now = match at {
            // What is written right before a place moves it.
            _ if at >= self.old_tail && at <= self.old_len => at + self.new_len - self.old_len,
            _ if at <= self.head => at,
            _ => return None,
        };
        (now <= self.new_len).then(|| TextSize::new(now as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::str::FromStr;

    #[test]
    fn point_4_what_a_broken_form_had_stays_where_its_text_is() {
        let uri = Uri::from_str("untitled:a").expect("an address");
        let all = |text: &Arc<str>| TextRange::up_to(TextSize::of(&**text));
        let at =
            |text: &Arc<str>, word: &str| TextSize::new(text.find(word).expect("there") as u32);
        let kept = Kept::default();
        let good: Arc<str> = "one;\ntwo;\nthree;".into();
        let new: Vec<_> = ["one", "two", "three"].map(|word| (at(&good, word), word)).to_vec();
        assert_eq!(kept.with_last(&uri, &good, all(&good), &[], |_| None, new.clone()), new);
        // The second form is broken, and takes in the third.
        let bad: Arc<str> = "one;\ntwo {;\nthree;".into();
        let broken = [TextRange::new(at(&bad, "two"), TextSize::of(&*bad))];
        let first = vec![(at(&bad, "one"), "one")];
        let shown = kept.with_last(&uri, &bad, all(&bad), &broken, |_| None, first);
        let expected: Vec<_> = ["one", "two", "three"].map(|word| (at(&bad, word), word)).to_vec();
        assert_eq!(shown, expected);
        // All of it moves down.
        let low: Arc<str> = format!("\n{bad}").into();
        let broken = [TextRange::new(at(&low, "two"), TextSize::of(&*low))];
        let first = vec![(at(&low, "one"), "one")];
        let shown = kept.with_last(&uri, &low, all(&low), &broken, |_| None, first);
        let expected: Vec<_> = ["one", "two", "three"].map(|word| (at(&low, word), word)).to_vec();
        assert_eq!(shown, expected);
        // It is whole again, and has none now.
        let shown = kept.with_last(&uri, &good, all(&good), &[], |_| None, vec![new[0]]);
        assert_eq!(shown, [new[0]]);
        // What is not asked for is not forgotten.
        let part = TextRange::new(TextSize::new(5), TextSize::new(16));
        assert_eq!(kept.with_last(&uri, &good, part, &[], |_| None, vec![]), []);
        assert_eq!(
            kept.with_last(&uri, &good, all(&good), &[all(&good)], |_| None, vec![]),
            [new[0]]
        );
    }
}
