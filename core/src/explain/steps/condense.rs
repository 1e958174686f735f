//! Joins steps that change nothing with those before them.
//!
//! Flattening makes an index space for each level of nesting, and collects each level again at the end;
//! the data and the lengths stay as they are. One picture is enough for all of these.

use super::{SegmentStep, SegmentedValue};

/// The part that a step has in going from level to level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It makes an index space of the elements of something.
    IndexSpace,
    /// It collects elements into sequences.
    Collect,
    /// It computes something.
    Other,
}

/// A step as it was recorded.
pub(super) struct Recorded {
    pub(super) kind: Kind,
    pub(super) step: SegmentStep,
}

/// The beginning of the title of a step that makes an index space.
const INDEX_SPACE: &str = "index space: ";
/// The same for several.
const INDEX_SPACES: &str = "index spaces: ";
/// The end of the title of a step that moves no data.
const NO_DATA: &str = ": no data moves";

/// Joins the steps that change nothing with those before them: index spaces with index spaces, and what
/// collects with whatever computed the elements.
pub(super) fn condense(steps: Vec<Recorded>) -> Vec<SegmentStep> {
    let mut all: Vec<Recorded> = Vec::new();
    for next in steps {
        let joins = all.last().is_some_and(|last| {
            changes_nothing(&next.step)
                && goes_on(&last.step, &next.step)
                && match next.kind {
                    Kind::IndexSpace => {
                        last.kind == Kind::IndexSpace && changes_nothing(&last.step)
                    }
                    Kind::Collect => true,
                    Kind::Other => false,
                }
        });
        match all.last_mut() {
            Some(last) if joins => join(last, next),
            _ => all.push(next),
        }
    }
    all.into_iter().map(|recorded| recorded.step).collect()
}

fn join(last: &mut Recorded, next: Recorded) {
    let title = std::mem::take(&mut last.step.title);
    last.step.title = match (last.kind, next.kind) {
        (Kind::IndexSpace, Kind::IndexSpace) => {
            let first = title.strip_prefix(INDEX_SPACE).or(title.strip_prefix(INDEX_SPACES));
            let second = next.step.title.strip_prefix(INDEX_SPACE).unwrap_or(&next.step.title);
            format!("{INDEX_SPACES}{}; {second}", first.unwrap_or(&title))
        }
        (Kind::Collect, _) => {
            let (first, end) = match title.strip_suffix(NO_DATA) {
                Some(first) => (first, NO_DATA),
                None => (&*title, ""),
            };
            format!("{first}, and these into one{end}")
        }
        _ => {
            let second = next.step.title.strip_suffix(NO_DATA).unwrap_or(&next.step.title);
            format!("{title}; {second}")
        }
    };
    last.step.code.push('\n');
    last.step.code.push_str(&next.step.code);
    last.step.output = next.step.output;
    if last.kind == Kind::Other {
        // The next one that collects goes on with the sequences.
        last.kind = Kind::Collect;
    }
}

/// Returns true if what comes out is what went in, under another name.
fn changes_nothing(step: &SegmentStep) -> bool {
    matches!((&step.inputs[..], &step.output), ([input], Some(output)) if is_same(input, output))
}

/// Returns true if a step takes what another one made.
fn goes_on(last: &SegmentStep, next: &SegmentStep) -> bool {
    matches!((&last.output, &next.inputs[..]), (Some(output), [input]) if is_same(output, input))
}

/// Returns true for the same data in the same segments.
fn is_same(a: &SegmentedValue, b: &SegmentedValue) -> bool {
    let same_levels = a.levels.len() == b.levels.len()
        && a.levels
            .iter()
            .zip(&b.levels)
            .all(|(a, b)| (&a.lengths, &a.starts) == (&b.lengths, &b.starts));
    same_levels && a.data == b.data && a.nested == b.nested
}
