//! Values as text, by the settings of the session.

use super::Settings;
use crate::preview::Preview;
use crate::show::{TextLimits, show};
use nesl_core::db::Database;
use nesl_core::types::{Record, Ty, record_content};
use std::sync::atomic::AtomicBool;

/// Returns a value as text; cut short once `interrupt` is set.
pub(super) fn show_preview(
    db: &Database,
    settings: &Settings,
    interrupt: &AtomicBool,
    preview: &Preview,
    ty: &Ty,
) -> String {
    let content = |record: &Record, args: &[Ty]| record_content(db.signature(record.item), args);
    let limits = TextLimits { length: settings.print_length, bytes: settings.print_bytes };
    show(preview, ty, &content, limits, settings.precision, interrupt)
}
