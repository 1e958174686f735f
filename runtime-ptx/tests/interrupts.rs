//! Interrupts on a simulated device: kernels of any shape end soon after one, and the host neither waits
//! for the device to learn of it nor has much enqueued by then.
//!
//! Nothing runs before the host waits, so that an interrupt comes before the first instruction of
//! what was launched: the instructions that are executed all the same are those until the kernel looks.

use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{Literal, Ty, parse};
use nesl_runtime::runtime::{Arg, Buffer, Failure, Launch, Loaded, Options, Runtime};
use nesl_runtime_ptx::Ptx;
use nesl_sim::client::{Client, Session};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The device of these tests: so small that each of its threads has many work items.
const THREADS: u64 = 512;

/// The instructions that a thread may execute from one look at the interrupt word to the next, and until
/// it has passed its other work items: a few for each of 16,384 iterations.
const INSTRUCTIONS_OF_THREAD: u64 = 40 << 14;

/// Loops within loops, each of which ends before it would look: 10^12 iterations of one work item.
const NESTED: &str = "\
kernel \"nested\"(v0: i64, v1: i64, v2: [i64]) over flat v0 at v3 {
  v4: i64 = for v5 < v1 carry v6: i64 = v3 {
    v7: i64 = for v8 < v1 carry v9: i64 = v6 {
      v10: i64 = for v11 < v1 carry v12: i64 = v9 {
        v13: i64 = for v14 < v1 carry v15: i64 = v12 {
          v16: i64 = mul v15, v14
          yield v16
        }
        yield v13
      }
      yield v10
    }
    yield v7
  }
  store v2[v3] = v4
}
";

/// A loop whose length is known.
const CONSTANT: &str = "\
kernel \"constant\"(v0: i64, v1: i64, v2: [i64]) over flat v0 at v3 {
  v4: i64 = const 1000000000000
  v5: i64 = for v6 < v4 carry v7: i64 = v3 {
    v8: i64 = mul v7, v6
    yield v8
  }
  store v2[v3] = v5
}
";

/// Work items of a short loop each, and what is done with what they compute: `v4`.
fn with_loop(name: &str, out: &str, rest: &str) -> String {
    format!(
        "\
kernel \"{name}\"(v0: i64, v1: i64, v2: [{out}]) over flat v0 at v3 {{
  v4: i64 = for v5 < v1 carry v6: i64 = v3 {{
    v7: i64 = mul v6, v5
    yield v7
  }}
{rest}}}
"
    )
}

/// A sum of the work items.
const ITEMS: &str = "  reduce add v4 -> v2\n";

/// A sum of floats: blocks take parts of the space.
const PARTS: &str = "\
  v8: f64 = convert v4
  reduce add v8 -> v2
";

/// A sum of what is computed in tiles.
const TILES: &str = "\
  v8: i64 = scan add v4
} then {
  reduce max v8 -> v2
";

/// Many work items without a loop, which read no memory.
const COMPUTED: &str = "\
kernel \"computed\"(v0: i64, v1: i64, v2: [i64]) over flat v0 at v3 {
  v4: i64 = mul v3, v1
  reduce max v4 -> v2
}
";

/// Returns the kernels, with the numbers of work items and of iterations of each loop. None would end on
/// any machine.
fn kernels() -> [(String, u64, u64); 6] {
    [
        (NESTED.to_owned(), 3, 1000),
        (CONSTANT.to_owned(), 3, 0),
        (with_loop("items", "i64", ITEMS), 1 << 22, 1000),
        (with_loop("parts", "f64", PARTS), 1 << 22, 1000),
        (with_loop("tiles", "i64", TILES), 1 << 22, 1000),
        (COMPUTED.to_owned(), 1 << 50, 3),
    ]
}

/// A device whose host never waits by itself, and its interrupt.
struct Interrupted {
    ptx: Ptx,
    interrupt: Arc<AtomicBool>,
}

impl Interrupted {
    fn new() -> Interrupted {
        let options = Options::default();
        let interrupt = options.interrupt.clone();
        Interrupted { ptx: Ptx::new(0, options).unwrap(), interrupt }
    }

    fn load(&self, text: &str) -> Loaded {
        self.ptx.load(&parse(text).unwrap()).unwrap()
    }

    fn launch(&self, module: &Loaded, items: u64, iterations: u64, out: &Buffer) {
        let args = [
            Arg::Scalar(Literal::I64(items as i64)),
            Arg::Scalar(Literal::I64(iterations as i64)),
            Arg::Array(out.clone(), 0),
        ];
        let launch = Launch { module, kernel: 0, args: &args, tag: 1, work_items: None };
        self.ptx.launch(&launch).unwrap();
    }

