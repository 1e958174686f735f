//! The policy that decides where and how each part of a program runs.
//!
//! Every decision is a pure function of the program, of sizes known when it is asked, and of one
//! struct of [`Thresholds`] for the machine. The engine asks these questions, in this order:
//!
//! | question | answered by |
//! |---|---|
//! | Is there anything for a runtime, or does the direct interpreter run the program? | [`eligibility::worth_compiling`], [`eligibility::left_to_interpreter`] |
//! | For how long is the program interpreted before it is compiled? | [`InterpretBudget`] |
//! | Is this kernel launched, done by the host in steps, or one operation of the array library? | [`eligibility::placement`] |
//! | How does the host do a step? | [`eligibility::host_step`] |
//! | Which version of a multi-versioned value runs: sequential or flattened? | [`Strategy::choose`] |
//!
//! The approach to the last question is incremental flattening (Henriksen, Thorøe, Elsman and
//! Oancea, *Incremental Flattening for Nested Data Parallelism*, PPoPP 2019): the compiler keeps
//! several versions of the same code, and thresholds on run-time sizes select one. Versions that a
//! warp or a thread block executes cooperatively will be variants of [`Version`] with rows of their
//! own in `version`'s table of rules; nothing else decides between versions.
//!
//! No constant that trades one cost for another stands elsewhere in this crate's middle end or in
//! the engine: a number tuned for one kind of machine is a bug on another. The passes take theirs
//! from the same struct, [`crate::thresholds`].

pub mod eligibility;
mod interpret_first;
mod light;
mod loop_lengths;
mod overwrites;
mod short_loops;
mod version;

pub use crate::thresholds::Thresholds;
pub use interpret_first::{InterpretBudget, code_hash};
pub use light::is_light;
pub use loop_lengths::{Loop, LoopLength};
pub use overwrites::{Overwrites, overwrites};
pub use version::{
    ElementWork, Facts, Recursion, Strategy, Version, VersionCode, called_function, calls_any,
    deciding_space, element_work, is_map, is_one_kernel, orders_rows, recursive,
    recursive_when_sequential,
};
