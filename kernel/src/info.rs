//! The reply in which the kernel says what it is.

use crate::wire::{self, PROTOCOL_VERSION};
use jupyter_protocol::JupyterMessageContent;
use serde_json::json;

/// The version of the kernel and of the language: that of the program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the reply to `kernel_info_request`.
pub fn reply() -> JupyterMessageContent {
    wire::content(
        "kernel_info_reply",
        json!({
            "status": "ok",
            "protocol_version": PROTOCOL_VERSION,
            "implementation": "nesl",
            "implementation_version": VERSION,
            "language_info": {
                "name": "nesl",
                "version": VERSION,
                "mimetype": "text/x-nesl",
                "file_extension": ".nesl",
                "pygments_lexer": "nesl",
                "codemirror_mode": "nesl",
                "nbconvert_exporter": "script",
            },
            "banner": format!(
                "NESL {VERSION}: nested data parallelism. `:help` tells what there is."
            ),
            "help_links": [
                {
                    "text": "NESL: a nested data-parallel language",
                    "url": "https://www.cs.cmu.edu/~scandal/nesl.html",
                },
            ],
            "debugger": false,
            "supported_features": [],
        }),
    )
}
