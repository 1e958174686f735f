//! The host's view of a runtime: buffers, the order of launches, limits.

use super::{Case, Expect, Make, check as check_case};
use crate::fault::FaultCode;
use crate::kir::{Literal, Site, Ty, parse};
use crate::runtime::{Arg, Failure, Launch, Options};
use std::sync::atomic::Ordering;

pub(super) fn check(make: Make<'_>) {
    buffers(make);
    launches_are_in_order(make);
    modules_are_compiled_once(make);
    memory_is_counted(make);
    arrays_are_filled_in_part(make);
    interrupts(make);
    depth(make);
}

fn i64s(xs: &[i64]) -> Vec<u8> {
    xs.iter().flat_map(|x| x.to_ne_bytes()).collect()
}

fn buffers(make: Make<'_>) {
    let runtime = make(Options::default());
    let buffer = runtime.alloc(Ty::I64, 4).expect("room");
    assert_eq!((buffer.len(), buffer.ty(), buffer.is_empty()), (4, Ty::I64, false));
    runtime.write(&buffer, 0, &i64s(&[1, 2])).expect("written");
    runtime.write(&buffer, 2, &i64s(&[3, 4])).expect("written");
    runtime.write(&buffer, 1, &i64s(&[20])).expect("written");
    let mut out = [0; 16];
    runtime.read(&buffer, 1, &mut out).expect("read");
    assert_eq!(out.to_vec(), i64s(&[20, 3]));
    let empty = runtime.alloc(Ty::F32, 0).expect("room");
    runtime.write(&empty, 0, &[]).expect("written");
    runtime.read(&empty, 0, &mut []).expect("read");
    assert!(buffer.is_unique() && buffer.is_same(&buffer) && !buffer.is_same(&empty));
    let clone = buffer.clone();
    assert!(!buffer.is_unique() && buffer.is_same(&clone));
}

/// Each launch sees what those before have done; the first that fails is reported, and what is
/// enqueued until then is without effect.
fn launches_are_in_order(make: Make<'_>) {
    let runtime = make(Options::default());
    let text = "kernel \"step\"(v0: i64, v1: [i64], v2: i64) over flat v0 at v3 {
  v4: i64 = load v1[v3]
  v5: bool = ne v4, v2
  check v5 @1 detail v4
  v6: i64 = const 1
  v7: i64 = add v4, v6
  store v1[v3] = v7
}";
    let module = runtime.load(&parse(text).expect("kir")).expect("loaded");
    let buffer = runtime.alloc(Ty::I64, 300).expect("room");
    runtime.write(&buffer, 0, &i64s(&[0; 300])).expect("written");
    let step = |tag: u64, limit: i64| {
        let args = [
            Arg::Scalar(Literal::I64(300)),
            Arg::Array(buffer.clone(), 0),
            Arg::Scalar(Literal::I64(limit)),
        ];
        runtime.launch(&Launch { module: &module, kernel: 0, args: &args, tag, work_items: None })
    };
    for tag in 0..10 {
        step(tag, -1).expect("enqueued");
    }
    let mut out = vec![0; 2400];
    runtime.read(&buffer, 0, &mut out).expect("read");
    assert_eq!(out, i64s(&[10; 300]));
    for (tag, limit) in [(20, -1), (21, 11), (22, -1), (23, 11)] {
        step(tag, limit).expect("enqueued");
    }
    let failure =
        Failure::Program { tag: 21, site: Site(1), work_item: 0, detail: vec![11], text: None };
    assert_eq!(runtime.sync(), Err(failure));
    assert_eq!(runtime.sync(), Ok(()), "a failure is reported once");
    runtime.write(&buffer, 0, &i64s(&[5; 300])).expect("written");
    step(30, -1).expect("enqueued");
    runtime.read(&buffer, 0, &mut out).expect("read");
    assert_eq!(out, i64s(&[6; 300]));
    step(31, 6).expect("enqueued");
    assert!(runtime.read(&buffer, 0, &mut out).is_err(), "a read reports, too");
    assert!(runtime.counters().launches > 0);
}

fn modules_are_compiled_once(make: Make<'_>) {
    let runtime = make(Options::default());
    let module = parse("kernel \"k\"(v0: i64) over flat v0 at v1 { }").expect("kir");
    for module in [&module, &module.clone()] {
        let loaded = runtime.load(module).expect("loaded");
        let args = [Arg::Scalar(Literal::I64(1))];
        let launch = Launch { module: &loaded, kernel: 0, args: &args, tag: 1, work_items: None };
        runtime.launch(&launch).expect("enqueued");
    }
    runtime.sync().expect("done");
    assert_eq!(runtime.counters().modules, 1);
}

