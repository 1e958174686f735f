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
        if matches!(stage.pass().run, Run::Lower(_) | Run::Emit(_)) {
            let name = form.names.first().map_or("main", |name| name.folded());
            view = arranged(&view, name);
        }
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

/// Arranges the kernels of a form for a reader: those that are launched for the form itself, then those of functions
/// that it calls, then what is done without a launch. Code that nothing launches is left out.
fn arranged(view: &StageView, name: &str) -> StageView {
    let lines: Vec<&str> = view.text.lines().collect();
    // A kernel begins with two comments: its title, and how it comes to be launched.
    let is_comment = |at: usize| lines.get(at).is_some_and(|line| line.starts_with("% "));
    let is_start = |at: &usize| {
        is_comment(*at)
            && is_comment(at + 1)
            && at.checked_sub(1).is_none_or(|before| lines[before].is_empty())
    };
    let starts: Vec<usize> = (0..lines.len()).filter(is_start).collect();
    let mut parts: Vec<(u8, std::ops::Range<usize>)> = Vec::new();
    for (i, start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(lines.len());
        let title = &lines[*start][2..];
        let owner = title.split(['@', ' ', ',']).next().unwrap_or_default();
        let rank = match lines[start + 1] {
            reason if reason.starts_with("% not launched") => continue,
            reason if reason.starts_with("% no launch") => 2,
            _ => u8::from(!owner.eq_ignore_ascii_case(name)),
        };
        parts.push((rank, *start..end));
    }
    if parts.is_empty() {
        return view.clone();
    }
    parts.sort_by_key(|(rank, _)| *rank);
    let mut arranged = StageView::default();
    let mut count = 0;
    for (_, part) in parts {
        if count > 0 {
            arranged.text.push('\n');
            count += 1;
        }
        let end = part.start + lines[part.clone()].join("\n").trim_end().matches('\n').count() + 1;
        for line in &lines[part.start..end] {
            arranged.text.push_str(line);
            arranged.text.push('\n');
        }
        let own =
            view.lines.iter().filter(|line| (part.start..end).contains(&(line.line as usize)));
        let moved = own.map(|line| Line { line: line.line - part.start as u32 + count, ..*line });
        arranged.lines.extend(moved);
        count += (end - part.start) as u32;
    }
    arranged
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::fixture::Fixture;
    use crate::pipeline::Stages;

    /// The titles of the kernels that are shown for the form at the cursor.
    fn titles(text: &str) -> Vec<String> {
        let f = Fixture::new(text);
        let stage = Stages::with_backend(&[]).find("kir").expect("a stage");
        let view = view(&f.db, f.file, Some(f.cursor()), stage, Precision::Bits64).expect("a view");
        let lines: Vec<&str> = view.text.lines().collect();
        for line in &view.lines {
            assert!(!lines[line.line as usize].is_empty(), "a line with a source has a text");
        }
        let starts = (0..lines.len()).filter(|at| {
            lines[*at].starts_with("% ") && at.checked_sub(1).is_none_or(|b| lines[b].is_empty())
        });
        starts.map(|at| lines[at].to_owned()).collect()
    }

    #[test]
    fn point_15_kernels_of_the_form_come_first_and_code_that_is_not_launched_is_not_shown() {
        let shown = titles("$0function dot(a, b) = sum({x * y : x in a; y in b});");
        assert_eq!(
            shown,
            ["% dot@int kernel 1: a thread for each element of s1 %", "% dot@int kernel 0 %"]
        );
        let sort = "function qs(a) = if #a < 2 then a else let p = a[0]; less = {x in a | x < p}; \
                    more = {x in a | x > p} in flatten({qs(s) : s in [less, more]});\n";
        let shown = titles(&format!("{sort}$0qs([3, 1, 2]);"));
        assert!(shown[0].starts_with("% main kernel"), "{shown:?}");
        assert!(shown.iter().any(|title| title.starts_with("% qs@int kernel")), "{shown:?}");
        assert!(shown.iter().all(|title| !title.contains("whole program")), "{shown:?}");
    }
}
