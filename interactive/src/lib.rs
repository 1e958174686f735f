//! Provides what an interactive front end needs besides a session; the prompt and the Jupyter kernel share it.
//!
//! | module | contents |
//! |---|---|
//! | [`entry`] | is a typed text complete; its terminator; what the next line is indented by: of `core` |
//! | [`state`] | a session, and what its commands may change: an entry → outputs |
//! | [`worker`] | the same on a thread of its own, with interrupts that are never lost |
//! | [`output`] | what comes of an entry, as it happens |
//! | [`assist`] | completion and inspection at a cursor, while the session runs |
//! | [`state::commands`] | the commands that begin with a colon: one table |
//! | [`display`] | values and pictures → text, HTML, SVG and plots |
//! | [`raster`] | pictures in pixels, for terminals that show images |
//! | [`message`] | diagnostics → text, with or without colours, and HTML |
//! | [`serve`] | the worker for another program, through pipes: JSON, and arrays as columns |
//! | [`completion`] | the texts that may stand at a cursor, as data |
//! | [`html`] | text, with the colours of a terminal, → HTML |
//! | [`bundle`] | something to show, in every form that a front end may choose |
//! | [`growth`] | work and depth over several sizes, and the laws that fit them |
//! | [`measure`] | times, memory and counters → lines and JSON |
//! | [`table`], [`text`], [`unknown`] | columns of text; lines and columns of offsets; undefined names |
//! | [`runtimes`] | the runtimes that a program offers, as data |

pub mod assist;
pub mod bundle;
pub mod completion;
mod css;
pub mod display;
pub mod growth;
pub mod html;
pub mod json;
pub mod measure;
pub mod message;
pub mod output;
pub mod raster;
pub mod runtimes;
pub mod serve;
pub mod state;
pub mod table;
pub mod text;
pub mod unknown;
pub mod worker;

pub use nesl_core::syntax::entry;
