//! The programs that were compiled last: a form that is entered again is not compiled again.
//!
//! Two forms with the same text have the same program, but for the places of its operations in the session, and of the
//! variables that it reads: `x = step(x)` reads another `x` each time. The code of the first serves the second; places in
//! a failure are those of the form that was entered.

use nesl_core::base::ItemId;
use nesl_core::interp::Failure;
use nesl_core::ir::{Block, Op, Program};
use nesl_core::pipeline::Options;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// The programs that were compiled last, and what they were compiled to.
pub(crate) struct RecentPrograms<T>(RefCell<VecDeque<Recent<T>>>);

/// A program that was compiled.
struct Recent<T> {
    hash: u64,
    /// The program before it was compiled.
    source: Program,
    options: Options,
    prepared: Rc<T>,
}

impl<T> Default for RecentPrograms<T> {
    fn default() -> RecentPrograms<T> {
        RecentPrograms(RefCell::default())
    }
}

impl<T> RecentPrograms<T> {
    /// Returns what a program was compiled to, if it was lately, with these options.
    /// `hash` is that of its code.
    pub(crate) fn find(
        &self,
        (program, hash): (&Program, u64),
        options: &Options,
    ) -> Option<Rc<T>> {
        let programs = self.0.borrow();
        let candidates =
            programs.iter().filter(|recent| recent.hash == hash && recent.options == *options);
        // Their constants are the same bit by bit, since these are part of the hash.
        let mut same = candidates.filter(|recent| recent.source == moved(program, &recent.source));
        same.next().map(|recent| recent.prepared.clone())
    }

    /// Remembers a program, in place of the oldest if there are too many. One with long constants is not remembered: they
    /// would be kept, too. `hash` is that of its code.
    pub(crate) fn add(&self, (program, hash): (&Program, u64), options: Options, prepared: &Rc<T>) {
        let mut has_constants = false;
        for function in &program.functions {
            function.body.for_each_op(&mut |op| has_constants |= matches!(op, Op::Constants(_)));
        }
        if has_constants {
            return;
        }
        let mut programs = self.0.borrow_mut();
        if programs.len() >= options.limits.max_recent_programs {
            programs.pop_front();
        }
        let (source, prepared) = (program.clone(), prepared.clone());
        programs.push_back(Recent { hash, source, options, prepared });
    }

    /// Forgets all programs.
    pub(crate) fn clear(&self) {
        self.0.borrow_mut().clear();
    }
}

/// Returns the form of a program.
pub(crate) fn item(program: &Program) -> ItemId {
    program.functions[program.main.0 as usize].site.item
}

/// Moves the places in a failure from one form to another.
pub(crate) fn move_failure(failure: &mut Failure, from: ItemId, to: ItemId) {
    let places = failure.trace.iter_mut().map(|(site, _)| site);
    places.filter(|site| site.item == from).for_each(|site| site.item = to);
}

/// Returns a program as it would be in the form of another one, with the variables of that. The values of variables are
/// inputs of the code, by their numbers.
fn moved(program: &Program, of: &Program) -> Program {
    let (mut program, from, to) = (program.clone(), item(program), item(of));
    for (global, other) in program.globals.iter_mut().zip(&of.globals) {
        global.item = other.item;
    }
    for function in &mut program.functions {
        if function.site.item == from {
            function.site.item = to;
        }
        move_block(&mut function.body, from, to);
    }
    program
}

fn move_block(block: &mut Block, from: ItemId, to: ItemId) {
    nesl_core::base::with_stack(|| {
        for binding in &mut block.lets {
            if binding.site.item == from {
                binding.site.item = to;
            }
            binding.op.blocks_mut().for_each(|inner| move_block(inner, from, to));
        }
    });
}
