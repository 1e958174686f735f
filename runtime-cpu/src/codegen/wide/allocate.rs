//! Register allocation, by regalloc2, and the code with its registers: frame, moves, jumps.

use super::code::{Base, Code, Field, Fields, Kind, Place, Slot};
use super::encode::{Address, Assembly, Encoded, Encoding, Immediate, Length, Opcode, Operand};
use super::opcodes::{self, escaped, plain};
use super::{Declined, InstructionSet};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug as _;
use regalloc2::{
    self as ra, Allocation, Edit, InstOrEdit, InstRange, MachineEnv, PReg, PRegSet, RegClass, VReg,
};

/// The stack pointer.
const RSP: u8 = 4;
/// The frame pointer.
const RBP: u8 = 5;
/// The registers that a function must leave as they are, without the frame pointer.
const CALLEE_SAVED: [u8; 5] = [3, 12, 13, 14, 15];
/// The general registers that are allocated first: a function need not save them.
const CALLER_SAVED: [u8; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];
/// The vector registers that code of Cranelift's uses.
const COMMON_VECTORS: u8 = 16;
/// The bytes of a vector register that code of Cranelift's uses.
const COMMON_VECTOR_BYTES: u32 = 16;
/// The mask registers; the first one of the processor means that there is no mask.
const MASKS: std::ops::Range<u8> = 1..8;
/// The largest stack frame, in bytes: less than the guard page behind the stack.
const MAX_FRAME_BYTES: u32 = 3 << 10;
/// The size of a spill slot's unit, in bytes.
const SPILL_UNIT_BYTES: u32 = 8;
/// The alignment of a frame, in bytes: that of its vectors, and of explicit slots.
const FRAME_ALIGN_BYTES: u32 = 64;

/// The instruction that sets the upper parts of vector registers to 0.
const VZEROUPPER: [u8; 3] = [0xc5, 0xf8, 0x77];

/// The code as the register allocator sees it.
struct View<'c> {
    code: &'c Code,
    insts: Vec<(u32, u32)>,
    ranges: Vec<InstRange>,
    successors: Vec<Vec<ra::Block>>,
    predecessors: Vec<Vec<ra::Block>>,
}

impl View<'_> {
    fn inst(&self, inst: ra::Inst) -> &super::code::Inst {
        let (block, at) = self.insts[inst.index()];
        &self.code.blocks[block as usize].insts[at as usize]
    }
}

impl ra::Function for View<'_> {
    fn num_insts(&self) -> usize {
        self.insts.len()
    }
    fn num_blocks(&self) -> usize {
        self.code.blocks.len()
    }
    fn entry_block(&self) -> ra::Block {
        ra::Block::new(0)
    }
    fn block_insns(&self, block: ra::Block) -> InstRange {
        self.ranges[block.index()]
    }
    fn block_succs(&self, block: ra::Block) -> &[ra::Block] {
        &self.successors[block.index()]
    }
    fn block_preds(&self, block: ra::Block) -> &[ra::Block] {
        &self.predecessors[block.index()]
    }
    fn block_params(&self, block: ra::Block) -> &[VReg] {
        &self.code.blocks[block.index()].params
    }
    fn is_ret(&self, inst: ra::Inst) -> bool {
        matches!(self.inst(inst).kind, Kind::Return)
    }
    fn is_branch(&self, inst: ra::Inst) -> bool {
        matches!(self.inst(inst).kind, Kind::Jump | Kind::Branch(_))
    }
    fn branch_blockparams(&self, block: ra::Block, _: ra::Inst, successor: usize) -> &[VReg] {
        &self.code.blocks[block.index()].successors[successor].1
    }
    fn inst_operands(&self, inst: ra::Inst) -> &[ra::Operand] {
        &self.inst(inst).operands
    }
    fn inst_clobbers(&self, inst: ra::Inst) -> PRegSet {
        let inst = self.inst(inst);
        let Kind::Call(_) = inst.kind else { return PRegSet::empty() };
        let mut clobbered = PRegSet::empty();
        let caller_saved = CALLER_SAVED.iter().map(|r| PReg::new((*r).into(), RegClass::Int));
        let vectors =
            (0..self.code.set.vector_registers()).map(|r| PReg::new(r.into(), RegClass::Float));
        let masks = MASKS.map(|r| PReg::new(r.into(), RegClass::Vector));
        for register in caller_saved.chain(vectors).chain(masks) {
            let is_result = |operand: &ra::Operand| {
                operand.kind() == ra::OperandKind::Def
                    && operand.constraint() == ra::OperandConstraint::FixedReg(register)
            };
            if !inst.operands.iter().any(is_result) {
                clobbered.add(register);
            }
        }
        clobbered
    }
    fn num_vregs(&self) -> usize {
        self.code.registers
    }
    fn spillslot_size(&self, class: RegClass) -> usize {
        match class {
            RegClass::Int | RegClass::Vector => 1,
            RegClass::Float => self.code.set.vector_bytes() / SPILL_UNIT_BYTES as usize,
        }
    }
}

