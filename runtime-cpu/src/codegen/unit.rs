//! The module that is compiled, as all its code sees it.

use crate::memory::PAD;
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use nesl_runtime::kir::facts::FunctionFacts;
use nesl_runtime::kir::{Module, Op, walk};
use rustc_hash::FxHashMap;

/// A module under compilation.
pub struct Unit<'a> {
    /// The module, small functions inlined.
    pub module: &'a Module,
    /// The facts of its functions, by index.
    pub facts: &'a [FunctionFacts],
    /// Its constant arrays.
    pub texts: &'a Texts,
    /// The target machine.
    pub isa: &'a OwnedTargetIsa,
    /// The calling convention of the runtime's functions.
    pub convention: CallConv,
    /// True if the machine blends vectors by one instruction.
    pub blends: bool,
    /// True if lanes of wide vectors are packed by one instruction.
    pub packs_lanes: bool,
    /// The number of registers for wide vectors.
    pub wide_registers: usize,
}

/// In wide code, the callee of `pack(mask, lanes, address, bytes)`: it stores the lanes of a vector whose mask is set next to
/// each other at an address, in elements of so many bytes (a constant: those of a lane, or 1). Nothing
/// behind them is written. With AVX-512.
pub const PACK: i64 = 1;

/// In wide code, the callee of `pack(bits, lanes, address)`: it stores the lanes of a vector of 256 bits whose bit is set next
/// to each other at an address. Behind them any values are written, 256 bits in all. With AVX2.
pub const PACK_FREELY: i64 = 2;

/// The constant arrays of a module, padded as all arrays are.
#[derive(Debug, Default)]
pub struct Texts {
    padded: FxHashMap<Box<[u8]>, Box<[u8]>>,
}

impl Texts {
    /// Collects the constant arrays of a module.
    pub fn of(module: &Module) -> Texts {
        let mut texts = Texts::default();
        for block in walk::bodies(module) {
            walk::each_inst(block, &mut |inst| {
                if let Op::Text(text) = &inst.op {
                    texts.padded.entry(text.clone()).or_insert_with(|| {
                        let padding = [0; PAD];
                        [&padding[..], text, &padding].concat().into()
                    });
                }
            });
        }
        texts
    }

    /// The address of a text's first char, valid as long as the module is loaded.
    pub fn address(&self, text: &[u8]) -> i64 {
        self.padded[text][PAD..].as_ptr() as i64
    }
}
