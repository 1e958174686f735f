//! From requests to answers: a method each, as short as can be.
//!
//! Every method takes what it needs from the world before it awaits anything; reading is done in
//! threads of their own ([`mod@crate::reading`]).

mod large_answers;

use crate::convert::colors::{self, Sent};
use crate::convert::{structure, typing};
use crate::cost::{self, Costs};
use crate::diagnostics::{self, Looks, publish};
use crate::kept::Kept;
use crate::large::Large;
use crate::layouts::Layouts;
use crate::options::{Options, RuntimeChoice};
use crate::preview::{self, Views};
use crate::protocol::*;
use crate::queue::Queue;
use crate::reading::{answer, answer_yet};
use crate::remembered::Facts;
use crate::run::Runs;
use crate::workspace::Search;
use crate::world::{LARGE_BYTES, Snapshot, World, path_of};
use crate::written::Written;
use crate::{capabilities, convert, library, parent, renames, showing};
use nesl_core::base::TextRange;
use nesl_core::db::FileId;
use nesl_core::ide;
use nesl_core::pipeline::Stages;
use nesl_runtime::runtime;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp_server::ls_types::*;
use tower_lsp_server::{Client, LanguageServer};

/// The time that a client waits for programs in its folders; the rest is found meanwhile.
const SEARCH_TIME: Duration = Duration::from_millis(150);

/// The language server: the LSP requests of one client.
pub struct Backend {
    client: Client,
    world: Arc<Mutex<World>>,
    queue: Arc<Queue>,
    runs: Arc<Runs>,
    views: Arc<Views>,
    colors: Arc<Sent>,
    costs: Arc<Costs>,
    layouts: Arc<Layouts>,
    facts: Arc<Facts>,
    looks: Arc<Looks>,
    large: Arc<Large>,
    /// The lenses and hints last shown.
    lenses: Arc<Kept<Arc<ide::Lens>>>,
    hints: Arc<Kept<InlayHint>>,
    titles: Arc<typing::Titles>,
    written_lenses: Arc<Written<ide::Lens>>,
    written_outline: Arc<Written<ide::Entry>>,
    executable: PathBuf,
    /// The runtimes that `executable` can use, the default one first.
    runtimes: Vec<RuntimeChoice>,
}

