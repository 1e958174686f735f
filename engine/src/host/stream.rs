//! Open streams, by number: 0, 1 and 2 are the standard ones, -1 is none (nothing to read, and
//! what is written to it is gone), -2 is one that could not be opened, the others were opened. A number is never used
//! twice, so a stream that was closed cannot be taken for another.

use super::file::{MAX_STREAM_BYTES, Waiting, complaint, path, reason, too_large};
use super::process;
use super::wait::{Interrupt, Pump};
use super::{LineInput, NOT_OPENED};
use nesl_core::interp::Value;
use nesl_core::prim::HostOp;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, IsTerminal, Write};
use std::process::Child;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(super) struct Streams {
    open: BTreeMap<i64, Stream>,
    next: i64,
    /// Standard input; the process's if there is no other.
    input: Option<Asked>,
    /// The standard stream for errors; the process's if there is no other.
    errors: Option<Box<dyn Write + Send>>,
    /// True if some of the line that the terminal gave last is still to be read.
    line_left: bool,
    /// Something was written that may not have gone out.
    dirty: bool,
    children: Vec<Child>,
    interrupt: Interrupt,
}

enum Stream {
    Input(Box<dyn BufRead + Send>),
    Output(Box<dyn Write + Send>),
}

/// The reason for which a piece of text ended.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Delimiter(u8),
    File,
    Limit,
}

impl Streams {
    pub(super) fn new() -> Streams {
        Streams {
            open: BTreeMap::new(),
            next: 3,
            input: None,
            errors: None,
            line_left: false,
            dirty: false,
            children: Vec::new(),
            interrupt: Interrupt::default(),
        }
    }

