//! Generates the same inputs as `nesl/data.nesl`, and computes checksums of the results.

use rayon::prelude::*;
use std::collections::HashMap;

/// The parameters of a program, by name.
pub struct Parameters(HashMap<String, String>);

impl Parameters {
    /// Reads parameters from `name=value` arguments.
    pub fn read(arguments: impl Iterator<Item = String>) -> Parameters {
        let pairs = arguments.filter_map(|argument| {
            argument.split_once('=').map(|(name, value)| (name.to_string(), value.to_string()))
        });
        Parameters(pairs.collect())
    }

    /// Returns a numeric parameter.
    pub fn get(&self, name: &str) -> usize {
        self.text(name).parse().unwrap_or_else(|_| panic!("{name} is no number"))
    }

    /// Returns a text parameter.
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).unwrap_or_else(|| panic!("{name} is missing"))
    }
}

/// Computes the same function as `mix` in `nesl/data.nesl`.
pub fn mix(i: usize) -> i64 {
    const P: i64 = 2_147_483_647;
    let h = (i as i64 * 48271 + 11) % P;
    let squared = h * h % P;
    (squared * h + 12345) % P
}

/// Scales the result of [`mix`] to a float between 0 and 1.
pub fn unit(i: usize) -> f64 {
    mix(i) as f64 / 2_147_483_647.0
}

/// Computes a sequence in parallel from a function of the index.
pub fn tabulate<T: Send>(n: usize, at: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
    (0..n).into_par_iter().map(at).collect()
}

/// Computes the same checksums as `check_floats` in `nesl/data.nesl`.
pub fn check_floats(v: &[f64]) -> Vec<f64> {
    vec![v.iter().sum(), v[v.len() / 2], v[v.len() - 1]]
}

/// Computes the same checksums as `check_sorted` in `nesl/data.nesl`.
pub fn check_sorted(v: &[i64]) -> Vec<f64> {
    let sum: i64 = v.iter().zip(0..).map(|(x, i)| x * (i % 7 + 1)).sum();
    [v[0], v[v.len() / 2], v[v.len() - 1], sum].map(|x| x as f64).to_vec()
}
