//! Colours of the entry that is typed, and the brackets at the cursor, from the real lexer.
//!
//! The line editor writes a character by itself where that gives what a repaint would: the [`Painter`] remembers
//! what is on the screen, and asks for a repaint only if more than that character changes. Of an entry that has more
//! rows than the screen, those are painted that it holds ([`super::window`]); once it is submitted, all are, once.

use super::lines::{MARK, PAD, PROMPT, blanked, plain, question};
use super::reflow::Seen;
use super::terminal;
use super::tokens::Tokens;
use super::window::{Rows, Window};
use nesl_core::syntax::{Kind, Token};
use nesl_interactive::state::commands::{Commands, Operand};
use std::cell::{Cell, RefCell};
use std::io::Write;
use std::ops::Range;

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
    commands: Commands,
    /// The last text that was painted.
    shown: RefCell<Shown>,
    /// The text that is painted next, and the cursor in it.
    next: RefCell<(String, Option<usize>)>,
    /// The columns of the prompt.
    prompt: Cell<usize>,
    /// True once a text that was submitted has been painted whole.
    is_whole: Cell<bool>,
    /// The tokens of the text that was painted last.
    tokens: RefCell<Tokens>,
    /// The rows of that text.
    rows: RefCell<Rows>,
    /// The entry as it is on the screen.
    seen: RefCell<Seen>,
    /// True for a terminal that breaks the lines on its screen anew when its width changes.
    breaks_anew: bool,
}

/// A text as it is on the screen.
#[derive(Default)]
struct Shown {
    text: String,
    /// The text with its colours; of a text with more rows than the screen, some of it.
    painted: String,
    /// The first row that is shown.
    top: usize,
}

impl Painter {
    /// A painter that uses colours, or none, for entries that may begin with these commands.
    pub fn new(colors: bool, commands: Commands) -> Painter {
        Painter {
            colors,
            commands,
            shown: RefCell::default(),
            next: RefCell::default(),
            prompt: Cell::new(PROMPT.len()),
            is_whole: Cell::new(false),
            tokens: RefCell::default(),
            rows: RefCell::default(),
            seen: RefCell::default(),
            breaks_anew: terminal::breaks_anew(&|name| std::env::var(name).ok()),
        }
    }

    /// Forgets the entry that was on the screen: another one begins below it.
    pub fn begin(&self) {
        self.seen.take();
    }

    /// Makes the screen ready for the editor to repaint the entry, if its width has changed; returns true if so.
    fn follow_width(&self, columns_rows: Option<(usize, usize)>) -> bool {
        let seen = self.seen.borrow_mut();
        let Some((columns, rows)) = columns_rows else { return false };
        if columns == seen.columns || columns == 0 {
            return false;
        }
        if seen.columns > 0 && self.breaks_anew {
            let mut stdout = std::io::stdout().lock();
            let bytes = seen.prepare((columns, rows));
            // Failing to write is found by the editor.
            let _ = stdout.write_all(bytes.as_bytes()).and_then(|()| stdout.flush());
        }
        seen.columns > 0
    }

    /// Notes that a text is on the screen; `painted` is true if all of it was painted just now.
    fn see(&self, text: &str, cursor: Option<usize>, window: Option<Window>, painted: bool) {
        let mut seen = self.seen.borrow_mut();
        if painted {
            seen.prompt = self.prompt.get();
            seen.columns = terminal::screen().map_or(0, |(columns, _)| columns);
            seen.hint.clear();
            let mut rows = self.rows.borrow_mut();
            let is_full = rows.ends_full(text, seen.prompt, seen.columns.max(1));
            seen.full = is_full.then_some(text.len());
        }
        text.clone_into(&mut seen.text);
        seen.cursor = cursor.unwrap_or(text.len());
        seen.window = window;
    }

    /// Returns the hint behind the text that was painted.
    pub fn paint_hint(&self, hint: &str) -> String {
        let mut seen = self.seen.borrow_mut();
        hint.clone_into(&mut seen.hint);
        // The line end behind a full row then stands behind the hint.
        seen.full = None;
        self.colored(DIM, hint)
    }

