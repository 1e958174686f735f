//! The graph of imports between the files of a crate, and its circles.
//!
//! An import is a path that begins with `crate`, `super`, `self`, a module, or a name that a `use` of
//! the same file binds; it leads to the file of the module that *defines* the named item, through
//! re-exports. The paths are read from the token stream, so no compiler is needed. Two things are
//! no edges: imports between a module and its own descendants, and those of `#[cfg(test)]` code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A module as the segments of its path from the crate root.
type Module = Vec<String>;

/// Files that import each other, in order.
pub type Circle = BTreeSet<PathBuf>;

/// The files of one crate with what each imports and binds.
pub struct Crate {
    modules: BTreeMap<Module, Source>,
}

struct Source {
    file: PathBuf,
    /// The paths written in the file.
    paths: Vec<Vec<String>>,
    /// The names that `use` declarations bind, and the paths they stand for.
    bindings: BTreeMap<String, Vec<String>>,
}

impl Crate {
    /// Reads the files below `source`, a crate's `src` folder.
    pub fn read<'t>(
        source: &Path,
        files: impl Iterator<Item = (&'t PathBuf, &'t String)>,
    ) -> Crate {
        let mut modules = BTreeMap::new();
        for (file, text) in files {
            let Ok(inside) = file.strip_prefix(source) else { continue };
            if let Some(module) = module_of(inside) {
                let tokens = tokens(&without_tests(text));
                let (paths, bindings) = imports(&tokens);
                modules.insert(module, Source { file: file.clone(), paths, bindings });
            }
        }
        Crate { modules }
    }

    /// The circles: the strongly connected components of more than one file.
    pub fn circles(&self) -> Vec<Circle> {
        let edges = self.edges();
        let mut reach: BTreeMap<&Module, BTreeSet<&Module>> = BTreeMap::new();
        for start in edges.keys() {
            let mut seen = BTreeSet::new();
            let mut todo: Vec<&Module> = edges[start].iter().collect();
            while let Some(next) = todo.pop() {
                if seen.insert(next) {
                    todo.extend(edges.get(next).into_iter().flatten());
                }
            }
            reach.insert(start, seen);
        }
        let mut circles = BTreeSet::new();
        for (start, seen) in &reach {
            let back = |other: &&&Module| reach.get(**other).is_some_and(|r| r.contains(*start));
            let circle: Circle =
                seen.iter().filter(back).map(|m| self.modules[*m].file.clone()).collect();
            if circle.len() > 1 {
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }

    /// The imports between the files of a circle, one a line.
    pub fn describe(&self, circle: &Circle) -> String {
        let mut lines = String::new();
        for (from, source) in &self.modules {
            for path in &source.paths {
                let Some(to) = self.edge(from, path) else { continue };
                let to = &self.modules[&to].file;
                if circle.contains(&source.file) && circle.contains(to) {
                    let (from, to) = (source.file.display(), to.display());
                    let line = format!("  {from} -> {to}: {}\n", path.join("::"));
                    if !lines.contains(&line) {
                        lines += &line;
                    }
                }
            }
        }
        lines
    }

    fn edges(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let targets = |(from, source): (&Module, &Source)| {
            (from.clone(), source.paths.iter().filter_map(|path| self.edge(from, path)).collect())
        };
        self.modules.iter().map(targets).collect()
    }

    /// The module that a path leads to, unless it is the same module, an ancestor, a descendant, or
    /// one of another crate.
    fn edge(&self, from: &Module, path: &[String]) -> Option<Module> {
        let to = self.resolve(from, path, 0)?;
        (!to.starts_with(from) && !from.starts_with(&to)).then_some(to)
    }

    /// The module that defines what a path names; `None` if that is in another crate.
    fn resolve(&self, from: &Module, path: &[String], hops: usize) -> Option<Module> {
        // Bindings may stand for themselves (`use crate::a::b` in `a`).
        const MAX_REEXPORT_HOPS: usize = 16;
        let mut at = from.clone();
        for (position, segment) in path.iter().enumerate() {
            let child = [at.as_slice(), std::slice::from_ref(segment)].concat();
            match segment.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => {
                    at.pop()?;
                }
                _ if self.modules.contains_key(&child) => at = child,
                name => {
                    let bound = self.modules.get(&at).and_then(|source| source.bindings.get(name));
                    let rest = &path[position + 1..];
                    return match bound {
                        Some(bound) if hops < MAX_REEXPORT_HOPS && *bound != path => {
                            let whole = [bound.as_slice(), rest].concat();
                            match self.resolve(&at, &whole, hops + 1) {
                                Some(found) => Some(found),
                                // Another crate's item, re-exported here.
                                None if position > 0 => Some(at),
                                None => None,
                            }
                        }
                        _ if position > 0 => Some(at),
                        _ => None,
                    };
                }
            }
        }
        self.modules.contains_key(&at).then_some(at)
    }
}

