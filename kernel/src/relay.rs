//! Between the socket that publishes and the clients that subscribe to it.
//!
//! The socket gives a message to one subscriber after the other, and waits until each has taken it: a client
//! that does not read, such as a program that is stopped, would keep every message from all others. So clients
//! connect to a relay. For each it reads what the socket has, and keeps what the client does not take.
//!
//! ```text
//! publish ─▶ the socket, on a port of this machine ─▶ relay, with room for each client ─▶ clients
//! ```
//!
//! Beyond [`MAX_KEPT_BYTES`] the client's connection is closed. Its library makes a new one once the client goes
//! on; what was published in the meantime it has missed.

use crate::log;
use jupyter_protocol::ConnectionInfo;
use jupyter_protocol::connection_info::Transport;
use jupyter_zmq_client::{
    KernelIoPubXPubConnection, RuntimeError, create_kernel_iopub_xpub_connection,
};
use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use zeromq::{Endpoint, Socket};

/// A client's connection is closed once so many bytes wait for it.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// The bytes that are read at once.
const BLOCK_BYTES: usize = 32 << 10;

/// Begins to publish on the port that a connection file names.
pub async fn listen(
    info: &ConnectionInfo,
    session: &str,
) -> Result<KernelIoPubXPubConnection, RuntimeError> {
    // The relay is for connections of TCP; Jupyter uses others only where it is told to.
    if !matches!(info.transport, Transport::TCP) {
        return create_kernel_iopub_xpub_connection(info, session).await;
    }
    let everywhere = if info.ip == "*" { "0.0.0.0" } else { &info.ip };
    let listener = TcpListener::bind((everywhere, info.iopub_port)).await?;
    // Any port that is free.
    let behind =
        ConnectionInfo { ip: Ipv4Addr::LOCALHOST.to_string(), iopub_port: 0, ..info.clone() };
    let mut iopub = create_kernel_iopub_xpub_connection(&behind, session).await?;
    let port = iopub.socket.binds().keys().find_map(|bound| match bound {
        Endpoint::Tcp(_, port) => Some(*port),
        _ => None,
    });
    let port = port.ok_or_else(|| io::Error::other("the socket that publishes has no port"))?;
    tokio::spawn(accept(listener, SocketAddr::from((Ipv4Addr::LOCALHOST, port))));
    Ok(iopub)
}

/// Relays to each client that connects.
async fn accept(listener: TcpListener, publisher: SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((client, _)) => drop(tokio::spawn(serve(client, publisher))),
            Err(error) => {
                log(format_args!("a client could not connect: {error}"));
                // Not at once again: the error may stay.
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
}

/// Serves a client until one side closes its connection.
async fn serve(client: TcpStream, publisher: SocketAddr) {
    // A client that has gone is no surprise.
    if let Err(error) = relay(client, publisher).await
        && error.kind() == io::ErrorKind::StorageFull
    {
        log(error);
    }
}

async fn relay(client: TcpStream, publisher: SocketAddr) -> io::Result<()> {
    let publisher = TcpStream::connect(publisher).await?;
    publisher.set_nodelay(true)?;
    client.set_nodelay(true)?;
    let (mut subscriptions, to_client) = client.into_split();
    let (published, mut to_publisher) = publisher.into_split();
    tokio::select! {
        done = tokio::io::copy(&mut subscriptions, &mut to_publisher) => done.map(drop),
        done = pass_on(published, to_client, MAX_KEPT_BYTES) => done,
    }
}

/// Reads all there is, whether it is taken or not; fails with [`io::ErrorKind::StorageFull`] when more than `most`
/// bytes are not taken.
async fn pass_on(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    most: usize,
) -> io::Result<()> {
    let mut kept = VecDeque::new();
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        tokio::select! {
            read = from.read(&mut block) => match read? {
                0 => {
                    let (first, second) = kept.as_slices();
                    to.write_all(first).await?;
                    return to.write_all(second).await;
                }
                bytes => kept.extend(&block[..bytes]),
            },
            written = to.write(kept.as_slices().0), if !kept.is_empty() => match written? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                bytes => drop(kept.drain(..bytes)),
            },
        }
        if kept.len() > most {
            let message = "a client does not take what is published: its connection is closed";
            return Err(io::Error::new(io::ErrorKind::StorageFull, message));
        }
        // The room for what a client has missed is not needed for ever.
        if kept.is_empty() && kept.capacity() > 4 * BLOCK_BYTES {
            kept = VecDeque::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::duplex;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(future)
    }

    #[test]
    fn all_is_passed_on_in_order_to_who_reads_late() {
        let sent: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
        let received = block_on(async {
            let ((mut publisher, from), (to, mut client)) = (duplex(1000), duplex(1000));
            let passing = tokio::spawn(pass_on(from, to, sent.len()));
            // Nobody reads yet, and nobody waits.
            publisher.write_all(&sent).await.expect("it is taken");
            drop(publisher);
            let mut received = Vec::new();
            client.read_to_end(&mut received).await.expect("it is there");
            passing.await.expect("no panic").expect("it is well");
            received
        });
        assert!(received == sent, "{} of {} bytes", received.len(), sent.len());
    }

    #[test]
    fn who_never_reads_is_left() {
        block_on(async {
            let ((mut publisher, from), (to, _client)) = (duplex(1000), duplex(1000));
            let passing = tokio::spawn(pass_on(from, to, 100_000));
            // It fails once the other end is closed.
            let _ = publisher.write_all(&vec![0; 300_000]).await;
            let ended = passing.await.expect("no panic").expect_err("too much is not taken");
            assert_eq!(ended.kind(), io::ErrorKind::StorageFull);
        });
    }
}
