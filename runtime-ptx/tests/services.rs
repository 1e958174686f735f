//! Services of the device on the simulator: equal to those of the host, bit by bit, with races looked
//! for, in three orders of blocks, and with as many launches and bytes as planned.

use nesl_runtime::kir::{Extern, Literal, Ty, parse};
use nesl_runtime::random::bits;
use nesl_runtime::runtime::{Arg, Buffer, Failure, Launch, Loaded, Options, Reason, Runtime};
use nesl_runtime::services::groups::{Elements, groups_into};
use nesl_runtime::services::sort::{CallingThread, Key, Order, rank_into, sort};
use nesl_runtime::services::text::{self, Texts};
use nesl_runtime::testkit::{self, cases};
use nesl_runtime_ptx::Ptx;
use nesl_sim::client::{Client, Session};
use std::fmt::Debug;

/// The options of the simulator in turn: three orders of blocks, of which few or many run at a time,
/// and the last with nothing done before somebody waits.
const ORDERS: [&[(&str, &str)]; 3] = [
    &[("check", "1")],
    &[("check", "1"), ("order", "reverse"), ("resident", "40"), ("quantum", "19")],
    &[("check", "1"), ("order", "random"), ("seed", "11"), ("defer", "1"), ("resident", "3")],
];

/// The simulator for one test, with options.
fn simulator(options: &[(&str, &str)]) -> Session {
    let session = Client::load().unwrap().exclusive();
    for (name, value) in options {
        session.set(name, value).unwrap();
    }
    session
}

/// A scalar of an array of the device.
trait Element: Copy + Debug {
    const TY: Ty;
    fn bytes(self) -> Vec<u8>;
}

macro_rules! elements {
    ($($ty:ty = $name:ident;)+) => {$(
        impl Element for $ty {
            const TY: Ty = Ty::$name;

            fn bytes(self) -> Vec<u8> {
                self.to_ne_bytes().to_vec()
            }
        }
    )+};
}

elements! { u8 = U8; i32 = I32; i64 = I64; f32 = F32; f64 = F64; }

fn bytes<T: Element>(elements: &[T]) -> Vec<u8> {
    elements.iter().flat_map(|x| x.bytes()).collect()
}

fn array<T: Element>(ptx: &Ptx, elements: &[T]) -> Buffer {
    let array = ptx.alloc(T::TY, elements.len()).unwrap();
    ptx.write(&array, 0, &bytes(elements)).unwrap();
    array
}

/// Loads the kernel of one work item that calls an intrinsic on keys, their number and more arrays.
fn service(ptx: &Ptx, intrinsic: &str, types: &[Ty]) -> Loaded {
    let params: Vec<String> =
        types.iter().zip(2..).map(|(ty, at)| format!("v{at}: [{ty}]")).collect();
    let others: Vec<String> = (3..types.len() + 2).map(|at| format!("v{at}")).collect();
    let text = format!(
        "kernel \"k\"(v0: i64, v1: i64, {}) over flat v0 at v{} {{\n  extern {intrinsic}(v2, v1, {})\n}}",
        params.join(", "),
        types.len() + 2,
        others.join(", "),
    );
    ptx.load(&parse(&text).unwrap()).unwrap()
}

fn launch(ptx: &Ptx, module: &Loaded, count: usize, arrays: &[&Buffer]) {
    let mut args = vec![Arg::Scalar(Literal::I64(1)), Arg::Scalar(Literal::I64(count as i64))];
    args.extend(arrays.iter().map(|array| Arg::Array((*array).clone(), 0)));
    ptx.launch(&Launch { module, kernel: 0, args: &args, tag: 1, work_items: Some(1) }).unwrap();
}

fn read(ptx: &Ptx, buffer: &Buffer) -> Vec<u8> {
    let mut bytes = vec![0; buffer.len() * buffer.ty().size()];
    ptx.read(buffer, 0, &mut bytes).unwrap();
    bytes
}

