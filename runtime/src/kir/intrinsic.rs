//! The intrinsics of kir, each declared once: routines of the runtime, executed for one work item.
//!
//! A row gives the documentation, the name in the text form, and the types of operands and results:
//!
//! ```text
//! keys           [t], with the type t of the keys, or elements, of the intrinsic
//! ints, chars    [i64], [u8]
//! int, float     i64, f64
//! bool           bool
//! ```

use super::value::{Ty, ValueTy};

/// The type of an operand or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Keys,
    Ints,
    Chars,
    Int,
    Float,
    Bool,
}

impl Form {
    const fn at(self, keys: Ty) -> ValueTy {
        match self {
            Form::Keys => ValueTy::Array(keys),
            Form::Ints => ValueTy::Array(Ty::I64),
            Form::Chars => ValueTy::Array(Ty::U8),
            Form::Int => ValueTy::Scalar(Ty::I64),
            Form::Float => ValueTy::Scalar(Ty::F64),
            Form::Bool => ValueTy::Scalar(Ty::Bool),
        }
    }
}

/// The types of keys that can be sorted.
const SORTED: &[Ty] = &[Ty::I32, Ty::I64, Ty::F32, Ty::F64, Ty::U8];
/// The types of keys that can be grouped.
const GROUPED: &[Ty] = &[Ty::I32, Ty::I64];
/// The types of keys of which the different ones can be found.
const DISTINCT: &[Ty] = &[Ty::I32, Ty::I64, Ty::U8, Ty::Bool];
/// The types of the elements of matrices that can be transposed.
const COPIED: &[Ty] = &[Ty::I32, Ty::I64, Ty::F32, Ty::F64, Ty::U8, Ty::Bool];
/// The types of the elements of matrices that can be multiplied.
const MULTIPLIED: &[Ty] = &[Ty::F32, Ty::F64];

macro_rules! form {
    (keys) => {
        Form::Keys
    };
    (ints) => {
        Form::Ints
    };
    (chars) => {
        Form::Chars
    };
    (int) => {
        Form::Int
    };
    (float) => {
        Form::Float
    };
    (bool) => {
        Form::Bool
    };
}

macro_rules! intrinsics {
    ($(
        $(#[$doc:meta])*
        $name:ident = $mnemonic:literal: ($($param:ident),*) -> ($($result:ident),*)
        $(, keys in $keys:ident)?;
    )+) => {
        /// An intrinsic: a routine of the runtime, executed for one work item (sorting, grouping,
        /// texts).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Extern {
            $($(#[$doc])* $name,)+
        }

        impl Extern {
            /// The list of all intrinsics.
            pub const ALL: &[Extern] = &[$(Extern::$name,)+];

            /// The name in the text form.
            pub fn mnemonic(self) -> &'static str {
                match self {
                    $(Extern::$name => $mnemonic,)+
                }
            }

            /// The intrinsic with this name in the text form.
            pub fn from_mnemonic(name: &str) -> Option<Extern> {
                match name {
                    $($mnemonic => Some(Extern::$name),)+
                    _ => None,
                }
            }

            /// The types of keys that it takes; empty if it takes none.
            pub fn key_types(self) -> &'static [Ty] {
                match self {
                    $(Extern::$name => intrinsics!(@keys $($keys)?),)+
                }
            }

            /// The types of the operands; `keys` is the type of the keys.
            pub fn params(self, keys: Ty) -> Vec<ValueTy> {
                match self {
                    $(Extern::$name => vec![$(form!($param).at(keys)),*],)+
                }
            }

            /// The types of the results.
            pub fn results(self) -> &'static [ValueTy] {
                match self {
                    $(Extern::$name => const { &[$(form!($result).at(Ty::U8)),*] },)+
                }
            }
        }
    };
    (@keys) => { &[] };
    (@keys $keys:ident) => { $keys };
}

