//! The points of spaces, and where their segments are.

use super::{Evaluator, Frame, Parts, Run, RunError, is_filter};
use nesl_core::flat::{SpaceId, SpaceKind};
use nesl_core::ir::{Atom, Var};
use nesl_runtime::kir::Literal;
use nesl_runtime::runtime::{Arg, Buffer};
use std::cell::OnceCell;
use std::rc::Rc;

/// The lengths of so many segments are sooner read than scanned by a kernel.
const FEW: usize = 256;

/// The points of a context.
#[derive(Debug)]
pub(super) struct Points {
    pub(super) count: usize,
    /// There is one, and its values are no arrays.
    pub(super) single: bool,
    /// One for each point of the context around it, if that is not single.
    pub(super) segments: Option<Rc<Segments>>,
    /// For each point, its place in the context around it.
    pub(super) map: OnceCell<Buffer>,
}

/// Segments that lie one behind the other.
#[derive(Debug)]
pub(super) struct Segments {
    pub(super) count: usize,
    /// All together.
    pub(super) total: usize,
    /// How long each is, if all are equally long.
    pub(super) regular: Option<usize>,
    /// Where they begin, and the end.
    offsets: OnceCell<Buffer>,
    lengths: OnceCell<Arg>,
}

impl Points {
    /// The one point of a program.
    pub(super) fn one() -> Points {
        Points { count: 1, single: true, segments: None, map: OnceCell::new() }
    }

    fn many(count: usize, segments: Option<Rc<Segments>>) -> Points {
        Points { count, single: false, segments, map: OnceCell::new() }
    }

    /// The points of a filter, and their places, if these were stored.
    pub(super) fn kept(
        count: usize,
        segments: Option<Rc<Segments>>,
        places: Option<Buffer>,
    ) -> Points {
        let map = places.map_or_else(OnceCell::new, OnceCell::from);
        Points { count, single: false, segments, map }
    }

    /// The same points, as those a function is called for.
    pub(super) fn caller(&self) -> Points {
        Points { count: self.count, single: self.single, segments: None, map: OnceCell::new() }
    }
}

impl<'p> Evaluator<'p> {
    /// A context comes into being.
    pub(super) fn enter(&'p self, frame: &mut Frame<'p>, ctx: SpaceId) -> Run<()> {
        let space = frame.function.context(ctx).kind;
        let points = match space {
            SpaceKind::Caller => return Ok(()),
            SpaceKind::Elements { of, sequence } => self.elements(frame, of, sequence)?,
            SpaceKind::Count { of, count } => self.counted(frame, of, count)?,
            SpaceKind::Filter { of, .. } => {
                if frame.points[&of].single {
                    return Err(RunError::Unsupported);
                }
                return self.filter(frame, ctx);
            }
            SpaceKind::Concat { of, inner } => {
                let points = frame.points[&inner].clone();
                match frame.points[&of].single {
                    true => Points::many(points.count, None),
                    false => {
                        Points::many(points.count, Some(self.joined_segments(frame, of, inner)?))
                    }
                }
            }
        };
        frame.points.insert(ctx, Rc::new(points));
        Ok(())
    }

    /// The segments of points somewhere inside of a context, one for each point of that.
    fn joined_segments(&self, frame: &Frame<'p>, of: SpaceId, inner: SpaceId) -> Run<Rc<Segments>> {
        let segments_of = |at: SpaceId| {
            let segments = frame.points[&at].segments.clone().ok_or(RunError::Unsupported)?;
            let around = frame.function.segments_of(at).ok_or(RunError::Unsupported)?;
            Ok((segments, around))
        };
        let (mut segments, mut at) = segments_of(inner)?;
        while at != of {
            let (outer, around) = segments_of(at)?;
            let starts = Arg::Array(self.offsets(&outer)?, 0);
            let (lengths, offsets) = (self.lengths(&outer)?, self.offsets(&segments)?);
            let (_, lengths) = self.spans(&starts, &lengths, &offsets, outer.count)?;
            (segments, at) = (self.segments(outer.count, lengths)?, around);
        }
        Ok(segments)
    }

    fn elements(&'p self, frame: &mut Frame<'p>, of: SpaceId, sequence: Var) -> Run<Points> {
        let outer = frame.points[&of].clone();
        let home = frame.values[&sequence].0;
        let known = frame.vars.get(&(sequence, home)).cloned();
        if frame.points[&home].single {
            let value = known.ok_or(RunError::Unsupported)?;
            let length = whole_number(&value.all[0]);
            if outer.single {
                return Ok(Points::many(length, None));
            }
            return self.regular(outer.count, length);
        }
        if home == of {
            let value = known.ok_or(RunError::Unsupported)?;
            if let Some(tiles) = &value.tiles {
                return Ok(Points::many(tiles.total, Some(tiles.clone())));
            }
            return self.ragged(outer.count, value.all[1].clone());
        }
        let lengths = self.lengths_at(frame, sequence, of)?;
        self.ragged(outer.count, lengths)
    }

