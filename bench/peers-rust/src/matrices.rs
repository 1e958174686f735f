//! Programs on vectors and matrices, and on graphs represented as sparse matrices.

use crate::data::{Parameters, check_floats, mix, tabulate, unit};
use crate::{Run, program};
use rayon::prelude::*;
use std::sync::atomic::{AtomicI64, Ordering};

/// The number of elements that one task processes.
const BLOCK: usize = 1 << 14;

/// The number of elements of an array that fits into no cache.
const N: usize = 1 << 24;

/// Measures the triad a = b + 3 c, which moves 24 bytes for each element.
pub fn triad() -> Run {
    let (b, c) = (tabulate(N, |i| i as f64), tabulate(N, |i| (i % 7) as f64));
    let mut a = vec![0.0; N];
    let triad = move || {
        a.par_chunks_mut(BLOCK).zip(b.par_chunks(BLOCK)).zip(c.par_chunks(BLOCK)).for_each(
            |((a, b), c)| {
                for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                    *a = b + 3.0 * c;
                }
            },
        );
        a[N / 2]
    };
    program(triad, |_| vec![(24 * N) as f64])
}

/// Measures a sum, which reads 8 bytes for each element; reading alone is faster than a triad.
pub fn read() -> Run {
    let a = tabulate(N, |i| i as f64);
    let sum = move || -> f64 { a.par_chunks(BLOCK).map(|part| lanes(part, part, |x, _| x)).sum() };
    program(sum, |_| vec![(8 * N) as f64])
}

/// Computes the dot product of two vectors, with several accumulators.
pub fn dot(parameters: &Parameters) -> Run {
    let n = parameters.get("n");
    let (a, b) = (tabulate(n, unit), tabulate(n, |i| unit(i + n)));
    let product = move || -> f64 {
        let blocks = a.par_chunks(BLOCK).zip(b.par_chunks(BLOCK));
        blocks.map(|(a, b)| lanes(a, b, |x, y| x * y)).sum()
    };
    program(product, |product| vec![*product])
}

/// Computes the sum of f(a[i], b[i]) with several accumulators, so that the compiler can vectorise the
/// additions.
fn lanes(a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> f64) -> f64 {
    const LANES: usize = 16;
    let mut sums = [0.0; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = a.remainder().iter().zip(b.remainder());
    let rest: f64 = rest.map(|(x, y)| f(*x, *y)).sum();
    for (a, b) in a.zip(b) {
        for ((sum, x), y) in sums.iter_mut().zip(a).zip(b) {
            *sum += f(*x, *y);
        }
    }
    sums.iter().sum::<f64>() + rest
}

fn table(parameters: &Parameters) -> (usize, usize, Vec<f64>) {
    let (rows, columns) = (parameters.get("rows"), parameters.get("columns"));
    (rows, columns, tabulate(rows * columns, unit))
}

/// Computes the sums of rows. Long rows are divided, so that a few rows suffice to occupy all threads.
pub fn sum_rows(parameters: &Parameters) -> Run {
    let (_, columns, matrix) = table(parameters);
    let sums = move || -> Vec<f64> {
        let rows = matrix.par_chunks(columns);
        rows.map(|row| row.chunks(BLOCK).map(|part| lanes(part, part, |x, _| x)).sum()).collect()
    };
    program(sums, |sums| check_floats(sums))
}

/// Computes the sums of columns. Each task adds up some rows, and their results are added.
pub fn sum_columns(parameters: &Parameters) -> Run {
    let (rows, columns, matrix) = table(parameters);
    let sums = move || -> Vec<f64> {
        let tasks = 4 * rayon::current_num_threads();
        let some = rows.div_ceil(tasks) * columns;
        let parts = matrix.par_chunks(some).map(|part| {
            let mut sums = vec![0.0; columns];
            for row in part.chunks(columns) {
                for (sum, x) in sums.iter_mut().zip(row) {
                    *sum += x;
                }
            }
            sums
        });
        parts.reduce(
            || vec![0.0; columns],
            |mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                a
            },
        )
    };
    program(sums, |sums| check_floats(sums))
}

/// A sparse matrix in compressed row format.
struct Rows {
    starts: Vec<usize>,
    columns: Vec<usize>,
}

impl Rows {
    fn at(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }

    /// Generates a graph whose edges follow a power law.
    fn graph(n: usize, degree: usize) -> Rows {
        let columns = tabulate(n * degree, |i| {
            let t = unit(i);
            (n as f64 * t * t * t) as usize
        });
        Rows { starts: (0..=n).map(|row| row * degree).collect(), columns }
    }
}

