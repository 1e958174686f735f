//! The library that is written in NESL: its files, and the parser of its doc strings.
//!
//! A doc string describes the function, then has any number of lines that begin with `Example:` (an
//! expression, ` → `, its value; the expression may have several lines) and a last one that begins
//! with `Cost:`. A cost of the form `W = S(v) + L(i) + 1, D = 1` is charged for a call instead of
//! the cost of its body: `S` is the number of scalars in a value, `L` the length of a sequence. `D
//! = 1 (scan)` says that the body has scans or reductions, whose depth is log n under `--log-scan`.
//! Any other cost is a comment.

use crate::ir::{Charge, CostTerm, Role};

/// The names and texts of the files; each uses only those before it.
pub const FILES: &[(&str, &str)] = &[
    ("scalars.nesl", include_str!("../prelude/scalars.nesl")),
    ("sequences.nesl", include_str!("../prelude/sequences.nesl")),
    ("nesting.nesl", include_str!("../prelude/nesting.nesl")),
    ("sets.nesl", include_str!("../prelude/sets.nesl")),
    ("strings.nesl", include_str!("../prelude/strings.nesl")),
    ("tables.nesl", include_str!("../prelude/tables.nesl")),
    ("io.nesl", include_str!("../prelude/io.nesl")),
    ("higher_order.nesl", include_str!("../prelude/higher_order.nesl")),
    ("formats.nesl", include_str!("../prelude/formats.nesl")),
    ("graphics.nesl", include_str!("../prelude/graphics.nesl")),
];

/// Operators that are functions of the prelude: the operator, and the name of the function. (A
/// function cannot be defined under an operator's name.)
pub const OPERATORS: &[(&str, &str)] =
    &[("^", "_power"), ("||", "_pad"), ("nor", "_nor"), ("nand", "_nand")];

/// Public names that programs may define for themselves without a word: those that NESL 3.1 did not
/// have, and those that it had but did not document, of which programs have their own versions.
pub const ADDED: &[&str] = &[
    "append",
    "bound_box",
    "bounding_box",
    "close_window",
    "digitp",
    "display",
    "draw_lines",
    "draw_points",
    "draw_segments",
    "draw_string",
    "first",
    "get",
    "get_mouse_info",
    "grep",
    "make_window",
    "nesl_path",
    "next_char",
    "parse_int_vect",
    "plot_window",
    "rest",
    "user",
    "infinity",
    "nan",
    "arguments",
    "read_csv",
    "read_csv_columns",
    "write_csv",
    "read_npy",
    "write_npy",
    "read_matrix_market",
    "write_matrix_market",
    "hashtable",
    "stream",
    "string_rank",
    "string_sort",
    "w_rgb",
    "w_box",
    "w_window",
];

/// Documented names that NESL 3.1 leaves unprotected. A program may redefine them and is told so;
/// the library keeps its own.
pub const UNPROTECTED: &[&str] = &[
    "all",
    "any",
    "bottop",
    "cond_put",
    "count",
    "drop",
    "elt",
    "enumerate",
    "exp_string",
    "hash",
    "head_rest",
    "index",
    "interleave",
    "iseq",
    "join",
    "ln",
    "max_index",
    "max_val",
    "min_index",
    "min_val",
    "mod",
    "partition",
    "permute",
    "put",
    "rand",
    "rem",
    "rest_tail",
    "rotate",
    "split",
    "sqrt",
    "subseq",
    "sum",
    "take",
    "transpose",
    "unpack",
    "zip",
];

/// Returns the attribute of a function of the prelude by which a pass recognises it.
pub fn role(name: &str) -> Option<Role> {
    match name {
        "int_collect" => Some(Role::GroupByKey),
        "_select_kth" => Some(Role::SelectOne),
        _ => None,
    }
}

/// Returns the name of the prelude's function for an operator.
pub fn operator(written: &str) -> Option<&'static str> {
    let found = OPERATORS.iter().find(|(operator, _)| *operator == written);
    found.map(|(_, function)| *function)
}

/// Returns true if a program may not redefine a name of the library.
pub fn is_protected(name: &str) -> bool {
    !ADDED.contains(&name) && !UNPROTECTED.contains(&name)
}

/// Returns the printed form of a name of the prelude: `^` for `_power`.
pub fn shown(name: &str) -> &str {
    let found = OPERATORS.iter().find(|(_, function)| *function == name);
    found.map_or(name, |(operator, _)| operator)
}

/// A parsed doc string.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct DocString {
    /// The description of the function, with its lines joined and its paragraphs kept.
    pub text: String,
    /// The examples: an expression and its value.
    pub examples: Vec<(String, String)>,
    /// The text of the cost line, on work and depth.
    pub cost: Option<String>,
}

