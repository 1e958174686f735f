//! Sums of segments of many kinds of lengths, on a simulated device: the code that is emitted beside
//! kernels written by hand that give each segment a thread, a warp or a block.
//!
//! `cargo test -p nesl-runtime-ptx --test segments -- --nocapture` prints the table of the design notes.

use nesl_runtime::kir::{Literal, Ty, parse};
use nesl_runtime::runtime::{Arg, Launch, Options, Runtime};
use nesl_runtime_ptx::Ptx;
use nesl_sim::client::Client;
use nesl_sim::counters::KernelCounters;
use nesl_sim::machine::{self, DeviceMemory, LaunchShape};
use nesl_sim::{options, ptx};

/// The sum of each segment of any length.
const SEGMENTS: &str = "\
kernel \"segments\"(v0: i64, v1: [i64], v2: [f64], v3: [f64]) over segmented v0, v1 at v4, v5, v6 {
  v7: f64 = load v2[v6]
  reduce segment add v7 -> v3
}
";

/// The bytes of a sector.
const SECTOR_BYTES: u64 = 32;

/// The number of elements of all segments.
const ELEMENTS: usize = 1 << 17;

/// The number of elements of a thread in a tile.
const TILE_ROWS: usize = 8;

/// The instructions that a warp executes at most for its part of a tile. A thread for each segment takes
/// more than ten times as many where one segment has a ninth of all elements.
const MOST_INSTRUCTIONS_OF_WARP: u64 = 4500;

/// A kernel by hand: the threads that a segment has.
#[derive(Clone, Copy)]
struct ByHand {
    name: &'static str,
    threads: usize,
}

const BY_HAND: [ByHand; 3] = [
    ByHand { name: "thread", threads: 1 },
    ByHand { name: "warp", threads: 32 },
    ByHand { name: "block", threads: 256 },
];

impl ByHand {
    /// The text: every thread adds each `threads`-th element, four at a time, and then the threads add
    /// theirs by shuffles.
    fn text(self) -> String {
        let threads = self.threads;
        let (shift, mask) = (threads.ilog2(), threads - 1);
        let loads: String = (0..4)
            .map(|at| format!("ld.global.f64 %fd{}, [%rd11+{}];\n", at + 2, 8 * threads * at))
            .collect();
        let adds: String =
            (0..4).map(|at| format!("add.rn.f64 %fd1, %fd1, %fd{};\n", at + 2)).collect();
        let shuffles = |from: u32| -> String {
            let steps = (0..=from.ilog2()).rev().map(|step| {
                let by = 1 << step;
                format!(
                    "mov.b64 {{%r6, %r7}}, %fd1;\n\
                     shfl.sync.down.b32 %r6, %r6, {by}, 31, -1;\n\
                     shfl.sync.down.b32 %r7, %r7, {by}, 31, -1;\n\
                     mov.b64 %fd2, {{%r6, %r7}};\nadd.rn.f64 %fd1, %fd1, %fd2;\n"
                )
            });
            steps.collect()
        };
        let joined = match threads {
            1 => String::new(),
            32 => format!("bar.warp.sync -1;\n{}", shuffles(16)),
            _ => format!(
                "bar.warp.sync -1;\n{}and.b32 %r8, %r5, 31;\nshr.u32 %r9, %r5, 5;\n\
                 setp.ne.s32 %p3, %r8, 0;\nmov.u32 %r10, sums;\nmad.lo.s32 %r11, %r9, 8, %r10;\n\
                 @!%p3 st.shared.f64 [%r11], %fd1;\nbar.sync 0;\nsetp.ne.s32 %p4, %r9, 0;\n\
                 @%p4 bra END;\nmov.f64 %fd1, 0d0000000000000000;\nsetp.lt.s32 %p5, %r8, 8;\n\
                 mad.lo.s32 %r11, %r8, 8, %r10;\n@%p5 ld.shared.f64 %fd1, [%r11];\n\
                 bar.warp.sync -1;\n{}",
                shuffles(16),
                shuffles(4)
            ),
        };
        format!(
            ".version 7.0\n.target sm_75\n.address_size 64\n\
             .visible .entry sums_of_segments(.param .u64 offsets, .param .u64 values, .param .u64 out, \
             .param .u64 segments)\n.maxntid 256, 1, 1\n{{\n.reg .pred %p<8>;\n.reg .b32 %r<16>;\n\
             .reg .b64 %rd<16>;\n.reg .f64 %fd<8>;\n.shared .align 8 .b8 sums[64];\n\
             ld.param.u64 %rd1, [offsets];\nld.param.u64 %rd2, [values];\nld.param.u64 %rd3, [out];\n\
             ld.param.u64 %rd4, [segments];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n\
             mad.lo.s32 %r3, %r2, 256, %r1;\nshr.u32 %r4, %r3, {shift};\nand.b32 %r5, %r3, {mask};\n\
             cvt.u64.u32 %rd5, %r4;\nsetp.ge.s64 %p1, %rd5, %rd4;\n@%p1 bra END;\n\
             shl.b64 %rd6, %rd5, 3;\nadd.s64 %rd7, %rd1, %rd6;\nld.global.b64 %rd8, [%rd7];\n\
             ld.global.b64 %rd9, [%rd7+8];\ncvt.u64.u32 %rd10, %r5;\nadd.s64 %rd8, %rd8, %rd10;\n\
             shl.b64 %rd11, %rd8, 3;\nadd.s64 %rd11, %rd2, %rd11;\nmov.f64 %fd1, 0d0000000000000000;\n\
             sub.s64 %rd12, %rd9, {last};\n\
             FOUR:\nsetp.ge.s64 %p2, %rd8, %rd12;\n@%p2 bra ONE;\n{loads}{adds}\
             add.s64 %rd8, %rd8, {four};\nadd.s64 %rd11, %rd11, {four_bytes};\nbra FOUR;\n\
             ONE:\nsetp.ge.s64 %p2, %rd8, %rd9;\n@%p2 bra DONE;\nld.global.f64 %fd2, [%rd11];\n\
             add.rn.f64 %fd1, %fd1, %fd2;\nadd.s64 %rd8, %rd8, {threads};\n\
             add.s64 %rd11, %rd11, {bytes};\nbra ONE;\n\
             DONE:\n{joined}setp.ne.s32 %p1, %r5, 0;\n@%p1 bra END;\nadd.s64 %rd7, %rd3, %rd6;\n\
             st.global.f64 [%rd7], %fd1;\nEND:\nret;\n}}\n",
            last = 3 * threads,
            four = 4 * threads,
            four_bytes = 32 * threads,
            bytes = 8 * threads,
        )
    }

