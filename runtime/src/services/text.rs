//! Conversion of numbers to text, as values are shown, and as `@` and `exp_string` write them, and back.

use super::sort::Team;
use crate::bug::OrBug;
use crate::fault::{Fault, FaultCode};
use crate::scalar::Precision;
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

/// A hash of some text. 64-bit arithmetic whatever the precision.
///
/// Sixteen chars at a time are multiplied with each other, as in wyhash (Wang Yi, 2019), both halves
/// of the product taken; texts of different lengths begin differently, so that the chars at the end
/// may be read twice.
pub fn hash(text: &[u8], salt: i64) -> i64 {
    const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
    const SECOND: u64 = 0xd6e8_feb8_6659_fd93;
    let begin = fold(salt as u64 ^ FIRST, text.len() as u64 ^ SECOND);
    let length = text.len();
    let (mut hash, mut rest) = (begin, text);
    while let Some((block, behind)) = rest.split_first_chunk::<16>()
        && !behind.is_empty()
    {
        let (a, b) = (word(block, 0), word(block, 8));
        hash = fold(a ^ FIRST, b ^ hash);
        rest = behind;
    }
    let (a, b) = match rest.len() {
        8.. => (word(rest, 0), word(rest, rest.len() - 8)),
        4.. => (half(rest, 0), half(rest, rest.len() - 4)),
        1.. => {
            let middle = u64::from(rest[rest.len() / 2]) << 8;
            (u64::from(rest[0]) << 16 | middle, u64::from(rest[rest.len() - 1]))
        }
        0 => (0, 0),
    };
    fold(SECOND ^ length as u64, fold(a ^ FIRST, b ^ hash)) as i64
}

/// Returns true if two texts are equal; most are short.
pub fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    // The beginning and the end, which may overlap.
    match a.len() {
        0 => true,
        1..4 => {
            let at = a.len() / 2;
            (a[0] ^ b[0]) | (a[at] ^ b[at]) | (a[a.len() - 1] ^ b[a.len() - 1]) == 0
        }
        4..8 => {
            let end = a.len() - 4;
            (half(a, 0) ^ half(b, 0)) | (half(a, end) ^ half(b, end)) == 0
        }
        8..=16 => {
            let end = a.len() - 8;
            (word(a, 0) ^ word(b, 0)) | (word(a, end) ^ word(b, end)) == 0
        }
        _ => a == b,
    }
}

/// Both halves of a product.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[inline]
fn word(text: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(text[at..at + 8].try_into().or_bug("eight chars"))
}

#[inline]
fn half(text: &[u8], at: usize) -> u64 {
    u64::from(u32::from_le_bytes(text[at..at + 4].try_into().or_bug("four chars")))
}

/// The digits after the point that `exp_string` may be asked for.
const DIGITS: usize = 8;

/// A float as text: the shortest that reads back as the same float, plain if 0.001 ≤ |x| < 10⁷,
/// otherwise with an exponent; at least one digit each side of the point. Both zeros are `0.0`.
///
/// `2.5`, `0.001`, `1.0E10`, `1.0E-5`
pub fn float(x: f64, precision: Precision) -> String {
    // What is made at 64 bits may be shown at 32.
    let rounded = match precision {
        Precision::Bits32 => f64::from(x as f32),
        Precision::Bits64 => x,
    };
    if let Some(text) = special(rounded) {
        return text;
    }
    let shortest = match precision {
        Precision::Bits32 => format!("{:e}", (x as f32).abs()),
        Precision::Bits64 => format!("{:e}", x.abs()),
    };
    let (digits, exponent) = shortest.split_once('e').or_bug("exponential form");
    let digits = digits.replace('.', "");
    let exponent: i32 = exponent.parse().or_bug("an exponent");
    let sign = if x.is_sign_negative() { "-" } else { "" };
    // The digits before the point and after it.
    let split = |at: usize| {
        let padded = format!("{digits:0<at$}");
        let (whole, fraction) = padded.split_at(at);
        let fraction = if fraction.is_empty() { "0" } else { fraction };
        format!("{sign}{whole}.{fraction}")
    };
    match exponent {
        0..=6 => split(exponent as usize + 1),
        -3..=-1 => {
            let zeros = "0".repeat(-exponent as usize - 1);
            format!("{sign}0.{zeros}{digits}")
        }
        _ => format!("{}E{exponent}", split(1)),
    }
}

