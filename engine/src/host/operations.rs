//! The operations of the outside world, one by one: arguments out of values, results into values.

use super::columns::{self, Part};
use super::source::Source;
use super::{
    NOT_OPENED, System, csv, file, floats, list, matrix_market, npy, object, picture, process, text,
};
use nesl_core::interp::{Host, Sequence, Value};
use nesl_core::ir::Ty;
use nesl_core::prim::HostOp;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::runtime::available_threads;
use std::sync::Arc;

impl System {
    /// Performs an operation on arguments of the given types, with a result of type `result`.
    pub(super) fn perform(
        &mut self,
        op: HostOp,
        args: &[Value],
        types: &[Ty],
        result: &Ty,
    ) -> Result<Value, Fault> {
        self.flush_before(op, args);
        match op {
            HostOp::PrintText => {
                Host::print(self, args[0].bytes());
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
            HostOp::ReadChar => Ok(answer(self.read_char(&args[0]), result)),
            HostOp::ReadLine => Ok(answer(self.read_line(&args[0]), result)),
            HostOp::ReadWord => Ok(answer(self.read_word(&args[0]), result)),
            HostOp::ReadText => Ok(answer(self.read_text(args), result)),
            HostOp::ReadFile => Ok(answer(self.read_file(&args[0]).map(Value::text), result)),
            HostOp::WriteFile => {
                let [text, name] = spread(args);
                Ok(status(self.write_file(&name, text.bytes())))
            }
            HostOp::AppendFile => {
                let [text, name] = spread(args);
                Ok(status(file::append(name.bytes(), text.bytes())))
            }
            HostOp::ReadObject => Ok(answer(self.read_object(args, types), result)),
            HostOp::WriteObject => {
                let [value, name] = spread(args);
                let [ty, _] = spread(types);
                let text = self.object_text(&value, &ty)?;
                Ok(status(self.write_file(&name, &text)))
            }
            HostOp::ReadStreamObject => Ok(answer(self.read_stream_object(args, types), result)),
            HostOp::WriteStreamObject => {
                let [value, stream] = spread(args);
                let [ty, _] = spread(types);
                let text = self.object_text(&value, &ty)?;
                Ok(status(self.write(stream.int(), &text)))
            }
            HostOp::ReadInts => self.read_ints(&args[0]).map_err(fault),
            HostOp::ReadFloats => self.read_floats(&args[0]).map_err(fault),
            HostOp::Shell => self.shell(args).map_err(fault),
            HostOp::Spawn => Ok(self.spawn(&args[0])),
            HostOp::GetEnv => Ok(Value::text(process::variable(args[0].bytes()))),
            HostOp::Arguments => Ok(self.arguments_from(args[0].int())),
            HostOp::Prompt => self.prompt(&args[0]).map_err(fault),
            HostOp::ReadCsv => self
                .csv_parts(args, types)
                .and_then(|parts| self.value_of(parts, result))
                .map_err(fault),
            HostOp::WriteCsv => self.write_csv(args, types).map_err(fault),
            HostOp::ReadNpy => self
                .npy_parts(args, types)
                .and_then(|parts| self.value_of(parts, result))
                .map_err(fault),
            HostOp::WriteNpy => self.write_npy(args, types).map_err(fault),
            HostOp::ReadMatrixMarket => self.read_matrix_market(&args[0]).map_err(fault),
            HostOp::WriteMatrixMarket => self.write_matrix_market(args).map_err(fault),
            HostOp::MakeWindow => self.make_window(args).map_err(fault),
            HostOp::Draw => self.draw(args).map_err(fault),
        }
    }

    /// Lets out what was written before: it must be there for whoever reads the file next, and a
    /// person who is asked must see the question.
    fn flush_before(&mut self, op: HostOp, args: &[Value]) {
        match op {
            HostOp::PrintText
            | HostOp::WriteText
            | HostOp::WriteStreamObject
            | HostOp::Seed
            | HostOp::GetEnv
            | HostOp::Arguments
            | HostOp::MakeWindow
            | HostOp::Draw => {}
            HostOp::Shell | HostOp::Spawn | HostOp::Prompt => self.flush(),
            _ if self.streams.reads_input(op, args) => self.flush(),
            _ => self.streams.flush(),
        }
    }

    fn read_char(&mut self, stream: &Value) -> Result<Value, String> {
        let c = self.streams.read_char(stream.int())?;
        Ok(Value::pair(Value::Char(c.unwrap_or(0)), Value::Bool(c.is_none())))
    }

    fn read_line(&mut self, stream: &Value) -> Result<Value, String> {
        let (line, end) = self.streams.read_line(stream.int())?;
        Ok(Value::pair(Value::text(line), Value::Bool(end)))
    }

    fn read_word(&mut self, stream: &Value) -> Result<Value, String> {
        let (word, delimiter) = self.streams.read_word(stream.int())?;
        let end = Value::Bool(delimiter.is_none());
        let delimited = Value::pair(Value::Char(delimiter.unwrap_or(0)), end);
        Ok(Value::pair(Value::text(word), delimited))
    }

    fn read_text(&mut self, args: &[Value]) -> Result<Value, String> {
        let [delimiters, limit, stream] = spread(args);
        let limit = usize::try_from(limit.int()).ok();
        let (text, code) = self.streams.read_text(stream.int(), delimiters.bytes(), limit)?;
        Ok(Value::pair(Value::text(text), Value::Int(code)))
    }

    fn read_object(&mut self, args: &[Value], types: &[Ty]) -> Result<Value, String> {
        let [_, name] = spread(args);
        let [ty, _] = spread(types);
        object::read(&self.read_file(&name)?, &shown(&name), &ty, self.precision)
    }

    fn read_stream_object(&mut self, args: &[Value], types: &[Ty]) -> Result<Value, String> {
        let [_, stream] = spread(args);
        let [ty, _] = spread(types);
        let precision = self.precision;
        let stream = stream.int();
        let name = format!("stream {stream}");
        let text = self.streams.read_rest(stream)?;
        let (value, length) = object::read_first(&text, &name, &ty, precision)?;
        self.streams.put_back(stream, &text[length..]);
        Ok(value)
    }

    fn read_ints(&mut self, name: &Value) -> Result<Value, String> {
        let ints = list::read_ints(&self.read_file(name)?, &shown(name), self.precision)?;
        Ok(Value::Sequence(Sequence::Ints(ints.into())))
    }

    fn read_floats(&mut self, name: &Value) -> Result<Value, String> {
        let floats = list::read_floats(&self.read_file(name)?, &shown(name), self.precision)?;
        Ok(Value::Sequence(Sequence::Floats(floats.into())))
    }

    fn shell(&mut self, args: &[Value]) -> Result<Value, String> {
        let [command, input] = spread(args);
        process::shell(command.bytes(), input.bytes(), &self.interrupt).map(Value::text)
    }

    fn spawn(&mut self, command: &Value) -> Value {
        let [input, output, errors] =
            self.streams.spawn(command.bytes()).unwrap_or([NOT_OPENED; 3]);
        let rest = Value::pair(Value::Int(errors), Value::Bool(input >= 0));
        Value::pair(Value::Int(input), Value::pair(Value::Int(output), rest))
    }

    fn arguments_from(&self, first: i64) -> Value {
        let first = usize::try_from(first).unwrap_or(0);
        let all = self.arguments.iter().skip(first);
        Value::sequence(&Ty::text(), all.map(|argument| Value::text(argument.as_bytes())))
    }

    fn prompt(&mut self, question: &Value) -> Result<Value, String> {
        if !self.streams.ask(&text::decode(question.bytes().to_vec())) {
            self.output.print(question.bytes());
        }
        self.output.flush();
        let (line, _) = self.streams.read_line(0)?;
        Ok(Value::text(line))
    }

    /// Returns true for an operation whose value [`System::read_parts`] reads.
    pub(crate) fn reads_parts(op: HostOp) -> bool {
        matches!(op, HostOp::ReadCsv | HostOp::ReadNpy)
    }

    /// Reads the value of an operation that reads a file of numbers as parts, for a runtime; `None` if it
    /// is another operation. Fails like [`System::perform`].
    pub(crate) fn read_parts(
        &mut self,
        op: HostOp,
        args: &[Value],
        types: &[Ty],
    ) -> Option<Result<Vec<Part>, Fault>> {
        let parts = match op {
            HostOp::ReadCsv => self.csv_parts(args, types),
            HostOp::ReadNpy => self.npy_parts(args, types),
            _ => return None,
        };
        if self.interrupt.wished() {
            return Some(Err(FaultCode::Interrupted.into()));
        }
        Some(parts.map_err(fault))
    }

    /// Returns the text of a value in a file of objects.
    fn object_text(&self, value: &Value, ty: &Ty) -> Result<Vec<u8>, Fault> {
        let text = object::write(value, ty, self.precision, &|| self.interrupt.wished());
        // Nothing is written of a text that is not whole.
        if self.interrupt.wished() { Err(FaultCode::Interrupted.into()) } else { Ok(text) }
    }

    /// Returns the value of parts.
    fn value_of(&self, parts: Vec<Part>, ty: &Ty) -> Result<Value, String> {
        columns::to_value(parts, ty, self.precision, &|| self.interrupt.wished())
    }

    /// Returns the bytes of a file.
    fn read_file(&self, name: &Value) -> Result<Vec<u8>, String> {
        file::read(name.bytes(), self.max_text_bytes(), &|| self.interrupt.wished())
    }

    /// Makes a file of some bytes.
    fn write_file(&self, name: &Value, bytes: &[u8]) -> Result<(), String> {
        file::write(name.bytes(), bytes, &|| self.interrupt.wished())
    }

    /// Opens a file of which parts are read when they are needed.
    fn open_source(&self, name: &Value) -> Result<Source, String> {
        Source::open(name.bytes(), self.memory, &|| self.interrupt.wished())
    }

    /// Returns the bytes that a text may have: its length is an int.
    fn max_text_bytes(&self) -> u64 {
        self.memory.min(self.precision.max_int().unsigned_abs())
    }

    fn csv_parts(&mut self, args: &[Value], types: &[Ty]) -> Result<Vec<Part>, String> {
        let [_, names, separator, name] = spread(args);
        let [row, _, _, _] = spread(types);
        let names: Vec<Vec<u8>> =
            names.elements().iter().map(|name| name.bytes().to_vec()).collect();
        self.streams.flush();
        csv::read_parts(&csv::Table {
            source: Arc::new(self.open_source(&name)?),
            name: &shown(&name),
            row: &row,
            names: &names,
            separator: separator.as_char().or_bug("a separator is a char"),
            precision: self.precision,
            threads: self.threads.unwrap_or_else(available_threads),
            part_bytes: csv::PART_BYTES,
            memory: self.memory,
            stop: &|| self.interrupt.wished(),
        })
    }

    fn npy_parts(&mut self, args: &[Value], types: &[Ty]) -> Result<Vec<Part>, String> {
        let [_, name] = spread(args);
        let [ty, _] = spread(types);
        self.streams.flush();
        npy::read_parts(self.open_source(&name)?, &shown(&name), &ty, self.precision)
    }

    fn write_csv(&mut self, args: &[Value], types: &[Ty]) -> Result<Value, String> {
        let [rows, header, name] = spread(args);
        let [ty, _, _] = spread(types);
        let stop = || self.interrupt.wished();
        let text = csv::write(&rows, &ty, header.bytes(), self.precision, &stop)?;
        self.write_file(&name, &text)?;
        Ok(Value::Bool(true))
    }

    fn write_npy(&mut self, args: &[Value], types: &[Ty]) -> Result<Value, String> {
        let [array, name] = spread(args);
        let [ty, _] = spread(types);
        let bytes = npy::write(&array, &ty, self.precision, &|| self.interrupt.wished())?;
        self.write_file(&name, &bytes)?;
        Ok(Value::Bool(true))
    }

    fn read_matrix_market(&mut self, name: &Value) -> Result<Value, String> {
        let text = self.read_file(name)?;
        Ok(matrix_market::read(&text, &shown(name), self.precision)?.into_value())
    }

    fn write_matrix_market(&mut self, args: &[Value]) -> Result<Value, String> {
        // The matrix is itself a pair, so there are two arguments and never three.
        let [matrix, name] = spread(args);
        let stop = || self.interrupt.wished();
        self.write_file(&name, &matrix_market::write(&matrix, self.precision, &stop)?)?;
        Ok(Value::Bool(true))
    }

    fn make_window(&mut self, args: &[Value]) -> Result<Value, String> {
        let [title, width, height, colour] = spread(args);
        let title = text::decode(title.bytes().to_vec());
        let sizes = [width.int(), height.int()];
        self.pictures.open(title, sizes, colour.int()).map(Value::Int)
    }

    fn draw(&mut self, args: &[Value]) -> Result<Value, String> {
        let [window, shape, colour, size, numbers, text] = spread(args);
        let Value::Sequence(numbers) = &numbers else { bug!("{numbers:?} are not numbers") };
        let mark = picture::Mark {
            shape: shape.int(),
            colour: colour.int(),
            size: size.int(),
            numbers: floats(numbers),
            text: text.bytes(),
        };
        self.pictures.draw(window.int(), mark)?;
        Ok(Value::Bool(true))
    }
}

/// Something that may be a tuple: a value or a type.
pub(super) trait Tuple: Clone {
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
pub(super) fn spread<T: Tuple + std::fmt::Debug, const N: usize>(args: &[T]) -> [T; N] {
    let mut all = args.to_vec();
    while all.len() < N {
        let Some((first, rest)) = all.last().and_then(Tuple::halves) else {
            break;
        };
        all.pop();
        all.extend([first, rest]);
    }
    all.try_into().or_bug("an operation has as many arguments as its type says")
}

fn fault(message: String) -> Fault {
    Fault::with(FaultCode::Host, message)
}

/// A file's name in messages.
fn shown(name: &Value) -> String {
    String::from_utf8_lossy(name.bytes()).into_owned()
}

/// The pair `(ok, message)` of an operation on a stream.
fn status(result: Result<(), String>) -> Value {
    let message = result.err();
    Value::pair(Value::Bool(message.is_none()), Value::text(message.unwrap_or_default()))
}

/// The result `(stream, (ok, message))`; the stream is [`NOT_OPENED`] when opening it failed.
fn opened(result: Result<i64, String>) -> Value {
    match result {
        Ok(stream) => Value::pair(Value::Int(stream), status(Ok(()))),
        Err(message) => Value::pair(Value::Int(NOT_OPENED), status(Err(message))),
    }
}

/// The result `(value, (ok, message))` of type `result`; the value is zero when reading it failed.
fn answer(value: Result<Value, String>, result: &Ty) -> Value {
    match value {
        Ok(value) => Value::pair(value, status(Ok(()))),
        Err(message) => {
            let zero = match result {
                Ty::Pair(value, _) => zero(value),
                other => bug!("a result of type {other:?} has no place for a message"),
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
