//! The kind of code that can be inserted at the cursor, determined from the tokens before it.

use crate::ide::place::{Place, Sort};
use crate::syntax::Kind;

/// The kind of code that can be inserted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Site {
    /// The beginning of a form.
    Form,
    /// An operand of a command, given by its first word; the number is that of the operands before.
    Command(String, usize),
    /// A type, in an annotation.
    Type,
    /// A class of types.
    Class,
    /// A function or operator after a quote, as a value.
    Quoted,
    /// An operator or keyword after an operand.
    Operator,
    /// The beginning of an expression.
    Operand,
    /// A pattern: a new name, or a record to take apart.
    Pattern,
    /// A new name, or code for which there are no suggestions.
    Nothing,
}

/// The words that begin a command, each with a description.
pub(super) const COMMANDS: [(&str, &str); 7] = [
    ("load", "runs the forms of a file"),
    ("set", "changes a setting"),
    ("show", "shows the settings, or the text of a function"),
    ("describe", "tells what a function does"),
    ("apropos", "finds the names with a word in them"),
    ("help", "lists the commands"),
    ("exit", "leaves"),
];

/// Returns the kind of code that can be inserted at the cursor.
pub(super) fn site(place: &Place<'_>) -> Site {
    let tokens = &place.before;
    let kinds: Vec<Kind> = tokens.iter().map(|token| token.kind).collect();
    let Some((first, prev)) = kinds.first().zip(kinds.last()) else { return Site::Form };
    match first {
        Kind::FunctionKw if !has_body(&kinds) => return header(place, &kinds),
        Kind::DatatypeKw => {
            return if kinds.len() < 2 { Site::Nothing } else { types(&kinds[2..]) };
        }
        Kind::Name => {
            if let Some(site) = command(place, &kinds) {
                return site;
            }
        }
        _ => {}
    }
    if *prev == Kind::Quote {
        return Site::Quoted;
    }
    if let Some(types_in) = place.open.iter().find(|open| open.types) {
        return types(&kinds[types_in.token + 1..]);
    }
    if kinds.ends_with(&[Kind::LBracket, Kind::RBracket]) {
        return Site::Type;
    }
    operand(&kinds)
}

/// Returns true if the tokens contain the `=` of a function.
fn has_body(kinds: &[Kind]) -> bool {
    let mut depth = 0usize;
    kinds.iter().any(|kind| {
        match kind {
            Kind::LParen => depth += 1,
            Kind::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        *kind == Kind::Equals && depth == 0
    })
}

/// The site in a function's head: `function name(params) : type`.
fn header(place: &Place<'_>, kinds: &[Kind]) -> Site {
    let mut depth = 0usize;
    let colon = kinds.iter().position(|kind| {
        match kind {
            Kind::LParen => depth += 1,
            Kind::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        *kind == Kind::Colon && depth == 0
    });
    if let Some(colon) = colon {
        return types(&kinds[colon + 1..]);
    }
    let Some(open) = place.open.first() else { return Site::Nothing };
    if open.sort == Sort::Paren && kinds[open.segment..].contains(&Kind::Assign) {
        return operand(kinds);
    }
    match kinds.last() {
        Some(Kind::LParen | Kind::Comma) => Site::Pattern,
        _ => Site::Nothing,
    }
}

/// The site within a type.
fn types(kinds: &[Kind]) -> Site {
    let prev = kinds.last();
    if kinds.contains(&Kind::Colons) {
        return if prev == Some(&Kind::InKw) { Site::Class } else { Site::Nothing };
    }
    match prev {
        Some(Kind::Name | Kind::RParen | Kind::RBracket | Kind::Text) => Site::Nothing,
        _ => Site::Type,
    }
}

fn command(place: &Place<'_>, kinds: &[Kind]) -> Option<Site> {
    let verb = place.slice(*place.before.first()?).to_ascii_lowercase();
    COMMANDS.iter().find(|(word, _)| *word == verb)?;
    let words = &kinds[1..];
    let operands = |kind: &Kind| {
        matches!(kind, Kind::Name | Kind::Text | Kind::Int | Kind::TimeKw | Kind::Comma)
    };
    if !words.iter().all(operands) {
        return None;
    }
    // `load "f", print := t`
    Some(if words.last() == Some(&Kind::Comma) {
        Site::Command("load,".to_owned(), 0)
    } else {
        Site::Command(verb, words.len())
    })
}

/// The site within an expression.
fn operand(kinds: &[Kind]) -> Site {
    let Some(prev) = kinds.last() else { return Site::Operand };
    if kinds.len() >= 2 && kinds[kinds.len() - 2] == Kind::Quote {
        return Site::Operator;
    }
    match prev {
        kind if kind.is_operand() || kind.is_closing() => Site::Operator,
        Kind::FunctionKw | Kind::DatatypeKw | Kind::Unknown => Site::Nothing,
        _ => Site::Operand,
    }
}
