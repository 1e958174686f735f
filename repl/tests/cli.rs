//! Tests every subcommand, option and exit code of the program.

mod process;

use assert_cmd::Command;
use expect_test::{Expect, expect};
use process::Ran;
use std::io::{BufRead, Read};
use std::path::Path;
use tempfile::TempDir;

/// A temporary folder with files, in which the program runs.
struct Folder(TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Folder {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("saved");
        }
        Folder(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).expect("it is there")
    }

    fn nesl(&self, arguments: &[&str]) -> Ran {
        self.with_input(arguments, "")
    }

    fn with_input(&self, arguments: &[&str], input: &str) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nesl"));
        Ran::of(
            command
                .args(arguments)
                .current_dir(self.path())
                .env_remove("NO_COLOR")
                .write_stdin(input),
        )
    }
}

/// Runs `nesl` in an empty folder.
fn nesl(arguments: &[&str]) -> Ran {
    Folder::new(&[]).nesl(arguments)
}

impl Ran {
    fn out(self, expected: Expect) -> Ran {
        expected.assert_eq(&self.out);
        self
    }

    fn err(self, expected: Expect) -> Ran {
        expected.assert_eq(&self.err);
        self
    }
}

const PROGRAM: &str = "\
function dbl(x) : int -> int = x + x;
dbl(21);
(a, b) = (1, \"q\");
print_string(\"no line end\");
";

#[test]
fn run_prints_a_line_for_every_form() {
    let folder = Folder::new(&[("a.nesl", PROGRAM)]);
    folder.nesl(&["run", "a.nesl"]).code(0).err(expect![""]).out(expect![[r#"
        dbl = fn : int -> int
        it = 42 : int
        (a, b) = (1, "q") : int, [char]
        no line end
        it = T : bool
    "#]]);
}

#[test]
fn run_goes_on_after_an_error() {
    let folder = Folder::new(&[("a.nesl", "1 + 1;\n1 + 1.0;\n[1, 2][9];\n2 + 2;\n")]);
    folder
        .nesl(&["run", "a.nesl"])
        .code(1)
        .out(expect![[r#"
        it = 2 : int
        it = 4 : int
    "#]])
        .err(expect![[r#"
        Type error: `+` does not fit an int and a float
           ╭─[ a.nesl:2:3 ]
           │
         2 │ 1 + 1.0;
           │ ┬   ┬──
           │ ╰──────── an int
           │     │
           │     ╰──── a float
           │
           │ Help: int and float never mix; write a float
           │
           │ Note: `+` : (a, a) -> a :: (a in number)
        ───╯

        Runtime error: Sequence reference (a[i]) out of bounds (index 9, length 2)
           ╭─[ a.nesl:3:1 ]
           │
         3 │ [1, 2][9];
           │ ┬────────
           │ ╰────────── here
           │
           │ Help: the indices of a sequence of length 2 are 0 to 1
        ───╯

    "#]]);
}

#[test]
fn only_the_first_of_very_many_problems_are_shown() {
    let many: String = (0..203).map(|i| format!("1 + \"{i}\";\n")).collect();
    let folder = Folder::new(&[("many.nesl", &many)]);
    let last = "3 more problems are not shown; `nesl check --json` lists all of a file's.\n";
    let ran = folder.nesl(&["run", "many.nesl"]).code(1);
    assert_eq!(ran.err.matches("Type error").count(), 200);
    assert!(ran.err.ends_with(last), "{}", ran.err);
    let ran = folder.nesl(&["check", "many.nesl"]).code(1);
    assert_eq!(ran.err.matches("Type error").count(), 200);
    assert!(ran.err.ends_with(&format!("{last}1 file checked: 203 errors\n")), "{}", ran.err);
    let ran = folder.nesl(&["check", "--json", "many.nesl"]).code(1);
    assert_eq!(ran.out.lines().count(), 203);
}

#[test]
fn run_takes_several_files_and_standard_input() {
    let folder = Folder::new(&[("a.nesl", "x = 1;"), ("b.nesl", "y = x + 1;")]);
    let ran = folder.with_input(&["run", "a.nesl", "b.nesl", "-"], "x + y;\nz;\n");
    ran.code(1)
        .out(expect![[r#"
        x = 1 : int
        y = 2 : int
        it = 3 : int
    "#]])
        .err(expect![[r#"
        Name error: `z` is undefined
           ╭─[ <stdin>:2:1 ]
           │
         2 │ z;
           │ ┬
           │ ╰── here
        ───╯

    "#]]);
}

#[test]
fn run_is_quiet_if_asked() {
    let folder = Folder::new(&[("a.nesl", PROGRAM)]);
    folder.nesl(&["run", "--quiet", "a.nesl"]).code(0).out(expect![[r#"
        no line end
    "#]]);
}

#[test]
fn run_stops_at_exit() {
    let folder = Folder::new(&[("a.nesl", "1; exit; 2;"), ("b.nesl", "3;")]);
    folder.nesl(&["run", "a.nesl", "b.nesl"]).code(0).out(expect![[r#"
        it = 1 : int
    "#]]);
}

#[test]
fn a_file_that_is_not_there_is_said_so() {
    for arguments in [&["run", "nowhere.nesl"][..], &["nowhere.nesl"]] {
        nesl(arguments).code(2).out(expect![""]).err(expect![[r#"
            nesl: cannot read nowhere.nesl: No such file or directory (os error 2)
        "#]]);
    }
}

#[test]
fn a_file_that_is_not_utf8_is_latin1() {
    let folder = Folder::new(&[]);
    std::fs::write(folder.path().join("a.nesl"), b"% caf\xe9 % char_code(`e); x + 1;").expect("");
    folder
        .nesl(&["run", "a.nesl"])
        .code(1)
        .out(expect![[r#"
        it = 101 : int
    "#]])
        .err(expect![[r#"
        Name error: `x` is undefined
           ╭─[ a.nesl:1:25 ]
           │
         1 │ % café % char_code(`e); x + 1;
           │                         ┬
           │                         ╰── here
        ───╯

    "#]]);
}

#[test]
fn eval_takes_forms_with_or_without_terminator() {
    let forms =
        ["eval", "function inc(x) = x + 1", "inc(1)", "inc(2); inc(3);", "`;", "3 % three %"];
    nesl(&forms).code(0).out(expect![[r#"
        inc = fn : int -> int
        it = 2 : int
        it = 3 : int
        it = 4 : int
        it = `; : char
        it = 3 : int
    "#]]);
    nesl(&["eval", "-3"]).code(0).out(expect![[r#"
        it = -3 : int
    "#]]);
    assert_eq!(nesl(&["eval", "-7+2", "-(1)"]).code(0).out, "it = -5 : int\nit = -1 : int\n");
    nesl(&["eval", "--", "-[1, 2][1]"]).code(0).out(expect![[r#"
        it = -2 : int
    "#]]);
    nesl(&["eval", "1 +"]).code(1).err(expect![[r#"
        Syntax error: expected an expression after `+`
           ╭─[ <expression>:1:4 ]
           │
         1 │ 1 +
           │    ┬
           │    ╰── here
        ───╯

    "#]]);
    nesl(&["eval"]).code(2);
}

#[test]
fn settings_change_what_is_printed() {
    let sequence = "[0:30]";
    nesl(&["eval", sequence, "--print-length", "3"]).out(expect![[r#"
        it = [0, 1, 2, ... (30 in all)] : [int]
    "#]]);
    nesl(&["eval", "[0:105]", "--print-length", "all"]).out(expect![[r#"
        it = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104] : [int]
    "#]]);
    nesl(&["eval", sequence, "--print-length", "some"]).code(2);
    nesl(&["eval", "max_int", "1.0/3.0", "--precision", "32"]).out(expect![[r#"
        it = 2147483647 : int
        it = 0.33333334 : float
    "#]]);
    nesl(&["eval", "max_int", "1.0/3.0"]).out(expect![[r#"
        it = 9223372036854775807 : int
        it = 0.3333333333333333 : float
    "#]]);
}

#[test]
fn a_seed_determines_the_random_numbers() {
    let draw =
        |seed| nesl(&["eval", "{rand(i) : i in dist(1000000, 5)}", "--seed", seed]).code(0).out;
    assert_eq!(draw("1"), draw("1"));
    assert_ne!(draw("1"), draw("2"));
}

#[test]
fn colours_are_used_when_wanted() {
    let plain = nesl(&["eval", "x + 1"]).err;
    assert!(!plain.contains('\x1b'), "{plain}");
    let coloured = nesl(&["eval", "x + 1", "--color", "always"]).err;
    assert!(coloured.contains('\x1b'), "{coloured}");
    nesl(&["eval", "x + 1", "--color", "sometimes"]).code(2);
}

#[test]
fn check_finds_errors_without_running() {
    let folder = Folder::new(&[
        ("good.nesl", "function half(x) = x / 2;\nprint_line(\"not run\");\n"),
        ("bad.nesl", "function f1(x) = y;\nf1(2) + ;\n1 + 2.0;\n"),
    ]);
    folder.nesl(&["check", "good.nesl"]).code(0).out(expect![""]).err(expect![[r#"
        1 file checked: no errors
    "#]]);
    folder
        .nesl(&["check", "--types", "-q", "good.nesl"])
        .code(0)
        .out(expect![[r#"
        half : int -> int
        it : bool
    "#]])
        .err(expect![""]);
    folder.nesl(&["check", "good.nesl", "bad.nesl"]).code(1).out(expect![""]).err(expect![[r#"
        Name error: `y` is undefined
           ╭─[ bad.nesl:1:18 ]
           │
         1 │ function f1(x) = y;
           │                  ┬
           │                  ╰── here
        ───╯

        Syntax error: expected an expression after `+`, found `;`
           ╭─[ bad.nesl:2:9 ]
           │
         2 │ f1(2) + ;
           │         ┬
           │         ╰── here
        ───╯

        Type error: `+` does not fit an int and a float
           ╭─[ bad.nesl:3:3 ]
           │
         3 │ 1 + 2.0;
           │ ┬   ┬──
           │ ╰──────── an int
           │     │
           │     ╰──── a float
           │
           │ Help: int and float never mix; write a float
           │
           │ Note: `+` : (a, a) -> a :: (a in number)
        ───╯

        2 files checked: 3 errors
    "#]]);
    folder.nesl(&["check", "--json", "bad.nesl"]).code(1).err(expect![""]).out(expect![[r#"
        {"kind":"name","severity":"error","message":"`y` is undefined","file":"bad.nesl","line":1,"column":18,"end_line":1,"end_column":19,"label":"","labels":[],"notes":[],"hints":[]}
        {"kind":"syntax","severity":"error","message":"expected an expression after `+`, found `;`","file":"bad.nesl","line":2,"column":9,"end_line":2,"end_column":10,"label":"","labels":[],"notes":[],"hints":[]}
        {"kind":"type","severity":"error","message":"`+` does not fit an int and a float","file":"bad.nesl","line":3,"column":3,"end_line":3,"end_column":4,"label":"","labels":[{"text":"an int","file":"bad.nesl","line":3,"column":1,"end_line":3,"end_column":2},{"text":"a float","file":"bad.nesl","line":3,"column":5,"end_line":3,"end_column":8}],"notes":["`+` : (a, a) -> a :: (a in number)"],"hints":[{"text":"int and float never mix; write a float","edit":{"file":"bad.nesl","line":3,"column":1,"end_line":3,"end_column":2,"replacement":"1.0"}}]}
    "#]]);
}

#[test]
fn check_and_run_see_the_same() {
    let folder = Folder::new(&[
        ("a.nesl", "k = 1;\n"),
        ("b.nesl", "k + 1;\n"),
        ("wrong.nesl", "x = 1 + T;\n"),
        ("main.nesl", "load \"wrong\";\n2;\n"),
    ]);
    folder.nesl(&["check", "a.nesl", "b.nesl"]).code(0).err(expect![[r#"
        2 files checked: no errors
    "#]]);
    let ran = folder.nesl(&["check", "--json", "main.nesl"]).code(1);
    let problem: serde_json::Value = serde_json::from_str(ran.out.trim()).expect("one object");
    assert_eq!((&problem["file"], &problem["column"]), (&"wrong.nesl".into(), &7.into()));
    folder.nesl(&["run", "main.nesl"]).code(1);
    let ran = folder.nesl(&["run", "a.nesl", "5"]).code(2);
    assert!(ran.out.is_empty() && ran.err.contains("`nesl run a.nesl -- 5`"), "{}", ran.err);
    let ran = folder.nesl(&["cost", "-e", "k", "a.nesl"]).code(2);
    assert!(ran.err.contains("`--setup a.nesl`"), "{}", ran.err);
}

#[test]
fn json_gives_places_and_edits() {
    let folder = Folder::new(&[("a.nesl", "function f1(x) =\n  plus_sacn([1]);\n")]);
    let ran = folder.nesl(&["check", "--json", "a.nesl"]).code(1);
    let problem: serde_json::Value = serde_json::from_str(ran.out.trim()).expect("one object");
    assert_eq!(problem["kind"], "name");
    assert_eq!(problem["severity"], "error");
    assert_eq!((&problem["line"], &problem["column"]), (&2.into(), &3.into()));
    assert_eq!((&problem["end_line"], &problem["end_column"]), (&2.into(), &12.into()));
    assert_eq!(problem["file"], "a.nesl");
    let edit = &problem["hints"][0]["edit"];
    assert_eq!(edit["replacement"], "plus_scan");
    assert_eq!((&edit["line"], &edit["column"]), (&2.into(), &3.into()));
}

#[test]
fn fmt_changes_files_or_lists_them() {
    let folder = Folder::new(&[("a.nesl", "x=1 ;\n\n\n\ny  =  2;"), ("b.nesl", "x = 1;\n")]);
    folder.nesl(&["fmt", "--check", "a.nesl", "b.nesl"]).code(1).out(expect![[r#"
        a.nesl
    "#]]);
    folder.nesl(&["fmt", "a.nesl", "b.nesl"]).code(0).out(expect![""]).err(expect![[r#"
        formatted a.nesl
    "#]]);
    folder.nesl(&["fmt", "--check", "a.nesl", "b.nesl"]).code(0).out(expect![""]);
    assert!(folder.read("a.nesl").starts_with("x = 1;\n"));
    folder.with_input(&["fmt", "-"], "x=1;").code(0).out(expect![[r#"
        x = 1;
    "#]]);
    let folder =
        Folder::new(&[("dos.nesl", "\u{feff}x=1;\r\ny=2;\r\n"), ("bad.nesl", "x=1;\n1+;\n")]);
    folder.nesl(&["fmt", "-q", "dos.nesl"]).code(0);
    assert_eq!(folder.read("dos.nesl"), "\u{feff}x = 1;\r\ny = 2;\r\n");
    for arguments in [&["fmt", "bad.nesl"][..], &["fmt", "--check", "bad.nesl"]] {
        let ran = folder.nesl(arguments).code(1);
        assert!(ran.err.contains("bad.nesl:2:3"), "{}", ran.err);
        assert_eq!(folder.read("bad.nesl"), "x=1;\n1+;\n");
    }
}

#[test]
fn ir_shows_every_stage() {
    let folder = Folder::new(&[("a.nesl", "function dbl(x) = x + x;\ndbl(3);\n")]);
    for stage in ["tokens", "tree", "ast", "types", "ir"] {
        let ran = folder.nesl(&["ir", "a.nesl", "--stage", stage]).code(0);
        assert!(ran.out.to_lowercase().contains("dbl"), "{stage}: {}", ran.out);
    }
    folder.nesl(&["ir", "a.nesl", "--function", "dbl"]).code(0).out(expect![[r#"
        main "dbl@int"

        fn "dbl@int"(v0: int) -> int {
          v1: int = add(v0, v0)
          v1
        }
    "#]]);
    folder.nesl(&["ir", "a.nesl", "--function", "triple"]).code(1).err(expect![[r#"
        Name error: there is no definition of `triple` here
           ╭─[ a.nesl:1:1 ]
           │
         1 │ function dbl(x) = x + x;
           │ ┬
           │ ╰── here
        ───╯

    "#]]);
    folder.nesl(&["ir", "a.nesl", "--stage", "none"]).code(2);
    let text = "function bad(x) = x + nope;\nfunction good(y) = bad(y) + 1;\n";
    let folder = Folder::new(&[("b.nesl", text)]);
    folder.nesl(&["ir", "b.nesl", "--function", "good"]).code(1).err(expect![[r#"
        Name error: `bad` was not defined: its form failed
           ╭─[ b.nesl:2:20 ]
           │
         1 │ function bad(x) = x + nope;
           │ ┬─────────────────────────
           │ ╰─────────────────────────── here
         2 │ function good(y) = bad(y) + 1;
           │                    ┬──
           │                    ╰──── here
        ───╯

    "#]]);
}

#[test]
fn ptx_names_the_lines_that_became_a_kernel() {
    let text = "function big(a) =\n  {x * x :\n   x in a\n   | x > 10};\n";
    let folder = Folder::new(&[("a.nesl", text)]);
    let ran = folder.nesl(&["ir", "a.nesl", "--stage", "ptx"]).code(0);
    for wanted in [
        "\n.target sm_75\n",
        "// line 2: {x * x :\n",
        "\n// 256 threads a block, ",
        ".visible .entry kernel0_pass0(",
        "mul.lo.s64",
    ] {
        assert!(ran.out.contains(wanted), "{wanted}: {}", ran.out);
    }
}

/// Tests of this file run without a GPU.
#[test]
fn a_missing_gpu_is_told_with_a_way_out() {
    let folder = Folder::new(&[("a.nesl", "1 + 2;\n")]);
    let ran = folder.nesl(&["run", "--runtime", "ptx", "a.nesl"]);
    if folder.nesl(&["devices"]).code(0).out.contains("not on this machine") {
        ran.code(2).err(expect![[r#"
            nesl: --runtime ptx: there is no NVIDIA driver (libcuda.so or libcuda.so.1 on the library path); `nesl devices` tells what was looked for, and --runtime cpu runs on this machine
        "#]]);
    }
}

#[test]
fn devices_name_the_threads_that_are_used() {
    let folder = Folder::new(&[]);
    let there = std::thread::available_parallelism().map_or(1, usize::from);
    let (alone, all) = match there {
        1 => ("CPU, 1 thread".to_owned(), "CPU, 1 thread".to_owned()),
        there => (format!("CPU, 1 of {there} threads"), format!("CPU, {there} threads")),
    };
    for (arguments, wanted) in [
        (&["--threads", "1", "devices"][..], format!("--runtime cpu  {alone}\n")),
        (&["--threads", "1", "devices", "--json"], format!("\"name\":\"{alone}\"")),
        (&["devices"], format!("--runtime cpu  {all}\n")),
        (&["--threads", "64", "devices"], "--runtime cpu  CPU, 64 threads\n".to_owned()),
    ] {
        let ran = folder.nesl(arguments).code(0);
        assert!(ran.out.contains(&wanted), "{arguments:?}: {}", ran.out);
    }
}

#[test]
fn cost_measures_forms() {
    let folder = Folder::new(&[(
        "a.nesl",
        "% first %\nxs = [0:1000];\nsum(xs);\n\nsum({x * x : x in xs});\n",
    )]);
    folder.nesl(&["cost", "a.nesl"]).code(0).out(expect![[r#"
        line  name   work  depth  parallelism
           2  xs    1,001      1        1,001
           3  it    1,001      1        1,001
           5  it    2,001      2        1,001
    "#]]);
    folder.nesl(&["cost", "-e", "plus_scan([0:1024])", "--log-scan"]).code(0).out(expect![[r#"
        line  name   work  depth  parallelism
           1  it    2,050     11          186
    "#]]);
    let ran = folder.nesl(&["cost", "--json", "-e", "sum([0:10])"]).code(0);
    let form: serde_json::Value = serde_json::from_str(ran.out.trim()).expect("one object");
    assert_eq!((&form["line"], &form["name"]), (&1.into(), &"it".into()));
    assert!(form["work"].as_u64() > form["depth"].as_u64());
    folder.nesl(&["cost", "-e", "1 + x"]).code(1);
    folder.nesl(&["cost"]).code(2);
}

#[test]
fn cost_finds_how_work_and_depth_grow() {
    let folder = Folder::new(&[(
        "a.nesl",
        "function total(xs) = if #xs < 2 then sum(xs) else sum({total(h) : h in bottop(xs)});\n\
         function work(n) = total([0:n]);\n",
    )]);
    let sizes = "1e2,3e2,1e3,3e3,1e4";
    let ask = ["cost", "-e", "work", "--sizes", sizes, "--setup", "a.nesl"];
    folder.nesl(&ask).code(0).out(expect![[r#"
             n     work  depth  parallelism
           100    1,767     32         55.2
           300    5,783     40          145
         1,000   20,971     44          477
         3,000   67,899     52        1,306
        10,000  243,611     60        4,060
        work  ≈ n log n + 11·n  (within 0.4 %; 0.4 % at sizes held out of the fit)
        depth ≈ 4.6·log n  (within 5.4 %; 6.4 % at sizes held out of the fit)
    "#]]);
    // Too few sizes for two terms, and for any law.
    folder.nesl(&["cost", "-e", "sum([0:n])", "--sizes", "10,100,1000"]).code(0).out(expect![[
        r#"
                n   work  depth  parallelism
               10     22      2         11.0
              100    202      2          101
            1,000  2,002      2        1,001
            work  ≈ 2.1·n  (within 4.9 %; 8.6 % at sizes held out of the fit)
            depth = 2, which is O(1)
            With 3 sizes only laws with one term were tried; give 5 or more.
        "#
    ]]);
    folder.nesl(&["cost", "-e", "sum([0:n])", "--sizes", "10,100"]).code(0).out(expect![[r#"
          n  work  depth  parallelism
         10    22      2         11.0
        100   202      2          101
        A law of growth needs at least 3 different sizes, 5 for a law with two terms.
    "#]]);
    let ran =
        folder.nesl(&["cost", "-e", "sum([0:n])", "--sizes", "10,100,1000", "--json"]).code(0);
    assert_eq!(ran.out.lines().count(), 4);
    folder.nesl(&["cost", "-e", "work", "--sizes", "many"]).code(2);
}

/// Whatever is measured before it, a size has the same random numbers, and several seeds.
#[test]
fn cost_of_random_programs_is_that_of_several_seeds() {
    let folder =
        Folder::new(&[("a.nesl", "function kept(n) = sum({1 : i in [0:n] | rand(2) == 0});")]);
    let at = |sizes: &str, seed: &str| -> Vec<serde_json::Value> {
        let ask = ["--seed", seed, "cost", "-e", "kept", "--setup", "a.nesl", "--json", "--sizes"];
        let ran = folder.nesl(&[&ask[..], &[sizes]].concat()).code(0);
        ran.out.lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
    };
    let (alone, last) = (at("1000", "0"), at("10,100,1000", "0"));
    assert_eq!((&alone[0], &alone[0]["runs"]), (&last[2], &5.into()));
    assert_ne!(alone[0], at("1000", "8")[0]);
    let fixed = folder.nesl(&["cost", "-e", "sum([0:n])", "--sizes", "10", "--json"]).code(0);
    assert!(fixed.out.contains("\"runs\":1"), "{}", fixed.out);
}

#[test]
fn doc_explains_a_name() {
    nesl(&["doc", "plus_scan"]).code(0).out(expect![[r#"
        plus_scan : [a] -> [a] :: (a in number)

        For each index, the sum of the elements before it.

        Example: plus_scan([5, 1, -3, 2]) → [0, 5, 6, 3]
        Cost: W = S(a), D = 1
    "#]]);
    nesl(&["doc", "plus_sacn"]).code(1).out(expect![""]).err(expect![[r#"
        Name error: nothing is known about `plus_sacn`; did you mean `plus_scan`?
    "#]]);
}

#[test]
fn forms_come_through_a_pipe() {
    let folder = Folder::new(&[]);
    let ran = folder.with_input(&[], "1 +\n2;\nx = 3; x;\nx +\n1.0;\nlast = 5");
    ran.code(1).out(expect![[r#"
        it = 3 : int
        x = 3 : int
        it = 3 : int
        last = 5 : int
    "#]]).err(expect![[r#"
        Type error: `+` does not fit an int and a float
           ╭─[ <stdin>:4:3 ]
           │
         4 │ x +
           │ ┬ ┬
           │ ╰──── an int
           │   │
           │   ╰── here
         5 │ 1.0;
           │ ┬──
           │ ╰──── a float
           │
           │ Help: int and float are never converted implicitly: convert with `float(…)`, `round(…)`, `trunc(…)`
           │
           │ Note: `+` : (a, a) -> a :: (a in number)
        ───╯

    "#]]);
}

#[test]
fn forms_see_what_the_files_of_a_session_define() {
    let folder =
        Folder::new(&[("lib.nesl", "n = 6; n + 1;\nfunction times(x) = n * x;\ntimes(\"\");\n")]);
    let ran = folder.with_input(&["repl", "lib.nesl"], "times(7);\n");
    ran.code(0).out(expect![[r#"
        it = 42 : int
    "#]]);
    nesl(&["repl", "nowhere.nesl"]).code(2);
}

#[test]
fn help_and_version() {
    assert!(nesl(&["--help"]).code(0).out.contains("Examples:"));
    for command in ["run", "repl", "eval", "check", "fmt", "ir", "cost", "doc"] {
        assert!(nesl(&[command, "--help"]).code(0).out.contains("Usage:"));
    }
    assert!(nesl(&["--version"]).code(0).out.starts_with("nesl "));
    nesl(&["no-such-command"]).code(2);
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let nesl = env!("CARGO_BIN_EXE_nesl");
    let script = format!("{nesl} eval --print-length all '[0:1000000]' '[0:1000000]' | head -c 20");
    let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.stdout.len(), 20);
}

#[test]
fn ctrl_c_ends_a_run_that_computes() {
    let folder = Folder::new(&[(
        "a.nesl",
        "1;\nfunction forever(n) = if n < 0 then n else forever(n + 1);\nforever(0);\n2;\n",
    )]);
    let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_nesl"))
        .args(["run", "a.nesl"])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it runs");
    // The line of the second form shows that the third is about to run, however slow the machine is; it
    // ends with the same message if the interrupt comes before it begins.
    let mut lines = std::io::BufReader::new(run.stdout.take().expect("it is piped"));
    let mut out = String::new();
    for _ in 0..2 {
        lines.read_line(&mut out).expect("a form prints");
    }
    std::thread::sleep(std::time::Duration::from_millis(100));
    let id = run.id().to_string();
    let sent = std::process::Command::new("kill").args(["-INT", &id]).status();
    assert!(sent.expect("kill runs").success());
    lines.read_to_string(&mut out).expect("it ends");
    let output = run.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(out, "it = 1 : int\nforever = fn : int -> int\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("nterrupted"));
}

/// A program that draws in two windows with the same title.
const DRAWS: &str = "function draw(n) =
  let (window, box) = w_make_window_box(((0, 0), (20, 10)), ((0.0, 0.0), (2.0, 1.0)), \"a b\", w_white, display)
  in w_draw_point((1.0, 0.5), w_red, box);
draw(1); draw(2);";

#[test]
fn pictures_are_written_when_a_run_ends() {
    let folder = Folder::new(&[("draws.nesl", DRAWS)]);
    let ran = folder.nesl(&["run", "draws.nesl"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, "Drew a-b.svg.\nDrew a-b-2.svg.\n"));
    for name in ["a-b.svg", "a-b-2.svg"] {
        let svg = folder.read(name);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
        assert!(svg.contains("<path d=\"M10 5h0\""), "{svg}");
    }
}

#[test]
fn pictures_go_where_they_are_sent() {
    let folder = Folder::new(&[("draws.nesl", DRAWS)]);
    // A folder that is not there is made.
    let ran = folder.nesl(&["run", "-q", "--pictures", "out/new", "draws.nesl"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(folder.read("out/new/a-b.svg").starts_with("<svg "));
    let ran = folder.nesl(&["eval", "--pictures", "draws.nesl", DRAWS]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.starts_with("nesl: cannot make the folder draws.nesl"), "{}", ran.err);
}

/// The pictures that a program drew before it failed are written, also when the program came from a
/// pipe.
#[test]
fn pictures_of_programs_that_fail_are_written() {
    let folder = Folder::new(&[]);
    let ran = folder.with_input(&[], &format!("{DRAWS}\n1 / 0;\n"));
    assert_eq!(ran.code, 1);
    assert!(ran.err.ends_with("Drew a-b.svg.\nDrew a-b-2.svg.\n"), "{}", ran.err);
    assert!(folder.read("a-b.svg").starts_with("<svg "));
}

#[test]
fn measuring_and_checking_draw_nothing() {
    let folder = Folder::new(&[("draws.nesl", DRAWS)]);
    assert_eq!(folder.nesl(&["check", "draws.nesl"]).code, 0);
    assert_eq!(folder.nesl(&["cost", "draws.nesl"]).code, 0);
    assert!(!folder.path().join("a-b.svg").exists());
}

#[test]
fn n14_programs_have_arguments() {
    let folder =
        Folder::new(&[("sum.nesl", "#!/usr/bin/env nesl\narguments(0);\n#arguments(1);\n")]);
    for arguments in [&["run", "sum.nesl", "--", "5", "-x y"][..], &["sum.nesl", "5", "-x y"]] {
        let ran = folder.nesl(arguments).code(0);
        ran.out(expect![[r#"
            it = ["5", "-x y"] : [[char]]
            it = 1 : int
        "#]]);
    }
    assert_eq!(folder.nesl(&["sum.nesl"]).out, "it = [] : [[char]]\nit = 0 : int\n");
}

#[test]
fn n15_values_are_json_if_asked() {
    let folder = Folder::new(&[]);
    let data = |arguments: &[&str]| -> Vec<serde_json::Value> {
        let ran = folder.nesl(arguments).code(0);
        let line = |line| serde_json::from_str::<serde_json::Value>(line).expect("JSON");
        ran.out.lines().map(|text| line(text)["data"].take()).collect()
    };
    let of = |text| data(&["eval", "--json", text]).remove(0);
    assert_eq!(of("[[1], [2, 3], [] int]"), serde_json::json!([[1], [2, 3], []]));
    assert_eq!(of("(t, `a, \"text\", 0.5)"), serde_json::json!([true, "a", "text", 0.5]));
    assert_eq!(of("[nan, infinity, 1.0]"), serde_json::json!(["nan", "infinity", 1.0]));
    let point = ["eval", "--json", "datatype point(int, float)", "{point(i, 0.5) : i in [0:2]}"];
    let points = data(&point).pop();
    assert_eq!(points, Some(serde_json::json!([{"point": [0, 0.5]}, {"point": [1, 0.5]}])));
    assert_eq!(of("[0:1000]"), serde_json::Value::Null);
    let whole = data(&["eval", "--json", "--print-length", "all", "[0:1000]"]).remove(0);
    assert_eq!(whole.as_array().map(Vec::len), Some(1000));
}

#[test]
fn n12_files_are_loaded_from_the_folder_of_the_file_that_loads_them() {
    let folder = Folder::new(&[("b.nesl", "y = 1;")]);
    std::fs::create_dir(folder.path().join("sub")).expect("a folder");
    std::fs::write(folder.path().join("sub/a.nesl"), "load \"b\"; y;").expect("saved");
    let ran = folder.nesl(&["run", "sub/a.nesl"]).code(0);
    assert_eq!(ran.out, "it = 1 : int\n");
    std::fs::write(folder.path().join("sub/b.nesl"), "y = 2;").expect("saved");
    let ran = folder.nesl(&["run", "sub/a.nesl"]).code(0);
    assert_eq!(ran.out, "it = 2 : int\n");
    std::fs::write(folder.path().join("sub/c.nesl"), "load \"d\";").expect("saved");
    folder.nesl(&["run", "sub/c.nesl"]).code(1).err(expect![[r#"
        Runtime error: there is no file `d`: looked for `sub/d.nesl`, `sub/d`, `d.nesl`, `d`
           ╭─[ sub/c.nesl:1:1 ]
           │
         1 │ load "d";
           │ ┬───────
           │ ╰───────── here
        ───╯

    "#]]);
}

/// A file that is written again keeps its contents until all are there, and its permissions.
#[cfg(unix)]
#[test]
fn n17_files_are_replaced_whole() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new(&[("old", "before")]);
    let path = folder.path().join("old");
    let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("set");
    std::os::unix::fs::symlink("old", folder.path().join("link")).expect("a link");
    folder.nesl(&["eval", "write_string_to_file(\"after\", \"link\")"]).code(0);
    assert_eq!((folder.read("old").as_str(), mode(&path)), ("after", 0o640));
    assert!(folder.path().join("link").is_symlink());
    let entries = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(entries, 2, "nothing else is left");
    let ran = folder.nesl(&["eval", "read_string_from_file(\"gone\")"]).code(1);
    assert!(ran.err.starts_with("Runtime error: cannot open `gone`: No such file"), "{}", ran.err);
}
