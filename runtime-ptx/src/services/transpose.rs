//! Transposes of matrices, by squares of 32 by 32 elements that a block copies through shared memory: both
//! its loads and its stores are of elements that lie side by side.

use super::code::{EntryCode, value};
use super::steps::{Argument, Steps};
use crate::emit::assembly::{Class, emit};
use crate::emit::frame::BLOCK_THREADS;
use nesl_runtime::kir::Ty;

/// The number of entries.
pub const ENTRIES: usize = 1;

/// The rows and the columns of a square: the lanes of a warp.
const SIDE: u32 = 32;

/// The elements from a row of a square to the next in shared memory: with 32, the lanes that read a column
/// would all wait for the same bank.
const PITCH: u32 = SIDE + 1;

/// The rows that a block copies at a time, one by each warp.
const ROWS_AT_ONCE: u32 = BLOCK_THREADS / SIDE;

/// Returns the launches of a transpose, which has `rows` rows of `columns` elements.
pub fn steps(
    [elements, starts, out]: [u64; 3],
    [rows, columns]: [u64; 2],
    resident: &[u64],
) -> Steps {
    let mut steps = Steps::default();
    let side = u64::from(SIDE);
    let across = columns.div_ceil(side);
    let squares = rows.div_ceil(side).saturating_mul(across);
    if squares > 0 {
        let args = [elements, starts, out, rows, columns, across, squares];
        steps.launch(0, squares.min(resident[0]), args.map(Argument::from).to_vec());
    }
    steps
}

/// Emits the entry, under a name.
pub fn emit(ty: Ty, name: &str) -> String {
    let (mut code, [elements, starts, out], [rows, columns, across, squares]) = EntryCode::begin(
        name,
        ["elements", "starts", "out"],
        ["rows", "columns", "across", "squares"],
    );
    let bytes = ty.size() as u32;
    let (memory, class) = match bytes {
        8 => ("b64", Class::B64),
        4 => ("b32", Class::B32),
        _ => ("u8", Class::B32),
    };
    let shared = code.shared((PITCH * SIDE * bytes) as usize);
    let (lane, warp) = (code.lane, code.warp);
    let asm = &mut code.asm;
    let along = value!(asm, B64, "cvt.u64.u32", "{lane}");
    let down = value!(asm, B64, "cvt.u64.u32", "{warp}");
    let slot = value!(asm, B32, "mad.lo.s32", "{warp}, {PITCH}, {lane}");
    let stored = value!(asm, B32, "mad.lo.s32", "{slot}, {bytes}, {shared}");
    let slot = value!(asm, B32, "mad.lo.s32", "{lane}, {PITCH}, {warp}");
    let loaded = value!(asm, B32, "mad.lo.s32", "{slot}, {bytes}, {shared}");
    code.each_task(squares, |code, square| {
        let asm = &mut code.asm;
        let first_row = value!(asm, B64, "div.u64", "{square}, {across}");
        let first_column = value!(asm, B64, "rem.u64", "{square}, {across}");
        for first in [first_row, first_column] {
            emit!(asm, "shl.b64 {first}, {first}, {}", SIDE.ilog2());
        }
        // Each row of the matrix is a column of its transpose.
        let row = value!(asm, B64, "add.u64", "{first_row}, {along}");
        let row_exists = value!(asm, Predicate, "setp.lt.u64", "{row}, {rows}");
        let mut held = Vec::new();
        for at in (0..SIDE).step_by(ROWS_AT_ONCE as usize) {
            let column = value!(asm, B64, "add.u64", "{first_column}, {down}");
            let column = value!(asm, B64, "add.u64", "{column}, {at}");
            let exists =
                value!(asm, Predicate, "setp.lt.and.u64", "{column}, {columns}, {row_exists}");
            let start = value!(asm, B64, "mad.lo.u64", "{column}, 8, {starts}");
            let index = value!(asm, B64, "mov.b64", "0");
            emit!(asm, "@{exists} ld.global.b64 {index}, [{start}]");
            let index = value!(asm, B64, "add.u64", "{index}, {row}");
            let from = value!(asm, B64, "mad.lo.u64", "{index}, {bytes}, {elements}");
            let element = asm.register(class);
            emit!(asm, "mov.{} {element}, 0", class.ty());
            emit!(asm, "@{exists} ld.global.{memory} {element}, [{from}]");
            held.push((at, element));
        }
        // The block no longer reads the square before.
        code.barrier();
        let asm = &mut code.asm;
        for (at, element) in held {
            emit!(asm, "st.shared.{memory} [{stored}+{}], {element}", at * PITCH * bytes);
        }
        code.barrier();
        let asm = &mut code.asm;
        let column = value!(asm, B64, "add.u64", "{first_column}, {along}");
        let column_exists = value!(asm, Predicate, "setp.lt.u64", "{column}, {columns}");
        for at in (0..SIDE).step_by(ROWS_AT_ONCE as usize) {
            let row = value!(asm, B64, "add.u64", "{first_row}, {down}");
            let row = value!(asm, B64, "add.u64", "{row}, {at}");
            let exists =
                value!(asm, Predicate, "setp.lt.and.u64", "{row}, {rows}, {column_exists}");
            let index = value!(asm, B64, "mad.lo.u64", "{row}, {columns}, {column}");
            let to = value!(asm, B64, "mad.lo.u64", "{index}, {bytes}, {out}");
            let element = asm.register(class);
            emit!(asm, "ld.shared.{memory} {element}, [{loaded}+{}]", at * bytes);
            emit!(asm, "@{exists} st.global.{memory} [{to}], {element}");
        }
    });
    code.finish()
}
