//! Launches whose results are known in closed form, with one thread and two.

use nesl_runtime::kir::*;
use nesl_runtime::runtime::{Arg, Buffer, Failure, Launch, Options, Runtime};
use nesl_runtime_cpu::Cpu;

const I: ValueTy = ValueTy::Scalar(Ty::I64);
const AF: ValueTy = ValueTy::Array(Ty::F64);
const AI: ValueTy = ValueTy::Array(Ty::I64);

fn cpus() -> Vec<Cpu> {
    [1, 2, 3]
        .map(|threads| Cpu::new(Options { threads, ..Options::default() }).unwrap())
        .into_iter()
        .collect()
}

fn ints(cpu: &Cpu, data: &[i64]) -> Buffer {
    let buffer = cpu.alloc(Ty::I64, data.len()).unwrap();
    let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_ne_bytes()).collect();
    cpu.write(&buffer, 0, &bytes).unwrap();
    buffer
}

fn floats(cpu: &Cpu, data: &[f64]) -> Buffer {
    let buffer = cpu.alloc(Ty::F64, data.len()).unwrap();
    let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_ne_bytes()).collect();
    cpu.write(&buffer, 0, &bytes).unwrap();
    buffer
}

fn words(cpu: &Cpu, buffer: &Buffer) -> Vec<[u8; 8]> {
    let mut bytes = vec![0; buffer.len() * 8];
    cpu.read(buffer, 0, &mut bytes).unwrap();
    bytes.chunks(8).map(|c| c.try_into().unwrap()).collect()
}

fn read_ints(cpu: &Cpu, buffer: &Buffer) -> Vec<i64> {
    words(cpu, buffer).into_iter().map(i64::from_ne_bytes).collect()
}

fn read_floats(cpu: &Cpu, buffer: &Buffer) -> Vec<f64> {
    words(cpu, buffer).into_iter().map(f64::from_ne_bytes).collect()
}

fn run(
    cpu: &Cpu,
    kernel: Kernel,
    functions: Vec<Function>,
    args: &[Arg],
) -> Result<Vec<Buffer>, Failure> {
    let module = Module { functions, kernels: vec![kernel] };
    let loaded = cpu.load(&module).unwrap();
    let outputs =
        cpu.launch(&Launch { module: &loaded, kernel: 0, args, tag: 7, work_items: None })?;
    cpu.sync().map(|()| outputs)
}

fn all(buffer: &Buffer) -> Arg {
    Arg::Array(buffer.clone(), 0)
}

fn n(x: usize) -> Arg {
    Arg::Scalar(Literal::I64(x as i64))
}

fn flat(b: &mut KernelBuilder) -> Value {
    let count = b.param(I);
    b.over(Space::Flat { count })[0]
}

#[test]
fn dot_product() {
    for cpu in cpus() {
        for size in [0, 1, 7, 8, 9, 100, 200_003] {
            let mut b = KernelBuilder::new("dot");
            let at = flat(&mut b);
            let (x, y, out) = (b.param(AF), b.param(AF), b.param(AF));
            let (p, q) = (b.body.load(x, at), b.body.load(y, at));
            let value = b.body.binary(Binary::Mul, p, q);
            b.sink(Sink::Reduce {
                scope: Scope::All,
                combine: Combine::Add,
                value,
                out: Some(out),
                result: None,
            });
            let xs: Vec<f64> = (0..size).map(|i| (i % 10) as f64).collect();
            let ys: Vec<f64> = (0..size).map(|i| (i % 7) as f64).collect();
            let want: f64 = xs.iter().zip(&ys).map(|(a, b)| a * b).sum();
            let (x, y, out) = (floats(&cpu, &xs), floats(&cpu, &ys), floats(&cpu, &[-1.0]));
            run(&cpu, b.finish(), vec![], &[n(size), all(&x), all(&y), all(&out)]).unwrap();
            assert_eq!(read_floats(&cpu, &out), [want]);
        }
    }
}

