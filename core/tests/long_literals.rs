//! Long literals of constants are data from the parser on, and mean and report what short ones do. Long chains
//! of operators need no stack.

use expect_test::{Expect, expect};
use nesl_core::base::Span;
use nesl_core::db::{Database, FileDefinitions};
use nesl_core::elaborate::elaborate;
use nesl_core::ir;
use nesl_core::syntax::{RawKind, ast, dump_ast, format, parse_item, tree};
use nesl_runtime::scalar::Precision;

/// The number of elements of the literals, more than are parsed one by one.
const ELEMENTS: usize = 600;
/// The stack on which chains of operators are handled, in bytes.
const SMALL_STACK_BYTES: usize = 2 << 20;

/// A list in which some elements repeat.
fn list(elements: &[&str]) -> String {
    let all: Vec<&str> = elements.iter().copied().cycle().take(ELEMENTS).collect();
    format!("[{}]", all.join(", "))
}

/// The syntax of an expression as it is printed, without the terminator.
fn printed(text: &str) -> String {
    let parsed = parse_item(&format!("{text};"));
    assert_eq!(parsed.diagnostics, [], "{text}");
    let printed = dump_ast(&parsed.ast);
    printed.strip_suffix(";\n").unwrap_or(&printed).to_owned()
}

/// Returns true if a list has no expressions for its elements.
fn is_data(text: &str) -> bool {
    let item = parse_item(text).ast;
    item.exprs.iter().any(|(_, expr)| matches!(expr, ast::Expr::Constants { .. }))
}

const TABLES: [&[&str]; 11] = [
    &["1", "-2", "9223372036854775807"],
    &["1.5", "-0.0", ".5e3", "7."],
    &["t", "f", "T"],
    &["`a", "`;", "``"],
    &["\"\"", "\"ab\"", "\"a\\\"b\\\\\"", "\"é\n\""],
    &["[1, -2]", "[3]", "[] int", "[4, 5, 6]"],
    &["[[1.5], [2.5, 3.5]]", "[[4.5]]"],
    &["(1, 2.5)", "(-3, -4.5)"],
    &["(1, t, \"x\")", "(2, f, \"yz\")"],
    &["(1, (2, 3))", "(4, 5, 6)"],
    &["[(1, `a), (2, `b)]", "[(3, `c)]"],
];

