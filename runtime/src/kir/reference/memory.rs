//! The memory of a launch: arrays of the runtime and those that work items allocate.
//!
//! Every access is checked: that the array is alive, the index in bounds, the element written;
//! and, on arrays of the runtime, that work items do not disturb one another. A violation is
//! returned as a text, and is a bug of the maker of the code.

use crate::fault::{Fault, FaultCode};
use crate::kir::{Literal, Ty};
use std::collections::BTreeMap;
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicU64, Ordering};

/// The elements of an array.
#[derive(Debug)]
pub(super) struct Array {
    pub ty: Ty,
    /// `None` where nothing was written yet.
    pub elements: Vec<Option<Literal>>,
    /// True if it is never written.
    fixed: bool,
    /// The accesses to each element; allocated at the first.
    traces: Vec<Trace>,
}

/// The accesses of a launch to an element.
#[derive(Clone, Copy, Debug)]
struct Trace {
    launch: u64,
    writer: Option<Accessor>,
    reader: Reader,
}

/// The code that accesses an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accessor {
    /// The work item of an index.
    WorkItem(u64),
    /// The sink of a stage; both by number.
    Sink(usize, usize),
    /// The enumeration of the space.
    Space,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    None,
    One(Accessor),
    Many,
}

/// An array from an element on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pointer {
    place: Place,
    start: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Among the arrays of the runtime.
    Shared(usize),
    /// An array of a work item; the numbers ascend and are never used again.
    Own(u64),
}

/// A mark: its number and that of the next array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    serial: u64,
    next: u64,
}

/// The number of bytes in use, their peak and their limit.
#[derive(Debug)]
pub(super) struct Gauge {
    pub limit: u64,
    pub now: AtomicU64,
    pub peak: AtomicU64,
}

/// The memory of a launch.
pub(super) struct Memory<'r> {
    shared: Vec<MutexGuard<'r, Array>>,
    own: BTreeMap<u64, Array>,
    own_bytes: u64,
    next: u64,
    /// Those that may still be compacted to, oldest first.
    marks: Vec<Mark>,
    marked: u64,
    pub gauge: &'r Gauge,
    launch: u64,
    /// The code under execution.
    pub accessor: Accessor,
}

/// The outcome of an access; the error says in words which invariant it breaks.
type Checked<T> = Result<T, String>;

impl Gauge {
    /// Room for so many bytes, if they are allowed.
    pub fn take(&self, bytes: u64) -> Result<(), Fault> {
        let now = self.now.load(Ordering::Relaxed).saturating_add(bytes);
        if now > self.limit {
            let used = self.now.load(Ordering::Relaxed);
            return Err(Fault::out_of_memory(Some(bytes), used, self.limit));
        }
        self.now.store(now, Ordering::Relaxed);
        self.peak.fetch_max(now, Ordering::Relaxed);
        Ok(())
    }