/// Sorts and ranks keys in both directions, and compares with the host.
fn check<T: Element + Key>(session: &Session, ptx: &Ptx, name: &str, keys: &[T]) {
    let from = array(ptx, keys);
    for (order, suffix) in [(Order::Up, "up"), (Order::Down, "down")] {
        let name = format!("{name}: {} {} {suffix}", keys.len(), T::TY);
        let out = ptx.alloc(T::TY, keys.len()).unwrap();
        let module = service(ptx, &format!("sort_{suffix}"), &[T::TY, T::TY]);
        launch(ptx, &module, keys.len(), &[&from, &out]);
        let mut sorted = Vec::with_capacity(keys.len());
        sort(keys, order, &mut sorted.spare_capacity_mut()[..keys.len()], &CallingThread(None))
            .unwrap();
        // SAFETY: the sort has written all elements.
        unsafe { sorted.set_len(keys.len()) };
        compare(session, &format!("sort of {name}"), &read(ptx, &out), &bytes(&sorted), T::TY);
        let out = ptx.alloc(Ty::I64, keys.len()).unwrap();
        let module = service(ptx, &format!("rank_{suffix}"), &[T::TY, Ty::I64]);
        launch(ptx, &module, keys.len(), &[&from, &out]);
        let mut ranks = Vec::new();
        rank_into(keys, order, &mut ranks, &CallingThread(None)).unwrap();
        compare(session, &format!("ranks of {name}"), &read(ptx, &out), &bytes(&ranks), Ty::I64);
    }
    assert_eq!(read(ptx, &from), bytes(keys), "{name}: the keys are kept");
}

fn compare(session: &Session, name: &str, got: &[u8], expected: &[u8], ty: Ty) {
    let findings = session.findings();
    assert!(findings.is_empty(), "{name}: {:?}", findings[0]);
    let size = ty.size();
    let differ = got.chunks(size).zip(expected.chunks(size)).position(|(a, b)| a != b);
    if let Some(at) = differ {
        let part = |all: &[u8]| all[at * size..].iter().take(4 * size).copied().collect::<Vec<_>>();
        panic!("{name}: element {at} differs: {:?}, not {:?}", part(got), part(expected));
    }
}

fn random(count: usize) -> impl Iterator<Item = u64> {
    (0..count).map(|i| bits(5, i as i64) as u64)
}

/// The sizes about the ends of warps, blocks and tiles.
const SIZES: [usize; 12] = [0, 1, 2, 31, 32, 33, 1023, 1024, 1025, 2048, 2049, 4097];

/// Groups ints, and compares with the host.
fn check_groups<T: Element>(session: &Session, ptx: &Ptx, name: &str, ints: &[T])
where
    [T]: Elements,
{
    let from = array(ptx, ints);
    let outs = [(); 2].map(|()| ptx.alloc(Ty::I64, ints.len()).unwrap());
    let module = service(ptx, "groups", &[T::TY, Ty::I64, Ty::I64]);
    launch(ptx, &module, ints.len(), &[&from, &outs[0], &outs[1]]);
    let (mut last, mut count) = (Vec::new(), Vec::new());
    groups_into(ints, &mut last, &mut count, &CallingThread(None)).unwrap();
    for (out, expected) in outs.iter().zip([last, count]) {
        let name = format!("groups of {name}: {} {}", ints.len(), T::TY);
        compare(session, &name, &read(ptx, out), &bytes(&expected), Ty::I64);
    }
}

