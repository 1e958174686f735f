//! Completions, with types, documentation and templates; the best fit comes first.
//!
//! | file | contents |
//! |---|---|
//! | `site` | the kind of code that can be inserted: a form, a type, an operand, … |
//! | `missing_argument` | the expected type, and the variables in scope |
//! | `names` | names of values, those of the expected type first |
//! | `words` | keywords, types, classes, commands, templates |

pub(super) mod missing_argument;
pub(super) mod names;
mod site;
#[cfg(test)]
mod tests;
mod words;

use super::hover::doc_of_prim;
use super::place::Place;
use crate::base::{Name, TextRange, TextSize};
use crate::db::{Before, Database, FileId};
use crate::names::Resolution;
use crate::prelude::{DocString, parse_doc};
use crate::syntax::Kind;
use crate::syntax::ast::ItemKind;
use crate::types::{Signature, Ty};
use missing_argument::MissingArgument;
use site::Site;

/// The kinds of completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they are what they say")]
pub enum CompletionKind {
    Function,
    Constructor,
    Variable,
    Parameter,
    Type,
    TypeVariable,
    Class,
    Keyword,
    Operator,
    Snippet,
    Command,
}

/// A text that can be inserted at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The label in the list.
    pub label: String,
    /// The kind of the completion.
    pub kind: CompletionKind,
    /// Its type as printed; for keywords a description.
    pub ty: Option<String>,
    /// Its documentation; usually left to [`completion_doc`].
    pub doc: Option<DocString>,
    /// The text that is inserted.
    pub insert: String,
    /// True if `insert` has placeholders such as `${1:x}`.
    pub snippet: bool,
    /// The range of the file that it replaces.
    pub range: TextRange,
    /// True if its type, or its result when called, is the type that is expected here.
    pub fits: bool,
    /// The order of the list: smaller is likelier.
    pub rank: u32,
}

/// The completions at an offset, the likeliest first. They begin with the word that is there; if there is none,
/// only the names of a long text that are nearest to the offset are included.
pub fn completions(db: &Database, file: FileId, offset: TextSize) -> Vec<Completion> {
    let Some(place) = Place::new(db, file, offset) else { return Vec::new() };
    let site = site::site(&place);
    let mut out = Builder::new(&place);
    match &site {
        Site::Nothing => {}
        Site::Pattern => names::constructors(&place, &mut out),
        Site::Form => {
            words::forms(&mut out);
            words::expressions(&mut out);
            names::values(&place, &MissingArgument::default(), &site, &mut out);
        }
        Site::Command(verb, words) => {
            if words::operands(&place, verb, *words, &mut out) {
                out.bare = true;
                names::values(&place, &MissingArgument::default(), &Site::Quoted, &mut out);
            }
        }
        Site::Type => words::types(&place, &mut out),
        Site::Class => words::classes(&mut out),
        Site::Quoted => names::values(&place, &MissingArgument::new(&place), &site, &mut out),
        Site::Operator => {
            words::operators(&place, &mut out);
            if applies(&place) {
                let missing = MissingArgument::new(&place);
                out.raise = 10;
                names::values(&place, &missing, &site, &mut out);
            }
        }
        Site::Operand => {
            let missing = MissingArgument::new(&place);
            if missing.pattern {
                names::constructors(&place, &mut out);
            } else {
                optional(&place, &mut out);
                out.bools = missing.wanted().any(|wanted| wanted.accepts(&Ty::Bool, None));
                words::expressions(&mut out);
                words::sequences(&missing.expected, &mut out);
                names::values(&place, &missing, &site, &mut out);
            }
        }
    }
    let mut all = out.all;
    all.sort_by(|a, b| a.rank.cmp(&b.rank).then_with(|| a.label.cmp(&b.label)));
    all
}

/// The documentation of something that [`completions`] offers at a place.
pub fn completion_doc(
    db: &Database,
    file: FileId,
    offset: TextSize,
    label: &str,
) -> Option<DocString> {
    let place = Place::new(db, file, offset)?;
    let name = Name::new(label);
    if MissingArgument::new(&place).locals.iter().any(|local| local.name == name) {
        return None;
    }
    match db.meaning(Before { file, position: place.position }, &name)? {
        Resolution::Prim(prim) => Some(doc_of_prim(prim)),
        Resolution::Item(item, _) => match &db.ast(item).kind {
            ItemKind::Function(function) => function.doc.as_deref().map(parse_doc),
            _ => None,
        },
        Resolution::Local(_) | Resolution::Optional(_) | Resolution::Unknown => None,
    }
}

