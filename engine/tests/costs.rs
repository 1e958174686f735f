//! Measures the rules of cost in the book, line by line, and the costs that the library states.
//!
//! The page `cost.md` has a table of constructs, each with an example and the laws of its work and depth in the
//! size `n`; before the table stand the definitions and the inputs of the examples. The documentation of a
//! function of the library states either a cost that its call has, checked on its example, or the
//! growth of its cost, `O(…)`, checked over the sizes of inputs that stand here.

use nesl_core::db::Database;
use nesl_core::prelude::{DocString, parse_doc};
use nesl_core::prim::Prim;
use nesl_core::syntax::ast::{Item, ItemKind, Pat, PatId};
use nesl_engine::{Piece, Session, Settings};
use std::ops::RangeInclusive;
use std::path::Path;

/// The sizes of the examples of the book; powers of two, so that their logarithms are whole.
const SIZES: [u64; 5] = [8, 32, 128, 512, 2048];

/// Measures an expression without its inputs; fails with what is wrong.
fn measure(session: &mut Session, inputs: &[String], expr: &str) -> Result<(u64, u64), String> {
    measure_seed(session, inputs, expr, 1)
}

/// Measures work and depth under a seed of the random numbers.
fn measure_seed(
    session: &mut Session,
    inputs: &[String],
    expr: &str,
    seed: u64,
) -> Result<(u64, u64), String> {
    let piece = |text: &str| Piece { text: text.to_owned(), at: 0..0 };
    let inputs: Vec<Piece> = inputs.iter().map(|input| piece(input)).collect();
    let cost = session.cost_given("cost", "", &inputs, &piece(expr), seed);
    let cost = cost.map_err(|diagnostics| format!("{expr}: {diagnostics:?}"))?;
    Ok((cost.work, cost.depth))
}

/// Returns the means of work and depth over some seeds.
fn mean(
    session: &mut Session,
    inputs: &[String],
    expr: &str,
    mut seeds: RangeInclusive<u64>,
) -> Result<[f64; 2], String> {
    let count = seeds.clone().count() as f64;
    seeds.try_fold([0.0; 2], |[work, depth], seed| {
        let (w, d) = measure_seed(session, inputs, expr, seed)?;
        Ok([work + w as f64 / count, depth + d as f64 / count])
    })
}

/// Enters definitions into a new session.
fn session(definitions: &str) -> Session {
    let mut session = Session::new(Settings::default());
    session.set_output(Box::new(std::io::sink()));
    let summary = session.enter("definitions", definitions, &mut |_| {});
    assert_eq!(summary.errors, 0, "{definitions}");
    session
}

/// Evaluates a law such as `n log n + 9·n − 6`.
fn law(text: &str, n: u64) -> Option<f64> {
    let n = n as f64;
    let factor = |factor: &str| match factor {
        "n" => Some(n),
        "n²" => Some(n * n),
        "log n" => Some(n.log2()),
        "n log n" => Some(n * n.log2()),
        number => number.parse().ok(),
    };
    let term = |term: &str| term.split('·').map(factor).product::<Option<f64>>();
    text.replace(" − ", " + -1·").split(" + ").map(term).sum()
}

/// Returns the contents of the block of code of a language, the first of a page.
fn block<'a>(page: &'a str, language: &str) -> &'a str {
    let (_, block) = page.split_once(&format!("```{language}\n")).expect("the page has the block");
    block.split("```").next().unwrap_or_default()
}

