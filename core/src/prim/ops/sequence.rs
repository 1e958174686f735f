//! The operations on sequences: the properties of each, and their names in programs.
//!
//! A row begins with the documentation of the operation and its name in the text form of the IRs.
//! It continues with the type rule, the class of its [`Cost`], the [`Work`] that the cost model
//! charges, and, where they differ from the defaults of [`SeqRow`], the other properties. Programs
//! reach an operation by the names in [`NAMES`], or through the library (`core/prelude/`).

use super::{Cost, Signature, signature};

/// The operator of a reduction, a scan or a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of the operators")]
pub enum ReduceOp {
    Sum,
    Product,
    Max,
    Min,
    And,
    Or,
    Xor,
}

/// The work that the cost model charges for an operation. The *size* of a scalar is 1, that of a
/// sequence 1 plus the sizes of its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// The constant 1.
    One,
    /// The size of the result.
    Result,
    /// The size of the first operand.
    First,
    /// The sizes of the first two operands.
    FirstTwo,
    /// The size of the first operand; the depth is that of a scan.
    ScanOfFirst,
    /// The sizes of the result, which is a table, and of the third operand; the depth is that of
    /// a scan.
    Table,
    /// n log₂ n for a first operand of length n; the depth is that of a scan.
    Sort,
    /// s log₂ n for a first operand of size s and length n; the depth is that of a scan.
    SortOfSize,
}

/// The time that the direct interpreter takes for the operands of an operation, in addition to that
/// for the result. It is subtracted from the interpreter's budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InterpreterTime {
    /// One step, whatever the lengths.
    Constant,
    /// About a nanosecond for each element.
    PerElement,
    /// A step for each element.
    StepPerElement,
}

/// The properties of an operation on sequences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeqRow {
    /// The name in the text form; for a reduction, scan or histogram, the prefix of the operator's
    /// name.
    pub mnemonic: &'static str,
    /// The alternative type rules.
    pub signatures: &'static [Signature],
    /// The class of its cost.
    pub cost: Cost,
    /// The work that the cost model charges for it.
    pub work: Work,
    /// The time that the direct interpreter takes for its operands.
    pub interpreter_time: InterpreterTime,
    /// True if it may fault; by default it does not.
    pub may_fault: bool,
    /// The operand that has as many elements as the result, if there is one.
    pub same_length_as: Option<usize>,
    /// True if it overwrites its first operand in place if that has no other use.
    pub in_place: bool,
    /// True if the array library of the engine has it for one whole sequence: where there is a
    /// single element, the host calls that instead of launching a kernel.
    pub array_library: bool,
    /// The name in the compiler explorer.
    pub label: &'static str,
}

impl SeqRow {
    const fn new(mnemonic: &'static str, signatures: &'static [Signature]) -> SeqRow {
        SeqRow {
            mnemonic,
            signatures,
            cost: Cost::Parallel,
            work: Work::First,
            interpreter_time: InterpreterTime::PerElement,
            may_fault: false,
            same_length_as: None,
            in_place: false,
            array_library: false,
            label: "",
        }
    }

    const fn costs(self, cost: Cost, work: Work) -> SeqRow {
        SeqRow { cost, work, ..self }
    }

    const fn constant_time(self) -> SeqRow {
        SeqRow { interpreter_time: InterpreterTime::Constant, ..self }
    }

    const fn step_per_element(self) -> SeqRow {
        SeqRow { interpreter_time: InterpreterTime::StepPerElement, ..self }
    }

    const fn may_fault(self) -> SeqRow {
        SeqRow { may_fault: true, ..self }
    }

    const fn same_length_as(self, operand: usize) -> SeqRow {
        SeqRow { same_length_as: Some(operand), ..self }
    }

    const fn in_place(self) -> SeqRow {
        SeqRow { in_place: true, ..self }
    }

    const fn in_array_library(self) -> SeqRow {
        SeqRow { array_library: true, ..self }
    }

    const fn label(self, label: &'static str) -> SeqRow {
        SeqRow { label, ..self }
    }
}

