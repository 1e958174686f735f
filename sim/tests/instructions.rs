//! Memory, atomics and collective instructions, and what is refused.

mod common;

use common::{Device, kernel, kernel_for, schedules};
use nesl_sim::ptx;

/// The loading of the first parameter and this thread's 8-byte slot in it.
const SLOT: &str = "ld.param.u64 %rd1, [p_out];\n mov.u32 %r1, %tid.x;\n\
                    mul.wide.u32 %rd2, %r1, 8;\n add.s64 %rd2, %rd1, %rd2;\n";

/// Runs a body in one block; each thread stores to its slot `[%rd2]`. All schedules must agree.
fn run(threads: u32, declarations: &str, body: &str) -> Vec<u64> {
    let text = kernel_for(80, declarations, ".param .u64 p_out", &format!("{SLOT}{body}"));
    let mut results = schedules(4).into_iter().map(|options| {
        let mut device = Device::new(&options);
        let out = device.upload_u64(&vec![0; threads as usize]);
        device
            .launch_with(&text, 1, threads, 256, &[out])
            .unwrap_or_else(|fault| panic!("{fault}"));
        device.read_u64(out, threads as usize)
    });
    let first = results.next().unwrap();
    assert!(results.all(|result| result == first));
    first
}

#[test]
fn variables_in_all_spaces() {
    let declarations = ".const .align 8 .u64 table[4] = {10, 20, 30, 40};\n\
         .const .b8 bytes[3] = {1, 2, 255};\n.global .align 4 .u32 words[2] = {7, 8};\n\
         .extern .shared .align 16 .b8 dynamic[];";
    let out = run(
        2,
        declarations,
        "shl.b32 %r2, %r1, 3;\n mov.u32 %r3, table;\n add.u32 %r3, %r3, %r2;\n\
         ld.const.u64 %rd3, [%r3+8];\n ld.const.s8 %rd4, [bytes+2];\n add.s64 %rd3, %rd3, %rd4;\n\
         mov.u64 %rd5, words;\n cvta.global.u64 %rd5, %rd5;\n ld.u32 %r4, [%rd5+4];\n\
         cvt.u64.u32 %rd6, %r4;\n add.s64 %rd3, %rd3, %rd6;\n\
         mov.u32 %r5, dynamic;\n add.u32 %r5, %r5, %r2;\n st.shared.u64 [%r5], %rd3;\n\
         cvt.u64.u32 %rd7, %r5;\n cvta.shared.u64 %rd7, %rd7;\n ld.u64 %rd8, [%rd7];\n\
         cvta.to.shared.u64 %rd7, %rd7;\n ld.shared.u64 %rd9, [%rd7];\n\
         add.s64 %rd8, %rd8, %rd9;\n st.global.u64 [%rd2], %rd8;",
    );
    assert_eq!(out, [2 * (20 - 1 + 8), 2 * (30 - 1 + 8)]);
}

#[test]
fn local_arrays_of_each_thread() {
    let out = run(
        40,
        "",
        ".local .align 8 .b8 stack[64];\n mov.u64 %rd3, stack;\n cvta.local.u64 %rd4, %rd3;\n\
         st.local.u32 [%rd3+8], %r1;\n st.u32 [%rd4+12], 1;\n ld.local.u64 %rd5, [stack+8];\n\
         st.global.u64 [%rd2], %rd5;",
    );
    assert!(out.iter().enumerate().all(|(thread, value)| *value == 1 << 32 | thread as u64));
}

