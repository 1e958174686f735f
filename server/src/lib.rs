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
//! | [`workspace`] | the programs in the open folders |
//! | [`reading`] | answers in threads of their own, which end when the text moves on |
//! | [`lines`] | positions, in UTF-8, UTF-16 or UTF-32 |
//! | [`convert`] | plain data in the terms of LSP |
//! | [`diagnostics`], [`queue`] | diagnostics after every change; the documents that wait for them |
//! | [`loads`] | diagnostics of `load` forms |
//! | [`kept`] | lenses and hints of forms that are broken at the moment |
//! | [`layouts`] | formatting, which reuses the layouts of unchanged forms |
//! | [`paths`] | completions of the names of files |
//! | [`preview`] | forms at the stages of the compiler |
//! | [`remembered`] | colours, outline and lenses, of which unchanged forms are not asked again |
//! | [`renames`] | `load` forms when files are renamed |
//! | [`child`] | the processes of `nesl` that documents are given to |
//! | [`showing`] | hovers, lenses, hints and completions |
//! | [`run`], [`cost`] | running documents and measuring forms, in processes of their own |
//! | [`library`] | the library's texts, for those who jump there |
//! | [`options`], [`protocol`] | options of clients; messages beyond LSP |
//! | [`large`] | answers that are written as text at once |
//! | [`wire`], [`parent`] | messages as bytes; the client's process |

pub mod backend;
pub mod capabilities;
pub mod child;
pub mod convert;
pub mod cost;
pub mod diagnostics;
pub mod kept;
pub mod large;
pub mod layouts;
pub mod library;
pub mod lines;
pub mod loads;
pub mod options;
pub mod parent;
pub mod paths;
pub mod preview;
pub mod protocol;
pub mod queue;
pub mod reading;
pub mod remembered;
pub mod renames;
pub mod run;
pub mod showing;
pub mod wire;
pub mod workspace;
pub mod world;
pub mod written;

use backend::Backend;
use large::Large;
use nesl_core::pipeline::Stages;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Mutex;
use tower_lsp_server::{LspService, Server};

/// The bytes that are on their way between the client and the dispatcher at most.
const PIPE_BYTES: usize = 256 << 10;

/// Serves one client on standard input and output until it sends `exit`; returns the exit code of the
/// program, which is 0 if the client ended as the protocol says. `executable` is the program to run
/// programs with: `nesl` itself; `stages` are those that it can show, and `runtimes` those that it can use,
/// the default one first.
pub fn serve(
    executable: PathBuf,
    stages: Stages,
    runtimes: Vec<options::RuntimeChoice>,
) -> std::io::Result<u8> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        // Readings recurse: over nested programs, and from form to form. Only what is used is taken.
        .thread_stack_size(256 << 20)
        .enable_all()
        .build()?;
    let ended = runtime.block_on(async {
        let large = Arc::<Large>::default();
        let (service, socket) = LspService::build(|client| {
            Backend::new(client, executable, stages, runtimes, large.clone())
        })
        .custom_method("nesl/stages", Backend::stages)
        .custom_method("nesl/ir", Backend::ir)
        .custom_method("nesl/segments", Backend::segments)
        .custom_method("nesl/run", Backend::run)
        .custom_method("nesl/stop", Backend::stop)
        .custom_method("nesl/cost", Backend::cost)
        .custom_method("nesl/library", Backend::library)
        .custom_method("nesl/hover", Backend::hover_of_selection)
        .custom_method("nesl/large/tokens", Backend::large_tokens)
        .custom_method("nesl/large/tokensDelta", Backend::large_tokens_delta)
        .custom_method("nesl/large/outline", Backend::large_outline)
        .custom_method("nesl/large/lenses", Backend::large_lenses)
        .custom_method("nesl/large/folds", Backend::large_folds)
        .finish();
        let (to_dispatcher, dispatcher_in) = tokio::io::duplex(PIPE_BYTES);
        let (dispatcher_out, from_dispatcher) = tokio::io::duplex(PIPE_BYTES);
        let output = Mutex::new(tokio::io::stdout());
        // With few at a time, slow requests would hold up quick ones.
        let dispatched = Server::new(dispatcher_in, dispatcher_out, socket)
            .concurrency_level(256)
            .serve(service);
        let reading = wire::incoming(tokio::io::stdin(), to_dispatcher, &output);
        let (ended, (), ()) =
            tokio::join!(reading, dispatched, wire::outgoing(from_dispatcher, &output, &large));
        ended
    });
    if let Some(why) = &ended.broken {
        eprintln!("nesl lsp: {why}");
    }
    // A reading that is still under way is of no use to anybody.
    runtime.shutdown_background();
    Ok(ended.code())
}