    fn assert_reported(&self) {
        let interrupted = Failure::Machine(FaultCode::Interrupted.into());
        assert_eq!(self.ptx.sync(), Err(interrupted), "reported");
        self.interrupt.store(false, Ordering::Relaxed);
        assert_eq!(self.ptx.sync(), Ok(()), "reported once");
    }
}

fn simulator(options: &[(&str, &str)]) -> Session {
    let session = Client::load().unwrap().exclusive();
    for (name, value) in [("defer", "1"), ("device", "one")].iter().chain(options) {
        session.set(name, value).unwrap();
    }
    session
}

#[test]
fn every_kind_of_kernel_ends() {
    for (text, items, iterations) in kernels() {
        let session = simulator(&[]);
        let device = Interrupted::new();
        let module = device.load(&text);
        let ty = if text.contains("[f64]") { Ty::F64 } else { Ty::I64 };
        let out = device.ptx.alloc(ty, 8).unwrap();
        device.ptx.sync().unwrap();
        session.clear();
        device.launch(&module, items, iterations, &out);
        device.interrupt.store(true, Ordering::Relaxed);
        device.assert_reported();
        let instructions = session.counters().thread_instructions;
        if std::env::var_os("NESL_COUNTERS").is_some() {
            println!("{instructions:>12} instructions after an interrupt: {}", &text[..16]);
        }
        let threads = items.min(THREADS);
        assert!(instructions < INSTRUCTIONS_OF_THREAD * threads, "{instructions}: {text}");
        // The device can be used as before: tickets, states and records are as they must be.
        let items = if text == CONSTANT { 0 } else { 4 };
        device.launch(&module, items, 2, &out);
        assert_eq!(device.ptx.sync(), Ok(()), "{text}");
        assert!(session.findings().is_empty(), "{:?}: {text}", session.findings());
    }
}

/// Launches behind an interrupted kernel have no effect.
#[test]
fn launches_behind_an_interrupt_have_no_effect() {
    let session = simulator(&[("check", "1")]);
    let device = Interrupted::new();
    let (endless, fill) = (device.load(CONSTANT), device.load(&with_loop("items", "i64", ITEMS)));
    let [first, out] = [(); 2].map(|()| device.ptx.alloc(Ty::I64, 8).unwrap());
    device.ptx.write(&out, 0, &7i64.to_ne_bytes()).unwrap();
    device.launch(&endless, 3, 0, &first);
    device.launch(&fill, 100, 3, &out);
    device.interrupt.store(true, Ordering::Relaxed);
    device.assert_reported();
    let mut bytes = [0; 8];
    device.ptx.read(&out, 0, &mut bytes).unwrap();
    assert_eq!(i64::from_ne_bytes(bytes), 7);
    assert!(session.findings().is_empty(), "{:?}", session.findings());
}

/// Kernels that have no loops do not look; so the host never has many of them enqueued.
#[test]
fn the_host_is_not_far_ahead() {
    let session = simulator(&[]);
    let device = Interrupted::new();
    let module = device.load(COMPUTED);
    let out = device.ptx.alloc(Ty::I64, 8).unwrap();
    device.ptx.sync().unwrap();
    session.clear();
    for launched in 1..=200u64 {
        device.launch(&module, 10, 1, &out);
        let behind = launched - session.counters().launches;
        assert!(behind <= 24, "{behind} of {launched} launches are still to be executed");
        assert!(launched < 25 || behind >= 15, "the device has {behind} launches left to do");
    }
    assert_eq!(session.host_counters().drains, 0, "the host never waits for all of them");
    assert_eq!(device.ptx.counters().drains, 0);
}

/// The host asks for failures, interrupts and the end of its work without waiting for the device.
#[test]
fn the_host_asks_without_waiting() {
    let session = simulator(&[]);
    let device = Interrupted::new();
    let module = device.load(COMPUTED);
    let out = device.ptx.alloc(Ty::I64, 8).unwrap();
    device.ptx.sync().unwrap();
    session.clear();
    let before = device.ptx.counters().drains;
    for _ in 0..5 {
        device.launch(&module, 10, 1, &out);
    }
    let mut asked = 1;
    while !device.ptx.poll().unwrap() {
        // A look brings the simulated device on by one piece of work.
        assert!(session.counters().launches <= asked, "{asked} looks");
        asked += 1;
        assert!(asked < 100, "the work ends");
    }
    assert!(asked >= 5, "{asked} looks");
    assert_eq!(session.host_counters().drains, 0);
    assert_eq!(device.ptx.counters().drains, before);
    device.interrupt.store(true, Ordering::Relaxed);
    assert!(device.ptx.poll().is_err(), "an interrupt is told though nothing is under way");
    device.interrupt.store(false, Ordering::Relaxed);
    assert_eq!(device.ptx.poll(), Ok(true));
}