/// The module of a file by its path below `src`; `None` for test modules.
fn module_of(inside: &Path) -> Option<Module> {
    let mut module: Module =
        inside.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module.iter().any(|part| part == "tests") {
        return None;
    }
    let root = module.len() == 1 && matches!(module[0].as_str(), "lib" | "main");
    if root || module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    Some(module)
}

/// The text less its `#[cfg(test)]` items.
fn without_tests(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let indent = &line[..line.len() - line.trim_start().len()];
        if line.trim() != "#[cfg(test)]" {
            kept += line;
            kept.push('\n');
            continue;
        }
        let end = format!("{indent}}}");
        let mut first = true;
        for line in lines.by_ref() {
            let attribute = line.trim_start().starts_with("#[");
            if line == end || (first && line.trim_end().ends_with(';')) {
                break;
            }
            first &= attribute;
        }
    }
    kept
}

/// The identifiers and punctuation of Rust code, comments and literals left out.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = text;
    let word = |c: char| c.is_alphanumeric() || c == '_';
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(raw) = raw_string(rest) {
            raw
        } else if first == '"' {
            string(rest)
        } else if first == '\'' {
            character(rest)
        } else if word(first) {
            let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
            tokens.push(rest[..end].to_owned());
            end
        } else if rest.starts_with("::") {
            tokens.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                tokens.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[skipped..];
    }
    tokens
}

/// The length in bytes of the raw string at the beginning of a text, if there is one.
fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix('r').or_else(|| text.strip_prefix("br"))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let inside = after[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let end = inside.find(&close)? + close.len();
    Some(text.len() - inside.len() + end)
}

/// The length in bytes of the string at the beginning of a text.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// The length in bytes of the character literal at the beginning of a text; of a lifetime only its
/// apostrophe counts.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => text[2..].find('\'').map_or(1, |end| 2 + end.max(1) + 1),
        Some(_) => match chars.next() {
            Some((at, '\'')) => at + 1,
            _ => 1,
        },
        None => 1,
    }
}

/// The paths of a token stream, and the names that its `use` declarations bind.
fn imports(tokens: &[String]) -> (Vec<Vec<String>>, BTreeMap<String, Vec<String>>) {
    let mut paths = Vec::new();
    let mut bindings = BTreeMap::new();
    let mut at = 0;
    while at < tokens.len() {
        // `use<'a>`, in a type, is no declaration.
        if tokens[at] == "use" && tokens.get(at + 1).is_none_or(|next| next != "<") {
            at += 1;
            use_tree(tokens, &mut at, &[], &mut paths, &mut bindings);
            continue;
        }
        let path = path(tokens, &mut at);
        if path.len() > 1 {
            paths.push(path);
        } else if path.is_empty() {
            at += 1;
        }
    }
    (paths, bindings)
}

/// Reads `a::b::c`; stops after its last segment.
fn path(tokens: &[String], at: &mut usize) -> Vec<String> {
    let mut path = Vec::new();
    // A path that goes on from something else (`<T as A>::b`) is not read.
    let continued = *at > 0 && tokens[*at - 1] == "::";
    while is_word(tokens, *at) {
        path.push(tokens[*at].clone());
        *at += 1;
        if !(tokens.get(*at).is_some_and(|token| token == "::") && is_word(tokens, *at + 1)) {
            break;
        }
        *at += 1;
    }
    if continued {
        path.truncate(1)
    }
    path
}

