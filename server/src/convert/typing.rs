//! Completions, signatures, actions, hints and lenses in the terms of LSP.

use super::{markdown, text_edit, workspace_edit};
use crate::cost::Costs;
use crate::lines::Lines;
use crate::world::Snapshot;
use nesl_core::base::{ItemId, TextRange, TextSize, shorten};
use nesl_core::db::FileId;
use nesl_core::explain;
use nesl_core::ide;
use nesl_core::syntax::excerpt;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};
use tower_lsp_server::ls_types as lsp;

/// The width of a type beside a completion, in characters.
const TYPE_CHARS: usize = 40;
/// The width of a lens that tells a cost, in characters.
const COST_CHARS: usize = 90;

/// Something that could be written; `number` is its place among the others, best first.
pub fn completion(
    snapshot: &Snapshot,
    completion: ide::Completion,
    number: usize,
) -> lsp::CompletionItem {
    let snippet = completion.snippet && snapshot.client.snippets;
    let named =
        matches!(completion.kind, ide::CompletionKind::Function | ide::CompletionKind::Constructor);
    let new_text = match completion.snippet && !snippet {
        // Holes that cannot be filled in would be text that has to be deleted.
        true if named => completion.label.clone(),
        true => plain(&completion.insert),
        false => completion.insert,
    };
    let (insert_text, text_edit) = if is_apart(&snapshot.lines.text, completion.range) {
        ((new_text != completion.label).then_some(new_text), None)
    } else {
        let range = snapshot.lines.lsp_range(completion.range);
        (None, Some(lsp::CompletionTextEdit::Edit(lsp::TextEdit { range, new_text })))
    };
    let doc = completion.doc.map(|doc| ide::doc_markdown(&doc));
    let data = doc.is_none().then(|| {
        let position = snapshot.lines.position(completion.range.start());
        json!(Resolvable(snapshot.file.0, position.line, position.character))
    });
    // Beside the name, where there is room for it; the whole type comes with the documentation.
    let short = completion.ty.as_ref().filter(|_| snapshot.client.label_details);
    let details = short.map(|ty| lsp::CompletionItemLabelDetails {
        detail: None,
        description: Some(excerpt(ty, TYPE_CHARS)),
    });
    lsp::CompletionItem {
        label: completion.label,
        kind: Some(completion_kind(completion.kind)),
        label_details: details,
        detail: completion.ty,
        documentation: doc.map(|doc| lsp::Documentation::MarkupContent(markdown(doc))),
        sort_text: Some(format!("{number:05}")),
        preselect: (number == 0 && completion.fits).then_some(true),
        insert_text,
        insert_text_format: snippet.then_some(lsp::InsertTextFormat::SNIPPET),
        text_edit,
        data,
        ..lsp::CompletionItem::default()
    }
}

/// Returns true if nothing is typed yet, and nothing at either side could be taken for a part
/// of the word: there it needs not be told what to replace. Such places have hundreds of completions.
fn is_apart(text: &str, range: TextRange) -> bool {
    let (before, behind) = text.split_at(range.end().into());
    let (before, behind) = (before.chars().next_back(), behind.chars().next());
    range.is_empty()
        && before.is_none_or(|c| c.is_whitespace() || "([{,;=".contains(c))
        && behind.is_none_or(|c| c.is_whitespace() || ")]},;:|".contains(c))
}

/// The place where a completion was asked for, to describe it later: the file, the line, the column.
#[derive(Deserialize, Serialize)]
pub struct Resolvable(u32, u32, u32);

impl Resolvable {
    /// The file of the completion.
    pub fn file(&self) -> FileId {
        FileId(self.0)
    }

    /// The place in it.
    pub fn position(&self) -> lsp::Position {
        lsp::Position { line: self.1, character: self.2 }
    }
}

/// A snippet without its holes: `f(${1:x})` is `f(x)`.
fn plain(snippet: &str) -> String {
    let mut out = String::new();
    let mut rest = snippet;
    while let Some(at) = rest.find(['$', '\\', '}']) {
        out.push_str(&rest[..at]);
        let (mark, behind) = rest[at..].split_at(1);
        rest = behind;
        match mark {
            "\\" => {
                let end = rest.chars().next().map_or(0, char::len_utf8);
                out.push_str(&rest[..end]);
                rest = &rest[end..];
            }
            "$" => {
                rest = rest.strip_prefix('{').unwrap_or(rest);
                rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                rest = rest.strip_prefix(':').unwrap_or(rest);
            }
            // The end of a placeholder.
            _ => {}
        }
    }
    out + rest
}

