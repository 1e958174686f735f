//! The program that a run is given, and the places that its values belong to.

use super::value::{Anchor, Fault, Texts, Value, own};
use crate::child::{add_form, definitions_above, name_of};
use crate::lines::Lines;
use crate::protocol::RunParams;
use crate::world::Snapshot;
use nesl_core::base::shorten;
use nesl_core::base::{ItemId, TextRange, TextSize};
use nesl_core::db::FileId;
use nesl_core::syntax::{RawKind, excerpt};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::sync::Arc;

/// The largest width of a value shown after a line, in characters.
const INLINE_CHARS: usize = 80;
/// The largest length of a value that is kept, in characters.
const KEPT_CHARS: usize = 4_000;

/// The text to be run, and the places that its values belong to.
pub struct Plan {
    /// The program, as NESL.
    pub text: String,
    /// The forms whose values are wanted.
    wanted: Vec<Wanted>,
    /// An expression that is not in the document.
    beyond: Option<Beyond>,
    /// The texts of the forms that the program consists of, as they are run.
    pub texts: Texts,
    /// The lines of the document, of which `above` lines of other cells come first in `text`.
    lines: Arc<Lines>,
    above: u32,
    /// The name of the program in what its process prints; what it loads has other names.
    source: String,
}

/// A form whose value is wanted.
struct Wanted {
    /// Its first and last line in the program, from 1.
    lines: (u32, u32),
    /// The first byte of its text in the document, without the blanks before it.
    start: TextSize,
    item: ItemId,
    text: Arc<str>,
    /// True if it has a value: it is no definition of a function.
    has_value: bool,
}

/// An expression that is evaluated after the document.
struct Beyond {
    /// The first line that it has in the program.
    line: u32,
    /// The place where its value is shown.
    anchor: Anchor,
    /// The expression, as it is shown before its value.
    written: String,
}

/// A line that `nesl run --json` prints.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Problem {
        problem: Problem,
    },
    Form(Form),
    /// Statistics, or an object of a later version.
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct Form {
    line: u32,
    name: String,
    #[serde(rename = "type")]
    ty: String,
    value: Option<String>,
    seconds: f64,
    work: Option<u64>,
    depth: Option<u64>,
}

#[derive(Deserialize)]
struct Problem {
    kind: String,
    message: String,
    severity: String,
    #[serde(flatten)]
    place: Place,
    #[serde(default)]
    labels: Vec<Label>,
    hints: Vec<Hint>,
}

/// Lines and columns from 1, columns in characters.
#[derive(Deserialize)]
struct Place {
    file: String,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Deserialize)]
struct Label {
    file: String,
    line: u32,
}

#[derive(Deserialize)]
struct Hint {
    text: String,
}

impl Plan {
    /// The document up to the end of the range, without expressions outside the range, behind the definitions of
    /// the cells above it.
    pub fn new(snapshot: &Snapshot, params: &RunParams) -> Plan {
        let (db, lines) = (&snapshot.db, &snapshot.lines);
        let range = params.range.map(|range| lines.range(range));
        let text = definitions_above(snapshot);
        let above = text.matches('\n').count() as u32;
        let mut plan = Plan {
            text,
            wanted: Vec::new(),
            beyond: None,
            texts: Arc::new(texts(snapshot)),
            lines: lines.clone(),
            above,
            source: name_of(&snapshot.uri),
        };
        for form in &db.outline(snapshot.file).forms {
            let text = db.item_text(form.id());
            let own = db.whole(form.id()).range;
            if range.is_some_and(|range| own.start() > range.end()) {
                break;
            }
            let touched = range.is_none_or(|range| range.intersect(own).is_some());
            // Behind the last form there may be blanks, on its line.
            let wanted = touched && params.expression.is_none() && form.kind != RawKind::Blank;
            add_form(&mut plan.text, &text, wanted || form.kind != RawKind::Expr);
            if wanted {
                let line = |at| lines.position(at).line;
                plan.wanted.push(Wanted {
                    lines: (above + line(own.start()) + 1, above + line(own.end()) + 1),
                    start: own.start(),
                    item: form.id(),
                    text: text.clone(),
                    has_value: matches!(form.kind, RawKind::Expr | RawKind::Binding),
                });
            }
        }
        if let Some(expression) = &params.expression {
            plan.text.push('\n');
            let line = plan.text.matches('\n').count() as u32 + 1;
            plan.text.push_str(expression);
            if !expression.trim_end().ends_with(';') {
                plan.text.push(';');
            }
            plan.text.push('\n');
            let end = || lines.position(TextSize::of(&*lines.text));
            let at = params.position.unwrap_or_else(end);
            let written = excerpt(expression.trim().trim_end_matches(';'), INLINE_CHARS);
            plan.beyond = Some(Beyond { line, anchor: Anchor::at(snapshot, at), written });
        }
        plan
    }

    /// The forms that will have a value, in order; the place of an expression that is none of them.
    pub fn expected(&self) -> Vec<Anchor> {
        let own = self.wanted.iter().filter(|wanted| wanted.has_value);
        let own = own.map(|wanted| Anchor::Form(wanted.item, wanted.text.clone()));
        own.chain(self.beyond.as_ref().map(|beyond| beyond.anchor.clone())).collect()
    }

