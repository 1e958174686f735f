//! Tests that every runtime computes the same values: the recorded cases and the examples run on
//! the direct interpreter, the interpreter of kir, and the CPU with one thread and with two, with
//! sequential and with flattened code. Errors must be the same too, except for the notes about
//! callers.

use nesl_engine::session::{Strategy, Version};
use nesl_engine::{Event, Session, Settings};
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::runtime::{Options, Runtime};
use nesl_runtime_cpu::Cpu;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Makes the runtime for a session; returns none for the direct interpreter.
type Make = fn(Options) -> Option<Box<dyn Runtime>>;

/// A configuration: name, constructor of the runtime, and strategy.
type Way = (&'static str, Make, Strategy);

const WAYS: [Way; 3] = [
    ("kir", kir, Strategy::Auto),
    ("cpu with one thread", |options| cpu(Options { threads: 1, ..options }), Strategy::Auto),
    ("cpu with two threads", two_threads, Strategy::Auto),
];

/// Small programs are rarely flattened, so these configurations force one version of every
/// computation.
const FORCED: [Way; 4] = [
    ("kir, flat", kir, Strategy::Always(Version::Flattened)),
    ("kir, whole", kir, Strategy::Always(Version::Sequential)),
    ("cpu, flat", two_threads, Strategy::Always(Version::Flattened)),
    ("cpu, whole", two_threads, Strategy::Always(Version::Sequential)),
];

fn kir(options: Options) -> Option<Box<dyn Runtime>> {
    Some(Box::new(Reference::new(options)))
}

fn two_threads(options: Options) -> Option<Box<dyn Runtime>> {
    cpu(Options { threads: 2, ..options })
}

fn cpu(options: Options) -> Option<Box<dyn Runtime>> {
    Some(Box::new(Cpu::new(options).expect("code can be made for this machine")))
}

/// Collects the output of a session.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panicked").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs a text and returns its values, types and messages, in order.
fn run(name: &str, text: &str, shown: bool, make: Option<Make>, strategy: Strategy) -> String {
    let screen = Screen::default();
    let mut session = Session::new(Settings::default());
    session.set_output(Box::new(screen.clone()));
    let options =
        Options { interrupt: session.interrupt_handle(), max_depth: 100_000, ..Options::default() };
    session.settings_mut().max_depth = 100_000;
    // Interpret-first is off, so everything that can be compiled is compiled.
    session.settings_mut().interpret_first = false;
    session.settings_mut().show_sequences = shown;
    session.settings_mut().strategy = strategy;
    session.set_runtime(make.and_then(|make| make(options)));
    let mut out = screen.clone();
    session.enter(name, text, &mut |event| {
        let line = match event {
            Event::Bound(binding) => {
                format!("{} = {} : {}", binding.name, binding.value, binding.ty)
            }
            Event::Text(text) => text,
            Event::Diagnostic(diagnostic) => {
                format!("{} at {:?}", diagnostic.message, diagnostic.primary.at.range)
            }
        };
        writeln!(out, "{line}").expect("a Vec takes everything");
    });
    // No program is left to one thread: that would be right as well, but slow.
    for (reason, count) in session.stats().unsupported {
        writeln!(out, "{count} programs not flattened: {reason}").expect("a Vec takes everything");
    }
    let bytes = screen.0.lock().expect("nobody panicked").clone();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn agree(programs: Vec<(String, String)>, ways: &[Way]) {
    agree_on(programs, true, ways);
}

fn agree_on(programs: Vec<(String, String)>, shown: bool, ways: &[Way]) {
    let mut wrong = Vec::new();
    for (name, text) in &programs {
        let expected = run(name, text, shown, None, Strategy::Auto);
        for (runtime, make, strategy) in ways {
            let run = || run(name, text, shown, Some(*make), *strategy);
            let given = std::panic::catch_unwind(run).unwrap_or_else(|_| "a panic".to_owned());
            if given != expected {
                wrong.push(format!(
                    "{name} on {runtime}:\n{text}\n--- is\n{given}\n--- not\n{expected}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(!programs.is_empty());
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns one in `every` of the recorded cases, beginning with number `first`.
fn cases(first: usize, every: usize) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(root().join("tests/conformance/open.jsonl"));
    let text = text.expect("the cases are there");
    let mut programs = Vec::new();
    for line in text.lines().skip(first).step_by(every) {
        let case: serde_json::Value = serde_json::from_str(line).expect("a case");
        let source = case["source"].as_str().unwrap_or_default().to_owned();
        // Cases that read a clock or use files are left out.
        if !source.contains("@TMP@") && !source.contains("time(") && !source.contains("load") {
            programs.push((case["id"].as_str().unwrap_or_default().to_owned(), source));
        }
    }
    programs
}

#[test]
fn recorded_cases_agree() {
    agree(cases(0, 2), &WAYS);
}

#[test]
fn other_recorded_cases_agree() {
    agree(cases(1, 2), &WAYS);
}

#[test]
fn recorded_cases_agree_in_every_form() {
    let every = std::env::var("NESL_EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(8);
    agree(cases(0, every), &FORCED);
}

#[test]
fn small_programs_agree() {
    agree(small_programs(), &WAYS);
}

#[test]
fn small_programs_agree_in_every_form() {
    agree(small_programs(), &FORCED);
}

/// Without display, definitions of sequences are evaluated lazily.
#[test]
fn programs_agree_when_sequences_are_not_shown() {
    agree_on(small_programs(), false, &WAYS[..2]);
    agree_on(cases(3, 6), false, &WAYS[..2]);
}

fn small_programs() -> Vec<(String, String)> {
    let folder = root().join("tests/run");
    let mut programs = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("it can be read");
        programs.push((path.display().to_string(), text));
    }
    programs
}