fn completion_kind(kind: ide::CompletionKind) -> lsp::CompletionItemKind {
    match kind {
        ide::CompletionKind::Function => lsp::CompletionItemKind::FUNCTION,
        ide::CompletionKind::Constructor => lsp::CompletionItemKind::CONSTRUCTOR,
        ide::CompletionKind::Variable => lsp::CompletionItemKind::VARIABLE,
        ide::CompletionKind::Parameter => lsp::CompletionItemKind::FIELD,
        ide::CompletionKind::Type => lsp::CompletionItemKind::STRUCT,
        ide::CompletionKind::TypeVariable => lsp::CompletionItemKind::TYPE_PARAMETER,
        ide::CompletionKind::Class => lsp::CompletionItemKind::INTERFACE,
        ide::CompletionKind::Keyword => lsp::CompletionItemKind::KEYWORD,
        ide::CompletionKind::Operator => lsp::CompletionItemKind::OPERATOR,
        ide::CompletionKind::Snippet => lsp::CompletionItemKind::SNIPPET,
        ide::CompletionKind::Command => lsp::CompletionItemKind::EVENT,
    }
}

/// The parameters of a function, and the one that is being written.
pub fn signature(help: ide::SignatureHelp) -> lsp::SignatureHelp {
    // Clients count these in UTF-16, whatever else was agreed upon.
    let units = |end: TextSize| help.label[..usize::from(end)].encode_utf16().count() as u32;
    let parameters = help.parameters.iter().map(|range| lsp::ParameterInformation {
        label: lsp::ParameterLabel::LabelOffsets([units(range.start()), units(range.end())]),
        documentation: None,
    });
    let doc = help.doc.as_ref().map(ide::doc_markdown);
    lsp::SignatureHelp {
        signatures: vec![lsp::SignatureInformation {
            parameters: Some(parameters.collect()),
            documentation: doc.map(|doc| lsp::Documentation::MarkupContent(markdown(doc))),
            active_parameter: Some(help.active),
            label: help.label,
        }],
        active_signature: Some(0),
        active_parameter: Some(help.active),
    }
}

/// Something that could be done; `problems` are those that the client shows there.
pub fn action(
    snapshot: &Snapshot,
    action: ide::Action,
    problems: &[lsp::Diagnostic],
) -> lsp::CodeActionOrCommand {
    let mended = action.fixes.map(|range| super::widened(&snapshot.lines, range));
    let mended: Vec<_> =
        problems.iter().filter(|problem| Some(problem.range) == mended).cloned().collect();
    lsp::CodeActionOrCommand::CodeAction(lsp::CodeAction {
        title: action.title,
        kind: Some(match action.kind {
            ide::ActionKind::QuickFix => lsp::CodeActionKind::QUICKFIX,
            ide::ActionKind::Refactor => lsp::CodeActionKind::REFACTOR_REWRITE,
            ide::ActionKind::Extract => lsp::CodeActionKind::REFACTOR_EXTRACT,
            ide::ActionKind::Inline => lsp::CodeActionKind::REFACTOR_INLINE,
        }),
        diagnostics: (!mended.is_empty()).then_some(mended),
        edit: Some(workspace_edit(snapshot, &action.edits)),
        is_preferred: action.preferred.then_some(true),
        ..lsp::CodeAction::default()
    })
}

/// Returns true if a client has asked for actions of this kind.
pub fn is_wanted(
    action: &lsp::CodeActionOrCommand,
    only: Option<&Vec<lsp::CodeActionKind>>,
) -> bool {
    let lsp::CodeActionOrCommand::CodeAction(action) = action else { return true };
    let kind = action.kind.as_ref().map_or("", lsp::CodeActionKind::as_str);
    // `refactor` asks for `refactor.rewrite`, too.
    only.is_none_or(|only| only.iter().any(|asked| kind.starts_with(asked.as_str())))
}

