//! Inference after a choice of columns, in words and for machines.

use super::inference::inference_text;
use super::inference_json::inference_json;
use super::text::{count, short, wrap};
use crate::words::Voice;
use crate::workflow::SplitInference;
use serde_json::{Value, json};

/// Width of the page.
const PAGE: usize = 80;

/// What was chosen, and the inference from the other rows.
pub fn split_text(found: &SplitInference, voice: &dyn Voice) -> String {
    let list = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let said = [
        format!(
            "Chosen by a penalty of λ = {} on {}: {}. Left out: {}.",
            short(found.lambda),
            count(found.choosing_rows, "row"),
            list(&found.chosen),
            list(&found.left_out)
        ),
        "What follows is by the other rows, which had no part in the choice: it holds of the chosen columns as if they had \
         been fixed beforehand, if the rows are independent. Coefficients are those of a model without the columns left out."
            .to_owned(),
    ];
    let mut out = String::new();
    for text in said {
        for (at, line) in wrap(&text, PAGE - 2).iter().enumerate() {
            out.push_str(&format!("{}{line}\n", if at == 0 { "" } else { "  " }));
        }
    }
    format!("{out}\n{}", inference_text(&found.inference, voice))
}

/// The machine interface: that of the inference, with what was chosen.
pub fn split_json(found: &SplitInference) -> Value {
    let mut value = inference_json(&found.inference);
    value["choice"] = json!({
        "lambda": found.lambda,
        "rows": found.choosing_rows,
        "chosen": found.chosen,
        "left_out": found.left_out,
    });
    value
}
