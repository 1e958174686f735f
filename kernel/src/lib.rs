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
//! | `execute`, `cell` | a request to run a cell; what comes of it → messages |
//! | `printed`, `media` | what a cell prints, and a limit on it; what it shows, in every form |
//! | `ask`, `cursor` | completion, inspection, is it complete; characters and bytes |
//! | `history`, `info`, `input` | the cells so far; what the kernel is; lines that programs read |
//! | `publish`, `wire` | the queue of what everybody sees; requests and replies as messages |
//! | `parent` | the process that started the kernel |

mod ask;
mod cell;
mod cursor;
mod execute;
mod history;
mod info;
mod input;
mod kernel;
mod media;
mod parent;
mod printed;
mod publish;
pub mod serve;
mod wire;