impl Backend {
    /// A server for a client; `executable` is the program that runs programs on `runtimes`.
    pub fn new(
        client: Client,
        executable: PathBuf,
        stages: Stages,
        runtimes: Vec<RuntimeChoice>,
        large: Arc<Large>,
    ) -> Backend {
        let world = Arc::new(Mutex::new(World::default()));
        let costs = Arc::<Costs>::default();
        let queue = Arc::<Queue>::default();
        let runs = Runs::new(
            client.clone(),
            world.clone(),
            executable.clone(),
            costs.clone(),
            queue.clone(),
        );
        Backend {
            client,
            world,
            queue,
            runs: Arc::new(runs),
            views: Arc::new(Views::new(stages)),
            colors: Arc::default(),
            costs,
            layouts: Arc::default(),
            facts: Arc::default(),
            looks: Arc::default(),
            large,
            lenses: Arc::default(),
            hints: Arc::default(),
            titles: Arc::default(),
            written_lenses: Arc::default(),
            written_outline: Arc::default(),
            executable,
            runtimes,
        }
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn snapshot(&self, uri: &Uri) -> Option<Snapshot> {
        self.world().snapshot(uri)
    }

    /// The snapshot of a document, and a position in it.
    fn at(&self, place: &TextDocumentPositionParams) -> (Option<Snapshot>, Position) {
        (self.snapshot(&place.text_document.uri), place.position)
    }

    /// Updates everything that depends on a document that has changed.
    async fn changed(&self, uri: &Uri) {
        let affected = self.world().affected_by(uri);
        self.queue.add(affected.clone());
        for uri in &affected {
            self.runs.changed(uri).await;
        }
    }

    /// Adds the programs in the open folders to those that are known.
    fn search(&self, folders: Vec<PathBuf>) {
        let mut search = Search::new(folders);
        // What is found at once is known before the first document is opened.
        let found = search.go_on(SEARCH_TIME);
        self.world().add_programs(found);
        if search.is_over() {
            return;
        }
        let (world, queue) = (self.world.clone(), self.queue.clone());
        tokio::task::spawn_blocking(move || {
            let mut found = Vec::new();
            while !search.is_over() {
                found.extend(search.go_on(SEARCH_TIME));
            }
            let mut world = world.lock().unwrap_or_else(PoisonError::into_inner);
            world.add_programs(found);
            queue.add(world.open_documents());
        });
    }

    async fn tell_status(&self) {
        let options = self.world().options.clone();
        let params = StatusParams {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            runtime: options.runtime.map_or_else(String::new, |it| it.name.to_owned()),
            device: options
                .runtime
                .map_or_else(String::new, |it| (it.device)(&runtime::Options::default())),
            precision: options.precision.bits(),
        };
        self.client.send_notification::<StatusNotification>(params).await;
    }

    /// Answers the request `nesl/stages`.
    pub async fn stages(&self, _: Value) -> Result<Vec<StageShown>> {
        Ok(self.views.stages())
    }

    /// Answers the request `nesl/ir`.
    pub async fn ir(&self, params: IrParams) -> Result<Option<IrResult>> {
        let snapshot = self.snapshot(&params.text_document.uri);
        let views = self.views.clone();
        answer(snapshot, move |snapshot| Some(views.view(snapshot, &params))).await
    }

    /// Answers the request `nesl/segments`.
    pub async fn segments(&self, params: AtParams) -> Result<Option<SegmentsResult>> {
        let snapshot = self.snapshot(&params.text_document.uri);
        answer(snapshot, move |snapshot| Some(preview::segments(snapshot, params.position))).await
    }

    /// Answers the request `nesl/run`.
    pub async fn run(&self, params: RunParams) -> Result<RunResult> {
        let started = self.runs.start(params).await;
        started.map(|(run, version)| RunResult { run, version }).map_err(Error::invalid_params)
    }

    /// Answers the request `nesl/stop`.
    pub async fn stop(&self, params: StopParams) -> Result<()> {
        self.runs.stop(&params.text_document.uri).await;
        Ok(())
    }

    /// Answers the request `nesl/cost`.
    pub async fn cost(&self, params: AtParams) -> Result<Option<CostResult>> {
        let snapshot = self.snapshot(&params.text_document.uri);
        let asked =
            answer(snapshot, move |snapshot| cost::asked(snapshot, params.position)).await?;
        let Some(asked) = asked else { return Ok(None) };
        let form = asked.form.clone();
        let cost = asked.measure(&self.executable).await;
        self.costs.keep(form, &cost);
        if self.world().client.refresh_lenses {
            // The lens shows it from now on.
            let client = self.client.clone();
            tokio::spawn(async move { client.code_lens_refresh().await });
        }
        Ok(Some(cost))
    }

    /// Answers the request `nesl/hover`: the type of the selected expression.
    pub async fn hover_of_selection(&self, params: SelectionParams) -> Result<Option<Hover>> {
        let snapshot = self.snapshot(&params.text_document.uri);
        let costs = self.costs.clone();
        answer(snapshot, move |s| showing::hover(s, s.lines.range(params.range), &costs)).await
    }

    /// Answers the request `nesl/library`.
    pub async fn library(&self, params: LibraryParams) -> Result<Option<LibraryResult>> {
        Ok(library::text_at(&params.uri).map(|text| LibraryResult { text }))
    }
}

impl LanguageServer for Backend {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let (encoding, kind) = capabilities::encoding(&params.capabilities);
        if let Some(process) = params.process_id {
            tokio::spawn(async move {
                parent::ended(process).await;
                std::process::exit(1);
            });
        }
        let mut world = self.world();
        world.set_encoding(encoding);
        world.client = capabilities::client(&params.capabilities);
        world.options = Arc::new(Options::read(params.initialization_options, &self.runtimes));
        #[allow(deprecated, reason = "older clients have one folder")]
        let root = params.root_uri.and_then(|uri| path_of(&uri));
        let folders = params.workspace_folders.map(|all| folders(&all));
        let folders = folders.unwrap_or_else(|| root.into_iter().collect());
        world.change_folders(folders.clone(), &[]);
        let pull = world.options.pull;
        drop(world);
        self.search(folders);
        Ok(InitializeResult {
            capabilities: capabilities::server(kind, self.views.stages(), pull),
            server_info: Some(ServerInfo {
                name: "nesl".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
            ..InitializeResult::default()
        })
    }

    async fn initialized(&self, _: InitializedParams) {
        tokio::spawn(publish(
            self.client.clone(),
            self.world.clone(),
            self.queue.clone(),
            self.runs.clone(),
            self.looks.clone(),
        ));
        if self.world().client.watch {
            let client = self.client.clone();
            tokio::spawn(
                async move { client.register_capability(vec![capabilities::watched()]).await },
            );
        }
        self.tell_status().await;
    }

    async fn shutdown(&self) -> Result<()> {
        self.runs.stop_all();
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        let uri = document.uri.clone();
        let is_large = document.text.len() > LARGE_BYTES;
        self.world().open(document.uri, document.version, document.text);
        self.changed(&uri).await;
        if is_large {
            let limit = LARGE_BYTES >> 20;
            let text = format!(
                "This file has more than {limit} MB. It is checked, and names are explained and found; it is not \
                 formatted, and has no outline, no lenses, no folds and only the colours of its grammar."
            );
            self.client.show_message(MessageType::INFO, text).await;
        }
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        let VersionedTextDocumentIdentifier { uri, version } = params.text_document;
        self.world().change(&uri, version, &params.content_changes);
        self.changed(&uri).await;
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        let uri = params.text_document.uri;
        let affected = self.world().affected_by(&uri);
        self.world().close(&uri);
        self.runs.closed(&uri);
        self.views.closed(&uri);
        self.colors.closed(&uri);
        self.layouts.closed(&uri);
        self.facts.closed(&uri);
        self.looks.closed(&uri);
        self.lenses.closed(&uri);
        self.hints.closed(&uri);
        self.written_lenses.closed(&uri);
        self.written_outline.closed(&uri);
        self.queue.add(affected);
    }

    async fn notebook_did_open(&self, params: DidOpenNotebookDocumentParams) {
        let cells: Vec<Uri> =
            params.cell_text_documents.iter().map(|cell| cell.uri.clone()).collect();
        {
            let mut world = self.world();
            for cell in params.cell_text_documents {
                world.open_cell(cell.uri, cell.version, cell.text);
            }
            world.set_cells(params.notebook_document.uri, cells.clone());
        }
        self.queue.add(cells);
    }

    async fn notebook_did_change(&self, params: DidChangeNotebookDocumentParams) {
        let notebook = params.notebook_document.uri;
        let affected = {
            let mut world = self.world();
            let mut cells = world.cells(&notebook);
            let Some(change) = params.change.cells else { return };
            if let Some(structure) = change.structure {
                for cell in structure.did_open.unwrap_or_default() {
                    world.open_cell(cell.uri, cell.version, cell.text);
                }
                let array = structure.array;
                let start = (array.start as usize).min(cells.len());
                let end = (start + array.delete_count as usize).min(cells.len());
                let new = array.cells.unwrap_or_default().into_iter().map(|cell| cell.document);
                cells.splice(start..end, new);
                for cell in structure.did_close.unwrap_or_default() {
                    world.close(&cell.uri);
                }
                world.set_cells(notebook, cells.clone());
            }
            for changed in change.text_content.unwrap_or_default() {
                let VersionedTextDocumentIdentifier { uri, version } = changed.document;
                world.change(&uri, version, &changed.changes);
            }
            cells
        };
        self.queue.add(affected);
    }

    async fn notebook_did_close(&self, params: DidCloseNotebookDocumentParams) {
        self.world().close_notebook(&params.notebook_document.uri);
        self.queue.add(params.cell_text_documents.into_iter().map(|cell| cell.uri));
    }

    async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        // Who sends settings of others only, or none, leaves ours as they are.
        let Value::Object(mut all) = params.settings else { return };
        let Some(settings) = all.remove("nesl") else { return };
        let documents = {
            let mut world = self.world();
            world.options = Arc::new(Options::read(Some(settings), &self.runtimes));
            world.open_documents()
        };
        self.queue.add(documents);
        self.tell_status().await;
        let (client, can) = (self.client.clone(), self.world().client);
        // A handler must not wait for the client, which may be waiting for it.
        tokio::spawn(async move {
            if can.refresh_hints {
                let _ = client.inlay_hint_refresh().await;
            }
            if can.refresh_lenses {
                let _ = client.code_lens_refresh().await;
            }
        });
    }

