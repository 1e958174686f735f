//! Programs on a grid, and the sieve of Eratosthenes.

use crate::data::{Parameters, check_floats, tabulate, unit};
use crate::{Run, program};
use rayon::prelude::*;

/// Computes the number of steps until each point of a grid escapes.
pub fn mandelbrot(parameters: &Parameters) -> Run {
    let (size, limit) = (parameters.get("size"), parameters.get("limit"));
    let picture = move || -> Vec<i64> {
        (0..size * size)
            .into_par_iter()
            .map(|at| {
                let cx = -2.0 + 3.0 * (at % size) as f64 / size as f64;
                let cy = -1.5 + 3.0 * (at / size) as f64 / size as f64;
                let (mut x, mut y, mut steps) = (0.0, 0.0, 0);
                while steps < limit && x * x + y * y <= 4.0 {
                    (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
                    steps += 1;
                }
                steps as i64
            })
            .collect()
    };
    program(picture, |steps| vec![steps.iter().sum::<i64>() as f64])
}

/// Computes the primes below a number by a segmented sieve, whose blocks fit into the private cache of a
/// core.
pub fn primes(parameters: &Parameters) -> Run {
    const BLOCK: usize = 1 << 17;
    let n = parameters.get("n");
    let find = move || -> Vec<i64> {
        let root = n.isqrt() + 1;
        let mut flags = vec![true; root + 1];
        let mut small = Vec::new();
        for p in 2..=root {
            if flags[p] {
                small.push(p);
                (p * p..=root).step_by(p).for_each(|m| flags[m] = false);
            }
        }
        let block = |first: usize| {
            let last = (first + BLOCK).min(n);
            let mut prime = vec![true; last - first];
            for p in small.iter().take_while(|p| *p * *p < last) {
                let from = (p * p).max(first.next_multiple_of(*p));
                (from..last).step_by(*p).for_each(|m| prime[m - first] = false);
            }
            let found = prime.iter().enumerate().filter(|(at, prime)| **prime && first + at > 1);
            found.map(|(at, _)| (first + at) as i64).collect::<Vec<i64>>()
        };
        let blocks: Vec<Vec<i64>> =
            (0..n.div_ceil(BLOCK)).into_par_iter().map(|at| block(at * BLOCK)).collect();
        blocks.concat()
    };
    program(find, |p| vec![p.len() as f64, p[p.len() - 1] as f64, p.iter().sum::<i64>() as f64])
}

/// Simulates the heat in a chip.
pub fn hotspot(parameters: &Parameters) -> Run {
    let (size, steps) = (parameters.get("size"), parameters.get("steps"));
    let chip = tabulate(size * size, |i| 320.0 + 10.0 * unit(i));
    let power = tabulate(size * size, |i| unit(i + 5));
    let simulate = move || -> Vec<f64> {
        let (mut t, mut new) = (chip.clone(), vec![0.0; chip.len()]);
        for _ in 0..steps {
            new.par_chunks_mut(size).enumerate().for_each(|(i, out)| {
                let row = |i: usize| &t[i * size..(i + 1) * size];
                let here = row(i);
                let (north, south) = (row(i.saturating_sub(1)), row((i + 1).min(size - 1)));
                let power = &power[i * size..(i + 1) * size];
                let cell = |j: usize, west: f64, east: f64| {
                    let vertical = north[j] + south[j] - 2.0 * here[j];
                    let horizontal = west + east - 2.0 * here[j];
                    let change =
                        power[j] + 0.8 * vertical + 0.8 * horizontal + 0.01 * (80.0 - here[j]);
                    here[j] + 0.05 * change
                };
                let last = size - 1;
                out[0] = cell(0, here[0], here[1.min(last)]);
                for j in 1..last {
                    out[j] = cell(j, here[j - 1], here[j + 1]);
                }
                out[last] = cell(last, here[last.saturating_sub(1)], here[last]);
            });
            std::mem::swap(&mut t, &mut new);
        }
        t
    };
    program(simulate, |t| check_floats(t))
}
