//! Prices of European options, in both precisions.

use crate::data::{Parameters, tabulate};
use crate::{Run, program};
use rayon::prelude::*;

macro_rules! black_scholes {
    ($name:ident, $real:ty, $pi:expr) => {
        /// Computes the prices of calls and puts by the Black-Scholes formula.
        pub fn $name(parameters: &Parameters) -> Run {
            fn cdf(d: $real) -> $real {
                let k = 1.0 / (1.0 + 0.2316419 * d.abs());
                let polynomial = k
                    * (0.319381530
                        + k * (-0.356563782
                            + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
                let tail = polynomial * (-0.5 * d * d).exp() / (2.0 * $pi as $real).sqrt();
                if d > 0.0 { 1.0 - tail } else { tail }
            }
            let n = parameters.get("n");
            let spots = tabulate(n, |i| 10.0 + (i % 1000) as $real / 10.0);
            let strikes = tabulate(n, |i| 10.0 + (i % 911) as $real / 9.0);
            let years = tabulate(n, |i| 0.25 + (i % 41) as $real / 4.0);
            let prices = move || -> (Vec<$real>, Vec<$real>) {
                let inputs = spots.par_iter().zip(&strikes).zip(&years);
                inputs
                    .map(|((&spot, &strike), &years)| {
                        let (rate, volatility): ($real, $real) = (0.02, 0.3);
                        let spread = volatility * years.sqrt();
                        let drift = rate + 0.5 * volatility * volatility;
                        let d1 = ((spot / strike).ln() + drift * years) / spread;
                        let discounted = strike * (-rate * years).exp();
                        let call = spot * cdf(d1) - discounted * cdf(d1 - spread);
                        (call, call - spot + discounted)
                    })
                    .unzip()
            };
            program(prices, |(calls, puts)| {
                let n = calls.len();
                let samples = [0, n / 2, n - 1].into_iter();
                samples.flat_map(|at| [calls[at] as f64, puts[at] as f64]).collect()
            })
        }
    };
}

black_scholes!(single, f32, std::f32::consts::PI);
black_scholes!(double, f64, std::f64::consts::PI);
