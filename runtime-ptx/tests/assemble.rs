//! Everything that is emitted is accepted by `ptxas`, NVIDIA's assembler, for every architecture from
//! Turing on, with the instructions that are for it, and no kernel spills registers.
//!
//! `NESL_PTXAS` names the assembler; without one the texts are only made. It needs no toolkit: the
//! package `nvidia-cuda-nvcc` of PyPI has it. `NESL_PTXAS_CASES` chooses the cases whose names or texts
//! contain it, `NESL_PTXAS_ARCHS` the architectures.

mod typical;

use expect_test::expect;
use nesl_runtime::kir::{Ty, parse};
use nesl_runtime::testkit::cases;
use nesl_runtime_ptx::emit::{Target, emit_for};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use typical::{BLACK_SCHOLES, COLUMNS, DOT, MAP, PACK, REDUCE, ROWS, SCAN, SEGMENTS, of_type};

/// The architectures that the texts are assembled for.
const ARCHITECTURES: &str = "sm_75,sm_80,sm_90,sm_100,sm_120";

/// The modules that are assembled together: starting the assembler takes longer than most of them.
const MODULES_AT_ONCE: usize = 40;

/// The use of registers by an entry, as the assembler reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Usage {
    registers: u32,
    spilled_bytes: u32,
}

/// Assembles modules; returns the usage of each entry, by name. The entries of the n-th module are
/// named `mN_…`. Returns none without an assembler.
fn assemble(modules: &[String], architecture: &str) -> Option<BTreeMap<String, Usage>> {
    let ptxas = std::env::var_os("NESL_PTXAS")?;
    let mut text = String::new();
    for (at, module) in modules.iter().enumerate() {
        let (header, code) = module.split_at(module.find(".address_size 64").unwrap() + 16);
        if at == 0 {
            text += header;
        }
        text += &code.replace("kernel0_pass", &format!("m{at}_pass"));
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &text).unwrap();
    let out = Command::new(ptxas)
        .args(["-v", &format!("-arch={architecture}"), "-o", "/dev/null"])
        .arg(file.path())
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
    if !out.status.success() {
        let numbered = text.lines().zip(1..).fold(String::new(), |mut all, (line, number)| {
            let _ = writeln!(all, "{number}: {line}");
            all
        });
        panic!("{architecture}: {log}\n{numbered}");
    }
    Some(usages(&log))
}

/// Reads the use of registers from the output of `ptxas -v`.
fn usages(log: &str) -> BTreeMap<String, Usage> {
    let (mut all, mut name) = (BTreeMap::<String, Usage>::new(), String::new());
    for line in log.lines() {
        let number_before = |what: &str| {
            let words = line.split(what).next().unwrap_or_default();
            words.split_whitespace().last().and_then(|word| word.parse::<u32>().ok())
        };
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            name = rest.split('\'').next().unwrap_or_default().to_owned();
        } else if line.contains("bytes spill stores") {
            all.entry(name.clone()).or_default().spilled_bytes =
                number_before(" bytes spill stores").unwrap();
        } else if line.contains("Used ") {
            all.entry(name.clone()).or_default().registers = number_before(" registers").unwrap();
        }
    }
    all
}

/// The target of an architecture.
fn target(architecture: &str) -> Target {
    Target::named(architecture).unwrap()
}

/// Assembles modules for all architectures, on all cores, each with the instructions for it; returns
/// the entries that spill.
fn assemble_all(modules: impl Fn(Target) -> Vec<String>) -> BTreeSet<String> {
    let chosen = std::env::var("NESL_PTXAS_ARCHS").unwrap_or_else(|_| ARCHITECTURES.to_owned());
    let of_targets: BTreeMap<Target, Vec<String>> =
        chosen.split(',').map(target).map(|target| (target, modules(target))).collect();
    let jobs: Vec<(&str, &[String])> = chosen
        .split(',')
        .flat_map(|arch| {
            let modules = &of_targets[&target(arch)];
            modules.chunks(MODULES_AT_ONCE).map(move |part| (arch, part))
        })
        .collect();
    let (next, spills) = (AtomicUsize::new(0), std::sync::Mutex::new(BTreeSet::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((arch, part)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for (name, usage) in assemble(part, arch).unwrap_or_default() {
                        if usage.spilled_bytes > 0 {
                            let number = name[1..].split('_').next().unwrap();
                            let text = &part[number.parse::<usize>().unwrap()];
                            let kernel = text.lines().find(|line| line.starts_with("// kernel"));
                            let bytes = usage.spilled_bytes;
                            let what = format!("{arch}: {} {name}: {bytes} bytes", kernel.unwrap());
                            spills.lock().unwrap().insert(what);
                        }
                    }
                }
            });
        }
    });
    spills.into_inner().unwrap()
}

/// Warps come to a barrier with all of their lanes: what is behind it is compiled for that.
#[test]
fn lanes_meet_before_each_barrier() {
    let mut barriers = 0;
    for case in cases() {
        let Ok(code) = emit_for(&case.module(), Target::default()) else { continue };
        let mut before = "";
        for line in code.text.lines().map(str::trim) {
            if line.starts_with("bar.sync") || line.starts_with("bar.red") {
                assert_eq!(before, "bar.warp.sync -1;", "{}: {line}", case.name);
                barriers += 1;
            }
            before = line;
        }
    }
    assert!(barriers > 10_000, "{barriers}");
}