/// Parses a doc string. Every text is valid: a line that is not an example or a cost is prose.
pub fn parse_doc(text: &str) -> DocString {
    let mut doc = DocString::default();
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if let Some(example) = line.strip_prefix("Example:") {
            let mut example = example.to_owned();
            while !example.contains('→')
                && let Some(more) = lines.next()
            {
                example += "\n  ";
                example += more;
            }
            let (source, value) = example.split_once('→').unwrap_or((&example, ""));
            doc.examples.push((source.trim().to_owned(), value.trim().to_owned()));
        } else if let Some(cost) = line.strip_prefix("Cost:") {
            doc.cost = Some(cost.trim().to_owned());
        } else if line.is_empty() {
            doc.text.push_str("\n\n");
        } else {
            if !doc.text.is_empty() && !doc.text.ends_with('\n') {
                doc.text.push(' ');
            }
            doc.text.push_str(line);
        }
    }
    doc.text.truncate(doc.text.trim_end().len());
    doc
}

/// Parses the cost of a function with some parameters, if it is a formula: `W = 1`,
/// `W = S(v) + L(i)`, `W = S(result)` or `W = L(v) log L(v)`, then `, D = 1` or `, D = 1 (scan)`.
/// `W = O(…), D = O(…)` is none: such a function costs what it does.
pub fn parse_charge(cost: &str, params: &[&str]) -> Option<Charge> {
    let (work, depth) = cost.trim().strip_prefix("W = ")?.split_once(", D = ")?;
    let scans = match depth.trim() {
        "1" => false,
        "1 (scan)" => true,
        _ => return None,
    };
    let work: Option<Vec<CostTerm>> =
        work.split(" + ").map(|term| cost_term(term, params)).collect();
    Some(Charge { work: work?, scans })
}

fn cost_term(term: &str, params: &[&str]) -> Option<CostTerm> {
    let param = |name: &str| {
        let at = params.iter().position(|param| param.eq_ignore_ascii_case(name))?;
        u32::try_from(at).ok()
    };
    let inside = |open: &str| term.strip_prefix(open)?.strip_suffix(')');
    if let Some((factor, log)) = term.split_once(" log L(") {
        let log = log.strip_suffix(')')?;
        return match cost_term(factor, params)? {
            CostTerm::Length(i) if param(log) == Some(i) => Some(CostTerm::LengthLog(i)),
            CostTerm::Size(i) if param(log) == Some(i) => Some(CostTerm::SizeLog(i)),
            _ => None,
        };
    }
    if term == "1" {
        Some(CostTerm::One)
    } else if let Some(name) = inside("L(") {
        param(name).map(CostTerm::Length)
    } else if term == "S(result)" {
        Some(CostTerm::SizeOfResult)
    } else {
        param(inside("S(")?).map(CostTerm::Size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doc_string_is_taken_apart() {
        let doc = parse_doc(
            "The first `n` elements;\n the last ones.\n Example: take([1], 1) → [1]\n Cost: W = S(result), D = 1",
        );
        assert_eq!(doc.text, "The first `n` elements; the last ones.");
        assert_eq!(doc.examples, [("take([1], 1)".into(), "[1]".into())]);
        assert_eq!(doc.cost.as_deref(), Some("W = S(result), D = 1"));
    }

    #[test]
    fn an_example_may_have_several_lines() {
        let doc =
            parse_doc("Adds.\n Example: let x = 1\n          in x + 1 → 2\n Cost: W = 1, D = 1");
        assert_eq!(doc.examples, [("let x = 1\n  in x + 1".into(), "2".into())]);
        assert_eq!(doc.text, "Adds.");
        assert_eq!(doc.cost.as_deref(), Some("W = 1, D = 1"));
    }

    #[test]
    fn formulas_are_charges_and_prose_is_not() {
        let charge = parse_charge("W = S(v) + L(i) + 1, D = 1 (scan)", &["v", "i"]);
        let work = vec![CostTerm::Size(0), CostTerm::Length(1), CostTerm::One];
        assert_eq!(charge, Some(Charge { work, scans: true }));
        let charge = parse_charge("W = S(result), D = 1", &[]).expect("a formula");
        assert_eq!(charge.work, [CostTerm::SizeOfResult]);
        let charge = parse_charge("W = S(v) + L(v) log L(v), D = 1", &["v"]).expect("a formula");
        assert_eq!(charge.work, [CostTerm::Size(0), CostTerm::LengthLog(0)]);
        let charge = parse_charge("W = S(v) log L(v), D = 1", &["v"]).expect("a formula");
        assert_eq!(charge.work, [CostTerm::SizeLog(0)]);
        assert_eq!(parse_charge("expected W = O(S(v)), D = O(log L(v))", &["v"]), None);
        assert_eq!(parse_charge("W = S(x), D = 1", &["v"]), None);
    }
}
