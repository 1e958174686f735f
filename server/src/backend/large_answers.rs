//! The requests whose answers are written as text at once ([`mod@crate::large`]).

use super::Backend;
use crate::convert::structure;
use crate::reading::answer;
use crate::showing;
use serde_json::Value;
use tower_lsp_server::LanguageServer;
use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{
    CodeLensParams, DocumentSymbolParams, FoldingRangeParams, SemanticTokensDeltaParams,
    SemanticTokensParams,
};

impl Backend {
    /// Answers `textDocument/semanticTokens/full` by a token ([`mod@crate::large`]).
    pub async fn large_tokens(&self, params: SemanticTokensParams) -> Result<Value> {
        Ok(self.large.keep(&self.semantic_tokens_full(params).await?))
    }

    /// Answers `textDocument/semanticTokens/full/delta` by a token.
    pub async fn large_tokens_delta(&self, params: SemanticTokensDeltaParams) -> Result<Value> {
        Ok(self.large.keep(&self.semantic_tokens_full_delta(params).await?))
    }

    /// Answers `textDocument/documentSymbol` by a token.
    pub async fn large_outline(&self, params: DocumentSymbolParams) -> Result<Value> {
        let snapshot = self.snapshot(&params.text_document.uri);
        let (facts, written) = (self.facts.clone(), self.written_outline.clone());
        self.written(
            answer(snapshot, move |s| {
                (!s.is_large()).then(|| showing::outline(s, &facts, &written))
            })
            .await?,
        )
    }

    /// Answers `textDocument/codeLens` by a token.
    pub async fn large_lenses(&self, params: CodeLensParams) -> Result<Value> {
        let snapshot = self.snapshot(&params.text_document.uri);
        let (facts, written) = (self.facts.clone(), self.written_lenses.clone());
        let (kept, runs, costs) = (self.lenses.clone(), self.runs.clone(), self.costs.clone());
        let text = answer(snapshot, move |s| {
            (!s.is_large()).then(|| showing::lenses(s, &facts, &kept, (&runs, &costs), &written))
        });
        self.written(text.await?)
    }

    /// Answers `textDocument/foldingRange` by a token.
    pub async fn large_folds(&self, params: FoldingRangeParams) -> Result<Value> {
        let snapshot = self.snapshot(&params.text_document.uri);
        let facts = self.facts.clone();
        let folds = answer(snapshot, move |s| {
            if s.is_large() {
                return None;
            }
            let folds = facts.with(&s.uri, |all| all.folds(&s.db, s.file));
            let folds = folds.iter().filter_map(|fold| structure::fold(&s.lines, fold));
            Some(folds.collect::<Vec<_>>())
        });
        Ok(self.large.keep(&folds.await?))
    }

    /// The token of an answer that was written, or no answer.
    fn written(&self, text: Option<Vec<u8>>) -> Result<Value> {
        Ok(text.map_or(Value::Null, |text| self.large.keep_text(text)))
    }
}