/// Declares the enum and its rows. A family of operations, one for each [`ReduceOp`], is written
/// `Name(ReduceOp)`.
macro_rules! sequence_operations {
    ($(
        $(#[$doc:meta])*
        $op:ident $(($operator:ident))? = $mnemonic:literal: $($params:tt -> $result:tt),+;
        $(.$property:ident($($value:expr),*))*
    )+) => {
        /// The operations on sequences.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum SeqOp {
            $($(#[$doc])* $op $(($operator))?,)+
        }

        impl SeqOp {
            /// Returns the properties of the operation.
            pub const fn row(self) -> &'static SeqRow {
                match self {
                    $(sequence_operations!(@any $op $($operator)?) => {
                        const ROW: SeqRow = SeqRow::new($mnemonic, &[$(signature!($params -> $result)),+])
                            $(.$property($($value),*))*;
                        &ROW
                    })+
                }
            }

            /// Returns every operation; reductions, scans and histograms with each operator.
            #[allow(clippy::vec_init_then_push, reason = "rows push one operation or a family")]
            pub fn all() -> impl Iterator<Item = SeqOp> {
                let mut all = Vec::new();
                $(sequence_operations!(@push all $op $($operator)?);)+
                all.into_iter()
            }

            /// Returns the name in the text form of the IRs.
            pub fn mnemonic(self) -> &'static str {
                match self {
                    $(sequence_operations!(@bind with $op $($operator)?) => {
                        sequence_operations!(@name $mnemonic, with $($operator)?)
                    })+
                }
            }
        }
    };
    (@any $op:ident) => { SeqOp::$op };
    (@any $op:ident $operator:ident) => { SeqOp::$op(_) };
    (@bind $with:ident $op:ident) => { SeqOp::$op };
    (@bind $with:ident $op:ident $operator:ident) => { SeqOp::$op($with) };
    (@push $all:ident $op:ident) => { $all.push(SeqOp::$op) };
    (@push $all:ident $op:ident $operator:ident) => {
        $all.extend($operator::ALL.map(SeqOp::$op))
    };
    (@name $mnemonic:literal, $with:ident) => { $mnemonic };
    (@name $mnemonic:literal, $with:ident $operator:ident) => {
        match $with {
            $operator::Sum => concat!($mnemonic, "sum"),
            $operator::Product => concat!($mnemonic, "product"),
            $operator::Max => concat!($mnemonic, "max"),
            $operator::Min => concat!($mnemonic, "min"),
            $operator::And => concat!($mnemonic, "and"),
            $operator::Or => concat!($mnemonic, "or"),
            $operator::Xor => concat!($mnemonic, "xor"),
        }
    };
}