/// Groups texts, and compares with the host.
fn check_text_groups(session: &Session, ptx: &Ptx, name: &str, texts: &[Vec<u8>]) {
    let mut starts = Vec::new();
    let mut chars = vec![b'?'];
    for text in texts {
        starts.push(chars.len() as i64);
        chars.extend(text);
    }
    let lengths: Vec<i64> = texts.iter().map(|text| text.len() as i64).collect();
    let (starts_on, lengths_on) = (array(ptx, &starts), array(ptx, &lengths));
    let chars_on = array(ptx, &chars);
    let outs = [(); 2].map(|()| ptx.alloc(Ty::I64, texts.len()).unwrap());
    let types = [Ty::I64, Ty::I64, Ty::U8, Ty::I64, Ty::I64];
    let module = service(ptx, "text_groups", &types);
    launch(ptx, &module, texts.len(), &[&starts_on, &lengths_on, &chars_on, &outs[0], &outs[1]]);
    // SAFETY: the texts lie in `chars`, which nobody writes.
    let texts_at = unsafe { Texts::new(&starts, &lengths, chars.as_ptr()) };
    let (mut last, mut count) = (Vec::new(), Vec::new());
    groups_into(&texts_at, &mut last, &mut count, &CallingThread(None)).unwrap();
    for (out, expected) in outs.iter().zip([last, count]) {
        let name = format!("groups of {name}: {} texts", texts.len());
        compare(session, &name, &read(ptx, out), &bytes(&expected), Ty::I64);
    }
}

#[test]
fn the_cases_of_the_kit() {
    for options in ORDERS {
        let session = simulator(options);
        let ptx = Ptx::new(0, Options::default()).unwrap();
        let mut executed = 0;
        for case in cases().into_iter().filter(|case| case.text.contains("extern")) {
            if let Err(Failure::Unsupported(_)) = ptx.load(&case.module()) {
                continue;
            }
            executed += 1;
            if let Err(why) = testkit::check(&case, &ptx) {
                panic!("{}: {why}\n{}", case.name, case.text);
            }
            assert!(session.findings().is_empty(), "{}: {:?}", case.name, session.findings());
        }
        assert!(executed >= 24, "only {executed} cases were executed");
    }
}

#[test]
fn sorts_of_any_size() {
    for options in ORDERS {
        let session = simulator(options);
        let ptx = Ptx::new(0, Options::default()).unwrap();
        for size in SIZES {
            let ints: Vec<i64> = random(size).map(|x| x as i64).collect();
            check(&session, &ptx, "random", &ints);
            check(&session, &ptx, "random", &ints.iter().map(|x| *x as i32).collect::<Vec<_>>());
            check(&session, &ptx, "random", &ints.iter().map(|x| *x as u8).collect::<Vec<_>>());
        }
    }
}

#[test]
fn groups_of_any_size() {
    for options in ORDERS {
        let session = simulator(options);
        let ptx = Ptx::new(0, Options::default()).unwrap();
        for size in SIZES {
            for modulus in [1, 7, 1000, u64::MAX] {
                let ints: Vec<i64> = random(size).map(|x| (x % modulus) as i64).collect();
                let name = format!("random modulo {modulus}");
                check_groups(&session, &ptx, &name, &ints);
                let narrow: Vec<i32> = ints.iter().map(|x| *x as i32).collect();
                check_groups(&session, &ptx, &name, &narrow);
            }
        }
        let extremes = [i64::MAX, 0, -1, i64::MIN, 0, i64::MAX, 1, -1];
        check_groups(&session, &ptx, "extremes", &extremes);
    }
}

/// Texts of 0 to 40 chars, of which many are equal, and many differ in one char only.
fn texts(count: usize) -> Vec<Vec<u8>> {
    random(count)
        .map(|x| {
            let mut text = vec![b'a'; (x % 41) as usize];
            if let Some(char) = text.get_mut((x >> 8) as usize % 41) {
                *char = b'a' + (x >> 16) as u8 % 3;
            }
            text
        })
        .collect()
}

#[test]
fn groups_of_texts() {
    for options in ORDERS {
        let session = simulator(options);
        let ptx = Ptx::new(0, Options::default()).unwrap();
        for size in [0, 1, 2, 33, 1025, 3000] {
            check_text_groups(&session, &ptx, "random", &texts(size));
            check_text_groups(&session, &ptx, "equal", &vec![b"same".to_vec(); size]);
        }
    }
}

