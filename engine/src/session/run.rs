//! Running the forms of a text, in order.

use super::shown::show_preview;
use super::watch::Watcher;
use super::way_out::{Guard, way_out};
use super::{
    Binding, Event, Session, Settings, ShownValues, Sink, Summary, is_error, lazy, located, place,
};
use crate::data::{Shown, ValueType};
use crate::preview::Preview;
use crate::resident::{ResidentValue, words};
use crate::runner::{Evaluated, FormError, Runner};
use nesl_core::base::{Diagnostic, DiagnosticKind, ItemId, Loc, Name};
use nesl_core::db::{Before, FileDefinitions, FileId, Form, SessionState};
use nesl_core::elaborate::{self, Elaborated, Projection};
use nesl_core::interp::{self, Failure, Host, Value};
use nesl_core::ir;
use nesl_core::pipeline;
use nesl_core::prim::HostOp;
use nesl_core::strategy::Strategy;
use nesl_core::syntax::RawKind;
use nesl_core::syntax::ast::{self, ItemKind};
use nesl_core::types::{Record, Scheme, Ty, print_scheme, record_content};
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::runtime;
use nesl_runtime::scalar::ScalarOp;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The value of a form, and what evaluating it took.
pub(super) struct Computed {
    /// The value, computed or deferred.
    value: lazy::Value,
    /// Work and depth, where they were counted.
    cost: Option<(u64, u64)>,
    /// Time spent on compilation, without the runtime's own part.
    translating: Duration,
    /// The form ran on the session's runtime.
    on_runtime: bool,
}

impl Computed {
    /// Returns the value unless it is deferred.
    pub(super) fn resident(&self) -> Option<&ResidentValue> {
        self.value.computed()
    }
}

impl Session {
    /// Runs all forms of a file; `quiet` when it is being loaded.
    pub(super) fn run_file(
        &mut self,
        file: FileId,
        quiet: bool,
        sink: Sink<'_>,
        summary: &mut Summary,
    ) {
        self.running.push(file);
        self.check_ahead(file);
        if self.running.len() == 1 {
            self.publish(Before::all(file));
        }
        let forms = self.db.outline(file).forms.clone();
        self.progress.more_forms(forms.len());
        for (position, form) in forms.iter().enumerate() {
            if summary.interrupted || summary.exit {
                break;
            }
            self.run_form(file, position as u32, form, quiet, sink, summary);
            self.progress.form_done();
            self.forget_unreachable(Before { file, position: position as u32 + 1 });
        }
        // The interrupt may have cut the last value short while it was shown. After another form, the
        // next one that computes something reports it.
        summary.interrupted |= self.interrupt.load(Ordering::Relaxed);
        self.running.pop();
    }

    /// Looks again at the forms still to come, which see more than when they were looked at.
    pub(super) fn check_again(&mut self) {
        for (item, _) in std::mem::take(&mut self.broken) {
            self.db.set_disabled(item, false);
        }
        for file in self.running.clone() {
            self.check_ahead(file);
        }
    }

    /// Turns off all forms with errors before the first one runs, so that a function does not
    /// start that calls one further down that is broken. What depends on them fails in turn.
    pub(super) fn check_ahead(&mut self, file: FileId) {
        loop {
            let forms = self.db.outline(file).forms.clone();
            let broken: Vec<_> = forms
                .iter()
                // Who does not want them to run does not wait until they are checked.
                .take_while(|_| !self.interrupt.load(Ordering::Relaxed))
                .filter(|form| !self.db.is_disabled(form.id()) && defines(form))
                .map(|form| (form.id(), self.db.diagnostics(form.id())))
                .filter(|(_, diagnostics)| diagnostics.iter().any(is_error))
                .collect();
            if broken.is_empty() {
                return;
            }
            for (item, diagnostics) in broken {
                self.db.set_disabled(item, true);
                self.broken.insert(item, diagnostics);
            }
        }
    }

