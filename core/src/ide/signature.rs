//! Signature help: the function whose call contains the cursor, and the parameter at the cursor.

use super::completion::missing_argument::MissingArgument;
use super::completion::names::parameters;
use super::hover::doc_of_prim;
use super::place::{Open, Place};
use crate::base::{ItemId, Name, TextRange, TextSize};
use crate::db::{Before, Database, FileId};
use crate::names::Resolution;
use crate::prelude::{DocString, parse_doc, shown};
use crate::syntax::Kind;
use crate::syntax::ast::{Function, ItemKind};
use crate::types::{CallParts, Scheme, Signature, Ty, print_call, scheme_of_text};

/// The signature of a called function, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignatureHelp {
    /// Its name, parameters and result: `take(v : [a], n : int) -> [a] :: (a in any)`.
    pub label: String,
    /// The ranges of its parameters in the label: the components of its argument, then the optional ones.
    pub parameters: Vec<TextRange>,
    /// The index of the parameter at the cursor.
    pub active: u32,
    /// The function's documentation.
    pub doc: Option<DocString>,
}

/// The innermost call around an offset.
pub fn signature_help(db: &Database, file: FileId, offset: TextSize) -> Option<SignatureHelp> {
    let place = Place::around(db, file, offset)?;
    let (open, callee) = place.call()?;
    let name = Name::new(place.slice(callee));
    let called = called(&place, &name)?;
    let mut help = called.label();
    help.active = called.active(&place, &open);
    Some(help)
}

/// The parts of a function's signature.
struct Called {
    name: String,
    /// The names of the parameters; empty for a primitive or constructor.
    params: Vec<String>,
    /// The optional parameters and their defaults, as written.
    optional: Vec<(Name, String)>,
    /// Its types, if they are known.
    parts: Option<CallParts>,
    doc: Option<DocString>,
}

fn called(place: &Place<'_>, name: &Name) -> Option<Called> {
    let db = place.db;
    let missing = MissingArgument::new(place);
    if let Some(local) = missing.locals.iter().find(|local| local.name == *name) {
        let scheme = Scheme { vars: missing.vars.clone(), ty: local.ty.clone()? };
        return Some(Called::of_type(name.as_written(), &scheme, None))
            .filter(|c| c.parts.is_some());
    }
    match db.meaning(Before { file: place.file, position: place.position }, name)? {
        Resolution::Prim(prim) => {
            let scheme = scheme_of_text(prim.row().scheme);
            Some(Called::of_type(prim.name(), &scheme, Some(doc_of_prim(prim))))
        }
        Resolution::Item(item, defined) => match &db.ast(item).kind {
            ItemKind::Function(function) => Some(Called::function(db, item, function)),
            _ => match &**db.signature(item) {
                Signature::Record { scheme } => {
                    Some(Called::of_type(name.as_written(), scheme, None))
                }
                Signature::Values { values } => {
                    let (_, scheme) = values.iter().find(|(own, _)| *own == defined)?;
                    Some(Called::of_type(name.as_written(), scheme, None))
                }
                Signature::Function { .. } | Signature::Broken => None,
            },
        },
        Resolution::Local(_) | Resolution::Optional(_) | Resolution::Unknown => None,
    }
    .filter(|called| called.parts.is_some() || !called.params.is_empty())
}

impl Called {
    /// A function value, of which only the type is known.
    fn of_type(name: &str, scheme: &Scheme, doc: Option<DocString>) -> Called {
        let parts = print_call(scheme, arity(&scheme.ty), &[]);
        let name = name.to_owned();
        Called { name, params: Vec::new(), optional: Vec::new(), parts, doc }
    }

    fn function(db: &Database, item: ItemId, function: &Function) -> Called {
        let (ast, parsed, text) = (db.ast(item), db.parsed(item), db.item_text(item));
        let written = |(ident, default): &(crate::syntax::ast::Ident, _)| {
            (ident.name.clone(), text[parsed.range(ast.expr_spans[*default])].to_owned())
        };
        let none = Scheme::mono(Ty::Error);
        let meaning = Resolution::Item(item, function.name.name.clone());
        let params = parameters(db, &meaning, &none);
        let parts = match &**db.signature(item) {
            Signature::Function { scheme, optional } => {
                let optional: Vec<Ty> = optional.iter().map(|(_, ty)| ty.clone()).collect();
                print_call(scheme, params.len(), &optional)
            }
            _ => None,
        };
        let own = &function.name.name;
        let known = shown(own.folded());
        let name = if known == own.folded() { own.as_written() } else { known };
        Called {
            name: name.to_owned(),
            params,
            optional: function.optional.iter().map(written).collect(),
            parts,
            doc: function.doc.as_deref().map(parse_doc),
        }
    }

    fn label(&self) -> SignatureHelp {
        let mut help = SignatureHelp { doc: self.doc.clone(), ..SignatureHelp::default() };
        let label = &mut help.label;
        label.push_str(&self.name);
        label.push('(');
        for (i, param) in self.parts().into_iter().enumerate() {
            if i > 0 {
                label.push_str(", ");
            }
            let start = TextSize::of(&**label);
            label.push_str(&param);
            help.parameters.push(TextRange::new(start, TextSize::of(&**label)));
        }
        label.push(')');
        if let Some(parts) = &self.parts {
            label.push_str(" -> ");
            label.push_str(&parts.result);
            label.push_str(&parts.context);
        }
        help
    }

