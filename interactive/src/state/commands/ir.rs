//! `:ir`: a form as a stage of the compiler sees it.

use super::{Call, Command, Operand};
use crate::bundle::{Bundle, without_colors};
use crate::html::of_ansi;
use crate::output::{Outcome, Output, Problem};
use crate::state::State;
use crate::table::Table;
use crate::text::{Lines, visible};
use nesl_core::base::Diagnostic;
use nesl_core::syntax::entry::word_before_form;
use nesl_core::syntax::excerpt;
use nesl_engine::{FileRange, Stage, StageText};
use std::fmt::Write;

/// The stage that is shown if none is named.
const DEFAULT_STAGE: &str = "ir";

/// The number of lines above which the text is folded in HTML.
const MAX_UNFOLDED_LINES: usize = 40;

/// The column of the source lines at most, in characters: longer lines have theirs right behind them.
const MAX_SOURCE_COLUMN: usize = 76;

/// The length of a piece of the source at the end of a line, in characters.
const SNIPPET_CHARS: usize = 40;

pub(super) static IR: Command = Command {
    name: ":ir",
    operand: Operand::Stage,
    usage: "[STAGE] [FORM]",
    about: "a form as a stage of the compiler sees it",
    doc: "`:ir` lists the stages; `:ir fused {x * x : x in [0:9]}` shows one, `:ir kir dot` that of a function \
          that was defined. Without a stage it is the core language, `ir`. At the end of a line stands \
          where it comes from. A function that takes any type is shown at `int`. The form may be the \
          rest of the entry.",
    run: |state, call| {
        let (word, rest) =
            call.operand.split_once(char::is_whitespace).unwrap_or((call.operand, ""));
        let (stage, form) = match state.setup.runtime.stages.find(word) {
            Some(stage) => (stage, rest.trim_start()),
            // Two words that stand side by side are no form.
            None if let Some((word, _)) = word_before_form(call.operand) => {
                let names: Vec<&str> =
                    state.setup.runtime.stages.iter().map(|s| s.name()).collect();
                let message = format!("there is no stage `{word}`; there are {}", names.join(", "));
                return state.fail(Problem::of_command(message));
            }
            None => (Stage::of(state.setup.runtime.stages, DEFAULT_STAGE), call.operand),
        };
        if call.operand.is_empty() {
            state.show(Output::Answer(stages(state)));
            return Outcome::Done;
        }
        if form.is_empty() {
            let message = format!("write a form behind the stage: `:ir {} FORM`", stage.name());
            return state.fail(Problem::of_command(message));
        }
        let (name, first_line, shown) = compiled(state, call, stage, form);
        match shown {
            Ok(shown) => {
                let bundle = shown_stage(state, stage, &shown, &name, first_line);
                state.show(Output::Answer(bundle));
                Outcome::Done
            }
            Err(diagnostics) => state.fail_all(&diagnostics),
        }
    },
};

/// Returns the table of the stages.
fn stages(state: &State) -> Bundle {
    let mut table = Table::new(&["stage", "about"]);
    for stage in state.setup.runtime.stages.iter() {
        table.row([stage.name().to_owned(), stage.about().to_owned()]);
    }
    table.bundle_in(state.width())
}

/// A text at a stage, or what is wrong with it.
type Staged = Result<StageText, Vec<Diagnostic<FileRange>>>;

/// Returns a form at a stage, with the name of its source and the number of lines above it there. A name
/// stands for its definition.
fn compiled(
    state: &mut State,
    call: &Call<'_>,
    stage: Stage,
    form: &str,
) -> (String, usize, Staged) {
    let name = form.trim_end_matches(';').trim_end();
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let definition = if is_name { state.session.definition(name) } else { None };
    if let Some(at) = definition.and_then(|definition| definition.at)
        && let Some(shown) = state.session.stage_of_definition(name, stage)
    {
        return (state.session.source(at.file).0.to_string(), 0, shown);
    }
    let above = &call.whole[..call.whole.len() - form.len().min(call.whole.len())];
    let first_line = above.matches('\n').count();
    let text = state.session.closed(form);
    let mut shown = state.session.stage(call.entry, &text, stage, None);
    if shown.is_err() {
        // Errors are shown where they stand in the entry.
        let start = call.operand.len() - form.len();
        let text = call.program(&mut state.session, start, form);
        shown = state.session.stage(call.entry, &text, stage, None);
    }
    (call.entry.to_owned(), first_line, shown)
}

