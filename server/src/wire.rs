//! The messages between client and server, as bytes.
//!
//! A message is a header with its length, and JSON. What cannot be dispatched never reaches the
//! dispatcher: JSON that is none is answered with an error, and the next message is read. If the
//! beginning of the next message cannot be found, because a header is malformed, the connection is
//! of no use any more; it ends with the reason.

use crate::large::{self, Large};
use std::io;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader,
};
use tokio::sync::Mutex;
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Id, Request, Response};

/// The largest message that is read, in bytes. A longer text cannot be a program.
const MAX_MESSAGE_BYTES: u64 = 1 << 30;
/// The largest line of a header, in bytes.
const MAX_HEADER_LINE_BYTES: u64 = 4096;

/// The end of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// The client said anything at all.
    pub begun: bool,
    /// The client sent `shutdown`.
    pub shut_down: bool,
    /// The reason why no more messages could be read.
    pub broken: Option<String>,
}

impl Ended {
    /// The exit code of the server: 0 only after `shutdown`, or if nobody was served.
    pub fn code(&self) -> u8 {
        u8::from(self.broken.is_some() || (self.begun && !self.shut_down))
    }
}

/// Reads one message; none at the end of the input.
///
/// # Errors
/// The reason why there is no message, and none can follow.
async fn message<R: AsyncBufRead + Unpin>(input: &mut R) -> Result<Option<Vec<u8>>, String> {
    let mut length: Option<u64> = None;
    let mut first = true;
    loop {
        let mut line = Vec::new();
        let read = (&mut *input).take(MAX_HEADER_LINE_BYTES).read_until(b'\n', &mut line).await;
        match read.map_err(|error| error.to_string())? {
            0 if first => return Ok(None),
            0 => return Err("the input ends inside a header".to_owned()),
            _ => {}
        }
        first = false;
        let shown =
            || String::from_utf8_lossy(line.trim_ascii()).chars().take(60).collect::<String>();
        if line.last() != Some(&b'\n') {
            return Err(format!("a header does not end: `{}`", shown()));
        }
        let line = line.trim_ascii();
        if line.is_empty() {
            break;
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            return Err(format!("this is no header of a message: `{}`", shown()));
        };
        if line[..colon].eq_ignore_ascii_case(b"content-length") {
            let number = std::str::from_utf8(line[colon + 1..].trim_ascii()).ok();
            let Some(number) = number.and_then(|number| number.parse().ok()) else {
                return Err(format!("this is no length of a message: `{}`", shown()));
            };
            length = Some(number);
        }
    }
    let Some(length) = length else { return Err("a message has no Content-Length".to_owned()) };
    if length > MAX_MESSAGE_BYTES {
        return Err(format!("a message of {length} bytes is too long"));
    }
    // What the header claims is not allocated before it is there.
    let mut body = Vec::new();
    let read = (&mut *input).take(length).read_to_end(&mut body).await;
    read.map_err(|error| error.to_string())?;
    if (body.len() as u64) < length {
        return Err("the input ends inside a message".to_owned());
    }
    Ok(Some(body))
}

async fn send<W: AsyncWrite + Unpin>(output: &Mutex<W>, body: &[u8]) -> io::Result<()> {
    let mut output = output.lock().await;
    output.write_all(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes()).await?;
    output.write_all(body).await?;
    output.flush().await
}

/// The verdict on a message of the client.
enum Checked {
    /// It is dispatched, in these words; the method, if it has one.
    Good(Vec<u8>, String),
    /// It is answered with this error.
    Bad(Response),
}

fn checked(body: Vec<u8>) -> Checked {
    let request = match serde_json::from_slice::<Request>(&body) {
        Ok(request) => request,
        Err(_) if serde_json::from_slice::<Response>(&body).is_ok() => {
            return Checked::Good(body, String::new());
        }
        Err(error) => {
            let code =
                if error.is_data() { ErrorCode::InvalidRequest } else { ErrorCode::ParseError };
            let message = format!("this is no message: {error}").into();
            return Checked::Bad(Response::from_error(
                Id::Null,
                Error { code, message, data: None },
            ));
        }
    };
    let (method, id, params) = request.into_parts();
    // Some clients send empty parameters with what has none.
    if params.is_some() && matches!(&*method, "shutdown" | "exit") {
        let mut bare = Request::build(method.clone());
        if let Some(id) = id {
            bare = bare.id(id);
        }
        let body = serde_json::to_vec(&bare.finish()).unwrap_or(body);
        return Checked::Good(body, method.into_owned());
    }
    let large = large::REQUESTS.iter().find(|(name, _)| *name == method);
    if let (Some((_, name)), Some(id)) = (large, &id) {
        let renamed = Request::build(*name).id(id.clone()).params(params.unwrap_or_default());
        let body = serde_json::to_vec(&renamed.finish()).unwrap_or(body);
        return Checked::Good(body, method.into_owned());
    }
    Checked::Good(body, method.into_owned())
}