/// Returns true if the place is behind the name of a function, which could be applied there.
fn applies(place: &Place<'_>) -> bool {
    let Some(last) = place.before.last().filter(|token| token.kind == Kind::Name) else {
        return false;
    };
    let name = Name::new(place.slice(*last));
    let from = Before { file: place.file, position: place.position };
    match place.db.meaning(from, &name) {
        Some(Resolution::Prim(prim)) => prim.row().scheme.contains("->"),
        Some(Resolution::Item(item, _)) => {
            matches!(
                **place.db.signature(item),
                Signature::Function { .. } | Signature::Record { .. }
            )
        }
        _ => false,
    }
}

/// The optional parameters of the call around a place that are not given yet.
fn optional(place: &Place<'_>, out: &mut Builder) {
    let Some(open) = place.open.last() else { return };
    let Some(callee) = place.callee(open) else { return };
    if open.commas == 0 || open.segment != place.before.len() {
        return;
    }
    let from = Before { file: place.file, position: place.position };
    let name = Name::new(place.slice(callee));
    let Some(Resolution::Item(item, _)) = place.db.meaning(from, &name) else { return };
    let ItemKind::Function(function) = &place.db.ast(item).kind else { return };
    let given: Vec<Name> = place.before[open.token..]
        .windows(2)
        .filter(|pair| pair[1].kind == Kind::Assign)
        .map(|pair| Name::new(place.slice(pair[0])))
        .collect();
    let types = place.db.types(item);
    for (ident, default) in &function.optional {
        if given.contains(&ident.name) {
            continue;
        }
        let text = place.db.item_text(item);
        let parsed = place.db.parsed(item);
        let default_text = &text[parsed.range(place.db.ast(item).expr_spans[*default])];
        let ty = types.exprs.get(*default).map(crate::types::print_type);
        let name = ident.name.as_written();
        out.offer(
            &format!("{name} :="),
            CompletionKind::Parameter,
            ty,
            format!("{name} := ${{1:{}}}", escape(default_text)),
            true,
            0,
        );
    }
}

/// Text inside a place of a snippet.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}")
}

/// The completions found so far, and what they have in common.
struct Builder {
    /// The written part of the word, in lower case.
    prefix: String,
    range: TextRange,
    /// Functions are named, not called.
    bare: bool,
    /// A bool is expected.
    bools: bool,
    /// Added to all ranks.
    raise: u32,
    all: Vec<Completion>,
}

impl Builder {
    fn new(place: &Place<'_>) -> Builder {
        let prefix = place.prefix().to_ascii_lowercase();
        let range = place.range();
        Builder { prefix, range, bare: false, bools: false, raise: 0, all: Vec::new() }
    }

    /// Returns true if a word, in lower case, continues the written part.
    fn begins(&self, word: &str) -> bool {
        word.starts_with(&self.prefix)
    }

    fn push(&mut self, mut completion: Completion) {
        completion.rank += self.raise;
        self.all.push(completion);
    }

    fn offer(
        &mut self,
        label: &str,
        kind: CompletionKind,
        ty: Option<String>,
        insert: String,
        snippet: bool,
        rank: u32,
    ) {
        if self.begins(&label.to_ascii_lowercase()) {
            let (label, range) = (label.to_owned(), self.range);
            let fits = false;
            self.push(Completion {
                label,
                kind,
                ty,
                doc: None,
                insert,
                snippet,
                range,
                fits,
                rank,
            });
        }
    }

    /// Adds a word.
    fn word(&mut self, word: &str, kind: CompletionKind, what: Option<&str>, rank: u32) {
        self.offer(word, kind, what.map(str::to_owned), word.to_owned(), false, rank);
    }

    /// Adds `t` or `f`.
    fn literal(&mut self, word: &str) {
        let (fits, before) = (self.bools, self.all.len());
        let rank = if fits { 10 } else { 66 };
        self.word(word, CompletionKind::Keyword, Some("bool"), rank);
        self.all[before..].iter_mut().for_each(|c| c.fits = fits);
    }

    /// Adds a template.
    fn template(&mut self, label: &str, what: &str, text: &str, rank: u32) {
        let (kind, what) = (CompletionKind::Snippet, Some(what.to_owned()));
        self.offer(label, kind, what, text.to_owned(), true, rank);
    }

    /// A datatype with its arguments.
    fn datatype(&mut self, name: &Name, args: &[&str], rank: u32) {
        let label = name.as_written();
        let places = (1..).zip(args).map(|(i, arg)| format!("${{{i}:{arg}}}"));
        let places = places.collect::<Vec<_>>().join(", ");
        let (insert, snippet) = if args.is_empty() {
            (label.to_owned(), false)
        } else {
            (format!("{label}({places})"), true)
        };
        self.offer(label, CompletionKind::Type, None, insert, snippet, rank);
    }
}
