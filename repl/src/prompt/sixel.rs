//! Pictures as sixels: rows of six pixels, each row colour by colour.

use nesl_interactive::raster::Raster;
use std::collections::BTreeMap;

/// The colours of a picture, at most: as many as terminals have registers for.
const MAX_COLOURS: usize = 256;
/// The rows of pixels that a character holds.
const BAND_ROWS: usize = 6;
/// The pixels from which on equal ones are written as a count.
const MIN_RUN: usize = 4;

/// Returns what shows a picture.
pub fn encode(raster: &Raster) -> Vec<u8> {
    let Raster { width, height, pixels } = raster;
    let (colours, bits) = palette(raster);
    // The pixels are square, and those that are not written stay as they are.
    let mut out = format!("\x1bP0;1;0q\"1;1;{width};{height}").into_bytes();
    for (number, [red, green, blue]) in colours.keys().enumerate() {
        let part = |part: &u8| (u32::from(*part) * 100 + 127) / 255;
        let (red, green, blue) = (part(red), part(green), part(blue));
        out.extend_from_slice(format!("#{number};2;{red};{green};{blue}").as_bytes());
    }
    for band in pixels.chunks((*width).max(1) * BAND_ROWS) {
        // The characters of each colour in this band; the bits of a character are its rows, from the top.
        let mut rows: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
        for (at, pixel) in band.iter().enumerate() {
            let (row, column) = (at / width, at % width);
            let number = colours.get(&coarse(*pixel, bits)).copied().unwrap_or(0);
            rows.entry(number).or_insert_with(|| vec![0; *width])[column] |= 1 << row;
        }
        for (place, (number, row)) in rows.iter().enumerate() {
            if place > 0 {
                out.push(b'$');
            }
            out.extend_from_slice(format!("#{number}").as_bytes());
            runs(row, &mut out);
        }
        out.push(b'-');
    }
    out.extend_from_slice(b"\x1b\\");
    out
}

/// Writes the characters of a row; what is empty at its end is left out.
fn runs(row: &[u8], out: &mut Vec<u8>) {
    let end = row.iter().rposition(|bits| *bits != 0).map_or(0, |last| last + 1);
    for run in row[..end].chunk_by(|a, b| a == b) {
        let character = b'?' + run[0];
        if run.len() < MIN_RUN {
            out.extend(std::iter::repeat_n(character, run.len()));
        } else {
            out.extend_from_slice(format!("!{}", run.len()).as_bytes());
            out.push(character);
        }
    }
}

/// Returns a colour with as many bits in each part as are given.
fn coarse(colour: [u8; 3], bits: u32) -> [u8; 3] {
    colour.map(|part| {
        let kept = u32::from(part) >> (8 - bits);
        // The lightest one stays white.
        (kept * 255 / ((1 << bits) - 1)) as u8
    })
}

/// Returns the colours of a picture with their numbers, and the bits of the parts of each: as many as give few
/// enough colours.
fn palette(raster: &Raster) -> (BTreeMap<[u8; 3], usize>, u32) {
    let mut bits = 8;
    loop {
        let mut colours = BTreeMap::new();
        for pixel in &raster.pixels {
            colours.insert(coarse(*pixel, bits), 0);
            if colours.len() > MAX_COLOURS {
                break;
            }
        }
        // Two bits give 64 colours.
        if colours.len() <= MAX_COLOURS || bits <= 2 {
            for (number, own) in colours.values_mut().enumerate() {
                *own = number;
            }
            return (colours, bits);
        }
        bits -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_picture_is_written_in_full() {
        let (white, black) = ([255; 3], [0; 3]);
        let pixels = vec![white, black, white, white, white, white, black, black, black, black];
        let encoded = encode(&Raster { width: 5, height: 2, pixels });
        let text = String::from_utf8(encoded).expect("text");
        // Black are the second column above, and all but the first below: `A` is the lower of two rows alone.
        assert_eq!(text, "\x1bP0;1;0q\"1;1;5;2#0;2;0;0;0#1;2;100;100;100#0?BAAA$#1B?@@@-\x1b\\");
        // Equal ones are counted, and nothing is written for what is empty at the end.
        let mut out = Vec::new();
        runs(&[1, 1, 1, 1, 1, 0, 0, 2, 0], &mut out);
        assert_eq!(out, b"!5@??A");
    }

    #[test]
    fn many_colours_become_few() {
        let pixels: Vec<[u8; 3]> =
            (0..4096_u32).map(|n| [n as u8, (n >> 4) as u8, (n >> 8) as u8 * 16]).collect();
        let (colours, bits) = palette(&Raster { width: 64, height: 64, pixels });
        assert!(colours.len() <= MAX_COLOURS && bits < 8);
        assert_eq!(coarse([255, 0, 128], 3), [255, 0, 145]);
        assert_eq!(coarse([7, 8, 9], 8), [7, 8, 9]);
    }
}
