//! Properties of the front end, on generated programs and on damaged real ones.

use nesl_core::base::TextRange;
use nesl_core::db::Database;
use nesl_core::syntax::{dump_ast, format, lex, parse_item, split, tree};
use proptest::prelude::*;
use std::sync::LazyLock;

/// The real programs: the examples and the library.
static PROGRAMS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let mut all = Vec::new();
    for folder in ["examples", "core/prelude"] {
        let entries = std::fs::read_dir(format!("{root}/{folder}")).expect("the folder is there");
        for entry in entries {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|e| e == "nesl") {
                all.push(std::fs::read_to_string(path).expect("a text"));
            }
        }
    }
    all.sort();
    all
});

/// Generates texts of expressions that cover the grammar.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[0-9]{1,3}",
        "[0-9]{1,2}\\.[0-9]{1,2}",
        "[a-e]",
        Just("t".to_owned()),
        Just("\"a\\\"b%\"".to_owned()),
        Just("`%".to_owned()),
        Just("'max".to_owned()),
        Just("'++".to_owned()),
        Just("[] (int, [float])".to_owned()),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let op = prop::sample::select(vec![
            "+", "-", "*", "/", "++", "==", "/=", "<", ">=", "and", "or", "xor", "nor", "nand",
            "^", "||", "<-", "->",
        ]);
        prop_oneof![
            (inner.clone(), op, inner.clone()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            (prop::sample::select(vec!["-", "#", "@"]), inner.clone())
                .prop_map(|(op, a)| format!("{op}({a})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}, {b})")),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|v| format!("[{}]", v.join(", "))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("[({a}):({b}):2]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a})[{b}]")),
            ("[a-e]", inner.clone()).prop_map(|(g, a)| format!("{g}({a})")),
            ("[a-e]", inner.clone()).prop_map(|(g, a)| format!("{g} (({a}), n := 1)")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(c, a, b)| format!("if {c} then {a} else {b}")),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| format!("let x = {a}; (y, rec(z)) = {b} in {a}")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("{{{a} : x in {b}; y, z in {c}; w | {a}}}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{{x in {a} | {b}}}")),
            inner.clone().prop_map(|a| format!("{{* {a} : x in xs}}")),
            inner.clone().prop_map(|a| format!("((x, y) => {a})")),
            inner.prop_map(|a| format!("time({a})")),
        ]
    })
}

fn form() -> impl Strategy<Value = String> {
    prop_oneof![
        expression().prop_map(|e| format!("{e};")),
        expression().prop_map(|e| format!("(p, q) = {e};")),
        expression().prop_map(|e| format!(
            "function g(x, r(y), n := 5) : int, a -> [a] :: (a in number) \"doc\" = {e};"
        )),
        Just("datatype r(int, [(a, b)]) :: (a in any; b in number);".to_owned()),
        Just("function g(x) : int -> bool;".to_owned()),
    ]
}

/// A real program with some bytes changed.
fn damaged() -> impl Strategy<Value = String> {
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0..4u8, any::<u8>()), 1..6);
    (any::<prop::sample::Index>(), any::<prop::sample::Index>(), edits).prop_map(
        |(program, from, edits)| {
            let program = &PROGRAMS[program.index(PROGRAMS.len())];
            let mut start = from.index(program.len());
            while !program.is_char_boundary(start) {
                start -= 1;
            }
            let mut bytes: Vec<u8> = program[start..].bytes().take(600).collect();
            for (at, kind, byte) in edits {
                let at = at.index(bytes.len());
                let word = b"(){}[];,=%\"`:|'#-in let if then else function";
                match kind {
                    0 => {
                        bytes.remove(at);
                    }
                    1 => bytes.insert(at, word[byte as usize % word.len()]),
                    2 => bytes[at] = word[byte as usize % word.len()],
                    _ => bytes.insert(at, byte),
                }
                if bytes.is_empty() {
                    bytes.push(b';');
                }
            }
            String::from_utf8_lossy(&bytes).into_owned()
        },
    )
}

fn inside(text: &str, range: TextRange) -> bool {
    text.get(std::ops::Range::<usize>::from(range)).is_some()
}

