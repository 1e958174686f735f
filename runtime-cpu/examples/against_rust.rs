//! Kernels beside loops written by hand with rayon, in one process.
//!
//! ```text
//! cargo run --release -p nesl-runtime-cpu --example against_rust
//! ```
//!
//! Prints for each the best of several times, ours and theirs, their ratio (below 1 ours is
//! quicker), and how long the kernel took to compile.

use nesl_runtime::kir::{Literal, Ty, parse};
use nesl_runtime::runtime::{Arg, Buffer, Launch, Options, Runtime};
use nesl_runtime_cpu::Cpu;
use rayon::prelude::*;
use std::time::{Duration, Instant};

const N: usize = 10_000_000;
const SIDE: usize = 512;
const CHUNK: usize = 1 << 16;

fn best(mut f: impl FnMut()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        f();
        start.elapsed()
    };
    (0..9).map(time).min().expect("some were taken")
}

fn floats(cpu: &Cpu, data: &[f64]) -> Buffer {
    let buffer = cpu.alloc(Ty::F64, data.len()).expect("room");
    let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_ne_bytes()).collect();
    cpu.write(&buffer, 0, &bytes).expect("written");
    buffer
}

fn int(x: usize) -> Arg {
    Arg::Scalar(Literal::I64(x as i64))
}

fn array(buffer: &Buffer) -> Arg {
    Arg::Array(buffer.clone(), 0)
}

fn compare(cpu: &Cpu, name: &str, text: &str, args: &[Arg], mut theirs: impl FnMut()) {
    let module = parse(text).expect("kir");
    let before = cpu.counters().compile_ns;
    let module = cpu.load(&module).expect("compiled");
    let compiled = Duration::from_nanos(cpu.counters().compile_ns - before);
    let ours = best(|| {
        cpu.launch(&Launch { module: &module, kernel: 0, args, tag: 0, work_items: None })
            .expect("launched");
        cpu.sync().expect("done");
    });
    let theirs = best(&mut theirs);
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("{name:20} {ours:>12.2?} {theirs:>12.2?} {ratio:>6.2}   compiled in {compiled:.2?}");
}

