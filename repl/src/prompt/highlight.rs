//! Colours of the entry that is typed, and the brackets at the cursor, from the real lexer.
//!
//! The line editor writes a character by itself where that gives what a repaint would: the [`Painter`] remembers
//! what is on the screen, and asks for a repaint only if more than that character changes.

use super::lines::{MARK, PAD, blanked};
use nesl_core::syntax::{Kind, Token, lex};
use std::cell::RefCell;

/// The colour of keywords.
const KEYWORD: &str = "\x1b[35m";
/// The colour of numbers and truth values.
const NUMBER: &str = "\x1b[36m";
/// The colour of strings and characters.
const TEXT: &str = "\x1b[32m";
/// The colour of comments, marks and hints.
pub const DIM: &str = "\x1b[90m";
/// The colour of commands.
const COMMAND: &str = "\x1b[1;34m";
/// The colour of what is no token.
const WRONG: &str = "\x1b[31m";
/// The style of the brackets at the cursor.
const BRACKETS: &str = "\x1b[1;33m";
/// The end of all colours.
pub const PLAIN: &str = "\x1b[0m";

/// Paints entries, and knows what of them is on the screen.
pub struct Painter {
    colors: bool,
    /// The last text that was painted, and how it was shown.
    shown: RefCell<(String, String)>,
}

impl Painter {
    /// A painter that uses colours, or none.
    pub fn new(colors: bool) -> Painter {
        Painter { colors, shown: RefCell::default() }
    }

    /// Returns the text of the editor as it is shown while the cursor is at `cursor`.
    pub fn paint(&self, text: &str, cursor: Option<usize>) -> String {
        let shown = painted(text, cursor, self.colors);
        *self.shown.borrow_mut() = (text.to_owned(), shown.clone());
        shown
    }

    /// Returns true if the screen must be repainted to show a text after a character was typed, or deleted, at
    /// its end; false if writing or deleting the character does.
    pub fn must_repaint(&self, text: &str, cursor: Option<usize>) -> bool {
        let now = painted(text, cursor, self.colors);
        let mut shown = self.shown.borrow_mut();
        let (old_text, old) = &*shown;
        let typed = text.strip_prefix(old_text.as_str());
        let deleted = old_text.strip_prefix(text);
        let same = match (typed, deleted) {
            (Some(""), _) => now == *old,
            (Some(typed), _) => now.strip_prefix(old.as_str()) == Some(typed),
            (_, Some(deleted)) => old.strip_prefix(now.as_str()) == Some(deleted),
            (None, None) => false,
        };
        if same {
            *shown = (text.to_owned(), now);
        }
        !same
    }

    /// Returns true if there are colours.
    pub fn has_colors(&self) -> bool {
        self.colors
    }

    /// Returns a text in a colour, if there are any.
    pub fn colored(&self, color: &str, text: &str) -> String {
        if self.colors { format!("{color}{text}{PLAIN}") } else { text.to_owned() }
    }
}

/// Returns the text of the editor with colours and marks.
fn painted(text: &str, cursor: Option<usize>, colors: bool) -> String {
    let mark = if colors { format!("\n{DIM}{MARK}{PLAIN}") } else { format!("\n{MARK}") };
    let padding = format!("\n{PAD}");
    if !colors {
        return text.replace(&padding, &mark);
    }
    let own = blanked(text);
    let tokens = lex(&own);
    let matched = cursor.and_then(|cursor| brackets(&tokens, cursor));
    // A command is the first word of a line above all NESL.
    let command = own.trim_start().starts_with(':').then(|| {
        let start = own.len() - own.trim_start().len();
        start..own[start..].find(char::is_whitespace).map_or(own.len(), |end| start + end)
    });
    let mut out = String::with_capacity(text.len() * 2);
    for token in &tokens {
        let range = std::ops::Range::<usize>::from(token.range);
        let color = match &command {
            Some(command) if range.start < command.end => COMMAND,
            _ if matched.is_some_and(|(a, b)| range.start == a || range.start == b) => BRACKETS,
            _ => color(token.kind),
        };
        let piece = text[range].replace(&padding, &mark);
        if color.is_empty() {
            out.push_str(&piece);
        } else {
            // The mark ends the colour of what it stands in.
            let piece = piece.replace(&*mark, &format!("{mark}{color}"));
            out.extend([color, &piece, PLAIN]);
        }
    }
    out
}

