//! The world outside the language: files, streams, formats, the shell.
