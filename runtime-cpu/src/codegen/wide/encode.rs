//! The bytes of machine instructions: prefixes, opcode, operands, constants.
//!
//! ```text
//! legacy   [66 F2 F3] [REX] [0F [38]] opcode ModRM [SIB] [displacement] [immediate]
//! VEX      C4 ┬ RXB, map ┬ W, vvvv, L, pp     opcode ModRM …        (masks, shifts of integers)
//! EVEX     62 ┴ RXBR', map ┴ W, vvvv, pp, z, length, b, V', aaa     opcode ModRM …   (vectors, floats)
//! ```
//!
//! With AVX2, vectors and floats have a VEX prefix, too.
//!
//! An instruction has the same opcode at every length of vectors, which is a field of its prefix: so one
//! table of opcodes serves all lengths. Register numbers are those of the hardware.

use super::InstructionSet;

/// The opcode of an instruction with a VEX or EVEX prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opcode {
    /// The opcode map: 1 is `0F`, 2 is `0F38`, 3 is `0F3A`.
    pub map: u8,
    /// The implied prefix: none, `66`, `F3`, `F2`.
    pub prefix: u8,
    /// The bit that mostly tells lanes of 64 bits from such of 32.
    pub w: bool,
    /// The opcode byte.
    pub byte: u8,
}

impl Opcode {
    /// Returns true if the bit W of the EVEX prefix, of lanes of 64 bits, is not one of the VEX prefix.
    fn is_without_w(self) -> bool {
        // Broadcasts, and the insertion of a half.
        matches!((self.map, self.byte), (2, 0x58 | 0x59) | (3, 0x38))
    }
}

/// The opcode of an instruction on general registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Legacy {
    /// `66`, `F2`, `F3`, or 0 for none.
    pub prefix: u8,
    /// The number of escape bytes: 0, 1 (`0F`).
    pub escape: u8,
    /// The opcode byte.
    pub byte: u8,
    /// True for operands of 64 bits.
    pub w: bool,
    /// True if an operand is a register of 8 bits.
    pub byte_operand: bool,
}

/// The length of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Length {
    /// 128 bits, or a scalar.
    L128 = 0,
    /// Vectors of 256 bits.
    L256 = 1,
    /// Vectors of 512 bits.
    L512 = 2,
}

/// The prefix and opcode of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// An instruction on general registers.
    Legacy(Legacy),
    /// An instruction on masks or general registers; the bit is the length.
    Vex(Opcode, bool),
    /// An instruction on vectors: with EVEX prefix for AVX-512, with VEX prefix for AVX2.
    Vector(Opcode, Length),
}

/// An address in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// Base, index and its shift, displacement.
    Based(u8, Option<(u8, u8)>, i32),
    /// A constant of the pool, by its offset.
    Pool(u32),
}

/// The operand of ModRM that may be in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The operand is in a register.
    Register(u8),
    /// A place in memory.
    Memory(Address),
}

/// An immediate operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Immediate {
    /// There is none.
    None,
    /// The immediate has one byte.
    Byte(u8),
    /// The immediate has four bytes.
    Word(i32),
}

/// An instruction all of whose registers are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// Prefix and opcode.
    pub encoding: Encoding,
    /// The register of ModRM, or a digit of the opcode.
    pub reg: u8,
    /// The register in the prefix; 0 if there is none.
    pub vvvv: u8,
    /// The operand of ModRM.
    pub rm: Operand,
    /// The immediate operand.
    pub immediate: Immediate,
    /// The mask register under which lanes are written; 0 for all.
    pub mask: u8,
    /// True if lanes that are not written become 0.
    pub zeroing: bool,
    /// True if a single lane in memory is the operand of all lanes.
    pub broadcast: bool,
}

/// The alignment of the pool of constants, in bytes.
pub const POOL_ALIGN: usize = 64;

