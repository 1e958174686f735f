//! What compiled kernels and the launcher tell each other about a chunk of points: an array of
//! 8-byte words, a header and then some slots for each sink.

/// Words before the slots.
pub const HEADER: usize = 5;

/// The first point.
pub const FIRST: usize = 0;
/// The point behind the last.
pub const LAST: usize = 1;
/// The segment of the first point.
pub const SEGMENT: usize = 2;
/// The segment behind that of the last.
pub const SEGMENTS: usize = 3;
/// The chunk's number and 1.
pub const TAG: usize = 4;

/// Slots of a sink.
pub const SLOTS: usize = 5;

/// Before the chunk: what a scan carries, the place of a pack, the tags of a scatter.
/// After it: the reduction of the chunk, or of the part of its first segment.
pub const CARRY: usize = 0;
/// After the chunk: the scan so far, the place of a pack, the reduction of the part of the last
/// segment, if that is not the first.
pub const TOTAL: usize = 1;
/// How many a pack kept of the part of the first segment.
pub const FIRST_COUNT: usize = 2;
/// How many a pack kept of the part of the last segment, if that is not the first.
pub const LAST_COUNT: usize = 3;
/// Where what is not kept is written.
pub const ASIDE: usize = 4;
