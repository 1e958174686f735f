//! Tests that the version which the strategy chooses never grows faster than one that is there: every
//! benchmark, and loops that change tables with long rows, are run at three sizes in all versions, and the
//! work that the interpreter of kir counts is compared.

mod counted;

use nesl_engine::session::{Strategy, Version};
use std::path::{Path, PathBuf};

/// A benchmark: the file, its parameters but for the size, the sizes, and the form that is timed.
type Benchmark = (&'static str, &'static str, [u32; 3], &'static str);

const BENCHMARKS: [Benchmark; 18] = [
    ("dot", "n = SIZE;", [500, 1000, 2000], "dot_product(a, b)"),
    ("quicksort", "n = SIZE;", [200, 400, 800], "quicksort(a)"),
    ("sort", "n = SIZE;", [500, 1000, 2000], "sort(a)"),
    ("batcher", "n = SIZE;", [128, 256, 512], "bitonic_sort(a)"),
    (
        "black_scholes",
        "n = SIZE;",
        [100, 200, 400],
        "{option_prices(s, k, y) : s in spots; k in strikes; y in years}",
    ),
    ("quickhull", "n = SIZE;", [200, 400, 800], "convex_hull(points)"),
    ("barnes_hut", "n = SIZE;", [40, 80, 160], "accelerations(bodies)"),
    ("barnes_hut", "n = SIZE;", [40, 80, 160], "accelerations_by_squares(bodies)"),
    ("spmv", "rows = SIZE; width = 10; longest = 0;", [100, 200, 400], "multiply(matrix, v)"),
    ("kmeans", "n = SIZE; k = 3;", [100, 200, 400], "move(points, centres)"),
    ("sums", "rows = SIZE; columns = 20;", [100, 200, 400], "sum_rows(matrix)"),
    ("sums", "rows = SIZE; columns = 20;", [100, 200, 400], "sum_columns(matrix)"),
    ("primes", "n = SIZE;", [200, 400, 800], "primes(n)"),
    ("mandelbrot", "size = SIZE; limit = 20;", [8, 16, 32], "picture(size)"),
    ("bfs", "n = SIZE; degree = 8;", [100, 200, 400], "distances(graph, 0)"),
    (
        "pagerank",
        "n = SIZE; degree = 8; steps = 3;",
        [100, 200, 400],
        "page_rank(graph, outs, start, steps)",
    ),
    ("hotspot", "size = SIZE; steps = 3;", [8, 16, 32], "simulate(chip, power, steps)"),
    ("word_count", "file = \"FILE\";", [500, 1000, 2000], "histogram(wordify(text))"),
];

/// A loop over a table of SIZE long rows: its name, its definitions, and the form that is measured. A turn
/// computes a row of 2,100 elements, which is enough for the whole machine; the flattened version copies
/// the table, too.
const TABLES: [(&str, &str, &str); 4] = [
    (
        "elimination",
        "function go(m, i) : ([[int]], int) -> [[int]] =
           if i == #m then m
           else go(rep(m, {b - a * m[0][0] : a in m[i - 1]; b in m[i]}, i), i + 1);",
        "sum({r[7] : r in go({[k:k + 2100] : k in [0:SIZE]}, 1)})",
    ),
    (
        "a pair with a table",
        "function go((m, s), i) : (([[int]], int), int) -> ([[int]], int) =
           if i == #m then (m, s)
           else go((rep(m, {max(a, s) : a in m[i]}, i), s + m[i - 1][3]), i + 1);",
        "let (m, s) = go(({[k:k + 2100] : k in [0:SIZE]}, 0), 1) in s",
    ),
    (
        "rows appended",
        "function go(m, i, n) : ([[int]], int, int) -> [[int]] =
           if i == n then m else go(snoc(m, {a + i : a in m[i - 1]}), i + 1, n);",
        "sum({r[7] : r in go([[0:2100]], 1, SIZE)})",
    ),
    (
        "tables, each on its own",
        "function go(m, i) : ([[int]], int) -> [[int]] =
           if i == #m then m else go(rep(m, {a + i : a in m[i - 1]}, i), i + 1);
         tables = {{[k:k + 1050] : k in [j:j + SIZE]} : j in [0:2]};",
        "sum({sum({r[7] : r in go(table, 1)}) : table in tables})",
    ),
];

/// The rows of these tables. Each number is twice the one before, as is the room of arrays that grow.
const ROWS: [u32; 3] = [40, 80, 160];

/// The work that the chosen version may take more than the least of all versions, as a factor: flattened
/// code does a constant number of operations more for each element.
const MAX_WORK_FACTOR: f64 = 8.0;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/nesl")
}