#[test]
fn vectors_and_narrow_accesses() {
    let out = run(
        1,
        "",
        ".shared .align 16 .b8 room[32];\n mov.u32 %r2, room;\n\
         st.shared.v4.u32 [%r2], {1, 2, 0x8081, 4};\n ld.shared.v2.u64 {%rd3, %rd4}, [%r2];\n\
         ld.shared.s8 %r3, [%r2+8];\n ld.shared.u8 %r4, [%r2+9];\n ld.shared.s16 %rd5, [%r2+8];\n\
         add.s32 %r3, %r3, %r4;\n cvt.s64.s32 %rd6, %r3;\n add.s64 %rd6, %rd6, %rd5;\n\
         add.s64 %rd6, %rd6, %rd4;\n st.global.u64 [%rd2], %rd6;",
    );
    let expected = -127i64 + 0x80 + i64::from(0x8081u16 as i16) + (4 << 32 | 0x8081);
    assert_eq!(out, [expected as u64]);
}

#[test]
fn atomics() {
    for (instruction, start, expected) in [
        ("atom.global.add.u64 %rd3, [%rd1], 2", 5, 5 + 2 * 64),
        ("red.global.max.s64 [%rd1], 9", -3i64 as u64, 9),
        ("red.relaxed.gpu.global.min.u64 [%rd1], 9", 100, 9),
        ("red.global.or.b64 [%rd1], %rd2", 0, 0),
        ("atom.acq_rel.gpu.global.inc.u32 %r3, [%rd1], 9", 0, 4),
        ("atom.dec.u32 %r3, [%rd1], 9", 0, 6),
        ("atom.global.exch.b64 %rd3, [%rd1], 3", 0, 3),
        ("red.global.add.f64 [%rd1], 0d3FF0000000000000", 0, 64f64.to_bits()),
        ("red.global.add.f32 [%rd1], 0f3F800000", 0, u64::from(64f32.to_bits())),
        ("atom.global.cas.b32 %r3, [%rd1], 0, 1", 0, 1),
    ] {
        let text = kernel(
            ".param .u64 p_word",
            &format!("ld.param.u64 %rd1, [p_word];\n mov.u64 %rd2, 0;\n {instruction};"),
        );
        for options in schedules(2) {
            let mut device = Device::new(&options);
            let word = device.upload_u64(&[start]);
            let counters = device.launch(&text, 2, 32, &[word]).unwrap_or_else(|f| panic!("{f}"));
            assert_eq!(device.read_u64(word, 1), [expected], "{instruction}");
            assert_eq!((counters.atomic_requests, counters.atomic_operations), (2, 64));
        }
    }
}

#[test]
fn a_lock_of_diverged_lanes_makes_progress() {
    let out = run(
        32,
        "",
        ".shared .align 4 .u32 lock;\n .shared .align 4 .u32 count;\n setp.ne.u32 %p1, %r1, 0;\n\
         @%p1 bra READY;\n st.shared.u32 [lock], 0;\n st.shared.u32 [count], 0;\nREADY:\n\
         bar.sync 0;\nTRY:\n atom.acquire.cta.shared.cas.b32 %r2, [lock], 0, 1;\n\
         setp.ne.u32 %p2, %r2, 0;\n @%p2 bra TRY;\n ld.shared.u32 %r3, [count];\n\
         add.u32 %r3, %r3, 1;\n st.shared.u32 [count], %r3;\n\
         st.release.cta.shared.u32 [lock], 0;\n bar.sync 0;\n ld.shared.u32 %r4, [count];\n\
         cvt.u64.u32 %rd3, %r4;\n st.global.u64 [%rd2], %rd3;",
    );
    assert_eq!(out, [32; 32]);
}

