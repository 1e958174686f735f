//! Tests the library as a whole: it has no errors, all functions are annotated and documented, and
//! their examples are well typed. (The values of the examples are tested where programs run.)

use nesl_core::db::{Before, Database, FileId};
use nesl_core::prelude::{ADDED, DocString, FILES, OPERATORS, parse_charge, parse_doc};
use nesl_core::prim::{self, Prim};
use nesl_core::syntax::RawKind;
use nesl_core::syntax::ast::{Function, ItemKind};

/// The functions of the library, each with the name of its file.
fn functions(db: &Database) -> Vec<(&'static str, Function)> {
    let mut found = Vec::new();
    for (file, (name, _)) in db.library().into_iter().zip(FILES) {
        for form in &db.outline(file).forms {
            if let ItemKind::Function(function) = &db.ast(form.id()).kind {
                found.push((*name, function.clone()));
            }
        }
    }
    found
}

fn doc_of(function: &Function) -> DocString {
    parse_doc(function.doc.as_deref().unwrap_or_default())
}

/// The errors of a file, as text.
fn errors(db: &Database, file: FileId) -> Vec<String> {
    let outline = db.outline(file);
    let forms = outline.forms.iter().filter(|form| form.kind != RawKind::Blank);
    forms
        .flat_map(|form| db.diagnostics(form.id()))
        .map(|d| {
            let text = db.file_text(file);
            let at = usize::from(d.primary.at.range.start());
            let line = text[..at].lines().count();
            format!("{}:{line}: {d:?}", db.file_name(file))
        })
        .collect()
}

#[test]
fn the_library_has_no_errors() {
    let db = Database::new();
    let wrong: Vec<String> = db.library().into_iter().flat_map(|file| errors(&db, file)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_function_is_annotated_and_documented() {
    for (file, function) in functions(&Database::new()) {
        let name = &function.name.name;
        let doc = doc_of(&function);
        assert!(function.annotation.is_some(), "{name} has no type");
        assert!(doc.text.ends_with('.') || doc.text.ends_with(')'), "{name}: {:?}", doc.text);
        assert!(doc.cost.is_some(), "{name} has no cost");
        // Some have an effect outside; some always fail.
        let outside = ["io.nesl", "formats.nesl"].contains(&file)
            || ["w_get_", "get_mouse_"].iter().any(|prefix| name.folded().starts_with(prefix));
        if !prim::is_internal(name.folded()) && !outside {
            assert!(!doc.examples.is_empty(), "{name} has no example");
        }
    }
}

#[test]
fn costs_that_look_like_formulas_are_formulas() {
    for (_, function) in functions(&Database::new()) {
        let cost = doc_of(&function).cost.unwrap_or_default();
        let params: Vec<&str> = cost
            .split(['S', 'L'])
            .filter_map(|part| part.strip_prefix('(')?.split(')').next())
            .collect();
        if cost.starts_with("W = ") && (cost.ends_with("D = 1") || cost.ends_with("(scan)")) {
            let formula = parse_charge(&cost, &params);
            assert!(formula.is_some() || cost.contains("log") || cost.contains("sort"), "{cost}");
        }
    }
}

#[test]
fn every_example_is_typed() {
    let mut db = Database::new();
    let mut examples: Vec<String> = Vec::new();
    for (_, function) in functions(&db) {
        for (source, value) in doc_of(&function).examples {
            assert!(!value.is_empty(), "{source}");
            examples.push(source);
        }
    }
    let rows = Prim::all().filter_map(|prim| prim.row().example.split_once(" → "));
    examples.extend(rows.map(|(source, _)| source.to_owned()));
    let text: String = examples.iter().map(|source| format!("{source};\n")).collect();
    let last = *db.library().last().expect("there are library files");
    let file = db.add_file("examples", &text, Some(Before::all(last)));
    let wrong = errors(&db, file);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn operators_and_additions_exist() {
    let db = Database::new();
    let known = db.library().into_iter().flat_map(|file| {
        let outline = db.outline(file);
        outline.forms.iter().flat_map(|form| form.names.to_vec()).collect::<Vec<_>>()
    });
    let known: Vec<String> = known.map(|name| name.folded().to_owned()).collect();
    for (operator, function) in OPERATORS {
        assert!(known.iter().any(|name| name == function), "{operator}");
        assert!(Prim::find(operator).is_none(), "{operator}");
    }
    for name in ADDED {
        assert!(known.iter().any(|k| k == name) || Prim::find(name).is_some(), "{name}");
    }
    for name in &known {
        assert!(Prim::find(name).is_none(), "{name} is a primitive, too");
    }
}
