//! Tests of the answers of commands, through a session as front ends have it.

use crate::display::Style;
use crate::output::{Outcome, Output};
use crate::runtimes::RuntimeRow;
use crate::state::{Setup, State};
use expect_test::{Expect, expect};
use nesl_engine::{Round, Settings, ShownValues, Stages};
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::runtime::Options;
use std::sync::mpsc::channel;

static RUNTIMES: [RuntimeRow; 3] = [
    RuntimeRow {
        name: "kir",
        about: "The interpreter of kernels",
        device: |_| "interpreter of kernels".to_owned(),
        interpret_first: false,
        stages: Stages::with_backend(&[]),
        make: |options| Ok(Some(Box::new(Reference::new(options)))),
    },
    RuntimeRow {
        name: "reference",
        about: "The direct interpreter",
        device: |_| "direct interpreter".to_owned(),
        interpret_first: false,
        stages: Stages::with_backend(&[]),
        make: |_| Ok(None),
    },
    RuntimeRow {
        name: "gpu",
        about: "A device that is not there",
        device: |_| "no driver was found".to_owned(),
        interpret_first: true,
        stages: Stages::with_backend(&[]),
        make: |_| Err("no driver was found".to_owned()),
    },
];

pub(super) fn state() -> State {
    State::new(Setup {
        settings: Settings { shown: ShownValues::Expressions, ..Settings::default() },
        runtimes: &RUNTIMES,
        runtime: &RUNTIMES[0],
        options: Options { threads: 1, memory: 1 << 30, ..Options::default() },
        idle: None,
        display: Style::default(),
        extra: &[],
    })
    .expect("the interpreter of kernels is everywhere")
}

/// Enters a text; returns all that is shown, and the outcome.
fn outputs(state: &mut State, text: &str) -> (Vec<Output>, Outcome) {
    let (sink, outputs) = channel();
    let outcome = state.enter("In [1]", text, Box::new(move |output| drop(sink.send(output))));
    (outputs.try_iter().collect(), outcome)
}

