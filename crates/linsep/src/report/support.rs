//! The table of support vectors, for people and for programs.

use super::text::{clip, count, grid, short, thousands};
use crate::artifact::Model;
use crate::workflow::SupportRow;
use serde_json::{Value, json};

/// The first `most` support vectors (all without a limit), and how many more there are.
pub fn support_text(model: &Model, rows: &[SupportRow], most: Option<usize>) -> String {
    let shown = rows.len().min(most.unwrap_or(usize::MAX));
    let mut cells = vec![["row", "label", "α", "", "slack", "distance"].map(str::to_owned).to_vec()];
    for row in &rows[..shown] {
        let place = if row.bounded { "bounded" } else { "free" };
        // A row on the margin has a slack of rounding alone.
        let slack = if row.slack < 1e-9 { "0".to_owned() } else { short(row.slack) };
        cells.push(vec![
            thousands(row.row as f64 + 1.0),
            clip(&model.classes[row.class.index()], 24),
            short(row.alpha),
            place.to_owned(),
            slack,
            short(row.distance),
        ]);
    }
    let mut out = format!(
        "\n  {} (row of the training table; slack max(0, 1 − y z); distance z/‖w‖)\n",
        count(rows.len(), "support vector")
    );
    out.push_str(&grid(&cells, 2));
    if shown < rows.len() {
        out.push_str(&format!("  … {} more: see --rows all\n", thousands((rows.len() - shown) as f64)));
    }
    out
}

/// Every support vector.
pub fn support_json(model: &Model, rows: &[SupportRow]) -> Value {
    let one = |row: &SupportRow| {
        json!({
            "row": row.row + 1,
            "label": model.classes[row.class.index()],
            "alpha": row.alpha,
            "bounded": row.bounded,
            "slack": row.slack,
            "distance": row.distance,
        })
    };
    rows.iter().map(one).collect()
}
