//! Sorts of which a few neighbouring elements are read: those are selected, and only they are sorted.
//!
//! ```text
//! r = rank_up(keys)                  n = length(keys)
//! s = permute(values, r)       →     few = the range lies in s, and is a small part of it
//! w = subseq(s, from, to)            w = if few then gather(values, call "select.up"(keys, from, to))
//!                                        else subseq(permute(values, rank_up(keys)), from, to)
//! ```
//!
//! So are elements at a few indices, `sort(a)[#a / 2]`, and what is read of the reversed sequence. The
//! function that selects ([`mod@selector`]) sorts a sample; two of its elements are taken such that the range
//! very probably lies between them; one pass over the keys keeps what is there, which is sorted. If the
//! range does not lie there, the function ranks all keys. (Floyd and Rivest, *Expected time bounds for
//! selection*, Communications of the ACM 18, 1975.)
//!
//! The library's own selection ([`Role::SelectOne`]), which halves what is left again and again, is replaced, too,
//! for long sequences.
//!
//! Only functions of the program that are executed once are rewritten, outside of apply-to-each: the rows of a
//! nest are sorted together, and the library selects where it means to. A fault is that of the program: an
//! index or a range that lies outside is not selected.

mod selector;

use super::calls::Calls;
use super::once::executed_once;
use crate::base::with_stack;
use crate::ir::{
    Atom, Block, FunId, Function, FunctionBuilder, Let, Nest, Op, Program, Role, Site, Ty, Var,
};
use crate::prim::SeqOp;
use crate::thresholds::Thresholds;
use nesl_runtime::bug;
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::FxHashMap;

/// The number of elements of one sorted sequence that are selected each for itself, at most: each takes a
/// pass over the keys.
const MAX_SELECTED_ELEMENTS: usize = 3;

/// Rewrites the sorts of a program, and adds the functions that select.
pub(super) fn select(mut program: Program, limits: &Thresholds) -> Program {
    let calls = Calls::of(&program);
    let once = executed_once(&program, &calls);
    let by_library: Vec<bool> =
        program.functions.iter().map(|Function { library, .. }| *library).collect();
    let selects_one = |function: &Function| function.role == Some(Role::SelectOne);
    let selects_one = program.functions.iter().map(selects_one).collect();
    let mut selectors = Selectors { selects_one, first: program.functions.len(), made: Vec::new() };
    for id in calls.callees_first() {
        let at = id.0 as usize;
        if once[at] && !by_library[at] {
            rewrite(&mut program.functions[at], &mut selectors, limits);
        }
    }
    let made = selectors.made.into_iter();
    program.functions.extend(made.map(|(key, direction)| selector::function(&key, direction)));
    program
}

/// The functions that select, by the type of the keys and the direction of the order.
struct Selectors {
    /// For each of the program's own functions, whether it is a selection of the library.
    selects_one: Vec<bool>,
    /// The number of the program's own functions.
    first: usize,
    made: Vec<(Ty, SeqOp)>,
}

impl Selectors {
    fn get(&mut self, key: &Ty, direction: SeqOp) -> FunId {
        let of = (key.clone(), direction);
        let at = self.made.iter().position(|made| *made == of).unwrap_or_else(|| {
            self.made.push(of);
            self.made.len() - 1
        });
        FunId((self.first + at) as u32)
    }
}

/// A sorted sequence of which a few elements are read.
struct Sorted {
    values: Atom,
    keys: Atom,
    /// The type of a key.
    key: Ty,
    /// [`SeqOp::RankUp`] or [`SeqOp::RankDown`].
    direction: SeqOp,
    /// The sorted sequence if it is short, and otherwise an empty one; `None` if it is read once, and then sorted.
    whole: Option<Var>,
}

/// The part or element of a sorted sequence that a binding reads.
#[derive(Clone, Copy)]
struct Read {
    /// The variable of the permutation.
    sorted: Var,
    /// True if the sequence was reversed.
    reversed: bool,
}

/// The sorts of a function, and what is read of them.
#[derive(Default)]
struct Found {
    sorted: FxHashMap<Var, Sorted>,
    reads: FxHashMap<Var, Read>,
    /// Reversed sequences that are only read; they are not made any more.
    reversed: Vec<Var>,
}

