//! A text of several lines → the entries in it. One rule serves pastes with brackets, pastes without, and lines
//! that were typed ahead.
//!
//! ```text
//! x = 5                        x = 5 │ y = 6 │ x + y
//! y = 6
//! x + y
//!
//! nesl> one = "a" ++ nl        one = "a" ++ nl │ #one
//! one = 2 characters : [char]
//! a
//! nesl> #one
//! ```
//!
//! In a transcript, what was typed stands behind prompts and marks; all other lines are results, which are never
//! run. In other texts an entry goes on while the parser does not call it complete, and where the next line is
//! indented more, or begins with what begins no form.

use super::lines::{MARK, PROMPT, lacks_a_body, plain, question};
use nesl_core::syntax::entry::is_wrong;
use nesl_core::syntax::{Kind, RawKind, lex, split};
use nesl_interactive::entry::{Typed, close, typed};
use nesl_interactive::state::commands::Commands;
use std::borrow::Cow;

/// The length of an entry, in bytes, above which it is not tried whether its lines are entries of their own.
const MAX_TRIED_BYTES: usize = 64 * 1024;

/// The number of lines below a blank one in which the end of a bracket is looked for.
const MAX_BELOW_LINES: usize = 1000;

/// The entries of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The entries that are complete.
    pub entries: Vec<String>,
    /// The text at the end that is not: more may come.
    pub rest: String,
    /// True if there are results of a session, which are not run.
    pub has_results: bool,
    /// True if the text was copied from a session.
    pub is_transcript: bool,
}

/// Finds the entries of a text. A last line without a line end is not complete. If the text goes on with a
/// transcript that was pasted just before, `printed` is what the last entry of that has printed.
pub fn read(text: &str, commands: Commands, printed: Option<&str>) -> Block {
    let mut block = Block::default();
    let lines: Vec<&str> = text.lines().collect();
    let is_ended = text.is_empty() || text.ends_with('\n');
    if lines.iter().any(|line| input(line).is_some()) {
        block.is_transcript = true;
        transcript(&lines, is_ended, printed.is_some(), &mut block);
    } else if printed.is_some_and(|printed| is_result(text, printed)) {
        block.is_transcript = true;
        block.has_results = true;
    } else {
        forms(&lines, is_ended, commands, &mut block);
    }
    block
}

/// Returns true if Enter runs a text of the editor.
pub fn is_submitted(text: &str, commands: Commands) -> bool {
    let mut own = plain(text);
    if own.lines().any(|line| input(line).is_some()) {
        let mut block = Block::default();
        transcript(&own.lines().collect::<Vec<_>>(), false, false, &mut block);
        own = match block.rest.is_empty() {
            true => return true,
            false => Cow::Owned(block.rest + if own.ends_with('\n') { "\n" } else { "" }),
        };
    }
    if question(&own).is_some() {
        return true;
    }
    // A blank line ends an entry, except where a body must follow.
    let ends_blank = own.contains('\n') && own.trim_end_matches([' ', '\t']).ends_with('\n');
    match typed(&own) {
        // Lines that are complete each for itself need no signs behind them.
        Typed::Part if own.contains('\n') => {
            let Block { entries, rest, .. } = read(&format!("{own}\n"), commands, None);
            rest.is_empty() && !entries.iter().any(|entry| is_part(entry))
        }
        Typed::Part => false,
        // What stands above may be whole, but not the last entry.
        Typed::Whole | Typed::Unterminated if ends_blank => !lacks_a_body(&own),
        Typed::Whole | Typed::Unterminated if own.contains('\n') && is_wrong(&own) => {
            let Block { entries, rest, .. } = read(&format!("{own}\n"), commands, None);
            entries.is_empty() || rest.is_empty()
        }
        Typed::Whole | Typed::Unterminated => true,
    }
}

/// Returns true if an entry cannot be run yet, whether or not there are blank lines behind it.
fn is_part(entry: &str) -> bool {
    question(entry).is_none() && typed(entry.trim_end()) == Typed::Part
}

/// Returns an entry in pieces with one expression each: so each value has a name of its own.
pub fn by_values(text: &str) -> Vec<&str> {
    if text.trim_start().starts_with(':') || is_wrong(text) {
        return vec![text];
    }
    let closed = close(text);
    let items = split(&closed);
    let last = items.iter().rposition(|item| item.kind == RawKind::Expr);
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, item) in items.iter().enumerate() {
        let end = usize::from(item.range.end()).min(text.len());
        // Behind the last expression other forms may follow.
        if item.kind == RawKind::Expr && Some(at) != last && text.is_char_boundary(end) {
            pieces.push(text[start..end].trim());
            start = end;
        }
    }
    pieces.push(text[start..].trim());
    pieces
}

