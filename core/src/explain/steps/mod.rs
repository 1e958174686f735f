//! A small example of a form after flattening: segments over flat data, step by step.
//!
//! The form's flat program ([`crate::flat`], not fused) is interpreted on small values, and the
//! steps that explain it are recorded: the index spaces that are made, the operations on their
//! elements, reductions, scans, and the segments that are collected into sequences. The result is
//! drawn by editors; a program that is too large, takes too long, or has effects is refused in one
//! line.
//!
//! The files in the order of the data: `example` chooses values, `record` interprets the program on
//! them ([`crate::flat::interp`]) and makes steps of what it watches, with `names` and `draw`.
//!
//! | file | contents |
//! |---|---|
//! | `example` | the values that the form is shown on |
//! | `record` | the steps that are shown, with their titles |
//! | `condense` | fewer steps: those that change nothing are joined |
//! | `names` | the names of values: their text in the source |
//! | `draw` | a value as segments over flat data, and as NESL prints it |

mod condense;
mod draw;
mod example;
mod names;
mod record;

use super::summary::Layout;
use crate::base::{TextRange, TextSize};
use crate::db::Cursor;
use crate::db::{Database, FileId};
use nesl_runtime::scalar::Precision;

/// The time budget of the interpreters for one example, in nanoseconds.
const BUDGET_NS: u64 = 20_000_000;

/// The segments of one level of nesting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// The layout of the segments.
    pub kind: Layout,
    /// The start of each segment, in elements of the level below.
    pub starts: Vec<u32>,
    /// The length of each segment, in elements.
    pub lengths: Vec<u32>,
}

/// A value as segments over flat data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentedValue {
    /// The text that the source has for it, or else its name in the flat program.
    pub name: String,
    /// The type of all elements of its index space together: `[[int]]` for an int of a nested
    /// space.
    pub ty: String,
    /// The value as NESL prints it.
    pub value: String,
    /// The levels of nesting, the outermost first.
    pub levels: Vec<Level>,
    /// The flat data below the innermost level; a list for each component of a tuple.
    pub data: Vec<Vec<String>>,
    /// The components that are sequences themselves.
    pub nested: Vec<NestedComponent>,
}

/// A component of a tuple that consists of sequences, drawn as segments over flat data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestedComponent {
    /// The number of the list, counted from 0.
    pub component: usize,
    /// The levels of nesting, the outermost first; that one has a segment for each tuple.
    pub levels: Vec<Level>,
    /// The flat data below the innermost level; a list for each component.
    pub data: Vec<Vec<String>>,
    /// The components of the data that are sequences themselves.
    pub nested: Vec<NestedComponent>,
}

/// A step of the computation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentStep {
    /// The title, in words.
    pub title: String,
    /// The lines of the flat program, as the compiler prints them.
    pub code: String,
    /// The source range, in bytes of the file.
    pub source: Option<TextRange>,
    /// The values that the step uses.
    pub inputs: Vec<SegmentedValue>,
    /// The value that the step computes.
    pub output: Option<SegmentedValue>,
}

/// A form, step by step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments {
    /// The computation: the expression, or a call of the function.
    pub subject: String,
    /// The steps, at most 24.
    pub steps: Vec<SegmentStep>,
}

/// Executes the form at a byte offset of a file on small values, and returns the steps.
///
/// # Errors
/// One line that says why there is nothing to show.
pub fn segments(
    db: &Database,
    file: FileId,
    offset: TextSize,
    precision: Precision,
) -> Result<Segments, String> {
    let cursor = Cursor::new(db, file, offset).ok_or("there is no form here")?;
    let mut why = None;
    // Values from the program come first: generated ones may not be what the function expects.
    for example in example::of(&cursor, precision)? {
        match record::steps(&cursor, &example, precision) {
            // With other values there may be something to show.
            Ok(steps) if steps.is_empty() => {
                why = why
                    .or_else(|| Some("no apply-to-each runs here, which pictures show".to_owned()));
            }
            Ok(steps) => return Ok(Segments { subject: example.subject, steps }),
            Err(reason) => why = why.or(Some(reason)),
        }
    }
    Err(why.unwrap_or_else(|| "there are no small values that this can be shown on".to_owned()))
}