    /// Returns the prompt before the text that is painted next.
    pub fn paint_prompt(&self, style: &str, prompt: &str) -> String {
        self.prompt.set(prompt.chars().count());
        let (text, cursor) = &*self.next.borrow();
        let is_above = self.window(text, *cursor).is_some_and(|window| window.top > 0);
        if is_above { String::new() } else { self.colored(style, prompt) }
    }

    /// Returns true if a text has more rows than the screen.
    pub fn is_high(&self, text: &str) -> bool {
        // Another text than the one that is typed: what is known of its rows is kept.
        let mut rows = Rows::default();
        let screen = terminal::screen();
        screen.is_some_and(|at| rows.window(text, text.len(), self.prompt.get(), at).is_some())
    }

    /// Returns the part of a text that is shown; all of it if there is none. The first time that a submitted text is
    /// painted it is whole, so that it is above the screen later.
    fn window(&self, text: &str, cursor: Option<usize>) -> Option<Window> {
        if cursor.is_none() && !self.is_whole.get() {
            return None;
        }
        let (cursor, prompt) = (cursor.unwrap_or(text.len()), self.prompt.get());
        self.rows.borrow_mut().window(text, cursor, prompt, terminal::screen()?)
    }

    /// Returns the text of the editor as it is shown while the cursor is at `cursor`; none if it was submitted.
    pub fn paint(&self, text: &str, cursor: Option<usize>) -> String {
        let window = self.window(text, cursor);
        let painted = self.painted(text, cursor, window.as_ref());
        self.is_whole.set(cursor.is_none());
        let top = window.as_ref().map_or(0, |window| window.top);
        *self.shown.borrow_mut() = Shown { text: text.to_owned(), painted: painted.clone(), top };
        self.see(text, cursor, window, true);
        painted
    }

    /// Returns a text as it is shown once it was submitted.
    pub fn paint_whole(&self, text: &str) -> String {
        self.painted(text, None, None)
    }

