//! `:kernels`: the launches of an entry, and the time of each kernel.
//!
//! Times are measured by a runtime around the one that programs run on
//! ([`nesl_runtime::profile`]), which is there only while they are wanted.

use super::{Call, Command, Operand};
use crate::bundle::{Bundle, escaped};
use crate::measure::duration;
use crate::output::{Outcome, Output, Problem};
use crate::state::State;
use crate::table::{Table, grouped, size};
use nesl_runtime::profile::{KernelTime, LaunchTime, Profile};
use std::fmt::Write;
use std::time::Duration;

/// The number of kernels in the timeline, at most.
const MAX_TIMELINE_KERNELS: usize = 16;

/// The width of the timeline in text, in characters.
const TEXT_COLUMNS: usize = 48;

/// The width of the timeline in HTML, in pixels.
const TIMELINE_WIDTH: f64 = 560.0;

/// The height of a kernel in the timeline, in pixels.
const ROW_HEIGHT: usize = 20;

/// The width of the names beside the timeline, in pixels.
const NAMES_WIDTH: usize = 180;

pub(super) static KERNELS: Command = Command {
    name: ":kernels",
    operand: Operand::OptionalForms,
    usage: "[FORM|on|off]",
    about: "the launches of a form or of the last entry: kernels, time, bytes",
    doc: "`:kernels sum({x * x : x in xs})` runs a form, compiled however small it is, and lists its kernels: \
          launches, work items, time, bytes of the arrays they were given and made, and the rate at \
          which they were moved if each was moved once, also as a part of the bandwidth of a GPU. A timeline shows when each ran. A kernel is \
          named after its function and its number in `:ir fused`. After `:kernels on`, `:kernels` does so \
          for the last entry; otherwise it shows what was counted for the forms of that entry. Timing \
          waits for each launch on the CPU; it costs nothing when it is off.",
    run: |state, call| match call.operand.trim_end_matches(';') {
        "" => last(state),
        word @ ("on" | "off") => {
            let on = word == "on";
            if !state.time_kernels(on) && on {
                return no_kernels(state);
            }
            let text = if on {
                "The kernels of each entry are timed; `:kernels` shows those of the last one."
            } else {
                "Kernels are no longer timed."
            };
            state.show(Output::Answer(Bundle::text(text)));
            Outcome::Done
        }
        _ => of_forms(state, call),
    },
};

fn no_kernels(state: &State) -> Outcome {
    let message = format!(
        "the runtime `{}` has no kernels; `:set runtime NAME` chooses one that has, `:devices` lists them",
        state.setup.runtime.name
    );
    state.fail(Problem::of_command(message))
}

/// Runs forms and shows their kernels.
fn of_forms(state: &mut State, call: &Call<'_>) -> Outcome {
    let was_on = state.profile().is_some();
    if !state.time_kernels(true) {
        return no_kernels(state);
    }
    // The forms alone are measured, and on the runtime.
    let settings = state.session.settings_mut();
    let lazy = std::mem::replace(&mut settings.lazy, false);
    let interpret_first = std::mem::replace(&mut settings.interpret_first, false);
    let outcome = state.enter_text(call.entry, call.operand, call.whole);
    let settings = state.session.settings_mut();
    (settings.lazy, settings.interpret_first) = (lazy, interpret_first);
    if let Some(profile) = state.profile().cloned() {
        let bandwidth = state.session.stats().memory_bandwidth;
        state.show(Output::Answer(shown(&profile, bandwidth)));
    }
    if !was_on {
        state.time_kernels(false);
    }
    outcome
}

/// Shows the launches of the last entry.
fn last(state: &mut State) -> Outcome {
    if let Some(profile) = state.profile() {
        let bandwidth = state.session.stats().memory_bandwidth;
        state.show(Output::Answer(shown(profile, bandwidth)));
        return Outcome::Done;
    }
    let mut table = Table::new(&["name", "time", "launches", "transferred", "reads", "writes"]);
    for form in state.forms() {
        let usage = &form.usage;
        table.row([
            form.name.clone(),
            duration(usage.seconds),
            grouped(usage.launches),
            size(usage.transferred),
            grouped(usage.reads),
            grouped(usage.writes),
        ]);
    }
    let hint = "`:kernels FORM` times each kernel of a form, `:kernels on` those of all entries.";
    let bundle = if table.is_empty() {
        Bundle::text(format!("Nothing has run yet. {hint}"))
    } else {
        let html = format!("{}<p><small>{}</small></p>", table.html(), escaped(hint));
        Bundle::text(format!("{table}{hint}")).with_html(html)
    };
    state.show(Output::Answer(bundle));
    Outcome::Done
}

/// Returns the kernels as a table with a timeline; `bandwidth` is that of the device in bytes a second,
/// if it is known.
fn shown(profile: &Profile, bandwidth: Option<u64>) -> Bundle {
    let kernels: Vec<KernelTime> =
        profile.kernels().into_iter().filter(|kernel| kernel.launches > 0).collect();
    if kernels.is_empty() {
        return Bundle::text("No kernel was launched.");
    }
    let table = table(&kernels, bandwidth);
    let timeline = Timeline::new(&kernels, profile.launches());
    let html = format!("{}{}", table.html(), timeline.html());
    Bundle::text(format!("{table}\n{}", timeline.text())).with_html(html)
}

