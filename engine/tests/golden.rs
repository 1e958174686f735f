//! Golden tests of the compiler's stages on small programs, one file for each construct.
//!
//! `tests/golden/NAME.nesl` is printed at each stage up to the core language and compared with
//! `tests/golden/STAGE/NAME.out`. Programs in `tests/golden/flatten` are printed flattened (`flat`)
//! and fused (`fused`) and compared with the files beside them. `BLESS=1` writes the actual output.

use nesl_engine::{Session, Settings, Stage};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden")
}

fn programs(folder: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "nesl") {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            all.push((name, std::fs::read_to_string(&path).expect("a text")));
        }
    }
    all.sort();
    all
}

fn check(stage: &str, show: impl Fn(&str, &str) -> String) {
    check_in(&folder(), stage, show);
}

fn check_in(folder: &Path, stage: &str, show: impl Fn(&str, &str) -> String) {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    for (name, text) in programs(folder) {
        let shown = show(&name, &text);
        let path = folder.join(stage).join(format!("{name}.out"));
        if bless {
            std::fs::create_dir_all(folder.join(stage)).expect("a folder");
            std::fs::write(&path, &shown).expect("it can be written");
        } else if std::fs::read_to_string(&path).unwrap_or_default() != shown {
            wrong.push(format!("{stage}/{name}.out is not what comes out:\n{shown}"));
        }
    }
    assert!(wrong.is_empty(), "{}\nBLESS=1 accepts it", wrong.join("\n"));
}

fn dump(stage: Stage) -> impl Fn(&str, &str) -> String {
    move |name, text| {
        let mut session = Session::new(Settings::default());
        match session.dump(name, text, stage, None) {
            Ok(shown) => {
                let lawless = matches!(stage, Stage::Flat | Stage::Fused) && shown.contains('%');
                assert!(!lawless, "{name} breaks the law of flat programs:\n{shown}");
                shown
            }
            Err(diagnostics) => panic!("{name}: {}", diagnostics[0].message),
        }
    }
}

#[test]
fn tokens() {
    check("tokens", dump(Stage::Tokens));
}

#[test]
fn tree() {
    check("tree", dump(Stage::Tree));
}

#[test]
fn ast() {
    check("ast", dump(Stage::Ast));
}

#[test]
fn types() {
    check("types", dump(Stage::Types));
}

#[test]
fn ir() {
    check("ir", dump(Stage::Ir));
}

#[test]
fn flat() {
    check_in(&folder().join("flatten"), "flat", dump(Stage::Flat));
}

#[test]
fn fused() {
    check_in(&folder().join("flatten"), "fused", dump(Stage::Fused));
}

#[test]
fn formatted() {
    check("fmt", |name, text| {
        let once = nesl_core::syntax::format(text);
        assert_eq!(nesl_core::syntax::format(&once), once, "{name}");
        once
    });
}
