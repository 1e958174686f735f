//! The state before a tile, in one pass: look-back over the states that earlier tiles publish.
//!
//! A tile publishes the combination of its elements at once, and then asks for those of the tiles
//! before it. The tree in which they are combined is fixed by the numbers of the tiles and not by
//! which of them came first, so that a float result has the same bits in each run.
//!
//! ```text
//! A[t]    the combination of tile t                           published by tile t
//! G[g]    of the 32 tiles of group g                          by the last tile of the group
//! S[h]    of everything before super-group h: 32 groups each  by the last tile of h - 1
//! before tile t  =  S[h] · tree(G of h before its group) · tree(A of its group before it)
//! ```
//!
//! A warp reads a group at a time, a state for each lane, and tries again until all are there that matter:
//! where a segment begins in what is combined, nothing before that does, neither earlier states of the group
//! nor earlier groups. So a tile of short segments waits for the tile before it, and for no other. A tile waits
//! for tiles with lower numbers only, and blocks draw the numbers of their tiles in order (`tiles`):
//! whoever is waited for has begun.
//!
//! A state is two words of 64 bits. Each has half of the value and a tag, and is read and written
//! whole, so that no fence is needed: a word whose tag has the number of this launch is valid.
//! Words of earlier launches need no clearing.
//!
//! ```text
//! bits 63..33  the number of the launch, its low 31 bits
//! bit  32      1 if the last segment begins in what is combined
//! bits 31..0   half of the value
//! ```

use super::assembly::{Assembly, Class, Operand, Reg, emit};
use super::collective::{WARP_THREADS, shuffle};
use super::failure;
use super::plan::{GROUP_TILES, STATE_BYTES};
use nesl_runtime::kir::{Combine, Literal, Ty};

/// The combination of a range of elements.
#[derive(Clone, Copy)]
pub struct Combined {
    /// The combination of the elements of the range's last segment that lie in it.
    pub value: Reg,
    /// A predicate: true if that segment begins in the range. None if all elements are one segment.
    pub begins: Option<Reg>,
}

/// The tile whose predecessors are asked.
pub struct TileNumber {
    /// The number of the tile; an `i64`.
    pub tile: Reg,
    /// The number of tiles; an `i64`.
    pub tiles: Reg,
    /// The index of the lane in its warp.
    pub lane: Reg,
}

impl Assembly {
    /// Emits the combination of a range with the one behind it, into the latter.
    pub fn append(&mut self, (combine, ty): (Combine, Ty), a: Combined, b: Combined) -> Combined {
        let joined = self.combine(combine, ty, a.value.into(), b.value.into());
        let (Some(a_begins), Some(b_begins)) = (a.begins, b.begins) else {
            return Combined { value: joined, begins: None };
        };
        let value = self.select(b_begins, joined.class, b.value.into(), joined.into());
        let begins = self.register(Class::Predicate);
        emit!(self, "or.pred {begins}, {a_begins}, {b_begins}");
        Combined { value, begins: Some(begins) }
    }
}

