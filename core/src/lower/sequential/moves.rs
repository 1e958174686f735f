//! The operations on sequences: the dispatch, and those that move elements.

use super::super::Detail;
use super::super::repr::{
    Column, Columns, IndexFunction, LoweredSequence, LoweredValue, StoredSequence, Views,
};
use super::function::FunctionLowering;
use crate::fuse::sequential::ownership::{Exchange, Update};
use crate::ir::{Atom, Site};
use crate::prim::SeqOp;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{self, Binary, Combine, Extern, Unary, Value};
use std::rc::Rc;

impl<'a> FunctionLowering<'a> {
    /// Lowers an operation on sequences. `update` says what of its first operand may be overwritten
    /// where it is owned.
    pub(super) fn sequence(
        &mut self,
        op: SeqOp,
        args: &[Atom],
        update: &Update,
        site: Site,
    ) -> LoweredValue<'a> {
        match op {
            SeqOp::Length => {
                let of = self.random_access(args[0]);
                let length = of.length();
                LoweredValue::Scalar(self.int_of(length))
            }
            SeqOp::Index => self.index(args[0], args[1], update, site),
            SeqOp::Range => self.range(args, None, site),
            SeqOp::Dist => self.dist(args[0], args[1], None, site),
            SeqOp::Gather => self.gather(args, Some(site)),
            SeqOp::Scatter => self.scatter(args[0], args[1], update, site),
            SeqOp::Replace => self.replace(args, update, site),
            SeqOp::Permute => self.permute(args[0], args[1], site),
            SeqOp::Pack => self.pack(args[0], args[1], site),
            SeqOp::Append => self.append_both(args[0], args[1], update),
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
            SeqOp::Distinct => self.decline(),
            SeqOp::HashText => self.hash_text(args[0], args[1]),
            SeqOp::SameText => self.same_text(args[0], args[1]),
            SeqOp::IntText => self.int_text(args[0]),
            SeqOp::FloatText => self.float_text(args[0]),
            SeqOp::ExpText => self.exp_text(args[0], args[1], site),
            SeqOp::ParseFloat => self.parse_float(args[0]),
        }
    }

    /// Lowers `rank_texts`: the rank of each text.
    fn rank_texts(&mut self, of: Atom) -> LoweredValue<'a> {
        let of = self.stored(of);
        let Columns::Views(texts) = &of.columns else { bug!("texts are views of chars") };
        let [starts, lengths] = [texts.starts, texts.lengths].map(|x| self.array_of(x));
        let chars = self.array_of(texts.pool.scalars());
        let out = self.alloc(kir::Ty::I64, of.length);
        let args = vec![starts, of.length, lengths, chars, out.array];
        self.body.service(Extern::RankTexts, args);
        self.as_ints(out, of.length)
    }

    /// Lowers `sequence[index]`, which faults out of bounds. `update` says if a row is changed, or grows,
    /// where it lies if the sequence is owned.
    fn index(&mut self, of: Atom, index: Atom, update: &Update, site: Site) -> LoweredValue<'a> {
        let of = self.random_access(of);
        let index = self.atom(index).scalar();
        let index = self.index_of(index);
        let length = of.length();
        self.in_bounds(index, length, FaultCode::Index, site);
        let element = self.element(&of, index);
        match &of {
            LoweredSequence::Stored(table) if update.takes => {
                self.taken_row(&element, &table.columns, table.room, update.grows)
            }
            LoweredSequence::Stored(_) | LoweredSequence::Fused(_) => element,
        }
    }

    /// Lowers a gather, which is fused with its consumer; `site` is its source location if it may fault.
    pub(super) fn gather(&mut self, args: &[Atom], site: Option<Site>) -> LoweredValue<'a> {
        let of = self.stored(args[0]);
        let places = self.streamed(args[1]);
        let length = places.length();
        let may_fault = site.is_some();
        LoweredValue::fused(length, may_fault, IndexFunction::Gather(of, places, site))
    }

    /// Lowers `[start:end:stride]`, which is fused with its consumer.
    pub(in crate::lower) fn range(
        &mut self,
        args: &[Atom],
        needed: Option<Value>,
        site: Site,
    ) -> LoweredValue<'a> {
        let [start, stride, end] = [0, 1, 2].map(|i| self.atom(args[i]).scalar());
        let [from, step, to] = [start, stride, end].map(|x| self.index_of(x));
        let one = self.body.i64(1);
        let zero = self.body.i64(0);
        let forward = self.body.binary(Binary::Ge, to, from);
        let positive = self.body.binary(Binary::Ge, step, one);
        let fine = self.body.binary(Binary::And, forward, positive);
        let fine = self.unless_needed(fine, needed);
        self.check_detail(fine, FaultCode::Range, site, (Detail::Range, &[start, end, stride]));
        let distance = self.body.binary(Binary::Sub, to, from);
        let possible = self.body.binary(Binary::Ge, distance, zero);
        let possible = self.unless_needed(possible, needed);
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
        let length = needed.map_or(length, |needed| self.body.select(needed, length, zero));
        LoweredValue::fused(length, false, IndexFunction::Range(start, stride))
    }

    /// Returns a condition that holds if another one does, or if the value that it is for is not needed.
    fn unless_needed(&mut self, condition: Value, needed: Option<Value>) -> Value {
        let Some(needed) = needed else { return condition };
        let not_needed = self.body.unary(Unary::Not, needed);
        self.body.binary(Binary::Or, condition, not_needed)
    }

    /// Lowers `dist(value, length)`, which is fused with its consumer; `needed` as in [`Self::range`].
    pub(in crate::lower) fn dist(
        &mut self,
        value: Atom,
        length: Atom,
        needed: Option<Value>,
        site: Site,
    ) -> LoweredValue<'a> {
        let ty = self.ty(value);
        let value = self.atom(value);
        let value = self.materialise(&value, ty);
        let length = self.atom(length).scalar();
        let length = self.index_of(length);
        let zero = self.body.i64(0);
        let fine = self.body.binary(Binary::Ge, length, zero);
        let fine = self.unless_needed(fine, needed);
        self.check_detail(fine, FaultCode::NegativeLength, site, (Detail::Length, &[length]));
        let length = needed.map_or(length, |needed| self.body.select(needed, length, zero));
        LoweredValue::fused(length, false, IndexFunction::Dist(value))
    }

    /// Returns, for each index below `length`, the number of the element that `places` sends there; each
    /// index must occur once.
    fn sources(&mut self, length: Value, places: Column, site: Site) -> Column {
        let code = FaultCode::Permute;
        let from = self.alloc(kir::Ty::I64, length);
        let minus = self.body.i64(-1);
        let fill = self.open_loop();
        self.body.store(from.array, fill, minus);
        self.close_loop(fill, length);
        let k = self.open_loop();
        let place = self.load(places, k);
        let place = self.index_of(place);
        self.in_bounds(place, length, code, site);
        let before = self.body.load(from.array, place);
        let free = self.body.binary(Binary::Lt, before, k);
        let none = self.body.binary(Binary::Eq, before, minus);
        let free = self.body.binary(Binary::And, free, none);
        self.check_detail(free, code, site, (Detail::Twice, &[place]));
        self.body.store(from.array, place, k);
        self.close_loop(k, length);
        from
    }

    /// Lowers `sequence <- writes`: of two writes to one index, the later one wins.
    fn scatter(&mut self, of: Atom, writes: Atom, update: &Update, site: Site) -> LoweredValue<'a> {
        let element = self.element_ty(of);
        let of = self.stored(of);
        let writes = self.stored(writes);
        if element.has_sequence() {
            return LoweredValue::of_stored(self.scatter_rows(&of, element, &writes, update, site));
        }
        let (places, values) = writes.columns.components();
        let (places, values) = (places.scalars(), values.clone());
        let changed = self.writable(&of, update);
        let k = self.open_loop();
        let place = self.load(places, k);
        let place = self.index_of(place);
        self.in_bounds(place, of.length, FaultCode::Scatter, site);
        let value = self.row(&values, k);
        self.overwrite(&changed.columns, &value, place);
        self.close_loop(k, writes.length);
        LoweredValue::of_stored(changed)
    }

    /// Lowers `rep(sequence, value, index)`.
    fn replace(&mut self, args: &[Atom], update: &Update, site: Site) -> LoweredValue<'a> {
        let element = self.element_ty(args[0]);
        let of = self.stored(args[0]);
        if let Some(exchange) = update.exchange {
            let rows = match exchange {
                Exchange::With(other) => [args[2], other].map(|index| self.atom(index).scalar()),
                Exchange::Done => return LoweredValue::of_stored(of),
            };
            let [row, other] = rows.map(|index| self.index_of(index));
            self.in_bounds(row, of.length, FaultCode::Replace, site);
            let exchanged = self.exchange_rows(&of, element, [row, other], update);
            return LoweredValue::of_stored(exchanged);
        }
        let mut value = self.atom(args[1]);
        if !update.placed {
            value = self.materialise(&value, element);
        }
        let place = self.atom(args[2]).scalar();
        let place = self.index_of(place);
        self.in_bounds(place, of.length, FaultCode::Replace, site);
        if element.has_sequence() {
            return LoweredValue::of_stored(self.replace_row(&of, element, &value, place, update));
        }
        let changed = self.writable(&of, update);
        self.overwrite(&changed.columns, &value, place);
        LoweredValue::of_stored(changed)
    }

    /// Stores an element that contains no sequence.
    pub(super) fn overwrite(&mut self, columns: &Columns, value: &LoweredValue<'a>, place: Value) {
        match (columns, value) {
            (Columns::Scalars(column), LoweredValue::Scalar(value)) => {
                let place = match column.start {
                    None => place,
                    Some(start) => self.body.binary(Binary::Add, start, place),
                };
                self.body.store(column.array, place, *value);
            }
            (Columns::Pair(columns), LoweredValue::Pair(both)) => {
                self.overwrite(&columns.0, &both.0, place);
                self.overwrite(&columns.1, &both.1, place);
            }
            (Columns::Unit, _) => {}
            (Columns::Scalars(_) | Columns::Pair(_) | Columns::Views(_), _) => {
                bug!("elements that contain no sequences are overwritten column by column")
            }
        }
    }

    /// Lowers `sequence -> indices`: element `k` goes to `indices[k]`, and every index occurs once.
    fn permute(&mut self, of: Atom, places: Atom, site: Site) -> LoweredValue<'a> {
        if let Some(rank) = self.sort_of(places) {
            let up = rank == SeqOp::RankUp;
            return self.sort(if up { Extern::SortUp } else { Extern::SortDown }, of);
        }
        let element = self.element_ty(of);
        let of = self.stored(of);
        let places = self.stored(places);
        let same = self.body.binary(Binary::Eq, of.length, places.length);
        let detail = (Detail::Lengths, &[of.length, places.length][..]);
        self.check_detail(same, FaultCode::Permute, site, detail);
        let from = self.sources(of.length, places.columns.scalars(), site);
        let moved = self.collect(of.length, element, |t, i| {
            let source = t.body.load(from.array, i);
            t.row(&of.columns, source)
        });
        LoweredValue::Sequence(LoweredSequence::Stored(moved))
    }

    /// Lowers `pack`, which is fused with its consumer.
    fn pack(&mut self, of: Atom, flags: Atom, site: Site) -> LoweredValue<'a> {
        let of = self.random_access(of);
        let keep = self.streamed(flags);
        let length = of.length();
        let other = keep.length();
        let same = self.body.binary(Binary::Eq, length, other);
        self.check_detail(same, FaultCode::PackLength, site, (Detail::Lengths, &[length, other]));
        let may_fault = keep.may_fault();
        LoweredValue::fused(length, may_fault, IndexFunction::Filter(of, keep))
    }

    /// Lowers `a ++ b`.
    fn append_both(&mut self, a: Atom, b: Atom, update: &Update) -> LoweredValue<'a> {
        let element = self.element_ty(a);
        if update.in_place && element.has_sequence() {
            let (first, rows) = (self.stored(a), self.stored(b));
            return LoweredValue::of_stored(self.append_rows(&first, element, &rows, true));
        }
        if update.in_place
            && let LoweredSequence::Stored(first) = self.atom(a).sequence()
            && let Some(room) = first.room.value()
            // What was just made is full; the copy of a row that grows must have no room, though.
            && (update.grows || room != first.length)
        {
            return self.append_in_place(&first, room, b, update.grows);
        }
        if !element.has_sequence() {
            let [a, b] = [a, b].map(|atom| self.streamed(atom));
            let before = a.length();
            let length = self.joined_length(&a, &b);
            let mut rows = self.rows(element, length);
            let zero = self.body.i64(0);
            rows.fill(self, &a, zero);
            rows.fill(self, &b, before);
            return LoweredValue::of_stored(self.fresh(length, rows.columns()));
        }
        let (a, b) = (self.stored(a), self.stored(b));
        if let Some(joined) = self.joined_tables(element, [&a, &b]) {
            return LoweredValue::of_stored(joined);
        }
        let length = self.body.binary(Binary::Add, a.length, b.length);
        let joined = self.collect(length, element, |t, i| {
            let first = t.body.binary(Binary::Lt, i, a.length);
            let behind = t.body.binary(Binary::Sub, i, a.length);
            t.conditional(first, element, |t| t.row(&a.columns, i), |t| t.row(&b.columns, behind))
        });
        LoweredValue::Sequence(LoweredSequence::Stored(joined))
    }

    /// Lowers an append that another one uses: its parts are left to that, unless it may append in place.
    pub(super) fn part_of_append(&mut self, a: Atom, b: Atom, update: &Update) -> LoweredValue<'a> {
        let in_place = match self.atom(a).sequence() {
            LoweredSequence::Stored(first) => {
                let is_full = |room| !update.grows && room == first.length;
                update.in_place && first.room.value().is_some_and(|room| !is_full(room))
            }
            LoweredSequence::Fused(_) => false,
        };
        if in_place {
            return self.append_both(a, b, update);
        }
        let [a, b] = [a, b].map(|atom| self.random_access(atom));
        let length = self.joined_length(&a, &b);
        LoweredValue::fused(length, false, IndexFunction::Parts(Rc::new([a, b])))
    }

    /// Returns the number of elements of two sequences; the greatest int if that is too small for it: no memory has so many.
    fn joined_length(&mut self, a: &LoweredSequence<'a>, b: &LoweredSequence<'a>) -> Value {
        let (before, added) = (a.length(), b.length());
        let length = self.body.binary(Binary::Add, before, added);
        if matches!((a, b), (LoweredSequence::Stored(_), LoweredSequence::Stored(_))) {
            return length;
        }
        // What is not in memory, such as `dist(x, n)`, may have any length. A device computes the lengths that are the same
        // for all rows before it is known that there are rows: they may be negative then.
        let less = self.body.binary(Binary::Lt, length, before);
        let zero = self.body.i64(0);
        let adds = self.body.binary(Binary::Ge, added, zero);
        let wraps = self.body.binary(Binary::And, less, adds);
        let greatest = self.body.i64(i64::MAX);
        self.body.select(wraps, greatest, length)
    }

    /// Returns the elements of `count` segments one behind the other: a part of the pool itself if
    /// that is how they lie, else a copy.
    pub(in crate::lower) fn contiguous(
        &mut self,
        views: &Rc<Views>,
        count: Value,
    ) -> StoredSequence {
        let zero = self.body.i64(0);
        // The start of the first, the number of elements, and whether each segment starts where the
        // one before it ends.
        let some = self.body.binary(Binary::Gt, count, zero);
        let (starts, lengths) = (views.starts, views.lengths);
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
        let pool = views.pool.clone();
        let joined = self.join_branches(
            tiled,
            |t| LoweredValue::stored(length, t.columns_from(&pool, begin)),
            |t| LoweredValue::stored(length, t.copy_contiguous(count, views, length)),
        );
        joined.stored_sequence()
    }

    /// Copies the elements of `count` segments one behind the other; `length` is their number.
    fn copy_contiguous(&mut self, count: Value, views: &Rc<Views>, length: Value) -> Columns {
        let zero = self.body.i64(0);
        let columns = views.pool.map(&mut |column| {
            let ty = self.body.element(column.array);
            self.alloc(ty, length)
        });
        let index = self.body.value(kir::ValueTy::Scalar(kir::Ty::I64));
        let place = self.body.value(kir::ValueTy::Scalar(kir::Ty::I64));
        self.body.begin();
        let start = self.load(views.starts, index);
        let number = self.load(views.lengths, index);
        let mut to = Vec::new();
        columns.each_column(&mut |column| to.push(column));
        let mut to = to.into_iter();
        let part = self.columns_from(&views.pool, start);
        part.each_column(&mut |column| {
            let from = self.array_of(column);
            let to = to.next().or_bug("a copy has the columns of its original");
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

    /// Lowers `partition`: consecutive views of the given lengths.
    fn partition(&mut self, of: Atom, counts: Atom, site: Site) -> LoweredValue<'a> {
        let of = self.stored(of);
        let counts = self.streamed(counts);
        let number = counts.length();
        let starts = self.alloc(kir::Ty::I64, number);
        let lengths = self.alloc(kir::Ty::I64, number);
        let zero = self.body.i64(0);
        let index = self.body.value(kir::ValueTy::Scalar(kir::Ty::I64));
        let place = self.body.value(kir::ValueTy::Scalar(kir::Ty::I64));
        self.body.begin();
        let count = self.element(&counts, index).scalar();
        let count = self.index_of(count);
        let fits = self.body.binary(Binary::Ge, count, zero);
        self.check_detail(fits, FaultCode::Partition, site, (Detail::Count, &[count]));
        self.body.store(starts.array, index, place);
        self.body.store(lengths.array, index, count);
        // A sum that overflows stays larger than any length.
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
        let views = Views { starts, lengths, pool, extent, capacity: None };
        let columns = Columns::Views(Rc::new(views));
        LoweredValue::stored(number, columns)
    }

    /// Lowers `subseq`: a view of the elements from a start up to an end.
    fn subseq(&mut self, args: &[Atom], site: Site) -> LoweredValue<'a> {
        let of = self.stored(args[0]);
        let [start, end] = [1, 2].map(|i| self.atom(args[i]).scalar());
        let [start, end] = [start, end].map(|x| self.index_of(x));
        let zero = self.body.i64(0);
        let low = self.body.binary(Binary::Ge, start, zero);
        let order = self.body.binary(Binary::Le, start, end);
        let high = self.body.binary(Binary::Le, end, of.length);
        let fits = self.body.binary(Binary::And, low, order);
        let fits = self.body.binary(Binary::And, fits, high);
        let detail = (Detail::Cut, &[start, end, of.length][..]);
        self.check_detail(fits, FaultCode::Subseq, site, detail);
        let length = self.body.binary(Binary::Sub, end, start);
        let room = self.room_behind(of.room, start);
        let columns = self.columns_from(&of.columns, start);
        LoweredValue::of_stored(StoredSequence { length, columns, room })
    }

    /// Opens the body of a counted loop that carries nothing; returns the index.
    pub(super) fn open_loop(&mut self) -> Value {
        let index = self.body.value(kir::ValueTy::Scalar(kir::Ty::I64));
        self.body.begin();
        index
    }

    /// Closes a loop that [`Self::open_loop`] opened, with its number of iterations.
    pub(super) fn close_loop(&mut self, index: Value, count: Value) {
        let body = self.body.end(Vec::new());
        let (init, carried, reduce) = (Vec::new(), Vec::new(), Vec::new());
        self.body.push(kir::Op::For { count, index, init, carried, reduce, body }, &[]);
    }
}
