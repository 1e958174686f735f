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
        Event::Diagnostic(d) => {
            out.push_str(&format!("! {}\n", d.message));
            d.notes.iter().for_each(|note| out.push_str(&format!("  = {note}\n")));
        }
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
        "! `DIR/a.nesl` is being loaded already: it loads `DIR/b.nesl`, which loads it\nit = 2\n"
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

#[cfg(unix)]
#[test]
fn forms_left_out_behind_a_failed_load_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let left_out = |text: &str| {
        let said = run(dir.path(), &format!("load \"DIR/nowhere\"; {text}"));
        let note = said.lines().find_map(|line| line.strip_prefix("  = "));
        (note.unwrap_or_default().to_owned(), said.lines().last().unwrap_or_default().to_owned())
    };
    let (note, last) = left_out("function g(x) = x + y; g(1); 5;");
    assert_eq!(note, "2 forms below are left out: they use what is not defined");
    assert_eq!(last, "it = 5");
    assert_eq!(left_out("y;").0, "one form below is left out: it uses what is not defined");
    assert_eq!(left_out("5;").0, "");
    // A mistake of its own is reported as such.
    assert!(!left_out("1 + \"a\";").0.contains("left out"));
}

#[test]
fn what_is_no_regular_file_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let made = std::process::Command::new("mkfifo").arg(dir.path().join("pipe")).status();
    assert!(made.is_ok_and(|status| status.success()));
    assert_eq!(
        run(dir.path(), r#"load "DIR/pipe"; 3;"#),
        "! `DIR/pipe` is no regular file, which `load` needs\nit = 3\n"
    );
}

#[test]
fn a_file_that_is_run_cannot_be_loaded_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    std::fs::write(path("l1.nesl"), "1; load \"l2\"; 2;").unwrap();
    std::fs::write(path("l2.nesl"), "load \"l1\"; y = 3;").unwrap();
    let mut session = Session::new(Settings::default());
    let mut out = String::new();
    let text = std::fs::read_to_string(path("l1.nesl")).unwrap();
    session.enter(&path("l1.nesl"), &text, &mut |event| match event {
        Event::Bound(b) => out.push_str(&format!("{} = {}\n", b.name, b.value)),
        Event::Diagnostic(d) => {
            out.push_str(&format!("! {}\n", d.message));
            d.notes.iter().for_each(|note| out.push_str(&format!("  = {note}\n")));
        }
        _ => {}
    });
    let dir = dir.path().to_string_lossy();
    assert_eq!(
        out.replace(&*dir, "DIR"),
        "it = 1\n! `DIR/l1.nesl` is being loaded already: it loads `DIR/l2.nesl`, which loads it\n\
         it = 2\n"
    );
}

#[test]
fn a_check_goes_through_what_is_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    std::fs::create_dir(path("sub")).unwrap();
    std::fs::write(path("sub/b.nesl"), "x = 41; bad = 1 + \"a\"; load \"a\";").unwrap();
    std::fs::write(path("sub/a.nesl"), "load \"b\"; y = x + 1;").unwrap();
    let check = |texts: &[(&str, &str)]| {
        let mut session = Session::new(Settings::default());
        let sources = session.sources();
        let reports = session.check(texts).into_iter().map(|report| {
            let problems = report.diagnostics.iter();
            let shown = problems.map(|d| {
                let file = sources.get(d.primary.at.file).0;
                let name = file.rsplit('/').next().unwrap_or("");
                format!("{name}: {:?}: {}", d.severity, d.message)
            });
            shown.collect::<Vec<_>>().join("\n").replace(&*dir.path().to_string_lossy(), "DIR")
        });
        reports.collect::<Vec<_>>()
    };
    let wrong = "b.nesl: Error: `+` does not fit an int and a string\n\
                 b.nesl: Error: `DIR/sub/a.nesl` is being loaded already: it loads \
                 `DIR/sub/b.nesl`, which loads it";
    let main = path("main.nesl");
    assert_eq!(check(&[(&main, "load \"sub/a\"; y;")]), [wrong]);
    // What is loaded again has been reported.
    assert_eq!(check(&[(&main, "load \"sub/a\"; y;"), (&main, "load \"sub/a\";")]), [wrong, ""]);
    // Texts see what those before them define, as when they run.
    assert_eq!(check(&[("a", "k = 1;"), ("b", "k + 1;")]), ["", ""]);
    assert_eq!(check(&[("b", "k + 1;"), ("a", "k = 1;")]), ["b: Error: `k` is undefined", ""]);
    assert_eq!(
        check(&[(&main, "load \"none\";")]),
        ["main.nesl: Warning: there is no file `none`: looked for `DIR/none.nesl`, `DIR/none`, \
          `none.nesl`, `none`"]
    );
}
