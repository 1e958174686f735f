//! `set trace` and `set profile`: prints the calls and bindings of watched functions, and times them.
//!
//! Both belong to a name, and hold for every function that has it, now and later, lambdas inside
//! it included. They are written to the output of the program. The iterations of an
//! apply-to-each are shown one after the other, as the interpreter runs them; the output of the program
//! within it is printed at the end of the apply-to-each.

use super::{Session, Settings};
use crate::preview::Preview;
use nesl_core::base::Name;
use nesl_core::db::Database;
use nesl_core::elaborate::{Mark, Watched, WatchedBinding};
use nesl_core::interp::{Host, Observer, Value};
use nesl_core::ir::{FunId, Site, Var};
use nesl_core::names::Resolution;
use nesl_core::syntax::ast::ItemKind;
use nesl_core::types::Ty;
use rustc_hash::FxHashMap;
use std::fmt::Write;
use std::sync::atomic::AtomicBool;

/// Calls and, from level 3 on, bindings.
const ARGUMENTS: u8 = 2;
const BINDINGS: u8 = 3;
const NESTED: u8 = 4;

/// The number of levels by which a line is indented at most.
const MAX_INDENT_LEVELS: usize = 40;

/// The events of a function that are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Watch {
    /// 0: nothing; 1: calls; 2: arguments and results, too; 3: bindings, too; 4: those inside
    /// apply-to-each, too.
    pub(super) trace: u8,
    /// Bindings are timed.
    pub(super) profile: bool,
}

impl Session {
    /// `set trace name level`, as the words after `trace`.
    pub(super) fn set_trace(&mut self, words: &[&str]) -> Result<(), String> {
        let wants = "`set trace` wants a function and a level, 0 to 4: `set trace g 2;`";
        let [name, level] = words else { return Err(wants.to_owned()) };
        let level = match level.parse::<i64>() {
            Ok(level @ 0..=4) => level as u8,
            Ok(level) => return Err(format!("{level} is not a level of tracing: they are 0 to 4")),
            Err(_) => return Err(wants.to_owned()),
        };
        self.watch(name, |watch| watch.trace = level)
    }

    /// `set profile name on`, as the words after `profile`.
    pub(super) fn set_profile(&mut self, words: &[&str]) -> Result<(), String> {
        let (name, on) = match words {
            [name, "on"] => (name, true),
            [name, "off"] => (name, false),
            _ => {
                return Err("`set profile` wants a function and `on` or `off`: \
                            `set profile g on;`"
                    .to_owned());
            }
        };
        self.watch(name, |watch| watch.profile = on)
    }

    fn watch(&mut self, name: &str, change: impl FnOnce(&mut Watch)) -> Result<(), String> {
        let name = Name::new(name);
        let found = self.last.and_then(|last| self.db.lookup(last, &name));
        match found {
            Some(Resolution::Item(item, _))
                if matches!(self.db.ast(item).kind, ItemKind::Function(_)) => {}
            Some(Resolution::Prim(_)) => {
                return Err(format!("`{name}` is a primitive: there is nothing inside to see"));
            }
            Some(_) => return Err(format!("`{name}` is not a function")),
            None => return Err(format!("`{name}` is not defined")),
        }
        let watch = self.watches.entry(name.clone()).or_default();
        change(watch);
        if *watch == Watch::default() {
            self.watches.remove(&name);
        }
        Ok(())
    }

    /// The lines of `show status` about what is watched.
    pub(super) fn watch_status(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for (name, watch) in &self.watches {
            if watch.trace > 0 {
                lines.push(format!("\ntrace {name} {}", watch.trace));
            }
            if watch.profile {
                lines.push(format!("\nprofile {name} on"));
            }
        }
        lines.sort();
        lines.concat()
    }
}

/// Shows and times what the watched functions of a program do.
pub(super) struct Watcher<'a> {
    pub(super) db: &'a Database,
    pub(super) settings: &'a Settings,
    pub(super) interrupt: &'a AtomicBool,
    pub(super) watches: &'a FxHashMap<Name, Watch>,
    pub(super) watched: &'a Watched,
    /// The number of watched calls in progress.
    calls: usize,
    /// The bindings in progress, each with the time at which it began, in seconds.
    begun: Vec<(Site, f64)>,
    times: FxHashMap<Site, Timed>,
    /// The bindings that were timed, in the order in which they were first completed.
    order: Vec<(Site, String, String)>,
}