    fn run_form(
        &mut self,
        file: FileId,
        position: u32,
        form: &Form,
        quiet: bool,
        sink: Sink<'_>,
        summary: &mut Summary,
    ) {
        // What commands look names up in: everything up to here.
        self.last = Some(Before { file, position });
        let item = form.id();
        if form.kind == RawKind::Blank && self.db.parsed(item).diagnostics.is_empty() {
            return;
        }
        // Of forms that are broken together, each would by now only say that the other failed.
        let ahead = self.broken.remove(&item);
        let diagnostics = ahead.unwrap_or_else(|| self.db.diagnostics(item));
        let wrong = diagnostics.iter().any(is_error);
        let follows = self.follows_refusal(item, wrong);
        let failed = follows || wrong;
        for diagnostic in diagnostics {
            if is_error(&diagnostic)
                && (follows || diagnostic.follows || self.is_of_lost_name(&diagnostic))
            {
                // The mistake has been reported where it was made.
                continue;
            }
            summary.errors += usize::from(is_error(&diagnostic));
            sink(Event::Diagnostic(self.as_typed(located(diagnostic))));
        }
        if failed {
            self.refuse_names(item);
            self.fail(item);
            return;
        }
        let ast = self.db.ast(item).clone();
        match &ast.kind {
            ItemKind::Function(_) | ItemKind::Datatype(_) => {
                self.define(file, position, form, &ast, quiet, sink);
                self.find_names(item);
                summary.ok += 1;
            }
            ItemKind::Binding { .. } | ItemKind::Expr(_) => {
                self.evaluate(file, position, form, &ast, quiet, sink, summary);
            }
            ItemKind::Command(command) => {
                self.command(form, command, quiet, sink, summary);
            }
            ItemKind::Missing => {}
        }
    }

    /// A failed form defines nothing, and neither does one that is only to be looked at.
    pub(super) fn fail(&mut self, item: ItemId) {
        if self.again {
            // It has the value of the last time, as if this were another entry.
            return;
        }
        self.db.set_disabled(item, true);
        self.lose_names(item);
    }

    #[allow(clippy::too_many_arguments, reason = "a form and where it stands")]
    fn evaluate(
        &mut self,
        file: FileId,
        position: u32,
        form: &Form,
        ast: &ast::Item,
        quiet: bool,
        sink: Sink<'_>,
        summary: &mut Summary,
    ) {
        let item = form.id();
        // What computes little would not notice it, and there may be many such forms.
        if position > 0 && self.interrupt.load(Ordering::Relaxed) {
            summary.errors += 1;
            summary.interrupted = true;
            let (at, message) = (place(self.db.whole(item)), FaultCode::Interrupted.message());
            sink(Event::Diagnostic(Diagnostic::error(DiagnosticKind::Runtime, at, message)));
            self.fail(item);
            return;
        }
        let meter = self.meter();
        let expression = matches!(ast.kind, ItemKind::Expr(_));
        let unshown = match self.settings.shown {
            ShownValues::All => false,
            ShownValues::Expressions => !expression,
            ShownValues::Scalars => true,
        };
        let off = quiet || unshown;
        let computed = self.compute(item, if off { deferrable(ast) } else { None });
        let (elaborated, computed) = match computed {
            Ok(done) => done,
            Err(diagnostics) => {
                for diagnostic in diagnostics {
                    summary.errors += 1;
                    summary.interrupted |= diagnostic.message == FaultCode::Interrupted.message();
                    sink(Event::Diagnostic(diagnostic));
                }
                self.fail(item);
                return;
            }
        };
        let usage = self.usage(&meter, computed.translating, computed.on_runtime);
        if expression && !self.settings.defines_it {
            self.fail(item);
        } else {
            if let Err(message) = self.keep(item, ast, &computed.value) {
                summary.errors += 1;
                let at = place(self.db.whole(item));
                sink(Event::Diagnostic(Diagnostic::error(DiagnosticKind::Runtime, at, message)));
                self.fail(item);
                return;
            }
            self.redefine(file, position, form, sink);
            self.find_names(item);
        }
        summary.ok += 1;
        if !quiet {
            let seen = computed.value.computed().map_or(Ok(None), |resident| {
                let unread = unshown && resident.ty().has_sequence();
                let seen = || resident.preview(self.shown_ends(), self.runtime(), &self.interrupt);
                (!unread).then(seen).transpose()
            });
            let (value, data) = match seen {
                Ok(Some(seen)) => {
                    (self.show(&seen, &elaborated.ty), self.data(seen, &elaborated.ty))
                }
                Ok(None) => Default::default(),
                Err(failure) => {
                    let diagnostic = self.runtime_failure(item, failure);
                    summary.errors += 1;
                    sink(Event::Diagnostic(diagnostic));
                    return;
                }
            };
            sink(Event::Bound(Binding {
                name: elaborate::form_name(ast),
                value,
                data,
                ty: self.shown_type(item, &elaborated.ty),
                expression,
                cost: computed.cost,
                usage,
                at: place(self.db.whole(item)),
            }));
        }
    }

