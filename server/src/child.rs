//! The program that is given to a child process: the text of a document, less the forms that the run
//! does not need.
//!
//! Lines keep their numbers, since the child process reports values and problems by line.

/// Adds a form to a program that is to be run, or, if it is not needed, the lines that it takes.
pub(crate) fn add_form(program: &mut String, form: &str, needed: bool) {
    if needed {
        program.push_str(form);
    } else {
        program.extend(form.chars().filter(|c| *c == '\n'));
    }
}
