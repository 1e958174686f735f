//! Decoded kernels: what the machine executes.
//!
//! Every operand is an index into the register file of a warp. Constants and special values such
//! as `%tid.x` have registers of their own that are filled before a kernel starts, so that no
//! instruction distinguishes between them.

use super::lanes::{Binary, Compare, Quaternary, Ternary, Unary};
use super::types::Type;
use std::sync::Arc;

/// An index into the register file of a warp.
pub type Register = u16;

/// An index of a predicate register.
pub type PredicateRegister = u16;

/// A state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The memory of the device.
    Global,
    /// Memory of a block.
    Shared,
    /// Memory of a thread.
    Local,
    /// The constants of a module.
    Const,
    /// The parameters of a kernel.
    Param,
    /// Global, shared or local memory, told apart by the address.
    Generic,
}

/// The ordering of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordering {
    /// An ordinary access, which must not race.
    Weak,
    /// Atomic, without ordering of others.
    Relaxed,
    /// Makes visible, to later accesses, everything before the release that it reads.
    Acquire,
    /// Makes everything before it visible to those that acquire it.
    Release,
    /// An acquire and a release.
    AcquireRelease,
}

impl Ordering {
    /// Returns true if the access acquires.
    pub fn acquires(self) -> bool {
        matches!(self, Ordering::Acquire | Ordering::AcquireRelease)
    }

    /// Returns true if the access releases.
    pub fn releases(self) -> bool {
        matches!(self, Ordering::Release | Ordering::AcquireRelease)
    }
}

/// The threads among which an access or a fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The threads of the block.
    Block,
    /// The threads of the device.
    Device,
    /// The threads of all devices and of the host.
    System,
}

/// The predicate under which an instruction executes.
#[derive(Clone, Copy, Debug)]
pub struct Guard {
    /// The predicate register.
    pub predicate: PredicateRegister,
    /// The instruction executes where the predicate is false.
    pub negated: bool,
}

/// The address operand of a memory access.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    /// The state space that the instruction names.
    pub space: Space,
    /// The register with the base.
    pub base: Register,
    /// Bytes added to the base.
    pub offset: i64,
}

/// A load or store of one to four elements.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The address of the first element.
    pub address: Address,
    /// The type of an element.
    pub ty: Type,
    /// The number of elements: 1, 2 or 4.
    pub elements: u8,
    /// The registers, as many as elements.
    pub registers: [Register; 4],
    /// The bits that a destination register holds.
    pub register_mask: u64,
    /// The ordering of the access.
    pub ordering: Ordering,
    /// The scope, if the access is not weak.
    pub scope: Scope,
    /// The memory must not change during the launch (`ld.global.nc`).
    pub read_only: bool,
    /// The load is of a copy (`ld.cs`, "likely accessed once"): what it reads need not have been written,
    /// since nothing but a store looks at it. The target of the copy counts as written.
    pub copies: bool,
}

/// The change that an atomic instruction makes.
#[derive(Clone, Copy, Debug)]
pub enum AtomicOp {
    /// The old value combined with the operand.
    Combine(Binary),
    /// The operand replaces the old value.
    Exchange,
    /// The second operand if the old value equals the first.
    CompareAndSwap,
}

/// An atomic instruction.
#[derive(Clone, Copy, Debug)]
pub struct Atomic {
    /// The address of the value.
    pub address: Address,
    /// The type of the value.
    pub ty: Type,
    /// The change that is made.
    pub op: AtomicOp,
    /// The destination of the old value; `red` has none.
    pub destination: Option<Register>,
    /// The operands; the second serves compare-and-swap alone.
    pub operands: [Register; 2],
    /// The ordering of the access.
    pub ordering: Ordering,
    /// The scope of the ordering.
    pub scope: Scope,
}

/// A combination of predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PredicateOp {
    /// Both predicates hold.
    And,
    /// One predicate holds, or both.
    Or,
    /// Exactly one predicate holds.
    Xor,
}

impl PredicateOp {
    /// Combines the predicates of all lanes.
    pub fn apply(self, a: u32, b: u32) -> u32 {
        match self {
            PredicateOp::And => a & b,
            PredicateOp::Or => a | b,
            PredicateOp::Xor => a ^ b,
        }
    }
}

/// The direction of a shuffle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShuffleMode {
    /// From a lane with a smaller number.
    Up,
    /// From a lane with a greater number.
    Down,
    /// From the lane whose number differs in some bits.
    Butterfly,
    /// From the lane with a number.
    Index,
}

/// A shuffle of the values of a warp.
#[derive(Clone, Copy, Debug)]
pub struct Shuffle {
    /// The direction of the shuffle.
    pub mode: ShuffleMode,
    /// The destination of the value.
    pub destination: Register,
    /// The predicate that says whether the source lane was in range.
    pub in_range: Option<PredicateRegister>,
    /// The value that other lanes read.
    pub value: Register,
    /// The distance, mask or number of the source lane.
    pub lane: Register,
    /// The clamp and the mask of segments.
    pub clamp: Register,
}

