//! Incremental queries: after an edit only those run again that depend on the change. The unit is a
//! recursion group; editing a body re-infers its callers only if its scheme changed; comments and blanks
//! affect the parser only.

use nesl_core::db::{Database, FileId};
use nesl_core::ide::Problems;
use std::collections::BTreeMap;
use std::time::Instant;

/// Returns a program of `n` functions, each of which calls the previous one; each takes four lines,
/// including a comment.
fn program(n: usize) -> String {
    let function = |i: usize| {
        let callee = match i {
            0 => "x".to_owned(),
            _ => format!("fun{}(x)", i - 1),
        };
        format!(
            "% function number {i} %\nfunction fun{i}(x) =\n  let y = {callee} + {i}\n  in y * 2;\n"
        )
    };
    (0..n).map(function).collect()
}

struct Editor {
    db: Database,
    file: FileId,
    text: String,
}

impl Editor {
    fn open(text: String) -> Editor {
        let mut db = Database::new();
        let file = db.add_file("test.nesl", &text, None);
        let editor = Editor { db, file, text };
        assert_eq!(editor.check(), 0, "the program has no errors");
        editor
    }

    /// Checks everything, as an editor does after a key press; returns the number of errors.
    fn check(&self) -> usize {
        let outline = self.db.outline(self.file);
        let forms = outline.forms.iter();
        forms.map(|form| self.db.diagnostics(form.id()).len()).sum()
    }

    /// Replaces text, checks the file, and counts the queries that ran, by name.
    fn edit(&mut self, from: &str, to: &str) -> BTreeMap<String, usize> {
        assert_eq!(self.text.matches(from).count(), 1, "`{from}` occurs once");
        self.text = self.text.replacen(from, to, 1);
        self.db.listen(true);
        self.db.set_text(self.file, self.text.as_str());
        self.check();
        let mut counts = BTreeMap::new();
        for query in self.db.take_log() {
            let name = query.split('(').next().unwrap_or_default().to_owned();
            *counts.entry(name).or_insert(0) += 1;
        }
        self.db.listen(false);
        counts
    }
}

fn ran(counts: &BTreeMap<String, usize>) -> Vec<(&str, usize)> {
    counts.iter().map(|(name, n)| (name.as_str(), *n)).collect()
}

/// The queries that a change of an item's text always runs; the last two are firewalls.
const PARSING: [(&str, usize); 3] = [("ast", 1), ("parse", 1), ("syntax_errors", 1)];

#[test]
fn typing_in_a_comment_parses_that_item() {
    let mut editor = Editor::open(program(500));
    let counts = editor.edit("function number 250 %", "function numero 250 indeed %");
    assert_eq!(ran(&counts), PARSING);
}

#[test]
fn a_blank_line_above_parses_that_item() {
    let mut editor = Editor::open(program(500));
    let counts = editor.edit("% function number 250 %", "\n\n% function number 250 %");
    assert_eq!(ran(&counts), PARSING);
}

#[test]
fn a_body_whose_scheme_stays_reinfers_nobody_else() {
    let mut editor = Editor::open(program(500));
    let counts = editor.edit("let y = fun249(x) + 250", "let y = fun249(x) * 250");
    assert_eq!(counts.get("inferred"), Some(&1), "{counts:?}");
    assert_eq!(counts.get("names"), Some(&1), "{counts:?}");
    assert_eq!(counts.get("parse"), Some(&1), "{counts:?}");
    let elsewhere = counts.iter().filter(|(query, n)| **n > 1 && *query != "lookup");
    assert_eq!(elsewhere.count(), 0, "{counts:?}");
}

#[test]
fn renaming_a_parameter_touches_its_function() {
    let mut editor = Editor::open(program(500));
    let counts = editor.edit(
        "function fun250(x) =\n  let y = fun249(x) + 250",
        "function fun250(arg) =\n  let y = fun249(arg) + 250",
    );
    assert_eq!(counts.get("inferred"), Some(&1), "{counts:?}");
    let elsewhere = counts.iter().filter(|(query, n)| **n > 1 && *query != "lookup");
    assert_eq!(elsewhere.count(), 0, "{counts:?}");
}

