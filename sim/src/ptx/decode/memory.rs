//! Loads, stores, atomics and fences.

use super::Decoder;
use super::operands::Width;
use crate::isa::code::{Access, Address, Atomic, AtomicOp, Op, Ordering, Scope, Space};
use crate::isa::float::{self, FloatOp};
use crate::isa::integer::{self, IntegerOp};
use crate::isa::types::Type;
use crate::ptx::error::Reason;
use crate::ptx::names::Symbol;
use crate::ptx::statement::{Operand, Statement};

/// The state spaces of accesses.
const SPACES: [(&str, Space); 5] = [
    ("global", Space::Global),
    ("shared", Space::Shared),
    ("local", Space::Local),
    ("const", Space::Const),
    ("param", Space::Param),
];

/// The scopes with their names.
const SCOPES: [(&str, Scope); 3] =
    [("cta", Scope::Block), ("gpu", Scope::Device), ("sys", Scope::System)];

/// The cache hints of loads and stores, which change nothing that a program sees; true for the one that
/// marks the loads of copies.
const CACHE_HINTS: [(&str, bool); 7] = [
    ("ca", false),
    ("cg", false),
    ("cs", true),
    ("lu", false),
    ("cv", false),
    ("wb", false),
    ("wt", false),
];

/// The widest access of one thread, in bytes.
const MAX_ACCESS_BYTES: usize = 16;

/// The widest access of one thread to global memory, in bytes, where there are wide ones.
const MAX_WIDE_ACCESS_BYTES: usize = 32;

/// The compute capability, times ten, from which there are wide accesses.
const WIDE_TARGET: u32 = 100;

/// The version of PTX that has wide accesses.
const WIDE_VERSION: f64 = 8.8;

impl Decoder<'_> {
    pub(super) fn load(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        s.expect_operands(2)?;
        let space = s.take_from(&SPACES).unwrap_or(Space::Generic);
        let read_only = s.take("nc");
        let (ordering, scope) = ordering(s, Ordering::Acquire, "acquire")?;
        if (read_only || s.opcode == "ldu")
            && (space != Space::Global || ordering != Ordering::Weak)
        {
            return Err("a read-only load is weak and from global memory".to_owned());
        }
        let mut access = self.access(s, space, 0, (ordering, scope))?;
        access.read_only = read_only;
        if space != Space::Param {
            return Ok(Op::Load(access));
        }
        let Operand::Address(base, distance) = &s.operands[1] else {
            return Err("an address in brackets is expected".to_owned());
        };
        let Some(Symbol::Parameter(offset, bytes)) = self.names.find(base) else {
            return Err(format!("`{base}` is not a parameter"));
        };
        let size = access.ty.bytes() * usize::from(access.elements);
        let start = usize::try_from(*distance).ok().filter(|start| start + size <= bytes);
        match start {
            Some(start) => Ok(Op::LoadParam { access, offset: offset + start }),
            None => Err(format!("the load reaches beyond the {bytes} bytes of `{base}`")),
        }
    }

    pub(super) fn store(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        s.expect_operands(2)?;
        let space = s.take_from(&SPACES).unwrap_or(Space::Generic);
        if matches!(space, Space::Const | Space::Param) {
            return Err("constants and parameters cannot be stored to".to_owned());
        }
        let strength = ordering(s, Ordering::Release, "release")?;
        Ok(Op::Store(self.access(s, space, 1, strength)?))
    }

    /// Decodes the rest of a load or store whose registers are the `at`-th operand.
    fn access(
        &mut self,
        s: &mut Statement,
        space: Space,
        at: usize,
        (ordering, scope): (Ordering, Scope),
    ) -> Result<Access, Reason> {
        let copies = s.take_from(&CACHE_HINTS).unwrap_or(false);
        let elements = s.take_from(&[("v2", 2usize), ("v4", 4)]).unwrap_or(1);
        let ty = s.take_type()?;
        let has_wide = self.head.target >= WIDE_TARGET && self.head.version >= WIDE_VERSION;
        let most_bytes = match space == Space::Global && has_wide {
            true => MAX_WIDE_ACCESS_BYTES,
            false => MAX_ACCESS_BYTES,
        };
        if ty == Type::Pred || elements * ty.bytes() > most_bytes {
            return Err(format!("no access to {elements} elements of type {ty}"));
        }
        if ordering != Ordering::Weak && matches!(space, Space::Local | Space::Const | Space::Param)
        {
            return Err("only accesses to global and shared memory are ordered".to_owned());
        }
        let operand = s.operands[at].clone();
        let list = match operand {
            Operand::Vector(list) => list,
            single => vec![single],
        };
        if list.len() != elements {
            return Err(format!("{} registers for {elements} elements", list.len()));
        }
        let mut registers = [0; 4];
        let mut register_mask = u64::MAX;
        for (register, operand) in registers.iter_mut().zip(&list) {
            if at == 1 {
                *register = self.source_of_width(operand, ty, Width::AtLeast)?;
            } else {
                let (destination, mask) = self.destination_of_width(operand, ty, Width::AtLeast)?;
                *register = destination;
                // The `_` of a vector is 64 bits wide, the real ones are alike.
                register_mask = register_mask.min(mask);
            }
        }
        let address = if space == Space::Param {
            Address { space, base: 0, offset: 0 }
        } else {
            self.address(&s.operands[1 - at].clone(), space)?
        };
        let elements = elements as u8;
        let read_only = false;
        Ok(Access {
            address,
            ty,
            elements,
            registers,
            register_mask,
            ordering,
            scope,
            read_only,
            copies,
        })
    }

    pub(super) fn atomic(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        let space = s.take_from(&SPACES).unwrap_or(Space::Generic);
        if !matches!(space, Space::Global | Space::Shared | Space::Generic) {
            return Err("atomics work on global and shared memory".to_owned());
        }
        let ordering = s
            .take_from(&[
                ("relaxed", Ordering::Relaxed),
                ("acquire", Ordering::Acquire),
                ("release", Ordering::Release),
                ("acq_rel", Ordering::AcquireRelease),
            ])
            .unwrap_or(Ordering::Relaxed);
        let scope = s.take_from(&SCOPES).unwrap_or(Scope::Device);
        let name = s.take_first().ok_or("the operation is missing")?;
        let ty = s.take_type()?;
        let op = atomic_op(&name, ty)
            .ok_or_else(|| format!("`{}` has no `{name}` for type {ty}", s.opcode))?;
        let returns = s.opcode == "atom";
        if !returns && !matches!(op, AtomicOp::Combine(_)) {
            return Err(format!("`red` has no `{name}`"));
        }
        let first = usize::from(returns);
        let sources = if matches!(op, AtomicOp::CompareAndSwap) { 2 } else { 1 };
        s.expect_operands(first + 1 + sources)?;
        let address = self.address(&s.operands[first], space)?;
        let mut operands = [0; 2];
        for (k, operand) in operands.iter_mut().enumerate().take(sources) {
            *operand = self.source(&s.operands[first + 1 + k], ty)?;
        }
        let destination = if returns { Some(self.destination(&s.operands[0], ty)?) } else { None };
        Ok(Op::Atomic(Atomic { address, ty, op, destination, operands, ordering, scope }))
    }

    pub(super) fn fence(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        s.expect_operands(0)?;
        if s.opcode == "membar" {
            let levels = [("cta", Scope::Block), ("gl", Scope::Device), ("sys", Scope::System)];
            let scope = s.take_from(&levels).ok_or("`membar` needs .cta, .gl or .sys")?;
            return Ok(Op::Fence(scope));
        }
        // Memory is sequentially consistent here, so that both kinds are one.
        let _kind = s.take("sc") || s.take("acq_rel");
        Ok(Op::Fence(s.take_from(&SCOPES).ok_or("`fence` needs .cta, .gpu or .sys")?))
    }

    pub(super) fn prefetch(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        s.expect_operands(1)?;
        let space = s.take_from(&SPACES).unwrap_or(Space::Generic);
        if !s.take("L1") && !s.take("L2") {
            return Err("`prefetch` needs .L1 or .L2".to_owned());
        }
        self.address(&s.operands[0].clone(), space)?;
        Ok(Op::Nothing)
    }
}

