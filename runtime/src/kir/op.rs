//! The operations of kir, each declared once, with its properties.
//!
//! An operation's operands, nested blocks, bindings, [`Class`] and cost stand here and nowhere
//! else: passes and backends ask [`Op`] instead of keeping lists of their own. Where the meaning
//! of each operation really differs (verification, interpretation, emission, printing) a match
//! over all of them lists what a new operation needs.
//!
//! ```text
//! Class::Pure        scalars from scalars              may be moved, repeated, speculated
//! Class::Address     an array from an array            likewise
//! Class::Read        reads an element                  may be moved where nothing is written
//! Class::Write       writes elements
//! Class::Allocate    takes or frees thread memory
//! Class::Trap        may end the work item
//! Class::Control     has nested blocks
//! Class::Call        does what the callee does
//! Class::Intrinsic   a service of the runtime
//! ```

use super::intrinsic::Extern;
use super::operator::{Binary, Combine, Unary};
use super::value::{FunctionId, Literal, Site, Ty, Value};

/// A list of instructions and the values it ends in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Block {
    /// The instructions, in order.
    pub insts: Vec<Inst>,
    /// The values that the block gives to the operation it is part of.
    pub yields: Vec<Value>,
}

/// An instruction: an operation and its results.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    /// The values that it defines.
    pub results: Vec<Value>,
    /// The operation and its operands.
    pub op: Op,
}

/// An operation with its operands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A constant of a scalar type.
    Const(Literal),
    /// A constant array of chars, which is never written.
    Text(Box<[u8]>),
    /// An operation on one scalar.
    Unary(Unary, Value),
    /// An operation on two scalars of one type.
    Binary(Binary, Value, Value),
    /// `a · b + c` on floats, rounded once.
    Fma(Value, Value, Value),
    /// `Select(c, a, b)`: `a` if `c` else `b`; both have been computed. Scalars and arrays.
    Select(Value, Value, Value),
    /// To another scalar type. Ints are cut or sign-extended, chars and bools are zero-extended
    /// and cut to their low byte or bit; ints become the nearest float; floats become ints toward
    /// zero, the nearest int when out of range, 0 of a NaN.
    Convert(Ty, Value),
    /// The same bits as another type of the same width.
    Bits(Ty, Value),

    /// A new uninitialised array of this many elements, in the memory of the running thread.
    /// A length below 0 is 0.
    Alloc(Ty, Value),
    /// The element at an index, which is in bounds.
    Load {
        /// The array read.
        array: Value,
        /// The index of the element; i64.
        index: Value,
    },
    /// Writes an element at an index, which is in bounds. Two work items of a launch never write
    /// different values to one element, and none reads what another writes; sinks count as
    /// work items of their own.
    Store {
        /// The array written.
        array: Value,
        /// The index of the element; i64.
        index: Value,
        /// The new element.
        value: Value,
    },
    /// The same array from this element on (i64).
    Slice(Value, Value),
    /// Copies elements to an array that does not overlap, or to where they lie. Uninitialised elements stay so.
    Copy {
        /// The source array.
        from: Value,
        /// The target array.
        to: Value,
        /// The number of elements; i64, 0 or more.
        count: Value,
    },

    /// One of two blocks; the results are the values that the executed block yields.
    If {
        /// The condition; a bool.
        cond: Value,
        /// The block executed when the condition is true.
        then: Block,
        /// The block executed when the condition is false.
        otherwise: Block,
    },
    /// A loop with a condition: while `cond` yields true, `body` computes the next carried values.
    /// The results are the carried values when it ends.
    While {
        /// The initial carried values.
        init: Vec<Value>,
        /// The names of the carried values in `cond` and `body`.
        carried: Vec<Value>,
        /// Yields one bool: true to execute the body once more.
        cond: Block,
        /// Yields the next carried values.
        body: Block,
    },
    /// A counted loop: from 0 to below `count`, no iteration if that is below 0. The body yields
    /// the next carried values, and then one element for each reduction. The results are the
    /// final carried values, and then the reductions; in what grouping these combine is the
    /// backend's choice, the same in each run on the same machine.
    For {
        /// The number of iterations; i64.
        count: Value,
        /// The name of the iteration number in the body.
        index: Value,
        /// The initial carried values.
        init: Vec<Value>,
        /// The names of the carried values in the body.
        carried: Vec<Value>,
        /// The operator of each reduction.
        reduce: Vec<Combine>,
        /// The code of one iteration.
        body: Block,
    },
    /// A call of a function of the module.
    Call(FunctionId, Vec<Value>),
    /// The results of a function of scalars that only computes: its code and that of its callees is of operations
    /// of [`Class::Pure`] and conditionals. It cannot fail.
    Compute(FunctionId, Vec<Value>),
    /// A call of an intrinsic of the runtime.
    Extern(Extern, Vec<Value>),

    /// Unless the condition holds, the work item ends and the launch has failed here. A launch
    /// that fails at many work items reports the first of them in the order of the space, in the
    /// first stage in which any fails.
    Check {
        /// The condition that must hold.
        cond: Value,
        /// The failure site reported.
        site: Site,
        /// Up to four i64 for the message: the index and the length, say.
        detail: Vec<Value>,
    },
    /// Ends the work item with a failure that has a text (an array of u8 and its length, i64).
    Fail {
        /// The failure site reported.
        site: Site,
        /// The text: an array of u8.
        text: Value,
        /// The number of chars; i64.
        length: Value,
        /// Up to four i64 for the message.
        detail: Vec<Value>,
    },

    /// The present top of the thread's memory.
    Mark,
    /// Frees the memory allocated since a mark, but for the kept arrays: the results are these
    /// arrays, perhaps at other addresses, and replace the old names. An array that is older than
    /// the mark stays where it is. A runtime frees memory here if that is worth its while; it may
    /// do nothing.
    Compact {
        /// The mark that is freed to.
        since: Value,
        /// The kept arrays and their lengths in elements (i64).
        keep: Vec<(Value, Value)>,
    },
}