fn color(kind: Kind) -> &'static str {
    match kind {
        Kind::FunctionKw
        | Kind::DatatypeKw
        | Kind::LetKw
        | Kind::InKw
        | Kind::IfKw
        | Kind::ThenKw
        | Kind::ElseKw
        | Kind::AndKw
        | Kind::OrKw
        | Kind::NandKw
        | Kind::NorKw
        | Kind::XorKw
        | Kind::TimeKw
        | Kind::ReservedKw => KEYWORD,
        Kind::Int | Kind::Float | Kind::TrueKw | Kind::FalseKw => NUMBER,
        Kind::Char | Kind::Text | Kind::OpenText => TEXT,
        Kind::Comment | Kind::OpenComment => DIM,
        Kind::Unknown
        | Kind::ForeignComment
        | Kind::ForeignPower
        | Kind::ForeignAnd
        | Kind::ForeignNotEq => WRONG,
        _ => "",
    }
}

/// Returns the starts of the bracket at the cursor, or before it, and of its partner.
fn brackets(tokens: &[Token], cursor: usize) -> Option<(usize, usize)> {
    let start = |at: usize| usize::from(tokens[at].range.start());
    let mut open: Vec<usize> = Vec::new();
    let mut found = None;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::LParen | Kind::CallParen | Kind::LBracket | Kind::LBrace => open.push(at),
            Kind::RParen | Kind::RBracket | Kind::RBrace => {
                let opener = open.pop()?;
                let fits = matches!(
                    (tokens[opener].kind, token.kind),
                    (Kind::LParen | Kind::CallParen, Kind::RParen)
                        | (Kind::LBracket, Kind::RBracket)
                        | (Kind::LBrace, Kind::RBrace)
                );
                if !fits {
                    return found;
                }
                if start(opener) == cursor || start(at) + 1 == cursor {
                    found = Some((start(opener), start(at)));
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::lines::padded;

    /// Returns a painted text with a letter for each colour.
    fn shown(text: &str, cursor: Option<usize>) -> String {
        let mut out = painted(text, cursor, true);
        for (color, letter) in [
            (KEYWORD, "<k "),
            (NUMBER, "<n "),
            (TEXT, "<t "),
            (DIM, "<d "),
            (COMMAND, "<c "),
            (WRONG, "<w "),
            (BRACKETS, "<b "),
            (PLAIN, ">"),
        ] {
            out = out.replace(color, letter);
        }
        out
    }

    #[test]
    fn tokens_have_colours() {
        assert_eq!(shown("if t then \"a\" % b", None), "<k if> <n t> <k then> <t \"a\"> <d % b>");
        assert_eq!(shown(":type 1 + x", None), "<c :><c type> <n 1> + x");
        assert_eq!(shown("x ~ 1.5", None), "x <w ~> <n 1.5>");
    }

    #[test]
    fn brackets_at_the_cursor_are_matched() {
        assert_eq!(shown("g([a])", Some(6)), "g<b (>[a]<b )>");
        assert_eq!(shown("g([a])", Some(2)), "g(<b [>a<b ]>)");
        assert_eq!(shown("g(\")\")", Some(4)), "g(<t \")\">)");
        assert_eq!(shown("(a]", Some(3)), "(a]");
    }

    #[test]
    fn further_lines_have_a_mark() {
        assert_eq!(shown(&padded("{a\nb"), None), "{a\n<d   ... >b");
        assert_eq!(shown(&padded("\"a\nb\""), None), "<t \"a\n<d   ... ><t b\">");
        assert_eq!(painted(&padded("a\nb"), None, false), "a\n  ... b");
    }

    #[test]
    fn a_plain_character_needs_no_repaint() {
        let painter = Painter::new(true);
        painter.paint("x", Some(1));
        for (text, repaint) in [("xs", false), ("xs ", false), ("xs 1", true)] {
            assert_eq!(painter.must_repaint(text, Some(text.len())), repaint, "{text}");
        }
        painter.paint("xs 1", Some(4));
        assert!(painter.must_repaint("xs 12", Some(5)));
        painter.paint("xs + y", Some(6));
        assert!(!painter.must_repaint("xs + ", Some(5)));
        assert!(!painter.must_repaint("xs + ", Some(1)));
    }
}
