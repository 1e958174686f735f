//! A form as a stage of the compiler sees it, each line with its source.

use super::form::{flattened, program, subject, type_of_name};
use super::summary;
use crate::base::{Loc, TextSize, shorten};
use crate::db::{Cursor, Database, FileId, FileRange, Form};
use crate::flat;
use crate::fuse::{Fuel, fuse};
use crate::ir::{self, Site};
use crate::lower;
use crate::simplify::simplify;
use crate::types::{Scheme, Ty, print_scheme};
use nesl_runtime::kir;
use nesl_runtime::scalar::Precision;
use std::fmt::Write;

/// What can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Every definition, pattern and expression with its type.
    Types,
    /// The core language.
    Ir,
    /// The same, simplified.
    Simple,
    /// Flattened.
    Flat,
    /// Fused: the kernels.
    Fused,
    /// The kernel language: what one instance does by itself.
    Kir,
}

impl Stage {
    /// Every stage, in the way of the data.
    pub const ALL: [Stage; 6] =
        [Stage::Types, Stage::Ir, Stage::Simple, Stage::Flat, Stage::Fused, Stage::Kir];

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Stage::Types => "Types",
            Stage::Ir => "Core",
            Stage::Simple => "Simplified",
            Stage::Flat => "Flat",
            Stage::Fused => "Fused",
            Stage::Kir => "Kernel language",
        }
    }
}

/// A form, or all of a file, at a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Which form: `function dot`, `line 12`; empty for all of them.
    pub subject: String,
    /// The text.
    pub text: String,
    /// Which of its lines come from where, in order; not every line does.
    pub lines: Vec<Line>,
    /// What the form costs, in a few words.
    pub summary: Option<String>,
}

/// A line of a view and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Counted from 0.
    pub line: u32,
    /// Where it comes from.
    pub source: FileRange,
}

/// Shows the form at a place of a file, or all forms of it. `Err` says in one line why there is
/// nothing to show.
pub fn view(
    db: &Database,
    file: FileId,
    at: Option<TextSize>,
    stage: Stage,
    precision: Precision,
) -> Result<View, String> {
    if let Some(offset) = at {
        let nothing = || "there is no form here".to_owned();
        let cursor = Cursor::new(db, file, offset).ok_or_else(nothing)?;
        let form = db.form(cursor.item);
        let mut view = one(db, &form, stage, precision)?;
        view.subject = subject(db, &form);
        if matches!(stage, Stage::Flat | Stage::Fused) {
            view.summary = summary::headline(db, cursor.item, precision);
        }
        return Ok(view);
    }
    let mut all = View::default();
    let mut why = None;
    for form in &db.outline(file).forms {
        match one(db, form, stage, precision) {
            Ok(view) => append(&mut all, view),
            Err(reason) => why = why.or(Some(reason)),
        }
    }
    match why {
        Some(why) if all.text.is_empty() => Err(why),
        _ => Ok(all),
    }
}

fn append(all: &mut View, view: View) {
    if !all.text.is_empty() {
        all.text.push('\n');
    }
    let before = all.text.matches('\n').count() as u32;
    all.text.push_str(&view.text);
    let shifted = view.lines.into_iter().map(|l| Line { line: l.line + before, ..l });
    all.lines.extend(shifted);
}

fn one(db: &Database, form: &Form, stage: Stage, precision: Precision) -> Result<View, String> {
    if stage == Stage::Types {
        return typed(db, form);
    }
    let program = program(db, form.id(), precision)?;
    let (text, notes) = match stage {
        Stage::Types | Stage::Ir => ir::print_located(&program),
        Stage::Simple => ir::print_located(&simplify(&program)),
        Stage::Flat | Stage::Fused => {
            let flat = flattened(&program);
            let flat = if stage == Stage::Fused { fuse(&flat, Fuel(None)) } else { flat };
            flat::print_located(&flat)
        }
        Stage::Kir => {
            let lowered = lower::sequential(&simplify(&program), precision, 0).map_err(
                |_| "the direct interpreter does this: it needs files, a screen or a clock",
            )?;
            let text = kir::print(&lowered.module);
            let notes = checks(&text, &lowered);
            (text, notes)
        }
    };
    Ok(View { lines: located(db, form, &text, &notes), text, ..View::default() })
}

/// Checks know their source, other instructions of kir do not.
fn checks(text: &str, lowered: &lower::Lowered) -> Vec<(usize, Site)> {
    let mut notes = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let number = |rest: &str| {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            rest[..end].parse::<usize>().ok()
        };
        let cause = line.split_once(" @").and_then(|(_, rest)| number(rest));
        if let Some(cause) = cause.and_then(|n| lowered.fault_sites.get(n)) {
            notes.push((at, cause.site));
        }
        at += line.len();
    }
    notes
}

/// The lines of a text that come from a form's own file.
fn located(db: &Database, form: &Form, text: &str, notes: &[(usize, Site)]) -> Vec<Line> {
    let own = db.file_of(form.id());
    let mut lines: Vec<Line> = Vec::new();
    let (mut line, mut counted) = (0, 0);
    for (at, site) in notes {
        line += text[counted..*at].matches('\n').count() as u32;
        counted = *at;
        // What the compiler has added has no place.
        if site.item == Site::NONE.item || db.is_library(site.item) || db.file_of(site.item) != own
        {
            continue;
        }
        let source = db.place(Loc { item: site.item, span: site.span });
        if lines.last().is_none_or(|last| last.line != line) {
            lines.push(Line { line, source });
        }
    }
    lines
}

/// Every definition, pattern and expression of a form with its type.
fn typed(db: &Database, form: &Form) -> Result<View, String> {
    let item = form.id();
    let (types, ast, parsed) = (db.types(item), db.ast(item), db.parsed(item));
    let text = db.item_text(item);
    let show = |ty: &Ty| print_scheme(&Scheme { vars: types.vars.clone(), ty: ty.clone() });
    let mut view = View::default();
    for name in form.names.iter() {
        if let Some(ty) = type_of_name(db, item, name) {
            let _ = writeln!(view.text, "{name} : {ty}");
        }
    }
    let mut all: Vec<(crate::base::Span, String)> = Vec::new();
    all.extend(types.pats.iter().map(|(pat, ty)| (ast.pat_spans[pat], show(ty))));
    all.extend(types.exprs.iter().map(|(expr, ty)| (ast.expr_spans[expr], show(ty))));
    all.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
    all.dedup();
    for (span, ty) in all {
        let line = view.text.matches('\n').count() as u32;
        let snippet = shorten(&text[parsed.range(span)], 40);
        let _ = writeln!(view.text, "  {snippet:<42} {ty}");
        view.lines.push(Line { line, source: db.place(Loc { item, span }) });
    }
    if view.text.is_empty() {
        return Err("nothing is defined here".to_owned());
    }
    Ok(view)
}
