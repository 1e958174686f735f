//! The language server of NESL.
//!
//! Thin: what editors show is computed by [`nesl_core::ide`] as plain data; here it is asked for and
//! put into the words of LSP. `docs/book/src/protocol.md` has what is said beyond LSP.
//!
//! | module | what it does |
//! |---|---|
//! | [`backend`] | from requests to answers, a method each |
//! | [`capabilities`] | the capabilities of server and clients |
//! | [`world`] | the open documents, and the program that they are |
//! | [`reading`] | answers in threads of their own, which end when the text moves on |
//! | [`lines`] | positions, in UTF-8, UTF-16 or UTF-32 |
//! | [`convert`] | plain data in the terms of LSP |
//! | [`diagnostics`] | diagnostics after every change |
//! | [`layouts`] | formatting, which reuses the layouts of unchanged forms |
//! | [`preview`] | forms at the stages of the compiler |
//! | [`child`] | the processes of `nesl` that documents are given to |
//! | [`run`], [`cost`] | running documents and measuring forms, in processes of their own |
//! | [`library`] | the library's texts, for those who jump there |
//! | [`options`], [`protocol`] | options of clients; messages beyond LSP |

pub mod backend;
pub mod capabilities;
pub mod child;
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
use nesl_core::pipeline::Stages;
use std::path::PathBuf;
use tower_lsp_server::{LspService, Server};

/// Serves one client on standard input and output until it sends `exit`. `executable` is the program to run
/// programs with: `nesl` itself; `stages` are those that it can show, and `runtimes` those that it can use,
/// the default one first.
pub fn serve(
    executable: PathBuf,
    stages: Stages,
    runtimes: Vec<options::RuntimeChoice>,
) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        // Readings recurse: over nested programs, and from form to form. Only what is used is taken.
        .thread_stack_size(256 << 20)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let (service, socket) =
            LspService::build(|client| Backend::new(client, executable, stages, runtimes))
                .custom_method("nesl/stages", Backend::stages)
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
