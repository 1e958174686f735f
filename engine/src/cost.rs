//! Growth laws: how the work and the depth of an expression grow with its size.
//!
//! A measurement is rarely a pure curve: a recursive sort costs `2·n log n + 17·n`. A law therefore
//! has one term, or, if enough sizes were measured to tell two apart, a second term that grows more
//! slowly. Both are found by least squares of the *relative* errors, so that small sizes count as
//! much as large ones. The coefficients are rounded to the digits that are printed before the error
//! is computed, and the law is reported whole: its error is that of what the reader sees.
//!
//! A law that the measurements follow exactly is taken, if there are sizes enough for two terms. Otherwise,
//! of all laws that explain the measurements about as well as the best does, the one whose leading
//! shape grows most slowly is taken, and of these one with a single term if there is such a law.

use std::fmt;

/// The measurements at one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The size, greater than zero.
    pub n: f64,
    /// The mean of what was measured.
    pub value: f64,
    /// The standard error of the mean; 0 where measuring again gives the same.
    pub deviation: f64,
}

/// One term of a law: `coefficient · shape(n)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The shape as printed: `n log n`; `1` for a constant.
    pub shape: &'static str,
    /// The factor, rounded to as few significant digits as serve, at most `MAX_DIGITS`.
    pub coefficient: f64,
}

/// A growth law that fits the measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    /// The term that dominates for large sizes.
    pub leading: Term,
    /// A second term that grows more slowly.
    pub second: Option<Term>,
    /// The largest relative error of the law as printed, over the sizes measured.
    pub error: f64,
}

/// The outcome of fitting.
#[derive(Clone, Debug, PartialEq)]
pub enum Growth {
    /// A law fits.
    Law(Law),
    /// Fewer than [`MIN_SIZES`] different sizes were measured.
    TooFewSizes,
    /// Every law is off by more than [`MAX_ERROR`] at one of the sizes.
    NoLaw,
}

impl Law {
    /// Returns true if the law gives every measurement.
    pub fn is_exact(&self) -> bool {
        self.error < EXACT_ERROR
    }
}

/// The relative error of arithmetic on floats, below which a law is exact.
const EXACT_ERROR: f64 = 1e-9;

/// The number of different sizes from which on a law with one term is fitted.
pub const MIN_SIZES: usize = 3;

/// The number of different sizes from which on laws with two terms are fitted, too.
pub const MIN_SIZES_FOR_TWO_TERMS: usize = 5;

/// The largest relative error that a law may have at a size that was measured.
pub const MAX_ERROR: f64 = 0.15;

/// The significant digits of a coefficient, at most.
const MAX_DIGITS: usize = 3;

/// A law with fewer digits explains the measurements as well if its error is at most this multiple.
const DIGITS_SLACK: f64 = 1.1;

