//! Divisions by a number that is the same for all elements are multiplications: the results are those of divisions.

use nesl_runtime::kir::reference::Reference;
use nesl_runtime::kir::{Literal, parse};
use nesl_runtime::runtime::Options;
use nesl_runtime::testkit::{Input, differ};
use nesl_runtime_cpu::Cpu;

/// Small ints, those around the powers of two, and some others, of both signs.
fn ints() -> Vec<i64> {
    let near = |x: i64| [x.wrapping_sub(1), x, x.wrapping_add(1)];
    let others = [5, 7, 10, 100, 641, 10_007, 1_000_003, 123_456_789_012_345, i64::MAX / 3];
    let ints = (0..64).flat_map(|bit| near(1 << bit)).chain(others);
    ints.flat_map(|x| [x, x.wrapping_neg()]).collect()
}

#[test]
fn quotients_and_remainders_by_reciprocals() {
    let of_elements = "kernel \"k\"(v0: i64, v1: i64, v2: [i64], v3: [i64], v4: [i64], v20: i64) over flat v0 at v5 {
  v6: i64 = load v2[v5]
  v7: i64 = div v6, v1
  v8: i64 = rem v6, v1
  store v3[v5] = v7
  store v4[v5] = v8
}";
    // What an iteration divides depends on the one before it, so that none is vectorised.
    let of_turns = "function \"f\"(v0: i64, v1: i64, v2: [i64], v3: [i64], v4: [i64]) -> i64 {
  v10: i64 = const 0
  v11: i64 = for v5 < v0 carry v6: i64 = v10 {
    v7: i64 = load v2[v5]
    v8: i64 = div v7, v1
    v9: i64 = rem v7, v1
    store v3[v5] = v8
    store v4[v5] = v9
    v12: i64 = rem v6, v1
    v13: i64 = xor v12, v7
    yield v13
  }
  yield v11
}
kernel \"k\"(v0: i64, v1: i64, v2: [i64], v3: [i64], v4: [i64], v20: i64) over flat v20 at v5 {
  v6: i64 = call \"f\"(v0, v1, v2, v3, v4)
}";
    let dividends = ints();
    let reference = Reference::new(Options::default());
    for text in [of_elements, of_turns] {
        let module = parse(text).unwrap();
        for bits in [128, 256, 512] {
            let cpu = Cpu::with_vectors(Options::default(), 1, bits).unwrap();
            for divisor in ints() {
                let array = |of: &[i64]| Input::Array(of.to_vec().into());
                let int = |x: i64| Input::Scalar(Literal::I64(x));
                let none = vec![0; dividends.len()];
                let args = [
                    int(dividends.len() as i64),
                    int(divisor),
                    array(&dividends),
                    array(&none),
                    array(&none),
                    int(1),
                ];
                if let Err(why) = differ(&module, 0, &args, &[3, 4], &reference, &cpu) {
                    panic!("{bits} bits, by {divisor}: {why}\n{text}");
                }
            }
        }
    }
}
