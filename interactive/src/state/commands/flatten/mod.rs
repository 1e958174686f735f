//! `:flatten`: what flattening makes of a form, step by step, on a small value.
//!
//! The steps come from [`nesl_core::explain::segments`], as those of the editors' view do. A value is
//! drawn as flat data below bars, which are the segments of its levels of nesting.
//!
//! | file | contents |
//! |---|---|
//! | `plan` | where the bars and the data of a value stand |
//! | `svg`, `text` | the plan as a picture, and in letters |

mod plan;
mod svg;
mod text;

use super::{Call, Command, Operand};
use crate::bundle::{Bundle, escaped};
use crate::css::{CODE, DIM};
use crate::output::{Outcome, Output, Problem};
use crate::state::State;
use crate::text::wrapped;
use nesl_core::base::{Diagnostic, TextSize};
use nesl_core::explain::{self, Layout, SegmentStep, SegmentedValue, Segments};
use nesl_core::syntax::{RawKind, split};
use nesl_engine::FileRange;
use std::fmt::Write;

/// The legend of the pictures.
const LEGEND: &str = "Boxes are the flat data, in the colour of their segment. A bar above is a segment, \
                      with its length; each level of nesting is a row of bars. A dashed bar is an empty segment: it takes part, and takes \
                      no data.";

/// The same for pictures in letters.
const TEXT_LEGEND: &str = "Below each line of lengths are the segments of the next level of nesting, and \
                           below the last the flat data. A dot is an empty segment: it takes part, and \
                           takes no data.";

/// The end of the legend if there are views.
const VIEW_LEGEND: &str = "A bar below is a view: a segment of data that others may share.";

/// The width of the legend, in characters.
const LEGEND_COLUMNS: usize = 90;

pub(super) static FLATTEN: Command = Command {
    name: ":flatten",
    operand: Operand::Forms,
    usage: "FORM",
    about: "what flattening makes of a form, step by step, drawn on a small value",
    doc: "`:flatten {sum(r) : r in [[2, 1], [3]]}` runs an expression as the flattened program does, and \
          draws what each step uses and makes: the flat data, and the segments that nest it. The name of \
          a function shows it on the example of its documentation, on a call, or on a small value of its \
          type.",
    run: |state, call| match found(state, call) {
        Ok(found) => {
            state.show(Output::Answer(shown(&found)));
            Outcome::Done
        }
        Err(NoSteps::Errors(diagnostics)) => state.fail_all(&diagnostics),
        Err(NoSteps::Why(why)) => {
            state.fail(Problem::of_command(format!("there is no picture: {why}")))
        }
    },
};

/// Why there is nothing to draw.
enum NoSteps {
    /// The form has errors.
    Errors(Vec<Diagnostic<FileRange>>),
    /// A reason in words.
    Why(String),
}

/// Returns the steps of the form, or of the function of that name.
fn found(state: &mut State, call: &Call<'_>) -> Result<Segments, NoSteps> {
    let precision = state.session.settings().precision;
    let name = call.operand.trim_end_matches(';').trim_end();
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let definition = if is_name { state.session.definition(name) } else { None };
    let found = match definition.and_then(|definition| definition.at) {
        Some(at) => {
            let start = crate::text::own_start(&state.session.source(at.file).1, &at.range);
            explain::segments(state.session.database(), at.file, size(start), precision)
        }
        None => {
            let text = call.program(&mut state.session, 0, call.operand);
            state.session.type_of(call.entry, &text).map_err(NoSteps::Errors)?;
            let forms = split(&text);
            let last = forms.iter().rev().find(|form| form.kind != RawKind::Blank);
            let range = last.map_or(0..0, |form| form.range.into());
            let start = crate::text::own_start(&text, &range);
            let (db, file) = state.session.look(call.entry, &text);
            explain::segments(db, file, size(start), precision)
        }
    };
    found.map_err(NoSteps::Why)
}

fn size(at: usize) -> TextSize {
    TextSize::try_from(at).unwrap_or_default()
}

