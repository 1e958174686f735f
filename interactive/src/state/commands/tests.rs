//! Tests of the table of commands, and of what they answer.

mod answers;
mod places;

use super::*;
use nesl_core::syntax::entry::{COUNTED_COMMANDS, FORM_COMMANDS};

fn first(entry: &str, start: usize) -> Option<(Parsed<'_>, usize)> {
    Commands::default().first(entry, start)
}

fn complete(text: &str, cursor: usize) -> Option<Completions> {
    Commands::default().complete(text, cursor)
}

fn help_at(text: &str, cursor: usize) -> Option<String> {
    Commands::default().help_at(text, cursor)
}

#[test]
fn an_entry_begins_with_commands() {
    const FIRST: &str = "  :type 1 + 2\nx = 3;";
    let (command, after) = first(FIRST, 0).expect("a command");
    let command = command.expect("it is known");
    assert_eq!((command.command.name, command.operand), (":type", "1 + 2"));
    assert_eq!(&FIRST[after..], "\nx = 3;");
    // A form may be the rest of the entry.
    let (command, after) = first(":ti\nx = 3;\ny = 4;\n", 0).expect("a command");
    let command = command.expect("it may be shortened");
    assert_eq!((command.command.name, command.operand, after), (":time", "x = 3;\ny = 4;", 18));
    assert_eq!(command.whole, ":ti\nx = 3;\ny = 4;");
    assert!(first("x = 3; :type x", 0).is_none());
    // Comments may stand above a command; below one that lacks its form stands another command.
    let (command, after) = first("% a note %\n% another\none % :vars\n5", 0).expect("a command");
    assert_eq!((command.expect("it is known").command.name, after), (":vars", 32));
    assert!(first("% a note % x = 3;\n:vars", 0).is_none());
    let (command, after) = first(":time\n% a note %\n:vars", 0).expect("a command");
    assert_eq!((command.expect_err("it has no form"), after), ("write `:time [N] FORM`".into(), 5));
}

#[test]
fn a_form_that_is_begun_on_the_line_of_a_command_goes_on() {
    for (text, operand, after) in [
        (":time {x :\n x in y}", "{x :\n x in y}", 19),
        (":time 3 {x :\n x in y}\nz", "3 {x :\n x in y}", 21),
        (":ir flat {x :\n x in y}\n:vars", "flat {x :\n x in y}", 22),
        (":cost e given n = [1,\n2]\n:vars", "e given n = [1,\n2]", 24),
        (":type 1 +\n2", "1 +", 9),
        (":type {x :\n\n2", "{x :", 11),
        (":doc {\n1}", "{", 6),
    ] {
        let (command, end) = first(text, 0).expect("a command");
        assert_eq!((command.expect("known").operand, end), (operand, after), "{text}");
    }
}

#[test]
fn wrong_commands_are_told_how() {
    for (text, message) in [
        (":nothing 3", "there is no command `:nothing`; `:help` lists them"),
        (":type", "write `:type EXPR`"),
        (":time", "write `:time [N] FORM`"),
        (":vars all", "write `:vars`"),
        (":", "there is no command `:`; `:help` lists them"),
    ] {
        assert_eq!(first(text, 0).expect("a command").0.expect_err("wrong"), message);
    }
}

#[test]
fn commands_of_other_kernels_are_told_apart_from_comments() {
    for text in ["%time sort(xs)", "%%time\nx = 3;", "%matplotlib inline", "!ls -l"] {
        assert!(foreign(text).is_some(), "{text}");
    }
    for text in ["% a comment % 1 + 2;", "% a comment\nthat goes on % 3;", "%% 3;", "x = 3; % y %"]
    {
        assert_eq!(foreign(text), None, "{text}");
    }
}

#[test]
fn the_language_server_knows_which_commands_take_forms() {
    // Their operands may have words that are no NESL.
    let others = [":cost", ":kernels"];
    for command in COMMANDS {
        let name = command.name;
        let counted = command.operand == Operand::CountedForms;
        let has_forms =
            counted || matches!(command.operand, Operand::Forms | Operand::OptionalForms);
        assert_eq!(FORM_COMMANDS.contains(&name), has_forms && !others.contains(&name), "{name}");
        assert_eq!(COUNTED_COMMANDS.contains(&name), counted, "{name}");
    }
}

#[test]
fn every_command_is_described() {
    for command in COMMANDS {
        assert!(command.name.starts_with(':') && !command.about.is_empty(), "{command:?}");
        assert!(command.doc.ends_with('.') || command.doc.is_empty(), "{command:?}");
        assert!(!command.doc.is_empty(), "{command:?}");
        assert_eq!(command.usage.is_empty(), command.operand == Operand::None, "{command:?}");
    }
}

#[test]
fn commands_and_their_operands_are_completed() {
    let texts = |text: &str| -> Vec<String> {
        let found = complete(text, text.len()).expect("a command");
        found.all.into_iter().map(|completion| completion.text).collect()
    };
    assert_eq!(texts(":ty"), [":type"]);
    assert_eq!(texts("x = 3;\n:st"), [":stats"]);
    assert_eq!(texts(":set pre"), ["precision"]);
    assert_eq!(texts(":set precision "), ["32", "64"]);
    // Notebooks do not have those of the prompt.
    assert_eq!(texts(":set p"), ["precision", "print_length"]);
    assert_eq!(texts(":set r"), ["runtime"]);
    assert!(texts(":set editing ").is_empty());
    static QUIT: Command = Command::of_front(":quit", Operand::None, "", "leave", "");
    static EXTRA: [&Command; 1] = [&QUIT];
    let prompt = Commands { extra: &EXTRA, ..Commands::default() };
    let of_prompt = prompt.complete(":set ", 5).expect("a command").all;
    assert!(of_prompt.iter().any(|setting| setting.text == "rows"));
    assert!(!of_prompt.iter().any(|setting| setting.text == "idle"));
    assert_eq!(texts(":help :fl"), [":flatten"]);
    assert!(texts(":ir ").contains(&"kir".to_owned()));
    assert_eq!(texts(":ir fus"), ["fused"]);
    assert_eq!(complete(":ir kir fus", 11), None);
    assert_eq!(complete(":type pre", 9), None);
    assert_eq!(complete("pre", 3), None);
    assert!(help_at(":type x", 3).is_some_and(|help| help.starts_with("```\n:type EXPR\n```\n")));
    assert_eq!(help_at(":type x", 7), None);
}

#[test]
fn a_stage_may_stand_before_the_rest_of_the_entry() {
    let (command, after) = first(":ir flat\nsum([1]);", 0).expect("a command");
    assert_eq!((command.expect("known").operand, after), ("flat\nsum([1]);", 18));
    let (command, after) = first(":ir dot\nsum([1]);", 0).expect("a command");
    assert_eq!((command.expect("known").operand, after), ("dot", 7));
}

#[test]
fn what_commands_take_is_all_that_is_left_of_them() {
    let as_program = |text| Commands::default().as_program(text);
    assert_eq!(as_program(":doc plus"), "     plus;");
    assert_eq!(as_program(":vars\n:ir kir f"), "     \n        f;");
    assert_eq!(as_program(":load f\nsum(x)"), "       \nsum(x);");
    assert_eq!(as_program(":ti 5 sum(x)"), "      sum(x);");
    // A colon at the beginning of a line inside a form begins no command.
    assert_eq!(as_program("{a\n: a in x}"), "{a\n: a in x};");
}
