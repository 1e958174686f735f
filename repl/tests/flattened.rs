//! Every example and every benchmark runs in flattened form: none is left to one thread because a
//! kernel has no kir. The recorded cases are held to the same by `runtimes.rs`, which runs them all.

use nesl_engine::{Event, Session, Settings, ShownValues};
use nesl_runtime::runtime::Options;
use nesl_runtime_cpu::Cpu;
use std::path::{Path, PathBuf};

/// The benchmarks: the file, its parameters at a small size, and the forms that are timed.
const BENCHMARKS: [(&str, &str, &[&str]); 17] = [
    ("dot", "n = 1000;", &["dot_product(a, b)"]),
    ("quicksort", "n = 1000;", &["quicksort(a)"]),
    ("sort", "n = 1000;", &["sort(a)"]),
    ("batcher", "n = 1024;", &["bitonic_sort(a)"]),
    (
        "black_scholes",
        "n = 1000;",
        &["{option_prices(s, k, y) : s in spots; k in strikes; y in years}"],
    ),
    ("quickhull", "n = 1000;", &["convex_hull(points)"]),
    ("barnes_hut", "n = 300;", &["accelerations(bodies)", "accelerations_by_squares(bodies)"]),
    ("spmv", "rows = 300; width = 10; longest = 0;", &["multiply(matrix, v)"]),
    ("kmeans", "n = 1000; k = 3;", &["move(points, centres)"]),
    ("sums", "rows = 100; columns = 50;", &["sum_rows(matrix)", "sum_columns(matrix)"]),
    ("primes", "n = 1000;", &["primes(n)"]),
    ("mandelbrot", "size = 32; limit = 50;", &["picture(size)"]),
    ("bfs", "n = 1000; degree = 8;", &["distances(graph, 0)"]),
    ("pagerank", "n = 500; degree = 8; steps = 3;", &["page_rank(graph, outs, start, steps)"]),
    ("hotspot", "size = 32; steps = 3;", &["simulate(chip, power, steps)"]),
    (
        "product",
        "rows = 20; depth = 30; columns = 10; times = 3;",
        &["multiply(a, b)", "multiply_by_index(a, b)", "gram(a)"],
    ),
    ("word_count", "file = \"Cargo.toml\";", &["histogram(wordify(text))"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A session in which everything that can be compiled is compiled.
fn session() -> Session {
    let settings =
        Settings { interpret_first: false, shown: ShownValues::Scalars, ..Settings::default() };
    let mut session = Session::new(settings);
    session.set_output(Box::new(std::io::sink()));
    let options =
        Options { interrupt: session.interrupt_handle(), threads: 2, ..Options::default() };
    let cpu = Cpu::new(options).expect("code can be made for this machine");
    session.set_runtime(Some(Box::new(cpu)));
    session
}

/// Enters a text that has no mistakes.
fn enter(session: &mut Session, name: &str, text: &str) {
    session.enter(name, text, &mut |event| match event {
        Event::Bound(_) | Event::Text(_) => {}
        Event::Diagnostic(diagnostic) => panic!("{name}: {}", diagnostic.message),
    });
}

fn assert_flattened(session: &Session, name: &str) {
    assert_eq!(session.stats().unsupported, [], "{name}");
}

#[test]
fn every_benchmark_is_flattened() {
    let folder = root().join("bench/nesl");
    let known = std::fs::read_dir(&folder).expect("the folder is there").count();
    assert_eq!(known, BENCHMARKS.len() + 1, "all of them, and the file with their data");
    let data = read(&folder.join("data.nesl"));
    for (name, parameters, forms) in BENCHMARKS {
        let mut session = session();
        enter(&mut session, "parameters", parameters);
        enter(&mut session, "data.nesl", &data);
        enter(&mut session, name, &read(&folder.join(format!("{name}.nesl"))));
        for form in forms {
            enter(&mut session, name, &format!("r = {form};"));
        }
        assert_flattened(&session, name);
    }
}

#[test]
fn every_example_is_flattened() {
    // They name their data from the root of the project.
    std::env::set_current_dir(root()).expect("the root of the project is there");
    for entry in std::fs::read_dir("examples").expect("there are examples") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "nesl") {
            let name = path.display().to_string();
            let mut session = session();
            enter(&mut session, &name, &read(&path));
            assert_flattened(&session, &name);
        }
    }
}
