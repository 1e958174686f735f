//! Definitions that were refused because their names are taken: forms after them that mention the
//! name mean the definition that is not there, and are left out without another error. Where entries are parts of
//! one text, this holds for all definitions that failed: within an entry the database knows it.

use super::Session;
use nesl_core::base::{ItemId, Name};
use nesl_core::names::Resolution;
use nesl_core::syntax::Kind;
use nesl_core::syntax::ast::{ItemKind, Pat};

impl Session {
    /// From now on each entry goes on with the text of the one before: nobody looks at errors between them.
    pub fn take_entries_as_one(&mut self) {
        self.one_text = true;
    }

    /// Forgets the refused names before an entry.
    pub(super) fn begin_refusing(&mut self) {
        if !self.one_text {
            self.refused.clear();
        }
    }

    /// Remembers the names that are undefined because a form failed.
    pub(super) fn refuse_undefined(&mut self, item: ItemId) {
        if !self.one_text
            || !matches!(
                self.db.ast(item).kind,
                ItemKind::Function(_) | ItemKind::Datatype(_) | ItemKind::Binding { .. }
            )
        {
            return;
        }
        let names = self.db.form(item).names.to_vec();
        let undefined = names.into_iter().filter(|name| self.lookup(name).is_none());
        let undefined: Vec<Name> = undefined.collect();
        self.refused.extend(undefined);
    }

    /// Forgets the names that a form has defined.
    pub(super) fn accept_names(&mut self, item: ItemId) {
        if self.one_text && !self.refused.is_empty() {
            for name in self.db.form(item).names.iter() {
                self.refused.remove(name);
            }
        }
    }

    /// Remembers the names that a failed form would have given a new meaning.
    pub(super) fn refuse_names(&mut self, item: ItemId) {
        if let Some(word) = self.defined_word(item) {
            self.refused.insert(word);
            return;
        }
        let names = match &self.db.ast(item).kind {
            ItemKind::Function(function) => vec![function.name.name.clone()],
            ItemKind::Datatype(_) => self.db.form(item).names.to_vec(),
            ItemKind::Binding { pattern, .. } => {
                if let Pat::Record { name, .. } = &self.db.ast(item).pats[*pattern] {
                    // `g(x) = …` was to define `g`.
                    self.refused.insert(name.name.clone());
                    return;
                }
                self.db.form(item).names.to_vec()
            }
            ItemKind::Missing => {
                // `g x = …` was to define `g`.
                let (text, tokens) = (self.db.item_text(item), &self.db.parsed(item).tokens);
                let defines = tokens.iter().any(|token| token.kind == Kind::Equals);
                let name = tokens.first().filter(|token| token.kind == Kind::Name && defines);
                let name = name.map(|token| Name::new(&text[token.range]));
                self.refused.extend(name.filter(|name| self.lookup(name).is_none()));
                return;
            }
            ItemKind::Expr(_) | ItemKind::Command(_) => return,
        };
        let taken = |name: &Name| is_word(name) || self.is_of_library(name);
        let taken: Vec<Name> = names.into_iter().filter(taken).collect();
        self.refused.extend(taken);
    }

    /// Returns the word that `t = 5` or `f(x) = x + 1` was to define, which means true or false.
    fn defined_word(&self, item: ItemId) -> Option<Name> {
        let tokens = &self.db.parsed(item).tokens;
        let [word, next, ..] = &tokens[..] else { return None };
        let defines = match next.kind {
            Kind::Equals => true,
            Kind::CallParen => tokens.iter().any(|token| token.kind == Kind::Equals),
            _ => false,
        };
        let word = Some(Name::new(&self.db.item_text(item)[word.range]));
        word.filter(|word| defines && is_word(word))
    }

    /// Returns true if a form mentions a name whose definition was refused. A form that mentions `t` or
    /// `f` and is `wrong` takes the word for the variable that was to be defined.
    pub(super) fn follows_refusal(&self, item: ItemId, wrong: bool) -> bool {
        if self.refused.is_empty() {
            return false;
        }
        let text = self.db.item_text(item);
        let tokens = &self.db.parsed(item).tokens;
        // Where a form of the same text defines the name after all, it does not need the other definition.
        let function = matches!(self.db.ast(item).kind, ItemKind::Function(_));
        let mut own: Vec<Name> = match self.one_text {
            true => self.db.form(item).names.to_vec(),
            false => Vec::new(),
        };
        tokens.iter().enumerate().any(|(i, token)| match token.kind {
            Kind::Name => {
                let name = Name::new(&text[token.range]);
                if let Some(at) = own.iter().position(|other| *other == name) {
                    if !function {
                        own.remove(at);
                    }
                    return false;
                }
                self.refused.contains(&name)
            }
            // `f` alone means false, and is fine.
            Kind::TrueKw | Kind::FalseKw | Kind::TimeKw => {
                let called = tokens.get(i + 1).is_some_and(|next| next.kind == Kind::CallParen);
                (called || wrong) && self.refused.contains(&Name::new(&text[token.range]))
            }
            _ => false,
        })
    }

    fn is_of_library(&self, name: &Name) -> bool {
        match self.lookup(name) {
            Some(Resolution::Prim(_)) => true,
            Some(Resolution::Item(item, _)) => self.db.is_library(item),
            _ => false,
        }
    }
}

/// Returns true for the words that mean true, false and the clock.
fn is_word(name: &Name) -> bool {
    matches!(name.folded(), "t" | "f" | "time")
}
