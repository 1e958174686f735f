//! Gives the shared library the name under which CUDA's driver is looked for: once it is loaded
//! by its path, the loader finds it in the process when somebody asks for that name.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcuda.so");
    }
}
