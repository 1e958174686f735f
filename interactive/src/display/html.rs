//! Arranged values as HTML.

use super::image;
use super::plot::short_text;
use super::sheet::{Body, Cell, Column, Grid, Room, Row, Segment, sheet};
use crate::bundle::escaped;
use crate::css::{CODE, DIM, styled};
use crate::table::grouped;
use nesl_engine::data::Shown;
use std::fmt::Write;

/// The width of the bar of the longest row, in em.
const BAR_EM: f64 = 4.0;

/// Returns a value as HTML; `ty` is its type as the session prints it, and floats in cells have at most so many
/// significant digits.
pub(crate) fn value(shown: &Shown, ty: &str, digits: Option<usize>) -> String {
    let image = image::of(shown);
    let room = if image.is_some() { Room::BELOW_IMAGE } else { Room::SCREEN };
    let sheet = sheet(shown, room, digits);
    let mut out = String::new();
    if let Some(image) = image {
        let described = match image.range {
            Some((low, high)) => {
                format!("{} (dark) to {} (bright)", short_text(low), short_text(high))
            }
            None => "red, green, blue".to_owned(),
        };
        let _ = write!(
            out,
            "<img style=\"image-rendering:pixelated;display:block;max-width:100%;border:1px solid #8888\" \
             alt=\"{5}: {0}\" title=\"{0}\" width=\"{1}\" height=\"{2}\" src=\"{3}\"><div \
             style=\"{DIM};margin-bottom:.4em\">{0}{4}</div>",
            escaped(&described),
            image.shown_width(),
            image.shown_height(),
            image.data_uri(),
            escaped(&image.note()),
            if image.range.is_some() { "heat map" } else { "image" },
        );
    }
    match &sheet.body {
        Body::Line(line) => {
            return format!(
                "<div style=\"{CODE};padding-top:3px;white-space:pre-wrap\">{} <span style=\"{DIM}\">: {}</span></div>",
                escaped(line),
                escaped(ty)
            );
        }
        Body::Text(text) => {
            let _ = write!(
                out,
                "<pre style=\"{CODE};white-space:pre-wrap;overflow-wrap:anywhere;margin:0;\
                 padding-left:.7em;border-left:3px solid #8886\">{}</pre>",
                escaped(text)
            );
        }
        Body::Grid(grid) => table(&mut out, grid),
        Body::Segments(rows) => segments(&mut out, rows),
    }
    let shape = escaped(&sheet.shape);
    let _ = write!(out, "<div style=\"{CODE};{DIM}\">{shape} : {}</div>", escaped(ty));
    styled(&out)
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
            ty => format!("<br><span style=\"{DIM};font-weight:normal\">{}</span>", escaped(ty)),
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
                    let _ = match cell {
                        Some(cell) => write!(
                            out,
                            "<td{}{}>{}</td>",
                            class(column),
                            full(cell),
                            escaped(&cell.text)
                        ),
                        None => write!(out, "<td{}></td>", class(column)),
                    };
                }
                *out += "</tr>";
            }
        }
    }
    *out += "</tbody></table>";
}

/// Returns the attribute that shows all digits of a value where the mouse points at it.
fn full(cell: &Cell) -> String {
    cell.full.as_ref().map_or(String::new(), |full| format!(" title=\"{}\"", escaped(full)))
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
                    "<tr>{}{label}</th><td style=\"{DIM};text-align:right\">{}</td><td>{bar}</td><td>",
                    indented(*depth),
                    length.unwrap_or_default()
                );
                for (position, cell) in cells.iter().flatten().enumerate() {
                    if *is_cut && position + 1 == cells.as_ref().map_or(0, Vec::len) {
                        *out += "<span class=\"nesl-c nesl-d\">…</span>";
                    }
                    let _ = write!(
                        out,
                        "<span class=\"nesl-c\"{}>{}</span>",
                        full(cell),
                        escaped(&cell.text)
                    );
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
