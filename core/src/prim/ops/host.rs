//! The operations with effects, which the host executes: a row for each.
//!
//! All except printing and drawing are rejected inside an apply-to-each at compile time. A stream
//! is represented by its number: 0, 1 and 2 are standard input, output and error, -1 is none
//! (`nullstr`). A status is a pair: true for success, and the error message otherwise.

use super::{TypePattern, type_pattern};

/// The properties of a host operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostRow {
    /// The name in the text form of the IRs.
    pub mnemonic: &'static str,
    /// The type of the operands, as one tuple.
    pub operands: TypePattern,
    /// The type of the result.
    pub result: TypePattern,
    /// True if the operation is allowed in an apply-to-each; the host executes it in the order of
    /// the iterations.
    pub in_parallel: bool,
}

macro_rules! host_operations {
    ($($(#[$doc:meta])* $op:ident = $mnemonic:literal: $operands:tt -> $result:tt $(, $parallel:ident)?;)+) => {
        /// The operations with effects.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum HostOp {
            $($(#[$doc])* $op,)+
        }

        impl HostOp {
            /// All operations, in the order of the enum.
            pub const ALL: &[HostOp] = &[$(HostOp::$op,)+];

            /// Returns the properties of the operation.
            pub const fn row(self) -> &'static HostRow {
                match self {
                    $(HostOp::$op => {
                        const ROW: HostRow = HostRow {
                            mnemonic: $mnemonic,
                            operands: type_pattern!($operands),
                            result: type_pattern!($result),
                            in_parallel: host_operations!(@parallel $($parallel)?),
                        };
                        &ROW
                    })+
                }
            }
        }
    };
    (@parallel) => { false };
    (@parallel in_parallel) => { true };
}

host_operations! {
    /// Prints a text to standard output.
    PrintText = "print_text": text -> bool, in_parallel;
    /// Writes a text to a stream (`write_string`).
    WriteText = "write_text": (text, int) -> status, in_parallel;
    /// Sets the seed of random numbers (`rand_seed`).
    Seed = "seed": int -> bool;
    /// Opens a file for reading; returns the stream.
    OpenIn = "open_in": text -> (int, status);
    /// Opens a file for writing; returns the stream.
    OpenOut = "open_out": text -> (int, status);
    /// Opens a file for writing at its end; returns the stream.
    OpenAppend = "open_append": text -> (int, status);
    /// Closes a stream.
    Close = "close": int -> status;
    /// Reads a char from a stream; the bool is true at its end.
    ReadChar = "read_char": int -> ((char, bool), status);
    /// Reads a line from a stream; the bool is true at its end.
    ReadLine = "read_line": int -> ((text, bool), status);
    /// Reads a word from a stream, after leading blanks; also returns the delimiter after it. The
    /// bool is true at the end of the stream.
    ReadWord = "read_word": int -> ((text, char, bool), status);
    /// `(delimiters, (max, stream))`: reads a text up to one of some delimiters, which is read and
    /// dropped, or up to `max` chars (no limit when `max < 0`). The int is the code of the
    /// delimiter that ended it, -1 for the end of the file, -2 for `max` chars.
    ReadText = "read_text": (text, int, int) -> ((text, int), status);
    /// Reads a whole file.
    ReadFile = "read_file": text -> (text, status);
    /// `(text, name)`: writes a file.
    WriteFile = "write_file": (text, text) -> status;
    /// `(text, name)`: writes at the end of a file.
    AppendFile = "append_file": (text, text) -> status;
    /// `(like, name)`: reads a value of the type of `like` (`read_object_from_file`).
    ReadObject = "read_object": (any, text) -> (any, status);
    /// `(value, name)`: writes a value (`write_object_to_file`).
    WriteObject = "write_object": (any, text) -> status;
    /// `(like, stream)`: reads a value of the type of `like` (`read_object`).
    ReadStreamObject = "read_stream_object": (any, int) -> (any, status);
    /// `(value, stream)`: writes a value (`write_object`).
    WriteStreamObject = "write_stream_object": (any, int) -> status;
    /// Reads ints in the text form `( 1 2 3 )`; faults `Host`.
    ReadInts = "read_ints": text -> [int];
    /// Reads floats in the text form `( 1.0 2.0 )`; faults `Host`.
    ReadFloats = "read_floats": text -> [float];
    /// `(command, input)`: executes a command and returns its output.
    Shell = "shell": (text, text) -> text;
    /// Starts a command; returns the streams of its input, output and errors.
    Spawn = "spawn": text -> (int, int, int, bool);
    /// Returns the value of an environment variable.
    GetEnv = "get_env": text -> text;
    /// Returns the arguments of the program from an index on.
    Arguments = "arguments": int -> [text];
    /// Prints a text and reads a line.
    Prompt = "prompt": text -> text;
    /// `(like, (columns, (separator, name)))`: reads a CSV file, a value of the type of `like` for each
    /// row, out of the columns with the given names (no names: out of all); faults `Host` with line and
    /// column.
    ReadCsv = "read_csv": (any, [text], char, text) -> [any];
    /// `(rows, header, name)`: writes a CSV file; no header line if that is empty; faults `Host`.
    WriteCsv = "write_csv": ([any], text, text) -> bool;
    /// `(like, name)`: reads a `.npy` file as a value of the type of `like`; faults `Host`.
    ReadNpy = "read_npy": (any, text) -> any;
    /// `(value, name)`: writes a `.npy` file.
    WriteNpy = "write_npy": (any, text) -> bool;
    /// Reads a Matrix Market file; returns the numbers of rows and columns, and the entries.
    ReadMatrixMarket = "read_matrix_market": text -> ((int, int), [(int, int, float)]);
    /// Writes a Matrix Market file.
    WriteMatrixMarket = "write_matrix_market": (((int, int), [(int, int, float)]), text) -> bool;
    /// `(title, (width, (height, colour)))`: opens a window and returns its number; faults `Host`.
    MakeWindow = "make_window": (text, int, int, int) -> int;
    /// `(window, (shape, (colour, (size, (numbers, text)))))`: adds a shape to the picture of a
    /// window; faults `Host`. The numbers are pixels from the lower left corner; the first four are
    /// the box that is drawn in (left, bottom, width, height), the others depend on the shape:
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
    Draw = "draw": (int, int, int, int, [float], text) -> bool, in_parallel;
}

impl HostOp {
    /// Returns true if iterations of an apply-to-each may do it: printing, writing and drawing, in
    /// their order.
    pub fn in_parallel(self) -> bool {
        self.row().in_parallel
    }
}
