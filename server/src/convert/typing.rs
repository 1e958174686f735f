//! Completions, signatures, actions, hints and lenses in the terms of LSP.

use super::{markdown, text_edit, workspace_edit};
use crate::lines::Lines;
use crate::world::Snapshot;
use nesl_core::base::TextRange;
use nesl_core::ide;
use serde_json::json;
use std::collections::HashMap;
use tower_lsp_server::ls_types as lsp;