    pub(super) fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.interrupt = interrupt;
    }

    pub(super) fn set_input(&mut self, input: Box<dyn LineInput>) {
        self.input = Some(Asked { input, line: Vec::new(), taken: 0, question: String::new() });
    }

    pub(super) fn set_error_output(&mut self, output: Box<dyn Write + Send>) {
        self.errors = Some(output);
    }

    /// Hands a question to whoever gives the next line; false if nobody is there to show it.
    pub(super) fn ask(&mut self, question: &str) -> bool {
        self.input.as_mut().is_some_and(|asked| {
            asked.question = question.to_owned();
            true
        })
    }

    /// Returns true if an operation is about to wait for standard input.
    pub(super) fn reads_input(&self, op: HostOp, args: &[Value]) -> bool {
        match op {
            HostOp::ReadChar | HostOp::ReadLine | HostOp::ReadWord => args[0].int() == 0,
            HostOp::ReadStreamObject => super::operations::spread::<_, 2>(args)[1].int() == 0,
            HostOp::ReadText => super::operations::spread::<_, 3>(args)[2].int() == 0,
            _ => false,
        }
    }

    pub(super) fn open_in(&mut self, name: &[u8]) -> Result<i64, String> {
        let (file, metadata) =
            super::file::open(&path(name)).map_err(|e| complaint("open", name, &e))?;
        if metadata.is_file() {
            return Ok(self.add(Stream::Input(Box::new(BufReader::new(file)))));
        }
        let interrupt = self.interrupt.clone();
        let waiting = Waiting::new(file, move || interrupt.wished());
        Ok(self.add(Stream::Input(Box::new(BufReader::new(waiting)))))
    }

    pub(super) fn open_out(&mut self, name: &[u8], append: bool) -> Result<i64, String> {
        let mut options = File::options();
        options.create(true).append(append);
        if !append {
            options.write(true).truncate(true);
        }
        let file = options.open(path(name)).map_err(|e| complaint("open", name, &e))?;
        Ok(self.add(Stream::Output(Box::new(BufWriter::new(file)))))
    }

    /// Streams to a command's input and from its output and errors.
    pub(super) fn spawn(&mut self, command: &[u8]) -> Result<[i64; 3], String> {
        self.reap();
        let spawned = process::spawn(command)?;
        self.children.push(spawned.child);
        // Unbuffered: the command must see what it is sent before its answer is read.
        Ok([
            self.add(Stream::Output(Box::new(spawned.input))),
            self.add(Stream::Input(Box::new(Pump::new(spawned.output, self.interrupt.clone())))),
            self.add(Stream::Input(Box::new(Pump::new(spawned.errors, self.interrupt.clone())))),
        ])
    }

    pub(super) fn close(&mut self, stream: i64) -> Result<(), String> {
        let closed = match stream {
            0..=2 => Err("a standard stream cannot be closed".to_owned()),
            -1 => Ok(()),
            _ => match self.open.remove(&stream) {
                Some(Stream::Output(mut writer)) => writer.flush().map_err(|e| reason(&e)),
                Some(Stream::Input(_)) => Ok(()),
                None => Err(not_open(stream)),
            },
        };
        self.reap();
        closed
    }

    /// Writes to a stream other than standard output.
    pub(super) fn write(&mut self, stream: i64, text: &[u8]) -> Result<(), String> {
        let written = match stream {
            -1 => Ok(()),
            2 => match &mut self.errors {
                Some(writer) => writer.write_all(text),
                None => io::stderr().lock().write_all(text),
            },
            0 => return Err("standard input cannot be written to".to_owned()),
            _ => match self.open.get_mut(&stream) {
                Some(Stream::Output(writer)) => {
                    self.dirty = true;
                    writer.write_all(text)
                }
                Some(Stream::Input(_)) => {
                    return Err("the stream is open for reading, not for writing".to_owned());
                }
                None => return Err(not_open(stream)),
            },
        };
        written.map_err(|e| reason(&e))
    }

    /// Lets all that was written go out. What fails now fails again when the stream is closed.
    pub(super) fn flush(&mut self) {
        if std::mem::take(&mut self.dirty) {
            for stream in self.open.values_mut() {
                if let Stream::Output(writer) = stream {
                    let _ = writer.flush();
                }
            }
        }
    }

    /// The next char; none at the end.
    pub(super) fn read_char(&mut self, stream: i64) -> Result<Option<u8>, String> {
        let (text, _) = self.read(stream, |reader| until(reader, Some(1), |_| false))?;
        Ok(text.first().copied())
    }

    /// The text up to the end of the line or of the file, and whether it was that of the file.
    pub(super) fn read_line(&mut self, stream: i64) -> Result<(Vec<u8>, bool), String> {
        let (text, end) = self.read(stream, |reader| until(reader, None, |c| c == b'\n'))?;
        Ok((text, end == End::File))
    }

    /// The next word and the char after it, if it is not the end of the file that is there.
    pub(super) fn read_word(&mut self, stream: i64) -> Result<(Vec<u8>, Option<u8>), String> {
        let blank = |c| matches!(c, b' ' | b'\t' | b'\n');
        loop {
            let (text, end) = self.read(stream, |reader| until(reader, None, blank))?;
            match end {
                End::Delimiter(_) if text.is_empty() => {}
                End::Delimiter(c) => return Ok((text, Some(c))),
                End::File | End::Limit => return Ok((text, None)),
            }
        }
    }

    /// The text up to a delimiter, and the delimiter's code; -1 at the end of the file, -2 at the
    /// limit.
    pub(super) fn read_text(
        &mut self,
        stream: i64,
        delimiters: &[u8],
        limit: Option<usize>,
    ) -> Result<(Vec<u8>, i64), String> {
        let (text, end) =
            self.read(stream, |reader| until(reader, limit, |c| delimiters.contains(&c)))?;
        let code = match end {
            End::Delimiter(c) => i64::from(c),
            End::File => -1,
            End::Limit => -2,
        };
        Ok((text, code))
    }

    /// Reads a stream to its end.
    pub(super) fn read_rest(&mut self, stream: i64) -> Result<Vec<u8>, String> {
        let (text, _) = self.read(stream, |reader| until(reader, None, |_| false))?;
        Ok(text)
    }

    /// Puts text back before what is to be read next from a stream that has come to its end.
    pub(super) fn put_back(&mut self, stream: i64, text: &[u8]) {
        if let Some(Stream::Input(reader)) = self.open.get_mut(&stream) {
            *reader = Box::new(io::Cursor::new(text.to_vec()));
        }
    }

    fn read<R>(
        &mut self,
        stream: i64,
        read: impl FnOnce(&mut dyn BufRead) -> io::Result<R>,
    ) -> Result<R, String> {
        let result = match stream {
            // The process's input is locked only while it is read: the prompt reads it, too.
            0 => match &mut self.input {
                Some(reader) => read(reader),
                None => {
                    let (left, interrupt) = (&mut self.line_left, &self.interrupt);
                    read(&mut Terminal { input: io::stdin().lock(), left, interrupt })
                }
            },
            -1 => read(&mut io::empty()),
            1 | 2 => return Err("a standard output cannot be read from".to_owned()),
            _ => match self.open.get_mut(&stream) {
                Some(Stream::Input(reader)) => read(reader),
                Some(Stream::Output(_)) => {
                    return Err("the stream is open for writing, not for reading".to_owned());
                }
                None => return Err(not_open(stream)),
            },
        };
        result.map_err(|e| reason(&e))
    }

    fn add(&mut self, stream: Stream) -> i64 {
        let number = self.next;
        self.next += 1;
        self.open.insert(number, stream);
        number
    }

    /// Ends the commands that are still at work.
    pub(super) fn kill(&mut self) {
        for mut child in std::mem::take(&mut self.children) {
            let _ = child.kill().and_then(|()| child.wait());
        }
    }

    /// Forgets commands that have ended.
    fn reap(&mut self) {
        self.children.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    }
}

