//! Copies between the host and a simulated device: long ones go through pinned memory in pieces, and
//! nobody waits for an upload before the launch that needs it.

use nesl_runtime::kir::{Literal, Ty, parse};
use nesl_runtime::runtime::{Arg, Buffer, Launch, Options, Read, Runtime};
use nesl_runtime_ptx::Ptx;
use nesl_sim::client::{Client, Session};

/// The simulator for one test. Nothing runs before the host waits for it, and pinned memory is read
/// and written only then.
fn simulator() -> Session {
    let session = Client::load().unwrap().exclusive();
    session.set("defer", "1").unwrap();
    session
}

/// Ints that are different at each place.
fn bytes(length: usize) -> Vec<u8> {
    (0..length as i64).flat_map(|x| x.wrapping_mul(0x1234_5678_9abc).to_ne_bytes()).collect()
}

fn array(ptx: &Ptx, bytes: &[u8]) -> Buffer {
    let array = ptx.alloc(Ty::I64, bytes.len() / 8).unwrap();
    ptx.write(&array, 0, bytes).unwrap();
    array
}

/// Lengths around those at which the way changes: a few pieces of 4 MiB, and a bit.
const LENGTHS: [usize; 6] = [1, 8192, 8193, 1 << 19, (1 << 19) + 1, 5 << 18];

#[test]
fn long_arrays_come_back_as_they_went() {
    let session = simulator();
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let all = LENGTHS.map(bytes);
    let arrays: Vec<Buffer> = all.iter().map(|bytes| array(&ptx, bytes)).collect();
    for (array, expected) in arrays.iter().zip(&all) {
        let mut found = vec![0; expected.len()];
        ptx.read(array, 0, &mut found).unwrap();
        assert!(found == *expected, "{} elements", array.len());
    }
    // Parts of several arrays at once, long and short.
    let mut places = [(5, 3, 700_000), (0, 0, 1), (3, 1, 520_000), (1, 8000, 192)]
        .map(|(number, at, length)| (number, at, vec![0; 8 * length]));
    let mut reads: Vec<Read<'_>> = places
        .iter_mut()
        .map(|(number, at, out)| Read { buffer: &arrays[*number], at: *at, out })
        .collect();
    ptx.read_many(&mut reads).unwrap();
    for (number, at, out) in places {
        assert!(out == all[number][8 * at..][..out.len()], "{number}");
    }
    assert!(session.findings().is_empty(), "{:?}", session.findings());
}

/// The copies to the device are still under way when the driver begins to compile the kernel.
#[test]
fn modules_are_compiled_beside_uploads() {
    let session = simulator();
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let text = "\
kernel \"sum\"(v0: [i64], v1: i64, v2: [i64]) over flat v1 at v3 {
  v4: i64 = load v0[v3]
  reduce add v4 -> v2
}
";
    let length = 3 << 19;
    let out = ptx.alloc(Ty::I64, 1).unwrap();
    let module = ptx.load(&parse(text).unwrap()).unwrap();
    session.clear();
    let bytes = bytes(length);
    let args = [
        Arg::Array(array(&ptx, &bytes), 0),
        Arg::Scalar(Literal::I64(length as i64)),
        Arg::Array(out.clone(), 0),
    ];
    ptx.launch(&Launch { module: &module, kernel: 0, args: &args, tag: 1, work_items: None })
        .unwrap();
    let counters = session.host_counters();
    assert_eq!((counters.modules, counters.links_beside_writes), (1, 1));
    let mut sum = [0; 8];
    ptx.read(&out, 0, &mut sum).unwrap();
    let expected: i64 =
        (0..length as i64).map(|x| x.wrapping_mul(0x1234_5678_9abc)).fold(0, i64::wrapping_add);
    assert_eq!(i64::from_ne_bytes(sum), expected);
    assert_eq!(ptx.counters().modules, 1);
}