    /// Keeps the values of the variables of a form: in memory, or in files after `|=`.
    fn keep(&mut self, item: ItemId, ast: &ast::Item, value: &lazy::Value) -> Result<(), String> {
        self.keep_past();
        let stored = matches!(ast.kind, ItemKind::Binding { stored: true, .. });
        let resident = match value {
            lazy::Value::Computed(resident) => resident,
            lazy::Value::Deferred(_) => {
                let name = deferrable(ast).or_bug("a deferred form binds one name");
                self.values.insert((item, name), value.clone());
                return Ok(());
            }
        };
        for (name, way) in names_of(ast) {
            let part = resident.part(&way);
            if stored {
                let value = part.value(self.runtime()).map_err(|failure| words(&failure))?;
                self.stored.write(item, name, value, part.ty())?;
            } else {
                self.values.insert((item, name), lazy::Value::Computed(part));
            }
        }
        Ok(())
    }

    /// Elaborates and runs a form; the value of a `name` may be deferred.
    pub(super) fn compute(
        &mut self,
        item: ItemId,
        name: Option<Name>,
    ) -> Result<(Elaborated, Computed), Vec<Diagnostic<super::FileRange>>> {
        let started = Instant::now();
        let mut elaborated = self.elaborate(item)?;
        let values = self.globals(item, &elaborated.program)?;
        elaborated.program = pipeline::core(elaborated.program);
        if self.seed != self.settings.seed {
            self.restart_random(self.settings.seed);
        }
        let key = self.draws;
        self.draws += 1;
        let random = RandomUse::of(&elaborated.program);
        self.has_drawn |= random.draws;
        if random.seeds {
            self.draws = 0;
        }
        let watched = &elaborated.watched;
        let watching = !watched.functions.is_empty() || !watched.marks.is_empty();
        let lazy = self.settings.lazy && self.executor.is_some() && !watching;
        if lazy
            && let Some(name) = name
            && let Some(value) = self.defer(item, &name, &elaborated.program, &values)
        {
            let (translating, on_runtime) = (started.elapsed(), false);
            let computed = Computed { value, cost: None, translating, on_runtime };
            return Ok((elaborated, computed));
        }
        let elaborating = started.elapsed();
        let before = self.translating();
        // This may compute what was deferred.
        let (linked, globals) = self.with_deferred(item, &elaborated.program, &values, lazy)?;
        let program = linked.as_ref().unwrap_or(&elaborated.program);
        let (done, on_runtime) = if !watching {
            let mut runner = self.runner();
            let done = runner.run(program, &globals, key);
            (done, runner.on_runtime)
        } else {
            (self.run_watched(program, &elaborated, &globals, key), false)
        };
        let (resident, cost) = match done {
            Ok(done) => done,
            Err(FormError::Program(failure)) if failure.fault.code == FaultCode::TooDeep => {
                let program = linked.as_ref().unwrap_or(&elaborated.program);
                let is_full = |detail: &String| detail.contains(" take ");
                let full = failure.fault.detail.as_ref().is_some_and(is_full);
                let report = match self.last_calls(program, &globals, key) {
                    Some((deep, calls)) => {
                        let deep = Failure { fault: failure.fault, ..deep };
                        self.failure(item, &deep).note(calls)
                    }
                    None => self.failure(item, &failure),
                };
                let report = report.hint("does every call come nearer to an end?");
                return Err(vec![if full {
                    report.hint("`nesl --stack 1G` lets calls within each other take more memory")
                } else {
                    report
                }]);
            }
            Err(FormError::Program(failure)) => {
                let program = linked.as_ref().unwrap_or(&elaborated.program);
                let particulars = self.particulars(program, &globals, key, &failure);
                let mut report = self.failure(item, &failure);
                if let Some(particulars) = particulars {
                    let message = report.message.trim_end_matches([' ', '.']);
                    report.message = format!("{message} ({particulars})");
                }
                let own = failure.trace.iter().find(|(_, library)| !library);
                let guard = own.and_then(|(site, _)| Guard::of(&self.db, *site));
                return Err(vec![match way_out(&failure.fault, guard) {
                    Some(hint) => report.hint(hint),
                    None => report,
                }]);
            }
            Err(FormError::Runtime(failure)) => {
                return Err(vec![self.runtime_failure(item, failure)]);
            }
        };
        let translating = elaborating + (self.translating() - before);
        // What others have defined is not this form's work.
        let cost = cost.filter(|_| linked.is_none());
        let value = lazy::Value::Computed(resident);
        Ok((elaborated, Computed { value, cost, translating, on_runtime }))
    }

