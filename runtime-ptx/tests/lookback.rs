//! Spaces of many tiles on a simulated device: what tiles learn of each other, in any order of the
//! blocks and however many of them the device executes at a time; arrays that begin at any element.

use nesl_runtime::kir::{Literal, Ty, parse};
use nesl_runtime::runtime::{Arg, Failure, Launch, Options, Runtime};
use nesl_runtime_ptx::Ptx;
use nesl_sim::client::{Client, Session};

/// An argument of a kernel.
#[derive(Clone)]
enum Data {
    Scalar(i64),
    /// The bits of elements of 8 bytes.
    Words(Ty, Vec<u64>),
    Bytes(Ty, Vec<u8>),
    /// An array for results, of so many elements.
    Out(Ty, usize),
}

fn ints(values: impl IntoIterator<Item = i64>) -> Data {
    Data::Words(Ty::I64, values.into_iter().map(|x| x as u64).collect())
}

fn floats(values: impl IntoIterator<Item = f64>) -> Data {
    Data::Words(Ty::F64, values.into_iter().map(f64::to_bits).collect())
}

/// The simulator with options.
fn simulator(options: &[(&str, &str)]) -> Session {
    let session = Client::load().unwrap().exclusive();
    for (name, value) in options {
        session.set(name, value).unwrap();
    }
    session
}

/// Launches the only kernel of a text, with arrays that begin `skipped` elements behind the start
/// of their memory. Returns the bytes of the outputs.
fn launch(session: &Session, text: &str, args: &[Data], skipped: usize) -> Vec<Vec<u8>> {
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let module = ptx.load(&parse(text).unwrap()).unwrap();
    let array = |ty: Ty, bytes: &[u8]| {
        let buffer = ptx.alloc(ty, skipped + bytes.len() / ty.size()).unwrap();
        ptx.write(&buffer, skipped, bytes).unwrap();
        buffer
    };
    let args: Vec<Arg> = args
        .iter()
        .map(|data| match data {
            Data::Scalar(x) => Arg::Scalar(Literal::I64(*x)),
            Data::Words(ty, all) => {
                let bytes: Vec<u8> = all.iter().flat_map(|x| x.to_ne_bytes()).collect();
                Arg::Array(array(*ty, &bytes), skipped)
            }
            Data::Bytes(ty, all) => Arg::Array(array(*ty, all), skipped),
            Data::Out(ty, length) => Arg::Array(ptx.alloc(*ty, skipped + length).unwrap(), skipped),
        })
        .collect();
    let launch = Launch { module: &module, kernel: 0, args: &args, tag: 1, work_items: None };
    ptx.launch(&launch).unwrap();
    ptx.sync().unwrap();
    assert!(session.findings().is_empty(), "{:?}", session.findings());
    args.iter()
        .filter_map(|arg| match arg {
            Arg::Scalar(_) => None,
            Arg::Array(buffer, at) => {
                let mut bytes = vec![0; (buffer.len() - at) * buffer.ty().size()];
                ptx.read(buffer, *at, &mut bytes).unwrap();
                Some(bytes)
            }
        })
        .collect()
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect()
}

/// The orders of blocks, and how many of them are executed at a time.
const ORDERS: [&[(&str, &str)]; 4] = [
    &[],
    &[("resident", "1")],
    &[("order", "reverse"), ("resident", "3")],
    &[("order", "random"), ("seed", "5"), ("resident", "40"), ("quantum", "64")],
];

const SCAN: &str = "\
kernel \"scan\"(v0: [TY], v1: i64, v2: [TY], v3: [TY]) over flat v1 at v4 {
  v5: TY = load v0[v4]
  v6: TY = scan add v5 total v3
} then {
  store v2[v4] = v6
}
";

/// More than 1024 tiles: groups of groups.
const MANY_ELEMENTS: usize = 2_500_001;

#[test]
fn a_scan_of_ints_is_right_in_every_order() {
    for order in ORDERS {
        let session = simulator(order);
        let args = [
            ints((0..MANY_ELEMENTS as i64).map(|x| x * 7 - 1_000_000)),
            Data::Scalar(MANY_ELEMENTS as i64),
            Data::Out(Ty::I64, MANY_ELEMENTS),
            Data::Out(Ty::I64, 1),
        ];
        let out = launch(&session, &SCAN.replace("TY", "i64"), &args, 0);
        let mut sum = 0i64;
        for (at, before) in words(&out[1]).into_iter().enumerate() {
            assert_eq!(before as i64, sum, "element {at} with {order:?}");
            sum += at as i64 * 7 - 1_000_000;
        }
        assert_eq!(words(&out[2]), [sum as u64]);
    }
}

