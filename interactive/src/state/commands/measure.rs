//! Commands that measure: `:time`, `:stats`, `:vars`.

use super::{Call, Command, Operand};
use crate::bundle::Bundle;
use crate::measure;
use crate::output::{Outcome, Output, Problem};
use crate::state::{FormRun, State};
use crate::table::{Table, grouped, size};
use nesl_core::syntax::entry::{count_of, wrong_count_of};
use nesl_engine::{Extent, Round, Usage, Variable};

/// The number of times that `:time` runs a form, at most.
const MAX_REPETITIONS: usize = 10_000;

pub(super) static TIME: Command = Command {
    name: ":time",
    operand: Operand::CountedForms,
    usage: "[N] FORM",
    about: "run a form, N times if a number stands before it, and tell how long it took",
    doc: "For each form: the time without showing the value, how much of it was compiling and running, the \
          launches of kernels, and the bytes to and from the runtime. Definitions are computed at once, \
          so that the time is that of the form alone. The forms may be the rest of the entry. What was \
          compiled or cached before is faster the second time. `:time 20 sum(xs)` runs the form 20 times, and \
          tells the least, the median and the greatest of the times; its value is shown once.",
    run: |state, call| {
        if let Some((count, start)) = count_of(call.operand) {
            return repeated(state, call, count, &call.operand[start..]);
        }
        if let Some(number) = wrong_count_of(call.operand) {
            return state.fail(Problem::of_command(format!("{}, not {number}", bounds())));
        }
        let before = state.forms_so_far();
        let lazy = std::mem::replace(&mut state.session.settings_mut().lazy, false);
        let outcome = state.enter_text(call.entry, call.operand, call.whole);
        state.session.settings_mut().lazy = lazy;
        let forms = state.forms().get(before..).unwrap_or_default();
        let ran: Vec<&FormRun> =
            forms.iter().filter(|form| form.usage != Usage::default()).collect();
        let mut lines: Vec<String> =
            ran.iter().map(|form| times(&format!("time of {}", form.name), &form.usage)).collect();
        if ran.len() > 1 {
            lines.push(times("in all", &total(&ran)));
        }
        if !lines.is_empty() {
            let text = state.fitted(&lines.join("\n"));
            state.show(Output::Answer(Bundle::colored(format!("\x1b[2m{text}\x1b[0m"))));
        }
        outcome
    },
};

pub(super) static STATS: Command = Command {
    name: ":stats",
    operand: Operand::None,
    usage: "",
    about: "what the runtime did, and where the variables are",
    doc: "Launches, modules, transfers, waits and memory since the session began.",
    run: |state, _| {
        let text = measure::stats(&state.session.stats(), state.width());
        state.show(Output::Answer(Bundle::text(text.trim_end())));
        Outcome::Done
    },
};

pub(super) static VARS: Command = Command {
    name: ":vars",
    operand: Operand::None,
    usage: "",
    about: "the variables: type, shape, bytes, and where each is",
    doc: "The shape of a sequence is its length; of a sequence of sequences `1,000 × 3` if all rows are \
          equally long, `60 rows, 0–59 long` if not, and `60 rows, 1,770 elements` if the lengths are on \
          the device and were not read. A variable is on the host, on the device (for the runtime `cpu`, \
          in an array that its kernels use), on both, or not yet computed: it will be when something \
          needs it. Nothing is computed or read for this table.",
    run: |state, _| {
        state.show(Output::Answer(variables(state)));
        Outcome::Done
    },
};

/// Runs forms several times, shows what they give the last time, and tells how long they took.
fn repeated(state: &mut State, call: &Call<'_>, count: usize, forms: &str) -> Outcome {
    if !(1..=MAX_REPETITIONS).contains(&count) {
        return state.fail(Problem::of_command(bounds()));
    }
    let lazy = std::mem::replace(&mut state.session.settings_mut().lazy, false);
    let (mut outcome, mut seconds) = (Outcome::Done, Vec::with_capacity(count));
    let rounds = state.session.progress().rounds();
    for round in 1..=count {
        rounds.begin(Round { of: "run", now: round as u64, all: count as u64 });
        let before = state.forms_so_far();
        let is_last = round == count;
        outcome = match is_last {
            true => state.enter_text(call.entry, forms, call.whole),
            false => state.enter_unseen(call.entry, forms, call.whole),
        };
        let ran = state.take_forms(before);
        seconds.push(ran.iter().map(|form| form.usage.seconds).sum::<f64>());
        if outcome != Outcome::Done {
            break;
        }
    }
    drop(rounds);
    state.session.settings_mut().lazy = lazy;
    if outcome != Outcome::Done {
        return outcome;
    }
    seconds.sort_by(f64::total_cmp);
    let (least, most) = (seconds[0], seconds[count - 1]);
    let median = (seconds[(count - 1) / 2] + seconds[count / 2]) / 2.0;
    let [least, median, most] = [least, median, most].map(measure::duration);
    let text = format!(
        "time of {} runs: {least} at least, {median} in the median, {most} at most",
        grouped(count as u64)
    );
    let text = state.fitted(&text);
    state.show(Output::Answer(Bundle::colored(format!("\x1b[2m{text}\x1b[0m"))));
    outcome
}

