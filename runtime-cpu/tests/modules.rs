//! A session that compiles ever new modules does not grow without bound.

use nesl_runtime::kir::{Module, parse};
use nesl_runtime::runtime::{Options, Runtime};
use nesl_runtime_cpu::Cpu;

fn module(number: usize) -> Module {
    let text = format!(
        "kernel \"k\"(v0: i64, v1: [i64]) over flat v0 at v2 {{
  v3: i64 = const {number}
  store v1[v2] = v3
}}"
    );
    parse(&text).unwrap()
}

#[test]
fn modules_nobody_holds_are_freed() {
    let cpu = Cpu::new(Options { threads: 1, ..Options::default() }).unwrap();
    let _held = cpu.load(&module(0)).unwrap();
    for number in 1..1500 {
        cpu.load(&module(number)).unwrap();
        // One is used again and again.
        cpu.load(&module(1)).unwrap();
        assert!(cpu.counters().loaded <= 256);
    }
    let before = cpu.counters().modules;
    assert_eq!(before, 1500);
    for number in [0, 1, 1499] {
        cpu.load(&module(number)).unwrap();
    }
    assert_eq!(cpu.counters().modules, before);
    cpu.load(&module(2)).unwrap();
    assert_eq!(cpu.counters().modules, before + 1);
}

#[test]
fn modules_somebody_holds_stay() {
    let cpu = Cpu::new(Options { threads: 1, ..Options::default() }).unwrap();
    let held: Vec<_> = (0..300).map(|number| cpu.load(&module(number)).unwrap()).collect();
    assert_eq!(cpu.counters().loaded, 300);
    cpu.load(&module(7)).unwrap();
    assert_eq!(cpu.counters().modules, 300);
    drop(held);
    cpu.load(&module(300)).unwrap();
    assert!(cpu.counters().loaded < 200);
}