/// An array with room for more elements than are used counts, in the end, at most as any other.
fn arrays_are_filled_in_part(make: Make<'_>) {
    let runtime = make(Options { memory: 1 << 20, ..Options::default() });
    let whole = {
        let _any = runtime.alloc(Ty::I64, 100_000).expect("room");
        runtime.counters().bytes
    };
    let buffer = runtime.alloc_at_most(Ty::I64, 100_000).expect("room");
    assert_eq!(buffer.len(), 100_000);
    runtime.write(&buffer, 0, &i64s(&[1, 2, 3])).expect("written");
    runtime.filled(&buffer, 3).expect("room for what is used");
    let mut out = vec![0; 24];
    runtime.read(&buffer, 0, &mut out).expect("read");
    assert_eq!(out, i64s(&[1, 2, 3]));
    assert!(runtime.counters().bytes <= whole);
    drop(buffer);
    let other = runtime.alloc(Ty::I64, 10).expect("room");
    runtime.filled(&other, 3).expect("nothing to do");
    assert!(runtime.counters().bytes >= 80, "an array of a known length is counted as a whole");
}

fn memory_is_counted(make: Make<'_>) {
    let runtime = make(Options { memory: 1 << 20, ..Options::default() });
    assert_eq!(runtime.caps().memory, 1 << 20);
    let one = runtime.alloc(Ty::F64, 50_000).expect("room");
    let full = runtime.alloc(Ty::F64, 100_000);
    assert!(
        matches!(&full, Err(Failure::Machine(fault)) if fault.code == FaultCode::OutOfMemory),
        "{full:?}"
    );
    drop(one);
    runtime.alloc(Ty::F64, 100_000).expect("room again");
    let counters = runtime.counters();
    assert!(counters.peak_bytes >= 800_000 && counters.bytes <= counters.peak_bytes);
    if !runtime.caps().recursion {
        return;
    }
    let text = "kernel \"k\"(v0: i64, v1: [i64]) over flat v0 at v2 {
  v3: [i64] = alloc v0
  v4: i64 = const 10
  v5: bool = lt v2, v4
  while {
    yield v5
  } do {
    v6: [i64] = alloc v0
    store v6[v2] = v2
  }
}";
    let mut case = Case::new("endless allocation", text).i64(5000).array([0i64]);
    case.expect = Expect::Fault(FaultCode::OutOfMemory);
    check_case(&case, &*runtime).unwrap_or_else(|why| panic!("{}: {why}", case.name));
}

fn interrupts(make: Make<'_>) {
    let options = Options::default();
    let interrupt = options.interrupt.clone();
    let runtime = make(options);
    let text = "kernel \"k\"(v0: i64) over flat v0 at v1 {
  v2: bool = eq v1, v1
  while {
    yield v2
  } do {
  }
}";
    let mut case = Case::new("an endless loop", text).i64(3);
    case.expect = Expect::Fault(FaultCode::Interrupted);
    // The module is compiled before, so that however slow that is, the interrupt comes during the launch.
    let _compiled = runtime.load(&case.module());
    let waker = std::thread::spawn({
        let interrupt = interrupt.clone();
        move || {
            std::thread::sleep(std::time::Duration::from_millis(30));
            interrupt.store(true, Ordering::Relaxed);
        }
    });
    check_case(&case, &*runtime).unwrap_or_else(|why| panic!("{}: {why}", case.name));
    waker.join().expect("it only sleeps");
    interrupt.store(false, Ordering::Relaxed);
    let text = "kernel \"k\"(v0: i64, v1: [i64]) over flat v0 at v2 { reduce add v2 -> v1 }";
    let case = Case::new("after an interrupt", text).i64(10).out([45i64]);
    check_case(&case, &*runtime).unwrap_or_else(|why| panic!("{}: {why}", case.name));
}

fn depth(make: Make<'_>) {
    let runtime = make(Options { max_depth: 20_000, ..Options::default() });
    if !runtime.caps().recursion {
        return;
    }
    let text = "function \"down\"(v0: i64) -> i64 {
  v1: i64 = const 0
  v2: bool = le v0, v1
  v3: i64 = if v2 {
    yield v1
  } else {
    v4: i64 = const 1
    v5: i64 = sub v0, v4
    v6: i64 = call \"down\"(v5)
    v7: i64 = add v6, v4
    yield v7
  }
  yield v3
}
kernel \"k\"(v0: i64, v1: i64, v2: [i64]) over flat v0 at v3 {
  v4: i64 = call \"down\"(v1)
  store v2[v3] = v4
}";
    let case = |depth: i64| Case::new("deep recursion", text).i64(2).i64(depth);
    let fine = case(15_000).out([15_000i64; 2]);
    check_case(&fine, &*runtime).unwrap_or_else(|why| panic!("{}: {why}", fine.name));
    for depth in [25_000, i64::MAX] {
        let mut deep = case(depth).room(Ty::I64, 2);
        deep.expect = Expect::Fault(FaultCode::TooDeep);
        check_case(&deep, &*runtime).unwrap_or_else(|why| panic!("{}: {why}", deep.name));
    }
    check_case(&fine, &*runtime).unwrap_or_else(|why| panic!("{}: {why}", fine.name));
}
