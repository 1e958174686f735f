//! The programs of `bench/nesl` at small sizes, with what they must compute.

use nesl_engine::{Event, Session, Settings, ShownValues};
use nesl_runtime::runtime::{Options, Runtime};
use nesl_runtime_cpu::Cpu;
use std::path::Path;

/// A benchmark at a small size.
pub struct Program {
    /// The name in tables.
    pub name: &'static str,
    /// The name of the file in `bench/nesl` without its extension.
    file: &'static str,
    /// Definitions of the parameters.
    parameters: &'static str,
    /// The expression that is measured.
    pub form: &'static str,
}

const fn program(
    name: &'static str,
    file: &'static str,
    parameters: &'static str,
    form: &'static str,
) -> Program {
    Program { name, file, parameters, form }
}

const PAGE_RANK: &str = "page_rank(graph, outs, start, steps)";

/// The programs of `bench/nesl` and their parameters, small enough for a debug build.
pub const PROGRAMS: [Program; 19] = [
    program("dot", "dot", "n = 100000;", "dot_product(a, b)"),
    program(
        "black-scholes",
        "black_scholes",
        "n = 100000;",
        "{option_prices(s, k, y) : s in spots; k in strikes; y in years}",
    ),
    program("sort", "sort", "n = 100000;", "sort(a)"),
    program("sum-rows", "sums", "rows = 1000; columns = 100;", "sum_rows(matrix)"),
    program("sum-columns", "sums", "rows = 1000; columns = 100;", "sum_columns(matrix)"),
    program("spmv", "spmv", "rows = 5000; width = 10; longest = 0;", "multiply(matrix, v)"),
    program("mandelbrot", "mandelbrot", "size = 64; limit = 20;", "picture(size)"),
    program("pagerank", "pagerank", "n = 10000; degree = 8; steps = 20;", PAGE_RANK),
    program("kmeans-3", "kmeans", "n = 5000; k = 3;", "move(points, centres)"),
    program("kmeans-30", "kmeans", "n = 5000; k = 30;", "move(points, centres)"),
    program("primes", "primes", "n = 100000;", "primes(n)"),
    program("hotspot", "hotspot", "size = 200; steps = 20;", "simulate(chip, power, steps)"),
    program("bfs", "bfs", "n = 20000; degree = 8;", "distances(graph, 0)"),
    program("word-count", "word_count", "", "histogram(wordify(text))"),
    program("quicksort", "quicksort", "n = 50000;", "quicksort(a)"),
    program("quickhull", "quickhull", "n = 100000;", "convex_hull(points)"),
    program("barnes-hut", "barnes_hut", "n = 5000;", "accelerations(bodies)"),
    program("barnes-hut-squares", "barnes_hut", "n = 5000;", "accelerations_by_squares(bodies)"),
    program("batcher", "batcher", "n = 32768;", "bitonic_sort(a)"),
];

/// Returns the definitions of a benchmark. A text that it reads from a file is made instead.
pub fn definitions(program: &Program) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/nesl");
    let read = |name: &str| {
        let path = folder.join(name).with_extension("nesl");
        std::fs::read_to_string(path).expect("the benchmark's file can be read")
    };
    let text = "flatten(dist(\"to be or  not to be \", 10000))";
    let program_text = read(program.file).replace("read_string_from_file(file)", text);
    format!("{}\n{}\n{program_text}", program.parameters, read("data"))
}

/// Makes a session without runtime in which everything is compiled, shown or not.
pub fn session() -> Session {
    let settings = Settings {
        shown: ShownValues::Scalars,
        lazy: false,
        interpret_first: false,
        ..Settings::default()
    };
    let mut session = Session::new(settings);
    session.set_output(Box::new(std::io::sink()));
    session
}

/// Enters a text and returns the value of its last binding as shown.
pub fn enter(session: &mut Session, text: &str) -> String {
    let mut shown = String::new();
    session.enter("program.nesl", text, &mut |event| match event {
        Event::Bound(binding) => shown = binding.value,
        Event::Text(_) => {}
        Event::Diagnostic(diagnostic) => panic!("{text}: {}", diagnostic.message),
    });
    assert_eq!(session.stats().unsupported, [], "{text}");
    shown
}

/// Returns the checksums of a benchmark on the CPU.
pub fn on_cpu(program: &Program, text: &str) -> String {
    let mut session = session();
    let options = Options { threads: 2, ..Options::default() };
    let cpu = Cpu::new(options).expect("code can be made for this machine");
    let runtime: Box<dyn Runtime> = Box::new(cpu);
    session.set_runtime(Some(runtime));
    enter(&mut session, text);
    enter(&mut session, &format!("check({});", program.form))
}

/// Asserts that checksums are equal, floats up to the order of additions.
pub fn assert_same(found: &str, expected: &str, name: &str) {
    let numbers = |text: &str| -> Vec<f64> {
        let number = |word: &str| word.parse().unwrap_or_else(|_| panic!("{name}: {text}"));
        let words = text.split(['(', ')', ',', ' ']);
        words.filter(|word| !word.is_empty()).map(number).collect()
    };
    let (found, expected) = (numbers(found), numbers(expected));
    assert_eq!(found.len(), expected.len(), "{name}");
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{name}: {found} {expected}");
    }
}
