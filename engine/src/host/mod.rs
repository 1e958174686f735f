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

pub mod csv;
mod file;
pub mod list;
pub mod matrix_market;
pub mod npy;
pub mod object;
mod output;
pub mod picture;
mod process;
mod scan;
mod stream;
mod svg;
mod wait;

use nesl_core::interp::{Host, Sequence, Value};
use nesl_core::ir::Ty;
use nesl_core::prim::HostOp;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::scalar::Precision;
use output::Output;
use picture::Pictures;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use stream::Streams;
use wait::Interrupt;

/// The machine a session runs on.
pub struct System {
    output: Output,
    streams: Streams,
    pictures: Pictures,
    interrupt: Interrupt,
    seed: u64,
    precision: Precision,
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
            started: Instant::now(),
        }
    }

    /// Sends what programs print elsewhere. Every print is one write; the writer buffers as it
    /// sees fit.
    pub fn set_output(&mut self, output: Box<dyn Write + Send>) {
        self.output = Output::given(output);
    }

    /// Takes the standard input from elsewhere.
    pub fn set_input(&mut self, input: Box<dyn BufRead + Send>) {
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

    /// What is set when waiting (for input, for a command) is to end.
    pub fn set_interrupt(&mut self, flag: Arc<AtomicBool>) {
        self.interrupt = Interrupt::new(flag);
        self.streams.set_interrupt(self.interrupt.clone());
    }

    /// The width of the numbers that are read and written.
    pub fn set_precision(&mut self, precision: Precision) {
        self.precision = precision;
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
            self.output.print(text);
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
        self.output.print(text);
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

impl System {
    fn perform(
        &mut self,
        op: HostOp,
        args: &[Value],
        types: &[Ty],
        result: &Ty,
    ) -> Result<Value, Fault> {
        // What was written to a file must be there for whoever reads it next; a person who is
        // asked must see the question.
        match op {
            HostOp::PrintText
            | HostOp::WriteText
            | HostOp::Seed
            | HostOp::GetEnv
            | HostOp::MakeWindow
            | HostOp::Draw => {}
            HostOp::Shell | HostOp::Spawn | HostOp::Prompt => self.flush(),
            _ if self.streams.reads_input(op, args) => self.flush(),
            _ => self.streams.flush(),
        }
        match op {
            HostOp::PrintText => {
                self.output.print(args[0].bytes());
                Ok(Value::Bool(true))
            }
            HostOp::WriteText => {
                let [text, stream] = spread(args);
                Ok(status(self.write(stream.int(), text.bytes())))
            }
            HostOp::Seed => {
                self.seed = args[0].int() as u64;
                Ok(Value::Bool(true))
            }
            HostOp::OpenIn => Ok(opened(self.streams.open_in(args[0].bytes()))),
            HostOp::OpenOut => Ok(opened(self.streams.open_out(args[0].bytes(), false))),
            HostOp::OpenAppend => Ok(opened(self.streams.open_out(args[0].bytes(), true))),
            HostOp::Close => Ok(status(self.streams.close(args[0].int()))),
            HostOp::ReadChar => {
                let read = self.streams.read_char(args[0].int());
                Ok(answer(
                    read.map(|c| {
                        Value::pair(Value::Char(c.unwrap_or(0)), Value::Bool(c.is_none()))
                    }),
                    result,
                ))
            }
            HostOp::ReadLine => {
                let read = self.streams.read_line(args[0].int());
                Ok(answer(
                    read.map(|(line, end)| Value::pair(Value::text(line), Value::Bool(end))),
                    result,
                ))
            }
            HostOp::ReadWord => {
                let read = self.streams.read_word(args[0].int());
                Ok(answer(
                    read.map(|(word, delimiter)| {
                        let delimited = Value::pair(
                            Value::Char(delimiter.unwrap_or(0)),
                            Value::Bool(delimiter.is_none()),
                        );
                        Value::pair(Value::text(word), delimited)
                    }),
                    result,
                ))
            }
            HostOp::ReadText => {
                let [delimiters, limit, stream] = spread(args);
                let limit = usize::try_from(limit.int()).ok();
                let read = self.streams.read_text(stream.int(), delimiters.bytes(), limit);
                Ok(answer(
                    read.map(|(text, which)| Value::pair(Value::text(text), Value::Int(which))),
                    result,
                ))
            }
            HostOp::ReadFile => Ok(answer(file::read(args[0].bytes()).map(Value::text), result)),
            HostOp::WriteFile => {
                let [text, name] = spread(args);
                Ok(status(file::write(name.bytes(), text.bytes())))
            }
            HostOp::AppendFile => {
                let [text, name] = spread(args);
                Ok(status(file::append(name.bytes(), text.bytes())))
            }
            HostOp::ReadObject => {
                let [_, name] = spread(args);
                let [ty, _] = spread(types);
                let read = file::read(name.bytes())
                    .and_then(|text| object::read(&text, &shown(&name), &ty, self.precision));
                Ok(answer(read, result))
            }
            HostOp::WriteObject => {
                let [value, name] = spread(args);
                let [ty, _] = spread(types);
                let text = object::write(&value, &ty, self.precision);
                Ok(status(file::write(name.bytes(), &text)))
            }
            HostOp::ReadInts => {
                let text = file::read(args[0].bytes()).map_err(fault)?;
                let ints = list::read_ints(&text, &shown(&args[0]), self.precision);
                Ok(Value::Sequence(Sequence::Ints(ints.map_err(fault)?.into())))
            }
            HostOp::ReadFloats => {
                let text = file::read(args[0].bytes()).map_err(fault)?;
                let floats = list::read_floats(&text, &shown(&args[0]), self.precision);
                Ok(Value::Sequence(Sequence::Floats(floats.map_err(fault)?.into())))
            }
            HostOp::Shell => {
                let [command, input] = spread(args);
                let output = process::shell(command.bytes(), input.bytes(), &self.interrupt);
                Ok(Value::text(output.map_err(fault)?))
            }
            HostOp::Spawn => {
                let spawned = self.streams.spawn(args[0].bytes());
                let [input, output, errors] = spawned.unwrap_or([-1; 3]);
                let ok = Value::Bool(input >= 0);
                let rest = Value::pair(Value::Int(errors), ok);
                Ok(Value::pair(Value::Int(input), Value::pair(Value::Int(output), rest)))
            }
            HostOp::GetEnv => Ok(Value::text(process::variable(args[0].bytes()))),
            HostOp::Prompt => {
                self.output.print(args[0].bytes());
                self.output.flush();
                let (line, _) = self.streams.read_line(0).map_err(fault)?;
                Ok(Value::text(line))
            }
            HostOp::ReadCsv => {
                let [_, name] = spread(args);
                let [row, _] = spread(types);
                let text = file::read(name.bytes()).map_err(fault)?;
                csv::read(&text, &shown(&name), &row, self.precision).map_err(fault)
            }
            HostOp::WriteCsv => {
                let [rows, header, name] = spread(args);
                let [ty, _, _] = spread(types);
                let text = csv::write(&rows, &ty, header.bytes(), self.precision);
                file::write(name.bytes(), &text.map_err(fault)?).map_err(fault)?;
                Ok(Value::Bool(true))
            }
            HostOp::ReadNpy => {
                let [_, name] = spread(args);
                let [ty, _] = spread(types);
                let bytes = file::read(name.bytes()).map_err(fault)?;
                npy::read(&bytes, &shown(&name), &ty, self.precision).map_err(fault)
            }
            HostOp::WriteNpy => {
                let [array, name] = spread(args);
                let [ty, _] = spread(types);
                let bytes = npy::write(&array, &ty, self.precision).map_err(fault)?;
                file::write(name.bytes(), &bytes).map_err(fault)?;
                Ok(Value::Bool(true))
            }
            HostOp::ReadMatrixMarket => {
                let text = file::read(args[0].bytes()).map_err(fault)?;
                let matrix = matrix_market::read(&text, &shown(&args[0]), self.precision);
                Ok(matrix.map_err(fault)?.into_value())
            }
            HostOp::WriteMatrixMarket => {
                // The matrix is itself a pair, so there are two arguments and never three.
                let [matrix, name] = spread(args);
                let text = matrix_market::write(&matrix, self.precision).map_err(fault)?;
                file::write(name.bytes(), &text).map_err(fault)?;
                Ok(Value::Bool(true))
            }
            HostOp::MakeWindow => {
                let [title, width, height, colour] = spread(args);
                let title = crate::decode(title.bytes().to_vec());
                let sizes = [width.int(), height.int()];
                let window = self.pictures.open(title, sizes, colour.int()).map_err(fault)?;
                Ok(Value::Int(window))
            }
            HostOp::Draw => {
                let [window, shape, colour, size, numbers, text] = spread(args);
                let Value::Sequence(numbers) = &numbers else {
                    unreachable!("{numbers:?} are not numbers")
                };
                self.pictures
                    .draw(
                        window.int(),
                        picture::Mark {
                            shape: shape.int(),
                            colour: colour.int(),
                            size: size.int(),
                            numbers: floats(numbers),
                            text: text.bytes(),
                        },
                    )
                    .map_err(fault)?;
                Ok(Value::Bool(true))
            }
        }
    }
}

impl Drop for System {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Something that may be a tuple: a value or a type.
trait Tuple: Clone {
    fn halves(&self) -> Option<(Self, Self)>;
}

impl Tuple for Value {
    fn halves(&self) -> Option<(Value, Value)> {
        match self {
            Value::Pair(pair) => Some((pair.0.clone(), pair.1.clone())),
            _ => None,
        }
    }
}

impl Tuple for Ty {
    fn halves(&self) -> Option<(Ty, Ty)> {
        match self {
            Ty::Pair(a, b) => Some(((**a).clone(), (**b).clone())),
            _ => None,
        }
    }
}

/// The arguments one by one, whether they came so or with the last ones as a tuple.
fn spread<T: Tuple + std::fmt::Debug, const N: usize>(args: &[T]) -> [T; N] {
    let mut all = args.to_vec();
    while all.len() < N {
        let Some((first, rest)) = all.last().and_then(Tuple::halves) else {
            break;
        };
        all.pop();
        all.extend([first, rest]);
    }
    all.try_into().unwrap_or_else(|all| unreachable!("{all:?} are not {N} arguments"))
}

fn fault(message: String) -> Fault {
    Fault::with(FaultCode::Host, message)
}

/// A file's name in messages.
fn shown(name: &Value) -> String {
    String::from_utf8_lossy(name.bytes()).into_owned()
}

/// `(ok, message)`
fn status(result: Result<(), String>) -> Value {
    let message = result.err();
    Value::pair(Value::Bool(message.is_none()), Value::text(message.unwrap_or_default()))
}

/// `(stream, (ok, message))`; a stream that is none when it failed.
fn opened(result: Result<i64, String>) -> Value {
    match result {
        Ok(stream) => Value::pair(Value::Int(stream), status(Ok(()))),
        Err(message) => Value::pair(Value::Int(-1), status(Err(message))),
    }
}

/// `(value, (ok, message))`, of the type `result`.
fn answer(value: Result<Value, String>, result: &Ty) -> Value {
    match value {
        Ok(value) => Value::pair(value, status(Ok(()))),
        Err(message) => {
            let zero = match result {
                Ty::Pair(value, _) => zero(value),
                other => unreachable!("{other:?} has no place for a message"),
            };
            Value::pair(zero, status(Err(message)))
        }
    }
}

/// The zero of a type, as `identity` gives it.
fn zero(ty: &Ty) -> Value {
    match ty {
        Ty::Unit => Value::Unit,
        Ty::Int => Value::Int(0),
        Ty::Float => Value::Float(0.0),
        Ty::Bool => Value::Bool(false),
        Ty::Char => Value::Char(b' '),
        Ty::Pair(a, b) => Value::pair(zero(a), zero(b)),
        Ty::Sequence(element) => Value::sequence(element, []),
    }
}

/// The floats of a sequence of floats.
fn floats(sequence: &Sequence) -> &[f64] {
    match sequence {
        Sequence::Floats(floats) => floats,
        other => unreachable!("{other:?} does not hold floats"),
    }
}

/// The chars of a string.
fn chars(sequence: &Sequence) -> &[u8] {
    match sequence {
        Sequence::Chars(chars) => chars,
        other => unreachable!("{other:?} does not hold chars"),
    }
}

/// The elements of a sequence of anything but scalars.
fn values(sequence: &Sequence) -> &[Value] {
    match sequence {
        Sequence::Values(values) => values,
        other => unreachable!("{other:?} holds scalars"),
    }
}