/// Returns what was typed in a line that begins with a prompt.
fn input(line: &str) -> Option<&str> {
    behind(line, PROMPT.trim_end())
}

/// Returns what was typed in a further line of an entry.
fn further(line: &str) -> Option<&str> {
    behind(line, MARK.trim())
}

fn behind<'a>(line: &'a str, sign: &str) -> Option<&'a str> {
    let rest = line.trim_start().strip_prefix(sign)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(' ') }
}

/// Finds the entries of a transcript. `goes_on` is true if another stood before it.
fn transcript(lines: &[&str], is_ended: bool, goes_on: bool, block: &mut Block) {
    let first = lines.iter().position(|line| input(line).is_some()).unwrap_or(lines.len());
    let above = &lines[..first];
    let mut at = 0;
    // The first line may have been selected from behind its prompt on.
    if begins_typed(above, goes_on) {
        at = typed_lines(lines, 0, lines[0], is_ended, block);
    }
    while let Some(line) = lines.get(at) {
        match input(line) {
            Some(begun) => at = typed_lines(lines, at, begun, is_ended, block),
            None => {
                block.has_results |= !line.trim().is_empty();
                at += 1;
            }
        }
    }
}

/// Returns true if the lines above the first prompt begin with what was typed there, and not with a result.
fn begins_typed(above: &[&str], goes_on: bool) -> bool {
    let Some((first, below)) = above.split_first() else { return false };
    if first.trim().is_empty() {
        return false;
    }
    if below.first().is_some_and(|line| further(line).is_some()) {
        return true;
    }
    if goes_on || is_answer(first) {
        return false;
    }
    first.starts_with(':')
        || question(first).is_some()
        || (!is_wrong(first) && below.iter().any(|line| is_answer(line)))
}

/// Returns true for a line that the prompt prints for a value, a definition or an error.
fn is_answer(line: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    line.contains(" error: ")
        || line
            .split_once(" = ")
            .is_some_and(|(name, value)| is_name(name) && value.contains(" : ") && is_wrong(line))
}

/// Takes an entry that begins in a line of a transcript with `begun`; returns the line behind it.
fn typed_lines(lines: &[&str], at: usize, begun: &str, is_ended: bool, block: &mut Block) -> usize {
    let mut entry = begun.to_owned();
    let mut at = at + 1;
    while let Some(line) = lines.get(at).and_then(|line| further(line)) {
        entry.push('\n');
        entry.push_str(line);
        at += 1;
    }
    // The marks may have been left out.
    while is_part(&entry)
        && let Some(line) = lines.get(at).filter(|line| input(line).is_none())
        && entry.len() < MAX_TRIED_BYTES
    {
        entry.push('\n');
        entry.push_str(line);
        at += 1;
    }
    if entry.trim().is_empty() {
        return at;
    }
    if at < lines.len() {
        // What is not complete was never run: another prompt stands below it.
        if !is_part(&entry) {
            block.entries.push(entry);
        }
    } else if is_ended && !is_part(&entry) {
        block.entries.push(entry);
    } else {
        block.rest = entry + if is_ended { "\n" } else { "" };
    }
    at
}

/// Returns true if a text below a transcript is one of its results: it is wrong, or has just been printed.
fn is_result(text: &str, printed: &str) -> bool {
    let is_printed = || {
        let mut lines = text.trim().lines();
        lines.all(|line| printed.lines().any(|known| known.trim() == line.trim()))
    };
    !text.trim().is_empty()
        && !text.trim_start().starts_with(':')
        && (is_wrong(text) || is_printed())
}

/// Finds the entries of a text without prompts.
fn forms(lines: &[&str], is_ended: bool, commands: Commands, block: &mut Block) {
    let mut at = 0;
    while at < lines.len() {
        if lines[at].trim().is_empty() {
            at += 1;
            continue;
        }
        let mut end = at + form(&lines[at..], false, commands);
        let mut entry = lines[at..end].join("\n");
        if end > at + 1 && entry.len() < MAX_TRIED_BYTES && is_wrong(&entry) {
            let strict = at + form(&lines[at..], true, commands);
            let first = lines[at..strict].join("\n");
            // The beginning of what is wrong is no entry if it is not complete itself.
            if !is_part(&first) {
                (end, entry) = (strict, first);
            }
        }
        at = end;
        let is_last = at == lines.len();
        if is_last && (!is_ended || is_part(&entry)) {
            block.rest = entry + if is_ended { "\n" } else { "" };
        } else {
            block.entries.push(entry);
        }
    }
}

