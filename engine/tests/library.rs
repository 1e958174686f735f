//! Runs the examples of the library and the example programs.
//!
//! Every example in a documentation string must have the value it states. The output of every
//! program in `examples/`, the values of its top-level expressions, and the pictures it draws must
//! be those stored in `examples/expected/` (`BLESS=1` rewrites the files).

use nesl_core::db::Database;
use nesl_core::prelude::parse_doc;
use nesl_core::prim::Prim;
use nesl_core::syntax::ast::ItemKind;
use nesl_engine::{Event, Session, Settings};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Collects the output of a session and its messages.
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

/// The result of running a program.
struct Run {
    /// The output of the program and the messages of the session.
    output: String,
    errors: usize,
    /// The file names and the texts of its pictures.
    pictures: Vec<(String, String)>,
}

/// Runs a text in a new session.
fn run(name: &str, text: &str) -> Run {
    let screen = Screen::default();
    let mut session = Session::new(Settings::default());
    session.set_output(Box::new(screen.clone()));
    let mut out = screen.clone();
    let summary = session.enter(name, text, &mut |event| {
        let line = match event {
            Event::Bound(binding) if !binding.expression => return,
            Event::Bound(binding) => {
                format!("{} = {} : {}", binding.name, binding.value, binding.ty)
            }
            Event::Text(text) => text,
            Event::Diagnostic(diagnostic) => format!("{diagnostic:?}"),
        };
        writeln!(out, "{line}").expect("a Vec takes everything");
    });
    let bytes = screen.0.lock().expect("nobody panicked").clone();
    Run {
        output: String::from_utf8_lossy(&bytes).into_owned(),
        errors: summary.errors,
        pictures: session
            .pictures()
            .iter()
            .map(|picture| (picture.file_name().to_owned(), picture.svg()))
            .collect(),
    }
}

/// Returns every example of the library: an expression and its value.
fn examples() -> Vec<(String, String)> {
    let db = Database::new();
    let mut found = Vec::new();
    for file in db.library() {
        for form in &db.outline(file).forms {
            if let ItemKind::Function(function) = &db.ast(form.id()).kind {
                found.extend(parse_doc(function.doc.as_deref().unwrap_or_default()).examples);
            }
        }
    }
    let rows = Prim::all().filter_map(|prim| prim.row().example.split_once(" → "));
    found.extend(rows.map(|(source, value)| (source.to_owned(), value.to_owned())));
    found
}

#[test]
fn examples_have_the_values_they_state() {
    let mut wrong = Vec::new();
    for (source, value) in examples() {
        let Run { output, errors, .. } = run("example", &format!("{source};"));
        let last = output.lines().last().unwrap_or_default();
        // Output without a final newline precedes the value on its line.
        if errors > 0 || !last.contains(&format!("it = {value} : ")) {
            wrong.push(format!("{source} → {value}\n  but: {output}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn programs_print_what_is_expected() {
    // The programs name their data files relative to the root of the project.
    std::env::set_current_dir(root()).expect("the root of the project is there");
    let mut programs: Vec<PathBuf> = std::fs::read_dir("examples")
        .expect("there are examples")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|e| e == "nesl"))
        .collect();
    programs.sort();
    assert!(programs.len() > 30);
    let mut wrong = Vec::new();
    for path in programs {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a readable program");
        let Run { output, errors, pictures } = run(&name, &text);
        if errors > 0 {
            wrong.push(format!("{name}: {errors} errors\n{output}"));
        }
        for (file, text) in [(format!("{name}.out"), output)].into_iter().chain(pictures) {
            let expected = Path::new("examples/expected").join(&file);
            if std::env::var_os("BLESS").is_some() {
                std::fs::write(&expected, &text).expect("a writable folder");
            }
            if std::fs::read_to_string(&expected).unwrap_or_default() != text {
                wrong.push(format!("{name}: {file} differs\n{text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
