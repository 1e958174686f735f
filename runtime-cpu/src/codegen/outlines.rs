//! The loops that are machine functions of their own ([`vector::outline`](super::vector::outline)), and what is known where
//! they stand.

use cranelift_jit::JITModule;
use cranelift_module::FuncId;
use nesl_runtime::kir::alias::Provenance;
use nesl_runtime::kir::{self, Inst, Literal};
use rustc_hash::FxHashMap;

/// The outlined loops of the code that is emitted.
pub struct Outlines<'a, 'f> {
    /// The module in which they are declared.
    pub jit: &'f mut JITModule,
    /// The loops that were declared, and are to be built.
    pub declared: Vec<OutlinedLoop<'a>>,
}

/// The part of a loop that is a function of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OutlinedPart {
    /// All of it.
    Loop,
    /// The groups of iterations. What is left, the iterations from a group on that calls functions too, is done in place.
    Groups,
}

/// A loop that was declared as a function of its own, and what is known where it stands.
pub struct OutlinedLoop<'a> {
    /// The machine function.
    pub id: FuncId,
    /// The instruction of the loop.
    pub inst: &'a Inst,
    /// The part of the loop that the function executes.
    pub part: OutlinedPart,
    /// The values that it reads, in the order of the area.
    pub captured: Vec<kir::Value>,
    /// The constants around it.
    pub constants: FxHashMap<kir::Value, Literal>,
    /// The arrays of known provenance.
    pub provenance: FxHashMap<kir::Value, Provenance>,
    /// The number of allocations before it.
    pub allocations: usize,
    /// The number of loops around it.
    pub loops: usize,
}