fn rewrite(function: &mut Function, selectors: &mut Selectors, limits: &Thresholds) {
    let (sorts, selects) = uses(function, selectors);
    if !sorts && !selects {
        return;
    }
    let builder = FunctionBuilder::extending(function);
    let found = if sorts { find(function, &builder) } else { Found::default() };
    if found.sorted.is_empty() && !selects {
        return;
    }
    let mut rewriter = Rewriter { found, selectors, builder, limits };
    let body = std::mem::replace(&mut function.body, nothing());
    function.body = rewriter.block(body);
    super::dead::remove(function);
}

fn nothing() -> Block {
    Block { lets: Vec::new(), result: Atom::Unit }
}

/// Calls `visit` for each binding of a block that is executed once.
fn each_outer_let<'f>(block: &'f Block, visit: &mut dyn FnMut(&'f Let)) {
    with_stack(|| {
        for binding in &block.lets {
            visit(binding);
            if !matches!(binding.op, Op::Nest(_)) {
                binding.op.blocks().for_each(|inner| each_outer_let(inner, visit));
            }
        }
    });
}

/// Returns true if a function ranks something, and if it calls a selection of the library.
fn uses(function: &Function, selectors: &Selectors) -> (bool, bool) {
    let (mut sorts, mut selects) = (false, false);
    function.body.for_each_op(&mut |op| match op {
        Op::Seq(SeqOp::RankUp | SeqOp::RankDown, _) => sorts = true,
        Op::Call(callee, _) => selects |= selectors.selects_one[callee.0 as usize],
        _ => {}
    });
    (sorts, selects)
}

/// Finds the sorts of which only a few elements are read.
fn find(function: &Function, builder: &FunctionBuilder) -> Found {
    let mut outer: FxHashMap<Var, &Let> = FxHashMap::default();
    each_outer_let(&function.body, &mut |binding| {
        outer.insert(binding.var, binding);
    });
    let mut found = Found::default();
    let mut uses = FxHashMap::default();
    function.body.count_uses(&mut uses);
    let mut readers: FxHashMap<Var, Vec<&Let>> = FxHashMap::default();
    for binding in outer.values() {
        if let Op::Seq(SeqOp::Subseq | SeqOp::Index | SeqOp::Gather, args) = &binding.op
            && let Atom::Var(of) = args[0]
        {
            readers.entry(of).or_default().push(binding);
        }
    }
    let facts = Facts { outer, uses, readers };
    for binding in facts.outer.values() {
        if let Some(sorted) = facts.sorted(binding, builder) {
            facts.add(binding.var, sorted, &mut found);
        }
    }
    found
}

/// The bindings of a function that are executed once, and the uses of all.
struct Facts<'f> {
    outer: FxHashMap<Var, &'f Let>,
    uses: FxHashMap<Var, usize>,
    /// The bindings that read parts or elements of a sequence.
    readers: FxHashMap<Var, Vec<&'f Let>>,
}