/// Something to show in between. A datatype in a type leads to its definition, and what a line launches to
/// its compiled form.
pub fn inlay_hint(snapshot: &Snapshot, hint: ide::InlayHint) -> lsp::InlayHint {
    let lines = &snapshot.lines;
    let parallel = match hint.kind {
        ide::HintKind::Type => false,
        ide::HintKind::Parallelism => true,
    };
    let range = TextRange::empty(hint.at);
    let position = lines.position(hint.at);
    let edit =
        hint.edit.map(|text| lsp::TextEdit { range: lines.lsp_range(range), new_text: text });
    let tooltip = hint.tooltip.map(|text| lsp::InlayHintTooltip::MarkupContent(markdown(text)));
    let part = |value: &str| lsp::InlayHintLabelPart {
        value: value.to_owned(),
        ..lsp::InlayHintLabelPart::default()
    };
    let mut parts = Vec::new();
    let mut rest = 0;
    for (range, target) in hint.links {
        let place = super::target(snapshot, &target);
        parts.push(part(&hint.label[rest..range.start().into()]));
        parts.push(lsp::InlayHintLabelPart {
            location: place.map(|(uri, _, range)| lsp::Location { uri, range }),
            ..part(&hint.label[range])
        });
        rest = range.end().into();
    }
    parts.push(part(&hint.label[rest..]));
    if let (true, [only]) = (parallel && snapshot.options.preview, &mut parts[..]) {
        let argument = json!({
            "textDocument": { "uri": snapshot.uri }, "position": position, "stage": "fused",
        });
        only.command = Some(lsp::Command {
            title: "Show IR".to_owned(),
            command: "nesl.showIr".to_owned(),
            arguments: Some(vec![argument]),
        });
    }
    parts.retain(|part| !part.value.is_empty());
    let plain = parts.iter().all(|part| part.location.is_none() && part.command.is_none());
    lsp::InlayHint {
        position,
        label: match plain {
            true => lsp::InlayHintLabel::String(hint.label),
            false => lsp::InlayHintLabel::LabelParts(parts),
        },
        kind: (!parallel).then_some(lsp::InlayHintKind::TYPE),
        text_edits: edit.map(|edit| vec![edit]),
        tooltip,
        padding_left: Some(parallel),
        padding_right: None,
        data: None,
    }
}

/// Edits of one document.
pub fn text_edits(lines: &Lines, edits: &[ide::Edit]) -> Vec<lsp::TextEdit> {
    edits.iter().map(|edit| text_edit(lines, edit)).collect()
}

/// The data of a lens, until a client resolves it.
#[derive(Clone, Copy, Deserialize, Serialize)]
pub struct Unresolved {
    /// The number of the file.
    pub file: u32,
    /// The item of the form.
    pub item: u64,
    /// The number of the lens among those of the form.
    pub nth: usize,
}

/// The lenses above a form in a document that has very many: each is resolved when it is seen.
pub fn unresolved(snapshot: &Snapshot, lens: &ide::Lens) -> Vec<lsp::CodeLens> {
    let range = snapshot.lines.lsp_range(lens.range);
    let data = |nth| Unresolved { file: snapshot.file.0, item: lens.item.0, nth };
    let count = lens_count(snapshot, lens);
    let one =
        |nth| lsp::CodeLens { range, command: None, data: serde_json::to_value(data(nth)).ok() };
    (0..count).map(one).collect()
}

/// The number of lenses above a form.
fn lens_count(snapshot: &Snapshot, lens: &ide::Lens) -> usize {
    let shown = snapshot.options.lenses;
    let runs = match &lens.kind {
        ide::LensKind::Function { examples, .. } => {
            snapshot.options.ask_arguments || !examples.is_empty()
        }
        ide::LensKind::Expression | ide::LensKind::Variable => true,
    };
    let (ir, cost) = match is_plain(lens) {
        true => (false, false),
        false => (snapshot.options.preview && shown.ir && lens.parallel, shown.cost),
    };
    [shown.run && runs, ir, cost].into_iter().filter(|there| *there).count()
}

/// Returns true for an expression or variable of which everything is seen from its text.
fn is_plain(lens: &ide::Lens) -> bool {
    lens.trivial && !matches!(lens.kind, ide::LensKind::Function { .. })
}

/// The titles of lenses that tell what a form becomes: each with what it was found out from. They are told again
/// for as long as that is the same, and while the form is broken.
#[derive(Default)]
pub struct Titles(Mutex<FxHashMap<ItemId, (Source, String)>>);

/// All that a title depends on: the texts of the form and of those that it refers to, and the bits of a number.
type Source = (u64, u32);

/// A lens that was kept from an earlier text: it is one of the form that is at its place now.
pub fn moved(snapshot: &Snapshot, lens: ide::Lens) -> ide::Lens {
    let at = lens.range.start();
    let item = snapshot.db.item_at(snapshot.file, at).map_or(lens.item, |(item, _)| item);
    let end = (at + lens.range.len()).min(TextSize::of(&*snapshot.lines.text));
    let whole = snapshot.db.whole(item).range;
    ide::Lens { range: TextRange::new(at, end), item, whole, ..lens }
}

