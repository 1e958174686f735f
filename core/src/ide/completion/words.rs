//! Words of the language: keywords, types, classes, commands, and templates of forms.

use super::site::COMMANDS;
use super::{Builder, CompletionKind};
use crate::base::Name;
use crate::db::Before;
use crate::ide::place::{Place, Sort};
use crate::syntax::ast::ItemKind;
use crate::syntax::{Kind, lex};
use crate::types::Ty;

/// Templates of forms: what they are called, and what is written.
const FORMS: [(&str, &str, &str); 3] = [
    ("function …", "a function", "function ${1:name}(${2:x}) =\n  ${0:x};"),
    (
        "function … : type",
        "a function with its type and a doc string",
        "function ${1:name}(${2:x}) : ${3:int} -> ${4:int}\n\"${5:What it does.}\"\n  = ${0:x};",
    ),
    ("datatype …", "a record type", "datatype ${1:name}(${2:int}, ${3:int});"),
];

/// Templates of expressions.
const EXPRESSIONS: [(&str, &str, &str); 5] = [
    ("let … in", "names for parts", "let ${1:x} = ${2:value}\nin ${0:x}"),
    ("if … then … else", "a choice", "if ${1:condition} then ${2:a} else ${0:b}"),
    ("each …", "an apply-to-each", "{${1:x} : ${2:x} in ${3:xs}}"),
    ("each … with a sieve", "an apply-to-each over some", "{${1:x} : ${2:x} in ${3:xs} | ${4:t}}"),
    (
        "each … and …",
        "an apply-to-each over two",
        "{${1:x + y} : ${2:x} in ${3:xs}; ${4:y} in ${5:ys}}",
    ),
];

/// The keywords a form may begin with, and the templates.
pub(super) fn forms(out: &mut Builder) {
    for word in ["function", "datatype"] {
        out.word(word, CompletionKind::Keyword, None, 0);
    }
    for (label, what, text) in FORMS {
        out.template(label, what, text, 1);
    }
    for (word, what) in COMMANDS {
        out.word(word, CompletionKind::Command, Some(what), 2);
    }
}

/// The keywords an expression may begin with, and the templates.
pub(super) fn expressions(out: &mut Builder) {
    for word in ["let", "if"] {
        out.word(word, CompletionKind::Keyword, None, 60);
    }
    for word in ["t", "f"] {
        out.literal(word);
    }
    for (label, what, text) in EXPRESSIONS {
        out.template(label, what, text, 62);
    }
    out.template("time(…)", "a value and how long it takes", "time(${1:x})", 64);
}

/// Templates of sequences, where one is expected: behind the variables, before the functions.
pub(super) fn sequences(expected: &[Ty], out: &mut Builder) {
    let element = expected.iter().find_map(|ty| match ty {
        Ty::Sequence(element) => Some(&**element),
        _ => None,
    });
    let (each, what, text) = EXPRESSIONS[2];
    out.all.retain(|completion| completion.label != each);
    let before = out.all.len();
    match element {
        None => {
            out.template(each, what, text, 62);
            return;
        }
        Some(Ty::Char) => out.template("\"…\"", "a string", "\"$1\"", 16),
        Some(_) => out.template("[…]", "a sequence", "[$1]", 16),
    }
    out.template(each, what, text, 16);
    out.all[before..].iter_mut().for_each(|one| one.fits = true);
}

/// The words that continue a form behind an operand.
pub(super) fn operators(place: &Place<'_>, out: &mut Builder) {
    let mut open = place.open.iter().rev();
    let next = open.find_map(|open| match open.sort {
        Sort::If => Some("then"),
        Sort::Then => Some("else"),
        Sort::Let => Some("in"),
        Sort::Brace => {
            let behind = &place.before[open.segment..];
            (!behind.iter().any(|token| token.kind == Kind::InKw)).then_some("in")
        }
        _ => None,
    });
    if let Some(next) = next {
        out.word(next, CompletionKind::Keyword, None, 0);
    }
    for word in ["and", "or", "xor", "nand", "nor"] {
        out.word(word, CompletionKind::Operator, None, 2);
    }
}

