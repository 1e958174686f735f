//! The kernel IR as data.
//!
//! Structured SSA: a value is defined once, by a parameter, an instruction or the head of a
//! loop, and seen by what follows it in its block and by the blocks nested there. Everything is
//! compared and hashed by structure, so that a compiled module can be found again.

use std::fmt;

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ty {
    /// 32-bit two's complement.
    I32,
    /// 64-bit two's complement; also lengths and positions, at either precision.
    I64,
    /// IEEE single.
    F32,
    /// IEEE double.
    F64,
    /// A truth value; a byte, 0 or 1, in memory.
    Bool,
    /// A char.
    U8,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueTy {
    /// A scalar.
    Scalar(Ty),
    /// Where an array begins: its elements lie behind one another. Its length is not part of it.
    Array(Ty),
    /// How full the memory of the running instance was at a moment ([`Op::Mark`]).
    Mark,
}

/// A value of a function or kernel: an index into its table of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// A function: an index into [`Module::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A place where a program can fail. What it is called and where it stands in the source is
/// known to who made the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site(pub u32);

/// A constant. Floats are kept as their bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they are what they say")]
pub enum Literal {
    I32(i32),
    I64(i64),
    F32(u32),
    F64(u64),
    Bool(bool),
    U8(u8),
}

/// An operation on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `0 - x` on ints, wrapping; the other sign on floats.
    Neg,
    /// Without its sign; wraps at the least int.
    Abs,
    /// The complement of an int, the negation of a bool.
    Not,
    /// The square root; NaN of a negative number.
    Sqrt,
    /// The greatest whole number not above a float.
    Floor,
    /// The least whole number not below a float.
    Ceil,
    /// A float without its fraction.
    Trunc,
    /// The nearest whole number, ties to even.
    Nearest,
}

/// An operation on two operands of one type. Comparisons give a bool, the others that type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// Wraps on ints.
    Add,
    /// Wraps on ints.
    Sub,
    /// Wraps on ints.
    Mul,
    /// On ints truncates; the dividend if the divisor is 0, and the least int divided by -1 is
    /// itself: who needs a fault has checked.
    Div,
    /// The rest of [`Binary::Div`] on ints: 0 where that gives the dividend.
    Rem,
    /// The smaller int or char.
    Min,
    /// The greater int or char.
    Max,
    /// Bitwise on ints, logical on bools.
    And,
    /// Bitwise on ints, logical on bools.
    Or,
    /// Bitwise on ints, logical on bools.
    Xor,
    /// To the left; the count is taken modulo the width.
    Shl,
    /// To the right, keeping the sign; the count is taken modulo the width.
    Shr,
    /// To the right, filling with zeros; the count is taken modulo the width.
    ShrZero,
    /// Equality; false with a NaN.
    Eq,
    /// Inequality; true with a NaN.
    Ne,
    /// False with a NaN; chars are ordered by code, false before true.
    Lt,
    /// As [`Binary::Lt`].
    Le,
    /// As [`Binary::Lt`].
    Gt,
    /// As [`Binary::Lt`].
    Ge,
}