sequence_operations! {
    /// The length of a sequence.
    Length = "length": ([any]) -> int;
        .costs(Cost::Free, Work::One).constant_time()
        .label("take the length, which each segment stores")

    /// The element at an index; faults `Index`.
    Index = "index": ([any], int) -> any;
        .costs(Cost::Element, Work::Result).constant_time().may_fault()
        .in_array_library().label("take an element")

    /// The ints from a start in steps of a stride to below an end; faults `Range` if end < start or
    /// stride < 1.
    Range = "range": (int, int, int) -> [int];
        .costs(Cost::Generate, Work::Result).constant_time().may_fault()
        .label("count")

    /// A number of copies of a value; faults `NegativeLength`.
    Dist = "dist": (any, int) -> [any];
        .costs(Cost::Generate, Work::Result).constant_time().may_fault()
        .label("repeat a value")

    /// The elements at some indices; faults `Gather`.
    Gather = "gather": ([any], [int]) -> [any];
        .costs(Cost::Parallel, Work::Result).may_fault().same_length_as(1)
        .label("take the elements at some indices")

    /// The sequence with other elements at some indices; of writes to one index the last one wins;
    /// faults `Scatter`.
    Scatter = "scatter": ([any], [(int, any)]) -> [any];
        .costs(Cost::Parallel, Work::FirstTwo).step_per_element().may_fault()
        .same_length_as(0).in_place()
        .in_array_library().label("write elements at some indices")

    /// The sequence with another element at one index (`rep`); faults `Replace`.
    Replace = "replace": ([any], any, int) -> [any];
        .costs(Cost::Parallel, Work::FirstTwo).may_fault().same_length_as(0).in_place()
        .in_array_library().label("replace an element")

    /// The elements at other indices: element k goes to the k-th index; faults `Permute`.
    Permute = "permute": ([any], [int]) -> [any];
        .costs(Cost::Parallel, Work::First).may_fault().same_length_as(0)
        .in_array_library().label("move each element to its index")

    /// The elements whose flag is true; faults `PackLength`.
    Pack = "pack": ([any], [bool]) -> [any];
        .costs(Cost::Parallel, Work::ScanOfFirst).may_fault()
        .label("keep the elements whose flag is set")

    /// The elements of one sequence, then those of another.
    Append = "append": ([any], [any]) -> [any];
        .costs(Cost::Copy, Work::FirstTwo)
        .in_array_library().label("concatenate two sequences")

    /// The elements of all sequences of a sequence.
    Flatten = "flatten": ([[any]]) -> [any];
        .costs(Cost::Copy, Work::First).step_per_element()
        .in_array_library().label("remove a level of nesting")

    /// Consecutive parts of a sequence, of given lengths; faults `Partition`.
    Partition = "partition": ([any], [int]) -> [[any]];
        .costs(Cost::Parallel, Work::First).step_per_element().may_fault().same_length_as(1)
        .in_array_library().label("divide into segments: no data moves")

    /// The elements from a start to below an end; faults `Subseq`.
    Subseq = "subseq": ([any], int, int) -> [any];
        .costs(Cost::View, Work::Result).constant_time().may_fault()
        .in_array_library().label("take a part: no data moves")

    /// All elements combined; of none, the neutral element.
    Reduce(ReduceOp) = "reduce_": ([reducible]) -> reducible;
        .costs(Cost::Parallel, Work::ScanOfFirst)

    /// The exclusive scan: for each index, the elements before it combined.
    Scan(ReduceOp) = "scan_": ([reducible]) -> [reducible];
        .costs(Cost::Parallel, Work::ScanOfFirst).same_length_as(0)

    /// A histogram, `(int size, [int] indices, [a] values) -> [a]`: for each index below the size,
    /// the values for this index, combined. With values of type `[[a]]`, element j of a row is for
    /// the index of the row plus j. A value whose index is out of bounds is ignored, and so is a
    /// row of which an element is. Faults `NestLength`. Programs have no name for it:
    /// [`crate::simplify`] introduces it.
    Histogram(ReduceOp) = "histogram_":
        (int, [int], [reducible]) -> [reducible], (int, [int], [[reducible]]) -> [reducible];
        .costs(Cost::Parallel, Work::Table).may_fault()

    /// The index that each element has in ascending order; stable.
    RankUp = "rank_up": ([ordinal]) -> [int];
        .costs(Cost::Intrinsic, Work::Sort).step_per_element().same_length_as(0)
        .in_array_library().label("rank the elements: sort")

    /// The index that each element has in descending order; stable.
    RankDown = "rank_down": ([ordinal]) -> [int];
        .costs(Cost::Intrinsic, Work::Sort).step_per_element().same_length_as(0)
        .in_array_library().label("rank the elements: sort")

    /// The index that each text has in ascending order, char by char; stable.
    RankTexts = "rank_texts": ([text]) -> [int];
        .costs(Cost::Intrinsic, Work::SortOfSize).step_per_element().same_length_as(0)
        .in_array_library().label("rank the strings: sort")

    /// For each int or text, the index of the last one equal to it, and the number of those equal
    /// to it.
    Groups = "groups": ([int]) -> ([int], [int]), ([text]) -> ([int], [int]);
        .costs(Cost::Intrinsic, Work::First).step_per_element()
        .in_array_library().label("find elements that are equal")

    /// For each different int, text, char or bool the index of the last one, ascending, and the number of those
    /// equal to it; and true. It may decline: no elements, and false. [`crate::simplify`] decides where it
    /// does; the direct interpreter always declines.
    Distinct = "distinct":
        ([int]) -> (([int], [int]), bool), ([text]) -> (([int], [int]), bool),
        ([char]) -> (([int], [int]), bool), ([bool]) -> (([int], [int]), bool);
        .costs(Cost::Intrinsic, Work::One).constant_time()
        .in_array_library().label("find the different elements")

    /// The hash of a text, for a salt.
    HashText = "hash_text": (text, int) -> int;
        .costs(Cost::Chars, Work::First)
        .label("hash")

    /// True if two texts are equal.
    SameText = "same_text": (text, text) -> bool;
        .costs(Cost::Chars, Work::First)
        .label("compare strings")

    /// An int in decimal.
    IntText = "int_text": (int) -> text;
        .costs(Cost::Format, Work::Result).constant_time()
        .label("write a number as text")

    /// A float as it is shown and as `@` writes it: the shortest text that reads back the same.
    FloatText = "float_text": (float) -> text;
        .costs(Cost::Format, Work::Result).constant_time()
        .label("write a number as text")

    /// A float in exponential form with a number of digits after the decimal point (`exp_string`);
    /// faults `ExpString`.
    ExpText = "exp_text": (float, int) -> text;
        .costs(Cost::Format, Work::Result).constant_time().may_fault()
        .label("write a number as text")

    /// The float at the beginning of a text, and a bool that is true if it is all of the text
    /// (`parse_float`).
    ParseFloat = "parse_float": (text) -> (float, bool);
        .costs(Cost::Format, Work::First).step_per_element()
        .label("read a number from text")
}

