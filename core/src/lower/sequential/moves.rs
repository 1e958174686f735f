//! The operations on sequences: which is which, and those that move elements.

use super::super::Detail;
use super::super::layout::{Columns, Leaf, Rep, Segments, Sequence, Stored};
use super::Thread;
use super::collect::is_flat;
use super::delayed::{Form, is_faulty, is_filter};
use crate::ir::{Atom, Site};
use crate::prim::SeqOp;
use nesl_runtime::bug;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{self, Binary, Combine, Extern, Value};
use std::rc::Rc;

impl<'a> Thread<'a> {
    /// An operation on sequences.
    pub(super) fn sequence(&mut self, op: SeqOp, args: &[Atom], site: Site) -> Rep<'a> {
        match op {
            SeqOp::Length => {
                let of = self.any(args[0]);
                let length = self.length_of(&of);
                Rep::Scalar(self.int_of(length))
            }
            SeqOp::Index => self.index(args[0], args[1], site),
            SeqOp::Range => self.range(args, site),
            SeqOp::Dist => self.dist(args[0], args[1], site),
            SeqOp::Gather => {
                let of = self.stored(args[0]);
                let places = self.streamed(args[1]);
                let length = self.length_of(&places);
                Self::delayed(length, true, Form::Gather(of, places, site))
            }
            SeqOp::Scatter => self.scatter(args[0], args[1], site),
            SeqOp::Replace => self.replace(args, site),
            SeqOp::Permute => self.permute(args[0], args[1], site),
            SeqOp::Pack => self.pack(args[0], args[1], site),
            SeqOp::Append => self.append_both(args[0], args[1]),
            SeqOp::Flatten => self.flatten(args[0]),
            SeqOp::Partition => self.partition(args[0], args[1], site),
            SeqOp::Subseq => self.subseq(args, site),
            SeqOp::Reduce(with) => self.reduce(with, args[0]),
            SeqOp::Scan(with) => self.scan(with, args[0]),
            SeqOp::Histogram(with) => self.histogram(with, args, site),
            SeqOp::RankUp => self.rank(Extern::RankUp, args[0]),
            SeqOp::RankDown => self.rank(Extern::RankDown, args[0]),
            SeqOp::RankTexts => self.rank_texts(args[0]),
            SeqOp::Groups => self.groups(args[0]),
            SeqOp::HashText => self.hash_text(args[0], args[1]),
            SeqOp::SameText => self.same_text(args[0], args[1]),
            SeqOp::IntText => self.int_text(args[0]),
            SeqOp::FloatText => self.float_text(args[0]),
            SeqOp::ExpText => self.exp_text(args[0], args[1], site),
            SeqOp::ParseFloat => self.parse_float(args[0]),
        }
    }

    /// The rank of each text.
    fn rank_texts(&mut self, of: Atom) -> Rep<'a> {
        let of = self.stored(of);
        let Columns::Segments(texts) = &of.columns else { bug!("texts are segments of chars") };
        let [starts, lengths] = [texts.starts, texts.lengths].map(|x| self.array_of(x));
        let chars = self.array_of(texts.pool.leaf());
        let out = self.alloc(kir::Ty::I64, of.length);
        let args = vec![starts, of.length, lengths, chars, out.array];
        self.body.service(Extern::RankTexts, args);
        self.as_ints(out, of.length)
    }

    /// A sequence of which any element may be asked for, or none: nothing is lost if not all are.
    fn any(&mut self, atom: Atom) -> Sequence<'a> {
        let sequence = self.atom(atom).sequence();
        if is_filter(&sequence) || is_faulty(&sequence) {
            return Sequence::Stored(self.stored(atom));
        }
        sequence
    }

    /// A sequence whose elements will be asked for one by one, all of them.
    pub(super) fn streamed(&mut self, atom: Atom) -> Sequence<'a> {
        let sequence = self.atom(atom).sequence();
        if is_filter(&sequence) {
            return Sequence::Stored(self.stored(atom));
        }
        sequence
    }

    fn index(&mut self, of: Atom, index: Atom, site: Site) -> Rep<'a> {
        let of = self.any(of);
        let index = self.atom(index).scalar();
        let index = self.position(index);
        let length = self.length_of(&of);
        self.in_bounds(index, length, FaultCode::Index, site);
        self.element(&of, index)
    }

    /// `[start:end:stride]`
    pub(in crate::lower) fn range(&mut self, args: &[Atom], site: Site) -> Rep<'a> {
        let [start, stride, end] = [0, 1, 2].map(|i| self.atom(args[i]).scalar());
        let [from, step, to] = [start, stride, end].map(|x| self.position(x));
        let one = self.body.i64(1);
        let zero = self.body.i64(0);
        let forward = self.body.binary(Binary::Ge, to, from);
        let positive = self.body.binary(Binary::Ge, step, one);
        let fine = self.body.binary(Binary::And, forward, positive);
        self.check_detail(fine, FaultCode::Range, site, (Detail::Range, &[start, end, stride]));
        let distance = self.body.binary(Binary::Sub, to, from);
        let possible = self.body.binary(Binary::Ge, distance, zero);
        self.check(possible, FaultCode::OutOfMemory, site);
        let length = if self.body.constant(step) == Some(kir::Literal::I64(1)) {
            distance
        } else {
            let last = self.body.binary(Binary::Sub, distance, one);
            let steps = self.body.binary(Binary::Div, last, step);
            let steps = self.body.binary(Binary::Add, steps, one);
            let none = self.body.binary(Binary::Eq, distance, zero);
            self.body.select(none, zero, steps)
        };
        Self::delayed(length, false, Form::Range(start, stride))
    }

    pub(in crate::lower) fn dist(&mut self, value: Atom, length: Atom, site: Site) -> Rep<'a> {
        let ty = self.ty(value);
        let value = self.atom(value);
        let value = self.settle(&value, ty);
        let length = self.atom(length).scalar();
        let length = self.position(length);
        let zero = self.body.i64(0);
        let fine = self.body.binary(Binary::Ge, length, zero);
        self.check_detail(fine, FaultCode::NegativeLength, site, (Detail::Length, &[length]));
        Self::delayed(length, false, Form::Dist(value))
    }

    /// Where the element at each place comes from; -1 from nowhere.
    fn sources(
        &mut self,
        length: Value,
        writes: Value,
        place_of: impl FnOnce(&mut Self, Value) -> Value,
        code: FaultCode,
        once: bool,
        site: Site,
    ) -> Leaf {
        let from = self.alloc(kir::Ty::I64, length);
        let minus = self.body.i64(-1);
        let fill = self.open_loop();
        self.body.store(from.array, fill, minus);
        self.close_loop(fill, length);
        let k = self.open_loop();
        let place = place_of(self, k);
        self.in_bounds(place, length, code, site);
        if once {
            let before = self.body.load(from.array, place);
            let free = self.body.binary(Binary::Lt, before, k);
            let none = self.body.binary(Binary::Eq, before, minus);
            let free = self.body.binary(Binary::And, free, none);
            self.check_detail(free, code, site, (Detail::Twice, &[place]));
        }
        self.body.store(from.array, place, k);
        self.close_loop(k, writes);
        from
    }

    /// `sequence <- writes`: where two writes meet, the last one wins.
    fn scatter(&mut self, of: Atom, writes: Atom, site: Site) -> Rep<'a> {
        let element = self.element_ty(of);
        let of = self.stored(of);
        let writes = self.stored(writes);
        let Columns::Pair(both) = &writes.columns else { unreachable!("writes are pairs") };
        let (places, values) = (both.0.leaf(), both.1.clone());
        let place_of = |t: &mut Self, k| {
            let place = t.load(places, k);
            t.position(place)
        };
        let code = FaultCode::Scatter;
        let from = self.sources(of.length, writes.length, place_of, code, false, site);
        let length = of.length;
        let chosen = self.collect(length, element, |t, i| {
            let source = t.body.load(from.array, i);
            let zero = t.body.i64(0);
            let written = t.body.binary(Binary::Ge, source, zero);
            t.choice(written, element, |t| t.at(&values, source), |t| t.at(&of.columns, i))
        });
        Rep::Sequence(Sequence::Stored(chosen))
    }

    /// `rep(sequence, value, place)`
    fn replace(&mut self, args: &[Atom], site: Site) -> Rep<'a> {
        let element = self.element_ty(args[0]);
        let of = self.stored(args[0]);
        let value = self.atom(args[1]);
        let value = self.settle(&value, element);
        let place = self.atom(args[2]).scalar();
        let place = self.position(place);
        self.in_bounds(place, of.length, FaultCode::Replace, site);
        if is_flat(element) {
            let copy = self.copy(&of);
            self.overwrite(&copy.columns, &value, place);
            return Rep::Sequence(Sequence::Stored(copy));
        }
        let length = of.length;
        let changed = self.collect(length, element, |t, i| {
            let here = t.body.binary(Binary::Eq, i, place);
            t.choice(here, element, |_| value.clone(), |t| t.at(&of.columns, i))
        });
        Rep::Sequence(Sequence::Stored(changed))
    }

    /// A copy of a flat sequence, with arrays of its own.
    fn copy(&mut self, of: &Stored) -> Stored {
        let length = of.length;
        let columns = of.columns.map(&mut |leaf| {
            let from = self.array_of(leaf);
            let to = self.alloc(self.body.element(leaf.array), length);
            self.body.copy(from, to.array, length);
            to
        });
        Stored { length, columns }
    }

    fn overwrite(&mut self, columns: &Columns, value: &Rep<'a>, place: Value) {
        match (columns, value) {
            (Columns::Scalars(leaf), Rep::Scalar(value)) => {
                self.body.store(leaf.array, place, *value);
            }
            (Columns::Pair(columns), Rep::Pair(both)) => {
                self.overwrite(&columns.0, &both.0, place);
                self.overwrite(&columns.1, &both.1, place);
            }
            (Columns::Unit, _) => {}
            (Columns::Scalars(_) | Columns::Pair(_) | Columns::Segments(_), _) => {
                unreachable!("only what is flat is overwritten")
            }
        }
    }

    /// Element `k` goes to place `places[k]`; every place is hit once.
    fn permute(&mut self, of: Atom, places: Atom, site: Site) -> Rep<'a> {
        if let Atom::Var(var) = places
            && let Some(rank) = self.sorted_by.get(&var)
        {
            let up = *rank == SeqOp::RankUp;
            return self.sort(if up { Extern::SortUp } else { Extern::SortDown }, of);
        }
        let element = self.element_ty(of);
        let of = self.stored(of);
        let places = self.stored(places);
        let same = self.body.binary(Binary::Eq, of.length, places.length);
        let detail = (Detail::Lengths, &[of.length, places.length][..]);
        self.check_detail(same, FaultCode::Permute, site, detail);
        let column = places.columns.leaf();
        let place_of = |t: &mut Self, k| {
            let place = t.load(column, k);
            t.position(place)
        };
        let code = FaultCode::Permute;
        let from = self.sources(of.length, of.length, place_of, code, true, site);
        let moved = self.collect(of.length, element, |t, i| {
            let source = t.body.load(from.array, i);
            t.at(&of.columns, source)
        });
        Rep::Sequence(Sequence::Stored(moved))
    }

    fn pack(&mut self, of: Atom, flags: Atom, site: Site) -> Rep<'a> {
        let of = self.any(of);
        let keep = self.streamed(flags);
        let length = self.length_of(&of);
        let other = self.length_of(&keep);
        let same = self.body.binary(Binary::Eq, length, other);
        self.check_detail(same, FaultCode::PackLength, site, (Detail::Lengths, &[length, other]));
        let faulty = is_faulty(&keep);
        Self::delayed(length, faulty, Form::Filter(of, keep))
    }

    /// `a ++ b`
    fn append_both(&mut self, a: Atom, b: Atom) -> Rep<'a> {
        let element = self.element_ty(a);
        if is_flat(element) {
            let [a, b] = [a, b].map(|atom| match self.atom(atom).sequence() {
                filter if is_filter(&filter) => Sequence::Stored(self.stored(atom)),
                sequence => sequence,
            });
            let before = self.length_of(&a);
            let behind = self.length_of(&b);
            let length = self.body.binary(Binary::Add, before, behind);
            let mut rows = self.rows_of(element, length);
            let zero = self.body.i64(0);
            rows.fill(self, &a, zero);
            rows.fill(self, &b, before);
            let columns = rows.columns();
            return Rep::Sequence(Sequence::Stored(Stored { length, columns }));
        }
        let (a, b) = (self.stored(a), self.stored(b));
        let length = self.body.binary(Binary::Add, a.length, b.length);
        let joined = self.collect(length, element, |t, i| {
            let first = t.body.binary(Binary::Lt, i, a.length);
            let behind = t.body.binary(Binary::Sub, i, a.length);
            t.choice(first, element, |t| t.at(&a.columns, i), |t| t.at(&b.columns, behind))
        });
        Rep::Sequence(Sequence::Stored(joined))
    }

    /// One level of nesting less.
    fn flatten(&mut self, of: Atom) -> Rep<'a> {
        let of = self.stored(of);
        let segments = of.columns.segments();
        Rep::Sequence(Sequence::Stored(self.tiled(&segments, of.length)))
    }

    /// The elements of `count` segments behind one another: a part of the pool itself where the
    /// segments tile it.
    pub(in crate::lower) fn tiled(&mut self, segments: &Rc<Segments>, count: Value) -> Stored {
        let zero = self.body.i64(0);
        // Where they begin, how many elements they have, and whether each begins where the one
        // before it ends.
        let some = self.body.binary(Binary::Gt, count, zero);
        let (starts, lengths) = (segments.starts, segments.lengths);
        let begin = self.body.branch(
            some,
            |body| {
                let place = starts.start.unwrap_or(zero);
                vec![body.load(starts.array, place)]
            },
            |_| vec![zero],
        )[0];
        let index = self.body.value(kir::ValueTy::Scalar(kir::Ty::I64));
        let (i64_ty, bool_ty) =
            (kir::ValueTy::Scalar(kir::Ty::I64), kir::ValueTy::Scalar(kir::Ty::Bool));
        let end = self.body.value(i64_ty);
        self.body.begin();
        let start = self.load(starts, index);
        let length = self.load(lengths, index);
        let follows = self.body.binary(Binary::Eq, start, end);
        let next = self.body.binary(Binary::Add, end, length);
        let body = self.body.end(vec![next, follows]);
        let op = kir::Op::For {
            count,
            index,
            init: vec![begin],
            carried: vec![end],
            reduce: vec![Combine::And],
            body,
        };
        let results = self.body.push(op, &[i64_ty, bool_ty]);
        let (end, tiled) = (results[0], results[1]);
        let length = self.body.binary(Binary::Sub, end, begin);
        let pool = segments.pool.clone();
        let joined = self.join(
            tiled,
            |t| Rep::stored(length, t.cut(&pool, begin)),
            |t| Rep::stored(length, t.gather_segments(count, segments, length)),
        );
        match joined {
            Rep::Sequence(Sequence::Stored(stored)) => stored,
            _ => unreachable!("both sides are stored"),
        }
    }

    /// The elements of segments, copied behind one another.
    fn gather_segments(&mut self, count: Value, segments: &Rc<Segments>, length: Value) -> Columns {
        let zero = self.body.i64(0);
        let columns = segments.pool.map(&mut |leaf| {
            let ty = self.body.element(leaf.array);
            self.alloc(ty, length)
        });
        let index = self.body.value(kir::ValueTy::Scalar(kir::Ty::I64));
        let place = self.body.value(kir::ValueTy::Scalar(kir::Ty::I64));
        self.body.begin();
        let start = self.load(segments.starts, index);
        let number = self.load(segments.lengths, index);
        let mut to = Vec::new();
        columns.each_leaf(&mut |leaf| to.push(leaf));
        let mut to = to.into_iter();
        let part = self.cut(&segments.pool, start);
        part.each_leaf(&mut |leaf| {
            let from = self.array_of(leaf);
            let to = to.next().expect("both have the same columns");
            let to = self.body.slice(to.array, place);
            self.body.copy(from, to, number);
        });
        let next = self.body.binary(Binary::Add, place, number);
        let body = self.body.end(vec![next]);
        let op = kir::Op::For {
            count,
            index,
            init: vec![zero],
            carried: vec![place],
            reduce: Vec::new(),
            body,
        };
        self.body.push(op, &[kir::ValueTy::Scalar(kir::Ty::I64)]);
        columns
    }

    /// Consecutive pieces of the given lengths: views.
    fn partition(&mut self, of: Atom, counts: Atom, site: Site) -> Rep<'a> {
        let of = self.stored(of);
        let counts = self.streamed(counts);
        let number = self.length_of(&counts);
        let starts = self.alloc(kir::Ty::I64, number);
        let lengths = self.alloc(kir::Ty::I64, number);
        let zero = self.body.i64(0);
        let index = self.body.value(kir::ValueTy::Scalar(kir::Ty::I64));
        let place = self.body.value(kir::ValueTy::Scalar(kir::Ty::I64));
        self.body.begin();
        let count = self.element(&counts, index).scalar();
        let count = self.position(count);
        let fits = self.body.binary(Binary::Ge, count, zero);
        self.check_detail(fits, FaultCode::Partition, site, (Detail::Count, &[count]));
        self.body.store(starts.array, index, place);
        self.body.store(lengths.array, index, count);
        // More than any length stays more than any length.
        let next = self.body.binary(Binary::Add, place, count);
        let most = self.body.i64(i64::MAX);
        let more = self.body.binary(Binary::Lt, next, place);
        let next = self.body.select(more, most, next);
        let body = self.body.end(vec![next]);
        let op = kir::Op::For {
            count: number,
            index,
            init: vec![zero],
            carried: vec![place],
            reduce: Vec::new(),
            body,
        };
        let end = self.body.push(op, &[kir::ValueTy::Scalar(kir::Ty::I64)])[0];
        let all = self.body.binary(Binary::Eq, end, of.length);
        self.check_detail(all, FaultCode::Partition, site, (Detail::Sum, &[end, of.length]));
        let (pool, extent) = (of.columns, of.length);
        let columns = Columns::Segments(Rc::new(Segments { starts, lengths, pool, extent }));
        Rep::stored(number, columns)
    }

    /// The elements from a start up to an end: a view.
    fn subseq(&mut self, args: &[Atom], site: Site) -> Rep<'a> {
        let of = self.stored(args[0]);
        let [start, end] = [1, 2].map(|i| self.atom(args[i]).scalar());
        let [start, end] = [start, end].map(|x| self.position(x));
        let zero = self.body.i64(0);
        let low = self.body.binary(Binary::Ge, start, zero);
        let order = self.body.binary(Binary::Le, start, end);
        let high = self.body.binary(Binary::Le, end, of.length);
        let fits = self.body.binary(Binary::And, low, order);
        let fits = self.body.binary(Binary::And, fits, high);
        let detail = (Detail::Cut, &[start, end, of.length][..]);
        self.check_detail(fits, FaultCode::Subseq, site, detail);
        let length = self.body.binary(Binary::Sub, end, start);
        Rep::stored(length, self.cut(&of.columns, start))
    }

    /// Opens the body of a counted loop that carries nothing; gives the index.
    pub(super) fn open_loop(&mut self) -> Value {
        let index = self.body.value(kir::ValueTy::Scalar(kir::Ty::I64));
        self.body.begin();
        index
    }

    pub(super) fn close_loop(&mut self, index: Value, count: Value) {
        let body = self.body.end(Vec::new());
        let (init, carried, reduce) = (Vec::new(), Vec::new(), Vec::new());
        self.body.push(kir::Op::For { count, index, init, carried, reduce, body }, &[]);
    }
}
