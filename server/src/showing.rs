//! The things that are shown in a text: hovers, lenses, hints, completions, in the terms of LSP.

use crate::convert::{self, structure, typing};
use crate::cost::Costs;
use crate::kept::Kept;
use crate::options::Values;
use crate::paths;
use crate::remembered::Facts;
use crate::run::Runs;
use crate::world::Snapshot;
use crate::written::Written;
use nesl_core::base::{TextRange, TextSize};
use nesl_core::ide;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use tower_lsp_server::ls_types::{CompletionList, Hover, HoverContents, InlayHint};

/// A list of more completions than this is marked incomplete: the client asks again after the next key press.
const MAX_COMPLETE_LIST: usize = 100;

/// In a document with more forms than this, lenses are told when they are seen: there may be thousands.
const MANY_FORMS: usize = 400;

/// The hover of a selection, or of the place of an empty one.
pub fn hover(s: &Snapshot, selection: TextRange, costs: &Costs) -> Option<Hover> {
    let hover = ide::hover(&s.db, s.file, selection, s.options.precision.core())?;
    let mut text = hover.markdown();
    let (item, _) = s.db.item_at(s.file, selection.start())?;
    if let (Some(_), Some(cost)) = (&hover.summary, costs.of(s, item)) {
        text.push_str(&format!("\n\n**Measured:** {cost}"));
    }
    Some(Hover {
        contents: HoverContents::Markup(convert::markdown(text)),
        range: Some(s.lines.lsp_range(hover.range)),
    })
}

/// The outline of a document, written.
pub fn outline(s: &Snapshot, facts: &Facts, written: &Written<ide::Entry>) -> Vec<u8> {
    let entries = facts.with(&s.uri, |all| all.entries(&s.db, s.file));
    let placed = entries.iter().map(|(start, entry)| (s.lines.position(*start), entry.clone()));
    let placed = placed.collect();
    let mut next = entries.into_iter().map(|(start, _)| start);
    let mut starts = FxHashMap::default();
    written.list(&s.uri, &s.options, placed, |at, entry, out| {
        // The bytes at which forms start are needed for those that have changed only.
        if starts.is_empty() {
            starts.extend(next.by_ref().map(|start| (s.lines.position(start), start)));
        }
        let Some(start) = starts.get(&at) else { return };
        let symbol = structure::symbol(&s.lines, entry.moved(*start));
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(out, &symbol);
    })
}

/// The lenses of a document, written. Those of a form that is broken are the ones that it had before.
pub fn lenses(
    s: &Snapshot,
    facts: &Facts,
    kept: &Kept<Arc<ide::Lens>>,
    (runs, costs): (&Runs, &Costs),
    written: &Written<ide::Lens>,
) -> Vec<u8> {
    if !s.options.lenses.any() {
        return b"[]".to_vec();
    }
    let whole = TextRange::up_to(TextSize::of(&*s.lines.text));
    let (new, broken) =
        facts.with(&s.uri, |all| (all.runnable(&s.db, s.file), all.broken(&s.db, s.file)));
    let own: FxHashSet<*const ide::Lens> = match broken.is_empty() {
        true => FxHashSet::default(),
        false => new.iter().map(|(_, lens)| Arc::as_ptr(lens)).collect(),
    };
    let new = new.into_iter().map(|(start, lens)| (start + lens.range.start(), lens)).collect();
    let all = kept.with_last(&s.uri, &s.lines.text, whole, &broken, |at| form_at(s, at), new);
    let is_own = |lens: &Arc<ide::Lens>| broken.is_empty() || own.contains(&Arc::as_ptr(lens));
    let placed = |at: TextSize, lens: &Arc<ide::Lens>| {
        if is_own(lens) {
            return lens.moved(at - lens.range.start());
        }
        typing::moved(
            s,
            ide::Lens { range: TextRange::at(at, lens.range.len()), ..(**lens).clone() },
        )
    };
    let running = runs.running(&s.uri);
    if all.len() <= MANY_FORMS || running.is_some() {
        let all = all.iter().map(|(at, lens)| placed(*at, lens));
        let all = all.flat_map(|lens| typing::lenses(s, &lens, running, costs));
        return serde_json::to_vec(&all.collect::<Vec<_>>()).unwrap_or_default();
    }
    let entries = all.into_iter().map(|(at, lens)| (s.lines.position(at), lens)).collect();
    written.list(&s.uri, &s.options, entries, |at, lens, out| {
        let lens = placed(s.lines.offset(at), lens);
        for (i, lens) in typing::unresolved(s, &lens).iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            // Writing to memory cannot fail.
            let _ = serde_json::to_writer(&mut *out, lens);
        }
    })
}

/// The hints of a part of a document, values of runs among them. Those of a form that is broken are the ones
/// that it had before.
pub fn hints(
    s: &Snapshot,
    range: TextRange,
    kept: &Kept<InlayHint>,
    runs: &Runs,
) -> Vec<InlayHint> {
    let (hints, precision) = (s.options.hints, s.options.precision.core());
    let wanted = ide::HintOptions { types: hints.types, parallelism: hints.parallelism };
    let all = ide::inlay_hints(&s.db, s.file, range, wanted, precision).into_iter();
    let new = all.map(|hint| (hint.at, typing::inlay_hint(s, hint))).collect();
    let broken = ide::broken_forms(&s.db, s.file, range);
    let all =
        kept.with_last(&s.uri, &s.lines.text, range, &broken, |at| form_at(s, at), new).into_iter();
    let mut hints: Vec<_> =
        all.map(|(at, hint)| InlayHint { position: s.lines.position(at), ..hint }).collect();
    if s.options.values == Values::Hints {
        hints.extend(runs.hints(s, range));
    }
    hints
}

/// The completions at a byte.
pub fn completions(s: &Snapshot, at: TextSize) -> CompletionList {
    if let Some(items) = paths::completions(s, at) {
        return CompletionList { is_incomplete: false, items };
    }
    let all = ide::completions(&s.db, s.file, at);
    // Of very many only the best are there: with another letter there may be others.
    let is_incomplete = all.len() >= MAX_COMPLETE_LIST;
    let all = all.into_iter().enumerate();
    let items = all.map(|(i, one)| typing::completion(s, one, i)).collect();
    CompletionList { is_incomplete, items }
}

/// The range of the form at a byte.
fn form_at(s: &Snapshot, at: TextSize) -> Option<TextRange> {
    Some(s.db.whole(s.db.item_at(s.file, at)?.0).range)
}
