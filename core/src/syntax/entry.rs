//! Entries: what is typed at a prompt or stands in a cell of a notebook. An entry may begin with
//! commands of the front end, lines that begin with a colon, and the last `;` may be left out.

use super::lexer::Token;
use super::{Kind, is_complete, lex, parse_item, split};
use crate::base::Severity;

/// The commands of front ends whose operand is forms of NESL and nothing else. What stands behind
/// others is no program.
pub const FORM_COMMANDS: [&str; 8] =
    [":type", ":full", ":time", ":flatten", ":plot", ":scatter", ":histogram", ":heatmap"];

/// The commands whose operand may begin with a number, the times that the forms behind it run.
pub const COUNTED_COMMANDS: [&str; 1] = [":time"];

/// The commands, besides these, whose operand begins with a form, but is not always NESL as a whole.
const FORMS_BEGIN: [&str; 3] = [":cost", ":ir", ":kernels"];

/// The action for Enter, by what was typed before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed {
    /// The text is complete: run it.
    Whole,
    /// Run it once a `;` is put at its end.
    Unterminated,
    /// More is to come.
    Part,
}

/// Looks at what was typed. The last `;` may be left out where the form cannot go on, or is wrong
/// already; a blank line at the end says that it is all there is, so that nobody is ever stuck. A form on the
/// line of a command ends there unless something in it is open, such as a bracket.
pub fn typed(text: &str) -> Typed {
    if text.trim_start().starts_with(':') {
        let start = behind_commands(text, &|line| {
            let name = line.split(char::is_whitespace).next().unwrap_or("");
            let begun = |commands: &[&str]| commands.iter().any(|one| one.starts_with(name));
            form_start(line).or_else(|| {
                let operand = line[name.len()..].trim_start();
                let stage = word_before_form(operand).map_or(0, |(_, start)| start);
                (begun(&FORMS_BEGIN) && name.len() > 1)
                    .then_some(line.len() - operand.len() + stage)
            })
        });
        let rest = &text[start..];
        let is_on_its_line = !rest.starts_with('\n');
        let is_part = if is_on_its_line { goes_on(rest) } else { typed(rest) == Typed::Part };
        return if is_part { Typed::Part } else { Typed::Whole };
    }
    if is_blank(text) || is_complete(text) {
        return Typed::Whole;
    }
    let given_up = text.contains('\n') && text.trim_end_matches([' ', '\t']).ends_with('\n');
    let closed = terminated(text);
    if given_up {
        Typed::Whole
    } else if is_complete(&closed) && !lacks_its_end(&closed) {
        Typed::Unterminated
    } else {
        Typed::Part
    }
}

/// Returns the end of the operand of a command that begins with a form in a line that ends at `line_end`: the form
/// goes on below for as long as something in it is open.
pub fn operand_end(text: &str, form_start: usize, line_end: usize) -> usize {
    let mut end = line_end;
    while end < text.len() && goes_on(&text[form_start..end]) {
        end = text[end + 1..].find('\n').map_or(text.len(), |more| end + 1 + more);
    }
    end
}

/// Returns true if a form that begins on the line of a command goes on below: something in it is open. Some commands
/// take more than forms, such as the words between the forms of `:cost`, so for a bracket only its contents count.
fn goes_on(form: &str) -> bool {
    if typed(form) == Typed::Part {
        return !opened(form).0.is_empty();
    }
    open_bracket(form).is_some_and(|start| start > 0 && typed(&form[start..]) == Typed::Part)
}

/// Returns the byte of the outermost bracket that is open where a text ends, if there is one.
fn open_bracket(text: &str) -> Option<usize> {
    let mut open: Vec<(Kind, usize)> = Vec::new();
    for token in lex(text) {
        let opener = match token.kind {
            Kind::LParen | Kind::LBracket | Kind::LBrace => {
                open.push((token.kind, token.range.start().into()));
                continue;
            }
            Kind::RParen => Kind::LParen,
            Kind::RBracket => Kind::LBracket,
            Kind::RBrace => Kind::LBrace,
            _ => continue,
        };
        if let Some(at) = open.iter().rposition(|(kind, _)| *kind == opener) {
            open.truncate(at);
        }
    }
    open.first().map(|(_, start)| *start)
}

/// Returns true if a text is wrong whatever is added behind it. Texts that begin with a command are
/// not: what follows a command may be anything.
pub fn is_wrong(text: &str) -> bool {
    if text.trim_start().starts_with(':') || typed(text) == Typed::Part {
        return false;
    }
    let closed = close(text);
    let mut parsed = split(&closed).into_iter().map(|item| parse_item(&closed[item.range]));
    parsed.any(|parsed| parsed.diagnostics.iter().any(|d| d.severity == Severity::Error))
}