    /// Executes it; returns the sums, and what it cost.
    fn launch(self, offsets: &[i64], values: &[f64]) -> (Vec<f64>, KernelCounters) {
        let mut memory = DeviceMemory::default();
        let mut upload = |words: Vec<u64>| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let address = memory.allocate(bytes.len(), false);
            memory.write(address, &bytes).unwrap();
            address
        };
        let segments = offsets.len() - 1;
        let parameters = [
            upload(offsets.iter().map(|x| *x as u64).collect()),
            upload(values.iter().map(|x| x.to_bits()).collect()),
            upload(vec![0; segments]),
            segments as u64,
        ];
        let module = ptx::parse(&self.text()).unwrap_or_else(|error| panic!("{error}"));
        let bytes: Vec<u8> = parameters.iter().flat_map(|word| word.to_le_bytes()).collect();
        let blocks = (segments * self.threads).div_ceil(256).max(1) as u32;
        let launch = machine::Launch {
            kernel: &module.kernels[0],
            shape: LaunchShape::new(&module.kernels[0], [blocks, 1, 1], [256, 1, 1], 0),
            parameters: &bytes,
            cooperative: false,
            number: 1,
        };
        let counters = machine::launch(&launch, &mut memory, &options::Options::default()).unwrap();
        let mut sums = vec![0; 8 * segments];
        memory.read(parameters[2], &mut sums).unwrap();
        let words = sums.chunks_exact(8).map(|word| f64::from_le_bytes(word.try_into().unwrap()));
        (words.collect(), counters)
    }
}

/// Executes the code that is emitted, by so many blocks at the same time; returns the sums, and what it
/// cost.
fn emitted(offsets: &[i64], values: &[f64], blocks: u32) -> (Vec<f64>, KernelCounters) {
    let session = Client::load().unwrap().exclusive();
    session.set("resident", &blocks.to_string()).unwrap();
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let segments = offsets.len() - 1;
    let array = |ty: Ty, bytes: Vec<u8>| {
        let array = ptx.alloc(ty, bytes.len() / 8).unwrap();
        ptx.write(&array, 0, &bytes).unwrap();
        array
    };
    let out = ptx.alloc(Ty::F64, segments).unwrap();
    let args = [
        Arg::Scalar(Literal::I64(segments as i64)),
        Arg::Array(array(Ty::I64, offsets.iter().flat_map(|x| x.to_ne_bytes()).collect()), 0),
        Arg::Array(array(Ty::F64, values.iter().flat_map(|x| x.to_ne_bytes()).collect()), 0),
        Arg::Array(out.clone(), 0),
    ];
    let module = ptx.load(&parse(SEGMENTS).unwrap()).unwrap();
    session.clear();
    let work_items = Some(values.len());
    ptx.launch(&Launch { module: &module, kernel: 0, args: &args, tag: 1, work_items }).unwrap();
    let mut sums = vec![0; 8 * segments];
    ptx.read(&out, 0, &mut sums).unwrap();
    let words = sums.chunks_exact(8).map(|word| f64::from_ne_bytes(word.try_into().unwrap()));
    (words.collect(), session.counters())
}

