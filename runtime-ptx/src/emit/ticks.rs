//! The looks of threads at the interrupt word.
//!
//! A thread counts the iterations of all its loops together, in all of its work items, since each of them
//! may be short: a look after so many iterations of one loop would never come in loops within loops. The
//! looks are seldom, since the threads of a warp whose loops differ in length look one after the other.
//!
//! A thread that has seen an interrupt looks again after each further iteration, so that the work items
//! that it still goes on to end at once.

use super::assembly::{Assembly, Class, Label, Reg, emit};
use super::failure;
use nesl_runtime::kir::Literal;

/// The number of iterations of a thread between two looks at the interrupt word; a power of two.
pub const INTERRUPT_POLL_ITERATIONS: u32 = 1 << 14;

/// The counter of the iterations of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Ticks(Reg);

impl Ticks {
    /// Emits a new counter.
    pub fn begin(asm: &mut Assembly) -> Ticks {
        let ticks = asm.register(Class::B32);
        asm.move_to(ticks, Literal::I32(0).into());
        Ticks(ticks)
    }

    /// Emits the counting of an iteration, and now and then a look; if there is an interrupt, the thread
    /// goes on at `interrupted`.
    pub fn count(self, asm: &mut Assembly, interrupted: Label) {
        let Ticks(ticks) = self;
        let (low, not_now) = (asm.register(Class::B32), asm.register(Class::Predicate));
        let go_on = asm.label();
        emit!(asm, "add.s32 {ticks}, {ticks}, 1");
        emit!(asm, "and.b32 {low}, {ticks}, {}", INTERRUPT_POLL_ITERATIONS - 1);
        emit!(asm, "setp.ne.s32 {not_now}, {low}, 0");
        emit!(asm, "@{not_now} bra {go_on}");
        let is_set = failure::is_interrupted(asm);
        emit!(asm, "@{is_set} bra {interrupted}");
        asm.place(go_on);
    }

    /// Emits that the next iteration ends with a look.
    pub fn look_at_once(self, asm: &mut Assembly) {
        asm.move_to(self.0, Literal::I32(-1).into());
    }
}