/// The code of a function under construction.
#[derive(Debug)]
pub struct Assembly {
    /// The instruction set, which says what the prefix of vectors is.
    set: InstructionSet,
    /// The bytes so far.
    pub bytes: Vec<u8>,
    /// The places of displacements to constants, the offset of the instruction's end from there, and
    /// the constant's offset in the pool.
    constants: Vec<(usize, usize, u32)>,
    /// The places of displacements to labels.
    jumps: Vec<(usize, u32)>,
    /// The places of labels.
    labels: Vec<Option<usize>>,
}

impl Assembly {
    /// Code with `labels` labels.
    pub fn new(labels: usize, set: InstructionSet) -> Assembly {
        let (bytes, constants, jumps) = (Vec::new(), Vec::new(), Vec::new());
        Assembly { set, bytes, constants, jumps, labels: vec![None; labels] }
    }

    /// Puts a label here.
    pub fn label(&mut self, label: u32) {
        self.labels[label as usize] = Some(self.bytes.len());
    }

    /// Appends an instruction.
    pub fn put(&mut self, inst: &Encoded) {
        let (index, base) = match inst.rm {
            Operand::Register(rm) => (rm >> 1 & 8, rm),
            Operand::Memory(Address::Based(base, index, _)) => {
                (index.map_or(0, |(index, _)| index), base)
            }
            Operand::Memory(Address::Pool(_)) => (0, 0),
        };
        match inst.encoding {
            Encoding::Legacy(code) => {
                if code.prefix != 0 {
                    self.bytes.push(code.prefix);
                }
                let bits = [
                    code.w,
                    inst.reg & 8 != 0,
                    index & 8 != 0 && matches!(inst.rm, Operand::Memory(_)),
                    base & 8 != 0,
                ];
                let rex = bits.iter().fold(0x4, |bits, bit| bits << 1 | u8::from(*bit));
                if rex != 0x40 || code.byte_operand {
                    self.bytes.push(rex);
                }
                if code.escape == 1 {
                    self.bytes.push(0x0f);
                }
                self.bytes.push(code.byte);
            }
            Encoding::Vex(op, length) => self.vex(inst, op, length),
            Encoding::Vector(op, length) if self.set == InstructionSet::Avx2 => {
                let op = Opcode { w: op.w && !op.is_without_w(), ..op };
                self.vex(inst, op, length == Length::L256);
            }
            Encoding::Vector(op, length) => {
                let high = |bit: bool, at: u8| u8::from(!bit) << at;
                self.bytes.push(0x62);
                self.bytes.push(
                    high(inst.reg & 8 != 0, 7)
                        | high(index & 8 != 0, 6)
                        | high(base & 8 != 0, 5)
                        | high(inst.reg & 16 != 0, 4)
                        | op.map,
                );
                self.bytes.push(u8::from(op.w) << 7 | (!inst.vvvv & 15) << 3 | 4 | op.prefix);
                self.bytes.push(
                    u8::from(inst.zeroing) << 7
                        | (length as u8) << 5
                        | u8::from(inst.broadcast) << 4
                        | high(inst.vvvv & 16 != 0, 3)
                        | inst.mask,
                );
                self.bytes.push(op.byte);
            }
        }
        self.operand(inst);
    }

    /// Appends a VEX prefix and the opcode.
    fn vex(&mut self, inst: &Encoded, op: Opcode, length: bool) {
        let (index, base) = match inst.rm {
            Operand::Register(rm) => (0, rm),
            Operand::Memory(Address::Based(base, index, _)) => {
                (index.map_or(0, |(index, _)| index), base)
            }
            Operand::Memory(Address::Pool(_)) => (0, 0),
        };
        let high = |register: u8, at: u8| u8::from(register & 8 == 0) << at;
        self.bytes.push(0xc4);
        self.bytes.push(high(inst.reg, 7) | high(index, 6) | high(base, 5) | op.map);
        self.bytes
            .push(u8::from(op.w) << 7 | (!inst.vvvv & 15) << 3 | u8::from(length) << 2 | op.prefix);
        self.bytes.push(op.byte);
    }

