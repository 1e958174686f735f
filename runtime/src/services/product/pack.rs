//! Packing: rows of a factor, copied so that a tile reads them one behind the other.
//!
//! ```text
//! rows of a panel     a0 a1 a2 …     packed     a0 b0 c0 d0 a1 b1 c1 d1 …
//!                     b0 b1 b2 …
//!                     c0 c1 c2 …
//!                     d0 d1 d2 …
//! ```
//!
//! The last panel may have fewer rows than there are lanes; zeros take the place of the others, and what
//! is computed from them is never used.

use super::Factor;
use super::tile::Float;

/// Rows that are copied at the same time: their elements at one place are stored together.
const TOGETHER: usize = 4;

/// The panels of some rows of a factor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Panels {
    /// The number of rows of a panel, a multiple of 4.
    pub(super) lanes: usize,
    /// The number of rows.
    pub(super) rows: usize,
}

impl Panels {
    /// The number of panels.
    pub(super) fn count(&self) -> usize {
        self.rows.div_ceil(self.lanes)
    }

    /// The number of elements of all panels of a chunk.
    pub(super) fn elements(&self, chunk: usize) -> usize {
        self.count() * self.lanes * chunk
    }

    /// The number of panels that have about so many rows.
    pub(super) fn per_task(&self, rows: usize) -> usize {
        (rows / self.lanes).max(1)
    }

    /// Packs all panels of the rows from the first one on.
    ///
    /// # Safety
    /// As for [`Panels::pack`], for each panel.
    pub(super) unsafe fn pack_all<T: Float>(
        &self,
        factor: &Factor<'_, T>,
        from: usize,
        chunk: usize,
        to: *mut T,
    ) {
        for panel in 0..self.count() {
            // SAFETY: there is room for each panel.
            unsafe { self.pack(factor, panel, 0, from, chunk, to.add(panel * self.lanes * chunk)) };
        }
    }

    /// Packs a panel: its rows, of those from `first` on, at `chunk` places from `from` on.
    ///
    /// # Safety
    /// The rows exist and have these places, `to` has room for `lanes * chunk` elements, and nobody else
    /// accesses it.
    pub(super) unsafe fn pack<T: Float>(
        &self,
        factor: &Factor<'_, T>,
        panel: usize,
        first: usize,
        from: usize,
        chunk: usize,
        to: *mut T,
    ) {
        let row = panel * self.lanes;
        let count = self.lanes.min(self.rows - row);
        let starts = factor.starts;
        // SAFETY: the caller says that all rows and places exist.
        unsafe {
            if factor.turned {
                for place in 0..chunk {
                    let source = factor.pool.offset(starts[from + place] as isize).add(first + row);
                    let to = to.add(place * self.lanes);
                    std::ptr::copy_nonoverlapping(source, to, count);
                    for lane in count..self.lanes {
                        *to.add(lane) = T::ZERO;
                    }
                }
                return;
            }
            for lane in (0..self.lanes).step_by(TOGETHER) {
                let start = |row: usize| factor.pool.offset(starts[first + row] as isize).add(from);
                if lane + TOGETHER <= count {
                    let sources: [*const T; TOGETHER] =
                        std::array::from_fn(|at| start(row + lane + at));
                    for place in 0..chunk {
                        let to = to.add(place * self.lanes + lane);
                        for (at, source) in sources.iter().enumerate() {
                            *to.add(at) = *source.add(place);
                        }
                    }
                    continue;
                }
                for lane in lane..lane + TOGETHER {
                    let source = (lane < count).then(|| start(row + lane));
                    for place in 0..chunk {
                        let element = source.map_or(T::ZERO, |source| *source.add(place));
                        *to.add(place * self.lanes + lane) = element;
                    }
                }
            }
        }
    }
}