/// The side effects that an operation itself may have, without those of its nested blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Computes a value of its operands alone: no memory is touched and nothing can fail, so that
    /// it may be moved, repeated or executed speculatively.
    Pure,
    /// Names an array or a part of one; as [`Class::Pure`], and no element is touched.
    Address,
    /// Reads an element; without other effects.
    Read,
    /// Writes elements of an array.
    Write,
    /// Takes or frees memory of the thread. Dead if nobody uses the results.
    Allocate,
    /// May end the work item with a failure.
    Trap,
    /// Executes nested blocks: has their effects. A `While` may also not terminate.
    Control,
    /// Has the effects of the callee.
    Call,
    /// Reads the arrays it is given and writes those that its signature calls outputs.
    Intrinsic,
}

/// Visits each operand of an operation, by shared or by mutable reference.
macro_rules! visit_operands {
    ($op:expr, $visit:ident) => {
        match $op {
            Op::Const(_) | Op::Text(_) | Op::Mark => {}
            Op::Unary(_, a) | Op::Convert(_, a) | Op::Bits(_, a) | Op::Alloc(_, a) => $visit(a),
            Op::Binary(_, a, b) | Op::Slice(a, b) | Op::Load { array: a, index: b } => {
                $visit(a);
                $visit(b);
            }
            Op::Fma(a, b, c)
            | Op::Select(a, b, c)
            | Op::Store { array: a, index: b, value: c }
            | Op::Copy { from: a, to: b, count: c } => {
                $visit(a);
                $visit(b);
                $visit(c);
            }
            Op::If { cond, .. } => $visit(cond),
            Op::While { init, .. } => {
                for value in init {
                    $visit(value);
                }
            }
            Op::For { count, init, .. } => {
                $visit(count);
                for value in init {
                    $visit(value);
                }
            }
            Op::Call(_, args) | Op::Compute(_, args) | Op::Extern(_, args) => {
                for value in args {
                    $visit(value);
                }
            }
            Op::Check { cond, detail, .. } => {
                $visit(cond);
                for value in detail {
                    $visit(value);
                }
            }
            Op::Fail { text, length, detail, .. } => {
                $visit(text);
                $visit(length);
                for value in detail {
                    $visit(value);
                }
            }
            Op::Compact { since, keep } => {
                $visit(since);
                for (array, length) in keep {
                    $visit(array);
                    $visit(length);
                }
            }
        }
    };
}

