//! ir → host program: a program with effects becomes actions that the host performs in order.
//!
//! The host performs printing, files and clocks in the order of the program. The steps between are
//! *pure regions*: programs of their own without effects, which runtimes execute. A region is as
//! large as the effects around it allow: a step that cannot fault is computed with its uses, so
//! that a print between a sequence and its sum does not force the sequence to be stored.
//!
//! ```text
//! s = {x * x : x in v};                          print "begin"
//! ok = print_string("begin");             →      compute the sum of {x * x : x in v}
//! ok = print_string(@sum(s));                    compute its text, print that
//! ```
//!
//! A step that may fault and an effect keep their order: an observer sees what the direct
//! interpreter would have shown. An apply-to-each with effects is a region of its own, which the
//! direct interpreter executes. Operations on scalars only, such as those that make the text of a
//! result, also form a region of their own, which the host interprets: launching a kernel for them
//! would take longer.
//!
//! | file | contents |
//! |---|---|
//! | `plan` | the pass: groups bindings into regions, and orders them with the effects |
//! | `host_only` | finds the functions that are best executed by the host |
//! | `pure_region` | makes a program of the bindings of a region |

mod host_only;
mod plan;
mod pure_region;

use crate::ir::{Atom, FunId, GlobalId, Program, Site, Ty, Var};
use crate::prim::HostOp;

pub use host_only::HostOnly;
pub use plan::host_program;

/// A program with effects, as steps for the host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostProgram {
    /// The functions that have effects and the main function, by their number in the program; `None` for all others.
    pub functions: Vec<Option<Function>>,
    /// The function that is executed.
    pub main: FunId,
}

/// A function that the host executes step by step.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The parameters of the function.
    pub params: Vec<Var>,
    /// The steps of the function, and its result.
    pub body: Block,
    /// The definition in the source.
    pub site: Site,
    /// True for a function of the library: a fault inside is reported at the call.
    pub library: bool,
}

/// A list of steps, and the operand that is their result.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The result of the block.
    pub result: Atom,
}

/// One action of the host, and the values that are dead after it.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The action that is performed.
    pub action: Action,
    /// The source location blamed for a fault.
    pub site: Site,
    /// The variables of this block, or parameters if it is a body, that are dead after the step.
    pub forget: Vec<Var>,
}

/// An action of the host.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Computes a pure region.
    Compute(PureRegion),
    /// Binds a variable to the value of a top-level variable.
    Global(Var, GlobalId),
    /// Performs a host operation, such as printing or reading a file.
    Host {
        /// The variable bound to the result.
        var: Var,
        /// The type of the result.
        ty: Ty,
        /// The host operation.
        op: HostOp,
        /// The operands of the operation.
        args: Vec<Atom>,
        /// The types of the operands.
        types: Vec<Ty>,
    },
    /// Executes a block and binds the variable to the pair of its result and the seconds it took.
    Time(Var, Block),
    /// Executes one of two blocks.
    If {
        /// The variable bound to the result.
        var: Var,
        /// The condition, a bool.
        cond: Atom,
        /// The block executed if the condition is true.
        then: Block,
        /// The block executed if the condition is false.
        otherwise: Block,
    },
    /// Calls a function that has effects.
    Call {
        /// The variable bound to the result.
        var: Var,
        /// The function that is called.
        callee: FunId,
        /// The arguments of the call.
        args: Vec<Atom>,
        /// The call as a region for the direct interpreter, if the function is in [`HostOnly`].
        host_only: Option<Box<PureRegion>>,
    },
}

/// Consecutive bindings of a function, as a program of its own that a runtime or interpreter
/// executes.
#[derive(Clone, Debug, PartialEq)]
pub struct PureRegion {
    /// The program, whose result is the tuple of the outputs. It has no parameter for a random key.
    pub program: Program,
    /// The source of the value of each of its globals, in order.
    pub inputs: Vec<Input>,
    /// The variables of the function bound to the components of its result, `(a, (b, c))`.
    pub outputs: Vec<Var>,
    /// True if it prints or draws in the iterations of an apply-to-each: then the direct
    /// interpreter executes it.
    pub effects: bool,
    /// True if it only has operations on scalars and on texts made of them, without loops over
    /// elements.
    pub small: bool,
}

/// An input of a pure region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The value of a top-level variable.
    Global(GlobalId),
    /// The value of a variable of the function.
    Var(Var),
}

#[cfg(test)]
mod tests;
