//! A test of the tests: bugs are planted in the code that the emitter writes and in the driver, and the
//! cases of the test kit, on the simulated device, must find each of them: by a wrong result, or by what
//! the simulator notices.
//!
//! A plant is an option of the simulator (`nesl_sim::options::Plant`): a change of the text of modules,
//! or something that the driver leaves out. Each stands for a slip of whoever changes the emitter.

use nesl_runtime::runtime::{Failure, Options, Runtime};
use nesl_runtime::testkit::{self, Case, cases};
use nesl_runtime_ptx::Ptx;
use nesl_runtime_ptx::emit::{Target, emit_for};
use nesl_sim::client::{Client, Session};

/// The bugs, each with the slip that it stands for.
const PLANTS: [(&str, &str); 43] = [
    // What the threads of a block, and the blocks, wait for.
    ("without bar.sync", "every barrier of a block is forgotten"),
    ("atom.acq_rel.gpu.global.inc.u32 => atom.relaxed.gpu.global.inc.u32", "a release is weakened"),
    ("atom.relaxed.gpu.global.inc.u32 => ld.relaxed.gpu.global.u32", "all blocks draw one tile"),
    // What belongs together across lanes and tiles.
    ("shfl.sync.up.b32 => shfl.sync.down.b32", "a scan in a warp looks the wrong way"),
    ("shfl.sync.down.b32 => shfl.sync.up.b32", "a reduction in a warp reads the wrong lanes"),
    ("redux.sync.add.u32 => redux.sync.max.u32", "a piece of a sum over a warp is no sum"),
    ("redux.sync.min.s32 => redux.sync.max.s32", "the first result of a warp is the last one"),
    ("shf.r.wrap.b32 => shf.l.wrap.b32", "the pieces of a sum overlap"),
    ("vote.sync.ballot.b32 => vote.sync.any.pred", "a vote is not a ballot"),
    ("ld.relaxed.gpu.global.v2.b64 => ld.global.v2.b64", "the states of tiles are read weakly"),
    ("bfind.u32 => clz.b32", "the last head of a segment is sought from the wrong end"),
    ("setp.le.u32 => setp.lt.u32", "lanes take the results of the next segment"),
    ("setp.lt.and.s64 => setp.ge.and.s64", "lanes store the results of segments that are none"),
    ("red.relaxed.cta.shared.or.b32 => red.relaxed.cta.shared.max.s32", "marks replace each other"),
    ("neg.s32 => not.b32", "the first of some lanes is another one"),
    // Bounds.
    ("setp.ge.s64 => setp.gt.s64", "a loop ends an element too late"),
    ("setp.gt.s32 => setp.ge.s32", "a guard lets one element too many pass"),
    ("setp.lt.s64 => setp.le.s64", "a loop goes on for one element too many"),
    ("setp.lo.u64 => setp.ls.u64", "an index may be the length"),
    ("setp.eq.s64 => setp.ne.s64", "a condition is turned around"),
    // Arithmetic.
    ("add.rn.f64 => add.rz.f64", "a sum is rounded toward zero"),
    ("mul.rn.f64 => mul.rz.f64", "a product is rounded toward zero"),
    ("add.rn.f32 => add.rn.ftz.f32", "small floats become zero"),
    ("div.rn.f32 => div.rz.f32", "a quotient is rounded toward zero"),
    ("cvt.rzi.s64.f64 => cvt.rni.s64.f64", "a float becomes the nearest int"),
    ("min.s64 => max.s64", "the least is the greatest"),
    ("shr.s64 => shr.u64", "a shift forgets the sign"),
    ("rem.s64 => div.s64", "a remainder is a quotient"),
    ("setp.nan.f64 => setp.num.f64", "NaN is a number"),
    // Memory.
    ("ld.global.u8 => ld.global.s8", "a char is negative"),
    ("st.relaxed.gpu.global.u8 => st.global.u8", "stores of one value race"),
    ("red.relaxed.gpu.global.add.u64 => st.global.u64", "a histogram races"),
    ("atom.relaxed.cta.shared.add.u32 => atom.relaxed.cta.shared.max.u32", "a table is no sum"),
    ("setp.lt.u32 => setp.gt.u32", "a sum of two words loses its carry"),
    ("setp.eq.and.s32 => setp.ge.and.s32", "lanes that have the same bin take no turns"),
    ("red.relaxed.gpu.global.max.u64 => red.relaxed.gpu.global.min.u64", "the first scatter wins"),
    ("st.local.b64 => st.local.b32", "half of an element of a work item's array is written"),
    ("no fills", "memory is not cleared before it is used"),
    ("late writes", "a copy to the device is not ordered with the launch after it"),
    // Failures.
    ("setp.eq.or.u64 => setp.ne.or.u64", "a launch after a failure is executed"),
    ("setp.lt.u64 => setp.gt.u64", "the last failure wins"),
    ("without st.relaxed.sys.global", "the host is not told of a failure"),
    ("atom.release.gpu.global.exch.b32 => ld.relaxed.gpu.global.b32", "the record stays locked"),
];

