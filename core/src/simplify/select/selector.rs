//! The function that selects: the places of the elements of some ranks, in the order of their ranks.

use super::all_of;
use crate::ir::{Atom, Function, FunctionBuilder, Site, Ty};
use crate::prim::{ReduceOp, SeqOp};
use nesl_runtime::scalar::ScalarOp;

/// The site of code that no program contains.
const SITE: Site = Site::NONE;

/// The number of elements of the sample for each unit of the square root of the number of keys.
const SAMPLES_PER_ROOT: i64 = 4;

/// The distance of the bounds from the range in the sample, in standard deviations of the number of elements of
/// the sample before an end of the range, and in elements: a range is missed about once in ten thousand times.
const MARGIN_DEVIATIONS: f64 = 4.0;
const MARGIN_ELEMENTS: f64 = 6.0;

/// Returns the function from keys and two ranks, `from` and `to`, to the indices of the keys of the
/// ranks from the first to before the second. The ranks are not negative, and at most as many as there are keys.
pub(super) fn function(key: &Ty, direction: SeqOp) -> Function {
    let mut builder = FunctionBuilder::new();
    let keys = builder.param(Ty::sequence(key.clone()));
    let (from, to) = (builder.param(Ty::Int), builder.param(Ty::Int));
    let b = &mut builder;
    let size = b.seq(SeqOp::Length, vec![keys], SITE);
    let bounds = Bounds::of(b, (keys, size), [from, to], direction);
    let (before, there) = bounds.flags(b, keys, direction);
    let counts = b.nest(&[before], false, SITE, |b, is_before| {
        b.scalar(ScalarOp::BoolToInt, vec![is_before[0]], SITE)
    });
    let before = b.seq(SeqOp::Reduce(ReduceOp::Sum), vec![counts], SITE);
    let places = range(b, size);
    let candidates = b.seq(SeqOp::Pack, vec![places, there], SITE);
    let count = b.seq(SeqOp::Length, vec![candidates], SITE);
    let behind = b.scalar(ScalarOp::Add, vec![before, count], SITE);
    let conditions = vec![
        b.scalar(ScalarOp::Ge, vec![from, before], SITE),
        b.scalar(ScalarOp::Le, vec![to, behind], SITE),
    ];
    let found = all_of(b, conditions, SITE);
    let among_candidates = |b: &mut FunctionBuilder| {
        let keys = b.seq(SeqOp::Gather, vec![keys, candidates], SITE);
        let ranks = b.seq(direction, vec![keys], SITE);
        let ordered = b.seq(SeqOp::Permute, vec![candidates, ranks], SITE);
        let ends = [from, to].map(|end| b.scalar(ScalarOp::Sub, vec![end, before], SITE));
        b.seq(SeqOp::Subseq, vec![ordered, ends[0], ends[1]], SITE)
    };
    let among_all = |b: &mut FunctionBuilder| {
        let ranks = b.seq(direction, vec![keys], SITE);
        let places = range(b, size);
        let ordered = b.seq(SeqOp::Permute, vec![places, ranks], SITE);
        b.seq(SeqOp::Subseq, vec![ordered, from, to], SITE)
    };
    let result = b.conditional(found, SITE, among_candidates, among_all);
    let order = if direction == SeqOp::RankUp { "up" } else { "down" };
    let ty = if *key == Ty::Int { "int" } else { "float" };
    let function = builder.finish(format!("select.{order}@{ty}"), SITE, result);
    Function { library: true, ..function }
}

/// Two keys between which the range probably lies.
struct Bounds {
    /// True if no key before the first one is a candidate.
    has_low: Atom,
    low: Atom,
    /// True if no key behind the second one is a candidate.
    has_high: Atom,
    high: Atom,
}

