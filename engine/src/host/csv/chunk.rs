//! The records of a part of a file, column by column.

use super::{Column, Layout, bool, check, fields, is_missing, missing};
use crate::host::scan::{expected, float, int};
use crate::host::source::Source;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use nesl_runtime::scalar::Precision;
use std::io;

/// The bytes of a file that are read at a time.
const BLOCK_BYTES: usize = 256 << 10;

/// The complaint about a quoted field that goes to the end of the file.
const NO_CLOSING_QUOTE: &str = "this quote is never closed: a quoted field ends with `\"`, and a quote in it is written `\"\"`";

/// The way in which a table is read.
#[derive(Clone, Copy)]
pub(super) struct Form<'a> {
    pub(super) layout: &'a Layout,
    /// The field of each column in a record, if columns were chosen; else they are in order.
    pub(super) chosen: Option<&'a [usize]>,
    /// The number of fields in the header, if columns were chosen.
    pub(super) width: usize,
    pub(super) separator: u8,
    pub(super) precision: Precision,
}

/// The cells of a column.
#[derive(Default)]
pub(super) struct Cells {
    /// The scalars, or the chars of all texts, as bytes.
    pub(super) bytes: Vec<u8>,
    /// The lengths of texts.
    pub(super) lengths: Vec<i64>,
}

/// Rows of a table: those of all parts of the file that a thread reads, one part behind the other.
///
/// So there are few blocks, which are large, and the system gets each back as soon as it is freed.
pub(super) struct Rows {
    pub(super) count: usize,
    /// The columns of the layout, then that of the rest.
    pub(super) columns: Vec<Cells>,
    /// The number of fields in the rest of each row.
    pub(super) rests: Vec<i64>,
}

/// A place between two rows.
pub(super) struct Mark {
    /// The number of rows before it.
    pub(super) count: usize,
    /// For each column, the numbers of bytes and of lengths before it.
    pub(super) columns: Vec<(usize, usize)>,
    /// The number of rests before it.
    pub(super) rests: usize,
}

/// The outcome of reading a part of a file.
pub(super) enum Outcome {
    /// The part ends where a record ends.
    Whole,
    /// The part ends in a quoted field.
    Split,
    /// A record is wrong: the position where it begins, its wrong field (none if their number is wrong),
    /// and what is wrong.
    Wrong { record: u64, field: usize, message: String },
    /// The file could not be read.
    Unreadable(io::Error),
    /// The user asked to stop.
    Stopped,
}

/// Reads the records between two positions, at the first of which one begins, and adds them to the
/// rows; adds none if the outcome is another than [`Outcome::Whole`].
pub(super) fn read(
    source: &Source,
    (from, to): (u64, u64),
    form: &Form<'_>,
    stop: &(dyn Fn() -> bool + Sync),
    rows: &mut Rows,
) -> Outcome {
    let before = rows.mark();
    let done = for_each_record(source, (from, to), form.separator, stop, &mut |record, fields| {
        rows.push(fields, form).map_err(|(field, message)| Outcome::Wrong {
            record,
            field,
            message,
        })
    });
    match done {
        Ok(()) => Outcome::Whole,
        Err(outcome) => {
            rows.truncate(&before);
            outcome
        }
    }
}