/// What reductions and scans combine with: associative, with a neutral element.
///
/// On floats `Min` and `Max` skip NaNs (of which side a zero is, is free), so that no result but
/// that of rounding depends on how the elements are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they are what they say")]
pub enum Combine {
    Add,
    Mul,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// What is too long to be written in kir, executed by the runtime for one instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extern {
    /// `(keys: [t], n: i64, out: [i64])`: the stable rank of each key, ascending; NaNs last.
    RankUp,
    /// The same, descending; still stable, NaNs still last.
    RankDown,
    /// `(keys: [t], n: i64, out: [t])`: the keys in the order of [`Extern::RankUp`].
    SortUp,
    /// `(keys: [t], n: i64, out: [t])`: the keys in the order of [`Extern::RankDown`].
    SortDown,
    /// `(ints: [t], n: i64, last: [i64], count: [i64])`: for each int, the place of the last one
    /// equal to it, and how many these are.
    Groups,
    /// `(starts: [i64], n: i64, lengths: [i64], chars: [u8], last: [i64], count: [i64])`: the same
    /// of texts, which begin there in `chars`.
    TextGroups,
    /// `(text: [u8], n: i64, salt: i64) -> (hash: i64)`: [`crate::services::text::hash`].
    HashText,
    /// `(a: [u8], m: i64, b: [u8], n: i64) -> (same: bool)`: whether two texts are the same.
    SameText,
    /// `(x: f64, out: [u8]) -> (length: i64)`: a float as `@` prints it, at most 32 chars.
    FloatText,
    /// The same at single precision, given exactly as a double.
    FloatText32,
    /// `(x: f64, digits: i64, out: [u8]) -> (length: i64, ok: bool)`: `exp_string`, at most 64
    /// chars; not `ok` when there are too many digits.
    ExpText,
    /// `(text: [u8], n: i64) -> (value: f64, ok: bool)`: `parse_float`.
    ParseFloat,
    /// The same, rounded once, to single precision, and given exactly as a double.
    ParseFloat32,
}

/// A list of instructions and the values it ends in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Block {
    /// In order.
    pub insts: Vec<Inst>,
    /// What the block gives to the construct it is part of.
    pub yields: Vec<Value>,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    /// What it defines.
    pub results: Vec<Value>,
    /// What it does.
    pub op: Op,
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A constant.
    Const(Literal),
    /// An array of chars that is there from the beginning, and never written.
    Text(Box<[u8]>),
    /// One operand.
    Unary(Unary, Value),
    /// Two operands.
    Binary(Binary, Value, Value),
    /// `a · b + c` on floats, rounded once.
    Fma(Value, Value, Value),
    /// `Select(c, a, b)`: `a` if `c` else `b`; both are there already. Scalars and arrays.
    Select(Value, Value, Value),
    /// To another scalar type. Ints are cut or sign-extended, chars and bools are zero-extended
    /// and cut to their low byte or bit; ints become the nearest float; floats become ints toward
    /// zero, the nearest int when out of range, 0 of a NaN.
    Convert(Ty, Value),
    /// The same bits as another type of the same width.
    Bits(Ty, Value),

    /// A new array of this many elements, not yet written, in the memory of the running instance.
    /// A length below 0 is 0.
    Alloc(Ty, Value),
    /// The element at an index, which is in bounds.
    Load {
        /// From where.
        array: Value,
        /// Which; i64.
        index: Value,
    },
    /// Writes an element at an index, which is in bounds. Two instances of a launch never write
    /// different values to one place, and none reads what another writes; sinks count as
    /// instances of their own.
    Store {
        /// To where.
        array: Value,
        /// Which; i64.
        index: Value,
        /// What.
        value: Value,
    },
    /// The same array from this element on (i64).
    Slice(Value, Value),
    /// Copies elements to an array that does not overlap. Those not written yet stay so.
    Copy {
        /// The source.
        from: Value,
        /// The target.
        to: Value,
        /// How many elements; i64, 0 or more.
        count: Value,
    },

    /// One of two blocks; its results are what that block yields.
    If {
        /// The condition.
        cond: Value,
        /// When true.
        then: Block,
        /// When false.
        otherwise: Block,
    },
    /// While `cond` yields true, `body` makes new values of those carried. Its results are the
    /// values carried when it ends.
    While {
        /// The values at first.
        init: Vec<Value>,
        /// The names of those carried, in `cond` and `body`.
        carried: Vec<Value>,
        /// Yields one bool.
        cond: Block,
        /// Yields the next values.
        body: Block,
    },
    /// Counts from 0 to below `count`; not at all if that is below 0. The body yields the next
    /// values of those carried, and then one element for each reduction. The results are the
    /// values carried at the end, and then the reductions; in what grouping these combine is the
    /// backend's choice, the same in each run on the same machine.
    For {
        /// How often; i64.
        count: Value,
        /// The index, in the body.
        index: Value,
        /// The values at first.
        init: Vec<Value>,
        /// The names of those carried, in the body.
        carried: Vec<Value>,
        /// How the elements combine.
        reduce: Vec<Combine>,
        /// What is done.
        body: Block,
    },
    /// A call.
    Call(FunctionId, Vec<Value>),
    /// A service of the runtime.
    Extern(Extern, Vec<Value>),

    /// Unless the condition holds, the instance ends and the launch has failed here. A launch
    /// that fails at many instances reports the first of them in the order of the space, in the
    /// first stage in which any fails.
    Check {
        /// What must hold.
        cond: Value,
        /// Where it stands.
        site: Site,
        /// Up to four i64 that tell more: the index and the length, say.
        detail: Vec<Value>,
    },
    /// Ends the instance with a failure that has a text (an array of u8 and its length, i64).
    Fail {
        /// Where it stands.
        site: Site,
        /// The text.
        text: Value,
        /// Its length.
        length: Value,
        /// As those of a check.
        detail: Vec<Value>,
    },

    /// How full the memory of the instance is.
    Mark,
    /// What was allocated since the mark is not used from here on, but for these arrays and
    /// their lengths (pairs, i64): the results are these arrays, perhaps at another place, and
    /// take the place of the old names. An array that is older than the mark stays where it is.
    /// A runtime frees memory here if that is worth its while; any may do nothing.
    Compact {
        /// Since when.
        since: Value,
        /// Arrays and lengths.
        keep: Vec<(Value, Value)>,
    },
}