impl SeqOp {
    /// Returns the operator of a reduction, scan or histogram.
    pub fn operator(self) -> Option<ReduceOp> {
        match self {
            SeqOp::Reduce(with) | SeqOp::Scan(with) | SeqOp::Histogram(with) => Some(with),
            _ => None,
        }
    }

    /// Returns the name in the compiler explorer.
    pub fn label(self) -> String {
        match self {
            SeqOp::Reduce(with) => format!("{} of each sequence", with.label()),
            SeqOp::Scan(with) => {
                format!("for each element, {} of those before it", with.scan_label())
            }
            SeqOp::Histogram(with) => {
                format!("{} of the values for each index of a table", with.label())
            }
            op => op.row().label.to_owned(),
        }
    }
}

impl ReduceOp {
    /// All operators, in the order of the enum.
    pub const ALL: [ReduceOp; 7] = [
        ReduceOp::Sum,
        ReduceOp::Product,
        ReduceOp::Max,
        ReduceOp::Min,
        ReduceOp::And,
        ReduceOp::Or,
        ReduceOp::Xor,
    ];

    /// Returns the class of the types that it combines.
    pub fn class(self) -> super::TypeClass {
        match self {
            ReduceOp::Sum | ReduceOp::Product => super::TypeClass::Number,
            ReduceOp::Max | ReduceOp::Min => super::TypeClass::Ordinal,
            ReduceOp::And | ReduceOp::Or | ReduceOp::Xor => super::TypeClass::Logical,
        }
    }

    /// Returns the name of the result of a reduction in the compiler explorer.
    pub fn label(self) -> &'static str {
        match self {
            ReduceOp::Sum => "the sum",
            ReduceOp::Product => "the product",
            ReduceOp::Max => "the largest",
            ReduceOp::Min => "the smallest",
            ReduceOp::And => "the conjunction (and)",
            ReduceOp::Or => "the disjunction (or)",
            ReduceOp::Xor => "the exclusive or",
        }
    }

    /// Returns the name of an element of the result of a scan in the compiler explorer.
    pub fn scan_label(self) -> &'static str {
        match self {
            ReduceOp::And => "the `and`",
            ReduceOp::Or => "the `or`",
            with => with.label(),
        }
    }
}

/// A name of an operation in programs.
#[derive(Clone, Copy, Debug)]
pub(in crate::prim) struct SeqName {
    /// The name. One that begins with `_` is known only to the prelude.
    pub name: &'static str,
    /// The type in NESL's notation.
    pub scheme: &'static str,
    /// The operation that it names.
    pub op: SeqOp,
    /// The documentation, for people.
    pub doc: &'static str,
    /// An expression and its value, `3 + 4 → 7`; empty for internal names.
    pub example: &'static str,
    /// Work and depth, `W = S(result), D = 1`.
    pub cost: &'static str,
}