    /// Gives back bytes.
    pub fn give(&self, bytes: u64) {
        self.now.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Array {
    /// An array whose elements are not written; fails when the host has no room.
    pub fn new(ty: Ty, length: usize) -> Result<Array, Fault> {
        let mut elements = Vec::new();
        if elements.try_reserve_exact(length).is_err() {
            return Err(FaultCode::OutOfMemory.into());
        }
        elements.resize(length, None);
        Ok(Array { ty, elements, fixed: false, traces: Vec::new() })
    }

    /// The bytes it takes on a real machine.
    pub fn bytes(&self) -> u64 {
        (self.elements.len() * self.ty.size()) as u64
    }

    fn trace(&mut self, index: usize, launch: u64) -> &mut Trace {
        const FRESH: Trace = Trace { launch: 0, writer: None, reader: Reader::None };
        if self.traces.is_empty() {
            self.traces.resize(self.elements.len(), FRESH);
        }
        let trace = &mut self.traces[index];
        if trace.launch != launch {
            *trace = Trace { launch, ..FRESH };
        }
        trace
    }

    fn note_read(&mut self, index: usize, launch: u64, who: Accessor) -> Checked<()> {
        let trace = self.trace(index, launch);
        if let Some(writer) = trace.writer.filter(|writer| *writer != who) {
            return Err(format!("{who:?} reads element {index}, which {writer:?} writes"));
        }
        trace.reader = match trace.reader {
            Reader::None => Reader::One(who),
            Reader::One(other) if other == who => Reader::One(who),
            Reader::One(_) | Reader::Many => Reader::Many,
        };
        Ok(())
    }

    fn note_write(
        &mut self,
        index: usize,
        launch: u64,
        who: Accessor,
        value: Literal,
    ) -> Checked<()> {
        let old = self.elements[index];
        let trace = self.trace(index, launch);
        if let Some(writer) = trace.writer.filter(|writer| *writer != who)
            && old != Some(value)
        {
            return Err(format!("{who:?} writes element {index}, which {writer:?} writes, too"));
        }
        if !matches!(trace.reader, Reader::None) && trace.reader != Reader::One(who) {
            return Err(format!("{who:?} writes element {index}, which others read"));
        }
        trace.writer = Some(who);
        Ok(())
    }
}

impl<'r> Memory<'r> {
    /// With these arrays of the runtime.
    pub fn new(shared: Vec<MutexGuard<'r, Array>>, gauge: &'r Gauge, launch: u64) -> Memory<'r> {
        Memory {
            shared,
            own: BTreeMap::new(),
            own_bytes: 0,
            next: 0,
            marks: Vec::new(),
            marked: 0,
            gauge,
            launch,
            accessor: Accessor::Space,
        }
    }

    /// An array of the runtime from an element on.
    pub fn shared(&self, array: usize, start: usize) -> Checked<Pointer> {
        let length = self.shared[array].elements.len();
        if start > length {
            return Err(format!("an argument starts at {start} in an array of {length}"));
        }
        Ok(Pointer { place: Place::Shared(array), start })
    }

    /// Allocates an array of the work item.
    pub fn alloc(&mut self, ty: Ty, length: i64) -> Result<Pointer, Fault> {
        let length = usize::try_from(length.max(0)).map_err(|_| FaultCode::OutOfMemory)?;
        let bytes = (length as u64).saturating_mul(ty.size() as u64);
        self.gauge.take(bytes)?;
        self.own_bytes += bytes;
        Ok(self.keep(Array::new(ty, length)?))
    }

    /// An array that is there from the beginning; a new one for each who asks.
    pub fn text(&mut self, text: &[u8]) -> Result<Pointer, Fault> {
        let pointer = self.alloc(Ty::U8, text.len() as i64)?;
        if let Ok(array) = self.array(pointer) {
            array.elements = text.iter().map(|char| Some(Literal::U8(*char))).collect();
            array.fixed = true;
        }
        Ok(pointer)
    }

    fn keep(&mut self, array: Array) -> Pointer {
        let id = self.next;
        self.next += 1;
        self.own.insert(id, array);
        Pointer { place: Place::Own(id), start: 0 }
    }

    /// Frees everything that work items allocated.
    pub fn clear(&mut self) {
        self.own.clear();
        self.gauge.give(std::mem::take(&mut self.own_bytes));
        self.marks.clear();
    }

    /// Begins another work item, whose marks are its own.
    pub fn begin(&mut self, who: Accessor) {
        self.accessor = who;
        self.marks.clear();
    }

    /// Reads an element.
    pub fn load(&mut self, pointer: Pointer, index: i64) -> Checked<Literal> {
        let (who, launch) = (self.accessor, self.launch);
        let (array, at) = self.find(pointer, index)?;
        if matches!(pointer.place, Place::Shared(_)) {
            array.note_read(at, launch, who)?;
        }
        array.elements[at].ok_or_else(|| format!("element {at} was not written"))
    }

    /// Writes an element.
    pub fn store(&mut self, pointer: Pointer, index: i64, value: Literal) -> Checked<()> {
        let (who, launch) = (self.accessor, self.launch);
        let (array, at) = self.find(pointer, index)?;
        if matches!(pointer.place, Place::Shared(_)) {
            array.note_write(at, launch, who, value)?;
        }
        if array.fixed {
            return Err("a text is not written".to_string());
        }
        array.elements[at] = Some(value);
        Ok(())
    }

    /// The same array from an element on.
    pub fn slice(&mut self, pointer: Pointer, start: i64) -> Checked<Pointer> {
        let length = self.array(pointer)?.elements.len();
        let from = usize::try_from(start).ok().and_then(|start| pointer.start.checked_add(start));
        match from {
            Some(from) if from <= length => Ok(Pointer { start: from, ..pointer }),
            _ => Err(out_of_bounds(start, pointer, length)),
        }
    }

    /// Copies elements; those not written stay so.
    pub fn copy(&mut self, from: Pointer, to: Pointer, count: i64) -> Checked<()> {
        if count < 0 {
            return Err(format!("{count} elements to copy"));
        }
        let distance = from.start.abs_diff(to.start);
        let apart = from.place != to.place || distance >= count as usize;
        if !apart && distance > 0 {
            return Err("the arrays overlap".to_string());
        }
        if count > 0 {
            // Both ends at once, lest an absurd count takes forever.
            self.find(from, count - 1)?;
            self.find(to, count - 1)?;
        }
        for index in 0..count {
            let (array, at) = self.find(from, index)?;
            if array.elements[at].is_some() {
                let value = self.load(from, index)?;
                self.store(to, index, value)?;
            } else {
                let (array, at) = self.find(to, index)?;
                array.elements[at] = None;
            }
        }
        Ok(())
    }

    /// The first elements of an array.
    pub fn read(&mut self, pointer: Pointer, count: i64) -> Checked<Vec<Literal>> {
        (0..count).map(|index| self.load(pointer, index)).collect()
    }

    /// Returns a mark.
    pub fn mark(&mut self) -> Mark {
        self.marked += 1;
        let mark = Mark { serial: self.marked, next: self.next };
        self.marks.push(mark);
        mark
    }

    /// Frees what was allocated since a mark but for some arrays, which are moved; also returns whether a
    /// runtime would do so at once, since there is more garbage than elements to move.
    pub fn compact(
        &mut self,
        since: Mark,
        keep: &[(Pointer, i64)],
    ) -> Checked<(Vec<Pointer>, bool)> {
        let Some(at) = self.marks.iter().rposition(|mark| *mark == since) else {
            return Err("the mark is gone: an older one was compacted to".to_string());
        };
        self.marks.truncate(at + 1);
        for (pointer, length) in keep {
            match length {
                0 => self.array(*pointer).map(drop)?,
                _ => self.find(*pointer, *length - 1).map(drop)?,
            }
        }
        let young = self.own.split_off(&since.next);
        let freed: u64 = young.values().map(Array::bytes).sum();
        let mut kept = 0;
        let mut moved = Vec::new();
        for (pointer, length) in keep {
            moved.push(match pointer.place {
                Place::Own(id) if id >= since.next => {
                    let old = &young[&id];
                    let elements = old.elements[pointer.start..][..*length as usize].to_vec();
                    let array = Array { ty: old.ty, elements, fixed: false, traces: Vec::new() };
                    kept += array.bytes();
                    self.keep(array)
                }
                Place::Own(_) | Place::Shared(_) => *pointer,
            });
        }
        // Of an array that is kept twice, in part or whole, there are two from here on.
        self.own_bytes = self.own_bytes - freed + kept;
        self.gauge.give(freed);
        self.gauge.now.fetch_add(kept, Ordering::Relaxed);
        // Less garbage than that a runtime leaves where it is.
        Ok((moved, freed - kept.min(freed) > 2 * kept))
    }

    /// The array behind a pointer and the place in it of an element.
    fn find(&mut self, pointer: Pointer, index: i64) -> Checked<(&mut Array, usize)> {
        let array = self.array(pointer)?;
        let length = array.elements.len();
        let at = usize::try_from(index).ok().and_then(|index| pointer.start.checked_add(index));
        match at {
            Some(at) if at < length => Ok((array, at)),
            _ => Err(out_of_bounds(index, pointer, length)),
        }
    }

    fn array(&mut self, pointer: Pointer) -> Checked<&mut Array> {
        match pointer.place {
            Place::Shared(array) => Ok(&mut *self.shared[array]),
            Place::Own(id) => {
                let array = self.own.get_mut(&id);
                array.ok_or_else(|| "the array was let go of by `compact`".to_string())
            }
        }
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}

fn out_of_bounds(index: i64, pointer: Pointer, length: usize) -> String {
    match pointer.start {
        0 => format!("{index} is out of bounds: there are {length} elements"),
        start => format!("{index} from {start} on is out of bounds: there are {length} elements"),
    }
}
