use super::*;
use crate::kir::reference::Reference;
use crate::kir::{print, verify};

#[test]
fn the_reference_passes() {
    suite(&|options| Box::new(Reference::new(options)));
}

#[test]
fn cases_are_lawful_and_their_texts_survive() {
    let mut names = std::collections::HashSet::new();
    for case in cases() {
        let module = case.module();
        assert_eq!(verify(&module), Ok(()), "{}", case.text);
        assert_eq!(parse(&print(&module)).as_ref(), Ok(&module), "{}", case.text);
        names.insert(case.name);
    }
    assert!(names.len() > 1000);
}