/// Returns how often a form can be timed.
fn bounds() -> String {
    format!("a form is timed 1 to {} times", grouped(MAX_REPETITIONS as u64))
}

/// Returns what a form took, in a line.
fn times(of: &str, usage: &Usage) -> String {
    let Usage { seconds, compile_seconds, launches, transferred, .. } = *usage;
    let running = (seconds - compile_seconds).max(0.0);
    let launches = match launches {
        1 => "1 launch".to_owned(),
        n => format!("{} launches", grouped(n)),
    };
    format!(
        "{of}: {}, of which {} compiling and {} running; {launches}; {} transferred",
        measure::duration(seconds),
        measure::duration(compile_seconds),
        measure::duration(running),
        size(transferred),
    )
}

fn total(forms: &[&FormRun]) -> Usage {
    let mut total = Usage::default();
    for FormRun { usage, .. } in forms {
        total.seconds += usage.seconds;
        total.compile_seconds += usage.compile_seconds;
        total.launches += usage.launches;
        total.transferred += usage.transferred;
    }
    total
}

/// Returns the table of the variables.
fn variables(state: &State) -> Bundle {
    let stats = state.session.stats();
    if stats.variables.is_empty() {
        return Bundle::text("There are no variables.");
    }
    let mut table = Table::new(&["name", "type", "shape", "bytes", "where"]);
    for variable in &stats.variables {
        let Variable { name, ty, host_bytes, runtime_bytes, spilled, deferred, shadowed, .. } =
            variable;
        let place = match (host_bytes, runtime_bytes) {
            _ if *deferred => "not yet computed",
            (_, Some(_)) if *spilled => "host",
            (Some(_), Some(_)) => "both",
            (None, Some(_)) => "device",
            (Some(_), None) => "host",
            (None, None) => "nowhere",
        };
        // A number on the device is no array.
        let bytes = runtime_bytes.filter(|bytes| *bytes > 0).or(*host_bytes).or(*runtime_bytes);
        table.row([
            if *shadowed { format!("{name} (an earlier one)") } else { name.clone() },
            ty.clone(),
            shape(&variable.shape),
            bytes.map_or_else(|| "-".to_owned(), grouped),
            place.to_owned(),
        ]);
    }
    table.bundle_in(state.width())
}

/// Returns the lengths of a nested sequence in a few words.
pub(super) fn shape(extents: &[Extent]) -> String {
    let Some(outer) = extents.first() else { return String::new() };
    let is_regular = |extent: &Extent| extent.bounds.is_some_and(|(least, most)| least == most);
    let regular: Vec<String> = extents
        .iter()
        .take_while(|extent| is_regular(extent))
        .filter_map(|extent| extent.bounds.map(|(length, _)| grouped(length)))
        .collect();
    if regular.len() == extents.len() {
        return regular.join(" × ");
    }
    let rows = if regular.len() == 1 && outer.total == 1 { "row" } else { "rows" };
    let before = format!("{} {rows}", regular.join(" × "));
    match extents.get(regular.len()) {
        Some(Extent { bounds: Some((least, most)), .. }) => {
            format!("{before}, {}–{} long", grouped(*least), grouped(*most))
        }
        Some(Extent { total, bounds: None }) => format!("{before}, {} elements", grouped(*total)),
        None => before,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_told_by_their_lengths() {
        let extent = |total, least, most| Extent { total, bounds: Some((least, most)) };
        let unread = Extent { total: 1770, bounds: None };
        let row = extent(60, 60, 60);
        assert_eq!(shape(&[]), "");
        assert_eq!(shape(&[extent(1000, 1000, 1000), extent(3000, 3, 3)]), "1,000 × 3");
        assert_eq!(shape(&[row, extent(1770, 0, 59)]), "60 rows, 0–59 long");
        assert_eq!(shape(&[row, unread]), "60 rows, 1,770 elements");
        let cube = [extent(2, 2, 2), extent(6, 3, 3), extent(9, 1, 2)];
        assert_eq!(shape(&cube), "2 × 3 rows, 1–2 long");
    }
}
