//! Tests how often the host waits for a runtime with memory of its own, as a GPU has: exact counters
//! of launches, drains, reads and writes for the programs of `bench/nesl`.
//!
//! No device is needed. The CPU's runtime executes the programs behind a wrapper whose capabilities
//! are those of a large GPU, so that every decision is the one made for a device. Results are
//! compared with those of the CPU's own capabilities, for which other decisions are made.

mod benchmarks;
mod device;

use benchmarks::{PROGRAMS, assert_same, definitions, enter, on_cpu, session};
use device::Device;
use expect_test::expect;
use nesl_engine::Session;
use nesl_runtime::runtime::Options;
use nesl_runtime_cpu::Cpu;
use std::cell::Cell;
use std::fmt::Display;
use std::rc::Rc;

/// Makes a session on a device; returns it with the counter of calls of `load`.
fn on_device() -> (Session, Rc<Cell<u64>>) {
    let mut session = session();
    let interrupt = session.interrupt_handle();
    let options = Options { interrupt, threads: 2, ..Options::default() };
    let cpu = Cpu::new(options).expect("code can be made for this machine");
    let loads = Rc::new(Cell::new(0));
    session.set_runtime(Some(Box::new(Device::new(cpu, loads.clone()))));
    (session, loads)
}

#[test]
fn programs_of_the_benchmarks() {
    let columns = ["launches", "drains", "reads", "writes", "loads"];
    let mut table = row("program", columns);
    for program in &PROGRAMS {
        let text = definitions(program);
        let expected = on_cpu(program, &text);
        let (mut session, loads) = on_device();
        enter(&mut session, &text);
        let form = format!("r = {};", program.form);
        // The first run compiles.
        enter(&mut session, &form);
        let (before, loads_before) = (session.stats().counters, loads.get());
        enter(&mut session, &form);
        let (after, loads) = (session.stats().counters, loads.get() - loads_before);
        assert_same(&enter(&mut session, "check(r);"), &expected, program.name);
        let counts = [
            after.launches - before.launches,
            after.drains - before.drains,
            after.reads - before.reads,
            after.writes - before.writes,
            loads,
        ];
        table += &row(program.name, counts);
    }
    expect![[r#"
        program            launches   drains    reads   writes    loads
        dot                       1        1        1        0        0
        black-scholes             1        1        0        0        0
        sort                      1        1        0        0        0
        sum-rows                  1        1        0        0        0
        sum-columns               3        2        1        0        0
        spmv                      1        1        0        0        0
        mandelbrot                1        2        0        0        0
        pagerank                 40        1        0        0        0
        kmeans-3                 16        6        5        0        0
        kmeans-30                16        6        5        0        0
        primes                   24       10        9        1        0
        hotspot                  40        1        0        0        0
        bfs                      90       34       33        3        0
        word-count                5        3        2        0        0
        quicksort               308       61       59        1        0
        quickhull                88       29       30        4        0
        barnes-hut               26        8        6        6        0
        barnes-hut-squares      214       61       61        0        0
        batcher                 864      192      181        2        0
    "#]]
    .assert_eq(&table);
}

/// Returns a row of the table: a name, and five numbers or their titles.
fn row(name: &str, columns: [impl Display; 5]) -> String {
    let columns = columns.map(|column| format!("{column:>9}"));
    format!("{name:<18}{}\n", columns.concat())
}
