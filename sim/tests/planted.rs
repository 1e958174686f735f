//! A test of the tests: bugs planted in correct kernels, each of which a schedule must show.

mod common;

use common::{Device, kernel, schedules};
use nesl_sim::machine::FaultKind;
use nesl_sim::options::Options;

const SCAN: &str = include_str!("kernels/scan.ptx");
const REDUCE: &str = include_str!("kernels/reduce.ptx");
const SAXPY: &str = include_str!("kernels/saxpy_f64.ptx");
const HISTOGRAM: &str = include_str!("kernels/histogram.ptx");

/// The number of random schedules that each kernel runs in.
const RANDOM_SCHEDULES: u64 = 12;

/// The end of a run that is not right.
#[derive(Debug, PartialEq)]
enum Symptom {
    Fault(FaultKind, String),
    WrongResult,
}

/// Runs a test in all schedules and returns what they showed first.
fn first_symptom(run: impl Fn(&Options) -> Result<(), Symptom>) -> Option<Symptom> {
    schedules(RANDOM_SCHEDULES).iter().find_map(|options| run(options).err())
}

#[track_caller]
fn clean(run: impl Fn(&Options) -> Result<(), Symptom>) {
    assert_eq!(first_symptom(run), None);
}

#[track_caller]
fn faults(kind: FaultKind, run: impl Fn(&Options) -> Result<(), Symptom>) {
    match first_symptom(run) {
        Some(Symptom::Fault(found, _)) if found == kind => {}
        other => panic!("expected {kind:?}, found {other:?}"),
    }
}

/// Replaces a piece of a kernel that must be there.
#[track_caller]
fn with(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "`{from}` is not in the kernel");
    text.replace(from, to)
}

/// Replaces the last occurrence of a piece.
#[track_caller]
fn with_last(text: &str, from: &str, to: &str) -> String {
    let at = text.rfind(from).expect("the piece is in the kernel");
    format!("{}{to}{}", &text[..at], &text[at + from.len()..])
}

fn outcome<T>(result: Result<T, Box<nesl_sim::machine::Fault>>) -> Result<(), Symptom> {
    result.map(|_| ()).map_err(|fault| Symptom::Fault(fault.kind, fault.to_string()))
}

fn expect(holds: bool) -> Result<(), Symptom> {
    if holds { Ok(()) } else { Err(Symptom::WrongResult) }
}

fn scan(text: &str, options: &Options, zeroed: bool) -> Result<(), Symptom> {
    let mut device = Device::new(options);
    let n = 3_071usize;
    let tiles = n.div_ceil(512);
    let values: Vec<u64> = (0..n as u64).map(|i| i * 7919 % 1000).collect();
    let (input, out) = (device.upload_u64(&values), device.blank(8 * n));
    let flags = if zeroed { device.upload_u32(&vec![0; tiles]) } else { device.blank(4 * tiles) };
    let (aggregates, prefixes) = (device.blank(8 * tiles), device.blank(8 * tiles));
    let counter = device.upload_u32(&[0]);
    let arguments = [input, out, n as u64, flags, aggregates, prefixes, counter];
    outcome(device.launch(text, tiles as u32, 128, &arguments))?;
    let mut sum = 0;
    let mut right = true;
    for (value, prefix) in values.iter().zip(device.read_u64(out, n)) {
        sum += value;
        right &= prefix == sum;
    }
    expect(right)
}

fn reduce(text: &str, options: &Options) -> Result<(), Symptom> {
    let mut device = Device::new(options);
    let n = 5_001u32;
    let values: Vec<u64> = (0..n).map(|i| f64::from(i).to_bits()).collect();
    let (input, out) = (device.upload_u64(&values), device.blank(8 * 8));
    outcome(device.launch(text, 8, 256, &[input, out, u64::from(n)]))?;
    let sum: f64 = device.read_u64(out, 8).iter().map(|bits| f64::from_bits(*bits)).sum();
    expect(sum == f64::from(n) * f64::from(n - 1) / 2.0)
}

fn saxpy(text: &str, options: &Options) -> Result<(), Symptom> {
    saxpy_of(1_000, text, options)
}

fn saxpy_of(n: usize, text: &str, options: &Options) -> Result<(), Symptom> {
    let mut device = Device::new(options);
    let ones = vec![1f64.to_bits(); n];
    let (x, y) = (device.upload_u64(&ones), device.upload_u64(&ones));
    outcome(device.launch(text, 3, 128, &[x, y, 2f64.to_bits(), n as u64]))?;
    expect(device.read_u64(y, n).iter().all(|bits| f64::from_bits(*bits) == 3.0))
}