/// Returns what the next line of an incomplete text is indented by: two blanks for each bracket, `let`, branch of an
/// `if` and definition that is open where the text ends. A definition whose body begins in the line of its `=` has
/// no blanks of its own.
pub fn indentation(text: &str) -> String {
    let (mut open, last) = opened(text);
    if !matches!(last, Some(Kind::ThenKw | Kind::ElseKw)) {
        // The branch has begun, and what stands below it may be an `else`.
        while open.last() == Some(&Kind::ElseKw) {
            open.pop();
        }
        open.pop_if(|kind| *kind == Kind::ThenKw);
    }
    "  ".repeat(open.len())
}

/// Returns true if the innermost bracket, `let` or definition that is open where a text ends is a `let`: then its
/// `in` must follow.
pub fn ends_in_let(text: &str) -> bool {
    let (open, _) = opened(text);
    open.into_iter().rfind(|kind| !is_passing(*kind)) == Some(Kind::LetKw)
}

/// Returns true for what a `;` ends, and whatever closes what stands around it.
fn is_passing(kind: Kind) -> bool {
    matches!(kind, Kind::Equals | Kind::FatArrow | Kind::ThenKw | Kind::ElseKw)
}

/// Returns what is open where a text ends, from the outside to the inside, and its last token: brackets, `let`s,
/// `then`s and `else`s, and those signs behind which a body begins that end their line.
fn opened(text: &str) -> (Vec<Kind>, Option<Kind>) {
    let tokens = lex(text);
    let mut open: Vec<Kind> = Vec::new();
    let mut last = None;
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| !token.kind.is_trivia()) {
        let opener = match token.kind {
            Kind::RParen => Some(Kind::LParen),
            Kind::RBracket => Some(Kind::LBracket),
            Kind::RBrace => Some(Kind::LBrace),
            Kind::InKw => {
                let inner = open.iter().rposition(|kind| !is_passing(*kind));
                inner.map(|at| open[at]).filter(|kind| *kind == Kind::LetKw)
            }
            _ => None,
        };
        if let Some(at) = open.iter().rposition(|kind| Some(*kind) == opener) {
            open.truncate(at);
        }
        match token.kind {
            Kind::LParen | Kind::LBracket | Kind::LBrace | Kind::LetKw => open.push(token.kind),
            Kind::Semi | Kind::Dollar | Kind::Comma => {
                while open.pop_if(|kind| is_passing(*kind)).is_some() {}
            }
            Kind::Equals | Kind::FatArrow if ends_its_line(text, &tokens[at + 1..]) => {
                open.push(token.kind);
            }
            Kind::ThenKw => open.push(Kind::ThenKw),
            Kind::ElseKw => {
                while open.pop_if(|kind| *kind == Kind::ElseKw).is_some() {}
                open.pop_if(|kind| *kind == Kind::ThenKw);
                open.push(Kind::ElseKw);
            }
            // Of `else if` the branches stand level.
            Kind::IfKw if last == Some(Kind::ElseKw) => drop(open.pop()),
            _ => {}
        }
        last = Some(token.kind);
    }
    (open, last)
}

/// Returns true if nothing but comments stands in the line before these tokens.
fn ends_its_line(text: &str, below: &[Token]) -> bool {
    let trivia = below.iter().take_while(|token| token.kind.is_trivia());
    let blanks: usize = trivia.clone().count();
    blanks == below.len() || trivia.into_iter().any(|token| text[token.range].contains('\n'))
}

/// Returns the number that the operand of a command begins with, and the byte at which its forms begin;
/// `None` if the number is part of the first form: `3 sum(x)`, but not `3 + x`, `3` or `3; x`.
pub fn count_of(operand: &str) -> Option<(usize, usize)> {
    let digits = operand.find(|c: char| !c.is_ascii_digit())?;
    let count = operand[..digits].parse().ok()?;
    let start = begin_of_form(operand, digits)?;
    Some((count, start))
}

/// Returns the number that an operand begins with as [`count_of`] does, if it is one that counts nothing: one with a
/// sign, a point or too many digits.
pub fn wrong_count_of(operand: &str) -> Option<&str> {
    let word = operand.split(char::is_whitespace).next()?;
    begin_of_form(operand, word.len())?;
    let is_number = word.parse::<f64>().is_ok() && word.ends_with(|c: char| c.is_ascii_digit());
    (is_number && count_of(operand).is_none()).then_some(word)
}

/// Returns the word that the operand of a command begins with, and the byte at which its forms begin; `None` if the
/// word is part of the first form: `flat sum(x)`, but not `flat(x)`, `flat (x)` or `flat + x`.
pub fn word_before_form(operand: &str) -> Option<(&str, usize)> {
    let end = operand.find(char::is_whitespace)?;
    let is_name = matches!(&lex(&operand[..end])[..], [Token { kind: Kind::Name, .. }]);
    let start = begin_of_form(operand, end).filter(|_| is_name)?;
    // These are an argument, or an index.
    (!operand[start..].starts_with(['(', '['])).then_some((&operand[..end], start))
}

