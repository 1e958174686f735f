//! Messages as they come and go: requests with defaults for what clients omit, and replies to them.
//!
//! The library checks signatures and knows the messages; its own reader refuses a request that lacks
//! an optional field, together with its header, so that nobody could be answered. Here only the header
//! must be whole enough to be answered.

use bytes::Bytes;
use jupyter_protocol::{Header, JupyterMessage, JupyterMessageContent, UnknownMessage};
use jupyter_zmq_client::RawMessage;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::SystemTime;

/// The version of the protocol that the kernel speaks.
pub const PROTOCOL_VERSION: &str = "5.4";

/// The channel that a request arrived on, and that its reply goes back on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Requests in general.
    Shell,
    /// Requests that must be answered at any time.
    Control,
}

/// A request of a client.
#[derive(Clone, Debug)]
pub struct Request {
    /// The channel that it arrived on.
    pub channel: Channel,
    /// The addresses to which its reply goes.
    pub identities: Vec<Bytes>,
    /// Its header, which everything that comes of it names as its parent.
    pub header: Arc<Header>,
    /// The question itself.
    pub content: Value,
}

impl Request {
    /// Reads a request whose signature was checked.
    pub fn read(channel: Channel, raw: &RawMessage) -> Result<Request, String> {
        let part = |at: usize| raw.jparts.get(at).map_or(&b""[..], |part| part);
        let header = header(part(0))?;
        let content: Value = serde_json::from_slice(part(3))
            .map_err(|error| format!("the content of a {} is no JSON: {error}", header.msg_type))?;
        if !content.is_object() {
            return Err(format!("the content of a {} is no object", header.msg_type));
        }
        let identities = raw.zmq_identities.clone();
        Ok(Request { channel, identities, header: Arc::new(header), content })
    }

    /// Returns the content as a type whose fields have defaults.
    pub fn content<T: DeserializeOwned>(&self) -> Result<T, String> {
        // A client may send `null` for what it has no value for.
        let mut content = self.content.clone();
        if let Some(fields) = content.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        serde_json::from_value(content).map_err(|error| error.to_string())
    }

    /// Returns the type of the reply: `kernel_info_reply` for `kernel_info_request`; `None` if the
    /// message asks for none.
    pub fn reply_type(&self) -> Option<String> {
        Some(format!("{}_reply", self.header.msg_type.strip_suffix("_request")?))
    }
}

/// Reads a header; only what an answer needs must be there.
fn header(bytes: &[u8]) -> Result<Header, String> {
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| format!("a header is no JSON: {error}"))?;
    let Value::Object(mut fields) = value else {
        return Err("a header is no object".to_owned());
    };
    for needed in ["msg_id", "msg_type"] {
        if !fields.get(needed).is_some_and(Value::is_string) {
            return Err(format!("a header has no `{needed}`"));
        }
    }
    for optional in ["username", "session", "version"] {
        if !fields.get(optional).is_some_and(Value::is_string) {
            fields.insert(optional.to_owned(), Value::String(String::new()));
        }
    }
    serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())
}

/// Makes a message; the connection that sends it adds the session.
pub fn message(
    identities: Vec<Bytes>,
    parent: Option<&Header>,
    content: JupyterMessageContent,
) -> JupyterMessage {
    let header = Header {
        msg_id: uuid::Uuid::new_v4().to_string(),
        username: "kernel".to_owned(),
        session: String::new(),
        date: SystemTime::now().into(),
        msg_type: content.message_type().to_owned(),
        version: PROTOCOL_VERSION.to_owned(),
    };
    JupyterMessage {
        zmq_identities: identities,
        header,
        parent_header: parent.cloned(),
        metadata: Value::Object(Map::new()),
        content,
        buffers: Vec::new(),
        channel: None,
    }
}

/// Makes the content of a message that the library has no exact type for.
pub fn content(msg_type: &str, content: Value) -> JupyterMessageContent {
    UnknownMessage { msg_type: msg_type.to_owned(), content }.into()
}

/// Makes the content of a reply that says what is wrong with a request.
pub fn refusal(msg_type: &str, name: &str, message: &str) -> JupyterMessageContent {
    content(
        msg_type,
        json!({ "status": "error", "ename": name, "evalue": message, "traceback": [] }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(header: &str, content: &str) -> RawMessage {
        let part = |text: &str| Bytes::copy_from_slice(text.as_bytes());
        let jparts = vec![part(header), part("{}"), part("{}"), part(content)];
        RawMessage { zmq_identities: vec![part("client")], jparts }
    }

    #[test]
    fn what_may_be_omitted_has_defaults() {
        let header = r#"{"msg_id": "1", "msg_type": "history_request"}"#;
        let raw = raw(header, r#"{"hist_access_type": "tail", "n": null}"#);
        let request = Request::read(Channel::Shell, &raw).expect("it can be answered");
        assert_eq!(request.reply_type().as_deref(), Some("history_reply"));
        let fields: Map<String, Value> = request.content().expect("an object");
        assert_eq!(fields.len(), 1);
    }

    #[test]
    fn what_cannot_be_answered_is_refused_with_a_reason() {
        for (header, body, reason) in [
            ("", "{}", "a header is no JSON"),
            ("[]", "{}", "a header is no object"),
            (r#"{"msg_id": "1"}"#, "{}", "a header has no `msg_type`"),
            (r#"{"msg_id": 1, "msg_type": "a"}"#, "{}", "a header has no `msg_id`"),
            (r#"{"msg_id": "1", "msg_type": "a"}"#, "3", "the content of a a is no object"),
            (r#"{"msg_id": "1", "msg_type": "a"}"#, "{", "the content of a a is no JSON"),
        ] {
            let refused = Request::read(Channel::Shell, &raw(header, body));
            let message = refused.expect_err("it is malformed");
            assert!(message.starts_with(reason), "{message}");
        }
    }
}