#[test]
fn scan_and_pack() {
    for cpu in cpus() {
        for size in [0, 1, 5, 100, 100_001] {
            let mut b = KernelBuilder::new("scan");
            let at = flat(&mut b);
            let (x, out, total) = (b.param(AI), b.param(AI), b.param(AI));
            let (packed, count) = (b.param(AI), b.param(AI));
            let value = b.body.load(x, at);
            let result = b.body.value(I);
            b.sink(Sink::Scan {
                scope: Scope::All,
                combine: Combine::Add,
                value,
                result,
                total: Some(total),
            });
            b.next_stage();
            b.body.store(out, at, result);
            let one = b.body.i64(1);
            let low = b.body.binary(Binary::And, result, one);
            let keep = b.body.binary(Binary::Eq, low, one);
            b.sink(Sink::Pack { keep, columns: vec![(result, packed)], count, scope: Scope::All });
            let xs: Vec<i64> = (0..size as i64).map(|i| i * i % 11).collect();
            let mut sums = vec![];
            let mut sum = 0;
            for x in &xs {
                sums.push(sum);
                sum += x;
            }
            let odd: Vec<i64> = sums.iter().copied().filter(|s| s & 1 == 1).collect();
            let args = [
                ints(&cpu, &xs),
                ints(&cpu, &vec![-1; size]),
                ints(&cpu, &[-1]),
                ints(&cpu, &vec![-1; size]),
                ints(&cpu, &[-1]),
            ];
            let mut all_args = vec![n(size)];
            all_args.extend(args.iter().map(all));
            run(&cpu, b.finish(), vec![], &all_args).unwrap();
            assert_eq!(read_ints(&cpu, &args[1]), sums);
            assert_eq!(read_ints(&cpu, &args[2]), [sum]);
            assert_eq!(read_ints(&cpu, &args[4]), [odd.len() as i64]);
            assert_eq!(read_ints(&cpu, &args[3])[..odd.len()], odd);
        }
    }
}

/// Segments of lengths 0, 1, 2, … , and one that is most of the space.
fn lengths(big: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..50).collect();
    all.extend([0, 0, 1]);
    all.push(big);
    all.extend([0, 3, 0]);
    all
}

#[test]
fn segments() {
    for cpu in cpus() {
        for (big, with_result) in [(0, false), (5, true), (90_001, false), (90_001, true)] {
            let mut b = KernelBuilder::new("segments");
            let (segments, offsets) = (b.param(I), b.param(AI));
            let point = b.over(Space::Segmented { segments, offsets });
            let (x, sums, scans, totals) = (b.param(AI), b.param(AI), b.param(AI), b.param(AI));
            let (packed, counts, places) = (b.param(AI), b.param(AI), b.param(AI));
            let value = b.body.load(x, point[2]);
            let sum = with_result.then(|| b.body.value(I));
            let result = b.body.value(I);
            b.sink(Sink::Reduce {
                scope: Scope::Segment,
                combine: Combine::Add,
                value,
                out: Some(sums),
                result: sum,
            });
            b.sink(Sink::Scan {
                scope: Scope::Segment,
                combine: Combine::Add,
                value,
                result,
                total: Some(totals),
            });
            b.next_stage();
            let scanned = match sum {
                Some(sum) => b.body.binary(Binary::Sub, sum, result),
                None => result,
            };
            b.body.store(scans, point[2], scanned);
            let three = b.body.i64(3);
            let rest = b.body.binary(Binary::Rem, value, three);
            let zero = b.body.i64(0);
            let keep = b.body.binary(Binary::Eq, rest, zero);
            let columns = vec![(value, packed)];
            b.sink(Sink::Pack { keep, columns, count: counts, scope: Scope::Segment });
            let place = b.body.binary(Binary::Add, point[0], point[1]);
            b.body.store(places, point[2], place);

            let lengths = lengths(big);
            let mut at = vec![0];
            lengths.iter().for_each(|l| at.push(at.last().unwrap() + *l as i64));
            let size = *at.last().unwrap() as usize;
            let xs: Vec<i64> = (0..size as i64).map(|i| i * 7 % 13).collect();
            let (mut want_sums, mut want_scans, mut kept, mut want_counts, mut want_places) =
                (vec![], vec![], vec![], vec![], vec![]);
            for (s, bounds) in at.windows(2).enumerate() {
                let part = &xs[bounds[0] as usize..bounds[1] as usize];
                let sum: i64 = part.iter().sum();
                let mut acc = 0;
                for (p, x) in part.iter().enumerate() {
                    want_scans.push(if with_result { sum - acc } else { acc });
                    want_places.push((s + p) as i64);
                    acc += x;
                }
                want_sums.push(sum);
                let before = kept.len();
                kept.extend(part.iter().copied().filter(|x| x % 3 == 0));
                want_counts.push((kept.len() - before) as i64);
            }
            let m = lengths.len();
            let args = [
                ints(&cpu, &at),
                ints(&cpu, &xs),
                ints(&cpu, &vec![-1; m]),
                ints(&cpu, &vec![-1; size]),
                ints(&cpu, &vec![-1; m]),
                ints(&cpu, &vec![-1; size]),
                ints(&cpu, &vec![-1; m]),
                ints(&cpu, &vec![-1; size]),
            ];
            let mut all_args = vec![n(m)];
            all_args.extend(args.iter().map(all));
            run(&cpu, b.finish(), vec![], &all_args).unwrap();
            assert_eq!(read_ints(&cpu, &args[2]), want_sums);
            assert_eq!(read_ints(&cpu, &args[3]), want_scans);
            assert_eq!(read_ints(&cpu, &args[4]), want_sums);
            assert_eq!(read_ints(&cpu, &args[5])[..kept.len()], kept);
            assert_eq!(read_ints(&cpu, &args[6]), want_counts);
            assert_eq!(read_ints(&cpu, &args[7]), want_places);
        }
    }
}

