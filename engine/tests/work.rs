//! Tests that the work actually executed is within a constant factor of the work in the cost model,
//! for every version of the code. The interpreter of kir counts the executed instructions and
//! elements; the direct interpreter counts the work in the cost model. A compiler that copies data
//! which is only read would exceed the bound.

mod counted;

use nesl_engine::session::{Strategy, Version};
use nesl_engine::{Binding, Event, Session};
use std::path::Path;

const FORMS: [(&str, Strategy); 3] = [
    ("chosen", Strategy::Auto),
    ("whole", Strategy::Always(Version::Sequential)),
    ("flat", Strategy::Always(Version::Flattened)),
];

/// A program that is measured at several sizes.
struct Program {
    definitions: String,
    /// The definitions of data of size `n`.
    data: &'static str,
    /// The form that is measured.
    form: &'static str,
    sizes: [u32; 3],
}

/// The maximum number of instructions for each unit of work.
const MOST: f64 = 45.0;

/// Enters a text and returns its last binding.
fn last(session: &mut Session, text: &str) -> Option<Binding> {
    let mut bound = None;
    session.enter("program.nesl", text, &mut |event| match event {
        Event::Bound(binding) => bound = Some(binding),
        Event::Text(_) => {}
        Event::Diagnostic(diagnostic) => panic!("{text}: {}", diagnostic.message),
    });
    bound
}

/// Returns the work of a program in the cost model.
fn promised(program: &Program, n: u32) -> f64 {
    let mut session = Session::new(counted::settings(Strategy::Auto));
    last(&mut session, &format!("{} n = {n}; {}", program.definitions, program.data));
    let (work, _) = last(&mut session, program.form).and_then(|b| b.cost).expect("it is counted");
    work as f64
}

/// Returns the work that was executed.
fn done(program: &Program, n: u32, strategy: Strategy) -> f64 {
    let mut session = counted::session(strategy);
    let data = format!("{} n = {n}; {}", program.definitions, program.data);
    let before = counted::enter(&mut session, program.form, &data).work;
    let binding = last(&mut session, program.form).expect("it has a value");
    assert!(binding.usage.on_runtime, "{}", program.form);
    assert_eq!(session.stats().unsupported, [], "{}", program.form);
    (session.stats().counters.work - before) as f64
}

fn check(program: &Program) {
    for (name, strategy) in FORMS {
        let promised = program.sizes.map(|n| promised(program, n).max(f64::from(n)));
        let done = program.sizes.map(|n| done(program, n, strategy));
        // The differences between sizes exclude the constant overhead.
        let more = |i: usize| (done[i + 1] - done[i]) / (promised[i + 1] - promised[i]);
        let ratios = [done[0] / promised[0], more(0), more(1)];
        let what = format!("{}, {name}: {ratios:.2?} of the work promised", program.form);
        println!("{what}");
        assert!(ratios.iter().all(|ratio| *ratio <= MOST), "{what}");
        assert!(ratios[2] <= 1.25 * ratios[1], "{what}");
    }
}

/// Returns the definitions of an example, which precede its first expression.
fn example(name: &str, first: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name);
    let text = std::fs::read_to_string(path).expect("it is there");
    let end = text.find(first).expect("it is in the text");
    text[..end].to_owned()
}

fn small(data: &'static str, form: &'static str) -> Program {
    // Of more than 256 segments it is noted what is known, of fewer the host looks.
    Program { definitions: String::new(), data, form, sizes: [300, 600, 1200] }
}

#[test]
fn gathers() {
    check(&small(
        "a = {i * i : i in [0:n]}; b = {rem(i * 7919, n) : i in [0:n]};",
        "r = {a[i] : i in b};",
    ));
}

#[test]
fn free_sequences_are_not_copied() {
    check(&small(
        "v = {float(i) : i in [0:n]}; w = {float(i) : i in [0:8]};",
        "r = {sum({x * y : x in v}) : y in w};",
    ));
    check(&small(
        "v = {float(i) : i in [0:n]}; w = {rem(i * 7, n) : i in [0:n]};",
        "r = {v[i] + v[#v - 1 - i] * float(#v) : i in w};",
    ));
}

/// Each row uses the whole sequence, or one of two sequences, or a part; no elements are copied.
#[test]
fn sequences_of_sequences_are_views() {
    check(&small("v = {i : i in [0:n]};", "r = {v : i in v};"));
    check(&small(
        "v = {i : i in [0:n]}; u = {-i : i in v};",
        "r = {if i > 50 then u else v : i in v};",
    ));
    check(&small("v = {i : i in [0:n]};", "r = {#take(v, i) : i in v};"));
    check(&small("v = {i : i in [0:n]};", "r = {take(v, 3) : i in v};"));
}

/// Most elements finish immediately and must not take part in the work of the few that remain.
#[test]
fn recursion_of_few_among_many() {
    check(&Program {
        definitions: "function shrink(a) : [int] -> [int] =
                        if #a < 2 then a else shrink({x + 1 : x in drop(a, 1)});"
            .to_owned(),
        data: "rows = {dist(i, if i == 5 then 30 else 1) : i in [0:n]};",
        form: "r = {shrink(row) : row in rows};",
        sizes: [200, 400, 800],
    });
}

#[test]
fn sparse_matrices() {
    check(&small(
        "x = {float(i) : i in [0:n]};
         m = {{(rem(i * 31 + k * 17, n), 0.5) : k in [0:4]} : i in [0:n]};",
        "r = {sum({e * x[j] : (j, e) in row}) : row in m};",
    ));
}

#[test]
fn rows() {
    check(&small(
        "m = {{float(i + j) : j in [0:n]} : i in [0:4]};",
        "r = {let mean = sum(row) / float(#row) in {(x - mean) * 2.0 : x in row} : row in m};",
    ));
    check(&small(
        "m = {{i + j : j in [0:rem(i, 7)]} : i in [0:n]};",
        "r = {if #row > 3 then sum(row) else #row : row in m};",
    ));
}

#[test]
fn searching_strings() {
    check(&Program {
        definitions: example("string_search.nesl", "occurrences(\"foo\""),
        data: "text = {code_char(97 + rem(i * 7919, 13)) : i in [0:n]};
               words = [\"abc\", \"hg\", \"jc\", \"lmno\"];",
        form: "r = {#occurrences(word, text) : word in words};",
        sizes: [200, 400, 800],
    });
}

#[test]
fn quicksort() {
    check(&Program {
        definitions: example("quicksort.nesl", "quicksort([8"),
        data: "a = {rem(i * 7919 + 13, 10007) : i in [0:n]};",
        form: "r = quicksort(a);",
        sizes: [100, 200, 400],
    });
}

#[test]
fn quickhull() {
    check(&Program {
        definitions: example("quickhull.nesl", "convex_hull([("),
        data: "points = {let angle = float(i) * 2.399963; r = sqrt(float(i))
                         in (r * cos(angle), r * sin(angle)) : i in [0:n]};",
        form: "r = convex_hull(points);",
        sizes: [100, 200, 400],
    });
}

#[test]
fn queens() {
    check(&Program {
        definitions: example("nqueens.nesl", "queens(6);"),
        data: "",
        form: "r = queens(n);",
        sizes: [4, 5, 6],
    });
}
