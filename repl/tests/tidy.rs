//! The laws of the house that a compiler does not check: `docs/book/src/house.md` lists them.

#[path = "tidy/imports.rs"]
mod imports;
#[path = "tidy/words.rs"]
mod words;

use imports::Crate;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The modules of the compiler in the data's way; each imports only from those before it.
const ORDER: [&str; 22] = [
    "base",
    "thresholds",
    "prim",
    "syntax",
    "names",
    "types",
    "ir",
    "prelude",
    "elaborate",
    "interp",
    "simplify",
    "host_program",
    "flat",
    "flatten",
    "fuse",
    "strategy",
    "lower",
    "link",
    "db",
    "pipeline",
    "explain",
    "ide",
];

/// The crates of the workspace that each crate may import.
const MAY_IMPORT: [(&str, &[&str]); 11] = [
    ("nesl-runtime", &[]),
    ("nesl-runtime-cpu", &["nesl-runtime"]),
    ("nesl-runtime-ptx", &["nesl-runtime"]),
    ("nesl-runtime-composite", &["nesl-runtime"]),
    ("nesl-sim", &[]),
    ("nesl-core", &["nesl-runtime"]),
    ("nesl-engine", &["nesl-core", "nesl-runtime"]),
    ("nesl-interactive", &["nesl-core", "nesl-engine", "nesl-runtime"]),
    ("nesl-kernel", &["nesl-core", "nesl-engine", "nesl-interactive", "nesl-runtime"]),
    ("nesl-server", &["nesl-core", "nesl-runtime"]),
    (
        "nesl",
        &[
            "nesl-core",
            "nesl-engine",
            "nesl-interactive",
            "nesl-kernel",
            "nesl-runtime",
            "nesl-runtime-cpu",
            "nesl-runtime-composite",
            "nesl-runtime-ptx",
            "nesl-server",
        ],
    ),
];

/// Files of more lines than this must be split.
const MAX_FILE_LINES: usize = 800;

/// The folders of the crates.
const CRATES: [&str; 12] = [
    "runtime",
    "runtime-cpu",
    "runtime-ptx",
    "runtime-composite",
    "core",
    "engine",
    "interactive",
    "kernel",
    "server",
    "repl",
    "sim",
    "xtask",
];

/// Circles of imports that are still to be dissolved: the files of each.
const CIRCLES: &[&[&str]] = &[];

/// The number of doc lines of each crate that are no sentences. Lower it with the number; never
/// raise it.
const UNCLEAR_DOC_LINES: [(&str, usize); 12] = [
    ("runtime", 0),
    ("runtime-cpu", 0),
    ("runtime-ptx", 0),
    ("runtime-composite", 0),
    ("sim", 0),
    ("core", 0),
    ("engine", 0),
    ("interactive", 0),
    ("kernel", 0),
    ("server", 0),
    ("repl", 0),
    ("xtask", 0),
];

/// The number of constants of each crate whose names have no unit. Lower it with the number; never
/// raise it.
const VAGUE_CONSTANTS: [(&str, usize); 12] = [
    ("runtime", 0),
    ("runtime-cpu", 0),
    ("runtime-ptx", 0),
    ("runtime-composite", 0),
    ("sim", 0),
    ("core", 1),
    ("engine", 1),
    ("interactive", 0),
    ("kernel", 0),
    ("server", 0),
    ("repl", 0),
    ("xtask", 0),
];

/// The parts of the system whose decisions depend on the machine: they ask
/// `core/src/thresholds.rs` for every number.
const WITHOUT_TUNING_CONSTANTS: [&str; 12] = [
    "core/src/fuse",
    "core/src/lower/kernel",
    "core/src/simplify",
    "core/src/strategy",
    "engine/src/arrays",
    "engine/src/exec",
    "engine/src/execute.rs",
    "engine/src/frame",
    "engine/src/interpret_first.rs",
    "engine/src/kernels",
    "engine/src/runner",
    "engine/src/session/lazy.rs",
];

