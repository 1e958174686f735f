//! Tests the options `--time`, `--stats` and `--json`, which report the cost of forms and sessions, and
//! `nesl cost` with inputs that are given.

use assert_cmd::Command;
use expect_test::{Expect, expect};
use serde_json::Value;
use std::process::Output;

// The program does enough work to be compiled.
const PROGRAM: &str = "\
function twice(x) : int -> int = x + x;
xs = {twice(i) : i in [0:100000]};
sum({x : x in xs});
print_line(\"hello\");
";

/// Runs `nesl` with a program on standard input.
fn nesl(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nesl"));
    command.args(arguments).write_stdin(input).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Parses the JSON objects on standard output.
fn objects(output: &Output) -> Vec<Value> {
    text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line} is no JSON")))
        .collect()
}

#[test]
fn time_is_told_of_every_form_that_is_evaluated() {
    let ran = nesl(&["run", "--time", "-"], PROGRAM);
    assert!(ran.status.success());
    assert!(text(&ran.stdout).contains("it = 9999900000 : int\n"), "{}", text(&ran.stdout));
    let told = text(&ran.stderr);
    let names: Vec<&str> = told.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(names, ["time of xs", "time of it", "time of it"], "{told}");
    assert!(told.lines().all(|line| line.ends_with(" compiling")), "{told}");
}

#[test]
fn json_is_one_object_a_form() {
    let ran = nesl(&["run", "--json", "-"], PROGRAM);
    assert!(ran.status.success());
    assert_eq!(text(&ran.stderr), "hello\n");
    let forms = objects(&ran);
    let names: Vec<&str> = forms.iter().filter_map(|form| form["name"].as_str()).collect();
    assert_eq!(names, ["xs", "it", "it"]);
    let (xs, sum, print) = (&forms[0], &forms[1], &forms[2]);
    assert_eq!((&xs["file"], &xs["line"]), (&"<stdin>".into(), &2.into()));
    assert_eq!((&sum["value"], &sum["type"]), (&"9999900000".into(), &"int".into()));
    assert_eq!(xs["on_runtime"], true);
    assert_eq!(print["on_runtime"], false);
    assert!(xs["launches"].as_u64() >= Some(1), "{xs}");
    assert!(xs["bytes"].as_u64() >= Some(800_000), "{xs}");
    let number = |field: &str| xs[field].as_f64().expect("a number");
    assert!(number("compile_seconds") > 0.0, "{xs}");
    let sum = number("compile_seconds") + number("run_seconds");
    assert!((sum - number("seconds")).abs() < 1e-9, "{xs}");
}

#[test]
fn quiet_leaves_sequences_unread() {
    let forms = objects(&nesl(&["run", "--json", "--quiet", "-"], PROGRAM));
    assert_eq!(forms[0]["value"], Value::Null);
    // No elements were transferred.
    assert!(forms[0]["transferred"].as_u64() <= Some(8), "{}", forms[0]);
    assert_eq!(forms[1]["value"], "9999900000");
}

#[test]
fn stats_tell_what_is_where() {
    let ran = nesl(&["run", "--stats", "--quiet", "-"], PROGRAM);
    let told = text(&ran.stderr);
    let lines: Vec<&str> = told.lines().collect();
    // Nothing needed the sequence itself, so it was fused with its sum and not stored.
    assert!(lines[0].starts_with("runtime cpu: 1 launch; 1 module compiled in "), "{told}");
    assert!(lines[1].starts_with("arrays: 0 bytes, "), "{told}");
    assert!(lines[2].starts_with("on host  on runtime  name  "), "{told}");
    let xs = lines[3..].iter().find(|line| line.contains("xs")).expect("it is listed");
    assert_eq!(xs.split_whitespace().collect::<Vec<_>>(), ["-", "-", "xs", "[int]"]);
}

#[test]
fn stats_are_the_last_object() {
    let forms = objects(&nesl(&["run", "--stats", "--json", "--quiet", "-"], PROGRAM));
    let stats = &forms.last().expect("there are some")["stats"];
    assert_eq!(stats["runtime"], "cpu");
    let variables = stats["variables"].as_array().expect("they are listed");
    let xs = variables.iter().find(|v| v["name"] == "xs").expect("it is there");
    assert_eq!((&xs["host_bytes"], &xs["runtime_bytes"]), (&Value::Null, &800_000.into()));
    assert_eq!(xs["shadowed"], false);
}

#[test]
fn without_a_runtime_everything_is_on_the_host() {
    let ran = nesl(&["run", "--stats", "--json", "--runtime", "reference", "-"], PROGRAM);
    let forms = objects(&ran);
    assert_eq!(forms[0]["on_runtime"], false);
    let stats = &forms.last().expect("there are some")["stats"];
    assert_eq!(stats["runtime"], Value::Null);
    let variables = stats["variables"].as_array().expect("they are listed");
    let xs = variables.iter().find(|v| v["name"] == "xs").expect("it is there");
    assert_eq!((&xs["host_bytes"], &xs["runtime_bytes"]), (&800_000.into(), &Value::Null));
}

#[test]
fn a_value_nobody_can_name_any_more_is_let_go() {
    let program =
        "xs = {i : i in [0:1000000]};\nxs = {i + 1 : i in [0:1000000]};\nys = {i : i in xs};\n";
    let forms = objects(&nesl(&["run", "--json", "--quiet", "-"], program));
    let bytes: Vec<_> = forms.iter().map(|form| form["bytes"].as_u64().expect("bytes")).collect();
    // While the second array is computed, the first still exists; the third shares its elements.
    assert_eq!(bytes, [8_000_000, 16_000_000, 8_000_000]);
}

#[test]
fn a_session_takes_the_flags_and_a_form_in_a_pipe_is_answered_at_once() {
    let forms = objects(&nesl(&["--json"], "1 + 1;\n{i : i in [0:3]};\n"));
    assert_eq!((&forms[0]["value"], &forms[0]["line"]), (&"2".into(), &1.into()));
    assert_eq!((&forms[1]["value"], &forms[1]["line"]), (&"[0, 1, 2]".into(), &2.into()));
    let refused = nesl(&["--json", "doc", "sum"], "");
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn a_profile_lists_the_kernels_by_their_functions() {
    let ran = nesl(&["run", "--profile", "-"], PROGRAM);
    let told = text(&ran.stderr);
    assert!(told.lines().next().is_some_and(|line| line.ends_with("elements  name")), "{told}");
    let kernel = told.lines().find(|line| line.contains("main kernel "));
    assert!(kernel.is_some_and(|line| line.contains("00,000  ")), "{told}");
    let little = nesl(&["run", "--profile", "-"], "1 + 1;\n");
    assert!(text(&little.stderr).starts_with("No kernel was launched"), "{little:?}");
    let forms = objects(&nesl(&["run", "--profile", "--json", "-"], PROGRAM));
    let kernels = &forms.last().expect("there are some")["profile"];
    assert!(kernels[0]["launches"].as_u64() >= Some(1), "{kernels}");
    assert!(kernels[0]["points"].as_u64() >= Some(100_000), "{kernels}");
}

#[test]
fn of_a_large_value_only_what_is_shown_is_read() {
    let program = "{(i, [0:rem(i, 4)]) : i in [0:1000000]};\n";
    let forms = objects(&nesl(&["run", "--json", "--stats", "-"], program));
    let shown = forms[0]["value"].as_str().expect("it is shown");
    assert!(shown.starts_with("[(0, []), (1, [0]), (2, [0, 1])"), "{shown}");
    assert!(shown.ends_with("... (1000000 in all)]"), "{shown}");
    let stats = &forms[1]["stats"];
    assert!(stats["transferred"].as_u64() < Some(10_000), "{stats}");
    let all = nesl(&["run", "--print-length", "all", "-"], "{i : i in [0:20000]};\n");
    assert!(text(&all.stdout).contains(", 19999]"));
}

#[track_caller]
fn costs(arguments: &[&str], expected: Expect) {
    let ran = nesl(&[&["cost"], arguments].concat(), "");
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    expected.assert_eq(&text(&ran.stdout));
}

#[track_caller]
fn refused(arguments: &[&str], code: i32, expected: Expect) {
    let ran = nesl(&[&["cost"], arguments].concat(), "");
    assert_eq!(ran.status.code(), Some(code));
    expected.assert_eq(&text(&ran.stderr));
}

#[test]
fn n9_inputs_are_left_out_of_a_cost() {
    let sizes = "16,32,64,128,256";
    let given = "xs = {rem(7 * i, n) : i in [0:n]}";
    costs(
        &["-e", "sum(xs)", "--given", given, "--sizes", sizes],
        expect![[r#"
          n  work  depth  parallelism
         16    17      1         17.0
         32    33      1         33.0
         64    65      1         65.0
        128   129      1          129
        256   257      1          257
        work  = n + 1
        depth = 1, which is O(1)
    "#]],
    );
    // The name of a function is called with the inputs, which may see those before them.
    costs(
        &["-e", "take", "--given", "xs = [0:100]", "--given", "k = #xs / 4"],
        expect![[r#"
        work  depth  parallelism
          26      1         26.0
    "#]],
    );
    costs(
        &["--json", "-e", "sum", "--given", "xs = [0:100]"],
        expect![[r#"
        {"depth":1,"parallelism":101.0,"work":101}
    "#]],
    );
    // What is no binding, and what is wrong in one.
    refused(
        &["-e", "sum(xs)", "--given", "[0:100]"],
        2,
        expect![[r#"
        nesl: `[0:100]` gives no input: write NAME = EXPR, as in `xs = {rand(n) : i in [0:n]}`
    "#]],
    );
    refused(
        &["-e", "sum(xs)", "--given", "xs = [0:m]"],
        1,
        expect![[r#"
            Name error: `m` is undefined
               ╭─[ <expression>:2:9 ]
               │
             2 │ xs = [0:m]
               │         ┬
               │         ╰── here
            ───╯

        "#]],
    );
    let ran = nesl(&["cost", "a.nesl", "--given", "xs = [1]"], "");
    assert_eq!(ran.status.code(), Some(2));
}

#[test]
fn n9_the_seeds_of_a_law_are_told() {
    let kept = "sum({1 : x in xs | rand(2) == 0})";
    let told = |seeds: &str| {
        let given = ["--given", "xs = [0:n]", "--sizes", "1e2,1e3,1e4", "--seeds", seeds];
        let ran = nesl(&[&["--seed", "3", "cost", "-e", kept], &given[..]].concat(), "");
        text(&ran.stdout)
    };
    assert!(told("2").contains("\nmeans over the seeds 3 to 4\n"), "{}", told("2"));
    assert!(told("1").contains("\nwith the random numbers of seed 3\n"), "{}", told("1"));
}

#[test]
fn n9_costs_are_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("cost.svg");
    let ask = ["cost", "-e", "sum([0:n])", "--sizes", "4,8,16,32,64", "--plot", "--svg"];
    let ran = nesl(&[&ask[..], &[&file.to_string_lossy()]].concat(), "");
    let shown = text(&ran.stdout);
    assert!(shown.contains("(work = 2·n + 2; depth = 2)"), "{shown}");
    let svg = std::fs::read_to_string(&file).expect("it is written");
    assert!(svg.starts_with("<svg") && svg.contains("work = 2·n + 2"), "{svg}");
    let missing = folder.path().join("no").join("cost.svg");
    let ran = nesl(&[&ask[..], &[&missing.to_string_lossy()]].concat(), "");
    assert!(text(&ran.stderr).starts_with("nesl: cannot write "), "{}", text(&ran.stderr));
    assert_eq!(nesl(&["cost", "-e", "sum([0:9])", "--plot"], "").status.code(), Some(2));
}

#[test]
fn a_form_of_a_command_goes_on_in_a_pipe() {
    let ran = nesl(&[], ":type {x :\n  x in\n  [1, 2]}\n:type 3\nx = 4;");
    let answers = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(answers, "{x :\n  x in\n  [1, 2]} : [int]\n3 : int\nx = 4 : int\n");
}