/// Emits the combination of everything before a tile, which one warp executes with all of its
/// lanes; the result is lane 0's. `total` is the combination of the tile, `area` the parameter
/// with the address of the states.
pub fn before_tile(
    asm: &mut Assembly,
    at: &TileNumber,
    (combine, ty): (Combine, Ty),
    area: &str,
    total: Combined,
) -> Combined {
    let (launch, area) = (failure::launch_number(asm), asm.global_param(area));
    let tag = asm.register(Class::B32);
    emit!(asm, "cvt.u32.u64 {tag}, {launch}");
    emit!(asm, "shl.b32 {tag}, {tag}, 1");
    let search = Search { lane: at.lane, tag, combine: (combine, ty) };
    let first_lane = asm.register(Class::Predicate);
    emit!(asm, "setp.eq.s32 {first_lane}, {}, 0", at.lane);
    let [tile, in_group, group, in_super] = [(); 4].map(|()| asm.register(Class::B32));
    let super_group = asm.register(Class::B32);
    let (shift, mask) = (GROUP_TILES.ilog2(), GROUP_TILES - 1);
    emit!(asm, "cvt.u32.u64 {tile}, {}", at.tile);
    emit!(asm, "and.b32 {in_group}, {tile}, {mask}");
    emit!(asm, "shr.u32 {group}, {tile}, {shift}");
    emit!(asm, "and.b32 {in_super}, {group}, {mask}");
    emit!(asm, "shr.u32 {super_group}, {group}, {shift}");
    // The addresses of the first states of the group, of the super-group, and of S[h].
    let [tiles, groups, supers] = [(); 3].map(|()| asm.register(Class::B64));
    emit!(asm, "mad.wide.u32 {tiles}, {group}, {}, {area}", GROUP_TILES * STATE_BYTES as u64);
    emit!(asm, "mad.lo.s64 {groups}, {}, {STATE_BYTES}, {area}", at.tiles);
    emit!(asm, "add.s64 {supers}, {}, {mask}", at.tiles);
    emit!(asm, "shr.u64 {supers}, {supers}, {shift}");
    emit!(asm, "mad.lo.s64 {supers}, {supers}, {STATE_BYTES}, {groups}");
    emit!(asm, "mad.wide.u32 {supers}, {super_group}, {STATE_BYTES}, {supers}");
    let stride = GROUP_TILES * STATE_BYTES as u64;
    emit!(asm, "mad.wide.u32 {groups}, {super_group}, {stride}, {groups}");

    let segmented = total.begins.is_some();
    search.publish(asm, first_lane, (tiles, in_group), total);
    let (of_tiles, tiles_begin) = search.gather(asm, tiles, in_group, segmented);
    // The last tile of a group publishes its combination before it asks for those of others, so
    // that no group waits for another one.
    let full = asm.register(Class::Predicate);
    emit!(asm, "setp.eq.s32 {full}, {in_group}, {mask}");
    let of_group = search.same_kind(asm, total);
    let next = asm.label();
    emit!(asm, "@!{full} bra {next}");
    let joined = asm.append((combine, ty), of_tiles, total);
    search.assign(asm, of_group, joined);
    search.publish(asm, first_lane, (groups, in_super), of_group);
    asm.place(next);
    // Of earlier groups the nearest ones, and of all before them, unless a segment begins behind these.
    let before = search.neutral(asm, segmented);
    let (after_groups, after_supers) = (asm.label(), asm.label());
    let (no_group, no_super) = (asm.register(Class::Predicate), asm.register(Class::Predicate));
    emit!(asm, "setp.eq.s32 {no_group}, {in_super}, 0");
    emit!(asm, "setp.eq.s32 {no_super}, {super_group}, 0");
    if let Some(begins) = tiles_begin {
        emit!(asm, "@{begins} bra {after_supers}");
    }
    emit!(asm, "@{no_group} bra {after_groups}");
    let (of_groups, groups_begin) = search.gather(asm, groups, in_super, segmented);
    search.assign(asm, before, of_groups);
    if let Some(begins) = groups_begin {
        emit!(asm, "@{begins} bra {after_supers}");
    }
    asm.place(after_groups);
    emit!(asm, "@{no_super} bra {after_supers}");
    let one = asm.constant(Literal::I32(1));
    let (of_supers, _) = search.gather(asm, supers, one, segmented);
    let joined = asm.append((combine, ty), of_supers, before);
    search.assign(asm, before, joined);
    asm.place(after_supers);
    let last_group = asm.register(Class::Predicate);
    emit!(asm, "setp.eq.and.s32 {last_group}, {in_super}, {mask}, {full}");
    let next = asm.label();
    emit!(asm, "@!{last_group} bra {next}");
    let joined = asm.append((combine, ty), before, of_group);
    let one = asm.constant(Literal::I32(1));
    search.publish(asm, first_lane, (supers, one), joined);
    asm.place(next);
    asm.append((combine, ty), before, of_tiles)
}

/// The registers with which states are published and found.
struct Search {
    lane: Reg,
    /// The tag of this launch; the lowest bit is 0.
    tag: Reg,
    combine: (Combine, Ty),
}

impl Search {
    /// Emits the publication of a state by the lane for which the predicate is true, at an index of
    /// an array of states.
    fn publish(&self, asm: &mut Assembly, lane: Reg, (base, index): (Reg, Reg), state: Combined) {
        let skip = asm.label();
        emit!(asm, "@!{lane} bra {skip}");
        let slot = asm.register(Class::B64);
        emit!(asm, "mad.wide.u32 {slot}, {index}, {STATE_BYTES}, {base}");
        let tag = match state.begins {
            None => self.tag,
            Some(begins) => {
                let (tag, bit) = (asm.register(Class::B32), asm.register(Class::B32));
                emit!(asm, "selp.b32 {bit}, 1, 0, {begins}");
                emit!(asm, "or.b32 {tag}, {}, {bit}", self.tag);
                tag
            }
        };
        let mut words = Vec::with_capacity(2);
        for half in asm.halves(self.combine.1, state.value) {
            let word = asm.register(Class::B64);
            emit!(asm, "mov.b64 {word}, {{{half}, {tag}}}");
            words.push(word);
        }
        match words[..] {
            [low, high] => emit!(asm, "st.relaxed.gpu.global.v2.b64 [{slot}], {{{low}, {high}}}"),
            _ => emit!(asm, "st.relaxed.gpu.global.b64 [{slot}], {}", words[0]),
        }
        asm.place(skip);
    }

