//! Sessions that the prompt and notebooks understand in the same way: each line of `tests/sessions/*.txt` is an
//! entry, and `*.answers` holds what is answered, in a form that both have. `BLESS=1` accepts what they say now.
//!
//! ```text
//! x = 5           x : int
//! x + 1           6 : int
//! x + oops        Name error: `oops` is undefined
//! ```

use nesl_engine::{Settings, ShownValues, Stages};
use nesl_interactive::display::{Style, limits};
use nesl_interactive::output::Output;
use nesl_interactive::runtimes::RuntimeRow;
use nesl_interactive::state::{Setup, State};
use nesl_runtime::runtime::Options;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

static RUNTIMES: [RuntimeRow; 1] = [RuntimeRow {
    name: "reference",
    about: "The direct interpreter",
    device: |_| "direct interpreter".to_owned(),
    interpret_first: false,
    stages: Stages::with_backend(&[]),
    make: |_| Ok(None),
}];

/// Returns what a notebook answers to entries, in lines.
fn notebook(entries: &[&str]) -> Vec<String> {
    let settings =
        Settings { shown: ShownValues::Expressions, data: Some(limits()), ..Settings::default() };
    let (runtimes, runtime) = (&RUNTIMES, &RUNTIMES[0]);
    let (options, display) = (Options::default(), Style { html: true, ..Style::default() });
    let setup = Setup { settings, runtimes, runtime, options, idle: None, display, extra: &[] };
    let mut state = State::new(setup).expect("the direct interpreter is everywhere");
    let mut answers = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let (sink, outputs) = channel();
        let send = Box::new(move |output| drop(sink.send(output)));
        state.enter(&format!("In [{}]", number + 1), entry, send);
        answers.extend(outputs.try_iter().filter_map(|output| match output {
            Output::Value(shown) | Output::Defined(shown) | Output::Answer(shown) => {
                Some(shown.plain)
            }
            Output::Error(problem) => Some(format!("{}: {}", problem.kind, problem.message)),
            Output::Warning(_) | Output::Printed(..) | Output::Picture(..) => None,
        }));
    }
    answers
}

/// Returns what the prompt answers to the same entries.
fn prompt(entries: &[&str]) -> Vec<String> {
    let mut command = Command::new("sh");
    let program = format!("exec '{}' 2>&1", env!("CARGO_BIN_EXE_nesl"));
    command.args(["-c", &program]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut session = command.spawn().expect("it starts");
    let mut input = session.stdin.take().expect("a pipe");
    for entry in entries {
        let end = if entry.starts_with(':') { "" } else { ";" };
        writeln!(input, "{entry}{end}").expect("it listens");
    }
    drop(input);
    let done = session.wait_with_output().expect("it ends");
    let text = String::from_utf8(done.stdout).expect("text");
    text.lines().filter_map(answer).collect()
}

/// Returns a line of the prompt in the form of a notebook; none if it is a part of a message.
fn answer(line: &str) -> Option<String> {
    if let Some(value) = line.strip_prefix("it = ") {
        return Some(value.to_owned());
    }
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if let Some((name, value)) = line.split_once(" = ").filter(|(name, _)| is_name(name)) {
        let (_, ty) = value.rsplit_once(" : ")?;
        return Some(format!("{name} : {ty}"));
    }
    let begins = |kind: &str| line.starts_with(kind) && line.contains(" error: ");
    let is_error = ["Syntax", "Name", "Type", "Runtime", "Command"].iter().any(|kind| begins(kind));
    let is_answer = line.ends_with("before.") || line.split(" : ").next().is_some_and(is_name);
    (is_error || (is_answer && !line.is_empty())).then(|| line.to_owned())
}

#[test]
fn the_prompt_and_notebooks_agree() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/sessions");
    let found =
        std::fs::read_dir(&folder).expect("sessions").map(|file| file.expect("a file").path());
    let mut sessions: Vec<PathBuf> =
        found.filter(|path| path.extension().is_some_and(|ending| ending == "txt")).collect();
    sessions.sort();
    assert!(sessions.len() > 2);
    for path in sessions {
        let text = std::fs::read_to_string(&path).expect("a session");
        let entries: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        let seen = notebook(&entries);
        assert_eq!(seen, prompt(&entries), "{}", path.display());
        let golden = path.with_extension("answers");
        let seen = seen.join("\n") + "\n";
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&golden, &seen).expect("it is saved");
        }
        let expected = std::fs::read_to_string(&golden).expect("the answers");
        assert_eq!(seen, expected, "{}", path.display());
    }
}
