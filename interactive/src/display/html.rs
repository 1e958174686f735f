//! Arranged values as HTML: a fragment that brings its few rules of style, without scripts, readable on
//! light and on dark backgrounds.

use super::image;
use super::plot::short_text;
use super::sheet::{Body, Column, Grid, Room, Row, Segment, sheet};
use crate::bundle::escaped;
use crate::table::grouped;
use nesl_engine::data::Shown;
use std::fmt::Write;

/// The rules of style. All colours are those of the page around, or shades of its text. The class is named
/// twice, so that they outweigh the rules that JupyterLab has for tables.
pub(crate) const STYLE: &str = "<style>\
div.nesl-out.nesl-out{font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);\
font-size:var(--jp-code-font-size,13px);line-height:1.45;color:inherit;overflow-x:auto}\
div.nesl-out.nesl-out table{border-collapse:collapse;border-spacing:0;border:0;margin:0;width:auto;\
table-layout:auto;font:inherit;font-variant-numeric:tabular-nums;color:inherit}\
div.nesl-out.nesl-out tr{background:none;border:0}\
div.nesl-out.nesl-out th,div.nesl-out.nesl-out td{padding:1px .7em;border:0;text-align:left;vertical-align:baseline;\
line-height:inherit;white-space:pre;max-width:none;font-weight:normal}\
div.nesl-out.nesl-out thead th{border-bottom:1px solid;border-color:rgba(128,128,128,.55);font-weight:600}\
div.nesl-out.nesl-out tbody tr:hover{background:rgba(128,128,128,.13)}\
div.nesl-out.nesl-out .nesl-n{text-align:right}\
div.nesl-out.nesl-out .nesl-d{text-align:center}\
div.nesl-out.nesl-out tbody th,div.nesl-out.nesl-out .nesl-d,div.nesl-out.nesl-out .nesl-ty,div.nesl-out.nesl-out .nesl-cap{\
color:var(--jp-content-font-color2,inherit);opacity:.75;font-weight:normal}\
div.nesl-out.nesl-out tbody th{text-align:right;border-right:1px solid rgba(128,128,128,.35)}\
div.nesl-out.nesl-out .nesl-seg tbody th{text-align:left}\
div.nesl-out.nesl-out .nesl-seg td{padding:0 .35em}\
div.nesl-out.nesl-out .nesl-cap{margin-top:.3em;font-size:92%}\
div.nesl-out.nesl-out .nesl-c{display:inline-block;padding:0 .4em;margin:1px 0 1px -1px;\
border:1px solid rgba(128,128,128,.5)}\
div.nesl-out.nesl-out .nesl-bar{display:inline-block;height:.6em;\
background:var(--jp-brand-color1,#3b7dd8);opacity:.55;vertical-align:baseline}\
div.nesl-out.nesl-out pre.nesl-text{white-space:pre-wrap;overflow-wrap:anywhere;margin:0;padding:0 0 0 .7em;\
border:0;border-left:3px solid rgba(128,128,128,.4);background:none;color:inherit;font:inherit}\
div.nesl-out.nesl-out code.nesl-line{background:none;color:inherit;font:inherit;white-space:pre-wrap;padding:0}\
div.nesl-out.nesl-out img.nesl-img{image-rendering:pixelated;display:block;margin:0 0 .4em;max-width:100%;\
border:1px solid rgba(128,128,128,.5)}\
</style>";

/// The width of the bar of the longest row, in em.
const BAR_EM: f64 = 4.0;

/// Returns a value as HTML; `ty` is its type as the session prints it.
pub(crate) fn value(shown: &Shown, ty: &str) -> String {
    let image = image::of(shown);
    let room = if image.is_some() { Room::BELOW_IMAGE } else { Room::SCREEN };
    let sheet = sheet(shown, room);
    let mut out = format!("{STYLE}<div class=\"nesl-out\">");
    if let Some(image) = image {
        let described = match image.range {
            Some((low, high)) => {
                format!("{} (dark) to {} (bright)", short_text(low), short_text(high))
            }
            None => "red, green, blue".to_owned(),
        };
        let _ = write!(
            out,
            "<img class=\"nesl-img\" alt=\"{0}\" title=\"{0}\" width=\"{1}\" height=\"{2}\" \
             src=\"{3}\"><div class=\"nesl-cap\">{0}{4}</div>",
            escaped(&described),
            image.shown_width(),
            image.shown_height(),
            image.data_uri(),
            escaped(&image.note()),
        );
    }
    match &sheet.body {
        Body::Line(line) => {
            let _ = write!(
                out,
                "<code class=\"nesl-line\">{}</code> <span class=\"nesl-ty\">: {}</span>",
                escaped(line),
                escaped(ty)
            );
        }
        Body::Text(text) => {
            let _ = write!(out, "<pre class=\"nesl-text\">{}</pre>", escaped(text));
        }
        Body::Grid(grid) => table(&mut out, grid),
        Body::Segments(rows) => segments(&mut out, rows),
    }
    if !matches!(sheet.body, Body::Line(_)) {
        let shape = escaped(&sheet.shape);
        let _ = write!(out, "<div class=\"nesl-cap\">{shape} : {}</div>", escaped(ty));
    }
    out + "</div>"
}