/// Checks that every byte is kept and every source location is inside the text.
fn lossless(text: &str) -> Result<(), TestCaseError> {
    let tokens: String = lex(text).iter().map(|t| &text[t.range]).collect();
    prop_assert_eq!(&tokens, text);
    let items = split(text);
    let tiled: String = items.iter().map(|item| &text[item.range]).collect();
    prop_assert_eq!(&tiled, text);
    for item in items {
        let slice = &text[item.range];
        let parsed = parse_item(slice);
        prop_assert_eq!(tree(slice).to_string(), slice);
        for diagnostic in &parsed.diagnostics {
            prop_assert!(inside(slice, diagnostic.primary.at));
        }
        for (_, span) in parsed.ast.expr_spans.iter() {
            prop_assert!(inside(slice, parsed.range(*span)));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn printing_and_parsing_are_inverse(text in form()) {
        let parsed = parse_item(&text);
        prop_assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics);
        let once = dump_ast(&parsed.ast);
        let again = parse_item(once.trim_end());
        prop_assert!(again.diagnostics.is_empty(), "{once}: {:?}", again.diagnostics);
        prop_assert_eq!(dump_ast(&again.ast), once);
    }

    #[test]
    fn formatting_keeps_the_program_and_itself(forms in prop::collection::vec(form(), 1..4)) {
        let text = forms.join(" % between %\n");
        let once = format(&text);
        prop_assert_eq!(format(&once), once.clone());
        let asts = |text: &str| -> Vec<_> {
            split(text).iter().map(|i| parse_item(&text[i.range]).ast).collect()
        };
        let (before, after) = (asts(&text), asts(&once));
        prop_assert_eq!(&before[..forms.len()], &after[..forms.len()]);
        prop_assert_eq!(once.matches("% between %").count(), forms.len() - 1);
    }

    #[test]
    fn damaged_programs_lose_nothing(text in damaged()) {
        lossless(&text)?;
        let once = format(&text);
        prop_assert_eq!(format(&once), once);
    }

    #[test]
    fn token_soup_loses_nothing(
        words in prop::collection::vec(prop::sample::select(vec![
            "(", ")", "[", "]", "{", "}", "let", "in", "if", "then", "else", "function",
            "datatype", ";", "$", ",", ":", "::", ":=", "=", "==", "|", "=>", "->", "<-", "#",
            "-", "@", "'", "x", "int", "1", "2.5", "\"s\"", "`c", "t", "f", "time", "%", "\n",
        ]), 0..40)
    ) {
        lossless(&words.join(" "))?;
        lossless(&words.concat())?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn the_checker_never_panics(text in damaged()) {
        let mut db = Database::new();
        let file = db.add_file("damaged.nesl", &text, None);
        for form in &db.outline(file).forms {
            for diagnostic in db.diagnostics(form.id()) {
                let at = diagnostic.primary.at;
                prop_assert!(at.file != file || inside(&text, at.range));
            }
        }
    }
}

#[test]
fn our_own_programs_are_formatted() {
    for text in PROGRAMS.iter() {
        assert_eq!(&format(text), text, "`nesl fmt examples/*.nesl core/prelude/*.nesl`");
    }
}

#[test]
fn whatever_nests_deeply_is_answered() {
    for piece in [
        "(",
        "[",
        "{",
        "-",
        "@",
        "if t then ",
        "let a = ",
        "x => ",
        "1+",
        "f ",
        "1,",
        "a[",
        "'",
        "f(",
        "{x in ",
        "\"",
        "x->",
        "n := ",
    ] {
        let text = piece.repeat(20_000);
        let mut db = Database::new();
        let file = db.add_file("deep.nesl", &text, None);
        for form in &db.outline(file).forms {
            assert!(!db.diagnostics(form.id()).is_empty(), "{piece}");
        }
    }
}

/// Parsing each bracket twice, as an index and as an argument, would take 2^n steps for n brackets.
#[test]
fn brackets_in_brackets_are_read_in_no_time() {
    for (open, close) in
        [("a[b[1", ""), ("a[[1[b[", ""), ("f [1, ", ""), ("f [1, ", "2]"), ("f [g [1:", "2]]")]
    {
        let text = format!("{}{}", open.repeat(60), close.repeat(60));
        let mut db = Database::new();
        let file = db.add_file("brackets.nesl", &text, None);
        for form in &db.outline(file).forms {
            let _ = db.diagnostics(form.id());
        }
    }
}
