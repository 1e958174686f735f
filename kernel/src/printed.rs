//! The text that a cell prints: bytes → characters, and a limit on how much a notebook is sent.

use std::time::Instant;

/// A cell may print so many bytes at once.
const BURST_BYTES: f64 = (1 << 20) as f64;

/// And so many each second after that.
const BYTES_PER_SECOND: f64 = 100_000.0;

/// A cell may print so many bytes in all.
const MAX_BYTES: u64 = 10 << 20;

/// Once the limit is reached, what follows is left out until so many bytes may be printed: a few long pieces are
/// worth more than many lines out of context.
const RESUME_BYTES: f64 = 200_000.0;

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
    /// The number of bytes that were left out since the last that were sent.
    gap: u64,
    /// True if the last byte that was left out ended a line.
    is_line_end: bool,
}

/// The part of some bytes that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted<'a> {
    /// The number of bytes before them that were left out; none if they follow what was sent last.
    pub gap: u64,
    /// The bytes that are sent.
    pub bytes: &'a [u8],
}

impl Budget {
    /// Makes the budget of a cell that begins.
    pub fn new(now: Instant) -> Budget {
        Budget {
            available: BURST_BYTES,
            filled: now,
            passed: 0,
            left_out: 0,
            gap: 0,
            is_line_end: false,
        }
    }

    /// Returns the part of some bytes that may be sent: all of them, none, or those from the next line on.
    pub fn admit<'a>(&mut self, bytes: &'a [u8], now: Instant) -> Option<Admitted<'a>> {
        let seconds = now.saturating_duration_since(self.filled).as_secs_f64();
        self.available = (self.available + seconds * BYTES_PER_SECOND).min(BURST_BYTES);
        self.filled = now;
        // What clears the screen needs nothing of what came before it. Other text behind a gap is shown from the
        // beginning of a line on.
        let cleared = if self.gap > 0 { rfind(bytes, CLEAR) } else { None };
        let begin = match bytes.iter().position(|byte| *byte == b'\n') {
            _ if cleared.is_some() => cleared.unwrap_or(0),
            _ if self.gap == 0 || self.is_line_end => 0,
            Some(line_end) => line_end + 1,
            None => bytes.len(),
        };
        let (before, rest) = bytes.split_at(begin);
        let goes_on = self.gap == 0 || cleared.is_some();
        let needed = if goes_on { rest.len() as f64 } else { RESUME_BYTES };
        let fits = rest.len() as f64 <= self.available && needed <= self.available;
        if rest.is_empty() || !fits || self.passed + rest.len() as u64 > MAX_BYTES {
            self.leave_out(bytes);
            return None;
        }
        self.leave_out(before);
        self.available -= rest.len() as f64;
        self.passed += rest.len() as u64;
        let gap = std::mem::take(&mut self.gap);
        Some(Admitted { gap: if goes_on { 0 } else { gap }, bytes: rest })
    }

    fn leave_out(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.last() {
            self.is_line_end = *last == b'\n';
            self.left_out += bytes.len() as u64;
            self.gap += bytes.len() as u64;
        }
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

fn rfind(bytes: &[u8], sought: &[u8]) -> Option<usize> {
    bytes.windows(sought.len()).rposition(|window| window == sought)
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
        let (line, mut admitted) = ([b"x".repeat(999), b"\n".to_vec()].concat(), 0);
        for _ in 0..10_000 {
            admitted += usize::from(budget.admit(&line, now).is_some());
        }
        assert_eq!(admitted, 1_048);
        assert_eq!(budget.left_out, 8_952_000);
        // One line would fit, but not without its neighbours.
        now += Duration::from_secs(1);
        assert_eq!(budget.admit(&line, now), None);
        now += Duration::from_secs(1);
        let resumed = budget.admit(&line, now).expect("two seconds are enough");
        assert_eq!(resumed, Admitted { gap: 8_953_000, bytes: &line });
        assert_eq!(budget.admit(&line, now), Some(Admitted { gap: 0, bytes: &line }));
        // In the end there is an end.
        let mut total = 1_050_000;
        for _ in 0..10_000 {
            now += Duration::from_secs(1);
            total += budget.admit(&line.repeat(100), now).map_or(0, |part| part.bytes.len());
        }
        assert!(total > 10_000_000 && total <= MAX_BYTES as usize, "{total}");
    }

    #[test]
    fn behind_a_gap_a_line_is_shown_from_its_beginning() {
        let mut now = Instant::now();
        let mut budget = Budget::new(now);
        assert!(budget.admit(&[b'x'; BURST_BYTES as usize], now).is_some());
        assert_eq!(budget.admit(b"the beginning ", now), None);
        now += Duration::from_secs(5);
        assert_eq!(budget.admit(b"of a line", now), None);
        let shown = budget.admit(b"!\nthe next\n", now);
        assert_eq!(shown, Some(Admitted { gap: 25, bytes: b"the next\n" }));
    }

    #[test]
    fn a_frame_that_clears_the_screen_needs_no_others() {
        let mut now = Instant::now();
        let mut budget = Budget::new(now);
        assert!(budget.admit(&[b'x'; BURST_BYTES as usize], now).is_some());
        assert_eq!(budget.admit(b"\x1b[2Jframe 1", now), None);
        now += Duration::from_millis(10);
        let frame: &[u8] = b"\x1b[2Jframe 3";
        let shown = budget.admit(b"\x1b[2Jframe 2\x1b[2Jframe 3", now);
        assert_eq!(shown, Some(Admitted { gap: 0, bytes: frame }));
    }
}