/// Hands the client's messages to the dispatcher until the client ends the connection; errors are
/// answered on `output`.
pub async fn incoming<R, D, W>(input: R, mut dispatcher: D, output: &Mutex<W>) -> Ended
where
    R: AsyncRead + Unpin,
    D: AsyncWrite + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut input = BufReader::with_capacity(64 << 10, input);
    let mut ended = Ended::default();
    loop {
        let body = match message(&mut input).await {
            Ok(Some(body)) => body,
            Ok(None) => return ended,
            Err(why) => {
                ended.begun = true;
                ended.broken = Some(why);
                return ended;
            }
        };
        ended.begun = true;
        let (body, method) = match checked(body) {
            Checked::Good(body, method) => (body, method),
            Checked::Bad(answer) => {
                let answer = serde_json::to_vec(&answer).unwrap_or_default();
                if send(output, &answer).await.is_err() {
                    return ended;
                }
                continue;
            }
        };
        ended.shut_down |= method == "shutdown";
        let head = format!("Content-Length: {}\r\n\r\n", body.len());
        let handed = match dispatcher.write_all(head.as_bytes()).await {
            Ok(()) => dispatcher.write_all(&body).await,
            Err(error) => Err(error),
        };
        if handed.is_err() || method == "exit" {
            return ended;
        }
    }
}

/// Hands the dispatcher's messages to the client; `large` has the answers that it has tokens for.
pub async fn outgoing<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
    dispatcher: R,
    output: &Mutex<W>,
    large: &Large,
) {
    let mut dispatcher = BufReader::with_capacity(64 << 10, dispatcher);
    while let Ok(Some(body)) = message(&mut dispatcher).await {
        if send(output, &large.filled(body)).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what the dispatcher is handed, what the client is answered, and how it ends.
    async fn serve(input: &[u8]) -> (String, String, Ended) {
        let (mut handed, output) = (Vec::new(), Mutex::new(Vec::new()));
        let ended = incoming(input, &mut handed, &output).await;
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (text(handed), text(output.into_inner()), ended)
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[tokio::test]
    async fn point_16_what_is_no_message_is_answered_and_the_next_is_read() {
        let next = framed(r#"{"jsonrpc":"2.0","method":"x"}"#);
        for (bad, code) in [("{\"a\":", -32700), ("\u{1}", -32700), ("[1]", -32600), ("{}", -32600)]
        {
            let (handed, answered, ended) = serve((framed(bad) + &next).as_bytes()).await;
            assert_eq!(handed, next, "{bad}");
            assert!(answered.contains(&code.to_string()), "{bad}: {answered}");
            assert_eq!(ended.broken, None);
        }
        let bytes = [&b"content-length: 3\r\n\r\n\xff\xfe\xfd"[..], next.as_bytes()].concat();
        let (handed, answered, _) = serve(&bytes).await;
        assert!(handed == next && answered.contains("-32700"), "{answered}");
    }

    #[tokio::test]
    async fn point_16_malformed_headers_end_the_connection_with_a_reason() {
        for bad in [
            "hello world\r\n\r\n",
            "Content-Length: many\r\n\r\n{}",
            "Content-Length: 100000000000000\r\n\r\n{}",
            "Content-Type: x\r\n\r\n{}",
            "Content-Length: 20\r\n\r\n{}",
            &"x".repeat(10_000),
        ] {
            let (handed, _, ended) = serve(bad.as_bytes()).await;
            assert!(handed.is_empty() && ended.broken.is_some(), "{bad}");
            assert_eq!(ended.code(), 1, "{bad}");
        }
    }

    #[tokio::test]
    async fn point_16_exit_counts_only_after_shutdown() {
        let exit = framed(r#"{"jsonrpc":"2.0","method":"exit","params":{}}"#);
        assert_eq!(serve(exit.as_bytes()).await.2.code(), 1);
        let shutdown = framed(r#"{"jsonrpc":"2.0","id":1,"method":"shutdown","params":{}}"#);
        let (handed, _, ended) = serve((shutdown + &exit).as_bytes()).await;
        assert_eq!(ended.code(), 0);
        assert!(!handed.contains("params"), "{handed}");
        assert_eq!(serve(b"").await.2.code(), 0);
    }
}
