//! Where the bars and the data of a segmented value stand.
//!
//! The same plan serves for pictures, in pixels, and for text, in characters: [`Units`] says how wide
//! things are. Empty segments have a place, too: that they exist is half of the lesson.

use nesl_core::explain::{Level, SegmentedValue};

/// The number of data above which nothing is drawn: pictures are for small values.
const MAX_DATA: usize = 48;

/// How wide things are.
#[derive(Clone, Copy)]
pub(super) struct Units {
    /// The width between two data.
    pub(super) gap: u32,
    /// The width of an empty segment.
    pub(super) empty: u32,
    /// The width behind a segment: of the innermost level, of the next, and of all others.
    pub(super) space: [u32; 3],
}

/// A segment: from where to where it goes, without the end.
pub(super) struct Bar {
    pub(super) row: usize,
    pub(super) index: usize,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) length: u32,
}

/// The place of a datum, and of those of the other components beside it.
pub(super) struct Cell {
    pub(super) x: u32,
    pub(super) width: u32,
    pub(super) index: usize,
    /// The number of the innermost segment.
    pub(super) segment: Option<usize>,
}

/// The places of all segments and data.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) bars: Vec<Bar>,
    pub(super) cells: Vec<Cell>,
    /// The number of rows of bars.
    pub(super) rows: usize,
    pub(super) width: u32,
    /// True if the bars stand below the data, because the segments share or skip some.
    pub(super) below: bool,
}

/// Makes the plan of a value whose data have these widths; `None` if there are too many of them.
pub(super) fn plan(value: &SegmentedValue, widths: &[u32], units: Units) -> Option<Plan> {
    if widths.len() > MAX_DATA {
        return None;
    }
    let mut placing = Placing { levels: &value.levels, widths, units, x: 0, plan: Plan::default() };
    if is_in_order(&value.levels, widths.len()) {
        let roots = value.levels.first().map_or(widths.len(), |level| level.lengths.len());
        (0..roots).for_each(|root| placing.visit(0, root, None));
        placing.plan.rows = value.levels.len();
    } else {
        placing.views();
    }
    let mut plan = placing.plan;
    let ends = plan.bars.iter().map(|bar| bar.to);
    plan.width = ends.chain(plan.cells.iter().map(|cell| cell.x + cell.width)).max().unwrap_or(0);
    Some(plan)
}

/// Returns true if going through the segments meets the data from left to right, nothing twice.
fn is_in_order(levels: &[Level], count: usize) -> bool {
    levels.iter().enumerate().all(|(at, level)| {
        let below = levels.get(at + 1).map_or(count, |next| next.lengths.len());
        let mut next = 0;
        level.lengths.iter().enumerate().all(|(segment, length)| {
            let start = level.starts.get(segment).copied().unwrap_or(next);
            let fits = *length == 0 || start == next;
            next += length;
            fits && next as usize <= below
        })
    })
}

struct Placing<'a> {
    levels: &'a [Level],
    widths: &'a [u32],
    units: Units,
    x: u32,
    plan: Plan,
}

impl Placing<'_> {
    fn space(&self, depth: usize) -> u32 {
        self.units.space[depth.min(self.units.space.len() - 1)]
    }

    /// Places a segment with all that is in it, or below the innermost level a datum.
    fn visit(&mut self, level: usize, index: usize, segment: Option<usize>) {
        let Some(own) = self.levels.get(level) else {
            let width = self.widths.get(index).copied().unwrap_or(1);
            self.plan.cells.push(Cell { x: self.x, width, index, segment });
            self.x += width + self.units.gap;
            return;
        };
        let (from, innermost) = (self.x, level + 1 == self.levels.len());
        let length = own.lengths.get(index).copied().unwrap_or(0);
        let start: u32 = own.lengths.iter().take(index).sum();
        for child in start..start + length {
            let segment = if innermost { Some(index) } else { segment };
            self.visit(level + 1, child as usize, segment);
        }
        // Behind the last child there is its own room, which is not the segment's.
        let inner =
            if length > 0 && !innermost { self.space(self.levels.len() - level - 2) } else { 0 };
        if length == 0 {
            self.x += self.units.empty + self.units.gap;
        }
        let to = self.x - self.units.gap - inner;
        self.plan.bars.push(Bar { row: level, index, from, to, length });
        self.x += self.space(self.levels.len() - level - 1) - if length > 0 { inner } else { 0 };
    }

    /// Places the data once, and each of the innermost segments below them where there is room.
    fn views(&mut self) {
        for (index, width) in self.widths.iter().enumerate() {
            self.plan.cells.push(Cell { x: self.x, width: *width, index, segment: None });
            self.x += width + self.units.gap;
        }
        let right = self.x;
        let Some(level) = self.levels.last() else { return };
        let cell = |at: u32| self.plan.cells.get(at as usize);
        let mut lanes: Vec<u32> = Vec::new();
        for (index, (start, length)) in level.starts.iter().zip(&level.lengths).enumerate() {
            let from = cell(*start).map_or(right, |cell| cell.x);
            let to = match length {
                0 => from + self.units.empty,
                length => cell(start + length - 1).map_or(from, |cell| cell.x + cell.width),
            };
            let free = lanes.iter().position(|end| *end <= from);
            let row = free.unwrap_or(lanes.len());
            if free.is_none() {
                lanes.push(0);
            }
            lanes[row] = to + self.units.gap;
            self.plan.bars.push(Bar { row, index, from, to, length: *length });
        }
        self.plan.rows = lanes.len();
        self.plan.below = true;
    }
}
