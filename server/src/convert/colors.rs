//! Semantic tokens: whole, in a range, and as changes to those that a client has.
//!
//! LSP counts each token from the one before it, in lines and columns, and knows none of several
//! lines. Changes are found by what the old and the new ones have in common at both ends.

use crate::lines::Lines;
use nesl_core::ide::{Modifiers, SemanticToken, TokenKind};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};
use tower_lsp_server::ls_types as lsp;

const MODIFIERS: [&str; 4] = ["definition", "defaultLibrary", "unresolved", "parallel"];

/// The legend of the numbers of tokens.
pub fn legend() -> lsp::SemanticTokensLegend {
    lsp::SemanticTokensLegend {
        token_types: TokenKind::ALL.map(|kind| lsp::SemanticTokenType::new(name(kind))).to_vec(),
        token_modifiers: MODIFIERS.map(lsp::SemanticTokenModifier::new).to_vec(),
    }
}

/// The name that themes know.
fn name(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Keyword | TokenKind::Command => "keyword",
        TokenKind::Function => "function",
        TokenKind::Constructor => "class",
        TokenKind::Variable => "variable",
        TokenKind::Parameter => "parameter",
        TokenKind::Type => "type",
        TokenKind::TypeParameter => "typeParameter",
        TokenKind::Class => "interface",
        TokenKind::Operator => "operator",
        TokenKind::Number => "number",
        TokenKind::Text | TokenKind::Char => "string",
        TokenKind::Comment => "comment",
        TokenKind::Boolean => "enumMember",
    }
}

fn number(kind: TokenKind) -> u32 {
    TokenKind::ALL.iter().position(|own| *own == kind).unwrap_or_default() as u32
}

fn bits(modifiers: Modifiers) -> u32 {
    let Modifiers { definition, library, unresolved, parallel } = modifiers;
    let all = [definition, library, unresolved, parallel];
    all.iter().enumerate().map(|(i, set)| u32::from(*set) << i).sum()
}

/// Returns true if the spelling of a token alone decides its kind: a grammar knows it as well, and its parts, such as
/// the escapes in a string.
fn is_lexical(token: &SemanticToken) -> bool {
    match token.kind {
        TokenKind::Number | TokenKind::Text | TokenKind::Char | TokenKind::Comment => true,
        TokenKind::Keyword | TokenKind::Operator => token.modifiers == Modifiers::default(),
        _ => false,
    }
}

/// Tokens as LSP counts them; without those that a client colours by its `grammar`.
pub fn encode(lines: &Lines, tokens: &[SemanticToken], grammar: bool) -> Vec<lsp::SemanticToken> {
    let mut all = Vec::with_capacity(tokens.len());
    let mut last = lsp::Position::new(0, 0);
    let mut line = 0;
    for token in tokens.iter().filter(|token| !(grammar && is_lexical(token))) {
        // Tokens are in order, and nearly all are in one line: the next one is not far.
        let short = lines.in_line(token.range, &mut line);
        let pieces = match short {
            Some(range) => vec![range],
            None => {
                lines.pieces(token.range).into_iter().map(|piece| lines.lsp_range(piece)).collect()
            }
        };
        for lsp::Range { start, end } in pieces {
            let delta_line = start.line - last.line;
            let from = if delta_line == 0 { last.character } else { 0 };
            all.push(lsp::SemanticToken {
                delta_line,
                delta_start: start.character - from,
                length: end.character - start.character,
                token_type: number(token.kind),
                token_modifiers_bitset: bits(token.modifiers),
            });
            last = start;
        }
    }
    all
}

/// The tokens that clients were sent.
#[derive(Default)]
pub struct Sent(Mutex<State>);

#[derive(Default)]
struct State {
    count: u64,
    last: FxHashMap<lsp::Uri, (String, Vec<lsp::SemanticToken>)>,
}

impl Sent {
    /// Remembers what a client is sent, under a new name.
    pub fn whole(&self, uri: &lsp::Uri, data: Vec<lsp::SemanticToken>) -> lsp::SemanticTokens {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.count += 1;
        let id = state.count.to_string();
        state.last.insert(uri.clone(), (id.clone(), data.clone()));
        lsp::SemanticTokens { result_id: Some(id), data }
    }

