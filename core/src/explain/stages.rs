//! A form at a stage of the compiler, each line of the text with its source range.

use super::form::{self, subject};
use super::summary;
use crate::base::{Loc, TextSize};
use crate::db::{Cursor, Database, FileId, FileRange, Form};
use crate::ir::Site;
use crate::pipeline::{self, Dump, Query, Run, Stage, dump};
use nesl_runtime::scalar::Precision;

/// A form, or all of a file, at a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageView {
    /// The name of the form: `function dot`, `line 12`; empty for all forms of the file.
    pub subject: String,
    /// The program at the stage, as text.
    pub text: String,
    /// The lines of the text whose source is known, in order.
    pub lines: Vec<Line>,
    /// The number of launches and the layouts of the form, in a few words; only for flat stages.
    pub summary: Option<String>,
}

/// A line of a view and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The number of the line in the text, counted from 0.
    pub line: u32,
    /// The source range that the line comes from.
    pub source: FileRange,
}

/// Returns the form at a byte offset of a file at a stage, or without an offset all forms of the
/// file.
///
/// # Errors
/// One line that says why there is nothing to show.
pub fn view(
    db: &Database,
    file: FileId,
    at: Option<TextSize>,
    stage: Stage,
    precision: Precision,
) -> Result<StageView, String> {
    if let Some(offset) = at {
        let nothing = || "there is no form here".to_owned();
        let cursor = Cursor::new(db, file, offset).ok_or_else(nothing)?;
        let form = db.form(cursor.item);
        let mut view = one(db, &form, stage, precision)?;
        view.subject = subject(db, &form);
        if matches!(stage.pass().run, Run::Flatten(_) | Run::Flat(_)) {
            view.summary = summary::headline(db, cursor.item, precision);
        }
        return Ok(view);
    }
    let mut all = StageView::default();
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

fn append(all: &mut StageView, view: StageView) {
    if !all.text.is_empty() {
        all.text.push('\n');
    }
    let before = all.text.matches('\n').count() as u32;
    all.text.push_str(&view.text);
    let shifted = view.lines.into_iter().map(|l| Line { line: l.line + before, ..l });
    all.lines.extend(shifted);
}

fn one(
    db: &Database,
    form: &Form,
    stage: Stage,
    precision: Precision,
) -> Result<StageView, String> {
    let item = form.id();
    let dump = match stage.pass().run {
        Run::Query(Query::Types) => dump::dump_types_in_order(db, item),
        Run::Query(query) => dump::dump_item(db, item, query),
        _ => {
            let elaborated = form::elaborated(db, item, None, precision)?;
            let dump = pipeline::dump(&elaborated, &pipeline::Options::at(precision), stage);
            dump::with_source_lines(db, dump)
        }
    };
    if dump.text.is_empty() {
        return Err("nothing is defined here".to_owned());
    }
    let lines = located(db, form, &dump);
    Ok(StageView { lines, text: dump.text, ..StageView::default() })
}

/// Returns the lines of a text that come from the form's own file, each once.
fn located(db: &Database, form: &Form, dump: &Dump) -> Vec<Line> {
    let own = db.file_of(form.id());
    let mut lines: Vec<Line> = Vec::new();
    let (mut line, mut counted) = (0, 0);
    for (at, site) in &dump.notes {
        line += dump.text[counted..*at].matches('\n').count() as u32;
        counted = *at;
        // Code that the compiler adds has no source range, and the library is in other files.
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
