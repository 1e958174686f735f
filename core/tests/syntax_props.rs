//! Properties of the syntax, on all programs of the repository and on generated and damaged ones: printing
//! and parsing are inverse, the formatter keeps the program and is idempotent, blanks and comments have
//! no meaning, no byte is lost, nothing panics, and depth is limited by memory only.

mod programs;

use nesl_core::base::Severity;
use nesl_core::syntax::ast::{Item, ItemKind};
use nesl_core::syntax::{
    Kind, RawKind, dump_ast, format, is_complete, lex, parse_item, split, tree,
};
use programs::{Tape, damaged, generate, sources};
use proptest::prelude::*;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The forms of a text, and true if they have no errors.
fn items(text: &str) -> (Vec<Arc<Item>>, bool) {
    let mut fine = true;
    let mut all = Vec::new();
    for item in split(text) {
        if item.kind != RawKind::Blank {
            let parsed = parse_item(&text[item.range]);
            fine &= !parsed.diagnostics.iter().any(|d| d.severity == Severity::Error);
            all.push(parsed.ast);
        }
    }
    (all, fine)
}

/// Returns true if a text is told that an index is no condition, as in `xs[xs > 0]`.
fn selects_by_condition(text: &str) -> bool {
    let forms = split(text).into_iter().filter(|item| item.kind != RawKind::Blank);
    forms
        .flat_map(|item| parse_item(&text[item.range]).diagnostics.to_vec())
        .any(|diagnostic| diagnostic.message.starts_with("an index is an int, not a condition"))
}

/// Returns the comments of a text without their white space.
fn comments(text: &str) -> Vec<String> {
    let tokens = lex(text).into_iter().filter(|t| t.kind == Kind::Comment);
    tokens.map(|t| text[t.range].split_whitespace().collect()).collect()
}

/// Checks that printing the syntax of a text and parsing the result gives the same syntax.
fn prints_and_parses(text: &str) -> Result<(), String> {
    for item in split(text) {
        let first = parse_item(&text[item.range]);
        let skip = item.kind == RawKind::Blank || matches!(first.ast.kind, ItemKind::Command(_));
        if skip || !first.diagnostics.is_empty() {
            continue;
        }
        let once = dump_ast(&first.ast);
        let again = parse_item(once.trim_end());
        if !again.diagnostics.is_empty() {
            return Err(format!("{once}{:#?}", again.diagnostics));
        }
        if dump_ast(&again.ast) != once {
            return Err(format!("{once}became\n{}", dump_ast(&again.ast)));
        }
    }
    Ok(())
}

/// Checks that the formatter keeps the syntax and the comments of a text, and is idempotent.
fn formats(text: &str) -> Result<(), String> {
    let once = format(text);
    let twice = format(&once);
    if twice != once {
        return Err(format!("formatting\n{text}\ngives\n{once}\nand then\n{twice}"));
    }
    if comments(&once) != comments(text) {
        return Err(format!("formatting\n{text}\nchanges the comments:\n{once}"));
    }
    let (before, fine) = items(text);
    if fine && items(&once).0 != before {
        return Err(format!("formatting\n{text}\nchanges the meaning:\n{once}"));
    }
    Ok(())
}

/// Checks that every byte is in one token, one form and one leaf of its tree, and that every location is
/// inside the text.
fn keeps_everything(text: &str) -> Result<(), String> {
    let tokens: String = lex(text).iter().map(|t| &text[t.range]).collect();
    let forms = split(text);
    let tiled: String = forms.iter().map(|form| &text[form.range]).collect();
    if tokens != text || tiled != text {
        return Err(format!("{text:?} is not tiled"));
    }
    let _ = is_complete(text);
    for form in forms {
        let slice = &text[form.range];
        let parsed = parse_item(slice);
        if tree(slice).to_string() != slice {
            return Err(format!("the tree of {slice:?} has another text"));
        }
        let inside = |range| slice.get(std::ops::Range::<usize>::from(range)).is_some();
        let spans = parsed.ast.expr_spans.iter().map(|(_, span)| *span);
        let spans = spans.chain(parsed.ast.pat_spans.iter().map(|(_, span)| *span));
        for span in spans.chain([parsed.ast.span]) {
            if span.end as usize > parsed.tokens.len() || !inside(parsed.range(span)) {
                return Err(format!("{span:?} is outside of {slice:?}"));
            }
        }
        for diagnostic in &parsed.diagnostics {
            let labels = diagnostic.labels.iter().map(|label| label.at);
            for at in labels.chain([diagnostic.primary.at]) {
                if !inside(at) {
                    return Err(format!("{slice:?}: {diagnostic:?}"));
                }
            }
        }
        let _ = dump_ast(&parsed.ast);
    }
    Ok(())
}