/// Returns a stage with its colours, and the source beside it.
fn shown_stage(
    state: &State,
    stage: Stage,
    shown: &StageText,
    name: &str,
    first_line: usize,
) -> Bundle {
    let lines: Vec<(&str, Option<&FileRange>)> = located(shown);
    let widths = lines.iter().filter(|(_, source)| source.is_some());
    let widths = widths.map(|(line, _)| line.chars().count());
    let column = widths.filter(|width| *width <= MAX_SOURCE_COLUMN).max().unwrap_or(0);
    let (mut text, mut last) = (String::new(), None);
    for (line, source) in &lines {
        text += &colored(&visible(line));
        if let Some(source) = source.filter(|source| last != Some(*source)) {
            let width = line.chars().count();
            let blanks = " ".repeat(column.saturating_sub(width) + 2);
            let _ =
                write!(text, "{blanks}\x1b[2m│ {}\x1b[0m", origin(state, source, name, first_line));
            last = Some(source);
        }
        text.push('\n');
    }
    let text = text.trim_end();
    let open = if lines.len() <= MAX_UNFOLDED_LINES { " open" } else { "" };
    let count =
        if lines.len() == 1 { "1 line".to_owned() } else { format!("{} lines", lines.len()) };
    let html = format!(
        "<details{open}><summary>{} <small>({count}; {})</small></summary>{}</details>",
        stage.title(),
        crate::bundle::escaped(stage.about()),
        of_ansi(text)
    );
    let plain = without_colors(text);
    Bundle { ansi: Some(text.to_owned()), ..Bundle::text(plain) }.with_html(html)
}

/// Returns the lines of a stage with the places that they come from.
fn located(shown: &StageText) -> Vec<(&str, Option<&FileRange>)> {
    let (mut notes, mut start) = (shown.notes.iter().peekable(), 0);
    let text = shown.text.trim_end();
    let lines = text.split('\n').map(|line| {
        let end = start + line.len();
        let mut source = None;
        while let Some((_, at)) = notes.next_if(|(at, _)| *at <= end) {
            source = source.or(Some(at));
        }
        start = end + 1;
        (line, source)
    });
    lines.collect()
}

/// Returns where a line comes from: the number of the source line, and what stands there.
fn origin(state: &State, source: &FileRange, name: &str, first_line: usize) -> String {
    let (file, text) = state.session.source(source.file);
    let piece = text.get(source.range.clone()).unwrap_or("").trim();
    let piece = excerpt(piece.lines().next().unwrap_or(""), SNIPPET_CHARS);
    let line = Lines::new(text.clone()).position(source.range.start).line;
    if *file == *name {
        format!("{}: {}", line + first_line, visible(&piece))
    } else {
        format!("{}:{line}: {}", visible(&file), visible(&piece))
    }
}

/// Words of the stages that structure the text.
const KEYWORDS: [&str; 22] = [
    "fn", "let", "in", "if", "then", "else", "kernel", "module", "each", "return", "where", "for",
    "function", "of", "after", "block", "loop", "filter", "elements", "space", "main", "call",
];

/// The types of the core language and of kernels.
const TYPES: [&str; 11] =
    ["int", "float", "bool", "char", "unit", "i32", "i64", "f32", "f64", "u8", "nested"];

/// Returns a line with the colours of a terminal.
fn colored(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (length, color) = if rest.starts_with("//") {
            (rest.len(), "2")
        } else if first == '%' {
            (rest[1..].find('%').map_or(rest.len(), |at| at + 2), "2")
        } else if first == '"' {
            (rest[1..].find('"').map_or(rest.len(), |at| at + 2), "32")
        } else if first.is_ascii_digit() {
            let part = |c: char| word(c) || c == '.';
            (rest.find(|c| !part(c)).unwrap_or(rest.len()), "36")
        } else if word(first) {
            let length = rest.find(|c| !word(c)).unwrap_or(rest.len());
            let color = match &rest[..length] {
                name if KEYWORDS.contains(&name) => "35",
                name if TYPES.contains(&name) => "34",
                _ if rest[length..].starts_with('(') => "33",
                _ => "",
            };
            (length, color)
        } else {
            (first.len_utf8(), "")
        };
        let piece = &rest[..length];
        match color {
            "" => out.push_str(piece),
            color => {
                let _ = write!(out, "\x1b[{color}m{piece}\x1b[0m");
            }
        }
        rest = &rest[length..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::colored;
    use crate::bundle::without_colors;

    #[test]
    fn colors_change_no_text() {
        for line in
            ["  v3: int in s2 = mul(v10, 1.5)", "// a % b", "\"open", "% open", "é → \"a\" %b% 7"]
        {
            assert_eq!(without_colors(&colored(line)), line);
        }
        assert_eq!(colored("let x"), "\x1b[35mlet\x1b[0m x");
    }
}