/// Returns the number of lines of the first entry; `is_strict` ends it where it is complete, however the next line
/// is indented.
fn form(lines: &[&str], is_strict: bool, commands: Commands) -> usize {
    let first = lines[0];
    let mut least = 1;
    if first.trim_start().starts_with(':') {
        match takes_lines(first, commands) {
            _ if lines.len() == 1 => return 1,
            // Its operand stands below.
            true => least = 2,
            // It may have begun.
            false if is_part(first) => {}
            false => return 1,
        }
    } else if question(first).is_some() {
        return 1;
    }
    let depth = indentation(first);
    let mut state = Open::default();
    for (at, line) in lines.iter().enumerate().skip(least - 1) {
        state.line(line);
        let Some(next) = lines.get(at + 1) else { break };
        if state.within.is_some() {
            continue;
        }
        // A comment belongs to the form below it, but not to a command.
        if state.last.is_none() {
            let begins_command = next.trim_start().starts_with(':') || question(next).is_some();
            match begins_command {
                true => return at + 1,
                false => continue,
            }
        }
        let entry = || lines[least - 1..=at].join("\n");
        if next.trim().is_empty() {
            let below = lines[at + 1..].iter().find(|line| !line.trim().is_empty());
            let goes_on =
                below.is_some_and(|below| indentation(below) > depth || begins_no_form(below));
            if goes_on && !is_strict {
                continue;
            }
            let entry = entry();
            let is_part = is_part(&entry);
            if is_part && (below.is_none() || lacks_a_body(&entry)) {
                continue;
            }
            if is_part && state.brackets > 0 && state.is_closed_in(&lines[at + 1..]) {
                continue;
            }
            return at + 1;
        }
        if state.brackets > 0 {
            continue;
        }
        let is_closed = matches!(state.last, Some(';' | '$'));
        let is_further = begins_no_form(next) || (indentation(next) > depth && !is_strict);
        if is_further && !is_closed {
            continue;
        }
        if !is_part(&entry()) {
            return at + 1;
        }
    }
    lines.len()
}

