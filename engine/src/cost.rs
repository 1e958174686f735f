//! Growth laws: how the work and the depth of an expression grow with its size.
//!
//! A measurement is rarely a pure curve: a recursive sort costs `2·n log n + 17·n + 3`. A law therefore
//! has one term or, if enough sizes were measured to tell them apart, up to two more that grow more
//! slowly. All are found by least squares of the *relative* errors, so that small sizes count as
//! much as large ones. The coefficients are rounded to the digits that are printed before the error
//! is computed, and the law is reported whole: its error is that of what the reader sees.
//!
//! A law is also tested on what it has not seen: each size is predicted by a fit to all other sizes, the
//! smallest and the largest among them. A law that does not predict is not told. A law that the measurements follow exactly is taken, if there are sizes enough for two
//! terms. Otherwise, of all laws that explain the measurements about as well as the best does, the one
//! whose leading shape grows most slowly is taken, and of these the one with the fewest terms; three
//! terms only where laws with two predict much worse.

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
    /// The factor, rounded to as few significant digits as serve, at most `MAX_DIGITS`; in an exact law
    /// a multiple of a quarter.
    pub coefficient: f64,
}

/// A growth law that fits the measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    /// The terms: the one that dominates for large sizes, then those that grow more slowly.
    pub terms: Vec<Term>,
    /// The largest relative error of the law as printed, over the sizes measured.
    pub error: f64,
    /// The largest relative error at a size when the law is fitted to all other sizes.
    pub held_out: f64,
}

/// The outcome of fitting.
#[derive(Clone, Debug, PartialEq)]
pub enum Growth {
    /// A law fits.
    Law(Law),
    /// Fewer than [`MIN_SIZES`] different sizes were measured.
    TooFewSizes,
    /// Every law is off by more than [`MAX_ERROR`] at one of the sizes, measured or predicted.
    NoLaw,
}

/// The relative error of arithmetic on floats, below which a law is exact.
const EXACT_ERROR: f64 = 1e-9;

/// The number of different sizes from which on a law with one term is fitted.
pub const MIN_SIZES: usize = 3;

/// The number of different sizes from which on laws with two terms are fitted, too.
pub const MIN_SIZES_FOR_TWO_TERMS: usize = 5;

/// The number of different sizes from which on laws with three terms are fitted, too; fewer sizes are enough
/// for one that is exact.
pub const MIN_SIZES_FOR_THREE_TERMS: usize = 7;

/// The largest relative error that a law may have at a size that was measured.
pub const MAX_ERROR: f64 = 0.15;

/// The largest relative error that a law may have at a size that was held out of the fit. It is larger
/// than at those that were not: the smallest and the largest size are extrapolated.
const MAX_HELD_OUT_ERROR: f64 = 0.25;

/// The significant digits of a coefficient, at most.
const MAX_DIGITS: usize = 3;

/// A law with fewer digits explains the measurements as well if its error is at most this multiple.
const DIGITS_SLACK: f64 = 1.1;

/// The coefficients of exact laws, which count operations, are multiples of one divided by this.
const EXACT_PARTS: f64 = 4.0;

