//! The costs of histograms on a simulated device; their results do not depend on it.

use nesl_runtime::kir::{Literal, Ty, parse};
use nesl_runtime::runtime::{Arg, Buffer, Launch, Options, Runtime};
use nesl_runtime_ptx::Ptx;
use nesl_sim::client::{Client, Session};
use nesl_sim::counters::KernelCounters;

/// The bytes of a sector.
const SECTOR_BYTES: u64 = 32;

/// The simulator for one test, with options.
fn simulator(options: &[(&str, &str)]) -> Session {
    let session = Client::load().unwrap().exclusive();
    for (name, value) in options {
        session.set(name, value).unwrap();
    }
    session
}

/// An array with these elements.
fn array<const SIZE: usize>(ptx: &Ptx, ty: Ty, elements: Vec<[u8; SIZE]>) -> Buffer {
    let array = ptx.alloc(ty, elements.len()).unwrap();
    ptx.write(&array, 0, elements.as_flattened()).unwrap();
    array
}

/// Launches the only kernel of a text over arrays of 8 bytes; returns the bits of the last one, and
/// what the launch cost.
fn launch(session: &Session, text: &str, count: usize, all: &[Buffer], ptx: &Ptx) -> Cost {
    let module = ptx.load(&parse(text).unwrap()).unwrap();
    let mut args = vec![Arg::Scalar(Literal::I64(count as i64))];
    args.extend(all.iter().map(|buffer| Arg::Array(buffer.clone(), 0)));
    ptx.sync().unwrap();
    session.clear();
    let launch = Launch { module: &module, kernel: 0, args: &args, tag: 1, work_items: None };
    ptx.launch(&launch).unwrap();
    let table = all.last().unwrap();
    let mut bytes = vec![0; table.len() * 8];
    ptx.read(table, 0, &mut bytes).unwrap();
    assert!(session.findings().is_empty(), "{:?}", session.findings());
    let words = bytes.chunks_exact(8).map(|word| i64::from_ne_bytes(word.try_into().unwrap()));
    Cost { table: words.collect(), counters: session.counters() }
}

/// The table after a launch, and what the launch cost.
struct Cost {
    table: Vec<i64>,
    counters: KernelCounters,
}

/// The bin of an item, of so many.
fn bin(item: usize, bins: usize) -> i64 {
    (item.wrapping_mul(0x9e37_79b9) >> 7) as i64 % bins as i64
}

const INTS: &str = "\
kernel \"histogram\"(v0: i64, v1: [i64], v2: [i64], v3: [i64]) over flat v0 at v4 {
  v5: i64 = load v1[v4]
  v6: i64 = load v2[v4]
  histogram add v6 -> v3[v5]
}
";

/// Sums of ints of which the lower halves carry, and that cancel.
fn addends(count: usize) -> Vec<i64> {
    (0..count as i64).map(|item| (item - 1000).wrapping_mul(0x7654_3210_1234)).collect()
}

/// The sums of ints by bins, and what they cost.
fn int_histogram(options: &[(&str, &str)], count: usize, bins: usize) -> Cost {
    let session = simulator(options);
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let addends = addends(count);
    let of_items = (0..count).map(|item| bin(item, bins).to_ne_bytes()).collect();
    let arrays = [
        array(&ptx, Ty::I64, of_items),
        array(&ptx, Ty::I64, addends.iter().map(|x| x.to_ne_bytes()).collect()),
        array(&ptx, Ty::I64, vec![7i64.to_ne_bytes(); bins]),
    ];
    let cost = launch(&session, INTS, count, &arrays, &ptx);
    let mut expected = vec![7i64; bins];
    for (item, addend) in addends.iter().enumerate() {
        let sum = &mut expected[bin(item, bins) as usize];
        *sum = sum.wrapping_add(*addend);
    }
    assert!(cost.table == expected, "{bins} bins");
    cost
}

/// A table that fits in shared memory is updated there: few updates reach global memory.
#[test]
fn histograms_of_ints_are_made_in_shared_memory() {
    let count = 1 << 18;
    for (bins, most) in [(1, count / 4), (100, count / 3), (400, count / 3), (100_000, count)] {
        let Cost { counters, .. } = int_histogram(&[], count, bins);
        // Updates in shared memory are requests there.
        let global = counters.atomic_operations - counters.shared_atomic_operations;
        assert!(global <= most as u64, "{bins} bins: {global} updates of global memory");
        let bytes = SECTOR_BYTES * counters.load_sectors;
        assert!(bytes <= 17 * count as u64, "{bins} bins: {bytes} bytes loaded");
    }
}