/// The process's standard input, waited for if it is a terminal.
struct Terminal<'a> {
    input: io::StdinLock<'static>,
    left: &'a mut bool,
    interrupt: &'a Interrupt,
}

impl BufRead for Terminal<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let is_new = !*self.left;
        if is_new {
            self.interrupt.wait_for_terminal()?;
        }
        let is_terminal = is_new && self.input.is_terminal();
        let buffer = self.input.fill_buf()?;
        if is_terminal && buffer.ends_with(b"\n") {
            LINES_TYPED.fetch_add(1, Ordering::Relaxed);
        }
        *self.left = !buffer.is_empty();
        Ok(buffer)
    }

    fn consume(&mut self, amount: usize) {
        // What was given is still there, so that this does not wait.
        let given = if *self.left { self.input.fill_buf().map_or(0, <[u8]>::len) } else { 0 };
        *self.left = given > amount;
        self.input.consume(amount);
    }
}

impl io::Read for Terminal<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let amount = self.fill_buf()?.len().min(into.len());
        let read = self.input.read(&mut into[..amount])?;
        *self.left = read == amount && amount == into.len();
        Ok(read)
    }
}

/// The number of lines that programs have read from a terminal.
static LINES_TYPED: AtomicUsize = AtomicUsize::new(0);

/// Returns how many lines programs have read from a terminal, which has shown each with its end: what is printed next
/// stands at the beginning of a line.
pub fn lines_typed() -> usize {
    LINES_TYPED.load(Ordering::Relaxed)
}

/// Lines that somebody is asked for.
struct Asked {
    input: Box<dyn LineInput>,
    /// The last line, with its end.
    line: Vec<u8>,
    /// The number of its bytes that were read.
    taken: usize,
    /// The question that the next line answers.
    question: String,
}

impl BufRead for Asked {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken == self.line.len() {
            self.taken = 0;
            self.line.clear();
            let question = std::mem::take(&mut self.question);
            if let Some(line) = self.input.line(&question)? {
                self.line.extend_from_slice(line.as_bytes());
                self.line.push(b'\n');
            }
        }
        Ok(&self.line[self.taken..])
    }

    fn consume(&mut self, amount: usize) {
        self.taken = (self.taken + amount).min(self.line.len());
    }
}

impl io::Read for Asked {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let amount = available.len().min(into.len());
        into[..amount].copy_from_slice(&available[..amount]);
        self.consume(amount);
        Ok(amount)
    }
}

fn not_open(stream: i64) -> String {
    match stream {
        NOT_OPENED => "the stream could not be opened".to_owned(),
        _ => format!("stream {stream} is not open"),
    }
}

/// Reads up to a delimiter, which is read and dropped, or up to `limit` chars.
fn until(
    reader: &mut dyn BufRead,
    limit: Option<usize>,
    is_delimiter: impl Fn(u8) -> bool,
) -> io::Result<(Vec<u8>, End)> {
    let mut text = Vec::new();
    loop {
        let room = limit.map_or(usize::MAX, |limit| limit - text.len());
        if room == 0 {
            return Ok((text, End::Limit));
        }
        let buffer = match reader.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() {
            return Ok((text, End::File));
        }
        let buffer = &buffer[..buffer.len().min(room)];
        if let Some(place) = buffer.iter().position(|c| is_delimiter(*c)) {
            let delimiter = buffer[place];
            text.extend_from_slice(&buffer[..place]);
            reader.consume(place + 1);
            return Ok((text, End::Delimiter(delimiter)));
        }
        text.extend_from_slice(buffer);
        let read = buffer.len();
        reader.consume(read);
        if text.len() > MAX_STREAM_BYTES {
            return Err(too_large(MAX_STREAM_BYTES as u64));
        }
    }
}
