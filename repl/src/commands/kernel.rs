//! `nesl kernel`: the Jupyter kernel, and what Jupyter must know of it.

use crate::allocator;
use crate::cli::{Global, Idle, KernelAction, KernelArgs, KernelPlace};
use crate::exit::{FAILED, OK};
use anyhow::{Context, Result, anyhow, bail};
use nesl_kernel::install::{self, Kernelspec, is_name};
use nesl_kernel::places::Place;
use std::path::{Path, PathBuf};

/// Serves clients, or does what the action says.
pub fn run(global: &Global, asked: &KernelArgs) -> Result<u8> {
    match (&asked.action, &asked.connection_file) {
        (Some(KernelAction::Start { connection_file, idle }), _) => {
            serve(global, connection_file, *idle)
        }
        (None, Some(connection_file)) => serve(global, connection_file, asked.idle),
        (None, None) => bail!(
            "Jupyter starts the kernel, with --connection-file; `nesl kernel install` tells it how"
        ),
        (Some(KernelAction::Install { place, display_name, idle }), _) => {
            install(global, place, display_name.as_deref(), *idle)
        }
        (Some(KernelAction::Uninstall { place }), _) => uninstall(place),
        (Some(KernelAction::Doctor { name }), _) => Ok(doctor(name)),
    }
}

/// Returns the folder of Jupyter's data in a place.
fn folder(place: &KernelPlace) -> Result<PathBuf> {
    if !is_name(&place.name) {
        bail!("`{}` is no name for a kernel: use letters, digits, `.`, `-` and `_`", place.name);
    }
    let wished = match (&place.prefix, place.sys_prefix) {
        (Some(prefix), _) => Place::Prefix(std::path::absolute(prefix)?),
        (None, true) => Place::Active,
        (None, false) => Place::User,
    };
    wished.folder().map_err(|reason| anyhow!(reason))
}

/// Tells Jupyter about the kernel.
fn install(
    global: &Global,
    place: &KernelPlace,
    display_name: Option<&str>,
    idle: Option<Idle>,
) -> Result<u8> {
    let executable = std::env::current_exe().context("cannot find the path of this program")?;
    let mut argv = vec![executable.to_string_lossy().into_owned()];
    argv.extend(global.as_arguments());
    argv.extend(["kernel", "--connection-file", "{connection_file}"].map(str::to_owned));
    if let Some(Idle(idle)) = idle {
        let seconds = idle.map_or_else(|| "off".to_owned(), |time| time.as_secs().to_string());
        argv.extend(["--idle".to_owned(), seconds]);
    }
    let name = place.name.clone();
    let display_name = display_name.unwrap_or("NESL").to_owned();
    let spec = Kernelspec { name, display_name, argv };
    for written in install::install(&folder(place)?, &spec).context("cannot install")? {
        println!("wrote {}", written.display());
    }
    println!("`jupyter lab` offers {} now.", spec.display_name);
    Ok(OK)
}

/// Takes away what was installed.
fn uninstall(place: &KernelPlace) -> Result<u8> {
    let folder = folder(place)?;
    let removed = install::uninstall(&folder, &place.name).context("cannot uninstall")?;
    if removed.is_empty() {
        bail!("there is no kernel `{}` below {}", place.name, folder.display());
    }
    for removed in removed {
        println!("removed {}", removed.display());
    }
    Ok(OK)
}

/// Says what is wrong with the kernel.
fn doctor(name: &str) -> u8 {
    let mut problems = 0;
    nesl_kernel::doctor::examine(name, &mut |finding| match finding.remedy {
        None => println!("fine     {}", finding.what),
        Some(remedy) => {
            problems += 1;
            println!("problem  {}\n         {remedy}", finding.what);
        }
    });
    if problems == 0 { OK } else { FAILED }
}

/// Serves the clients of a connection file.
fn serve(global: &Global, connection_file: &Path, idle: Option<Idle>) -> Result<u8> {
    allocator::share_one_area();
    let mut setup = global.served();
    if let Some(Idle(idle)) = idle {
        setup.idle = idle;
    }
    nesl_kernel::serve::serve(connection_file, setup).context("the kernel cannot start")?;
    Ok(OK)
}