#[test]
fn a_new_scheme_reinfers_those_it_reaches() {
    let mut editor = Editor::open(program(20));
    let counts =
        editor.edit("let y = fun17(x) + 18\n  in y * 2", "let y = fun17(x) + 18\n  in [y * 2]");
    assert_eq!(counts.get("inferred"), Some(&2), "fun18 and its caller: {counts:?}");
}

#[test]
fn moving_a_function_parses_and_infers_nothing() {
    let (a, b) = ("function a(x) = x + 1;\n", "function b(x) = x + 2;\n");
    let mut editor = Editor::open(format!("1;\n{a}{b}2;\n"));
    let counts = editor.edit(&format!("{a}{b}"), &format!("{b}{a}"));
    assert_eq!(counts.get("parse"), None, "{counts:?}");
    assert_eq!(counts.get("inferred"), None, "{counts:?}");
}

#[test]
fn renaming_a_function_keeps_its_identity() {
    let mut editor = Editor::open("function old(x) = x + 1;\n2;\n".to_owned());
    let before = editor.db.outline(editor.file).forms[0].id();
    editor.edit("old", "new");
    assert_eq!(editor.db.outline(editor.file).forms[0].id(), before);
}

#[test]
fn mutual_recursion_is_one_group() {
    let text = "function even2(n) = if n == 0 then t else odd2(n - 1);\n\
                function odd2(n) = if n == 0 then f else even2(n - 1);\n";
    let mut editor = Editor::open(text.to_owned());
    let counts = editor.edit("else even2(n - 1)", "else even2(n - 1 + 0)");
    assert_eq!(counts.get("inferred"), Some(&1), "{counts:?}");
}

/// Prints a time without testing it; run with `cargo test --release -p nesl-core --test incremental
/// -- --nocapture`.
#[test]
fn a_one_character_edit_of_2000_lines() {
    let mut editor = Editor::open(program(500));
    let edited = editor.text.replacen("fun249(x) + 250", "fun249(x) + 251", 1);
    let original = editor.text.clone();
    let mut times: Vec<f64> = (0..20)
        .map(|round| {
            let text = if round % 2 == 0 { &edited } else { &original };
            let started = Instant::now();
            editor.db.set_text(editor.file, text.as_str());
            assert_eq!(editor.check(), 0);
            started.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let (best, median, worst) = (times[0], times[10], times[19]);
    println!(
        "2,000 lines, one character: {best:.2} ms at best, median {median:.2}, worst {worst:.2}"
    );
}

/// The recursion group of an item is the same whether it is computed from the items that it reaches or
/// from all forms.
#[test]
fn groups_are_found_near_and_far() {
    for n in [2, 3, 60, 64, 65, 200] {
        let ring = (0..n).map(|i| {
            let next = (i + 1) % n;
            format!("function ring{i}(x) = if x == 0 then x else ring{next}(x - 1);\n")
        });
        let text = "function first(x) = ring0(x);\n".to_owned() + &ring.collect::<String>();
        let editor = Editor::open(text);
        let items: Vec<_> =
            editor.db.outline(editor.file).forms.iter().map(|form| form.id()).collect();
        assert!(editor.db.recursion_group(items[0]).is_empty());
        for item in &items[1..=n] {
            assert_eq!(editor.db.recursion_group(*item), items[1..=n]);
        }
    }
}

/// Few queries run after each key press in a long program, also where a form absorbs the next one, where
/// one becomes a definition, and where it ends.
#[test]
fn each_key_of_a_new_form_asks_little() {
    let text = "x = 2;\n".repeat(200) + &program(200) + &"{a : a in [1]};\n".repeat(200);
    let mut editor = Editor::open(text.clone());
    let mut problems = Problems::default();
    problems.of(&editor.db, editor.file);
    let middle = text.find("{a : a").expect("it is there") + 16 * 100;
    let typed = "\nsums = {sum(row) : row in [[1, 2], [fun7(3)]]};\nfunction g(x) = sums;";
    for end in 1..=typed.len() {
        let changed = format!("{}{}{}", &text[..middle], &typed[..end], &text[middle..]);
        editor.db.listen(true);
        editor.db.set_text(editor.file, changed);
        problems.of(&editor.db, editor.file);
        let ran = editor.db.take_log();
        assert!(ran.len() <= 120, "{} after {:?}: {ran:?}", ran.len(), &typed[..end]);
    }
}
