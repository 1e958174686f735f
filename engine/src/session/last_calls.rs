//! The calls that were under way when a program failed, for its message: the last ones of a recursion
//! that went too deep, and the numbers that a check of the library is about.
//!
//! Compiled code does not record arguments. The program runs once more on the direct interpreter, to
//! a depth that is reached quickly, and an observer keeps the calls that are under way.

use super::Session;
use super::run::options;
use crate::resident::ResidentValue;
use nesl_core::base::grouped;
use nesl_core::interp::{self, Failure, Host, Observer, Sequence, Value};
use nesl_core::ir::{self, FunId, Op, Var};
use nesl_core::strategy::Thresholds;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::scalar::Precision;
use nesl_runtime::services::text;

/// The number of calls under way, the last ones, whose arguments are kept.
const KEPT_CALLS: usize = 64;
/// The number of calls that are shown.
const SHOWN_CALLS: usize = 3;
/// The number of elements of a sequence that are shown.
const SHOWN_ELEMENTS: usize = 4;

impl Session {
    /// Returns the failure of a program that called itself too deeply once more, with the place that
    /// the call in depth comes from, and its last calls as text.
    pub(super) fn last_calls(
        &mut self,
        program: &ir::Program,
        globals: &[ResidentValue],
        key: i64,
    ) -> Option<(Failure, String)> {
        let (failure, calls) = self.run_once_more(program, globals, key)?;
        // A recursion whose sequences grow is not looked at for longer than they are small.
        if !matches!(failure.fault.code, FaultCode::TooDeep | FaultCode::OutOfMemory) {
            return None;
        }
        let own = calls.under_way.iter().filter(|(function, _)| calls.is_own(*function));
        let own: Vec<_> = own.rev().take(SHOWN_CALLS).collect();
        let shown: Vec<String> =
            own.into_iter().rev().map(|call| calls.shown(call, self.settings.precision)).collect();
        (!shown.is_empty()).then(|| {
            let depth = grouped(calls.under_way.len() as u64);
            let calls = shown.join(", ");
            (failure, format!("the first {depth} calls within each other end with {calls}"))
        })
    }

    /// Returns the particulars of a failed check of the library: the numbers that it is about.
    pub(super) fn particulars(
        &mut self,
        program: &ir::Program,
        globals: &[ResidentValue],
        key: i64,
        failure: &Failure,
    ) -> Option<String> {
        let checks = [FaultCode::Message, FaultCode::ZipLength, FaultCode::NegativeLength];
        if !checks.contains(&failure.fault.code) {
            return None;
        }
        let (again, calls) = self.run_once_more(program, globals, key)?;
        if again.fault != failure.fault {
            return None;
        }
        // The call that the program itself makes is the outermost one of the library's.
        let own = calls.under_way.iter().rposition(|(function, _)| calls.is_own(*function));
        let (function, args) = calls.under_way.get(own.map_or(0, |own| own + 1))?;
        let row = &program.functions[function.0 as usize];
        let name = row.name.split('@').next().unwrap_or(&row.name);
        let lengths = failure.fault.to_string().contains("ength");
        if row.library { numbers(name, args, lengths) } else { None }
    }

    /// Runs a program without effects on the direct interpreter until it fails; returns the failure
    /// and the calls that were under way.
    fn run_once_more<'p>(
        &mut self,
        program: &'p ir::Program,
        globals: &[ResidentValue],
        key: i64,
    ) -> Option<(Failure, Calls<'p>)> {
        let mut effects = false;
        for function in &program.functions {
            function.body.for_each_op(&mut |op| effects |= matches!(op, Op::Host(..)));
        }
        if effects {
            return None;
        }
        let values = globals.iter().map(|global| global.value(self.runtime()).cloned());
        let values: Vec<Value> = values.collect::<Result<_, _>>().ok()?;
        let limits = Thresholds::default();
        let max_depth = self.settings.max_depth.min(limits.max_trace_search_calls);
        let max_bytes = self.settings.max_bytes.min(limits.max_trace_search_bytes);
        let stop = self.interrupt_handle();
        let options = interp::Options { max_depth, max_bytes, ..options(&self.settings, &stop) };
        let mut calls = Calls { program, under_way: Vec::new() };
        let (budget, host) = (limits.max_trace_search_ns, &mut self.host);
        let run = interp::search(budget, program, &values, key, host, &options, Some(&mut calls));
        Some((run.err()?, calls))
    }
}

