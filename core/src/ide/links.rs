//! The files that a text loads. They are only named here; the caller reads them.

use crate::base::{ItemId, TextRange, TextSize};
use crate::db::forms_where;
use crate::db::{Database, FileId};
use crate::syntax::RawKind;
use crate::syntax::ast::{CommandArg, ItemKind};

/// A file name in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The `load` form that contains it.
    pub item: ItemId,
    /// The range of the name, without its quotes.
    pub range: TextRange,
    /// The name, unescaped. It stands for `NAME.nesl` or, if that does not exist, `NAME`, relative to the folder
    /// of the file.
    pub path: String,
}

/// The files that a file loads.
pub fn links(db: &Database, file: FileId) -> Vec<Link> {
    let mut all = Vec::new();
    for (_, cursor) in forms_where(db, file, |form, _| form.kind == RawKind::Command) {
        let ItemKind::Command(command) = &cursor.ast.kind else { continue };
        if command.verb.name.folded() != "load" {
            continue;
        }
        if let Some(CommandArg::Text(path, span)) = command.args.first() {
            let whole = cursor.range(*span);
            let quote = TextSize::of('"');
            let (start, end) = (whole.start() + quote, whole.end());
            let range = TextRange::new(start, end.max(start + quote) - quote);
            all.push(Link { item: cursor.item, range, path: path.clone() });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    #[test]
    fn what_is_loaded() {
        let f = Fixture::new(
            "% c %\nload \"dir/a\", print := t;\nx = \"b\";\nLOAD \"c.nesl\";\nload x;\nload \"",
        );
        let found = links(&f.db, f.file);
        let found: Vec<_> = found.iter().map(|l| (&f.text[l.range], l.path.as_str())).collect();
        assert_eq!(found, [("dir/a", "dir/a"), ("c.nesl", "c.nesl")]);
    }
}
