//! Types in the words of messages.

use crate::types::{Class, class_name};

/// Returns a type with its article: `an int`, `a float`, `a sequence [int]`, …
pub(super) fn article(shown: &str) -> String {
    match shown {
        "int" => "an int".to_owned(),
        "float" | "bool" | "char" => format!("a {shown}"),
        "[char]" => "a string".to_owned(),
        "a" => "a value of any type".to_owned(),
        "a :: (a in number)" => "a number".to_owned(),
        "a :: (a in ordinal)" => "an ordinal".to_owned(),
        "a :: (a in logical)" => "a logical".to_owned(),
        _ if in_parentheses(shown) => format!("a tuple {shown}"),
        _ if shown.contains(" -> ") => format!("a function {shown}"),
        _ if is_tuple(shown) => format!("a tuple ({shown})"),
        _ if shown.starts_with('[') => format!("a sequence {shown}"),
        _ => format!("a value of type {shown}"),
    }
}

/// Returns true if the text of a type has a comma outside of all brackets.
fn is_tuple(shown: &str) -> bool {
    let mut depth = 0usize;
    let shown = shown.split(" :: ").next().unwrap_or(shown);
    shown.chars().any(|c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
}

/// Returns true if a pair of parentheses encloses the text of a type: a tuple with a function in it.
fn in_parentheses(shown: &str) -> bool {
    let shown = shown.split(" :: ").next().unwrap_or(shown);
    let mut depth = 0usize;
    let closes = shown.chars().position(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    closes.is_some_and(|at| at > 0 && at + 1 == shown.chars().count())
}

pub(super) fn a_class(class: Class) -> String {
    match class {
        Class::Any => "anything".to_owned(),
        Class::Ordinal => "an ordinal".to_owned(),
        Class::Logical => "a logical".to_owned(),
        Class::Number => "a number".to_owned(),
        Class::Just(_) => article(class_name(class)),
    }
}

pub(super) fn list_of(shown: &[String]) -> String {
    let all: Vec<String> = shown.iter().map(|s| article(s)).collect();
    match &all[..] {
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
        [] => String::new(),
    }
}

pub(super) fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}