#[test]
fn a_scan_of_floats_has_the_same_bits_in_every_order() {
    let args = [
        floats((0..MANY_ELEMENTS).map(|x| (x % 1013) as f64 * 0.1)),
        Data::Scalar(MANY_ELEMENTS as i64),
        Data::Out(Ty::F64, MANY_ELEMENTS),
        Data::Out(Ty::F64, 1),
    ];
    let mut first = None;
    for order in ORDERS {
        let session = simulator(order);
        let out = launch(&session, &SCAN.replace("TY", "f64"), &args, 0);
        let first = first.get_or_insert(out.clone());
        assert!(*first == out, "other bits with {order:?}");
    }
    let last = f64::from_bits(words(&first.unwrap()[2])[0]);
    let sum: f64 = (0..MANY_ELEMENTS).map(|x| (x % 1013) as f64 * 0.1).sum();
    assert!((last - sum).abs() < 1e-9 * sum, "{last} is not {sum}");
}

#[test]
fn segments_of_all_lengths() {
    let text = "\
kernel \"segments\"(v0: i64, v1: [i64], v2: [i64], v3: [i64], v4: [i64]) \
over segmented v0, v1 at v6, v7, v8 {
  v9: i64 = load v2[v8]
  v10: i64 = scan segment add v9
  reduce segment add v9 -> v3
} then {
  v11: i64 = mul v6, v7
  v12: i64 = add v10, v11
  store v4[v8] = v12
}
";
    // Empty segments, short and long ones, one of more than 32 tiles, and ends at those of tiles.
    let mut lengths: Vec<i64> = vec![0, 0, 2048, 0, 2047, 1, 2048 * 2, 0, 0, 150_000];
    lengths.extend((0..3000).map(|x| x * x % 61));
    lengths.extend([70_000, 0, 0, 1, 0]);
    let mut offsets = vec![0];
    for length in &lengths {
        offsets.push(offsets.last().unwrap() + length);
    }
    let count = *offsets.last().unwrap();
    let value = |x: i64| x * 31 % 17;
    let args = [
        Data::Scalar(lengths.len() as i64),
        ints(offsets.iter().copied()),
        ints((0..count).map(value)),
        Data::Out(Ty::I64, lengths.len()),
        Data::Out(Ty::I64, count as usize),
    ];
    for order in ORDERS {
        let options = [order, &[("check", "1")]].concat();
        let session = simulator(&options);
        let out = launch(&session, text, &args, 0);
        let (sums, scans) = (words(&out[2]), words(&out[3]));
        for (segment, sum) in sums.iter().enumerate() {
            let mut expected = 0;
            for at in offsets[segment]..offsets[segment + 1] {
                let position = at - offsets[segment];
                let scanned = scans[at as usize] as i64;
                assert_eq!(scanned, expected + segment as i64 * position, "element {at}");
                expected += value(at);
            }
            assert_eq!(*sum as i64, expected, "segment {segment} with {order:?}");
        }
    }
}

