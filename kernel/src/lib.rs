//! The Jupyter kernel of NESL: a session behind the sockets of Jupyter's messaging protocol.
//!
//! ```text
//! shell, control ─▶ wire ─▶ kernel ─┬▶ execute ─▶ the session's thread ─▶ cell ─┐
//!                                   ├▶ ask (a thread of its own) ─▶ replies     ├▶ publish ─▶ iopub
//!                                   └▶ answered at once ─▶ replies              ┘
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`serve`] | the process: sockets, signals, the end |
//! | `kernel` | who answers which request |
//! | `kernel::execute`, `cell` | a request to run a cell; what comes of it → messages |
//! | `printed`, `media` | what a cell prints, and a limit on it; what it shows, in every form |
//! | `ask`, `cursor`, `question` | completion, inspection, is it complete; characters and bytes; `name?` |
//! | `history`, `info`, `input` | the cells so far; what the kernel is; lines that programs read |
//! | `publish`, `relay` | the queue of what everybody sees; clients that do not read it |
//! | `replies` | messages to single clients, there or not yet |
//! | `wire` | requests and replies as messages |
//! | `parent` | the process that started the kernel |
//! | [`install`], [`places`] | what Jupyter must know of the kernel; where it looks for that |
//! | [`doctor`], [`client`], `ports` | why the kernel does not work; a client of a kernel's process; its ports |

mod ask;
mod cell;
pub mod client;
mod cursor;
pub mod doctor;
mod history;
mod info;
mod input;
pub mod install;
mod kernel;
mod media;
mod parent;
pub mod places;
mod ports;
mod printed;
mod publish;
mod question;
mod relay;
mod replies;
pub mod serve;
mod wire;

/// Says on standard error, which Jupyter keeps, what is wrong with what came or went.
fn log(what: impl std::fmt::Display) {
    eprintln!("nesl kernel {}: {what}", info::VERSION);
}
