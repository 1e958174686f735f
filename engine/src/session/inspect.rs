//! Inspection of programs without running them: types, documentation, completion, stages of the compiler.

use super::{CheckReport, Completion, FileRange, Session, Settings, is_error, located, place, run};
use nesl_core::base::{Diagnostic, DiagnosticKind, Loc, Name, with_stack};
use nesl_core::db::{Before, FileId, Form};
use nesl_core::explain::{example, takes_functions};
use nesl_core::ir::Site;
use nesl_core::names::Resolution;
use nesl_core::pipeline::dump::{Dump, dump_item, with_source_lines};
use nesl_core::pipeline::{self, Options, Query, Run, Stage};
use nesl_core::prelude::parse_doc;
use nesl_core::syntax;
use nesl_core::syntax::RawKind;
use nesl_core::syntax::ast::ItemKind;
use nesl_core::types::{Signature, Ty};
use rustc_hash::FxHashSet;
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A text at a stage of the compiler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageText {
    /// The text of the stage.
    pub text: String,
    /// Pairs of a byte offset in the text and the place that the line comes from that begins there, in
    /// order.
    pub notes: Vec<(usize, FileRange)>,
}

/// The documentation of `time`, which is not a function but a part of the syntax.
const TIME: &str = "\
time : a -> (a, float) :: (a in any)

Returns the value of an expression and the seconds that computing it took. It may not be in another
`time`.

Example: let (x, seconds) = time(sum([0:1000])) in x → 499500
";

/// The text between two functions of a core program.
const BETWEEN_FUNCTIONS: &str = "\n\nfn ";

impl Session {
    /// Checks texts, each with its name, without running them: a report for each. Each sees what those
    /// before it define, as if they were entered in order; no later entry sees any of it. The files
    /// that they load are checked with them.
    pub fn check(&mut self, texts: &[(&str, &str)]) -> Vec<CheckReport> {
        let mut before = self.last;
        let mut known = FxHashSet::default();
        let mut reports = Vec::with_capacity(texts.len());
        for (name, text) in texts {
            let file = self.db.add_file(name, text, before);
            self.set_source(file, name, text);
            let mut report = CheckReport { diagnostics: Vec::new(), definitions: Vec::new() };
            self.while_loading(Path::new(name), |session| {
                session.find_loads(file);
                session.check_file(file, &mut report);
            });
            for form in self.db.outline(file).forms.clone() {
                if self.db.diagnostics(form.id()).iter().any(is_error) {
                    continue;
                }
                for name in form.names.iter() {
                    let ty = self.type_of_name(form.id(), name);
                    report.definitions.push((name.to_string(), ty));
                }
            }
            // A file that is loaded twice has its problems once.
            report.diagnostics.retain(|problem| {
                let FileRange { file, range } = &problem.primary.at;
                known.insert((self.sources.get(*file).0, range.clone(), problem.message.clone()))
            });
            before = Some(Before::all(file));
            reports.push(report);
        }
        reports
    }

    /// Adds the problems of a file and of those that it loads, in the order in which they would run.
    fn check_file(&mut self, file: FileId, report: &mut CheckReport) {
        for form in self.db.outline(file).forms.clone() {
            let own = self.db.diagnostics(form.id()).into_iter().filter(|problem| !problem.follows);
            report.diagnostics.extend(own.map(located));
            report.diagnostics.extend(self.load_problem(file, &form));
            if let Some(loaded) = self.db.loaded(form.id()) {
                let path = self.db.file_name(loaded);
                self.while_loading(Path::new(&*path), |session| {
                    with_stack(|| session.check_file(loaded, report));
                });
            }
        }
    }

    /// The type of an expression, without running it; messages call its text by a name.
    pub fn type_of(
        &mut self,
        name: &str,
        text: &str,
    ) -> Result<String, Vec<Diagnostic<FileRange>>> {
        self.types_of(name, text).map(|mut types| types.pop().unwrap_or_default())
    }

