//! A client of a kernel's process that it starts itself, for the doctor and for tests.

use crate::ports;
use jupyter_protocol::connection_info::Transport;
use jupyter_protocol::{ConnectionInfo, JupyterMessage, JupyterMessageContent, KernelInfoRequest};
use jupyter_zmq_client::{
    ClientShellConnection, PeerIdentity, create_client_shell_connection_with_identity,
    peer_identity_for_session,
};
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A socket that is not there yet is tried again after this.
const RETRY_AFTER: Duration = Duration::from_millis(5);

/// An attempt to connect is given up after this.
const MAX_ATTEMPT: Duration = Duration::from_millis(100);

/// A kernel's process. It is killed when this is dropped.
pub struct Started {
    /// The process of the kernel.
    pub child: Child,
    /// The addresses on which it listens.
    pub info: ConnectionInfo,
    file: PathBuf,
}

impl Started {
    /// Starts a kernel by the arguments of a kernelspec, in which `{connection_file}` stands for the
    /// connection file.
    pub fn start(argv: &[String], errors: Stdio) -> io::Result<Started> {
        let held = ports::listeners::<5>()?;
        let mut ports = [0; 5];
        for (port, listener) in ports.iter_mut().zip(&held) {
            *port = listener.local_addr()?.port();
        }
        let [shell_port, iopub_port, stdin_port, control_port, hb_port] = ports;
        let info = ConnectionInfo {
            ip: Ipv4Addr::LOCALHOST.to_string(),
            transport: Transport::TCP,
            shell_port,
            iopub_port,
            stdin_port,
            control_port,
            hb_port,
            key: uuid::Uuid::new_v4().to_string(),
            signature_scheme: "hmac-sha256".to_owned(),
            kernel_name: None,
        };
        let file = std::env::temp_dir().join(format!("nesl-kernel-{}.json", uuid::Uuid::new_v4()));
        write_private(&file, &serde_json::to_vec(&info)?)?;
        let path = file.to_string_lossy();
        let arguments: Vec<String> =
            argv.iter().map(|argument| argument.replace("{connection_file}", &path)).collect();
        let (program, rest) =
            arguments.split_first().ok_or_else(|| io::Error::other("argv is empty"))?;
        let mut command = Command::new(program);
        command.args(rest).stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
        // The ports are free for the kernel from here on.
        drop(held);
        match command.spawn() {
            Ok(child) => Ok(Started { child, info, file }),
            Err(error) => {
                let _ = std::fs::remove_file(&file);
                Err(error)
            }
        }
    }

    /// Connects to the shell channel, as soon as the kernel listens.
    pub async fn shell(
        &mut self,
        session: &str,
        longest: Duration,
    ) -> io::Result<ClientShellConnection> {
        let end = Instant::now() + longest;
        loop {
            let identity: PeerIdentity = peer_identity_for_session(session)
                .map_err(|error| io::Error::other(error.to_string()))?;
            let connect =
                create_client_shell_connection_with_identity(&self.info, session, identity);
            // The library tries for long by itself; meanwhile the kernel may have ended.
            match tokio::time::timeout(MAX_ATTEMPT, connect).await {
                Ok(Ok(connection)) => return Ok(connection),
                _ if Instant::now() > end => return Err(io::Error::other("it does not listen")),
                _ => {}
            }
            if let Some(status) = self.child.try_wait()? {
                return Err(io::Error::other(format!("it ended with {status}")));
            }
            tokio::time::sleep(RETRY_AFTER).await;
        }
    }

    /// Asks what the kernel is; returns the answer.
    pub async fn kernel_info(&mut self, longest: Duration) -> io::Result<JupyterMessage> {
        let mut shell = self.shell("nesl-doctor", longest).await?;
        let request: JupyterMessage = KernelInfoRequest {}.into();
        shell.send(request).await.map_err(|error| io::Error::other(error.to_string()))?;
        let answer = tokio::time::timeout(longest, shell.read()).await;
        let answer = answer.map_err(|_| io::Error::other("it does not answer"))?;
        let answer = answer.map_err(|error| io::Error::other(error.to_string()))?;
        match &answer.content {
            JupyterMessageContent::KernelInfoReply(_) => Ok(answer),
            other => Err(io::Error::other(format!("it answers with {}", other.message_type()))),
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.file);
    }
}

/// Writes a file that only the user can read: it holds a key.
fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(bytes)
}
