//! `:kernels`: the launches of an entry, and the time of each kernel.
//!
//! Times are measured by a runtime around the one that programs run on ([`nesl_runtime::profile`]).

use super::{Call, Command, Operand};
use crate::bundle::{Bundle, escaped};
use crate::css::DIM;
use crate::measure::duration;
use crate::output::{Outcome, Output, Problem};
use crate::state::State;
use crate::table::{Table, grouped, size};
use nesl_core::base::shorten;
use nesl_runtime::profile::{KernelTime, LaunchTime, Profile};
use std::fmt::Write;
use std::time::Duration;

/// The words that explain bytes that are limits.
const LIMIT_NOTE: &str =
    ", at most the arrays that they were given (≤) where they loop over parts of them";

/// The part of the time from the first launch to the last below which the gaps between launches are left
/// out of the timeline: the kernels could not be seen.
const MIN_BUSY_PART: f64 = 0.25;

/// The number of kernels in the timeline, at most.
const MAX_TIMELINE_KERNELS: usize = 16;

/// The width of the timeline in text, in characters.
const TEXT_COLUMNS: usize = 48;

/// The width of the timeline in text on a narrow screen, in characters, at least.
const MIN_TEXT_COLUMNS: usize = 12;

/// The characters of a name beside the timeline in text, at most, on a screen however narrow.
const MIN_NAME_CHARS: usize = 8;

/// The width of the timeline in HTML, in pixels.
const TIMELINE_WIDTH: f64 = 560.0;

/// The height of a kernel in the timeline, in pixels.
const ROW_HEIGHT: usize = 20;

/// The height of the times below the timeline, in pixels.
const AXIS_HEIGHT: f64 = 24.0;

/// The width to the right of the timeline, for half of the last time, in pixels.
const RIGHT_WIDTH: f64 = 30.0;

/// The characters of a name beside the timeline, at most.
const NAME_CHARS: usize = 24;

/// The width of the names beside the timeline, in pixels.
const NAMES_WIDTH: usize = 180;

pub(super) static KERNELS: Command = Command {
    name: ":kernels",
    operand: Operand::OptionalForms,
    usage: "[FORM|on|off]",
    about: "the launches of a form or of the last entry: kernels, time, bytes",
    doc: "`:kernels sum({x * x : x in xs})` runs a form, compiled however small it is, and lists its kernels: \
          launches, work items, time and its share, the bytes of arrays that they read and wrote, each \
          element once, and the rate, also as a part of the bandwidth of a GPU. They stand in the order \
          of their first launches, and a timeline shows when each ran. A kernel is \
          named after its function and its number in `:ir fused`; if other forms have a kernel of that \
          name, it has a number in parentheses, too. `:kernels` alone shows those of the last entry; an \
          entry that launched none, as small ones do, which are interpreted, is shown form by form. Timing \
          waits for each launch on the CPU; `:kernels off` ends that.",
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
            state.say(text);
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
    if outcome == Outcome::Done
        && let Some(profile) = state.profile().cloned()
    {
        state.show(Output::Answer(shown(state, &profile)));
    }
    if !was_on {
        state.time_kernels(false);
    }
    outcome
}

