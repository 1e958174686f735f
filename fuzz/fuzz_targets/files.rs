//! Reads arbitrary bytes as a file in each of the data formats. Reading must terminate without a
//! panic, and must not allocate more memory than the size of the file justifies. A value read from
//! an object file must survive being written and read again.
//!
//! The first bytes of the input choose the type of the value to be read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nesl_core::ir::Ty;
use nesl_engine::host::{csv, list, matrix_market, npy, object};
use nesl_runtime::scalar::Precision;

fuzz_target!(|input: &[u8]| {
    let mut rest = input;
    let ty = ty(&mut rest, 4);
    let precision = match next(&mut rest) % 2 {
        0 => Precision::Bits64,
        _ => Precision::Bits32,
    };
    if let Ok(value) = object::read(rest, "f", &ty, precision) {
        let written = object::write(&value, &ty, precision, &|| false);
        let again = object::read(&written, "f", &ty, precision);
        // The values are compared as text, because NaN is not equal to NaN.
        assert_eq!(format!("{:?}", again.expect("our own text")), format!("{value:?}"));
    }
    let _ = csv::read(rest, "f", &ty, precision);
    let _ = npy::read(rest, "f", &ty, precision);
    let _ = matrix_market::read(rest, "f", precision);
    let _ = list::read_ints(rest, "f", precision);
    let _ = list::read_floats(rest, "f", precision);
});

fn next(input: &mut &[u8]) -> u8 {
    match input.split_first() {
        Some((byte, rest)) => {
            *input = rest;
            *byte
        }
        None => 0,
    }
}

/// Decodes a type with at most `depth` levels of nesting from the first bytes of the input.
fn ty(input: &mut &[u8], depth: usize) -> Ty {
    match next(input) % 7 {
        0 => Ty::Int,
        1 => Ty::Float,
        2 => Ty::Bool,
        3 => Ty::Char,
        4 => Ty::Unit,
        _ if depth == 0 => Ty::Int,
        5 => Ty::Sequence(Box::new(ty(input, depth - 1))),
        _ => Ty::Pair(Box::new(ty(input, depth - 1)), Box::new(ty(input, depth - 1))),
    }
}
