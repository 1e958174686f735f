//! Runs programs on several runtimes, and compares their values and messages with those of the
//! direct interpreter.

use nesl_engine::session::Strategy;
use nesl_engine::{Event, Session, Settings, ShownValues};
use nesl_runtime::runtime::{Options, Runtime};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Makes the runtime for a session; returns none for the direct interpreter.
pub type Make = fn(Options) -> Option<Box<dyn Runtime>>;

/// A configuration: name, constructor of the runtime, and strategy.
pub type Way = (&'static str, Make, Strategy);

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
pub fn run(name: &str, text: &str, shown: bool, make: Option<Make>, strategy: Strategy) -> String {
    let screen = Screen::default();
    let mut session = Session::new(Settings::default());
    session.set_output(Box::new(screen.clone()));
    let options =
        Options { interrupt: session.interrupt_handle(), max_depth: 100_000, ..Options::default() };
    session.settings_mut().max_depth = 100_000;
    // Interpret-first is off, so everything that can be compiled is compiled.
    session.settings_mut().interpret_first = false;
    session.settings_mut().shown = if shown { ShownValues::All } else { ShownValues::Scalars };
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

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns one in `every` of the recorded cases, beginning with number `first`.
pub fn cases(first: usize, every: usize) -> Vec<(String, String)> {
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

/// Returns the programs of `tests/run`, with their paths.
pub fn small_programs() -> Vec<(String, String)> {
    let folder = root().join("tests/run");
    let mut programs = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("it can be read");
        programs.push((path.display().to_string(), text));
    }
    programs
}
