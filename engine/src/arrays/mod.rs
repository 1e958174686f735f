//! Arrays on a runtime: memory, descriptors, and operations on whole sequences.
//!
//! A sequence is its length and the columns of its elements; many sequences are the columns
//! `starts, lengths, extent` and those of the pool that they are cut from. Cutting, choosing and
//! partitioning make views: they compute descriptors and copy nothing. What must be copied is
//! copied by kernels over all elements alike, so that it does not matter how many segments there
//! are and how long each is. An array that nobody else holds may be overwritten.
//!
//! Functions here know values and sizes, never programs: [`Failure`]s of the runtime are passed on
//! for the caller to locate, and faults of the program are those of the direct interpreter.
//!
//! | module | contents |
//! |---|---|
//! | `arguments` | the arguments of launches: columns, counts, scalars |
//! | `memory` | allocation, transfers, launches of built-in kernels |
//! | `state` | what is kept between runs: compiled built-in kernels, facts |
//! | `facts` | descriptors whose contents the host knows |
//! | `builtin` | the kernels written by hand, as kir |
//! | `segments` | lengths and offsets of segments |
//! | `sequence` | the columns of sequences, cut and taken apart |
//! | `value` | the parts of a value in an index space |
//! | `copy` | columns copied, filled, scattered, overwritten |
//! | `gather` | segments copied out of a pool; flattening |
//! | `concat` | sequences and rows behind each other, one pool for several |
//! | `merge` | the values of both sides of a conditional interleaved |
//! | `rank` | sorting, ranks, groups of equal elements |
//! | `rows` | the same for many sequences at once, and their permutation and division |
//! | `product` | products and transposes of matrices |
//! | `operation` | the operations of the language on one sequence, with their faults |

mod arguments;
mod builtin;
mod concat;
mod copy;
mod facts;
mod gather;
mod memory;
mod merge;
mod operation;
mod product;
mod rank;
mod rows;
mod segments;
mod sequence;
mod state;
mod value;

use nesl_runtime::fault::Fault;
use nesl_runtime::runtime::Failure;

pub(crate) use arguments::{array, int, length, number, scalar};
pub(crate) use concat::{append_rows, elements_of, list_rows};
pub(crate) use copy::{as_lengths, fill, is_only_handle, writable};
pub(crate) use gather::{flatten_rows, gather_segments};
pub(crate) use memory::Memory;
pub(crate) use merge::{Side, merge_sides};
pub(crate) use operation::{list, perform};
pub(crate) use product::{Matrix, multiply, transpose};
pub(crate) use rank::sort;
pub(crate) use rows::{group_rows, partition_rows, permute_rows, rank_rows, sort_rows, tiled};
pub(crate) use segments::{PendingSegments, Segments, read_together, spans};
pub(crate) use sequence::Rows;
pub(crate) use state::ArrayState;
pub(crate) use value::{FlatValue, Parts};

/// The result of a step on a runtime.
pub(crate) type Stepped<T> = Result<T, Failure>;

/// The result of an operation that the program may make fail.
pub(crate) type Performed<T> = Result<Result<T, Fault>, Failure>;
