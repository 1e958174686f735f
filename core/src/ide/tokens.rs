//! Semantic tokens: the kind of each word of a text, for syntax colours.
//!
//! The kind depends on the token and, for names, on the symbol. Types are not inferred, because colours must keep
//! up with typing.

use super::symbol::{Occurrence, Role, Symbol, occurrences};
use crate::base::{ItemId, Span, TextRange};
use crate::db::{Cursor, forms};
use crate::db::{Database, FileId};
use crate::names::Resolution;
use crate::prim::{Prim, PrimKind};
use crate::syntax::ast::{Expr, Item, ItemKind};
use crate::syntax::{Kind, Token, lex};

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A keyword of the language.
    Keyword,
    /// The name of a function.
    Function,
    /// A datatype as constructor, in expressions and patterns.
    Constructor,
    /// The name of a variable.
    Variable,
    /// A parameter of a function.
    Parameter,
    /// The name of a type.
    Type,
    /// A type variable.
    TypeParameter,
    /// A class of types.
    Class,
    /// An operator, `=`, an arrow, or the punctuation of an apply-to-each.
    Operator,
    /// A literal: number.
    Number,
    /// A literal: string.
    Text,
    /// A literal: character.
    Char,
    /// A comment; it may span several lines, as strings may.
    Comment,
    /// `t` or `f`.
    Boolean,
    /// A word of a command.
    Command,
}

impl TokenKind {
    /// All of them.
    pub const ALL: [TokenKind; 15] = [
        TokenKind::Keyword,
        TokenKind::Function,
        TokenKind::Constructor,
        TokenKind::Variable,
        TokenKind::Parameter,
        TokenKind::Type,
        TokenKind::TypeParameter,
        TokenKind::Class,
        TokenKind::Operator,
        TokenKind::Number,
        TokenKind::Text,
        TokenKind::Char,
        TokenKind::Comment,
        TokenKind::Boolean,
        TokenKind::Command,
    ];
}

/// Modifiers of the kind of a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Modifiers {
    /// The name is defined here.
    pub definition: bool,
    /// A name of the library.
    pub library: bool,
    /// An undefined name.
    pub unresolved: bool,
    /// The punctuation of an apply-to-each that runs in parallel: its braces, `in`, `:`, `|`.
    pub parallel: bool,
}

/// A token with its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SemanticToken {
    /// The range of the token.
    pub range: TextRange,
    /// The kind of the token.
    pub kind: TokenKind,
    /// The modifiers of the kind.
    pub modifiers: Modifiers,
}

/// The tokens of a file, or of a range of it, that have a kind, in order.
pub fn semantic_tokens(
    db: &Database,
    file: FileId,
    range: Option<TextRange>,
) -> Vec<SemanticToken> {
    let mut all = Vec::new();
    for (_, cursor) in forms(db, file, range) {
        form(&cursor, &mut all);
    }
    if let Some(range) = range {
        all.retain(|token| token.range.intersect(range).is_some_and(|part| !part.is_empty()));
    }
    all
}

/// Adds the tokens of a form.
pub(super) fn form(cursor: &Cursor<'_>, all: &mut Vec<SemanticToken>) {
    let tokens = &cursor.parsed.tokens;
    let mut own: Vec<Option<(TokenKind, Modifiers)>> = tokens.iter().map(lexical).collect();
    parallel(cursor, &mut own);
    if let ItemKind::Command(command) = &cursor.ast.kind {
        // Words of commands are words of the language, unless they name something.
        for (kind, _) in own.iter_mut().flatten().filter(|(kind, _)| *kind == TokenKind::Variable) {
            *kind = TokenKind::Command;
        }
        if let Some(verb) = own.get_mut(command.verb.span.start as usize) {
            *verb = Some((TokenKind::Command, Modifiers::default()));
        }
    }
    unresolved(cursor, &mut own);
    let parameters = parameters(cursor.ast);
    for occurrence in occurrences(cursor.db, cursor.item) {
        if let Some(slot) = own.get_mut(occurrence.span.start as usize) {
            *slot = Some(named(cursor, &parameters, &occurrence, *slot));
        }
    }
    // Significant tokens are a part of all tokens, in the same order.
    let text = cursor.db.item_text(cursor.item);
    let mut significant = own.into_iter();
    for token in lex(&text) {
        let found = match token.kind {
            Kind::Blank => None,
            Kind::Comment | Kind::OpenComment | Kind::ForeignComment => {
                Some((TokenKind::Comment, Modifiers::default()))
            }
            _ => significant.next().flatten(),
        };
        if let Some((kind, modifiers)) = found {
            all.push(SemanticToken { range: token.range + cursor.start, kind, modifiers });
        }
    }
}