    async fn did_change_watched_files(&self, params: DidChangeWatchedFilesParams) {
        let documents = {
            let mut world = self.world();
            let changed: Vec<Uri> = params.changes.into_iter().map(|change| change.uri).collect();
            world.changed_on_disk(&changed);
            world.open_documents()
        };
        self.queue.add(documents.clone());
        for uri in &documents {
            self.runs.changed(uri).await;
        }
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        let (added, removed) = (folders(&params.event.added), folders(&params.event.removed));
        self.world().change_folders(added.clone(), &removed);
        self.search(added);
        let documents = self.world().open_documents();
        self.queue.add(documents);
    }

    async fn will_rename_files(&self, params: RenameFilesParams) -> Result<Option<WorkspaceEdit>> {
        let path = |uri: &str| uri.parse().ok().and_then(|uri: Uri| path_of(&uri));
        let renamed = params.files.iter();
        let renamed: Vec<_> =
            renamed.filter_map(|file| path(&file.old_uri).zip(path(&file.new_uri))).collect();
        let snapshot = self.world().any_snapshot();
        answer(snapshot, move |s| {
            let changes = renames::edits(s, &renamed);
            (!changes.is_empty())
                .then(|| WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
        })
        .await
    }

    async fn diagnostic(
        &self,
        params: DocumentDiagnosticParams,
    ) -> Result<DocumentDiagnosticReportResult> {
        let snapshot = self.snapshot(&params.text_document.uri);
        let (runs, looks) = (self.runs.clone(), self.looks.clone());
        let items = answer(snapshot, move |s| looks.diagnostics(s, &runs));
        Ok(diagnostics::report(items.await?, params.previous_result_id).into())
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let (snapshot, position) = self.at(&params.text_document_position_params);
        let costs = self.costs.clone();
        answer(snapshot, move |s| {
            showing::hover(s, TextRange::empty(s.lines.offset(position)), &costs)
        })
        .await
    }

    async fn goto_declaration(
        &self,
        params: request::GotoDeclarationParams,
    ) -> Result<Option<request::GotoDeclarationResponse>> {
        let (snapshot, position) = self.at(&params.text_document_position_params);
        answer(snapshot, move |s| {
            convert::link(s, ide::declaration(&s.db, s.file, s.lines.offset(position))?)
        })
        .await
    }

    async fn goto_implementation(
        &self,
        params: request::GotoImplementationParams,
    ) -> Result<Option<request::GotoImplementationResponse>> {
        // A function is implemented where it is defined: there is one definition of each.
        self.goto_definition(params).await
    }

    async fn goto_definition(
        &self,
        params: GotoDefinitionParams,
    ) -> Result<Option<GotoDefinitionResponse>> {
        let (snapshot, position) = self.at(&params.text_document_position_params);
        answer(snapshot, move |s| {
            convert::link(s, ide::definition(&s.db, s.file, s.lines.offset(position))?)
        })
        .await
    }

    async fn goto_type_definition(
        &self,
        params: request::GotoTypeDefinitionParams,
    ) -> Result<Option<request::GotoTypeDefinitionResponse>> {
        let (snapshot, position) = self.at(&params.text_document_position_params);
        answer(snapshot, move |s| {
            convert::link(s, ide::type_definition(&s.db, s.file, s.lines.offset(position))?)
        })
        .await
    }

    async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        let (snapshot, position) = self.at(&params.text_document_position);
        let declaration = params.context.include_declaration;
        answer(snapshot, move |s| {
            let all = ide::references(&s.db, &s.files, s.file, s.lines.offset(position))?;
            let wanted = all.iter().filter(|r| declaration || r.role != ide::Role::Definition);
            Some(wanted.filter_map(|r| convert::location(s, r.at)).collect())
        })
        .await
    }

