//! Estimates of one population in words.

use super::estimates::matrix_text;
use super::text::{clip, grid, short, thousands};
use crate::error::Result;
use crate::workflow::PopulationEstimate;

/// Columns of which a matrix is shown: what a terminal has room for.
const MOST_MATRIX: usize = 6;

/// Mean and covariance of one population for people; a truth file beside them where one is given.
pub fn population_text(found: &PopulationEstimate, truth: Option<(&[u8], &str)>, divisor: &str) -> Result<String> {
    let dropped = found.rows - found.used;
    let left_out = if dropped > 0 {
        format!(" ({} with a missing cell left out)", thousands(dropped as f64))
    } else {
        String::new()
    };
    let mut out = format!("One population: {} rows{left_out}\n", thousands(found.used as f64));
    let posterior = found.posterior.as_ref();
    let mut rows = vec![["", "mean", "standard error"].map(str::to_owned).to_vec()];
    rows[0].extend(posterior.map(|_| "posterior mean".to_owned()));
    for (j, name) in found.features.iter().enumerate() {
        let error = found.errors.as_ref().map_or("-".to_owned(), |e| short(e[j]));
        let mut line = vec![clip(name, 40), short(found.mean[j]), error];
        line.extend(posterior.map(|(mean, _)| short(mean[j])));
        rows.push(line);
    }
    out.push_str(&format!("\n{}", grid(&rows, 2)));
    let matrix = |title: &str, matrix: &[Vec<f64>]| match found.features.len() <= MOST_MATRIX {
        true => matrix_text(title, &found.features, matrix),
        false => String::new(),
    };
    if let Some(covariance) = &found.covariance {
        let title = if found.known { "covariance, given".to_owned() } else { format!("covariance, divisor {divisor}") };
        out.push_str(&matrix(&title, covariance));
    }
    if let Some((_, covariance)) = posterior {
        out.push_str(&matrix("covariance of the mean after the rows (posterior Σ̃)", covariance));
    }
    if let Some((bytes, name)) = truth {
        let mut rows = vec![["", "truth", "estimate", "difference"].map(str::to_owned).to_vec()];
        for (what, truth, estimate) in found.beside(bytes, name)? {
            rows.push(vec![clip(&what, 48), short(truth), short(estimate), short(estimate - truth)]);
        }
        out.push_str(&format!("\n  beside the truth of {name}\n{}", grid(&rows, 2)));
    }
    Ok(out)
}