fn histogram(text: &str, options: &Options) -> Result<(), Symptom> {
    let mut device = Device::new(options);
    let keys: Vec<u32> = (0..999).map(|i: u32| i.wrapping_mul(2_654_435_761) >> 26).collect();
    let (input, out) = (device.upload_u32(&keys), device.upload_u32(&[0; 64]));
    outcome(device.launch(text, 3, 128, &[input, out, 999]))?;
    let mut expected = vec![0; 64];
    keys.iter().for_each(|key| expected[*key as usize] += 1);
    expect(device.read_u32(out, 64) == expected)
}

/// The scan with ordinary accesses to what the flags protect.
fn weak_scan() -> String {
    let weak = with(SCAN, "st.relaxed.gpu.global.u64", "st.global.u64");
    with(&weak, "ld.relaxed.gpu.global.u64", "ld.global.u64")
}

/// The same with fences instead of releases and acquires.
fn fenced_scan() -> String {
    let text =
        with(&weak_scan(), "st.release.gpu.global.u32", "membar.gl;\n  st.relaxed.gpu.global.u32");
    with(
        &text,
        "ld.acquire.gpu.global.u32 %r22, [%rd30];",
        "ld.relaxed.gpu.global.u32 %r22, [%rd30];\n  membar.gl;",
    )
}

#[test]
fn clean_kernels_show_nothing() {
    clean(|options| scan(SCAN, options, true));
    clean(|options| scan(&weak_scan(), options, true));
    clean(|options| scan(&fenced_scan(), options, true));
    clean(|options| reduce(REDUCE, options));
    clean(|options| saxpy(SAXPY, options));
    clean(|options| histogram(HISTOGRAM, options));
}

#[test]
fn weakened_order_is_a_race() {
    let weak = weak_scan();
    let race = |text: String| faults(FaultKind::Race, |options| scan(&text, options, true));
    race(with(&weak, "st.release", "st.relaxed"));
    race(with(&weak, "ld.acquire", "ld.relaxed"));
    race(with(&weak, "st.release.gpu", "st.release.cta"));
    race(with(&weak, "ld.acquire.gpu", "ld.acquire.cta"));
    let fenced = fenced_scan();
    race(with(&fenced, "[%rd30];\n  membar.gl;", "[%rd30];"));
    race(with(&fenced, "membar.gl;\n  st.relaxed", "st.relaxed"));
    race(with(&fenced, "membar.gl;", "membar.cta;"));
    // The flag says that the prefix is there before it is.
    let early = with(
        &weak,
        "st.global.u64 [%rd26], %rd36;\n  st.release.gpu.global.u32 [%rd23], 2;",
        "st.release.gpu.global.u32 [%rd23], 2;\n  st.global.u64 [%rd26], %rd36;",
    );
    assert!(first_symptom(|options| scan(&early, options, true)).is_some());
}

#[test]
fn dropped_barriers_are_races() {
    let race = |text: String| faults(FaultKind::Race, |options| reduce(&text, options));
    let text = with_last(SCAN, "bar.sync 0;", "");
    assert!(first_symptom(|options| scan(&text, options, true)).is_some());
    let text = SCAN.replacen("bar.sync 0;", "", 1);
    assert!(first_symptom(|options| scan(&text, options, true)).is_some());
    assert!(first_symptom(|options| reduce(&with(REDUCE, "  bar.sync 0;", ""), options)).is_some());
    let text = HISTOGRAM.replacen("bar.sync 0;", "", 1);
    assert!(first_symptom(|options| histogram(&text, options)).is_some());
    faults(FaultKind::Race, |options| histogram(&with_last(HISTOGRAM, "bar.sync 0;", ""), options));
    // A second write after the reading, without a barrier between.
    race(with(
        REDUCE,
        "@%p5 ld.shared.f64 %fd1, [%r17];",
        "@%p5 ld.shared.f64 %fd1, [%r17];\n  @!%p5 st.shared.f64 [sm], %fd1;",
    ));
}

#[test]
fn wrong_bounds_and_guards() {
    let fault = |kind, text: String| faults(kind, |options| saxpy(&text, options));
    fault(
        FaultKind::OutOfBounds,
        with(SAXPY, "setp.ge.u32 %p1, %r5, %r1", "setp.gt.u32 %p1, %r5, %r1"),
    );
    // Without the guard, with more threads than elements.
    let unguarded = with(&with(SAXPY, "@%p1 bra DONE;", ""), "bra LOOP;", "");
    faults(FaultKind::OutOfBounds, |options| saxpy_of(300, &unguarded, options));
    fault(
        FaultKind::Misaligned,
        with(SAXPY, "ld.global.f64 %f2, [%rd4]", "ld.global.f64 %f2, [%rd4+4]"),
    );
    faults(FaultKind::Misaligned, |options| {
        let text = with(SCAN, "{%rd12, %rd13}, [%rd8+16]", "{%rd12, %rd13}, [%rd8+8]");
        scan(&text, options, true)
    });
    // Several threads handle the same element.
    fault(FaultKind::Race, with(SAXPY, "mov.u32 %r4, %tid.x;", "shr.u32 %r4, %r3, 31;"));
    // Off by one at the end of the shared counts.
    faults(FaultKind::OutOfBounds, |options| {
        histogram(&with(HISTOGRAM, "setp.ge.u32 %p1, %r2, 64", "setp.gt.u32 %p1, %r2, 64"), options)
    });
    assert!(
        first_symptom(|options| {
            scan(
                &with(SCAN, "setp.lt.u32 %p2, %r9, %r1", "setp.le.u32 %p2, %r9, %r1"),
                options,
                true,
            )
        })
        .is_some()
    );
}