/// The name of a shape and its curve.
type Shape = (&'static str, fn(f64) -> f64);

/// The shapes of leading terms, from the slowest to the fastest growing.
const SHAPES: [Shape; 12] = [
    ("1", |_| 1.0),
    ("log n", log),
    ("log² n", |n| log(n) * log(n)),
    ("√n", f64::sqrt),
    ("n", |n| n),
    ("n log n", |n| n * log(n)),
    ("n log² n", |n| n * log(n) * log(n)),
    ("n √n", |n| n * n.sqrt()),
    ("n²", |n| n * n),
    ("n² log n", |n| n * n * log(n)),
    ("n³", |n| n * n * n),
    ("2ⁿ", f64::exp2),
];

/// Indices into [`SHAPES`] of the shapes of second terms: those that lower-order costs really have.
/// With all shapes, two terms could imitate nearly everything.
const SECOND_SHAPES: [usize; 5] = [0, 1, 4, 5, 8];

/// A root-mean-square relative error that is small enough, whatever fits better.
const SUFFICIENT_ERROR: f64 = 0.01;

/// A law whose error is at most this multiple of the best law's explains the measurements as well.
const ERROR_SLACK: f64 = 1.5;

/// The part of the largest sample that the leading term must make up: beyond these bounds the two
/// terms only cancel each other, or the leading one does not matter.
const LEADING_SHARE: std::ops::RangeInclusive<f64> = 0.5..=2.0;

/// A fitted law with its quality.
struct Candidate {
    law: Law,
    /// The root-mean-square relative error, corrected for the number of coefficients.
    mean_error: f64,
}

/// Finds the simplest law that fits the means at the sizes.
pub fn fit(samples: &[Sample]) -> Growth {
    let usable = |s: &&Sample| s.n > 0.0 && s.n.is_finite() && s.value.is_finite();
    let samples: Vec<Sample> = samples.iter().filter(usable).copied().collect();
    let mut sizes: Vec<f64> = samples.iter().map(|s| s.n).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    if sizes.len() < MIN_SIZES {
        return Growth::TooFewSizes;
    }
    let two_terms = sizes.len() >= MIN_SIZES_FOR_TWO_TERMS;
    let laws_of = |shape: usize| -> Vec<Candidate> {
        let seconds = SECOND_SHAPES.iter().filter(|second| two_terms && **second < shape);
        let seconds = std::iter::once(None).chain(seconds.map(|second| Some(*second)));
        seconds.filter_map(|second| candidate(&samples, shape, second)).collect()
    };
    let candidates: Vec<Vec<Candidate>> = (0..SHAPES.len()).map(laws_of).collect();
    // Costs are counted: with as many sizes, an exact law is no accident.
    let mut exact = candidates.iter().flatten().filter(|c| c.law.is_exact());
    if two_terms && let Some(found) = exact.next() {
        return Growth::Law(found.law.clone());
    }
    let errors = candidates.iter().flatten().map(|c| c.mean_error);
    let Some(best) = errors.min_by(f64::total_cmp) else { return Growth::NoLaw };
    // What measuring again would change is not to be explained.
    let enough = (ERROR_SLACK * best).max(SUFFICIENT_ERROR).max(noise(&samples));
    for laws in candidates {
        let mut fitting: Vec<Candidate> =
            laws.into_iter().filter(|c| c.mean_error <= enough).collect();
        fitting.sort_by(|a, b| {
            let complexity = |c: &Candidate| c.law.second.is_some();
            complexity(a).cmp(&complexity(b)).then(a.mean_error.total_cmp(&b.mean_error))
        });
        if let Some(found) = fitting.into_iter().next() {
            return if found.law.error <= MAX_ERROR {
                Growth::Law(found.law)
            } else {
                Growth::NoLaw
            };
        }
    }
    Growth::NoLaw
}

fn log(n: f64) -> f64 {
    n.max(1.0).log2()
}

/// The root mean square of the relative standard errors of the samples.
fn noise(samples: &[Sample]) -> f64 {
    let squares = samples.iter().map(|s| (s.deviation / s.value.abs().max(1.0)).powi(2));
    (squares.sum::<f64>() / samples.len() as f64).sqrt()
}

/// Rounds to a number of significant digits.
fn rounded(x: f64, digits: usize) -> f64 {
    format!("{x:.*e}", digits - 1).parse().unwrap_or(x)
}

/// The best law with a leading shape and perhaps a second one; none if the leading one is not what
/// dominates it.
fn candidate(samples: &[Sample], shape: usize, second: Option<usize>) -> Option<Candidate> {
    let curve = SHAPES[shape].1;
    let beside = |n| second.map_or(0.0, |index| SHAPES[index].1(n));
    let largest = samples.iter().map(|s| s.value.abs()).fold(0.0, f64::max);
    let (mut xx, mut xy, mut yy, mut xv, mut yv) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for sample in samples {
        let w = scale(sample, largest);
        let (x, y, v) = (curve(sample.n) / w, beside(sample.n) / w, sample.value / w);
        xx += x * x;
        xy += x * y;
        yy += y * y;
        xv += x * v;
        yv += y * v;
    }
    let (a, b) = match second {
        None => (xv / xx, 0.0),
        Some(_) => {
            let determinant = xx * yy - xy * xy;
            // Curves that cannot be told apart at these sizes.
            if determinant <= 1e-12 * xx * yy {
                return None;
            }
            ((xv * yy - yv * xy) / determinant, (yv * xx - xv * xy) / determinant)
        }
    };
    let judged = |digits| judge(samples, [shape, second.unwrap_or(0)], [a, b], digits);
    let full = judged(MAX_DIGITS)?;
    let enough = (DIGITS_SLACK * full.mean_error).max(SUFFICIENT_ERROR);
    let is_exact = full.law.is_exact();
    let serves = |one: &Candidate| match is_exact {
        true => one.law.is_exact(),
        false => one.mean_error <= enough,
    };
    let shorter = (1..MAX_DIGITS).filter_map(judged).find(serves);
    Some(shorter.unwrap_or(full))
}

/// The law with two shapes and their coefficients, rounded, unless the first does not dominate it.
fn judge(
    samples: &[Sample],
    shapes: [usize; 2],
    coefficients: [f64; 2],
    digits: usize,
) -> Option<Candidate> {
    let largest = samples.iter().map(|s| s.value.abs()).fold(0.0, f64::max);
    let [(name, curve), (second_name, beside)] = shapes.map(|shape| SHAPES[shape]);
    let [a, b] = coefficients.map(|coefficient| rounded(coefficient, digits));
    let last = samples.iter().max_by(|a, b| a.n.total_cmp(&b.n))?;
    // Written so that what is not a number is refused.
    let dominates = LEADING_SHARE.contains(&(a * curve(last.n) / scale(last, largest)));
    if !dominates && largest > 0.0 {
        return None;
    }
    let law = |n: f64| if b == 0.0 { a * curve(n) } else { a * curve(n) + b * beside(n) };
    let (mut error, mut squares) = (0.0f64, 0.0);
    for sample in samples {
        let e = (law(sample.n) - sample.value).abs() / scale(sample, largest);
        error = error.max(e);
        squares += e * e;
    }
    let terms = 1 + usize::from(coefficients[1] != 0.0);
    let mean_error = (squares / (samples.len() - terms) as f64).sqrt();
    let leading = Term { shape: name, coefficient: a };
    let second = (b != 0.0).then_some(Term { shape: second_name, coefficient: b });
    let law = Law { leading, second, error };
    mean_error.is_finite().then_some(Candidate { law, mean_error })
}

/// The scale of a relative error at a sample: its value or, if that is zero, the largest value.
fn scale(sample: &Sample, largest: f64) -> f64 {
    if sample.value == 0.0 { largest.max(1.0) } else { sample.value.abs() }
}

impl Law {
    /// Returns the cost at a size.
    pub fn at(&self, n: f64) -> f64 {
        let term = |term: &Term| {
            let shape = SHAPES.iter().find(|(name, _)| *name == term.shape);
            shape.map_or(0.0, |(_, curve)| term.coefficient * curve(n))
        };
        term(&self.leading) + self.second.as_ref().map_or(0.0, term)
    }
}

impl fmt::Display for Law {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.leading)?;
        if let Some(Term { shape, coefficient }) = self.second {
            let sign = if coefficient < 0.0 { '−' } else { '+' };
            write!(out, " {sign} {}", Term { shape, coefficient: coefficient.abs() })?;
        }
        Ok(())
    }
}

