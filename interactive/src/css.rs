//! The rules of style of what is shown in HTML: readable on light and on dark pages, without scripts.

/// The font of values, as a rule of style; pages of `nbconvert` give preformatted text the font of their text.
pub(crate) const CODE: &str = concat!(
    "font:var(--jp-code-font-size,13px)/1.45 ",
    "var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace)"
);
/// The look of what is said about a value: less than the text.
pub(crate) const DIM: &str = "opacity:.75";

/// The rules of style, each with the text that a fragment has if it needs the rule. All colours are those of
/// the page around, or shades of its text. The class is named twice, so that the rules outweigh those that
/// JupyterLab has for tables.
const RULES: [(&str, &str); 12] = [
    (
        "<table",
        "{font:var(--jp-code-font-size,13px)/1.45 \
         var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);overflow-x:auto}",
    ),
    (
        "<table",
        " table{border-collapse:collapse;border:0;margin:0;width:auto;table-layout:auto;font:inherit;color:inherit}",
    ),
    ("<table", " tr{background:none;border:0}"),
    (
        "<table",
        " :is(th,td){padding:1px .7em;border:0;text-align:left;vertical-align:baseline;line-height:inherit;\
         white-space:pre;max-width:none;font-weight:normal}",
    ),
    ("<thead", " thead th{border-bottom:1px solid #8888;font-weight:600}"),
    ("<tbody", " tbody tr:hover{background:#8882}"),
    ("nesl-n", " .nesl-n{text-align:right}"),
    ("nesl-d", " .nesl-d{text-align:center;opacity:.75}"),
    ("<tbody", " tbody th{text-align:right;border-right:1px solid #8885;opacity:.75}"),
    ("nesl-seg", " .nesl-seg :is(th,td){text-align:left;padding:0 .4em}"),
    (
        "nesl-c",
        " .nesl-c{display:inline-block;padding:0 .4em;margin:1px 0 1px -1px;border:1px solid #8888}",
    ),
    (
        "nesl-bar",
        " .nesl-bar{display:inline-block;height:.6em;background:var(--jp-brand-color1,#3b7dd8);opacity:.55}",
    ),
];

/// Returns a fragment in a frame of its own, with the rules of style that it needs: an output may be the only
/// one of a page.
pub(crate) fn styled(fragment: &str) -> String {
    let needed = RULES.iter().filter(|(sign, _)| fragment.contains(sign));
    let rules: String = needed.map(|(_, rule)| format!("div.nesl-out.nesl-out{rule}")).collect();
    let rules = if rules.is_empty() { rules } else { format!("<style>{rules}</style>") };
    format!("{rules}<div class=\"nesl-out\">{fragment}</div>")
}
