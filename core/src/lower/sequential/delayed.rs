//! Sequences that are not stored.

use super::super::Detail;
use super::super::layout::{Columns, Leaf, Rep, Sequence, Stored};
use super::Thread;
use crate::base::with_stack;
use crate::ir::{Nest, Site, Ty, Var};
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{Binary, Value};
use std::rc::Rc;

/// How the elements of a sequence are computed.
#[derive(Clone, Debug)]
pub(in crate::lower) struct Delayed<'a> {
    /// How many there are; of a [`Form::Filter`], how many there were before.
    pub length: Value,
    /// Computing an element may fault.
    pub faulty: bool,
    pub form: Form<'a>,
}

#[derive(Clone, Debug)]
pub(in crate::lower) enum Form<'a> {
    /// The body of a nest for each element of some sequences.
    Map(&'a Nest, Vec<Sequence<'a>>),
    /// `start + i · stride`, as NESL ints.
    Range(Value, Value),
    /// The same for each.
    Dist(Rep<'a>),
    /// The elements at some places.
    Gather(Stored, Sequence<'a>, Site),
    /// The elements for which a flag is true.
    Filter(Sequence<'a>, Sequence<'a>),
}

impl<'a> Thread<'a> {
    /// Whether a sequence need not be stored where it is bound: its one use will compute the
    /// elements, and all of them if one may fault.
    pub(super) fn may_wait(&self, var: Var, delayed: &Delayed<'a>) -> bool {
        let cheap = matches!(delayed.form, Form::Range(..));
        let once = self.uses.once(var) || cheap || self.uses.never(var);
        self.joint.waits(var, delayed) || once && (!delayed.faulty || self.uses.at_home(var))
    }

    pub(super) fn delayed(length: Value, faulty: bool, form: Form<'a>) -> Rep<'a> {
        Rep::Sequence(Sequence::Delayed(Rc::new(Delayed { length, faulty, form })))
    }

    /// An apply-to-each.
    pub(super) fn nest(&mut self, nest: &'a Nest, site: Site) -> Rep<'a> {
        let mut sources: Vec<Sequence<'a>> =
            nest.binders.iter().map(|(.., atom)| self.atom(*atom).sequence()).collect();
        if sources.len() > 1 {
            // What is left of several filtered sequences is not known before they are stored.
            for (source, (.., atom)) in sources.iter_mut().zip(&nest.binders) {
                if is_filter(source) {
                    *source = Sequence::Stored(self.stored(*atom));
                }
            }
        }
        let length = self.length_of(&sources[0]);
        for source in &sources[1..] {
            let other = self.length_of(source);
            let same = self.body.binary(Binary::Eq, length, other);
            let detail = (Detail::Lengths, &[length, other][..]);
            self.check_detail(same, FaultCode::NestLength, site, detail);
        }
        let faulty = nest.body.may_fault() || sources.iter().any(is_faulty);
        // A map over what is left of a filter is a filter of the map: one that may fault must
        // not meet what was left out, and never does, since elements are asked for behind flags.
        if let [Sequence::Delayed(delayed)] = &sources[..]
            && let Form::Filter(of, keep) = &delayed.form
        {
            let map = Form::Map(nest, vec![of.clone()]);
            let map = Rc::new(Delayed { length, faulty, form: map });
            let form = Form::Filter(Sequence::Delayed(map), keep.clone());
            return Self::delayed(length, faulty, form);
        }
        Self::delayed(length, faulty, Form::Map(nest, sources))
    }

    /// How many elements there are; of a filter, were.
    pub(in crate::lower) fn length_of(&self, sequence: &Sequence<'a>) -> Value {
        match sequence {
            Sequence::Stored(stored) => stored.length,
            Sequence::Delayed(delayed) => delayed.length,
        }
    }

    /// An element of a sequence that is no filter, at a position that is in bounds.
    pub(in crate::lower) fn element(&mut self, sequence: &Sequence<'a>, index: Value) -> Rep<'a> {
        let delayed = match sequence {
            Sequence::Stored(stored) => return self.at(&stored.columns, index),
            Sequence::Delayed(delayed) => delayed,
        };
        with_stack(|| match &delayed.form {
            Form::Map(nest, sources) => {
                for (source, (var, ty, _)) in sources.iter().zip(&nest.binders) {
                    let element = self.element(source, index);
                    self.bind(*var, element, ty);
                }
                self.block(&nest.body)
            }
            Form::Range(start, stride) => {
                let i = self.int_of(index);
                let step = self.body.binary(Binary::Mul, i, *stride);
                Rep::Scalar(self.body.binary(Binary::Add, *start, step))
            }
            Form::Dist(value) => value.clone(),
            Form::Gather(of, places, site) => {
                let place = self.element(places, index).scalar();
                let place = self.position(place);
                self.in_bounds(place, of.length, FaultCode::Gather, *site);
                self.at(&of.columns, place)
            }
            Form::Filter(..) => unreachable!("a filter is stored, or taken apart by a loop"),
        })
    }

    /// An element of stored columns.
    pub(in crate::lower) fn at(&mut self, columns: &Columns, index: Value) -> Rep<'a> {
        match columns {
            Columns::Unit => Rep::Unit,
            Columns::Scalars(leaf) => Rep::Scalar(self.load(*leaf, index)),
            Columns::Pair(both) => {
                let first = self.at(&both.0, index);
                Rep::pair(first, self.at(&both.1, index))
            }
            Columns::Segments(segments) => {
                let start = self.load(segments.starts, index);
                let length = self.load(segments.lengths, index);
                Rep::stored(length, self.cut(&segments.pool, start))
            }
        }
    }

    /// The columns from an element on.
    pub(super) fn cut(&mut self, columns: &Columns, from: Value) -> Columns {
        columns.map(&mut |leaf| {
            let start = match leaf.start {
                None => from,
                Some(start) => self.body.binary(Binary::Add, start, from),
            };
            Leaf { start: Some(start), ..leaf }
        })
    }

    /// Faults unless `0 ≤ place < length`.
    pub(in crate::lower) fn in_bounds(
        &mut self,
        place: Value,
        length: Value,
        code: FaultCode,
        site: Site,
    ) {
        self.in_bounds_unless(None, place, length, code, site);
    }

    /// The same, but where a condition holds.
    pub(in crate::lower) fn in_bounds_unless(
        &mut self,
        unless: Option<Value>,
        place: Value,
        length: Value,
        code: FaultCode,
        site: Site,
    ) {
        let zero = self.body.i64(0);
        let low = self.body.binary(Binary::Ge, place, zero);
        let high = self.body.binary(Binary::Lt, place, length);
        let mut inside = self.body.binary(Binary::And, low, high);
        if let Some(unless) = unless {
            inside = self.body.binary(Binary::Or, inside, unless);
        }
        self.check_detail(inside, code, site, (Detail::Bounds, &[place, length]));
    }

    /// A sequence in memory; of what is stored, itself.
    pub(in crate::lower) fn store(&mut self, sequence: &Sequence<'a>, ty: &'a Ty) -> Rep<'a> {
        let delayed = match sequence {
            Sequence::Stored(_) => return Rep::Sequence(sequence.clone()),
            Sequence::Delayed(delayed) => delayed.clone(),
        };
        let element = ty.element().expect("types were checked");
        let stored = match &delayed.form {
            Form::Filter(of, keep) => self.collect_if(delayed.length, element, of, keep),
            Form::Dist(Rep::Sequence(inner)) => {
                // Views: every segment is the same one.
                let inner = self.store(inner, element);
                let each = Sequence::Delayed(Rc::new(Delayed {
                    form: Form::Dist(inner),
                    ..(*delayed).clone()
                }));
                self.collect(delayed.length, element, |t, i| t.element(&each, i))
            }
            Form::Map(..) | Form::Range(..) | Form::Dist(_) | Form::Gather(..) => {
                let sequence = sequence.clone();
                self.collect(delayed.length, element, |t, i| t.element(&sequence, i))
            }
        };
        Rep::Sequence(Sequence::Stored(stored))
    }
}

pub(super) fn is_filter(sequence: &Sequence<'_>) -> bool {
    matches!(sequence, Sequence::Delayed(d) if matches!(d.form, Form::Filter(..)))
}

pub(super) fn is_faulty(sequence: &Sequence<'_>) -> bool {
    matches!(sequence, Sequence::Delayed(d) if d.faulty)
}