    /// The types of the forms of a text, one at least, without running them; messages call the text by a name.
    pub fn types_of(
        &mut self,
        name: &str,
        text: &str,
    ) -> Result<Vec<String>, Vec<Diagnostic<FileRange>>> {
        let file = self.look_at(name, text);
        let forms = self.db.outline(file).forms.clone();
        let mut types = Vec::new();
        for form in forms {
            let diagnostics = self.db.diagnostics(form.id());
            if diagnostics.iter().any(is_error) {
                let typed = |diagnostic| self.as_typed(located(diagnostic));
                return Err(diagnostics.into_iter().map(typed).collect());
            }
            if let Some(name) = form.names.first() {
                types.push(self.type_of_name(form.id(), name));
            }
        }
        if types.is_empty() {
            let at = FileRange { file, range: 0..text.len() };
            let message = "there is no expression here";
            return Err(vec![Diagnostic::error(DiagnosticKind::Syntax, at, message)]);
        }
        Ok(types)
    }

    /// A text at a stage of the compiler; one function of it, if one is named. From the core
    /// language on, a polymorphic function is shown at ints.
    pub fn dump(
        &mut self,
        name: &str,
        text: &str,
        stage: Stage,
        function: Option<&str>,
    ) -> Result<String, Vec<Diagnostic<FileRange>>> {
        self.stage(name, text, stage, function).map(|stage| stage.text)
    }

    /// Returns what [`Session::dump`] does, with the places that lines come from.
    pub fn stage(
        &mut self,
        name: &str,
        text: &str,
        stage: Stage,
        function: Option<&str>,
    ) -> Result<StageText, Vec<Diagnostic<FileRange>>> {
        if matches!(stage.pass().run, Run::Query(Query::Tokens)) && function.is_none() {
            return Ok(StageText { text: syntax::dump_tokens(text), notes: Vec::new() });
        }
        let file = self.look_at(name, text);
        // As in an entered text, a declared function is the one defined further down.
        let replaced = self.replaced.clone();
        for (position, form) in self.db.outline(file).forms.clone().iter().enumerate() {
            self.stand_in(file, position as u32, form);
        }
        // A form that is not printed may have errors: functions that call it are left out, too.
        let broken = std::mem::take(&mut self.broken);
        if function.is_some() {
            self.check_ahead(file);
        }
        let shown = self.dump_file(file, stage, function);
        for (item, _) in std::mem::replace(&mut self.broken, broken) {
            self.db.set_disabled(item, false);
        }
        self.replaced = replaced;
        shown
    }

    /// Lets the names of a form that is only looked at stand for earlier definitions of the same type.
    /// Unlike [`Session::redefine`], it touches no values.
    fn stand_in(&mut self, file: FileId, position: u32, form: &Form) {
        let item = form.id();
        for name in form.names.iter() {
            let found = self.db.lookup(Before { file, position }, name);
            let Some(Resolution::Item(old, _)) = found else { continue };
            if old == item || self.db.is_library(old) || !self.db.same_type(old, item, name) {
                continue;
            }
            let old = self.current(old, name);
            if old != item {
                self.replaced.insert((old, name.clone()), item);
            }
        }
    }

    fn dump_file(
        &self,
        file: FileId,
        stage: Stage,
        function: Option<&str>,
    ) -> Result<StageText, Vec<Diagnostic<FileRange>>> {
        let wanted = function.map(Name::new);
        let mut out = StageText::default();
        let mut found = false;
        let mut printed = FxHashSet::default();
        for form in self.db.outline(file).forms.clone() {
            if form.kind == RawKind::Blank {
                continue;
            }
            if wanted.as_ref().is_some_and(|name| !form.names.contains(name)) {
                continue;
            }
            found = true;
            self.dump_form(&form, stage, &mut printed, &mut out)?;
        }
        if !found && let Some(function) = function {
            let at = FileRange { file, range: 0..0 };
            let message = format!("there is no definition of `{function}` here");
            return Err(vec![Diagnostic::error(DiagnosticKind::Name, at, message)]);
        }
        Ok(out)
    }

