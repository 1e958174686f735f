//! The messages beyond LSP (`docs/book/src/protocol.md` explains the fields).
#![allow(missing_docs, reason = "docs/book/src/protocol.md says what they are")]

use serde::{Deserialize, Serialize};
use tower_lsp_server::ls_types::notification::Notification;
use tower_lsp_server::ls_types::{
    Position, Range, TextDocumentIdentifier, VersionedTextDocumentIdentifier,
};

#[derive(Clone, Copy, Debug, Serialize)]
pub struct StageShown {
    pub id: &'static str,
    pub title: &'static str,
    pub hint: &'static str,
    pub preview: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IrParams {
    pub text_document: TextDocumentIdentifier,
    pub stage: String,
    pub position: Option<Position>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct IrResult {
    pub title: String,
    pub subject: String,
    pub text: String,
    pub stale: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    pub lines: Vec<IrLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct IrLine {
    pub line: u32,
    pub source: Range,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AtParams {
    pub text_document: TextDocumentIdentifier,
    pub position: Position,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SelectionParams {
    pub text_document: TextDocumentIdentifier,
    pub range: Range,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunParams {
    pub text_document: TextDocumentIdentifier,
    pub range: Option<Range>,
    pub expression: Option<String>,
    pub position: Option<Position>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct RunResult {
    pub run: u64,
    pub version: i32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StopParams {
    pub text_document: TextDocumentIdentifier,
}

#[derive(Clone, Debug, Serialize)]
pub struct CostResult {
    pub subject: String,
    pub text: String,
    pub measured: bool,
}

#[derive(Clone, Debug, Deserialize)]
pub struct LibraryParams {
    pub uri: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct LibraryResult {
    pub text: &'static str,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    Running,
    Done,
    Stopped,
    Failed,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ValuesParams {
    pub text_document: VersionedTextDocumentIdentifier,
    pub state: RunState,
    pub run: u64,
    pub seconds: f64,
    pub values: Vec<ValueShown>,
    pub output: String,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ValueShown {
    pub position: Position,
    pub text: String,
    pub detail: String,
    pub seconds: f64,
    pub error: bool,
    pub stale: bool,
    pub running: bool,
}

/// The notification `nesl/values`.
pub enum ValuesNotification {}

impl Notification for ValuesNotification {
    type Params = ValuesParams;
    const METHOD: &'static str = "nesl/values";
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct StatusParams {
    pub version: String,
    pub runtime: String,
    pub device: String,
    pub precision: u32,
}

/// The notification `nesl/status`.
pub enum StatusNotification {}

impl Notification for StatusNotification {
    type Params = StatusParams;
    const METHOD: &'static str = "nesl/status";
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct SegmentsResult {
    pub subject: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    pub steps: Vec<SegmentStep>,
}

#[derive(Clone, Debug, Serialize)]
pub struct SegmentStep {
    pub title: String,
    pub code: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Range>,
    pub inputs: Vec<SegmentedValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<SegmentedValue>,
}

#[derive(Clone, Debug, Serialize)]
pub struct SegmentedValue {
    pub name: String,
    #[serde(rename = "type")]
    pub ty: String,
    pub value: String,
    pub levels: Vec<Level>,
    pub data: Vec<Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nested: Vec<NestedComponent>,
}

#[derive(Clone, Debug, Serialize)]
pub struct NestedComponent {
    pub component: usize,
    pub levels: Vec<Level>,
    pub data: Vec<Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nested: Vec<NestedComponent>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Level {
    pub kind: &'static str,
    pub starts: Vec<u32>,
    pub lengths: Vec<u32>,
}