/// The nested blocks of an operation, by shared or by mutable reference.
macro_rules! nested_blocks {
    ($op:expr) => {
        match $op {
            Op::If { then, otherwise, .. } => [Some(then), Some(otherwise)],
            Op::While { cond, body, .. } => [Some(cond), Some(body)],
            Op::For { body, .. } => [Some(body), None],
            Op::Const(_)
            | Op::Text(_)
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Fma(..)
            | Op::Select(..)
            | Op::Convert(..)
            | Op::Bits(..)
            | Op::Alloc(..)
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Slice(..)
            | Op::Copy { .. }
            | Op::Call(..)
            | Op::Compute(..)
            | Op::Extern(..)
            | Op::Check { .. }
            | Op::Fail { .. }
            | Op::Mark
            | Op::Compact { .. } => [None, None],
        }
        .into_iter()
        .flatten()
    };
}

impl Op {
    /// The side effects of the operation itself.
    pub fn class(&self) -> Class {
        match self {
            Op::Const(_)
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Fma(..)
            | Op::Select(..)
            | Op::Convert(..)
            | Op::Bits(..)
            | Op::Compute(..) => Class::Pure,
            Op::Text(_) | Op::Slice(..) => Class::Address,
            Op::Load { .. } => Class::Read,
            Op::Store { .. } | Op::Copy { .. } => Class::Write,
            Op::Alloc(..) | Op::Mark | Op::Compact { .. } => Class::Allocate,
            Op::Check { .. } | Op::Fail { .. } => Class::Trap,
            Op::If { .. } | Op::While { .. } | Op::For { .. } => Class::Control,
            Op::Call(..) => Class::Call,
            Op::Extern(..) => Class::Intrinsic,
        }
    }

    /// The estimated cost of one execution, in scalar operations, without nested blocks and
    /// without the callee of a call.
    pub fn cost(&self) -> u64 {
        match self {
            Op::Const(_) | Op::Text(_) => 0,
            Op::Unary(..)
            | Op::Binary(..)
            | Op::Fma(..)
            | Op::Select(..)
            | Op::Convert(..)
            | Op::Bits(..)
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Slice(..)
            | Op::If { .. }
            | Op::While { .. }
            | Op::For { .. }
            | Op::Check { .. }
            | Op::Fail { .. }
            | Op::Mark => 1,
            Op::Call(..) => 5,
            Op::Alloc(..) | Op::Copy { .. } | Op::Compact { .. } => 10,
            Op::Compute(..) => 100,
            Op::Extern(..) => 200,
        }
    }

    /// Calls `visit` with every value that the operation reads itself, in order; not with those
    /// that its nested blocks read.
    pub fn each_operand(&self, mut visit: impl FnMut(Value)) {
        let mut visit = |value: &Value| visit(*value);
        visit_operands!(self, visit);
    }

    /// The values that the operation reads itself, in order.
    pub fn operands(&self) -> Vec<Value> {
        let mut all = Vec::new();
        self.each_operand(|value| all.push(value));
        all
    }

    /// Replaces every value that the operation reads itself, in order.
    pub fn map_operands(&mut self, mut map: impl FnMut(Value) -> Value) {
        let mut visit = |value: &mut Value| *value = map(*value);
        visit_operands!(self, visit);
    }

