//! The world outside the language: files, streams, formats, the shell.
//!
//! Functions of the original follow its convention: failure is a value, `(…, (ok, message))`. The
//! readers and writers of formats fault instead, with the file's name, line and column. Nothing a
//! file contains can cause a panic or an allocation larger than the file warrants.

mod csv;
mod matrix_market;
mod npy;
mod object;
mod stream;

use nesl_core::interp::{Host, Sequence, Value};
use nesl_core::ir::Ty;
use nesl_core::prim::HostOp;
use nesl_runtime::fault::{Fault, FaultCode};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Instant;
use stream::Streams;

/// The computer the session runs on.
pub struct System {
    output: Box<dyn Write + Send>,
    streams: Streams,
    seed: u64,
    start: Instant,
}

impl System {
    /// A world that writes to standard output.
    pub fn new(seed: u64) -> System {
        System {
            output: Box::new(std::io::stdout()),
            streams: Streams::default(),
            seed,
            start: Instant::now(),
        }
    }

    /// Sends what programs print elsewhere.
    pub fn set_output(&mut self, output: Box<dyn Write + Send>) {
        self.output = output;
    }

    /// Sets the seed of the random numbers.
    pub fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
    }

    /// Hands on what has been printed.
    pub fn flush(&mut self) {
        // Nobody listens any more: nothing a program could do about it.
        let _ = self.output.flush();
        self.streams.flush();
    }

    fn stream(&mut self, op: HostOp, args: &[Value]) -> Value {
        match op {
            HostOp::WriteText => {
                let number = args[1].int();
                if number == 1 {
                    self.print(args[0].bytes());
                    return status(Ok(()));
                }
                status(self.streams.write(number, args[0].bytes()))
            }
            HostOp::OpenIn => opened(self.streams.open_in(&name(&args[0]))),
            HostOp::OpenOut => opened(self.streams.open_out(&name(&args[0]), false)),
            HostOp::OpenAppend => opened(self.streams.open_out(&name(&args[0]), true)),
            HostOp::Close => status(self.streams.close(args[0].int())),
            HostOp::ReadChar => {
                let read = self.streams.read_char(args[0].int());
                with_status(read.map(|c| {
                    Value::pair(Value::Char(c.unwrap_or(b' ')), Value::Bool(c.is_none()))
                }), || Value::pair(Value::Char(b' '), Value::Bool(true)))
            }
            HostOp::ReadLine => {
                let read = self.streams.read_line(args[0].int());
                with_status(
                    read.map(|(line, end)| Value::pair(Value::text(line), Value::Bool(end))),
                    || Value::pair(Value::text(""), Value::Bool(true)),
                )
            }
            HostOp::ReadWord => {
                let value = |(word, delimiter, end): (Vec<u8>, u8, bool)| {
                    let rest = Value::pair(Value::Char(delimiter), Value::Bool(end));
                    Value::pair(Value::text(word), rest)
                };
                let read = self.streams.read_word(args[0].int());
                with_status(read.map(value), || value((Vec::new(), b' ', true)))
            }
            HostOp::ReadText => {
                let (max, number) = pair(&args[1]);
                let read = self.streams.read_text(args[0].bytes(), max.int(), number.int());
                with_status(
                    read.map(|(text, which)| Value::pair(Value::text(text), Value::Int(which))),
                    || Value::pair(Value::text(""), Value::Int(-1)),
                )
            }
            other => unreachable!("{other:?} is not about streams"),
        }
    }

    fn file(&mut self, op: HostOp, args: &[Value], types: &[Ty], result: &Ty) -> Result<Value, Fault> {
        Ok(match op {
            HostOp::ReadFile => {
                let read = std::fs::read(name(&args[0])).map_err(|e| e.to_string());
                with_status(read.map(Value::text), || Value::text(""))
            }
            HostOp::WriteFile => {
                status(std::fs::write(name(&args[1]), args[0].bytes()).map_err(|e| e.to_string()))
            }
            HostOp::AppendFile => status(append(&name(&args[1]), args[0].bytes())),
            HostOp::WriteObject => {
                let text = object::write(&args[0], &types[0]);
                status(std::fs::write(name(&args[1]), text).map_err(|e| e.to_string()))
            }
            HostOp::ReadObject => {
                let path = name(&args[1]);
                let read = std::fs::read(&path)
                    .map_err(|e| e.to_string())
                    .and_then(|bytes| object::read(&path, &bytes, &types[0]));
                with_status(read, || args[0].clone())
            }
            HostOp::ReadInts | HostOp::ReadFloats => {
                let path = name(&args[0]);
                let bytes = read_file(&path)?;
                let Ty::Sequence(element) = result else { unreachable!("it reads a sequence") };
                object::read_list(&path, &bytes, element).map_err(host_fault)?
            }
            other => unreachable!("{other:?} is not about files"),
        })
    }

    fn format(&mut self, op: HostOp, args: &[Value], types: &[Ty]) -> Result<Value, Fault> {
        match op {
            HostOp::ReadCsv => csv::read(&name(&args[1]), &types[0]),
            HostOp::WriteCsv => {
                let (header, file) = pair(&args[1]);
                csv::write(&args[0], &types[0], header.bytes(), &name(&file))
            }
            HostOp::ReadNpy => npy::read(&name(&args[1]), &types[0]),
            HostOp::WriteNpy => npy::write(&args[0], &types[0], &name(&args[1])),
            HostOp::ReadMatrixMarket => matrix_market::read(&name(&args[0])),
            HostOp::WriteMatrixMarket => matrix_market::write(&args[0], &name(&args[1])),
            other => unreachable!("{other:?} is not about formats"),
        }
    }
}

