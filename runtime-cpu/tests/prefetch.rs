//! Announced modules are compiled, once, and only time shows it.

use nesl_runtime::kir::{Module, Ty, parse};
use nesl_runtime::runtime::{Arg, Launch, Loaded, Options, Runtime};
use nesl_runtime_cpu::Cpu;

/// Fills an array with a number, after so many operations that do nothing for it.
fn module(number: usize, length: usize) -> Module {
    let mut text = format!("kernel \"k{number}\"(v0: i64, v1: [i64]) over flat v0 at v2 {{\n");
    text += &format!("  v3: i64 = const {number}\n  v4: i64 = mul v2, v3\n");
    for at in 5..length + 5 {
        text += &format!("  v{at}: i64 = max v{}, v{}\n", at - 1, at - 2);
    }
    text += "  store v1[v2] = v3\n}";
    parse(&text).unwrap()
}

fn cpu(threads: usize) -> Cpu {
    Cpu::new(Options { threads, ..Options::default() }).unwrap()
}

fn filled(cpu: &Cpu, module: &Loaded) -> i64 {
    let out = cpu.alloc(Ty::I64, 1).unwrap();
    let args = [Arg::Scalar(nesl_runtime::kir::Literal::I64(1)), Arg::Array(out.clone(), 0)];
    cpu.launch(&Launch { module, kernel: 0, args: &args, tag: 1, work_items: None }).unwrap();
    let mut bytes = [0; 8];
    cpu.read(&out, 0, &mut bytes).unwrap();
    i64::from_ne_bytes(bytes)
}

/// All are expected, some are loaded, in another order: each is what it is, and counts once.
#[test]
fn what_is_expected_counts_when_it_is_loaded() {
    for threads in [1, 2, 8] {
        let cpu = cpu(threads);
        for number in 1..40 {
            cpu.prefetch(&module(number, 10 * (number % 7)));
        }
        let counters = cpu.counters();
        assert_eq!((counters.modules, counters.loaded, counters.compile_ns), (0, 0, 0));
        let wanted: Vec<usize> = (1..50).rev().step_by(2).collect();
        for _ in 0..2 {
            for &number in &wanted {
                let loaded = cpu.load(&module(number, 10 * (number % 7))).unwrap();
                assert_eq!(filled(&cpu, &loaded), number as i64);
            }
            let counters = cpu.counters();
            assert_eq!(counters.modules as usize, wanted.len());
            assert_eq!(counters.loaded as usize, wanted.len());
        }
    }
}

/// A runtime can be dropped while its background thread compiles. That it does not wait for the thread is
/// tested in `modules.rs`.
#[test]
fn a_runtime_ends_while_it_compiles_ahead() {
    let cpu = cpu(2);
    for number in 0..8 {
        cpu.prefetch(&module(number, 20_000));
    }
    cpu.cancel_prefetch();
    drop(cpu);
}