#[test]
fn memory_that_nobody_wrote() {
    faults(FaultKind::Uninitialised, |options| scan(SCAN, options, false));
    faults(FaultKind::Uninitialised, |options| {
        histogram(&with(HISTOGRAM, "@!%p1 st.shared.u32 [%r6], 0;", ""), options)
    });
    faults(FaultKind::Uninitialised, |options| {
        let text = kernel(
            ".param .u64 p_out",
            ".local .align 8 .b8 stack[64];\n ld.param.u64 %rd1, [p_out];\n mov.u64 %rd2, stack;\n\
             st.local.u32 [%rd2], 1;\n ld.local.u64 %rd3, [%rd2];\n st.global.u64 [%rd1], %rd3;",
        );
        let mut device = Device::new(options);
        let out = device.blank(8);
        outcome(device.launch(&text, 1, 1, &[out]))
    });
    // The partial sums of warps that do not exist.
    faults(FaultKind::Uninitialised, |options| {
        reduce(&with(REDUCE, "setp.lt.u32 %p5, %r13, %r18;", "setp.lt.u32 %p5, %r13, 32;"), options)
    });
}

#[test]
fn an_assumed_order_of_blocks() {
    let text =
        with(SCAN, "atom.global.relaxed.gpu.add.u32 %r5, [%rd6], 1;", "mov.u32 %r5, %ctaid.x;");
    faults(FaultKind::Budget, |options| scan(&text, options, true));
}

#[test]
fn divergence_and_member_masks() {
    let fault = |kind, text: String| faults(kind, |options| reduce(&text, options));
    // One thread leaves, and the shuffle still names it.
    let leaves = "  setp.eq.u32 %p2, %r4, 5;\n  @%p2 bra DONE;\n";
    fault(FaultKind::MemberMask, with(REDUCE, "  bar.warp.sync -1;\n", leaves));
    fault(
        FaultKind::BarrierDivergence,
        with(REDUCE, "  bar.sync 0;", "  @%p3 bra DONE;\n  bar.sync 0;"),
    );
    fault(FaultKind::BarrierDivergence, with(REDUCE, "  bar.sync 0;", "  @%p3 bar.sync 0;"));
    fault(FaultKind::MemberMask, with(REDUCE, "bar.warp.sync -1;", "bar.warp.sync 0xffff;"));
    fault(
        FaultKind::MemberMask,
        with(
            REDUCE,
            "shfl.sync.down.b32 %r11, %r9, %r8, 31, -1;",
            "shfl.sync.down.b32 %r11, %r9, %r8, 31, 0x7fffffff;",
        ),
    );
    // Half of the lanes wait at one barrier, half at another one of the same warp.
    faults(FaultKind::BarrierDivergence, |options| {
        let text = kernel(
            "",
            "mov.u32 %r1, %tid.x;\n and.b32 %r1, %r1, 1;\n setp.eq.u32 %p1, %r1, 0;\n\
             @%p1 bra EVEN;\n bar.sync 0;\n bra END;\nEVEN:\n bar.sync 0;\nEND:",
        );
        outcome(Device::new(options).launch(&text, 1, 64, &[]))
    });
    // A warp waits at a barrier that another one never reaches.
    faults(FaultKind::Deadlock, |options| {
        let text = kernel(
            "",
            "mov.u32 %r1, %warpid;\n setp.eq.u32 %p1, %r1, 0;\n @%p1 bra FIRST;\n\
             bar.sync 1, 64;\n bra END;\nFIRST:\n bar.sync 2, 64;\nEND:",
        );
        outcome(Device::new(options).launch(&text, 1, 64, &[]))
    });
}

