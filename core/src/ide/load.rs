//! The texts that a file loads. Reading them is for those who may read.

use crate::base::ItemId;
use crate::db::{Database, FileId};
use crate::syntax::RawKind;
use crate::syntax::ast::{CommandArg, ItemKind};

/// The `load` forms of a file, and what they name: `NAME.nesl`, or else `NAME`, seen from the
/// folder of the file.
pub fn loads(db: &Database, file: FileId) -> Vec<(ItemId, String)> {
    let outline = db.outline(file);
    let commands = outline.forms.iter().filter(|form| form.kind == RawKind::Command);
    commands.filter_map(|form| Some((form.id(), loaded_name(db, form.id())?))).collect()
}

fn loaded_name(db: &Database, item: ItemId) -> Option<String> {
    let ItemKind::Command(command) = &db.ast(item).kind else { return None };
    if command.verb.name.folded() != "load" {
        return None;
    }
    command.args.iter().find_map(|arg| match arg {
        CommandArg::Text(text, _) => Some(text.clone()),
        CommandArg::Word(_) | CommandArg::Int(..) | CommandArg::Option(..) => None,
    })
}