    /// Returns true if the screen must be repainted to show a text after a character was typed, or deleted, at
    /// its end; false if writing or deleting the character does.
    pub fn must_repaint(&self, text: &str, cursor: Option<usize>) -> bool {
        *self.next.borrow_mut() = (text.to_owned(), cursor);
        let is_resized = self.follow_width(terminal::screen());
        let window = self.window(text, cursor);
        let now = self.painted(text, cursor, window.as_ref());
        let top = window.as_ref().map_or(0, |window| window.top);
        let mut shown = self.shown.borrow_mut();
        let Shown { text: old_text, painted: old, top: old_top } = &*shown;
        let typed = text.strip_prefix(old_text.as_str());
        let deleted = old_text.strip_prefix(text);
        let same = match (typed, deleted) {
            _ if *old_top != top || is_resized => false,
            (Some(""), _) => now == *old,
            (Some(typed), _) => now.strip_prefix(old.as_str()) == Some(typed),
            (_, Some(deleted)) => old.strip_prefix(now.as_str()) == Some(deleted),
            (None, None) => false,
        };
        self.see(text, cursor, window, false);
        if same {
            *shown = Shown { text: text.to_owned(), painted: now, top };
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

/// The parts of an entry that are for the prompt, in bytes.
struct Own {
    /// The command, or the mark of a question.
    word: Range<usize>,
    /// The operand of the command, if that is no NESL.
    operand: Range<usize>,
}

impl Painter {
    /// Returns the text of the editor, or the part in a window, with colours and marks.
    fn painted(&self, text: &str, cursor: Option<usize>, window: Option<&Window>) -> String {
        let mark = if self.colors { format!("\n{DIM}{MARK}{PLAIN}") } else { format!("\n{MARK}") };
        let padding = format!("\n{PAD}");
        let shown = window.map_or(0..text.len(), |window| window.bytes.clone());
        let mut out = String::with_capacity(shown.len() * 2);
        let mut start = shown.start;
        if start > 0 && text[..start].ends_with('\n') && text[start..].starts_with(PAD) {
            out.push_str(&mark[1..]);
            start += PAD.len();
        }
        let shown = start.min(shown.end)..shown.end;
        if !self.colors {
            return out + &text[shown].replace(&padding, &mark);
        }
        let blank = blanked(text);
        let mut known = self.tokens.borrow_mut();
        let tokens = known.of(&blank);
        let matched = cursor.and_then(|cursor| brackets(tokens, cursor));
        let own = self.own(text, &blank);
        let first = tokens.partition_point(|token| usize::from(token.range.end()) <= shown.start);
        let behind = tokens.partition_point(|token| usize::from(token.range.start()) < shown.end);
        for token in &tokens[first..behind.max(first)] {
            let range = Range::<usize>::from(token.range);
            let part = range.start.max(shown.start)..range.end.min(shown.end);
            if part.is_empty() {
                continue;
            }
            let color = match &own {
                Some(Own { word, .. }) if word.contains(&range.start) => COMMAND,
                Some(Own { operand, .. }) if operand.contains(&range.start) => "",
                _ if matched.is_some_and(|(a, b)| range.start == a || range.start == b) => BRACKETS,
                _ => color(token.kind),
            };
            let piece = text[part].replace(&padding, &mark);
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

    /// Returns the parts of an entry that are for the prompt; `blank` is the text without padding. A command is
    /// the first word of a line above all NESL, and a question is one word with its mark.
    fn own(&self, text: &str, blank: &str) -> Option<Own> {
        let start = blank.len() - blank.trim_start().len();
        if blank[start..].starts_with(':') {
            let end = |from: usize, ends: fn(char) -> bool| {
                blank[from..].find(ends).map_or(blank.len(), |end| from + end)
            };
            let word = start..end(start, char::is_whitespace);
            let takes = self.commands.expand(&blank[word.clone()]).map(|command| command.operand);
            let is_program = !matches!(
                takes,
                Some(Operand::File | Operand::Folder | Operand::Setting | Operand::Command)
            );
            let line_end = end(word.end, |c| c == '\n');
            let operand = if is_program { 0..0 } else { word.end..line_end };
            return Some(Own { word, operand });
        }
        if !blank[start..].starts_with('?') && !blank.trim_end().ends_with('?') {
            return None;
        }
        question(&plain(text))?;
        let at = if blank[start..].starts_with('?') { start } else { blank.trim_end().len() - 1 };
        Some(Own { word: at..at + 1, operand: 0..0 })
    }
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
    // Mostly there is none at the cursor, and no need to go through all of them.
    let behind = tokens.partition_point(|token| usize::from(token.range.end()) < cursor);
    let mut near = tokens[behind..].iter().take(2).map(|token| token.kind);
    if !near.any(|kind| kind.is_opening() || kind.is_closing()) {
        return None;
    }
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

    fn painter(colors: bool) -> Painter {
        Painter::new(colors, Commands::default())
    }

    /// Returns a painted text with a letter for each colour.
    fn shown(text: &str, cursor: Option<usize>) -> String {
        let mut out = painter(true).painted(text, cursor, None);
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
        // What stands behind some commands is no NESL; below them is.
        assert_eq!(shown(":load f/in.nesl\nt", None), "<c :><c load> f/in.nesl\n<n t>");
        assert_eq!(shown(":set precision 32", None), "<c :><c set> precision 32");
        // A question is no mistake, but a question mark elsewhere is.
        assert_eq!(shown("?sum", None), "<c ?>sum");
        assert_eq!(shown("sum?", None), "sum<c ?>");
        assert_eq!(shown("a ? b", None), "a <w ?> b");
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
        assert_eq!(painter(false).painted(&padded("a\nb"), None, None), "a\n  ... b");
    }

    #[test]
    fn a_part_begins_with_its_mark_and_colour() {
        let text = padded("{a\n\"bc\"\n}");
        let part = |from: usize, to: usize| {
            let window = Window { top: 1, bytes: from..to };
            painter(true).painted(&text, None, Some(&window))
        };
        let mark = format!("{DIM}{MARK}{PLAIN}");
        assert_eq!(part(3, 3 + PAD.len() + 2), format!("{mark}{TEXT}\"b{PLAIN}"));
        assert_eq!(part(3 + PAD.len() + 2, text.len()), format!("{TEXT}c\"{PLAIN}\n{mark}}}"));
    }

    #[test]
    fn a_plain_character_needs_no_repaint() {
        let painter = painter(true);
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