/// Shows the launches of the last entry.
fn last(state: &mut State) -> Outcome {
    let profile = state.profile().cloned();
    if let Some(profile) = profile.as_ref().filter(|profile| !profile.launches().is_empty()) {
        state.show(Output::Answer(shown(state, profile)));
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
    let hint = "`:kernels FORM` runs a form as kernels, however small it is, and times each.";
    let bundle = if table.is_empty() {
        Bundle::text(state.fitted(&format!("Nothing has run yet. {hint}")))
    } else {
        let none = if profile.is_some() { "No kernel was launched. " } else { "" };
        let said = format!("{none}{hint}");
        let html = format!("{}{}", table.html(), note(&said));
        let plain = table.bundle_in(state.width()).plain;
        Bundle::text(format!("{plain}\n{}", state.fitted(&said))).with_html(html)
    };
    state.show(Output::Answer(bundle));
    Outcome::Done
}

/// Returns the kernels as a table with a timeline, in lines that the screen holds.
fn shown(state: &State, profile: &Profile) -> Bundle {
    let mut kernels: Vec<KernelTime> =
        profile.kernels().into_iter().filter(|kernel| kernel.launches > 0).collect();
    if kernels.is_empty() {
        return Bundle::text("No kernel was launched.");
    }
    let launches = profile.launches();
    let first = |kernel: &KernelTime| launches.iter().position(|one| one.name == kernel.name);
    kernels.sort_by_key(|kernel| first(kernel).unwrap_or(launches.len()));
    let table = table(&kernels, state.session.stats().memory_bandwidth);
    let timeline = Timeline::new(&kernels, launches);
    let limits = if kernels.iter().any(|kernel| kernel.is_bytes_limit) { LIMIT_NOTE } else { "" };
    let note = format!(
        "bytes: what the launches read and wrote, each element once{limits}; share: of the time of all \
         kernels"
    );
    let html = format!("{}{}{}", table.html(), self::note(&note), timeline.html());
    let width = state.width();
    let plain = [
        table.bundle_in(width).plain,
        state.fitted(&format!("({note})")),
        String::new(),
        state.fitted(&timeline.caption()),
        timeline.text(width),
    ];
    Bundle::text(plain.join("\n")).with_html(html)
}

/// Returns what is said about a table or a picture, in HTML.
fn note(text: &str) -> String {
    format!("<div style=\"{DIM};margin:.3em 0 .8em\"><small>{}</small></div>", escaped(text))
}

/// Returns a kernel's name without the number that tells it from others of that name, if it is the only one
/// of that name here.
fn own_name<'a>(kernel: &'a KernelTime, all: &[KernelTime]) -> &'a str {
    let bare = |name: &'a str| name.rsplit_once(" (").map_or(name, |(bare, _)| bare);
    let own = bare(&kernel.name);
    let same = |other: &&KernelTime| {
        other.name == own || other.name.strip_prefix(own).is_some_and(|end| end.starts_with(" ("))
    };
    if all.iter().filter(same).count() == 1 { own } else { &kernel.name }
}