/// Code with a table of the types of its values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// For people, unique in the module.
    pub name: String,
    /// Its parameters.
    pub params: Vec<Value>,
    /// The types of what it yields.
    pub results: Vec<ValueTy>,
    /// What it does; yields the results.
    pub body: Block,
    /// The type of each value.
    pub types: Vec<ValueTy>,
}

/// What a launch goes over: its points have an order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// `count` points. A body knows its index.
    Flat {
        /// A parameter; i64, 0 or more.
        count: Value,
    },
    /// `segments` times `length` points. A body knows its segment, its position there, and its
    /// index, which is `segment · length + position`.
    Regular {
        /// A parameter; i64, 0 or more.
        segments: Value,
        /// A parameter; i64, 0 or more.
        length: Value,
    },
    /// Segments of different lengths, one behind the other: segment `s` holds the indices from
    /// `offsets[s]` to below `offsets[s + 1]`. A body knows its segment, its position there, and
    /// its index.
    Segmented {
        /// A parameter; i64, 0 or more.
        segments: Value,
        /// A parameter: i64, one more than there are segments, ascending from 0.
        offsets: Value,
    },
}

/// What is done at each point, then what is combined over them. What a stage defines, and the
/// results of its sinks, are seen by the stages behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stage {
    /// The code; it yields nothing.
    pub body: Block,
    /// In order.
    pub sinks: Vec<Sink>,
}

/// Over what a sink combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The whole space.
    All,
    /// Each segment by itself.
    Segment,
}

