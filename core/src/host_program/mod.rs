//! ir → host program: a program with effects becomes actions that the host performs in order.
//!
//! The host performs printing, files and clocks in the order of the program. The steps between are
//! *pure regions*: programs of their own without effects, which runtimes execute. A region is as
//! large as the effects around it allow: a step that cannot fault is computed with its uses, so that
//! a print between a sequence and its sum does not force the sequence to be stored.
//!
//! ```text
//! s = {x * x : x in v};                          print "begin"
//! ok = print_string("begin");             →      compute the sum of {x * x : x in v}
//! ok = print_string(@sum(s));                    compute its text, print that
//! ```
//!
//! A step that may fault and an effect keep their order: an observer sees what the direct interpreter
//! would have shown. An apply-to-each with effects is a region of its own, which the direct
//! interpreter executes. Operations on scalars only, such as those that make the text of a result,
//! form a region of their own, too: they are no work for a runtime.
//!
//! | module | contents |
//! |---|---|
//! | `host_only` | functions that are best executed by the host |
//! | `plan` | the grouping of bindings into regions, and their order with the effects |
//! | `pure_region` | bindings as a program |

mod host_only;
mod plan;
mod pure_region;

use crate::ir::{Atom, FunId, GlobalId, Program, Site, Ty, Var};
use crate::prim::HostOp;

pub use host_only::HostOnly;
pub use plan::host_program;

/// A program as the steps of a host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostProgram {
    /// Those functions that have effects, by their number in the program.
    pub functions: Vec<Option<Function>>,
    /// The form.
    pub main: FunId,
}

/// A function that the host performs.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its parameters.
    pub params: Vec<Var>,
    /// The actions.
    pub body: Block,
    /// The definition in the source.
    pub site: Site,
    /// It belongs to the library: a fault inside is the fault of the call.
    pub library: bool,
}

/// Steps, and the value they end in.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The value.
    pub result: Atom,
}

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The action.
    pub action: Action,
    /// For whom.
    pub site: Site,
    /// The variables of this block, or parameters if it is a body, that are dead after the step.
    pub forget: Vec<Var>,
}

/// An action of the host.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Has a piece computed.
    Compute(PureRegion),
    /// Looks up a top-level variable.
    Global(Var, GlobalId),
    /// Does something outside.
    Host {
        /// Its result.
        var: Var,
        /// Of which type.
        ty: Ty,
        /// The operation.
        op: HostOp,
        /// With what.
        args: Vec<Atom>,
        /// Of which types.
        types: Vec<Ty>,
    },
    /// Performs a block and looks at the clock: the pair of its value and seconds.
    Time(Var, Block),
    /// Performs one of two blocks.
    If {
        /// The value.
        var: Var,
        /// The condition.
        cond: Atom,
        /// The block performed if the condition is true.
        then: Block,
        /// The block performed if the condition is false.
        otherwise: Block,
    },
    /// Performs a function that has effects.
    Call {
        /// The value.
        var: Var,
        /// The function.
        callee: FunId,
        /// The operands.
        args: Vec<Atom>,
        /// The call as a piece, if the function is light.
        host_only: Option<Box<PureRegion>>,
    },
}

/// A part of a function, as a program.
#[derive(Clone, Debug, PartialEq)]
pub struct PureRegion {
    /// The program; it draws no key of its own.
    pub program: Program,
    /// The values of its globals.
    pub inputs: Vec<Input>,
    /// The variables bound to the parts of its value, `(a, (b, c))`.
    pub outputs: Vec<Var>,
    /// It prints or draws at the points of an apply-to-each: it is for the direct interpreter.
    pub effects: bool,
    /// It only does a few operations on scalars, and on texts made of them.
    pub small: bool,
}

/// An input of a pure region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A top-level variable.
    Global(GlobalId),
    /// A variable of the function.
    Var(Var),
}

#[cfg(test)]
mod tests;