    async fn document_highlight(
        &self,
        params: DocumentHighlightParams,
    ) -> Result<Option<Vec<DocumentHighlight>>> {
        let (snapshot, position) = self.at(&params.text_document_position_params);
        let facts = self.facts.clone();
        answer(snapshot, move |s| {
            let at = s.lines.offset(position);
            let all = facts.with(&s.uri, |all| all.highlights(&s.db, s.file, at)).into_iter();
            Some(all.map(|(range, role)| convert::highlight(&s.lines, range, role)).collect())
        })
        .await
    }

    async fn prepare_rename(
        &self,
        params: TextDocumentPositionParams,
    ) -> Result<Option<PrepareRenameResponse>> {
        let (snapshot, position) = self.at(&params);
        let prepared = answer(snapshot, move |s| {
            let found = ide::prepare_rename(&s.db, &s.files, s.file, s.lines.offset(position));
            Some(found.map(|(range, placeholder)| {
                let range = s.lines.lsp_range(range);
                PrepareRenameResponse::RangeWithPlaceholder { range, placeholder }
            }))
        });
        prepared.await?.transpose().map_err(refused)
    }

    async fn rename(&self, params: RenameParams) -> Result<Option<WorkspaceEdit>> {
        let (snapshot, position) = self.at(&params.text_document_position);
        let new = params.new_name;
        let renamed = answer(snapshot, move |s| {
            let at = s.lines.offset(position);
            let edits = ide::rename(&s.db, &s.files, s.file, at, &new);
            Some(edits.map(|edits| convert::workspace_edit(s, &edits)))
        });
        renamed.await?.transpose().map_err(refused)
    }