impl<'f> Facts<'f> {
    fn op(&self, atom: Atom) -> Option<&'f Op> {
        atom.variable().and_then(|var| self.outer.get(&var)).map(|binding| &binding.op)
    }

    /// Returns what is sorted, if a binding sorts by numbers.
    fn sorted(&self, binding: &Let, builder: &FunctionBuilder) -> Option<Sorted> {
        let Op::Seq(SeqOp::Permute, args) = &binding.op else { return None };
        let [values, Atom::Var(rank)] = args[..] else { return None };
        let rank = self.outer.get(&rank).filter(|rank| self.uses.get(&rank.var) == Some(&1))?;
        let Op::Seq(direction @ (SeqOp::RankUp | SeqOp::RankDown), ranked) = &rank.op else {
            return None;
        };
        let keys = ranked[0];
        let key = builder.type_of(&keys).element()?.clone();
        let direction = *direction;
        let is_number = matches!(key, Ty::Int | Ty::Float);
        is_number.then_some(Sorted { values, keys, key, direction, whole: None })
    }

    /// Adds a sort if nothing but a part of it, or a few elements, are read.
    fn add(&self, var: Var, sorted: Sorted, found: &mut Found) {
        let (mut parts, mut elements) = (Vec::new(), Vec::new());
        let mut turned = None;
        let mut open = vec![(var, false)];
        while let Some((of, reversed)) = open.pop() {
            let readers = self.readers.get(&of).map_or(&[][..], |readers| &readers[..]);
            if self.uses.get(&of) != Some(&readers.len()) {
                return;
            }
            for reader in readers {
                let read = (reader.var, Read { sorted: var, reversed });
                match &reader.op {
                    Op::Seq(SeqOp::Subseq, _) => parts.push(read),
                    Op::Seq(SeqOp::Index, _) => elements.push(read),
                    Op::Seq(_, args) if !reversed && self.reverses(args[1], &sorted) => {
                        turned = Some(reader.var);
                        open.push((reader.var, true));
                    }
                    _ => return,
                }
            }
        }
        match (parts.len(), elements.len()) {
            (1, 0) | (0, 1..=MAX_SELECTED_ELEMENTS) => {}
            _ => return,
        }
        found.reads.extend(parts.into_iter().chain(elements));
        found.reversed.extend(turned);
        found.sorted.insert(var, sorted);
    }

    /// Returns true if indices are those of a sequence, from the last down to 0.
    fn reverses(&self, indices: Atom, sorted: &Sorted) -> bool {
        let Some(Op::Nest(Nest { binders, body, .. })) = self.op(indices) else { return false };
        let ([(place, _, range)], [turn]) = (&binders[..], &body.lets[..]) else { return false };
        let Op::Scalar(ScalarOp::Sub, of_place) = &turn.op else { return false };
        let Some(Op::Seq(SeqOp::Range, range)) = self.op(*range) else { return false };
        let Some(Op::Scalar(ScalarOp::Sub, last)) = self.op(of_place[0]) else { return false };
        let length = range[2];
        let Some(Op::Seq(SeqOp::Length, measured)) = self.op(length) else { return false };
        body.result == Atom::Var(turn.var)
            && of_place[1] == Atom::Var(*place)
            && range[..2] == [Atom::Int(0), Atom::Int(1)]
            && last[..] == [length, Atom::Int(1)]
            && (measured[0] == sorted.values || measured[0] == sorted.keys)
    }
}

impl Sorted {
    /// Sorts the whole sequence.
    fn all(&self, b: &mut FunctionBuilder, site: Site) -> Atom {
        let rank = b.seq(self.direction, vec![self.keys], site);
        b.seq(SeqOp::Permute, vec![self.values, rank], site)
    }

    /// Returns the whole sequence: sorted now, if it is long or has not been sorted before.
    fn all_or_whole(&self, b: &mut FunctionBuilder, is_long: Atom, site: Site) -> Atom {
        match self.whole {
            Some(whole) => {
                b.conditional(is_long, site, |b| self.all(b, site), |_| Atom::Var(whole))
            }
            None => self.all(b, site),
        }
    }

    /// Returns a condition for selection: there are enough elements, and a value for each key.
    fn is_long(&self, b: &mut FunctionBuilder, size: Atom, least: i64, site: Site) -> Atom {
        let is_long = b.scalar(ScalarOp::Ge, vec![size, Atom::Int(least)], site);
        if self.values == self.keys {
            return is_long;
        }
        let values = b.seq(SeqOp::Length, vec![self.values], site);
        let equal = b.scalar(ScalarOp::Eq, vec![values, size], site);
        b.scalar(ScalarOp::And, vec![is_long, equal], site)
    }
}

/// Returns the elements of a sequence in reverse order.
fn reverse(b: &mut FunctionBuilder, of: Atom, site: Site) -> Atom {
    let size = b.seq(SeqOp::Length, vec![of], site);
    let last = b.scalar(ScalarOp::Sub, vec![size, Atom::Int(1)], site);
    let places = b.seq(SeqOp::Range, vec![Atom::Int(0), Atom::Int(1), size], site);
    let turned =
        b.nest(&[places], false, site, |b, at| b.scalar(ScalarOp::Sub, vec![last, at[0]], site));
    b.seq(SeqOp::Gather, vec![of, turned], site)
}

