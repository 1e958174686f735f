//! Memory traffic of one access of a warp: sectors and bank conflicts.

use super::order::lanes_of;
use crate::isa::lanes::{Lanes, WARP_LANES};

/// The bytes of a sector, as a power of two.
const SECTOR_BITS: u32 = 5;

/// The bytes that shared memory serves in one cycle, one word from each bank.
const WAVEFRONT_BYTES: usize = 128;

/// Returns the number of sectors that the lanes of a mask touch. Accesses are aligned, so that
/// each touches one.
pub fn sectors(addresses: &Lanes, mask: u32) -> u64 {
    let mut seen = [0u64; WARP_LANES];
    let (mut count, mut greatest) = (0, 0);
    for lane in lanes_of(mask) {
        let sector = addresses[lane] >> SECTOR_BITS;
        // Mostly the addresses ascend, and only the last sector can be met again.
        let is_new = if count == 0 || sector > greatest {
            true
        } else {
            sector != seen[count - 1] && !seen[..count].contains(&sector)
        };
        if is_new {
            seen[count] = sector;
            count += 1;
            greatest = greatest.max(sector);
        }
    }
    count as u64
}

/// Returns the cycles that bank conflicts add to an access of `bytes` bytes a lane: per wavefront,
/// the most distinct words in one bank, less one.
pub fn bank_conflicts(addresses: &Lanes, mask: u32, bytes: usize) -> u64 {
    let lanes = (WAVEFRONT_BYTES / bytes.max(4)).min(WARP_LANES);
    let mut cycles = 0;
    for first in (0..WARP_LANES).step_by(lanes) {
        let wavefront = if lanes == WARP_LANES { u32::MAX } else { ((1 << lanes) - 1) << first };
        cycles += wavefront_conflicts(addresses, mask & wavefront, bytes);
    }
    cycles
}

fn wavefront_conflicts(addresses: &Lanes, mask: u32, bytes: usize) -> u64 {
    let mut words = [0u64; WARP_LANES];
    let mut count = 0;
    let mut per_bank = [0u64; 32];
    for lane in lanes_of(mask) {
        for word in 0..bytes.div_ceil(4) as u64 {
            let word = addresses[lane] / 4 + word;
            if !words[..count].contains(&word) {
                words[count] = word;
                count += 1;
                per_bank[word as usize % 32] += 1;
            }
        }
    }
    per_bank.into_iter().max().unwrap_or(0).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::{bank_conflicts, sectors};
    use std::array::from_fn;

    #[test]
    fn consecutive_words_are_ideal() {
        let words = from_fn(|lane| 4 * lane as u64);
        assert_eq!((sectors(&words, u32::MAX), bank_conflicts(&words, u32::MAX, 4)), (4, 0));
        let doubles = from_fn(|lane| 8 * lane as u64);
        assert_eq!((sectors(&doubles, u32::MAX), bank_conflicts(&doubles, u32::MAX, 8)), (8, 0));
    }

    #[test]
    fn strides_cost() {
        let column = from_fn(|lane| 128 * lane as u64);
        assert_eq!((sectors(&column, u32::MAX), bank_conflicts(&column, u32::MAX, 4)), (32, 31));
        let pairs = from_fn(|lane| 8 * lane as u64);
        assert_eq!(bank_conflicts(&pairs, u32::MAX, 4), 1);
        assert_eq!(bank_conflicts(&[64; 32], u32::MAX, 4), 0);
    }
}
