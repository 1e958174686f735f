//! Growth: work and depth of an expression over several sizes, and the curve that fits them.
//!
//! A measurement is rarely a pure curve: a recursive sort costs `2 n log n + 17 n`. So each shape
//! is fitted alone and with one slower shape beside it, `a * shape(n) + b * slower(n)`, by least
//! squares of the *relative* errors, so that small sizes count as much as large ones. Of the
//! shapes that come close to the best, the one that grows slowest is taken.

/// One run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The size.
    pub n: f64,
    /// What was measured.
    pub value: f64,
}

/// A fitted curve: `coefficient * shape(n)`, and something that grows slower.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// For people: `n log n`.
    pub shape: &'static str,
    /// The factor.
    pub coefficient: f64,
    /// The largest relative error over the samples.
    pub error: f64,
}

/// Name and curve.
type Shape = (&'static str, fn(f64) -> f64);

/// From the slowest to the fastest growing.
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

/// As close is close enough, whatever is closer.
const TOLERANCE: f64 = 0.01;
/// So many times as far as the best is close enough, too: measurements are noisy.
const SLACK: f64 = 1.4;
/// The shape must make up this much of the largest sample, or it is not what dominates.
const SHARE: f64 = 0.25;

/// A shape fitted, and how far it is off on the whole.
struct Candidate {
    fit: Fit,
    mean_error: f64,
}

/// The simplest of 1, log n, log² n, √n, n, n log n, n log² n, n √n, n², n² log n, n³, 2ⁿ that fits
/// well. `None` with fewer than two samples of different sizes.
pub fn fit(samples: &[Sample]) -> Option<Fit> {
    let usable = |s: &&Sample| s.n > 0.0 && s.n.is_finite() && s.value.is_finite();
    let samples: Vec<Sample> = samples.iter().filter(usable).copied().collect();
    let mut sizes: Vec<f64> = samples.iter().map(|s| s.n).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    if sizes.len() < 2 {
        return None;
    }
    let candidates: Vec<Candidate> = (0..SHAPES.len())
        .filter_map(|index| {
            // As many companions as leave something to be explained.
            let companions = match sizes.len() {
                2 => 0,
                3 => index.min(1),
                _ => index,
            };
            let alone = candidate(&samples, index, None);
            let beside = (0..companions).filter_map(|c| candidate(&samples, index, Some(c)));
            alone.into_iter().chain(beside).min_by(|a, b| a.mean_error.total_cmp(&b.mean_error))
        })
        .collect();
    let best = candidates.iter().map(|c| c.mean_error).min_by(f64::total_cmp)?;
    let enough = (SLACK * best).max(TOLERANCE);
    candidates.into_iter().find(|c| c.mean_error <= enough).map(|c| c.fit)
}

fn log(n: f64) -> f64 {
    n.max(1.0).log2()
}

/// The best `a * shape + b * companion`; none if the shape is not what dominates it.
fn candidate(samples: &[Sample], shape: usize, companion: Option<usize>) -> Option<Candidate> {
    let (name, curve) = SHAPES[shape];
    let beside = |n| companion.map_or(0.0, |index| SHAPES[index].1(n));
    let largest = samples.iter().map(|s| s.value.abs()).fold(0.0, f64::max);
    if largest == 0.0 {
        let fit = Fit { shape: name, coefficient: 0.0, error: 0.0 };
        return Some(Candidate { fit, mean_error: 0.0 });
    }
    // Relative to each value; a value of zero has only the others to be compared with.
    let scale = |s: &Sample| if s.value == 0.0 { largest } else { s.value.abs() };
    let (mut xx, mut xy, mut yy, mut xv, mut yv) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for sample in samples {
        let w = scale(sample);
        let (x, y, v) = (curve(sample.n) / w, beside(sample.n) / w, sample.value / w);
        xx += x * x;
        xy += x * y;
        yy += y * y;
        xv += x * v;
        yv += y * v;
    }
    let (a, b) = match companion {
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
    let last = samples.iter().max_by(|a, b| a.n.total_cmp(&b.n))?;
    let share = a * curve(last.n) / scale(last);
    // Written so that what is not a number is refused.
    let dominates = (SHARE..=1.0 / SHARE).contains(&share);
    if !dominates {
        return None;
    }
    let errors =
        samples.iter().map(|s| (a * curve(s.n) + b * beside(s.n) - s.value).abs() / scale(s));
    let (mut error, mut squares) = (0.0f64, 0.0);
    for e in errors {
        error = error.max(e);
        squares += e * e;
    }
    let mean_error = (squares / samples.len() as f64).sqrt();
    mean_error
        .is_finite()
        .then_some(Candidate { fit: Fit { shape: name, coefficient: a, error }, mean_error })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(sizes: &[f64], curve: impl Fn(f64) -> f64) -> Vec<Sample> {
        sizes.iter().map(|n| Sample { n: *n, value: curve(*n) }).collect()
    }

    fn powers() -> Vec<f64> {
        (4..13).map(|k| f64::from(1 << k)).collect()
    }

    fn shape(samples: &[Sample]) -> &'static str {
        fit(samples).unwrap().shape
    }

    #[test]
    fn pure_curves_are_recognised() {
        for (name, curve) in SHAPES {
            let sizes = if name == "2ⁿ" { (4..13).map(f64::from).collect() } else { powers() };
            let found = fit(&at(&sizes, |n| 3.0 * curve(n))).unwrap();
            assert_eq!(found.shape, name);
            assert!((found.coefficient - 3.0).abs() < 1e-6 && found.error < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn slower_terms_do_not_matter() {
        let sizes = powers();
        assert_eq!(shape(&at(&sizes, |n| 2.0 * n * log(n) + 17.0 * n)), "n log n");
        assert_eq!(shape(&at(&sizes, |n| n * (n - 1.0) / 2.0)), "n²");
        assert_eq!(shape(&at(&sizes, |n| 5.0 * n + 100.0)), "n");
        assert_eq!(shape(&at(&sizes, |n| 3.0 * log(n) + 7.0)), "log n");
        assert_eq!(shape(&at(&sizes, |n| 4.0 * n + 30.0 * log(n))), "n");
        assert_eq!(shape(&at(&sizes, |n| log(n) * (log(n) + 1.0) / 2.0)), "log² n");
        assert_eq!(shape(&at(&sizes, |n| n * n * n + 9.0 * n * n)), "n³");
    }

    /// Numbers in -1..1 that look random.
    fn noise(seed: u64) -> f64 {
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
                    sample.value *= 1.0 + 0.04 * noise(seed * 100 + i as u64);
                }
                let found = shape(&samples);
                if found != *name {
                    wrong.push((name, found));
                }
            }
        }
        assert!(wrong.len() <= 15, "{} of 300: {wrong:?}", wrong.len());
    }

    #[test]
    fn few_samples() {
        assert_eq!(fit(&[]), None);
        assert_eq!(fit(&at(&[8.0, 8.0], |n| n)), None);
        assert_eq!(shape(&at(&[8.0, 64.0], |n| 5.0 * n)), "n");
        assert_eq!(shape(&at(&[8.0, 64.0], |_| 5.0)), "1");
        assert_eq!(shape(&at(&[8.0, 64.0, 512.0], |n| n + 9.0)), "n");
        assert_eq!(shape(&at(&[8.0, 64.0], |_| 0.0)), "1");
        assert_eq!(fit(&at(&[f64::NAN, 0.0, 2.0], |n| n)), None);
    }

    #[test]
    fn whole_numbers_are_good_enough() {
        let sizes = [10.0, 100.0, 1000.0, 10_000.0];
        assert_eq!(shape(&at(&sizes, |n| 2.0 * log(n).ceil() + 3.0)), "log n");
        assert_eq!(shape(&at(&sizes, |n| (n * log(n)).round() + 12.0)), "n log n");
    }
}
