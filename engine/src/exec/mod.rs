//! Running flat programs: the host does control flow, counts elements and chooses versions; the
//! runtime executes kernels.
//!
//! Steps that only rearrange descriptors (collecting, calling, taking a segment) touch no array.
//! An index space with a single element keeps its values on the host, so that the straight lines of
//! a program, at its top, are no launches at all.
//!
//! | module | contents |
//! |---|---|
//! | `schedule` | blocks, calls and conditionals, step by step |
//! | `choice` | the choice between versions, and what is observed of recursion for it |
//! | `spaces` | index spaces entered, sequences collected from them |
//! | `host_steps` | kernels of a single element, done by the host |
//! | `products` | values that are products or transposes of matrices |
//! | `sequential` | a whole program run by one thread, as a fallback |

mod choice;
mod host_steps;
mod products;
mod schedule;
mod sequential;
mod spaces;

pub(crate) use schedule::{DepthLimits, run};
pub(crate) use sequential::run_sequential;
