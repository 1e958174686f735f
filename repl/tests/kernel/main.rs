//! The Jupyter kernel as a process, driven by a client over its sockets.

mod absent;
mod class;
mod client;
mod end;
mod install;
mod interrupts;
mod load;
mod messages;
mod refused;
mod shown;
mod testbed;