    /// Emits the combination of the first states of an array, at most one for each lane. Waits until
    /// all are published, or in a space with segments those from the last one on in which a segment
    /// begins. The result is lane 0's; the predicate, which is true if a segment begins, that of all lanes.
    fn gather(
        &self,
        asm: &mut Assembly,
        base: Reg,
        count: Reg,
        segmented: bool,
    ) -> (Combined, Option<Reg>) {
        let (combine, ty) = self.combine;
        let reads = asm.register(Class::Predicate);
        emit!(asm, "setp.lt.u32 {reads}, {}, {count}", self.lane);
        let slot = asm.register(Class::B64);
        emit!(asm, "mad.wide.u32 {slot}, {}, {STATE_BYTES}, {base}", self.lane);
        let words: Vec<Reg> = (0..words(ty)).map(|_| asm.register(Class::B64)).collect();
        let halves: Vec<Reg> = words.iter().map(|_| asm.register(Class::B32)).collect();
        let tags: Vec<Reg> = words.iter().map(|_| asm.register(Class::B32)).collect();
        let (again, missing) = (asm.label(), asm.register(Class::Predicate));
        let asks = asm.register(Class::Predicate);
        asm.move_to(missing, reads.into());
        asm.move_to(asks, reads.into());
        // A register that is only loaded under a predicate would be kept for all tiles.
        words.iter().for_each(|word| asm.move_to(*word, Literal::I64(0).into()));
        asm.place(again);
        match words[..] {
            [low, high] => {
                emit!(asm, "@{asks} ld.relaxed.gpu.global.v2.b64 {{{low}, {high}}}, [{slot}]");
            }
            _ => emit!(asm, "@{asks} ld.relaxed.gpu.global.b64 {}, [{slot}]", words[0]),
        }
        // The bits in which the tags differ from this launch's: none but perhaps the lowest one.
        let difference = asm.register(Class::B32);
        asm.move_to(difference, Literal::I32(0).into());
        for ((word, half), tag) in words.iter().zip(&halves).zip(&tags) {
            emit!(asm, "mov.b64 {{{half}, {tag}}}, {word}");
            emit!(asm, "xor.b32 {tag}, {tag}, {}", self.tag);
            emit!(asm, "or.b32 {difference}, {difference}, {tag}");
        }
        // Of the missing states only the last one is asked for until it is there: then the others
        // are, most of the time.
        let (lanes, last) = (asm.register(Class::B32), asm.register(Class::B32));
        let (arrived, all_there) = (asm.label(), asm.register(Class::Predicate));
        let (is_last, fails) = (asm.register(Class::Predicate), asm.register(Class::Predicate));
        emit!(asm, "setp.gt.and.u32 {missing}, {difference}, 1, {missing}");
        emit!(asm, "vote.sync.ballot.b32 {lanes}, {missing}, -1");
        // Of a lane: a segment begins in its state. Of all: one does in some state.
        let begins = segmented.then(|| [(); 2].map(|()| asm.register(Class::Predicate)));
        if let Some([begins, some_begins]) = begins {
            let [bit, beginners, last, behind] = [(); 4].map(|()| asm.register(Class::B32));
            emit!(asm, "and.b32 {bit}, {}, 1", tags[0]);
            emit!(asm, "setp.ne.and.s32 {begins}, {bit}, 0, {reads}");
            emit!(asm, "not.pred {some_begins}, {missing}");
            emit!(asm, "and.pred {begins}, {begins}, {some_begins}");
            emit!(asm, "vote.sync.ballot.b32 {beginners}, {begins}, -1");
            emit!(asm, "setp.ne.s32 {some_begins}, {beginners}, 0");
            // Of no bit `bfind` is -1: then all lanes matter. A shift by 32 leaves none.
            emit!(asm, "bfind.u32 {last}, {beginners}");
            emit!(asm, "add.s32 {last}, {last}, 1");
            emit!(asm, "mov.b32 {behind}, -1");
            emit!(asm, "shl.b32 {behind}, {behind}, {last}");
            emit!(asm, "and.b32 {lanes}, {lanes}, {behind}");
        }
        emit!(asm, "setp.eq.s32 {all_there}, {lanes}, 0");
        emit!(asm, "@{all_there} bra {arrived}");
        emit!(asm, "and.pred {fails}, {asks}, {missing}");
        emit!(asm, "vote.sync.any.pred {fails}, {fails}, -1");
        emit!(asm, "bfind.u32 {last}, {lanes}");
        emit!(asm, "setp.eq.s32 {is_last}, {last}, {}", self.lane);
        emit!(asm, "not.pred {fails}, {fails}");
        emit!(asm, "or.pred {is_last}, {is_last}, {fails}");
        emit!(asm, "and.pred {asks}, {missing}, {is_last}");
        emit!(asm, "bra {again}");
        asm.place(arrived);
        let loaded = asm.of_halves(ty, &halves);
        let neutral = asm.constant(combine.neutral(ty));
        if segmented {
            // What is missing lies before the last beginning.
            emit!(asm, "not.pred {missing}, {missing}");
            emit!(asm, "and.pred {reads}, {reads}, {missing}");
        }
        let value = asm.select(reads, loaded.class, loaded.into(), neutral.into());
        let own_begins = begins.map(|[begins, _]| begins);
        let combined = self.tree(asm, Combined { value, begins: own_begins });
        (combined, begins.map(|[_, some_begins]| some_begins))
    }