    /// Returns a runner for the settings.
    pub(super) fn runner(&mut self) -> Runner<'_> {
        let plain = self.settings.strategy == Strategy::Auto && self.settings.fuel.is_none();
        let interpret_first = self.settings.interpret_first && plain;
        if let Some(executor) = &self.executor {
            executor.set_fuel(self.settings.fuel);
        }
        Runner {
            executor: self.executor.as_ref(),
            interpret_first: interpret_first.then_some(&mut self.interpret_first),
            host: &mut self.host,
            options: options(&self.settings, &self.interrupt),
            strategy: self.settings.strategy,
            interpreted_in_vain: Duration::ZERO,
            on_runtime: false,
        }
    }

    /// Runs a program on the direct interpreter while someone watches.
    fn run_watched(
        &mut self,
        program: &ir::Program,
        elaborated: &Elaborated,
        globals: &[ResidentValue],
        key: i64,
    ) -> Result<Evaluated, FormError> {
        let values = globals.iter().map(|resident| resident.value(self.runtime()).cloned());
        let values: Vec<Value> = values.collect::<Result<_, _>>()?;
        self.host.set_precision(self.settings.precision);
        let watched = &elaborated.watched;
        let mut watcher =
            Watcher::new(&self.db, &self.settings, &self.interrupt, &self.watches, watched);
        let options = options(&self.settings, &self.interrupt);
        let host = &mut self.host;
        let run = interp::run_watched(program, &values, key, host, &options, &mut watcher);
        host.print(watcher.profile().as_bytes());
        host.flush();
        let outcome = run.map_err(FormError::Program)?;
        let ty = program.functions[program.main.0 as usize].result.clone();
        Ok((ResidentValue::value_of(outcome.value, ty), Some((outcome.work, outcome.depth))))
    }

    pub(super) fn elaborate(
        &self,
        item: ItemId,
    ) -> Result<Elaborated, Vec<Diagnostic<super::FileRange>>> {
        let is_watched = |name: &Name| self.watches.contains_key(name);
        let state = SessionState {
            current: &|item, name| self.current(item, name),
            is_watched: if self.watches.is_empty() { None } else { Some(&is_watched) },
        };
        let definitions = FileDefinitions::in_session(&self.db, state);
        elaborate::elaborate(item, &definitions, self.settings.precision)
            .map_err(|all| all.into_iter().map(|d| located(d.map(|l| self.db.place(l)))).collect())
    }

    /// The values of the top-level variables a program reads.
    pub(super) fn globals(
        &self,
        item: ItemId,
        program: &ir::Program,
    ) -> Result<Vec<lazy::Value>, Vec<Diagnostic<super::FileRange>>> {
        let mut values = Vec::with_capacity(program.globals.len());
        for global in &program.globals {
            match self.values.get(&(global.item, Name::new(&global.name))) {
                Some(value) => values.push(value.clone()),
                None => {
                    let name = Name::new(&global.name);
                    let precision = self.settings.precision;
                    let read = self.stored.read(global.item, &name, &global.ty, precision);
                    if let Some(Ok(value)) = read {
                        let resident = ResidentValue::value_of(value, global.ty.clone());
                        values.push(lazy::Value::Computed(resident));
                        continue;
                    }
                    let at = place(self.db.whole(item));
                    let message = match read {
                        Some(Err(message)) => message,
                        _ => format!("`{}` has no value yet", global.name),
                    };
                    return Err(vec![
                        Diagnostic::error(DiagnosticKind::Name, at, message)
                            .label(place(self.db.whole(global.item)), "it is defined here"),
                    ]);
                }
            }
        }
        Ok(values)
    }

    /// A failed run as a diagnostic: at the innermost place of the user's own text.
    pub(super) fn failure(&self, item: ItemId, failure: &Failure) -> Diagnostic<super::FileRange> {
        let at = |site: &ir::Site| place(self.db.place(Loc { item: site.item, span: site.span }));
        let mut own = failure.trace.iter().filter(|(_, library)| !library).map(|(site, _)| site);
        let primary = own.next().map_or_else(|| place(self.db.whole(item)), at);
        let mut diagnostic =
            Diagnostic::error(DiagnosticKind::Runtime, primary.clone(), failure.fault.to_string());
        let mut last = primary;
        for (depth, site) in own.enumerate() {
            let here = at(site);
            if depth >= 2 || here == last {
                continue;
            }
            diagnostic = diagnostic.label(here.clone(), "called from here");
            last = here;
        }
        diagnostic
    }

    /// Returns the diagnostic for a failure of the runtime during a form.
    pub(super) fn runtime_failure(
        &self,
        item: ItemId,
        failure: runtime::Failure,
    ) -> Diagnostic<super::FileRange> {
        Diagnostic::error(DiagnosticKind::Runtime, place(self.db.whole(item)), words(&failure))
    }

    /// A value as text.
    fn show(&self, seen: &Preview, ty: &Ty) -> String {
        show_preview(&self.db, &self.settings, &self.interrupt, seen, ty)
    }

    /// A value as data, if somebody wants it.
    fn data(&self, seen: Preview, ty: &Ty) -> Option<Shown> {
        self.settings.data?;
        let content =
            |record: &Record, args: &[Ty]| record_content(self.db.signature(record.item), args);
        Some(Shown::new(seen, ValueType::of(ty, &content), self.settings.precision))
    }

    fn shown_type(&self, item: ItemId, ty: &Ty) -> String {
        let vars = self.db.types(item).vars.clone();
        print_scheme(&Scheme { vars, ty: ty.clone() })
    }
}