/// Returns the table of the kernels; `bandwidth` is that of the device in bytes a second, if it is known.
fn table(kernels: &[KernelTime], bandwidth: Option<u64>) -> Table {
    let all: f64 = kernels.iter().map(|kernel| kernel.time.as_secs_f64()).sum();
    let headings = ["", "kernel", "launches", "work items", "time", "share", "bytes", "rate"];
    let mut table = Table::new(&headings);
    for (at, kernel) in kernels.iter().enumerate() {
        let seconds = kernel.time.as_secs_f64();
        let limit = if kernel.is_bytes_limit { "≤ " } else { "" };
        table.row([
            (at + 1).to_string(),
            own_name(kernel, kernels).to_owned(),
            grouped(kernel.launches),
            grouped(kernel.work_items),
            duration(seconds),
            format!("{:.0} %", 100.0 * seconds / all.max(f64::MIN_POSITIVE)),
            format!("{limit}{}", size(kernel.bytes)),
            format!("{limit}{}", rate(kernel.bytes, seconds, bandwidth)),
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
    let (scaled, unit) = match rate {
        r if r >= 1e8 => (r / 1e9, "GB/s"),
        r if r >= 1e5 => (r / 1e6, "MB/s"),
        r => (r / 1e3, "kB/s"),
    };
    let decimals = if scaled >= 10.0 { 0 } else { 2 };
    format!("{scaled:.decimals$} {unit}{}", part.unwrap_or_default())
}

/// The times at which each kernel ran.
struct Timeline {
    /// The names, and when each began and ended, in seconds since the first launch.
    rows: Vec<(String, Vec<(f64, f64)>)>,
    /// The end of the last launch, in seconds.
    end: f64,
    /// The time between launches, in seconds, if it is left out.
    left_out: Option<f64>,
    /// True if not all kernels or launches are in it.
    is_partial: bool,
}

impl Timeline {
    fn new(kernels: &[KernelTime], launches: Vec<LaunchTime>) -> Timeline {
        let (launches, left_out) = without_gaps(launches);
        let first = launches.iter().map(|launch| launch.begin).min().unwrap_or_default();
        let since = |at: Duration| at.saturating_sub(first).as_secs_f64();
        let ends = launches.iter().map(|launch| since(launch.begin + launch.time));
        let end = ends.fold(f64::MIN_POSITIVE, f64::max);
        // The slowest ones, in the order of the table.
        let mut slowest: Vec<usize> = (0..kernels.len()).collect();
        slowest.sort_by_key(|at| std::cmp::Reverse(kernels[*at].time));
        slowest.truncate(MAX_TIMELINE_KERNELS);
        slowest.sort();
        let rows = slowest.into_iter().map(|at| {
            let own = launches.iter().filter(|launch| launch.name == kernels[at].name);
            let spans = own.map(|launch| (since(launch.begin), since(launch.begin + launch.time)));
            (format!("{} {}", at + 1, own_name(&kernels[at], kernels)), spans.collect())
        });
        let all: u64 = kernels.iter().map(|kernel| kernel.launches).sum();
        let is_partial = kernels.len() > MAX_TIMELINE_KERNELS || all > launches.len() as u64;
        Timeline { rows: rows.collect(), end, left_out, is_partial }
    }

    /// Returns a line above the timeline.
    fn caption(&self) -> String {
        let part = if self.is_partial { "; the first launches of the slowest kernels" } else { "" };
        match self.left_out {
            None => format!("When each kernel ran, from the first launch on{part}:"),
            Some(gaps) => format!(
                "When each kernel ran, without the {} between launches, in which kernels are compiled and the \
                 host works{part}:",
                duration(gaps)
            ),
        }
    }

    /// Returns the timeline as text for a screen of so many columns, if there is one: names are shortened where they
    /// would take half of a line, and the times have the rest.
    fn text(&self, screen: Option<usize>) -> String {
        let room = screen.map_or(usize::MAX, |columns| columns.saturating_sub(1));
        let names = self.rows.iter().map(|(name, _)| name.chars().count());
        let width = names.max().unwrap_or(0).min((room / 2).max(MIN_NAME_CHARS));
        let columns = room.saturating_sub(width + 2).clamp(MIN_TEXT_COLUMNS, TEXT_COLUMNS);
        let mut out = String::new();
        for (name, spans) in &self.rows {
            let name = shorten(name, width);
            let mut line = vec!['·'; columns];
            for (begin, end) in spans {
                let column =
                    |at: &f64| ((at / self.end * columns as f64) as usize).min(columns - 1);
                line[column(begin)..=column(end)].fill('█');
            }
            let line: String = line.into_iter().collect();
            let _ = writeln!(out, "{name:<width$}  {line}");
        }
        let end = duration(self.end);
        out + &format!("{:<width$}  0{end:>1$}", "", columns - 1)
    }

    fn html(&self) -> String {
        let rows_height = (self.rows.len() * ROW_HEIGHT) as f64;
        let width = NAMES_WIDTH as f64 + TIMELINE_WIDTH + RIGHT_WIDTH;
        let height = rows_height + AXIS_HEIGHT;
        let mut out = format!(
            "{}<svg role=\"img\" aria-label=\"{}\" width=\"{width}\" \
             height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" \
             font-size=\"12\" fill=\"currentColor\">",
            note(&self.caption()),
            escaped(&format!(
                "timeline of {} kernels, {} long",
                self.rows.len(),
                duration(self.end)
            ))
        );
        let across = |seconds: f64| NAMES_WIDTH as f64 + seconds / self.end * TIMELINE_WIDTH;
        for seconds in ticks(self.end) {
            let x = across(seconds);
            let _ = write!(
                out,
                "<path d=\"M{x:.1} 0V{:.1}\" stroke=\"currentColor\" stroke-opacity=\"0.25\"/><text \
                 x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                rows_height + 4.0,
                rows_height + 17.0,
                tick_text(seconds)
            );
        }
        for (number, (name, spans)) in self.rows.iter().enumerate() {
            let (y, middle) = (number * ROW_HEIGHT, number * ROW_HEIGHT + ROW_HEIGHT / 2);
            let _ = write!(
                out,
                "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\" dominant-baseline=\"central\">{}</text>",
                NAMES_WIDTH - 8,
                escaped(&shorten(name, NAME_CHARS))
            );
            for (begin, end) in spans {
                let _ = write!(
                    out,
                    "<rect x=\"{:.1}\" y=\"{}\" width=\"{:.1}\" height=\"{}\" fill=\"#2f6feb\">\
                     <title>{}: {} from {} on</title></rect>",
                    across(*begin),
                    y + 3,
                    ((end - begin) / self.end * TIMELINE_WIDTH).max(1.5),
                    ROW_HEIGHT - 6,
                    escaped(name),
                    duration(end - begin),
                    duration(*begin)
                );
            }
        }
        out + "</svg>"
    }
}

/// Returns the launches one right after the other, and the time between them in seconds, if that is most
/// of all; otherwise the launches as they are.
fn without_gaps(mut launches: Vec<LaunchTime>) -> (Vec<LaunchTime>, Option<f64>) {
    launches.sort_by_key(|launch| launch.begin);
    let (mut busy, mut gaps) = (Duration::ZERO, Duration::ZERO);
    let mut until = launches.first().map_or(Duration::ZERO, |launch| launch.begin);
    let mut moved = launches.clone();
    for launch in &mut moved {
        gaps += launch.begin.saturating_sub(until);
        until = until.max(launch.begin + launch.time);
        launch.begin -= gaps;
        busy += launch.time;
    }
    let all = (busy + gaps).as_secs_f64();
    if busy.as_secs_f64() < MIN_BUSY_PART * all {
        (moved, Some(gaps.as_secs_f64()))
    } else {
        (launches, None)
    }
}

/// Returns about six round times from zero to an end, in seconds.
fn ticks(end: f64) -> Vec<f64> {
    let raw = end / 6.0;
    let power = 10f64.powf(raw.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= raw);
    let step = factor.unwrap_or(10.0) * power;
    // The last one may be the end itself, but for rounding.
    let last = end * (1.0 + 1e-9);
    (0..8).map(|at| f64::from(at) * step).take_while(|seconds| *seconds <= last).collect()
}

/// Returns a round time in the unit that fits.
fn tick_text(seconds: f64) -> String {
    let (scaled, unit) = match seconds {
        0.0 => return "0".to_owned(),
        s if s >= 0.9999 => (s, "s"),
        s if s >= 0.9999e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "µs"),
    };
    // Round numbers need few digits, whatever the division has left of them.
    format!("{} {unit}", (scaled * 1e3).round() / 1e3)
}

#[cfg(test)]
mod tests {
    use super::{rate, tick_text, ticks, without_gaps};
    use nesl_runtime::profile::LaunchTime;
    use std::time::Duration;

    #[test]
    fn long_gaps_are_left_out() {
        let launch = |begin, time| LaunchTime {
            name: "main kernel 0".to_owned(),
            begin: Duration::from_micros(begin),
            time: Duration::from_micros(time),
            work_items: 1,
            bytes: 8,
        };
        let begins =
            |all: Vec<LaunchTime>| all.iter().map(|one| one.begin.as_micros()).collect::<Vec<_>>();
        let (all, gaps) = without_gaps(vec![launch(100, 5), launch(105, 5), launch(1_110, 10)]);
        assert_eq!((begins(all), gaps), (vec![100, 105, 110], Some(1e-3)));
        let (all, gaps) = without_gaps(vec![launch(100, 5), launch(108, 5)]);
        assert_eq!((begins(all), gaps), (vec![100, 108], None));
    }

    #[test]
    fn times_below_the_timeline_are_round() {
        let texts = |end: f64| ticks(end).into_iter().map(tick_text).collect::<Vec<_>>().join(" ");
        assert_eq!(texts(0.0123), "0 5 ms 10 ms");
        assert_eq!(texts(6.5e-5), "0 20 µs 40 µs 60 µs");
        assert_eq!(texts(1.2), "0 200 ms 400 ms 600 ms 800 ms 1 s 1.2 s");
    }

    #[test]
    fn rates_are_shares_of_a_known_bandwidth() {
        assert_eq!(rate(1_500_000, 1e-3, None), "1.50 GB/s");
        assert_eq!(rate(2_400_000_000, 1e-3, Some(4_800_000_000_000)), "2400 GB/s (50 %)");
        assert_eq!(rate(8, 200e-6, None), "40 kB/s");
        assert_eq!(rate(8, 0.0, None), "-");
    }
}
