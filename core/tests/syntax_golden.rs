//! Golden tests of the syntax stages, one file for each construct: `golden/<stage>/*.nesl` contains
//! a program, a line of `=`, and the output of the stage. `BLESS=1` rewrites the part below the
//! line.

use nesl_core::syntax::{dump_ast, dump_tokens, dump_tree, format, parse_item, split};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const LINE: &str = "\n========\n";

#[test]
fn tokens() {
    check("tokens", dump_tokens);
}

#[test]
fn tree() {
    check("tree", |text| each_item(text, |item| dump_tree(&parse_item(item))));
}

#[test]
fn ast() {
    check("ast", |text| each_item(text, |item| dump_ast(&parse_item(item).ast)));
}

#[test]
fn fmt() {
    check("fmt", |text| {
        let formatted = format(text);
        assert_eq!(format(&formatted), formatted, "formatting twice changes nothing");
        formatted
    });
}

/// The output of a stage for each form, and the diagnostics of the form.
fn each_item(text: &str, stage: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    for raw in split(text) {
        let item = &text[raw.range];
        out += &stage(item);
        for error in parse_item(item).diagnostics {
            let _ = writeln!(out, "! {} @ {:?}", error.message, &item[error.primary.at]);
        }
    }
    out
}

fn check(stage: &str, run: impl Fn(&str) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(stage);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    let mut wrong = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let (program, expected) = text.split_once(LINE).unwrap_or((text.trim_end(), ""));
        let actual = run(program);
        if actual.trim_end() == expected.trim_end() {
            continue;
        }
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&file, format!("{program}{LINE}{}\n", actual.trim_end())).unwrap();
        } else {
            wrong.push(format!("{}:\n{actual}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "BLESS=1 accepts:\n{}", wrong.join("\n"));
}
