//! Questions about texts: completion, inspection, and whether a cell is complete.
//!
//! They are answered on a thread of their own, so that nobody waits for a cell that runs, and no
//! message for a long text.

use crate::cursor;
use crate::media;
use crate::question::asked_about;
use crate::wire;
use jupyter_protocol::{IsCompleteReply, JupyterMessageContent};
use nesl_engine::Outlook;
use nesl_interactive::assist::Assist;
use nesl_interactive::completion::Completions;
use nesl_interactive::entry::{self, Typed};
use nesl_interactive::state::commands::Commands;
use serde::Deserialize;
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};

/// The thread that answers.
pub struct Asked {
    questions: Sender<Question>,
}

struct Question {
    ask: Ask,
    done: Box<dyn FnOnce(JupyterMessageContent) + Send>,
}

/// A question about a text.
#[derive(Debug)]
pub enum Ask {
    /// Asks for the texts that may stand at the cursor.
    Complete(At),
    /// Asks for the documentation of the name at the cursor.
    Inspect(At),
    /// Asks if the text is a whole cell.
    IsComplete(At),
}

/// A text with a cursor; defaults stand for what clients omit.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct At {
    code: String,
    /// The number of characters before the cursor; it is at the end if this is not given.
    cursor_pos: Option<usize>,
    /// The level of detail; from 1 on, an inspection shows the definition too.
    detail_level: u8,
}

impl At {
    fn byte(&self) -> usize {
        self.cursor_pos.map_or(self.code.len(), |position| cursor::byte(&self.code, position))
    }
}

impl Asked {
    /// Starts the thread.
    pub fn start(outlook: Outlook, commands: Commands) -> std::io::Result<Asked> {
        let (questions, queue) = channel::<Question>();
        let serve = move || {
            // Made for the first question: many kernels are never asked any.
            let mut assist = None;
            while let Ok(Question { ask, done }) = queue.recv() {
                let mut used = assist
                    .take()
                    .unwrap_or_else(|| Assist::new(outlook.clone()).with_commands(commands));
                let answered = catch_unwind(AssertUnwindSafe(|| answer(&mut used, &ask)));
                done(match answered {
                    Ok(content) => {
                        assist = Some(used);
                        content
                    }
                    // What the panic left behind is not used again.
                    Err(_) => wire::refusal(ask.reply_type(), "Bug", "nesl has a bug"),
                });
            }
        };
        std::thread::Builder::new().name("assist".to_owned()).spawn(serve)?;
        Ok(Asked { questions })
    }

    /// Asks a question; the answer is given on the thread that answers.
    pub fn ask(&self, ask: Ask, done: impl FnOnce(JupyterMessageContent) + Send + 'static) {
        // The thread ends with the process.
        let _ = self.questions.send(Question { ask, done: Box::new(done) });
    }
}

impl Ask {
    fn reply_type(&self) -> &'static str {
        match self {
            Ask::Complete(_) => "complete_reply",
            Ask::Inspect(_) => "inspect_reply",
            Ask::IsComplete(_) => "is_complete_reply",
        }
    }
}

fn answer(assist: &mut Assist, ask: &Ask) -> JupyterMessageContent {
    match ask {
        Ask::Complete(at) => {
            let completions = assist.complete(&at.code, at.byte());
            wire::content(ask.reply_type(), completed(&at.code, completions))
        }
        Ask::Inspect(at) => {
            let mut found = assist.inspect(&at.code, at.byte());
            if at.detail_level > 0
                && let Some(text) = &mut found
                && let Some(definition) = assist.definition(&at.code, at.byte())
            {
                text.push_str(&format!("\n\n```nesl\n{definition}\n```"));
            }
            let data = found.clone().map_or_else(Default::default, media::markdown);
            let content =
                json!({ "status": "ok", "found": found.is_some(), "data": data, "metadata": {} });
            wire::content(ask.reply_type(), content)
        }
        Ask::IsComplete(at) => is_complete(&at.code).into(),
    }
}

fn completed(text: &str, completions: Completions) -> Value {
    let Completions { range, all } = completions;
    let (start, end) = (cursor::character(text, range.start), cursor::character(text, range.end));
    let matches: Vec<&str> = all.iter().map(|completion| completion.text.as_str()).collect();
    let types: Vec<Value> = all
        .iter()
        .map(|completion| {
            json!({
                "start": start, "end": end, "text": completion.text, "type": completion.kind,
                "signature": completion.ty,
            })
        })
        .collect();
    json!({
        "status": "ok", "matches": matches, "cursor_start": start, "cursor_end": end,
        "metadata": { "_jupyter_types_experimental": types },
    })
}

fn is_complete(text: &str) -> IsCompleteReply {
    match entry::typed(text) {
        Typed::Part if asked_about(text).is_none() => {
            IsCompleteReply::incomplete(entry::indentation(text))
        }
        _ if asked_about(text).is_some() => IsCompleteReply::complete(),
        _ if entry::is_wrong(text) => IsCompleteReply::invalid(),
        _ => IsCompleteReply::complete(),
    }
}
