//! Verdicts of separability for programs.

use super::separability::{Page, intercept_at_zero, middle};
use crate::error::Place;
use crate::separate::{CommonPoint, Verdict, WholeScore};
use crate::workflow::{Question, TableSeparability};
use serde_json::{Value, json};

impl Page<'_> {
    fn json(&self) -> Value {
        let question = match self.question {
            Question::Joint => json!({"scope": "joint", "classes": self.found.classes}),
            Question::Pair(..) => json!({"scope": "pair", "classes": [self.class(0), self.class(1)]}),
            Question::Rest(_) => json!({"scope": "rest", "classes": [self.class(0), self.class(1)]}),
        };
        let mut value = question;
        value["verdict"] = json!(self.about.verdict.name());
        value["margin"] = Value::Null;
        value["witness"] = Value::Null;
        value["exact"] = json!(self.about.verdict.exact());
        value["route"] = json!(self.about.route.name());
        value["strict_rows"] = json!(self.about.strict_rows());
        value["boundary_rows"] = match &self.about.verdict {
            Verdict::Complete(_) => json!([]),
            Verdict::QuasiComplete(v) => rows_json(&v.boundary),
            Verdict::Overlap(_) | Verdict::Undecided(_) => Value::Null,
        };
        match &self.about.verdict {
            Verdict::Complete(v) => {
                value["margin"] = json!(v.margin);
                value["plane"] = plane_json(&v.weights, &v.intercept, &v.centre);
                value["plane"]["intercept"] = json!(intercept_at_zero(v));
                if let Some(scores) = &v.whole {
                    let score = |s: &WholeScore| json!({"weights": s.weights, "intercept": s.intercept});
                    value["plane"]["whole"] = scores.iter().map(score).collect();
                }
                if let Some(hull) = &v.hull {
                    let weights: Vec<Value> =
                        hull.weights.iter().map(|(row, w)| self.weight_json(*row, *w, None)).collect();
                    value["witness"] =
                        json!({"rows": weights, "hull_distance": hull.distance, "relative_gap": hull.gap});
                    let [first, second] = &hull.points;
                    value["witness"]["points"] = json!({"y": first, "x": second, "x0": middle(first, second)});
                }
            }
            Verdict::QuasiComplete(v) => {
                value["direction"] = plane_json(&v.weights, &v.intercept, &v.centre);
                let name = |j: &usize| self.found.features[*j].as_str();
                let mut diverging: Option<Vec<&str>> = v.columns.as_ref().map(|c| c.iter().map(name).collect());
                if let Some(names) = diverging.as_mut().filter(|_| v.intercept_diverges) {
                    names.push("(intercept)");
                }
                value["diverging"] = json!(diverging);
                value["collinear"] = json!(v.collinear.as_ref().map(|c| c.iter().map(name).collect::<Vec<&str>>()));
                value["witness"] = self.common_json(&v.common);
            }
            Verdict::Overlap(v) => {
                value["weights"] = json!({"smallest": v.smallest, "largest": 1.0, "residual": v.residual});
                value["witness"] = v.common.as_ref().map_or(Value::Null, |c| self.common_json(c));
            }
            Verdict::Undecided(v) => {
                value["reason"] = json!(v.reason);
                value["witness"] = v.common.as_ref().map_or(Value::Null, |c| self.common_json(c));
            }
        }
        value
    }

    fn weight_json(&self, row: usize, weight: f64, class: Option<(usize, usize)>) -> Value {
        let mut value = json!({"row": row + 1, "weight": weight});
        if let Some(Place { line: Some(line), .. }) = self.found.place(row) {
            value["line"] = json!(line);
        }
        if let Some((own, other)) = class {
            value["class"] = json!(self.class(own));
            value["against"] = json!(self.class(other));
        }
        value
    }

    fn common_json(&self, common: &CommonPoint) -> Value {
        let rows = common.constraints.iter().map(|c| {
            let mut value = self.weight_json(c.row, c.weight, Some((c.own, c.other)));
            if let Some(digits) = &c.exact {
                value["exact"] = json!(digits);
            }
            value
        });
        json!({"rows": rows.collect::<Vec<Value>>(), "residual": common.residual})
    }
}

/// Rows as programs read them, from 1.
pub(super) fn rows_json(rows: &[usize]) -> Value {
    rows.iter().map(|row| json!(row + 1)).collect()
}

fn plane_json(weights: &[Vec<f64>], intercept: &[f64], centre: &[f64]) -> Value {
    json!({"weights": weights, "intercept_at_centre": intercept, "centre": centre})
}

/// The machine interface: the first answer with `verdict`, `margin` and `witness`, further ones in `further`.
pub fn separability_json(found: &TableSeparability) -> Value {
    let mut pages = found.answers.iter().map(|(question, about)| Page { found, question: *question, about }.json());
    let mut value = pages.next().unwrap_or_else(|| json!({}));
    let further: Vec<Value> = pages.collect();
    value["complete"] = json!(found.is_complete());
    value["target"] = json!(found.target);
    value["rows"] = json!(found.rows);
    value["used"] = json!(found.used);
    value["features"] = json!(found.features);
    value["tolerance"] = json!(found.tolerance);
    if !further.is_empty() {
        value["further"] = Value::Array(further);
    }
    value
}
