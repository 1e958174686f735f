//! Commands that change the session: `:set`, `:devices`, `:undo`, `:reset`.

use super::{Command, Commands, Operand, word_start};
use crate::completion::{Completion, Completions};
use crate::output::{Outcome, Output, Problem};
use crate::runtimes::named;
use crate::state::State;
use crate::table::Table;
use nesl_engine::Precision;
use nesl_runtime::runtime::{MAX_THREADS, default_memory_limit};
use std::time::Duration;

/// A setting: its name, its values in words, and what it is.
struct Setting {
    name: &'static str,
    values: &'static str,
    about: &'static str,
    change: fn(&mut State, &str) -> Result<(), String>,
    current: fn(&State) -> String,
}

/// The settings that `:set` knows.
static SETTINGS: &[Setting] = &[
    Setting {
        name: "precision",
        values: "32|64",
        about: "bits of an int and of a float",
        change: |state, value| {
            state.session.settings_mut().precision = match value {
                "32" => Precision::Bits32,
                "64" => Precision::Bits64,
                _ => return Err("a precision is 32 or 64".to_owned()),
            };
            Ok(())
        },
        current: |state| match state.session.settings().precision {
            Precision::Bits32 => "32".to_owned(),
            Precision::Bits64 => "64".to_owned(),
        },
    },
    Setting {
        name: "runtime",
        values: "NAME",
        about: "where programs run",
        change: |state, value| {
            let runtimes = state.setup.runtimes;
            let row = named(runtimes, value).ok_or_else(|| {
                let names: Vec<&str> = runtimes.iter().map(|row| row.name).collect();
                format!("the runtimes are {}", names.join(", "))
            })?;
            state.set_runtime(row).map_err(|missing| {
                format!(
                    "{value}: {missing}; `:devices` tells what there is; programs still run on {}",
                    state.setup.runtime.name
                )
            })
        },
        current: |state| state.setup.runtime.name.to_owned(),
    },
    Setting {
        name: "seed",
        values: "N",
        about: "the seed of the random numbers",
        change: |state, value| {
            let seed = value.parse().map_err(|_| "a seed is a whole number".to_owned())?;
            state.session.restart_random(seed);
            Ok(())
        },
        current: |state| state.session.settings().seed.to_string(),
    },
    Setting {
        name: "threads",
        values: "N",
        about: "the number of threads that compute",
        change: |state, value| {
            let before = std::mem::replace(&mut state.setup.options.threads, threads(value)?);
            state
                .set_runtime(state.setup.runtime)
                .inspect_err(|_| state.setup.options.threads = before)
        },
        current: |state| state.setup.options.threads.to_string(),
    },
    Setting {
        name: "memory",
        values: "BYTES",
        about: "the memory that arrays may take, such as 500M or 4G",
        change: |state, value| {
            let bytes = bytes(value)?;
            let before = std::mem::replace(&mut state.setup.options.memory, bytes);
            state
                .set_runtime(state.setup.runtime)
                .inspect_err(|_| state.setup.options.memory = before)
        },
        current: |state| crate::table::size(state.setup.options.memory),
    },
    Setting {
        name: "idle",
        values: "SECONDS|off",
        about: "the time without cells after which a notebook gives its device back",
        change: |state, value| {
            if state.front.is_some() {
                return Err("the prompt keeps its device; notebooks give theirs back".to_owned());
            }
            state.setup.idle = idle(value)?;
            Ok(())
        },
        current: |state| match state.setup.idle {
            _ if state.front.is_some() => NONE.to_owned(),
            Some(time) => time.as_secs().to_string(),
            None => "off".to_owned(),
        },
    },
    Setting {
        name: "digits",
        values: "N|all",
        about: "the significant digits of floats in tables",
        change: |state, value| {
            state.setup.display.digits = match value {
                "all" => None,
                number => {
                    let digits = number.parse().ok().filter(|digits| (1..=17).contains(digits));
                    Some(digits.ok_or_else(|| "give 1 to 17 digits, or all".to_owned())?)
                }
            };
            if let Some(front) = &mut state.front {
                front.set_digits(state.setup.display.digits);
            }
            Ok(())
        },
        current: |state| match state.setup.display.digits {
            Some(digits) => digits.to_string(),
            None => "all".to_owned(),
        },
    },
    Setting {
        name: "print_length",
        values: "N|all",
        about: "the number of elements of a sequence that are shown as text",
        change: |state, value| {
            let (length, bytes) = match value {
                "all" => (None, state.setup.display.full_bytes),
                number => {
                    let length = number.parse().map_err(|_| "a length is a number, or all")?;
                    (Some(length), state.setup.display.brief_bytes)
                }
            };
            let settings = state.session.settings_mut();
            (settings.print_length, settings.print_bytes) = (length, bytes);
            Ok(())
        },
        current: |state| match state.session.settings().print_length {
            Some(length) => length.to_string(),
            None => "all".to_owned(),
        },
    },
    Setting {
        name: "rows",
        values: "N|all",
        about: "the rows of the screen that a value takes up at the prompt, at most",
        change: |state, value| state.set_front_setting("rows", value),
        current: |state| state.front_setting("rows").unwrap_or_else(|| NONE.to_owned()),
    },
    Setting {
        name: "plots",
        values: "auto|text|kitty|sixel|svg",
        about: "plots at the prompt: as pictures or text, or in files of the current folder",
        change: |state, value| state.set_front_setting("plots", value),
        current: |state| state.front_setting("plots").unwrap_or_else(|| NONE.to_owned()),
    },
    Setting {
        name: "editing",
        values: "emacs|vi",
        about: "the keys of the prompt",
        change: |state, value| state.set_front_setting("editing", value),
        current: |state| state.front_setting("editing").unwrap_or_else(|| NONE.to_owned()),
    },
];

