//! The rows.

use nesl_runtime::fault::FaultCode;
use nesl_runtime::scalar::ScalarOp;

/// A primitive: an index into the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Prim(pub u16);

/// What reductions and scans combine with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they are what they say")]
pub enum ReduceOp {
    Sum,
    Product,
    Max,
    Min,
    And,
    Or,
    Xor,
}

/// The operations on sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SeqOp {
    /// `[a] -> int`
    Length,
    /// `([a], int) -> a`; faults `Index`.
    Index,
    /// `(start, stride, end) -> [int]`; faults `Range` if end < start or stride < 1.
    Range,
    /// `(a, int) -> [a]`; faults `NegativeLength`.
    Dist,
    /// `([a], [int]) -> [a]`; faults `Gather`.
    Gather,
    /// `([a], [(int, a)]) -> [a]`; the last write to a place wins; faults `Scatter`.
    Scatter,
    /// `([a], a, int) -> [a]`: `rep`; faults `Replace`.
    Replace,
    /// `([a], [int]) -> [a]`: element k goes to the k-th place; faults `Permute`.
    Permute,
    /// `([a], [bool]) -> [a]`: keeps where true; faults `PackLength`.
    Pack,
    /// `([a], [a]) -> [a]`
    Append,
    /// `[[a]] -> [a]`
    Flatten,
    /// `([a], [int]) -> [[a]]`; faults `Partition`.
    Partition,
    /// `([a], start, end) -> [a]`; faults `Subseq`.
    Subseq,
    /// `[a] -> a`: sum, product, max, min, and, or, xor; on empty sequences the neutral element.
    Reduce(ReduceOp),
    /// `[a] -> [a]`: the exclusive scan.
    Scan(ReduceOp),
    /// `[number or char] -> [int]`: the rank of each element in ascending order, stable.
    RankUp,
    /// The same, descending, stable.
    RankDown,
    /// `(int size, [int], [a]) -> [a]`: for each place below the size, the elements that belong
    /// there, combined; with `[[a]]`, element j of a row belongs to the place of the row plus j.
    /// What has no place there is left out, of a row that does not fit all. Faults `NestLength`.
    /// Programs do not say it: [`crate::simplify`] does.
    Histogram(ReduceOp),
    /// `[int or [char]] -> ([int], [int])`: for each element, the place of the last one equal to
    /// it, and how many these are.
    Groups,
    /// `([char], int salt) -> int`: a hash.
    HashText,
    /// `([char], [char]) -> bool`: whether they are the same.
    SameText,
    /// `int -> [char]`: decimal.
    IntText,
    /// `float -> [char]`: as `@` prints it (LANGUAGE 13.7): 8 significant digits.
    FloatText,
    /// `(float, int) -> [char]`: `exp_string`.
    ExpText,
    /// `[char] -> (float, bool)`: `parse_float`.
    ParseFloat,
}