fn class(column: &Column) -> &'static str {
    match column {
        Column { is_gap: true, .. } => " class=\"nesl-d\"",
        Column { right: true, .. } => " class=\"nesl-n\"",
        _ => "",
    }
}

fn table(out: &mut String, grid: &Grid) {
    *out += "<table><thead><tr><th></th>";
    for column in &grid.columns {
        let ty = match column.ty.as_str() {
            "" => String::new(),
            ty => format!("<br><span class=\"nesl-ty\">{}</span>", escaped(ty)),
        };
        let _ = write!(out, "<th{}>{}{ty}</th>", class(column), escaped(&column.name));
    }
    *out += "</tr></thead><tbody>";
    for row in &grid.rows {
        match row {
            Row::Gap => {
                *out += "<tr><th>⋮</th>";
                for column in &grid.columns {
                    let dots = if column.is_gap { "⋱" } else { "⋮" };
                    let _ = write!(out, "<td class=\"{}\">{dots}</td>", gap_class(column));
                }
                *out += "</tr>";
            }
            Row::Cells(label, cells) => {
                let _ = write!(out, "<tr><th>{label}</th>");
                for (column, cell) in grid.columns.iter().zip(cells) {
                    let text = cell.as_deref().map(escaped).unwrap_or_default();
                    let _ = write!(out, "<td{}>{text}</td>", class(column));
                }
                *out += "</tr>";
            }
        }
    }
    *out += "</tbody></table>";
}

fn gap_class(column: &Column) -> &'static str {
    if column.right { "nesl-n nesl-d" } else { "nesl-d" }
}

fn segments(out: &mut String, rows: &[Segment]) {
    *out += "<table class=\"nesl-seg\"><tbody>";
    let parts = rows.iter().filter_map(|row| match row {
        Segment::Row { part, .. } => Some(*part),
        Segment::Gap(_) => None,
    });
    // Bars that are all equally long say nothing.
    let has_bars = parts.clone().any(|part| parts.clone().any(|other| other != part));
    for row in rows {
        match row {
            Segment::Gap(depth) => {
                let _ =
                    write!(out, "<tr>{}⋮</th><td></td><td></td><td></td></tr>", indented(*depth));
            }
            Segment::Row { depth, label, length, part, cells, is_cut } => {
                let length = length.map(|length| format!("#{}", grouped(length as u64)));
                let bar = match has_bars {
                    true => format!(
                        "<span class=\"nesl-bar\" style=\"width:{:.2}em\"></span>",
                        part * BAR_EM
                    ),
                    false => String::new(),
                };
                let _ = write!(
                    out,
                    "<tr>{}{label}</th><td class=\"nesl-ty nesl-n\">{}</td><td>{bar}</td><td>",
                    indented(*depth),
                    length.unwrap_or_default()
                );
                for (position, cell) in cells.iter().flatten().enumerate() {
                    if *is_cut && position + 1 == cells.as_ref().map_or(0, Vec::len) {
                        *out += "<span class=\"nesl-c nesl-d\">…</span>";
                    }
                    let _ = write!(out, "<span class=\"nesl-c\">{}</span>", escaped(cell));
                }
                *out += "</td></tr>";
            }
        }
    }
    *out += "</tbody></table>";
}

/// Returns the beginning of a row's heading at a level of nesting.
fn indented(depth: usize) -> String {
    match depth {
        0 => "<th>".to_owned(),
        depth => format!("<th style=\"padding-left:{:.1}em\">", 0.7 + 1.6 * depth as f64),
    }
}