/// The settings that only the prompt has, and those that only notebooks have.
const OF_PROMPT: [&str; 3] = ["rows", "plots", "editing"];
const OF_NOTEBOOKS: [&str; 2] = ["idle", "digits"];

/// The value of a setting that a front end does not have.
const NONE: &str = "–";

pub(super) static SET: Command = Command {
    name: ":set",
    operand: Operand::Setting,
    usage: "[NAME VALUE]",
    about: "the settings, or change one",
    doc: "`:set` lists the settings with their values, `:set seed` shows one, `:set precision 32` changes \
          one. All values are kept. Those computed keep their precision: an int of 64 bits is shown and passed \
          on whole by `:set precision 32`, but what is computed from it then has 32 bits and wraps around. \
          Another runtime, number of threads or limit of memory gets copies of the values when it first needs \
          them.",
    run: |state, call| {
        let mut words = call.operand.trim_end_matches(';').split_whitespace();
        let (name, value) = (words.next(), words.next());
        let Some(name) = name else {
            let mut table = Table::new(&["setting", "value", "about"]);
            for setting in SETTINGS {
                let value = (setting.current)(state);
                if value == NONE {
                    continue;
                }
                table.row([setting.name.to_owned(), value, setting.about.to_owned()]);
            }
            state.show(Output::Answer(table.bundle_in(state.width())));
            return Outcome::Done;
        };
        let is_here = |setting: &Setting| (setting.current)(state) != NONE;
        // One of another front end says itself whose it is when it is changed.
        let is_meant =
            |setting: &&Setting| setting.name == name && (value.is_some() || is_here(setting));
        let Some(setting) = SETTINGS.iter().find(is_meant) else {
            let here = SETTINGS.iter().filter(|setting| is_here(setting));
            let names: Vec<&str> = here.map(|setting| setting.name).collect();
            let message = format!("there is no setting `{name}`; there are {}", names.join(", "));
            return state.fail(Problem::of_command(message));
        };
        let Some(value) = value else {
            let text = format!("{name} {}", (setting.current)(state));
            state.say(&text);
            return Outcome::Done;
        };
        match (setting.change)(state, value) {
            Ok(()) => Outcome::Done,
            Err(message) => state.fail(Problem::of_command(message)),
        }
    },
};

pub(super) static DEVICES: Command = Command {
    name: ":devices",
    operand: Operand::None,
    usage: "",
    about: "the runtimes, and the device of each",
    doc: "A runtime that this machine does not have says what was looked for. `:set runtime NAME` chooses \
          one; the one that programs run on is marked.",
    run: |state, _| {
        let mut table = Table::new(&["", "runtime", "device", "about"]);
        for row in state.setup.runtimes {
            let mark = if row.name == state.setup.runtime.name { "→" } else { "" };
            let device = (row.device)(&state.setup.options);
            table.row([mark.to_owned(), row.name.to_owned(), device, row.about.to_owned()]);
        }
        state.show(Output::Answer(table.bundle_in(state.width())));
        Outcome::Done
    },
};

