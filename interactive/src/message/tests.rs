//! Tests of the layout of messages.

use super::*;
use expect_test::{Expect, expect};
use nesl_core::base::Diagnostic;

/// Files by number.
struct Texts(Vec<(&'static str, String)>);

impl Sources for Texts {
    fn source(&self, file: FileId) -> (Arc<str>, Arc<str>) {
        let (name, text) = &self.0[file.0 as usize];
        ((*name).into(), text.as_str().into())
    }
}

/// The first occurrence of `part` in a text of one file.
fn at(text: &str, part: &str) -> FileRange {
    let start = text.find(part).expect("it occurs");
    FileRange { file: FileId(0), range: start..start + part.len() }
}

fn shown(sources: &Texts, colors: bool, diagnostic: &Diagnostic<FileRange>) -> String {
    Renderer::new(colors).render(sources, diagnostic)
}

fn check(text: &str, diagnostic: &Diagnostic<FileRange>, expected: Expect) {
    let sources = Texts(vec![("file.nesl", text.to_string())]);
    expected.assert_eq(&shown(&sources, false, diagnostic));
}

#[test]
fn a_message_shows_both_sides_and_a_way_out() {
    let text = "% sums %\nfunction f(x) =\n  x + 1.5;\nf(3);\n";
    let diagnostic =
        Diagnostic::error(DiagnosticKind::Type, at(text, "+"), "`+` cannot add an int and a float")
            .here("both sides must have the same type")
            .label(at(text, "x) ="), "this is an int")
            .label(at(text, "1.5"), "this is a float")
            .note("NESL never converts between int and float by itself.")
            .hint("write `float(x)` to convert");
    check(
        text,
        &diagnostic,
        expect![[r#"
            Type error: `+` cannot add an int and a float
               ╭─[ file.nesl:3:5 ]
               │
             2 │ function f(x) =
               │            ┬───
               │            ╰───── this is an int
             3 │   x + 1.5;
               │     ┬ ┬──
               │     ╰────── both sides must have the same type
               │       │
               │       ╰──── this is a float
               │
               │ Help: write `float(x)` to convert
               │
               │ Note: NESL never converts between int and float by itself.
            ───╯

        "#]],
    );
}

#[test]
fn a_warning_says_so() {
    let text = "x = 1;\nx = 2.0;";
    let diagnostic = Diagnostic::warning(
        DiagnosticKind::Name,
        at(text, "x = 2.0"),
        "redefining x with a new type; old calls will not be modified",
    );
    check(
        text,
        &diagnostic,
        expect![[r#"
            Name warning: redefining x with a new type; old calls will not be modified
               ╭─[ file.nesl:2:1 ]
               │
             2 │ x = 2.0;
               │ ┬──────
               │ ╰──────── here
            ───╯

        "#]],
    );
}

#[test]
fn something_missing_is_pointed_at() {
    for (text, place) in [("let x = 1", 9), ("let x = 1\n", 9), ("let x = 1\n", 10), ("", 0)] {
        let here = FileRange { file: FileId(0), range: place..place };
        let diagnostic =
            Diagnostic::error(DiagnosticKind::Syntax, here, "`in` is missing").here("here");
        let sources = Texts(vec![("file.nesl", text.to_string())]);
        let message = shown(&sources, false, &diagnostic);
        assert!(message.contains("file.nesl:"), "{message}");
        assert!(message.contains("here"), "{text:?} {place}: {message}");
    }
    let text = "let x = 1\nin x +\n";
    let here = FileRange { file: FileId(0), range: 16..16 };
    let diagnostic =
        Diagnostic::error(DiagnosticKind::Syntax, here, "an operand is missing").here("here");
    check(
        text,
        &diagnostic,
        expect![[r#"
            Syntax error: an operand is missing
               ╭─[ file.nesl:2:7 ]
               │
             2 │ in x +
               │       ┬
               │       ╰── here
            ───╯

        "#]],
    );
}

#[test]
fn several_files_may_take_part() {
    let library = "function half(x) = x / 0;\n";
    let main = "half(3);";
    let sources = Texts(vec![("library.nesl", library.into()), ("main.nesl", main.into())]);
    let call = FileRange { file: FileId(1), range: 0..7 };
    let diagnostic =
        Diagnostic::error(DiagnosticKind::Runtime, at(library, "x / 0"), "division by zero")
            .label(call, "called here");
    expect![[r#"
        Runtime error: division by zero
           ╭─[ library.nesl:1:20 ]
           │
         1 │ function half(x) = x / 0;
           │                    ┬────
           │                    ╰────── here
           │
           ├─[ main.nesl:1:1 ]
           │
         1 │ half(3);
           │ ┬──────
           │ ╰──────── called here
        ───╯

    "#]]
    .assert_eq(&shown(&sources, false, &diagnostic));
}

#[test]
fn nothing_in_a_text_reaches_the_terminal_raw() {
    let text = "x =\t\"\x1b[31mé\u{202e}\" + 1;";
    let diagnostic = Diagnostic::error(DiagnosticKind::Type, at(text, "+"), "no \x07").here("here");
    check(
        text,
        &diagnostic,
        expect![[r#"
            Type error: no ␇
               ╭─[ file.nesl:1:15 ]
               │
             1 │ x = "␛[31mé�" + 1;
               │               ┬
               │               ╰── here
            ───╯

        "#]],
    );
}

#[test]
fn a_range_of_several_lines_is_bracketed() {
    let text = "if t\nthen 1\nelse 2.0;";
    let diagnostic = Diagnostic::error(
        DiagnosticKind::Type,
        at(text, "if t\nthen 1\nelse 2.0"),
        "branches differ",
    )
    .here("the branches have types int and float")
    .label(at(text, "1"), "int")
    .label(at(text, "2.0"), "float");
    check(
        text,
        &diagnostic,
        expect![[r#"
            Type error: branches differ
               ╭─[ file.nesl:1:1 ]
               │
             1 │ ╭─▶ if t
             2 │ │   then 1
               │ │        ┬
               │ │        ╰── int
             3 │ ├─▶ else 2.0;
               │ │        ┬──
               │ │        ╰────── float
               │ │
               │ ╰─────────────── the branches have types int and float
            ───╯

        "#]],
    );
}

#[test]
fn a_long_line_is_shown_in_part() {
    let text = format!("[{}, 1.5, {}];", "1, ".repeat(1000), "2, ".repeat(1000));
    let diagnostic = Diagnostic::error(DiagnosticKind::Type, at(&text, "1.5"), "elements differ")
        .here("a float")
        .note("The first is an int.");
    check(
        &text,
        &diagnostic,
        expect![[r#"
        Type error: elements differ
          ╭─[ file.nesl:1:3004 ]
          │ …1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, , 1.5, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, …
          │                                                    ^^^ a float
          Note: The first is an int.

    "#]],
    );
}

#[test]
fn places_outside_a_text_do_no_harm() {
    let text = "é";
    for range in [0..1, 1..1, 1..2, 5..9, 0..100] {
        let diagnostic =
            Diagnostic::error(DiagnosticKind::Syntax, FileRange { file: FileId(0), range }, "oh")
                .here("x");
        let sources = Texts(vec![("f", text.to_string())]);
        assert!(shown(&sources, false, &diagnostic).contains("f:1:"));
    }
}

#[test]
fn colours_are_there_only_if_wanted() {
    let text = "1 +";
    let diagnostic =
        Diagnostic::error(DiagnosticKind::Syntax, at(text, "+"), "oh").here("x").hint("try");
    let sources = Texts(vec![("f", text.to_string())]);
    assert!(shown(&sources, true, &diagnostic).contains("\x1b["));
    assert!(!shown(&sources, false, &diagnostic).contains('\x1b'));
}

#[test]
fn colours_are_those_of_the_theme() {
    let text = "let x = 1 +\n  y in z";
    let diagnostic = Diagnostic::error(DiagnosticKind::Syntax, at(text, "+"), "oh")
        .label(at(text, "z"), "there")
        .note("n")
        .hint("try");
    let sources = Texts(vec![("f", text.to_string())]);
    let shown = shown(&sources, true, &diagnostic);
    assert!(shown.contains("\x1b[1;36m") && !shown.contains("\x1b[38;5;"), "{shown:?}");
}

#[test]
fn neighbours_of_one_color_are_colored_together() {
    let red = |text: &str| format!("\x1b[31m{text}\x1b[0m");
    assert_eq!(merged(&(red("a") + &red("b") + " " + &red("c"))), red("ab") + " " + &red("c"));
    let two = red("a") + "\x1b[1mb\x1b[0m" + &red("c");
    assert_eq!(merged(&two), two);
    for plain in ["", "no colours", "cut \x1b[", "\x1b[0m\x1b[0m"] {
        assert_eq!(merged(plain), plain);
    }
}

#[test]
fn suggestions_fit_into_the_screen() {
    let sources = Texts(vec![("file.nesl", "f(3);\n".to_string())]);
    let diagnostic = Diagnostic::error(DiagnosticKind::Type, at("f(3)", "3"), "no")
        .note("one note that is long enough for two lines\n  and  a short one")
        .hint("write `float(…)`, `round(…)` or `trunc(…)`, whichever of these is meant");
    let mut renderer = Renderer::new(false);
    renderer.fit(50);
    let shown = renderer.render(&sources, &diagnostic);
    assert!(shown.lines().all(|line| line.chars().count() <= 50), "{shown}");
    // Words and what fits stay as they are.
    assert!(
        shown.contains("`trunc(…)`, which") && shown.contains("  and  a short one\n"),
        "{shown}"
    );
    // Elsewhere nothing is changed.
    let shown = Renderer::new(false).render(&sources, &diagnostic);
    assert!(shown.contains("`round(…)` or `trunc(…)`, whichever of these is meant\n"), "{shown}");
}