    /// Appends ModRM, SIB, displacement and immediate.
    fn operand(&mut self, inst: &Encoded) {
        let reg = (inst.reg & 7) << 3;
        let mut constant = None;
        match inst.rm {
            Operand::Register(rm) => self.bytes.push(0xc0 | reg | rm & 7),
            Operand::Memory(Address::Pool(at)) => {
                self.bytes.push(reg | 5);
                constant = Some((self.bytes.len(), at));
                self.bytes.extend([0; 4]);
            }
            Operand::Memory(Address::Based(base, index, displacement)) => {
                // EVEX scales displacements of one byte by the operand's size: they are not used there.
                let scaled = self.set == InstructionSet::Avx512
                    && matches!(inst.encoding, Encoding::Vector(..));
                let none = displacement == 0 && base & 7 != 5;
                let short = !scaled && i8::try_from(displacement).is_ok();
                let mode = if none {
                    0
                } else if short {
                    0x40
                } else {
                    0x80
                };
                match index {
                    None if base & 7 != 4 => self.bytes.push(mode | reg | base & 7),
                    None => self.bytes.extend([mode | reg | 4, 0x24]),
                    Some((index, shift)) => {
                        let sib = shift << 6 | (index & 7) << 3 | base & 7;
                        self.bytes.extend([mode | reg | 4, sib]);
                    }
                }
                match mode {
                    0 => {}
                    0x40 => self.bytes.push(displacement as u8),
                    _ => self.bytes.extend(displacement.to_le_bytes()),
                }
            }
        }
        match inst.immediate {
            Immediate::None => {}
            Immediate::Byte(byte) => self.bytes.push(byte),
            Immediate::Word(word) => self.bytes.extend(word.to_le_bytes()),
        }
        if let Some((place, at)) = constant {
            self.constants.push((place, self.bytes.len() - place, at));
        }
    }

    /// Appends a jump to a label, if a condition code holds, or always.
    pub fn jump(&mut self, condition: Option<u8>, label: u32) {
        match condition {
            Some(code) => self.bytes.extend([0x0f, 0x80 | code]),
            None => self.bytes.push(0xe9),
        }
        self.jumps.push((self.bytes.len(), label));
        self.bytes.extend([0; 4]);
    }

    /// Appends `mov register, immediate` with the fewest bytes.
    pub fn constant(&mut self, register: u8, value: i64) {
        let high = register >> 3;
        if let Ok(value) = u32::try_from(value) {
            if high == 1 {
                self.bytes.push(0x41);
            }
            self.bytes.push(0xb8 | register & 7);
            self.bytes.extend(value.to_le_bytes());
        } else if let Ok(value) = i32::try_from(value) {
            self.bytes.extend([0x48 | high, 0xc7, 0xc0 | register & 7]);
            self.bytes.extend(value.to_le_bytes());
        } else {
            self.bytes.extend([0x48 | high, 0xb8 | register & 7]);
            self.bytes.extend(value.to_le_bytes());
        }
    }

    /// Appends the pool of constants, and resolves displacements. Returns the bytes, or `None` if a
    /// label has no place.
    pub fn finish(mut self, pool: &[u8]) -> Option<Vec<u8>> {
        for (place, label) in &self.jumps {
            let target = self.labels[*label as usize]?;
            let distance = target as i64 - (*place as i64 + 4);
            let distance = i32::try_from(distance).ok()?;
            self.bytes[*place..place + 4].copy_from_slice(&distance.to_le_bytes());
        }
        while !self.bytes.len().is_multiple_of(POOL_ALIGN) {
            // A breakpoint, which is never reached.
            self.bytes.push(0xcc);
        }
        let start = self.bytes.len();
        for (place, end, at) in &self.constants {
            let distance = (start + *at as usize) as i64 - (place + end) as i64;
            let distance = i32::try_from(distance).ok()?;
            self.bytes[*place..place + 4].copy_from_slice(&distance.to_le_bytes());
        }
        self.bytes.extend_from_slice(pool);
        Some(self.bytes)
    }
}
