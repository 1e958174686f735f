//! Outlines, folds, selections, calls and links in the terms of LSP.

use crate::lines::Lines;
use crate::world::Snapshot;
use nesl_core::base::{ItemId, TextRange};
use nesl_core::db::{FileId, FileRange};
use nesl_core::ide;
use std::path::Path;
use tower_lsp_server::ls_types as lsp;

/// An entry of an outline, with those inside it.
pub fn symbol(lines: &Lines, entry: ide::Entry) -> lsp::DocumentSymbol {
    let children: Vec<_> = entry.children.into_iter().map(|child| symbol(lines, child)).collect();
    #[allow(deprecated, reason = "the field has to be there")]
    lsp::DocumentSymbol {
        name: entry.name,
        detail: (!entry.detail.is_empty()).then_some(entry.detail),
        kind: symbol_kind(entry.kind),
        tags: None,
        deprecated: None,
        range: lines.lsp_range(entry.range),
        selection_range: lines.lsp_range(entry.focus),
        children: (!children.is_empty()).then_some(children),
    }
}

/// Something that was found by its name.
pub fn found(
    snapshot: &Snapshot,
    (file, entry): (FileId, ide::Entry),
) -> Option<lsp::SymbolInformation> {
    let location = super::location(snapshot, FileRange { file, range: entry.focus })?;
    #[allow(deprecated, reason = "the field has to be there")]
    Some(lsp::SymbolInformation {
        name: entry.name,
        kind: symbol_kind(entry.kind),
        tags: None,
        deprecated: None,
        location,
        container_name: (!entry.detail.is_empty()).then_some(entry.detail),
    })
}

fn symbol_kind(kind: ide::EntryKind) -> lsp::SymbolKind {
    match kind {
        ide::EntryKind::Function => lsp::SymbolKind::FUNCTION,
        ide::EntryKind::Datatype => lsp::SymbolKind::STRUCT,
        ide::EntryKind::Variable => lsp::SymbolKind::VARIABLE,
        ide::EntryKind::Expression => lsp::SymbolKind::EVENT,
        ide::EntryKind::Command => lsp::SymbolKind::MODULE,
    }
}

/// A range that can be folded: whole lines; the last one stays when something follows on it.
pub fn fold(lines: &Lines, fold: &ide::Fold) -> Option<lsp::FoldingRange> {
    let range = lines.lsp_range(fold.range);
    (range.start.line < range.end.line).then_some(lsp::FoldingRange {
        start_line: range.start.line,
        start_character: None,
        end_line: range.end.line,
        end_character: None,
        kind: match fold.kind {
            ide::FoldKind::Comment => Some(lsp::FoldingRangeKind::Comment),
            ide::FoldKind::Form | ide::FoldKind::Block => None,
        },
        collapsed_text: None,
    })
}

/// Selections, the innermost first, as a chain.
pub fn selection(lines: &Lines, ranges: &[TextRange]) -> Option<lsp::SelectionRange> {
    let outward = ranges.iter().rev();
    outward.fold(None, |parent, range| {
        Some(lsp::SelectionRange { range: lines.lsp_range(*range), parent: parent.map(Box::new) })
    })
}

/// Something that calls and is called. The form is remembered by its number.
pub fn call_item(snapshot: &Snapshot, item: ide::CallItem) -> Option<lsp::CallHierarchyItem> {
    let (uri, range, selection_range) = super::target(snapshot, &item.target)?;
    Some(lsp::CallHierarchyItem {
        name: item.name,
        kind: lsp::SymbolKind::FUNCTION,
        tags: None,
        detail: (!item.detail.is_empty()).then_some(item.detail),
        uri,
        range,
        selection_range,
        data: Some(item.item.0.into()),
    })
}

/// The form that is remembered, if it is still there.
pub fn called(snapshot: &Snapshot, item: &lsp::CallHierarchyItem) -> Option<ItemId> {
    form(snapshot, item.data.as_ref()?.as_u64()?)
}

/// The form of a number that a client has sent back; none, if no form has it.
pub fn form(snapshot: &Snapshot, number: u64) -> Option<ItemId> {
    let db = &snapshot.db;
    let mut files = snapshot.files.iter().copied().chain(db.library());
    let is_there = |file| db.outline(file).forms.iter().any(|form| form.id().0 == number);
    files.any(is_there).then_some(ItemId(number))
}

/// The callers of a form, with the ranges of the calls.
pub fn incoming(
    snapshot: &Snapshot,
    (from, places): (ide::CallItem, Vec<TextRange>),
) -> Option<lsp::CallHierarchyIncomingCall> {
    let lines = snapshot.lines_of(snapshot.db.file_of(from.item));
    Some(lsp::CallHierarchyIncomingCall {
        from: call_item(snapshot, from)?,
        from_ranges: places.iter().map(|place| lines.lsp_range(*place)).collect(),
    })
}

/// The functions that a form calls, with the places of the calls.
pub fn outgoing(
    snapshot: &Snapshot,
    caller: ItemId,
    (to, places): (ide::CallItem, Vec<TextRange>),
) -> Option<lsp::CallHierarchyOutgoingCall> {
    let lines = snapshot.lines_of(snapshot.db.file_of(caller));
    Some(lsp::CallHierarchyOutgoingCall {
        to: call_item(snapshot, to)?,
        from_ranges: places.iter().map(|place| lines.lsp_range(*place)).collect(),
    })
}

/// A file that is named, if it is there.
pub fn document_link(snapshot: &Snapshot, link: &ide::Link) -> Option<lsp::DocumentLink> {
    let folder = crate::world::path_of(&snapshot.uri)?;
    let path = crate::world::existing(folder.parent().unwrap_or(Path::new("")), &link.path)?;
    Some(lsp::DocumentLink {
        range: snapshot.lines.lsp_range(link.range),
        target: lsp::Uri::from_file_path(&path),
        tooltip: Some(path.display().to_string()),
        data: None,
    })
}
