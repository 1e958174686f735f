//! Golden counters: the launches, instructions and memory sectors of typical kernels on a simulated
//! device, exact to the last one. A change that makes generated code worse fails here, without a GPU.
//!
//! `NESL_COUNTERS=1 cargo test -p nesl-runtime-ptx --test counters -- --nocapture` prints the table.

mod typical;

use nesl_runtime::kir::inline::{Limits, inline};
use nesl_runtime::kir::{Literal, Op, Ty, parse, walk};
use nesl_runtime::runtime::{Arg, Buffer, Launch, Options, Runtime};
use nesl_runtime_ptx::Ptx;
use nesl_sim::client::{Client, Session};
use nesl_sim::counters::KernelCounters;
use typical::{BLACK_SCHOLES, COLUMNS, DOT, MAP, PACK, REDUCE, ROWS, SCAN, SEGMENTS, of_type};

/// The bytes of a sector.
const SECTOR_BYTES: u64 = 32;

/// The number of elements of the arrays.
const LENGTH: usize = 1 << 19;

/// An argument of a kernel.
enum Data {
    Scalar(i64),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    /// An array of so many elements of 8 bytes, for a result.
    Out(Ty, usize),
}

/// A launch on the simulated device, with its counters and the arrays after it, as bits.
struct Measured {
    counters: KernelCounters,
    arrays: Vec<Vec<i64>>,
}

/// The simulator for one test, without the search for races.
fn simulator() -> Session {
    Client::load().unwrap().exclusive()
}

fn write(ptx: &Ptx, ty: Ty, bytes: Vec<[u8; 8]>) -> Buffer {
    let buffer = ptx.alloc(ty, bytes.len()).unwrap();
    ptx.write(&buffer, 0, bytes.as_flattened()).unwrap();
    buffer
}

/// Launches the only kernel of a text.
fn launch(session: &Session, text: &str, args: &[Data]) -> Measured {
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let module = ptx.load(&parse(text).unwrap()).unwrap();
    let args: Vec<Arg> = args
        .iter()
        .map(|data| match data {
            Data::Scalar(x) => Arg::Scalar(Literal::I64(*x)),
            Data::Ints(all) => {
                let bytes = all.iter().map(|x| x.to_ne_bytes()).collect();
                Arg::Array(write(&ptx, Ty::I64, bytes), 0)
            }
            Data::Floats(all) => {
                let bytes = all.iter().map(|x| x.to_ne_bytes()).collect();
                Arg::Array(write(&ptx, Ty::F64, bytes), 0)
            }
            Data::Out(ty, length) => Arg::Array(ptx.alloc(*ty, *length).unwrap(), 0),
        })
        .collect();
    // The first launch also takes memory for the states of tiles.
    for _ in 0..2 {
        ptx.sync().unwrap();
        session.clear();
        let launch = Launch { module: &module, kernel: 0, args: &args, tag: 1, work_items: None };
        ptx.launch(&launch).unwrap();
    }
    ptx.sync().unwrap();
    let counters = session.counters();
    let fills = session.host_counters().fills;
    assert_eq!(fills, 0, "nothing is cleared for a launch");
    assert!(session.findings().is_empty(), "{:?}", session.findings());
    let arrays = args
        .iter()
        .filter_map(|arg| match arg {
            Arg::Scalar(_) => None,
            Arg::Array(buffer, _) => {
                let mut bytes = vec![0; 8 * buffer.len()];
                ptx.read(buffer, 0, &mut bytes).unwrap();
                let words = bytes.chunks_exact(8);
                Some(words.map(|word| i64::from_ne_bytes(word.try_into().unwrap())).collect())
            }
        })
        .collect();
    Measured { counters, arrays }
}

impl Measured {
    /// Bytes that moved between memory and multiprocessors, by whole sectors.
    fn bytes(&self) -> u64 {
        SECTOR_BYTES * (self.counters.load_sectors + self.counters.store_sectors)
    }