/// Returns the work of a benchmark.
fn work(benchmark: &Benchmark, size: u32, strategy: Strategy) -> f64 {
    let (file, parameters, _, form) = benchmark;
    let text = std::env::temp_dir().join(format!("nesl-growth-{}-{size}", std::process::id()));
    if parameters.contains("FILE") {
        let words: String = (0..size).map(|i| format!("w{} ", i * 7919 % 211)).collect();
        std::fs::write(&text, words).expect("the file can be written");
    }
    let parameters = parameters.replace("SIZE", &size.to_string());
    let parameters = parameters.replace("FILE", &text.display().to_string());
    let read = |name: &str| std::fs::read_to_string(folder().join(name)).expect("it is there");
    let before = [parameters, read("data.nesl"), read(&format!("{file}.nesl"))];
    let work = work_of(&before, &format!("r = {form};"), strategy);
    // It is there for one program only.
    let _ = std::fs::remove_file(&text);
    work
}

/// Returns the work of a form that stands behind some other texts.
fn work_of(before: &[String], form: &str, strategy: Strategy) -> f64 {
    let mut session = counted::session(strategy);
    let mut enter = |text: &str| counted::enter(&mut session, form, text).work;
    let before = before.iter().map(|text| enter(text)).last().unwrap_or_default();
    (enter(form) - before) as f64
}

/// Checks that the work of the chosen version grows no faster than that of the others.
fn check(name: &str, measure: impl Fn(Strategy) -> [f64; 3]) {
    let chosen = measure(Strategy::Auto);
    let others = [Version::Sequential, Version::Flattened].map(|v| measure(Strategy::Always(v)));
    println!("{name}: {chosen:.0?} beside {others:.0?}");
    let growth = |work: &[f64; 3]| (work[2] - work[1]) / (work[1] - work[0]).max(1.0);
    for other in &others {
        let (ours, theirs) = (growth(&chosen), growth(other));
        let is_more = chosen[2] > other[2];
        assert!(
            ours <= 1.25 * theirs || !is_more,
            "{name}: work grows by {ours:.2}, not {theirs:.2}"
        );
        assert!(chosen[2] <= MAX_WORK_FACTOR * other[2], "{name}: {chosen:.0?}, not {other:.0?}");
    }
}

#[test]
fn the_chosen_version_grows_no_faster_than_another() {
    for benchmark in &BENCHMARKS {
        let (file, _, sizes, form) = benchmark;
        let measure = |strategy| sizes.map(|size| work(benchmark, size, strategy));
        check(&format!("{file}, {form}"), measure);
    }
}

#[test]
fn loops_over_tables_are_not_flattened_where_that_copies_them() {
    for (name, definitions, form) in TABLES {
        let measure = |strategy| {
            ROWS.map(|rows| {
                let [before, form] =
                    [definitions, form].map(|text| text.replace("SIZE", &rows.to_string()));
                work_of(&[before], &format!("{form};"), strategy)
            })
        };
        check(name, measure);
    }
}

/// Programs of linear work: counts that are read in an apply-to-each, and groups most of which are not kept.
const LINEAR: [(&str, &str); 4] = [
    (
        "n = SIZE; a = {rem(i * 7, 10) : i in [0:n]};",
        "let s = {x in a | x > 3} in sum({y * #s : y in a})",
    ),
    (
        "n = SIZE; a = {rem(i * 7, 10) : i in [0:n]};",
        "let s = {x in a | x > 3} in sum({(if y > 2 then #s else y) : y in a})",
    ),
    (
        "n = SIZE; kv = {(min(i, 3), i) : i in [0:n]};",
        "sum({sum({sum({x * y : y in vs}) : x in vs}) : (k, vs) in int_collect(kv) | #vs < 10})",
    ),
    (
        "n = SIZE; kv = {(i, i) : i in [0:n]} ++ [(5, 5)]; z = [0:n];",
        "sum({sum({x * k : x in z}) + #vs : (k, vs) in int_collect(kv) | #vs > 1})",
    ),
];

#[test]
fn what_is_counted_and_kept_takes_linear_work() {
    for (before, form) in LINEAR {
        let strategies = [
            Strategy::Auto,
            Strategy::Always(Version::Sequential),
            Strategy::Always(Version::Flattened),
        ];
        for strategy in strategies {
            let [small, large] = [1000, 4000].map(|size: u32| {
                let before = before.replace("SIZE", &size.to_string());
                work_of(&[before], &format!("{form};"), strategy)
            });
            assert!(large < 6.0 * small, "{form}, {strategy:?}: {small} and {large}");
        }
    }
}
