//! Tests that the version which the strategy chooses never grows faster than one that is there: every
//! benchmark is run at three sizes in all versions, and the work that the interpreter of kir counts is
//! compared.

use nesl_engine::session::{Strategy, Version};
use nesl_engine::{Event, Session, Settings, ShownValues};
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::runtime::Options;
use std::path::{Path, PathBuf};

/// A benchmark: the file, its parameters but for the size, the sizes, and the form that is timed.
type Benchmark = (&'static str, &'static str, [u32; 3], &'static str);

const BENCHMARKS: [Benchmark; 18] = [
    ("dot", "n = SIZE;", [500, 1000, 2000], "dot_product(a, b)"),
    ("quicksort", "n = SIZE;", [200, 400, 800], "quicksort(a)"),
    ("sort", "n = SIZE;", [500, 1000, 2000], "sort(a)"),
    ("batcher", "n = SIZE;", [128, 256, 512], "bitonic_sort(a)"),
    (
        "black_scholes",
        "n = SIZE;",
        [100, 200, 400],
        "{option_prices(s, k, y) : s in spots; k in strikes; y in years}",
    ),
    ("quickhull", "n = SIZE;", [200, 400, 800], "convex_hull(points)"),
    ("barnes_hut", "n = SIZE;", [40, 80, 160], "accelerations(bodies)"),
    ("barnes_hut", "n = SIZE;", [40, 80, 160], "accelerations_by_squares(bodies)"),
    ("spmv", "rows = SIZE; width = 10; longest = 0;", [100, 200, 400], "multiply(matrix, v)"),
    ("kmeans", "n = SIZE; k = 3;", [100, 200, 400], "move(points, centres)"),
    ("sums", "rows = SIZE; columns = 20;", [100, 200, 400], "sum_rows(matrix)"),
    ("sums", "rows = SIZE; columns = 20;", [100, 200, 400], "sum_columns(matrix)"),
    ("primes", "n = SIZE;", [200, 400, 800], "primes(n)"),
    ("mandelbrot", "size = SIZE; limit = 20;", [8, 16, 32], "picture(size)"),
    ("bfs", "n = SIZE; degree = 8;", [100, 200, 400], "distances(graph, 0)"),
    (
        "pagerank",
        "n = SIZE; degree = 8; steps = 3;",
        [100, 200, 400],
        "page_rank(graph, outs, start, steps)",
    ),
    ("hotspot", "size = SIZE; steps = 3;", [8, 16, 32], "simulate(chip, power, steps)"),
    ("word_count", "file = \"FILE\";", [500, 1000, 2000], "histogram(wordify(text))"),
];

/// The work that the chosen version may take more than the least of all versions, as a factor: flattened
/// code does a constant number of operations more for each element.
const MAX_WORK_FACTOR: f64 = 8.0;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/nesl")
}

/// Returns the work of a benchmark.
fn work(benchmark: &Benchmark, size: u32, strategy: Strategy) -> f64 {
    let (file, parameters, _, form) = benchmark;
    let settings = Settings {
        shown: ShownValues::Scalars,
        lazy: false,
        interpret_first: false,
        strategy,
        ..Settings::default()
    };
    let mut session = Session::new(settings);
    session.set_output(Box::new(std::io::sink()));
    let options = Options { interrupt: session.interrupt_handle(), ..Options::default() };
    session.set_runtime(Some(Box::new(Reference::new(options))));
    let mut enter = |text: &str| {
        session.enter(file, text, &mut |event| {
            if let Event::Diagnostic(diagnostic) = event {
                panic!("{file}: {}", diagnostic.message);
            }
        });
        let stats = session.stats();
        assert_eq!(stats.unsupported, [], "{file}");
        stats.counters.work
    };
    let text = std::env::temp_dir().join(format!("nesl-growth-{}-{size}", std::process::id()));
    if parameters.contains("FILE") {
        let words: String = (0..size).map(|i| format!("w{} ", i * 7919 % 211)).collect();
        std::fs::write(&text, words).expect("the file can be written");
    }
    let parameters = parameters.replace("SIZE", &size.to_string());
    enter(&parameters.replace("FILE", &text.display().to_string()));
    let read = |name: &str| std::fs::read_to_string(folder().join(name)).expect("it is there");
    enter(&read("data.nesl"));
    let before = enter(&read(&format!("{file}.nesl")));
    let work = enter(&format!("r = {form};")) - before;
    // It is there for one program only.
    let _ = std::fs::remove_file(&text);
    work as f64
}

#[test]
fn the_chosen_version_grows_no_faster_than_another() {
    for benchmark in &BENCHMARKS {
        let (file, _, sizes, form) = benchmark;
        let measure = |strategy| sizes.map(|size| work(benchmark, size, strategy));
        let chosen = measure(Strategy::Auto);
        let others =
            [Version::Sequential, Version::Flattened].map(|v| measure(Strategy::Always(v)));
        println!("{file}, {form}: {chosen:.0?} beside {others:.0?}");
        let growth = |work: &[f64; 3]| (work[2] - work[1]) / (work[1] - work[0]).max(1.0);
        for other in &others {
            let (ours, theirs) = (growth(&chosen), growth(other));
            let is_more = chosen[2] > other[2];
            assert!(
                ours <= 1.25 * theirs || !is_more,
                "{file}, {form}: work grows by {ours:.2}, not {theirs:.2}"
            );
            assert!(
                chosen[2] <= MAX_WORK_FACTOR * other[2],
                "{file}, {form}: {chosen:.0?}, not {other:.0?}"
            );
        }
    }
}
