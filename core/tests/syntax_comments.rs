//! Properties of the formatter with comments anywhere: it loses none, keeps their order and the program,
//! keeps those at the end of a line there, and changes nothing the second time.

use nesl_core::base::TextRange;
use nesl_core::syntax::{Kind, RawKind, dump_ast, format, lex, parse_item, split};
use proptest::prelude::*;

const PROGRAM: &str = "function quicksort(a, n := 1) : [a] -> [a] :: (a in ordinal) \"sorts\" =
  if #a < 2 then a
  else let pivot = a[#a / 2]; less = {e in a | e < pivot}; (p, q) = (1, [] int);
           sorted = {quicksort(v) : v in [less, {x + 1 : x in a; y in a | x > y}]}
       in sorted[0] ++ map(x => -x * 2, sorted[1]);
datatype pair2(a, [b]) :: (a in any; b in number);
x = [0:10:2]; (y, z) = time(sum('+, x)); x -> [1] <- [(0, 9)];";

/// A program with comments between its tokens, on the line of a token or on lines of their own.
fn commented() -> impl Strategy<Value = String> {
    let tokens: Vec<&str> = lex(PROGRAM).iter().map(|token| &PROGRAM[token.range]).collect();
    let places = prop::collection::vec((0..tokens.len(), 0..4usize), 0..12);
    places.prop_map(move |mut places| {
        places.sort();
        let mut out = String::new();
        for (at, token) in tokens.iter().enumerate() {
            for (number, (_, style)) in places.iter().enumerate().filter(|(_, (p, _))| *p == at) {
                out += &match style {
                    0 => format!(" % c{number} % "),
                    1 => format!(" % c{number} %\n  "),
                    2 => format!("\n  % c{number}\n over lines %\n"),
                    _ => format!("\n % c{number} % "),
                };
            }
            out += token;
        }
        out
    })
}

fn comments(text: &str) -> Vec<&str> {
    lex(text).iter().filter(|t| t.kind == Kind::Comment).map(|t| &text[t.range]).collect()
}

/// The comments at the end of a line that has tokens.
fn at_line_ends(text: &str) -> Vec<&str> {
    let tokens = lex(text);
    let mut found = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let before = tokens[..i].iter().rev().find(|token| !token.kind.is_trivia());
        let code = before.is_some_and(|before| {
            !text[TextRange::new(before.range.end(), token.range.start())].contains('\n')
        });
        let ends = tokens.get(i + 1).is_some_and(|next| text[next.range].starts_with('\n'));
        if token.kind == Kind::Comment && code && ends {
            found.push(&text[token.range]);
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn comments_keep_their_places(text in commented()) {
        let once = format(&text);
        prop_assert_eq!(&format(&once), &once);
        prop_assert_eq!(comments(&once), comments(&text));
        let kept = at_line_ends(&once);
        for comment in at_line_ends(&text) {
            prop_assert!(kept.contains(&comment), "{} moved in\n{}", comment, once);
        }
        let asts = |text: &str| -> Vec<String> {
            let items = split(text).into_iter().filter(|item| item.kind != RawKind::Blank);
            items.map(|item| dump_ast(&parse_item(&text[item.range]).ast)).collect()
        };
        prop_assert_eq!(asts(&once), asts(&text));
    }
}
