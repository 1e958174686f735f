//! Tests that kernels stand where they belong: beside others, and in the side of a conditional that needs them.

mod programs;

use nesl_core::db::Database;
use nesl_core::flat::print;
use nesl_core::pipeline::{self, Options, Stage};
use nesl_runtime::scalar::Precision;

/// Returns the text of a function of the last form of a program, fused.
fn fused(program: &str, function: &str) -> String {
    let forms = programs::elaborated::forms(&mut Database::new(), program).unwrap();
    let program = pipeline::core(forms.into_iter().last().unwrap());
    let options = Options::at(Precision::Bits64);
    let flat = pipeline::up_to(&program, &options, Stage::named("fused")).flat.unwrap();
    let text = print(&flat);
    let begin = text.find(&format!("\nflattened \"{function}\"")).expect("the function is flat");
    let end = text[begin..].find("\n}\n").expect("a function ends");
    text[begin..begin + end].to_owned()
}

/// Returns the kernel of a text whose code contains `what`.
fn kernel_with<'t>(text: &'t str, what: &str) -> &'t str {
    text.split("kernel ").find(|kernel| kernel.contains(what)).expect("a kernel has it")
}

#[test]
fn a_table_that_one_side_reads_is_filled_there() {
    let text = fused(
        "function least(label, edges, turns) : ([int], [(int, int)], int) -> [int] =
           if turns == 0 then label
           else least(label <- {(v, min_val(ls)) : (v, ls)
                                in int_collect({(v, label[u]) : (u, v) in edges})}, edges, turns - 1);
         least([0:9], {(i, i + 1) : i in [0:5]}, 3);",
        "least",
    );
    // Conditionals ask whether it is the last turn, whether keys are worth a look, and whether there are few.
    let sides = |line: &&str| line.split_once("= if ").is_some_and(|(_, of)| of.contains(" in s"));
    let until_table = text.lines().take_while(|line| !line.contains("histogram_min"));
    assert_eq!(until_table.filter(sides).count(), 3, "{text}");
}

#[test]
fn a_sequence_around_a_conditional_is_overwritten_by_a_kernel() {
    let text = fused(
        "function sieve(flags, p) : ([bool], int) -> [bool] =
           if p * p >= #flags then flags
           else if flags[p] then sieve(flags <- {(m, f) : m in [p * p:#flags:p]}, p + 1)
           else sieve(flags, p + 1);
         sieve(dist(t, 100), 2);",
        "sieve",
    );
    // The kernel that computes the indices writes to them.
    let kernel = kernel_with(&text, "scatter");
    assert!(kernel.contains("position") && kernel.contains("mul"), "{text}");
}

#[test]
fn what_is_overwritten_is_read_by_a_kernel_before() {
    let text = fused(
        "function lower(label, n) : ([int], int) -> [int] =
           if n == 0 then label
           else lower(label <- {(v, min(label[v], n)) : v in [n:n + 100]}, n - 1);
         lower([0:1000], 100);",
        "lower",
    );
    assert!(!kernel_with(&text, "scatter").contains("index("), "{text}");
}