#[test]
fn shuffles_votes_and_matches() {
    let store = "cvt.u64.u32 %rd3, %r9;\n st.global.u64 [%rd2], %rd3;";
    let warp = |body: &str| run(32, "", &format!("{body}\n{store}"));
    let lanes = 0..32u64;
    let expect = |f: &dyn Fn(u64) -> u64| lanes.clone().map(f).collect::<Vec<u64>>();
    assert_eq!(
        warp("shfl.sync.up.b32 %r9|%p1, %r1, 3, 0, -1;\n @!%p1 mov.u32 %r9, 99;"),
        expect(&|lane| if lane < 3 { 99 } else { lane - 3 })
    );
    assert_eq!(
        warp("shfl.sync.down.b32 %r9|%p1, %r1, 3, 31, -1;\n @!%p1 mov.u32 %r9, 99;"),
        expect(&|lane| if lane > 28 { 99 } else { lane + 3 })
    );
    assert_eq!(warp("shfl.sync.bfly.b32 %r9, %r1, 5, 31, -1;"), expect(&|lane| lane ^ 5));
    // Segments of eight lanes.
    assert_eq!(
        warp("shfl.sync.idx.b32 %r9, %r1, 2, 0x181f, -1;"),
        expect(&|lane| lane / 8 * 8 + 2)
    );
    assert_eq!(
        warp("and.b32 %r2, %r1, 3;\n match.any.sync.b32 %r9, %r2, -1;"),
        expect(&|lane| 0x1111_1111 << (lane % 4))
    );
    assert_eq!(
        warp("mov.u32 %r2, 5;\n match.all.sync.b32 %r9|%p1, %r2, -1;\n @!%p1 mov.u32 %r9, 1;"),
        vec![0xffff_ffff; 32]
    );
    assert_eq!(warp("redux.sync.add.u32 %r9, %r1, -1;"), vec![31 * 32 / 2; 32]);
    assert_eq!(
        warp("sub.s32 %r2, %r1, 7;\n redux.sync.min.s32 %r9, %r2, -1;"),
        vec![u64::from(-7i32 as u32); 32]
    );
    assert_eq!(
        warp("setp.gt.u32 %p1, %r1, 15;\n vote.sync.ballot.b32 %r9, !%p1, -1;"),
        vec![0xffff; 32]
    );
    assert_eq!(
        warp(
            "setp.gt.u32 %p1, %r1, 15;\n vote.sync.all.pred %p2, %p1, -1;\n\
             vote.sync.any.pred %p3, %p1, -1;\n vote.sync.uni.pred %p4, %p1, -1;\n\
             mov.u32 %r9, 0;\n @%p2 add.u32 %r9, %r9, 1;\n @%p3 add.u32 %r9, %r9, 2;\n\
             @%p4 add.u32 %r9, %r9, 4;"
        ),
        vec![2; 32]
    );
    // Two halves of a warp, each with its own mask.
    assert_eq!(
        warp(
            "setp.gt.u32 %p1, %r1, 15;\n selp.b32 %r2, 0xffff0000, 0xffff, %p1;\n\
             redux.sync.add.u32 %r9, %r1, %r2;"
        ),
        expect(&|lane| if lane < 16 { 120 } else { 376 })
    );
}

#[test]
fn barriers_with_results_and_parts() {
    let store = "cvt.u64.u32 %rd3, %r9;\n st.global.u64 [%rd2], %rd3;";
    let out = run(
        70,
        "",
        &format!("setp.lt.u32 %p1, %r1, 65;\n bar.red.popc.u32 %r9, 0, %p1;\n {store}"),
    );
    assert_eq!(out, [65; 70]);
    let out = run(
        64,
        "",
        &format!(
            "setp.lt.u32 %p1, %r1, 63;\n bar.red.and.pred %p2, 1, %p1;\n\
             bar.red.or.pred %p3, 2, %p1;\n mov.u32 %r9, 0;\n @%p2 add.u32 %r9, %r9, 1;\n\
             @%p3 add.u32 %r9, %r9, 2;\n {store}"
        ),
    );
    assert_eq!(out, [2; 64]);
    // The warps 0 and 1 exchange by a barrier of their own.
    let out = run(
        96,
        "",
        &format!(
            ".shared .align 4 .b32 room[64];\n mov.u32 %r9, 7;\n setp.ge.u32 %p1, %r1, 64;\n\
             @%p1 bra END2;\n mov.u32 %r2, room;\n shl.b32 %r3, %r1, 2;\n add.u32 %r3, %r2, %r3;\n\
             st.shared.u32 [%r3], %r1;\n bar.sync 3, 64;\n xor.b32 %r4, %r1, 63;\n\
             shl.b32 %r4, %r4, 2;\n add.u32 %r4, %r2, %r4;\n ld.shared.u32 %r9, [%r4];\nEND2:\n\
             {store}"
        ),
    );
    assert!((0..96).all(|thread| out[thread] == if thread < 64 { 63 - thread as u64 } else { 7 }));
}