#[test]
fn histograms_of_ints_have_no_races() {
    for order in ["forward", "reverse", "random"] {
        for bins in [1, 33, 3000] {
            int_histogram(&[("check", "1"), ("order", order), ("seed", "3")], 40_000, bins);
        }
    }
}

const FLOATS: &str = "\
kernel \"histogram\"(v0: i64, v1: [i64], v2: [f64], v3: [f64]) over flat v0 at v4 {
  v5: i64 = load v1[v4]
  v6: f64 = load v2[v4]
  histogram add v6 -> v3[v5]
}
";

/// The sums of floats by bins, and what they cost.
fn float_histogram(options: &[(&str, &str)], count: usize, bins: usize) -> Cost {
    let session = simulator(options);
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let of_items = (0..count).map(|item| bin(item, bins).to_ne_bytes()).collect();
    let arrays = [
        array(&ptx, Ty::I64, of_items),
        array(&ptx, Ty::F64, (0..count).map(|x| (1.0 / (x + 1) as f64).to_ne_bytes()).collect()),
        array(&ptx, Ty::F64, vec![0f64.to_ne_bytes(); bins]),
    ];
    let cost = launch(&session, FLOATS, count, &arrays, &ptx);
    let sum: f64 = cost.table.iter().map(|bits| f64::from_bits(*bits as u64)).sum();
    let expected: f64 = (0..count).map(|x| 1.0 / (x + 1) as f64).sum();
    assert!((sum - expected).abs() < 1e-9, "{bins} bins: {sum}");
    cost
}

/// A histogram of floats stores a small multiple of its items and bins, and loads no more unless there
/// are many bins.
#[test]
fn histograms_of_floats_store_little() {
    let count = 100_000;
    for bins in [1, 100, 4096, 16_384] {
        let Cost { counters, .. } = float_histogram(&[], count, bins);
        let size = 16 * count as u64 + 8 * bins as u64;
        let stored = SECTOR_BYTES * counters.store_sectors;
        let loaded = SECTOR_BYTES * counters.load_sectors;
        assert!(stored <= 3 * size, "{bins} bins: {stored} bytes stored for {size}");
        let ranges = bins.div_ceil(4096) as u64;
        assert!(loaded <= (4 + ranges / 2) * size, "{bins} bins: {loaded} bytes loaded for {size}");
    }
}

/// The sums have the same bits whatever the device is, and in whatever order its blocks are
/// executed.
#[test]
fn histograms_of_floats_do_not_depend_on_the_device() {
    for bins in [1, 100, 5000, 40_000] {
        let options: [&[(&str, &str)]; 3] = [
            &[("check", "1")],
            &[("check", "1"), ("order", "random"), ("seed", "9")],
            &[("check", "1"), ("device", "t4"), ("order", "reverse")],
        ];
        let [first, others @ ..] =
            options.map(|options| float_histogram(options, 30_000, bins).table);
        assert!(others.iter().all(|other| *other == first), "{bins} bins");
    }
}

/// With far more bins than a range has, the notes are sorted: they are not read once for each range.
/// `NESL_COUNTERS=1` prints what it costs.
#[test]
fn histograms_of_floats_with_many_bins_are_bounded() {
    // Items, bins, and the most bytes and instructions for each of them.
    let cases = [
        (100_000, 16_384, 115.0, 770.0),
        (100_000, 28_672, 125.0, 1070.0),
        (100_000, 32_768, 175.0, 540.0),
        (100_000, 65_536, 150.0, 455.0),
        (100_000, 300_000, 90.0, 240.0),
        (100_000, 3_000_000, 43.0, 88.0),
        (4_000, 1_000_000, 43.0, 215.0),
        (1_000, 1_000_000, 43.0, 90.0),
    ];
    for (count, bins, most_bytes, most_instructions) in cases {
        let Cost { counters, .. } = float_histogram(&[], count, bins);
        let size = (count + bins) as f64;
        let moved = (SECTOR_BYTES * (counters.load_sectors + counters.store_sectors)) as f64 / size;
        let executed = counters.thread_instructions as f64 / size;
        if std::env::var_os("NESL_COUNTERS").is_some() {
            println!(
                "{count:>7} items {bins:>8} bins: {:>3} launches, {moved:>7.1} bytes and {executed:>8.1} \
                 instructions an item or bin",
                counters.launches
            );
        }
        assert!(moved <= most_bytes, "{count} items, {bins} bins: {moved} bytes");
        assert!(executed <= most_instructions, "{count} items, {bins} bins: {executed}");
    }
}
