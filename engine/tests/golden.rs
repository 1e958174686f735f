//! Every stage of the compiler on small programs: `tests/golden/STAGE/NAME.nesl`.
//!
//! A file begins with a comment that says the stage, counts, and in a sentence what is expected of
//! the program below it; behind a line of `=` stands the program at that stage:
//!
//! ```text
//! % test: fused, spaces 1, kernels 1, launches 1
//!   A map and a sum over one index space are one kernel. %
//! function length_of(a) : [float] -> float = sqrt(sum({x * x : x in a}));
//! ========
//! flat "length_of"(v0: [float]) -> float { …
//! ```
//!
//! `BLESS=1` writes what is there now below the line. Counts are never written: they are what the
//! author of the test wants, and a change that breaks them has to say so there. A stage of
//! [`Stages`] needs nothing here; `fmt` is the formatter. The stages of the front end `of syntax`
//! are shown form by form without a session, with what the parser says of each.

use nesl_core::db::Database;
use nesl_core::explain::summary;
use nesl_core::syntax::{dump_ast, dump_tokens, dump_tree, format, parse_item, split};
use nesl_engine::{Precision, Session, Settings, Stages};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const LINE: &str = "========\n";

/// A golden file, taken apart.
struct Golden<'a> {
    /// The comment at its head, with its marks.
    header: &'a str,
    /// `fused`, or `ast of syntax`.
    kind: &'a str,
    /// The quantities that are counted, each with the number that is expected.
    counts: Vec<(&'a str, usize)>,
    program: &'a str,
    expected: &'a str,
}

impl Golden<'_> {
    fn read(text: &str) -> Result<Golden<'_>, String> {
        let body = text.strip_prefix("% test: ").ok_or("it does not begin with `% test: `")?;
        let (inside, _) = body.split_once(" %\n").ok_or("its header does not end with ` %`")?;
        let header = &text[.."% test: ".len() + inside.len() + " %\n".len()];
        let (first, sentence) = inside.split_once('\n').ok_or("it has no sentence")?;
        if !sentence.trim().ends_with('.') {
            return Err("its header ends with no sentence".to_owned());
        }
        let mut words = first.split(", ");
        let kind = words.next().unwrap_or_default();
        let counts = words.map(|count| {
            let (word, number) = count.split_once(' ').ok_or("a count is a word and a number")?;
            Ok((word, number.parse().map_err(|_| format!("`{number}` is no number"))?))
        });
        let counts = counts.collect::<Result<_, String>>()?;
        let rest = &text[header.len()..];
        let (program, expected) = rest.split_once(LINE).ok_or("it has no line of `=`")?;
        Ok(Golden { header, kind, counts, program, expected })
    }
}

/// A program at a stage.
fn shown(kind: &str, name: &str, program: &str) -> Result<String, String> {
    // What stands before the line ends with a line break that is not the program's.
    let slice = program.strip_suffix('\n').unwrap_or(program);
    if let Some(stage) = kind.strip_suffix(" of syntax") {
        return Ok(match stage {
            "tokens" => dump_tokens(slice),
            "tree" => each_item(slice, dump_tree),
            "ast" => each_item(slice, |item| dump_ast(&parse_item(item).ast)),
            "fmt" => return formatted(slice),
            _ => return Err(format!("there is no stage `{kind}`")),
        });
    }
    if kind == "fmt" {
        return formatted(program);
    }
    let stage = Stages::default().find(kind).ok_or(format!("there is no stage `{kind}`"))?;
    let mut session = Session::new(Settings::default());
    session.dump(name, program, stage, None).map_err(|all| all[0].message.clone())
}

fn formatted(program: &str) -> Result<String, String> {
    let once = format(program);
    match format(&once) == once {
        true => Ok(once),
        false => Err("formatting twice changes something".to_owned()),
    }
}

/// A stage of each form, and the errors in it.
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

/// The number of things in a text at a stage.
fn count(word: &str, program: &str, shown: &str) -> Option<usize> {
    let lines = |test: &dyn Fn(&str) -> bool| shown.lines().filter(|line| test(line)).count();
    let space = |line: &str| {
        let (name, _) = line.trim().split_once(" = ").unwrap_or_default();
        name.strip_prefix('s').is_some_and(|number| number.parse::<u32>().is_ok())
    };
    Some(match word {
        "tokens" => lines(&|line| !line.starts_with('!')),
        "functions" => lines(&|line| line.starts_with("fn ")),
        "spaces" => lines(&space),
        "kernels" => lines(&|line| line.trim().starts_with("kernel ")),
        "launches" => launches(program),
        _ => return None,
    })
}

/// The launches of the flattened versions of all forms, each kernel met once.
fn launches(program: &str) -> usize {
    let mut db = Database::new();
    let file = db.add_file("golden.nesl", program, None);
    let forms = db.outline(file).forms.clone();
    let all = forms.iter().filter_map(|form| summary(&db, form.id(), Precision::Bits64).ok());
    all.map(|summary| summary.launches as usize).sum()
}

fn check(path: &Path, bless: bool) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|why| why.to_string())?;
    let golden = Golden::read(&text)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    if golden.kind.split(' ').next() != folder.to_str() {
        return Err(format!("it is a test of `{}`, in another folder", golden.kind));
    }
    let shown = shown(golden.kind, &name, golden.program)?;
    for (word, expected) in &golden.counts {
        let found = count(word, golden.program, &shown);
        let found = found.ok_or(format!("`{word}` cannot be counted"))?;
        if found != *expected {
            return Err(format!("{word} {found}, but {expected} are expected:\n{shown}"));
        }
    }
    if shown.trim_end() == golden.expected.trim_end() {
        return Ok(());
    }
    if !bless {
        return Err(format!("something else comes out (BLESS=1 accepts it):\n{shown}"));
    }
    let Golden { header, program, .. } = golden;
    let new = format!("{header}{program}{LINE}{}\n", shown.trim_end());
    std::fs::write(path, new).map_err(|why| why.to_string())
}

#[test]
fn every_stage_is_as_expected() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden");
    let bless = std::env::var_os("BLESS").is_some();
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in std::fs::read_dir(root).expect("the folder is there").flatten() {
        let inside = std::fs::read_dir(folder.path()).expect("a folder for each stage");
        files.extend(inside.flatten().map(|entry| entry.path()));
    }
    files.sort();
    assert!(files.len() > 100, "the golden files are missing");
    let fails = |path: &PathBuf| {
        let why = check(path, bless).err()?;
        Some(format!("{}: {why}", path.display()))
    };
    let wrong: Vec<String> = files.iter().filter_map(fails).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), files.len(), wrong.join("\n"));
}
