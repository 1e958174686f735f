//! Inputs, the same numbers as in `nesl/data.nesl`, and what results are compared by.

use rayon::prelude::*;
use std::collections::HashMap;

/// What a program is to be run with.
pub struct Parameters(HashMap<String, String>);

impl Parameters {
    /// From `name=value` arguments.
    pub fn read(arguments: impl Iterator<Item = String>) -> Parameters {
        let pairs = arguments.filter_map(|argument| {
            argument.split_once('=').map(|(name, value)| (name.to_string(), value.to_string()))
        });
        Parameters(pairs.collect())
    }

    /// A number.
    pub fn get(&self, name: &str) -> usize {
        self.text(name).parse().unwrap_or_else(|_| panic!("{name} is no number"))
    }

    /// A text.
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).unwrap_or_else(|| panic!("{name} is missing"))
    }
}

/// As in NESL.
pub fn mix(i: usize) -> i64 {
    const P: i64 = 2_147_483_647;
    let h = (i as i64 * 48271 + 11) % P;
    let squared = h * h % P;
    (squared * h + 12345) % P
}

/// The same between 0 and 1.
pub fn unit(i: usize) -> f64 {
    mix(i) as f64 / 2_147_483_647.0
}

/// A sequence from its elements.
pub fn tabulate<T: Send>(n: usize, at: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
    (0..n).into_par_iter().map(at).collect()
}

/// As in NESL.
pub fn check_floats(v: &[f64]) -> Vec<f64> {
    vec![v.iter().sum(), v[v.len() / 2], v[v.len() - 1]]
}

/// As in NESL.
pub fn check_sorted(v: &[i64]) -> Vec<f64> {
    let sum: i64 = v.iter().zip(0..).map(|(x, i)| x * (i % 7 + 1)).sum();
    [v[0], v[v.len() / 2], v[v.len() - 1], sum].map(|x| x as f64).to_vec()
}