/// Elaborates a function for looking at it.
pub(super) fn elaborate_function(
    session: &Session,
    item: ItemId,
    args: Arc<[Ty]>,
) -> Result<ir::Program, Vec<Diagnostic<super::FileRange>>> {
    let current = |item: ItemId, name: &Name| session.current(item, name);
    let state = SessionState { current: &current, is_watched: None };
    let definitions = FileDefinitions::in_session(&session.db, state);
    elaborate::elaborate_function(item, args, &definitions, session.settings.precision)
        .map_err(|all| all.into_iter().map(|d| located(d.map(|l| session.db.place(l)))).collect())
}

fn defines(form: &Form) -> bool {
    match form.kind {
        RawKind::Function | RawKind::Datatype | RawKind::Binding => true,
        RawKind::Expr | RawKind::Command | RawKind::Blank => false,
    }
}

/// The name that a form defines, if it is one that may be computed later.
fn deferrable(ast: &ast::Item) -> Option<Name> {
    match (&ast.kind, &names_of(ast)[..]) {
        (ItemKind::Binding { stored: false, .. }, [(name, way)]) if way.is_empty() => {
            Some(name.clone())
        }
        _ => None,
    }
}

/// The names a form binds, each with the way to its value.
pub(super) fn names_of(ast: &ast::Item) -> Vec<(Name, Vec<Projection>)> {
    match &ast.kind {
        ItemKind::Binding { pattern, .. } => elaborate::bound_names(ast, *pattern),
        ItemKind::Expr(_) => vec![(Name::new("it"), Vec::new())],
        ItemKind::Function(_)
        | ItemKind::Datatype(_)
        | ItemKind::Command(_)
        | ItemKind::Missing => Vec::new(),
    }
}

/// Returns the options of the direct interpreter, by the settings.
pub(super) fn options<'a>(settings: &Settings, interrupt: &'a AtomicBool) -> interp::Options<'a> {
    interp::Options {
        precision: settings.precision,
        max_depth: settings.max_depth,
        max_stack_bytes: settings.max_stack_bytes,
        max_bytes: settings.max_bytes,
        max_length: settings.max_length,
        interrupt: Some(interrupt),
        log_scan: settings.log_scan,
    }
}

/// The operations of a program that depend on the random numbers' state.
#[derive(Default)]
struct RandomUse {
    /// It sets the seed.
    seeds: bool,
    /// It draws numbers.
    draws: bool,
}

impl RandomUse {
    fn of(program: &ir::Program) -> RandomUse {
        let mut found = RandomUse::default();
        for function in &program.functions {
            function.body.for_each_op(&mut |op| match op {
                ir::Op::Host(HostOp::Seed, _) => found.seeds = true,
                ir::Op::Scalar(ScalarOp::Rand, _) => found.draws = true,
                _ => {}
            });
        }
        found
    }
}
