//! A form as a stage of the compiler sees it, each line with its source.

use super::cursor::Cursor;
use super::{shape, symbol};
use crate::base::{ItemId, Loc, Name, Severity, TextSize};
use crate::db::{Database, FileId, FileRange, Form};
use crate::elaborate;
use crate::flat;
use crate::flatten::flatten;
use crate::fuse::{Fuel, fuse};
use crate::ir::{self, Site};
use crate::lower;
use crate::names::Names;
use crate::simplify::simplify;
use crate::syntax::RawKind;
use crate::syntax::ast::{self, ItemKind};
use crate::types::{Basic, Class, ItemTypes, Scheme, Signature, Ty, print_scheme};
use nesl_runtime::kir;
use nesl_runtime::scalar::Precision;
use std::fmt::Write;
use std::sync::Arc;

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
            view.summary = shape::summary(db, cursor.item, precision);
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

/// What a form is called.
pub fn subject(db: &Database, form: &Form) -> String {
    match (form.kind, form.names.first()) {
        (RawKind::Function, Some(name)) => format!("function {name}"),
        (RawKind::Datatype, Some(name)) => format!("datatype {name}"),
        (RawKind::Binding, Some(name)) => name.to_string(),
        _ => {
            let place = db.whole(form.id());
            let before = &db.file_text(place.file)[..place.range.start().into()];
            format!("line {}", before.matches('\n').count() + 1)
        }
    }
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

/// A program in flat form, as it is run.
pub(super) fn flattened(program: &ir::Program) -> flat::Program {
    let (program, _) = lower::globals_as_parameters(&simplify(program));
    flatten(&program)
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

/// What a form is as a program, by itself. A polymorphic function is shown at ints, or at the
/// simplest type of its class.
pub(super) fn program(
    db: &Database,
    item: ItemId,
    precision: Precision,
) -> Result<ir::Program, String> {
    program_at(db, item, None, precision)
}

/// The same; a polymorphic function at types for the variables of its scheme.
pub(super) fn program_at(
    db: &Database,
    item: ItemId,
    args: Option<Arc<[Ty]>>,
    precision: Precision,
) -> Result<ir::Program, String> {
    if broken(db, item) {
        return Err("there are errors here".to_owned());
    }
    let context = Alone { db };
    let fail = |mut all: Vec<crate::base::Diagnostic<Loc>>| {
        all.pop().map_or_else(String::new, |diagnostic| diagnostic.message)
    };
    let mut program = match &db.ast(item).kind {
        ItemKind::Expr(_) | ItemKind::Binding { .. } => {
            elaborate::elaborate(item, &context, precision).map_err(fail)?.program
        }
        ItemKind::Function(function) if function.body.is_some() => {
            let Signature::Function { scheme, .. } = &**db.signature(item) else {
                return Err("there are errors here".to_owned());
            };
            if takes_functions(&scheme.ty) {
                let name = &function.name.name;
                return Err(format!("`{name}` takes a function: it exists where it is called"));
            }
            let simplest = || scheme.vars.iter().map(|class| example(*class)).collect();
            let args: Arc<[Ty]> = args.unwrap_or_else(simplest);
            elaborate::elaborate_function(item, args, &context, precision).map_err(fail)?
        }
        ItemKind::Function(_) => return Err("it is only declared here".to_owned()),
        ItemKind::Datatype(_) => return Err("a datatype is its contents".to_owned()),
        ItemKind::Command(_) => return Err("a command is no program".to_owned()),
        ItemKind::Missing => return Err("there is no form here".to_owned()),
    };
    ir::split_rng_keys(&mut program);
    Ok(program)
}

/// Whether a form, or anything that it refers to, has errors: there is no program of it then.
fn broken(db: &Database, item: ItemId) -> bool {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut todo = vec![item];
    while let Some(item) = todo.pop() {
        if db.is_library(item) || !seen.insert(item) {
            continue;
        }
        if db.diagnostics(item).iter().any(|d| d.severity == Severity::Error) {
            return true;
        }
        todo.extend(&db.names(item).references);
    }
    false
}

/// The program as it stands in its texts.
struct Alone<'a> {
    db: &'a Database,
}

impl elaborate::Context for Alone<'_> {
    fn ast(&self, item: ItemId) -> Arc<ast::Item> {
        self.db.ast(item).clone()
    }

    fn names(&self, item: ItemId) -> &Names {
        self.db.names(item)
    }

    fn types(&self, item: ItemId) -> Arc<ItemTypes> {
        self.db.types(item).clone()
    }

    fn signature(&self, item: ItemId) -> Arc<Signature> {
        self.db.signature(item).clone()
    }

    fn current(&self, item: ItemId, name: &Name) -> ItemId {
        match symbol::canonical(self.db, symbol::Symbol::Item(item, name.clone())) {
            symbol::Symbol::Item(item, _) => item,
            _ => item,
        }
    }

    fn name(&self, item: ItemId) -> Name {
        self.db.form(item).names.first().cloned().unwrap_or_else(|| Name::new("it"))
    }

    fn is_library(&self, item: ItemId) -> bool {
        self.db.is_library(item)
    }
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
        let snippet = super::cursor::shorten(&text[parsed.range(span)], 40);
        let _ = writeln!(view.text, "  {snippet:<42} {ty}");
        view.lines.push(Line { line, source: db.place(Loc { item, span }) });
    }
    if view.text.is_empty() {
        return Err("nothing is defined here".to_owned());
    }
    Ok(view)
}

/// The type of what a form defines under a name.
pub fn type_of_name(db: &Database, item: ItemId, name: &Name) -> Option<String> {
    match &**db.signature(item) {
        Signature::Function { scheme, .. } | Signature::Record { scheme } => {
            Some(print_scheme(scheme))
        }
        Signature::Values { values } => {
            values.iter().find(|(own, _)| own == name).map(|(_, scheme)| print_scheme(scheme))
        }
        Signature::Broken => None,
    }
}

/// A type to show a polymorphic function at.
pub fn example(class: Class) -> Ty {
    match class {
        Class::Just(Basic::Float) => Ty::Float,
        Class::Just(Basic::Bool) => Ty::Bool,
        Class::Just(Basic::Char) => Ty::Char,
        Class::Any | Class::Ordinal | Class::Logical | Class::Number | Class::Just(Basic::Int) => {
            Ty::Int
        }
    }
}

/// Whether something takes a function, so that it exists only where it is called.
pub fn takes_functions(ty: &Ty) -> bool {
    match ty {
        Ty::Function(f) => contains_function(&f.param) || contains_function(&f.result),
        _ => false,
    }
}

fn contains_function(ty: &Ty) -> bool {
    match ty {
        Ty::Function(_) => true,
        Ty::Pair(a, b) => contains_function(a) || contains_function(b),
        Ty::Sequence(a) => contains_function(a),
        Ty::Record(_, args) => args.iter().any(contains_function),
        Ty::Error | Ty::Int | Ty::Float | Ty::Bool | Ty::Char | Ty::Code(..) | Ty::Var(_) => false,
    }
}