/// `exp_string(x, places)`: exponential form with that many digits after the point.
///
/// `exp_string(12345.678, 3)` is `1.235e+4`.
pub fn exponential(x: f64, places: i64) -> Result<String, Fault> {
    let places = usize::try_from(places)
        .ok()
        .filter(|places| *places <= DIGITS)
        .ok_or_else(|| Fault::with(FaultCode::ExpString, format!("{places} digits")))?;
    if let Some(text) = special(x) {
        return Ok(text);
    }
    let (negative, digits, exponent) = decimal(x, places);
    let sign = if negative { "-" } else { "" };
    let (whole, fraction) = digits.split_at(1);
    let point = if fraction.is_empty() { "" } else { "." };
    Ok(format!("{sign}{whole}{point}{fraction}e{exponent:+}"))
}

/// The texts without digits, and zero.
fn special(x: f64) -> Option<String> {
    let text = if x.is_nan() {
        "nan"
    } else if x == f64::INFINITY {
        "inf"
    } else if x == f64::NEG_INFINITY {
        "-inf"
    } else if x == 0.0 {
        "0.0"
    } else {
        return None;
    };
    Some(text.to_string())
}

/// Sign, `1 + places` digits and decimal exponent of a finite float, correctly rounded: the value
/// is `d.dddd × 10^exponent`.
fn decimal(x: f64, places: usize) -> (bool, String, i32) {
    let text = format!("{:.places$e}", x.abs());
    let (digits, exponent) = text.split_once('e').or_bug("exponential form");
    let digits = digits.replace('.', "");
    let exponent = exponent.parse().or_bug("an exponent");
    (x.is_sign_negative(), digits, exponent)
}

/// `parse_float(text)`: the value of `[+-] digits [. digits] [e [+-] digits]`, with `e` or `E`, and whether that
/// was all. Digits may be missing (`""` is zero) except in an exponent. Correctly rounded.
pub fn parse_float(text: &[u8], precision: Precision) -> (f64, bool) {
    let mut number = String::from("0");
    let mut at = 0;
    let digits = |at: &mut usize, number: &mut String| {
        let start = *at;
        while let Some(digit) = text.get(*at).filter(|byte| byte.is_ascii_digit()) {
            number.push(char::from(*digit));
            *at += 1;
        }
        *at > start
    };
    let negative = text.first() == Some(&b'-');
    if matches!(text.first(), Some(b'+' | b'-')) {
        at += 1;
    }
    let mut any = digits(&mut at, &mut number);
    if text.get(at) == Some(&b'.') {
        at += 1;
        number.push('.');
        any |= digits(&mut at, &mut number);
    }
    if matches!(text.get(at), Some(b'e' | b'E')) && any {
        let mut after = at + 1;
        let mut exponent = String::from("e");
        if let Some(sign @ (b'+' | b'-')) = text.get(after) {
            exponent.push(char::from(*sign));
            after += 1;
        }
        if digits(&mut after, &mut exponent) {
            number.push_str(&exponent);
            at = after;
        }
    }
    let value = match precision {
        Precision::Bits64 => number.parse::<f64>().or_bug("a number"),
        Precision::Bits32 => f64::from(number.parse::<f32>().or_bug("a number")),
    };
    // A lone sign is plain zero.
    let value = if negative && any { -value } else { value };
    (value, at == text.len())
}

/// A sequence of texts, which are parts of one array of chars.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    /// The offset of the first char of each text.
    starts: &'a [i64],
    /// The number of chars of each text.
    lengths: &'a [i64],
    chars: *const u8,
}

// SAFETY: any thread may read the chars, which nobody writes (the contract of `new`).
unsafe impl Sync for Texts<'_> {}

impl<'a> Texts<'a> {
    /// The texts that begin at these offsets of `chars`.
    ///
    /// # Safety
    /// Each text is in bounds of one array that begins at `chars`, and nobody writes the chars
    /// during `'a`.
    pub unsafe fn new(starts: &'a [i64], lengths: &'a [i64], chars: *const u8) -> Texts<'a> {
        assert_eq!(starts.len(), lengths.len(), "each text has a start and a length");
        Texts { starts, lengths, chars }
    }

    /// The number of texts.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns true if there is no text.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The text at an index.
    #[inline]
    pub fn get(&self, index: usize) -> &'a [u8] {
        match self.lengths[index] {
            0 => &[],
            // SAFETY: the caller of `new` promised that the text is in bounds and stays as it is.
            length => unsafe {
                let start = self.chars.add(self.starts[index] as usize);
                std::slice::from_raw_parts(start, length as usize)
            },
        }
    }
}

