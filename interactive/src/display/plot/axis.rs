//! The range of an axis, its round numbers, and where a number lies on it.

use super::chart::Axis;
use crate::table::grouped;

/// The most marks that an axis gets.
const MAX_TICKS: usize = 12;
/// The number of powers of ten, as a multiple of the marks that are wanted, beyond which some are left out.
const MANY_POWERS: f64 = 1.5;
/// The digits before powers of ten at which marks may stand, from few to many.
const LOG_DIGITS: [&[f64]; 3] = [&[1.0], &[1.0, 3.0], &[1.0, 2.0, 5.0]];
/// The decimals before an exponent, if they are enough to tell numbers apart.
const EXPONENT_DECIMALS: usize = 3;
/// The part of the range that is left free at both ends.
const MARGIN_PART: f64 = 0.04;

/// A range of numbers on an axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// The smallest number, or its logarithm.
    low: f64,
    /// The largest number, or its logarithm.
    high: f64,
    /// The part of the range at each end that is beyond the numbers.
    margin: f64,
    is_log: bool,
}

impl Scale {
    /// The scale that the numbers fit in, with a margin.
    pub(super) fn of(axis: &Axis, numbers: impl Iterator<Item = f64>) -> Scale {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in numbers {
            let x = if axis.is_log { x.log10() } else { x };
            (low, high) = (low.min(x), high.max(x));
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let margin = match high - low {
            // So that a single number lies in the middle.
            0.0 => (low.abs() * 0.1).max(0.5),
            span => span * MARGIN_PART,
        };
        Scale { low: low - margin, high: high + margin, margin, is_log: axis.is_log }
    }

    /// The scale of a range as it is.
    pub(super) fn exact(low: f64, high: f64) -> Scale {
        let high = if high > low { high } else { low + 1.0 };
        Scale { low, high, margin: 0.0, is_log: false }
    }

    /// The same scale, from the smallest to the largest number.
    pub(super) fn without_margin(self) -> Scale {
        let (low, high) = (self.low + self.margin, self.high - self.margin);
        if low < high { Scale { low, high, margin: 0.0, ..self } } else { self }
    }

    /// The same scale of a longer range, with the numbers in its middle.
    pub(super) fn widened(self, span: f64) -> Scale {
        let more = ((span - self.span()) / 2.0).max(0.0);
        Scale { low: self.low - more, high: self.high + more, margin: self.margin, ..self }
    }

    /// Returns the length of the range, or the logarithm of the factor between its ends.
    pub(super) fn span(&self) -> f64 {
        self.high - self.low
    }

    /// Returns where a number lies: 0 at the low end, 1 at the high end.
    pub(super) fn place(&self, x: f64) -> f64 {
        let x = if self.is_log { x.log10() } else { x };
        (x - self.low) / (self.high - self.low)
    }

    /// Returns the ends.
    pub(super) fn ends(&self) -> (f64, f64) {
        match self.is_log {
            true => (10f64.powf(self.low), 10f64.powf(self.high)),
            false => (self.low, self.high),
        }
    }

    /// Returns about `wanted` round numbers in the range, with their texts.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        if self.is_log {
            return self.log_ticks(wanted);
        }
        let span = self.high - self.low;
        let raw = span / wanted.max(1) as f64;
        let power = 10f64.powf(raw.log10().floor());
        let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= raw);
        let step = factor.unwrap_or(10.0) * power;
        if !(step.is_finite() && step > 0.0) {
            return Vec::new();
        }
        let first = (self.low / step).ceil();
        let all = (0..MAX_TICKS).map(|at| (first + at as f64) * step);
        let inside = all.take_while(|x| *x <= self.high);
        // As many decimals as the step has.
        let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
        let largest = self.low.abs().max(self.high.abs());
        let text = |x: f64| {
            let x = if x == 0.0 { 0.0 } else { x };
            match notation(largest, step) {
                Notation::Decimals => format!("{x:.decimals$}"),
                Notation::Exponent(digits) => exponent_text(x, digits),
            }
        };
        inside.map(|x| (x, text(x))).collect()
    }

    /// Returns round numbers of a logarithmic range: every power of ten, or every few of them where there are
    /// many, and round numbers between them where there are few.
    fn log_ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let powers = (self.low.ceil(), self.high.floor());
        let count = powers.1 - powers.0 + 1.0;
        if !count.is_finite() || count > MANY_POWERS * wanted as f64 {
            let step = (count / wanted.max(1) as f64).ceil();
            let first = (self.low / step).ceil();
            let all = (0..MAX_TICKS).map(|at| (first + at as f64) * step);
            let inside = all.take_while(|exponent| *exponent <= self.high);
            return inside.map(|e| (10f64.powf(e), digit_text(1.0, e, 4.0))).collect();
        }
        // All numbers of an axis are written in the same way.
        let short = if self.high < 6.0 { 6.0 } else { 4.0 };
        let between = |digits: &[f64]| {
            let exponents = (0..=(self.high.floor() - self.low.floor()) as usize)
                .map(|at| self.low.floor() + at as f64);
            let all = exponents.flat_map(|e| digits.iter().map(move |digit| (*digit, e)));
            let inside =
                all.filter(|(digit, e)| (self.low..=self.high).contains(&(e + digit.log10())));
            inside
                .map(|(digit, e)| (digit * 10f64.powf(e), digit_text(digit, e, short)))
                .collect::<Vec<_>>()
        };
        let choices = LOG_DIGITS.iter().map(|digits| between(digits));
        let fit = choices.take_while(|ticks| ticks.len() <= (wanted + 1).min(MAX_TICKS)).last();
        fit.unwrap_or_else(|| between(&[1.0]))
    }
}

