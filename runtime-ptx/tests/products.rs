//! Products of matrices on the simulator: the bits are those of a CPU, in three orders of blocks, on a device whose
//! warps multiply matrices and on one whose threads multiply numbers.

use nesl_runtime::kir::{Literal, Ty, parse};
use nesl_runtime::random::bits;
use nesl_runtime::runtime::{Arg, Buffer, Launch, Options, Runtime};
use nesl_runtime::services::product::{Factor, Sizes, product};
use nesl_runtime::services::sort::CallingThread;
use nesl_runtime_ptx::Ptx;
use nesl_sim::client::Client;

const MULTIPLY: &str =
    "kernel \"k\"(v0: i64, v1: [f64], v2: [i64], v3: i64, v4: [f64], v5: [i64], \
                        v6: i64, v7: i64, v8: i64, v9: i64, v10: [f64]) over flat v0 at v11 {
  extern multiply(v1, v2, v3, v4, v5, v6, v7, v8, v9, v10)
}";

/// Rows, columns and places: parts of tiles and of chunks, several of both, and a long sum in parts. The first
/// product underflows to -0.
const SIZES: [[usize; 3]; 5] = [[1, 1, 20], [3, 2, 20], [65, 70, 256], [20, 67, 600], [2, 3, 9001]];

/// Floats of either sign, among them some whose products underflow.
fn floats(seed: u64, count: usize) -> Vec<f64> {
    let float = |at: usize| {
        let bits = bits(seed, at as i64) as u64;
        let scale = if bits.is_multiple_of(5) { 1e-200 } else { 1.0 };
        ((bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0) * scale
    };
    (0..count).map(float).collect()
}

fn array(ptx: &Ptx, ty: Ty, words: &[u64]) -> Buffer {
    let array = ptx.alloc(ty, words.len()).unwrap();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    ptx.write(&array, 0, &bytes).unwrap();
    array
}

/// The product of two factors whose rows, or columns if they are turned, lie one behind the other.
fn on_cpu(left: &[f64], right: &[f64], turned: [bool; 2], sizes: Sizes) -> Vec<u64> {
    let Sizes { rows, columns, depth } = sizes;
    let [of_left, of_right] = [starts(rows, depth, turned[0]), starts(columns, depth, turned[1])];
    let mut out = Vec::with_capacity(rows * columns);
    // SAFETY: each row has as many elements behind its start as are taken, and nobody writes to them.
    let (a, b) = unsafe {
        (
            Factor::new(left.as_ptr(), &of_left, turned[0]),
            Factor::new(right.as_ptr(), &of_right, turned[1]),
        )
    };
    let room = &mut out.spare_capacity_mut()[..rows * columns];
    product(a, b, sizes, room, &CallingThread(None)).unwrap();
    // SAFETY: the product has written all elements.
    unsafe { out.set_len(rows * columns) };
    out.into_iter().map(f64::to_bits).collect()
}

fn starts(items: usize, depth: usize, turned: bool) -> Vec<i64> {
    let (count, length) = if turned { (depth, items) } else { (items, depth) };
    (0..count).map(|row| (row * length) as i64).collect()
}

#[test]
fn the_bits_are_those_of_a_cpu() {
    let orders: [&[(&str, &str)]; 3] = [
        &[("check", "1")],
        &[("check", "1"), ("order", "reverse"), ("resident", "40"), ("quantum", "19")],
        &[("check", "1"), ("order", "random"), ("seed", "5"), ("defer", "1"), ("resident", "3")],
    ];
    let turns = [[false, true], [true, false], [true, true]];
    let runs = orders.into_iter().zip(turns).flat_map(|run| [(run, "h100"), (run, "a100")]);
    for ((options, turned), device) in runs {
        let session = Client::load().unwrap().exclusive();
        for (name, value) in options.iter().chain(&[("device", device)]) {
            session.set(name, value).unwrap();
        }
        let ptx = Ptx::new(0, Options::default()).unwrap();
        let module = ptx.load(&parse(MULTIPLY).unwrap()).unwrap();
        for [rows, columns, depth] in SIZES {
            let (left, right) = match rows * columns {
                1 => (vec![-1e-200; depth], vec![1e-200; depth]),
                _ => (floats(1, rows * depth), floats(2, columns * depth)),
            };
            let out = ptx.alloc(Ty::F64, rows * columns).unwrap();
            let mut args = vec![Arg::Scalar(Literal::I64(1))];
            for (factor, items, turned) in [(&left, rows, turned[0]), (&right, columns, turned[1])]
            {
                let words: Vec<u64> = factor.iter().map(|x| x.to_bits()).collect();
                args.push(Arg::Array(array(&ptx, Ty::F64, &words), 0));
                let starts = starts(items, depth, turned);
                let words: Vec<u64> = starts.into_iter().map(|start| start as u64).collect();
                args.push(Arg::Array(array(&ptx, Ty::I64, &words), 0));
                args.push(Arg::Scalar(Literal::I64(turned.into())));
            }
            args.extend([rows, columns, depth].map(|size| Arg::Scalar(Literal::I64(size as i64))));
            args.push(Arg::Array(out.clone(), 0));
            let launch =
                Launch { module: &module, kernel: 0, args: &args, tag: 1, work_items: Some(1) };
            ptx.launch(&launch).unwrap();
            let mut bytes = vec![0; rows * columns * 8];
            ptx.read(&out, 0, &mut bytes).unwrap();
            let found: Vec<u64> = bytes
                .chunks_exact(8)
                .map(|word| u64::from_ne_bytes(word.try_into().unwrap()))
                .collect();
            let expected = on_cpu(&left, &right, turned, Sizes { rows, columns, depth });
            assert!(rows * columns > 1 || expected == [(-0.0f64).to_bits()]);
            assert!(session.findings().is_empty(), "{rows}, {columns}, {depth}");
            assert!(found == expected, "{rows}, {columns}, {depth}, turned {turned:?}");
        }
    }
}