fn main() {
    let cpu = Cpu::new(Options::default()).expect("a CPU that is known");
    let xs: Vec<f64> = (0..N).map(|i| (i % 1000) as f64 * 0.001 - 0.4).collect();
    let ys: Vec<f64> = (0..N).map(|i| (i % 777) as f64 * 0.002).collect();
    let (x, y, z) = (floats(&cpu, &xs), floats(&cpu, &ys), floats(&cpu, &ys));
    let one = floats(&cpu, &[0.0]);
    let count = cpu.alloc(Ty::I64, 1).expect("room");
    let mut zs = ys.clone();
    println!("{:20} {:>12} {:>12} {:>6}", "", "ours", "rust", "ratio");

    let text = "kernel \"dot\"(v0: i64, v1: [f64], v2: [f64], v3: [f64]) over flat v0 at v4 {
  v5: f64 = load v1[v4]
  v6: f64 = load v2[v4]
  v7: f64 = mul v5, v6
  reduce add v7 -> v3
}";
    compare(&cpu, "dot product", text, &[int(N), array(&x), array(&y), array(&one)], || {
        let dot = |(a, b): (&[f64], &[f64])| {
            let mut sums = [0.0; 16];
            for (a, b) in a.chunks_exact(16).zip(b.chunks_exact(16)) {
                (0..16).for_each(|k| sums[k] += a[k] * b[k]);
            }
            sums.iter().sum::<f64>()
        };
        let sum: f64 = xs.par_chunks(CHUNK).zip(ys.par_chunks(CHUNK)).map(dot).sum();
        std::hint::black_box(sum);
    });
    let small = [int(1000), array(&x), array(&y), array(&one)];
    compare(&cpu, "dot product of 1000", text, &small, || {
        let sum: f64 = xs[..1000].iter().zip(&ys[..1000]).map(|(a, b)| a * b).sum();
        std::hint::black_box(sum);
    });

    let text =
        "kernel \"saxpy\"(v0: i64, v1: f64, v2: [f64], v3: [f64], v4: [f64]) over flat v0 at v5 {
  v6: f64 = load v2[v5]
  v7: f64 = load v3[v5]
  v8: f64 = mul v6, v1
  v9: f64 = add v8, v7
  store v4[v5] = v9
}";
    let two = Arg::Scalar(Literal::F64(2f64.to_bits()));
    compare(&cpu, "saxpy", text, &[int(N), two, array(&x), array(&y), array(&z)], || {
        zs.par_chunks_mut(CHUNK).zip(xs.par_chunks(CHUNK)).zip(ys.par_chunks(CHUNK)).for_each(
            |((z, x), y)| z.iter_mut().zip(x).zip(y).for_each(|((z, x), y)| *z = 2.0 * x + y),
        );
    });

    let chain = 24;
    let mut text = "kernel \"chain\"(v0: i64, v1: [f64], v2: [f64]) over flat v0 at v3 {
  v4: f64 = load v1[v3]
  v5: f64 = const 0.37\n"
        .to_string();
    for k in 0..chain {
        let at = 6 + 2 * k;
        text += &format!("  v{at}: f64 = const 0.{}\n", k + 11);
        text +=
            &format!("  v{}: f64 = fma v{}, v4, v{at}\n", at + 1, if k == 0 { 5 } else { at - 1 });
    }
    text += &format!("  store v2[v3] = v{}\n}}", 5 + 2 * chain);
    let coefficients: Vec<f64> =
        (0..chain).map(|k| format!("0.{}", k + 11).parse().expect("a number")).collect();
    compare(&cpu, "polynomial (fma)", &text, &[int(N), array(&x), array(&z)], || {
        zs.par_chunks_mut(CHUNK).zip(xs.par_chunks(CHUNK)).for_each(|(z, x)| {
            polynomials(z, x, &coefficients);
        });
    });

    let text =
        "kernel \"mandelbrot\"(v0: i64, v1: i64, v2: [i64]) over regular v0, v1 at v3, v4, v5 {
  v6: f64 = convert v3
  v7: f64 = convert v4
  v8: f64 = const 0.005
  v9: f64 = mul v7, v8
  v10: f64 = const 2.0
  v11: f64 = sub v9, v10
  v12: f64 = mul v6, v8
  v13: f64 = const 1.25
  v14: f64 = sub v12, v13
  v15: f64 = const 0.0
  v16: i64 = const 0
  v17: i64 = const 256
  v18: f64 = const 4.0
  v19: i64 = const 1
  v20: f64, v21: f64, v22: i64 = while carry v23: f64 = v15, v24: f64 = v15, v25: i64 = v16 {
    v26: f64 = mul v23, v23
    v27: f64 = mul v24, v24
    v28: f64 = add v26, v27
    v29: bool = le v28, v18
    v30: bool = lt v25, v17
    v31: bool = and v29, v30
    yield v31
  } do {
    v32: f64 = mul v23, v23
    v33: f64 = mul v24, v24
    v34: f64 = sub v32, v33
    v35: f64 = add v34, v11
    v36: f64 = mul v23, v24
    v37: f64 = add v36, v36
    v38: f64 = add v37, v14
    v39: i64 = add v25, v19
    yield v35, v38, v39
  }
  store v2[v5] = v22
}";
    let pixels = cpu.alloc(Ty::I64, SIDE * SIDE).expect("room");
    let mut counts = vec![0i64; SIDE * SIDE];
    compare(&cpu, "mandelbrot", text, &[int(SIDE), int(SIDE), array(&pixels)], || {
        counts.par_chunks_mut(SIDE).enumerate().for_each(|(row, out)| {
            for (column, out) in out.iter_mut().enumerate() {
                let (a, b) = (column as f64 * 0.005 - 2.0, row as f64 * 0.005 - 1.25);
                let (mut x, mut y, mut n) = (0.0, 0.0, 0);
                while x * x + y * y <= 4.0 && n < 256 {
                    (x, y, n) = (x * x - y * y + a, x * y + x * y + b, n + 1);
                }
                *out = n;
            }
        });
    });

    let text = "kernel \"rows\"(v0: i64, v1: i64, v2: [f64], v3: [f64]) over regular v0, v1 at v4, v5, v6 {
  v7: f64 = load v2[v6]
  reduce segment add v7 -> v3
}";
    let rows = floats(&cpu, &vec![0.0; N / 1000]);
    let mut sums = vec![0.0; N / 1000];
    let row_sum = |row: &[f64]| {
        let mut sums = [0.0; 8];
        row.chunks_exact(8).for_each(|c| (0..8).for_each(|k| sums[k] += c[k]));
        sums.iter().sum::<f64>()
    };
    compare(
        &cpu,
        "rows of 1000",
        text,
        &[int(N / 1000), int(1000), array(&x), array(&rows)],
        || {
            sums.par_iter_mut().zip(xs.par_chunks(1000)).for_each(|(out, row)| *out = row_sum(row));
        },
    );
    let text = "kernel \"inner\"(v0: i64, v1: i64, v2: [f64], v3: [f64]) over flat v0 at v4 {
  v5: i64 = mul v4, v1
  v6: f64 = for v7 < v1 reduce add {
    v8: i64 = add v5, v7
    v9: f64 = load v2[v8]
    yield v9
  }
  store v3[v4] = v6
}";
    compare(
        &cpu,
        "rows, inner loop",
        text,
        &[int(N / 1000), int(1000), array(&x), array(&rows)],
        || {
            sums.par_iter_mut().zip(xs.par_chunks(1000)).for_each(|(out, row)| *out = row_sum(row));
        },
    );

    let text = "kernel \"filter\"(v0: i64, v1: [f64], v2: [f64], v3: [i64]) over flat v0 at v4 {
  v5: f64 = load v1[v4]
  v6: f64 = const 0.0
  v7: bool = gt v5, v6
  pack v7 columns v5 -> v2 count v3
}";
    compare(&cpu, "filter", text, &[int(N), array(&x), array(&z), array(&count)], || {
        let kept: Vec<usize> =
            xs.par_chunks(CHUNK).map(|c| c.iter().filter(|x| **x > 0.0).count()).collect();
        let mut rest = &mut zs[..];
        let mut places = Vec::new();
        for kept in kept {
            let (mine, more) = rest.split_at_mut(kept);
            places.push(mine);
            rest = more;
        }
        places.into_par_iter().zip(xs.par_chunks(CHUNK)).for_each(|(out, c)| {
            let kept = c.iter().filter(|x| **x > 0.0);
            out.iter_mut().zip(kept).for_each(|(out, x)| *out = *x);
        });
    });

    let text = "kernel \"scan\"(v0: i64, v1: [f64], v2: [f64], v3: [f64]) over flat v0 at v4 {
  v5: f64 = load v1[v4]
  v6: f64 = scan add v5 total v3
} then {
  store v2[v4] = v6
}";
    compare(&cpu, "scan", text, &[int(N), array(&x), array(&z), array(&one)], || {
        let sums: Vec<f64> = xs.par_chunks(CHUNK).map(row_sum).collect();
        let mut at = 0.0;
        let mut start = |s: &f64| {
            let before = at;
            at += s;
            before
        };
        let starts: Vec<f64> = sums.iter().map(&mut start).collect();
        zs.par_chunks_mut(CHUNK).zip(xs.par_chunks(CHUNK)).zip(starts).for_each(
            |((z, x), mut sum)| {
                z.iter_mut().zip(x).for_each(|(z, x)| {
                    *z = sum;
                    sum += x;
                });
            },
        );
    });
    std::hint::black_box((zs, counts, sums));
}

/// The polynomial, with fused operations where the processor has them.
fn polynomials(z: &mut [f64], x: &[f64], coefficients: &[f64]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("fma") && std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has what is asked for.
        return unsafe { polynomials_fma(z, x, coefficients) };
    }
    polynomials_plain(z, x, coefficients);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn polynomials_fma(z: &mut [f64], x: &[f64], coefficients: &[f64]) {
    for (z, x) in z.chunks_exact_mut(16).zip(x.chunks_exact(16)) {
        let mut sum = [0.37; 16];
        for c in coefficients {
            (0..16).for_each(|k| sum[k] = f64::mul_add(sum[k], x[k], *c));
        }
        z.copy_from_slice(&sum);
    }
}

fn polynomials_plain(z: &mut [f64], x: &[f64], coefficients: &[f64]) {
    for (z, x) in z.iter_mut().zip(x) {
        *z = coefficients.iter().fold(0.37, |sum, c| f64::mul_add(sum, *x, *c));
    }
}