/// Returns the byte at which a form begins behind a word that ends at `end`; `None` if the word is part of the form.
fn begin_of_form(operand: &str, end: usize) -> Option<usize> {
    let rest = operand[end..].trim_start();
    let start = operand.len() - rest.len();
    let first = lex(rest).into_iter().find(|token| !token.kind.is_trivia())?;
    let begins_form = first.kind.is_operand()
        || first.kind.is_opening()
        || matches!(first.kind, Kind::IfKw | Kind::LetKw | Kind::FunctionKw | Kind::Hash);
    (start > end && begins_form).then_some(start)
}

/// Returns an entry as a program in which everything stands where it stood: with blanks instead of its
/// commands, though not of a form that the last command is given, and with the terminator that it may
/// lack.
pub fn as_program(text: &str) -> String {
    program_of(text, &form_start)
}

/// Returns the byte of a command's line from which on it holds forms; `None` if it holds none.
fn form_start(line: &str) -> Option<usize> {
    let name = line.split(char::is_whitespace).next().unwrap_or("");
    // A command may be shortened.
    let begun = |commands: &[&str]| commands.iter().any(|command| command.starts_with(name));
    let counted = count_of(line[name.len()..].trim_start()).filter(|_| begun(&COUNTED_COMMANDS));
    let start = match counted {
        Some((_, start)) => line.len() - line[name.len()..].trim_start().len() + start,
        None => name.len(),
    };
    (begun(&FORM_COMMANDS) && name.len() > 1).then_some(start)
}

/// Returns an entry as [`as_program`] does. `form_start` gives the byte of a command's line from which on
/// it holds forms; `None` if it holds none.
pub fn program_of(text: &str, form_start: &dyn Fn(&str) -> Option<usize>) -> String {
    let start = behind_commands(text, form_start);
    let mut out = String::with_capacity(text.len() + 1);
    out.extend(text[..start].bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }));
    let rest = &text[start..];
    out.push_str(rest);
    if is_blank(rest) || is_complete(&out) {
        return out;
    }
    // Behind it there are only blanks, which may move.
    out.insert(out.trim_end().len(), ';');
    out
}

/// Returns the byte behind the commands of an entry, or that at which the form begins that the last of them is given.
fn behind_commands(text: &str, form_start: &dyn Fn(&str) -> Option<usize>) -> usize {
    let mut start = 0;
    loop {
        let begin = text.len() - text[start..].trim_start().len();
        if !text[begin..].starts_with(':') {
            return start;
        }
        let line = text[begin..].find('\n').map_or(text.len(), |end| begin + end);
        let form = form_start(&text[begin..line]).map(|form| begin + form);
        start = form.map_or(line, |form| operand_end(text, form, line));
        if let Some(form) = form.filter(|_| is_blank(&text[start..])) {
            return form;
        }
    }
}

/// The text with the terminator it may lack.
pub fn close(text: &str) -> String {
    if is_blank(text) || is_complete(text) { text.to_string() } else { terminated(text) }
}

