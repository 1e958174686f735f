//! The rows of primitives that are neither scalar nor sequence operations: functions that the
//! compiler generates for each type, checks, errors, random numbers, and effects.

use super::ops::HostOp;
use super::table::{Derived, PrimKind, PrimRow};
use nesl_runtime::fault::FaultCode;

const fn row(
    name: &'static str,
    scheme: &'static str,
    kind: PrimKind,
    doc: &'static str,
    example: &'static str,
    cost: &'static str,
) -> PrimRow {
    PrimRow { name, scheme, kind, doc, example, cost }
}

const fn host(name: &'static str, scheme: &'static str, op: HostOp, doc: &'static str) -> PrimRow {
    row(name, scheme, PrimKind::Host(op), doc, "", "W = 1, D = 1")
}

const fn check(name: &'static str, code: FaultCode, doc: &'static str) -> PrimRow {
    row(name, "bool -> bool", PrimKind::Check(code), doc, "", "W = 1, D = 1")
}

pub(super) const ROWS: &[PrimRow] = &[
    row(
        "eql",
        "(a, a) -> bool :: (a in any)",
        PrimKind::Derived(Derived::Eql),
        "Returns `t` if two values of any type are equal, part by part; sequences of different lengths are not.",
        "eql(\"cat\", \"cats\") → F",
        "W = O(S(x)), D = O(1)",
    ),
    row(
        "_hash",
        "(a, int) -> int :: (a in any)",
        PrimKind::Derived(Derived::Hash),
        "The hash of a value, an int; equal for equal values and equal salts.",
        "",
        "W = S(x), D = 1",
    ),
    row(
        "_groups",
        "([a], int) -> (([int], [int]), bool) :: (a in any)",
        PrimKind::Derived(Derived::Groups),
        "For each element the index of the last one that is equal to it and the number of these, and true; or of those with the same hash (with this salt), and false.",
        "",
        "W = S(a), D = 1",
    ),
    row(
        "_distinct",
        "[a] -> (([int], [int]), bool) :: (a in any)",
        PrimKind::Derived(Derived::Distinct),
        "For each different element the index of the last one, in order, and the number of those equal to it, and true; or nothing, and false: then they have to be found by `_groups`.",
        "",
        "W = S(a), D = 1",
    ),
    row(
        "@",
        "a -> [char] :: (a in any)",
        PrimKind::Derived(Derived::String),
        "A value as text. A float is the shortest text that reads back the same, for fewer digits there is `exp_string`; a string shows its chars.",
        "@(1, 2.5) → \"(1, 2.5)\"",
        "W = O(S(result)), D = O(1)",
    ),
    row(
        "string",
        "a -> [char] :: (a in any)",
        PrimKind::Derived(Derived::String),
        "A value as text; also written `@x`.",
        "string([1, 2]) → \"[1, 2]\"",
        "W = O(S(result)), D = O(1)",
    ),
    row(
        "identity",
        "a -> a :: (a in any)",
        PrimKind::Derived(Derived::Identity),
        "The zero of the argument's type: 0, 0.0, `f`, a space, the empty sequence, part by part.",
        "identity((3, (t, [1.0]))) → (0, F, [])",
        "W = 1, D = 1",
    ),
    row(
        "_zero",
        "[a] -> a :: (a in any)",
        PrimKind::Derived(Derived::Zero),
        "The zero of the type of the elements.",
        "",
        "W = 1, D = 1",
    ),
    // Checks. The message of `_check` is a literal.
    row(
        "_check",
        "(bool, [char]) -> bool",
        PrimKind::Check(FaultCode::Message),
        "Fails with the text, a literal, unless the condition holds.",
        "",
        "W = 1, D = 1",
    ),
    check("_check_zip", FaultCode::ZipLength, "The lengths in `zip` agree."),
    check("_check_length", FaultCode::NegativeLength, "A length is not negative."),
    row(
        "error",
        "[char] -> a :: (a in any)",
        PrimKind::Error,
        "Stops the program and says why. Its type fits anywhere.",
        "if 1 > 2 then error(\"arithmetic is broken\") else 3 → 3",
        "W = 1, D = 1",
    ),
    row(
        "rand",
        "a -> a :: (a in number)",
        PrimKind::Rand,
        "A uniform random number in `[0, v)`; `v` must be positive. Every evaluation draws its own; a seed determines all of them.",
        "rand(1) → 0",
        "W = 1, D = 1",
    ),
    row(
        "rand_seed",
        "int -> bool",
        PrimKind::Host(HostOp::Seed),
        "Sets the seed of the random numbers; returns `t`. Not allowed inside an apply-to-each.",
        "rand_seed(42) → T",
        "W = 1, D = 1",
    ),
    // The world outside. A stream is its number here, a record in the prelude.
    row(
        "print_string",
        "[char] -> bool",
        PrimKind::Host(HostOp::PrintText),
        "Prints a text as it is; returns `t`. In an apply-to-each the texts are printed in the order of the iterations.",
        "print_string(\"\") → T",
        "W = S(s), D = 1",
    ),
    host(
        "_write_text",
        "([char], int) -> (bool, [char])",
        HostOp::WriteText,
        "Writes a text to a stream.",
    ),
    host("_open_in", "[char] -> (int, (bool, [char]))", HostOp::OpenIn, "Opens a file to read."),
    host("_open_out", "[char] -> (int, (bool, [char]))", HostOp::OpenOut, "Opens a file to write."),
    host(
        "_open_append",
        "[char] -> (int, (bool, [char]))",
        HostOp::OpenAppend,
        "Opens a file for writing at its end.",
    ),
    host("_close", "int -> (bool, [char])", HostOp::Close, "Closes a stream."),
    host(
        "_read_char",
        "int -> ((char, bool), (bool, [char]))",
        HostOp::ReadChar,
        "Reads a char; the bool is true at the end of the stream.",
    ),
    host(
        "_read_line",
        "int -> (([char], bool), (bool, [char]))",
        HostOp::ReadLine,
        "Reads a line without its line end; the bool is true at the end of the stream.",
    ),
    host(
        "_read_word",
        "int -> (([char], (char, bool)), (bool, [char]))",
        HostOp::ReadWord,
        "Reads a word and the char after it; the bool is true at the end of the stream.",
    ),
    host(
        "_read_text",
        "([char], (int, int)) -> (([char], int), (bool, [char]))",
        HostOp::ReadText,
        "Reads a text up to a delimiter or a number of chars.",
    ),
    host("_read_file", "[char] -> ([char], (bool, [char]))", HostOp::ReadFile, "A whole file."),
    host(
        "_write_file",
        "([char], [char]) -> (bool, [char])",
        HostOp::WriteFile,
        "Writes a text to a file.",
    ),
    host(
        "_append_file",
        "([char], [char]) -> (bool, [char])",
        HostOp::AppendFile,
        "Writes a text at the end of a file.",
    ),
    host(
        "_read_object",
        "(a, [char]) -> (a, (bool, [char])) :: (a in any)",
        HostOp::ReadObject,
        "Reads a value from a file; it has the type of the first argument.",
    ),
    host(
        "_write_object",
        "(a, [char]) -> (bool, [char]) :: (a in any)",
        HostOp::WriteObject,
        "Writes a value to a file.",
    ),
    host(
        "_read_stream_object",
        "(a, int) -> (a, (bool, [char])) :: (a in any)",
        HostOp::ReadStreamObject,
        "Reads a value from a stream; it has the type of the first argument.",
    ),
    host(
        "_write_stream_object",
        "(a, int) -> (bool, [char]) :: (a in any)",
        HostOp::WriteStreamObject,
        "Writes a value to a stream.",
    ),
    host(
        "_read_ints",
        "[char] -> [int]",
        HostOp::ReadInts,
        "Reads ints in parentheses from a file.",
    ),
    host(
        "_read_floats",
        "[char] -> [float]",
        HostOp::ReadFloats,
        "Reads floats in parentheses from a file.",
    ),
    host(
        "_shell",
        "([char], [char]) -> [char]",
        HostOp::Shell,
        "Runs a command with an input and returns its output.",
    ),
    host(
        "_spawn",
        "[char] -> (int, (int, (int, bool)))",
        HostOp::Spawn,
        "Starts a command; returns its input, output and error streams.",
    ),
    host("_getenv", "[char] -> [char]", HostOp::GetEnv, "Returns a variable of the environment."),
    host(
        "_arguments",
        "int -> [[char]]",
        HostOp::Arguments,
        "Returns the arguments of the program.",
    ),
    host("_prompt", "[char] -> [char]", HostOp::Prompt, "Prints a text and reads a line."),
    host(
        "_read_csv",
        "(a, ([[char]], (char, [char]))) -> [a] :: (a in any)",
        HostOp::ReadCsv,
        "Reads columns of a CSV file; the rows have the type of the first argument.",
    ),
    host(
        "_write_csv",
        "([a], ([char], [char])) -> bool :: (a in any)",
        HostOp::WriteCsv,
        "Writes a CSV file: rows, a header line, the name of the file.",
    ),
    host(
        "_read_npy",
        "(a, [char]) -> a :: (a in any)",
        HostOp::ReadNpy,
        "Reads an array from a file; it has the type of the first argument.",
    ),
    host(
        "_write_npy",
        "(a, [char]) -> bool :: (a in any)",
        HostOp::WriteNpy,
        "Writes an array to a file.",
    ),
    host(
        "_read_mtx",
        "[char] -> ((int, int), [(int, (int, float))])",
        HostOp::ReadMatrixMarket,
        "Reads a matrix: the numbers of rows and columns, and the entries.",
    ),
    host(
        "_write_mtx",
        "(((int, int), [(int, (int, float))]), [char]) -> bool",
        HostOp::WriteMatrixMarket,
        "Writes a matrix to a file.",
    ),
    host(
        "_make_window",
        "([char], (int, (int, int))) -> int",
        HostOp::MakeWindow,
        "Begins a picture with a title, width, height and colour.",
    ),
    host(
        "_draw",
        "(int, (int, (int, (int, ([float], [char]))))) -> bool",
        HostOp::Draw,
        "Adds a shape to a picture: the window, the shape, colour, size, numbers and text.",
    ),
];
