//! Services of the device: the intrinsics of kir that a whole grid executes.
//!
//! The engine calls such an intrinsic by a kernel of one work item that does nothing else. For an
//! ordinary kernel that would be one thread; here the kernel becomes entries of its own, which the
//! launcher enqueues, one after the other, on the stream of the runtime. The host learns nothing on
//! the way: decisions that depend on the elements are made on the device.
//!
//! ```text
//! kernel (… extern sort_up(keys, count, out)) ──Service::of──▶ Service ──emit──▶ entries
//! count, addresses ──Service::steps──▶ Steps ──launch──▶ the stream
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `sort` | sorts and ranks: few keys by `small`, in a block; more by `histogram` and `pass` |
//! | `order`, `tile` | the digits of keys; their distribution by a digit, within a block |
//! | `area` | the memory that the launches of a large sort share |
//! | `groups` | groups of ints and of texts |
//! | `product`, `transpose` | products and transposes of matrices |
//! | `code` | the idioms of entries |
//! | [`steps`], [`launch`](mod@launch) | the launches of a call as data; their enqueueing |
//!
//! Refused, and left to another runtime: `rank_texts`, the texts of floats and the floats of texts;
//! sorts, ranks and groups of segments; and sorts, ranks and groups within an ordinary kernel, one for each work item. Hashes and
//! comparisons of texts are code of ordinary kernels (`emit/text.rs`).

mod area;
mod code;
mod groups;
mod histogram;
pub mod launch;
mod order;
mod pass;
mod product;
mod small;
mod sort;
pub mod steps;
mod tile;
mod transpose;

use crate::emit::Target;
use groups::Grouped;
use nesl_runtime::bug;
use nesl_runtime::kir::{Extern, Kernel, Op, Space, Ty, ValueTy};
use order::KeyOrder;
use steps::{Steps, TooMany};

/// An intrinsic that a whole grid executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    kind: ServiceKind,
    /// The parameter of the kernel that is the number of its work items.
    work_items: usize,
    /// The parameters of the kernel that the intrinsic takes.
    args: Vec<usize>,
}

/// The result of a service, for its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServiceKind {
    /// The keys in order.
    Sort(KeyOrder),
    /// The rank of each key.
    Rank(KeyOrder),
    /// The last element equal to each, and the number of these.
    Groups(Grouped),
    /// The product of two matrices of these floats.
    Product(Ty),
    /// The transpose of a matrix of these elements.
    Transpose(Ty),
}

impl Service {
    /// Returns the service that a kernel calls, if it does nothing else.
    pub fn of(kernel: &Kernel) -> Option<Service> {
        let param = |value| kernel.params.iter().position(|param| *param == value);
        let (Space::Flat { count }, [stage]) = (&kernel.space, &kernel.stages[..]) else {
            return None;
        };
        let ([inst], []) = (&stage.body.insts[..], &stage.sinks[..]) else { return None };
        let Op::Extern(intrinsic, args) = &inst.op else { return None };
        let ValueTy::Array(keys) = kernel.types[args.first()?.0 as usize] else { return None };
        let kind = ServiceKind::of(*intrinsic, keys)?;
        let args = args.iter().map(|arg| param(*arg)).collect::<Option<_>>()?;
        Some(Service { kind, work_items: param(*count)?, args })
    }

    /// The number of entries.
    pub fn entries(&self) -> usize {
        match self.kind {
            ServiceKind::Sort(_) | ServiceKind::Rank(_) => sort::ENTRIES,
            ServiceKind::Groups(_) => groups::ENTRIES,
            ServiceKind::Product(_) => product::ENTRIES,
            ServiceKind::Transpose(_) => transpose::ENTRIES,
        }
    }

    /// Emits the entries for a target, under names by their numbers.
    pub fn emit(&self, target: Target, name: impl Fn(usize) -> String) -> Vec<String> {
        match self.kind {
            ServiceKind::Sort(order) => sort::emit(order, false, name),
            ServiceKind::Rank(order) => sort::emit(order, true, name),
            ServiceKind::Groups(elements) => groups::emit(elements, name),
            ServiceKind::Product(elements) => product::emit(elements, target, name),
            ServiceKind::Transpose(elements) => vec![transpose::emit(elements, &name(0))],
        }
    }

    /// Returns the launches of a call; `words` are the arguments of the kernel: addresses of first
    /// elements, and numbers; `resident` are the numbers of blocks of the entries that the device
    /// holds at a time.
    pub fn steps(&self, words: &[u64], resident: &[u64]) -> Result<Steps, TooMany> {
        if words[self.work_items] == 0 {
            return Ok(Steps::default());
        }
        let args: Vec<u64> = self.args.iter().map(|at| words[*at]).collect();
        match (self.kind, &args[..]) {
            (ServiceKind::Sort(order), &[keys, count, out]) => {
                sort::steps(order, false, [keys, out], count, resident)
            }
            (ServiceKind::Rank(order), &[keys, count, out]) => {
                sort::steps(order, true, [keys, out], count, resident)
            }
            (ServiceKind::Groups(Grouped::Ints(_)), &[ints, count, last, equal]) => {
                groups::steps(&[ints], count, [last, equal], resident)
            }
            (
                ServiceKind::Groups(Grouped::Texts),
                &[starts, count, lengths, chars, last, equal],
            ) => groups::steps(&[starts, lengths, chars], count, [last, equal], resident),
            (
                ServiceKind::Product(elements),
                &[
                    left,
                    left_starts,
                    left_turned,
                    right,
                    right_starts,
                    right_turned,
                    rows,
                    columns,
                    depth,
                    out,
                ],
            ) => {
                let left = [left, left_starts, left_turned];
                let right = [right, right_starts, right_turned];
                let sizes = [rows, columns, depth];
                Ok(product::steps(elements, [left, right], sizes, out, resident))
            }
            (ServiceKind::Transpose(_), &[elements, starts, rows, columns, out]) => {
                Ok(transpose::steps([elements, starts, out], [rows, columns], resident))
            }
            _ => bug!("a service takes as many arguments as its intrinsic"),
        }
    }
}

impl ServiceKind {
    fn of(intrinsic: Extern, keys: Ty) -> Option<ServiceKind> {
        let order = |descends| KeyOrder { keys, descends };
        Some(match intrinsic {
            Extern::SortUp => ServiceKind::Sort(order(false)),
            Extern::SortDown => ServiceKind::Sort(order(true)),
            Extern::RankUp => ServiceKind::Rank(order(false)),
            Extern::RankDown => ServiceKind::Rank(order(true)),
            Extern::Groups => ServiceKind::Groups(Grouped::Ints(keys)),
            Extern::TextGroups => ServiceKind::Groups(Grouped::Texts),
            Extern::Product => ServiceKind::Product(keys),
            Extern::Transpose => ServiceKind::Transpose(keys),
            Extern::Distinct
            | Extern::DistinctTexts
            | Extern::RankTexts
            | Extern::RankSegmentsUp
            | Extern::RankSegmentsDown
            | Extern::SortSegmentsUp
            | Extern::SortSegmentsDown
            | Extern::GroupSegments
            | Extern::GroupTextSegments
            | Extern::RankTextSegments
            | Extern::HashText
            | Extern::SameText
            | Extern::FloatText
            | Extern::FloatText32
            | Extern::ExpText
            | Extern::ParseFloat
            | Extern::ParseFloat32 => return None,
        })
    }
}