/// The registers that may be allocated. Those that have to be saved come last.
fn environment(instructions: InstructionSet, preserves_all: bool) -> MachineEnv {
    let set = |registers: &mut dyn Iterator<Item = u8>, class| {
        let mut all = PRegSet::empty();
        for register in registers {
            all.add(PReg::new(usize::from(register), class));
        }
        all
    };
    let vectors = instructions.vector_registers();
    let others = if preserves_all && vectors > COMMON_VECTORS { COMMON_VECTORS } else { 0 };
    MachineEnv {
        preferred_regs_by_class: [
            set(&mut CALLER_SAVED.into_iter(), RegClass::Int),
            set(&mut (others..vectors), RegClass::Float),
            set(&mut MASKS.clone(), RegClass::Vector),
        ],
        non_preferred_regs_by_class: [
            set(&mut CALLEE_SAVED.into_iter(), RegClass::Int),
            set(&mut (0..others), RegClass::Float),
            PRegSet::empty(),
        ],
        scratch_by_class: [None; 3],
        fixed_stack_slots: Vec::new(),
    }
}

/// Machine code, and what it took.
#[derive(Debug)]
pub struct Machine {
    /// The bytes of the function, and of its constants.
    pub bytes: Vec<u8>,
    /// The size of the stack frame, in bytes, at most.
    pub frame_bytes: usize,
    /// The number of moves to and from the stack.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests ask for it"))]
    pub spills: usize,
}

/// Allocates registers, and returns the bytes of the function.
pub fn allocate(code: &Code) -> Result<Machine, Declined> {
    let mut view = View {
        code,
        insts: Vec::new(),
        ranges: Vec::new(),
        successors: Vec::new(),
        predecessors: vec![Vec::new(); code.blocks.len()],
    };
    for (number, block) in code.blocks.iter().enumerate() {
        let begin = view.insts.len();
        view.insts.extend((0..block.insts.len()).map(|at| (number as u32, at as u32)));
        let range = InstRange::new(ra::Inst::new(begin), ra::Inst::new(view.insts.len()));
        view.ranges.push(range);
        let successors = block.successors.iter().map(|(to, _)| ra::Block::new(*to as usize));
        view.successors.push(successors.collect());
        for (to, _) in &block.successors {
            view.predecessors[*to as usize].push(ra::Block::new(number));
        }
    }
    let options = ra::RegallocOptions {
        verbose_log: false,
        validate_ssa: cfg!(debug_assertions),
        algorithm: ra::Algorithm::Ion,
    };
    let output = ra::run(&view, &environment(code.set, code.preserves_all), &options)
        .map_err(|_| Declined("the register allocator refuses the code"))?;
    Emitter::new(&view, &output)?.emit()
}

struct Emitter<'v, 'c> {
    view: &'v View<'c>,
    output: &'v ra::Output,
    assembly: Assembly,
    /// The bytes of the frame below the saved registers, and where the explicit slots begin.
    frame: u32,
    explicit: i32,
    /// The general registers that are saved.
    saved: Vec<u8>,
    /// The vector registers of which the common part is saved, and where.
    saved_vectors: Vec<u8>,
    vectors: i32,
    spills: usize,
}

