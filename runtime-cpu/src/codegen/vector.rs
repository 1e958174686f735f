//! x
use super::code::Coder;
use super::kernel::{Group, Kern, Range};
use cranelift_codegen::ir;
use nesl_runtime::kir::Inst;

impl<'a> Coder<'a, '_> {
    pub fn vector_for(&mut self, _inst: &'a Inst, _count: ir::Value) -> Option<Vec<ir::Value>> {
        None
    }
}
impl<'a> Kern<'a, '_> {
    pub fn vector_points(
        &mut self,
        _group: &Group<'a>,
        _range: Range,
        _state: &[ir::Value],
    ) -> Option<(ir::Value, Vec<ir::Value>)> {
        None
    }
}