    /// The changes to what a client has; everything, if it is not known what that is.
    pub fn delta(
        &self,
        uri: &lsp::Uri,
        known: &str,
        data: Vec<lsp::SemanticToken>,
    ) -> lsp::SemanticTokensFullDeltaResult {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = state.last.get(uri).filter(|(id, _)| id == known);
        let Some(edits) = before.map(|(_, old)| edits(old, &data)) else {
            drop(state);
            return lsp::SemanticTokensFullDeltaResult::Tokens(self.whole(uri, data));
        };
        state.count += 1;
        let id = state.count.to_string();
        state.last.insert(uri.clone(), (id.clone(), data));
        lsp::SemanticTokensFullDeltaResult::TokensDelta(lsp::SemanticTokensDelta {
            result_id: Some(id),
            edits,
        })
    }

    /// A document was closed.
    pub fn closed(&self, uri: &lsp::Uri) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).last.remove(uri);
    }
}

/// At most one change: what lies between the common beginning and the common end.
fn edits(old: &[lsp::SemanticToken], new: &[lsp::SemanticToken]) -> Vec<lsp::SemanticTokensEdit> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    if start == old.len() && start == new.len() {
        return Vec::new();
    }
    let ends = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = ends.take_while(|(a, b)| a == b).count();
    vec![lsp::SemanticTokensEdit {
        // Five numbers a token.
        start: 5 * start as u32,
        delete_count: 5 * (old.len() - start - end) as u32,
        data: Some(new[start..new.len() - end].to_vec()),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::Encoding;
    use nesl_core::db::Database;
    use nesl_core::ide::semantic_tokens;

    fn tokens(text: &str) -> Vec<lsp::SemanticToken> {
        let mut db = Database::new();
        let file = db.add_file("test.nesl", text, None);
        let lines = Lines::new(text, Encoding::Utf16);
        encode(&lines, &semantic_tokens(&db, file, None), false)
    }

    #[test]
    fn changes_make_the_new_out_of_the_old() {
        let texts = ["", "x = 1;", "x = 1;\ny = x;", "y = x;", "% a\n b %\ny = x + 2;"];
        for (old, new) in texts.iter().flat_map(|a| texts.iter().map(move |b| (a, b))) {
            let (old, new) = (tokens(old), tokens(new));
            let mut made = old.clone();
            for edit in edits(&old, &new) {
                let from = edit.start as usize / 5;
                let to = from + edit.delete_count as usize / 5;
                made.splice(from..to, edit.data.unwrap_or_default());
            }
            assert_eq!(made, new);
        }
    }

    #[test]
    fn point_21_what_a_grammar_knows_is_left_to_it() {
        let text = "% c %\nfunction g(x) = {x + \"a\\n\" : x in y};\nset verbose on;";
        let mut db = Database::new();
        let file = db.add_file("test.nesl", text, None);
        let lines = Lines::new(text, Encoding::Utf16);
        let tokens = semantic_tokens(&db, file, None);
        let numbers: Vec<u32> =
            encode(&lines, &tokens, true).iter().map(|token| token.token_type).collect();
        let kept = |kind: TokenKind| numbers.contains(&number(kind));
        assert!(!kept(TokenKind::Comment) && !kept(TokenKind::Text));
        assert!(kept(TokenKind::Function) && kept(TokenKind::Command) && kept(TokenKind::Operator));
        // Of operators and keywords, only those of an apply-to-each in parallel: `{`, `:`, `in`, `}`.
        let count = |kind| numbers.iter().filter(|own| **own == number(kind)).count();
        assert_eq!((count(TokenKind::Operator), count(TokenKind::Keyword)), (3, 1));
    }

    #[test]
    fn no_token_has_several_lines() {
        let text = "% a\n b %\nx = 1;";
        let all = tokens(text);
        assert_eq!(all[0].length, 3);
        assert_eq!((all[1].delta_line, all[1].delta_start, all[1].length), (1, 0, 4));
    }
}