const fn seq(
    name: &'static str,
    scheme: &'static str,
    op: SeqOp,
    doc: &'static str,
    example: &'static str,
    cost: &'static str,
) -> SeqName {
    SeqName { name, scheme, op, doc, example, cost }
}

const LENGTH: &str = "[a] -> int :: (a in any)";
const GATHER: &str = "([a], [int]) -> [a] :: (a in any)";
const SCATTER: &str = "([a], [(int, a)]) -> [a] :: (a in any)";

/// The names of the operations in programs with their documentation; those of reductions and scans
/// are in `prim::reductions`.
pub(in crate::prim) const NAMES: &[SeqName] = &[
    seq("#", LENGTH, SeqOp::Length, "The length of a sequence.", "#\"abc\" → 3", "W = 1, D = 1"),
    seq(
        "length",
        LENGTH,
        SeqOp::Length,
        "The length of a sequence; also written `#a`.",
        "length([4, 5]) → 2",
        "W = 1, D = 1",
    ),
    seq(
        "elt",
        "([a], int) -> a :: (a in any)",
        SeqOp::Index,
        "The element at an index, counted from 0; also written `a[i]`. Out of bounds is an error.",
        "elt([4, 5, 6], 1) → 5",
        "W = S(result), D = 1",
    ),
    seq(
        "iseq",
        "(int, int, int) -> [int]",
        SeqOp::Range,
        "`iseq(s, d, e)`: the ints from `s` in steps of `d`, stopping before `e`; also written `[s:e:d]`. `e < s` or `d < 1` is an error.",
        "iseq(4, 3, 15) → [4, 7, 10, 13]",
        "W = S(result), D = 1",
    ),
    seq(
        "dist",
        "(a, int) -> [a] :: (a in any)",
        SeqOp::Dist,
        "`dist(x, n)`: `n` copies of `x`. A negative `n` is an error.",
        "dist(7, 3) → [7, 7, 7]",
        "W = S(result), D = 1",
    ),
    seq(
        "->",
        GATHER,
        SeqOp::Gather,
        "`a -> i`: the elements of `a` at the indices `i`, in the order of `i`. Out of bounds is an error.",
        "\"nested\" -> [5, 1, 4] → \"dee\"",
        "W = S(result), D = 1",
    ),
    seq(
        "read",
        GATHER,
        SeqOp::Gather,
        "`read(a, i)`: the elements of `a` at the indices `i`; also written `a -> i`.",
        "read([10, 20, 30], [2, 0]) → [30, 10]",
        "W = S(result), D = 1",
    ),
    seq(
        "<-",
        SCATTER,
        SeqOp::Scatter,
        "`d <- v`: `d` with the value of each pair `(index, value)` of `v` written over it. The last write to an index wins; out of bounds is an error.",
        "[0, 0, 0, 0] <- [(2, 7), (0, 3)] → [3, 0, 7, 0]",
        "W = S(d) + S(v), D = 1",
    ),
    seq(
        "write",
        SCATTER,
        SeqOp::Scatter,
        "`write(d, v)`: `d` with the pairs of `v` written over it; also written `d <- v`.",
        "write(\"gone\", [(0, `b)]) → \"bone\"",
        "W = S(d) + S(v), D = 1",
    ),
    seq(
        "rep",
        "([a], a, int) -> [a] :: (a in any)",
        SeqOp::Replace,
        "`rep(d, v, i)`: `d` with `v` at index `i`. Out of bounds is an error.",
        "rep([14, 15, 16], -8, 1) → [14, -8, 16]",
        "W = S(d) + S(v), D = 1",
    ),
    seq(
        "permute",
        GATHER,
        SeqOp::Permute,
        "`permute(v, i)`: element `k` of `v` goes to index `i[k]`. It is an error unless `i` has every index exactly once.",
        "permute(\"nesl\", [2, 1, 3, 0]) → \"lens\"",
        "W = S(v), D = 1",
    ),
    seq(
        "_pack",
        "([a], [bool]) -> [a] :: (a in any)",
        SeqOp::Pack,
        "Keeps the elements where the flag is true.",
        "",
        "W = S(v), D = 1",
    ),
    seq(
        "++",
        "([a], [a]) -> [a] :: (a in any)",
        SeqOp::Append,
        "`a ++ b`: the elements of `a`, then those of `b`.",
        "[1, 2] ++ [3] → [1, 2, 3]",
        "W = S(a) + S(b), D = 1",
    ),
    seq(
        "flatten",
        "[[a]] -> [a] :: (a in any)",
        SeqOp::Flatten,
        "The elements of all the sequences of a sequence: one level of nesting less.",
        "flatten([[2, 1], [7, 3, 0], [4]]) → [2, 1, 7, 3, 0, 4]",
        "W = S(v), D = 1",
    ),
    seq(
        "partition",
        "([a], [int]) -> [[a]] :: (a in any)",
        SeqOp::Partition,
        "`partition(v, counts)`: cuts `v` into pieces of the given lengths, which must not be negative and must add up to `#v`.",
        "partition(\"splitme\", [5, 0, 2]) → [\"split\", \"\", \"me\"]",
        "W = S(v), D = 1",
    ),
    seq(
        "subseq",
        "([a], int, int) -> [a] :: (a in any)",
        SeqOp::Subseq,
        "`subseq(v, s, e)`: the elements from index `s` up to, not including, index `e`. It is an error unless `0 <= s <= e <= #v`.",
        "subseq([4, 5, 6, 7, 8], 1, 4) → [5, 6, 7]",
        "W = S(result), D = 1",
    ),
    // Ranks.
    seq(
        "rank",
        "[a] -> [int] :: (a in number)",
        SeqOp::RankUp,
        "The index of each element in ascending order; equal elements keep their order. `sort(a) = permute(a, rank(a))`.",
        "rank([10, -5, 0, 10]) → [2, 0, 1, 3]",
        "W = L(a) log L(a), D = 1",
    ),
    seq(
        "rank_down",
        "[a] -> [int] :: (a in number)",
        SeqOp::RankDown,
        "The index of each element in descending order; equal elements keep their order.",
        "rank_down([1, 4, 4, 0]) → [2, 0, 1, 3]",
        "W = L(a) log L(a), D = 1",
    ),
    seq(
        "char_rank",
        "[char] -> [int]",
        SeqOp::RankUp,
        "The index of each char in ascending order of codes; equal chars keep their order.",
        "char_rank(\"nesl\") → [2, 0, 3, 1]",
        "W = L(s) log L(s), D = 1",
    ),
    seq(
        "string_rank",
        "[[char]] -> [int]",
        SeqOp::RankTexts,
        "The index of each string in ascending order of the codes of its chars, from left to right; a string comes before those that it begins, and equal strings keep their order.",
        "string_rank([\"to\", \"be\", \"\", \"beer\"]) → [3, 1, 0, 2]",
        "W = S(a) log L(a), D = 1",
    ),
    seq(
        "_rank",
        "[a] -> [int] :: (a in ordinal)",
        SeqOp::RankUp,
        "`rank` of anything with an order.",
        "",
        "W = L(a) log L(a), D = 1",
    ),
    // Numbers as text.
    seq(
        "_int_text",
        "int -> [char]",
        SeqOp::IntText,
        "The decimal form of an int.",
        "",
        "W = S(result), D = 1",
    ),
    seq(
        "_float_text",
        "float -> [char]",
        SeqOp::FloatText,
        "A float as `@` shows it.",
        "",
        "W = S(result), D = 1",
    ),
    seq(
        "exp_string",
        "(float, int) -> [char]",
        SeqOp::ExpText,
        "`exp_string(x, n)`: `x` in exponential form with `n` digits after the point. More than 8, or a negative `n`, is an error. Zero is \"0.0\".",
        "exp_string(12345.678, 3) → \"1.235e+4\"",
        "W = S(result), D = 1",
    ),
    seq(
        "parse_float",
        "[char] -> (float, bool)",
        SeqOp::ParseFloat,
        "The float that a text spells (an optional sign, digits, a fraction, an exponent after `e`), and whether that was all of the text; the empty text spells 0.0.",
        "parse_float(\"2e3\") → (2000.0, T)",
        "W = S(s), D = 1",
    ),
];