/// Calls a function with the position and the fields of each record between two positions.
///
/// Lines without quotes are taken as they are; the others, and those that go beyond a block, go
/// through the automaton of `csv_core`.
pub(super) fn for_each_record(
    source: &Source,
    (from, to): (u64, u64),
    separator: u8,
    stop: &(dyn Fn() -> bool + Sync),
    take: &mut dyn FnMut(u64, &Fields<'_>) -> Result<(), Outcome>,
) -> Result<(), Outcome> {
    let mut reader = ReaderBuilder::new().delimiter(separator).build();
    if from > 0 {
        // A byte order mark is one at the beginning of the file only.
        skip_byte_order_mark(&mut reader);
    }
    let mut block = vec![0; BLOCK_BYTES.min(usize::try_from(to - from).unwrap_or(BLOCK_BYTES))];
    let (mut begin, mut end) = (0, 0);
    let (mut text, mut ends) = (vec![0; 1024], vec![0; 16]);
    let (mut text_len, mut ends_len) = (0, 0);
    let mut plain_ends = Vec::new();
    // The position of the next byte of the block, and that of the record under way.
    let (mut position, mut record) = (from, from);
    loop {
        let between = text_len == 0 && ends_len == 0;
        // The automaton looks for a byte order mark.
        if between && position > 0 && begin < end {
            let lines = &block[begin..end];
            let read = plain_records(lines, position, separator, &mut plain_ends, take)?;
            begin += read;
            position += read as u64;
            record = position;
        }
        if begin == end && position < to {
            if stop() {
                return Err(Outcome::Stopped);
            }
            let wanted = block.len().min(usize::try_from(to - position).unwrap_or(block.len()));
            let count =
                source.read_at(position, &mut block[..wanted]).map_err(Outcome::Unreadable)?;
            if count == 0 {
                return Err(Outcome::Unreadable(io::Error::other("it ends before its size")));
            }
            (begin, end) = (0, count);
        }
        let is_last = begin == end;
        if is_last && to < source.len() {
            // What follows belongs to others.
            return if between { Ok(()) } else { Err(Outcome::Split) };
        }
        // A record without a newline at the end of the file ends as if there were one.
        let input = if is_last { b"\n" } else { &block[begin..end] };
        let (result, read, wrote, ended) =
            reader.read_record(input, &mut text[text_len..], &mut ends[ends_len..]);
        if !is_last {
            begin += read;
            position += read as u64;
        }
        text_len += wrote;
        ends_len += ended;
        match result {
            // A newline that is copied belongs to a quoted field.
            ReadRecordResult::InputEmpty if is_last && wrote > 0 => {
                let message = NO_CLOSING_QUOTE.to_owned();
                return Err(Outcome::Wrong { record, field: ends_len, message });
            }
            ReadRecordResult::InputEmpty if is_last => return Ok(()),
            ReadRecordResult::InputEmpty => {}
            ReadRecordResult::OutputFull => text.resize(2 * text.len(), 0),
            ReadRecordResult::OutputEndsFull => ends.resize(2 * ends.len(), 0),
            ReadRecordResult::Record => {
                take(record, &Fields { text: &text, ends: &ends[..ends_len], gap: 0 })?;
                (text_len, ends_len) = (0, 0);
                record = position;
            }
            ReadRecordResult::End => return Ok(()),
        }
    }
}

/// Calls a function with the position and the fields of each record at the beginning of some bytes, up
/// to the first line with a quote or without an end; returns the number of bytes read.
///
/// Each `\n` and each `\r` ends a line, and empty lines are no records, as for the automaton.
fn plain_records(
    bytes: &[u8],
    position: u64,
    separator: u8,
    ends: &mut Vec<usize>,
    take: &mut dyn FnMut(u64, &Fields<'_>) -> Result<(), Outcome>,
) -> Result<usize, Outcome> {
    let quote = memchr::memchr(b'"', bytes).unwrap_or(bytes.len());
    let mut at = 0;
    while let Some(length) = memchr::memchr2(b'\n', b'\r', &bytes[at..]) {
        if at + length > quote {
            break;
        }
        if length > 0 {
            let line = &bytes[at..at + length];
            ends.clear();
            ends.extend(line.iter().enumerate().filter(|(_, c)| **c == separator).map(|(i, _)| i));
            ends.push(length);
            take(position + at as u64, &Fields { text: line, ends, gap: 1 })?;
        }
        at += length + 1;
    }
    Ok(at)
}

fn skip_byte_order_mark(reader: &mut Reader) {
    // An empty line is no record.
    reader.read_record(b"\n", &mut [0; 1], &mut [0; 1]);
}

/// The fields of a record.
pub(super) struct Fields<'a> {
    text: &'a [u8],
    ends: &'a [usize],
    /// The number of bytes between two fields.
    gap: usize,
}

impl<'a> Fields<'a> {
    /// Returns the number of fields.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns a field.
    pub(super) fn get(&self, at: usize) -> &'a [u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] + self.gap };
        &self.text[start..self.ends[at]]
    }

    /// Returns all fields.
    pub(super) fn all(&self) -> Vec<&'a [u8]> {
        (0..self.len()).map(|at| self.get(at)).collect()
    }
}

impl Rows {
    /// Returns no rows.
    pub(super) fn new(layout: &Layout) -> Rows {
        let count = layout.fixed.len() + usize::from(layout.rest.is_some());
        let columns = std::iter::repeat_with(Cells::default).take(count).collect();
        Rows { count: 0, columns, rests: Vec::new() }
    }

    /// Returns the place behind the last row.
    pub(super) fn mark(&self) -> Mark {
        let columns = self.columns.iter().map(|c| (c.bytes.len(), c.lengths.len())).collect();
        Mark { count: self.count, columns, rests: self.rests.len() }
    }

