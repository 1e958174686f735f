//! Text → lossless tokens.
//!
//! Every byte is in exactly one token. The lexer reports no errors: characters that begin no token of
//! NESL become [`Kind::Unknown`], an unclosed comment extends to the end of the text and an unclosed
//! string to the end of its line, and the parser reports them. A first line that begins with `#!`, which
//! tells the system what runs the program, is a comment.

use crate::base::{TextRange, TextSize};
use logos::Logos;

/// The kinds of tokens, and (from [`Kind::Root`] on) of nodes of the tree.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u16)]
#[allow(missing_docs, reason = "the patterns define them")]
pub enum Kind {
    // A byte order mark counts as a blank.
    #[regex(r"[ \t\r\n\x0C\u{FEFF}]+")]
    Blank,
    #[regex(r"%[^%]*%")]
    Comment,
    #[regex(r"%[^%]*")]
    #[regex(r"/\*([^*]|\*+[^*/])*\**")]
    OpenComment,
    /// The comments of other languages, `// …` and `/* … */`.
    #[regex(r"//[^\n]*", allow_greedy = true)]
    #[regex(r"/\*([^*]|\*+[^*/])*\*+/")]
    ForeignComment,
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Name,
    #[regex(r"[0-9]+")]
    Int,
    #[regex(r"[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?")]
    #[regex(r"\.[0-9]+([eE][+-]?[0-9]+)?")]
    #[regex(r"[0-9]+[eE][+-]?[0-9]+")]
    Float,
    // Between two back-quotes other languages quote; two chars are never side by side.
    #[regex(r"`(?s:.)`?")]
    Char,
    #[regex(r#""([^"\\]|\\(?s:.))*""#)]
    Text,
    #[regex(r#""([^"\\]|\\(?s:.))*"#)]
    OpenText,
    #[token("(")]
    LParen,
    /// A `(` that follows an expression without a blank, as in a call.
    CallParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token(",")]
    Comma,
    #[token(";")]
    Semi,
    #[token("$")]
    Dollar,
    #[token(":")]
    Colon,
    #[token("::")]
    Colons,
    #[token(":=")]
    Assign,
    #[token("=")]
    Equals,
    #[token("==")]
    EqEq,
    #[token("/=")]
    NotEq,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEq,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEq,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("++")]
    PlusPlus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("||")]
    Bars,
    #[token("^")]
    Caret,
    #[token("<-")]
    LeftArrow,
    #[token("->")]
    RightArrow,
    #[token("=>")]
    FatArrow,
    #[token("#")]
    Hash,
    #[token("@")]
    At,
    #[token("'")]
    Quote,
    #[token("|")]
    Bar,
    #[token("|=")]
    BarEq,
    /// The power operator of other languages, `**`; the parser suggests NESL's.
    #[token("**")]
    ForeignPower,
    /// The conjunction of other languages, `&&`; the parser suggests NESL's.
    #[token("&&")]
    ForeignAnd,
    /// The inequality of other languages, `!=` and `<>`; the parser suggests NESL's.
    #[token("!=")]
    #[token("<>")]
    ForeignNotEq,
    /// A run of characters that begin no token.
    Unknown,
    /// All tokens of a long literal of constants, as the grammar sees them.
    LongLiteral,

    FunctionKw,
    DatatypeKw,
    LetKw,
    InKw,
    IfKw,
    ThenKw,
    ElseKw,
    AndKw,
    OrKw,
    NandKw,
    NorKw,
    XorKw,
    TrueKw,
    FalseKw,
    TimeKw,
    /// The reserved words `pair` and `closure`, which have no meaning.
    ReservedKw,

    // Nodes.
    Root,
    Function,
    Datatype,
    Binding,
    ExprItem,
    Command,
    Nothing,
    Missing,
    Token,
    Literal,
    NameRef,
    Paren,
    Tuple,
    List,
    Empty,
    Range,
    Index,
    Call,
    Juxtaposed,
    Unary,
    Binary,
    Lambda,
    Option,
    If,
    Let,
    LetBinding,
    Each,
    EachBinding,
    Quoted,
    Time,
    TypeName,
    TypeApply,
    TypeList,
    TypeTuple,
    TypeArrow,
    TypeParen,
    Context,
    ContextEntry,
    Error,
}

impl Kind {
    /// Returns true for blanks and comments, which do not affect the meaning.
    pub fn is_trivia(self) -> bool {
        matches!(self, Kind::Blank | Kind::Comment | Kind::OpenComment | Kind::ForeignComment)
    }

    /// Returns true for a bracket that another one closes.
    pub fn is_opening(self) -> bool {
        matches!(self, Kind::LParen | Kind::CallParen | Kind::LBracket | Kind::LBrace)
    }

    /// Returns true for a bracket that closes another one.
    pub fn is_closing(self) -> bool {
        matches!(self, Kind::RParen | Kind::RBracket | Kind::RBrace)
    }

    /// Returns true for a token that is an operand by itself.
    pub fn is_operand(self) -> bool {
        matches!(
            self,
            Kind::Name
                | Kind::Int
                | Kind::Float
                | Kind::Char
                | Kind::Text
                | Kind::TrueKw
                | Kind::FalseKw
        )
    }
}

/// A token: its kind and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The kind of token.
    pub kind: Kind,
    /// The bytes that it covers.
    pub range: TextRange,
}

