//! Tests which files `load` reads, and when.

use nesl_engine::{Event, Session, Settings};
use std::path::Path;

/// Runs a text in which `DIR` stands for a folder; returns one line for each binding and each
/// message.
fn run(dir: &Path, text: &str) -> String {
    let mut out = String::new();
    let mut session = Session::new(Settings::default());
    let text = text.replace("DIR", &dir.to_string_lossy());
    session.enter("main", &text, &mut |event| match event {
        Event::Bound(b) => out.push_str(&format!("{} = {}\n", b.name, b.value)),
        Event::Diagnostic(d) => out.push_str(&format!("! {}\n", d.message)),
        _ => {}
    });
    out.replace(&*dir.to_string_lossy(), "DIR")
}

#[test]
fn a_file_may_be_written_by_the_forms_before() {
    let dir = tempfile::tempdir().unwrap();
    let said = run(
        dir.path(),
        r#"write_string_to_file("k = 5; function g(y) = y + k;", "DIR/a.nesl");
           load "DIR/a";
           function h(z) = g(z) * 2;
           h(1);
           write_string_to_file("k = 6;", "DIR/a.nesl");
           load "DIR/a";
           h(1);"#,
    );
    assert_eq!(said, "it = T\nh = fn\nit = 12\nit = T\nit = 14\n");
}

#[test]
fn so_may_one_that_a_loaded_file_loads() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("outer.nesl"),
        r#"load "DIR/inner";"#.replace("DIR", &dir.path().to_string_lossy()),
    )
    .unwrap();
    let said = run(
        dir.path(),
        r#"done = write_string_to_file("function g(y) = y + 1;", "DIR/inner.nesl");
           load "DIR/outer";
           function h(z) = g(z) * 2;
           h(1);"#,
    );
    assert_eq!(said, "done = T\nh = fn\nit = 4\n");
}

#[test]
fn a_file_that_loads_itself_is_refused_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    for (name, other) in [("a", "b"), ("b", "a"), ("self", "./self")] {
        let text = format!("load \"DIR/{other}\"; {name}1 = 1;");
        let text = text.replace("DIR", &dir.path().to_string_lossy());
        std::fs::write(dir.path().join(format!("{name}.nesl")), text).unwrap();
    }
    assert_eq!(
        run(dir.path(), r#"load "DIR/a"; a1 + b1;"#),
        "! `DIR/a.nesl` is being loaded already: a file cannot load itself\nit = 2\n"
    );
    let said = run(dir.path(), r#"load "DIR/self"; self1;"#);
    assert_eq!(
        said,
        "! `DIR/./self.nesl` is being loaded already: a file cannot load itself\nit = 1\n"
    );
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(
        run(dir.path(), r#"load "DIR/none"; 3;"#),
        "! there is no file `DIR/none`: looked for `DIR/none.nesl`, `DIR/none`\nit = 3\n"
    );
}