/// A vote's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteMode {
    /// A bit per lane, in a register.
    Ballot,
    /// True if all lanes vote so.
    All,
    /// True if some lane votes so.
    Any,
    /// True if all lanes vote alike.
    Uniform,
}

/// An instruction of the members of a warp together.
#[derive(Clone, Copy, Debug)]
pub enum Collective {
    /// A barrier of the members: `bar.warp.sync`.
    Barrier,
    /// An exchange of values: `shfl.sync`.
    Shuffle(Shuffle),
    /// A vote on a predicate: `vote.sync`.
    Vote {
        /// The result wanted.
        mode: VoteMode,
        /// The destination of a ballot.
        ballot: Register,
        /// The destination of the other modes.
        destination: PredicateRegister,
        /// The predicate voted on.
        source: Guard,
    },
    /// `match.any.sync`: the lanes with an equal value.
    MatchAny {
        /// The destination of the mask.
        destination: Register,
        /// The value that is compared.
        value: Register,
    },
    /// `match.all.sync`: all members if their values are equal, else none.
    MatchAll {
        /// The destination of the mask.
        destination: Register,
        /// The predicate that says whether they are equal.
        equal: Option<PredicateRegister>,
        /// The value that is compared.
        value: Register,
    },
    /// A product of small matrices of `f64`, whose elements the lanes share: `mma.sync.m16n8k8`.
    MultiplyAdd(MultiplyAdd),
    /// A reduction over the members: `redux.sync`.
    Reduce {
        /// The operation of the reduction.
        op: Binary,
        /// The destination of the result.
        destination: Register,
        /// The value of a lane.
        value: Register,
    },
}

/// The registers of a product of matrices: those of the result, both factors, and what is added.
#[derive(Clone, Copy, Debug)]
pub struct MultiplyAdd {
    /// The elements of the result, of 16 rows and 8 columns.
    pub d: [Register; 4],
    /// The elements of the left factor, of 16 rows and 8 columns.
    pub a: [Register; 4],
    /// The elements of the right factor, of 8 rows and 8 columns.
    pub b: [Register; 2],
    /// The elements of the matrix that is added.
    pub c: [Register; 4],
}

/// The result of a block's barrier.
#[derive(Clone, Copy, Debug)]
pub enum BarrierResult {
    /// The barrier has no result.
    None,
    /// The number of threads whose predicate holds.
    Count {
        /// The destination of the count.
        destination: Register,
        /// The predicate that is counted.
        source: Guard,
    },
    /// All or some predicates.
    Predicate {
        /// True if all must hold, false if one suffices.
        all: bool,
        /// The destination of the result.
        destination: PredicateRegister,
        /// The predicate that is combined.
        source: Guard,
    },
}

/// A barrier of a block.
#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    /// The register with the number of the barrier.
    pub id: Register,
    /// The register with the number of threads, if not all take part.
    pub threads: Option<Register>,
    /// The result of the barrier.
    pub result: BarrierResult,
    /// All lanes of a warp must arrive together.
    pub aligned: bool,
}

/// The operation of an instruction.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Op {
    /// `d = f(a)`.
    Unary { f: Unary, d: Register, a: Register },
    /// `d = f(a) & mask`.
    Convert { f: Unary, mask: u64, d: Register, a: Register },
    /// `d = a`.
    Move { d: Register, a: Register },
    /// `d = f(a, b)`.
    Binary { f: Binary, d: Register, a: Register, b: Register },
    /// `d = f(a, b, c)`.
    Ternary { f: Ternary, d: Register, a: Register, b: Register, c: Register },
    /// `d = f(sources)`.
    Quaternary { f: Quaternary, d: Register, sources: [Register; 4] },
    /// `d` is made of `count` parts of `bits` bits, the lowest first.
    Pack { d: Register, parts: [Register; 4], count: u8, bits: u8 },
    /// `a` is taken apart into `count` parts of `bits` bits, the lowest first.
    Unpack { parts: [Register; 4], count: u8, bits: u8, a: Register },
    /// `d = f(a, b) combined with other`, `complement = !f(a, b) combined with other`.
    Compare {
        f: Compare,
        combine: Option<(PredicateOp, Guard)>,
        d: PredicateRegister,
        complement: Option<PredicateRegister>,
        a: Register,
        b: Register,
    },
    /// `d = op(a, b)` on predicates.
    PredicateBinary {
        op: PredicateOp,
        d: PredicateRegister,
        a: PredicateRegister,
        b: PredicateRegister,
    },
    /// `d = a`, perhaps negated.
    PredicateMove { d: PredicateRegister, source: Guard },
    /// `d = value`.
    PredicateSet { d: PredicateRegister, value: bool },
    /// `d = p ? a : b`.
    Select { d: Register, a: Register, b: Register, p: PredicateRegister },
    /// A load from the parameters.
    LoadParam { access: Access, offset: usize },
    /// A load from memory.
    Load(Access),
    /// A store to memory.
    Store(Access),
    /// `atom` or `red`.
    Atomic(Atomic),
    /// An instruction of the members of a warp.
    Collective { mask: Register, what: Collective },
    /// The mask of the lanes that execute together.
    ActiveMask { d: Register },
    /// A barrier of the block.
    Barrier(Barrier),
    /// `fence` or `membar`.
    Fence(Scope),
    /// A jump to an instruction.
    Branch { target: u32, uniform: bool },
    /// The end of the thread.
    Exit,
    /// A fault on purpose.
    Trap,
    /// Nothing: `nanosleep`, `prefetch`.
    Nothing,
}