impl<'v, 'c> Emitter<'v, 'c> {
    fn new(view: &'v View<'c>, output: &'v ra::Output) -> Result<Self, Declined> {
        let explicit =
            (output.num_spillslots as u32 * SPILL_UNIT_BYTES).next_multiple_of(FRAME_ALIGN_BYTES);
        let mut insts = view.code.blocks.iter().flat_map(|block| &block.insts);
        let calls = insts.any(|inst| matches!(inst.kind, Kind::Call(_)));
        let (mut used, mut used_vectors) = ([false; 16], [false; COMMON_VECTORS as usize]);
        let mut note = |allocation: &Allocation| {
            let Some(register) = allocation.as_reg() else { return };
            let number = register.hw_enc();
            match register.class() {
                RegClass::Int => used[number] = true,
                RegClass::Float if number < used_vectors.len() => used_vectors[number] = true,
                RegClass::Float | RegClass::Vector => {}
            }
        };
        output.allocs.iter().for_each(&mut note);
        for (_, Edit::Move { from, to }) in &output.edits {
            note(from);
            note(to);
        }
        let mut saved: Vec<u8> =
            CALLEE_SAVED.into_iter().filter(|r| used[usize::from(*r)]).collect();
        let mut saved_vectors = Vec::new();
        if view.code.preserves_all {
            // The functions that it calls change the others.
            saved.extend(CALLER_SAVED.into_iter().filter(|r| calls || used[usize::from(*r)]));
            let vectors = (0..COMMON_VECTORS).filter(|r| calls || used_vectors[usize::from(*r)]);
            saved_vectors.extend(vectors);
        }
        let vectors = explicit + view.code.frame.next_multiple_of(COMMON_VECTOR_BYTES);
        let mut frame = vectors + saved_vectors.len() as u32 * COMMON_VECTOR_BYTES;
        frame = frame.next_multiple_of(FRAME_ALIGN_BYTES);
        if calls {
            // The stack pointer is aligned for other functions, too.
            frame = frame.max(FRAME_ALIGN_BYTES);
        }
        if frame > MAX_FRAME_BYTES {
            return Err(Declined("the stack frame is large"));
        }
        let assembly = Assembly::new(view.code.blocks.len(), view.code.set);
        let (explicit, vectors) = (explicit as i32, vectors as i32);
        Ok(Emitter {
            view,
            output,
            assembly,
            frame,
            explicit,
            saved,
            saved_vectors,
            vectors,
            spills: 0,
        })
    }

    fn emit(mut self) -> Result<Machine, Declined> {
        self.prologue();
        let view = self.view;
        let blocks = &view.code.blocks;
        let targets: Vec<u32> = (0..blocks.len() as u32).map(|b| self.target(b)).collect();
        for (number, block) in blocks.iter().enumerate() {
            self.assembly.label(number as u32);
            if targets[number] != number as u32 {
                // Nothing leads here.
                continue;
            }
            // The next block that is not empty is reached without a jump.
            let next = (number + 1..blocks.len()).find(|n| targets[*n] == *n as u32);
            let next = next.map(|n| n as u32);
            let items: Vec<_> =
                self.output.block_insts_and_edits(view, ra::Block::new(number)).collect();
            for item in items {
                let inst = match item {
                    InstOrEdit::Edit(Edit::Move { from, to }) => {
                        self.move_between(*from, *to);
                        continue;
                    }
                    InstOrEdit::Inst(inst) => inst,
                };
                let allocations = self.output.inst_allocs(inst);
                let to = |n: usize| targets[block.successors[n].0 as usize];
                match &view.inst(inst).kind {
                    Kind::Plain(fields) => self.plain(fields, allocations),
                    Kind::Constant(value) => {
                        self.assembly.constant(register(allocations, 0), *value);
                    }
                    Kind::Divide(divisor, wide) => {
                        // Sign extension to `rdx`.
                        if *wide {
                            self.assembly.bytes.push(0x48);
                        }
                        self.assembly.bytes.push(0x99);
                        let divisor = register(allocations, *divisor);
                        self.put(plain(0xf7, *wide), 7, Operand::Register(divisor));
                    }
                    Kind::Call(callee) => {
                        self.assembly.bytes.extend(VZEROUPPER);
                        let callee = register(allocations, *callee);
                        self.put(plain(0xff, false), 2, Operand::Register(callee));
                    }
                    Kind::Arguments => {}
                    Kind::Jump => {
                        if next != Some(to(0)) {
                            self.assembly.jump(None, to(0));
                        }
                    }
                    Kind::Branch(condition) => {
                        let (yes, no) = (to(0), to(1));
                        if next == Some(yes) {
                            self.assembly.jump(Some(condition.negated() as u8), no);
                        } else {
                            self.assembly.jump(Some(*condition as u8), yes);
                            if next != Some(no) {
                                self.assembly.jump(None, no);
                            }
                        }
                    }
                    Kind::Return => self.epilogue(),
                }
            }
        }
        let bytes = self.assembly.finish(&view.code.pool);
        let bytes = bytes.ok_or(Declined("the code is too long"))?;
        // The general registers, the frame pointer and the address of the caller are 16 at most.
        let frame_bytes = (self.frame + FRAME_ALIGN_BYTES) as usize + 16 * size_of::<u64>();
        Ok(Machine { bytes, frame_bytes, spills: self.spills })
    }