/// What happens with a value that each point has. The arrays are parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sink {
    /// Combines the values: into `out[0]`, or over segments into `out[segment]`; neutral when
    /// there is none.
    Reduce {
        /// Over what.
        scope: Scope,
        /// How.
        combine: Combine,
        /// What.
        value: Value,
        /// Where to, if it is wanted in memory.
        out: Option<Value>,
        /// The result for the stages behind; over segments only.
        result: Option<Value>,
    },
    /// The exclusive scan, for the stages behind.
    Scan {
        /// Over what.
        scope: Scope,
        /// How.
        combine: Combine,
        /// What.
        value: Value,
        /// What was before this point, combined.
        result: Value,
        /// Where the total goes, as in a reduction, if it is wanted.
        total: Option<Value>,
    },
    /// Keeps the points where `keep` is true, in order.
    Pack {
        /// Which.
        keep: Value,
        /// Values, and the arrays they go to, as long as the space.
        columns: Vec<(Value, Value)>,
        /// An array of i64 whose first element becomes how many were kept; over segments, one
        /// element for each.
        count: Value,
        /// Whether `count` is wanted for all or for each segment. The elements are packed without
        /// gaps either way.
        scope: Scope,
    },
    /// `array[index] := value` where `when` is true; of several at one index the last point wins.
    /// The indices are in bounds.
    Scatter {
        /// Where to.
        array: Value,
        /// Which place; i64.
        index: Value,
        /// What.
        value: Value,
        /// Whether.
        when: Option<Value>,
    },
    /// `array[index] := combine(array[index], value)` where `when` is true: a histogram. Of rows,
    /// the elements go to the places from `index` on.
    Histogram {
        /// Where to; holds values already.
        array: Value,
        /// How.
        combine: Combine,
        /// Which place; i64, in bounds.
        index: Value,
        /// What; of rows, an array of the instance or the runtime.
        value: Value,
        /// How long the row is, if it is one; i64, 0 or more.
        length: Option<Value>,
        /// Whether.
        when: Option<Value>,
    },
    /// A part of arbitrary length from each point; the parts are put one behind the other.
    Emit {
        /// Arrays of the instance and the [`Output`]s they go to; all have `length` elements.
        columns: Vec<(Value, Output)>,
        /// How many elements; i64.
        length: Value,
        /// Where the lengths go: an array of i64 as long as the space.
        lengths: Value,
    },
}

/// An array whose length a launch finds out: a number among those its kernel makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Output(pub u32);

/// One launch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// For people, unique in the module.
    pub name: String,
    /// Scalars, and arrays of the runtime.
    pub params: Vec<Value>,
    /// What it goes over.
    pub space: Space,
    /// The names of the indices: the index, or segment, position, index.
    pub indices: Vec<Value>,
    /// What is done.
    pub stages: Vec<Stage>,
    /// The types of the outputs.
    pub outputs: Vec<Ty>,
    /// The type of each value.
    pub types: Vec<ValueTy>,
}

/// What is compiled together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Module {
    /// Called by index.
    pub functions: Vec<Function>,
    /// Launched by index.
    pub kernels: Vec<Kernel>,
}

impl Ty {
    /// Bytes in memory.
    pub fn size(self) -> usize {
        match self {
            Ty::I32 | Ty::F32 => 4,
            Ty::I64 | Ty::F64 => 8,
            Ty::Bool | Ty::U8 => 1,
        }
    }

    /// Whether it is `f32` or `f64`.
    pub fn is_float(self) -> bool {
        matches!(self, Ty::F32 | Ty::F64)
    }

    /// Whether it is `i32` or `i64`.
    pub fn is_int(self) -> bool {
        matches!(self, Ty::I32 | Ty::I64)
    }
}

impl Literal {
    /// Its type.
    pub fn ty(self) -> Ty {
        match self {
            Literal::I32(_) => Ty::I32,
            Literal::I64(_) => Ty::I64,
            Literal::F32(_) => Ty::F32,
            Literal::F64(_) => Ty::F64,
            Literal::Bool(_) => Ty::Bool,
            Literal::U8(_) => Ty::U8,
        }
    }

    /// The constant whose bytes, in the machine's order, are the first of these.
    ///
    /// # Panics
    /// If there are fewer than the type has.
    pub fn from_bytes(ty: Ty, bytes: &[u8]) -> Literal {
        let word = || *bytes.first_chunk::<4>().expect("four bytes");
        let double = || *bytes.first_chunk::<8>().expect("eight bytes");
        match ty {
            Ty::I32 => Literal::I32(i32::from_ne_bytes(word())),
            Ty::I64 => Literal::I64(i64::from_ne_bytes(double())),
            Ty::F32 => Literal::F32(u32::from_ne_bytes(word())),
            Ty::F64 => Literal::F64(u64::from_ne_bytes(double())),
            Ty::Bool => Literal::Bool(bytes[0] != 0),
            Ty::U8 => Literal::U8(bytes[0]),
        }
    }