    /// Prints the counters per element, if that is asked for.
    fn report(&self, name: &str, elements: usize) {
        if std::env::var_os("NESL_COUNTERS").is_none() {
            return;
        }
        let c = &self.counters;
        let per = |x: u64| x as f64 / elements as f64;
        println!(
            "{name:<24} launches {} bytes {:6.2} load {:6.2} store {:6.2} efficiency {:5.3} \
             instructions {:7.2} (warp {:6.3}) shared {:.3} conflicts {:.3} atomics {} lanes {:.3}",
            c.launches,
            per(self.bytes()),
            per(SECTOR_BYTES * c.load_sectors),
            per(SECTOR_BYTES * c.store_sectors),
            c.sector_efficiency(),
            per(c.thread_instructions),
            per(c.warp_instructions),
            per(c.shared_requests),
            per(c.bank_conflict_cycles),
            c.atomic_operations,
            c.lane_use(),
        );
    }

    /// Asserts one launch, an efficiency of sectors of at least 95 %, at most 5 % more bytes than
    /// these for each element, and at most so many instructions.
    fn check(&self, name: &str, elements: usize, bytes: f64, instructions: f64) {
        self.report(name, elements);
        let c = &self.counters;
        assert_eq!(c.launches, 1, "{name}: launches");
        assert!(c.sector_efficiency() >= 0.95, "{name}: efficiency {}", c.sector_efficiency());
        let moved = self.bytes() as f64 / elements as f64;
        assert!(moved <= 1.05 * bytes, "{name}: {moved} bytes an element instead of {bytes}");
        let executed = c.thread_instructions as f64 / elements as f64;
        assert!(executed <= instructions, "{name}: {executed} instructions an element");
    }
}

fn ints(length: usize) -> Vec<i64> {
    (0..length as i64).map(|i| i.wrapping_mul(0x1e37_79b9_7f4a_7c15) >> 40).collect()
}

fn floats(length: usize) -> Vec<f64> {
    ints(length).into_iter().map(|i| i as f64 * 0.1).collect()
}

#[test]
fn elementwise_and_reductions() {
    let session = simulator();
    let n = LENGTH;
    let count = Data::Scalar(n as i64);
    let args = [Data::Floats(floats(n)), Data::Floats(floats(n)), count, Data::Out(Ty::F64, 1)];
    launch(&session, DOT, &args).check("dot", n, 16.0, 21.0);
    let args = [Data::Floats(floats(n)), Data::Scalar(n as i64), Data::Out(Ty::F64, n)];
    launch(&session, MAP, &args).check("map", n, 16.0, 8.5);
    let args = [Data::Ints(ints(n)), Data::Scalar(n as i64), Data::Out(Ty::I64, 1)];
    launch(&session, &of_type(REDUCE, "i64"), &args).check("reduce i64", n, 8.0, 17.5);
    let args = [Data::Floats(floats(n)), Data::Scalar(n as i64), Data::Out(Ty::F64, 1)];
    launch(&session, &of_type(REDUCE, "f64"), &args).check("reduce f64", n, 8.0, 18.5);
}

#[test]
fn scans() {
    let session = simulator();
    let n = LENGTH;
    let out = |ty| [Data::Scalar(n as i64), Data::Out(ty, n), Data::Out(ty, 1)];
    let args: Vec<Data> = std::iter::once(Data::Ints(ints(n))).chain(out(Ty::I64)).collect();
    let int = launch(&session, &of_type(SCAN, "i64"), &args);
    let mut sum = 0;
    for (x, before) in ints(n).iter().zip(&int.arrays[1]) {
        assert_eq!(sum, *before);
        sum += x;
    }
    assert_eq!(int.arrays[2], [sum]);
    int.check("scan i64", n, 16.0, 29.0);
    let args: Vec<Data> = std::iter::once(Data::Floats(floats(n))).chain(out(Ty::F64)).collect();
    launch(&session, &of_type(SCAN, "f64"), &args).check("scan f64", n, 16.0, 29.0);
}

#[test]
fn packs() {
    let session = simulator();
    let n = LENGTH;
    let all = ints(n);
    let kept: Vec<i64> = all.iter().copied().filter(|x| *x > 0).collect();
    let args =
        [Data::Ints(all), Data::Scalar(n as i64), Data::Out(Ty::I64, n), Data::Out(Ty::I64, 1)];
    let pack = launch(&session, PACK, &args);
    assert_eq!(pack.arrays[2], [kept.len() as i64]);
    assert_eq!(pack.arrays[1][..kept.len()], kept);
    let least = 8.0 + 8.0 * kept.len() as f64 / n as f64;
    pack.check("pack", n, least, 26.5);
}