impl fmt::Display for Term {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let coefficient = match self.coefficient {
            x if x != 0.0 && !(1e-4..1e7).contains(&x.abs()) => format!("{x:e}"),
            x => x.to_string(),
        };
        match self.shape {
            "1" => write!(out, "{coefficient}"),
            shape if self.coefficient == 1.0 => write!(out, "{shape}"),
            shape => write!(out, "{coefficient}·{shape}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(sizes: &[f64], curve: impl Fn(f64) -> f64) -> Vec<Sample> {
        sizes.iter().map(|n| Sample { n: *n, value: curve(*n), deviation: 0.0 }).collect()
    }

    fn powers() -> Vec<f64> {
        (4..13).map(|k| f64::from(1 << k)).collect()
    }

    #[track_caller]
    fn law(samples: &[Sample]) -> Law {
        match fit(samples) {
            Growth::Law(law) => law,
            other => panic!("{other:?} of {samples:?}"),
        }
    }

    fn shape(samples: &[Sample]) -> &'static str {
        law(samples).leading.shape
    }

    #[test]
    fn pure_curves_are_recognised() {
        for (name, curve) in SHAPES {
            let sizes = if name == "2ⁿ" { (4..13).map(f64::from).collect() } else { powers() };
            let found = law(&at(&sizes, |n| 3.0 * curve(n)));
            assert_eq!(found.leading, Term { shape: name, coefficient: 3.0 });
            assert!(found.second.is_none() && found.error < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn slower_terms_are_told() {
        let sizes = powers();
        let told = |curve: fn(f64) -> f64| law(&at(&sizes, curve)).to_string();
        assert_eq!(told(|n| 2.0 * n * log(n) + 17.0 * n), "2·n log n + 17·n");
        assert_eq!(told(|n| n * (n - 1.0) / 2.0), "0.5·n² − 0.5·n");
        assert_eq!(told(|n| 5.0 * n + 100.0), "5·n + 100");
        assert_eq!(told(|n| 49.6 * log(n) - 103.4), "49.6·log n − 103");
        assert_eq!(told(|n| 3.0 * log(n) + 7.0), "3·log n + 7");
        assert_eq!(told(|n| 4.0 * n + 30.0 * log(n)), "4·n + 30·log n");
        assert_eq!(shape(&at(&sizes, |n| log(n) * (log(n) + 1.0) / 2.0)), "log² n");
        assert_eq!(shape(&at(&sizes, |n| n * n * n + 9.0 * n * n)), "n³");
    }

    /// A law evaluated by itself, as a reader of its text would do it.
    fn read(text: &str, n: f64) -> f64 {
        let text = text.replace("− ", "+ −");
        let term = |term: &str| {
            let (sign, term) = match term.strip_prefix('−') {
                Some(rest) => (-1.0, rest),
                None => (1.0, term),
            };
            let (coefficient, shape) = match term.split_once('·') {
                Some((coefficient, shape)) => (coefficient.parse().unwrap(), shape),
                None => match term.parse() {
                    Ok(constant) => (constant, "1"),
                    Err(_) => (1.0, term),
                },
            };
            let (_, curve) = SHAPES.iter().find(|(name, _)| *name == shape).unwrap();
            sign * coefficient * curve(n)
        };
        text.split(" + ").map(term).sum()
    }

    #[test]
    fn the_error_is_that_of_what_is_printed() {
        let curves: [fn(f64) -> f64; 5] = [
            |n| 49.6 * log(n) - 103.4,
            |n| 11.617 * n * log(n) - 8.91 * n,
            |n| 3.0 * n + 77.0 * n.sqrt(),
            |n| (n * n + 3.0 * n + 2.0).round(),
            |n| 1.234567 * log(n) * log(n) + 9.0,
        ];
        for curve in curves {
            for sizes in [&[100.0, 300.0, 1e3, 3e3, 1e4][..], &[1e2, 1e3, 1e4], &powers()] {
                let Growth::Law(law) = fit(&at(sizes, curve)) else { continue };
                let text = law.to_string();
                for n in sizes {
                    let error = (read(&text, *n) / curve(*n) - 1.0).abs();
                    assert!(error <= law.error + 1e-9, "{text} is off by {error} at {n}");
                }
            }
        }
    }

    /// Numbers in -1..1 that look random.
    fn noise_of(seed: u64) -> f64 {
        let hash = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hash = (hash ^ hash >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (hash >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    #[test]
    fn noise_is_seen_through() {
        let curves = ["1", "log n", "n", "n log n", "n²", "n³"];
        let mut wrong = Vec::new();
        for (name, curve) in SHAPES.iter().filter(|(name, _)| curves.contains(name)) {
            for seed in 0..50 {
                let mut samples = at(&powers(), |n| 7.0 * curve(n));
                for (i, sample) in samples.iter_mut().enumerate() {
                    sample.value *= 1.0 + 0.04 * noise_of(seed * 100 + i as u64);
                }
                let found = shape(&samples);
                if found != *name {
                    wrong.push((name, found));
                }
            }
        }
        assert!(wrong.len() <= 15, "{} of 300: {wrong:?}", wrong.len());
    }

    /// The depth of a quicksort of random numbers: whichever sizes are measured, the law is the same.
    #[test]
    fn other_sizes_give_the_same_law() {
        let many = [1e2, 2e2, 5e2, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4];
        for from in 0..=4 {
            for seed in 0..20 {
                let mut samples = at(&many[from..from + 5], |n| 49.6 * log(n) - 103.0);
                for (i, sample) in samples.iter_mut().enumerate() {
                    sample.deviation = 0.03 * sample.value;
                    sample.value *= 1.0 + 0.03 * noise_of(seed * 100 + i as u64);
                }
                assert_eq!(shape(&samples), "log n", "{samples:?}");
            }
        }
    }

    #[test]
    fn few_sizes_give_no_law_or_one_term() {
        assert_eq!(fit(&[]), Growth::TooFewSizes);
        assert_eq!(fit(&at(&[8.0, 64.0, 64.0], |n| n)), Growth::TooFewSizes);
        assert_eq!(fit(&at(&[f64::NAN, 0.0, 2.0, 3.0], |n| n)), Growth::TooFewSizes);
        assert_eq!(law(&at(&[8.0, 64.0, 512.0], |n| 5.0 * n)).to_string(), "5·n");
        assert_eq!(law(&at(&[8.0, 64.0, 512.0], |_| 5.0)).to_string(), "5");
        assert_eq!(law(&at(&[8.0, 64.0, 512.0], |_| 0.0)).to_string(), "0");
        // What has two terms is not forced into one.
        let depth = |n| 49.6 * log(n) - 203.0;
        assert_eq!(fit(&at(&[1e2, 1e3, 1e4, 1e5], depth)), Growth::NoLaw);
        let sizes = [1e2, 3e2, 1e3, 1e4, 1e5];
        assert_eq!(law(&at(&sizes, depth)).to_string(), "49.6·log n − 203");
    }

    #[test]
    fn what_no_law_fits_has_none() {
        let sizes = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0];
        let jumps = |n: f64| if ((n / 10.0) as u64).is_multiple_of(2) { 10.0 } else { 1000.0 };
        assert_eq!(fit(&at(&sizes, jumps)), Growth::NoLaw);
    }

    #[test]
    fn whole_numbers_are_good_enough() {
        let sizes = [10.0, 100.0, 1000.0, 10_000.0, 100_000.0];
        assert_eq!(shape(&at(&sizes, |n| 2.0 * log(n).ceil() + 3.0)), "log n");
        assert_eq!(shape(&at(&sizes, |n| (n * log(n)).round() + 12.0)), "n log n");
    }

    #[test]
    fn coefficients_have_at_most_three_digits() {
        let term =
            |coefficient| Term { shape: "n", coefficient: rounded(coefficient, 3) }.to_string();
        assert_eq!(term(1.0004), "n");
        assert_eq!(term(49.6349), "49.6·n");
        assert_eq!(term(123_456.0), "123000·n");
        assert_eq!(term(0.000_012_345), "1.23e-5·n");
        assert_eq!(term(0.265_44), "0.265·n");
        // No more than serve.
        let sizes = [10.0, 30.0, 100.0, 300.0, 1000.0];
        assert_eq!(law(&at(&sizes, |n| n * n + 3.0 * n + 2.0)).to_string(), "n² + 3·n");
    }
}
