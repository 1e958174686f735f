//! Definitions that were refused because their names are taken: forms after them that mention the
//! name mean the definition that is not there, and are left out without another error. Where entries are parts of
//! one text, names whose definition failed in one are not reported again in the next: within an entry the database
//! knows that.

use super::Session;
use nesl_core::base::{Diagnostic, ItemId, Name};
use nesl_core::db::FileRange;
use nesl_core::names::Resolution;
use nesl_core::syntax::Kind;
use nesl_core::syntax::ast::{ItemKind, Pat};

impl Session {
    /// From now on each entry goes on with the text of the one before, as in a pipe, where nobody reads an error before
    /// the next form comes.
    pub fn take_entries_as_one(&mut self) {
        self.one_text = true;
    }

    /// Remembers the names that are undefined because a form failed.
    pub(super) fn lose_names(&mut self, item: ItemId) {
        let defines = matches!(
            self.db.ast(item).kind,
            ItemKind::Function(_) | ItemKind::Datatype(_) | ItemKind::Binding { .. }
        );
        if self.one_text && defines {
            let names = self.db.form(item).names.to_vec();
            let lost: Vec<Name> =
                names.into_iter().filter(|name| self.lookup(name).is_none()).collect();
            self.lost.extend(lost);
        }
    }

    /// Forgets the names that a form has defined.
    pub(super) fn find_names(&mut self, item: ItemId) {
        if !self.lost.is_empty() {
            for name in self.db.form(item).names.iter() {
                self.lost.remove(name);
            }
        }
    }

    /// Returns true for the report that a name is undefined whose definition failed in an entry before.
    pub(super) fn is_of_lost_name(&self, diagnostic: &Diagnostic<FileRange>) -> bool {
        if self.lost.is_empty() {
            return false;
        }
        let FileRange { file, range } = diagnostic.primary.at;
        let name = Name::new(&self.db.file_text(file)[range]);
        self.lost.contains(&name) && diagnostic.message == format!("`{name}` is undefined")
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
        tokens.iter().enumerate().any(|(i, token)| match token.kind {
            Kind::Name => self.refused.contains(&Name::new(&text[token.range])),
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