    /// Its bytes in the machine's order, as many as the type has.
    pub fn to_bytes(self) -> Vec<u8> {
        match self {
            Literal::I32(x) => x.to_ne_bytes().to_vec(),
            Literal::I64(x) => x.to_ne_bytes().to_vec(),
            Literal::F32(bits) => bits.to_ne_bytes().to_vec(),
            Literal::F64(bits) => bits.to_ne_bytes().to_vec(),
            Literal::Bool(x) => vec![u8::from(x)],
            Literal::U8(x) => vec![x],
        }
    }

    /// 0, 0.0, false or the char of code 0.
    pub fn zero(ty: Ty) -> Literal {
        match ty {
            Ty::I32 => Literal::I32(0),
            Ty::I64 => Literal::I64(0),
            Ty::F32 => Literal::F32(0),
            Ty::F64 => Literal::F64(0),
            Ty::Bool => Literal::Bool(false),
            Ty::U8 => Literal::U8(0),
        }
    }
}

impl Combine {
    /// The neutral element at a type.
    pub fn neutral(self, ty: Ty) -> Literal {
        match (self, ty) {
            (Combine::Add | Combine::Or | Combine::Xor, ty) => Literal::zero(ty),
            (Combine::Mul, Ty::I32) => Literal::I32(1),
            (Combine::Mul, Ty::I64) => Literal::I64(1),
            (Combine::Mul, Ty::F32) => Literal::F32(1f32.to_bits()),
            (Combine::Mul, Ty::F64) => Literal::F64(1f64.to_bits()),
            (Combine::And, Ty::I32) => Literal::I32(-1),
            (Combine::And, Ty::I64) => Literal::I64(-1),
            (Combine::Min, Ty::I32) => Literal::I32(i32::MAX),
            (Combine::Min, Ty::I64) => Literal::I64(i64::MAX),
            (Combine::Max, Ty::I32) => Literal::I32(i32::MIN),
            (Combine::Max, Ty::I64) => Literal::I64(i64::MIN),
            (Combine::Min, Ty::F32) => Literal::F32(f32::INFINITY.to_bits()),
            (Combine::Min, Ty::F64) => Literal::F64(f64::INFINITY.to_bits()),
            (Combine::Max, Ty::F32) => Literal::F32(f32::NEG_INFINITY.to_bits()),
            (Combine::Max, Ty::F64) => Literal::F64(f64::NEG_INFINITY.to_bits()),
            (Combine::Max, Ty::Bool) => Literal::Bool(false),
            (Combine::And | Combine::Min | Combine::Mul, Ty::Bool) => Literal::Bool(true),
            (Combine::Max, Ty::U8) => Literal::U8(0),
            (Combine::Min | Combine::And, Ty::U8) => Literal::U8(u8::MAX),
            (Combine::Mul, Ty::U8) => Literal::U8(1),
            (Combine::And, Ty::F32 | Ty::F64) => Literal::zero(ty),
        }
    }
}

impl Space {
    /// How many indices a body knows.
    pub fn rank(&self) -> usize {
        match self {
            Space::Flat { .. } => 1,
            Space::Regular { .. } | Space::Segmented { .. } => 3,
        }
    }
}

impl Binary {
    /// Whether the result is a bool whatever the operands are.
    pub fn compares(self) -> bool {
        use Binary::*;
        match self {
            Eq | Ne | Lt | Le | Gt | Ge => true,
            Add | Sub | Mul | Div | Rem | Min | Max | And | Or | Xor | Shl | Shr | ShrZero => false,
        }
    }
}

impl fmt::Debug for Literal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Literal::I32(x) => write!(out, "{x}i32"),
            Literal::I64(x) => write!(out, "{x}i64"),
            Literal::F32(x) => write!(out, "{:?}f32", f32::from_bits(x)),
            Literal::F64(x) => write!(out, "{:?}f64", f64::from_bits(x)),
            Literal::Bool(x) => write!(out, "{x}"),
            Literal::U8(x) => write!(out, "{x}u8"),
        }
    }
}
