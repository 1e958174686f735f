//! The errors that the interpreter finds, reports and survives; the kit shows that it computes right.

use super::*;
use crate::fault::{Fault, FaultCode};
use crate::kir::{Site, parse};
use expect_test::{Expect, expect};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn options(max_depth: usize) -> Options {
    Options { max_depth, memory: 1 << 20, ..Options::default() }
}

/// Launches the only kernel of a text over `count` points; it is given an array of ten i64, 0 to
/// 9, and one that is not written.
fn launch(runtime: &Reference, text: &str, count: i64) -> Result<Vec<i64>, Failure> {
    let params = "v0: i64, v1: [i64], v2: [i64]";
    let text = text.replace("KERNEL", &format!("kernel \"k\"({params}) over flat v0 at v3"));
    let module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let module = runtime.load(&module)?;
    let (source, target) = (runtime.alloc(Ty::I64, 10)?, runtime.alloc(Ty::I64, 1)?);
    let bytes: Vec<u8> = (0..10i64).flat_map(i64::to_ne_bytes).collect();
    runtime.write(&source, 0, &bytes)?;
    let args =
        [Arg::Scalar(Literal::I64(count)), Arg::Array(source, 0), Arg::Array(target.clone(), 0)];
    runtime.launch(&Launch {
        module: &module,
        kernel: 0,
        args: &args,
        tag: 7,
        work_items: None,
    })?;
    runtime.sync()?;
    let mut out = [0; 8];
    runtime.read(&target, 0, &mut out)?;
    Ok(vec![i64::from_ne_bytes(out)])
}

/// The panic of a kernel that does what is not allowed.
fn ill_formed(body: &str, expected: Expect) {
    let runtime = Reference::new(options(100));
    let run = || launch(&runtime, &format!("KERNEL {{ {body} }}"), 4);
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("it panics");
    expected.assert_eq(panic.downcast_ref::<String>().expect("a text"));
}

#[test]
fn what_is_not_allowed_panics() {
    ill_formed(
        "v4: i64 = const 10 v5: i64 = load v1[v4]",
        expect![
            "internal error: ill-formed kir: kernel `k`: `v5: i64 = load v1[v4]`: 10 is out of bounds: there are 10 elements; please report this program"
        ],
    );
    ill_formed(
        "v4: i64 = const -1 store v1[v4] = v4",
        expect![
            "internal error: ill-formed kir: kernel `k`: `store v1[v4] = v4`: -1 is out of bounds: there are 10 elements; please report this program"
        ],
    );
    ill_formed(
        "v4: [i64] = alloc v0 v5: i64 = load v4[v3]",
        expect![
            "internal error: ill-formed kir: kernel `k`: `v5: i64 = load v4[v3]`: element 0 was not written; please report this program"
        ],
    );
    ill_formed(
        "v4: i64 = const 0 store v2[v4] = v3",
        expect![
            "internal error: ill-formed kir: kernel `k`: `store v2[v4] = v3`: WorkItem(1) writes element 0, which WorkItem(0) writes, too; please report this program"
        ],
    );
    ill_formed(
        "v4: i64 = const 0 store v1[v4] = v4 v5: i64 = load v1[v4]",
        expect![
            "internal error: ill-formed kir: kernel `k`: `store v1[v4] = v4`: WorkItem(1) writes element 0, which others read; please report this program"
        ],
    );
    ill_formed(
        "store v1[v3] = v3 v4: i64 = const 0 v5: i64 = load v1[v4]",
        expect![
            "internal error: ill-formed kir: kernel `k`: `v5: i64 = load v1[v4]`: WorkItem(1) reads element 0, which WorkItem(0) writes; please report this program"
        ],
    );
    ill_formed(
        "v4: mark = mark v5: [i64] = alloc v0 compact v4 v6: i64 = load v5[v3]",
        expect![
            "internal error: ill-formed kir: kernel `k`: `v6: i64 = load v5[v3]`: the array was let go of by `compact`; please report this program"
        ],
    );
    ill_formed(
        "v4: mark = mark v5: mark = mark compact v4 compact v5",
        expect![
            "internal error: ill-formed kir: kernel `k`: `compact v5`: the mark is gone: an older one was compacted to; please report this program"
        ],
    );
    ill_formed(
        "v4: i64 = const 1 v5: [i64] = slice v1[v4..] copy v1 -> v5 count v0",
        expect![
            "internal error: ill-formed kir: kernel `k`: `copy v1 -> v5 count v0`: the arrays overlap; please report this program"
        ],
    );
    ill_formed(
        "v4: i64 = const 11 v5: [i64] = slice v1[v4..]",
        expect![
            "internal error: ill-formed kir: kernel `k`: `v5: [i64] = slice v1[v4..]`: 11 is out of bounds: there are 10 elements; please report this program"
        ],
    );
    ill_formed(
        "scatter v3 -> v2[v3]",
        expect![
            "internal error: ill-formed kir: kernel `k`: `scatter v3 -> v2[v3]`: 1 is out of bounds: there are 1 elements; please report this program"
        ],
    );
    ill_formed(
        "histogram add v3 -> v2[v3]",
        expect![
            "internal error: ill-formed kir: kernel `k`: `histogram add v3 -> v2[v3]`: element 0 was not written; please report this program"
        ],
    );
    ill_formed(
        "v4: i64 = load v1[v3] v5: i64 = const 5 histogram add v4 -> v1[v5] scatter v4 -> v1[v3]",
        expect![
            "internal error: ill-formed kir: kernel `k`: `scatter v4 -> v1[v3]`: Sink(0, 1) writes element 0, which others read; please report this program"
        ],
    );
}

