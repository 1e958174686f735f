//! A table read by several threads, each a part of the file at a time.
//!
//! A part begins behind the first newline after a multiple of [`PART_BYTES`]. That newline may lie in a
//! quoted field. So a part is taken only if the one before it, which is known to begin at a record,
//! ends at a record, too; else the one before it is read again together with what follows.

use super::chunk::{self, Cells, Form, Outcome, Rows};
use super::{Column, Layout, is_header, layout};
use crate::host::columns::{Array, Part, Piece, count};
use crate::host::scan::located_in;
use crate::host::source::Source;
use nesl_core::ir::Ty;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir;
use nesl_runtime::scalar::Precision;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// The size of the parts of a file that threads read, in bytes.
pub(in crate::host) const PART_BYTES: u64 = 4 << 20;

/// A table to be read.
pub(in crate::host) struct Table<'a> {
    pub(in crate::host) source: Arc<Source>,
    /// The file's name, for messages.
    pub(in crate::host) name: &'a str,
    /// The type of a row.
    pub(in crate::host) row: &'a Ty,
    /// The names of the columns in the header; none for all of them in order.
    pub(in crate::host) names: &'a [Vec<u8>],
    pub(in crate::host) separator: u8,
    pub(in crate::host) precision: Precision,
    pub(in crate::host) threads: usize,
    /// The size of the parts that threads read, in bytes: [`PART_BYTES`].
    pub(in crate::host) part_bytes: u64,
    /// The number of bytes that the cells may take.
    pub(in crate::host) memory: u64,
    /// Says whether the user asked to stop.
    pub(in crate::host) stop: &'a (dyn Fn() -> bool + Sync),
}

/// Reads the rows of a table, as the parts of a sequence.
pub(in crate::host) fn read(table: &Table<'_>) -> Result<Vec<Part>, String> {
    let complain = |message: String| format!("{}: {message}", table.name);
    if matches!(table.separator, b'"' | b'\n' | b'\r') {
        let message = "a quote or the end of a line cannot separate the fields of a table";
        return Err(complain(message.to_owned()));
    }
    let layout = layout(table.row).map_err(complain)?;
    let head = head(table, &layout)?;
    let form = Form {
        layout: &layout,
        chosen: head.chosen.as_deref(),
        width: head.width,
        separator: table.separator,
        precision: table.precision,
    };
    let rows = Scan { table, form, from: head.end }.run()?;
    Ok(parts(rows, &layout, table.precision))
}

/// The header of a table.
struct Head {
    /// The position behind it.
    end: u64,
    /// The fields of the chosen columns.
    chosen: Option<Vec<usize>>,
    /// The number of fields.
    width: usize,
}

/// Reads the header, if there is one, and finds the chosen columns in it.
fn head(table: &Table<'_>, layout: &Layout) -> Result<Head, String> {
    let mut first: Option<(u64, Vec<Vec<u8>>)> = None;
    let mut end = None;
    let all = (0, table.source.len());
    // The beginning of the second record is the end of the first.
    let done = chunk::for_each_record(
        &table.source,
        all,
        table.separator,
        table.stop,
        &mut |at, fields| {
            if first.is_some() {
                end = Some(at);
                return Err(Outcome::Stopped);
            }
            first = Some((at, fields.all().iter().map(|field| field.to_vec()).collect()));
            Ok(())
        },
    );
    if let (Err(outcome), None) = (done, end) {
        return Err(failure(table, outcome));
    }
    let none = Head { end: 0, chosen: None, width: 0 };
    let Some((at, fields)) = first else { return Ok(none) };
    let end = end.unwrap_or(table.source.len());
    let fields: Vec<&[u8]> = fields.iter().map(Vec::as_slice).collect();
    if !table.names.is_empty() {
        let chosen = choose(table, layout, &fields)
            .map_err(|message| located_in(&table.source, table.name, at, &message))?;
        return Ok(Head { end, chosen: Some(chosen), width: fields.len() });
    }
    if layout.fits(fields.len()) && is_header(&fields, layout, table.precision) {
        return Ok(Head { end, ..none });
    }
    Ok(none)
}

/// Finds the columns with the given names.
fn choose(table: &Table<'_>, layout: &Layout, header: &[&[u8]]) -> Result<Vec<usize>, String> {
    if layout.rest.is_some() || layout.fixed.len() != table.names.len() {
        return Err(format!(
            "the row has {} but {} were chosen",
            layout.describe().replace("field", "component"),
            table.names.len()
        ));
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes.trim_ascii()).into_owned();
    let mut chosen = Vec::with_capacity(table.names.len());
    for name in table.names {
        let mut there = header.iter().enumerate();
        let Some((at, _)) = there.find(|(_, field)| field.trim_ascii() == name.trim_ascii()) else {
            let all: Vec<String> =
                header.iter().map(|field| format!("`{}`", text(field))).collect();
            return Err(format!(
                "no column is named `{}`; there are {}",
                text(name),
                all.join(", ")
            ));
        };
        chosen.push(at);
    }
    Ok(chosen)
}