    /// Emits the combination of the states of all lanes, in their order; the result is lane 0's.
    fn tree(&self, asm: &mut Assembly, mut state: Combined) -> Combined {
        let ty = self.combine.1;
        let mut distance = 1;
        while distance < WARP_THREADS {
            let value = shuffle(asm, "down", ty, state.value, distance, WARP_THREADS - 1);
            let begins = state
                .begins
                .map(|begins| shuffle(asm, "down", Ty::Bool, begins, distance, WARP_THREADS - 1));
            state = asm.append(self.combine, state, Combined { value, begins });
            distance *= 2;
        }
        state
    }

    /// New registers for a state, which hold nothing yet.
    fn same_kind(&self, asm: &mut Assembly, of: Combined) -> Combined {
        let value = asm.register(of.value.class);
        Combined { value, begins: of.begins.map(|_| asm.register(Class::Predicate)) }
    }

    /// New registers with the combination of no elements.
    fn neutral(&self, asm: &mut Assembly, segmented: bool) -> Combined {
        let (combine, ty) = self.combine;
        let value = asm.constant(combine.neutral(ty));
        Combined { value, begins: segmented.then(|| asm.constant(Literal::Bool(false))) }
    }

    fn assign(&self, asm: &mut Assembly, to: Combined, from: Combined) {
        asm.move_to(to.value, from.value.into());
        if let (Some(to), Some(from)) = (to.begins, from.begins) {
            asm.move_to(to, Operand::Reg(from));
        }
    }
}

/// The number of words of a state.
fn words(ty: Ty) -> usize {
    if ty.size() == 8 { 2 } else { 1 }
}

impl Assembly {
    /// Emits the halves of a scalar of 8 bytes, or the bits of a smaller one.
    fn halves(&mut self, ty: Ty, value: Reg) -> Vec<Reg> {
        match ty {
            Ty::I64 | Ty::F64 => {
                let (low, high) = (self.register(Class::B32), self.register(Class::B32));
                emit!(self, "mov.b64 {{{low}, {high}}}, {value}");
                vec![low, high]
            }
            Ty::F32 => vec![self.bits(Ty::I32, value.into())],
            Ty::Bool => vec![self.convert(Ty::Bool, Ty::I32, value.into())],
            Ty::I32 | Ty::U8 => vec![value],
        }
    }

    /// Emits a scalar of its halves.
    fn of_halves(&mut self, ty: Ty, halves: &[Reg]) -> Reg {
        match (ty, halves) {
            (Ty::I64 | Ty::F64, [low, high]) => {
                let d = self.register(Class::of(ty));
                emit!(self, "mov.b64 {d}, {{{low}, {high}}}");
                d
            }
            (Ty::F32, [bits, ..]) => self.bits(Ty::F32, (*bits).into()),
            (Ty::Bool, [bits, ..]) => self.convert(Ty::I32, Ty::Bool, (*bits).into()),
            (_, halves) => halves[0],
        }
    }
}