#[test]
fn arrays_may_begin_at_any_element() {
    let dot = "\
kernel \"dot\"(v0: [f64], v1: [f64], v2: i64, v3: [f64], v4: [f64]) over flat v2 at v5 {
  v6: f64 = load v0[v5]
  v7: f64 = load v1[v5]
  v8: f64 = mul v6, v7
  store v4[v5] = v8
  reduce add v8 -> v3
}
";
    let session = simulator(&[("check", "1")]);
    for count in [0, 1, 2, 3, 1000, 100_003] {
        let args = [
            floats((0..count).map(|x| x as f64 * 0.3)),
            floats((0..count).map(|x| 1.0 / (x + 1) as f64)),
            Data::Scalar(count),
            Data::Out(Ty::F64, 1),
            Data::Out(Ty::F64, count as usize),
        ];
        let aligned = launch(&session, dot, &args, 0);
        let skipped = launch(&session, dot, &args, 1);
        assert!(aligned[2..] == skipped[2..], "{count} elements");
        for (at, product) in words(&aligned[3]).into_iter().enumerate() {
            let expected = at as f64 * 0.3 * (1.0 / (at + 1) as f64);
            assert_eq!(f64::from_bits(product), expected);
        }
    }
    let chars = "\
kernel \"chars\"(v0: [u8], v1: i64, v2: [bool], v3: [i32]) over flat v1 at v4 {
  v5: u8 = load v0[v4]
  v6: i32 = convert v5
  v7: i32 = const 100
  v8: bool = lt v6, v7
  store v2[v4] = v8
  store v3[v4] = v6
}
";
    for (count, skipped) in [(0usize, 0), (5, 0), (4099, 0), (4099, 1), (4099, 3)] {
        let bytes: Vec<u8> = (0..count).map(|x| (x * 7) as u8).collect();
        let args = [
            Data::Bytes(Ty::U8, bytes.clone()),
            Data::Scalar(count as i64),
            Data::Out(Ty::Bool, count),
            Data::Out(Ty::I32, count),
        ];
        let out = launch(&session, chars, &args, skipped);
        let small: Vec<u8> = bytes.iter().map(|x| u8::from(*x < 100)).collect();
        let wide: Vec<u8> = bytes.iter().flat_map(|x| i32::from(*x).to_ne_bytes()).collect();
        assert_eq!((&out[1], &out[2]), (&small, &wide), "{count} elements behind {skipped}");
    }
}

#[test]
fn work_items_of_a_vector_have_their_own_indices() {
    let iota = "\
kernel \"iota\"(v0: i64, v1: [i64]) over flat v0 at v2 {
  store v1[v2] = v2
}
";
    let session = simulator(&[("check", "1")]);
    for count in [1usize, 2, 7, 5000] {
        let args = [Data::Scalar(count as i64), Data::Out(Ty::I64, count)];
        let out = launch(&session, iota, &args, 0);
        assert_eq!(words(&out[0]), (0..count as u64).collect::<Vec<_>>());
    }
}

/// A kernel whose launch fails.
const FAILING: &str = "\
kernel \"failing\"(v0: i64, v1: [i64]) over flat v0 at v2 {
  v3: bool = const false
  check v3 @3
  store v1[v2] = v2
}
";

/// Sinks of a kernel over a space with offsets `v1`, with the array `v2` of its elements and the arrays
/// `v3` and `v4` for results.
const BY_SEGMENT: [&str; 5] = [
    "reduce segment add v8 -> v3",
    "reduce add v8 -> v3",
    "v9: i64 = scan add v8 total v3",
    "v9: i64 = scan segment add v8 total v3",
    "pack v10 columns v8 -> v3 count v4",
];

/// A launch behind a failure does not read what the one that failed should have written, not even to
/// learn how many elements there are.
#[test]
fn launches_behind_a_failure_read_nothing() {
    for sink in BY_SEGMENT {
        let session = simulator(&[("check", "1")]);
        let ptx = Ptx::new(0, Options::default()).unwrap();
        let text = format!(
            "kernel \"k\"(v0: i64, v1: [i64], v2: [i64], v3: [i64], v4: [i64]) \
             over segmented v0, v1 at v5, v6, v7 {{\n  v8: i64 = load v2[v7]\n  \
             v10: bool = ge v8, v6\n  {sink}\n}}\n"
        );
        let segments = 100;
        let unwritten = [segments + 1, 5000, 5000, 5000].map(|n| ptx.alloc(Ty::I64, n).unwrap());
        let [offsets, ..] = &unwritten;
        let count = |count: usize| Arg::Scalar(Literal::I64(count as i64));
        let mut args = vec![count(segments)];
        args.extend(unwritten.iter().map(|array| Arg::Array(array.clone(), 0)));
        let launches =
            [(FAILING, vec![count(segments + 1), Arg::Array(offsets.clone(), 0)]), (&text, args)];
        for (tag, (text, args)) in (5..).zip(&launches) {
            let module = ptx.load(&parse(text).unwrap()).unwrap();
            let launch = Launch { module: &module, kernel: 0, args, tag, work_items: None };
            ptx.launch(&launch).unwrap();
        }
        let failure = ptx.sync().unwrap_err();
        assert!(matches!(failure, Failure::Program { tag: 5, .. }), "{sink}: {failure:?}");
        assert!(session.findings().is_empty(), "{sink}: {:?}", session.findings());
    }
}
