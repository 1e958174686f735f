//! Whether turns of a loop disturb each other by what they write.
//!
//! Points of a kernel never do; that is the law. Turns of a loop may, unless each array that is
//! written is known to be another than those that are read, and written at one place of the code,
//! so that what one turn writes stays behind what the turns before it have written.

use super::code::Root;
use nesl_runtime::kir::{Block, Op, Value};
use rustc_hash::FxHashMap;

/// Whether the turns of a loop with this body may be mixed, as far as memory goes.
pub fn independent(body: &Block, roots: &FxHashMap<Value, Root>) -> bool {
    let mut memory = Memory {
        roots,
        parts: FxHashMap::default(),
        reads: Vec::new(),
        writes: Vec::new(),
        mixed: false,
    };
    memory.block(body, false);
    let Memory { reads, writes, mixed, .. } = memory;
    let own = |root: &Option<Root>| matches!(root, Some(Root::Own(_)));
    let apart = |(n, root): (usize, &Option<Root>)| {
        own(root) && !writes[..n].contains(root) && !reads.contains(root) && !reads.contains(&None)
    };
    let alone = reads.is_empty() && writes.len() == 1;
    !mixed && (alone || writes.iter().enumerate().all(apart))
}

/// The arrays that a loop uses; `None` is one of which nothing is known.
struct Memory<'r> {
    roots: &'r FxHashMap<Value, Root>,
    /// Parts of arrays that the body names.
    parts: FxHashMap<Value, Root>,
    reads: Vec<Option<Root>>,
    writes: Vec<Option<Root>>,
    /// A turn writes many times, or in ways that are not looked into.
    mixed: bool,
}

impl Memory<'_> {
    fn root(&self, array: Value) -> Option<Root> {
        self.parts.get(&array).or_else(|| self.roots.get(&array)).copied()
    }

    fn block(&mut self, block: &Block, within: bool) {
        for inst in &block.insts {
            match &inst.op {
                Op::Load { array, .. } => self.reads.push(self.root(*array)),
                Op::Store { array, .. } => {
                    self.mixed |= within;
                    self.writes.push(self.root(*array));
                }
                Op::Slice(array, _) => {
                    if let Some(root) = self.root(*array) {
                        self.parts.insert(inst.results[0], root);
                    }
                }
                Op::Text(_) => {
                    self.parts.insert(inst.results[0], Root::Given);
                }
                Op::If { then, otherwise, .. } => {
                    self.block(then, within);
                    self.block(otherwise, within);
                }
                Op::While { cond, body, .. } => {
                    self.block(cond, true);
                    self.block(body, true);
                }
                Op::For { body, .. } => self.block(body, true),
                Op::Copy { .. }
                | Op::Call(..)
                | Op::Extern(..)
                | Op::Alloc(..)
                | Op::Compact { .. } => self.mixed = true,
                Op::Const(_)
                | Op::Unary(..)
                | Op::Binary(..)
                | Op::Fma(..)
                | Op::Select(..)
                | Op::Convert(..)
                | Op::Bits(..)
                | Op::Check { .. }
                | Op::Fail { .. }
                | Op::Mark => {}
            }
        }
    }
}
