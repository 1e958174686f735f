//! Everything that is emitted is accepted by `ptxas`, NVIDIA's assembler.
//!
//! `NESL_PTXAS` names it; without one the texts are only made. It needs no toolkit: the package
//! `nvidia-cuda-nvcc` of PyPI has it.

use nesl_runtime::testkit::cases;
use nesl_runtime_ptx::emit::emit;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

/// Returns the complaint of `ptxas` about a text, if it is there and has one.
fn complaint(text: &str) -> Option<String> {
    let ptxas = std::env::var_os("NESL_PTXAS")?;
    let file = std::env::temp_dir().join(format!("nesl-{}-{:p}.ptx", std::process::id(), &text));
    std::fs::File::create(&file).unwrap().write_all(text.as_bytes()).unwrap();
    let out = Command::new(ptxas)
        .args(["-arch=sm_75", "-o", "/dev/null"])
        .arg(&file)
        .stdout(Stdio::null())
        .output()
        .unwrap();
    let _ = std::fs::remove_file(&file);
    (!out.status.success()).then(|| String::from_utf8_lossy(&out.stderr).into_owned())
}

#[test]
fn the_testkit_assembles() {
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let mut accepted = 0;
    for case in cases() {
        match emit(&case.module()) {
            Ok(code) => {
                accepted += 1;
                if let Some(complaint) = complaint(&code.text) {
                    panic!("{}: {complaint}\n{}\n{}", case.name, case.text, code.text);
                }
            }
            Err(reason) => *refused.entry(reason.to_string()).or_default() += 1,
        }
    }
    println!("{accepted} cases assembled; refused: {refused:#?}");
    assert!(accepted > 100);
}
