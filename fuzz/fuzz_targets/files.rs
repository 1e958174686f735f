//! Any bytes as a file of any of the formats: reading ends, without a panic and without more
//! memory than the file pays for. A value that was read from an object reads back from what is
//! written of it.
//!
//! The first bytes choose the type that is asked for.
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
        let written = object::write(&value, &ty, precision);
        let again = object::read(&written, "f", &ty, precision);
        // As text, for NaN is not equal to NaN.
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

/// A type of at most `depth` levels.
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
