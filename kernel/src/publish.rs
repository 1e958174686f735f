//! The messages that everybody sees: a queue from any thread to the socket that publishes them.
//!
//! Nothing ever waits for a client; for one that reads late, [`relay`](crate::relay) keeps what there is. What
//! programs print is joined: a text goes out once something follows it, or after [`MAX_TEXT_AGE`]. If more is
//! published than can be sent, the queue stops growing at [`MAX_QUEUED_BYTES`]; only the messages that say whether
//! the kernel is busy are kept then, and a line on `stderr` says that something was left out. A message that is larger
//! than that alone is sent when nothing waits before it.

use crate::wire;
use jupyter_protocol::{Header, JupyterMessage, JupyterMessageContent, Stdio, StreamContent};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Printed text waits for more of it for at most so long.
const MAX_TEXT_AGE: Duration = Duration::from_millis(30);

/// The time in which what waits is sent before somebody is asked for input, at most.
const MAX_FLUSH_TIME: Duration = Duration::from_millis(200);

/// Printed text is sent in messages of about so many bytes, at most.
const MAX_TEXT_BYTES: usize = 1 << 16;

/// The queue keeps so many bytes that clients do not take.
const MAX_QUEUED_BYTES: usize = 1 << 26;

/// The line that stands in place of what the queue has no room for.
const OVERFLOW: &str = "\n[Outputs are left out here: they come faster than they can be sent.]\n";

/// The end of the queue that messages are put into. Clones put into the same queue.
#[derive(Clone, Default)]
pub struct Publisher(Arc<Shared>);

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// Wakes the task that sends.
    changed: Notify,
    /// Wakes those who wait until the queue is empty.
    emptied: Condvar,
}

#[derive(Default)]
struct Queue {
    items: VecDeque<Item>,
    bytes: usize,
    /// True while somebody waits until the queue is empty: texts are sent as they are.
    is_urgent: bool,
    /// True from a message that was left out, of which a line was said, until one is kept again.
    overflows: bool,
}

/// A message to be sent.
struct Item {
    parent: Option<Arc<Header>>,
    body: Body,
    since: Instant,
    bytes: usize,
}

enum Body {
    Text(&'static str, String),
    Content(Box<JupyterMessageContent>),
}

/// The next step of the sending task.
pub enum Next {
    /// Sends a message.
    Send(Box<JupyterMessage>),
    /// Waits for more, but not longer than this.
    Wait(Option<Duration>),
}

impl Publisher {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes a message. Its parent is the request that it comes of.
    pub fn send(&self, parent: Option<&Arc<Header>>, content: impl Into<JupyterMessageContent>) {
        let content = content.into();
        let essential = matches!(&content, JupyterMessageContent::Status(_));
        let bytes = size(&content);
        self.push(parent, Body::Content(Box::new(content)), bytes, essential);
    }

    /// Publishes text that a program printed on a stream: `stdout` or `stderr`.
    pub fn print(&self, parent: &Arc<Header>, stream: &'static str, text: &str) {
        {
            let mut queue = self.lock();
            if let Some(Item { parent: Some(last), body: Body::Text(name, joined), bytes, .. }) =
                queue.items.back_mut()
                && *name == stream
                && Arc::ptr_eq(last, parent)
                && joined.len() + text.len() <= MAX_TEXT_BYTES
            {
                joined.push_str(text);
                *bytes += text.len();
                queue.bytes += text.len();
                return;
            }
        }
        self.push(Some(parent), Body::Text(stream, text.to_owned()), text.len(), false);
    }

    fn push(&self, parent: Option<&Arc<Header>>, body: Body, bytes: usize, essential: bool) {
        let mut queue = self.lock();
        let fits = queue.bytes == 0 || queue.bytes + bytes <= MAX_QUEUED_BYTES;
        if !fits && !essential {
            if !std::mem::replace(&mut queue.overflows, true) {
                queue.push(parent, Body::Text("stderr", OVERFLOW.to_owned()), OVERFLOW.len());
            }
            return;
        }
        queue.overflows &= !fits || essential;
        queue.push(parent, body, bytes);
        drop(queue);
        self.0.changed.notify_one();
    }

    /// Returns what the sending task does next.
    pub fn next(&self) -> Next {
        let mut queue = self.lock();
        let Some(first) = queue.items.front() else { return Next::Wait(None) };
        if let Body::Text(_, text) = &first.body
            && !queue.is_urgent
            && queue.items.len() == 1
            && text.len() < MAX_TEXT_BYTES / 2
        {
            let age = first.since.elapsed();
            if age < MAX_TEXT_AGE {
                return Next::Wait(Some(MAX_TEXT_AGE - age));
            }
        }
        let Some(item) = queue.items.pop_front() else { return Next::Wait(None) };
        queue.bytes -= item.bytes;
        if queue.items.is_empty() {
            queue.is_urgent = false;
            self.0.emptied.notify_all();
        }
        drop(queue);
        Next::Send(Box::new(item.message()))
    }

