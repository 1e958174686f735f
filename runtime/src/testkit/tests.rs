//! The kit against the interpreter, and the generator against the law.

use super::generate::{Generated, generate};
use super::*;
use crate::kir::reference::Reference;
use crate::kir::{print, verify};
use proptest::prelude::*;

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

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_modules_are_lawful_and_their_texts_survive(bytes in bytes(), recursion: bool) {
        let Generated { module, .. } = generate(&bytes, recursion);
        let text = print(&module);
        prop_assert_eq!(verify(&module), Ok(()), "{}", text);
        let again = parse(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(print(&again), text);
    }

    #[test]
    fn random_modules_can_be_executed(bytes in bytes(), recursion: bool) {
        let Generated { module, args, written } = generate(&bytes, recursion);
        let one = Reference::new(Options::default());
        let other = Reference::new(Options::default());
        let same = differ(&module, 0, &args, &written, &one, &other);
        prop_assert_eq!(same, Ok(()), "{}", print(&module));
        prop_assert_eq!(one.counters().bytes, 0);
    }

    #[test]
    fn broken_texts_are_refused_or_printed(
        bytes in bytes(),
        place: prop::sample::Index,
        length in 0..6usize,
        with in "[ -~]{0,5}|v[0-9]{1,10}|yield|if|\\{|\\}",
    ) {
        let mut text = print(&generate(&bytes, true).module);
        let start = place.index(text.len());
        let end = (start + length).min(text.len());
        text.replace_range(start..end, &with);
        if let Ok(module) = parse(&text) {
            // Whatever it is, it can be looked at.
            let printed = print(&module);
            if verify(&module).is_ok() {
                prop_assert_eq!(parse(&printed).map(|module| print(&module)), Ok(printed));
            }
        }
    }
}

/// The generated modules differ from each other.
#[test]
fn random_modules_have_everything() {
    let mut seen = std::collections::HashSet::new();
    let mut failed = 0;
    for seed in 0..400u64 {
        let bytes: Vec<u8> = (0..300).map(|i| crate::random::bits(seed, i) as u8).collect();
        let Generated { module, args, .. } = generate(&bytes, true);
        let text = print(&module);
        seen.extend(text.split_whitespace().map(str::to_string));
        let runtime = Reference::new(Options::default());
        failed += usize::from(run(&module, 0, &args, &runtime).is_err());
    }
    for word in [
        "call",
        "extern",
        "compact",
        "while",
        "for",
        "reduce",
        "scan",
        "pack",
        "scatter",
        "histogram",
        "emit",
        "copy",
        "slice",
        "fma",
        "select",
        "bits",
        "convert",
        "check",
        "fail",
        "text",
        "then",
        "segmented",
        "regular",
        "flat",
        "segment",
    ] {
        assert!(seen.contains(word), "{word}");
    }
    assert!((1..200).contains(&failed), "{failed} of 400 fail");
}