/// The time of all executions of a binding.
#[derive(Default)]
struct Timed {
    /// The number of executions in progress: the time of a recursive call is part of the outermost.
    open: usize,
    done: u64,
    seconds: f64,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(
        db: &'a Database,
        settings: &'a Settings,
        interrupt: &'a AtomicBool,
        watches: &'a FxHashMap<Name, Watch>,
        watched: &'a Watched,
    ) -> Watcher<'a> {
        Watcher {
            db,
            settings,
            interrupt,
            watches,
            watched,
            calls: 0,
            begun: Vec::new(),
            times: FxHashMap::default(),
            order: Vec::new(),
        }
    }

    /// Returns the times of the bindings of profiled functions as text, function by function.
    pub(super) fn profile(&self) -> String {
        let mut out = String::new();
        let mut functions: Vec<&str> = self.order.iter().map(|(_, name, _)| &**name).collect();
        functions.sort_unstable();
        functions.dedup();
        for function in functions {
            let _ = writeln!(out, "profile of {function}:");
            let mut rows: Vec<_> =
                self.order.iter().filter(|(_, name, _)| name == function).collect();
            // The order of the text.
            rows.sort_by_key(|(site, ..)| (site.item, site.span.start));
            let width = rows.iter().map(|(.., name)| name.chars().count()).max().unwrap_or(0);
            for (site, _, name) in rows {
                let timed = &self.times[site];
                let times = if timed.done == 1 { "time" } else { "times" };
                let _ = writeln!(
                    out,
                    "  {name:width$}  {:>12.6} s  {} {times}",
                    timed.seconds, timed.done
                );
            }
        }
        out
    }

    fn of(&self, function: &str) -> Watch {
        self.watches.get(&Name::new(function)).copied().unwrap_or_default()
    }

    fn show(&self, value: &Value, ty: &Ty) -> String {
        super::shown::show_preview(
            self.db,
            self.settings,
            self.interrupt,
            &Preview::Whole(value.clone()),
            ty,
        )
    }

    fn line(&self, host: &mut dyn Host, text: &str) {
        let indent = "  ".repeat(self.calls.min(MAX_INDENT_LEVELS));
        host.print(format!("{indent}{text}\n").as_bytes());
    }

    fn time(&mut self, now: f64, binding: &WatchedBinding) {
        let Some((site, start)) = self.begun.pop() else { return };
        let timed = self.times.entry(site).or_default();
        timed.open -= 1;
        timed.done += 1;
        if timed.open == 0 {
            timed.seconds += now - start;
        }
        if !self.order.iter().any(|(known, ..)| *known == site) {
            self.order.push((site, binding.function.clone(), binding.name.clone()));
        }
    }
}

impl Observer for Watcher<'_> {
    fn enter(&mut self, host: &mut dyn Host, function: FunId, args: &[Value]) {
        let Some(called) = self.watched.functions.get(&function) else { return };
        let level = self.of(&called.name).trace;
        if level == 0 {
            return;
        }
        let mut text = format!("enter {}", called.name);
        if level >= ARGUMENTS {
            // A function that draws random numbers has a parameter more, in front.
            let own = &args[args.len() - called.params.len()..];
            let shown = called.params.iter().zip(own);
            let shown: Vec<String> = shown
                .map(|((name, ty), value)| format!("{name} = {}", self.show(value, ty)))
                .collect();
            let _ = write!(text, "({})", shown.join(", "));
        }
        self.line(host, &text);
        self.calls += 1;
    }

    fn leave(&mut self, host: &mut dyn Host, function: FunId, result: &Value) {
        let Some(called) = self.watched.functions.get(&function) else { return };
        let level = self.of(&called.name).trace;
        if level == 0 {
            return;
        }
        self.calls -= 1;
        let mut text = format!("leave {}", called.name);
        if level >= ARGUMENTS {
            let _ = write!(text, " = {}", self.show(result, &called.result));
        }
        self.line(host, &text);
    }

    fn copied(&mut self, host: &mut dyn Host, function: FunId, var: Var, value: &Value) {
        match self.watched.marks.get(&(function, var)) {
            None => {}
            Some(Mark::Begin(site)) => {
                self.times.entry(*site).or_default().open += 1;
                let now = host.clock();
                self.begun.push((*site, now));
            }
            Some(Mark::End(binding)) => {
                let now = host.clock();
                let watch = self.of(&binding.function);
                if watch.profile {
                    self.time(now, binding);
                } else {
                    self.begun.pop();
                }
                let shown_from = if binding.nested { NESTED } else { BINDINGS };
                if watch.trace >= shown_from {
                    let text = format!("{} = {}", binding.name, self.show(value, &binding.ty));
                    self.line(host, &text);
                }
            }
        }
    }
}