    async fn completion(&self, params: CompletionParams) -> Result<Option<CompletionResponse>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position;
        let snapshot = || self.snapshot(&text_document.uri);
        answer_yet(snapshot, move |s| {
            Some(CompletionResponse::List(showing::completions(s, s.lines.offset(position))))
        })
        .await
    }

    async fn completion_resolve(&self, mut item: CompletionItem) -> Result<CompletionItem> {
        let asked: Option<typing::Resolvable> =
            item.data.take().and_then(|data| serde_json::from_value(data).ok());
        let Some(asked) = asked else { return Ok(item) };
        let snapshot = self.world().snapshot_of(asked.file());
        let label = item.label.clone();
        let doc = answer(snapshot, move |s| {
            let at = s.lines.offset(asked.position());
            ide::completion_doc(&s.db, s.file, at, &label).map(|doc| ide::doc_markdown(&doc))
        });
        let doc = doc.await?.map(convert::markdown);
        item.documentation = doc.map(Documentation::MarkupContent);
        Ok(item)
    }

    async fn signature_help(&self, params: SignatureHelpParams) -> Result<Option<SignatureHelp>> {
        let (snapshot, position) = self.at(&params.text_document_position_params);
        answer(snapshot, move |s| {
            ide::signature_help(&s.db, s.file, s.lines.offset(position)).map(typing::signature)
        })
        .await
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        let snapshot = self.snapshot(&params.text_document.uri);
        answer(snapshot, move |s| {
            let all = ide::actions(&s.db, s.file, s.lines.range(params.range));
            let problems = &params.context.diagnostics;
            let wanted = params.context.only.as_ref();
            let actions = all.into_iter().map(|action| typing::action(s, action, problems));
            Some(actions.filter(|action| typing::is_wanted(action, wanted)).collect())
        })
        .await
    }

