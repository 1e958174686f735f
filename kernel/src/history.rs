//! The cells that were run, as clients ask for them.

use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashSet;

/// The number that requests know this session by. Sessions are not kept after their end.
const SESSION: i64 = 1;

/// The cells that were run.
#[derive(Default)]
pub struct History {
    /// The number and the text of each.
    cells: Vec<(usize, String)>,
}

/// A request, with defaults for what clients omit.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub struct Asked {
    hist_access_type: String,
    output: bool,
    session: i64,
    start: i64,
    stop: Option<i64>,
    n: Option<usize>,
    pattern: String,
    unique: bool,
}

impl Default for Asked {
    fn default() -> Asked {
        Asked {
            hist_access_type: "tail".to_owned(),
            output: false,
            session: 0,
            start: 0,
            stop: None,
            n: None,
            pattern: "*".to_owned(),
            unique: false,
        }
    }
}

impl History {
    /// Adds a cell.
    pub fn push(&mut self, number: usize, text: &str) {
        self.cells.push((number, text.to_owned()));
    }

    /// Returns the cells that a request asks for, as the reply lists them.
    pub fn answer(&self, asked: &Asked) -> Vec<Value> {
        let chosen: Vec<&(usize, String)> = match asked.hist_access_type.as_str() {
            "range" => self.range(asked),
            "search" => self.search(asked),
            _ => self.cells.iter().collect(),
        };
        let last = match asked.hist_access_type.as_str() {
            "range" => chosen.len(),
            _ => asked.n.unwrap_or(chosen.len()),
        };
        let chosen = &chosen[chosen.len().saturating_sub(last)..];
        let entry = |(number, text): &&(usize, String)| {
            if asked.output {
                // What cells showed is in the notebook.
                json!([SESSION, number, [text, null]])
            } else {
                json!([SESSION, number, text])
            }
        };
        chosen.iter().map(entry).collect()
    }

    /// Session 0 is this one, and so is its number; others are not known.
    fn range(&self, asked: &Asked) -> Vec<&(usize, String)> {
        if asked.session != 0 && asked.session != SESSION {
            return Vec::new();
        }
        let stop = asked.stop.unwrap_or(i64::MAX);
        let inside = |number: usize| (asked.start..stop).contains(&(number as i64));
        self.cells.iter().filter(|(number, _)| inside(*number)).collect()
    }

    fn search(&self, asked: &Asked) -> Vec<&(usize, String)> {
        let pattern: Vec<char> = asked.pattern.chars().collect();
        let matching = self.cells.iter().filter(|(_, text)| {
            let text: Vec<char> = text.chars().collect();
            matches(&pattern, &text)
        });
        let mut found: Vec<_> = matching.collect();
        if asked.unique {
            // The latest of each.
            let mut seen = HashSet::new();
            found =
                found.into_iter().rev().filter(|(_, text)| seen.insert(text.as_str())).collect();
            found.reverse();
        }
        found
    }
}

/// Returns true if a text is as a pattern says, in which `*` is any text and `?` any character.
fn matches(pattern: &[char], text: &[char]) -> bool {
    let (mut at, mut place) = (0, 0);
    // The last `*`, and where what follows it was tried last.
    let mut star: Option<(usize, usize)> = None;
    while place < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(c) if *c == '?' || *c == text[place] => {
                at += 1;
                place += 1;
            }
            _ => match star {
                Some((begin, tried)) => {
                    star = Some((begin, tried + 1));
                    at = begin + 1;
                    place = tried + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at.min(pattern.len())..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(asked: Value) -> Vec<usize> {
        let mut history = History::default();
        for (number, text) in ["a = 1", "sum(a)", "b = 2", "sum(a)"].iter().enumerate() {
            history.push(number + 1, text);
        }
        let asked: Asked = serde_json::from_value(asked).expect("a request");
        let number = |entry: &Value| entry[1].as_u64().expect("a number") as usize;
        history.answer(&asked).iter().map(number).collect()
    }

    #[test]
    fn the_three_ways_to_ask() {
        assert_eq!(answer(json!({"hist_access_type": "tail", "n": 2})), [3, 4]);
        assert_eq!(answer(json!({})), [1, 2, 3, 4]);
        assert_eq!(answer(json!({"hist_access_type": "range", "start": 2, "stop": 4})), [2, 3]);
        assert_eq!(answer(json!({"hist_access_type": "range", "session": 1})), [1, 2, 3, 4]);
        assert_eq!(answer(json!({"hist_access_type": "range", "session": 7})), [0; 0]);
        let search = |unique: bool, n: Option<usize>| json!({"hist_access_type": "search", "pattern": "s?m*", "unique": unique, "n": n});
        assert_eq!(answer(search(false, None)), [2, 4]);
        assert_eq!(answer(search(true, None)), [4]);
        assert_eq!(answer(search(false, Some(1))), [4]);
        assert_eq!(answer(json!({"hist_access_type": "search", "pattern": "sum"})), [0; 0]);
    }
}
