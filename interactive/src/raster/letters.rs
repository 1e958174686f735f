//! Letters as lines, for the labels of plots: no font has to be there.
//!
//! A letter stands on a grid of five columns and nine rows: capitals and digits take rows 0 to 6, small letters
//! begin in row 2, and tails end in row 8. A line is written as the column and the row of each of its places.

use super::reader::{Anchor, Place};

/// The width of the lines of letters, in units of the picture.
pub(super) const STROKE_PIXELS: f64 = 1.1;
/// The distance of two columns of the grid.
const COLUMN_PIXELS: f64 = 1.2;
/// The distance of two rows.
const ROW_PIXELS: f64 = 1.4;
/// The row that letters stand on.
const BASE_ROW: f64 = 6.0;
/// The columns from one letter to the next.
const ADVANCE_COLUMNS: f64 = 5.6;
/// The columns of a letter itself.
const LETTER_COLUMNS: f64 = 4.0;

/// Returns the lines of a text at a place; one that is upright runs from the bottom to the top.
pub(super) fn lines(text: &str, place: Place, anchor: Anchor, is_upright: bool) -> Vec<Vec<Place>> {
    let count = text.chars().count() as f64;
    let width =
        (count * ADVANCE_COLUMNS - (ADVANCE_COLUMNS - LETTER_COLUMNS)).max(0.0) * COLUMN_PIXELS;
    let begin = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -width / 2.0,
        Anchor::End => -width,
    };
    let mut all = Vec::new();
    for (number, c) in text.chars().enumerate() {
        let left = begin + number as f64 * ADVANCE_COLUMNS * COLUMN_PIXELS;
        for line in strokes(c).split_whitespace() {
            let (pairs, _) = line.as_bytes().as_chunks::<2>();
            let places = pairs.iter().map(|[column, row]| {
                let along = left + f64::from(column - b'0') * COLUMN_PIXELS;
                let down = (f64::from(row - b'0') - BASE_ROW) * ROW_PIXELS;
                if is_upright {
                    (place.0 + down, place.1 - along)
                } else {
                    (place.0 + along, place.1 + down)
                }
            });
            all.push(places.collect());
        }
    }
    all
}

/// Returns the lines of a letter; an empty box for one that is not known.
fn strokes(c: char) -> &'static str {
    match c {
        ' ' | '\u{a0}' => "",
        '0' => "103041453616050110",
        '1' => "012026 1636",
        '2' => "01103041420646",
        '3' => "01103041423313 334445361605",
        '4' => "36300444",
        '5' => "40000312324345361605",
        '6' => "413010010516364544331304",
        '7' => "004016",
        '8' => "103041423313020110 1304051636454433",
        '9' => "051636454130100102133342",
        'A' => "062046 1434",
        'B' => "06003041423303 3344453606",
        'C' => "4130100105163645",
        'D' => "00063645413000",
        'E' => "40000646 0333",
        'F' => "400006 0333",
        'G' => "41301001051636454323",
        'H' => "0006 4046 0343",
        'I' => "1030 2026 1636",
        'J' => "4045361605",
        'K' => "0006 400346",
        'L' => "000646",
        'M' => "0600234046",
        'N' => "06004640",
        'O' => "103041453616050110",
        'P' => "06003041423303",
        'Q' => "103041453616050110 3446",
        'R' => "06003041423303 2346",
        'S' => "413010010213334445361605",
        'T' => "0040 2026",
        'U' => "000516364540",
        'V' => "002640",
        'W' => "0016233640",
        'X' => "0046 4006",
        'Y' => "002340 2326",
        'Z' => "00400646",
        'a' => "12324346 441405163645",
        'b' => "0006 0312324345361605",
        'c' => "4332120305163645",
        'd' => "4046 4332120305163645",
        'e' => "04444332120305163645",
        'f' => "40302126 0242",
        'g' => "4247381807 4332120305163645",
        'h' => "0006 0312324346",
        'i' => "2226 2020",
        'j' => "22271808 2020",
        'k' => "0006 420446",
        'l' => "202536",
        'm' => "0206 03122326 23324346",
        'n' => "0206 0312324346",
        'o' => "123243453616050312",
        'p' => "0208 0312324345361605",
        'q' => "4248 4332120305163645",
        'r' => "0206 03123243",
        's' => "43321203143445361605",
        't' => "20253646 0242",
        'u' => "0205163645 4246",
        'v' => "022642",
        'w' => "0216243642",
        'x' => "0246 4206",
        'y' => "0226 422618",
        'z' => "02420646",
        '.' => "2626",
        ',' => "2617",
        ':' => "2323 2626",
        ';' => "2323 2617",
        '!' => "2024 2626",
        '?' => "011030414224 2626",
        '-' | '−' => "1333",
        '–' | '—' => "0343",
        '_' => "0747",
        '+' => "0343 2125",
        '=' => "0242 0444",
        '≈' => "03123342 05143544",
        '<' => "410345",
        '>' => "014305",
        '≤' => "400244 0646",
        '≥' => "004204 0646",
        '*' => "2125 0244 4204",
        '×' => "0145 4105",
        '·' => "2323",
        '/' => "0640",
        '\\' => "0046",
        '|' => "2027",
        '(' => "30121436",
        ')' => "10323416",
        '[' => "30101636",
        ']' => "10303616",
        '{' => "30212213242536",
        '}' => "10212233242516",
        '%' => "0640 0101 4545",
        '^' => "022042",
        '~' => "04133443",
        '\'' | '’' => "2021",
        '"' => "1011 3031",
        '#' => "1016 3036 0242 0444",
        '²' => "10301232",
        '³' => "1030213112",
        '√' => "031640",
        '…' => "0606 2626 4646",
        _ => "0040460600",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_on_the_grid() {
        let known: Vec<char> = (' '..='~').chain("≈×·√²³…−–≤≥".chars()).collect();
        for c in known {
            let strokes = strokes(c);
            for line in strokes.split_whitespace() {
                assert!(line.len() >= 4 && line.len() % 2 == 0, "{c}: {line}");
                let (pairs, _) = line.as_bytes().as_chunks::<2>();
                let on_grid = |[column, row]: &[u8; 2]| {
                    (b'0'..=b'4').contains(column) && (b'0'..=b'8').contains(row)
                };
                assert!(pairs.iter().all(on_grid), "{c}: {line}");
            }
        }
        for c in ('0'..='9').chain('a'..='z').chain('A'..='Z') {
            assert_ne!(strokes(c), strokes('\u{fffd}'), "{c}");
        }
    }

    #[test]
    fn texts_stand_where_they_are_anchored() {
        let ends = |anchor, is_upright| {
            let places: Vec<Place> = lines("HH", (100.0, 50.0), anchor, is_upright).concat();
            let of = |pick: fn(&Place) -> f64| {
                let all = || places.iter().map(pick);
                (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max))
            };
            (of(|place| place.0), of(|place| place.1))
        };
        let ((left, right), (top, bottom)) = ends(Anchor::Start, false);
        assert!(left == 100.0 && right > left && bottom == 50.0 && top < bottom);
        assert_eq!(ends(Anchor::End, false).0.1, 100.0);
        let ((left, right), _) = ends(Anchor::Middle, false);
        assert!((left + right - 200.0).abs() < 1e-9);
        // One that runs upwards ends above the place where it begins.
        let ((_, right), (_, bottom)) = ends(Anchor::Start, true);
        assert_eq!((right, bottom), (100.0, 50.0));
    }
}
