//! Diagnostics → JSON for programs. The fields are described by `nesl check --help`.

use crate::source::Lines;
use nesl_core::base::{Diagnostic, Kind, Severity};
use nesl_engine::{FileRange, Session};
use serde_json::{Map, Value, json};

/// One diagnostic as an object.
pub fn diagnostic(session: &Session, diagnostic: &Diagnostic<FileRange>) -> Value {
    let mut object = place(session, &diagnostic.primary.at);
    object.insert("kind".into(), kind(diagnostic.kind).into());
    object.insert("severity".into(), severity(diagnostic.severity).into());
    object.insert("message".into(), diagnostic.message.as_str().into());
    object.insert("label".into(), diagnostic.primary.text.as_str().into());
    let labels = diagnostic.labels.iter().map(|label| {
        let mut object = place(session, &label.at);
        object.insert("text".into(), label.text.as_str().into());
        Value::Object(object)
    });
    object.insert("labels".into(), labels.collect());
    object.insert("notes".into(), diagnostic.notes.clone().into());
    let hints = diagnostic.hints.iter().map(|hint| {
        let edit = hint.edit.as_ref().map(|(at, replacement)| {
            let mut object = place(session, at);
            object.insert("replacement".into(), replacement.as_str().into());
            Value::Object(object)
        });
        json!({ "text": hint.text, "edit": edit })
    });
    object.insert("hints".into(), hints.collect());
    Value::Object(object)
}

fn place(session: &Session, at: &FileRange) -> Map<String, Value> {
    let (name, text) = session.source(at.file);
    let lines = Lines::new(text);
    let start = lines.position(at.range.start);
    let end = lines.position(at.range.end.max(at.range.start));
    let mut object = Map::new();
    object.insert("file".into(), name.as_ref().into());
    object.insert("line".into(), start.line.into());
    object.insert("column".into(), start.column.into());
    object.insert("end_line".into(), end.line.into());
    object.insert("end_column".into(), end.column.into());
    object
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Syntax => "syntax",
        Kind::Name => "name",
        Kind::Type => "type",
        Kind::Runtime => "runtime",
    }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}