#[test]
fn unordered_writers() {
    // Two blocks write one word.
    faults(FaultKind::Race, |options| {
        let text =
            kernel(".param .u64 p_out", "ld.param.u64 %rd1, [p_out];\n st.global.u32 [%rd1], 1;");
        let mut device = Device::new(options);
        let out = device.upload_u32(&[0]);
        outcome(device.launch(&text, 2, 1, &[out]))
    });
    // A histogram that reads, adds and writes.
    let racy = with(
        HISTOGRAM,
        "red.shared.add.u32 [%r11], 1;",
        "ld.shared.u32 %r13, [%r11];\n  add.s32 %r13, %r13, 1;\n  st.shared.u32 [%r11], %r13;",
    );
    faults(FaultKind::Race, |options| histogram(&racy, options));
    // A thread reads what it wrote by a read-only load.
    faults(FaultKind::Race, |options| {
        let text = kernel(
            ".param .u64 p_out",
            "ld.param.u64 %rd1, [p_out];\n st.global.u32 [%rd1], 1;\n\
             ld.global.nc.u32 %r1, [%rd1];",
        );
        let mut device = Device::new(options);
        let out = device.upload_u32(&[0]);
        outcome(device.launch(&text, 1, 1, &[out]))
    });
    // Bytes beside each other do not race.
    clean(|options| {
        let text = kernel(
            ".param .u64 p_out",
            "ld.param.u64 %rd1, [p_out];\n mov.u32 %r1, %tid.x;\n cvt.u64.u32 %rd2, %r1;\n\
             add.s64 %rd1, %rd1, %rd2;\n st.global.u8 [%rd1], %r1;",
        );
        let mut device = Device::new(options);
        let out = device.blank(64);
        outcome(device.launch(&text, 1, 64, &[out]))
    });
}

/// The last block to finish adds up what all blocks have written: `barrier` stands between the
/// writing of all threads and the announcement by one.
fn last_block(barrier: &str, fence: &str) -> String {
    kernel(
        ".param .u64 p_parts, .param .u64 p_count, .param .u64 p_out",
        &format!(
            "ld.param.u64 %rd1, [p_parts];\n ld.param.u64 %rd2, [p_count];\n\
             ld.param.u64 %rd3, [p_out];\n mov.u32 %r1, %tid.x;\n mov.u32 %r2, %ctaid.x;\n\
             mov.u32 %r3, %ntid.x;\n mad.lo.s32 %r4, %r2, %r3, %r1;\n\
             mul.wide.u32 %rd4, %r4, 4;\n add.s64 %rd4, %rd1, %rd4;\n\
             st.global.u32 [%rd4], %r4;\n {barrier}\n setp.ne.u32 %p1, %r1, 0;\n\
             @%p1 bra END;\n {fence}\n atom.global.add.u32 %r5, [%rd2], 1;\n {fence}\n\
             mov.u32 %r6, %nctaid.x;\n sub.s32 %r6, %r6, 1;\n setp.ne.u32 %p2, %r5, %r6;\n\
             @%p2 bra END;\n mul.lo.s32 %r7, %r3, %r6;\n add.s32 %r7, %r7, %r3;\n\
             mov.u32 %r8, 0;\n mov.u32 %r9, 0;\nSUM:\n mul.wide.u32 %rd5, %r8, 4;\n\
             add.s64 %rd5, %rd1, %rd5;\n ld.global.u32 %r10, [%rd5];\n\
             add.s32 %r9, %r9, %r10;\n add.s32 %r8, %r8, 1;\n setp.lt.u32 %p3, %r8, %r7;\n\
             @%p3 bra SUM;\n st.global.u32 [%rd3], %r9;\nEND:"
        ),
    )
}

#[test]
fn the_last_block_needs_barrier_and_fence() {
    let run = |text: &str, options: &Options| {
        let mut device = Device::new(options);
        let (parts, count) = (device.blank(4 * 256), device.upload_u32(&[0]));
        let out = device.blank(4);
        outcome(device.launch(text, 4, 64, &[parts, count, out]))?;
        expect(device.read_u32(out, 1) == [255 * 256 / 2])
    };
    clean(|options| run(&last_block("bar.sync 0;", "membar.gl;"), options));
    faults(FaultKind::Race, |options| run(&last_block("bar.sync 0;", ""), options));
    assert!(first_symptom(|options| run(&last_block("", "membar.gl;"), options)).is_some());
}

#[test]
fn use_after_release() {
    faults(FaultKind::UseAfterFree, |options| {
        let mut device = Device::new(options);
        let ones = vec![1f64.to_bits(); 64];
        let (x, y) = (device.upload_u64(&ones), device.upload_u64(&ones));
        device.memory.free(x).unwrap();
        outcome(device.launch(SAXPY, 1, 64, &[x, y, 0, 64]))
    });
}

#[test]
fn an_endless_loop_and_a_trap() {
    faults(FaultKind::Budget, |options| {
        outcome(Device::new(options).launch(&kernel("", "L:\n bra L;"), 1, 32, &[]))
    });
    faults(FaultKind::Trap, |options| {
        outcome(Device::new(options).launch(&kernel("", "trap;"), 1, 32, &[]))
    });
}