/// The lenses above a form: run it or, while it is `running` for so many seconds, stop it; what it becomes;
/// what it costs.
pub fn lenses(
    snapshot: &Snapshot,
    lens: &ide::Lens,
    running: Option<(ItemId, u64)>,
    costs: &Costs,
) -> Vec<lsp::CodeLens> {
    let range = snapshot.lines.lsp_range(lens.range);
    let document = json!({ "uri": snapshot.uri });
    let whole = snapshot.lines.lsp_range(lens.whole);
    let ready = |title: &str, command: &str, argument: Value| lsp::CodeLens {
        range,
        command: Some(lsp::Command {
            title: title.to_owned(),
            command: command.to_owned(),
            arguments: Some(vec![argument]),
        }),
        data: None,
    };
    let shown = snapshot.options.lenses;
    let mut all = Vec::new();
    match (&lens.kind, running) {
        (_, Some((item, seconds))) if shown.run && item == lens.item => {
            let title = format!("■ Stop · {seconds} s");
            all.push(ready(&title, "nesl.stop", json!({ "textDocument": document })));
        }
        (ide::LensKind::Expression | ide::LensKind::Variable, _) if shown.run => {
            let argument = json!({ "textDocument": document, "range": whole });
            all.push(ready("▶ Run", "nesl.run", argument));
        }
        (ide::LensKind::Function { name, params, examples }, _) if shown.run => {
            let end = lsp::Position::new(whole.end.line, u32::MAX);
            let position = snapshot.lines.position(snapshot.lines.offset(end));
            if snapshot.options.ask_arguments {
                let argument = json!({
                    "textDocument": document, "position": position, "name": name, "type": "",
                    "parameters": format!("({})", params.join(", ")),
                });
                all.push(ready("▶ Run …", "nesl.runFunction", argument));
            } else if let Some(example) = examples.first() {
                let argument = json!({
                    "textDocument": document, "position": position, "expression": example,
                });
                all.push(ready("▶ Run its example", "nesl.run", argument));
            }
        }
        _ => {}
    }
    if is_plain(lens) {
        return all;
    }
    if snapshot.options.preview && shown.ir && lens.parallel {
        // What it becomes takes a while to know: only when somebody looks at it.
        let data = Unresolved { file: snapshot.file.0, item: lens.item.0, nth: all.len() };
        all.push(lsp::CodeLens { range, command: None, data: serde_json::to_value(data).ok() });
    }
    if shown.cost {
        let argument = json!({ "textDocument": document, "position": range.start });
        let known = costs.of(snapshot, lens.item);
        let title = known.map_or_else(|| "Cost".to_owned(), |known| shorten(&known, COST_CHARS));
        all.push(ready(&title, "nesl.cost", argument));
    }
    all
}

/// A lens with its command: one that is told by the form, or the one that tells what the form becomes.
pub fn resolved(
    snapshot: &Snapshot,
    given: lsp::CodeLens,
    (item, nth): (ItemId, usize),
    titles: &Titles,
    costs: &Costs,
) -> lsp::CodeLens {
    let at = snapshot.lines.offset(given.range.start);
    let own = ide::lens_at(&snapshot.db, snapshot.file, at);
    let ready = own.and_then(|own| lenses(snapshot, &own, None, costs).into_iter().nth(nth));
    match ready {
        Some(ready) if ready.command.is_some() => lsp::CodeLens { range: given.range, ..ready },
        _ => compiled(snapshot, given, item, titles),
    }
}

/// The lens that tells what a form becomes. While the form is broken it tells what it was.
fn compiled(
    snapshot: &Snapshot,
    mut lens: lsp::CodeLens,
    item: ItemId,
    titles: &Titles,
) -> lsp::CodeLens {
    let precision = snapshot.options.precision.core();
    let source = (explain::fingerprint(&snapshot.db, item), snapshot.options.precision.bits());
    let lock = || titles.0.lock().unwrap_or_else(PoisonError::into_inner);
    let known = lock().get(&item).cloned();
    let title = match known {
        Some((of, title)) if of == source => title,
        known => match explain::launches(&snapshot.db, item, precision) {
            Some(launches) => {
                let title = format!("IR: {launches}");
                lock().insert(item, (source, title.clone()));
                title
            }
            None => known.map_or_else(|| "IR".to_owned(), |(_, title)| title),
        },
    };
    let argument = json!({
        "textDocument": { "uri": snapshot.uri }, "position": lens.range.start, "stage": "fused",
    });
    lens.command = Some(lsp::Command {
        title,
        command: "nesl.showIr".to_owned(),
        arguments: Some(vec![argument]),
    });
    lens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snippets_for_those_who_know_none() {
        assert_eq!(plain("f(${1:x}, $2)$0"), "f(x, )");
        assert_eq!(plain("{${1:x} : x in xs\\}"), "{x : x in xs}");
    }
}
