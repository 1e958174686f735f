//! The tests that every runtime must pass, on two runtimes of which the first refuses some kernels.

use nesl_runtime::kir::{Module, Ty, parse, print};
use nesl_runtime::runtime::{
    Arg, Buffer, Caps, Counters, Failure, Launch, Loaded, Options, Reason, Runtime,
};
use nesl_runtime::testkit;
use nesl_runtime_composite::Composite;
use nesl_runtime_cpu::Cpu;

/// A CPU runtime that stands for a device: it refuses some modules.
struct Device {
    cpu: Cpu,
    caps: Caps,
    refuses: fn(&Module) -> bool,
}

impl Runtime for Device {
    fn caps(&self) -> &Caps {
        &self.caps
    }
    fn alloc(&self, ty: Ty, length: usize) -> Result<Buffer, Failure> {
        self.cpu.alloc(ty, length)
    }
    fn write(&self, buffer: &Buffer, at: usize, bytes: &[u8]) -> Result<(), Failure> {
        self.cpu.write(buffer, at, bytes)
    }
    fn load(&self, module: &Module) -> Result<Loaded, Failure> {
        match (self.refuses)(module) {
            true => Err(Failure::Unsupported(Reason::CodeSize)),
            false => self.cpu.load(module),
        }
    }
    fn launch(&self, launch: &Launch<'_>) -> Result<Vec<Buffer>, Failure> {
        self.cpu.launch(launch)
    }
    fn read(&self, buffer: &Buffer, at: usize, out: &mut [u8]) -> Result<(), Failure> {
        self.cpu.read(buffer, at, out)
    }
    fn sync(&self) -> Result<(), Failure> {
        self.cpu.sync()
    }
    fn counters(&self) -> Counters {
        self.cpu.counters()
    }
}

fn composite(options: Options, device_memory: u64, refuses: fn(&Module) -> bool) -> Composite {
    let device_options = Options { memory: device_memory, threads: 1, ..options.clone() };
    let cpu = Cpu::new(device_options).unwrap();
    let device = Device { caps: cpu.caps().clone(), cpu, refuses };
    let memory = options.memory;
    let host = Cpu::new(Options { threads: 1, ..options }).unwrap();
    Composite::new(Box::new(device), Box::new(host), memory)
}

fn suite(refuses: fn(&Module) -> bool) {
    testkit::suite(&|options| {
        let memory = options.memory;
        Box::new(composite(options, memory, refuses)) as Box<dyn Runtime>
    });
}

#[test]
fn everything_on_the_device() {
    suite(|_| false);
}

#[test]
fn everything_on_the_host() {
    suite(|_| true);
}

#[test]
fn some_on_either_side() {
    suite(|module| print(module).len() % 2 == 1);
}

/// The description of the machine says what the device can, and that there is a host.
#[test]
fn the_description_is_that_of_the_device() {
    let cpu = || Cpu::new(Options { threads: 1, ..Options::default() }).unwrap();
    let caps = Caps { recursion: false, shares_host_memory: false, ..cpu().caps().clone() };
    let device = Device { cpu: cpu(), caps, refuses: |_| false };
    let both = Composite::new(Box::new(device), Box::new(cpu()), 1 << 20);
    let caps = both.caps();
    assert!(!caps.recursion && !caps.shares_host_memory && caps.falls_back);
}

/// Adds 1 to each element, on the device or on the host.
fn add_one(name: &str) -> Module {
    let text = format!(
        "kernel \"{name}\"(v0: i64, v1: [i64]) over flat v0 at v2 {{
  v3: i64 = load v1[v2]
  v4: i64 = const 1
  v5: i64 = add v3, v4
  store v1[v2] = v5
}}"
    );
    parse(&text).unwrap()
}

fn i64s(xs: impl IntoIterator<Item = i64>) -> Vec<u8> {
    xs.into_iter().flat_map(i64::to_ne_bytes).collect()
}

fn launch(runtime: &dyn Runtime, module: &Module, buffer: &Buffer) {
    let module = runtime.load(module).unwrap();
    let count = Arg::Scalar(nesl_runtime::kir::Literal::I64(buffer.len() as i64));
    let args = [count, Arg::Array(buffer.clone(), 0)];
    let launch = Launch { module: &module, kernel: 0, args: &args, tag: 1, work_items: None };
    runtime.launch(&launch).unwrap();
}

