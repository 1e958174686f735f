//! The commands that only the prompt has. All others are those of the table that notebooks have, too
//! ([`nesl_interactive::state::commands`]).

use nesl_interactive::state::commands::{Command, Operand};

/// Reads again what the files define.
pub static RELOAD: Command = Command::of_front(
    ":reload",
    Operand::OptionalForms,
    "[FORM]",
    "read again what the session's files define, and run a form",
    "The files are those of `nesl repl FILE`.",
);

/// Opens an editor.
pub static EDIT: Command = Command::of_front(
    ":edit",
    Operand::Definition,
    "[NAME|FILE]",
    "edit the last entry, a definition or a file, and run it",
    "The editor is `$VISUAL`, or else `$EDITOR`, or vi. A name is that of a definition; a file has a `.` or a `/` \
     in its name. What is saved runs; if nothing was changed, nothing does.",
);

/// Ends the session.
pub static QUIT: Command =
    Command::of_front(":quit", Operand::None, "", "leave (also Ctrl-D)", "The session ends.");

/// The commands of the prompt, in the order of the help.
pub static EXTRA: &[&Command] = &[&RELOAD, &EDIT, &QUIT];
