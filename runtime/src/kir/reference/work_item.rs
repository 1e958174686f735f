//! A work item: one index of the space of a launch.

/// The indices of a work item.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkItem {
    /// The segment; 0 in a flat space.
    pub segment: i64,
    /// The position in the segment.
    pub position: i64,
    /// The index in the whole space.
    pub index: i64,
}
