//! Identifiers. NESL ignores case: `A_B1` and `a_b1` are one name, printed as it was written.

use smol_str::SmolStr;
use std::fmt;
use std::hash::{Hash, Hasher};

/// An identifier, compared without case and printed as written.
#[derive(Clone)]
pub struct Name {
    folded: SmolStr,
    written: SmolStr,
}

impl Name {
    /// Returns the name written as `text`.
    pub fn new(text: &str) -> Name {
        let written = SmolStr::new(text);
        if text.bytes().any(|b| b.is_ascii_uppercase()) {
            Name { folded: SmolStr::new(text.to_ascii_lowercase()), written }
        } else {
            Name { folded: written.clone(), written }
        }
    }

    /// Returns the lower-case form, by which names are compared.
    pub fn folded(&self) -> &str {
        &self.folded
    }

    /// Returns the name as it was written.
    pub fn as_written(&self) -> &str {
        &self.written
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.folded == other.folded
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.folded.hash(state);
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Name) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Name) -> std::cmp::Ordering {
        self.folded.cmp(&other.folded)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.written)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}", self.folded)
    }
}