#[test]
fn the_testkit_assembles() {
    let chosen = std::env::var("NESL_PTXAS_CASES").unwrap_or_default();
    let spills = assemble_all(|target| {
        let mut refused: BTreeMap<String, usize> = BTreeMap::new();
        let mut modules = BTreeSet::new();
        for case in cases() {
            if !case.name.contains(&chosen) && !case.text.contains(&chosen) {
                continue;
            }
            match emit_for(&case.module(), target) {
                Ok(code) => drop(modules.insert(code.text)),
                Err(reason) => *refused.entry(reason.to_string()).or_default() += 1,
            }
        }
        println!("{target:?}: {} modules; refused: {refused:#?}", modules.len());
        assert!(modules.len() > 100 || !chosen.is_empty());
        modules.into_iter().collect()
    });
    assert!(spills.is_empty(), "{} entries spill: {spills:#?}", spills.len());
}

/// The intrinsics that are services of the device, with the types of their arrays.
fn services() -> Vec<(String, Vec<Ty>)> {
    let mut all = Vec::new();
    for ty in [Ty::U8, Ty::I32, Ty::I64, Ty::F32, Ty::F64] {
        for suffix in ["up", "down"] {
            all.push((format!("sort_{suffix}"), vec![ty, ty]));
            all.push((format!("rank_{suffix}"), vec![ty, Ty::I64]));
        }
    }
    for ty in [Ty::I32, Ty::I64] {
        all.push(("groups".into(), vec![ty, Ty::I64, Ty::I64]));
    }
    all.push(("text_groups".into(), vec![Ty::I64, Ty::I64, Ty::U8, Ty::I64, Ty::I64]));
    all
}

/// The intrinsics of texts that ordinary kernels call.
const TEXTS: &str = "\
kernel \"k\"(v0: i64, v1: [u8], v2: i64, v3: [i64], v4: [bool]) over flat v0 at v5 {
  v6: i64 = extern hash_text(v1, v2, v5)
  store v3[v5] = v6
  v7: bool = extern same_text(v1, v2, v1, v5)
  store v4[v5] = v7
}
";

#[test]
fn services_assemble() {
    let mut texts = vec![TEXTS.to_string()];
    for (intrinsic, types) in services() {
        let params: Vec<String> =
            types.iter().zip(2..).map(|(ty, at)| format!("v{at}: [{ty}]")).collect();
        let args: Vec<String> = (3..types.len() + 2).map(|at| format!("v{at}")).collect();
        let text = format!(
            "kernel \"k\"(v0: i64, v1: i64, {}) over flat v0 at v9 {{\n  extern {intrinsic}(v2, v1, {})\n}}",
            params.join(", "),
            args.join(", "),
        );
        texts.push(text);
    }
    let spills = assemble_all(|target| {
        texts.iter().map(|text| emit_for(&parse(text).unwrap(), target).unwrap().text).collect()
    });
    assert!(spills.is_empty(), "{spills:#?}");
}

/// The registers of a thread decide how many threads a multiprocessor holds: 65,536 of them, 2,048
/// threads at most.
#[test]
fn registers_of_typical_kernels() {
    let kernels = [
        ("dot", DOT.to_owned()),
        ("map", MAP.to_owned()),
        ("reduce i64", of_type(REDUCE, "i64")),
        ("reduce f64", of_type(REDUCE, "f64")),
        ("scan i64", of_type(SCAN, "i64")),
        ("scan f64", of_type(SCAN, "f64")),
        ("pack", PACK.to_owned()),
        ("rows", ROWS.to_owned()),
        ("segments", SEGMENTS.to_owned()),
        ("columns", COLUMNS.to_owned()),
        ("black-scholes", BLACK_SCHOLES.to_owned()),
    ];
    let architectures: Vec<&str> = ARCHITECTURES.split(',').collect();
    let mut table = format!("{:<15}", "kernel");
    architectures.iter().for_each(|name| table += &format!("{name:>8}"));
    for (name, text) in kernels {
        let _ = write!(table, "\n{name:<15}");
        for architecture in &architectures {
            let code = emit_for(&parse(&text).unwrap(), target(architecture)).unwrap().text;
            let Some(usages) = assemble(std::slice::from_ref(&code), architecture) else { return };
            let most = usages.values().map(|usage| usage.registers).max().unwrap();
            let spilled: u32 = usages.values().map(|usage| usage.spilled_bytes).sum();
            let mark = if spilled > 0 { "*" } else { "" };
            let _ = write!(table, "{:>8}", format!("{most}{mark}"));
        }
    }
    // A star: some of them are spilled.
    expect![[r#"
        kernel            sm_75   sm_80   sm_90  sm_100  sm_120
        dot                  26      26      26      26      28
        map                  22      22      24      24      28
        reduce i64           26      24      26      28      30
        reduce f64           22      22      24      24      26
        scan i64             72      72      64      64      72
        scan f64             70      70      64      64      72
        pack                 80      80      78      78      78
        rows                 76      76      74      76      76
        segments             90      90      92      92      94
        columns              18      20      20      20      20
        black-scholes        42      43      46      46      46
    "#]]
    .assert_eq(&(table + "\n"));
}