/// Hashes and comparisons within an ordinary kernel, for texts of every length about the ends of
/// words.
#[test]
fn hashes_and_comparisons_of_texts() {
    let code = "\
kernel \"k\"(v0: i64, v1: [u8], v2: [i64], v3: [i64], v4: i64, v5: [i64], v6: [bool]) over flat v0 at v7 {
  v8: i64 = load v2[v7]
  v9: i64 = load v3[v7]
  v10: [u8] = slice v1[v8..]
  v11: i64 = extern hash_text(v10, v9, v4)
  store v5[v7] = v11
  v12: i64 = const 0
  v13: i64 = load v2[v12]
  v14: i64 = load v3[v12]
  v15: [u8] = slice v1[v13..]
  v16: bool = extern same_text(v10, v9, v15, v14)
  store v6[v7] = v16
}
";
    let mut all: Vec<Vec<u8>> = (0..70).map(|length| (0..length as u8).collect()).collect();
    all.extend([vec![7; 33], vec![7; 33], vec![7; 32]]);
    all.extend((0..33).map(|at| (0..33).map(|i| if i == at { 8 } else { 7 }).collect()));
    all.reverse();
    all.swap(0, 34);
    let (mut starts, mut chars) = (Vec::new(), vec![b'?'; 3]);
    for text in &all {
        starts.push(chars.len() as i64);
        chars.extend(text);
    }
    let lengths: Vec<i64> = all.iter().map(|text| text.len() as i64).collect();
    for options in ORDERS {
        let session = simulator(options);
        let ptx = Ptx::new(0, Options::default()).unwrap();
        let module = ptx.load(&parse(code).unwrap()).unwrap();
        for salt in [0, -1, 0x1234_5678_9abc_def0] {
            let arrays = [array(&ptx, &starts), array(&ptx, &lengths)];
            let hashes = ptx.alloc(Ty::I64, all.len()).unwrap();
            let same = ptx.alloc(Ty::Bool, all.len()).unwrap();
            let args = [
                Arg::Scalar(Literal::I64(all.len() as i64)),
                Arg::Array(array(&ptx, &chars), 0),
                Arg::Array(arrays[0].clone(), 0),
                Arg::Array(arrays[1].clone(), 0),
                Arg::Scalar(Literal::I64(salt)),
                Arg::Array(hashes.clone(), 0),
                Arg::Array(same.clone(), 0),
            ];
            let launch =
                Launch { module: &module, kernel: 0, args: &args, tag: 1, work_items: None };
            ptx.launch(&launch).unwrap();
            let expected: Vec<i64> = all.iter().map(|text| text::hash(text, salt)).collect();
            compare(&session, "hashes", &read(&ptx, &hashes), &bytes(&expected), Ty::I64);
            let expected: Vec<u8> = all.iter().map(|text| u8::from(*text == all[0])).collect();
            assert!(expected.iter().sum::<u8>() > 1, "some texts are equal");
            compare(&session, "comparisons", &read(&ptx, &same), &expected, Ty::Bool);
        }
    }
}

/// Ints in many orders, and with many or few different values.
fn ints(count: usize) -> Vec<(&'static str, Vec<i64>)> {
    let any: Vec<i64> = random(count).map(|x| x as i64).collect();
    let mut sorted = any.clone();
    sorted.sort_unstable();
    let mut far = random(count).map(|x| (x % 200) as i64).collect::<Vec<_>>();
    far[count / 2] = i64::MIN;
    far[count / 3] = i64::MAX;
    vec![
        ("random", any.clone()),
        ("reversed", sorted.iter().rev().copied().collect()),
        ("sorted", sorted),
        ("equal", vec![-3; count]),
        ("of few values", any.iter().map(|x| x % 3).collect()),
        ("of one middle digit", any.iter().map(|x| x & 0xff00_0000).collect()),
        ("far apart", far),
    ]
}

