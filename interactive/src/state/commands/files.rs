//! Commands for files and folders: `:load`, `:watch`, `:save`, `:cd`.

use super::{Command, Operand};
use crate::bundle::Bundle;
use crate::output::{Outcome, Output, Problem};
use crate::state::State;
use nesl_core::syntax::{RawKind, split};
use nesl_engine::session::RESULTS;
use nesl_engine::{decode, read_program};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

/// The first line of a saved file. Only a file that has it is replaced by `:save`.
const SAVED: &str = "% A session of nesl, saved by `:save`. %";

pub(super) static LOAD: Command = Command {
    name: ":load",
    operand: Operand::File,
    usage: "FILE",
    about: "run a file in this session",
    doc: "The name may lack its `.nesl`. Relative names are looked for in the current folder.",
    run: |state, call| {
        let name = &file_path(call.operand);
        load(state, name, &program(name))
    },
};

pub(super) static WATCH: Command = Command {
    name: ":watch",
    operand: Operand::File,
    usage: "FILE",
    about: "run a file now, and again whenever it is saved, until Ctrl-C",
    doc: "What the file defines is there afterwards. An interrupt ends the watch, in a notebook that of the cell.",
    run: |state, call| {
        let name = &file_path(call.operand);
        let path = program(name);
        let interrupt = state.session.interrupt_handle();
        let mut seen = saved(&path);
        let mut outcome = load(state, name, &path);
        if seen.is_none() || outcome == Outcome::Interrupted {
            return outcome;
        }
        let text = format!("Watching {path}; an interrupt ends it.");
        state.say(&text);
        while !interrupt.load(Ordering::Relaxed) && outcome != Outcome::Exit {
            std::thread::sleep(WATCH_PERIOD);
            let now = saved(&path);
            // While an editor writes it, it may be gone.
            if now.is_some() && now != seen {
                seen = now;
                state.show(Output::Answer(Bundle::text(format!("{path} was saved."))));
                outcome = load(state, name, &path);
            }
        }
        if outcome == Outcome::Exit { outcome } else { Outcome::Done }
    },
};

/// The time between two looks at a file that is watched, and at the interrupt. It is a fraction of the 100 ms within which
/// an interrupt stops everything; a look costs microseconds.
const WATCH_PERIOD: Duration = Duration::from_millis(20);

/// Returns when a file was saved, and its length; `None` if there is none.
fn saved(path: &str) -> Option<(SystemTime, u64)> {
    let known = std::fs::metadata(path).ok()?;
    Some((known.modified().ok()?, known.len()))
}

/// Returns the path of a program, whose name may lack its ending.
fn program(name: &str) -> String {
    let with_ending = format!("{name}.nesl");
    let lacks = !Path::new(name).is_file() && Path::new(&with_ending).is_file();
    if lacks { with_ending } else { name.to_owned() }
}

/// Runs a file.
fn load(state: &mut State, name: &str, path: &str) -> Outcome {
    let interrupt = state.session.interrupt_handle();
    match read_program(Path::new(path), &|| interrupt.load(Ordering::Relaxed)) {
        Ok(bytes) => {
            let text = decode(bytes);
            state.enter_text(path, &text, &text)
        }
        Err(_) if state.is_interrupted() => {
            state.show(Output::Error(Problem::interrupted()));
            Outcome::Interrupted
        }
        Err(error) => {
            let folder = std::env::current_dir().unwrap_or_default();
            let message = format!("cannot read `{name}` in {}: {error}", folder.display());
            state.fail(Problem::of_command(message))
        }
    }
}

pub(super) static SAVE: Command = Command {
    name: ":save",
    operand: Operand::File,
    usage: "FILE",
    about: "write what was entered to a file, as a program",
    doc: "The forms that succeeded, in order; `:load FILE` or `nesl run FILE` runs them again. In a long \
          session those may be missing whose results are no longer used. A file that `:save` did not \
          write is not replaced. The name gets the ending `.nesl` if it has none.",
    run: |state, call| {
        let mut path = PathBuf::from(file_path(call.operand));
        if path.extension().is_none() {
            path.set_extension("nesl");
        }
        match save(state, &path) {
            Ok(forms) => {
                let forms = if forms == 1 { "1 form".to_owned() } else { format!("{forms} forms") };
                let text = format!("{forms} in {}", path.display());
                state.say(&text);
                Outcome::Done
            }
            Err(message) => state.fail(Problem::of_command(message)),
        }
    },
};

pub(super) static CD: Command = Command {
    name: ":cd",
    operand: Operand::Folder,
    usage: "[FOLDER]",
    about: "the current folder, or go to another",
    doc: "Programs and commands look for files in the current folder. `~` is the home folder.",
    run: |state, call| {
        let name = file_name(call.operand);
        if !name.is_empty()
            && let Err(error) = std::env::set_current_dir(file_path(name))
        {
            let message = format!("cannot go to `{name}`: {error}");
            return state.fail(Problem::of_command(message));
        }
        match std::env::current_dir() {
            Ok(folder) => {
                state.show(Output::Answer(Bundle::text(folder.display().to_string())));
                Outcome::Done
            }
            Err(error) => {
                state.fail(Problem::of_command(format!("there is no current folder: {error}")))
            }
        }
    },
};

/// Returns a name without what people put around it.
fn file_name(operand: &str) -> &str {
    operand.trim_end_matches(';').trim().trim_matches('"')
}

/// Returns the path that an operand names: `~` at its beginning is the home folder, as in shells.
pub fn file_path(operand: &str) -> String {
    in_home(file_name(operand), std::env::var("HOME").ok().as_deref())
}

fn in_home(name: &str, home: Option<&str>) -> String {
    let rest = name.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (rest, home) {
        (Some(rest), Some(home)) => format!("{}{rest}", home.trim_end_matches('/')),
        _ => name.to_owned(),
    }
}

/// Writes the forms that succeeded; returns their number.
fn save(state: &State, path: &Path) -> Result<usize, String> {
    let cannot = |error: std::io::Error| format!("cannot write `{}`: {error}", path.display());
    if let Ok(present) = std::fs::read(path)
        && !present.starts_with(SAVED.as_bytes())
    {
        return Err(format!("`{}` exists and is not a saved session", path.display()));
    } else if path.is_dir() {
        return Err(format!("`{}` is a folder", path.display()));
    }
    let (mut text, mut count) = (format!("{SAVED}\n"), 0);
    let entries = state.session.outlook().entries();
    for entry in entries.iter().filter(|entry| *entry.name != *RESULTS) {
        let forms = split(&entry.text);
        for (position, form) in forms.iter().enumerate() {
            let own = entry.text[form.range].trim();
            let leaves = form.kind == RawKind::Command && own.starts_with("exit");
            if entry.failed.contains(&position) || form.kind == RawKind::Blank || leaves {
                continue;
            }
            text += own;
            text += "\n";
            count += 1;
        }
    }
    nesl_engine::write_whole(path, text.as_bytes()).map_err(cannot)?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tilde_is_the_home_folder() {
        let home = Some("/folders/ada/");
        for (name, path) in [
            ("~", "/folders/ada"),
            ("~/a b.nesl", "/folders/ada/a b.nesl"),
            ("~x", "~x"),
            ("a~/b", "a~/b"),
        ] {
            assert_eq!(in_home(name, home), path);
        }
        assert_eq!(in_home("~/x", None), "~/x");
    }
}