/// The kind of a token by itself, without names.
fn lexical(token: &Token) -> Option<(TokenKind, Modifiers)> {
    let kind = match token.kind {
        Kind::FunctionKw
        | Kind::DatatypeKw
        | Kind::LetKw
        | Kind::InKw
        | Kind::IfKw
        | Kind::ThenKw
        | Kind::ElseKw
        | Kind::TimeKw
        | Kind::ReservedKw => TokenKind::Keyword,
        Kind::TrueKw | Kind::FalseKw => TokenKind::Boolean,
        Kind::Name => TokenKind::Variable,
        Kind::Int | Kind::Float => TokenKind::Number,
        Kind::Char => TokenKind::Char,
        Kind::Text | Kind::OpenText => TokenKind::Text,
        Kind::Assign
        | Kind::Equals
        | Kind::EqEq
        | Kind::NotEq
        | Kind::Less
        | Kind::LessEq
        | Kind::Greater
        | Kind::GreaterEq
        | Kind::Plus
        | Kind::Minus
        | Kind::PlusPlus
        | Kind::Star
        | Kind::Slash
        | Kind::Bars
        | Kind::Caret
        | Kind::LeftArrow
        | Kind::RightArrow
        | Kind::FatArrow
        | Kind::Hash
        | Kind::At
        | Kind::Quote
        | Kind::BarEq
        | Kind::ForeignPower
        | Kind::ForeignAnd
        | Kind::ForeignNotEq
        | Kind::AndKw
        | Kind::OrKw
        | Kind::NandKw
        | Kind::NorKw
        | Kind::XorKw => TokenKind::Operator,
        // Brackets and separators, and what is no token at all.
        _ => return None,
    };
    Some((kind, Modifiers::default()))
}

/// The punctuation of each apply-to-each that runs in parallel.
fn parallel(cursor: &Cursor<'_>, own: &mut [Option<(TokenKind, Modifiers)>]) {
    let tokens = &cursor.parsed.tokens;
    let mark = |slot: &mut Option<(TokenKind, Modifiers)>| {
        let kind = slot.map_or(TokenKind::Operator, |(kind, _)| kind);
        *slot = Some((kind, Modifiers { parallel: true, ..Modifiers::default() }));
    };
    // Open brackets; of a brace whether it is parallel.
    let mut open: Vec<(Kind, bool)> = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let inside = matches!(open.last(), Some((Kind::LBrace, true)));
        match token.kind {
            Kind::LBrace => {
                let serial = tokens.get(i + 1).is_some_and(|next| next.kind == Kind::Star);
                open.push((Kind::LBrace, !serial));
                if !serial {
                    mark(&mut own[i]);
                }
            }
            Kind::LParen | Kind::CallParen => open.push((Kind::LParen, false)),
            Kind::LBracket | Kind::LetKw => open.push((token.kind, false)),
            Kind::RParen => close(&mut open, Kind::LParen),
            Kind::RBracket => close(&mut open, Kind::LBracket),
            Kind::RBrace => {
                let matching = open.iter().rev().find(|(kind, _)| *kind == Kind::LBrace);
                if matching.is_some_and(|(_, parallel)| *parallel) {
                    mark(&mut own[i]);
                }
                close(&mut open, Kind::LBrace);
            }
            Kind::InKw if matches!(open.last(), Some((Kind::LetKw, _))) => {
                open.pop();
            }
            Kind::InKw | Kind::Colon | Kind::Bar if inside => mark(&mut own[i]),
            _ => {}
        }
    }
}