    /// Returns the definition of a name at a stage of the compiler, as the session has it; `None` if the
    /// name has none.
    pub fn stage_of_definition(
        &self,
        name: &str,
        stage: Stage,
    ) -> Option<Result<StageText, Vec<Diagnostic<FileRange>>>> {
        let Resolution::Item(item, name) = self.lookup(&Name::new(name))? else { return None };
        let form = self.db.form(self.current(item, &name));
        let mut out = StageText::default();
        let shown = self.dump_form(&form, stage, &mut FxHashSet::default(), &mut out);
        Some(shown.map(|()| out))
    }

    fn dump_form(
        &self,
        form: &Form,
        stage: Stage,
        printed: &mut FxHashSet<String>,
        out: &mut StageText,
    ) -> Result<(), Vec<Diagnostic<FileRange>>> {
        let item = form.id();
        let query = match stage.pass().run {
            Run::Query(query) => Some(query),
            _ => None,
        };
        if matches!(query, None | Some(Query::Types)) {
            let diagnostics = self.db.diagnostics(item);
            if diagnostics.iter().any(is_error) {
                let typed = |diagnostic| self.as_typed(located(diagnostic));
                return Err(diagnostics.into_iter().map(typed).collect());
            }
        }
        match query {
            Some(query) => {
                let dump = dump_item(&self.db, item, query);
                self.append(&dump, 0..dump.text.len(), out);
                Ok(())
            }
            None => self.dump_program(form, stage, printed, out),
        }
    }

    fn dump_program(
        &self,
        form: &Form,
        stage: Stage,
        printed: &mut FxHashSet<String>,
        out: &mut StageText,
    ) -> Result<(), Vec<Diagnostic<FileRange>>> {
        let item = form.id();
        let program = match &self.db.ast(item).kind {
            ItemKind::Expr(_) | ItemKind::Binding { .. } => self.elaborate(item)?.program,
            ItemKind::Function(function) if function.body.is_some() => {
                let signature = self.db.signature(item).clone();
                let Signature::Function { scheme, .. } = &*signature else { return Ok(()) };
                if takes_functions(&scheme.ty) {
                    let _ = writeln!(
                        out.text,
                        "% {} takes a function: it exists only where it is called %",
                        function.name.name
                    );
                    return Ok(());
                }
                let args: Arc<[Ty]> = scheme.vars.iter().map(|class| example(*class)).collect();
                run::elaborate_function(self, item, args)?
            }
            ItemKind::Function(_)
            | ItemKind::Datatype(_)
            | ItemKind::Command(_)
            | ItemKind::Missing => return Ok(()),
        };
        let Settings { precision, seed, fuel, .. } = self.settings;
        let options = Options { seed, fuel, ..Options::at(precision) };
        let dump = pipeline::dump(&program, &options, stage);
        let dump = with_source_lines(&self.db, dump);
        if !stage.is_of_core() {
            self.append(&dump, 0..dump.text.len(), out);
            out.text.push('\n');
            return Ok(());
        }
        // A function that an earlier form needed, too, is printed once; each form has its own `main`.
        let mut start = 0;
        for (number, part) in dump.text.split(BETWEEN_FUNCTIONS).enumerate() {
            if number == 0 {
                self.append(&dump, 0..part.len(), out);
            } else if part.starts_with("\"main\"") || printed.insert(part.trim_end().to_owned()) {
                out.text.push_str(BETWEEN_FUNCTIONS);
                self.append(&dump, start..start + part.trim_end().len(), out);
            }
            start += part.len() + BETWEEN_FUNCTIONS.len();
        }
        out.text.push_str("\n\n");
        Ok(())
    }

    /// Appends a part of a dump, with the places of its lines; those of the library are left out.
    fn append(&self, dump: &Dump, part: Range<usize>, out: &mut StageText) {
        let before = out.text.len();
        out.text.push_str(&dump.text[part.clone()]);
        for (at, site) in &dump.notes {
            let known = site.item != Site::NONE.item && !self.db.is_library(site.item);
            if part.contains(at) && known {
                let source = place(self.db.place(Loc { item: site.item, span: site.span }));
                out.notes.push((before + at - part.start, source));
            }
        }
    }

