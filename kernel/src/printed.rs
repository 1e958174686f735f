//! The text that a cell prints: bytes → characters, and a limit on how much a notebook is sent.

use std::time::Instant;

/// A cell may print so many bytes at once.
const BURST_BYTES: f64 = (1 << 20) as f64;

/// And so many each second after that.
const BYTES_PER_SECOND: f64 = 100_000.0;

/// A cell may print so many bytes in all.
const MAX_BYTES: u64 = 10 << 20;

/// The notice for the first time that the limit is reached.
pub const NOTICE: &str = "\n[A cell shows 1 MB of what it prints at once, 100 kB a second after that, \
                          and 10 MB in all. The rest is left out.]\n";

/// The sequence of a terminal that clears the screen.
const CLEAR: &[u8] = b"\x1b[2J";

/// The part of what a cell prints that is sent.
pub struct Budget {
    available: f64,
    filled: Instant,
    passed: u64,
    /// The number of bytes that were left out.
    pub left_out: u64,
}

impl Budget {
    /// Makes the budget of a cell that begins.
    pub fn new(now: Instant) -> Budget {
        Budget { available: BURST_BYTES, filled: now, passed: 0, left_out: 0 }
    }

    /// Returns true if so many bytes may be sent.
    pub fn admit(&mut self, bytes: usize, now: Instant) -> bool {
        let seconds = now.saturating_duration_since(self.filled).as_secs_f64();
        self.available = (self.available + seconds * BYTES_PER_SECOND).min(BURST_BYTES);
        self.filled = now;
        let admitted = bytes as f64 <= self.available && self.passed + bytes as u64 <= MAX_BYTES;
        if admitted {
            self.available -= bytes as f64;
            self.passed += bytes as u64;
        } else {
            self.left_out += bytes as u64;
        }
        admitted
    }
}

/// Bytes of a stream that are no whole character yet.
#[derive(Default)]
pub struct Decoder {
    begun: Vec<u8>,
}

/// A part of what was printed.
#[derive(Debug, PartialEq, Eq)]
pub enum Part {
    /// Text that was printed.
    Text(String),
    /// The screen was cleared.
    Clear,
}

impl Decoder {
    /// Returns what is whole of the bytes so far. Bytes that are no UTF-8 become `�`.
    pub fn decode(&mut self, bytes: &[u8]) -> Vec<Part> {
        let mut all = std::mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        let mut parts = Vec::new();
        let mut rest = &all[..];
        while let Some(at) = find(rest, CLEAR) {
            parts.extend(text(&rest[..at]));
            parts.push(Part::Clear);
            rest = &rest[at + CLEAR.len()..];
        }
        let whole = rest.len() - unfinished(rest);
        parts.extend(text(&rest[..whole]));
        self.begun = rest[whole..].to_vec();
        parts
    }

    /// Returns what is left at the end.
    pub fn finish(&mut self) -> Option<Part> {
        text(&std::mem::take(&mut self.begun))
    }
}

fn text(bytes: &[u8]) -> Option<Part> {
    (!bytes.is_empty()).then(|| Part::Text(String::from_utf8_lossy(bytes).into_owned()))
}

fn find(bytes: &[u8], sought: &[u8]) -> Option<usize> {
    // Almost nothing printed has an escape in it.
    let first = bytes.iter().position(|byte| *byte == sought[0])?;
    bytes[first..].windows(sought.len()).position(|window| window == sought).map(|at| first + at)
}

/// Returns the number of bytes at the end that begin a character, or the sequence that clears the
/// screen, and do not finish it.
fn unfinished(bytes: &[u8]) -> usize {
    let clear = (1..CLEAR.len()).rev().find(|length| bytes.ends_with(&CLEAR[..*length]));
    if let Some(length) = clear {
        return length;
    }
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let needed = match byte {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            0x80..=0xBF => continue,
            _ => return 0,
        };
        return if needed > back { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn characters_may_come_in_parts() {
        let mut decoder = Decoder::default();
        let mut said = String::new();
        for byte in "a é 平 🙂 \u{1b}[31m".bytes().chain([0xFF, b'!']) {
            for part in decoder.decode(&[byte]) {
                let Part::Text(text) = part else { panic!("nothing was cleared") };
                said.push_str(&text);
            }
        }
        assert_eq!(said, "a é 平 🙂 \u{1b}[31m\u{fffd}!");
        decoder.decode(&[0xE5]);
        assert_eq!(decoder.finish(), Some(Part::Text("\u{fffd}".to_owned())));
    }

    #[test]
    fn clearing_the_screen_is_seen() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.decode(b"a\x1b[2"), [Part::Text("a".to_owned())]);
        assert_eq!(decoder.decode(b"Jb"), [Part::Clear, Part::Text("b".to_owned())]);
    }

    #[test]
    fn the_budget_admits_a_burst_and_then_a_rate() {
        let mut now = Instant::now();
        let mut budget = Budget::new(now);
        let mut admitted = 0;
        for _ in 0..10_000 {
            admitted += usize::from(budget.admit(1_000, now));
        }
        assert_eq!(admitted, 1_048);
        assert_eq!(budget.left_out, 8_952_000);
        now += Duration::from_secs(1);
        assert!(budget.admit(50_000, now) && budget.admit(50_000, now));
        assert!(!budget.admit(1_000, now));
        // In the end there is an end.
        let mut total = 1_148_000;
        for _ in 0..1_000 {
            now += Duration::from_secs(1);
            total += if budget.admit(100_000, now) { 100_000 } else { 0 };
        }
        assert!(total > 10_000_000 && total <= MAX_BYTES as usize, "{total}");
    }
}