    /// The block that a jump to a block leads to: blocks that only jump are passed over.
    fn target(&self, block: u32) -> u32 {
        let mut at = block;
        // A loop that does nothing but jump ends the search.
        for _ in 0..self.view.code.blocks.len() {
            let body = &self.view.code.blocks[at as usize];
            let [(next, _)] = &body.successors[..] else { return at };
            let mut items =
                self.output.block_insts_and_edits(self.view, ra::Block::new(at as usize));
            let moves = items.any(|item| match item {
                InstOrEdit::Edit(Edit::Move { from, to }) => from != to,
                InstOrEdit::Inst(inst) => !matches!(self.view.inst(inst).kind, Kind::Jump),
            });
            if moves || at == 0 {
                return at;
            }
            at = *next;
        }
        block
    }

    fn put(&mut self, code: super::encode::Legacy, reg: u8, rm: Operand) {
        self.put_with(code, reg, rm, Immediate::None);
    }

    fn put_with(
        &mut self,
        code: super::encode::Legacy,
        reg: u8,
        rm: Operand,
        immediate: Immediate,
    ) {
        self.assembly.put(&Encoded {
            encoding: Encoding::Legacy(code),
            reg,
            vvvv: 0,
            rm,
            immediate,
            mask: 0,
            zeroing: false,
            broadcast: false,
        });
    }

    fn push(&mut self, register: u8) {
        if register >= 8 {
            self.assembly.bytes.push(0x41);
        }
        self.assembly.bytes.push(0x50 | register & 7);
    }

    fn pop(&mut self, register: u8) {
        if register >= 8 {
            self.assembly.bytes.push(0x41);
        }
        self.assembly.bytes.push(0x58 | register & 7);
    }

    fn prologue(&mut self) {
        self.push(RBP);
        self.put(plain(0x89, true), RSP, Operand::Register(RBP));
        for register in self.saved.clone() {
            self.push(register);
        }
        if self.frame > 0 {
            let rsp = Operand::Register(RSP);
            self.put_with(plain(0x81, true), 5, rsp, Immediate::Word(self.frame as i32));
            self.put_with(plain(0x81, true), 4, rsp, Immediate::Word(-(FRAME_ALIGN_BYTES as i32)));
        }
        self.each_saved_vector(opcodes::STORE);
    }

    /// Stores or loads the common parts of the saved vector registers.
    fn each_saved_vector(&mut self, opcode: Opcode) {
        for (n, register) in self.saved_vectors.clone().into_iter().enumerate() {
            let at = self.vectors + n as i32 * COMMON_VECTOR_BYTES as i32;
            self.assembly.put(&Encoded {
                encoding: Encoding::Vector(opcode, Length::L128),
                reg: register,
                vvvv: 0,
                rm: Operand::Memory(Address::Based(RSP, None, at)),
                immediate: Immediate::None,
                mask: 0,
                zeroing: false,
                broadcast: false,
            });
        }
    }

