//! Values and pictures → something to show.

use crate::bundle::{Bundle, escaped};
use crate::output::Output;
use nesl_engine::{Binding, Picture};

/// How values are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Values are shown in HTML, too.
    pub html: bool,
}

/// Returns what to show of a form that was evaluated or defined.
pub fn binding(binding: &Binding, _style: Style) -> Output {
    let Binding { name, value, ty, expression, .. } = binding;
    if *expression {
        Output::Value(Bundle::text(format!("{value} : {ty}")))
    } else {
        Output::Defined(Bundle::text(format!("{name} : {ty}")))
    }
}

/// Returns a picture, with a line for those who cannot see it.
pub fn picture(picture: &Picture) -> Bundle {
    let plain = format!("a picture: {}", picture.file_name());
    let html = format!("<p>{}</p>", escaped(&plain));
    Bundle { svg: Some(picture.svg()), ..Bundle::text(plain) }.with_html(html)
}