impl Bounds {
    fn of(
        b: &mut FunctionBuilder,
        (keys, size): (Atom, Atom),
        ends: [Atom; 2],
        direction: SeqOp,
    ) -> Bounds {
        let scalar = |b: &mut FunctionBuilder, op, args| b.scalar(op, args, SITE);
        let many = scalar(b, ScalarOp::ToFloat, vec![size]);
        let root = scalar(b, ScalarOp::Sqrt, vec![many]);
        let root = scalar(b, ScalarOp::Trunc, vec![root]);
        let samples = scalar(b, ScalarOp::Mul, vec![root, Atom::Int(SAMPLES_PER_ROOT)]);
        let stride = scalar(b, ScalarOp::Div, vec![size, samples]);
        let numbers = range(b, samples);
        let sample = b.nest(&[numbers], false, SITE, |b, number| {
            let begin = scalar(b, ScalarOp::Mul, vec![number[0], stride]);
            // Equally far apart, they would all have the same place in data with a period.
            let moved = scalar(b, ScalarOp::Mix, vec![number[0], stride]);
            let moved = scalar(b, ScalarOp::Mod, vec![moved, stride]);
            let place = scalar(b, ScalarOp::Add, vec![begin, moved]);
            b.seq(SeqOp::Index, vec![keys, place], SITE)
        });
        let ranks = b.seq(direction, vec![sample], SITE);
        let sample = b.seq(SeqOp::Permute, vec![sample, ranks], SITE);
        let all = scalar(b, ScalarOp::ToFloat, vec![samples]);
        // The rank in the sample of the key of a rank, and how far it may be off.
        let [first, end] = ends.map(|end| {
            let end = scalar(b, ScalarOp::ToFloat, vec![end]);
            let share = scalar(b, ScalarOp::Div, vec![end, many]);
            let rest = scalar(b, ScalarOp::Sub, vec![Atom::Float(1.0), share]);
            let place = scalar(b, ScalarOp::Mul, vec![share, all]);
            let variance = scalar(b, ScalarOp::Mul, vec![place, rest]);
            let variance = scalar(b, ScalarOp::Max, vec![variance, Atom::Float(0.0)]);
            let deviation = scalar(b, ScalarOp::Sqrt, vec![variance]);
            let far = scalar(b, ScalarOp::Mul, vec![deviation, Atom::Float(MARGIN_DEVIATIONS)]);
            (place, scalar(b, ScalarOp::Add, vec![far, Atom::Float(MARGIN_ELEMENTS)]))
        });
        let low = scalar(b, ScalarOp::Sub, vec![first.0, first.1]);
        let low = scalar(b, ScalarOp::Floor, vec![low]);
        let high = scalar(b, ScalarOp::Add, vec![end.0, end.1]);
        let high = scalar(b, ScalarOp::Ceil, vec![high]);
        let has_low = scalar(b, ScalarOp::Ge, vec![low, Atom::Int(0)]);
        let has_high = scalar(b, ScalarOp::Lt, vec![high, samples]);
        let last = scalar(b, ScalarOp::Sub, vec![samples, Atom::Int(1)]);
        let [low, high] = [low, high].map(|rank| {
            let rank = scalar(b, ScalarOp::Max, vec![rank, Atom::Int(0)]);
            let rank = scalar(b, ScalarOp::Min, vec![rank, last]);
            b.seq(SeqOp::Index, vec![sample, rank], SITE)
        });
        Bounds { has_low, low, has_high, high }
    }

    /// Returns for each key whether it comes before the bounds, and whether it is a candidate.
    ///
    /// A NaN, which comes last in either direction, is never before the first bound, nor before the second: the
    /// candidates have neighbouring ranks.
    fn flags(&self, b: &mut FunctionBuilder, keys: Atom, direction: SeqOp) -> (Atom, Atom) {
        let (less, at_most) = match direction {
            SeqOp::RankDown => (ScalarOp::Gt, ScalarOp::Ge),
            _ => (ScalarOp::Lt, ScalarOp::Le),
        };
        let before = b.nest(&[keys], false, SITE, |b, key| {
            let before = b.scalar(less, vec![key[0], self.low], SITE);
            b.scalar(ScalarOp::And, vec![before, self.has_low], SITE)
        });
        let no_high = b.scalar(ScalarOp::Not, vec![self.has_high], SITE);
        let there = b.nest(&[keys, before], false, SITE, |b, key| {
            let behind_low = b.scalar(ScalarOp::Not, vec![key[1]], SITE);
            let at_most = b.scalar(at_most, vec![key[0], self.high], SITE);
            let before_high = b.scalar(ScalarOp::Or, vec![at_most, no_high], SITE);
            b.scalar(ScalarOp::And, vec![behind_low, before_high], SITE)
        });
        (before, there)
    }
}

/// Returns the ints from 0 to below an end.
fn range(b: &mut FunctionBuilder, end: Atom) -> Atom {
    b.seq(SeqOp::Range, vec![Atom::Int(0), Atom::Int(1), end], SITE)
}
