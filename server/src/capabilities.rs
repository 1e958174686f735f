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
    /// True if the client shows a part of a completion's label apart.
    pub label_details: bool,
    /// True if the client shows what is unnecessary in grey.
    pub tags: bool,
    /// True if the client can be told the files that the server wants to hear of.
    pub watch: bool,
    /// True if the client colours what has no semantic token by a grammar of its own.
    pub grammar: bool,
    /// True if the client shows the progress of what takes long.
    pub progress: bool,
    /// True if the client can be asked to request diagnostics again.
    pub refresh_diagnostics: bool,
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
    let details = completion.as_ref().and_then(|item| item.label_details_support);
    let published = text.publish_diagnostics;
    let tags = published.and_then(|published| published.tag_support);
    let tags = tags.is_some_and(|tags| tags.value_set.contains(&DiagnosticTag::UNNECESSARY));
    let watch = workspace.did_change_watched_files.and_then(|files| files.dynamic_registration);
    let progress = client.window.as_ref().and_then(|window| window.work_done_progress);
    let diagnostics = workspace.diagnostics.and_then(|all| all.refresh_support);
    let hints = workspace.inlay_hint.and_then(|hints| hints.refresh_support);
    let lenses = workspace.code_lens.and_then(|lenses| lenses.refresh_support);
    let grammar = text.semantic_tokens.as_ref().and_then(|tokens| tokens.augments_syntax_tokens);
    ClientCan {
        grammar: grammar.unwrap_or(false),
        links: text.definition.and_then(|d| d.link_support).unwrap_or(false),
        snippets: completion.and_then(|item| item.snippet_support).unwrap_or(false),
        label_details: details.unwrap_or(false),
        tags,
        watch: watch.unwrap_or(false),
        progress: progress.unwrap_or(false),
        refresh_diagnostics: diagnostics.unwrap_or(false),
        refresh_hints: hints.unwrap_or(false),
        refresh_lenses: lenses.unwrap_or(false),
    }
}

/// The files of programs, for those who say which files they are told of.
pub const PROGRAMS: &str = "**/*.nesl";

/// Programs and folders that may hold programs.
fn programs() -> Vec<FileOperationFilter> {
    let pattern = |glob: &str, matches| FileOperationFilter {
        scheme: Some("file".to_owned()),
        pattern: FileOperationPattern {
            glob: glob.to_owned(),
            matches: Some(matches),
            options: None,
        },
    };
    vec![
        pattern(PROGRAMS, FileOperationPatternKind::File),
        pattern("**", FileOperationPatternKind::Folder),
    ]
}

/// The registration for files that change on the disk.
pub fn watched() -> Registration {
    let watchers = [PROGRAMS].map(|glob| FileSystemWatcher {
        glob_pattern: GlobPattern::String(glob.to_owned()),
        kind: None,
    });
    let options = DidChangeWatchedFilesRegistrationOptions { watchers: watchers.to_vec() };
    Registration {
        id: "nesl.programs".to_owned(),
        method: "workspace/didChangeWatchedFiles".to_owned(),
        register_options: serde_json::to_value(options).ok(),
    }
}

/// The capabilities of the server; the stages that it can show are among the experimental ones. `pull` says
/// that the client asks for diagnostics.
pub fn server(
    encoding: PositionEncodingKind,
    stages: Vec<StageShown>,
    pull: bool,
) -> ServerCapabilities {
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
        declaration_provider: Some(DeclarationCapability::Simple(true)),
        implementation_provider: Some(ImplementationProviderCapability::Simple(true)),
        type_definition_provider: Some(TypeDefinitionProviderCapability::Simple(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        completion_provider: Some(CompletionOptions {
            resolve_provider: Some(true),
            trigger_characters: Some([":", "'", "(", "\"", "/"].map(str::to_owned).to_vec()),
            completion_item: Some(CompletionOptionsCompletionItem {
                label_details_support: Some(true),
            }),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some(vec!["(".to_owned(), ",".to_owned()]),
            ..SignatureHelpOptions::default()
        }),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![
                CodeActionKind::QUICKFIX,
                CodeActionKind::REFACTOR,
                CodeActionKind::REFACTOR_EXTRACT,
                CodeActionKind::REFACTOR_INLINE,
                CodeActionKind::REFACTOR_REWRITE,
            ]),
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
            more_trigger_character: Some(vec!["\n".to_owned(), " ".to_owned()]),
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
        diagnostic_provider: pull.then(|| {
            DiagnosticServerCapabilities::Options(DiagnosticOptions {
                identifier: Some("nesl".to_owned()),
                inter_file_dependencies: true,
                workspace_diagnostics: false,
                work_done_progress_options: WorkDoneProgressOptions::default(),
            })
        }),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: Some(WorkspaceFileOperationsServerCapabilities {
                will_rename: Some(FileOperationRegistrationOptions { filters: programs() }),
                ..WorkspaceFileOperationsServerCapabilities::default()
            }),
        }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: COMMANDS.map(str::to_owned).to_vec(),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        }),
        experimental: Some(serde_json::json!({ "stages": stages })),
        ..ServerCapabilities::default()
    }
}
