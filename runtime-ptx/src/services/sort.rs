//! The entries of a sort or rank, and their launches.
//!
//! ```text
//! few keys    small                                                    1 launch
//! more        histogram, then a pass for each digit, least first       1 + 1, 4 or 8 launches
//! ```
//!
//! Passes move keys from the array, which is kept, between temporary memory and the memory of the
//! result. A rank moves the index of each key along; its last pass writes the ranks and no keys, so
//! that the memory of the ranks serves for keys before.

use super::area::Layout;
use super::order::KeyOrder;
use super::steps::{Argument, Steps, TooMany};
use super::{histogram, pass, small};

/// The number of entries.
pub const ENTRIES: usize = 3;

/// The numbers of the entries.
const SMALL_ENTRY: usize = 0;
const HISTOGRAM_ENTRY: usize = 1;
const PASS_ENTRY: usize = 2;

/// The number of keys that can be ranked: their indices have 32 bits.
const MAX_RANKED_KEYS: u64 = 1 << 32;

/// Emits the entries, under names by their numbers.
pub fn emit(order: KeyOrder, ranks: bool, name: impl Fn(usize) -> String) -> Vec<String> {
    vec![
        small::entry(&name(SMALL_ENTRY), order, ranks),
        histogram::entry(&name(HISTOGRAM_ENTRY), order, ranks),
        pass::entry(&name(PASS_ENTRY), order, ranks),
    ]
}

/// Returns the launches that sort or rank `count` keys; `resident` are the numbers of blocks of the
/// entries that the device holds at a time.
pub fn steps(
    order: KeyOrder,
    ranks: bool,
    [keys, out]: [u64; 2],
    count: u64,
    resident: &[u64],
) -> Result<Steps, TooMany> {
    let mut steps = Steps::default();
    if count == 0 {
        return Ok(steps);
    }
    if ranks && count > MAX_RANKED_KEYS {
        return Err(TooMany { elements: count, limit: MAX_RANKED_KEYS });
    }
    let [keys, out, number] = [keys, out, count].map(Argument::from);
    if count <= u64::from(small::SMALL_KEYS) {
        steps.launch(SMALL_ENTRY, 1, vec![keys, out, number]);
        return Ok(steps);
    }
    let layout = Layout { digits: order.digits() };
    let tiles = count.div_ceil(u64::from(pass::tile_keys(order, ranks)));
    let area = steps.temporary(layout.bytes(tiles), true);
    // With one digit there is one pass, from the keys to the result.
    let moved = if layout.digits > 1 { count } else { 0 };
    let mut arrays = vec![keys, steps.temporary(moved * order.keys.size() as u64, false), out];
    if ranks {
        arrays.extend([(); 2].map(|()| steps.temporary(4 * moved, false)));
    }
    let needed = count.div_ceil(u64::from(histogram::BLOCK_KEYS));
    steps.launch(HISTOGRAM_ENTRY, needed.min(resident[HISTOGRAM_ENTRY]), vec![keys, area, number]);
    for digit in 0..u64::from(layout.digits) {
        let mut args = arrays.clone();
        args.extend([area, number, digit.into()]);
        steps.launch(PASS_ENTRY, tiles, args);
    }
    Ok(steps)
}