fn is_word(tokens: &[String], at: usize) -> bool {
    tokens.get(at).is_some_and(|token| token.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

/// Reads one tree of a `use` declaration: `a::b`, `a::{b, c as d}`, `a::*`.
fn use_tree(
    tokens: &[String],
    at: &mut usize,
    before: &[String],
    paths: &mut Vec<Vec<String>>,
    bindings: &mut BTreeMap<String, Vec<String>>,
) {
    let mut whole = before.to_vec();
    while let Some(token) = tokens.get(*at) {
        *at += 1;
        match token.as_str() {
            "::" => {}
            "{" => {
                while tokens.get(*at).is_some_and(|token| token != "}") {
                    use_tree(tokens, at, &whole, paths, bindings);
                    if tokens.get(*at).is_some_and(|token| token == ",") {
                        *at += 1;
                    }
                }
                *at += 1;
                return;
            }
            "*" => {
                paths.push(whole);
                return;
            }
            "as" => {
                let name = tokens.get(*at).cloned().unwrap_or_default();
                *at += 1;
                paths.push(whole.clone());
                bindings.insert(name, whole);
                return;
            }
            "," | "}" | ";" => {
                *at -= 1;
                break;
            }
            // `{self}` names the path itself.
            "self" if !whole.is_empty() => {}
            word => whole.push(word.to_owned()),
        }
    }
    if let Some(name) = whole.last().filter(|_| whole.len() > before.len() || !before.is_empty()) {
        bindings.insert(name.clone(), whole.clone());
        paths.push(whole);
    }
}

#[cfg(test)]
mod tests {
    use super::Crate;
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let files: BTreeMap<PathBuf, String> = files
            .iter()
            .map(|(name, text)| (Path::new("src").join(name), (*text).into()))
            .collect();
        let read = Crate::read(Path::new("src"), files.iter());
        let names = |file: &PathBuf| file.file_stem().unwrap().to_string_lossy().into_owned();
        read.circles().iter().map(|circle| circle.iter().map(names).collect()).collect()
    }

    #[test]
    fn files_that_import_each_other_are_a_circle() {
        let (a, b) = ("use super::b::{f, g as h};", "fn f() { crate::a::g(); }");
        assert_eq!(circles(&[("lib.rs", ""), ("a.rs", a), ("b.rs", b)]), [["a", "b"]]);
        assert!(circles(&[("lib.rs", ""), ("a.rs", a), ("b.rs", "use super::c;")]).is_empty());
    }

    #[test]
    fn re_exports_lead_to_the_definition() {
        let root = "mod a; mod b; pub use b::F; pub use a::g;";
        let (a, b) = ("use crate::F;", "use super::g;");
        assert_eq!(circles(&[("lib.rs", root), ("a.rs", a), ("b.rs", b)]), [["a", "b"]]);
    }

    #[test]
    fn a_module_and_its_children_are_no_circle() {
        let (parent, child) = ("mod child; use child::f;", "use super::g;");
        assert!(circles(&[("lib.rs", ""), ("a.rs", parent), ("a/child.rs", child)]).is_empty());
    }

    #[test]
    fn captured_lifetimes_are_not_imports() {
        let a = "fn f<'a>(x: &'a str) -> impl Iterator + use<'a> { g({ h(x); x }) }\nuse super::b;";
        let files = [("lib.rs", ""), ("a.rs", a), ("b.rs", "use super::a;")];
        assert_eq!(circles(&files), [["a", "b"]]);
    }

    #[test]
    fn tests_comments_and_literals_are_not_read() {
        let a = "use super::b;\n";
        let b = "// crate::a\nconst T: &str = \"crate::a::f\"; const C: char = '\"';\n\
                 #[cfg(test)]\nmod tests {\n    use crate::a::f;\n}\n";
        assert!(circles(&[("lib.rs", ""), ("a.rs", a), ("b.rs", b)]).is_empty());
        let after = format!("{b}use crate::a::f;\n");
        assert_eq!(circles(&[("lib.rs", ""), ("a.rs", a), ("b.rs", &after)]), [["a", "b"]]);
    }
}