/// Returns true where all conditions are.
fn all_of(b: &mut FunctionBuilder, conditions: Vec<Atom>, site: Site) -> Atom {
    let and = |a, c| b.scalar(ScalarOp::And, vec![a, c], site);
    conditions.into_iter().reduce(and).unwrap_or(Atom::Bool(true))
}

struct Rewriter<'s> {
    found: Found,
    selectors: &'s mut Selectors,
    builder: FunctionBuilder,
    limits: &'s Thresholds,
}

impl Rewriter<'_> {
    fn block(&mut self, block: Block) -> Block {
        with_stack(|| {
            self.builder.begin();
            for mut binding in block.lets {
                if let Some(read) = self.found.reads.get(&binding.var).copied() {
                    self.read(binding, read);
                } else if self.found.sorted.contains_key(&binding.var) {
                    self.sorted(&binding);
                } else if let Op::Call(callee, args) = &binding.op
                    && self.selectors.selects_one[callee.0 as usize]
                {
                    binding.op = self.one(*callee, args, &binding);
                    self.builder.keep(binding);
                } else if !self.found.reversed.contains(&binding.var) {
                    if !matches!(binding.op, Op::Nest(_)) {
                        for inner in binding.op.blocks_mut() {
                            *inner = self.block(std::mem::replace(inner, nothing()));
                        }
                    }
                    self.builder.keep(binding);
                }
            }
            self.builder.end(block.result)
        })
    }

    /// Sorts a short sequence; one that is read once, and sorted by itself, is sorted there.
    fn sorted(&mut self, binding: &Let) {
        let reads = self.found.reads.values().filter(|read| read.sorted == binding.var).count();
        let Let { var, ty, site, .. } = binding;
        let Some(sorted) = self.found.sorted.get_mut(var) else { bug!("the sort was found") };
        // Two sequences of different lengths fail here, not where something is read.
        if reads == 1 && sorted.values == sorted.keys {
            return;
        }
        sorted.whole = Some(*var);
        let (b, site) = (&mut self.builder, *site);
        let size = b.seq(SeqOp::Length, vec![sorted.keys], site);
        let cond = sorted.is_long(b, size, self.limits.min_selected_elements, site);
        let then = b.block(|b| b.bind(ty.clone(), Op::List(Vec::new()), site));
        let otherwise = b.block(|b| sorted.all(b, site));
        let op = Op::If { cond, then, otherwise };
        b.keep(Let { var: *var, ty: ty.clone(), op, site });
    }

    /// Returns the operation that is a call of the library's selection for a short sequence.
    fn one(&mut self, callee: FunId, args: &[Atom], binding: &Let) -> Op {
        let (Let { ty, site, .. }, [keys, at]) = (binding, args) else { bug!("one of some keys") };
        let call = Op::Call(callee, args.to_vec());
        if !matches!(ty, Ty::Int | Ty::Float) {
            return call;
        }
        let select = self.selectors.get(ty, SeqOp::RankUp);
        let (b, site) = (&mut self.builder, *site);
        let size = b.seq(SeqOp::Length, vec![*keys], site);
        let cond =
            b.scalar(ScalarOp::Ge, vec![size, Atom::Int(self.limits.min_selected_elements)], site);
        let then = b.block(|b| selected(b, select, [*keys, *keys], *at, site));
        let otherwise = b.block(|b| b.bind(ty.clone(), call, site));
        Op::If { cond, then, otherwise }
    }

    /// Binds a part or an element of a sorted sequence.
    fn read(&mut self, binding: Let, read: Read) {
        let Let { var, ty, op: Op::Seq(op, args), site } = binding else { bug!("it is read") };
        let sorted = &self.found.sorted[&read.sorted];
        let select = self.selectors.get(&sorted.key, sorted.direction);
        let b = &mut self.builder;
        let size = b.seq(SeqOp::Length, vec![sorted.keys], site);
        let is_long = sorted.is_long(b, size, self.limits.min_selected_elements, site);
        let op = match op {
            SeqOp::Subseq => {
                let each = Atom::Int(self.limits.min_elements_per_selected);
                let most = b.scalar(ScalarOp::Div, vec![size, each], site);
                part(b, sorted, select, [size, is_long, most], &read, &args[1..], site)
            }
            SeqOp::Index => element(b, sorted, select, [size, is_long], &read, args[1], site),
            _ => bug!("a part or an element is read"),
        };
        b.keep(Let { var, ty, op, site });
    }
}