    /// The label of each parameter.
    fn parts(&self) -> Vec<String> {
        let mut all = match &self.parts {
            Some(parts) if self.params.len() == parts.params.len() => {
                let both = self.params.iter().zip(&parts.params);
                both.map(|(name, ty)| format!("{name} : {ty}")).collect()
            }
            Some(parts) if self.params.is_empty() => parts.params.clone(),
            _ => self.params.clone(),
        };
        all.extend(self.optional.iter().map(|(name, default)| format!("{name} := {default}")));
        all
    }

    /// The index of the parameter at the cursor.
    fn active(&self, place: &Place<'_>, open: &Open) -> u32 {
        let count = self.parts().len() - self.optional.len();
        let inside = &place.before[open.token + 1..];
        let option_at = |at: usize| match place.before.get(at..at + 2) {
            Some([name, sign]) if name.kind == Kind::Name && sign.kind == Kind::Assign => {
                let name = Name::new(place.slice(*name));
                self.optional.iter().position(|(own, _)| *own == name)
            }
            _ => None,
        };
        let option = option_at(open.segment);
        let index = match option {
            Some(option) => count + option,
            None if open.commas < count => open.commas,
            None => {
                // Of the optional ones, the first that is not given.
                let from = open.token + 1;
                let given: Vec<usize> = (from..from + inside.len()).filter_map(option_at).collect();
                let mut rest = 0..self.optional.len();
                rest.find(|option| !given.contains(option)).map_or(count - 1, |o| count + o)
            }
        };
        index as u32
    }
}

/// The number of components of the parameter of a function.
fn arity(ty: &Ty) -> usize {
    let Ty::Function(f) = ty else { return 1 };
    let mut arity = 1;
    let mut rest = &f.param;
    while let Ty::Pair(_, second) = rest {
        arity += 1;
        rest = second;
    }
    arity
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    /// The label with the active parameter in `⟦…⟧`.
    fn check(text: &str, expected: &str) {
        let f = Fixture::new(text);
        let found = signature_help(&f.db, f.file, f.cursor()).map(|help| {
            let mut label = help.label.clone();
            let active = help.parameters[help.active as usize];
            label.insert(active.end().into(), '⟧');
            label.insert(active.start().into(), '⟦');
            label
        });
        assert_eq!(found.as_deref().unwrap_or("nothing"), expected, "{text}");
    }

    #[test]
    fn a_tuple_is_its_components() {
        check("take($0", "take(⟦v : [a]⟧, n : int) -> [a] :: (a in any)");
        check("take([1], $0);", "take(v : [a], ⟦n : int⟧) -> [a] :: (a in any)");
        check(
            "x = take((1, 2), $0)\nfunction g(x) = x;",
            "take(v : [a], ⟦n : int⟧) -> [a] :: (a in any)",
        );
        check("rem(3, 4$0);", "rem(int, ⟦int⟧) -> int");
        check("datatype p (float, [int]);\np(1.0, $0", "p(float, ⟦[int]⟧) -> p");
        check(
            "function g((b, c), a) = a + b + c;\ng((1, 2$0",
            "g(⟦(b, c) : (a, a)⟧, a : a) -> a :: (a in number)",
        );
    }

    #[test]
    fn the_innermost_call() {
        check("take(drop([1], $0), 2);", "drop(v : [a], ⟦n : int⟧) -> [a] :: (a in any)");
        check("take(drop([1], 1), $0);", "take(v : [a], ⟦n : int⟧) -> [a] :: (a in any)");
        check("take({x + $0 : x in xs}, 2);", "take(⟦v : [a]⟧, n : int) -> [a] :: (a in any)");
        check("take(([1], $0), 2);", "take(⟦v : [a]⟧, n : int) -> [a] :: (a in any)");
        check("print_line(\"a, b$0\");", "print_line(⟦s : [char]⟧) -> bool");
        check("f = 3; (1, $0);", "nothing");
        check("function g(x, $0", "nothing");
    }

    #[test]
    fn optional_parameters() {
        let text = "function g(x, n := 5, m := [1]) = x + n + #m;\n";
        check(&format!("{text}g($0"), "g(⟦x : int⟧, n := 5, m := [1]) -> int");
        check(&format!("{text}g(1, $0"), "g(x : int, ⟦n := 5⟧, m := [1]) -> int");
        check(&format!("{text}g(1, m := [$0"), "g(x : int, n := 5, ⟦m := [1]⟧) -> int");
        check(&format!("{text}g(1, n := 2, $0)"), "g(x : int, n := 5, ⟦m := [1]⟧) -> int");
    }

    #[test]
    fn functions_without_a_name_of_their_own() {
        check("let sq = (x => x * 2) in sq($0);", "sq(⟦int⟧) -> int");
        check("function ap(g, x) = g(x, $0);", "g(a, ⟦b⟧) -> c :: (a in any; b in any; c in any)");
        check(
            "function ap(g, x) : (((int, int) -> a), int) -> a :: (a in any) = g(x, $0);",
            "g(int, ⟦int⟧) -> a :: (a in any)",
        );
        check("'max(1, $0", "max(a, ⟦a⟧) -> a :: (a in ordinal)");
    }

    #[test]
    fn a_function_that_does_not_check_shows_its_parameters() {
        check("function g(x, y) = x + ;\ng(1, $0", "g(x, ⟦y⟧)");
        check("function g(x, y) = g(x, $0", "g(x, ⟦y⟧)");
    }
}
