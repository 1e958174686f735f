//! Tests of summaries, on programs that students write.

use super::*;
use crate::ide::fixture::Fixture;
use expect_test::{Expect, expect};

/// The sentence and the lines of the form at the cursor.
fn check(text: &str, expected: Expect) {
    let f = Fixture::new(text);
    let (item, _) = f.db.item_at(f.file, f.cursor()).expect("a form");
    let summary = summary(&f.db, item, Precision::Bits64).expect("a program");
    let mut out = summary.sentence() + "\n";
    for line in &summary.lines {
        out.push_str(&format!("{}- {}\n", "  ".repeat(line.depth as usize), line.text));
    }
    expected.assert_eq(&out);
}

#[test]
fn point_10_a_sequential_recursion_says_so() {
    for text in [
        "$0function fact(n) = if n == 0 then 1 else n * fact(n - 1);",
        "$0function is_even(n) = if n == 0 then t else is_odd(n - 1);\n\
         function is_odd(n) = if n == 0 then f else is_even(n - 1);",
    ] {
        let f = Fixture::new(text);
        let (item, _) = f.db.item_at(f.file, f.cursor()).expect("a form");
        let summary = summary(&f.db, item, Precision::Bits64).expect("a program");
        assert!(summary.sentence().starts_with("**Sequential:** one call after the other"));
    }
}