/// Returns a digit times a power of ten as a text: with all its digits below the power `short`.
fn digit_text(digit: f64, exponent: f64, short: f64) -> String {
    let value = digit * 10f64.powf(exponent);
    match exponent {
        e if (-3.0..0.0).contains(&e) => format!("{value:.*}", -e as usize),
        e if (0.0..short).contains(&e) => grouped(value.round() as u64),
        e if digit == 1.0 => format!("10{}", raised(e)),
        e => format!("{digit}·10{}", raised(e)),
    }
}

/// Returns a whole number in the letters of exponents.
fn raised(x: f64) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raise = |c: char| match c.to_digit(10) {
        Some(digit) => DIGITS[digit as usize],
        None => '⁻',
    };
    format!("{x:.0}").chars().map(raise).collect()
}

/// The way in which numbers are written that differ by a step.
enum Notation {
    /// With all digits before the point.
    Decimals,
    /// With an exponent, and so many decimals before it.
    Exponent(usize),
}

/// Returns the way to write numbers up to `largest`, so that those that differ by `step` are different texts.
fn notation(largest: f64, step: f64) -> Notation {
    let digits = (largest.log10().floor() - step.log10().floor()).clamp(0.0, 16.0) as usize;
    match largest {
        x if (1e-4..1e7).contains(&x) => Notation::Decimals,
        _ if digits <= EXPONENT_DECIMALS => Notation::Exponent(EXPONENT_DECIMALS),
        x if (1e7..1e15).contains(&x) => Notation::Decimals,
        _ => Notation::Exponent(digits),
    }
}

/// Returns the ends of a range in a few characters, but in as many as it takes to tell a hundredth of the range.
pub(super) fn end_texts(low: f64, high: f64) -> [String; 2] {
    let step = (high - low) / 100.0;
    let largest = low.abs().max(high.abs());
    // Four digits, as short texts have them, do.
    if !(step > 0.0 && step.is_finite()) || step >= largest / 1e4 {
        return [low, high].map(short_text);
    }
    let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
    [low, high].map(|x| match notation(largest, step) {
        Notation::Decimals => format!("{x:.decimals$}"),
        Notation::Exponent(digits) => exponent_text(x, digits),
    })
}

/// Returns a number in a few characters.
pub(crate) fn short_text(x: f64) -> String {
    match x.abs() {
        0.0 => "0".to_owned(),
        a if (1e-3..1e6).contains(&a) => {
            let decimals = (3.0 - a.log10().floor()).clamp(0.0, 6.0) as usize;
            let text = format!("{x:.decimals$}");
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
        _ => exponent_text(x, EXPONENT_DECIMALS),
    }
}

/// Returns a number with an exponent, and at most so many decimals before it.
fn exponent_text(x: f64, decimals: usize) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    let text = format!("{x:.decimals$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(low: f64, high: f64, is_log: bool) -> Vec<String> {
        let axis = Axis { is_log, ..Axis::default() };
        let scale = Scale::of(&axis, [low, high].into_iter());
        scale.ticks(5).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(texts(0.0, 10.0, false), ["0", "5", "10"]);
        assert_eq!(texts(-1.0, 1.0, false), ["-1.0", "-0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(texts(3.0, 3.0, false), ["2.6", "2.8", "3.0", "3.2", "3.4"]);
        assert_eq!(texts(0.0, 4e9, false), ["0", "1e9", "2e9", "3e9", "4e9"]);
        assert_eq!(texts(1e9, 1e9 + 4.0, false)[1..3], ["1000000001", "1000000002"]);
        assert_eq!(texts(1.0, 1.0 + 4e-9, false)[1], "1.000000001");
        assert_eq!(texts(1e20, 1e20 + 1e15, false)[1..3], ["1.000005e20", "1.00001e20"]);
        assert_eq!(texts(1.0, 1e6, true), ["1", "10", "100", "1,000", "10⁴", "10⁵", "10⁶"]);
        assert_eq!(texts(1e2, 1e4, true), ["100", "300", "1,000", "3,000", "10,000"]);
        assert_eq!(texts(200.0, 900.0, true), ["200", "500"]);
        assert_eq!(texts(1e-9, 1e9, true), ["10⁻⁸", "10⁻⁴", "1", "10⁴", "10⁸"]);
        assert_eq!(texts(4e6, 6e7, true), ["5·10⁶", "10⁷", "2·10⁷", "5·10⁷"]);
        for (low, high) in [(1e16, 1e16 + 2.0), (-1e300, 1e300), (0.0, 5e-324), (1e300, 1e300)] {
            assert!(texts(low, high, false).len() <= MAX_TICKS, "{low} {high}");
        }
    }

    #[test]
    fn ends_differ() {
        assert_eq!(end_texts(0.0, 1e9), ["0", "1e9"]);
        assert_eq!(end_texts(1_234_567_890.0, 1_234_567_894.0), ["1234567890.00", "1234567894.00"]);
        assert_eq!(end_texts(1.0, 1.0), ["1", "1"]);
    }

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 0.5, -1234.56, 1e7, 0.000_012_3, 99.0].map(short_text);
        assert_eq!(shown, ["0", "0.5", "-1235", "1e7", "1.23e-5", "99"]);
    }
}