fn close(open: &mut Vec<(Kind, bool)>, kind: Kind) {
    if let Some(at) = open.iter().rposition(|(own, _)| *own == kind) {
        open.truncate(at);
    }
}

/// The undefined names.
fn unresolved(cursor: &Cursor<'_>, own: &mut [Option<(TokenKind, Modifiers)>]) {
    for (id, resolution) in cursor.db.names(cursor.item).values.iter() {
        let is_name = matches!(cursor.ast.exprs[id], Expr::Name(_) | Expr::Quote(_));
        if *resolution != Resolution::Unknown || !is_name {
            continue;
        }
        let Span { end, .. } = cursor.bare(cursor.ast.expr_spans[id]);
        if let Some(slot) = end.checked_sub(1).and_then(|at| own.get_mut(at as usize)) {
            let modifiers = Modifiers { unresolved: true, ..Modifiers::default() };
            *slot = Some((TokenKind::Variable, modifiers));
        }
    }
}

/// The kind of a name, by the symbol that it stands for.
fn named(
    cursor: &Cursor<'_>,
    parameters: &[Span],
    occurrence: &Occurrence,
    before: Option<(TokenKind, Modifiers)>,
) -> (TokenKind, Modifiers) {
    let db = cursor.db;
    let operator = matches!(before, Some((TokenKind::Operator, _)));
    let mut modifiers =
        Modifiers { definition: occurrence.role == Role::Definition, ..Modifiers::default() };
    let kind = match &occurrence.symbol {
        Symbol::Local(_, pat) => {
            let span = cursor.ast.pat_spans[*pat];
            let of = |outer: &Span| outer.start <= span.start && span.end <= outer.end;
            if parameters.iter().any(of) { TokenKind::Parameter } else { TokenKind::Variable }
        }
        Symbol::Optional(..) => TokenKind::Parameter,
        Symbol::Item(item, _) => {
            modifiers.library = db.is_library(*item);
            of_item(cursor, *item, occurrence)
        }
        Symbol::Prim(prim) => {
            modifiers.library = true;
            of_prim(*prim)
        }
        Symbol::TypeVar(..) => TokenKind::TypeParameter,
        Symbol::BuiltIn(name) => match name.folded() {
            "int" | "float" | "bool" | "char" => TokenKind::Type,
            _ => TokenKind::Class,
        },
    };
    if operator { (TokenKind::Operator, Modifiers::default()) } else { (kind, modifiers) }
}

fn of_item(cursor: &Cursor<'_>, item: ItemId, occurrence: &Occurrence) -> TokenKind {
    match &cursor.db.ast(item).kind {
        ItemKind::Function(_) => TokenKind::Function,
        ItemKind::Datatype(_) => {
            let pattern = || {
                let records = cursor.db.names(cursor.item).pat_records.iter();
                let mut spans = records.map(|(pat, _)| cursor.bare(cursor.ast.pat_spans[pat]));
                spans.any(|span| span.start == occurrence.span.start)
            };
            match occurrence.role {
                Role::Definition => TokenKind::Type,
                Role::Type if !pattern() => TokenKind::Type,
                Role::Type | Role::Use | Role::Call => TokenKind::Constructor,
            }
        }
        ItemKind::Binding { .. } | ItemKind::Expr(_) | ItemKind::Command(_) | ItemKind::Missing => {
            TokenKind::Variable
        }
    }
}

fn of_prim(prim: Prim) -> TokenKind {
    match prim.row().kind {
        PrimKind::Constant(_) => TokenKind::Variable,
        PrimKind::Scalar(_)
        | PrimKind::Seq(_)
        | PrimKind::Derived(_)
        | PrimKind::Check(_)
        | PrimKind::Error
        | PrimKind::Rand
        | PrimKind::Host(_) => TokenKind::Function,
    }
}