#[test]
fn scatter_and_histogram() {
    for cpu in cpus() {
        for size in [3, 1000, 300_000] {
            let mut b = KernelBuilder::new("scatter");
            let at = flat(&mut b);
            let (to, counts) = (b.param(AI), b.param(AI));
            let modulus = b.body.i64(101);
            let index = b.body.binary(Binary::Rem, at, modulus);
            let limit = b.body.i64(90);
            let when = b.body.binary(Binary::Lt, index, limit);
            b.sink(Sink::Scatter { array: to, index, value: at, when: Some(when) });
            b.sink(Sink::Histogram {
                array: counts,
                combine: Combine::Add,
                index,
                value: at,
                length: None,
                when: None,
            });
            let (to, counts) = (ints(&cpu, &[-1; 101]), ints(&cpu, &[1; 101]));
            run(&cpu, b.finish(), vec![], &[n(size), all(&to), all(&counts)]).unwrap();
            let mut want = vec![-1; 101];
            let mut sums = vec![1; 101];
            for at in 0..size {
                if at % 101 < 90 {
                    want[at % 101] = at as i64;
                }
                sums[at % 101] += at as i64;
            }
            assert_eq!(read_ints(&cpu, &to), want);
            assert_eq!(read_ints(&cpu, &counts), sums);
        }
    }
}

#[test]
fn emit() {
    for cpu in cpus() {
        for size in [0, 10, 5000] {
            let mut b = KernelBuilder::new("emit");
            let at = flat(&mut b);
            let lengths = b.param(AI);
            let output = b.output(Ty::I64);
            let modulus = b.body.i64(37);
            let length = b.body.binary(Binary::Rem, at, modulus);
            let array = b.body.alloc(Ty::I64, length);
            b.body.count(length, vec![], vec![], |b, k, _| {
                let x = b.binary(Binary::Mul, at, k);
                b.store(array, k, x);
                vec![]
            });
            b.sink(Sink::Emit { columns: vec![(array, output)], length, lengths });
            let lengths = ints(&cpu, &vec![-1; size]);
            let out = run(&cpu, b.finish(), vec![], &[n(size), all(&lengths)]).unwrap();
            let want: Vec<i64> =
                (0..size as i64).flat_map(|i| (0..i % 37).map(move |k| i * k)).collect();
            assert_eq!(read_ints(&cpu, &out[0]), want);
            let want: Vec<i64> = (0..size as i64).map(|i| i % 37).collect();
            assert_eq!(read_ints(&cpu, &lengths), want);
        }
    }
}