#[test]
fn a_failure_is_reported_once_and_what_follows_is_not_executed() {
    let runtime = Reference::new(options(100));
    let failing = "KERNEL { v4: i64 = const 2 v5: bool = lt v3, v4 check v5 @9 detail v3, v4 }";
    let failure =
        Failure::Program { tag: 7, site: Site(9), work_item: 2, detail: vec![2, 2], text: None };
    assert_eq!(launch(&runtime, failing, 4), Err(failure));
    assert_eq!(runtime.sync(), Ok(()));
    assert_eq!(launch(&runtime, "KERNEL { reduce add v3 -> v2 }", 4), Ok(vec![6]));
    assert_eq!(runtime.counters().bytes, 0);
}

#[test]
fn recursion_is_not_that_of_the_host() {
    let text = "
        function \"down\"(v0: i64) -> i64 {
          v1: i64 = const 0
          v2: bool = le v0, v1
          v3: i64 = if v2 { yield v1 } else {
            v4: i64 = const 1
            v5: i64 = sub v0, v4
            v6: i64 = call \"down\"(v5)
            v7: i64 = add v6, v4
            yield v7
          }
          yield v3
        }
        KERNEL { v4: i64 = const 99999 v5: i64 = call \"down\"(v4) reduce max v5 -> v2 }";
    assert_eq!(launch(&Reference::new(options(100_000)), text, 1), Ok(vec![99_999]));
    let deep = Failure::Machine(FaultCode::TooDeep.into());
    assert_eq!(launch(&Reference::new(options(99_999)), text, 1), Err(deep));
}

#[test]
fn memory_has_a_limit() {
    let runtime = Reference::new(options(1));
    let text = "KERNEL { v4: i64 = const 1000000 v5: [i64] = alloc v4 reduce add v3 -> v2 }";
    let full = Failure::Machine(Fault::out_of_memory(Some(8_000_000), 88, 1 << 20));
    assert_eq!(launch(&runtime, text, 1), Err(full));
    let text = "KERNEL { v4: i64 = const 100000 v5: [i64] = alloc v4 reduce add v3 -> v2 }";
    assert_eq!(launch(&runtime, text, 3), Ok(vec![3]));
    assert!(runtime.alloc(Ty::F64, usize::MAX).is_err());
    assert_eq!(runtime.counters().bytes, 0);
}

#[test]
fn an_endless_loop_is_interrupted() {
    let options = options(1);
    let runtime = Reference::new(options.clone());
    options.interrupt.store(true, Ordering::Relaxed);
    let text = "KERNEL { v4: bool = const true while { yield v4 } do { } }";
    let interrupted = Failure::Machine(FaultCode::Interrupted.into());
    assert_eq!(launch(&runtime, text, 1), Err(interrupted));
}