/// The parameters of the form's function and of the function values in it.
fn parameters(ast: &Item) -> Vec<Span> {
    let function = match &ast.kind {
        ItemKind::Function(function) => Some(ast.pat_spans[function.param]),
        _ => None,
    };
    let lambdas = ast.exprs.values().filter_map(|expr| match expr {
        Expr::Lambda { param, .. } => Some(ast.pat_spans[*param]),
        _ => None,
    });
    function.into_iter().chain(lambdas).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;
    use expect_test::{Expect, expect};
    use std::fmt::Write;

    fn check(text: &str, expected: Expect) {
        let f = Fixture::new(text);
        let mut out = String::new();
        let mut end = 0.into();
        for token in semantic_tokens(&f.db, f.file, None) {
            assert!(token.range.start() >= end, "in order");
            end = token.range.end();
            let Modifiers { definition, library, unresolved, parallel } = token.modifiers;
            let mut words = vec![format!("{:?}", token.kind)];
            words.extend(definition.then(|| "definition".to_owned()));
            words.extend(library.then(|| "library".to_owned()));
            words.extend(unresolved.then(|| "unresolved".to_owned()));
            words.extend(parallel.then(|| "parallel".to_owned()));
            let _ = writeln!(out, "{:<10} {}", &f.text[token.range], words.join(" "));
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn functions_and_their_parameters() {
        check(
            "function g(a, n := 1) : [b] -> b :: (b in number) = sum(a) + (n);",
            expect![[r#"
                function   Keyword
                g          Function definition
                a          Parameter definition
                n          Parameter definition
                :=         Operator
                1          Number
                b          TypeParameter
                ->         Operator
                b          TypeParameter
                b          TypeParameter definition
                in         Keyword
                number     Class
                =          Operator
                sum        Function library
                a          Parameter
                +          Operator
                n          Parameter
            "#]],
        );
    }

    #[test]
    fn apply_to_each_is_parallel_unless_it_is_not() {
        check(
            "{let x = y in x : y in [1] | t} + {* zz : z in 'plus_scan};",
            expect![[r#"
                {          Operator parallel
                let        Keyword
                x          Variable definition
                =          Operator
                y          Variable
                in         Keyword
                x          Variable
                :          Operator parallel
                y          Variable definition
                in         Keyword parallel
                1          Number
                |          Operator parallel
                t          Boolean
                }          Operator parallel
                +          Operator
                *          Operator
                zz         Variable unresolved
                z          Variable definition
                in         Keyword
                '          Operator
                plus_scan  Function library
            "#]],
        );
    }

    #[test]
    fn datatypes_comments_and_commands() {
        check(
            "% c %datatype p int;\nfunction u(p(i)) : p -> int = i;\nq = p(`a);\nset verbose on;\nload \"x\";",
            expect![[r#"
                % c %      Comment
                datatype   Keyword
                p          Type definition
                int        Type
                function   Keyword
                u          Function definition
                p          Constructor
                i          Parameter definition
                p          Type
                ->         Operator
                int        Type
                =          Operator
                i          Parameter
                q          Variable definition
                =          Operator
                p          Constructor
                `a         Char
                set        Command
                verbose    Command
                on         Command
                load       Command
                "x"        Text
            "#]],
        );
    }

    #[test]
    fn a_part_of_a_file() {
        let f = Fixture::new("a = 1;\n$0b$0 = 2;\nc = 3;");
        let found = semantic_tokens(&f.db, f.file, Some(f.selection()));
        let found: Vec<&str> = found.iter().map(|token| &f.text[token.range]).collect();
        assert_eq!(found, ["b"]);
    }

    #[test]
    fn any_text_will_do() {
        for text in ["", "}", "{* : | in", "function", "\"open", "% open", "é ~ (", "set", "'"] {
            let f = Fixture::new(text);
            let _ = semantic_tokens(&f.db, f.file, None);
        }
    }
}
