//! Tests of messages about the operands of commands: they quote what was typed, at its place.

use super::answers::{said, state};
use crate::state::State;

#[test]
fn errors_in_the_forms_of_commands_have_their_places_in_the_entry() {
    let mut state = state();
    let place = |state: &mut State, text: &str| {
        let answer = said(state, text);
        let line = answer.lines().find(|line| line.contains("In ["));
        line.map_or(answer.clone(), |line| line.trim_matches([' ', '╭', '─', '[', ']']).to_owned())
    };
    for command in [":type", ":time", ":cost", ":flatten", ":ir flat", ":kernels", ":plot"] {
        let column = command.len() + 7;
        let answer = place(&mut state, &format!("{command} {{1 + nothing : x in [1]}}"));
        assert!(answer.ends_with(&format!(":1:{column}")), "{command}: {answer}");
        let answer = place(&mut state, &format!("\n{command}\n\n  nothing"));
        assert!(answer.ends_with(":4:3"), "{command}: {answer}");
    }
}

#[test]
fn errors_in_what_is_put_together_are_shown_as_it_was_typed() {
    let mut state = state();
    for (entry, place, line) in [
        (":cost {1/0 : i in [0:n]} for n = 10, 20", ":1:8", ""),
        ("\n:cost\n  nothing(n) for n = 10", ":3:3", "  nothing(n) for n = 10"),
        (":cost nothing for n = 10, 20", ":1:7", ""),
        (":cost #\"é\" + k given k = 3; xs = [0:n/0] for n = 10", ":1:37", ""),
        (":cost sum(xs) given xs = [0:q]", ":1:29", ""),
        (":cost sum(xs) given xs = [0: ; k = 3", ":1:26", ""),
        (":cost 1 + given xs = [0:9]", ":1:10", ""),
        (":cost function g(x) = x given xs = [0:9]", ":1:7", ""),
    ] {
        let answer = said(&mut state, entry);
        assert!(answer.contains(&format!("In [1]{place} ")), "{entry}: {answer}");
        let line = if line.is_empty() { entry } else { line };
        assert!(answer.contains(&format!("│ {line}\n")), "{entry}: {answer}");
        assert!(!answer.contains('$') && !answer.contains("let"), "{entry}: {answer}");
    }
    assert!(said(&mut state, ":full").starts_with("Command error: there is no value yet"));
}

#[test]
fn messages_show_what_was_typed() {
    let mut state = state();
    for (text, message, line) in [
        ("1 +", "Syntax error: expected an expression after `+`\n", " 1 │ 1 +\n"),
        ("[1, 2][7]", "Runtime error: ", " 1 │ [1, 2][7]\n"),
        ("[1, 2][7];", "Runtime error: ", " 1 │ [1, 2][7];\n"),
        (":type 1 + nowhere", "Name error: ", " 1 │ :type 1 + nowhere\n"),
        (":type 1 +", "Syntax error: expected an expression after `+`\n", " 1 │ :type 1 +\n"),
        (":cost nowhere", "Name error: ", " 1 │ :cost nowhere\n"),
        (":ir flat nowhere", "Name error: ", " 1 │ :ir flat nowhere\n"),
    ] {
        let said = said(&mut state, text);
        assert!(said.starts_with(message) && said.contains(line), "{text}: {said}");
    }
}
