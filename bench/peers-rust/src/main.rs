//! The benchmark programs, hand-written in Rust with parallel loops of rayon.
//!
//! `bench-peers PROGRAM name=value…` generates the inputs and prints `ready`. Then it answers every
//! line on standard input by one run, as a JSON object with its seconds and the checksums of its
//! result. `bench-peers triad` and `bench-peers read` measure the memory bandwidth; instead of
//! checksums they report the number of bytes moved.

mod bodies;
mod cells;
mod data;
mod hull;
mod matrices;
mod options;
mod sorting;
mod words;

use data::Parameters;
use std::io::BufRead;
use std::time::Instant;

/// Runs the program once; the inner function computes the checksums of the result and drops it, outside of
/// the measured time.
pub type Run = Box<dyn FnMut() -> Box<dyn FnOnce() -> Vec<f64>>>;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().unwrap_or_default();
    let parameters = Parameters::read(arguments);
    let mut run: Run = match &*program {
        "triad" => matrices::triad(),
        "read" => matrices::read(),
        "dot" => matrices::dot(&parameters),
        "sum_rows" => matrices::sum_rows(&parameters),
        "sum_columns" => matrices::sum_columns(&parameters),
        "spmv" => matrices::spmv(&parameters),
        "pagerank" => matrices::pagerank(&parameters),
        "bfs" => matrices::bfs(&parameters),
        "kmeans" => matrices::kmeans(&parameters),
        "quicksort" => sorting::quicksort(&parameters),
        "sort" => sorting::sort(&parameters),
        "batcher" => sorting::batcher(&parameters),
        "black_scholes" if parameters.get("precision") == 32 => options::single(&parameters),
        "black_scholes" => options::double(&parameters),
        "quickhull" => hull::quickhull(&parameters),
        "barnes_hut" => bodies::barnes_hut(&parameters),
        "primes" => cells::primes(&parameters),
        "mandelbrot" => cells::mandelbrot(&parameters),
        "hotspot" => cells::hotspot(&parameters),
        "word_count" => words::count(&parameters),
        other => {
            eprintln!("bench-peers: no program `{other}`");
            std::process::exit(2);
        }
    };
    println!("ready");
    for _ in std::io::stdin().lock().lines() {
        let started = Instant::now();
        let check = run();
        let seconds = started.elapsed().as_secs_f64();
        let check: Vec<String> = check().iter().map(|x| format!("{x:?}")).collect();
        println!("{{\"seconds\": {seconds}, \"check\": [{}]}}", check.join(", "));
    }
}

/// Makes a program from a function that computes its result and one that computes the checksums of that.
pub fn program<R: 'static>(
    mut compute: impl FnMut() -> R + 'static,
    check: impl Fn(&R) -> Vec<f64> + Copy + 'static,
) -> Run {
    Box::new(move || {
        let result = compute();
        Box::new(move || check(&result))
    })
}