impl Host for System {
    fn print(&mut self, text: &[u8]) {
        let _ = self.output.write_all(text);
    }

    fn call(&mut self, op: HostOp, args: &[Value], types: &[Ty], result: &Ty) -> Result<Value, Fault> {
        match op {
            HostOp::PrintText => {
                self.print(args[0].bytes());
                Ok(Value::Bool(true))
            }
            HostOp::WriteText
            | HostOp::OpenIn
            | HostOp::OpenOut
            | HostOp::OpenAppend
            | HostOp::Close
            | HostOp::ReadChar
            | HostOp::ReadLine
            | HostOp::ReadWord
            | HostOp::ReadText => Ok(self.stream(op, args)),
            HostOp::Seed => {
                self.seed = args[0].int() as u64;
                Ok(Value::Bool(true))
            }
            HostOp::ReadFile
            | HostOp::WriteFile
            | HostOp::AppendFile
            | HostOp::ReadObject
            | HostOp::WriteObject
            | HostOp::ReadInts
            | HostOp::ReadFloats => self.file(op, args, types, result),
            HostOp::Shell => {
                self.flush();
                shell(&name(&args[0]), args[1].bytes())
            }
            HostOp::Spawn => {
                self.flush();
                let spawned = self.streams.spawn(&name(&args[0]));
                let (numbers, ok) = match spawned {
                    Ok(numbers) => (numbers, true),
                    Err(_) => ([-1; 3], false),
                };
                let last = Value::pair(Value::Int(numbers[2]), Value::Bool(ok));
                Ok(Value::pair(Value::Int(numbers[0]), Value::pair(Value::Int(numbers[1]), last)))
            }
            HostOp::GetEnv => {
                let value = std::env::var(name(&args[0])).unwrap_or_default();
                Ok(Value::text(value))
            }
            HostOp::Prompt => {
                self.print(args[0].bytes());
                self.flush();
                let line = self.streams.read_line(0).map(|(line, _)| line).unwrap_or_default();
                Ok(Value::text(line))
            }
            HostOp::ReadCsv
            | HostOp::WriteCsv
            | HostOp::ReadNpy
            | HostOp::WriteNpy
            | HostOp::ReadMatrixMarket
            | HostOp::WriteMatrixMarket => self.format(op, args, types),
        }
    }

    fn clock(&mut self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn seed(&self) -> u64 {
        self.seed
    }
}

/// `(ok, message)`
fn status(result: Result<(), String>) -> Value {
    let (ok, message) = match result {
        Ok(()) => (true, String::new()),
        Err(message) => (false, message),
    };
    Value::pair(Value::Bool(ok), Value::text(message))
}

/// `(value, (ok, message))`
fn with_status(result: Result<Value, String>, otherwise: impl FnOnce() -> Value) -> Value {
    match result {
        Ok(value) => Value::pair(value, status(Ok(()))),
        Err(message) => Value::pair(otherwise(), status(Err(message))),
    }
}

fn opened(result: Result<i64, String>) -> Value {
    with_status(result.map(Value::Int), || Value::Int(-1))
}

fn pair(value: &Value) -> (Value, Value) {
    match value {
        Value::Pair(pair) => (pair.0.clone(), pair.1.clone()),
        other => unreachable!("{other:?} is not a pair"),
    }
}

/// A string as the name of a file.
fn name(value: &Value) -> String {
    String::from_utf8_lossy(value.bytes()).into_owned()
}

/// A fault of the outside, as it is told.
fn host_fault(message: impl Into<String>) -> Fault {
    Fault::with(FaultCode::Host, message)
}

fn read_file(path: &str) -> Result<Vec<u8>, Fault> {
    std::fs::read(path).map_err(|e| host_fault(format!("cannot read {path}: {e}")))
}

fn write_file(path: &str, bytes: &[u8]) -> Result<Value, Fault> {
    std::fs::write(path, bytes)
        .map(|()| Value::Bool(true))
        .map_err(|e| host_fault(format!("cannot write {path}: {e}")))
}

fn append(path: &str, text: &[u8]) -> Result<(), String> {
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(text)).map_err(|e| e.to_string())
}

/// Runs a command with some input; what it wrote.
fn shell(command: &str, input: &[u8]) -> Result<Value, Fault> {
    let failed = |e: std::io::Error| host_fault(format!("cannot run `{command}`: {e}"));
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let stdin = child.stdin.take();
    let input = input.to_vec();
    // Beside reading, so that neither side waits for the other.
    let writer = std::thread::spawn(move || {
        if let Some(mut stdin) = stdin {
            // A command need not read its input.
            let _ = stdin.write_all(&input);
        }
    });
    let output = child.wait_with_output().map_err(failed)?;
    let _ = writer.join();
    Ok(Value::Sequence(Sequence::Chars(output.stdout.into())))
}
