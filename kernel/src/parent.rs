//! The process that started the kernel: when it has gone, nobody can end the kernel any more.

use std::time::Duration;

/// The parent is looked for after each of these.
const POLL_EVERY: Duration = Duration::from_secs(1);

/// The variable in which Jupyter says who started the kernel.
const VARIABLE: &str = "JPY_PARENT_PID";

/// Waits until the process has gone that started the kernel. A kernel that was not started by Jupyter
/// stays.
pub async fn gone() {
    let started_by = std::env::var(VARIABLE).ok().and_then(|id| id.trim().parse().ok());
    let Some(started_by) = started_by.filter(|id| *id > 0) else {
        return std::future::pending().await;
    };
    let own = own_parent();
    loop {
        tokio::time::sleep(POLL_EVERY).await;
        // Orphans get another parent. A script between Jupyter and the kernel may go on waiting.
        if own_parent() != own || !exists(started_by) {
            return;
        }
    }
}

#[cfg(unix)]
fn own_parent() -> u32 {
    std::os::unix::process::parent_id()
}

#[cfg(not(unix))]
fn own_parent() -> u32 {
    0
}

/// Returns false if there surely is no process of a number.
fn exists(process: u32) -> bool {
    let all = std::path::Path::new("/proc");
    !all.join("self").exists() || all.join(process.to_string()).exists()
}
