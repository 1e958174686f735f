//! Points → chunks.
//!
//! A chunk is a range of points with the segments it touches. How many chunks there are depends
//! on the work, the threads and the sinks; where they begin, on their number only.

use super::Words;
use crate::codegen::KernelCode;
use crate::workers::Workers;
use nesl_runtime::kir::{Sink, Space};
use smallvec::{SmallVec, smallvec};

/// The least work of a chunk, in operations. A launch of less than two of them is one chunk, on
/// the calling thread: handing work to another thread takes about as long.
pub const GRAIN: u64 = 20_000;

/// Points of which each may take any time are taken one by one, if there are no more for each
/// thread.
const FEW: u64 = 64;

/// Chunks for each thread, of steady and of unsteady work.
const STEADY: usize = 4;
const UNSTEADY: usize = 16;

/// Chunks begin at multiples of this, so that vectors and lines of the cache are whole.
const ALIGN: u64 = 64;

/// Tags are bytes.
const TAGS: usize = 255;

/// The points `first..last`, which lie in the segments `segment..segments`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub first: u64,
    pub last: u64,
    pub segment: u64,
    pub segments: u64,
}

impl Chunk {
    /// As compiled code reads it.
    pub fn words(&self) -> [u64; 4] {
        [self.first, self.last, self.segment, self.segments]
    }
}

/// How large a space is.
#[derive(Clone, Copy, Debug)]
pub struct Extents<'a> {
    pub points: u64,
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
    /// The extents of a launch.
    pub fn of(code: &KernelCode, params: &Words) -> Extents<'static> {
        let word = |value| super::param(code, value).map_or(0, |at| params[at]);
        let number = |value| (word(value) as i64).max(0) as u64;
        match code.kernel.space {
            Space::Flat { count } => {
                Extents { points: number(count), segments: 1, lengths: Lengths::Flat }
            }
            Space::Regular { segments, length } => {
                let (segments, length) = (number(segments), number(length));
                let points = segments.saturating_mul(length);
                Extents { points, segments, lengths: Lengths::Regular(length) }
            }
            Space::Segmented { segments, offsets } => {
                let segments = number(segments);
                let offsets = word(offsets) as *const i64;
                // SAFETY: the contract of the space: one offset more than there are segments, in
                // an array that outlives the launch and is not written by it.
                let offsets = unsafe { std::slice::from_raw_parts(offsets, segments as usize + 1) };
                let points = offsets[segments as usize].max(0) as u64;
                Extents { points, segments, lengths: Lengths::Segmented(offsets) }
            }
        }
    }

    /// The index of the first point of a segment; of the point behind the last, for the segment
    /// behind the last.
    pub fn start(&self, segment: u64) -> u64 {
        match self.lengths {
            Lengths::Flat => segment * self.points,
            Lengths::Regular(length) => segment * length,
            Lengths::Segmented(offsets) => offsets[segment as usize] as u64,
        }
    }

    /// The first segment that begins at this point or behind it.
    fn at_or_behind(&self, point: u64) -> u64 {
        match self.lengths {
            Lengths::Flat => u64::from(point > 0),
            Lengths::Regular(0) => 0,
            Lengths::Regular(length) => point.div_ceil(length).min(self.segments),
            Lengths::Segmented(offsets) => {
                offsets.partition_point(|offset| *offset < point as i64) as u64
            }
        }
    }
}

/// Whether there are enough points for whole groups of them on all threads.
fn is_grouped(code: &KernelCode, extents: &Extents<'_>, threads: usize) -> bool {
    code.group_elements > 1 && extents.points >= 2 * (code.group_elements * threads) as u64
}

/// How many chunks there should be.
fn count(code: &KernelCode, extents: &Extents<'_>, workers: &Workers, tables: &[usize]) -> usize {
    let (threads, grain) = (workers.threads(), workers.grain());
    let work = extents.points.saturating_mul(code.facts.work.max(1));
    let few = code.facts.unbounded && extents.points <= FEW * threads as u64;
    if threads == 1 || code.single_chunk || (work < 2 * grain && !few) {
        return 1;
    }
    let sinks = || code.kernel.stages.iter().flat_map(|s| &s.sinks);
    let steady = code.facts.work < 200 && !code.facts.recursive;
    let mut count = match steady {
        _ if few => extents.points as usize,
        true => threads * STEADY,
        false => threads * UNSTEADY,
    };
    if is_grouped(code, extents, threads) {
        count = count.min(extents.points as usize / code.group_elements);
    } else if code.group_elements > 1 {
        // Each chunk goes through all of the memory.
        count = threads;
    }
    if !tables.is_empty() {
        // Each chunk has tables of its own, which are to be smaller than the work.
        let sum: u64 = tables.iter().map(|length| *length as u64).sum();
        let fits = |count: usize| sum.saturating_mul(8 * count as u64) <= work;
        count = match count.min(STEADY * threads) {
            many if fits(many) => many,
            _ if fits(threads) => threads,
            _ => return 1,
        };
    }
    if sinks().any(|s| matches!(s, Sink::Scatter { .. })) {
        count = count.min(TAGS);
    }
    let most = if few { extents.points } else { (work / grain).min(extents.points) }.max(1);
    let count = count.min(most.try_into().unwrap_or(usize::MAX));
    // As many for each thread: of three chunks two would be waited for by one of two threads.
    if count > threads { count - count % threads } else { count }
}

/// Whether a launch in several chunks is perhaps so short that other threads are not worth waking
/// up for it: what it takes is seen when it runs.
pub fn is_perhaps_short(code: &KernelCode, extents: &Extents<'_>, workers: &Workers) -> bool {
    let work = extents.points.saturating_mul(code.facts.work.max(1));
    code.facts.unbounded && !code.facts.recursive && work < 2 * workers.grain()
}

/// The chunks of a launch, at least one.
pub fn chunks(
    code: &KernelCode,
    extents: &Extents<'_>,
    workers: &Workers,
    tables: &[usize],
) -> SmallVec<[Chunk; 1]> {
    let Extents { points, segments, .. } = *extents;
    let all = Chunk { first: 0, last: points, segment: 0, segments };
    let count = count(code, extents, workers, tables) as u64;
    if count == 1 {
        return smallvec![all];
    }
    let grouped = is_grouped(code, extents, workers.threads());
    let mut chunks = SmallVec::new();
    let mut last = (0, 0);
    for at in 1..count {
        let mut point = (u128::from(points) * u128::from(at) / u128::from(count)) as u64;
        if grouped {
            let group = code.group_elements as u64;
            point = (point + group / 2) / group * group;
        } else if points / count > 4 * ALIGN {
            point = point.next_multiple_of(ALIGN);
        }
        let mut behind = extents.at_or_behind(point);
        if code.whole_segments {
            point = extents.start(behind);
        }
        // Those that begin there are the next chunk's, those without points, too.
        let within = point != extents.start(behind);
        if point <= last.0 || point >= points {
            continue;
        }
        if within {
            behind -= 1;
        }
        let segments = if within { behind + 1 } else { behind };
        chunks.push(Chunk { first: last.0, last: point, segment: last.1, segments });
        last = (point, behind);
    }
    chunks.push(Chunk { first: last.0, last: points, segment: last.1, segments });
    chunks
}
