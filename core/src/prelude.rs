//! The library written in NESL (temporary).
pub const FILES: &[(&str, &str)] = &[];
pub struct Doc { pub text: String, pub examples: Vec<(String, String)>, pub cost: Option<String> }
pub fn parse_doc(doc: &str) -> Doc { Doc { text: doc.to_owned(), examples: vec![], cost: None } }
pub fn parse_charge(_: &str, _: &[&str]) -> Option<crate::ir::Charge> { None }
pub fn is_protected(_: &str) -> bool { true }