pub(super) static UNDO: Command = Command {
    name: ":undo",
    operand: Operand::None,
    usage: "",
    about: "take back the last entry that changed something",
    doc: "The names that the entry defined, `it` among them, are what they were before: other values, functions \
          and types, or undefined. A form that failed has changed nothing; the forms above it in its \
          entry have, and are taken back. Only one entry can be, and not what it printed, drew or wrote to \
          files, nor settings and random numbers. What an entry has replaced is kept for this if it takes at \
          most 16 MB.",
    run: |state, _| {
        let Some(names) = state.session.undo() else {
            let message = "there is nothing to take back";
            return state.fail(Problem::of_command(message));
        };
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let text = match &names[..] {
            [name] => format!("{name} is what it was before."),
            names => format!("{} are what they were before.", names.join(", ")),
        };
        state.say(&text);
        Outcome::Done
    },
};

pub(super) static RESET: Command = Command {
    name: ":reset",
    operand: Operand::None,
    usage: "",
    about: "forget all definitions and values, and begin anew",
    doc: "Settings stay. Memory is given back, that of a device and that of the host.",
    run: |state, _| {
        state.reset();
        Outcome::Done
    },
};

/// Returns the completions of the operand of `:set`, which begins in a line at `start`.
pub(super) fn complete(commands: Commands, text: &str, start: usize, cursor: usize) -> Completions {
    // Only the prompt has commands of its own.
    let others: &[&str] = if commands.extra.is_empty() { &OF_PROMPT } else { &OF_NOTEBOOKS };
    let settings = || SETTINGS.iter().filter(|setting| !others.contains(&setting.name));
    let typed = &text[start..cursor];
    let mut words = typed.split_whitespace().skip(1);
    let word = start + word_start(typed);
    let prefix = &text[word..cursor];
    let name = words.next().filter(|name| !typed.ends_with(name));
    let all: Vec<(String, &str)> = match name {
        Some("runtime") => commands
            .runtimes
            .iter()
            .filter(|row| row.name.starts_with(prefix))
            .map(|row| (row.name.to_owned(), row.about))
            .collect(),
        None => settings()
            .filter(|setting| setting.name.starts_with(prefix))
            .map(|setting| (setting.name.to_owned(), setting.about))
            .collect(),
        Some(name) => settings()
            .filter(|setting| setting.name == name)
            .flat_map(|setting| setting.values.split('|'))
            .filter(|value| {
                value.starts_with(prefix) && !value.starts_with(|c: char| c.is_ascii_uppercase())
            })
            // All would say the same of themselves.
            .map(|value| (value.to_owned(), ""))
            .collect(),
    };
    let all = all.into_iter();
    let all = all.map(|(text, about)| Completion { text, kind: "setting", ty: about.to_owned() });
    Completions { range: word..cursor, all: all.collect() }
}

/// Returns the time after which an idle session gives its device back: a number of seconds, or `off`
/// for never.
pub fn idle(text: &str) -> Result<Option<Duration>, String> {
    if text == "off" {
        return Ok(None);
    }
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0);
    let seconds = seconds.ok_or_else(|| format!("`{text}` is no number of seconds, nor `off`"))?;
    Ok(Some(Duration::from_secs(seconds)))
}

/// Returns a number of threads that a runtime can have.
pub fn threads(text: &str) -> Result<usize, String> {
    let threads = text.parse().ok().filter(|threads| (1..=MAX_THREADS).contains(threads));
    threads.ok_or_else(|| format!("a number of threads is 1 to {MAX_THREADS}"))
}

/// Returns a number of bytes: a number, with K, M, G or T behind it for powers of 1024.
pub fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size such as 500M or 4G");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().trim_end_matches('B') {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << unit).filter(|bytes| *bytes > 0).ok_or_else(wrong)
}

/// Returns a number of bytes of a stack, which the memory of this computer has room for.
pub fn stack_bytes(text: &str) -> Result<u64, String> {
    let most = default_memory_limit();
    let wanted = bytes(text)?;
    let too_large =
        || format!("this computer has no memory for a stack of {text}: at most {}M", most >> 20);
    (wanted <= most).then_some(wanted).ok_or_else(too_large)
}