/// The names of basic types.
pub(super) fn types(place: &Place<'_>, out: &mut Builder) {
    // The type behind `[]` has no variables.
    if !place.open.iter().any(|open| open.types)
        && place.before.last().is_none_or(|token| token.kind != Kind::RBracket)
    {
        for name in variables(place) {
            out.word(&name, CompletionKind::TypeVariable, None, 1);
        }
    }
    for (word, what) in [
        ("int", "whole numbers"),
        ("float", "floating-point numbers"),
        ("bool", "`t` or `f`"),
        ("char", "a byte; strings are `[char]`"),
    ] {
        out.word(word, CompletionKind::Type, Some(what), 0);
    }
    let mut datatypes: Vec<(Name, crate::base::ItemId)> = Vec::new();
    let from = Before { file: place.file, position: place.position };
    place.db.each_visible(from, &mut |name, item| {
        if out.begins(name.folded()) {
            datatypes.push((name.clone(), item));
        }
    });
    for library in place.db.library_names() {
        if let crate::names::Resolution::Item(item, name) = &library.meaning
            && out.begins(name.folded())
        {
            datatypes.push((name.clone(), *item));
        }
    }
    for (name, item) in datatypes {
        if place.db.form(item).kind != crate::syntax::RawKind::Datatype {
            continue;
        }
        let ItemKind::Datatype(datatype) = &place.db.ast(item).kind else { continue };
        let args: Vec<&str> = datatype
            .content
            .context
            .iter()
            .map(|(variable, _)| variable.name.as_written())
            .collect();
        out.datatype(&name, &args, if place.db.is_library(item) { 3 } else { 2 });
    }
}

/// The type variables that the form writes: those it declares, and single letters in types.
fn variables(place: &Place<'_>) -> Vec<String> {
    let mut all = Vec::new();
    let tokens: Vec<_> = lex(&place.text).into_iter().filter(|t| !t.kind.is_trivia()).collect();
    let Some(context) = tokens.iter().position(|token| token.kind == Kind::Colons) else {
        return all;
    };
    for pair in tokens[context..].windows(2) {
        if pair[0].kind == Kind::Equals {
            break;
        }
        if pair[0].kind == Kind::Name && pair[1].kind == Kind::InKw {
            all.push(place.text[pair[0].range].to_owned());
        }
    }
    all
}

/// The names of classes of types.
pub(super) fn classes(out: &mut Builder) {
    for (word, what) in [
        ("any", "all types"),
        ("number", "int and float"),
        ("ordinal", "int, float and char: what can be compared"),
        ("logical", "int and bool"),
    ] {
        out.word(word, CompletionKind::Class, Some(what), 0);
    }
}

/// The operands of a command. True if names of functions belong there, too.
pub(super) fn operands(place: &Place<'_>, verb: &str, words: usize, out: &mut Builder) -> bool {
    let first = place.before.get(1).map(|token| place.slice(*token).to_ascii_lowercase());
    let mut all = |words: &[&str]| {
        for word in words {
            out.word(word, CompletionKind::Command, None, 0);
        }
    };
    match (verb, words, first.as_deref()) {
        ("load", 0, _) => out.template("\"file\"", "the file to load", "\"${1:file}\"", 0),
        ("load,", 0, _) => out.template("print := t", "shows the results", "print := t", 0),
        ("set", 0, _) => {
            all(&["print_length", "precision", "arg_check", "verbose", "trace", "profile"]);
        }
        ("set", 1, Some("print_length")) => all(&["all"]),
        ("set", 1, Some("precision")) => all(&["32", "64"]),
        ("set", 1, Some("arg_check" | "verbose")) => all(&["on", "off"]),
        ("set", 1, Some("trace" | "profile")) => return true,
        ("set", 2, Some("profile")) => all(&["on", "off"]),
        ("set", 2, Some("trace")) => all(&["0", "1", "2", "3", "4"]),
        ("show", 0, _) => all(&["status", "code", "bugs"]),
        ("show", 1, Some("code")) | ("describe", 0, _) => return true,
        _ => {}
    }
    false
}
