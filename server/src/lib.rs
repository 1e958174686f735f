//! The language server of NESL.
//!
//! Thin: what editors show is computed by [`nesl_core::ide`] as plain data; here it is asked for and
//! put into the words of LSP. `docs/book/src/protocol.md` has what is said beyond LSP.
//!
//! | module | what it does |
//! |---|---|
//! | [`backend`] | from requests to answers, a method each |
//! | [`capabilities`] | what the server tells that it can do |
//! | [`world`] | the open documents, and the program they make |
//! | [`reading`] | answers in threads of their own, which end when the text moves on |
//! | [`lines`] | positions, in UTF-8, UTF-16 or UTF-32 |
//! | [`convert`] | plain data in the terms of LSP |
//! | [`diagnostics`] | what is wrong is told after every change |
//! | [`layouts`] | formatting, with what is known of forms from the last time |
//! | [`preview`] | forms as the compiler's stages see them |
//! | [`run`], [`cost`] | running documents and measuring forms, in processes of their own |
//! | [`library`] | the library's texts, for those who jump there |
//! | [`options`], [`protocol`] | what clients may choose; what is said beyond LSP |

pub mod backend;
pub mod capabilities;
mod child;
pub mod convert;
pub mod cost;
pub mod diagnostics;
pub mod layouts;
pub mod library;
pub mod lines;
pub mod options;
pub mod preview;
pub mod protocol;
pub mod reading;
pub mod run;
pub mod world;

use backend::Backend;
use std::path::PathBuf;
use tower_lsp_server::{LspService, Server};

/// Serves one client on standard input and output until it says goodbye. `executable` is the
/// program to run programs with: `nesl` itself.
pub fn serve(executable: PathBuf) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        // Readings recurse: over nested programs, and from form to form. Only what is used is taken.
        .thread_stack_size(256 << 20)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let (service, socket) = LspService::build(|client| Backend::new(client, executable))
            .custom_method("nesl/ir", Backend::ir)
            .custom_method("nesl/segments", Backend::segments)
            .custom_method("nesl/run", Backend::run)
            .custom_method("nesl/stop", Backend::stop)
            .custom_method("nesl/cost", Backend::cost)
            .custom_method("nesl/library", Backend::library)
            .finish();
        // With few at a time, slow requests would hold up quick ones.
        Server::new(tokio::io::stdin(), tokio::io::stdout(), socket)
            .concurrency_level(256)
            .serve(service)
            .await;
    });
    // A reading that is still under way is of no use to anybody.
    runtime.shutdown_background();
    Ok(())
}