/// The first chars of a text and its index: most comparisons need no more.
#[derive(Clone, Copy)]
struct Prefix {
    /// The first eight chars, the first of them in the most significant byte, padded with zeros.
    word: u64,
    index: usize,
}

/// The rank of each of `count` texts in ascending order, char by char; of equal texts the first
/// comes first.
///
/// Pieces are sorted by as many threads as there are, and then merged: the standard library's
/// stable sort finds the sorted runs.
///
/// # Errors
/// If there is too little memory, or the work was interrupted; `ranks` then holds anything.
///
/// # Panics
/// If there is not as much room as there are texts.
pub fn rank<'t>(
    count: usize,
    text: &(dyn Fn(usize) -> &'t [u8] + Sync),
    ranks: &mut [MaybeUninit<i64>],
    team: &dyn Team,
) -> Result<(), FaultCode> {
    rank_with(&mut Scratch::default(), count, text, ranks, team)
}

/// The buffer of a thread that ranks short sequences of texts one after the other.
#[derive(Default)]
pub(super) struct Scratch(Vec<Prefix>);

/// As [`rank`], with a buffer that is used again.
pub(super) fn rank_with<'t>(
    Scratch(kept): &mut Scratch,
    count: usize,
    text: &(dyn Fn(usize) -> &'t [u8] + Sync),
    ranks: &mut [MaybeUninit<i64>],
    team: &dyn Team,
) -> Result<(), FaultCode> {
    assert_eq!(count, ranks.len(), "as much room as texts");
    let order =
        |a: &Prefix, b: &Prefix| a.word.cmp(&b.word).then_with(|| text(a.index).cmp(text(b.index)));
    if count <= MIN_PIECE_TEXTS {
        kept.clear();
        kept.extend((0..count).map(|index| Prefix { word: first_chars(text(index)), index }));
        // Without the place the order of equal texts would be lost, and a stable sort allocates.
        kept.sort_unstable_by(|a, b| order(a, b).then(a.index.cmp(&b.index)));
        for (rank, prefix) in kept.iter().enumerate() {
            ranks[prefix.index].write(rank as i64);
        }
        return if team.stopped() { Err(FaultCode::Interrupted) } else { Ok(()) };
    }
    let bytes = (count * size_of::<Prefix>()) as u64;
    if !team.reserve(bytes) {
        return Err(FaultCode::OutOfMemory);
    }
    let mut sorted = vec![Prefix { word: 0, index: 0 }; count];
    let length = count.div_ceil(team.threads()).max(MIN_PIECE_TEXTS);
    let pieces: Vec<Mutex<&mut [Prefix]>> = sorted.chunks_mut(length).map(Mutex::new).collect();
    team.each(pieces.len(), &|take| {
        while let Some(at) = take()
            && !team.stopped()
        {
            let mut piece = pieces[at].lock().unwrap_or_else(PoisonError::into_inner);
            for (prefix, index) in piece.iter_mut().zip(at * length..) {
                *prefix = Prefix { word: first_chars(text(index)), index };
            }
            piece.sort_by(order);
        }
    });
    let many = pieces.len() > 1;
    drop(pieces);
    if many && !team.stopped() {
        sorted.sort_by(order);
    }
    for (rank, prefix) in sorted.iter().enumerate() {
        ranks[prefix.index].write(rank as i64);
    }
    drop(sorted);
    team.release(bytes);
    if team.stopped() { Err(FaultCode::Interrupted) } else { Ok(()) }
}

/// Fills an empty vector with the ranks of some texts; see [`rank`].
///
/// # Errors
/// The same errors as those of [`rank`].
pub fn rank_into<T: Sync>(
    texts: &[T],
    chars: impl Fn(&T) -> &[u8] + Sync,
    ranks: &mut Vec<i64>,
    team: &dyn Team,
) -> Result<(), FaultCode> {
    let mut room = vec![MaybeUninit::new(0); texts.len()];
    rank(texts.len(), &|index| chars(&texts[index]), &mut room, team)?;
    ranks.clear();
    // SAFETY: all elements were initialised with 0.
    ranks.extend(room.iter().map(|rank| unsafe { rank.assume_init() }));
    Ok(())
}

/// Fewer texts are not worth another thread.
const MIN_PIECE_TEXTS: usize = 1 << 12;