/// The name of a shape and its curve.
type Shape = (&'static str, fn(f64) -> f64);

/// The shapes of leading terms, from the slowest to the fastest growing. φ is the golden ratio, 1.618:
/// the calls of two recursions on n - 1 and n - 2 grow so.
const SHAPES: [Shape; 13] = [
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
    ("φⁿ", |n| GOLDEN_RATIO.powf(n)),
    ("2ⁿ", f64::exp2),
];

/// The limit of the ratios of Fibonacci numbers.
const GOLDEN_RATIO: f64 = 1.618_033_988_749_895;

/// Indices into [`SHAPES`] of the shapes of the other terms: those that lower-order costs really have.
/// With all shapes, two terms could imitate nearly everything.
const SECOND_SHAPES: [usize; 5] = [0, 1, 4, 5, 8];

/// A root-mean-square relative error that is small enough, whatever fits better.
const SUFFICIENT_ERROR: f64 = 0.01;

/// A law whose error is at most this multiple of the best law's explains the measurements as well.
const ERROR_SLACK: f64 = 1.5;

/// The factor by which a law with three terms must err less than all laws with two: it can imitate much.
const THIRD_TERM_GAIN: f64 = 3.0;

/// The part of the largest sample that the leading term must make up: beyond these bounds the
/// terms only cancel each other, or the leading one does not matter.
const LEADING_SHARE: std::ops::RangeInclusive<f64> = 0.5..=2.0;

/// The pivot, of equations whose columns have length 1, below which curves cannot be told apart.
const MIN_PIVOT: f64 = 1e-12;

/// A fitted law with its quality.
struct Candidate {
    law: Law,
    /// The root-mean-square relative error at the sizes that were fitted to, corrected for the number of
    /// coefficients.
    mean_error: f64,
    /// The root-mean-square relative error at sizes that were held out of the fit.
    mean_held_out: f64,
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
    let data = Data::new(samples, &sizes);
    // The laws with one or two terms, then those with three, of each leading shape.
    let mut simple: Vec<Vec<Candidate>> = Vec::new();
    let mut long: Vec<Vec<Candidate>> = Vec::new();
    for shape in 0..SHAPES.len() {
        let [few, many] = families(shape, sizes.len());
        let of = |family: Vec<Vec<usize>>| -> Vec<Candidate> {
            family.iter().filter_map(|shapes| candidate(&data, shapes)).collect()
        };
        simple.push(of(few));
        long.push(of(many));
    }
    // Costs are counted: with as many sizes, an exact law is no accident.
    let exact = |candidates: &[Vec<Candidate>]| {
        let found = candidates.iter().flatten().find(|c| c.law.is_exact());
        found.map(|c| Growth::Law(c.law.clone()))
    };
    if sizes.len() >= MIN_SIZES_FOR_TWO_TERMS
        && let Some(law) = exact(&simple).or_else(|| exact(&long))
    {
        return law;
    }
    // What measuring again would change is not to be explained.
    let sufficient = SUFFICIENT_ERROR.max(data.noise());
    let best = |candidates: &[Vec<Candidate>], error: fn(&Candidate) -> f64| {
        let errors = candidates.iter().flatten().map(error);
        errors.min_by(f64::total_cmp).unwrap_or(f64::INFINITY)
    };
    let [few, many] = [&simple, &long].map(|laws| best(laws, |c| c.mean_held_out));
    let can_be_long = sizes.len() >= MIN_SIZES_FOR_THREE_TERMS;
    let is_long = can_be_long && few > sufficient && few > THIRD_TERM_GAIN * many;
    let candidates = if is_long { long } else { simple };
    let best = best(&candidates, |c| c.mean_error);
    simplest(candidates, (ERROR_SLACK * best).max(sufficient))
}

/// The sets of shapes of the laws with a leading shape that so many sizes may tell apart: those of one
/// or two terms, and those of three.
fn families(leading: usize, sizes: usize) -> [Vec<Vec<usize>>; 2] {
    let slower: Vec<usize> =
        SECOND_SHAPES.iter().rev().copied().filter(|second| *second < leading).collect();
    let mut few = vec![vec![leading]];
    let mut many = Vec::new();
    if sizes >= MIN_SIZES_FOR_TWO_TERMS {
        few.extend(slower.iter().rev().map(|second| vec![leading, *second]));
        for (at, second) in slower.iter().enumerate() {
            many.extend(slower[at + 1..].iter().map(|third| vec![leading, *second, *third]));
        }
    }
    [few, many]
}

/// Of the laws, by leading shape, the first that errs no more than is enough, and by too much at no
/// single size.
fn simplest(candidates: Vec<Vec<Candidate>>, enough: f64) -> Growth {
    for laws in candidates {
        let fits = |c: &Candidate| {
            c.mean_error <= enough
                && c.law.error <= MAX_ERROR
                && c.law.held_out <= MAX_HELD_OUT_ERROR
        };
        let fitting = laws.into_iter().filter(fits).min_by(|a, b| {
            let complexity = |c: &Candidate| c.law.terms.len();
            complexity(a).cmp(&complexity(b)).then(a.mean_error.total_cmp(&b.mean_error))
        });
        if let Some(found) = fitting {
            return Growth::Law(found.law);
        }
    }
    Growth::NoLaw
}

fn log(n: f64) -> f64 {
    n.max(1.0).log2()
}

/// Rounds to a number of significant digits.
fn rounded(x: f64, digits: usize) -> f64 {
    format!("{x:.*e}", digits - 1).parse().unwrap_or(x)
}

/// The samples that laws are fitted to.
struct Data {
    samples: Vec<Sample>,
    /// The sizes, ascending, each once.
    sizes: Vec<f64>,
    /// The largest value.
    largest: f64,
}

impl Data {
    fn new(samples: Vec<Sample>, sizes: &[f64]) -> Data {
        let largest = samples.iter().map(|s| s.value.abs()).fold(0.0, f64::max);
        Data { samples, sizes: sizes.to_vec(), largest }
    }

    /// The scale of a relative error at a sample: its value or, if that is zero, the largest value.
    fn scale(&self, sample: &Sample) -> f64 {
        if sample.value == 0.0 { self.largest.max(1.0) } else { sample.value.abs() }
    }

    /// The root mean square of the relative standard errors of the samples.
    fn noise(&self) -> f64 {
        let squares = self.samples.iter().map(|s| (s.deviation / s.value.abs().max(1.0)).powi(2));
        (squares.sum::<f64>() / self.samples.len() as f64).sqrt()
    }

    /// The coefficients of shapes by least squares of the relative errors at all sizes but one; `None`
    /// if the shapes cannot be told apart there.
    fn coefficients(&self, shapes: &[usize], but: Option<f64>) -> Option<Vec<f64>> {
        let count = shapes.len();
        let mut columns = vec![Vec::new(); count];
        let mut values = Vec::new();
        for sample in self.samples.iter().filter(|sample| Some(sample.n) != but) {
            let scale = self.scale(sample);
            for (column, shape) in columns.iter_mut().zip(shapes) {
                column.push(SHAPES[*shape].1(sample.n) / scale);
            }
            values.push(sample.value / scale);
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        // Columns of length 1, so that a small pivot means that two of them are nearly the same.
        let lengths: Vec<f64> = columns.iter().map(|column| dot(column, column).sqrt()).collect();
        if lengths.iter().any(|length| !length.is_finite() || *length == 0.0) {
            return None;
        }
        for (column, length) in columns.iter_mut().zip(&lengths) {
            column.iter_mut().for_each(|x| *x /= length);
        }
        let mut rows: Vec<Vec<f64>> = columns
            .iter()
            .map(|a| {
                let products = columns.iter().map(|b| dot(a, b));
                products.chain([dot(a, &values)]).collect()
            })
            .collect();
        for at in 0..count {
            // The matrix is positive, so its pivots are on the diagonal.
            let pivot = rows[at][at];
            if pivot.is_nan() || pivot <= MIN_PIVOT {
                return None;
            }
            let row: Vec<f64> = rows[at].iter().map(|x| x / pivot).collect();
            for (index, other) in rows.iter_mut().enumerate() {
                if index == at {
                    other.clone_from(&row);
                } else {
                    let factor = other[at];
                    other.iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
                }
            }
        }
        Some(rows.iter().zip(&lengths).map(|(row, length)| row[count] / length).collect())
    }

    /// The largest and the root-mean-square relative error at sizes that are held out of the fit, one
    /// after the other.
    fn held_out(&self, shapes: &[usize]) -> Option<(f64, f64)> {
        let (mut most, mut squares) = (0.0f64, 0.0);
        for size in &self.sizes {
            let coefficients = self.coefficients(shapes, Some(*size))?;
            for sample in self.samples.iter().filter(|sample| sample.n == *size) {
                let error = self.error(shapes, &coefficients, sample);
                most = most.max(error);
                squares += error * error;
            }
        }
        Some((most, (squares / self.samples.len() as f64).sqrt()))
    }

    /// The relative error of a law at a sample.
    fn error(&self, shapes: &[usize], coefficients: &[f64], sample: &Sample) -> f64 {
        let terms = shapes.iter().zip(coefficients).filter(|(_, coefficient)| **coefficient != 0.0);
        let law: f64 =
            terms.map(|(shape, coefficient)| coefficient * SHAPES[*shape].1(sample.n)).sum();
        (law - sample.value).abs() / self.scale(sample)
    }
}

/// The best law with a leading shape and perhaps others; none if the leading one is not what
/// dominates it.
fn candidate(data: &Data, shapes: &[usize]) -> Option<Candidate> {
    let coefficients = data.coefficients(shapes, None)?;
    let held_out = data.held_out(shapes)?;
    let judged = |round: &dyn Fn(f64) -> f64| {
        let coefficients: Vec<f64> = coefficients.iter().map(|x| round(*x)).collect();
        judge(data, shapes, &coefficients, held_out)
    };
    let in_parts = |x: f64| (x * EXACT_PARTS).round() / EXACT_PARTS;
    if let Some(exact) = judged(&in_parts).filter(|c| c.law.is_exact()) {
        return Some(exact);
    }
    let to_digits = |digits| judged(&|x| rounded(x, digits));
    let full = to_digits(MAX_DIGITS)?;
    let enough = (DIGITS_SLACK * full.mean_error).max(SUFFICIENT_ERROR);
    let is_exact = full.law.is_exact();
    let serves = |one: &Candidate| match is_exact {
        true => one.law.is_exact(),
        false => one.mean_error <= enough,
    };
    let shorter = (1..MAX_DIGITS).filter_map(to_digits).find(serves);
    Some(shorter.unwrap_or(full))
}

/// The law with some shapes and their coefficients, rounded, unless the first does not dominate it.
fn judge(
    data: &Data,
    shapes: &[usize],
    coefficients: &[f64],
    (held_out, mean_held_out): (f64, f64),
) -> Option<Candidate> {
    let last = data.samples.iter().max_by(|a, b| a.n.total_cmp(&b.n))?;
    let leading = coefficients[0] * SHAPES[shapes[0]].1(last.n) / data.scale(last);
    if !LEADING_SHARE.contains(&leading) && data.largest > 0.0 {
        return None;
    }
    let (mut error, mut squares) = (0.0f64, 0.0);
    for sample in &data.samples {
        let e = data.error(shapes, coefficients, sample);
        error = error.max(e);
        squares += e * e;
    }
    let mean_error = (squares / (data.samples.len() - shapes.len()) as f64).sqrt();
    let terms: Vec<Term> = shapes
        .iter()
        .zip(coefficients)
        .enumerate()
        .filter(|(at, (_, coefficient))| *at == 0 || **coefficient != 0.0)
        .map(|(_, (shape, coefficient))| Term {
            shape: SHAPES[*shape].0,
            coefficient: *coefficient,
        })
        .collect();
    // What printing rounds is not predicted better than it is fitted.
    let law = Law { terms, error, held_out: held_out.max(error) };
    let mean_held_out = mean_held_out.max(mean_error);
    mean_held_out.is_finite().then_some(Candidate { law, mean_error, mean_held_out })
}

impl Law {
    /// Returns true if the law gives every measurement.
    pub fn is_exact(&self) -> bool {
        self.error < EXACT_ERROR
    }

    /// Returns the shape of the term that dominates for large sizes.
    pub fn shape(&self) -> &'static str {
        self.terms.first().map_or("1", |term| term.shape)
    }

    /// Returns the cost at a size.
    pub fn at(&self, n: f64) -> f64 {
        let term = |term: &Term| {
            let shape = SHAPES.iter().find(|(name, _)| *name == term.shape);
            shape.map_or(0.0, |(_, curve)| term.coefficient * curve(n))
        };
        self.terms.iter().map(term).sum()
    }
}

impl fmt::Display for Law {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Term { shape, coefficient }) in self.terms.iter().enumerate() {
            if at == 0 {
                write!(out, "{}", self.terms[0])?;
                continue;
            }
            let sign = if *coefficient < 0.0 { '−' } else { '+' };
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
        law(samples).shape()
    }

    #[test]
    fn pure_curves_are_recognised() {
        for (name, curve) in SHAPES {
            let sizes =
                if name.ends_with('ⁿ') { (4..13).map(f64::from).collect() } else { powers() };
            let found = law(&at(&sizes, |n| 3.0 * curve(n)));
            assert_eq!(found.terms, [Term { shape: name, coefficient: 3.0 }]);
            assert!(found.error < 1e-6, "{found:?}");
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
        assert_eq!(told(|n| 2.0 * n * log(n) + 17.0 * n + 3.0), "2·n log n + 17·n + 3");
        assert_eq!(told(|n| n * n + 1001.0 * n - 7.0), "n² + 1001·n − 7");
        assert_eq!(told(|n| n * log(n) * log(n) / 2.0 + n), "0.5·n log² n + n");
        assert_eq!(told(|n| 3.0 * n.sqrt() + 1.0), "3·√n + 1");
        let few: Vec<f64> = (1..11).map(f64::from).collect();
        let told = |curve: fn(f64) -> f64| law(&at(&few, curve)).to_string();
        assert_eq!(told(|n| 3.0 * n.exp2() - 2.0), "3·2ⁿ − 2");
        assert_eq!(told(|n| n.exp2() + n - 1.0), "2ⁿ + n − 1");
        let fibonacci =
            |n: f64| (1..n as u64).fold((1.0, 1.0), |(a, b): (f64, f64), _| (b, a + b)).1;
        let sizes: Vec<f64> = (2..10).map(|k| 3.0 * f64::from(k)).collect();
        assert_eq!(shape(&at(&sizes, fibonacci)), "φⁿ");
        let sizes = powers();
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
    fn n1_the_error_is_that_of_what_is_printed() {
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

    /// The error at held-out sizes is what fits to the other sizes give, not less than that of the law.
    #[test]
    fn what_was_not_fitted_is_predicted() {
        let mut samples = at(&powers(), |n| 2.0 * n * log(n) + 17.0 * n);
        let exact = law(&samples);
        assert!(exact.held_out < 1e-6, "{exact:?}");
        for (i, sample) in samples.iter_mut().enumerate() {
            sample.value *= 1.0 + 0.02 * noise_of(i as u64);
        }
        let noisy = law(&samples);
        assert!(noisy.held_out >= noisy.error && noisy.held_out < 0.1, "{noisy:?}");
        // The last size breaks the law of all others.
        let mut broken = at(&powers(), |n| 5.0 * n);
        if let Some(last) = broken.last_mut() {
            last.value *= 3.0;
        }
        assert_eq!(fit(&broken), Growth::NoLaw);
    }

    /// Of laws whose mean error is small enough, one that is far off at one size is none.
    #[test]
    fn a_law_is_off_by_little_at_every_size() {
        let depths = [178.0, 242.0, 287.0, 332.0, 351.0, 431.0, 440.0];
        let sizes = [1e2, 2e2, 5e2, 1e3, 2e3, 5e3, 1e4];
        let samples = sizes.iter().zip(depths);
        let samples: Vec<Sample> =
            samples.map(|(n, value)| Sample { n: *n, value, deviation: 0.06 * value }).collect();
        assert_eq!(shape(&samples), "log n");
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
        let squares = |n: f64| n * n + 3.0 * n + 2.0;
        assert_eq!(law(&at(&sizes, squares)).to_string(), "n² + 3·n + 2");
        let odd = |n: f64| squares(n) + n.sin();
        assert_eq!(law(&at(&sizes, odd)).to_string(), "n² + 3·n");
    }
}