/// `sum(n) = if n == 0 then 0 else n + sum(n - 1)`
fn sum() -> Function {
    let mut f = FunctionBuilder::new("sum");
    let x = f.param(I);
    let zero = f.body.i64(0);
    let done = f.body.binary(Binary::Eq, x, zero);
    let yields = f.body.branch(
        done,
        |_| vec![zero],
        |b| {
            let one = b.i64(1);
            let less = b.binary(Binary::Sub, x, one);
            let rest = b.call(FunctionId(0), vec![less], &[I])[0];
            vec![b.binary(Binary::Add, x, rest)]
        },
    );
    f.finish(yields)
}

#[test]
fn recursion() {
    for threads in [1, 2] {
        for (max_depth, depth, good) in [
            (usize::MAX, 1_000_000, true),
            (100, 99, true),
            (100, 101, false),
            (usize::MAX, 1 << 40, false),
        ] {
            let cpu = Cpu::new(Options { threads, max_depth, ..Options::default() }).unwrap();
            let mut b = KernelBuilder::new("recursion");
            let at = flat(&mut b);
            let (depth_param, out) = (b.param(I), b.param(AI));
            let result = b.body.call(FunctionId(0), vec![depth_param], &[I])[0];
            b.body.store(out, at, result);
            let out = ints(&cpu, &[-1, -1, -1, -1]);
            let done = run(&cpu, b.finish(), vec![sum()], &[n(4), n(depth), all(&out)]);
            if good {
                done.unwrap();
                let want = (depth * (depth + 1) / 2) as i64;
                assert_eq!(read_ints(&cpu, &out), [want; 4]);
            } else {
                let Failure::Machine(fault) = done.unwrap_err() else { panic!("no fault") };
                assert_eq!(fault.code, nesl_runtime::fault::FaultCode::TooDeep);
                let full = fault.detail.is_some_and(|detail| detail.contains("take 134.2 MB"));
                // Four elements on two threads have half the stack each.
                assert_eq!(full, max_depth == usize::MAX && threads == 1);
            }
        }
    }
}

#[test]
fn of_the_checks_of_a_stencil_the_first_that_fails_is_reported() {
    // Elements of which only some of the indices are in the array.
    for (offsets, element, site) in [([0, 1, 2], 98, 2), ([2, 1, 0], 98, 0), ([0, -1, 1], 0, 1)] {
        for cpu in cpus() {
            let mut b = KernelBuilder::new("stencil");
            let at = flat(&mut b);
            let (from, out) = (b.param(AI), b.param(AI));
            let (zero, length) = (b.body.i64(0), b.body.i64(100));
            let mut sum = zero;
            for (site, offset) in (0..).zip(offsets) {
                let offset = b.body.i64(offset);
                let index = b.body.binary(Binary::Add, at, offset);
                let above = b.body.binary(Binary::Ge, index, zero);
                let below = b.body.binary(Binary::Lt, index, length);
                let inside = b.body.binary(Binary::And, above, below);
                b.body.check(inside, Site(site), vec![index, length]);
                let read = b.body.load(from, index);
                sum = b.body.binary(Binary::Add, sum, read);
            }
            b.body.store(out, at, sum);
            let kernel = b.finish();
            let from = ints(&cpu, &(0..100).collect::<Vec<i64>>());
            let out = ints(&cpu, &[0; 100]);
            let done = run(&cpu, kernel, vec![], &[n(100), all(&from), all(&out)]);
            let index = element as i64 + offsets[site as usize];
            let want = Failure::Program {
                tag: 7,
                site: Site(site),
                work_item: element,
                detail: vec![index, 100],
                text: None,
            };
            assert_eq!(done.unwrap_err(), want);
        }
    }
}

#[test]
fn the_first_failure_is_reported() {
    for cpu in cpus() {
        for size in [100, 100_000] {
            let mut b = KernelBuilder::new("check");
            let at = flat(&mut b);
            let (limit, out) = (b.param(I), b.param(AI));
            let below = b.body.binary(Binary::Lt, at, limit);
            b.body.check(below, Site(5), vec![at, limit]);
            b.body.store(out, at, at);
            let out = ints(&cpu, &vec![-1; size]);
            let done = run(&cpu, b.finish(), vec![], &[n(size), n(size / 3), all(&out)]);
            let want = Failure::Program {
                tag: 7,
                site: Site(5),
                work_item: (size / 3) as u64,
                detail: vec![(size / 3) as i64; 2],
                text: None,
            };
            assert_eq!(done.unwrap_err(), want);
        }
    }
}
