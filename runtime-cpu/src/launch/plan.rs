//! The division of elements into chunks.
//!
//! A chunk is a range of elements with the segments that contain them. The number of chunks depends on the work,
//! the threads and the sinks; the boundaries of chunks depend on their number only.

use super::Words;
use crate::codegen::KernelCode;
use crate::workers::Workers;
use nesl_runtime::kir::{Sink, Space};
use smallvec::{SmallVec, smallvec};

/// The least work of a chunk, in operations. A launch with less work than two chunks is executed as one, by the
/// calling thread: waking another thread takes about as long.
pub const MIN_CHUNK_OPERATIONS: u64 = 20_000;

/// The largest number of elements per thread for which each element is a chunk of its own, if the work of an
/// element has no bound.
const MAX_SINGLE_ELEMENT_CHUNKS_PER_THREAD: u64 = 64;

/// The number of chunks per thread if elements have about equal work.
const EQUAL_WORK_CHUNKS_PER_THREAD: usize = 4;
/// The number of chunks per thread if the work of elements differs: uneven costs then balance.
const UNEQUAL_WORK_CHUNKS_PER_THREAD: usize = 16;

/// The cost of an element of a private table, in operations: it is filled, and combined with the others, which are in the
/// cache of another processor.
const TABLE_ELEMENT_OPERATIONS: u64 = 64;

/// Chunks begin at multiples of this many elements, so that no vector or cache line is split between two.
const CHUNK_ALIGN_ELEMENTS: u64 = 64;

/// The largest number of chunks of a launch that scatters: a tag is a byte.
const MAX_TAGGED_CHUNKS: usize = 255;

/// The elements `first..last`, which lie in the segments `segment..segments`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub first: u64,
    pub last: u64,
    pub segment: u64,
    pub segments: u64,
}

impl Chunk {
    /// The words of the chunk's state that describe it.
    pub fn words(&self) -> [u64; 4] {
        [self.first, self.last, self.segment, self.segments]
    }
}

/// The size of a space.
#[derive(Clone, Copy, Debug)]
pub struct Extents<'a> {
    pub elements: u64,
    pub segments: u64,
    lengths: Lengths<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Lengths<'a> {
    Flat,
    Regular(u64),
    Segmented(&'a [i64]),
}

impl Extents<'_> {
    /// The extents of a launch's space.
    pub fn of(code: &KernelCode, params: &Words) -> Extents<'static> {
        let word = |value| super::param(code, value).map_or(0, |at| params[at]);
        let number = |value| (word(value) as i64).max(0) as u64;
        match code.kernel.space {
            Space::Flat { count } => {
                Extents { elements: number(count), segments: 1, lengths: Lengths::Flat }
            }
            Space::Regular { segments, length } => {
                let (segments, length) = (number(segments), number(length));
                let elements = segments.saturating_mul(length);
                Extents { elements, segments, lengths: Lengths::Regular(length) }
            }
            Space::Segmented { segments, offsets } => {
                let segments = number(segments);
                let offsets = word(offsets) as *const i64;
                // SAFETY: the contract of the space: one offset more than there are segments, in
                // an array that outlives the launch and is not written by it.
                let offsets = unsafe { std::slice::from_raw_parts(offsets, segments as usize + 1) };
                let elements = offsets[segments as usize].max(0) as u64;
                Extents { elements, segments, lengths: Lengths::Segmented(offsets) }
            }
        }
    }

    /// The index of the first element of a segment; for the number of segments, the number of elements.
    pub fn start(&self, segment: u64) -> u64 {
        match self.lengths {
            Lengths::Flat => segment * self.elements,
            Lengths::Regular(length) => segment * length,
            Lengths::Segmented(offsets) => offsets[segment as usize] as u64,
        }
    }

    /// The first segment that begins at this element or after it.
    fn at_or_after(&self, element: u64) -> u64 {
        match self.lengths {
            Lengths::Flat => u64::from(element > 0),
            Lengths::Regular(0) => 0,
            Lengths::Regular(length) => element.div_ceil(length).min(self.segments),
            Lengths::Segmented(offsets) => {
                offsets.partition_point(|offset| *offset < element as i64) as u64
            }
        }
    }
}

/// Returns true if there are enough elements for whole groups on all threads.
fn is_grouped(code: &KernelCode, extents: &Extents<'_>, threads: usize) -> bool {
    code.group_elements > 1 && extents.elements >= 2 * (code.group_elements * threads) as u64
}

