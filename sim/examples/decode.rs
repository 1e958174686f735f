//! Decodes PTX files as the simulated driver does, and prints what it refuses.
//!
//! `cargo run -p nesl-sim --example decode -- kernel.ptx …`; other arguments than files that end
//! in `.ptx` are ignored, so that it can stand in where a `ptxas` is asked for.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut refused = false;
    for path in std::env::args().skip(1).filter(|argument| argument.ends_with(".ptx")) {
        let outcome = std::fs::read_to_string(&path)
            .map_err(|error| error.to_string())
            .and_then(|text| nesl_sim::ptx::parse(&text).map_err(|error| error.to_string()));
        if let Err(reason) = outcome {
            eprintln!("{path}: {reason}");
            refused = true;
        }
    }
    ExitCode::from(u8::from(refused))
}