/// The cases that find a bug, where that takes long if all cases are tried in their order: they are tried first.
const FINDERS: [(&str, &str); 20] = [
    (
        "atom.acq_rel.gpu.global.inc.u32 => atom.relaxed.gpu.global.inc.u32",
        "reduce add i64 over Flat [5000]",
    ),
    (
        "atom.relaxed.gpu.global.inc.u32 => ld.relaxed.gpu.global.u32",
        "lengths by work item = alloc",
    ),
    ("shfl.sync.up.b32 => shfl.sync.down.b32", "lengths by work item = alloc"),
    ("shfl.sync.down.b32 => shfl.sync.up.b32", "reduce mul i64 over Flat [1]"),
    ("redux.sync.add.u32 => redux.sync.max.u32", "three stages over Flat [2]"),
    ("redux.sync.min.s32 => redux.sync.max.s32", "reduce min i64 over Flat [1]"),
    ("shf.r.wrap.b32 => shf.l.wrap.b32", "reduce add i64 over Flat [1]"),
    ("vote.sync.ballot.b32 => vote.sync.any.pred", "lengths by work item = alloc"),
    ("ld.relaxed.gpu.global.v2.b64 => ld.global.v2.b64", "scan add i64 over Flat [5000]"),
    ("bfind.u32 => clz.b32", "segments add i64 over Regular [1]"),
    (
        "setp.lt.and.s64 => setp.ge.and.s64",
        "segments add i64 over Regular [32, 32, 32, 32, 32, 32, 32, 32]",
    ),
    (
        "red.relaxed.cta.shared.or.b32 => red.relaxed.cta.shared.max.s32",
        "segments add i64 over Segmented 90 segments",
    ),
    ("setp.lo.u64 => setp.ls.u64", "an index behind the end"),
    ("st.relaxed.gpu.global.u8 => st.global.u8", "stores of one value"),
    ("red.relaxed.gpu.global.add.u64 => st.global.u64", "rank_up of 3000 i64"),
    (
        "atom.relaxed.cta.shared.add.u32 => atom.relaxed.cta.shared.max.u32",
        "histogram over Flat [100]",
    ),
    ("setp.eq.and.s32 => setp.ge.and.s32", "histogram over Flat [31]"),
    (
        "red.relaxed.gpu.global.max.u64 => red.relaxed.gpu.global.min.u64",
        "compact frees 70000 = alloc",
    ),
    ("no fills", "lengths by work item = alloc"),
    ("without st.relaxed.sys.global", "emit after a failure over Flat [31]"),
];

/// Returns true if code of the cases has what a plant changes: else it would plant nothing.
fn occurs(plant: &str, texts: &[String]) -> bool {
    let old = match (plant.strip_prefix("without "), plant.split_once(" => ")) {
        (Some(old), _) | (None, Some((old, _))) => old,
        // What the driver leaves out.
        (None, None) => return true,
    };
    texts.iter().any(|text| text.contains(old))
}

/// Returns true if the cases notice that something is wrong.
fn is_found<'c>(session: &Session, cases: impl Iterator<Item = &'c Case>) -> bool {
    // What is planted may end the context, and with it the runtime.
    let mut ptx = None;
    for case in cases {
        let runtime = match &ptx {
            Some(runtime) => runtime,
            None => match Ptx::new(0, Options::default()) {
                Ok(runtime) => ptx.insert(runtime),
                Err(_) => return true,
            },
        };
        match runtime.load(&case.module()) {
            Err(Failure::Unsupported(_)) => continue,
            Err(_) => return true,
            Ok(_) => {}
        }
        if testkit::check(case, runtime).is_err() || !session.findings().is_empty() {
            return true;
        }
    }
    false
}

#[test]
fn the_cases_find_planted_bugs() {
    let session = Client::load().unwrap().exclusive();
    let cases = cases();
    // The simulated device executes the text for Ampere.
    let codes = cases.iter().filter_map(|case| emit_for(&case.module(), Target::Ampere).ok());
    let texts: Vec<String> = codes.map(|code| code.text).collect();
    let mut missed = Vec::new();
    for (plant, slip) in PLANTS {
        assert!(occurs(plant, &texts), "no code has what `{plant}` changes");
        // An endless loop is found soon.
        for (option, value) in [("check", "1"), ("defer", "1"), ("budget", "20000000")] {
            session.set(option, value).unwrap();
        }
        session.set("plant", plant).unwrap();
        let finder = FINDERS.iter().find(|(of, _)| *of == plant).map(|(_, case)| *case);
        let first = cases.iter().filter(|case| Some(&*case.name) == finder);
        if !is_found(&session, first.chain(&cases)) {
            missed.push(format!("{plant}: {slip}"));
        }
        session.set("plant", "").unwrap();
        session.reset_device();
        session.clear();
    }
    assert!(missed.is_empty(), "nobody noticed:\n{}", missed.join("\n"));
}