/// Returns all tokens of a text, in order; their ranges tile it.
pub fn lex(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::with_capacity(text.len() / 3);
    let mut base = first_line(text);
    if base > 0 {
        tokens.push(Token { kind: Kind::Comment, range: TextRange::new(size(0), size(base)) });
    }
    let mut lexer = Kind::lexer(&text[base..]);
    while let Some(kind) = lexer.next() {
        let span = lexer.span();
        let (start, mut end) = (base + span.start, base + span.end);
        let slice = &text[start..end];
        let kind = match kind {
            Ok(Kind::Name) => keyword(slice),
            Ok(Kind::Text) if swallows_a_string(slice, &text[end..]) => Kind::OpenText,
            Ok(kind) => kind,
            Err(()) => Kind::Unknown,
        };
        if kind == Kind::OpenText {
            // The string was meant to end on its line: lexing resumes after the line.
            end = slice.find('\n').map_or(end, |line| start + line);
            base = end;
            lexer = Kind::lexer(&text[end..]);
        }
        match tokens.last_mut() {
            // A run of unknown characters is one token.
            Some(last) if kind == Kind::Unknown && last.kind == Kind::Unknown => {
                last.range = TextRange::new(last.range.start(), size(end));
            }
            _ => tokens.push(Token { kind, range: TextRange::new(size(start), size(end)) }),
        }
    }
    tokens
}

/// Returns true if a string is one that was never closed, up to where another begins: its first line ends with a
/// terminator, and where it ends there is the beginning of another.
fn swallows_a_string(string: &str, rest: &str) -> bool {
    let Some((line, _)) = string.split_once('\n') else { return false };
    let adjoins = |c: char| c.is_ascii_alphanumeric() || c == '"';
    line.trim_end().ends_with([';', '$']) && rest.starts_with(adjoins)
}

/// Returns the length of the line that tells the system what runs the program; zero if there is none.
fn first_line(text: &str) -> usize {
    if text.starts_with("#!") { text.find('\n').unwrap_or(text.len()) } else { 0 }
}

fn size(n: usize) -> TextSize {
    TextSize::new(n as u32)
}

fn keyword(word: &str) -> Kind {
    if word.len() > 8 {
        return Kind::Name;
    }
    match word.to_ascii_lowercase().as_str() {
        "function" => Kind::FunctionKw,
        "datatype" => Kind::DatatypeKw,
        "let" => Kind::LetKw,
        "in" => Kind::InKw,
        "if" => Kind::IfKw,
        "then" => Kind::ThenKw,
        "else" => Kind::ElseKw,
        "and" => Kind::AndKw,
        "or" => Kind::OrKw,
        "nand" => Kind::NandKw,
        "nor" => Kind::NorKw,
        "xor" => Kind::XorKw,
        "t" => Kind::TrueKw,
        "f" => Kind::FalseKw,
        "time" => Kind::TimeKw,
        "pair" | "closure" => Kind::ReservedKw,
        _ => Kind::Name,
    }
}

/// Returns the bytes of a string literal: `\` makes the next character literal.
pub(super) fn unescape(literal: &str) -> Vec<u8> {
    let inside = literal.strip_prefix('"').unwrap_or(literal);
    let inside = inside.strip_suffix('"').unwrap_or(inside);
    let mut out = Vec::with_capacity(inside.len());
    let mut bytes = inside.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => out.extend(bytes.next()),
            _ => out.push(byte),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        lex(text).into_iter().map(|t| t.kind).filter(|k| !k.is_trivia()).collect()
    }

    #[test]
    fn tokens_tile_the_text() {
        for text in ["", "a + 1;", "\"open\n1", "% open", "`", "é ~ \\ x", "`é \"\\\"\" 5. .5 1e3"]
        {
            let tokens = lex(text);
            let mut at = TextSize::new(0);
            for token in &tokens {
                assert_eq!(token.range.start(), at, "{text:?}");
                at = token.range.end();
            }
            assert_eq!(usize::from(at), text.len(), "{text:?}");
        }
    }

    #[test]
    fn longest_match() {
        use Kind::*;
        assert_eq!(
            kinds("->>= :: ::= |= || <-"),
            [RightArrow, GreaterEq, Colons, Colons, Equals, BarEq, Bars, LeftArrow]
        );
        assert_eq!(kinds("5.e1 12e2 1e .5 5."), [Float, Float, Int, Name, Float, Float]);
        assert_eq!(kinds("`% `; `` T f In"), [Char, Char, Char, TrueKw, FalseKw, InKw]);
        assert_eq!(kinds("3 % note % + 4"), [Int, Plus, Int]);
    }

    #[test]
    fn the_first_line_may_say_what_runs_the_program() {
        use Kind::*;
        assert_eq!(kinds("#!/usr/bin/env nesl\n1 + 2"), [Int, Plus, Int]);
        assert_eq!(kinds("#!nesl"), []);
        assert_eq!(kinds("1\n#!nesl")[..2], [Int, Hash]);
    }

    #[test]
    fn an_open_string_ends_with_its_line() {
        use Kind::*;
        assert_eq!(kinds("\"abc\n1 + 2"), [OpenText, Int, Plus, Int]);
        assert_eq!(kinds("\"a\nb\" 1"), [Text, Int]);
        assert_eq!(kinds("\"a;\nb\" ++ 1"), [Text, PlusPlus, Int]);
        assert_eq!(kinds("\"a;\nb = \"c\""), [OpenText, Name, Equals, Text]);
    }
}
