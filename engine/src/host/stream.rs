//! Streams, by number.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

/// The open streams. 0, 1 and 2 are those of the process; -1 is none.
#[derive(Default)]
pub(super) struct Streams {
    open: BTreeMap<i64, Stream>,
    next: i64,
    /// Waited for when the session ends.
    children: Vec<Child>,
}

enum Stream {
    In(Box<dyn BufRead + Send>),
    Out(BufWriter<File>),
    Command(ChildStdin),
}

/// What a word or a text ends with.
pub(super) type Word = (Vec<u8>, u8, bool);

impl Streams {
    fn add(&mut self, stream: Stream) -> i64 {
        self.next = self.next.max(3);
        self.open.insert(self.next, stream);
        self.next += 1;
        self.next - 1
    }

    pub(super) fn open_in(&mut self, path: &str) -> Result<i64, String> {
        let file = File::open(path).map_err(|e| format!("{path}: {e}"))?;
        Ok(self.add(Stream::In(Box::new(BufReader::new(file)))))
    }

    pub(super) fn open_out(&mut self, path: &str, append: bool) -> Result<i64, String> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).append(append).truncate(!append);
        let file = options.open(path).map_err(|e| format!("{path}: {e}"))?;
        Ok(self.add(Stream::Out(BufWriter::new(file))))
    }

    pub(super) fn close(&mut self, number: i64) -> Result<(), String> {
        match self.open.remove(&number) {
            Some(Stream::Out(mut file)) => file.flush().map_err(|e| e.to_string()),
            Some(Stream::In(_) | Stream::Command(_)) => Ok(()),
            None if (0..3).contains(&number) => Ok(()),
            None => Err("the stream is not open".to_owned()),
        }
    }

    pub(super) fn flush(&mut self) {
        for stream in self.open.values_mut() {
            // A failure shows when the stream is next used, or closed.
            let _ = match stream {
                Stream::Out(file) => file.flush(),
                Stream::Command(input) => input.flush(),
                Stream::In(_) => Ok(()),
            };
        }
    }

    pub(super) fn write(&mut self, number: i64, text: &[u8]) -> Result<(), String> {
        let done = match self.open.get_mut(&number) {
            Some(Stream::Out(file)) => file.write_all(text),
            Some(Stream::Command(input)) => input.write_all(text),
            Some(Stream::In(_)) => return Err("the stream is for reading".to_owned()),
            None if number == 2 => std::io::stderr().write_all(text),
            // `nullstr`
            None if number == -1 => Ok(()),
            None => return Err("the stream is not open".to_owned()),
        };
        done.map_err(|e| e.to_string())
    }

    fn reader<T>(
        &mut self,
        number: i64,
        read: impl FnOnce(&mut dyn BufRead) -> std::io::Result<T>,
    ) -> Result<T, String> {
        let done = match self.open.get_mut(&number) {
            Some(Stream::In(reader)) => read(reader),
            Some(Stream::Out(_) | Stream::Command(_)) => {
                return Err("the stream is for writing".to_owned());
            }
            None if number == 0 => read(&mut std::io::stdin().lock()),
            None if number == -1 => read(&mut std::io::empty()),
            None => return Err("the stream is not open".to_owned()),
        };
        done.map_err(|e| e.to_string())
    }

    pub(super) fn read_char(&mut self, number: i64) -> Result<Option<u8>, String> {
        self.reader(number, |reader| next(reader))
    }

    /// A line without its end, and whether the file ended (before any line end).
    pub(super) fn read_line(&mut self, number: i64) -> Result<(Vec<u8>, bool), String> {
        self.reader(number, |reader| {
            let mut line = Vec::new();
            reader.read_until(b'\n', &mut line)?;
            let whole = line.last() == Some(&b'\n');
            if whole {
                line.pop();
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
            }
            Ok((line, !whole))
        })
    }

    /// The next word, the blank that ended it, and whether the file ended instead.
    pub(super) fn read_word(&mut self, number: i64) -> Result<Word, String> {
        self.reader(number, |reader| {
            let mut word = Vec::new();
            loop {
                match next(reader)? {
                    None => return Ok((word, b' ', true)),
                    Some(c @ (b' ' | b'\t' | b'\n' | b'\r')) if !word.is_empty() => {
                        return Ok((word, c, false));
                    }
                    Some(b' ' | b'\t' | b'\n' | b'\r') => {}
                    Some(c) => word.push(c),
                }
            }
        })
    }

    /// The text up to a delimiter, which is dropped; and which it was, -1 for the end of the
    /// file, -2 when `max` chars have been read.
    pub(super) fn read_text(
        &mut self,
        delimiters: &[u8],
        max: i64,
        number: i64,
    ) -> Result<(Vec<u8>, i64), String> {
        self.reader(number, |reader| {
            let mut text = Vec::new();
            loop {
                if max >= 0 && text.len() as i64 >= max {
                    return Ok((text, -2));
                }
                let Some(c) = next(reader)? else { return Ok((text, -1)) };
                if let Some(which) = delimiters.iter().position(|d| *d == c) {
                    return Ok((text, which as i64));
                }
                text.push(c);
            }
        })
    }

    /// Starts a command; the streams to its input, from its output, from its errors.
    pub(super) fn spawn(&mut self, command: &str) -> Result<[i64; 3], String> {
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("the command has no streams".to_owned());
        };
        self.children.push(child);
        Ok([
            self.add(Stream::Command(input)),
            self.add(Stream::In(Box::new(BufReader::new(output)))),
            self.add(Stream::In(Box::new(BufReader::new(errors)))),
        ])
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.flush();
        self.open.clear();
        for child in &mut self.children {
            // Its input is closed by now; what does not end then is ended.
            if !matches!(child.try_wait(), Ok(Some(_))) {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

fn next(reader: &mut (impl Read + ?Sized)) -> std::io::Result<Option<u8>> {
    let mut byte = [0];
    loop {
        match reader.read(&mut byte) {
            Ok(0) => return Ok(None),
            Ok(_) => return Ok(Some(byte[0])),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}
