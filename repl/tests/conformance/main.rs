//! Runs every recorded case of `tests/conformance/open.jsonl` through the program.
//!
//! `NESL_CONFORMANCE_CMD='other run {file}'` tests another implementation, and
//! `NESL_CONFORMANCE_ONLY=text` runs only the cases whose id or features contain the text.

mod case;
mod value;

use case::Case;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The number of cases that run at the same time.
const AT_ONCE: usize = 2;

#[test]
fn every_recorded_case_behaves_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance");
    let cases = case::load(&folder);
    let command = command();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = case.run(&command) {
                        let mut failures = failures.lock().unwrap_or_else(PoisonError::into_inner);
                        failures.push((case.id.clone(), why));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.sort();
    for (id, why) in &failures {
        println!("FAIL {id}: {why}");
    }
    let passed = cases.len() - failures.len();
    println!("{passed} of {} conformance cases passed", cases.len());
    assert!(failures.is_empty(), "{} conformance cases failed", failures.len());
}

/// Returns the program and its arguments, in which `{file}` stands for the file of the case.
fn command() -> Vec<String> {
    match std::env::var("NESL_CONFORMANCE_CMD") {
        Ok(command) => command.split_whitespace().map(String::from).collect(),
        Err(_) => [env!("CARGO_BIN_EXE_nesl"), "run", "{file}"].map(String::from).to_vec(),
    }
}

/// Returns true for the cases selected by `NESL_CONFORMANCE_ONLY`.
fn wanted(case: &Case) -> bool {
    match std::env::var("NESL_CONFORMANCE_ONLY") {
        Ok(part) => case.id.contains(&part) || case.features.iter().any(|f| f.contains(&part)),
        Err(_) => true,
    }
}

/// Makes a new temporary folder for a case, which is deleted afterwards.
fn fresh() -> (tempfile::TempDir, PathBuf) {
    let top = tempfile::Builder::new().prefix("neslcase.").tempdir().expect("a temporary folder");
    let work = top.path().join("w");
    std::fs::create_dir(&work).expect("a folder in it");
    (top, work)
}
