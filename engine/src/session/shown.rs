//! Values as text, by the settings of the session.

use super::Settings;
use crate::preview::Preview;
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
    crate::show::show(preview, ty, &content, settings.print_length, settings.precision, interrupt)
}