/// Returns the steps as text and in HTML.
fn shown(found: &Segments) -> Bundle {
    let mut ansi = format!("\x1b[1m{}\x1b[0m\n", found.subject);
    let mut html = format!("{}<ol>", line(&found.subject, ""));
    for (number, step) in found.steps.iter().enumerate() {
        let _ = write!(ansi, "\n\x1b[1m{}. {}\x1b[0m\n", number + 1, step.title);
        for line in step.code.lines() {
            let _ = writeln!(ansi, "   \x1b[2m{line}\x1b[0m");
        }
        let _ = write!(
            html,
            "<li style=\"margin:.8em 0\"><b>{}</b>{}",
            quoted(&step.title),
            line(&step.code, "margin:.3em 0 .6em;opacity:.6")
        );
        html += "<div style=\"display:flex;flex-wrap:wrap;gap:1em 2em;align-items:flex-end\">";
        flow(step, &mut ansi, &mut html);
        html += "</div></li>";
    }
    let values = |step: &SegmentStep| step.inputs.iter().chain(&step.output).any(has_views);
    let views = if found.steps.iter().any(values) { VIEW_LEGEND } else { "" };
    let legend = wrapped(&format!("{TEXT_LEGEND} {views}"), LEGEND_COLUMNS);
    let _ = write!(ansi, "\n\x1b[2m{}\x1b[0m", legend.trim_end());
    let _ = write!(html, "</ol><p><small>{LEGEND} {views}</small></p>");
    Bundle::colored(ansi).with_html(html)
}

/// Adds what goes into a step and what comes out; once, if that is the same data under another name.
fn flow(step: &SegmentStep, ansi: &mut String, html: &mut String) {
    let SegmentStep { inputs, output, .. } = step;
    if let (Some(output), [input]) = (output, &inputs[..])
        && is_same_data(input, output)
    {
        let ty = if input.ty == output.ty { "" } else { &*output.ty };
        let naming = format!("{} → {} {ty}", naming(input), output.name);
        value(naming.trim_end(), output, Some("the same data, the same lengths"), ansi, html);
        return;
    }
    for input in inputs {
        value(&naming(input), input, None, ansi, html);
    }
    if let Some(output) = output {
        let arrow = if inputs.is_empty() { "" } else { "→ " };
        value(&format!("{arrow}{}", naming(output)), output, None, ansi, html);
    }
}

/// Returns true for a value whose segments are views, which are drawn below the data.
fn has_views(value: &SegmentedValue) -> bool {
    value.levels.iter().any(|level| level.kind == Layout::Views)
}

fn naming(value: &SegmentedValue) -> String {
    format!("{} : {}", value.name, value.ty)
}

/// Adds a value under a caption.
fn value(
    caption: &str,
    value: &SegmentedValue,
    note: Option<&str>,
    ansi: &mut String,
    html: &mut String,
) {
    let without_blanks = |text: &str| text.split_whitespace().collect::<String>();
    let is_said = without_blanks(&value.value) == without_blanks(&value.name);
    let equals = if is_said { String::new() } else { format!(" = {}", value.value) };
    let _ = writeln!(ansi, "   {caption}{equals}");
    for line in text::draw(value).lines() {
        let _ = writeln!(ansi, "     {line}");
    }
    if let Some(note) = note {
        let _ = writeln!(ansi, "     \x1b[2m{note}\x1b[0m");
    }
    let picture = svg::draw(value);
    let _ = write!(html, "<div>{}<div style=\"margin:.3em 0\">{picture}</div>", line(caption, ""));
    if !is_said {
        *html += &line(&value.value, "");
    }
    if !value.levels.is_empty() {
        *html += &line(&lengths(value), DIM);
    }
    *html += &note.map_or(String::new(), |note| line(note, DIM));
    html.push_str("</div>");
}

/// Returns lines of code in HTML, with more rules of style.
fn line(text: &str, style: &str) -> String {
    format!("<div style=\"{CODE};white-space:pre-wrap;{style}\">{}</div>", escaped(text))
}

/// Returns the lengths, from the outermost level inwards: what is stored beside the data.
fn lengths(value: &SegmentedValue) -> String {
    let mut out = String::from("lengths");
    for level in &value.levels {
        let _ = write!(out, " {:?}", level.lengths);
        match level.kind {
            Layout::Regular => out += " regular",
            Layout::Views => {
                let _ = write!(out, " views from {:?}", level.starts);
            }
            Layout::Contiguous | Layout::Given => {}
        }
    }
    out
}

fn is_same_data(a: &SegmentedValue, b: &SegmentedValue) -> bool {
    let levels = |value: &SegmentedValue| -> Vec<(Vec<u32>, Vec<u32>)> {
        let levels = value.levels.iter();
        levels.map(|level| (level.lengths.clone(), level.starts.clone())).collect()
    };
    a.data == b.data && levels(a) == levels(b)
}

/// Returns text in HTML, with what stands in back-quotes set as code.
fn quoted(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| match at % 2 {
        1 => format!("<code>{}</code>", escaped(part)),
        _ => escaped(part),
    });
    parts.collect()
}