/// Lengths of segments that have all elements together.
fn kinds() -> Vec<(&'static str, Vec<usize>)> {
    // The k-th longest segment has a share of 1/k, and they lie in no order.
    let mut shares: Vec<usize> = (1..).map(|k| ELEMENTS / 9 / k).take_while(|x| *x > 0).collect();
    shares.sort_by_key(|length| length.wrapping_mul(0x9e37_79b9) & 0xffff);
    let hundred = ELEMENTS / 100;
    // Lengths from 0 to one, in no order.
    let up_to = |most: usize| {
        let (mut lengths, mut left) = (Vec::new(), ELEMENTS);
        while left > 0 {
            let random = (lengths.len() + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            lengths.push(left.min(random % (most + 1)));
            left -= lengths[lengths.len() - 1];
        }
        lengths
    };
    vec![
        ("all of 1", vec![1; ELEMENTS]),
        ("all of 8", vec![8; ELEMENTS / 8]),
        ("up to 8", up_to(8)),
        ("up to 40", up_to(40)),
        ("all of 100", vec![100; hundred]),
        ("all of 1,000", vec![1000; ELEMENTS / 1000]),
        ("power law", shares),
        ("one", vec![ELEMENTS]),
        ("16 and none", (0..ELEMENTS / 8).map(|at| 16 * (at % 2)).collect()),
        ("none has any", vec![0; ELEMENTS / 8]),
    ]
}

/// Prints the costs of a way: bytes, and instructions of threads and of warps, for each element or segment; the
/// share of active lanes; the most elements that a thread adds, one after the other.
fn report(kind: &str, way: &str, counters: &KernelCounters, size: usize, longest: usize) -> f64 {
    let per = |x: u64| x as f64 / size as f64;
    let bytes = per(SECTOR_BYTES * (counters.load_sectors + counters.store_sectors));
    let (threads, warps) = (per(counters.thread_instructions), per(counters.warp_instructions));
    println!(
        "{kind:<14} {way:<8} {bytes:>7.1} {threads:>9.1} {warps:>7.2} {:>6.2} {longest:>8}",
        counters.lane_use()
    );
    bytes
}

#[test]
fn tiles_beside_classes() {
    println!("segments       way       bytes threads   warps  lanes  longest");
    for (kind, lengths) in kinds() {
        let mut offsets = vec![0];
        for length in &lengths {
            offsets.push(offsets[offsets.len() - 1] + *length as i64);
        }
        let elements: usize = lengths.iter().sum();
        let size = elements.max(lengths.len());
        let values = vec![1.0; elements.max(1)];
        let expected: Vec<f64> = lengths.iter().map(|length| *length as f64).collect();
        let longest = lengths.iter().max().copied().unwrap_or(0);
        for way in BY_HAND {
            let (sums, counters) = way.launch(&offsets, &values);
            assert!(sums == expected, "{kind}, a {} each", way.name);
            report(kind, way.name, &counters, size, longest.div_ceil(way.threads));
        }
        let (sums, counters) = emitted(&offsets, &values[..elements], 16);
        assert!(sums == expected, "{kind}, tiles");
        let bytes = report(kind, "tiles", &counters, size, TILE_ROWS.min(longest));
        // Elements, offsets and results, each once, and what tiles tell each other.
        let least = (8 * elements + 16 * lengths.len()) as f64 / size as f64;
        // The results of segments without elements are stored apart from the others.
        let most = if kind == "up to 8" { 1.5 } else { 1.25 };
        assert!(bytes <= most * least + 0.1, "{kind}: {bytes} bytes instead of {least}");
        let executed = counters.thread_instructions as f64 / size as f64;
        // Chunks of one segment are not scanned, and of short ones each marks its beginning.
        let most = if longest >= 40 { 61.0 } else { 103.0 };
        assert!(executed <= most, "{kind}: {executed} instructions");
        assert!(counters.lane_use() >= 0.75, "{kind}: {:.2} of the lanes", counters.lane_use());
        // On a device that is large enough, a warp has its part of one tile to do, and waits for the tiles
        // before it, however long segments are. The results of none are stored by the blocks there are.
        let (_, counters) = emitted(&offsets, &values[..elements], 1024);
        let longest = counters.longest_warp;
        assert!(
            elements == 0 || longest <= MOST_INSTRUCTIONS_OF_WARP,
            "{kind}: {longest} of a warp"
        );
    }
}
