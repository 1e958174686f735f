//! Something to show → the data of a message, in every form it has.

use jupyter_protocol::{Media, MediaType};
use nesl_interactive::bundle::{Bundle, escaped};
use nesl_interactive::html::PRE;

/// Returns the forms of a bundle.
pub fn media(bundle: Bundle) -> Media {
    let Bundle { plain, ansi: _, html, svg, plot } = bundle;
    let mut all = vec![MediaType::Plain(plain)];
    all.extend(html.map(|html| MediaType::Html(framed(html))));
    all.extend(svg.map(MediaType::Svg));
    all.extend(plot.map(MediaType::VegaLiteV5));
    Media::new(all)
}

/// JupyterLab indents a `pre` that stands alone like a quotation.
fn framed(html: String) -> String {
    if html.starts_with("<pre") { format!("<div>{html}</div>") } else { html }
}

/// Returns definitions as one thing to show, less conspicuous than values.
pub fn definitions(bundles: Vec<Bundle>) -> Media {
    let plain: Vec<&str> = bundles.iter().map(|bundle| bundle.plain.as_str()).collect();
    let lines: String = bundles
        .iter()
        .map(|bundle| match &bundle.html {
            Some(html) => html.clone(),
            None => format!("{PRE}{}</pre>", escaped(&bundle.plain)),
        })
        .collect();
    let html = format!("<div style=\"opacity: 0.6\">{lines}</div>");
    Media::new(vec![MediaType::Plain(plain.join("\n")), MediaType::Html(html)])
}

/// Returns a line that says how far a cell is.
pub fn progress(line: &str) -> Media {
    let html = format!("<div style=\"opacity: 0.6\">{PRE}{}</pre></div>", escaped(line));
    Media::new(vec![MediaType::Plain(line.to_owned()), MediaType::Html(html)])
}

/// Returns Markdown, for those who can show it and those who cannot.
pub fn markdown(text: String) -> Media {
    Media::new(vec![MediaType::Plain(text.clone()), MediaType::Markdown(text)])
}
