//! The size of the sequences that a run uses.
//!
//! Memory is not counted when a sequence is freed. When the sequences made since the last count might
//! exceed the limit together with those in use then, the machine counts those in use again.

use super::value::{Sequence, Value};
use crate::base::with_stack;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The size of the reference counter of a sequence or pair, with that of its allocation, in bytes, about.
pub(super) const BLOCK_BYTES: usize = 48;

/// A count under way.
#[derive(Default)]
pub(super) struct InUse {
    /// The addresses of what is shared and counted already.
    seen: FxHashSet<usize>,
    /// The size so far, in bytes.
    pub(super) bytes: u64,
}

impl InUse {
    /// Counts a value, unless it was counted before.
    pub(super) fn value(&mut self, value: &Value) {
        match value {
            Value::Unit | Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Char(_) => {}
            Value::Pair(pair) => {
                if self.is_new(pair) {
                    self.add(2 * size_of::<Value>());
                    with_stack(|| {
                        self.value(&pair.0);
                        self.value(&pair.1);
                    });
                }
            }
            Value::Sequence(sequence) => self.sequence(sequence),
        }
    }

    /// Counts a sequence, unless it was counted before.
    pub(super) fn sequence(&mut self, sequence: &Sequence) {
        match sequence {
            Sequence::Ints(all) => self.packed(all),
            Sequence::Floats(all) => self.packed(all),
            Sequence::Bools(all) => self.packed(all),
            Sequence::Chars(all) => self.packed(all),
            Sequence::Values(all) => {
                if self.is_new(all) {
                    self.add(size_of_val(&**all) + all.capacity() * size_of::<Value>());
                    with_stack(|| all.iter().for_each(|value| self.value(value)));
                }
            }
        }
    }

    fn packed<T>(&mut self, all: &Arc<Vec<T>>) {
        if self.is_new(all) {
            self.add(size_of_val(&**all) + all.capacity() * size_of::<T>());
        }
    }

    /// Adds a block of memory.
    pub(super) fn add(&mut self, bytes: usize) {
        self.bytes += (bytes + BLOCK_BYTES) as u64;
    }

    fn is_new<T>(&mut self, shared: &Arc<T>) -> bool {
        Arc::strong_count(shared) == 1 || self.seen.insert(Arc::as_ptr(shared) as usize)
    }
}
