//! Machine code before register allocation: blocks of instructions on virtual registers.
//!
//! An instruction lists its operands for the register allocator; its fields name them by their number in
//! that list (a [`Slot`]).

use super::InstructionSet;
use super::encode::{Encoding, Immediate, Length, Opcode};
use regalloc2::{Operand, RegClass, VReg};
use smallvec::SmallVec;

/// The number of an operand in the list of an instruction.
pub type Slot = u8;

/// The register field of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// An operand of the instruction.
    Slot(Slot),
    /// A digit that belongs to the opcode.
    Digit(u8),
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// An operand of the instruction.
    Slot(Slot),
    /// The explicit slots of the stack frame.
    Frame,
    /// The pool of constants: the displacement is the offset there.
    Pool,
}

/// The operand of an instruction that may be in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// An operand in a register.
    Slot(Slot),
    /// A place in memory: base, index and its shift, displacement.
    Memory(Base, Option<(Slot, u8)>, i32),
}

/// A condition code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs, reason = "they have the names of the conditions")]
pub enum Condition {
    Below = 2,
    NotBelow = 3,
    Zero = 4,
    NotZero = 5,
    NotAbove = 6,
    Above = 7,
    Sign = 8,
    NotSign = 9,
    Less = 12,
    NotLess = 13,
    NotGreater = 14,
    Greater = 15,
}

impl Condition {
    /// The opposite condition.
    pub fn negated(self) -> Condition {
        use Condition::*;
        match self {
            Below => NotBelow,
            NotBelow => Below,
            Zero => NotZero,
            NotZero => Zero,
            NotAbove => Above,
            Above => NotAbove,
            Sign => NotSign,
            NotSign => Sign,
            Less => NotLess,
            NotLess => Less,
            NotGreater => Greater,
            Greater => NotGreater,
        }
    }
}

/// The fields of an ordinary instruction.
#[derive(Clone, Copy, Debug)]
pub struct Fields {
    /// Prefix and opcode.
    pub encoding: Encoding,
    /// The register field.
    pub reg: Field,
    /// The register in the prefix.
    pub vvvv: Option<Slot>,
    /// The operand that may be in memory.
    pub place: Option<Place>,
    /// The immediate operand.
    pub immediate: Immediate,
    /// The mask under which lanes are written.
    pub mask: Option<Slot>,
    /// True if lanes that are not written become 0.
    pub zeroing: bool,
    /// True if a single lane in memory is the operand of all lanes.
    pub broadcast: bool,
    /// The vector register that selects between lanes: its number is the upper half of the immediate byte.
    pub selector: Option<Slot>,
}

/// The effect of an instruction.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// An ordinary instruction.
    Plain(Fields),
    /// An integer constant.
    Constant(i64),
    /// Division of `rax`: sign extension to `rdx`, then the division, of 64 bits or of 32. The operand
    /// is the divisor.
    Divide(Slot, bool),
    /// Calls the function at the address in an operand.
    Call(Slot),
    /// Defines the parameters of the function.
    Arguments,
    /// Jumps to the block's successor.
    Jump,
    /// Jumps to the block's first successor if the condition holds, else to the second.
    Branch(Condition),
    /// Returns from the function.
    Return,
}

/// A machine instruction on virtual registers.
#[derive(Clone, Debug)]
pub struct Inst {
    /// The effect of the instruction.
    pub kind: Kind,
    /// The operands that the register allocator assigns.
    pub operands: SmallVec<[Operand; 5]>,
}

impl Inst {
    /// An instruction without operands.
    pub fn new(kind: Kind) -> Inst {
        Inst { kind, operands: SmallVec::new() }
    }
}

/// A block of instructions.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The instructions; the last one is a jump, branch or return.
    pub insts: Vec<Inst>,
    /// The registers that its predecessors define.
    pub params: Vec<VReg>,
    /// Its successors, by number, with the values of their parameters.
    pub successors: Vec<(u32, Vec<VReg>)>,
}

/// The code of a function.
#[derive(Clone, Debug)]
pub struct Code {
    /// The instruction set.
    pub set: InstructionSet,
    /// The blocks in the order of the code, the entry first.
    pub blocks: Vec<Block>,
    /// The number of virtual registers.
    pub registers: usize,
    /// The bytes of constants.
    pub pool: Vec<u8>,
    /// The bytes of explicit slots of the stack frame.
    pub frame: u32,
    /// True if a caller finds all registers as they were.
    pub preserves_all: bool,
}

/// A place in memory on virtual registers.
#[derive(Clone, Copy, Debug)]
pub enum Memory {
    /// Base, index and its shift, displacement.
    Based(VReg, Option<(VReg, u8)>, i32),
    /// An offset in the explicit slots of the stack frame.
    Frame(i32),
    /// An offset in the pool of constants.
    Pool(u32),
}

/// An operand that may be in memory.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// The operand is in a register.
    Register(VReg),
    /// A place in memory.
    Memory(Memory),
    /// A single lane in memory, for all lanes.
    Broadcast(Memory),
}

impl From<VReg> for Source {
    fn from(register: VReg) -> Source {
        Source::Register(register)
    }
}

