//! Growth: work and depth of an expression over several sizes, and the curve that fits them.

/// One run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The size.
    pub n: f64,
    /// What was measured.
    pub value: f64,
}

/// A fitted curve: `coefficient * shape(n)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// For people: `n log n`.
    pub shape: &'static str,
    /// The factor.
    pub coefficient: f64,
    /// The largest relative error over the samples.
    pub error: f64,
}

/// The simplest of 1, log n, log² n, √n, n, n log n, n log² n, n √n, n², n² log n, n³, 2ⁿ that fits best.
/// `None` with fewer than two samples.
pub fn fit(samples: &[Sample]) -> Option<Fit> {
    let _ = samples;
    None
}
