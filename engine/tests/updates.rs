//! Tests that loops which update arrays cost what they write, in every version of the code: twice as
//! many turns over twice as long an array take about twice the work. The interpreter of kir counts
//! the instructions executed and the elements moved.

use expect_test::expect;
use nesl_engine::session::{Strategy, Version};
use nesl_engine::{Event, Session, Settings, ShownValues};
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::runtime::Options;
use std::fmt::Write as _;

/// The versions of the code that are measured, with their names.
const VERSIONS: [(&str, Strategy); 3] = [
    ("sequential", Strategy::Always(Version::Sequential)),
    ("flattened", Strategy::Always(Version::Flattened)),
    ("chosen", Strategy::Auto),
];

/// The turns of the loops, and the elements of the arrays.
const SIZES: [u32; 3] = [64, 128, 256];

/// A program: its name, its definitions, and the form that is measured for some `n`.
type Program = (&'static str, &'static str, &'static str);

const PROGRAMS: &[Program] = &[
    (
        "rep",
        "function go(a, i) : ([int], int) -> [int] =
           if i == #a then a else go(rep(a, i * 3, i), i + 1);",
        "sum(go(dist(0, n), 0))",
    ),
    (
        "rep of what was read",
        "function go(a, i) : ([int], int) -> [int] =
           if i == #a then a else go(rep(a, a[i - 1] + a[i], i), i + 1);",
        "sum(go(dist(1, n), 1))",
    ),
    (
        "write",
        "function go(a, i) : ([int], int) -> [int] =
           if i == #a then a else go(a <- [(i, i)], i + 1);",
        "sum(go(dist(0, n), 0))",
    ),
    (
        "several writes",
        "function go(a, i) : ([int], int) -> [int] =
           if i == #a then a else go(a <- [(i, a[i - 1]), (i - 1, a[i])], i + 1);",
        "go([0:n], 1)[n - 1]",
    ),
    (
        "snoc",
        "function go(a, i, n) : ([int], int, int) -> [int] =
           if i == n then a else go(snoc(a, i), i + 1, n);",
        "sum(go([] int, 0, n))",
    ),
    (
        "append a list",
        "function go(a, i, n) : ([int], int, int) -> [int] =
           if i == n then a else go(a ++ [i, -i], i + 1, n);",
        "sum(go([0], 0, n))",
    ),
    (
        "a stack",
        "function go(a, i, s) : ([int], int, int) -> int =
           if i == 0 then s
           else if rem(i, 3) == 0 then go(take(a, #a - 1), i - 1, s + a[#a - 1])
           else go(snoc(a, i), i - 1, s);",
        "go([1], n, 0)",
    ),
    (
        "swaps",
        "function go(a, i, j) : ([int], int, int) -> [int] =
           if i >= j then a else go(rep(rep(a, a[j], i), a[i], j), i + 1, j - 1);",
        "go([0:n], 0, n - 1)[0]",
    ),
    (
        "a pair",
        "function go((a, s), i) : (([int], int), int) -> ([int], int) =
           if i == #a then (a, s) else go((rep(a, s, i), s + i), i + 1);",
        "let (a, s) = go((dist(0, n), 1), 0) in sum(a) + s",
    ),
    (
        "a record",
        "datatype state([int], int, [int]);
         function go(state(a, s, b), i) : (state, int) -> state =
           if i == #a then state(a, s, b) else go(state(rep(a, s, i), s + i, b), i + 1);",
        "let state(a, s, b) = go(state(dist(0, n), 1, [0:n]), 0) in sum(a) + s + sum(b)",
    ),
    (
        "two arrays",
        "function go(a, b, i) : ([int], [int], int) -> ([int], [int]) =
           if i == #a then (a, b) else go(rep(a, b[i], i), rep(b, i, #b - 1 - i), i + 1);",
        "let (a, b) = go([0:n], dist(1, n), 0) in sum(a) + sum(b)",
    ),
    (
        "arrays that change places",
        "function go(a, b, i) : ([int], [int], int) -> ([int], [int]) =
           if i == #a then (a, b) else go(rep(b, a[i], i), a, i + 1);",
        "let (a, b) = go([0:n], dist(1, n), 0) in sum(a) + sum(b)",
    ),
    (
        "pairs",
        "function go(a, i) : ([(int, float)], int) -> [(int, float)] =
           if i == #a then a else let (x, y) = a[i - 1] in go(rep(a, (x + 1, y), i), i + 1);",
        "let (x, y) = go(dist((1, 2.0), n), 1)[n - 1] in x",
    ),
    (
        "flags",
        "function mark(seen, at, left) : ([bool], int, int) -> [bool] =
           if left == 0 then seen
           else if seen[at] then mark(seen, rem(at + 1, #seen), left - 1)
           else mark(rep(seen, t, at), rem(at * 7 + 3, #seen), left - 1);",
        "count(mark(dist(f, n), 0, n))",
    ),
    (
        "a branch that updates",
        "function go(a, i) : ([int], int) -> [int] =
           if i == #a then a
           else go((if rem(a[i], 3) == 0 then rep(a, 5, i) else a), i + 1);",
        "sum(go([0:n], 0))",
    ),
    (
        "a dynamic program",
        "function go(best, i) : ([int], int) -> [int] =
           if i == #best then best
           else go(rep(best, min(best[i - 1] + 3, best[i / 2] + 4), i), i + 1);",
        "sum(go(dist(0, n), 2))",
    ),
    (
        "a sieve",
        "function cross(s, p, j) : ([bool], int, int) -> [bool] =
           if j >= #s then s else cross(rep(s, f, j), p, j + p);
         function sieve(s, p) : ([bool], int) -> [bool] =
           if p * p >= #s then s
           else sieve((if s[p] then cross(s, p, p * p) else s), p + 1);",
        "count(sieve(dist(t, 4 * n), 2))",
    ),
    (
        "a heap",
        "function up(h, i) : ([int], int) -> [int] =
           if i == 0 then h
           else let p = (i - 1) / 2; a = h[i]; b = h[p]
                in if a < b then up(rep(rep(h, a, p), b, i), p) else h;
         function down(h, i, n) : ([int], int, int) -> [int] =
           let l = 2 * i + 1; r = 2 * i + 2
           in if l >= n then h
              else let c = if r < n and h[r] < h[l] then r else l; a = h[i]; b = h[c]
                   in if b < a then down(rep(rep(h, b, i), a, c), c, n) else h;
         function fill(h, i, n) : ([int], int, int) -> [int] =
           if i == n then h else fill(up(rep(h, rem(i * 7919, 1009), i), i), i + 1, n);
         function drain(h, n, s) : ([int], int, int) -> int =
           if n == 0 then s
           else let top = h[0]
                in drain(down(rep(h, h[n - 1], 0), 0, n - 1), n - 1, rem(s * 31 + top, 10007));",
        "drain(fill(dist(0, n), 0, n), n, 0)",
    ),
    (
        "a queue",
        "function walk(queue, seen, at) : ([int], [bool], int) -> [int] =
           if at == #queue then queue
           else let v = queue[at]; next = rem(v * 5 + 1, #seen)
                in if seen[next] then walk(queue, seen, at + 1)
                   else walk(snoc(queue, next), rep(seen, t, next), at + 1);",
        "sum(walk([0], rep(dist(f, n), t, 0), 0))",
    ),
    (
        "union and find",
        "function root(up, v) : ([int], int) -> int = if up[v] == v then v else root(up, up[v]);
         function connect(up, i) : ([int], int) -> [int] =
           if i == #up then up else connect(rep(up, root(up, i / 2), root(up, i)), i + 1);",
        "sum(connect([0:n], 1))",
    ),
    (
        "in an apply-to-each",
        "function go(a, i) : ([int], int) -> [int] =
           if i == #a then a else go(rep(a, i * 3, i), i + 1);",
        "sum({sum(go(dist(k, n), 0)) : k in [0:4]})",
    ),
    (
        "snoc in an apply-to-each",
        "function go(a, i, n) : ([int], int, int) -> [int] =
           if i == n then a else go(snoc(a, i), i + 1, n);",
        "sum({sum(go([k], 0, n)) : k in [0:4]})",
    ),
    (
        "not in tail position",
        "function go(i, n) : (int, int) -> [int] =
           if i == 0 then dist(0, n) else rep(go(i - 1, n), i, i - 1);",
        "sum(go(n, n))",
    ),
    (
        "of an input",
        "function go(a, i) : ([int], int) -> [int] =
           if i == #a then a else go(rep(a, a[i] + 1, i), i + 1);",
        "sum(go(data, 0)) + sum(data)",
    ),
];

/// Programs that update sequences of sequences.
const TABLES: &[Program] = &[
    (
        "a cell",
        "function go(m, i) : ([[int]], int) -> [[int]] =
           if i == #m then m else go(rep(m, rep(m[i], i, 3), i), i + 1);",
        "sum(flatten(go(dist(dist(0, 8), n), 0)))",
    ),
    (
        "a cell of a long row",
        "function go(m, i, n) : ([[int]], int, int) -> [[int]] =
           if i == n then m
           else let r = rem(i, 4) in go(rep(m, rep(m[r], i, i), r), i + 1, n);",
        "sum(flatten(go({dist(k, n) : k in [0:4]}, 0, n)))",
    ),
    (
        "cells of a dynamic program",
        "function go(m, i, j) : ([[int]], int, int) -> [[int]] =
           if i == #m then m
           else if j == 8 then go(m, i + 1, 1)
           else go(rep(m, rep(m[i], min(m[i - 1][j], m[i][j - 1]) + m[i - 1][j - 1], j), i), i, j + 1);",
        "sum(flatten(go({[k:k + 8] : k in [0:n]}, 1, 1)))",
    ),
    (
        "two cells of a row",
        "function go(m, i) : ([[int]], int) -> [[int]] =
           if i == #m then m
           else let r = m[i] in go(rep(m, rep(rep(r, r[0], 7), r[7], 0), i), i + 1);",
        "sum(flatten(go({[k:k + 8] : k in [0:n]}, 1)))",
    ),
    (
        "writes to a row",
        "function go(m, i, n) : ([[int]], int, int) -> [[int]] =
           if i == n then m
           else let r = rem(i, 4) in go(rep(m, m[r] <- [(i, i), (0, i)], r), i + 1, n);",
        "sum(flatten(go({dist(k, n) : k in [0:4]}, 0, n)))",
    ),
    (
        "a row of others",
        "function go(m, i) : ([[int]], int) -> [[int]] =
           if i == #m then m
           else go(rep(m, {a + b : a in m[i - 1]; b in m[i]}, i), i + 1);",
        "sum(flatten(go({[k:k + 8] : k in [0:n]}, 1)))",
    ),
    (
        "elimination",
        "function clear(m, k, i) : ([[float]], int, int) -> [[float]] =
           if i == #m then m
           else let r = m[i]; p = m[k]; c = r[k] / p[k]
                in clear(rep(m, {a - c * b : a in r; b in p}, i), k, i + 1);
         function go(m, k) : ([[float]], int) -> [[float]] =
           if k == 2 then m else go(clear(m, k, k + 1), k + 1);",
        "sum(flatten(go({{float(rem(i * 7 + j * j, 5) + 1) : j in [0:8]} : i in [0:n]}, 0)))",
    ),
    (
        "swaps of rows",
        "function go(m, i, j) : ([[int]], int, int) -> [[int]] =
           if i >= j then m else go(rep(rep(m, m[j], i), m[i], j), i + 1, j - 1);",
        "sum(flatten(go({[k:k + 8] : k in [0:n]}, 0, n - 1)))",
    ),
    (
        "a row moved",
        "function go(m, i) : ([[int]], int) -> [[int]] =
           if i == #m then m else go(rep(m, m[i - 1], i), i + 1);",
        "sum(flatten(go({[k:k + 8] : k in [0:n]}, 1)))",
    ),
    (
        "writes of rows",
        "function go(m, i) : ([[int]], int) -> [[int]] =
           if i == #m then m else go(m <- [(i, [i, i]), (i - 1, m[i])], i + 1);",
        "sum(flatten(go({[k:k + 8] : k in [0:n]}, 1)))",
    ),
    (
        "rows of other lengths",
        "function go(m, i) : ([[int]], int) -> [[int]] =
           if i == #m then m else go(rep(m, [0:rem(i, 9)], rem(i * 7, #m)), i + 1);",
        "sum(flatten(go({[k:k + 4] : k in [0:n]}, 1)))",
    ),
    (
        "snoc of a row",
        "function go(m, i, n) : ([[int]], int, int) -> [[int]] =
           if i == n then m else go(snoc(m, [i:i + rem(i, 8)]), i + 1, n);",
        "sum(flatten(go([] [int], 0, n)))",
    ),
    (
        "snoc of the last row",
        "function go(m, i, n) : ([[int]], int, int) -> [[int]] =
           if i == n then m else go(snoc(m, {a + b : a in m[i - 1]; b in [0:8]}), i + 1, n);",
        "sum(flatten(go([[0:8]], 1, n)))",
    ),
    (
        "rows appended",
        "function go(m, i, n) : ([[int]], int, int) -> [[int]] =
           if i == n then m else go(m ++ [[i, i], [i]], i + 1, n);",
        "sum(flatten(go([] [int], 0, n)))",
    ),
    (
        "a stack of rows",
        "function go(m, i, s) : ([[int]], int, int) -> int =
           if i == 0 then s
           else if rem(i, 3) == 0 then go(take(m, #m - 1), i - 1, s + sum(m[#m - 1]))
           else go(snoc(m, [i, s]), i - 1, s);",
        "go([[1]], n, 0)",
    ),
    (
        "lists of neighbours",
        "function go(g, i) : ([[int]], int) -> [[int]] =
           if i == #g then g else go(rep(g, snoc(g[i / 2], i), i / 2), i + 1);",
        "sum(flatten(go({[] int : k in [0:n]}, 0)))",
    ),
    (
        "a table in a record",
        "datatype state([[int]], int, [int]);
         function go(state(m, s, a), i) : (state, int) -> state =
           if i == #m then state(m, s, a)
           else go(state(rep(m, rep(m[i], s, 2), i), s + m[i][1], rep(a, s, i)), i + 1);",
        "let state(m, s, a) = go(state({[k:k + 8] : k in [0:n]}, 1, [0:n]), 0)
         in sum(flatten(m)) + s + sum(a)",
    ),
    (
        "two tables",
        "function go(m, u, i) : ([[int]], [[int]], int) -> ([[int]], [[int]]) =
           if i == #m then (m, u) else go(rep(u, m[i], i), rep(m, [i, i], i), i + 1);",
        "let (m, u) = go({[k:k + 8] : k in [0:n]}, dist(dist(1, 8), n), 0)
         in sum(flatten(m)) + sum(flatten(u))",
    ),
    (
        "texts and counts",
        "function go(m, i) : ([([char], int)], int) -> [([char], int)] =
           if i == #m then m
           else let (name, k) = m[i] in go(rep(m, (name, k + i), i), i + 1);",
        "sum({k : (name, k) in go({(\"abc\", k) : k in [0:n]}, 0)})",
    ),
    (
        "rows in pairs",
        "function go(m, i) : ([([int], int, [float])], int) -> [([int], int, [float])] =
           if i == #m then m
           else let (a, k, x) = m[i]
                in go(rep(m, (rep(a, k, 1), k + a[0], rep(x, x[0] + 1.0, 2)), i), i + 1);",
        "sum({k + a[1] : (a, k, x) in go({([k:k + 8], k, dist(0.5, 8)) : k in [0:n]}, 0)})",
    ),
    (
        "a table of tables",
        "function go(m, i) : ([[[int]]], int) -> [[[int]]] =
           if i == #m then m
           else let r = m[i] in go(rep(m, rep(r, snoc(r[1], i), 1), i), i + 1);",
        "sum(flatten(flatten(go({[[k:k + 4], [k]] : k in [0:n]}, 0))))",
    ),
    (
        "tables, each on its own",
        "function go(m, i) : ([[int]], int) -> [[int]] =
           if i == #m then m else go(rep(m, rep(m[i], i, 1), i), i + 1);",
        "sum({sum(flatten(go({[k:k + 4] : j in [0:n]}, 0))) : k in [0:4]})",
    ),
    (
        "a table that is given",
        "function go(m, i) : ([[int]], int) -> [[int]] =
           if i == #m then m else go(rep(m, rep(m[i], m[i][0] + 1, 0), i), i + 1);",
        "sum(flatten(go(table, 0))) + sum(flatten(table))",
    ),
];

/// The programs whose flattened form copies more than it writes: where a conditional divides an index
/// space, the results of its branches are merged by copying, and lists that the host appends are
/// copied with what they are appended to. The strategy chooses the sequential form.
const COPIED_WHEN_FLATTENED: [&str; 3] =
    ["append a list", "in an apply-to-each", "snoc in an apply-to-each"];

/// Returns the work of a form.
fn work(program: &Program, n: u32, strategy: Strategy) -> u64 {
    let settings = Settings {
        shown: ShownValues::Scalars,
        lazy: false,
        interpret_first: false,
        strategy,
        ..Settings::default()
    };
    let mut session = Session::new(settings);
    let options = Options { interrupt: session.interrupt_handle(), ..Options::default() };
    session.set_runtime(Some(Box::new(Reference::new(options))));
    let (name, definitions, form) = program;
    let mut enter = |text: &str| {
        session.enter("program.nesl", text, &mut |event| {
            if let Event::Diagnostic(diagnostic) = event {
                panic!("{name}: {}", diagnostic.message);
            }
        });
        let stats = session.stats();
        assert_eq!(stats.unsupported, [], "{name}");
        stats.counters.work
    };
    let before = enter(&format!(
        "{definitions} n = {n}; data = {{rem(i * 7, 13) : i in [0:n]}};
         table = {{[i:i + 8] : i in [0:n]}};"
    ));
    enter(&format!("{form};")) - before
}

/// Returns the work per turn at the largest size, and the growth of the work when the size doubles.
fn measure(program: &Program, strategy: Strategy) -> (u64, f64) {
    let [small, middle, large] = SIZES.map(|n| work(program, n, strategy));
    // What the host does launches nothing.
    let growth = (large - middle) as f64 / (middle - small).max(1) as f64;
    ((large - middle) / u64::from(SIZES[2] - SIZES[1]), growth)
}

#[test]
fn loops_cost_what_they_write() {
    let mut table = format!("{:28}", "work per turn");
    for (version, _) in VERSIONS {
        let _ = write!(table, "{version:>12}");
    }
    table.push('\n');
    for program in PROGRAMS {
        let name = program.0;
        let _ = write!(table, "{name:28}");
        for (version, strategy) in VERSIONS {
            let (per_turn, growth) = measure(program, strategy);
            let _ = write!(table, "{per_turn:>12}");
            // A turn of a heap takes a logarithm.
            let is_linear = growth <= 2.5;
            let may_copy = version == "flattened" && COPIED_WHEN_FLATTENED.contains(&name);
            assert!(is_linear || may_copy, "{name}, {version}: {growth:.2}");
        }
        table.push('\n');
    }
    expect![[r#"
        work per turn                 sequential   flattened      chosen
        rep                                   29          11          29
        rep of what was read                  42          11          42
        write                                 36          11          36
        several writes                        56          10          56
        snoc                                  26           4          27
        append a list                         40        1544          41
        a stack                               32           0          32
        swaps                                 23           6          23
        a pair                                28          11          28
        a record                              36          17          36
        two arrays                            56          21          56
        arrays that change places             43          17          43
        pairs                                 37           9          37
        flags                                 45          12          45
        a branch that updates                 31           7          31
        a dynamic program                     48          11          48
        a sieve                              150         224         170
        a heap                               578          74         580
        a queue                               64          11          63
        union and find                        75          62          75
        in an apply-to-each                   88        3260          88
        snoc in an apply-to-each              90        1776          90
        not in tail position                  26          11          26
        of an input                           36          12          36
    "#]]
    .assert_eq(&table);
}

#[test]
fn measure_tables() {
    let only = std::env::var("ONLY").unwrap_or_default();
    for program in TABLES.iter().filter(|p| p.0.contains(&only)) {
        let name = program.0;
        println!();
        print!("{name:28}");
        let only_seq = std::env::var("SEQ").is_ok();
        for (_version, strategy) in VERSIONS {
            if only_seq && _version == "flattened" {
                continue;
            }
            if only_seq {
                print!(
                    " {_version}: {:?}",
                    [64, 128, 256, 512, 1024, 2048].map(|n| work(program, n, strategy))
                );
                continue;
            }
            let (per_turn, growth) = measure(program, strategy);
            print!("{per_turn:>12} ({growth:.2})");
        }
        println!();
    }
}
