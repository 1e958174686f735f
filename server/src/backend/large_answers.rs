//! The requests whose answers are written as text at once ([`mod@crate::large`]).

use super::Backend;
use serde_json::Value;
use tower_lsp_server::LanguageServer;
use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{
    CodeLensParams, DocumentSymbolParams, SemanticTokensDeltaParams, SemanticTokensParams,
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
        Ok(self.large.keep(&self.document_symbol(params).await?))
    }

    /// Answers `textDocument/codeLens` by a token.
    pub async fn large_lenses(&self, params: CodeLensParams) -> Result<Value> {
        Ok(self.large.keep(&self.code_lens(params).await?))
    }
}