/// A smaller number in code counts parts or operands, and tunes nothing.
const MIN_TUNING_NUMBER: u64 = 8;

#[test]
fn every_file_says_what_it_is_for() {
    let mut silent = Vec::new();
    for (path, text) in sources() {
        let first = text.lines().find(|line| !line.trim().is_empty());
        if !first.is_some_and(|line| line.starts_with("//!") || line.starts_with("#![")) {
            silent.push(path);
        }
    }
    assert!(silent.is_empty(), "these files do not begin with a `//!` line: {silent:#?}");
}

#[test]
fn no_file_is_too_long() {
    let long: Vec<_> = sources()
        .into_iter()
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > MAX_FILE_LINES)
        .collect();
    assert!(long.is_empty(), "split these: {long:#?}");
}

#[test]
fn tuning_constants_stand_in_one_file() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let decides = WITHOUT_TUNING_CONSTANTS.iter().any(|part| path.starts_with(part));
        if !decides || path.ends_with("tests.rs") {
            continue;
        }
        for (number, line) in code_lines(&text) {
            if numbers(line).any(|n| n >= MIN_TUNING_NUMBER) || line.contains("1 << ") {
                wrong.push(format!("{}:{number}: {}", path.display(), line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "these numbers belong into thresholds.rs: {wrong:#?}");
}

/// The whole numbers of a line of code.
fn numbers(line: &str) -> impl Iterator<Item = u64> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        .filter_map(|word| word.replace('_', "").parse().ok())
}

#[test]
fn nothing_is_called_utils() {
    let vague = ["utils", "util", "helpers", "manager", "misc"];
    let found: Vec<_> = sources()
        .into_keys()
        .filter(|path| path.iter().any(|part| vague.contains(&stem(part).as_str())))
        .collect();
    assert!(found.is_empty(), "say what these are for: {found:#?}");
}

#[test]
fn modules_of_the_compiler_import_only_from_above() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let Ok(inside) = path.strip_prefix("core/src") else {
            continue;
        };
        let Some(module) = inside.iter().next().map(stem) else {
            continue;
        };
        if inside.components().count() == 1 && module == "lib" {
            continue;
        }
        let Some(own) = ORDER.iter().position(|name| *name == module) else {
            wrong.push(format!("{}: {module} has no place in the order", path.display()));
            continue;
        };
        let tests = path.iter().any(|part| stem(part) == "tests");
        for (number, line) in code_lines(&text) {
            for (position, name) in ORDER.iter().enumerate() {
                let imported = line.contains(&format!("crate::{name}"));
                if imported && position > own && !tests {
                    let place = format!("{}:{number}", path.display());
                    wrong.push(format!("{place}: {module} imports from {name}, which is below it"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_circle_of_imports() {
    let sources = sources();
    let mut wrong = String::new();
    let mut needed = vec![false; CIRCLES.len()];
    for folder in CRATES {
        let files = Crate::read(&Path::new(folder).join("src"), sources.iter());
        for circle in files.circles() {
            let within = |listed: &&[&str]| circle.iter().all(|file| is_listed(file, listed));
            match CIRCLES.iter().position(within) {
                Some(at) => needed[at] = true,
                None => wrong += &format!("a circle of imports:\n{}", files.describe(&circle)),
            }
        }
    }
    for (listed, needed) in CIRCLES.iter().zip(needed) {
        if !needed {
            wrong += &format!("this circle is gone, remove it from the list: {listed:?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn is_listed(file: &Path, listed: &[&str]) -> bool {
    listed.iter().any(|name| Path::new(name) == file)
}

#[test]
fn doc_lines_are_sentences() {
    let mut lines = BTreeMap::new();
    for (path, text) in sources() {
        let own = words::unclear_doc_lines(&text);
        if !own.is_empty() {
            lines.insert(path, own);
        }
    }
    hold_limits(&UNCLEAR_DOC_LINES, &lines, "say in a sentence what these are for");
}

#[test]
fn constants_say_their_unit() {
    let mut names = BTreeMap::new();
    for (path, text) in sources() {
        let own = words::vague_constants(&text);
        if !own.is_empty() {
            names.insert(path, own.iter().map(|(line, name)| format!("{line}: {name}")).collect());
        }
    }
    hold_limits(&VAGUE_CONSTANTS, &names, "name the quantity and the unit of these");
}

/// Fails if a crate has more findings than its limit.
fn hold_limits<T: std::fmt::Debug>(
    limits: &[(&str, usize)],
    found: &BTreeMap<PathBuf, Vec<T>>,
    advice: &str,
) {
    let mut wrong = String::new();
    for (folder, limit) in limits {
        let own: Vec<_> = found.iter().filter(|(path, _)| path.starts_with(folder)).collect();
        let count: usize = own.iter().map(|(_, all)| all.len()).sum();
        if count > *limit {
            wrong += &format!("{folder} has {count}, the limit is {limit}; {advice}: {own:?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn only_db_names_salsa() {
    let named: Vec<_> = sources()
        .into_iter()
        .filter(|(path, _)| !path.starts_with("core/src/db") && !path.starts_with("repl/tests"))
        .filter(|(_, text)| code_lines(text).any(|(_, line)| line.contains("salsa")))
        .map(|(path, _)| path)
        .collect();
    assert!(named.is_empty(), "only core/src/db may name salsa: {named:#?}");
}

#[test]
fn crates_import_in_one_direction() {
    for (package, allowed) in MAY_IMPORT {
        let tree = Command::new(env!("CARGO"))
            .args(["tree", "--offline", "--edges", "normal", "--prefix", "none", "-p", package])
            .current_dir(root())
            .output()
            .expect("cargo tree runs");
        assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
        let tree = String::from_utf8_lossy(&tree.stdout);
        for line in tree.lines().skip(1) {
            let Some(name) = line.split_whitespace().next() else {
                continue;
            };
            let ours = name == "nesl" || name.starts_with("nesl-");
            assert!(!ours || allowed.contains(&name), "{package} must not depend on {name}");
        }
    }
}

#[test]
fn nothing_names_a_developers_machine() {
    // Put together here so that this file does not name one itself.
    let homes = ["/home", "/Users", "/root", "/work"].map(|home| format!("{home}/"));
    let mut found = Vec::new();
    for (path, text) in tracked() {
        for (number, line) in text.lines().enumerate() {
            if homes.iter().any(|home| line.contains(home.as_str())) {
                found.push(format!("{}:{}: {line}", path.display(), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.canonicalize().expect("the workspace is there")
}

fn stem(part: &std::ffi::OsStr) -> String {
    Path::new(part).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// All our Rust files, relative to the root.
fn sources() -> BTreeMap<PathBuf, String> {
    let mut sources = tracked();
    sources.retain(|path, _| path.extension().is_some_and(|ending| ending == "rs"));
    assert!(sources.len() > 20, "the sources were not found");
    sources
}

/// All text files that belong to the project: what is below the root, less what is built or
/// fetched. (Not asked of git: a copy without its history must pass, too.)
fn tracked() -> BTreeMap<PathBuf, String> {
    let root = root();
    let mut files = BTreeMap::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a readable folder").flatten() {
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let built = ["target", "corpus", "artifacts", "shared", "node_modules", "book.out"];
            if built.contains(&&*name) || name == ".git" {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                let inside = path.strip_prefix(&root).expect("below the root").to_path_buf();
                files.insert(inside, text);
            }
        }
    }
    files
}

/// The lines of a Rust file that are not comments and not in its tests, numbered.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .take_while(|(_, line)| !line.starts_with("#[cfg(test)]"))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .map(|(index, line)| (index + 1, line))
}
