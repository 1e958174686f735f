//! Which form of a computation to run: by each point itself, or flat.
//!
//! The choice is made when the points have been counted, by one pure function of a few facts: the
//! degree of flattening that Henriksen, Thorøe, Elsman and Oancea choose by thresholds
//! (*Incremental flattening for nested data parallelism*, 2019). Where there are points enough to
//! keep the machine busy, each does its part by itself, and intermediate values never leave it;
//! where there are few, and much inside, they are taken apart; where there is little to do at
//! all, taking it apart costs more than it. What the flat form does in one launch, without storing
//! anything in between ([`is_map`]), loses nothing by it. A [`Strategy`] may force it.

use crate::flat::{Block, Let, Op, Program, Step};
use crate::ir::{self, Atom, FunId};

/// A form of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Each point does all of it by itself.
    Sequential,
    /// Step by step, all points at once.
    Flattened,
}

/// How forms are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// By the facts.
    #[default]
    Auto,
    /// Everything in this form, whatever it costs: to test both, and to compare them.
    Always(Version),
}

/// What is known where a choice is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// How many points there are.
    pub points: u64,
    /// There is one point, on the host's own path.
    pub single: bool,
    /// In flat form it is a map: one launch over the points inside, which stores nothing but what
    /// is asked for.
    pub map: bool,
    /// It is a call.
    pub call: bool,
    /// It is a call of a function that is under way already: how often it was called so far, and
    /// over how many points these calls have gone.
    pub again: Option<(u64, u64)>,
    /// How many elements the arrays have that it reads.
    pub size: u64,
    /// How many instances make progress at the same time, about.
    pub parallelism: u64,
}

/// Below so many elements in all, taking a computation apart costs more than it brings.
const LITTLE: u64 = 1 << 14;

/// So many instances for each that the machine runs at a time even out.
const EVEN: u64 = 8;

/// Operations in a side of a conditional that is little.
const FEW: usize = 16;

/// After so many calls one knows what a function does.
const OFTEN: u64 = 16;

impl Strategy {
    /// Chooses.
    pub fn choose(self, facts: &Facts) -> Version {
        match self {
            Strategy::Auto => choose(facts),
            Strategy::Always(form) => form,
        }
    }
}

fn choose(facts: &Facts) -> Version {
    let enough = facts.points >= facts.parallelism * EVEN;
    let little = facts.size < LITTLE;
    let sequential = match (facts.single, facts.call, facts.again) {
        // The host's own path: what calls itself again is finished in one go if it has little to
        // work on, or does little with it time after time: a walk along an array, say.
        (true, true, Some((calls, points))) => {
            let each = points / calls.max(1);
            (little && each < LITTLE) || (calls >= OFTEN && each < LITTLE / 8)
        }
        (true, ..) => false,
        (false, ..) if facts.map && !little => false,
        (false, ..) => enough || little,
    };
    if sequential { Version::Sequential } else { Version::Flattened }
}

/// Whether a flat form is a map: descriptors apart, one kernel over all the points inside, each of
/// which by itself gives its part of the result. Nothing that the other form keeps in registers goes
/// through memory here.
pub fn is_map(flattened: &Block) -> bool {
    let Some(Step::Let(Let { var, ctx: outside, op: Op::Collect { value, from }, .. })) =
        flattened.steps.last()
    else {
        return false;
    };
    let mut inner = 0;
    let plain = flattened.steps.iter().rev().skip(1).all(|step| match step {
        Step::Space(_) => true,
        Step::Let(_) => false,
        Step::Kernel(kernel) if kernel.space == *outside => kernel.lets.iter().all(is_plain),
        Step::Kernel(kernel) => {
            inner += 1;
            kernel.space == *from
                && kernel.masks.is_empty()
                && kernel.stores.iter().all(|(var, _)| *value == Atom::Var(*var))
                && kernel.lets.iter().all(|binding| is_plain(binding) && !binding.ty.has_sequence())
        }
    });
    plain && inner == 1 && flattened.result == Atom::Var(*var)
}

/// Returns true if each element computes a step for itself, with a few instructions.
fn is_plain(binding: &Let) -> bool {
    match &binding.op {
        Op::Map(ir::Op::If { then, otherwise, .. }) => {
            [then, otherwise].iter().all(|side| side.lets.len() <= FEW)
        }
        _ => binding.is_local(),
    }
}

/// Per function, whether its flat form can call itself again.
pub fn recursive(program: &Program) -> Vec<bool> {
    let count = program.functions.len();
    let mut calls: Vec<Vec<FunId>> = vec![Vec::new(); count];
    for (function, calls) in program.functions.iter().zip(&mut calls) {
        if let Some(function) = function {
            function.body.each_let(&mut |binding| {
                if let Op::Call(callee, _) = binding.op {
                    calls.push(callee);
                }
            });
        }
    }
    let reaches_itself = |start: usize| {
        let mut seen = vec![false; count];
        let mut open: Vec<FunId> = calls[start].clone();
        while let Some(at) = open.pop() {
            let at = at.0 as usize;
            if at == start {
                return true;
            }
            if !std::mem::replace(&mut seen[at], true) {
                open.extend(&calls[at]);
            }
        }
        false
    };
    (0..count).map(reaches_itself).collect()
}
