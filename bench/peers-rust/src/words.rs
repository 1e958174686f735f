//! The word-count program.

use crate::data::Parameters;
use crate::{Run, program};
use rayon::prelude::*;
use std::collections::HashMap;

type Counts = HashMap<Vec<u8>, u64>;

/// Counts the occurrences of each word of a file, in one table for each part of the text, which are then
/// merged.
pub fn count(parameters: &Parameters) -> Run {
    let file = parameters.text("file");
    let text = std::fs::read(file).unwrap_or_else(|error| panic!("cannot read {file}: {error}"));
    let counted = move || -> Counts {
        let pieces = rayon::current_num_threads();
        let cut = |piece: usize| {
            let at = text.len() * piece / pieces;
            if at == 0 {
                return 0;
            }
            let word = text[at..].iter().position(u8::is_ascii_whitespace);
            word.map_or(text.len(), |more| at + more)
        };
        let tables: Vec<HashMap<&[u8], u64>> = (0..pieces)
            .into_par_iter()
            .map(|piece| {
                let mut table = HashMap::new();
                let words = text[cut(piece)..cut(piece + 1)].split(u8::is_ascii_whitespace);
                for word in words.filter(|word| !word.is_empty()) {
                    *table.entry(word).or_insert(0) += 1;
                }
                table
            })
            .collect();
        let mut all = Counts::new();
        for (word, n) in tables.into_iter().flatten() {
            *all.entry(word.to_vec()).or_insert(0) += n;
        }
        all
    };
    program(counted, |all| {
        let most = all.values().copied().max().unwrap_or(0);
        vec![all.len() as f64, all.values().sum::<u64>() as f64, most as f64]
    })
}