/// The first eight chars of a text, in the order of texts.
fn first_chars(text: &[u8]) -> u64 {
    let mut word = [0; 8];
    let length = text.len().min(8);
    word[..length].copy_from_slice(&text[..length]);
    u64::from_be_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::super::sort::CallingThread;
    use super::*;

    #[test]
    fn n4_floats_are_the_shortest_that_read_back() {
        for (x, expected) in [
            (2.5, "2.5"),
            (1e10, "1.0E10"),
            (0.001, "0.001"),
            (0.0009999999999, "9.999999999E-4"),
            (1e-5, "1.0E-5"),
            (0.0, "0.0"),
            (-0.0, "0.0"),
            (-2.5, "-2.5"),
            (-1e-7, "-1.0E-7"),
            (100.0, "100.0"),
            (1234567.89, "1234567.89"),
            (9999999.99, "9999999.99"),
            (1e7, "1.0E7"),
            (12345678.9, "1.23456789E7"),
            (1.0 / 3.0, "0.3333333333333333"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e300, "1.0E300"),
            (f64::MIN_POSITIVE, "2.2250738585072014E-308"),
            (f64::NAN, "nan"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(float(x, Precision::Bits64), expected, "{x:e}");
            if x.is_finite() {
                let read = parse_float(expected.as_bytes(), Precision::Bits64);
                assert_eq!(read, (x, true), "{x:e}");
            }
        }
        assert_eq!(float(f64::from(0.1f32), Precision::Bits32), "0.1");
        // A value of 64 bits that is shown at 32.
        let all = [1e300, -1e300, 1e-300].map(|x| float(x, Precision::Bits32));
        assert_eq!(all, ["inf", "-inf", "0.0"]);
        assert_eq!(float(f64::from(1.0f32 / 3.0), Precision::Bits32), "0.33333334");
    }

    #[test]
    fn exponential_form() {
        for (x, places, expected) in [
            (12345.678, 3, "1.235e+4"),
            (1.5, 1, "1.5e+0"),
            (-0.00012, 2, "-1.20e-4"),
            (9.99, 1, "1.0e+1"),
            (3.0, 0, "3e+0"),
            (1.0 / 3.0, 8, "3.33333333e-1"),
            (0.0, 3, "0.0"),
        ] {
            assert_eq!(exponential(x, places).unwrap(), expected);
        }
        for places in [-1, 9, i64::MAX] {
            assert_eq!(exponential(1.0, places).unwrap_err().code, FaultCode::ExpString);
        }
    }

    #[test]
    fn texts_are_ranked_by_their_chars() {
        let check = |texts: &[&[u8]]| {
            let mut ranks = Vec::new();
            rank_into(texts, |text| *text, &mut ranks, &CallingThread(None)).unwrap();
            let mut order: Vec<usize> = (0..texts.len()).collect();
            order.sort_by_key(|index| texts[*index]);
            for (rank, index) in order.into_iter().enumerate() {
                assert_eq!(ranks[index], rank as i64, "{:?}", texts[index]);
            }
        };
        check(&[]);
        check(&[b"", b"", b""]);
        check(&[b"to", b"be", b"", b"beer", b"be", b"\xff", b"\xc3\xa9", b"\0", b"", b"be\0"]);
        check(&[b"prefix12", b"prefix1", b"prefix12\0", b"prefix123", b"prefix12"]);
        let words: Vec<Vec<u8>> = (0..10_000)
            .map(|i| crate::random::bits(9, i) as u64 % 3000)
            .map(|word| format!("word{word}").into_bytes())
            .collect();
        check(&words.iter().map(|word| &word[..]).collect::<Vec<&[u8]>>());
    }

    #[test]
    fn parsing() {
        for (text, value, all) in [
            ("", 0.0, true),
            ("12", 12.0, true),
            ("-12.5", -12.5, true),
            ("+.5", 0.5, true),
            ("5.", 5.0, true),
            ("1e3", 1000.0, true),
            ("1.5e-3", 0.0015, true),
            ("1e+2x", 100.0, false),
            ("1E3", 1000.0, true),
            ("1e", 1.0, false),
            ("1e+", 1.0, false),
            ("e5", 0.0, false),
            ("-", 0.0, true),
            ("1.2.3", 1.2, false),
            (" 1", 0.0, false),
            ("abc", 0.0, false),
            ("1e999", f64::INFINITY, true),
            ("0.1", 0.1, true),
            ("2.2250738585072011e-308", 2.225073858507201e-308, true),
            ("inf", 0.0, false),
        ] {
            assert_eq!(parse_float(text.as_bytes(), Precision::Bits64), (value, all), "{text:?}");
        }
        assert_eq!(parse_float(b"0.1", Precision::Bits32), (f64::from(0.1f32), true));
    }
}