    async fn code_lens_resolve(&self, mut lens: CodeLens) -> Result<CodeLens> {
        let asked: Option<typing::Unresolved> =
            lens.data.take().and_then(|data| serde_json::from_value(data).ok());
        let Some(asked) = asked else { return Ok(lens) };
        let given = lens.clone();
        let (titles, costs) = (self.titles.clone(), self.costs.clone());
        let snapshot = self.world().snapshot_of(FileId(asked.file));
        let resolved = answer(snapshot, move |s| {
            let item = structure::form(s, asked.item)?;
            Some(typing::resolved(s, given, (item, asked.nth), &titles, &costs))
        });
        Ok(resolved.await?.unwrap_or(lens))
    }

    async fn symbol(
        &self,
        params: WorkspaceSymbolParams,
    ) -> Result<Option<WorkspaceSymbolResponse>> {
        let snapshot = self.world().any_snapshot();
        answer(snapshot, move |s| {
            let found = ide::search(&s.db, &s.files, &params.query).into_iter();
            let symbols = found.filter_map(|one| structure::found(s, one)).collect();
            Some(WorkspaceSymbolResponse::Flat(symbols))
        })
        .await
    }

    async fn selection_range(
        &self,
        params: SelectionRangeParams,
    ) -> Result<Option<Vec<SelectionRange>>> {
        let snapshot = self.snapshot(&params.text_document.uri);
        answer(snapshot, move |s| {
            let chain = |position: &Position| {
                let ranges = ide::selections(&s.db, s.file, s.lines.offset(*position));
                let empty = Range::new(*position, *position);
                let nothing = SelectionRange { range: empty, parent: None };
                structure::selection(&s.lines, &ranges).unwrap_or(nothing)
            };
            Some(params.positions.iter().map(chain).collect())
        })
        .await
    }

    async fn document_link(&self, params: DocumentLinkParams) -> Result<Option<Vec<DocumentLink>>> {
        let snapshot = self.snapshot(&params.text_document.uri);
        answer(snapshot, move |s| {
            let links = ide::links(&s.db, s.file);
            Some(links.iter().filter_map(|link| structure::document_link(s, link)).collect())
        })
        .await
    }

    async fn prepare_call_hierarchy(
        &self,
        params: CallHierarchyPrepareParams,
    ) -> Result<Option<Vec<CallHierarchyItem>>> {
        let (snapshot, position) = self.at(&params.text_document_position_params);
        answer(snapshot, move |s| {
            let item = ide::call_item(&s.db, s.file, s.lines.offset(position))?;
            Some(vec![structure::call_item(s, item)?])
        })
        .await
    }

    async fn incoming_calls(
        &self,
        params: CallHierarchyIncomingCallsParams,
    ) -> Result<Option<Vec<CallHierarchyIncomingCall>>> {
        let snapshot = self.world().any_snapshot();
        answer(snapshot, move |s| {
            let calls = ide::incoming(&s.db, &s.files, structure::called(s, &params.item)?);
            Some(calls.into_iter().filter_map(|call| structure::incoming(s, call)).collect())
        })
        .await
    }

    async fn outgoing_calls(
        &self,
        params: CallHierarchyOutgoingCallsParams,
    ) -> Result<Option<Vec<CallHierarchyOutgoingCall>>> {
        let snapshot = self.world().any_snapshot();
        answer(snapshot, move |s| {
            let caller = structure::called(s, &params.item)?;
            let calls = ide::outgoing(&s.db, caller).into_iter();
            Some(calls.filter_map(|call| structure::outgoing(s, caller, call)).collect())
        })
        .await
    }

    async fn semantic_tokens_full(
        &self,
        params: SemanticTokensParams,
    ) -> Result<Option<SemanticTokensResult>> {
        let snapshot = self.snapshot(&params.text_document.uri);
        let (sent, facts) = (self.colors.clone(), self.facts.clone());
        answer(snapshot, move |s| {
            if s.is_large() {
                return None;
            }
            let tokens = facts.with(&s.uri, |all| all.tokens(&s.db, s.file));
            let data = colors::encode(&s.lines, &tokens, s.client.grammar);
            Some(sent.whole(&s.uri, data).into())
        })
        .await
    }