#[test]
fn divergence_is_counted_and_ends() {
    let text = kernel(
        "",
        "mov.u32 %r1, %laneid;\nLOOP:\n setp.eq.u32 %p1, %r1, 0;\n @%p1 bra DONE;\n\
         sub.u32 %r1, %r1, 1;\n bra LOOP;\nDONE:\n bar.warp.sync -1;",
    );
    let mut device = Device::new(&schedules(0)[0]);
    let counters = device.launch(&text, 1, 32, &[]).unwrap();
    assert_eq!(counters.divergences, 31);
    // Per turn of the loop: two instructions for all, two more for those that stay.
    assert_eq!(counters.warp_instructions, 1 + 4 * 31 + 2 + 1 + 1);
    assert!(counters.lane_use() < 0.6);
}

/// Returns the error of a kernel with a body.
fn refused(body: &str) -> String {
    match ptx::parse(&kernel_for(75, "", ".param .u64 p", body)) {
        Ok(_) => panic!("`{body}` was not refused"),
        Err(error) => error.message,
    }
}

#[test]
fn what_is_not_in_the_subset_is_refused() {
    for (body, reason) in [
        ("add.s32 %r1, %rd1, %r2;", "%rd1"),
        ("add.s32 %r99, %r1, %r2;", "%r99"),
        ("add.f32 %f1, %f2, %f3;", ".rn"),
        ("add.rn.ftz.f32 %f1, %f2, %f3;", ".ftz"),
        ("add.sat.s32 %r1, %r2, %r3;", ".sat"),
        ("mul.s32 %r1, %r2, %r3;", ".lo"),
        ("add.rn.f64 %rd1, %fd1, %f1;", "%f1"),
        ("add.s32 %f1, %r1, %r2;", "%f1"),
        ("mov.u32 %r1, 0x1ffffffff;", "does not fit"),
        ("foo.bar %r1;", "unknown instruction"),
        ("call uni, f;", "inline"),
        ("bra NOWHERE;", "NOWHERE"),
        ("redux.sync.add.u32 %r1, %r2, -1;", "sm_80"),
        ("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 %fd1, %fd2, %fd3, %fd4;", "m16n8k8"),
        ("shfl.down.b32 %r1, %r2, 1, 31;", ".sync"),
        ("ld.param.u64 %rd1, [missing];", "missing"),
        ("ld.param.u64 %rd1, [p+4];", "beyond"),
        ("ld.global.u32 %r1, [%r2];", "address"),
        ("atom.global.add.s64 %rd1, [%rd2], 1;", "add"),
        ("cvt.s32.f32 %r1, %f1;", ".rni"),
        ("cvt.f32.f64 %f1, %fd1;", ".rn"),
        ("mov.u32 %r1, %smid;", "%smid"),
        ("setp.lt.b32 %p1, %r1, %r2;", "comparison"),
        ("ld.acquire.global.u32 %r1, [%rd1];", ".gpu"),
        ("st.const.u32 [%rd1], %r1;", "cannot be stored"),
        ("cp.async.wait_all;", "unknown instruction"),
        ("bar.arrive 0, 64;", "bar.arrive"),
    ] {
        let message = refused(body);
        assert!(message.contains(reason), "`{body}`: {message}");
    }
    let error = ptx::parse(".version 7.0\n.target sm_75\n.func f() { ret; }").unwrap_err();
    assert_eq!((error.line, error.text.as_str()), (3, ".func f() { ret; }"));
    let error = ptx::parse(&kernel("", "mov.u32 %r1, 1;\n  foo %r1;")).unwrap_err();
    assert_eq!((error.line, error.text.as_str()), (14, "foo %r1;"));
}