#[test]
fn point_11_recursion_in_the_words_of_the_program() {
    check(
        "$0function quicksort(a) = if #a < 2 then a else\n\
         let pivot = a[#a / 2];\n\
         less = {x in a | x < pivot};\n\
         equal = {x in a | x == pivot};\n\
         more = {x in a | x > pivot};\n\
         sides = {quicksort(side) : side in [less, more]}\n\
         in sides[0] ++ equal ++ sides[1];",
        expect![[r#"
            **Per level of recursion: 7 launches**
            - test `#a < 2`
            - `pivot`: `a[#a / 2]`
            - `less`, `equal`, `more`: one pass over `a`: filter `x < pivot`, filter `x == pivot`, filter `x > pivot`
            - `sides`: put `[less, more]` side by side
            - `sides`: `{quicksort(side) : side in [less, more]}`, at run time one of:
              - many, or little work in each: 1 launch, a thread for each of `[less, more]` computes it
              - few, with much work in each: all of them at once, level by level
            - `sides[0]`
            - `sides[1]`, `sides[0] ++ equal` (concatenate two sequences)
            - `sides[0] ++ equal ++ sides[1]` (concatenate two sequences)
        "#]],
    );
}

#[test]
fn point_11_versions_and_inlined_functions() {
    check(
        "m = [[1.0, 2.0], [3.0]];\n$0{sum(r) / float(#r) : r in m};",
        expect![[r#"
        **Parallel: 2 launches**
        - `{sum(r) / float(#r) : r in m}`, at run time one of:
          - many, or little work in each: 1 launch, a thread for each of `m` computes it
          - few, with much work in each: 2 launches
            - one pass over the elements of every `r`: their sum
            - one pass over `m`: `sum(r) / float(#r)`
    "#]],
    );
    check(
        "$0function nearest(p, cs) = min_index({abs(p - c) : c in cs});",
        expect![[r#"
            **Parallel: 4 launches**
            - one pass over `cs`: `abs(p - c)`
            - `min_index({abs(p - c) : c in cs})`: 3 launches
        "#]],
    );
}

#[test]
fn point_11_each_call_is_one_line_whatever_it_launches() {
    // Two calls of one function, which are inlined, and parts of kernels that belong to them.
    check(
        "function mean(v) = sum(v) / float(#v);\n\
         $0function slope(xs, ys) = let mx = mean(xs); my = mean(ys)\n\
         in sum({(x - mx) * (y - my) : x in xs; y in ys});",
        expect![[r#"
            **Parallel: 5 launches**
            - `mx`, `my`: `mean(xs)`, `mean(ys)`: 4 launches
            - one pass over `xs`: `(x - mx) * (y - my)`, their sum
        "#]],
    );
    // A call inside of a call of the same function.
    check(
        "function step(a) = a -> a;\n$0function twice(a) = let b = step(step(a)) in {x + 1 : x in b};",
        expect![[r#"
            **Parallel: 2 launches**
            - `b`: `step(step(a))`
            - one pass over `a`: `x + 1`
        "#]],
    );
    // On either side of a conditional, only the calls that are there.
    check(
        "function total(v) = sum({x * x : x in v});\n\
         $0function g(a, b) = if #a > 3 then total(a) else total(b) + 1;",
        expect![[r#"
            **Parallel: 4 launches**
            - if `#a > 3`:
              - `total(a)`
            - otherwise:
              - `total(b)`
              - `total(b) + 1`
        "#]],
    );
    // A choice that the compiler makes is no condition of the program.
    check(
        "$0function counts(v) = {(k, #group) : (k, group) in int_collect({(x, x) : x in v})};",
        expect![[r#"
            **Parallel: 14 launches**
            - `{(k, #group) : (k, group) in int_collect({(x, x) : x in v})}`: 14 launches
        "#]],
    );
    check(
        "$0function same(a, b) = if eql(a, b) then sum(a) else sum(b);",
        expect![[r#"
        **Parallel: 4 launches**
        - `eql(a, b)`: 2 launches
        - if `eql(a, b)`:
          - one pass over `a`: their sum
        - otherwise:
          - one pass over `b`: their sum
    "#]],
    );
}

#[test]
fn point_11_what_a_filter_leaves_is_counted_and_named() {
    check(
        "$0function left(points, k) = let l = {p in points | p > k} in if #l == 0 then [k] else l ++ [k];",
        expect![[r#"
            **Parallel: 5 launches**
            - `l`: one pass over `points`: `#l`, filter `p > k`
            - if `#l == 0`:
              - make `[k]`
            - otherwise:
              - make `[k]`
              - `l ++ [k]` (concatenate two sequences)
        "#]],
    );
    check(
        "function safe(b, c) = all({q /= c : q in b});\n\
         $0function extend(boards, n) = {{c : c in [0:n] | safe(b, c)} : b in boards};",
        expect![[r#"
            **Parallel: 1 launch**
            - `{{c : c in [0:n] | safe(b, c)} : b in boards}`, at run time one of:
              - many, or little work in each: 1 launch, a thread for each of `boards` computes it
              - few, with much work in each: 1 launch
                - `{c : c in [0:n] | safe(b, c)}`, at run time one of:
                  - many, or little work in each: 1 launch, a thread for each of the elements of every `[0:n]` computes it
                  - few, with much work in each: 1 launch, `safe(b, c)` for each `c in [0:n]`
        "#]],
    );
    check(
        "$0function ranks(graph, r) = {sum(r -> from) + x : x in r; from in graph};",
        expect![[r#"
            **Parallel: 2 launches**
            - `{sum(r -> from) + x : x in r; from in graph}`, at run time one of:
              - many, or little work in each: 1 launch, a thread for each of `r` computes it
              - few, with much work in each: 2 launches
                - one pass over the elements of every `from`: read `r -> from`, their sum
                - one pass over `r`: `sum(r -> from) + x`
        "#]],
    );
}

/// The summaries of the examples have no names that only the compiler knows.
#[test]
fn point_11_no_name_of_the_compiler_in_any_example() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let files =
        std::fs::read_dir(folder).expect("the examples").map(|file| file.expect("a file").path());
    let mut checked = 0;
    for path in files.filter(|path| path.extension().is_some_and(|end| end == "nesl")) {
        let text = std::fs::read_to_string(&path).expect("a program");
        let f = Fixture::new(&text);
        for form in &f.db.outline(f.file).forms {
            let Ok(summary) = summary(&f.db, form.id(), Precision::Bits64) else { continue };
            for line in &summary.lines {
                let words = line.text.split(|c: char| !c.is_alphanumeric() && c != '_');
                let is_var = |word: &str| {
                    let number = word.strip_prefix('v').unwrap_or("");
                    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
                };
                let known = |word: &str| text.contains(word);
                assert!(
                    !words.clone().any(|word| is_var(word) && !known(word)),
                    "{}: {}",
                    path.display(),
                    line.text
                );
            }
            checked += 1;
        }
    }
    assert!(checked > 126, "{checked}");
}