/// The shapes of the matrices in the benchmarks, with an eighth of the elements.
const SHAPES: [(usize, usize); 3] = [(64, 8192), (512, 1024), (8192, 64)];

#[test]
fn rows_and_columns() {
    let session = simulator();
    for (rows, columns) in SHAPES {
        let n = rows * columns;
        let sizes = || [Data::Scalar(rows as i64), Data::Scalar(columns as i64)];
        let ones = || Data::Floats(vec![1.0; n]);
        let check = |name: &str, measured: Measured, sum: usize| {
            let sums = measured.arrays.last().unwrap();
            assert!(sums.iter().all(|x| f64::from_bits(*x as u64) == sum as f64));
            measured.report(&format!("{name} {rows} by {columns}"), n);
            assert_eq!(measured.counters.launches, 1);
            measured.counters
        };
        let args = sizes().into_iter().chain([ones(), Data::Out(Ty::F64, rows)]);
        let regular = check("rows", launch(&session, ROWS, &args.collect::<Vec<_>>()), columns);
        let offsets = (0..=rows).map(|row| (row * columns) as i64).collect();
        let args =
            [Data::Scalar(rows as i64), Data::Ints(offsets), ones(), Data::Out(Ty::F64, rows)];
        let ragged = check("segments", launch(&session, SEGMENTS, &args), columns);
        let args = sizes().into_iter().chain([ones(), Data::Out(Ty::F64, columns)]);
        let down = check("columns", launch(&session, COLUMNS, &args.collect::<Vec<_>>()), rows);
        // The loads are the same. The results of a tile, or of a warp's part of it, are in sectors of
        // their own, and so is the state that a tile publishes.
        assert!(regular.load_sectors * 100 <= down.load_sectors * 105);
        let (results, tiles) = (8 * rows as u64 / SECTOR_BYTES, n as u64 / 2048);
        assert!(
            regular.store_sectors <= results + 2 * (tiles + tiles / 16).min(rows as u64) + tiles
        );
        let sectors = |counters: &KernelCounters| counters.load_sectors + counters.store_sectors;
        let (across, along) = (sectors(&regular), sectors(&down));
        assert!(across * 100 <= along * 105 && along * 100 <= across * 105, "{across}, {along}");
        let least = (8 * n as u64) / SECTOR_BYTES + results;
        assert!(sectors(&regular) * 100 <= least * 105);
        // Tiles look for their first segments, and read the offsets behind them.
        assert!(sectors(&ragged) * 100 <= (least + results) * 107);
        // Most chunks of a warp are of one segment if segments are long.
        let (of_regular, of_ragged) = match columns {
            64 => (16, 52),
            1024 => (9, 31),
            _ => (26, 31),
        };
        assert!(regular.thread_instructions <= of_regular * n as u64);
        assert!(ragged.thread_instructions <= of_ragged * n as u64);
    }
}

/// Equal rows: short ones lie in tiles, others are taken by some lanes of a warp, or all of them.
#[test]
fn short_rows() {
    let session = simulator();
    let n = 1 << 17;
    for (length, most_bytes, most_instructions) in [
        (1, 16.3, 56.0),
        (4, 10.3, 48.5),
        (7, 9.5, 47.5),
        (8, 9.3, 47.0),
        (16, 8.9, 23.5),
        (32, 8.6, 16.5),
        (64, 8.4, 14.5),
        (1000, 8.2, 7.5),
    ] {
        let rows = n / length;
        let values: Vec<f64> = (0..rows * length).map(|at| (at % 11) as f64).collect();
        let sums: Vec<f64> = values.chunks(length).map(|row| row.iter().sum()).collect();
        let args = [
            Data::Scalar(rows as i64),
            Data::Scalar(length as i64),
            Data::Floats(values),
            Data::Out(Ty::F64, rows),
        ];
        let measured = launch(&session, ROWS, &args);
        let found = measured.arrays[1].iter().map(|x| f64::from_bits(*x as u64));
        assert!(found.eq(sums), "rows of {length}");
        assert_eq!(measured.counters.launches, 1);
        measured.report(&format!("rows of {length}"), rows * length);
        let per = |x: u64| x as f64 / (rows * length) as f64;
        assert!(per(measured.bytes()) <= most_bytes, "rows of {length}");
        assert!(per(measured.counters.thread_instructions) <= most_instructions);
    }
}

