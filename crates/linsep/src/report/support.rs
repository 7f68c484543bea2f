//! The table of support vectors, for people and for programs.

use super::text::{clip, count, grid, short, thousands};
use crate::artifact::Model;
use crate::model::Method;
use crate::table::Class;
use crate::words::{Setting, Voice, words};
use crate::workflow::{SupportRow, SupportTable};
use serde_json::{Value, json};

/// The first `most` support vectors of every table (all without a limit), and how many more there are.
pub fn support_text(model: &Model, tables: &[SupportTable], most: Option<usize>, voice: &dyn Voice) -> String {
    tables.iter().map(|table| one_text(model, table, most, voice)).collect()
}

fn one_text(model: &Model, table: &SupportTable, most: Option<usize>, voice: &dyn Voice) -> String {
    let rows = &table.rows;
    let shown = rows.len().min(most.unwrap_or(usize::MAX));
    let joint = rows.iter().any(|row| row.against.is_some());
    let name = |class: Class| clip(&model.classes[class.index()], 24);
    let mut heading = ["row", "label", "α", "", "slack", "distance"].map(str::to_owned).to_vec();
    if joint {
        heading.insert(2, "not".to_owned());
    }
    let mut cells = vec![heading];
    for row in &rows[..shown] {
        let place = match (row.bounded, &model.method) {
            (_, Method::KernelPerceptron(_)) => "",
            (true, _) => "bounded",
            (false, _) => "free",
        };
        // A row on the margin has a slack of rounding alone.
        let slack = if row.slack < 1e-9 { "0".to_owned() } else { short(row.slack) };
        let mut line = vec![thousands((row.row + voice.first()) as f64), name(row.class)];
        line.extend(row.against.map(name));
        line.extend([short(row.alpha), place.to_owned(), slack, row.distance.map_or(String::new(), short)]);
        cells.push(line);
    }
    let of = table.part.map_or(String::new(), |part| format!(" of {}", part.describe(&model.classes)));
    let words = match (joint, model.method.has_kernel()) {
        (true, _) => "slack max(0, 1 − (z − z of the other class)); distance from the plane between them",
        (false, true) => "slack max(0, 1 − y z); distance z/‖w‖ in the feature space",
        (false, false) => "slack max(0, 1 − y z); distance z/‖w‖",
    };
    let what = match model.method {
        Method::KernelPerceptron(_) => format!("{} a mistake, α times", count(rows.len(), "row")),
        _ => count(rows.len(), "support vector"),
    };
    let mut out = format!("\n  {what}{of} (row of the training table; {words})\n");
    out.push_str(&grid(&cells, 2));
    if shown < rows.len() {
        let more = format!("{} more", thousands((rows.len() - shown) as f64));
        let where_else = words![": see ", Setting::Rows.is("all")].said(voice).unwrap_or_default();
        out.push_str(&format!("  … {more}{where_else}\n"));
    }
    out
}

/// Every support vector; `part` names the two-class fit where there are several, and `against` the class held off where
/// several were fitted at once.
pub fn support_json(model: &Model, tables: &[SupportTable]) -> Value {
    let name = |class: Class| &model.classes[class.index()];
    let one = |table: &SupportTable, row: &SupportRow| {
        json!({
            "part": table.part.map(|part| part.describe(&model.classes)),
            "row": row.row + 1,
            "label": name(row.class),
            "against": row.against.map(name),
            "alpha": row.alpha,
            "bounded": row.bounded,
            "slack": row.slack,
            "distance": row.distance,
        })
    };
    tables.iter().flat_map(|table| table.rows.iter().map(move |row| one(table, row))).collect()
}