    /// The nested blocks, in the order in which they stand.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> + use<'_> {
        nested_blocks!(self)
    }

    /// The nested blocks, to be changed.
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> + use<'_> {
        nested_blocks!(self)
    }

    /// Returns true if the operation has nested blocks.
    pub fn has_blocks(&self) -> bool {
        self.class() == Class::Control
    }

    /// Returns true for `For` and `While`.
    pub fn is_loop(&self) -> bool {
        matches!(self, Op::For { .. } | Op::While { .. })
    }

    /// Replaces every value that the operation defines for its nested blocks: the iteration number
    /// and the carried values of a loop.
    pub fn map_bindings(&mut self, mut map: impl FnMut(Value) -> Value) {
        match self {
            Op::While { carried, .. } => carried.iter_mut().for_each(|v| *v = map(*v)),
            Op::For { index, carried, .. } => {
                *index = map(*index);
                carried.iter_mut().for_each(|v| *v = map(*v));
            }
            _ => {}
        }
    }

    /// The names under which a loop carries values from iteration to iteration.
    pub fn carried(&self) -> &[Value] {
        match self {
            Op::While { carried, .. } | Op::For { carried, .. } => carried,
            _ => &[],
        }
    }

    /// The array whose elements the operation itself writes, except through a call.
    pub fn written_array(&self) -> Option<Value> {
        match self {
            Op::Store { array, .. } => Some(*array),
            Op::Copy { to, .. } => Some(*to),
            _ => None,
        }
    }

    /// Returns true if the operation only makes a value of others, reading memory at most: it may
    /// be repeated, and dropped if nobody uses its result.
    pub fn is_side_effect_free(&self) -> bool {
        match self.class() {
            Class::Pure | Class::Address | Class::Read => true,
            Class::Write
            | Class::Allocate
            | Class::Trap
            | Class::Control
            | Class::Call
            | Class::Intrinsic => false,
        }
    }

    /// Returns the function that the operation calls.
    pub fn callee(&self) -> Option<FunctionId> {
        match self {
            Op::Call(callee, _) | Op::Compute(callee, _) => Some(*callee),
            _ => None,
        }
    }

    /// Returns true if the operation itself may change elements of arrays that exist, or free their memory.
    pub fn may_write(&self) -> bool {
        match self.class() {
            Class::Write | Class::Call | Class::Intrinsic => true,
            Class::Allocate => matches!(self, Op::Compact { .. }),
            Class::Pure | Class::Address | Class::Read | Class::Trap | Class::Control => false,
        }
    }

    /// Returns true if the operation is side-effect-free or a [`Op::Check`]: it writes nothing and
    /// has no nested blocks, so that loads around it may be moved across it.
    pub fn is_read_only(&self) -> bool {
        self.is_side_effect_free() || matches!(self, Op::Check { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V: [Value; 6] = [Value(0), Value(1), Value(2), Value(3), Value(4), Value(5)];

    /// A loop with every kind of name: operands, bindings, and a block that reads them.
    fn counted() -> Op {
        let add = Inst { results: vec![V[4]], op: Op::Binary(Binary::Add, V[2], V[3]) };
        Op::For {
            count: V[0],
            index: V[2],
            init: vec![V[1]],
            carried: vec![V[3]],
            reduce: Vec::new(),
            body: Block { insts: vec![add], yields: vec![V[4]] },
        }
    }

    #[test]
    fn operands_are_those_of_the_operation_itself() {
        assert_eq!(counted().operands(), [V[0], V[1]]);
        let detail = Op::Check { cond: V[0], site: Site(3), detail: vec![V[2], V[1]] };
        assert_eq!(detail.operands(), [V[0], V[2], V[1]]);
        assert_eq!(
            Op::Compact { since: V[5], keep: vec![(V[0], V[1])] }.operands(),
            [V[5], V[0], V[1]]
        );
        assert!(Op::Mark.operands().is_empty());
    }

    #[test]
    fn operands_and_bindings_are_mapped_apart() {
        let mut op = counted();
        op.map_operands(|v| Value(v.0 + 10));
        op.map_bindings(|v| Value(v.0 + 20));
        let Op::For { count, index, init, carried, body, .. } = &op else { panic!("a loop") };
        assert_eq!((*count, *index), (Value(10), Value(22)));
        assert_eq!((&init[..], &carried[..]), (&[Value(11)][..], &[Value(23)][..]));
        assert_eq!(body.insts[0].op.operands(), [V[2], V[3]], "blocks are left as they are");
    }

    #[test]
    fn exactly_control_has_blocks() {
        let branch = Op::If { cond: V[0], then: Block::default(), otherwise: Block::default() };
        assert_eq!(branch.blocks().count(), 2);
        assert_eq!(counted().blocks().count(), 1);
        assert_eq!(Op::Call(FunctionId(0), vec![V[0]]).blocks().count(), 0);
        assert!(branch.has_blocks() && !Op::Mark.has_blocks());
    }
}