/// Takes the ordering and the scope of a load or store.
fn ordering(
    s: &mut Statement,
    strong: Ordering,
    strong_name: &str,
) -> Result<(Ordering, Scope), Reason> {
    if s.take("weak") {
        return Ok((Ordering::Weak, Scope::Device));
    }
    if s.take("volatile") {
        return Ok((Ordering::Relaxed, Scope::System));
    }
    let found = if s.take("relaxed") {
        Ordering::Relaxed
    } else if s.take(strong_name) {
        strong
    } else {
        return Ok((Ordering::Weak, Scope::Device));
    };
    let scope = s.take_from(&SCOPES).ok_or("an ordered access needs .cta, .gpu or .sys")?;
    Ok((found, scope))
}

/// Returns the change of an atomic, if PTX has it for the type.
fn atomic_op(name: &str, ty: Type) -> Option<AtomicOp> {
    let combine = match (name, ty) {
        ("add", Type::U32 | Type::S32 | Type::U64) => integer::binary_op(IntegerOp::Add, ty),
        ("add", Type::F32 | Type::F64) => float::binary_op(FloatOp::Add, ty),
        ("min", Type::U32 | Type::S32 | Type::U64 | Type::S64) => {
            integer::binary_op(IntegerOp::Min, ty)
        }
        ("max", Type::U32 | Type::S32 | Type::U64 | Type::S64) => {
            integer::binary_op(IntegerOp::Max, ty)
        }
        ("and", Type::B32 | Type::B64) => integer::binary_op(IntegerOp::And, ty),
        ("or", Type::B32 | Type::B64) => integer::binary_op(IntegerOp::Or, ty),
        ("xor", Type::B32 | Type::B64) => integer::binary_op(IntegerOp::Xor, ty),
        ("inc", Type::U32) => Some(integer::wrapping_increment()),
        ("dec", Type::U32) => Some(integer::wrapping_decrement()),
        ("exch", Type::B32 | Type::B64) => return Some(AtomicOp::Exchange),
        ("cas", Type::B32 | Type::B64) => return Some(AtomicOp::CompareAndSwap),
        _ => None,
    };
    combine.map(AtomicOp::Combine)
}