/// Floats, among them zeros, infinities and NaNs of different signs and bits.
fn floats(count: usize) -> Vec<(&'static str, Vec<f64>)> {
    let special = [
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        -f64::NAN,
        f64::from_bits(0x7ff0_0000_0000_0001),
        f64::from_bits(0xfff8_0000_dead_beef),
        f64::MIN_POSITIVE,
        -5e-324,
        1.5,
        -1.5,
    ];
    vec![
        ("of any bits", random(count).map(f64::from_bits).collect()),
        ("special", random(count).map(|x| special[x as usize % special.len()]).collect()),
    ]
}

#[test]
fn sorts_of_many_orders() {
    let session = simulator(ORDERS[2]);
    let ptx = Ptx::new(0, Options::default()).unwrap();
    for count in [1500, 10_000] {
        for (name, keys) in ints(count) {
            check(&session, &ptx, name, &keys);
            let narrow: Vec<i32> = keys.iter().map(|x| *x as i32).collect();
            check(&session, &ptx, name, &narrow);
        }
        for (name, keys) in floats(count) {
            check(&session, &ptx, name, &keys);
            // Half of the bits of a NaN may be those of infinity: any bits will do.
            let bits = keys.iter().map(|x| (x.to_bits() >> 32) as u32 ^ x.to_bits() as u32);
            check(&session, &ptx, name, &bits.map(f32::from_bits).collect::<Vec<_>>());
            check(&session, &ptx, name, &keys.iter().map(|x| *x as f32).collect::<Vec<_>>());
        }
    }
}

#[test]
fn sorts_of_many_keys() {
    let session = simulator(ORDERS[1]);
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let count = 100_000;
    check(&session, &ptx, "random", &random(count).map(|x| x as i64).collect::<Vec<_>>());
    check(&session, &ptx, "random", &random(count).map(|x| x as i32).collect::<Vec<_>>());
    check(&session, &ptx, "random", &random(count).map(|x| x as u8).collect::<Vec<_>>());
    check(&session, &ptx, "any bits", &random(count).map(f64::from_bits).collect::<Vec<_>>());
    let narrow = random(count).map(|x| f32::from_bits(x as u32));
    check(&session, &ptx, "any bits", &narrow.collect::<Vec<_>>());
    let few: Vec<i64> = random(count).map(|x| (x % 5000) as i64).collect();
    check_groups(&session, &ptx, "few", &few);
}

/// Nothing that comes behind a failure has an effect.
#[test]
fn services_behind_a_failure_write_nothing() {
    let session = simulator(ORDERS[0]);
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let failing = "\
kernel \"f\"(v0: i64) over flat v0 at v1 {
  v2: bool = const false
  check v2 @3
}
";
    let failing = ptx.load(&parse(failing).unwrap()).unwrap();
    let keys: Vec<i64> = random(5000).map(|x| x as i64).collect();
    let (from, out) = (array(&ptx, &keys), array(&ptx, &vec![7i64; 5000]));
    let sort = service(&ptx, "sort_up", &[Ty::I64, Ty::I64]);
    let few = array(&ptx, &[7i64; 3]);
    let args = [Arg::Scalar(Literal::I64(1))];
    let launch_failing =
        Launch { module: &failing, kernel: 0, args: &args, tag: 5, work_items: None };
    ptx.launch(&launch_failing).unwrap();
    launch(&ptx, &sort, 5000, &[&from, &out]);
    launch(&ptx, &sort, 3, &[&from, &few]);
    let failure = ptx.sync().unwrap_err();
    assert!(matches!(failure, Failure::Program { tag: 5, .. }), "{failure:?}");
    assert_eq!(read(&ptx, &out), bytes(&vec![7i64; 5000]));
    assert_eq!(read(&ptx, &few), bytes(&[7i64; 3]));
    assert!(session.findings().is_empty(), "{:?}", session.findings());
}