fn table(kernels: &[KernelTime], bandwidth: Option<u64>) -> Table {
    let all: f64 = kernels.iter().map(|kernel| kernel.time.as_secs_f64()).sum();
    let headings = ["kernel", "launches", "work items", "time", "share", "bytes", "rate"];
    let mut table = Table::new(&headings);
    for kernel in kernels {
        let seconds = kernel.time.as_secs_f64();
        table.row([
            kernel.name.clone(),
            grouped(kernel.launches),
            grouped(kernel.work_items),
            duration(seconds),
            format!("{:.0} %", 100.0 * seconds / all.max(f64::MIN_POSITIVE)),
            size(kernel.bytes),
            rate(kernel.bytes, seconds, bandwidth),
        ]);
    }
    table
}

/// Returns bytes a second, and which part that is of what the device can do.
fn rate(bytes: u64, seconds: f64, bandwidth: Option<u64>) -> String {
    let rate = bytes as f64 / seconds;
    if !rate.is_finite() {
        return "-".to_owned();
    }
    let part = bandwidth.map(|most| format!(" ({:.0} %)", 100.0 * rate / most as f64));
    let decimals = if rate >= 1e10 { 0 } else { 2 };
    format!("{:.decimals$} GB/s{}", rate / 1e9, part.unwrap_or_default())
}

/// When each kernel ran.
struct Timeline {
    /// The names, and when each began and ended, in seconds since the first launch.
    rows: Vec<(String, Vec<(f64, f64)>)>,
    /// The end of the last launch, in seconds.
    end: f64,
    /// True if not all kernels or launches are in it.
    is_partial: bool,
}

impl Timeline {
    fn new(kernels: &[KernelTime], launches: Vec<LaunchTime>) -> Timeline {
        let first = launches.iter().map(|launch| launch.begin).min().unwrap_or_default();
        let since = |at: Duration| at.saturating_sub(first).as_secs_f64();
        let ends = launches.iter().map(|launch| since(launch.begin + launch.time));
        let end = ends.fold(f64::MIN_POSITIVE, f64::max);
        let shown = kernels.iter().take(MAX_TIMELINE_KERNELS);
        let rows = shown.map(|kernel| {
            let own = launches.iter().filter(|launch| launch.name == kernel.name);
            let spans = own.map(|launch| (since(launch.begin), since(launch.begin + launch.time)));
            (kernel.name.clone(), spans.collect())
        });
        let all: u64 = kernels.iter().map(|kernel| kernel.launches).sum();
        let is_partial = kernels.len() > MAX_TIMELINE_KERNELS || all > launches.len() as u64;
        Timeline { rows: rows.collect(), end, is_partial }
    }

    /// Returns a line below the timeline.
    fn caption(&self) -> String {
        let part = if self.is_partial { "; the first launches of the slowest kernels" } else { "" };
        format!("{} from the first launch to the last{part}", duration(self.end))
    }

    fn text(&self) -> String {
        let names = self.rows.iter().map(|(name, _)| name.chars().count());
        let width = names.max().unwrap_or(0);
        let mut out = String::new();
        for (name, spans) in &self.rows {
            let mut line = vec!['·'; TEXT_COLUMNS];
            for (begin, end) in spans {
                let column = |at: &f64| {
                    ((at / self.end * TEXT_COLUMNS as f64) as usize).min(TEXT_COLUMNS - 1)
                };
                line[column(begin)..=column(end)].fill('█');
            }
            let line: String = line.into_iter().collect();
            let _ = writeln!(out, "{name:<width$}  {line}");
        }
        out + &self.caption()
    }

    fn html(&self) -> String {
        let (width, height) = (NAMES_WIDTH as f64 + TIMELINE_WIDTH, self.rows.len() * ROW_HEIGHT);
        let mut out = format!(
            "<svg role=\"img\" aria-label=\"timeline of kernels\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"12\" \
             fill=\"currentColor\">"
        );
        for (number, (name, spans)) in self.rows.iter().enumerate() {
            let (y, middle) = (number * ROW_HEIGHT, number * ROW_HEIGHT + ROW_HEIGHT / 2);
            let _ = write!(
                out,
                "<text x=\"0\" y=\"{middle}\" dominant-baseline=\"central\">{}</text>",
                escaped(name)
            );
            for (begin, end) in spans {
                let x = NAMES_WIDTH as f64 + begin / self.end * TIMELINE_WIDTH;
                let width = ((end - begin) / self.end * TIMELINE_WIDTH).max(1.0);
                let _ = write!(
                    out,
                    "<rect x=\"{x:.1}\" y=\"{}\" width=\"{width:.1}\" height=\"{}\" fill=\"#2f6feb\">\
                     <title>{}: {}</title></rect>",
                    y + 3,
                    ROW_HEIGHT - 6,
                    escaped(name),
                    duration(end - begin)
                );
            }
        }
        let _ = write!(out, "</svg><p><small>{}</small></p>", escaped(&self.caption()));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::rate;

    #[test]
    fn rates_are_shares_of_a_known_bandwidth() {
        assert_eq!(rate(1_500_000, 1e-3, None), "1.50 GB/s");
        assert_eq!(rate(2_400_000_000, 1e-3, Some(4_800_000_000_000)), "2400 GB/s (50 %)");
        assert_eq!(rate(8, 0.0, None), "-");
    }
}
