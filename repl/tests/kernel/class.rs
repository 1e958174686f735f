//! A class of many: kernels beside each other, notebooks that are run again and again, and the limits of one
//! kernel.

use crate::client::{Client, Done, start, start_with_arguments};
use crate::interrupts::ENDLESS;
use serde_json::json;

/// The number of kernels that are used at once.
const KERNELS: usize = 50;

#[test]
fn fifty_kernels_at_once_all_answer() {
    // Those that have started stay until the last has answered.
    let starting = (0..KERNELS).map(|_| std::thread::spawn(start)).collect::<Vec<_>>();
    let kernels: Vec<Client> =
        starting.into_iter().map(|kernel| kernel.join().expect("it starts")).collect();
    let used: Vec<_> = kernels
        .into_iter()
        .enumerate()
        .map(|(number, client)| std::thread::spawn(move || use_kernel(number, client)))
        .collect();
    let answered: Vec<Client> =
        used.into_iter().map(|kernel| kernel.join().expect("it answers")).collect();
    assert_eq!(answered.len(), KERNELS);
}

/// Uses a kernel as a student does, and a bit faster.
fn use_kernel(number: usize, mut client: Client) -> Client {
    client.run(&format!("own = {number}; xs = {{i * own : i in [0:10]}};"));
    // Sent without waiting: nothing is lost, and the order is kept.
    let cells: Vec<String> = (0..10).map(|n| client.execute(&format!("sum(xs) + {n};"))).collect();
    for (n, id) in cells.iter().enumerate() {
        let done = client.done(id);
        assert_eq!(value(&done), format!("{} : int", 45 * number + n));
        assert_eq!(done.reply["execution_count"], n + 2);
    }
    client.ask("kernel_info_request", json!({}));
    let running = client.execute(ENDLESS);
    client.wait_for(&running, "execute_input");
    client.interrupt();
    assert_eq!(client.done(&running).reply["evalue"], "Interrupted.");
    assert_eq!(value(&client.run("own")), format!("{number} : int"));
    client
}

/// The only value that a cell has shown: as its result or, on a machine that is busy, before its end.
fn value(done: &Done) -> String {
    let kept = done.kept();
    assert_eq!(kept.len(), 1, "{kept:?}");
    kept[0].split_once(": ").map_or("", |(_, value)| value).to_owned()
}

/// The cells of a notebook; their types depend on what `@` stands for.
#[cfg(target_os = "linux")]
const NOTEBOOK: [&str; 30] = [
    "xs = {@ : i in [0:200]};",
    "function first(ys) = ys[0];",
    "first(xs)",
    "pairs = {(i, x) : i in [0:200]; x in xs};",
    "#pairs",
    "rows = {take(xs, i) : i in [0:20]};",
    "{#row : row in rows}",
    "function both(a, b) = (a, b);",
    "both(xs[1], 2)",
    "last = reverse(xs);",
    "last[0]",
    "function own(n) = xs[n];",
    "{own(n) : n in [0:5]}",
    "longest = max_val({#row : row in rows});",
    "longest",
    "evens = {x in xs; i in [0:200] | rem(i, 2) == 0};",
    "#evens",
    "nested = {rows : i in [0:3]};",
    "sum({sum({#row : row in each}) : each in nested})",
    "datatype box(int, int);",
    "boxes = {box(i, i + 1) : i in [0:10]};",
    "#boxes",
    "function twice(g, a) = g(g(a));",
    "twice(reverse, xs)[0]",
    "word = \"a text\" ++ \" of chars\";",
    "#word",
    ":vars",
    "table = {(x, i) : x in xs; i in [0:200]};",
    "table[3]",
    "(xs[0], xs[1])",
];

/// The elements of the notebook's first sequence, one after the other.
#[cfg(target_os = "linux")]
const ELEMENTS: [&str; 4] = ["i * 3", "float(i) / 2.0", "(i, float(i))", "[i, i + 1]"];

#[cfg(target_os = "linux")]
#[test]
fn a_notebook_that_runs_again_and_again_does_not_grow() {
    /// The notebook grows by less than this.
    const MAX_GROWTH_MB: u64 = 10;
    let mut client = start();
    let mut round = |number: usize| {
        let element = ELEMENTS[number % ELEMENTS.len()];
        let ids: Vec<String> =
            NOTEBOOK.iter().map(|cell| client.execute(&cell.replace('@', element))).collect();
        for id in ids {
            let done = client.done(&id);
            assert_eq!(done.reply["status"], "ok", "round {number}: {:?}", done.said());
        }
        client.memory_mb()
    };
    let warm = (0..ROUNDS / 5).map(&mut round).max().unwrap_or_default();
    let end = (ROUNDS / 5..ROUNDS).map(&mut round).last().unwrap_or_default();
    println!("memory: {warm} MB at first, {end} MB after {ROUNDS} rounds");
    assert!(end < warm + MAX_GROWTH_MB, "{warm} MB, then {end} MB");
}

/// The number of times that the notebook runs.
#[cfg(target_os = "linux")]
const ROUNDS: usize = 100;

#[test]
fn a_kernel_refuses_what_exceeds_its_memory_and_goes_on() {
    let mut client = start_with_arguments(&["--memory", "64MB", "--threads", "1"]);
    client.run("small = {i : i in [0:1000]}; kept = sum(small);");
    for _ in 0..3 {
        let done = client.run("large = {float(i) : i in [0:20000000]}; sum(reverse(large))");
        assert_eq!(done.reply["status"], "error", "{:?}", done.said());
        assert_eq!(done.reply["ename"], "Runtime error");
        let message = done.reply["evalue"].as_str().unwrap_or_default();
        assert!(
            message.starts_with("Out of memory (") && message.ends_with("the limit is 67.1 MB)"),
            "{message}"
        );
        assert_eq!(value(&client.run("kept + #small")), "500500 : int");
    }
    let settings = client.run(":set").said().concat();
    assert!(settings.contains("64") && settings.contains("threads"), "{settings}");
}