#[test]
fn skewed_segments() {
    let session = simulator();
    let n = LENGTH;
    // Lengths from 0 on, each segment a little longer, and one with half of all elements.
    let mut offsets = vec![0, n as i64 / 2];
    while offsets[offsets.len() - 1] < n as i64 {
        let next = offsets[offsets.len() - 1] + offsets.len() as i64 % 97;
        offsets.push(next.min(n as i64));
    }
    let segments = offsets.len() - 1;
    let lengths: Vec<i64> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let args = [
        Data::Scalar(segments as i64),
        Data::Ints(offsets),
        Data::Floats(vec![1.0; n]),
        Data::Out(Ty::F64, segments),
    ];
    let measured = launch(&session, SEGMENTS, &args);
    for (sum, length) in measured.arrays[2].iter().zip(lengths) {
        assert_eq!(f64::from_bits(*sum as u64), length as f64);
    }
    measured.report("segments, skewed", n);
    assert_eq!(measured.counters.launches, 1);
    let least = (8 * n + 16 * segments) as u64;
    assert!(measured.bytes() * 100 <= least * 110);
    assert!(measured.counters.thread_instructions <= 43 * n as u64);
}

#[test]
fn straight_line_arithmetic() {
    let session = simulator();
    let n = LENGTH / 4;
    let text = BLACK_SCHOLES;
    let (module, _) = inline(&parse(text).unwrap(), Limits::ALL_CALLEES);
    let mut operations = 0;
    walk::each_inst(&module.kernels[0].stages[0].body, &mut |inst| {
        operations += u64::from(!matches!(inst.op, Op::Const(_)));
    });
    let column = || Data::Floats(floats(n).into_iter().map(|x| x.abs() + 1.0).collect());
    let args = [
        Data::Scalar(n as i64),
        column(),
        column(),
        column(),
        Data::Out(Ty::F64, n),
        Data::Out(Ty::F64, n),
    ];
    let measured = launch(&session, text, &args);
    let ratio = measured.counters.thread_instructions as f64 / (operations * n as u64) as f64;
    if std::env::var_os("NESL_COUNTERS").is_some() {
        println!("black-scholes: {operations} operations, {ratio:.3} instructions for each");
    }
    measured.check("black-scholes", n, 40.0, 1.2 * operations as f64);
}

/// The instructions of newer devices save others. The results are the same, and so are the bytes but
/// for the parameters that each warp reads.
#[test]
fn newer_devices() {
    let session = simulator();
    let n = LENGTH;
    let on = |device: &str, name: &str, text: &str, args: &[Data], elements: usize| {
        session.set("device", device).unwrap();
        let measured = launch(&session, text, args);
        measured.report(&format!("{name}, {device}"), elements);
        session.reset_device();
        measured
    };
    let per = |measured: &Measured, elements: usize| {
        measured.counters.thread_instructions as f64 / elements as f64
    };
    let args = [Data::Floats(floats(n)), Data::Scalar(n as i64), Data::Out(Ty::F64, n)];
    let [narrow, wide] = ["h100", "b200"].map(|device| on(device, "map", MAP, &args, n));
    assert!(narrow.arrays == wide.arrays);
    assert!(100 * wide.bytes() <= 101 * narrow.bytes());
    assert!(per(&wide, n) <= 0.86 * per(&narrow, n), "{} instructions", per(&wide, n));
    let few = 1 << 15;
    let args = [Data::Ints(ints(few)), Data::Scalar(few as i64), Data::Out(Ty::I64, 1)];
    let text = of_type(REDUCE, "i64");
    let [base, newer] = ["t4", "h100"].map(|device| on(device, "reduce i64", &text, &args, few));
    assert!(base.arrays == newer.arrays);
    assert!(newer.counters.collectives < base.counters.collectives);
}
