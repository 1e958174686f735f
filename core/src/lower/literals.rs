//! ir → ir: long literals become inputs of the program.
//!
//! Code that makes a text stores its characters one by one, so that it is as long as the text. A
//! long literal becomes a global instead, whose value is written to the runtime in one transfer.
//! Each text is there once.
//!
//! ```text
//! v0: [char] = text "…a thousand characters…"      →      v0: [char] = global "constant 0"
//! ```
//!
//! Invariant: the new globals stand behind those of the program, whose numbers stay the same.

use crate::base::with_stack;
use crate::interp::{Sequence, Value};
use crate::ir::{Atom, Block, Global, GlobalId, Op, Program, Site, Ty};
use crate::thresholds::Thresholds;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::scalar::Precision;
use rustc_hash::FxHashMap;

/// The value of a long literal, and its type.
pub type Literal = (Value, Ty);

/// A program whose long literals are its last globals, and the values of these.
pub type Lifted = (Program, Vec<Literal>);

/// Returns the program with its long literals as globals behind its own, and their values; `None`
/// if it has no long literal.
pub fn as_globals(program: &Program, precision: Precision, limits: &Thresholds) -> Option<Lifted> {
    let max_inline = limits.max_inline_literal_elements;
    let mut found = false;
    for function in &program.functions {
        function.body.each_let(&mut |binding| {
            found |= is_long(&binding.op, &binding.ty, max_inline);
        });
    }
    if !found {
        return None;
    }
    let mut program = program.clone();
    let mut lifting = Lifting {
        globals: std::mem::take(&mut program.globals),
        literals: Vec::new(),
        texts: FxHashMap::default(),
        precision,
        max_inline,
    };
    for function in &mut program.functions {
        lifting.block(&mut function.body);
    }
    program.globals = lifting.globals;
    Some((program, lifting.literals))
}

struct Lifting {
    globals: Vec<Global>,
    literals: Vec<Literal>,
    /// The global of each text.
    texts: FxHashMap<Box<[u8]>, GlobalId>,
    precision: Precision,
    /// The number of elements up to which a literal stays in the program.
    max_inline: usize,
}

impl Lifting {
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            for binding in &mut block.lets {
                if is_long(&binding.op, &binding.ty, self.max_inline) {
                    binding.op = Op::Global(self.global(&binding.op, &binding.ty));
                    continue;
                }
                binding.op.blocks_mut().for_each(|inner| self.block(inner));
            }
        });
    }

    /// Returns the global of a long literal.
    fn global(&mut self, op: &Op, ty: &Ty) -> GlobalId {
        let id = GlobalId(self.globals.len() as u32);
        let value = match op {
            Op::Text(text) => {
                if let Some(known) = self.texts.get(text) {
                    return *known;
                }
                self.texts.insert(text.clone(), id);
                Value::text(&**text)
            }
            Op::Constants(constants) => {
                Value::Sequence(Sequence::from_constants(constants, self.precision))
            }
            Op::List(atoms) => {
                let values = atoms.iter().map(|atom| self.constant(*atom)).collect();
                let element = ty.element().or_bug("a list is a sequence");
                Value::Sequence(Sequence::from_values(element, values))
            }
            _ => bug!("only texts and lists are literals"),
        };
        let name = format!("constant {}", id.0).into();
        self.globals.push(Global { item: Site::NONE.item, name, ty: ty.clone() });
        self.literals.push((value, ty.clone()));
        id
    }

    fn constant(&self, atom: Atom) -> Value {
        match atom {
            Atom::Int(x) => Value::Int(self.precision.wrap(x)),
            Atom::Float(x) => Value::Float(self.precision.round(x)),
            Atom::Bool(x) => Value::Bool(x),
            Atom::Char(x) => Value::Char(x),
            Atom::Unit | Atom::Var(_) => bug!("a literal has an element that is no constant"),
        }
    }
}

/// Returns true if an operation makes a sequence of more than `max_inline` constants.
fn is_long(op: &Op, ty: &Ty, max_inline: usize) -> bool {
    match op {
        Op::Text(text) => text.len() > max_inline,
        Op::Constants(_) => true,
        Op::List(atoms) => {
            atoms.len() > max_inline
                && !matches!(ty.element(), Some(Ty::Unit) | None)
                && !atoms.iter().any(|atom| matches!(atom, Atom::Var(_) | Atom::Unit))
        }
        _ => false,
    }
}