/// An instruction with its guard and its place in the text.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    /// The operation of the instruction.
    pub op: Op,
    /// The predicate under which it does so.
    pub guard: Option<Guard>,
    /// The line of the text, from 1.
    pub line: u32,
}

/// A value that is in a register before a kernel starts, and the same for all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// Bits that the text spells.
    Bits(u64),
    /// The address of a global variable of the module, known once it is loaded.
    GlobalAddress(usize),
    /// The offset of the dynamic shared memory.
    DynamicShared,
}

/// A value that is in a register before a kernel starts, and depends on the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// `%tid` in one dimension.
    Thread(u8),
    /// The extent of a block, `%ntid`.
    Threads(u8),
    /// The place of the block, `%ctaid`.
    Block(u8),
    /// The extent of the grid, `%nctaid`.
    Blocks(u8),
    /// The number of the lane, `%laneid`.
    Lane,
    /// The number of the warp, `%warpid`.
    Warp,
    /// The number of warps of the block, `%nwarpid`.
    Warps,
    /// The lanes with a number less than this one's.
    MaskBelow,
    /// The lanes up to this one.
    MaskUpTo,
    /// The lanes above this one.
    MaskAbove,
    /// The lanes from this one on.
    MaskFrom,
}

/// A parameter of a kernel.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name of the parameter.
    pub name: String,
    /// Its size in bytes.
    pub bytes: usize,
    /// Its offset among the parameters, in bytes.
    pub offset: usize,
}

/// The lines of a module's text, for messages.
#[derive(Debug, Default)]
pub struct Source {
    lines: Vec<String>,
}

impl Source {
    /// Keeps the lines of a text.
    pub fn new(text: &str) -> Source {
        Source { lines: text.lines().map(str::to_owned).collect() }
    }

    /// Returns the text of a line, counted from 1, without blanks around it.
    pub fn line(&self, line: u32) -> &str {
        self.lines.get((line as usize).wrapping_sub(1)).map_or("", |text| text.trim())
    }
}

/// The constants of a module: one bank, with the ranges that are variables.
#[derive(Debug, Default)]
pub struct ConstBank {
    /// The bytes of all constants.
    pub bytes: Vec<u8>,
    /// Start and end of each variable, in bytes.
    pub ranges: Vec<(usize, usize)>,
}

/// A decoded kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The name of the kernel.
    pub name: String,
    /// The parameters in their order.
    pub parameters: Vec<Parameter>,
    /// The size of all parameters in bytes.
    pub parameter_bytes: usize,
    /// The instructions; the last one is an exit.
    pub code: Vec<Instruction>,
    /// The number of registers, with those of constants and special values.
    pub registers: usize,
    /// The number of predicates.
    pub predicates: usize,
    /// The registers that hold constants.
    pub constants: Vec<(Register, Constant)>,
    /// The registers that hold special values.
    pub specials: Vec<(Register, Special)>,
    /// The bytes of static shared memory.
    pub shared_bytes: usize,
    /// The alignment of the dynamic shared memory, if the module declares it.
    pub dynamic_shared: Option<usize>,
    /// The bytes of local memory of a thread.
    pub local_bytes: usize,
    /// The greatest number of threads of a block (`.maxntid`, `.reqntid`).
    pub max_threads: Option<u32>,
    /// The shape of a block that is required (`.reqntid`).
    pub required_threads: Option<[u32; 3]>,
    /// The constants of the module.
    pub constants_bank: Arc<ConstBank>,
    /// The text of the module.
    pub source: Arc<Source>,
}

/// A variable in global memory.
#[derive(Clone, Debug)]
pub struct GlobalVariable {
    /// The name of the variable.
    pub name: String,
    /// The contents at first.
    pub bytes: Vec<u8>,
}

/// A decoded module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The `.target`, as in `sm_75`.
    pub target: u32,
    /// The kernels of the module.
    pub kernels: Vec<Kernel>,
    /// The variables in global memory.
    pub globals: Vec<GlobalVariable>,
}

/// The bit that marks a generic address of shared memory.
pub const SHARED_WINDOW: u64 = 1 << 60;

/// The bit that marks a generic address of local memory.
pub const LOCAL_WINDOW: u64 = 1 << 61;
