//! The compiler's plain data in the terms of LSP. No other module knows both.
//!
//! | module | what it converts |
//! |---|---|
//! | here | problems, places, edits |
//! | [`structure`] | outlines, folds, selections, calls, links |
//! | [`typing`] | completions, signatures, actions, hints, lenses |
//! | [`colors`] | semantic tokens, whole and as changes |

pub mod colors;
pub mod structure;
pub mod typing;

use crate::library;
use crate::lines::Lines;
use crate::world::Snapshot;
use nesl_core::base::{self, TextRange};
use nesl_core::db::FileRange;
use nesl_core::ide;
use std::collections::HashMap;
use tower_lsp_server::ls_types as lsp;

/// Converts a diagnostic of the compiler.
pub fn diagnostic(
    snapshot: &Snapshot,
    diagnostic: &base::Diagnostic<FileRange>,
) -> lsp::Diagnostic {
    let lines = snapshot.lines_of(diagnostic.primary.at.file);
    let mut message = diagnostic.message.clone();
    if !diagnostic.primary.text.is_empty() {
        message = format!("{message}: {}", diagnostic.primary.text);
    }
    for note in &diagnostic.notes {
        message = format!("{message}\n{note}");
    }
    for hint in &diagnostic.hints {
        message = format!("{message}\nhelp: {}", hint.text);
    }
    let related = diagnostic.labels.iter().filter_map(|label| {
        Some(lsp::DiagnosticRelatedInformation {
            location: location(snapshot, label.at)?,
            message: label.text.clone(),
        })
    });
    let related: Vec<_> = related.collect();
    lsp::Diagnostic {
        range: widened(&lines, ide::shown_at(diagnostic)),
        severity: Some(match diagnostic.severity {
            base::Severity::Error => lsp::DiagnosticSeverity::ERROR,
            base::Severity::Warning => lsp::DiagnosticSeverity::WARNING,
        }),
        code: Some(lsp::NumberOrString::String(kind(diagnostic.kind).to_owned())),
        source: Some("nesl".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..lsp::Diagnostic::default()
    }
}

/// A variable that is not used, to be shown in grey.
pub fn unused(snapshot: &Snapshot, unused: &ide::Unused) -> lsp::Diagnostic {
    lsp::Diagnostic {
        range: snapshot.lines.lsp_range(unused.range),
        severity: Some(lsp::DiagnosticSeverity::HINT),
        code: Some(lsp::NumberOrString::String("unused".to_owned())),
        source: Some("nesl".to_owned()),
        message: format!("`{}` is not used", unused.name),
        tags: Some(vec![lsp::DiagnosticTag::UNNECESSARY]),
        ..lsp::Diagnostic::default()
    }
}

/// The sort of a problem, in a word.
fn kind(kind: base::DiagnosticKind) -> &'static str {
    match kind {
        base::DiagnosticKind::Syntax => "syntax",
        base::DiagnosticKind::Name => "name",
        base::DiagnosticKind::Type => "type",
        base::DiagnosticKind::Runtime => "runtime",
    }
}

/// An empty range, where something is missing, is widened to the character before it: a client
/// would underline nothing.
fn widened(lines: &Lines, range: TextRange) -> lsp::Range {
    let mut range = lines.lsp_range(range);
    if range.start == range.end {
        range.start.character = range.start.character.saturating_sub(1);
        if range.start == range.end {
            range.end.character += 1;
        }
    }
    range
}

/// A place in a file.
pub fn location(snapshot: &Snapshot, at: FileRange) -> Option<lsp::Location> {
    if let Some(uri) = snapshot.uri_of(at.file) {
        let lines = snapshot.lines_of(at.file);
        return Some(lsp::Location { uri, range: lines.lsp_range(at.range) });
    }
    let uri = library::uri(&snapshot.db, ide::Text::File(at.file), snapshot.options.library)?;
    let lines = snapshot.lines_of(at.file);
    Some(lsp::Location { uri, range: lines.lsp_range(at.range) })
}

/// The place of a definition: its text, all of it, and its name.
pub fn target(
    snapshot: &Snapshot,
    target: &ide::Target,
) -> Option<(lsp::Uri, lsp::Range, lsp::Range)> {
    let (uri, lines) = match target.text {
        ide::Text::File(file) => {
            let own = snapshot.uri_of(file);
            let library = || library::uri(&snapshot.db, target.text, snapshot.options.library);
            (own.or_else(library)?, snapshot.lines_of(file))
        }
        ide::Text::Primitives => {
            let uri = library::uri(&snapshot.db, target.text, snapshot.options.library)?;
            (uri, snapshot.lines_of_text(ide::primitives()).into())
        }
    };
    Some((uri, lines.lsp_range(target.range), lines.lsp_range(target.focus)))
}

/// A link from a place to a definition.
pub fn link(
    snapshot: &Snapshot,
    (origin, to): (TextRange, ide::Target),
) -> Option<lsp::GotoDefinitionResponse> {
    let (uri, range, focus) = target(snapshot, &to)?;
    if !snapshot.client.links {
        let location = lsp::Location { uri, range: focus };
        return Some(lsp::GotoDefinitionResponse::Scalar(location));
    }
    Some(lsp::GotoDefinitionResponse::Link(vec![lsp::LocationLink {
        origin_selection_range: Some(snapshot.lines.lsp_range(origin)),
        target_uri: uri,
        target_range: range,
        target_selection_range: focus,
    }]))
}

/// Edits of one text, or of several.
pub fn workspace_edit(snapshot: &Snapshot, edits: &[ide::Edit]) -> lsp::WorkspaceEdit {
    let mut changes: HashMap<lsp::Uri, Vec<lsp::TextEdit>> = HashMap::new();
    for edit in edits {
        if let Some(uri) = snapshot.uri_of(edit.file) {
            let lines = snapshot.lines_of(edit.file);
            changes.entry(uri).or_default().push(text_edit(&lines, edit));
        }
    }
    lsp::WorkspaceEdit { changes: Some(changes), ..lsp::WorkspaceEdit::default() }
}

/// Converts one edit.
pub fn text_edit(lines: &Lines, edit: &ide::Edit) -> lsp::TextEdit {
    lsp::TextEdit { range: lines.lsp_range(edit.range), new_text: edit.text.clone() }
}

/// Text to be shown.
pub fn markdown(value: String) -> lsp::MarkupContent {
    lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value }
}

/// The role of a name: it is written or read.
pub fn highlight(lines: &Lines, range: TextRange, role: ide::Role) -> lsp::DocumentHighlight {
    let kind = match role {
        ide::Role::Definition => lsp::DocumentHighlightKind::WRITE,
        ide::Role::Use | ide::Role::Call | ide::Role::Type => lsp::DocumentHighlightKind::READ,
    };
    lsp::DocumentHighlight { range: lines.lsp_range(range), kind: Some(kind) }
}