/// The launches of a service, and the bytes for each element that it loads, and stores, to a tenth.
fn cost<T: Element>(session: &Session, intrinsic: &str, keys: &[T], results: &[Ty]) -> [u64; 3] {
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let from = array(&ptx, keys);
    let outs: Vec<Buffer> = results.iter().map(|ty| ptx.alloc(*ty, keys.len()).unwrap()).collect();
    let mut types = vec![T::TY];
    types.extend(results);
    let module = service(&ptx, intrinsic, &types);
    ptx.sync().unwrap();
    session.clear();
    let mut arrays = vec![&from];
    arrays.extend(&outs);
    launch(&ptx, &module, keys.len(), &arrays);
    ptx.sync().unwrap();
    let (counters, host) = (session.counters(), session.host_counters());
    assert_eq!(host.reads, 0, "the host learns nothing on the way");
    let tenths = |bytes: u64| 10 * bytes / keys.len() as u64;
    let stored = 32 * counters.store_sectors + host.fill_bytes;
    [counters.launches, tenths(32 * counters.load_sectors), tenths(stored)]
}

/// A sort reads all keys once to count their digits, and then reads and writes them once for each
/// digit in which they differ: at least 8 · 9 bytes are read, and 8 · 8 written.
#[test]
fn launches_and_bytes() {
    let session = simulator(&[]);
    let any: Vec<i64> = random(100_000).map(|x| x as i64).collect();
    let small: Vec<i64> = any.iter().map(|x| x & 0xffff).collect();
    let cost = |intrinsic, keys: &[i64], results: &[Ty]| cost(&session, intrinsic, keys, results);
    assert_eq!(cost("sort_up", &any, &[Ty::I64]), [9, 842, 909]);
    assert_eq!(cost("sort_up", &small, &[Ty::I64]), [9, 281, 233]);
    assert_eq!(cost("sort_up", &any[..2048], &[Ty::I64]), [1, 81, 80]);
    assert_eq!(cost("rank_up", &any, &[Ty::I64]), [9, 1144, 1688]);
    assert_eq!(cost("groups", &any, &[Ty::I64, Ty::I64]), [2, 979, 560]);
}

/// Arguments may be parts of arrays, and a kernel without work items does nothing.
#[test]
fn parts_of_arrays() {
    let session = simulator(ORDERS[0]);
    let ptx = Ptx::new(0, Options::default()).unwrap();
    for count in [100, 5000] {
        let keys: Vec<u8> = random(count + 7).map(|x| x as u8).collect();
        let (from, out) = (array(&ptx, &keys), array(&ptx, &vec![9u8; count + 3]));
        let module = service(&ptx, "sort_up", &[Ty::U8, Ty::U8]);
        let mut args = [
            Arg::Scalar(Literal::I64(0)),
            Arg::Scalar(Literal::I64(count as i64)),
            Arg::Array(from, 7),
            Arg::Array(out.clone(), 3),
        ];
        let mut expected = vec![9; count + 3];
        for work_items in [0, 1] {
            args[0] = Arg::Scalar(Literal::I64(work_items));
            let part = Launch { module: &module, kernel: 0, args: &args, tag: 1, work_items: None };
            ptx.launch(&part).unwrap();
            if work_items == 1 {
                expected[3..].copy_from_slice(&keys[7..]);
                expected[3..].sort_unstable();
            }
            compare(&session, "part", &read(&ptx, &out), &expected, Ty::U8);
        }
    }
}

/// A kernel that does more than call one service is refused, and says which intrinsic it is for.
#[test]
fn sorts_of_work_items_are_refused() {
    let _session = simulator(ORDERS[0]);
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let text = "\
kernel \"k\"(v0: i64, v1: [i64], v2: [i64], v3: i64) over flat v0 at v4 {
  v5: i64 = mul v4, v3
  v6: [i64] = slice v1[v5..]
  v7: [i64] = slice v2[v5..]
  extern sort_up(v6, v3, v7)
}
";
    let refused = ptx.load(&parse(text).unwrap()).map(|_| ());
    let reason = Reason::Intrinsic(Extern::SortUp);
    assert!(matches!(&refused, Err(Failure::Unsupported(why)) if *why == reason), "{refused:?}");
}