/// Returns true for the line of a command whose operand is in the lines below it.
fn takes_lines(line: &str, commands: Commands) -> bool {
    let with_form = format!("{}\n1;", line.trim_end());
    let bare = line.split_whitespace().count() == 1;
    let Some((found, end)) = commands.first(&with_form, 0) else { return false };
    // Without an operand, some commands tell something instead.
    let is_complete = bare && commands.first(line, 0).is_some_and(|(alone, _)| alone.is_ok());
    found.is_ok() && end == with_form.len() && !is_complete
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns true if a line begins with what begins an entry and nothing else: a command, or a definition in the first
/// column.
fn begins_entry(line: &str) -> bool {
    if line.starts_with(':') || question(line).is_some() {
        return true;
    }
    let is_indented = line.starts_with(char::is_whitespace);
    let kind = split(line).first().map(|form| form.kind);
    !is_indented && matches!(kind, Some(RawKind::Function | RawKind::Datatype | RawKind::Binding))
}

/// Returns true if a line begins with what begins no form: an operator, a closing bracket, `in`, `then` or `else`.
fn begins_no_form(line: &str) -> bool {
    let end = line.char_indices().nth(16).map_or(line.len(), |(at, _)| at);
    let first = lex(&line[..end]).into_iter().find(|token| token.kind != Kind::Blank);
    first.is_some_and(|token| {
        matches!(
            token.kind,
            Kind::RParen
                | Kind::RBracket
                | Kind::RBrace
                | Kind::Comma
                | Kind::Semi
                | Kind::Equals
                | Kind::EqEq
                | Kind::NotEq
                | Kind::Less
                | Kind::LessEq
                | Kind::Greater
                | Kind::GreaterEq
                | Kind::Plus
                | Kind::PlusPlus
                | Kind::Star
                | Kind::Slash
                | Kind::Caret
                | Kind::LeftArrow
                | Kind::RightArrow
                | Kind::FatArrow
                | Kind::Bar
                | Kind::Bars
                | Kind::InKw
                | Kind::ThenKw
                | Kind::ElseKw
                | Kind::AndKw
                | Kind::OrKw
                | Kind::NandKw
                | Kind::NorKw
                | Kind::XorKw
        )
    })
}

/// The brackets, strings and comments that are open at the end of a line. Lines are looked at one by one, since a
/// form may have a million of them.
#[derive(Clone, Default)]
struct Open {
    brackets: usize,
    /// The sign that ends the string or the comment that is open.
    within: Option<char>,
    /// The last character that is neither blank nor in a comment.
    last: Option<char>,
}

impl Open {
    /// Returns true if the brackets are closed in the lines below, before what begins a definition or a command.
    fn is_closed_in(&self, below: &[&str]) -> bool {
        let mut state = self.clone();
        for line in below.iter().take(MAX_BELOW_LINES) {
            if state.within.is_none() && begins_entry(line) {
                return false;
            }
            state.line(line);
            if state.brackets == 0 && state.within.is_none() {
                return true;
            }
        }
        false
    }

    fn line(&mut self, line: &str) {
        let mut chars = line.chars();
        while let Some(c) = chars.next() {
            match (self.within, c) {
                (Some('"'), '\\') | (None, '`') => drop(chars.next()),
                (Some(end), c) if c == end => self.within = None,
                (Some(_), _) => continue,
                (None, '"') => self.within = Some('"'),
                (None, '%') => {
                    self.within = Some('%');
                    continue;
                }
                (None, '(' | '[' | '{') => self.brackets += 1,
                (None, ')' | ']' | '}') => self.brackets = self.brackets.saturating_sub(1),
                (None, _) => {}
            }
            if !c.is_whitespace() && c != '%' {
                self.last = Some(c);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the entries of a text, and in brackets what is not complete; `!` says that there are results.
    fn shown(text: &str) -> String {
        let block = read(text, Commands::default(), None);
        let mut out = block.entries;
        if !block.rest.is_empty() {
            out.push(format!("[{}]", block.rest));
        }
        out.join(" | ") + if block.has_results { " !" } else { "" }
    }

    #[test]
    fn lines_are_entries_where_they_are_complete() {
        for (text, entries) in [
            ("x = 5\ny = 6\nx + y\n", "x = 5 | y = 6 | x + y"),
            ("x = 5;\n\ny = 6;\n", "x = 5; | y = 6;"),
            ("function f1(x) =\n  x\n  + 1\nf1(1)\n", "function f1(x) =\n  x\n  + 1 | f1(1)"),
            ("function f1(x) =\n\n  x;\nf1(1)\n", "function f1(x) =\n\n  x; | f1(1)"),
            ("{a :\n\n a in x}\n1\n", "{a :\n\n a in x} | 1"),
            ("let x = 1;\n    y = 2\nin x\n+ y\n3\n", "let x = 1;\n    y = 2\nin x\n+ y | 3"),
            ("\"a\nb = 1\n\"\n2\n", "\"a\nb = 1\n\" | 2"),
            ("% a\nb %\n2\n% c %\n:vars\n", "% a\nb %\n2 | % c % | :vars"),
            // Lines that are indented alike, or more, but are entries of their own.
            ("  x = 5\n  y = 6\n", "  x = 5 |   y = 6"),
            ("x = 5\n  y = 6\n", "x = 5 |   y = 6"),
            // What may begin a form does.
            ("x\n-1\n[1]\n", "x | -1 | [1]"),
            (":set rows 5\nx = 1\n:type\nx\ny\n", ":set rows 5 | x = 1 | :type\nx | y"),
            ("?sum\nx\n", "?sum | x"),
            // A blank line ends what cannot be completed.
            ("f1(1 +\n\nx = 5\n", "f1(1 + | x = 5"),
            ("f1(1 +\n\nx = f1(5)\n", "f1(1 + | x = f1(5)"),
            // Within what is closed below it does not.
            (
                "function h(x) =\n  let\n    y = x;\n\n  in y\nh(3)\n",
                "function h(x) =\n  let\n    y = x;\n\n  in y | h(3)",
            ),
            ("let\ny = 1;\n\nz = 2;\n\nin y\n3\n", "let\ny = 1;\n\nz = 2;\n\nin y | 3"),
            ("[1,\n\n2]\n3\n", "[1,\n\n2] | 3"),
            ("[1,\n\n\n2,\n\n3]\n4\n", "[1,\n\n\n2,\n\n3] | 4"),
            (
                "1\ndatatype pt(float, float)\npt(1.0, 2.0)\n",
                "1 | datatype pt(float, float) | pt(1.0, 2.0)",
            ),
            ("?let\n?(\n?\"\n1\n", "?let | ?( | ?\" | 1"),
            ("f1(1 +\n", "[f1(1 +\n]"),
            ("x = 5\ny = 6", "x = 5 | [y = 6]"),
            ("", ""),
        ] {
            assert_eq!(shown(text), entries, "{text:?}");
        }
    }

    #[test]
    fn a_transcript_is_what_was_typed_in_it() {
        for (text, entries) in [
            (
                "nesl> x = 5\nx = 5 : int\nnesl> function f1(a) =\n  ...   a + x\nf1 = fn : int -> int\nnesl> \n",
                "x = 5 | function f1(a) =\n  a + x !",
            ),
            // Rows of a text, a redefinition, answers of commands: all of them could be entries.
            ("nesl> t\nit = 7 characters : [char]\none\ntwo\nnesl> 1\n", "t | 1 !"),
            (
                "nesl> x = 1\nx = 1 : int\nx was [int]; area keeps the old one\nnesl> 2\n",
                "x = 1 | 2 !",
            ),
            ("nesl> :type x\nx : int\nnesl> :vars\nx\ny\n", ":type x | :vars !"),
            // The first line was selected from behind its prompt on.
            ("x = 5\nx = 5 : int\nnesl> x\n", "x = 5 | x !"),
            (
                "function f1(a) =\n  ...   a\nf1 = fn : a -> a\nnesl> f1(1)\n",
                "function f1(a) =\n  a | f1(1) !",
            ),
            (":set rows 5\nnesl> 1\n", ":set rows 5 | 1"),
            // Or it is a result.
            ("one\ntwo\nnesl> 1\n", "1 !"),
            ("x = 5 : int\nnesl> 1\n", "1 !"),
            // What was dropped with Ctrl-C was never run; the marks may be lost.
            ("nesl> (1 +\nnesl> 2\n", "2"),
            ("nesl> (1 +\n2)\nit = 3 : int\n", "(1 +\n2) !"),
            ("nesl> (1 +\n  ... 2", "[(1 +\n2]"),
            ("nesl> f1(2)", "[f1(2)]"),
            ("  nesl> 1\n  it = 1 : int\n", "1 !"),
        ] {
            assert_eq!(shown(text), entries, "{text:?}");
        }
    }

    #[test]
    fn results_below_a_transcript_are_known() {
        let read = |text: &str, printed| read(text, Commands::default(), printed).has_results;
        assert!(read("x = 5 : int\n", Some("")));
        assert!(read("  0  1\n", Some("it : [int]\n   0  1\n")));
        assert!(read("one\nnesl> 1\n", Some("")));
        assert!(!read("x = 5 : int\n", None));
        assert!(!read(":type 1 +\n", Some("")));
    }

    #[test]
    fn enter_submits_what_is_complete() {
        use crate::prompt::lines::padded;
        let is_submitted = |text: &str| is_submitted(&padded(text), Commands::default());
        for text in [
            "nesl> (1 +\n  ... 2)",
            "x = 5\nx = 5 : int\nnesl> x",
            "nesl> x\nit = 5 : int",
            "1 + 2",
            "x = 3;",
            "x = 5\ny = 6\nx + y",
            "{a\n}",
            "(1 +\n  ",
            ":type 1 +",
            ":time {x :\n x in xs}",
            "function f1(x) =\n  x",
            "1\ndatatype pt(float, float)\npt(1.0, 2.0)",
            "?let",
            "?function",
            "?datatype",
            "?(",
            "?[",
            "?\"",
            "let?",
        ] {
            assert!(is_submitted(text), "{text:?}");
        }
        for text in [
            "(1 +",
            ":time {x :",
            "function f1(x) =",
            "function f1(x) =\n",
            "let x = 1 in\n  \n",
            "function f1(x) =\n  let\n    y = x;\n",
            "let x = 1;\n\n",
            "\"what?",
            "x = 5\nf1(1 +",
            "nesl> (1 +",
        ] {
            assert!(!is_submitted(text), "{text:?}");
        }
    }

    #[test]
    fn each_value_has_an_entry() {
        assert_eq!(by_values("1; 2;"), ["1;", "2;"]);
        assert_eq!(
            by_values("x = 1; x + 1; y = 2; y; z = 3"),
            ["x = 1; x + 1;", "y = 2; y; z = 3"]
        );
        assert_eq!(by_values("x = 1; x"), ["x = 1; x"]);
        assert_eq!(by_values("x = 1; y = 2"), ["x = 1; y = 2"]);
        assert_eq!(by_values(":type 1; 2"), [":type 1; 2"]);
        assert_eq!(by_values("1; 2 )"), ["1; 2 )"]);
    }

    #[test]
    fn long_texts_take_little_time() {
        let many: String = (0..20_000).map(|n| format!("p{n} = {n};\n")).collect();
        assert_eq!(read(&many, Commands::default(), None).entries.len(), 20_000);
        let one = format!("xs = [\n{}0];\n", "1,\n".repeat(100_000));
        assert_eq!(read(&one, Commands::default(), None).entries.len(), 1);
    }
}