intrinsics! {
    /// `(keys, n, out)`: the stable rank of each key, ascending; NaNs last.
    RankUp = "rank_up": (keys, int, ints) -> (), keys in SORTED;
    /// The same, descending; still stable, NaNs still last.
    RankDown = "rank_down": (keys, int, ints) -> (), keys in SORTED;
    /// `(keys, n, out)`: the keys in the order of [`Extern::RankUp`].
    SortUp = "sort_up": (keys, int, keys) -> (), keys in SORTED;
    /// `(keys, n, out)`: the keys in the order of [`Extern::RankDown`].
    SortDown = "sort_down": (keys, int, keys) -> (), keys in SORTED;
    /// `(ints, n, last, count)`: for each int, the index of the last one equal to it, and the
    /// number of those equal to it.
    Groups = "groups": (keys, int, ints, ints) -> (), keys in GROUPED;
    /// `(starts, n, lengths, chars, last, count)`: the same for texts, which begin at these offsets
    /// in `chars`.
    TextGroups = "text_groups": (ints, int, ints, chars, ints, ints) -> ();
    /// `(keys, n, last, count, number)`: for each different key, in the order of the last one equal to it,
    /// the index of that one, and the number of those equal to it; `number` is how many there are. `last`
    /// and `count` have room for `n`.
    Distinct = "distinct": (keys, int, ints, ints, ints) -> (), keys in DISTINCT;
    /// `(starts, n, lengths, chars, last, count, number)`: the same for texts.
    DistinctTexts = "distinct_texts": (ints, int, ints, chars, ints, ints, ints) -> ();
    /// `(starts, n, lengths, chars, out)`: the stable rank of each text, ascending by its chars.
    RankTexts = "rank_texts": (ints, int, ints, chars, ints) -> ();
    /// `(keys, n, out, offsets)`: [`Extern::RankUp`] within each of `n` segments, which begin at these
    /// offsets; the last offset is the number of all keys ([`crate::services::segments`]).
    RankSegmentsUp = "rank_segments_up": (keys, int, ints, ints) -> (), keys in SORTED;
    /// The same, with [`Extern::RankDown`].
    RankSegmentsDown = "rank_segments_down": (keys, int, ints, ints) -> (), keys in SORTED;
    /// The same, with [`Extern::SortUp`].
    SortSegmentsUp = "sort_segments_up": (keys, int, keys, ints) -> (), keys in SORTED;
    /// The same, with [`Extern::SortDown`].
    SortSegmentsDown = "sort_segments_down": (keys, int, keys, ints) -> (), keys in SORTED;
    /// `(ints, n, last, count, offsets)`: [`Extern::Groups`] within each of `n` segments.
    GroupSegments = "group_segments": (keys, int, ints, ints, ints) -> (), keys in GROUPED;
    /// `(starts, n, lengths, chars, last, count, offsets)`: [`Extern::TextGroups`] within each of `n`
    /// segments.
    GroupTextSegments = "group_text_segments": (ints, int, ints, chars, ints, ints, ints) -> ();
    /// `(starts, n, lengths, chars, out, offsets)`: [`Extern::RankTexts`] within each of `n` segments.
    RankTextSegments = "rank_text_segments": (ints, int, ints, chars, ints, ints) -> ();
    /// `(text, n, salt) -> (hash)`: [`crate::services::text::hash`].
    HashText = "hash_text": (chars, int, int) -> (int);
    /// `(a, m, b, n) -> (same)`: true if two texts are equal.
    SameText = "same_text": (chars, int, chars, int) -> (bool);
    /// `(x, out) -> (length)`: a float as `@` prints it, at most 32 chars.
    FloatText = "float_text": (float, chars) -> (int);
    /// The same at single precision, given exactly as a double.
    FloatText32 = "float_text_32": (float, chars) -> (int);
    /// `(x, digits, out) -> (length, ok)`: `exp_string`, at most 64 chars; not `ok` when there are
    /// too many digits.
    ExpText = "exp_text": (float, int, chars) -> (int, bool);
    /// `(text, n) -> (value, ok)`: `parse_float`.
    ParseFloat = "parse_float": (chars, int) -> (float, bool);
    /// The same, rounded once, to single precision, and given exactly as a double.
    ParseFloat32 = "parse_float_32": (chars, int) -> (float, bool);
    /// `(left, starts, turned, right, starts, turned, rows, columns, depth, out)`: the product of two
    /// matrices of `depth` places for each of `rows` rows and `columns` columns, row by row
    /// ([`crate::services::product`]). The rows of the left one, and of the transpose of the right one,
    /// begin at these offsets; if `turned` is not 0, those of the transpose do.
    Product = "multiply": (keys, ints, int, keys, ints, int, int, int, int, keys) -> (),
        keys in MULTIPLIED;
    /// `(elements, starts, rows, columns, out)`: the transpose, of `rows` rows, of a matrix whose rows
    /// begin at these offsets ([`crate::services::transpose`]).
    Transpose = "transpose": (keys, ints, int, int, keys) -> (), keys in COPIED;
}