    /// The documentation of a name: its type, text, examples and cost. `None` if it is unknown.
    pub fn doc(&mut self, name: &str) -> Option<String> {
        let name = Name::new(name);
        if name.folded() == "time" {
            return Some(TIME.to_owned());
        }
        match self.lookup(&name)? {
            Resolution::Prim(prim) => {
                let row = prim.row();
                let mut out = format!("{} : {}\n\n{}\n", row.name, row.scheme, row.doc);
                if !row.example.is_empty() {
                    let _ = writeln!(out, "\nExample: {}", row.example);
                }
                if !row.cost.is_empty() {
                    let _ = writeln!(out, "Cost: {}", row.cost);
                }
                Some(out)
            }
            Resolution::Item(item, name) => {
                let mut out = format!("{name} : {}\n", self.type_of_name(item, &name));
                if let ItemKind::Function(function) = &self.db.ast(item).kind
                    && let Some(doc) = &function.doc
                {
                    let doc = parse_doc(doc);
                    let _ = write!(out, "\n{}\n", doc.text);
                    if !doc.examples.is_empty() {
                        out.push('\n');
                    }
                    for (expression, value) in &doc.examples {
                        let _ = writeln!(out, "Example: {expression} → {value}");
                    }
                    if let Some(cost) = &doc.cost {
                        let _ = writeln!(out, "Cost: {cost}");
                    }
                }
                Some(out)
            }
            Resolution::Local(_) | Resolution::Optional(_) | Resolution::Unknown => None,
        }
    }

    /// The text of a defined function.
    pub(super) fn code(&self, name: &str) -> Option<String> {
        match self.lookup(&Name::new(name))? {
            Resolution::Item(item, _) => Some(self.db.item_text(item).trim().to_owned()),
            _ => None,
        }
    }

    /// Names that begin with `prefix`, for the prompt's completion.
    pub fn complete(&mut self, prefix: &str) -> Vec<Completion> {
        let prefix = prefix.to_lowercase();
        let names: Vec<String> =
            self.known().into_iter().filter(|name| name.starts_with(&prefix)).collect();
        names
            .into_iter()
            .map(|name| {
                let ty = match self.lookup(&Name::new(&name)) {
                    Some(Resolution::Item(item, n)) => self.type_of_name(item, &n),
                    Some(Resolution::Prim(prim)) => prim.row().scheme.to_owned(),
                    _ => String::new(),
                };
                Completion { name, ty }
            })
            .collect()
    }

    /// All names that can be used now, folded.
    pub fn known(&self) -> Vec<String> {
        let all = match self.last {
            Some(last) => self.db.known_names(last),
            None => self.db.known_names(Before::all(self.db.library()[0])),
        };
        all.into_iter()
            .map(|n| n.folded().to_owned())
            .filter(|n| !n.starts_with('_') && n.starts_with(|c: char| c.is_ascii_alphabetic()))
            .collect()
    }

    /// Returns true if a text is a whole number of forms; false if more lines are to come.
    pub fn is_complete(&self, text: &str) -> bool {
        syntax::is_complete(text)
    }

    pub(super) fn lookup(&self, name: &Name) -> Option<Resolution> {
        let from = self.last.unwrap_or_else(|| Before::all(self.db.library()[0]));
        self.db.lookup(from, name)
    }

    /// Adds a text that sees all entries and that no later text sees.
    pub(super) fn look_at(&mut self, name: &str, text: &str) -> FileId {
        let file = match self.scratch {
            Some(file) => {
                self.db.rename(file, name, self.last);
                self.db.set_text(file, text);
                file
            }
            None => self.db.add_file(name, text, self.last),
        };
        self.scratch = Some(file);
        self.set_source(file, name, text);
        for form in self.db.outline(file).forms.clone() {
            self.db.set_loaded(form.id(), None);
        }
        self.find_loads(file);
        file
    }
}
