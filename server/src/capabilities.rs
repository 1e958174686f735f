//! What the server can do, as it tells its clients.

use crate::lines::Encoding;
use tower_lsp_server::ls_types::*;

/// Commands that clients may have executed: runs, and what they cost.
pub const COMMANDS: [&str; 3] = ["nesl.run", "nesl.stop", "nesl.cost"];

/// How columns are counted: in bytes, if the client offers it.
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

/// Everything.
pub fn server(encoding: PositionEncodingKind) -> ServerCapabilities {
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
        inlay_hint_provider: Some(OneOf::Left(true)),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: COMMANDS.map(str::to_owned).to_vec(),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        }),
        ..ServerCapabilities::default()
    }
}