    async fn semantic_tokens_full_delta(
        &self,
        params: SemanticTokensDeltaParams,
    ) -> Result<Option<SemanticTokensFullDeltaResult>> {
        let snapshot = self.snapshot(&params.text_document.uri);
        let (sent, facts) = (self.colors.clone(), self.facts.clone());
        answer(snapshot, move |s| {
            if s.is_large() {
                return None;
            }
            let tokens = facts.with(&s.uri, |all| all.tokens(&s.db, s.file));
            let data = colors::encode(&s.lines, &tokens, s.client.grammar);
            Some(sent.delta(&s.uri, &params.previous_result_id, data))
        })
        .await
    }

    async fn semantic_tokens_range(
        &self,
        params: SemanticTokensRangeParams,
    ) -> Result<Option<SemanticTokensRangeResult>> {
        let snapshot = self.snapshot(&params.text_document.uri);
        answer(snapshot, move |s| {
            let range = s.lines.range(params.range);
            let tokens = ide::semantic_tokens(&s.db, s.file, Some(range));
            let data = colors::encode(&s.lines, &tokens, s.client.grammar);
            Some(SemanticTokens { result_id: None, data }.into())
        })
        .await
    }

    async fn formatting(&self, params: DocumentFormattingParams) -> Result<Option<Vec<TextEdit>>> {
        let snapshot = self.snapshot(&params.text_document.uri);
        let layouts = self.layouts.clone();
        answer(snapshot, move |s| {
            (!s.is_large()).then(|| typing::text_edits(&s.lines, &layouts.format(s)))
        })
        .await
    }

    async fn range_formatting(
        &self,
        params: DocumentRangeFormattingParams,
    ) -> Result<Option<Vec<TextEdit>>> {
        let snapshot = self.snapshot(&params.text_document.uri);
        answer(snapshot, move |s| {
            let range = s.lines.range(params.range);
            Some(typing::text_edits(&s.lines, &ide::format_range(&s.db, s.file, range)))
        })
        .await
    }

    async fn on_type_formatting(
        &self,
        params: DocumentOnTypeFormattingParams,
    ) -> Result<Option<Vec<TextEdit>>> {
        let (snapshot, position) = self.at(&params.text_document_position);
        answer(snapshot, move |s| {
            let typed = params.ch.chars().next()?;
            let edits = ide::format_on_type(&s.db, s.file, s.lines.offset(position), typed);
            Some(typing::text_edits(&s.lines, &edits))
        })
        .await
    }

    async fn inlay_hint(&self, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
        let snapshot = self.snapshot(&params.text_document.uri);
        let (runs, kept) = (self.runs.clone(), self.hints.clone());
        answer(snapshot, move |s| {
            Some(showing::hints(s, s.lines.range(params.range), &kept, &runs))
        })
        .await
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<LSPAny>> {
        let argument = params.arguments.into_iter().next().unwrap_or_default();
        match params.command.as_str() {
            "nesl.run" => {
                let result = self.run(arguments(argument)?).await?;
                Ok(serde_json::to_value(result).ok())
            }
            "nesl.stop" => {
                self.stop(arguments(argument)?).await?;
                Ok(None)
            }
            "nesl.cost" => {
                let result = self.cost(arguments(argument)?).await?;
                let preview = self.world().options.preview;
                if let (Some(cost), false) = (&result, preview) {
                    let text = format!("{}: {}", cost.subject, cost.text);
                    self.client.show_message(MessageType::INFO, text).await;
                }
                Ok(serde_json::to_value(result).ok())
            }
            other => Err(Error::invalid_params(format!("there is no command `{other}`"))),
        }
    }
}

/// The paths of the folders that a client has open.
fn folders(all: &[WorkspaceFolder]) -> Vec<PathBuf> {
    let paths = all.iter().filter_map(|folder| path_of(&folder.uri));
    paths.map(|path| path.canonicalize().unwrap_or(path)).collect()
}

fn arguments<T: DeserializeOwned>(argument: Value) -> Result<T> {
    serde_json::from_value(argument).map_err(|error| Error::invalid_params(error.to_string()))
}

fn refused(refusal: ide::Refusal) -> Error {
    // `RequestFailed`: the client shows why.
    Error { code: ErrorCode::ServerError(-32803), message: refusal.0.into(), data: None }
}
