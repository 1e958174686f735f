//! Plots on the screen: as pictures where the terminal shows them, as text elsewhere, or in files.
//!
//! | protocol | how a terminal that has it is known | how a picture is sent |
//! |---|---|---|
//! | kitty's | by what it says in the environment | as PNG, in pieces of Base64 |
//! | sixel | by its answer to the question for its attributes | as rows of six pixels, colour by colour |
//!
//! The terminal is asked when the first plot is to be drawn, and not before.

use super::sixel;
use super::terminal::{self, Known, Protocol};
use crate::output::{Output, screen};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nesl_interactive::raster;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The columns of the screen that a picture of the usual width takes up, at most.
const MAX_COLUMNS: usize = 80;
/// The width of most plots, in the units of their SVG.
const USUAL_WIDTH_UNITS: f64 = 640.0;
/// The bytes of Base64 in a command of kitty's protocol, at most.
const MAX_PIECE_BYTES: usize = 4096;

/// The way in which plots are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Plots {
    /// They are shown as pictures if the terminal can do that, or else as text.
    #[default]
    Auto,
    /// They are shown as text.
    Text,
    /// They are written to files of the current folder.
    Svg,
    /// They are shown as pictures by one protocol, whatever the terminal says.
    Drawn(Protocol),
}

/// All values of the setting.
const ALL: [Plots; 5] = [
    Plots::Auto,
    Plots::Text,
    Plots::Svg,
    Plots::Drawn(Protocol::Kitty),
    Plots::Drawn(Protocol::Sixel),
];

impl Plots {
    /// Returns the value of the setting as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Plots::Auto => "auto",
            Plots::Text => "text",
            Plots::Svg => "svg",
            Plots::Drawn(Protocol::Kitty) => "kitty",
            Plots::Drawn(Protocol::Sixel) => "sixel",
        }
    }

    /// Returns the way that a name stands for; fails with the names that there are.
    pub fn of(name: &str) -> Result<Plots, String> {
        let message = "plots are shown as `auto`, `text`, `kitty` or `sixel`, or written as `svg`";
        ALL.into_iter().find(|plots| plots.name() == name).ok_or_else(|| message.to_owned())
    }
}

/// The screen, as far as plots are concerned.
#[derive(Default)]
pub struct Canvas(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    plots: Plots,
    /// The protocol of the terminal, or none, once that is known.
    protocol: Option<Option<Protocol>>,
    /// The keys that were pressed while the terminal was asked.
    typed: Vec<u8>,
    /// True if the terminal is not asked.
    is_unasked: bool,
}

impl Canvas {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how plots are shown.
    pub fn plots(&self) -> Plots {
        self.lock().plots
    }

    /// Changes how plots are shown.
    pub fn set_plots(&self, plots: Plots) {
        self.lock().plots = plots;
    }

    /// Returns the keys that were pressed while the terminal was asked; from now on there are none.
    pub fn take_typed(&self) -> Vec<u8> {
        std::mem::take(&mut self.lock().typed)
    }

    /// Takes the terminal for one without pictures unless the environment says otherwise: nobody could read the keys
    /// that are pressed while it is asked.
    pub fn never_ask(&self) {
        self.lock().is_unasked = true;
    }

    /// Shows a plot other than as text; returns false if text is what is wanted, or what is left.
    pub fn draws(&self, svg: &str, output: &Output, colors: bool) -> bool {
        let protocol = match self.plots() {
            Plots::Text => None,
            Plots::Svg => {
                output.message(&written(svg));
                return true;
            }
            Plots::Drawn(protocol) => Some(protocol),
            // Who wants no colours gets none.
            Plots::Auto if !colors => None,
            Plots::Auto => {
                output.settle();
                self.protocol()
            }
        };
        let Some(bytes) = protocol.and_then(|protocol| encoded(svg, protocol)) else {
            return false;
        };
        output.picture(&bytes);
        true
    }

    /// Returns the protocol of the terminal, which is asked if it has not said it yet.
    fn protocol(&self) -> Option<Protocol> {
        if let Some(protocol) = self.lock().protocol {
            return protocol;
        }
        let protocol = match terminal::known(&|name| std::env::var(name).ok()) {
            Known::Protocol(protocol) => Some(protocol),
            Known::Nothing => None,
            Known::Asked if self.lock().is_unasked => None,
            Known::Asked => {
                let asked = terminal::ask()?;
                self.lock().typed.extend(asked.typed);
                asked.protocol
            }
        };
        self.lock().protocol = Some(protocol);
        protocol
    }
}

/// Returns what shows a picture on the screen.
fn encoded(svg: &str, protocol: Protocol) -> Option<Vec<u8>> {
    let columns = screen().0.saturating_sub(1).clamp(1, MAX_COLUMNS);
    let scale = columns as f64 * terminal::column_pixels() / USUAL_WIDTH_UNITS;
    let raster = raster::draw(svg, scale)?;
    match protocol {
        Protocol::Kitty => Some(kitty(&raster.png()?)),
        Protocol::Sixel => Some(sixel::encode(&raster)),
    }
}

/// Returns the commands of kitty's protocol that show an image in PNG. The terminal answers none of them.
fn kitty(png: &[u8]) -> Vec<u8> {
    let text = STANDARD.encode(png);
    let mut out = Vec::with_capacity(text.len() + 256);
    let mut pieces = text.as_bytes().chunks(MAX_PIECE_BYTES).peekable();
    let mut keys = "a=T,f=100,q=2,";
    while let Some(piece) = pieces.next() {
        let more = u8::from(pieces.peek().is_some());
        out.extend_from_slice(format!("\x1b_G{keys}m={more};").as_bytes());
        out.extend_from_slice(piece);
        out.extend_from_slice(b"\x1b\\");
        keys = "q=2,";
    }
    out
}

/// Writes a plot to a file of the current folder that is not there yet; returns what to say of it.
fn written(svg: &str) -> String {
    let mut count = 0;
    loop {
        count += 1;
        let name = format!("plot-{count}.svg");
        let file = OpenOptions::new().write(true).create_new(true).open(&name);
        match file.and_then(|mut file| file.write_all(svg.as_bytes())) {
            Ok(()) => return format!("Drew {name}.\n"),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return format!("nesl: cannot write {name}: {error}\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_names() {
        for plots in ALL {
            assert_eq!(Plots::of(plots.name()), Ok(plots));
        }
        assert!(Plots::of("gif").is_err_and(|message| message.contains("`sixel`")));
    }

    #[test]
    fn a_large_image_is_sent_in_pieces() {
        let image: Vec<u8> = (0..10_000_u32).map(|n| (n * 7 % 251) as u8).collect();
        let sent = String::from_utf8(kitty(&image)).expect("text");
        let commands: Vec<&str> = sent.split_terminator("\x1b\\").collect();
        let mut text = String::new();
        for (number, command) in commands.iter().enumerate() {
            let (keys, piece) = command.split_once(';').expect("a piece");
            let more = u8::from(number + 1 < commands.len());
            let first = if number == 0 { "a=T,f=100," } else { "" };
            assert_eq!(keys, format!("\x1b_G{first}q=2,m={more}"));
            assert!(piece.len() <= MAX_PIECE_BYTES);
            text += piece;
        }
        assert_eq!(STANDARD.decode(text).expect("Base64"), image);
    }
}
