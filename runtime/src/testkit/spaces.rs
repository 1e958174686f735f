//! Spaces of every kind: empty ones, empty segments, one huge segment, many tiny ones.
//!
//! The heads of their kernels differ, the bodies need not: `v0` and `v1` are the parameters of
//! the space, `v2` is the index, `v3` the segment, `v4` the position.

use super::{Case, Data};
use crate::kir::Ty;

/// A kind of space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Flat,
    Regular,
    Segmented,
}

/// An index space.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub kind: Kind,
    /// The lengths of the segments; of a flat space, one.
    pub lengths: Vec<i64>,
}

impl Shape {
    /// The number of indices.
    pub fn points(&self) -> usize {
        self.lengths.iter().sum::<i64>() as usize
    }

    /// Returns true if there are segments.
    pub fn segmented(&self) -> bool {
        self.kind != Kind::Flat
    }

    /// The index, segment and position of each point.
    pub fn indices(&self) -> Vec<(usize, usize, usize)> {
        let pairs = self.lengths.iter().enumerate();
        let pairs = pairs.flat_map(|(segment, length)| (0..*length).map(move |at| (segment, at)));
        pairs.enumerate().map(|(index, (segment, at))| (index, segment, at as usize)).collect()
    }

    /// The indices of each segment.
    pub fn segments(&self) -> Vec<std::ops::Range<usize>> {
        let mut start = 0;
        let ranges = self.lengths.iter().map(|length| {
            start += *length as usize;
            start - *length as usize..start
        });
        ranges.collect()
    }

    /// A case over this space; more arguments follow, the first of them is number 2.
    pub fn case(&self, name: &str, params: &[String], makes: &[Ty], body: &str) -> Case {
        let (v1, space) = match self.kind {
            Kind::Flat => ("i64", "flat v0 at v2"),
            Kind::Regular => ("i64", "regular v0, v1 at v3, v4, v2"),
            Kind::Segmented => ("[i64]", "segmented v0, v1 at v3, v4, v2"),
        };
        let params: String = params.iter().map(|param| format!(", {param}")).collect();
        let makes: Vec<String> = makes.iter().map(ToString::to_string).collect();
        let makes = match &makes[..] {
            [] => String::new(),
            makes => format!(" makes {}", makes.join(", ")),
        };
        let head = format!("kernel \"k\"(v0: i64, v1: {v1}{params}){makes} over {space}");
        let text = format!("{head} {{\n{body}}}");
        let lengths = &self.lengths;
        let shape = match &lengths[..] {
            lengths if lengths.len() > 8 => format!("{} segments", lengths.len()),
            lengths => format!("{lengths:?}"),
        };
        let case = Case::new(format!("{name} over {:?} {shape}", self.kind), text);
        match self.kind {
            Kind::Flat => case.i64(lengths[0]).i64(0),
            Kind::Regular => {
                case.i64(lengths.len() as i64).i64(lengths.first().copied().unwrap_or(5))
            }
            Kind::Segmented => {
                let ends = lengths.iter().scan(0, |end, length| {
                    *end += length;
                    Some(*end)
                });
                let offsets: Vec<i64> = std::iter::once(0).chain(ends).collect();
                case.i64(lengths.len() as i64).array(Data::from(offsets))
            }
        }
    }
}

/// Small spaces: their points can be counted by a slow runtime.
pub(super) fn small() -> Vec<Shape> {
    let flat = [0, 1, 2, 31, 100].map(|count| (Kind::Flat, vec![count]));
    let regular = [(0, 5), (5, 0), (1, 1), (3, 7), (1, 70), (70, 1), (8, 32)]
        .map(|(segments, length)| (Kind::Regular, vec![length; segments]));
    let segmented = [
        vec![],
        vec![0],
        vec![0, 0, 3, 0],
        vec![120],
        vec![1; 90],
        vec![5, 0, 0, 80, 1, 0, 3],
        vec![33, 0, 31, 32, 64],
    ]
    .map(|lengths| (Kind::Segmented, lengths));
    let all = flat.into_iter().chain(regular).chain(segmented);
    all.map(|(kind, lengths)| Shape { kind, lengths }).collect()
}

/// Spaces that are more than one block, warp or chunk.
pub(super) fn large() -> Vec<Shape> {
    let ragged = (0..700).map(|i| (i * 7919 % 13) * i64::from(i % 3 != 0)).collect();
    [
        (Kind::Flat, vec![5000]),
        (Kind::Regular, vec![1025; 4]),
        (Kind::Regular, vec![3; 1500]),
        (Kind::Segmented, vec![4099]),
        (Kind::Segmented, vec![2, 3000, 0, 1, 1024, 0]),
        (Kind::Segmented, ragged),
    ]
    .map(|(kind, lengths)| Shape { kind, lengths })
    .to_vec()
}