/// The terminator goes on the same line where possible, so that messages about the end of the
/// text point at something a person wrote.
fn terminated(text: &str) -> String {
    format!("{};", text.trim_end_matches([' ', '\n', '\r', '\t']))
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Returns true if all that is wrong with a text is that something is missing before its terminator.
fn lacks_its_end(text: &str) -> bool {
    let mut errors = split(text).into_iter().flat_map(|item| {
        let start = usize::from(item.range.start());
        let parsed = parse_item(&text[item.range]);
        let places = parsed.diagnostics.into_iter().filter(|d| d.severity == Severity::Error);
        places.map(move |d| start + usize::from(d.primary.at.end())).collect::<Vec<_>>()
    });
    errors.next().is_some_and(|first| first >= text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_runs_what_cannot_go_on() {
        for text in ["1 + 2", "1 + 2;", "x = 3; x", "`;", ":type 1 +", "", "function f1(x) = x"] {
            assert_ne!(typed(text), Typed::Part, "{text}");
        }
        for text in
            [":type", ":doc {", ":time {x : x in y}", ":time\n1 + 2", ":ir nosuch x", ":vars"]
        {
            assert_eq!(typed(text), Typed::Whole, "{text}");
        }
        // Wrong already; more would not help.
        for text in ["{a * a : a of [1]}", "1 + * 2", "x = 3 4 )"] {
            assert_ne!(typed(text), Typed::Part, "{text}");
        }
    }

    #[test]
    fn a_text_is_wrong_if_nothing_helps() {
        for text in ["1 + * 2", "x = 3 4 )", "{a * a : a of [1]}", "1 + 2; )"] {
            assert!(is_wrong(text), "{text}");
        }
        for text in ["1 + 2", "1 +", "x = 3; x", ":type )", "", "function f1(x) =", "% a %"] {
            assert!(!is_wrong(text), "{text}");
        }
    }

    #[test]
    fn what_is_begun_goes_on() {
        let begun = [
            "1 +",
            "(1",
            "function f1(x) =",
            "if t then 1",
            "let x = 1;",
            "let x = 1",
            "\"a",
            "% a",
            ":time {x :",
            ":ti 10 {x :",
            ":time\n{x :",
            ":ir flat {x :",
            ":cost e given n = [1,",
            ":cost sum(xs) given xs = [1]; ys = {x :",
            ":vars\n:full {x :\n x in",
            ":vars\n(1",
        ];
        for text in begun {
            assert_eq!(typed(text), Typed::Part, "{text}");
            assert_ne!(typed(&format!("{text}\n")), Typed::Part, "{text} and a blank line");
        }
    }

    #[test]
    fn the_next_line_is_indented_by_what_is_open() {
        for (text, blanks) in [
            ("function f1(x) =", 2),
            ("{a +", 2),
            ("function f1(x) =\n  let y = {", 6),
            ("let y = 1 in", 0),
            ("function f1(x) = {", 2),
            ("function f1(x) =\n  if x then", 4),
            ("function f1(x) =\n  if x then\n    1", 2),
            ("function f1(x) =\n  if x then\n    1\n  else", 4),
            ("function f1(x) =\n  if x then\n    if y then", 6),
            ("function f1(x) =\n  if x then\n    if y then\n      1\n    else", 6),
            ("function f1(x) =\n  if x then\n    if y then\n      1\n    else\n      2", 2),
            ("function f1(x) =\n  if x then\n    1\n  else if y then", 4),
            ("function f1(x) =\n  let", 4),
            ("function f1(x) =\n  let\n    y = x;", 4),
            ("function f1(x) =\n  let\n    y =", 6),
            ("function f1(x) =\n  let\n    y = x;\n  in", 2),
            ("function f1(x) = % a note %\n", 2),
            ("function f1(x) =\n  x;", 0),
            ("x = 1;\nfunction f1(x) =", 2),
            ("% a comment ( %", 0),
            ("(1)]", 0),
        ] {
            assert_eq!(indentation(text).len(), blanks, "{text}");
        }
    }

    #[test]
    fn a_let_without_its_in_is_open() {
        for text in ["let", "let y = 1;", "(let y = 1", "let y =\n  if t then 1"] {
            assert!(ends_in_let(text), "{text}");
        }
        for text in ["let y = 1 in", "let y = (1", "1", "let y = 1 in y"] {
            assert!(!ends_in_let(text), "{text}");
        }
    }

    #[test]
    fn commands_become_blanks_and_nothing_moves() {
        for (text, program) in [
            ("1 + 2", "1 + 2;"),
            ("1 + 2 \n ", "1 + 2; \n "),
            ("x = 3; x\n", "x = 3; x;\n"),
            (":vars\nx = 3;", "     \nx = 3;"),
            (":set precision 32\n:time sum(x)\ny", "                 \n            \ny;"),
            (":time\nsum(x)", "     \nsum(x);"),
            (":ti sum(é) ", "    sum(é); "),
            (":time 10 sum(x)", "         sum(x);"),
            (":time 10 + x", "      10 + x;"),
            (":type 10 x", "      10 x;"),
            (":full sum(x)", "      sum(x);"),
            (":full", "     "),
            (":load f", "       "),
            (":time {x :\n x in y}", "      {x :\n x in y};"),
            (":time {x :\n x in y}\nz", "          \n        \nz;"),
            (":", " "),
        ] {
            assert_eq!(as_program(text), program, "{text:?}");
        }
    }

    #[test]
    fn a_count_stands_before_forms_and_is_no_part_of_them() {
        for (operand, count) in [
            ("10 sum(x)", Some((10, 3))),
            ("3 [1, 2]", Some((3, 2))),
            ("3 #xs", Some((3, 2))),
            ("2 4", Some((2, 2))),
            ("3 + 4", None),
            ("3 -x", None),
            ("3 and t", None),
            ("3", None),
            ("3; x", None),
            ("3.5 x", None),
            ("x", None),
        ] {
            assert_eq!(count_of(operand), count, "{operand}");
        }
    }

    #[test]
    fn a_terminator_is_added_only_if_it_lacks() {
        assert_eq!(close("1 + 2"), "1 + 2;");
        assert_eq!(close("1 + 2;\n"), "1 + 2;\n");
        assert_eq!(close("`;"), "`;;");
        assert_eq!(close("3 % three %"), "3 % three %;");
    }
}