/// Each side sees what the other wrote; what was refused is counted with its reason.
#[test]
fn the_sides_take_turns() {
    let refuses = |module: &Module| module.kernels[0].name == "there";
    let runtime = composite(Options::default(), 1 << 30, refuses);
    let buffer = runtime.alloc(Ty::I64, 1000).unwrap();
    runtime.write(&buffer, 0, &i64s(0..1000)).unwrap();
    for name in ["here", "there", "there", "here", "there"] {
        launch(&runtime, &add_one(name), &buffer);
    }
    let mut out = vec![0; 8000];
    runtime.read(&buffer, 0, &mut out).unwrap();
    assert_eq!(out, i64s(5..1005));
    let launches: Vec<u64> = runtime.shares().iter().map(|share| share.counters.launches).collect();
    assert_eq!(launches, [2, 3]);
    let refusals = runtime.refusals();
    assert_eq!(refusals.len(), 1);
    assert_eq!((&*refusals[0].kernel, refusals[0].launches), ("there", 3));
}

/// A full device has arrays moved to the host, those not used for the longest time first, and back
/// when they are used again. An array larger than the device lives on the host.
#[test]
fn arrays_move_to_the_host_when_the_device_is_full() {
    let runtime = composite(Options::default(), 100_000, |_| false);
    let buffers: Vec<Buffer> = (0..20)
        .map(|number| {
            let buffer = runtime.alloc(Ty::I64, 2000).unwrap();
            runtime.write(&buffer, 0, &i64s(number..number + 2000)).unwrap();
            buffer
        })
        .collect();
    let step = add_one("step");
    for buffer in buffers.iter().chain(buffers.iter().rev()) {
        launch(&runtime, &step, buffer);
    }
    for (number, buffer) in buffers.iter().enumerate() {
        let mut out = vec![0; 16_000];
        runtime.read(buffer, 0, &mut out).unwrap();
        let first = number as i64 + 2;
        assert_eq!(out, i64s(first..first + 2000), "array {number}");
    }
    let large = runtime.alloc(Ty::I64, 20_000).unwrap();
    runtime.write(&large, 0, &i64s(0..20_000)).unwrap();
    let mut out = vec![0; 8];
    runtime.read(&large, 19_999, &mut out).unwrap();
    assert_eq!(out, i64s([19_999]));
    drop((buffers, large));
    assert_eq!(runtime.counters().bytes, 0, "copies are freed with their arrays");
}

/// A device that is given back has no arrays; it is opened again when one is needed there.
#[test]
fn the_device_is_given_back_and_opened_again() {
    let device = || {
        let cpu = Cpu::new(Options { threads: 1, ..Options::default() }).unwrap();
        Box::new(Device { caps: cpu.caps().clone(), cpu, refuses: |_| false }) as Box<dyn Runtime>
    };
    let host = Box::new(Cpu::new(Options { threads: 1, ..Options::default() }).unwrap());
    // The second time there is none left.
    let left = std::cell::Cell::new(1);
    let open = move || match left.replace(0) {
        0 => Err("somebody else has it".to_owned()),
        _ => Ok(device()),
    };
    let runtime = Composite::new(device(), host, 1 << 30).reopened_by(open);
    let (buffer, empty) =
        (runtime.alloc(Ty::I64, 1000).unwrap(), runtime.alloc(Ty::I64, 0).unwrap());
    runtime.write(&buffer, 0, &i64s(0..1000)).unwrap();
    let module = runtime.load(&add_one("step")).unwrap();
    let step = || {
        let args =
            [Arg::Scalar(nesl_runtime::kir::Literal::I64(1000)), Arg::Array(buffer.clone(), 0)];
        let launch = Launch { module: &module, kernel: 0, args: &args, tag: 1, work_items: None };
        runtime.launch(&launch).unwrap();
    };
    let elements = || {
        let mut out = vec![0; 8000];
        runtime.read(&buffer, 0, &mut out).map(|()| out)
    };
    let device_bytes = || runtime.shares()[0].counters.bytes;
    step();
    assert_eq!(device_bytes(), 8000);
    runtime.release_device().unwrap();
    assert!(runtime.is_spilled(&buffer) && runtime.is_spilled(&empty));
    assert_eq!((device_bytes(), runtime.shares()[0].counters.launches), (0, 1));
    // The host reads what it has.
    assert_eq!(elements().unwrap(), i64s(1..1001));
    step();
    assert_eq!((device_bytes(), runtime.shares()[0].counters.launches), (8000, 2));
    assert!(!runtime.is_spilled(&buffer));
    assert_eq!(elements().unwrap(), i64s(2..1002));
    // Without a device a launch fails, and the arrays stay what they are.
    runtime.release_device().unwrap();
    step();
    let failure = elements().unwrap_err();
    assert!(format!("{failure:?}").contains("somebody else has it"), "{failure:?}");
    assert_eq!(elements().unwrap(), i64s(2..1002));
}