    fn epilogue(&mut self) {
        // Other code uses the lower parts of vector registers, and would wait for the upper ones.
        self.assembly.bytes.extend(VZEROUPPER);
        self.each_saved_vector(opcodes::LOAD);
        if self.frame > 0 {
            let saved = Address::Based(RBP, None, -8 * self.saved.len() as i32);
            self.put(plain(0x8d, true), RSP, Operand::Memory(saved));
        }
        for register in self.saved.clone().into_iter().rev() {
            self.pop(register);
        }
        self.pop(RBP);
        self.assembly.bytes.push(0xc3);
    }

    fn spill(&self, allocation: Allocation) -> Option<Operand> {
        let slot = allocation.as_stack()?;
        let at = (slot.index() as u32 * SPILL_UNIT_BYTES) as i32;
        Some(Operand::Memory(Address::Based(RSP, None, at)))
    }

    fn move_between(&mut self, from: Allocation, to: Allocation) {
        if from == to {
            return;
        }
        let (store, reg, rm) = match (self.spill(from), self.spill(to)) {
            (None, Some(place)) => (true, from, place),
            (Some(place), None) => (false, to, place),
            (None, None) => (false, to, Operand::Register(hardware_register(from))),
            (Some(_), Some(_)) => {
                bug!("the register allocator moves from stack to stack through a register")
            }
        };
        self.spills += usize::from(!matches!(rm, Operand::Register(_)));
        let register = reg.as_reg().or_bug("a move has a register on one side");
        let whole = match self.view.code.set {
            InstructionSet::Avx2 => Length::L256,
            InstructionSet::Avx512 => Length::L512,
        };
        let encoding = match (register.class(), store) {
            (RegClass::Int, true) => Encoding::Legacy(plain(0x89, true)),
            (RegClass::Int, false) => Encoding::Legacy(plain(0x8b, true)),
            (RegClass::Float, true) => Encoding::Vector(opcodes::STORE, whole),
            (RegClass::Float, false) => Encoding::Vector(opcodes::LOAD, whole),
            (RegClass::Vector, true) => Encoding::Vex(opcodes::MASK_STORE, false),
            (RegClass::Vector, false) => Encoding::Vex(opcodes::MASK_LOAD, false),
        };
        self.assembly.put(&Encoded {
            encoding,
            reg: register.hw_enc() as u8,
            vvvv: 0,
            rm,
            immediate: Immediate::None,
            mask: 0,
            zeroing: false,
            broadcast: false,
        });
    }

    fn plain(&mut self, fields: &Fields, allocations: &[Allocation]) {
        let of = |slot: Slot| register(allocations, slot);
        let rm = match fields.place {
            None => Operand::Register(0),
            Some(Place::Slot(slot)) => Operand::Register(of(slot)),
            Some(Place::Memory(base, index, displacement)) => {
                let index = index.map(|(slot, shift)| (of(slot), shift));
                Operand::Memory(match base {
                    Base::Slot(slot) => Address::Based(of(slot), index, displacement),
                    Base::Frame => Address::Based(RSP, index, self.explicit + displacement),
                    Base::Pool => Address::Pool(displacement as u32),
                })
            }
        };
        self.assembly.put(&Encoded {
            encoding: fields.encoding,
            reg: match fields.reg {
                Field::Slot(slot) => of(slot),
                Field::Digit(digit) => digit,
            },
            vvvv: fields.vvvv.map_or(0, of),
            rm,
            immediate: match fields.selector {
                Some(selector) => Immediate::Byte(of(selector) << 4),
                None => fields.immediate,
            },
            mask: fields.mask.map_or(0, of),
            zeroing: fields.zeroing,
            broadcast: fields.broadcast,
        });
    }
}

fn register(allocations: &[Allocation], slot: Slot) -> u8 {
    hardware_register(allocations[usize::from(slot)])
}

/// The number that instructions have for an allocated register.
fn hardware_register(allocation: Allocation) -> u8 {
    allocation.as_reg().or_bug("an operand is allocated to a register").hw_enc() as u8
}

/// The code of `cmov`.
pub fn conditional_move(condition: u8, wide: bool) -> super::encode::Legacy {
    escaped(0x40 | condition, wide)
}