    /// Waits until the sending task has taken everything, so that it goes out before what is sent by another socket;
    /// but not for a task that is held up. Must not be called in that task.
    pub fn flush(&self) {
        let mut queue = self.lock();
        if queue.items.is_empty() {
            return;
        }
        queue.is_urgent = true;
        self.0.changed.notify_one();
        let waits = |queue: &mut Queue| !queue.items.is_empty();
        let waited = self.0.emptied.wait_timeout_while(queue, MAX_FLUSH_TIME, waits);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits until something was published.
    pub async fn changed(&self) {
        self.0.changed.notified().await;
    }

    /// Returns true if everything was taken by the sending task.
    pub fn is_empty(&self) -> bool {
        self.lock().items.is_empty()
    }
}

impl Queue {
    fn push(&mut self, parent: Option<&Arc<Header>>, body: Body, bytes: usize) {
        self.bytes += bytes;
        self.items.push_back(Item { parent: parent.cloned(), body, since: Instant::now(), bytes });
    }
}

impl Item {
    fn message(self) -> JupyterMessage {
        let content: JupyterMessageContent = match self.body {
            Body::Text(name, text) => {
                let name = if name == "stderr" { Stdio::Stderr } else { Stdio::Stdout };
                StreamContent { name, text }.into()
            }
            Body::Content(content) => *content,
        };
        // The topic, by which clients may choose what they see.
        let topic = bytes::Bytes::from(format!("kernel.nesl.{}", content.message_type()));
        wire::message(vec![topic], self.parent.as_deref(), content)
    }
}

/// Returns about how many bytes a message takes.
fn size(content: &JupyterMessageContent) -> usize {
    /// The bytes of a message besides its data.
    const FRAME_BYTES: usize = 512;
    match content {
        JupyterMessageContent::Status(_) => 0,
        JupyterMessageContent::StreamContent(content) => content.text.len() + FRAME_BYTES,
        content => serde_json::to_string(content).map_or(0, |text| text.len()) + FRAME_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jupyter_protocol::Status;

    fn parent() -> Arc<Header> {
        let content = wire::content("execute_request", serde_json::json!({}));
        Arc::new(wire::message(Vec::new(), None, content).header)
    }

    fn sent(publisher: &Publisher) -> Vec<String> {
        let mut all = Vec::new();
        while let Next::Send(message) = publisher.next() {
            all.push(match message.content {
                JupyterMessageContent::StreamContent(content) => content.text,
                other => other.message_type().to_owned(),
            });
        }
        all
    }

    #[test]
    fn printed_text_is_joined_until_something_follows() {
        let (publisher, cell, other) = (Publisher::default(), parent(), parent());
        for text in ["a", "b", "c"] {
            publisher.print(&cell, "stdout", text);
        }
        assert_eq!(sent(&publisher), Vec::<String>::new());
        publisher.print(&cell, "stderr", "d");
        publisher.print(&other, "stderr", "e");
        publisher.send(Some(&cell), Status::idle());
        assert_eq!(sent(&publisher), ["abc", "d", "e", "status"]);
        publisher.print(&cell, "stdout", "f");
        std::thread::sleep(MAX_TEXT_AGE);
        assert_eq!(sent(&publisher), ["f"]);
        assert!(publisher.is_empty());
    }

    #[test]
    fn printed_text_is_sent_at_once_where_somebody_waits_for_it() {
        let (publisher, cell) = (Publisher::default(), parent());
        publisher.print(&cell, "stdout", "Name: ");
        let flushed = std::thread::spawn({
            let publisher = publisher.clone();
            move || publisher.flush()
        });
        while !publisher.lock().is_urgent {
            std::thread::yield_now();
        }
        assert_eq!(sent(&publisher), ["Name: "]);
        flushed.join().expect("it was sent");
        publisher.print(&cell, "stdout", "more");
        assert_eq!(sent(&publisher), Vec::<String>::new(), "the next text waits again");
    }

    #[test]
    fn a_queue_that_nobody_empties_stops_growing() {
        let (publisher, cell) = (Publisher::default(), parent());
        let text = "x".repeat(MAX_TEXT_BYTES);
        for _ in 0..2 * MAX_QUEUED_BYTES / MAX_TEXT_BYTES {
            publisher.print(&cell, "stdout", &text);
        }
        publisher.send(Some(&cell), Status::idle());
        assert!(publisher.lock().bytes <= MAX_QUEUED_BYTES + OVERFLOW.len());
        let sent = sent(&publisher);
        assert_eq!(sent.iter().filter(|text| text.contains(OVERFLOW)).count(), 1);
        assert_eq!(sent.last().map(String::as_str), Some("status"));
    }

    #[test]
    fn a_message_that_is_larger_than_the_queue_is_sent() {
        let (publisher, cell) = (Publisher::default(), parent());
        let text = "x".repeat(MAX_QUEUED_BYTES + 1);
        publisher.send(Some(&cell), StreamContent::stdout(&text));
        publisher.send(Some(&cell), StreamContent::stdout("left out"));
        publisher.send(Some(&cell), Status::idle());
        let lengths: Vec<usize> = sent(&publisher).iter().map(String::len).collect();
        assert_eq!(lengths, [text.len(), OVERFLOW.len(), "status".len()]);
    }
}