pub(super) fn said(state: &mut State, text: &str) -> String {
    let (outputs, _) = outputs(state, text);
    let texts = outputs.into_iter().map(|output| match output {
        Output::Printed(_, bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Output::Value(b) | Output::Defined(b) | Output::Answer(b) | Output::Warning(b) => {
            b.plain + "\n"
        }
        Output::Picture(at, _) => format!("picture {at}\n"),
        Output::Error(problem) => problem.shown.plain + "\n",
    });
    texts.collect()
}

fn html(state: &mut State, text: &str) -> String {
    let (outputs, _) = outputs(state, text);
    let found = outputs.into_iter().find_map(|output| match output {
        Output::Answer(bundle) => bundle.html,
        _ => None,
    });
    found.expect("an answer in HTML")
}

#[track_caller]
fn check(state: &mut State, text: &str, expected: Expect) {
    expected.assert_eq(&said(state, text));
}

#[test]
fn variables_are_listed_without_touching_them() {
    let mut state = state();
    check(
        &mut state,
        ":vars",
        expect![[r#"
        There are no variables.
    "#]],
    );
    said(
        &mut state,
        "m = [[1, 2], [] int, [3]]; s = \"a string\"; n = 3; y = {x * 2 : x in [0:1000]};",
    );
    said(&mut state, "{sum(r) : r in m}; sum(y); sum(y); z = {x + 1 : x in [0:10]};");
    let before = state.session.stats().counters;
    check(
        &mut state,
        ":vars",
        expect![[r#"
        name  type     shape             bytes  where
        it    int                            8  both
        m     [[int]]  3 rows, 0–2 long     72  both
        n     int                            8  host
        s     [char]   8                     8  host
        y     [int]    1,000             8,000  device
        z     [int]    10                    -  not yet computed
    "#]],
    );
    assert_eq!(state.session.stats().counters, before);
    let html = html(&mut state, ":vars");
    assert!(html.contains("<td>[[int]]</td>"), "{html}");
}

#[test]
fn costs_leave_no_trace() {
    let mut state = state();
    let answer = said(&mut state, ":cost sum");
    assert!(answer.starts_with("Command error: `sum` is a function"), "{answer}");
    said(&mut state, "function pairs(n) = {{i * j : i in [0:n]} : j in [0:n]}; 17;");
    check(
        &mut state,
        ":cost sum([0:1000])",
        expect![[r#"
         work  depth  parallelism
        2,002      2        1,001
    "#]],
    );
    check(
        &mut state,
        ":cost print_line(\"hidden\")",
        expect![[r#"
        work  depth  parallelism
           7      1          7.0
    "#]],
    );
    check(
        &mut state,
        ":cost pairs for n = 10, 20, 40, 80, 160",
        expect![[r#"
              n    work  depth  parallelism
             10     221      3         73.7
             20     841      3          280
             40   3,281      3        1,094
             80  12,961      3        4,320
            160  51,521      3       17,174
            work  = 2·n² + 2·n + 1
            depth = 3, which is O(1)
        "#]],
    );
    check(
        &mut state,
        ":cost sum(xs) given xs = pairs(n)[3]; for n = 8, 16, 32, 64, 128",
        expect![[r#"
              n  work  depth  parallelism
              8     9      1          9.0
             16    17      1         17.0
             32    33      1         33.0
             64    65      1         65.0
            128   129      1          129
            work  = n + 1
            depth = 1, which is O(1)
        "#]],
    );
    check(
        &mut state,
        ":cost pairs given n = 2",
        expect![[r#"
        work  depth  parallelism
          13      3          4.3
    "#]],
    );
    let refused = said(&mut state, ":cost sum(xs) given [0:n] for n = 8");
    assert!(refused.contains("gives no input"), "{refused}");
    check(
        &mut state,
        ":cost {rand(n) : i in [0:n]} for n = 10, 20",
        expect![[r#"
             n  work  depth  parallelism
            10    33      4          8.2
            20    63      4         15.8
            means over the seeds 0 to 4
            A law of growth needs at least 3 different sizes, 5 for a law with two terms.
        "#]],
    );
    check(
        &mut state,
        ":cost pairs for n = ten",
        expect![[r#"
        Command error: `ten` is not a size such as 1000 or 1e3
    "#]],
    );
    check(
        &mut state,
        ":cost 1 + true for n = 1, 2",
        expect![[r#"
            Name error: `true` is undefined
               ╭─[ In [1]:1:11 ]
               │
             1 │ :cost 1 + true for n = 1, 2
               │           ┬───
               │           ╰───── here
               │
               │ Help: in NESL it is `t`
            ───╯
        "#]],
    );
    check(
        &mut state,
        "it",
        expect![[r#"
        17 : int
    "#]],
    );
}

#[test]
fn stages_are_shown_with_their_source() {
    let mut state = state();
    said(&mut state, "function dot(a, b) =\n  sum({x * y : x in a; y in b});");
    check(
        &mut state,
        ":ir fused {x * 2 : x in [1, 2]}",
        expect![[r#"
        flattened "main"() -> [int] {           │ 1: {x * 2 : x in [1, 2]}
          kernel 0 over s0 stores v0 {
            v0: [int] in s0 = list(1, 2)        │ 1: [1, 2]
          }
          s1 = elements v0 of s0                │ 1: x in [1, 2]
          kernel 1 over s1 stores v2 {
            v4: int in s1 = element(v0)
            v2: int in s1 = mul(v4, 2)          │ 1: x * 2
          }
          v3: [int] in s0 = collect v2 from s1  │ 1: x in [1, 2]
          v3
        }
    "#]],
    );
    check(
        &mut state,
        ":ir dot",
        expect![[r#"
        main "dot@int"

        fn "dot@int"(v0: [int], v1: [int]) -> int {        │ 1: dot
          v5: [int] = each v2: int in v0, v3: int in v1 {  │ 2: x in a; y in b
            v4: int = mul(v2, v3)                          │ 2: x * y
            v4
          }
          v6: int = reduce_sum(v5)                         │ 2: sum({x * y : x in a; y in b})
          v6
        }
    "#]],
    );
    check(
        &mut state,
        ":ir flat",
        expect![[r#"
        Command error: write a form behind the stage: `:ir flat FORM`
    "#]],
    );
    // A function is shown as it is, whatever has taken the names that it uses.
    said(&mut state, "k = [1]; function first(a) = a + k[0];");
    said(&mut state, "k = [1.5];");
    let shown = said(&mut state, ":ir first");
    assert!(shown.contains("fn \"first\"(v0: int"), "{shown}");
    // A definition that is only looked at changes nothing.
    said(&mut state, "k = [1, 2];");
    assert!(said(&mut state, ":ir flat\nk = [3, 4];\n").contains("list"));
    check(
        &mut state,
        "k",
        expect![[r#"
        [1, 2] : [int]
    "#]],
    );
    assert!(said(&mut state, ":ir").lines().count() > 20);
    let html = html(&mut state, ":ir kir dot");
    assert!(html.starts_with("<details") && html.contains("x in a; y in b"), "{html}");
}

#[test]
fn flattening_is_drawn() {
    let mut state = state();
    said(&mut state, "m = [[2, 1], [] int, [3, 4, 5]];");
    check(
        &mut state,
        ":flatten {sum({x * x : x in r}) : r in m}",
        expect![[r#"
            {sum({x * x : x in r}) : r in m}

            1. index spaces: the elements of `m`; the elements of every `r`
               s1 = elements v7 of s0
               v8: [int] in s1 = element(v7)
               s2 = elements v8 of s1
               v10: int in s2 = element(v8)
               m : [[int]] → x = [[2, 1], [], [3, 4, 5]]
                 lengths  ──────3──────
                          ─2─  0  ──3──
                 data     2 1  ·  3 4 5
                 the same data, the same lengths

            2. multiply
               v3: int in s2 = mul(v10, v10)
               x : [[int]] = [[2, 1], [], [3, 4, 5]]
                 lengths  ──────3──────
                          ─2─  0  ──3──
                 data     2 1  ·  3 4 5
               → x * x : [[int]] = [[4, 1], [], [9, 16, 25]]
                 lengths  ───────3───────
                          ─2─  0  ───3───
                 data     4 1  ·  9 16 25

            3. the sum of each segment; collect the elements into a sequence
               v5: int in s1 = reduce_sum v3 from s2
               v6: [int] in s0 = collect v11 from s1
               x * x : [[int]] = [[4, 1], [], [9, 16, 25]]
                 lengths  ───────3───────
                          ─2─  0  ───3───
                 data     4 1  ·  9 16 25
               → {sum({… : x in r}) : r in m} : [int] = [5, 0, 50]
                 lengths  ──3───
                 data     5 0 50

            Below each line of lengths are the segments of the next level of nesting, and below the
            last the flat data. A dot is an empty segment: it takes part, and takes no data.
        "#]],
    );
    said(&mut state, "function rows(m) = {take(r, 1) : r in m};");
    check(
        &mut state,
        ":flatten rows",
        expect![[r#"
            rows([[2, 1, 0], [1, 2, 0], [1, 0, 2]])

            1. index space: the elements of `m`
               s1 = elements v0 of s0
               v10: [int] in s1 = element(v0)
               m : [[int]] → r = [[2, 1, 0], [1, 2, 0], [1, 0, 2]]
                 lengths  ─────────3─────────
                          ──3──  ──3──  ──3──
                 data     2 1 0  1 2 0  1 0 2
                 the same data, the same lengths

            2. `take(r, 1)`
               v2: int in s1 = length(v10)
               v3: bool in s1 = le(1, v2)
               v4: int in s1 = neg(v2)
               v5: bool in s1 = ge(1, v4)
               v6: bool in s1 = and(v3, v5)
               v8: [int] in s1 = subseq(v10, 0, 1)
               r : [[int]] = [[2, 1, 0], [1, 2, 0], [1, 0, 2]]
                 lengths  ─────────3─────────
                          ──3──  ──3──  ──3──
                 data     2 1 0  1 2 0  1 0 2
               → take(r, 1) : [[int]] = [[2], [1], [1]]
                 data     2 1 0 1 2 0 1 0 2
                 lengths  1     1     1

            3. collect the elements into a sequence
               v9: [[int]] in s0 = collect v8 from s1
               take(r, 1) : [[int]] = [[2], [1], [1]]
                 data     2 1 0 1 2 0 1 0 2
                 lengths  1     1     1
               → {take(r, 1) : r in m} : [[int]] = [[2], [1], [1]]
                 lengths  ───3───
                          1  1  1
                 data     2  1  1

            Below each line of lengths are the segments of the next level of nesting, and below the
            last the flat data. A dot is an empty segment: it takes part, and takes no data. A bar
            below is a view: a segment of data that others may share.
        "#]],
    );
    check(
        &mut state,
        ":flatten 1 + 2",
        expect![[r#"
        Command error: there is no picture: no apply-to-each runs here, which pictures show
    "#]],
    );
    check(
        &mut state,
        ":flatten nothing",
        expect![[r#"
            Name error: `nothing` is undefined
               ╭─[ In [1]:1:10 ]
               │
             1 │ :flatten nothing
               │          ┬──────
               │          ╰──────── here
            ───╯
        "#]],
    );
    let html = html(&mut state, ":flatten {sum(r) : r in m}");
    assert!(html.contains("<svg") && html.contains("Boxes are the flat data"), "{html}");
}

/// Replaces times, shares and rates, which differ from run to run, with their units.
fn without_times(text: &str) -> String {
    const UNITS: [&str; 7] = ["µs", "ms", "GB/s", "MB/s", "kB/s", "s", "%"];
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let is_unit = |unit: &&str| {
            word.strip_prefix(*unit).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        };
        match (UNITS.into_iter().find(is_unit), words.last_mut()) {
            (Some(unit), Some(number)) if number.starts_with(|c: char| c.is_ascii_digit()) => {
                *number = format!("T{}", &word[unit.len()..]);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words.join(" ")
}

#[test]
fn a_command_that_repeats_has_one_account() {
    let mut state = state();
    let progress = state.session.progress();
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let watched = |state: &mut State, entry: &str| {
        seen.lock().expect("unharmed").clear();
        let (progress, seen) = (progress.clone(), seen.clone());
        let note = move |output| {
            if matches!(output, Output::Printed(..)) {
                let report = progress.report().expect("an entry runs");
                seen.lock().expect("unharmed").push((report.round, report.forms_done));
            }
        };
        state.enter("In [1]", entry, Box::new(note));
    };
    watched(&mut state, ":time 3 print_string(\"a\")");
    let run = |now| Some(Round { of: "run", now, all: 3 });
    assert_eq!(*seen.lock().expect("unharmed"), [(run(1), 0), (run(2), 1), (run(3), 2)]);
    assert_eq!(progress.report(), None);
}

#[test]
fn times_are_told_for_each_form() {
    let mut state = state();
    let text = said(&mut state, ":time y = {x * 2 : x in [0:100]}; sum(y)");
    expect![[r#"
        y : [int]
        9900 : int
        time of y: T, of which T compiling and T running; 1 launch; 0 bytes transferred
        time of it: T, of which T compiling and T running; 1 launch; 8 bytes transferred
        in all: T, of which T compiling and T running; 2 launches; 8 bytes transferred
    "#]]
    .assert_eq(&without_times(&text));
}

#[test]
fn forms_are_timed_several_times() {
    let mut state = state();
    let text = said(&mut state, "xs = [1, 2, 3];\n");
    assert_eq!(text, "xs : [int]\n");
    let text = said(&mut state, ":time 4 sum(xs)");
    expect![[r#"
        6 : int
        time of 4 runs: T at least, T in the median, T at most
    "#]]
    .assert_eq(&without_times(&text));
    // The number may be the form, too.
    assert!(said(&mut state, ":time 4 + 5").starts_with("9 : int\ntime of it: "));
    assert!(said(&mut state, ":time 3").starts_with("3 : int\ntime of it: "));
    let (wrong, printed) = (said(&mut state, ":time 0 xs"), "n = print_string(\"a\");");
    assert_eq!(wrong, "Command error: a form is timed 1 to 10,000 times\n");
    for number in ["-1", "2.5", "99999999999999999999"] {
        let wrong = said(&mut state, &format!(":time {number} xs"));
        assert_eq!(
            wrong,
            format!("Command error: a form is timed 1 to 10,000 times, not {number}\n")
        );
    }
    assert!(said(&mut state, ":time -1 + 1").starts_with("0 : int\n"));
    let text = said(&mut state, ":time 2 {x * 2 :\n  x in xs}\n#xs");
    assert!(
        text.starts_with("[2, 4, 6] : [int]\ntime of 2 runs") && text.ends_with("\n3 : int\n"),
        "{text}"
    );
    assert!(said(&mut state, &format!(":time 3 {printed}")).starts_with("aaan : bool\n"));
    // It ends with the first run that fails.
    let (outputs, outcome) = outputs(&mut state, ":time 5 1 / 0");
    assert!(matches!(outcome, Outcome::Failed(_)) && outputs.len() == 1, "{outputs:?}");
}

#[test]
fn the_last_entry_is_taken_back() {
    let mut state = state();
    assert_eq!(said(&mut state, ":undo"), "Command error: there is nothing to take back\n");
    said(&mut state, "xs = [1, 2]; function total(n) = sum(xs) + n;");
    said(&mut state, "xs = {x * 10 : x in [3, 4]};");
    said(&mut state, "sum(nowhere);");
    assert_eq!(said(&mut state, "#xs + total(0)"), "72 : int\n");
    assert_eq!(said(&mut state, ":undo"), "`it` is what it was before.\n");
    said(&mut state, "xs = {x * 10 : x in [3, 4]};");
    said(&mut state, "total = 4;");
    assert_eq!(said(&mut state, ":undo\ntotal(1)"), "`total` is what it was before.\n71 : int\n");
    said(&mut state, "xs = [1];");
    assert_eq!(said(&mut state, ":undo\nxs"), "`xs` is what it was before.\n[30, 40] : [int]\n");
}

#[test]
fn kernels_of_the_last_entry_are_shown() {
    let mut state = state();
    said(&mut state, "xs = [0:100]; sum({x * x : x in xs});");
    let text = said(&mut state, ":kernels");
    let table = text.split("\n\n").next().unwrap_or_default().to_owned();
    expect![[r#"
        kernel launches work items time share bytes rate
        1 main kernel 0 1 100 T T 800 bytes T
        2 main kernel 0 (2) 1 100 T T 808 bytes T
        (bytes: what the launches read and wrote, each element once; share: of the time of all kernels)"#]].assert_eq(&without_times(&table));
    assert!(text.contains("When each kernel ran"), "{text}");
    said(&mut state, "xs;");
    let text = said(&mut state, ":kernels");
    expect![[r#"
        name time launches transferred reads writes
        it T 0 0 bytes 0 0
        No kernel was launched. `:kernels FORM` runs a form as kernels, however small it is, and times each.
    "#]].assert_eq(&without_times(&text));
    said(&mut state, ":kernels off\nsum({x * x : x in xs});");
    let text = said(&mut state, ":kernels");
    expect![[r#"
        name time launches transferred reads writes
        it T 1 8 bytes 1 0
        `:kernels FORM` runs a form as kernels, however small it is, and times each.
    "#]]
    .assert_eq(&without_times(&text));
    let text = said(&mut state, ":kernels {x * x : x in xs | x < 3}");
    let table = text.split("\n\n").next().unwrap_or_default().to_owned();
    expect![[r#"
        [0, 1, 4] : [int]
         kernel launches work items time share bytes rate
        1 main kernel 0 1 100 T T 1.6 KB T
        (bytes: what the launches read and wrote, each element once; share: of the time of all kernels)"#]]
    .assert_eq(&without_times(&table));
    assert!(text.contains('█') && text.contains("When each kernel ran"), "{text}");
    // Values made while kernels were timed are still there.
    check(
        &mut state,
        "it",
        expect![[r#"
        [0, 1, 4] : [int]
    "#]],
    );
    said(&mut state, ":kernels on");
    said(&mut state, "sum({x + 1 : x in xs});");
    assert!(html(&mut state, ":kernels").contains("<svg"));
    said(&mut state, ":set runtime reference");
    check(
        &mut state,
        ":kernels xs",
        expect![[r#"
        Command error: the runtime `reference` has no kernels; `:set runtime NAME` chooses one that has, `:devices` lists them
    "#]],
    );
    check(
        &mut state,
        ":kernels on",
        expect![[r#"
        Command error: the runtime `reference` has no kernels; `:set runtime NAME` chooses one that has, `:devices` lists them
    "#]],
    );
}

#[test]
fn definitions_are_explained() {
    let mut state = state();
    said(&mut state, "r = 2.0;\nfunction area(x) = x * r; function twice(x) = 2 * x;");
    said(&mut state, "r = [1]; function twice(x) = x + x;");
    check(
        &mut state,
        ":info r",
        expect![[r#"
            r : [int]
            defined in In [1]
            earlier: r : float in In [1], kept by area

            r = [1];
        "#]],
    );
    check(
        &mut state,
        ":info twice",
        expect![[r#"
            twice : a -> a :: (a in number)
            defined in In [1]
            earlier: twice : int -> int in In [1]

            function twice(x) = x + x;
        "#]],
    );
    let sum = said(&mut state, ":info sum");
    assert!(sum.starts_with("sum : ") && sum.contains("cost: "), "{sum}");
    check(
        &mut state,
        ":info tiwce",
        expect![[r#"
        Name error: nothing is known about `tiwce`; did you mean `twice`?
    "#]],
    );
    check(
        &mut state,
        ":browse",
        expect![[r#"
        name   type
        area   float -> float
        r      [int]
        twice  a -> a :: (a in number)
    "#]],
    );
    check(
        &mut state,
        ":browse max_s",
        expect![[r#"
        name      type
        max_scan  [a] -> [a] :: (a in ordinal)
    "#]],
    );
    check(
        &mut state,
        ":browse nothing_like_it",
        expect![[r#"
        No name and no type has `nothing_like_it` in it.
    "#]],
    );
}

#[test]
fn settings_keep_values() {
    let mut state = state();
    for wrong in [":set nothing 3", ":set rows"] {
        let answer = said(&mut state, wrong);
        let (first, others) = answer.split_once("; ").expect("it is refused");
        assert!(first.starts_with("Command error: there is no setting `"), "{answer}");
        assert!(others.contains("idle") && !others.contains("rows"), "{answer}");
    }
    assert!(said(&mut state, ":set rows 3").contains("`rows` is a setting of the prompt"));
    said(&mut state, "y = {x * 2 : x in [0:1000]}; z = {x + 1 : x in y}; sum(y); sum(y);");
    for change in
        [":set threads 2", ":set memory 500M", ":set runtime reference", ":set runtime kir"]
    {
        let (outputs, outcome) = outputs(&mut state, change);
        assert_eq!((outputs, outcome), (Vec::new(), Outcome::Done), "{change}");
        assert_eq!(said(&mut state, "sum(y) + sum(z)"), "1999000 : int\n");
    }
    check(
        &mut state,
        ":set runtime gpu",
        expect![[r#"
        Command error: gpu: no driver was found; `:devices` tells what there is; programs still run on kir
    "#]],
    );
    check(
        &mut state,
        ":set runtime abacus",
        expect![[r#"
        Command error: the runtimes are kir, reference, gpu
    "#]],
    );
    for number in ["0", "1000000", "many"] {
        check(
            &mut state,
            &format!(":set threads {number}"),
            expect![[r#"
                Command error: a number of threads is 1 to 1024
            "#]],
        );
    }
    check(
        &mut state,
        ":set memory much",
        expect![[r#"
        Command error: `much` is not a size such as 500M or 4G
    "#]],
    );
    check(
        &mut state,
        ":set",
        expect![[r#"
            setting       value   about
            precision     64      bits of an int and of a float
            runtime       kir     where programs run
            seed          0       the seed of the random numbers
            threads       2       the number of threads that compute
            memory        500 MB  the memory that arrays may take, such as 500M or 4G
            idle          off     the time without cells after which a notebook gives its device back
            digits        6       the significant digits of floats in tables
            print_length  100     the number of elements of a sequence that are shown as text
        "#]],
    );
    check(
        &mut state,
        ":devices",
        expect![[r#"
           runtime    device                  about
        →  kir        interpreter of kernels  The interpreter of kernels
           reference  direct interpreter      The direct interpreter
           gpu        no driver was found     A device that is not there
    "#]],
    );
    check(
        &mut state,
        "sum(y) + sum(z)",
        expect![[r#"
        1999000 : int
    "#]],
    );
}

#[test]
fn a_session_is_saved_as_a_program() {
    let mut state = state();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("saved");
    said(&mut state, ":time\nx = [1, 2];\nfunction plus(a) = a + x[0];");
    said(&mut state, "1 / 0; plus(3)");
    let answer = said(&mut state, &format!(":save {}", file.display()));
    assert!(answer.starts_with("3 forms in "), "{answer}");
    let text = std::fs::read_to_string(file.with_extension("nesl")).expect("it was written");
    expect![[r#"
        % A session of nesl, saved by `:save`. %
        x = [1, 2];
        function plus(a) = a + x[0];
        plus(3);
    "#]]
    .assert_eq(&text);
    said(&mut state, ":reset");
    let loaded = format!(":load {}", file.display());
    check(
        &mut state,
        &loaded,
        expect![[r#"
        x : [int]
        plus : int -> int
        4 : int
    "#]],
    );
    // Another's file is left alone.
    let other = folder.path().join("other.nesl");
    std::fs::write(&other, "x = 3;").expect("written");
    let answer = said(&mut state, &format!(":save {}", other.display()));
    assert!(answer.contains("exists and is not a saved session"), "{answer}");
    let answer = said(&mut state, &format!(":cd {}", folder.path().join("nowhere").display()));
    assert!(answer.starts_with("Command error: cannot go to "), "{answer}");
}

#[test]
fn every_command_is_in_the_book() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/book/src/commands.md");
    let page = std::fs::read_to_string(path).unwrap_or_default();
    let expected = crate::state::commands::page(&page);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, &expected).expect("the page can be written");
        return;
    }
    assert!(page == expected, "`UPDATE_EXPECT=1` writes the table of commands into the page");
}
