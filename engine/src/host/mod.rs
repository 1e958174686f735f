//! The world outside the language: printing, streams, files and their formats, the system.
//!
//! [`System`] is the [`Host`] of a session on a real machine. Two conventions run through it:
//!
//! * Operations on streams and whole files never fault. They answer `(value, (ok, message))`; when
//!   `ok` is false the value is the zero of its type and the message says why.
//! * Readers and writers of formats (CSV, npy, Matrix Market, lists of numbers) fault with
//!   [`FaultCode::Host`] and a text that names the file and, for texts, the line and column.
//!
//! The formats themselves are functions from bytes to values and back ([`csv`], [`npy`],
//! [`matrix_market`], [`object`], [`list`]). They take no size that a file claims on trust: what
//! they allocate is bounded by what the file holds.

pub(crate) mod columns;
pub mod csv;
pub(crate) mod file;
pub mod list;
pub mod matrix_market;
pub mod npy;
pub mod object;
mod operations;
mod output;
pub mod picture;
mod process;
mod scan;
mod source;
mod stream;
mod svg;
pub mod text;
mod wait;

use nesl_core::interp::{Host, Sequence, Value};
use nesl_core::ir::Ty;
use nesl_core::prim::HostOp;
use nesl_runtime::bug;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::scalar::Precision;
use output::Output;
use picture::Pictures;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use stream::Streams;
pub use stream::lines_typed;
use wait::Interrupt;

/// Says that a writer of a format was told to stop; the interrupt itself is what is reported then.
const STOPPED: &str = "writing was interrupted";

/// The number of bytes that are printed between two looks at the interrupt.
const POLLED_PRINT_BYTES: usize = 1 << 16;

/// The number of a stream that could not be opened: whatever is done with it fails.
const NOT_OPENED: i64 = -2;

/// Gives programs the lines that they read from the standard input.
pub trait LineInput: Send {
    /// Returns the next line, without its end, after asking a question (often none); `None` if there
    /// are no more lines. An error is what the program is told; the session's interrupt ends the
    /// wait with any error.
    fn line(&mut self, question: &str) -> std::io::Result<Option<String>>;
}

/// The machine a session runs on.
pub struct System {
    output: Output,
    streams: Streams,
    pictures: Pictures,
    interrupt: Interrupt,
    seed: u64,
    precision: Precision,
    /// The number of threads that read a file, one for each core without one, and of bytes that its values may take.
    threads: Option<usize>,
    memory: u64,
    arguments: Vec<String>,
    started: Instant,
}

impl System {
    /// A system that prints to the standard output and reads the standard input of the process.
    pub fn new(seed: u64) -> System {
        System {
            output: Output::process(),
            streams: Streams::new(),
            pictures: Pictures::default(),
            interrupt: Interrupt::default(),
            seed,
            precision: Precision::Bits64,
            threads: None,
            memory: u64::MAX,
            arguments: Vec::new(),
            started: Instant::now(),
        }
    }

    /// Sends what programs print elsewhere. Every print is one write; the writer buffers as it
    /// sees fit.
    pub fn set_output(&mut self, output: Box<dyn Write + Send>) {
        self.output = Output::given(output);
    }

    /// Sends elsewhere what programs write to the standard stream for errors.
    pub fn set_error_output(&mut self, output: Box<dyn Write + Send>) {
        self.streams.set_error_output(output);
    }

    /// Asks somebody for the lines of the standard input.
    pub fn set_input(&mut self, input: Box<dyn LineInput>) {
        self.streams.set_input(input);
    }

    /// The pictures that were drawn.
    pub fn pictures(&self) -> &Pictures {
        &self.pictures
    }

    /// The pictures that were drawn, to be told what was shown of them.
    pub fn pictures_mut(&mut self) -> &mut Pictures {
        &mut self.pictures
    }

    /// Sets the flag that ends waiting for input or for a command.
    pub fn set_interrupt(&mut self, flag: Arc<AtomicBool>) {
        self.interrupt = Interrupt::new(flag);
        self.streams.set_interrupt(self.interrupt.clone());
    }

    /// The width of the numbers that are read and written.
    pub fn set_precision(&mut self, precision: Precision) {
        self.precision = precision;
    }

    /// Sets the number of threads that read a file, one for each core without one, and the number of
    /// bytes that its values may take.
    pub fn set_limits(&mut self, threads: Option<usize>, memory: u64) {
        self.threads = threads;
        self.memory = memory;
    }

    /// Sets the arguments of the program.
    pub fn set_arguments(&mut self, arguments: Vec<String>) {
        self.arguments = arguments;
    }

    /// Sets the seed of the random numbers.
    pub fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
    }

    /// Makes sure that all that was printed or written has gone out.
    pub fn flush(&mut self) {
        self.output.flush();
        self.streams.flush();
    }

    fn write(&mut self, stream: i64, text: &[u8]) -> Result<(), String> {
        if stream == 1 {
            Host::print(self, text);
            return Ok(());
        }
        if stream == 2 {
            self.output.flush();
        }
        self.streams.write(stream, text)
    }
}

impl Host for System {
    fn print(&mut self, text: &[u8]) {
        for (position, piece) in text.chunks(POLLED_PRINT_BYTES).enumerate() {
            // A short text that was printed before an interrupt is shown.
            if position > 0 && self.interrupt.wished() {
                return;
            }
            self.output.print(piece);
        }
    }

    fn call(
        &mut self,
        op: HostOp,
        args: &[Value],
        types: &[Ty],
        result: &Ty,
    ) -> Result<Value, Fault> {
        let done = self.perform(op, args, types, result);
        // Whatever became of it: who was waiting has been told to stop.
        if self.interrupt.wished() {
            self.streams.kill();
            return Err(FaultCode::Interrupted.into());
        }
        done
    }

    fn clock(&mut self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    fn seed(&self) -> u64 {
        self.seed
    }
}

impl Drop for System {
    fn drop(&mut self) {
        self.flush();
    }
}

/// The floats of a sequence of floats.
fn floats(sequence: &Sequence) -> &[f64] {
    match sequence {
        Sequence::Floats(floats) => floats,
        other => bug!("{other:?} does not hold floats"),
    }
}

/// The chars of a string.
fn chars(sequence: &Sequence) -> &[u8] {
    match sequence {
        Sequence::Chars(chars) => chars,
        other => bug!("{other:?} does not hold chars"),
    }
}

/// The elements of a sequence of anything but scalars.
fn values(sequence: &Sequence) -> &[Value] {
    match sequence {
        Sequence::Values(values) => values,
        other => bug!("{other:?} holds scalars"),
    }
}