    /// The value that a line of the process gives, if it is wanted.
    pub fn value(&self, line: &str) -> Option<Value> {
        match serde_json::from_str(line).ok()? {
            Line::Form(form) => {
                let mut value = of_form(&form, &self.texts)?;
                self.anchored(&[form.line], &mut value).then_some(value)
            }
            Line::Problem { problem } if problem.severity == "error" => {
                let mut value = of_problem(&problem, &self.texts);
                // An error inside a function is shown at the expression that has called it.
                let callers = problem.labels.iter().rev().map(|label| (&label.file, label.line));
                let all = callers.chain([(&problem.place.file, problem.place.line)]);
                let lines = all.filter(|(file, _)| **file == self.source).map(|(_, line)| line);
                let valued = |line: &u32| self.wanted(*line).is_some_and(|wanted| wanted.has_value);
                let (mut first, rest): (Vec<u32>, Vec<u32>) = lines.partition(valued);
                first.extend(rest);
                if !self.anchored(&first, &mut value) {
                    return None;
                }
                if problem.kind == "runtime" {
                    value.fault =
                        self.fault(&problem).or_else(|| elsewhere(&problem, &value.anchor));
                }
                Some(value)
            }
            Line::Problem { .. } | Line::Other(_) => None,
        }
    }

    fn wanted(&self, line: u32) -> Option<&Wanted> {
        let inside = |wanted: &&Wanted| (wanted.lines.0..=wanted.lines.1).contains(&line);
        self.wanted.iter().rfind(inside)
    }

    /// Says where a value is shown: at the first of some lines that is wanted.
    fn anchored(&self, lines: &[u32], value: &mut Value) -> bool {
        if let Some(beyond) = &self.beyond {
            if !lines.iter().any(|line| *line >= beyond.line) {
                return false;
            }
            value.anchor = beyond.anchor.clone();
            if !value.error {
                value.text = format!("{} {}", beyond.written, value.text);
            }
            return true;
        }
        let Some(wanted) = lines.iter().find_map(|line| self.wanted(*line)) else { return false };
        value.anchor = Anchor::Form(wanted.item, wanted.text.clone());
        true
    }

    /// The place of an error in a form of the document.
    fn fault(&self, problem: &Problem) -> Option<Fault> {
        if problem.place.file != self.source {
            return None;
        }
        let wanted = self.wanted(problem.place.line)?;
        let offset = |line: u32, column: u32| {
            let line = line.checked_sub(self.above + 1)?;
            Some(self.lines.offset_of_char(line, column.saturating_sub(1)))
        };
        let start = offset(problem.place.line, problem.place.column)?.checked_sub(wanted.start)?;
        let end = offset(problem.place.end_line, problem.place.end_column)?;
        let end = end.checked_sub(wanted.start)?.max(start);
        let (item, text) = (wanted.item, wanted.text.clone());
        Some(Fault {
            item,
            text,
            range: TextRange::new(start, end),
            message: problem.message.clone(),
        })
    }
}

/// An error in a file that is loaded, as one of the form which has called what is there.
fn elsewhere(problem: &Problem, caller: &Anchor) -> Option<Fault> {
    let Anchor::Form(item, text) = caller else { return None };
    let file = problem.place.file.rsplit(['/', '\\']).next().unwrap_or_default();
    let message = format!("{} (in `{file}`, line {})", problem.message, problem.place.line);
    let range = TextRange::up_to(TextSize::of(own(text)));
    Some(Fault { item: *item, text: text.clone(), range, message })
}

/// The texts of the forms of a document, of the cells above it and of the files that it loads.
fn texts(snapshot: &Snapshot) -> FxHashMap<ItemId, Arc<str>> {
    let db = &snapshot.db;
    let mut files: Vec<FileId> = snapshot.above.clone();
    files.push(snapshot.file);
    let mut texts = FxHashMap::default();
    let mut next = 0;
    while let Some(file) = files.get(next).copied() {
        next += 1;
        for form in &db.outline(file).forms {
            texts.insert(form.id(), db.item_text(form.id()));
            if let Some(loaded) = form.loads().then(|| db.loaded(form.id())).flatten()
                && !files.contains(&loaded)
            {
                files.push(loaded);
            }
        }
    }
    texts
}

fn of_form(form: &Form, texts: &Texts) -> Option<Value> {
    let value = form.value.clone().unwrap_or_else(|| "…".to_owned());
    let mut kept: String = value.chars().take(KEPT_CHARS).collect();
    if kept.len() < value.len() {
        kept.push('…');
    }
    Some(Value {
        text: format!("= {}", shorten(&value, INLINE_CHARS)),
        detail: format!("```nesl\n{} = {kept}\n```\n*{}*", form.name, form.ty),
        seconds: form.seconds,
        cost: form.work.zip(form.depth),
        ..Value::nowhere(texts.clone())
    })
}

fn of_problem(problem: &Problem, texts: &Texts) -> Value {
    let mut detail = problem.message.clone();
    for hint in &problem.hints {
        detail.push_str(&format!("\n\n*{}*", hint.text));
    }
    let text = shorten(&problem.message, INLINE_CHARS);
    Value { text, detail, error: true, ..Value::nowhere(texts.clone()) }
}