    fn counted(&'p self, frame: &mut Frame<'p>, of: SpaceId, count: Atom) -> Run<Points> {
        let outer = frame.points[&of].clone();
        let single = match count {
            Atom::Var(var) => frame.points[&frame.values[&var].0].single,
            _ => true,
        };
        if single {
            let length = match count {
                Atom::Int(count) => count as usize,
                _ => {
                    let home = match count {
                        Atom::Var(var) => frame.values[&var].0,
                        _ => of,
                    };
                    whole_number(&self.value_at(frame, count, home)?.all[0])
                }
            };
            if outer.single {
                return Ok(Points::many(length, None));
            }
            return self.regular(outer.count, length);
        }
        let counts = self.value_at(frame, count, of)?;
        let lengths = self.as_lengths(counts.all[0].clone(), outer.count)?;
        self.ragged(outer.count, lengths)
    }

    fn regular(&self, count: usize, length: usize) -> Run<Points> {
        let total = count.checked_mul(length).ok_or_else(|| self.out_of_memory(count, length))?;
        let segments = Segments {
            count,
            total,
            regular: Some(length),
            offsets: OnceCell::new(),
            lengths: OnceCell::new(),
        };
        Ok(Points::many(total, Some(Rc::new(segments))))
    }

    fn ragged(&self, count: usize, lengths: Arg) -> Run<Points> {
        let segments = self.segments(count, lengths)?;
        Ok(Points::many(segments.total, Some(segments)))
    }

    /// Segments of some lengths.
    pub(super) fn segments(&self, count: usize, lengths: Arg) -> Run<Rc<Segments>> {
        let (offsets, total) = if count <= FEW {
            self.offsets_of_few(&lengths, count)?
        } else {
            let offsets = self.scan(lengths.clone(), count)?;
            let total = whole_number(&Arg::Scalar(self.read_one(&offsets, count)?));
            (offsets, total)
        };
        Ok(Rc::new(Segments {
            count,
            total,
            regular: None,
            offsets: OnceCell::from(offsets),
            lengths: OnceCell::from(lengths),
        }))
    }

    /// Where segments begin, and the end.
    pub(super) fn offsets(&self, segments: &Segments) -> Run<Buffer> {
        if let Some(offsets) = segments.offsets.get() {
            return Ok(offsets.clone());
        }
        let length = segments.regular.expect("others have theirs from the beginning");
        let offsets = self.multiples(segments.count + 1, length, true)?;
        Ok(segments.offsets.get_or_init(|| offsets).clone())
    }

    /// How long segments are.
    pub(super) fn lengths(&self, segments: &Segments) -> Run<Arg> {
        if let Some(lengths) = segments.lengths.get() {
            return Ok(lengths.clone());
        }
        let length = segments.regular.expect("others have theirs from the beginning");
        let lengths = Arg::Array(self.multiples(segments.count, length, false)?, 0);
        Ok(segments.lengths.get_or_init(|| lengths).clone())
    }

    /// For each point of a context, its place in the context around it.
    pub(super) fn map(&'p self, frame: &Frame<'p>, ctx: SpaceId) -> Run<Buffer> {
        let points = frame.points[&ctx].clone();
        if let Some(map) = points.map.get() {
            return Ok(map.clone());
        }
        if is_filter(frame.function, ctx) {
            return Err(RunError::Unsupported);
        }
        let segments = points.segments.as_ref().ok_or(RunError::Unsupported)?;
        let map = self.segment_numbers(segments)?;
        Ok(points.map.get_or_init(|| map).clone())
    }
}

impl Parts {
    /// The parts of a value that is no sequence at many points, or not known to be one that lies
    /// in order.
    pub(super) fn new(all: Vec<Arg>) -> Parts {
        Parts { all, tiles: None }
    }

    pub(super) fn tiled(all: Vec<Arg>, tiles: Option<Rc<Segments>>) -> Parts {
        Parts { all, tiles }
    }
}

/// A length or count.
pub(super) fn whole_number(arg: &Arg) -> usize {
    match arg {
        Arg::Scalar(Literal::I64(x)) => *x as usize,
        Arg::Scalar(Literal::I32(x)) => *x as usize,
        other => unreachable!("{other:?} is no length"),
    }
}
