//! The capabilities of the server and of its clients.

use crate::convert::colors;
use crate::lines::Encoding;
use crate::protocol::StageShown;
use tower_lsp_server::ls_types::*;

/// The commands that clients may execute: runs, and measurements of costs.
pub const COMMANDS: [&str; 3] = ["nesl.run", "nesl.stop", "nesl.cost"];

/// The unit of columns: bytes, if the client supports them.
pub fn encoding(client: &ClientCapabilities) -> (Encoding, PositionEncodingKind) {
    let general = client.general.as_ref();
    let offered = general.and_then(|general| general.position_encodings.clone());
    let offered = offered.unwrap_or_default();
    if offered.contains(&PositionEncodingKind::UTF8) {
        (Encoding::Utf8, PositionEncodingKind::UTF8)
    } else if !offered.contains(&PositionEncodingKind::UTF16)
        && offered.contains(&PositionEncodingKind::UTF32)
    {
        (Encoding::Utf32, PositionEncodingKind::UTF32)
    } else {
        (Encoding::Utf16, PositionEncodingKind::UTF16)
    }
}

/// The optional capabilities of a client.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClientCan {
    /// True if the client supports links to definitions, not only locations.
    pub links: bool,
    /// True if the client supports snippets.
    pub snippets: bool,
    /// True if the client can be asked to request inlay hints again.
    pub refresh_hints: bool,
    /// True if the client can be asked to request lenses again.
    pub refresh_lenses: bool,
}

/// The optional capabilities that a client announces.
pub fn client(client: &ClientCapabilities) -> ClientCan {
    let text = client.text_document.clone().unwrap_or_default();
    let workspace = client.workspace.clone().unwrap_or_default();
    let completion = text.completion.and_then(|c| c.completion_item);
    let hints = workspace.inlay_hint.and_then(|hints| hints.refresh_support);
    let lenses = workspace.code_lens.and_then(|lenses| lenses.refresh_support);
    ClientCan {
        links: text.definition.and_then(|d| d.link_support).unwrap_or(false),
        snippets: completion.and_then(|item| item.snippet_support).unwrap_or(false),
        refresh_hints: hints.unwrap_or(false),
        refresh_lenses: lenses.unwrap_or(false),
    }
}

/// The capabilities of the server; the stages that it can show are among the experimental ones.
pub fn server(encoding: PositionEncodingKind, stages: Vec<StageShown>) -> ServerCapabilities {
    let cells = NotebookSelector::ByNotebook {
        notebook: Notebook::String("*".to_owned()),
        cells: Some(vec![NotebookCellSelector { language: "nesl".to_owned() }]),
    };
    ServerCapabilities {
        position_encoding: Some(encoding),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            ..TextDocumentSyncOptions::default()
        })),
        notebook_document_sync: Some(OneOf::Left(NotebookDocumentSyncOptions {
            notebook_selector: vec![cells],
            save: None,
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        type_definition_provider: Some(TypeDefinitionProviderCapability::Simple(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        completion_provider: Some(CompletionOptions {
            resolve_provider: Some(true),
            trigger_characters: Some(vec![":".to_owned(), "'".to_owned(), "(".to_owned()]),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some(vec!["(".to_owned(), ",".to_owned()]),
            ..SignatureHelpOptions::default()
        }),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, CodeActionKind::REFACTOR]),
            ..CodeActionOptions::default()
        })),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(true) }),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        selection_range_provider: Some(SelectionRangeProviderCapability::Simple(true)),
        call_hierarchy_provider: Some(CallHierarchyServerCapability::Simple(true)),
        document_link_provider: Some(DocumentLinkOptions {
            resolve_provider: Some(false),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        }),
        document_formatting_provider: Some(OneOf::Left(true)),
        document_range_formatting_provider: Some(OneOf::Left(true)),
        document_on_type_formatting_provider: Some(DocumentOnTypeFormattingOptions {
            first_trigger_character: ";".to_owned(),
            more_trigger_character: Some(vec!["\n".to_owned()]),
        }),
        semantic_tokens_provider: Some(SemanticTokensServerCapabilities::SemanticTokensOptions(
            SemanticTokensOptions {
                legend: colors::legend(),
                range: Some(true),
                full: Some(SemanticTokensFullOptions::Delta { delta: Some(true) }),
                ..SemanticTokensOptions::default()
            },
        )),
        inlay_hint_provider: Some(OneOf::Left(true)),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: COMMANDS.map(str::to_owned).to_vec(),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        }),
        experimental: Some(serde_json::json!({ "stages": stages })),
        ..ServerCapabilities::default()
    }
}