/// The text with other blanks and comments between its tokens.
fn respace(text: &str, tape: &mut Tape<'_>) -> String {
    const BETWEEN: [&str; 8] =
        [" ", "\n", "  ", " % note % ", "%x%", "\n\n% a note of\n  two lines %\n", "\t", "\r\n"];
    let mut out = String::new();
    for token in lex(text) {
        let piece = if token.kind.is_trivia() { tape.of(&BETWEEN) } else { &text[token.range] };
        out.push_str(piece);
    }
    out
}

fn all_of(law: impl Fn(&str) -> Result<(), String>) {
    let broken = |(name, text)| law(text).err().map(|why| format!("{name}: {why}"));
    let wrong: Vec<String> = sources().filter_map(broken).collect();
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn written_programs_print_and_parse() {
    all_of(prints_and_parses);
}

#[test]
fn written_programs_are_formatted() {
    all_of(formats);
}

#[test]
fn written_programs_are_kept() {
    all_of(keeps_everything);
}

fn tape() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..160)
}

fn hold(result: Result<(), String>) -> Result<(), TestCaseError> {
    result.map_err(TestCaseError::fail)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn made_up_programs_print_and_parse(bytes in tape()) {
        let text = generate::program(&mut Tape::new(&bytes));
        // A made-up index may select by a condition on the sequence itself, which is how other languages filter.
        prop_assume!(!selects_by_condition(&text));
        let (_, fine) = items(&text);
        prop_assert!(fine, "{text}");
        hold(prints_and_parses(&text))?;
        hold(keeps_everything(&text))?;
    }

    #[test]
    fn made_up_programs_are_formatted(bytes in tape()) {
        let text = generate::program(&mut Tape::new(&bytes));
        hold(formats(&text))?;
    }

    #[test]
    fn blanks_and_comments_mean_nothing(bytes in tape()) {
        let mut tape = Tape::new(&bytes);
        let form = generate::form(&mut tape);
        let text = respace(&form, &mut tape);
        prop_assert_eq!(items(&text), items(&form), "{}", text);
        hold(formats(&text))?;
    }

    #[test]
    fn damaged_programs_are_kept(bytes in tape()) {
        let text = damaged(&bytes);
        hold(keeps_everything(&text))?;
        hold(formats(&text))?;
    }

    #[test]
    fn any_text_is_kept(text in "\\PC*", noise in prop::collection::vec(any::<u8>(), 0..60)) {
        hold(keeps_everything(&text))?;
        hold(keeps_everything(&String::from_utf8_lossy(&noise)))?;
    }
}

/// Checks that a text is parsed, with at most a few errors, in little time.
fn is_answered(text: &str) {
    let start = Instant::now();
    for form in split(text) {
        let complaints = parse_item(&text[form.range]).diagnostics.len();
        assert!(complaints <= 50, "{text:.40}: {complaints} complaints");
    }
    let took = start.elapsed();
    assert!(took < Duration::from_secs(20), "{text:.40} took {took:?}");
}

#[test]
#[rustfmt::skip]
fn depth_is_no_obstacle() {
    let pieces = [
        "(", "[", "{", "-", "#", "if t then ", "let a = ", "x => ", "1+", "f ", "f(", "a[", "1,",
        "{x : ", "{x in ", "[] [", "1 ^ ", "a -> ", "(1,", "let a = 1 in ", "'", "\"", "`", "%",
        ")", "]", "x = ", "t ", "% c % ", ":", "n := ", "[]", "f [] ",
    ];
    for piece in pieces {
        is_answered(&piece.repeat(100_000));
    }
    for piece in ["(", "[", "a -> ", "a, ", "r(", "[] "] {
        is_answered(&format!("function g(x) : {} = 1;", piece.repeat(100_000)));
        is_answered(&format!("function g({}", piece.repeat(100_000)));
        is_answered(&format!("datatype r {}", piece.repeat(100_000)));
    }
}

#[test]
#[rustfmt::skip]
fn many_broken_forms_are_no_obstacle() {
    for piece in [
        "$", ";", "1;", "function ", "function g(", "datatype r(", "function g(x) : [", "(;\n",
    ] {
        is_answered(&piece.repeat(10_000));
    }
}