/// The operations outside the language. All but printing and drawing are refused inside an
/// apply-to-each at compile time.
///
/// A stream is its number: 0, 1 and 2 are standard input, output and error, -1 is none
/// (`nullstr`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostOp {
    /// `[char] -> bool`: to standard output; allowed in parallel.
    PrintText,
    /// `([char], int stream) -> (bool, [char])`: `write_string`; allowed in parallel.
    WriteText,
    /// `int -> bool`: `rand_seed`.
    Seed,
    /// `[char] -> (int stream, (bool, [char]))`
    OpenIn,
    /// The same, for writing.
    OpenOut,
    /// The same, for appending.
    OpenAppend,
    /// `int -> (bool, [char])`
    Close,
    /// `int -> ((char, bool end), (bool, [char]))`
    ReadChar,
    /// `int -> (([char], bool end), (bool, [char]))`
    ReadLine,
    /// `int -> (([char], (char delimiter, bool end)), (bool, [char]))`: leading blanks are skipped.
    ReadWord,
    /// `([char] delims, (int max, int stream)) -> (([char], int which), (bool, [char]))`: `which`
    /// delimiter ended it, or -1 for the end of the file, -2 for `max` chars (no limit when
    /// `max < 0`). The delimiter is read and dropped.
    ReadText,
    /// `[char] name -> ([char], (bool, [char]))`: a whole file.
    ReadFile,
    /// `([char] text, [char] name) -> (bool, [char])`
    WriteFile,
    /// The same, at the end.
    AppendFile,
    /// `(a like, [char] name) -> (a, (bool, [char]))`: `read_object_from_file`.
    ReadObject,
    /// `(a, [char] name) -> (bool, [char])`: `write_object_to_file`.
    WriteObject,
    /// `[char] name -> [int]` in the text form `( 1 2 3 )`; faults `Host`.
    ReadInts,
    /// `[char] name -> [float]`; faults `Host`.
    ReadFloats,
    /// `([char] command, [char] input) -> [char]`
    Shell,
    /// `[char] command -> (int in, (int out, (int err, bool)))`
    Spawn,
    /// `[char] -> [char]`
    GetEnv,
    /// `[char] -> [char]`: prints the text, reads a line.
    Prompt,
    /// `(row like, [char] name) -> [row]`: a CSV file, a tuple a row; faults `Host` with line and
    /// column.
    ReadCsv,
    /// `([row], ([char] header line or "", [char] name)) -> bool`; faults `Host`.
    WriteCsv,
    /// `(a like, [char] name) -> a`: a `.npy` file; faults `Host`.
    ReadNpy,
    /// `(a, [char] name) -> bool`
    WriteNpy,
    /// `[char] name -> ((int rows, int columns), [(int, (int, float))])`
    ReadMatrixMarket,
    /// `(((int, int), [(int, (int, float))]), [char] name) -> bool`
    WriteMatrixMarket,
    /// `([char] title, (int width, (int height, int colour))) -> int window`; faults `Host`.
    MakeWindow,
    /// `(int window, (int shape, (int colour, (int size, ([float] numbers, [char] text))))) -> bool`:
    /// adds a shape to a window's picture; allowed in parallel; faults `Host`. Numbers are pixels
    /// from the window's lower left corner; the first four are the box that is drawn in (left,
    /// bottom, width, height), the others depend on the shape:
    ///
    /// | shape | | numbers after the box | size |
    /// |---|---|---|---|
    /// | 0 | points | x, y of each | diameter |
    /// | 1 | segments | x, y, x, y of each | width |
    /// | 2 | connected lines | x, y of each corner | width |
    /// | 3 | outlines of rectangles | x, y, width, height of each | width of the line |
    /// | 4 | filled rectangles | x, y, width, height of each | |
    /// | 5 | a filled polygon | x, y of each corner | |
    /// | 6 | a text that begins at a point | x, y | |
    /// | 7 | a text centred around a point | x, y | |
    /// | 8 | the box, empty | | |
    /// | 9 | the end of the picture | | |
    Draw,
}

/// What a primitive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrimKind {
    /// A scalar operation on one argument, or on a tuple of them.
    Scalar(ScalarOp),
    /// An operation on sequences.
    Seq(SeqOp),
    /// Outside the language; its result type is part of the call.
    Host(HostOp),
    /// Defined by the shape of its argument's type; the compiler writes an instance for each type.
    Derived(Derived),
    /// `_check(cond, "message")`: faults with this code (and the message) unless cond.
    Check(FaultCode),
    /// `error(text)`.
    Error,
    /// `rand(v)`: the compiler supplies the key.
    Rand,
    /// A constant: `pi`, `max_int`, `min_int`, `infinity`, …
    Constant(Constant),
}

/// Functions of any type, defined by its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Derived {
    /// `(a, a) -> bool`
    Eql,
    /// `(a, int salt) -> int`: any int; equal values give equal numbers.
    Hash,
    /// `a -> [char]`
    String,
    /// `a -> a`: the zero of the type.
    Identity,
    /// `[a] -> a`: the zero of the type of the elements (of which there may be none).
    Zero,
    /// `([a], int salt) -> (([int], [int]), bool)`: for each element, the place of the last one that
    /// is equal to it, and how many these are, and true; or of those that have the same hash, and
    /// false.
    Groups,
}

/// Constants that depend on the precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they are what they say")]
pub enum Constant {
    Pi,
    MaxInt,
    MinInt,
    Infinity,
    NotANumber,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct PrimRow {
    /// Its name. One that begins with `_` is known only to the prelude.
    pub name: &'static str,
    /// Its type in NESL's notation: `(a, a) -> a :: (a in number)`.
    pub scheme: &'static str,
    /// What it is.
    pub kind: PrimKind,
    /// What it does, for people.
    pub doc: &'static str,
    /// An expression and its value, `3 + 4 → 7`; checked by a test. Empty for internal ones.
    pub example: &'static str,
    /// Work and depth, `W = S(result), D = 1`.
    pub cost: &'static str,
}