/// Multiplies a sparse matrix by a vector.
pub fn spmv(parameters: &Parameters) -> Run {
    let n = parameters.get("rows");
    let (width, longest) = (parameters.get("width"), parameters.get("longest"));
    let mut starts = vec![0];
    for row in 0..n {
        starts.push(starts[row] + width + longest / (1 + mix(row) as usize % n));
    }
    let lengths = |row: usize| starts[row + 1] - starts[row];
    let all = |of: fn(usize, usize) -> i64| -> Vec<i64> {
        (0..n).flat_map(|row| (0..lengths(row)).map(move |j| of(row, j))).collect()
    };
    let columns = all(|row, j| mix(64 * row + j)).iter().map(|c| *c as usize % n).collect();
    let entries: Vec<f64> =
        all(|row, j| (row + j) as i64).iter().map(|i| unit(*i as usize)).collect();
    let (rows, v) = (Rows { starts, columns }, tabulate(n, |i| unit(i + 7)));
    let product = move || -> Vec<f64> {
        tabulate(n, |row| {
            let at = rows.at(row);
            let row = rows.columns[at.clone()].iter().zip(&entries[at]);
            row.map(|(column, x)| x * v[*column]).sum()
        })
    };
    program(product, |product| check_floats(product))
}

/// Runs the given number of steps of PageRank.
pub fn pagerank(parameters: &Parameters) -> Run {
    let (n, steps) = (parameters.get("n"), parameters.get("steps"));
    let rows = Rows::graph(n, parameters.get("degree"));
    let mut outs = vec![0_u32; n];
    rows.columns.iter().for_each(|v| outs[*v] += 1);
    let ranks = move || -> Vec<f64> {
        let mut ranks = vec![1.0 / n as f64; n];
        for _ in 0..steps {
            let share = tabulate(n, |u| ranks[u] / f64::from(outs[u].max(1)));
            ranks = tabulate(n, |u| {
                let sum: f64 = rows.columns[rows.at(u)].iter().map(|v| share[*v]).sum();
                0.15 / n as f64 + 0.85 * sum
            });
        }
        ranks
    };
    program(ranks, |ranks| check_floats(ranks))
}

/// Searches a graph breadth-first, level by level; the task that reaches a vertex first adds it to the next
/// frontier.
pub fn bfs(parameters: &Parameters) -> Run {
    let n = parameters.get("n");
    let rows = Rows::graph(n, parameters.get("degree"));
    let levels = move || -> Vec<i64> {
        let level = tabulate(n, |_| AtomicI64::new(-1));
        level[0].store(0, Ordering::Relaxed);
        let (mut frontier, mut d) = (vec![0], 0);
        while !frontier.is_empty() {
            d += 1;
            let fresh = |v: &usize| {
                level[*v].load(Ordering::Relaxed) < 0
                    && level[*v]
                        .compare_exchange(-1, d, Ordering::Relaxed, Ordering::Relaxed)
                        .is_ok()
            };
            frontier = frontier
                .par_iter()
                .flat_map_iter(|u| rows.columns[rows.at(*u)].iter().copied().filter(fresh))
                .collect();
        }
        level.into_iter().map(AtomicI64::into_inner).collect()
    };
    program(levels, |levels| {
        let reached = levels.iter().filter(|d| **d >= 0).count();
        vec![reached as f64, levels.iter().sum::<i64>() as f64]
    })
}

/// The number of features of a point.
const D: usize = 30;

/// Moves each centre to the mean of its points.
pub fn kmeans(parameters: &Parameters) -> Run {
    let (n, k) = (parameters.get("n"), parameters.get("k"));
    let points = tabulate(n * D, unit);
    let centres: Vec<f64> = (0..k).flat_map(|c| points[c * (n / k) * D..][..D].to_vec()).collect();
    let moved = move || -> Vec<f64> {
        let blocks = points.par_chunks(D * 4096).map(|block| {
            let (mut sums, mut sizes) = (vec![0.0; k * D], vec![0_u64; k]);
            for point in block.chunks_exact(D) {
                let (mut nearest, mut least) = (0, f64::INFINITY);
                for (c, centre) in centres.chunks_exact(D).enumerate() {
                    let distance = lanes(point, centre, |x, y| (x - y) * (x - y));
                    if distance < least {
                        (nearest, least) = (c, distance);
                    }
                }
                sizes[nearest] += 1;
                let sums = &mut sums[nearest * D..][..D];
                sums.iter_mut().zip(point).for_each(|(sum, x)| *sum += x);
            }
            (sums, sizes)
        });
        let none = || (vec![0.0; k * D], vec![0_u64; k]);
        let (sums, sizes) = blocks.reduce(none, |mut a, b| {
            a.0.iter_mut().zip(b.0).for_each(|(a, b)| *a += b);
            a.1.iter_mut().zip(b.1).for_each(|(a, b)| *a += b);
            a
        });
        let mean = |i: usize| match sizes[i / D] {
            0 => centres[i],
            size => sums[i] / size as f64,
        };
        (0..k * D).map(mean).collect()
    };
    program(moved, |centres| check_floats(centres))
}