/// Returns the operation that makes a part of a sorted sequence with so many elements, selected if `is_long`
/// and the part has so many at most.
fn part(
    b: &mut FunctionBuilder,
    sorted: &Sorted,
    select: FunId,
    [size, is_long, most]: [Atom; 3],
    read: &Read,
    range: &[Atom],
    site: Site,
) -> Op {
    let [from, to] = range[..] else { bug!("a part has two ends") };
    let (first, end) = match read.reversed {
        true => (
            b.scalar(ScalarOp::Sub, vec![size, to], site),
            b.scalar(ScalarOp::Sub, vec![size, from], site),
        ),
        false => (from, to),
    };
    let wanted = b.scalar(ScalarOp::Sub, vec![end, first], site);
    let conditions = vec![
        is_long,
        b.scalar(ScalarOp::Ge, vec![first, Atom::Int(0)], site),
        b.scalar(ScalarOp::Le, vec![end, size], site),
        b.scalar(ScalarOp::Ge, vec![wanted, Atom::Int(0)], site),
        b.scalar(ScalarOp::Le, vec![wanted, most], site),
    ];
    let cond = all_of(b, conditions, site);
    let then = b.block(|b| {
        let places =
            b.bind(Ty::sequence(Ty::Int), Op::Call(select, vec![sorted.keys, first, end]), site);
        let part = b.seq(SeqOp::Gather, vec![sorted.values, places], site);
        if read.reversed { reverse(b, part, site) } else { part }
    });
    let otherwise = b.block(|b| {
        let all = sorted.all_or_whole(b, is_long, site);
        let all = if read.reversed { reverse(b, all, site) } else { all };
        b.seq(SeqOp::Subseq, vec![all, from, to], site)
    });
    Op::If { cond, then, otherwise }
}

/// Returns the operation that gives an element of a sorted sequence with so many elements, selected if
/// `is_long`.
fn element(
    b: &mut FunctionBuilder,
    sorted: &Sorted,
    select: FunId,
    [size, is_long]: [Atom; 2],
    read: &Read,
    index: Atom,
    site: Site,
) -> Op {
    let mut at = index;
    if read.reversed {
        let last = b.scalar(ScalarOp::Sub, vec![size, Atom::Int(1)], site);
        at = b.scalar(ScalarOp::Sub, vec![last, index], site);
    }
    let conditions = vec![
        is_long,
        b.scalar(ScalarOp::Ge, vec![at, Atom::Int(0)], site),
        b.scalar(ScalarOp::Lt, vec![at, size], site),
    ];
    let cond = all_of(b, conditions, site);
    let then = b.block(|b| selected(b, select, [sorted.keys, sorted.values], at, site));
    // An index outside of a long sequence fails where it would.
    let otherwise = b.block(|b| {
        let all = sorted.all_or_whole(b, is_long, site);
        let all = if read.reversed { reverse(b, all, site) } else { all };
        b.seq(SeqOp::Index, vec![all, index], site)
    });
    Op::If { cond, then, otherwise }
}

/// Returns the value of the key of a rank.
fn selected(
    b: &mut FunctionBuilder,
    select: FunId,
    [keys, values]: [Atom; 2],
    rank: Atom,
    site: Site,
) -> Atom {
    let behind = b.scalar(ScalarOp::Add, vec![rank, Atom::Int(1)], site);
    let ty = Ty::sequence(Ty::Int);
    let places = b.bind(ty, Op::Call(select, vec![keys, rank, behind]), site);
    let place = b.seq(SeqOp::Index, vec![places, Atom::Int(0)], site);
    b.seq(SeqOp::Index, vec![values, place], site)
}
