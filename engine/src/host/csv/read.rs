//! A table read by several threads, each a part of the file at a time.
//!
//! A part begins behind the first newline after a multiple of [`PART_BYTES`]. That newline may lie in a
//! quoted field. So a part is taken only if the one before it, which is known to begin at a record,
//! ends at a record, too; else the one before it is read again together with what follows.

use super::chunk::{self, Cells, Form, Mark, Outcome, Rows};
use super::{Column, Layout, is_header, layout};
use crate::host::columns::{Array, Part, Piece, count};
use crate::host::scan::located_in;
use crate::host::source::Source;
use nesl_core::ir::Ty;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir;
use nesl_runtime::scalar::Precision;
use std::ops::Range;
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

/// The rows of a part of the file: where they are among those of a block.
struct PartRows {
    block: usize,
    from: Mark,
    to: Mark,
}

/// The rows of a part, or what is wrong with it.
type PartOutcome = Result<PartRows, Outcome>;

/// The rows of a table, in blocks.
struct Found {
    /// The rows in order.
    parts: Vec<PartRows>,
    blocks: Vec<Rows>,
}

/// The work of reading what is behind the header.
struct Scan<'a> {
    table: &'a Table<'a>,
    form: Form<'a>,
    from: u64,
}

impl Scan<'_> {
    /// Reads all parts of the file.
    fn run(&self) -> Result<Found, String> {
        let source = &self.table.source;
        let parts = usize::try_from((source.len() - self.from).div_ceil(self.table.part_bytes))
            .unwrap_or(usize::MAX);
        let threads = self.table.threads.clamp(1, parts.max(1));
        let outcomes: Vec<Mutex<Option<PartOutcome>>> =
            (0..parts).map(|_| Mutex::default()).collect();
        let next = AtomicUsize::new(0);
        let size = AtomicU64::new(0);
        let enough = AtomicBool::new(false);
        let stop = || enough.load(Relaxed) || (self.table.stop)();
        let work = |thread: usize| {
            let mut rows = Rows::new(self.form.layout);
            loop {
                let at = next.fetch_add(1, Relaxed);
                if at >= parts || stop() {
                    return rows;
                }
                let outcome = self.read(at, at + 1, &stop, thread, &mut rows);
                if let Ok(part) = &outcome {
                    let own = part.to.size() - part.from.size();
                    if size.fetch_add(own, Relaxed) + own > self.table.memory {
                        enough.store(true, Relaxed);
                    }
                }
                *outcomes[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
            }
        };
        let work = &work;
        let blocks = std::thread::scope(|scope| {
            let others: Vec<_> =
                (1..threads).map(|thread| scope.spawn(move || work(thread))).collect();
            let mut blocks = vec![work(0)];
            for other in others {
                blocks.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            blocks
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
        let outcomes = outcomes.into_iter().map(|outcome| {
            let outcome = outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
            outcome.unwrap_or(Err(Outcome::Stopped))
        });
        self.chain(outcomes.collect(), blocks)
    }

    /// Reads the part of the file from one number on to another, behind the rows of a block.
    fn read(
        &self,
        from: usize,
        to: usize,
        stop: &(dyn Fn() -> bool + Sync),
        block: usize,
        rows: &mut Rows,
    ) -> PartOutcome {
        let ends = self.begin(from).and_then(|from| Ok((from, self.begin(to)?)));
        let ends = ends.map_err(Outcome::Unreadable)?;
        let before = rows.mark();
        match chunk::read(&self.table.source, ends, &self.form, stop, rows) {
            Outcome::Whole => Ok(PartRows { block, from: before, to: rows.mark() }),
            other => Err(other),
        }
    }

    /// Takes the outcomes of the parts that begin at records, and reads the others again.
    fn chain(&self, outcomes: Vec<PartOutcome>, blocks: Vec<Rows>) -> Result<Found, String> {
        let mut found = Found { parts: Vec::with_capacity(outcomes.len()), blocks };
        let parts = outcomes.len();
        let mut outcomes = outcomes;
        let mut at = 0;
        while at < parts {
            let mut outcome = std::mem::replace(&mut outcomes[at], Err(Outcome::Stopped));
            let mut more = 1;
            while matches!(outcome, Err(Outcome::Split)) {
                more = (2 * more).min(parts - at);
                let mut rows = Rows::new(self.form.layout);
                let block = found.blocks.len();
                outcome = self.read(at, at + more, self.table.stop, block, &mut rows);
                if outcome.is_ok() {
                    found.blocks.push(rows);
                }
            }
            found.parts.push(outcome.map_err(|wrong| failure(self.table, wrong))?);
            at += more;
        }
        Ok(found)
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
        Outcome::Stopped | Outcome::Split | Outcome::Whole => format!("{}: stopped", table.name),
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
        // A quote means itself, except at the beginning of a field and in one that begins so.
        let quotes = byte(at) == Some(b'"');
        let (mut quoted, mut ended) = (false, false);
        while let Some(c) = byte(at) {
            match c {
                b'"' if quotes && !ended => quoted = !quoted,
                c if c == separator && !quoted => break,
                // What follows a closing quote and is none belongs to the field as it is.
                _ => ended |= !quoted,
            }
            at += 1;
        }
        at += 1;
    }
    at
}

/// The blocks of a column: the cells of each, and the lengths of its texts.
type ColumnBlocks = Vec<(Arc<Vec<u8>>, Arc<Vec<i64>>)>;

/// Puts the rows together: the parts of a sequence of them.
fn parts(found: Found, layout: &Layout, precision: Precision) -> Vec<Part> {
    let Found { parts: rows, blocks } = found;
    let total = rows.iter().map(|part| part.to.count - part.from.count).sum();
    let width = layout.fixed.len() + usize::from(layout.rest.is_some());
    let mut columns: Vec<ColumnBlocks> =
        (0..width).map(|_| Vec::with_capacity(blocks.len())).collect();
    let mut rests = Vec::with_capacity(blocks.len());
    for block in blocks {
        rests.push(Arc::new(block.rests));
        for (all, Cells { bytes, lengths }) in columns.iter_mut().zip(block.columns) {
            all.push((Arc::new(bytes), Arc::new(lengths)));
        }
    }
    let mut parts = vec![count(total)];
    let rest_cells = layout.rest.map(|_| columns.pop().or_bug("the rest has a column"));
    for (at, (blocks, column)) in columns.into_iter().zip(&layout.fixed).enumerate() {
        add_column(&rows, at, blocks, *column, precision, &mut parts);
    }
    if let (Some(column), Some(blocks)) = (layout.rest, rest_cells) {
        let of = |part: &PartRows| (rests[part.block].clone(), part.from.rests..part.to.rests);
        add_segments(rows.iter().map(of), &mut parts);
        add_column(&rows, layout.fixed.len(), blocks, column, precision, &mut parts);
    }
    parts
}

/// Adds the parts of a column.
fn add_column(
    rows: &[PartRows],
    at: usize,
    blocks: ColumnBlocks,
    column: Column,
    precision: Precision,
    parts: &mut Vec<Part>,
) {
    let ty = match (column, precision) {
        (Column::Int, Precision::Bits64) => kir::Ty::I64,
        (Column::Int, Precision::Bits32) => kir::Ty::I32,
        (Column::Float, Precision::Bits64) => kir::Ty::F64,
        (Column::Float, Precision::Bits32) => kir::Ty::F32,
        (Column::Bool, _) => kir::Ty::Bool,
        (Column::Char | Column::Text, _) => kir::Ty::U8,
    };
    if column == Column::Text {
        let of = |part: &PartRows| {
            let range = part.from.columns[at].1..part.to.columns[at].1;
            (blocks[part.block].1.clone(), range)
        };
        add_segments(rows.iter().map(of), parts);
    }
    let ranges = rows
        .iter()
        .map(|part| (&blocks[part.block].0, part.from.columns[at].0..part.to.columns[at].0));
    let bytes: usize = ranges.clone().map(|(_, range)| range.len()).sum();
    let pieces = ranges.map(|(block, range)| Piece::Shared(block.clone(), range)).collect();
    parts.push(Part::Array(Array { ty, length: bytes / ty.size(), pieces }));
}

/// Adds the parts of contiguous segments: where they start, their lengths, and the sum of those.
fn add_segments(
    lengths: impl Iterator<Item = (Arc<Vec<i64>>, Range<usize>)>,
    parts: &mut Vec<Part>,
) {
    let (mut segments, mut end) = (0, 0_i64);
    let (mut starts, mut all_lengths) = (Vec::new(), Vec::new());
    for (block, range) in lengths {
        segments += range.len();
        let first = end;
        end += block[range.clone()].iter().sum::<i64>();
        starts.push(Piece::Starts(block.clone(), range.clone(), first));
        all_lengths.push(Piece::Lengths(block, range));
    }
    let array = |pieces| Part::Array(Array { ty: kir::Ty::I64, length: segments, pieces });
    parts.extend([array(starts), array(all_lengths), count(end as usize)]);
}
