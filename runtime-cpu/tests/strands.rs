//! Reductions of so many points that they go through several stretches of memory.

use nesl_runtime::kir::{Literal, Ty, parse};
use nesl_runtime::runtime::{Arg, Buffer, Failure, Launch, Options, Runtime};
use nesl_runtime_cpu::Cpu;

/// About where there are stretches at all, where they lie further apart, and none of these.
const SIZES: [usize; 8] =
    [100, 8191, 8192, 8193, 50_003, (1 << 20) - 1, 1 << 20, (1 << 20) + 77_777];

fn cpus() -> [Cpu; 3] {
    [1, 2, 3].map(|threads| Cpu::new(Options { threads, ..Options::default() }).unwrap())
}

fn buffer(cpu: &Cpu, ty: Ty, bytes: &[u8]) -> Arg {
    let buffer = cpu.alloc(ty, bytes.len() / ty.size()).unwrap();
    cpu.write(&buffer, 0, bytes).unwrap();
    Arg::Array(buffer, 0)
}

fn longs(cpu: &Cpu, data: impl Iterator<Item = i64>) -> Arg {
    buffer(cpu, Ty::I64, &data.flat_map(i64::to_ne_bytes).collect::<Vec<_>>())
}

fn int(x: usize) -> Arg {
    Arg::Scalar(Literal::I64(x as i64))
}

fn run(cpu: &Cpu, text: &str, args: &[Arg]) -> Result<(), Failure> {
    let module = cpu.load(&parse(text).unwrap()).unwrap();
    cpu.launch(&Launch { module: &module, kernel: 0, args, tag: 7, work_items: None })?;
    cpu.sync()
}

fn read<const SIZE: usize>(cpu: &Cpu, array: &Arg) -> Vec<[u8; SIZE]> {
    let buffer: &Buffer = match array {
        Arg::Array(buffer, _) => buffer,
        Arg::Scalar(_) => panic!("a scalar is not read"),
    };
    let mut bytes = vec![0; buffer.len() * SIZE];
    cpu.read(buffer, 0, &mut bytes).unwrap();
    bytes.chunks(SIZE).map(|chunk| chunk.try_into().unwrap()).collect()
}

#[test]
fn each_element_counts_once() {
    let sum = "kernel \"sum\"(v0: i64, v1: [i64], v2: [i64]) over flat v0 at v3 {
  v4: i64 = load v1[v3]
  reduce add v4 -> v2
}";
    let dot = "kernel \"dot\"(v0: i64, v1: [i64], v2: [i64]) over flat v0 at v3 {
  v4: i64 = load v1[v3]
  v5: i64 = load v1[v3]
  v6: i64 = mul v4, v5
  v7: i64 = add v6, v3
  reduce add v7 -> v2
}";
    for cpu in cpus() {
        for size in SIZES {
            let data = || (0..size as i64).map(|i| i * 48_271 % 65_537);
            let (array, out) = (longs(&cpu, data()), longs(&cpu, [0].into_iter()));
            let args = [int(size), array, out];
            run(&cpu, sum, &args).unwrap();
            assert_eq!(read::<8>(&cpu, &args[2]), [data().sum::<i64>().to_ne_bytes()], "{size}");
            run(&cpu, dot, &args).unwrap();
            let want: i64 = data().enumerate().map(|(i, x)| x * x + i as i64).sum();
            assert_eq!(read::<8>(&cpu, &args[2]), [want.to_ne_bytes()], "{size}");
        }
    }
}

#[test]
fn small_elements_do_too() {
    let most = "kernel \"most\"(v0: i64, v1: [f32], v2: [f32]) over flat v0 at v3 {
  v4: f32 = load v1[v3]
  reduce max v4 -> v2
}";
    let every = "kernel \"every\"(v0: i64, v1: [f32], v2: [bool]) over flat v0 at v3 {
  v4: f32 = load v1[v3]
  v5: f32 = const 2.0
  v6: bool = lt v4, v5
  reduce and v6 -> v2
}";
    for cpu in cpus() {
        for size in SIZES {
            for at in [0, 1, size / 5, size / 2, size - 1] {
                let data = (0..size).map(|i| if i == at { 3f32 } else { 1.0 });
                let bytes: Vec<u8> = data.flat_map(f32::to_ne_bytes).collect();
                let out = buffer(&cpu, Ty::F32, &[0; 4]);
                let args = [int(size), buffer(&cpu, Ty::F32, &bytes), out];
                run(&cpu, most, &args).unwrap();
                assert_eq!(read::<4>(&cpu, &args[2]), [3f32.to_ne_bytes()], "{at} of {size}");
                let [count, array, _] = args;
                let args = [count, array, buffer(&cpu, Ty::Bool, &[1])];
                run(&cpu, every, &args).unwrap();
                assert_eq!(read::<1>(&cpu, &args[2]), [[0]], "{at} of {size}");
            }
        }
    }
}

#[test]
fn loops_within_points_as_well() {
    let rows = "kernel \"rows\"(v0: i64, v1: i64, v2: [i64], v3: [i64]) over flat v0 at v4 {
  v5: i64 = mul v4, v1
  v9: i64 = for v6 < v1 reduce add {
    v7: i64 = add v5, v6
    v8: i64 = load v2[v7]
    yield v8
  }
  store v3[v4] = v9
}";
    for cpu in cpus() {
        for columns in [100, 8192, 10_001] {
            let data: Vec<i64> = (0..5 * columns as i64).map(|i| i * 48_271 % 65_537).collect();
            let out = longs(&cpu, [0; 5].into_iter());
            let args = [int(5), int(columns), longs(&cpu, data.iter().copied()), out];
            run(&cpu, rows, &args).unwrap();
            let want: Vec<[u8; 8]> =
                data.chunks(columns).map(|row| row.iter().sum::<i64>().to_ne_bytes()).collect();
            assert_eq!(read::<8>(&cpu, &args[3]), want);
        }
    }
}

#[test]
fn the_first_that_fails_is_reported() {
    let text = "kernel \"checked\"(v0: i64, v1: [i64], v2: [i64]) over flat v0 at v3 {
  v4: i64 = load v1[v3]
  v5: i64 = const 1
  v6: bool = lt v4, v5
  check v6 @5 detail v4
  reduce add v4 -> v2
}";
    for cpu in cpus() {
        for size in SIZES {
            // The later one is met first where it lies at the beginning of a stretch.
            let (first, second) = (size / 4 - 3, size / 2 + 1);
            let data = (0..size).map(|i| i64::from(i == first) + 2 * i64::from(i == second));
            let args = [int(size), longs(&cpu, data), longs(&cpu, [0].into_iter())];
            let want = Failure::Program {
                tag: 7,
                site: nesl_runtime::kir::Site(5),
                work_item: first as u64,
                detail: vec![1],
                text: None,
            };
            assert_eq!(run(&cpu, text, &args).unwrap_err(), want);
        }
    }
}