/// Returns a call of the function at a cursor with generated arguments, if there are any that it
/// takes.
pub(super) fn generated(cursor: &Cursor<'_>, precision: Precision) -> Option<String> {
    let examples = example::of(cursor, precision).ok()?;
    let mut subjects = examples.into_iter().map(|example| example.subject);
    subjects.find(|subject| !subject.contains('…'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::fixture::Fixture;
    use expect_test::{Expect, expect};
    use std::fmt::Write;

    fn shown(value: &SegmentedValue) -> String {
        let mut out = format!("{} : {} = {}", value.name, value.ty, value.value);
        for level in &value.levels {
            let _ = write!(out, " | {} {:?}", level.kind.name(), level.lengths);
            if level.kind == Layout::Views {
                let _ = write!(out, " at {:?}", level.starts);
            }
        }
        let data: Vec<String> = value.data.iter().map(|data| data.join(" ")).collect();
        let _ = write!(out, " | {}", data.join(" / "));
        shown_inside(&value.nested, &mut out);
        out
    }

    fn shown_inside(nested: &[NestedComponent], out: &mut String) {
        for one in nested {
            let _ = write!(out, " ({}:", one.component);
            for level in &one.levels {
                let _ = write!(out, " {:?}", level.lengths);
            }
            let data: Vec<String> = one.data.iter().map(|data| data.join(" ")).collect();
            let _ = write!(out, " | {}", data.join(" / "));
            shown_inside(&one.nested, out);
            out.push(')');
        }
    }

    fn check(text: &str, expected: Expect) {
        let f = Fixture::new(text);
        let mut out = String::new();
        match segments(&f.db, f.file, f.cursor(), Precision::Bits64) {
            Err(why) => out = why + "\n",
            Ok(found) => {
                let _ = writeln!(out, "== {}", found.subject);
                for step in &found.steps {
                    let source = step.source.map_or("", |range| &f.text[range]);
                    let _ = writeln!(out, "{}   [{source}]", step.title);
                    for line in step.code.lines() {
                        let _ = writeln!(out, "    {line}");
                    }
                    for input in &step.inputs {
                        let _ = writeln!(out, "  in  {}", shown(input));
                    }
                    if let Some(output) = &step.output {
                        let _ = writeln!(out, "  out {}", shown(output));
                    }
                }
            }
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn a_sum_for_each_row() {
        check(
            "m = [[2, 1], [] int, [3, 4, 5]];\n$0{sum({x * x : x in r}) : r in m};",
            expect![[r#"
                == {sum({x * x : x in r}) : r in m}
                index spaces: the elements of `m`; the elements of every `r`   [r in m]
                    s1 = elements v7 of s0
                    v8: [int] in s1 = element(v7)
                    s2 = elements v8 of s1
                    v10: int in s2 = element(v8)
                  in  m : [[int]] = [[2, 1], [], [3, 4, 5]] | contiguous [3] | contiguous [2, 0, 3] | 2 1 3 4 5
                  out x : [[int]] = [[2, 1], [], [3, 4, 5]] | contiguous [3] | contiguous [2, 0, 3] | 2 1 3 4 5
                multiply   [x * x]
                    v3: int in s2 = mul(v10, v10)
                  in  x : [[int]] = [[2, 1], [], [3, 4, 5]] | contiguous [3] | contiguous [2, 0, 3] | 2 1 3 4 5
                  out x * x : [[int]] = [[4, 1], [], [9, 16, 25]] | contiguous [3] | contiguous [2, 0, 3] | 4 1 9 16 25
                the sum of each segment; collect the elements into a sequence   [sum({x * x : x in r})]
                    v5: int in s1 = reduce_sum v3 from s2
                    v6: [int] in s0 = collect v11 from s1
                  in  x * x : [[int]] = [[4, 1], [], [9, 16, 25]] | contiguous [3] | contiguous [2, 0, 3] | 4 1 9 16 25
                  out {sum({… : x in r}) : r in m} : [int] = [5, 0, 50] | contiguous [3] | 5 0 50
            "#]],
        );
    }

    #[test]
    fn filters_and_scans() {
        check(
            "$0{plus_scan({e - 1 : e in a | e > 2}) : a in [[1, 3], [4]]};",
            expect![[r#"
                == {plus_scan({e - 1 : e in a | e > 2}) : a in [[1, 3], [4]]}
                index spaces: the elements of `[[1, 3], [4]]`; the elements of every `a`   [a in [[1, 3], [4]]]
                    s1 = elements v2 of s0
                    v13: [int] in s1 = element(v2)
                    s2 = elements v13 of s1
                    v15: int in s2 = element(v13)
                  in  [[1, 3], [4]] : [[int]] = [[1, 3], [4]] | contiguous [2] | contiguous [2, 1] | 1 3 4
                  out e : [[int]] = [[1, 3], [4]] | contiguous [2] | contiguous [2, 1] | 1 3 4
                compare   [e > 2]
                    v5: bool in s2 = gt(v15, 2)
                  in  e : [[int]] = [[1, 3], [4]] | contiguous [2] | contiguous [2, 1] | 1 3 4
                  out e > 2 : [[bool]] = [[F, T], [T]] | contiguous [2] | contiguous [2, 1] | F T T
                filter: the elements where `e > 2`   [({e - 1 : e in a | e > 2})]
                    s3 = filter v5 of s2
                  in  e : [[int]] = [[1, 3], [4]] | contiguous [2] | contiguous [2, 1] | 1 3 4
                  in  e > 2 : [[bool]] = [[F, T], [T]] | contiguous [2] | contiguous [2, 1] | F T T
                  out e : [[int]] = [[3], [4]] | contiguous [2] | contiguous [1, 1] | 3 4
                subtract   [e - 1]
                    v9: int in s3 = sub(v15, 1)
                  in  e : [[int]] = [[3], [4]] | contiguous [2] | contiguous [1, 1] | 3 4
                  out e - 1 : [[int]] = [[2], [3]] | contiguous [2] | contiguous [1, 1] | 2 3
                scan: for each element, the sum of those before it in its segment; collect each segment into a sequence, and these into one   [plus_scan({e - 1 : e in a | e > 2})]
                    v16: int in s3 = scan_sum v9
                    v11: [int] in s1 = collect v16 from s3
                    v12: [[int]] in s0 = collect v17 from s1
                  in  e - 1 : [[int]] = [[2], [3]] | contiguous [2] | contiguous [1, 1] | 2 3
                  out {… : a in [[1, 3], [4]]} : [[int]] = [[0], [0]] | contiguous [2] | contiguous [1, 1] | 0 0
            "#]],
        );
    }

    #[test]
    fn functions_have_examples() {
        check(
            "function $0dot(a, b) \"Dot.\n Example: dot([1.0, 2.0], [3.0, 4.0]) → 11.0\" = sum({x * y : x in a; y in b});",
            expect![[r#"
                == dot([1.0, 2.0], [3.0, 4.0])
                index space: the elements of `a`   [x in a; y in b]
                    s1 = elements v0 of s0
                    v8: float in s1 = element(v0)
                  in  a : [float] = [1.0, 2.0] | contiguous [2] | 1.0 2.0
                  out x : [float] = [1.0, 2.0] | contiguous [2] | 1.0 2.0
                the element of `b` at each index   [x in a; y in b]
                    v9: float in s1 = element(v1) after v7
                  in  b : [float] = [3.0, 4.0] | contiguous [2] | 3.0 4.0
                  out y : [float] = [3.0, 4.0] | contiguous [2] | 3.0 4.0
                multiply   [x * y]
                    v4: float in s1 = mul(v8, v9)
                  in  x : [float] = [1.0, 2.0] | contiguous [2] | 1.0 2.0
                  in  y : [float] = [3.0, 4.0] | contiguous [2] | 3.0 4.0
                  out x * y : [float] = [3.0, 8.0] | contiguous [2] | 3.0 8.0
                the sum of all elements   [sum({x * y : x in a; y in b})]
                    v6: float in s0 = reduce_sum v4 from s1
                  in  x * y : [float] = [3.0, 8.0] | contiguous [2] | 3.0 8.0
                  out sum({… : x in a; y in b}) : float = 11.0 | 11.0
            "#]],
        );
        check(
            "function $0g(a) = {x + 1 : x in a};\nxs = [7, 8];\ng(xs);",
            expect![[r#"
                == g(xs)
                index space: the elements of `a`   [x in a]
                    s1 = elements v0 of s0
                    v4: int in s1 = element(v0)
                  in  a : [int] = [7, 8] | contiguous [2] | 7 8
                  out x : [int] = [7, 8] | contiguous [2] | 7 8
                add; collect the elements into a sequence   [x + 1]
                    v2: int in s1 = add(v4, 1)
                    v3: [int] in s0 = collect v2 from s1
                  in  x : [int] = [7, 8] | contiguous [2] | 7 8
                  out {x + 1 : x in a} : [int] = [8, 9] | contiguous [2] | 8 9
            "#]],
        );
        check(
            "function $0rows(m) = {sum(r) : r in m};",
            expect![[r#"
                == rows([[2, 1], [], [3, 4, 5]])
                index spaces: the elements of `m`; the elements of every `r`   [r in m]
                    s1 = elements v0 of s0
                    v4: [int] in s1 = element(v0)
                    s2 = elements v4 of s1
                    v6: int in s2 = element(v4)
                  in  m : [[int]] = [[2, 1], [], [3, 4, 5]] | contiguous [3] | contiguous [2, 0, 3] | 2 1 3 4 5
                  out element of r : [[int]] = [[2, 1], [], [3, 4, 5]] | contiguous [3] | contiguous [2, 0, 3] | 2 1 3 4 5
                the sum of each segment; collect the elements into a sequence   [sum(r)]
                    v2: int in s1 = reduce_sum v6 from s2
                    v3: [int] in s0 = collect v7 from s1
                  in  element of r : [[int]] = [[2, 1], [], [3, 4, 5]] | contiguous [3] | contiguous [2, 0, 3] | 2 1 3 4 5
                  out {sum(r) : r in m} : [int] = [3, 0, 12] | contiguous [3] | 3 0 12
            "#]],
        );
    }

    #[test]
    fn branches_of_conditionals_and_pairs() {
        check(
            "$0{if x > 1 then sum([0:x]) else 0 : (x, y) in [(1, `a), (3, `b)]};",
            expect![[r#"
                == {if x > 1 then sum([0:x]) else 0 : (x, y) in [(1, `a), (3, `b)]}
                index space: the elements of `[(1, `a), (3, `b)]`   [x, y) in [(1, `a), (3, `b)]]
                    s1 = elements v2 of s0
                    v11: (int, char) in s1 = element(v2)
                  in  [(1, `a), (3, `b)] : [(int, char)] = [(1, `a), (3, `b)] | contiguous [2] | 1 3 / `a `b
                  out (x, y) : [(int, char)] = [(1, `a), (3, `b)] | contiguous [2] | 1 3 / `a `b
                compare   [x > 1]
                    v6: bool in s1 = gt(v4, 1)
                  in  x : [int] = [1, 3] | contiguous [2] | 1 3
                  out x > 1 : [bool] = [F, T] | contiguous [2] | F T
                filter: the elements where `x > 1`   [if x > 1 then sum([0:x]) else 0]
                    s2 = filter v6 of s1
                  in  (x, y) : [(int, char)] = [(1, `a), (3, `b)] | contiguous [2] | 1 3 / `a `b
                  in  x > 1 : [bool] = [F, T] | contiguous [2] | F T
                  out (x, y) : [(int, char)] = [(3, `b)] | contiguous [1] | 3 / `b
                index space: the elements of every `[0:x]`   [([0:x])]
                    s3 = count v13 of s2
                    v14: int in s3 = position
                  in  #[0:x] : [int] = [3] | contiguous [1] | 3
                  out [0:x] : [[int]] = [[0, 1, 2]] | contiguous [1] | contiguous [3] | 0 1 2
                the sum of each segment   [sum([0:x])]
                    v8: int in s2 = reduce_sum v14 from s3
                  in  [0:x] : [[int]] = [[0, 1, 2]] | contiguous [1] | contiguous [3] | 0 1 2
                  out sum([0:x]) : [int] = [3] | contiguous [1] | 3
                filter: the elements where not `x > 1`   [if x > 1 then sum([0:x]) else 0]
                    s4 = filter not v6 of s1
                  in  (x, y) : [(int, char)] = [(1, `a), (3, `b)] | contiguous [2] | 1 3 / `a `b
                  in  x > 1 : [bool] = [F, T] | contiguous [2] | F T
                  out (x, y) : [(int, char)] = [(1, `a)] | contiguous [1] | 1 / `a
                merge the results of both branches; collect the elements into a sequence   [if x > 1 then sum([0:x]) else 0]
                    v9: int in s1 = if v6 in s2 {
                    v10: [int] in s0 = collect v15 from s1
                  in  x > 1 : [bool] = [F, T] | contiguous [2] | F T
                  out {if x > 1 then sum([0:x]) …} : [int] = [0, 3] | contiguous [2] | 0 3
            "#]],
        );
    }

    #[test]
    fn subsequences_are_views() {
        check(
            "m = [[5, 1, 2], [7, 8]];\n$0{sum(subseq(r, 1, #r)) : r in m};",
            expect![[r#"
                == {sum(subseq(r, 1, #r)) : r in m}
                index space: the elements of `m`   [r in m]
                    s1 = elements v6 of s0
                    v7: [int] in s1 = element(v6)
                  in  m : [[int]] = [[5, 1, 2], [7, 8]] | contiguous [2] | contiguous [3, 2] | 5 1 2 7 8
                  out r : [[int]] = [[5, 1, 2], [7, 8]] | contiguous [2] | contiguous [3, 2] | 5 1 2 7 8
                take the length, which each segment stores   [#r]
                    v2: int in s1 = length(v7)
                  in  r : [[int]] = [[5, 1, 2], [7, 8]] | contiguous [2] | contiguous [3, 2] | 5 1 2 7 8
                  out #r : [int] = [3, 2] | contiguous [2] | 3 2
                take a part: no data moves   [(subseq(r, 1, #r))]
                    v3: [int] in s1 = subseq(v7, 1, v2)
                  in  r : [[int]] = [[5, 1, 2], [7, 8]] | contiguous [2] | contiguous [3, 2] | 5 1 2 7 8
                  in  #r : [int] = [3, 2] | contiguous [2] | 3 2
                  out subseq(r, 1, #r) : [[int]] = [[1, 2], [8]] | contiguous [2] | views [2, 1] at [1, 4] | 5 1 2 7 8
                index space: the elements of every `subseq(r, 1, #r)`   [sum(subseq(r, 1, #r))]
                    s2 = elements v3 of s1
                    v9: int in s2 = element(v3)
                  in  subseq(r, 1, #r) : [[int]] = [[1, 2], [8]] | contiguous [2] | views [2, 1] at [1, 4] | 5 1 2 7 8
                  out element of subseq(r, 1, #r) : [[int]] = [[1, 2], [8]] | contiguous [2] | contiguous [2, 1] | 1 2 8
                the sum of each segment; collect the elements into a sequence   [sum(subseq(r, 1, #r))]
                    v4: int in s1 = reduce_sum v9 from s2
                    v5: [int] in s0 = collect v10 from s1
                  in  element of subseq(r, 1, #r) : [[int]] = [[1, 2], [8]] | contiguous [2] | contiguous [2, 1] | 1 2 8
                  out {sum(subseq(r, …)) : r in m} : [int] = [3, 8] | contiguous [2] | 3 8
            "#]],
        );
        check(
            "m = [[[5], [1, 2]], [[7, 8]]];\n$0{r[#r - 1] : r in m};",
            expect![[r#"
            == {r[#r - 1] : r in m}
            index space: the elements of `m`   [r in m]
                s1 = elements v6 of s0
                v7: [[int]] in s1 = element(v6)
              in  m : [[[int]]] = [[[5], [1, 2]], [[7, 8]]] | contiguous [2] | contiguous [2, 1] | contiguous [1, 2, 2] | 5 1 2 7 8
              out r : [[[int]]] = [[[5], [1, 2]], [[7, 8]]] | contiguous [2] | contiguous [2, 1] | contiguous [1, 2, 2] | 5 1 2 7 8
            take the length, which each segment stores   [#r]
                v2: int in s1 = length(v7)
              in  r : [[[int]]] = [[[5], [1, 2]], [[7, 8]]] | contiguous [2] | contiguous [2, 1] | contiguous [1, 2, 2] | 5 1 2 7 8
              out #r : [int] = [2, 1] | contiguous [2] | 2 1
            subtract   [#r - 1]
                v3: int in s1 = sub(v2, 1)
              in  #r : [int] = [2, 1] | contiguous [2] | 2 1
              out #r - 1 : [int] = [1, 0] | contiguous [2] | 1 0
            take an element   [r[#r - 1]]
                v4: [int] in s1 = index(v7, v3)
              in  r : [[[int]]] = [[[5], [1, 2]], [[7, 8]]] | contiguous [2] | contiguous [2, 1] | contiguous [1, 2, 2] | 5 1 2 7 8
              in  #r - 1 : [int] = [1, 0] | contiguous [2] | 1 0
              out r[#r - 1] : [[int]] = [[1, 2], [7, 8]] | contiguous [2] | views [2, 2] at [1, 3] | 5 1 2 7 8
            collect the elements into a sequence   [r in m]
                v5: [[int]] in s0 = collect v4 from s1
              in  r[#r - 1] : [[int]] = [[1, 2], [7, 8]] | contiguous [2] | views [2, 2] at [1, 3] | 5 1 2 7 8
              out {r[#r - 1] : r in m} : [[int]] = [[1, 2], [7, 8]] | contiguous [2] | contiguous [2, 2] | 1 2 7 8
        "#]],
        );
    }

    #[test]
    fn sequences_in_tuples_are_segmented_too() {
        check(
            "$0{(sum(a), a) : (n, a) in [(1, [4, 5]), (2, [] int)]};",
            expect![[r#"
                == {(sum(a), a) : (n, a) in [(1, [4, 5]), (2, [] int)]}
                index space: the elements of `[(1, [4, 5]), (2, [] int)]`   [n, a) in [(1, [4, 5]), (2, [] int)]]
                    s1 = elements v4 of s0
                    v11: (int, [int]) in s1 = element(v4)
                  in  [(1, [4, 5]), (2, [] int)] : [(int, [int])] = [(1, [4, 5]), (2, [])] | contiguous [2] | 1 2 / [4, 5] [] (1: [2, 0] | 4 5)
                  out (n, a) : [(int, [int])] = [(1, [4, 5]), (2, [])] | contiguous [2] | 1 2 / [4, 5] [] (1: [2, 0] | 4 5)
                index space: the elements of every `a`   [sum(a)]
                    s2 = elements v7 of s1
                    v13: int in s2 = element(v7)
                  in  a : [[int]] = [[4, 5], []] | contiguous [2] | contiguous [2, 0] | 4 5
                  out element of a : [[int]] = [[4, 5], []] | contiguous [2] | contiguous [2, 0] | 4 5
                the sum of each segment   [sum(a)]
                    v8: int in s1 = reduce_sum v13 from s2
                  in  element of a : [[int]] = [[4, 5], []] | contiguous [2] | contiguous [2, 0] | 4 5
                  out sum(a) : [int] = [9, 0] | contiguous [2] | 9 0
                collect the elements into a sequence   [n, a) in [(1, [4, 5]), (2, [] int)]]
                    v10: [(int, [int])] in s0 = collect v14 from s1
                  in  sum(a), a : [(int, [int])] = [(9, [4, 5]), (0, [])] | contiguous [2] | 9 0 / [4, 5] [] (1: [2, 0] | 4 5)
                  out {(sum(a), a) : (n, a) in …} : [(int, [int])] = [(9, [4, 5]), (0, [])] | contiguous [2] | 9 0 / [4, 5] [] (1: [2, 0] | 4 5)
            "#]],
        );
        check(
            "$0{a : a, b in [([(1, \"x\")], 7)]};",
            expect![[r#"
                == {a : a, b in [([(1, "x")], 7)]}
                index space: the elements of `[([(1, "x")], 7)]`   [a, b in [([(1, "x")], 7)]]
                    s1 = elements v4 of s0
                    v9: ([(int, [char])], int) in s1 = element(v4)
                  in  [([(1, "x")], 7)] : [([(int, [char])], int)] = [([(1, "x")], 7)] | contiguous [1] | [(1, "x")] / 7 (0: [1] | 1 / "x" (1: [1] | `x))
                  out (a, b) : [([(int, [char])], int)] = [([(1, "x")], 7)] | contiguous [1] | [(1, "x")] / 7 (0: [1] | 1 / "x" (1: [1] | `x))
                collect the elements into a sequence   [a, b in [([(1, "x")], 7)]]
                    v8: [[(int, [char])]] in s0 = collect v6 from s1
                  in  a : [[(int, [char])]] = [[(1, "x")]] | contiguous [1] | contiguous [1] | 1 / "x" (1: [1] | `x)
                  out {…, b in [([(1, "x")], 7)]} : [[(int, [char])]] = [[(1, "x")]] | contiguous [1] | contiguous [1] | 1 / "x" (1: [1] | `x)
            "#]],
        );
    }

    #[test]
    fn values_of_a_key_are_combined_in_a_histogram() {
        check(
            "$0{(k, sum(v)) : (k, v) in int_collect([(1, 20), (0, 7), (1, 5)])};",
            expect![[r#"
                == {(k, sum(v)) : (k, v) in int_collect([(1, 20), (0, 7), (1, 5)])}
                index space: the elements of `[(1, 20), (0, 7), (1, 5)]`   [int_collect([(1, 20), (0, 7), (1, 5)])]
                    s1 = elements v3 of s0
                    v96: (int, int) in s1 = element(v3)
                  in  [(1, 20), (0, 7), (1, 5)] : [(int, int)] = [(1, 20), (0, 7), (1, 5)] | contiguous [3] | 1 0 1 / 20 7 5
                  out element of [(1, 20), (0, 7), (1, 5)] : [(int, int)] = [(1, 20), (0, 7), (1, 5)] | contiguous [3] | 1 0 1 / 20 7 5
                compare   [k, v) in int_collect([(1, 20), (0, 7), (1, 5)])]
                    v11: bool in s1 = lt(v5, 0)
                  in  first of element of [(1, 20), (0, 7), (1, 5)] : [int] = [1, 0, 1] | contiguous [3] | 1 0 1
                  out v11 : [bool] = [F, F, F] | contiguous [3] | F F F
                each element executes its branch of a conditional   [k, v) in int_collect([(1, 20), (0, 7), (1, 5)])]
                    v12: int in s1 = if v11 {
                  in  v11 : [bool] = [F, F, F] | contiguous [3] | F F F
                  out k, sum(v) : [int] = [1, 0, 1] | contiguous [3] | 1 0 1
                the largest of all elements   [k, v) in int_collect([(1, 20), (0, 7), (1, 5)])]
                    v14: int in s0 = reduce_max v12 from s1
                  in  k, sum(v) : [int] = [1, 0, 1] | contiguous [3] | 1 0 1
                  out v14 : int = 1 | 1
                histogram: the disjunction (or) of the values for each index   [k, v) in int_collect([(1, 20), (0, 7), (1, 5)])]
                    v17: [bool] in s0 = histogram_or true to v5 of 3 from s1
                  in  first of element of [(1, 20), (0, 7), (1, 5)] : [int] = [1, 0, 1] | contiguous [3] | 1 0 1
                  out the disjunction (or) at each index : [bool] = [T, T, F] | contiguous [3] | T T F
                histogram: the sum of the values for each index   [k, v) in int_collect([(1, 20), (0, 7), (1, 5)])]
                    v18: [int] in s0 = histogram_sum v8 to v5 of 3 from s1
                  in  first of element of [(1, 20), (0, 7), (1, 5)] : [int] = [1, 0, 1] | contiguous [3] | 1 0 1
                  in  second of element of [(1, 20), (0, 7), (1, 5)] : [int] = [20, 7, 5] | contiguous [3] | 20 7 5
                  out the sum at each index : [int] = [7, 25, 0] | contiguous [3] | 7 25 0
                compare   [k, v) in int_collect([(1, 20), (0, 7), (1, 5)])]
                    v21: bool in s0 = lt(v14, 3)
                  in  v14 : int = 1 | 1
                  out v21 : bool = T | T
                index space: 3 elements; collect the elements into a sequence   [k, v) in int_collect([(1, 20), (0, 7), (1, 5)])]
                    s3 = count 3 of s2
                    v97: int in s3 = position
                    v22: [int] in s2 = collect v97 from s3
                  out {(k, sum(v)) : (k, v) in …} : [int] = [0, 1, 2] | regular [3] | 0 1 2
                index space: the elements of `the disjunction (or) at each index`   [k, v) in int_collect([(1, 20), (0, 7), (1, 5)])]
                    s4 = elements v17 of s2
                    v98: bool in s4 = element(v17)
                  in  the disjunction (or) at each index : [bool] = [T, T, F] | contiguous [3] | T T F
                  out (k, v) : [bool] = [T, T, F] | contiguous [3] | T T F
                the index of each element in its segment   [k, v) in int_collect([(1, 20), (0, 7), (1, 5)])]
                    v100: int in s4 = position after v99
                  out inside k, sum(v) : [int] = [0, 1, 2] | contiguous [3] | 0 1 2
                filter: the elements where `(k, v)`   [k, v) in int_collect([(1, 20), (0, 7), (1, 5)])]
                    s5 = filter v98 of s4
                  in  (k, v) : [bool] = [T, T, F] | contiguous [3] | T T F
                  out (k, v) : [bool] = [T, T] | contiguous [2] | T T
                take an element   [k, v) in int_collect([(1, 20), (0, 7), (1, 5)])]
                    v25: int in s5 = index(v18, v100)
                  in  the sum at each index : [int] = [7, 25, 0] | contiguous [3] | 7 25 0
                  in  inside k, sum(v) : [int] = [0, 1] | contiguous [2] | 0 1
                  out inside k, sum(v) : [int] = [7, 25] | contiguous [2] | 7 25
                collect the elements into a sequence   [k, v) in int_collect([(1, 20), (0, 7), (1, 5)])]
                    v27: [(int, int)] in s2 = collect v26 from s5
                  in  k, sum(v) : [(int, int)] = [(0, 7), (1, 25)] | contiguous [2] | 0 1 / 7 25
                  out {(k, sum(v)) : (k, v) in …} : [(int, int)] = [(0, 7), (1, 25)] | contiguous [2] | 0 1 / 7 25
            "#]],
        );
    }

    #[test]
    fn the_steps_of_a_call_are_shown_once() {
        let f = Fixture::new(
            "function qsort(a) = if #a < 2 then a else let p = a[#a / 2]; l = {e in a | e < p}; \
             e = {e in a | e == p}; g = {e in a | e > p}; r = {qsort(s) : s in [l, g]} \
             in r[0] ++ e ++ r[1];\n$0qsort([3, 1, 2, 5, 4]);",
        );
        let found = segments(&f.db, f.file, f.cursor(), Precision::Bits64).expect("steps");
        assert!(found.steps.len() > 5 && found.steps.len() <= 24, "{}", found.steps.len());
        let last = found.steps.last().and_then(|step| step.output.as_ref()).expect("a value");
        assert_eq!(last.value, "[1, 2, 3, 4, 5]");
    }

    #[test]
    fn forms_that_cannot_be_shown() {
        for text in [
            "$0",
            "$01 + 2;",
            "$0x = y;",
            "load \"x\"$0;",
            "$0{i : i in [0:100000]};",
            "function $0g(x) = g(x);",
            "$0{1 / i : i in [0:2]};",
            "$0read_int_seq_from_file(\"x\");",
            "function $0a(f, x) = f(x);",
            "datatype $0p int;",
            "x = {a : a in $0",
            "function $0loop(n) = if n == 0 then [1] else flatten({loop(n + 1) : i in [0:2]});",
        ] {
            let f = Fixture::new(text);
            let found = segments(&f.db, f.file, f.cursor(), Precision::Bits64);
            let why = found.expect_err(text);
            assert!(!why.is_empty() && !why.contains('\n'), "{text}: {why}");
        }
    }
}