/// Returns the numbers that a check of a function of the library is about, the lengths of its
/// arguments if `about_lengths`.
fn numbers(name: &str, args: &[Value], about_lengths: bool) -> Option<String> {
    let length = |value: &Value| match value {
        Value::Sequence(sequence) => Some(sequence.len()),
        _ => None,
    };
    match (name, args) {
        ("take" | "drop", [Value::Sequence(v), Value::Int(n)]) => {
            Some(format!("cannot {name} {} of {} elements", n.unsigned_abs(), v.len()))
        }
        ("transpose", [Value::Sequence(rows)]) => {
            let lengths: Vec<usize> = rows.iter().filter_map(|row| length(&row)).collect();
            let first = *lengths.first()?;
            let (at, other) = lengths.iter().enumerate().find(|(_, n)| **n != first)?;
            Some(format!("row 0 has {first} elements, row {at} has {other}"))
        }
        ("index" | "dist", [.., Value::Int(n)]) if *n < 0 => Some(format!("the length is {n}")),
        _ if !about_lengths => None,
        _ => {
            let lengths: Vec<String> =
                args.iter().filter_map(length).map(|n| n.to_string()).collect();
            let (last, others) = lengths.split_last()?;
            (!others.is_empty())
                .then(|| format!("the lengths are {} and {last}", others.join(", ")))
        }
    }
}

/// The calls that are under way, with their arguments.
struct Calls<'p> {
    program: &'p ir::Program,
    under_way: Vec<(FunId, Vec<Value>)>,
}

impl Calls<'_> {
    fn is_own(&self, function: FunId) -> bool {
        let row = &self.program.functions[function.0 as usize];
        !row.library && function != self.program.main
    }

    fn shown(&self, (function, args): &(FunId, Vec<Value>), precision: Precision) -> String {
        let name = &self.program.functions[function.0 as usize].name;
        let name = name.split('@').next().unwrap_or(name);
        let args: Vec<String> = args.iter().map(|arg| brief(arg, precision)).collect();
        let args = if args.is_empty() { vec!["…".to_owned()] } else { args };
        format!("`{name}({})`", args.join(", "))
    }
}

impl Observer for Calls<'_> {
    fn enter(&mut self, _: &mut dyn Host, function: FunId, args: &[Value]) {
        if function != self.program.main {
            self.under_way.push((function, args.to_vec()));
            // The arguments of all calls might take much more memory than the program.
            if let Some(old) = self.under_way.len().checked_sub(KEPT_CALLS + 1) {
                self.under_way[old].1 = Vec::new();
            }
        }
    }

    fn leave(&mut self, _: &mut dyn Host, function: FunId, _: &Value) {
        if function != self.program.main {
            self.under_way.pop();
        }
    }

    fn copied(&mut self, _: &mut dyn Host, _: FunId, _: Var, _: &Value) {}
}

/// Returns a value as a short text; of a sequence the first elements.
fn brief(value: &Value, precision: Precision) -> String {
    match value {
        Value::Unit => "…".to_owned(),
        Value::Int(n) => n.to_string(),
        Value::Float(x) => text::float(*x, precision),
        Value::Bool(true) => "T".to_owned(),
        Value::Bool(false) => "F".to_owned(),
        Value::Char(c) => format!("`{}", char::from(*c)),
        Value::Pair(pair) => {
            format!("({}, {})", brief(&pair.0, precision), brief(&pair.1, precision))
        }
        Value::Sequence(Sequence::Chars(chars)) => {
            let shown: Vec<u8> = chars.iter().copied().take(8 * SHOWN_ELEMENTS).collect();
            let dots = if shown.len() < chars.len() { "…" } else { "" };
            format!("\"{}{dots}\"", String::from_utf8_lossy(&shown))
        }
        Value::Sequence(sequence) => {
            let mut shown: Vec<String> = sequence
                .iter()
                .take(SHOWN_ELEMENTS)
                .map(|element| brief(&element, precision))
                .collect();
            if shown.len() < sequence.len() {
                shown.push("…".to_owned());
            }
            format!("[{}]", shown.join(", "))
        }
    }
}
