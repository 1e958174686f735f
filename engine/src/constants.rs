//! Long constants as top-level variables.
//!
//! Code that makes a text writes its characters one by one; that is as much code as there are
//! characters. A long one is handed to the program instead, as the value of a variable.

use crate::resident::ResidentValue;
use nesl_core::base::with_stack;
use nesl_core::interp::{Sequence, Value};
use nesl_core::ir::{Atom, Block, Global, GlobalId, Op, Program, Site, Ty};
use nesl_runtime::scalar::Precision;
use rustc_hash::FxHashMap;

/// Texts and lists that are longer than this are long.
const LONG: usize = 64;

/// The program with its long constants as variables behind its own, and their values; `None` if it
/// has no long constants.
pub(crate) fn as_globals(
    program: &Program,
    precision: Precision,
) -> Option<(Program, Vec<ResidentValue>)> {
    let mut found = false;
    for function in &program.functions {
        function.body.each_let(&mut |binding| found |= is_long(&binding.op, &binding.ty));
    }
    if !found {
        return None;
    }
    let mut program = program.clone();
    let mut constants = Constants {
        globals: std::mem::take(&mut program.globals),
        values: Vec::new(),
        texts: FxHashMap::default(),
        precision,
    };
    for function in &mut program.functions {
        constants.block(&mut function.body);
    }
    program.globals = constants.globals;
    Some((program, constants.values))
}

struct Constants {
    globals: Vec<Global>,
    values: Vec<ResidentValue>,
    /// Where texts are, so that each is there once.
    texts: FxHashMap<Box<[u8]>, GlobalId>,
    precision: Precision,
}

impl Constants {
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            for binding in &mut block.lets {
                if is_long(&binding.op, &binding.ty) {
                    binding.op = Op::Global(self.global(&binding.op, &binding.ty));
                    continue;
                }
                binding.op.blocks_mut().for_each(|inner| self.block(inner));
            }
        });
    }

    /// The variable of a long constant.
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
            Op::List(atoms) => {
                let values = atoms.iter().map(|atom| self.constant(*atom)).collect();
                let element = ty.element().expect("a list is a sequence");
                Value::Sequence(Sequence::from_values(element, values))
            }
            _ => unreachable!("it is no constant"),
        };
        let name = format!("constant {}", id.0).into();
        self.globals.push(Global { item: Site::NONE.item, name, ty: ty.clone() });
        self.values.push(ResidentValue::value_of(value, ty.clone()));
        id
    }

    fn constant(&self, atom: Atom) -> Value {
        match atom {
            Atom::Int(x) => Value::Int(self.precision.wrap(x)),
            Atom::Float(x) => Value::Float(self.precision.round(x)),
            Atom::Bool(x) => Value::Bool(x),
            Atom::Char(x) => Value::Char(x),
            Atom::Unit | Atom::Var(_) => unreachable!("it is no scalar constant"),
        }
    }
}

/// Whether an operation makes a long sequence of constants.
fn is_long(op: &Op, ty: &Ty) -> bool {
    match op {
        Op::Text(text) => text.len() > LONG,
        Op::List(atoms) => {
            atoms.len() > LONG
                && !matches!(ty.element(), Some(Ty::Unit) | None)
                && !atoms.iter().any(|atom| matches!(atom, Atom::Var(_) | Atom::Unit))
        }
        _ => false,
    }
}