/// The class of general registers.
pub const GENERAL: RegClass = RegClass::Int;
/// The class of vector registers.
pub const VECTOR: RegClass = RegClass::Float;
/// The class of mask registers.
pub const MASK: RegClass = RegClass::Vector;

/// Makes an instruction, operand by operand.
pub struct Maker {
    fields: Fields,
    operands: SmallVec<[Operand; 5]>,
}

impl Maker {
    /// An instruction with this prefix and opcode.
    pub fn new(encoding: Encoding) -> Maker {
        let fields = Fields {
            encoding,
            reg: Field::Digit(0),
            vvvv: None,
            place: None,
            immediate: Immediate::None,
            mask: None,
            zeroing: false,
            broadcast: false,
            selector: None,
        };
        Maker { fields, operands: SmallVec::new() }
    }

    /// An instruction on vectors.
    pub fn vector(op: Opcode, length: Length) -> Maker {
        Maker::new(Encoding::Vector(op, length))
    }

    fn slot(&mut self, operand: Operand) -> Slot {
        self.operands.push(operand);
        (self.operands.len() - 1) as Slot
    }

    /// The register field is defined.
    pub fn def(mut self, register: VReg) -> Maker {
        self.fields.reg = Field::Slot(self.slot(Operand::reg_def(register)));
        self
    }

    /// The register field is read.
    pub fn read(mut self, register: VReg) -> Maker {
        self.fields.reg = Field::Slot(self.slot(Operand::reg_use(register)));
        self
    }

    /// The register field holds `before`, and then the result.
    pub fn update(mut self, register: VReg, before: VReg) -> Maker {
        debug_assert_eq!(register.class(), before.class(), "a register is of one class");
        let from = self.slot(Operand::reg_use(before));
        self.fields.reg =
            Field::Slot(self.slot(Operand::reg_reuse_def(register, usize::from(from))));
        self
    }

    /// The operand of ModRM holds `before`, and then the result.
    pub fn update_place(mut self, register: VReg, before: VReg) -> Maker {
        debug_assert_eq!(register.class(), before.class(), "a register is of one class");
        let from = self.slot(Operand::reg_use(before));
        let slot = self.slot(Operand::reg_reuse_def(register, usize::from(from)));
        self.fields.place = Some(Place::Slot(slot));
        self
    }

    /// The register field is a digit.
    pub fn digit(mut self, digit: u8) -> Maker {
        self.fields.reg = Field::Digit(digit);
        self
    }

    /// The register in the prefix is read.
    pub fn with(mut self, register: VReg) -> Maker {
        self.fields.vvvv = Some(self.slot(Operand::reg_use(register)));
        self
    }

    /// The register in the prefix is defined.
    pub fn def_vvvv(mut self, register: VReg) -> Maker {
        self.fields.vvvv = Some(self.slot(Operand::reg_def(register)));
        self
    }

    /// The operand of ModRM is read.
    pub fn from(mut self, source: impl Into<Source>) -> Maker {
        let memory = match source.into() {
            Source::Register(register) => {
                let slot = self.slot(Operand::reg_use(register));
                self.fields.place = Some(Place::Slot(slot));
                return self;
            }
            Source::Memory(memory) => memory,
            Source::Broadcast(memory) => {
                self.fields.broadcast = true;
                memory
            }
        };
        self.at(memory)
    }

    /// The operand of ModRM is in memory.
    pub fn at(mut self, memory: Memory) -> Maker {
        let place = match memory {
            Memory::Frame(at) => Place::Memory(Base::Frame, None, at),
            Memory::Pool(at) => Place::Memory(Base::Pool, None, at as i32),
            Memory::Based(base, index, displacement) => {
                let base = self.slot(Operand::reg_use(base));
                let index =
                    index.map(|(register, shift)| (self.slot(Operand::reg_use(register)), shift));
                Place::Memory(Base::Slot(base), index, displacement)
            }
        };
        self.fields.place = Some(place);
        self
    }

    /// The operand of ModRM is a register that is defined.
    pub fn def_place(mut self, register: VReg) -> Maker {
        let slot = self.slot(Operand::reg_def(register));
        self.fields.place = Some(Place::Slot(slot));
        self
    }

    /// The lanes of a register select between those of the others.
    pub fn by(mut self, selector: VReg) -> Maker {
        self.fields.selector = Some(self.slot(Operand::reg_use(selector)));
        self
    }

    /// Another operand, which no field names.
    pub fn also(mut self, operand: Operand) -> Maker {
        self.slot(operand);
        self
    }

    /// An immediate byte.
    pub fn byte(mut self, byte: u8) -> Maker {
        self.fields.immediate = Immediate::Byte(byte);
        self
    }

    /// An immediate word.
    pub fn word(mut self, word: i32) -> Maker {
        self.fields.immediate = Immediate::Word(word);
        self
    }

    /// Only lanes of the mask are written; the others become 0, or stay as they are.
    pub fn under(mut self, mask: VReg, zeroing: bool) -> Maker {
        self.fields.mask = Some(self.slot(Operand::reg_use(mask)));
        self.fields.zeroing = zeroing;
        self
    }

    /// Returns the finished instruction.
    pub fn make(self) -> Inst {
        Inst { kind: Kind::Plain(self.fields), operands: self.operands }
    }
}