/// The number of chunks of a launch.
fn count(code: &KernelCode, extents: &Extents<'_>, workers: &Workers, tables: &[usize]) -> usize {
    let (threads, grain) = (workers.threads(), workers.grain());
    let work = extents.elements.saturating_mul(code.facts.work.max(1));
    let unbounded = code.facts.unbounded;
    let few =
        unbounded && extents.elements <= MAX_SINGLE_ELEMENT_CHUNKS_PER_THREAD * threads as u64;
    // Several chunks may have passes that a single one has not.
    let may_be_long = few || unbounded && code.phases.len() == 1;
    if threads == 1 || code.single_chunk || (work < 2 * grain && !may_be_long) {
        return 1;
    }
    let sinks = || code.kernel.stages.iter().flat_map(|s| &s.sinks);
    let equal_work = code.facts.work < 200 && !unbounded;
    let mut count = match equal_work {
        _ if few => extents.elements as usize,
        true => threads * EQUAL_WORK_CHUNKS_PER_THREAD,
        false => threads * UNEQUAL_WORK_CHUNKS_PER_THREAD,
    };
    if is_grouped(code, extents, threads) {
        count = count.min(extents.elements as usize / code.group_elements);
    } else if code.group_elements > 1 {
        // Chunks of fewer elements than a group each read all of the memory.
        count = threads;
    }
    if !tables.is_empty() {
        // Each chunk has tables of its own, which are to be smaller than the work.
        let sum: u64 = tables.iter().map(|length| *length as u64).sum();
        let operations = sum.saturating_mul(TABLE_ELEMENT_OPERATIONS);
        let fits = |count: usize| operations.saturating_mul(count as u64) <= work;
        count = match count.min(EQUAL_WORK_CHUNKS_PER_THREAD * threads) {
            many if fits(many) => many,
            _ if fits(threads) => threads,
            _ => return 1,
        };
    }
    if sinks().any(|s| matches!(s, Sink::Scatter { .. })) {
        count = count.min(MAX_TAGGED_CHUNKS);
    }
    // The work of an element without a bound may be many times what is assumed of it.
    let most =
        if unbounded { extents.elements } else { (work / grain).min(extents.elements) }.max(1);
    let count = count.min(most.try_into().unwrap_or(usize::MAX));
    // As many for each thread: of three chunks two would be waited for by one of two threads.
    if count > threads { count - count % threads } else { count }
}

/// Returns true if a launch in several chunks may be too short to wake up other threads for: that is
/// found out by starting alone.
pub fn is_perhaps_short(code: &KernelCode, extents: &Extents<'_>, workers: &Workers) -> bool {
    let work = extents.elements.saturating_mul(code.facts.work.max(1));
    code.facts.unbounded && !code.facts.recursive && work < 2 * workers.grain()
}

/// The chunk of all elements.
pub fn whole(extents: &Extents<'_>) -> Chunk {
    Chunk { first: 0, last: extents.elements, segment: 0, segments: extents.segments }
}

/// Returns the chunks of a launch, at least one.
pub fn chunks(
    code: &KernelCode,
    extents: &Extents<'_>,
    workers: &Workers,
    tables: &[usize],
) -> SmallVec<[Chunk; 1]> {
    let Extents { elements, segments, .. } = *extents;
    let all = whole(extents);
    let count = count(code, extents, workers, tables) as u64;
    if count == 1 {
        return smallvec![all];
    }
    let grouped = is_grouped(code, extents, workers.threads());
    let mut chunks = SmallVec::new();
    let mut last = (0, 0);
    for at in 1..count {
        let mut element = (u128::from(elements) * u128::from(at) / u128::from(count)) as u64;
        let group = code.group_elements as u64;
        if elements / count > 4 * CHUNK_ALIGN_ELEMENTS
            && (!grouped || CHUNK_ALIGN_ELEMENTS.is_multiple_of(group))
        {
            element = element.next_multiple_of(CHUNK_ALIGN_ELEMENTS);
        } else if grouped {
            element = (element + group / 2) / group * group;
        }
        let mut behind = extents.at_or_after(element);
        if code.whole_segments {
            element = extents.start(behind);
        }
        // Those that begin there are the next chunk's, those without elements, too.
        let within = element != extents.start(behind);
        if element <= last.0 || element >= elements {
            continue;
        }
        if within {
            behind -= 1;
        }
        let segments = if within { behind + 1 } else { behind };
        chunks.push(Chunk { first: last.0, last: element, segment: last.1, segments });
        last = (element, behind);
    }
    chunks.push(Chunk { first: last.0, last: elements, segment: last.1, segments });
    chunks
}