    /// Removes the rows behind a place.
    fn truncate(&mut self, at: &Mark) {
        self.count = at.count;
        for (cells, (bytes, lengths)) in self.columns.iter_mut().zip(&at.columns) {
            cells.bytes.truncate(*bytes);
            cells.lengths.truncate(*lengths);
        }
        self.rests.truncate(at.rests);
    }

    /// Adds a record; fails with its wrong field and what is wrong.
    fn push(&mut self, record: &Fields<'_>, form: &Form<'_>) -> Result<(), (usize, String)> {
        let layout = form.layout;
        if let Some(chosen) = form.chosen {
            if record.len() != form.width {
                return Err((0, wrong_count(&fields(form.width), record.len())));
            }
            for ((cells, column), at) in self.columns.iter_mut().zip(&layout.fixed).zip(chosen) {
                cells
                    .push(record.get(*at), *column, form.precision)
                    .map_err(|message| (*at, message))?;
            }
        } else {
            if !layout.fits(record.len()) {
                let mut message = wrong_count(&layout.describe(), record.len());
                if let Some(other) = other_separator(record, layout.fixed.len()) {
                    message += &format!(
                        "; the fields seem to be separated by {other}: use `read_csv_columns`"
                    );
                }
                return Err((0, message));
            }
            for (at, (cells, column)) in self.columns.iter_mut().zip(&layout.fixed).enumerate() {
                cells
                    .push(record.get(at), *column, form.precision)
                    .map_err(|message| (at, message))?;
            }
        }
        if let (Some(column), Some(cells)) = (layout.rest, self.columns.last_mut()) {
            let first = layout.fixed.len();
            // A row without elements is written as an empty field between quotes: an empty line is no record.
            let is_empty = first == 0 && record.len() == 1 && record.get(0).is_empty();
            let fields = if is_empty && column != Column::Text { 0 } else { record.len() };
            for at in first..fields {
                cells
                    .push(record.get(at), column, form.precision)
                    .map_err(|message| (at, message))?;
            }
            self.rests.push((fields - first) as i64);
        }
        self.count += 1;
        Ok(())
    }
}

impl Mark {
    /// Returns the size in bytes of the cells before it, as parts of a value.
    pub(super) fn size(&self) -> u64 {
        let columns = self.columns.iter().map(|(bytes, lengths)| bytes + 16 * lengths);
        (columns.sum::<usize>() + 16 * self.rests) as u64
    }
}

/// Returns the name of the separator that would give a record of one field the wanted number of them.
fn other_separator(record: &Fields<'_>, wanted: usize) -> Option<&'static str> {
    if record.len() != 1 || wanted < 2 {
        return None;
    }
    let separators = [(b';', "`;`"), (b'\t', "tabs"), (b'|', "`|`")];
    let count = |separator| record.get(0).iter().filter(|c| **c == separator).count();
    separators.into_iter().find(|(c, _)| count(*c) + 1 == wanted).map(|(_, name)| name)
}

fn wrong_count(wanted: &str, found: usize) -> String {
    format!("expected {wanted}, found {}", fields(found))
}

impl Cells {
    fn push(&mut self, field: &[u8], column: Column, precision: Precision) -> Result<(), String> {
        let word = field.trim_ascii();
        let bytes = &mut self.bytes;
        match column {
            Column::Int => {
                let x = int(word, precision).map_err(|message| {
                    if is_missing(word) { missing("an int", word) } else { message }
                })?;
                match precision {
                    Precision::Bits64 => bytes.extend_from_slice(&x.to_ne_bytes()),
                    Precision::Bits32 => bytes.extend_from_slice(&(x as i32).to_ne_bytes()),
                }
            }
            Column::Float => {
                let x = if is_missing(word) { f64::NAN } else { float(word, precision)? };
                match precision {
                    Precision::Bits64 => bytes.extend_from_slice(&x.to_ne_bytes()),
                    Precision::Bits32 => bytes.extend_from_slice(&(x as f32).to_ne_bytes()),
                }
            }
            Column::Bool => bytes.push(u8::from(bool(word)?)),
            Column::Char => match field {
                [c] => bytes.push(*c),
                _ => return Err(expected("a char", field)),
            },
            Column::Text => {
                bytes.extend_from_slice(field);
                self.lengths.push(field.len() as i64);
            }
        }
        debug_assert!(column == Column::Float || check(field, column, precision).is_ok());
        Ok(())
    }
}