/// The work of reading what is behind the header.
struct Scan<'a> {
    table: &'a Table<'a>,
    form: Form<'a>,
    from: u64,
}

impl Scan<'_> {
    /// Reads all parts of the file.
    fn run(&self) -> Result<Vec<Rows>, String> {
        let source = &self.table.source;
        let parts = usize::try_from((source.len() - self.from).div_ceil(self.table.part_bytes))
            .unwrap_or(usize::MAX);
        let threads = self.table.threads.clamp(1, parts.max(1));
        let outcomes: Vec<Mutex<Option<Outcome>>> = (0..parts).map(|_| Mutex::default()).collect();
        let next = AtomicUsize::new(0);
        let size = AtomicU64::new(0);
        let enough = AtomicBool::new(false);
        let stop = || enough.load(Relaxed) || (self.table.stop)();
        let work = || {
            loop {
                let at = next.fetch_add(1, Relaxed);
                if at >= parts || stop() {
                    return;
                }
                let outcome = match (self.begin(at), self.begin(at + 1)) {
                    (Ok(from), Ok(to)) => chunk::read(source, (from, to), &self.form, &stop),
                    (Err(error), _) | (_, Err(error)) => Outcome::Unreadable(error),
                };
                if let Outcome::Whole(rows) = &outcome
                    && size.fetch_add(rows.size(), Relaxed) + rows.size() > self.table.memory
                {
                    enough.store(true, Relaxed);
                }
                *outcomes[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        if enough.load(Relaxed) {
            let fault = nesl_runtime::fault::Fault::out_of_memory(
                None,
                size.load(Relaxed),
                self.table.memory,
            );
            return Err(format!(
                "{}: the table is too large: {}",
                self.table.name,
                fault.detail.unwrap_or_default()
            ));
        }
        let outcomes = outcomes.into_iter();
        self.chain(
            outcomes.map(|o| o.into_inner().unwrap_or_else(PoisonError::into_inner)).collect(),
        )
    }

    /// Takes the outcomes of the parts that begin at records, and reads the others again.
    fn chain(&self, outcomes: Vec<Option<Outcome>>) -> Result<Vec<Rows>, String> {
        let source = &self.table.source;
        let parts = outcomes.len();
        let mut all = Vec::with_capacity(parts);
        let mut outcomes: Vec<Outcome> =
            outcomes.into_iter().map(|outcome| outcome.unwrap_or(Outcome::Stopped)).collect();
        let mut at = 0;
        while at < parts {
            let mut outcome = std::mem::replace(&mut outcomes[at], Outcome::Stopped);
            let mut more = 1;
            while matches!(outcome, Outcome::Split) {
                more = (2 * more).min(parts - at);
                let ends = (self.begin(at), self.begin(at + more));
                outcome = match ends {
                    (Ok(from), Ok(to)) => {
                        chunk::read(source, (from, to), &self.form, self.table.stop)
                    }
                    (Err(error), _) | (_, Err(error)) => Outcome::Unreadable(error),
                };
            }
            match outcome {
                Outcome::Whole(rows) => all.push(rows),
                wrong => return Err(failure(self.table, wrong)),
            }
            at += more;
        }
        Ok(all)
    }

    /// Returns the position where a part begins.
    fn begin(&self, part: usize) -> std::io::Result<u64> {
        let source = &self.table.source;
        let end = source.len();
        if part == 0 {
            return Ok(self.from);
        }
        let mut at = self.from.saturating_add((part as u64).saturating_mul(self.table.part_bytes));
        let mut block = [0; 4096];
        while at < end {
            let count = source.read_at(at, &mut block)?;
            match block[..count].iter().position(|c| *c == b'\n') {
                Some(newline) => return Ok(at + newline as u64 + 1),
                None if count == 0 => break,
                None => at += count as u64,
            }
        }
        Ok(end)
    }
}

/// Says what is wrong with a table, and where.
fn failure(table: &Table<'_>, outcome: Outcome) -> String {
    match outcome {
        Outcome::Wrong { record, field, message } => {
            let at = field_start(&table.source, record, field, table.separator);
            located_in(&table.source, table.name, at, &message)
        }
        Outcome::Unreadable(error) => {
            format!("cannot read `{}`: {}", table.name, super::super::file::reason(&error))
        }
        // Who asked to stop does not read this.
        Outcome::Stopped | Outcome::Split | Outcome::Whole(_) => format!("{}: stopped", table.name),
    }
}

/// The position of a field, given that of its record.
fn field_start(source: &Source, record: u64, field: usize, separator: u8) -> u64 {
    let mut at = record;
    let mut block = [0; 4096];
    let (mut begin, mut end) = (0, 0);
    let mut byte = |position: u64| {
        if position >= begin + end || position < begin {
            begin = position;
            end = source.read_at(position, &mut block).unwrap_or(0) as u64;
        }
        (position < begin + end).then(|| block[(position - begin) as usize])
    };
    if at == 0 && [byte(0), byte(1), byte(2)] == [Some(0xEF), Some(0xBB), Some(0xBF)] {
        at = 3;
    }
    while matches!(byte(at), Some(b'\r' | b'\n')) {
        at += 1;
    }
    for _ in 0..field {
        let mut quoted = false;
        while let Some(c) = byte(at) {
            match c {
                b'"' => quoted = !quoted,
                c if c == separator && !quoted => break,
                _ => {}
            }
            at += 1;
        }
        at += 1;
    }
    at
}

/// Puts the rows together: the parts of a sequence of them.
fn parts(rows: Vec<Rows>, layout: &Layout, precision: Precision) -> Vec<Part> {
    let total = rows.iter().map(|rows| rows.count).sum();
    let mut rests: Vec<Vec<i64>> = Vec::with_capacity(rows.len());
    let width = layout.fixed.len() + usize::from(layout.rest.is_some());
    let mut columns: Vec<Vec<Cells>> = (0..width).map(|_| Vec::with_capacity(rows.len())).collect();
    for rows in rows {
        rests.push(rows.rests);
        columns.iter_mut().zip(rows.columns).for_each(|(all, own)| all.push(own));
    }
    let mut parts = vec![count(total)];
    let rest_cells = layout.rest.map(|_| columns.pop().or_bug("the rest has a column"));
    for (cells, column) in columns.into_iter().zip(&layout.fixed) {
        add_column(cells, *column, precision, &mut parts);
    }
    if let (Some(column), Some(cells)) = (layout.rest, rest_cells) {
        add_segments(rests, &mut parts);
        add_column(cells, column, precision, &mut parts);
    }
    parts
}

/// Adds the parts of a column.
fn add_column(cells: Vec<Cells>, column: Column, precision: Precision, parts: &mut Vec<Part>) {
    let ty = match (column, precision) {
        (Column::Int, Precision::Bits64) => kir::Ty::I64,
        (Column::Int, Precision::Bits32) => kir::Ty::I32,
        (Column::Float, Precision::Bits64) => kir::Ty::F64,
        (Column::Float, Precision::Bits32) => kir::Ty::F32,
        (Column::Bool, _) => kir::Ty::Bool,
        (Column::Char | Column::Text, _) => kir::Ty::U8,
    };
    let (bytes, lengths): (Vec<_>, Vec<_>) =
        cells.into_iter().map(|cells| (cells.bytes, cells.lengths)).unzip();
    if column == Column::Text {
        add_segments(lengths, parts);
    }
    let length = bytes.iter().map(|bytes: &Vec<u8>| bytes.len() / ty.size()).sum();
    let pieces = bytes.into_iter().map(Piece::Bytes).collect();
    parts.push(Part::Array(Array { ty, length, pieces }));
}

/// Adds the parts of contiguous segments: where they start, their lengths, and the sum of those.
fn add_segments(lengths: Vec<Vec<i64>>, parts: &mut Vec<Part>) {
    let segments = lengths.iter().map(Vec::len).sum();
    let mut end = 0_i64;
    let mut starts = Vec::with_capacity(lengths.len());
    for lengths in &lengths {
        let mut bytes = Vec::with_capacity(8 * lengths.len());
        for length in lengths {
            bytes.extend_from_slice(&end.to_ne_bytes());
            end += length;
        }
        starts.push(Piece::Bytes(bytes));
    }
    let lengths = lengths.into_iter().map(|lengths| {
        let mut bytes = Vec::with_capacity(8 * lengths.len());
        lengths.iter().for_each(|length| bytes.extend_from_slice(&length.to_ne_bytes()));
        Piece::Bytes(bytes)
    });
    let lengths = lengths.collect();
    parts.push(Part::Array(Array { ty: kir::Ty::I64, length: segments, pieces: starts }));
    parts.push(Part::Array(Array { ty: kir::Ty::I64, length: segments, pieces: lengths }));
    parts.push(count(end as usize));
}
