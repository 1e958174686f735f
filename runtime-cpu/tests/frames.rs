//! Code with a large stack frame runs on a thread with a small stack.

use nesl_runtime::kir::{Literal, Ty, parse};
use nesl_runtime::runtime::{Arg, Launch, Options, Runtime};
use nesl_runtime_cpu::Cpu;
use std::fmt::Write as _;

/// The number of values that are alive at once; each takes eight bytes of the frame.
const ALIVE: usize = 40_000;

/// The stack of the thread, in bytes: less than the values take.
const STACK_BYTES: usize = 256 << 10;

/// A kernel of one element that computes `ALIVE` numbers one after the other, and then reads them from
/// the last to the first.
fn kernel() -> String {
    let mut text = String::from(
        "kernel \"k\"(v0: i64, v1: [i64], v2: i64) over flat v0 at v3 {
  v4: i64 = add v2, v3
",
    );
    let first = 4;
    let last = first + ALIVE;
    for value in first + 1..=last {
        let factor = if value % 2 == 0 { "v2" } else { "v0" };
        let _ = writeln!(
            text,
            "  v{value}: i64 = {} v{}, {factor}",
            ["mul", "add"][value % 2],
            value - 1
        );
    }
    let mut folded = last;
    for value in (first..last).rev() {
        let (op, next) = (["xor", "sub"][value % 2], last + 1 + last - value);
        let _ = writeln!(text, "  v{next}: i64 = {op} v{folded}, v{value}");
        folded = next;
    }
    let _ = write!(text, "  store v1[v3] = v{folded}\n}}");
    text
}

/// The number that the kernel stores for element 0.
fn expected(factor: i64) -> i64 {
    let first = 4;
    let mut all = vec![factor];
    for value in first + 1..=first + ALIVE {
        let before = all[all.len() - 1];
        all.push(if value % 2 == 0 { before.wrapping_mul(factor) } else { before.wrapping_add(1) });
    }
    let mut folded = all[ALIVE];
    for value in (first..first + ALIVE).rev() {
        let x = all[value - first];
        folded = if value % 2 == 0 { folded ^ x } else { folded.wrapping_sub(x) };
    }
    folded
}

#[test]
fn a_frame_larger_than_the_stack() {
    let work = || {
        let cpu = Cpu::new(Options { threads: 1, ..Options::default() }).unwrap();
        let loaded = cpu.load(&parse(&kernel()).unwrap()).unwrap();
        let result = cpu.alloc(Ty::I64, 1).unwrap();
        let scalar = |x| Arg::Scalar(Literal::I64(x));
        let args = [scalar(1), Arg::Array(result.clone(), 0), scalar(3)];
        cpu.launch(&Launch { module: &loaded, kernel: 0, args: &args, tag: 0, work_items: None })
            .unwrap();
        cpu.sync().unwrap();
        let mut bytes = [0; 8];
        cpu.read(&result, 0, &mut bytes).unwrap();
        i64::from_ne_bytes(bytes)
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).unwrap();
    assert_eq!(thread.join().unwrap(), expected(3));
}