#[test]
fn n8_the_rules_of_the_book_are_what_is_measured() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/book/src/cost.md");
    let page = std::fs::read_to_string(path).expect("the page is readable");
    let mut session = session(block(&page, "nesl"));
    let given: Vec<String> =
        block(&page, "text").split(";\n").map(|input| input.trim().to_owned()).collect();
    let mut wrong = Vec::new();
    let mut rows = 0;
    let table = page.lines().skip_while(|line| !line.starts_with("| construct |")).skip(2);
    for line in table.take_while(|line| line.starts_with('|')) {
        let hidden = line.replace("\\|", "\u{0}");
        let cells: Vec<String> =
            hidden.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect();
        let [_, construct, _, _, example, work, depth, _] = &cells[..] else {
            panic!("a row has six cells: {line}");
        };
        let example = example.trim_matches('`');
        rows += 1;
        for n in SIZES {
            let inputs: Vec<String> =
                std::iter::once(format!("n = {n}")).chain(given.iter().cloned()).collect();
            let stated = law(work, n).zip(law(depth, n)).expect("a law");
            match measure(&mut session, &inputs, example) {
                Ok((work, depth)) if (work as f64, depth as f64) == stated => {}
                Ok(measured) => {
                    wrong.push(format!("{construct}: `{example}` for n = {n}: the book {stated:?}, measured {measured:?}"));
                }
                Err(why) => wrong.push(why),
            }
        }
    }
    assert!(rows >= 40, "{rows} rules were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A function of the library.
struct Known {
    name: String,
    /// The names of its parameters, in order.
    params: Vec<String>,
    doc: DocString,
}

/// Collects the names of parameters; one that is taken apart has none.
fn parameters(ast: &Item, pat: PatId, names: &mut Vec<String>) {
    let name = |pat: PatId| match &ast.pats[pat] {
        Pat::Name(name) => name.folded().to_owned(),
        Pat::Pair(..) | Pat::Record { .. } | Pat::Missing => String::new(),
    };
    match &ast.pats[pat] {
        Pat::Pair(first, rest) => {
            names.push(name(*first));
            parameters(ast, *rest, names);
        }
        _ => names.push(name(pat)),
    }
}

/// Returns the functions of the library that programs can name, those in NESL and the primitives.
fn library() -> Vec<Known> {
    let db = Database::new();
    let mut found = Vec::new();
    for file in db.library() {
        for form in &db.outline(file).forms {
            let ast = db.ast(form.id());
            let ItemKind::Function(function) = &ast.kind else { continue };
            let doc = parse_doc(function.doc.as_deref().unwrap_or_default());
            let mut params = Vec::new();
            parameters(ast, function.param, &mut params);
            let name = nesl_core::prelude::shown(function.name.name.folded()).to_owned();
            found.push(Known { name, params, doc });
        }
    }
    for prim in Prim::all() {
        let row = prim.row();
        let example = row.example.split_once(" → ");
        let examples = example.map(|(source, value)| (source.to_owned(), value.to_owned()));
        // The first parameter of a primitive is named in its cost, then these.
        let first = ["d", "v", "a", "s", "x", "w"]
            .iter()
            .find(|name| ["S", "L"].iter().any(|of| row.cost.contains(&format!("{of}({name})"))));
        let first = first.map_or("", |name| name).to_owned();
        let second = match first.as_str() {
            "d" => "v",
            "v" => "counts",
            _ => "b",
        };
        let doc = DocString {
            text: String::new(),
            examples: examples.into_iter().collect(),
            cost: Some(row.cost.to_owned()),
        };
        let params = vec![first, second.to_owned()];
        found.push(Known { name: row.name.to_owned(), params, doc });
    }
    found.retain(|known| !known.name.starts_with('_') && known.doc.cost.is_some());
    found
}

/// Takes a call, `f(a, b)` or `a + b`, apart: its arguments, and the call with `in1`, `in2` for them.
fn call(name: &str, example: &str) -> Option<(Vec<String>, String)> {
    let names = |count: usize| (1..=count).map(|at| format!("in{at}")).collect::<Vec<String>>();
    if let Some(inside) =
        example.strip_prefix(&format!("{name}(")).and_then(|e| e.strip_suffix(')'))
    {
        let arguments = arguments(inside)?;
        let call = format!("{name}({})", names(arguments.len()).join(", "));
        return Some((arguments, call));
    }
    let (a, b) = example.split_once(&format!(" {name} "))?;
    Some((vec![a.to_owned(), b.to_owned()], format!("in1 {name} in2")))
}

/// Divides arguments at their commas; `None` if their brackets do not match, so that they are none.
fn arguments(text: &str) -> Option<Vec<String>> {
    let (mut found, mut open, mut is_string) = (vec![String::new()], 0i32, false);
    let mut before = ' ';
    for c in text.chars() {
        match c {
            _ if before == '`' => {}
            '"' => is_string = !is_string,
            _ if is_string => {}
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open -= 1,
            _ => {}
        }
        if open < 0 {
            return None;
        }
        if c == ',' && open == 0 && !is_string && before != '`' {
            found.push(String::new());
        } else if let Some(last) = found.last_mut() {
            last.push(c);
        }
        before = if before == '`' { ' ' } else { c };
    }
    Some(found.iter().map(|argument| argument.trim().to_owned()).collect())
}

/// Evaluates a formula: a sum of products of `1`, numbers, `S(x)`, `L(x)`, the values of ints, and
/// logarithms of these.
fn formula(text: &str, value: &mut dyn FnMut(&str) -> Result<f64, String>) -> Result<f64, String> {
    let mut sum = 0.0;
    for term in text.split(" + ") {
        let mut product = 1.0;
        let mut is_log = false;
        for factor in term.split(' ') {
            if factor == "log" {
                is_log = true;
                continue;
            }
            let factor = match factor {
                "1" => 1.0,
                factor => value(factor)?,
            };
            product *= if is_log { factor.max(2.0).log2() } else { factor };
            is_log = false;
        }
        sum += product;
    }
    Ok(sum)
}

/// Evaluates a part of a formula, such as `S(a)`, for a call with its inputs.
fn part(
    session: &mut Session,
    known: &Known,
    inputs: &[String],
    call: &str,
    part: &str,
) -> Result<f64, String> {
    let (of, name) = match part.split_once('(') {
        Some((of, name)) => (of, name.trim_end_matches(')')),
        None => ("", part),
    };
    let mut inputs = inputs.to_vec();
    let what = if name == "result" {
        inputs.push(format!("out = {call}"));
        "out".to_owned()
    } else {
        let at = known.params.iter().position(|param| param.eq_ignore_ascii_case(name));
        let at = at.ok_or_else(|| format!("{}: the cost names `{name}`", known.name))?;
        format!("in{}", at + 1)
    };
    // A list costs its size, which is 1 more than that of its element; a range costs 1 more than its length.
    Ok(match of {
        "S" => measure(session, &inputs, &format!("[{what}]"))?.0 as f64 - 1.0,
        "L" => measure(session, &inputs, &format!("{{1 + 1 : each in {what}}}"))?.0 as f64,
        _ => measure(session, &inputs, &format!("[0:{what}]"))?.0 as f64 - 1.0,
    })
}

#[test]
fn n8_functions_cost_what_they_state() {
    let mut session = session("");
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for known in library() {
        let cost = known.doc.cost.clone().unwrap_or_default();
        let Some((work, depth)) = cost.strip_prefix("W = ").and_then(|c| c.split_once(", D = "))
        else {
            continue;
        };
        if cost.contains("O(") {
            continue;
        }
        if !matches!(depth, "1" | "1 (scan)") {
            wrong.push(format!("{}: the depth is neither 1 nor O(…): {cost}", known.name));
        }
        for (example, _) in &known.doc.examples {
            let Some((arguments, call)) = call(&known.name, example) else { continue };
            let inputs: Vec<String> = arguments
                .iter()
                .enumerate()
                .map(|(at, argument)| format!("in{} = {argument}", at + 1))
                .collect();
            let measured = measure(&mut session, &inputs, &call);
            let stated =
                formula(work, &mut |name| part(&mut session, &known, &inputs, &call, name));
            match (measured, stated) {
                (Ok((work, 1)), Ok(stated)) if work as f64 == stated.ceil() => checked += 1,
                (Ok(measured), Ok(stated)) => wrong.push(format!(
                    "{}: `{example}` states {cost}, which is {stated}; measured {measured:?}",
                    known.name
                )),
                (Err(why), _) | (_, Err(why)) => wrong.push(why),
            }
        }
    }
    assert!(checked >= 100, "{checked} examples were measured");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The inputs of functions whose cost is stated up to a factor, for a size `n`.
const GROWING: &[(&str, &[&str])] = &[
    ("kth_smallest", &["{rand(1000000) : i in [0:n]}", "n / 2"]),
    ("median", &["{rand(1000000) : i in [0:n]}"]),
    ("search_for_subseqs", &["\"aab\"", "{if rem(i, 3) == 2 then `b else `a : i in [0:n]}"]),
    ("gcd", &["n * 21", "n * 13 + 1"]),
    ("^", &["1", "n"]),
    ("eql", &["[0:n]", "[0:n]"]),
    ("@", &["[0:n]"]),
    ("string", &["[0:n]"]),
    ("name", &["{rem(i, 100) : i in [0:n]}"]),
    ("mark_duplicates", &["{rem(i, 100) : i in [0:n]}"]),
    ("remove_duplicates", &["{rem(i, 100) : i in [0:n]}"]),
    ("union", &["[0:n]", "[n / 2:n]"]),
    ("intersection", &["[0:n]", "[n / 2:n]"]),
    ("set_difference", &["[0:n]", "[n / 2:n]"]),
    ("collect", &["{(rem(i, 100), i) : i in [0:n]}"]),
    ("histogram", &["{rem(i, 100) : i in [0:n]}"]),
    ("parse_int", &["{`0 : i in [0:n]}"]),
    ("parse_int_vect", &["{if rem(i, 4) == 3 then space else `1 : i in [0:n]}"]),
    ("grep", &["\"ab\"", "{if rem(i, 3) == 2 then `b else `a : i in [0:n]}"]),
    (
        "next_char",
        &["[0:n - 3]", "\"aab\"", "{if rem(i, 3) == 2 then `b else `a : i in [0:n]}", "1"],
    ),
    ("justify_text", &["{if rem(i, 5) == 4 then space else `a : i in [0:n]}", "30"]),
    ("make_table", &["(1, 1)", "n"]),
    ("fast_create_table", &["{(i, i) : i in [0:n]}"]),
    ("create_table", &["{(i, i) : i in [0:n]}"]),
    ("insert_table", &["{(i, i) : i in [n:2 * n]}", "create_table({(i, i) : i in [0:n]})"]),
    ("search_table", &["[0:n]", "create_table({(i, i) : i in [0:n]})"]),
];

/// The factor by which a cost may seem to grow faster than stated from the first size on: constants and the
/// smaller terms matter less and less, and expected costs vary.
const GROWTH_SLACK: f64 = 1.5;

/// The number of seeds over which an expected cost is averaged.
const EXPECTED_SEEDS: u64 = 10;

#[test]
fn n8_functions_grow_as_they_state() {
    let mut session = session("");
    let mut wrong = Vec::new();
    for known in library() {
        let cost = known.doc.cost.clone().unwrap_or_default();
        let stated = cost.strip_prefix("expected ").unwrap_or(&cost);
        let Some((work, depth)) = stated.strip_prefix("W = ").and_then(|c| c.split_once(", D = "))
        else {
            continue;
        };
        if !cost.contains("O(") || cost.ends_with(" calls") || known.name.starts_with("w_") {
            continue;
        }
        let Some((_, arguments)) = GROWING.iter().find(|(name, _)| *name == known.name) else {
            wrong.push(format!("{}: no inputs to measure {cost}", known.name));
            continue;
        };
        let names: Vec<String> = (1..=arguments.len()).map(|at| format!("in{at}")).collect();
        let call = match &names[..] {
            [a, b] if known.name == "^" => format!("{a} ^ {b}"),
            names => format!("{}({})", known.name, names.join(", ")),
        };
        let inside = |text: &str| -> Option<String> {
            let (_, text) = text.split_once("O(")?;
            if text.starts_with("log)") {
                return Some("log entries".to_owned());
            }
            Some(text.strip_suffix(" at most").unwrap_or(text).strip_suffix(')')?.to_owned())
        };
        let Some((work, depth)) = inside(work).zip(inside(depth)) else {
            wrong.push(format!("{}: not understood: {cost}", known.name));
            continue;
        };
        let mut first: Option<[f64; 2]> = None;
        for n in [64, 256, 1024] {
            let inputs: Vec<String> = std::iter::once(format!("n = {n}"))
                .chain(arguments.iter().zip(&names).map(|(text, name)| format!("{name} = {text}")))
                .collect();
            let seeds = if cost.starts_with("expected ") { 1..=EXPECTED_SEEDS } else { 1..=1 };
            let measured = mean(&mut session, &inputs, &call, seeds);
            let mut value = |name: &str| match name {
                "entries" => Ok(n as f64),
                name => part(&mut session, &known, &inputs, &call, name),
            };
            let stated =
                formula(&work, &mut value).and_then(|w| Ok((w, formula(&depth, &mut value)?)));
            let (measured, stated) = match (measured, stated) {
                (Ok(measured), Ok(stated)) => (measured, stated),
                (Err(why), _) | (_, Err(why)) => {
                    wrong.push(why);
                    break;
                }
            };
            let ratio = [measured[0] / stated.0, measured[1] / stated.1];
            let before = *first.get_or_insert(ratio);
            for (what, at) in [("work", 0), ("depth", 1)] {
                if ratio[at] > GROWTH_SLACK * before[at] {
                    wrong.push(format!(
                        "{}: {cost}: for n = {n} the {what} is {:.2} times that, before {:.2} times",
                        known.name, ratio[at], before[at]
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