#[test]
fn long_literals_have_the_syntax_of_their_elements() {
    for elements in TABLES {
        let text = list(elements);
        let all: Vec<String> = elements.iter().map(|element| printed(element)).collect();
        let expected = list(&all.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(printed(&text) == expected, "{elements:?}");
    }
}

#[test]
fn they_are_data() {
    for (i, elements) in TABLES.iter().enumerate() {
        // A char in brackets inside of a list is printed in another way than a string.
        assert_eq!(is_data(&format!("a = {};", list(elements))), i != 10, "{elements:?}");
    }
    for elements in [
        &["1", "x"] as &[&str],
        &["1", "2.5"],
        &["1", "t"],
        &["[1]", "2"],
        &["(1, 2)", "(1, 2, 3)"],
        &["[1]", "[] float"],
        &["-0"],
        &["1 + 2"],
        &["9223372036854775808"],
        &["1e999"],
        &["`é"],
        &["[1:2]"],
    ] {
        assert!(!is_data(&format!("a = {};", list(elements))), "{elements:?}");
    }
    assert!(is_data(&format!("f {};", list(&["1"]))));
    assert!(is_data(&format!("sum({}) + a[{}];", list(&["1"]), list(&["2"]))));
}

#[test]
fn layout_and_tree_are_lossless() {
    for elements in TABLES {
        let text = format!("a={} % c % ++ {}; % d %", list(elements), list(elements));
        assert_eq!(tree(&text).to_string(), text);
        let once = format(&text);
        assert_eq!(format(&once), once);
        assert_eq!(parse_item(&once).ast, parse_item(&text).ast);
    }
}

/// Checks the reports of a text, with the texts that they are about.
fn reports(text: &str, expected: Expect) {
    let mut db = Database::new();
    let file = db.add_file("literal.nesl", text, None);
    let forms = db.outline(file).clone();
    let forms = forms.forms.iter().filter(|form| form.kind != RawKind::Blank);
    let mut said = String::new();
    for report in forms.flat_map(|form| db.diagnostics(form.id())) {
        let at = report.primary.at.range;
        said += &format!("{}..{} `{}`: ", u32::from(at.start()), u32::from(at.end()), &text[at]);
        said += &format!("{}\n", report.message);
    }
    expected.assert_eq(&said);
}

#[test]
fn mistakes_are_reported_where_they_are() {
    let start = format!("a = [{}", "1, ".repeat(ELEMENTS));
    reports(
        &format!("{start}2.5, 3];"),
        expect![[r#"
        1805..1808 `2.5`: the elements of a sequence have one type
    "#]],
    );
    reports(
        &format!("{start}2 3];"),
        expect![[r#"
        1805..1808 `2 3`: expected an operator or `,` between `2` and `3`
    "#]],
    );
    reports(
        &format!("{start}2, 3;"),
        expect![[r#"
        1809..1809 ``: this `[` is never closed
    "#]],
    );
    reports(
        &format!("{start}, 3];"),
        expect![[r#"
        1803..1804 `,`: there is nothing after this `,`
    "#]],
    );
    reports(
        &format!("{start}x];"),
        expect![[r#"
        1805..1806 `x`: `x` is undefined
    "#]],
    );
    reports(
        &format!("{start}99999999999999999999];"),
        expect![[r#"
        1805..1825 `99999999999999999999`: this number does not fit an int of 64 bits
    "#]],
    );
    reports(
        &format!("{};", list(&["\"a\\n\""; 1])).replacen("\"a\\n\"", "\"a\"", ELEMENTS - 1),
        expect![[r#"
        2998..3000 `\n`: `\n` in a string is the letter n
    "#]],
    );
    reports(
        &format!("a = {} + 1;", list(&["1"])),
        expect![[r#"
        1805..1806 `+`: `+` does not fit a sequence [int] and an int
    "#]],
    );
}

#[test]
fn wide_ints_are_reported_at_32_bits() {
    let mut db = Database::new();
    let text = format!("[{}3000000000, -3000000000];", "1, ".repeat(ELEMENTS));
    let file = db.add_file("literal.nesl", &text, None);
    let item = db.outline(file).forms[0].id();
    let definitions = FileDefinitions::unexecuted(&db);
    assert!(elaborate(item, &definitions, Precision::Bits64).is_ok());
    let refused = elaborate(item, &definitions, Precision::Bits32).unwrap_err();
    let said: Vec<_> =
        refused.iter().map(|report| (&*report.message, report.primary.at.span)).collect();
    let first = 1 + 2 * ELEMENTS as u32;
    assert_eq!(said.len(), 2);
    assert_eq!(said[0], ("3000000000 does not fit an int of 32 bits", Span::new(first, first + 1)));
    assert_eq!(said[1].1, Span::new(first + 3, first + 4));
}

#[test]
fn numbers_at_the_border_of_32_bits_are_the_same_in_short_and_long_literals() {
    for (number, narrow) in [
        ("-2147483648", true),
        ("2147483648", false),
        ("-2147483649", false),
        ("3.4028235e38", true),
        ("1e39", false),
        ("-1e39", false),
        ("1e-60", true),
    ] {
        for text in [format!("{number};"), format!("{};", list(&[number]))] {
            let mut db = Database::new();
            let file = db.add_file("literal.nesl", &text, None);
            let item = db.outline(file).forms[0].id();
            let definitions = FileDefinitions::unexecuted(&db);
            let is_fine = |precision| elaborate(item, &definitions, precision).is_ok();
            assert!(is_fine(Precision::Bits64), "{number}");
            assert_eq!(is_fine(Precision::Bits32), narrow, "{number}, {} bytes", text.len());
        }
    }
}

#[test]
fn core_programs_with_long_literals_are_read_back() {
    for elements in TABLES {
        let mut db = Database::new();
        let file = db.add_file("literal.nesl", &format!("{};", list(elements)), None);
        let item = db.outline(file).forms[0].id();
        let definitions = FileDefinitions::unexecuted(&db);
        let program = elaborate(item, &definitions, Precision::Bits64).unwrap().program;
        let text = ir::print_with_sites(&program);
        assert_eq!(ir::parse(&text).as_ref(), Ok(&program), "{elements:?}");
    }
}

#[test]
fn long_chains_need_no_stack() {
    for operator in [" + ", " * ", " ++ ", " and ", " == ", " <- "] {
        let text = format!("x = {};", vec!["1"; 6_000].join(operator));
        let check = || {
            let once = format(&text);
            assert_eq!(format(&once), once);
            assert_eq!(parse_item(&once).ast, parse_item(&text).ast);
            let mut db = Database::new();
            let file = db.add_file("chain.nesl", &text, None);
            let item = db.outline(file).forms[0].id();
            db.diagnostics(item);
            if operator == " + " {
                let definitions = FileDefinitions::unexecuted(&db);
                assert!(elaborate(item, &definitions, Precision::Bits64).is_ok());
            }
        };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(SMALL_STACK_BYTES);
            thread.spawn_scoped(scope, check).unwrap().join().unwrap();
        });
    }
}
