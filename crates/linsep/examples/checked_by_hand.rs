//! A CSV file, a logistic regression, and its certificate checked by hand: both sides of the proof take twenty lines, and
//! none of them knows how the solution was found.
//!
//! `cargo run --example checked_by_hand`
//!
//! With labels t = ±1, n rows and `F(w, b) = Σ ln(1 + e^{−tᵢzᵢ})/n + λ/2 ‖w‖²`, `zᵢ = w·xᵢ + b`, every α with 0 ≤ α ≤ 1 and
//! `Σ αᵢtᵢ = 0` gives a lower bound of F:
//!
//! `D(α) = Σ h(αᵢ)/n − ‖Σ αᵢtᵢxᵢ/n‖²/(2λ)`, `h(a) = −a ln a − (1−a) ln(1−a)`.

#![allow(clippy::print_stdout)]

use linsep::prelude::*;
use linsep::read::read_files;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/doses.csv");
const LAMBDA: f64 = 0.1;

/// Fits, and computes both sides of the proof again.
pub fn main() -> Result<(), FitError> {
    let table = read_files(&[FILE], &Default::default(), &Default::default())?;
    // Columns as they are, so that the penalty is about the weights that the model states.
    let model = LogisticRegression::new()
        .ridge(LAMBDA)
        .standardize(false)
        .tolerance(1e-10)
        .fit_table(table.clone(), "cured")?;
    println!("{}", model.summary());

    let columns = [table.column("dose")?, table.column("age")?];
    let target = table.column("cured")?;
    let rows: Vec<[f64; 2]> = (0..table.n_rows()).map(|i| columns.map(|c| table.number(i, c))).collect();
    let signs: Vec<f64> =
        (0..table.n_rows()).map(|i| if table.text(i, target) == "yes" { 1.0 } else { -1.0 }).collect();

    let Some(g) = model.linear() else { unreachable!("logistic regression is linear") };
    let (w, b) = (g.weights_of(0), g.intercept()[0]);
    let objective = primal(&rows, &signs, w, b);
    let bound = dual(&rows, &signs, w, b);
    println!("F = {objective}, D = {bound}, F − D = {:e}", objective - bound);

    // What the model states is what was computed here, but for rounding.
    let Certificate::DualityGap { objective: stated, dual: stated_bound, gap, .. } = model.certificate() else {
        unreachable!("a ridge has a dual problem")
    };
    assert!((objective - stated).abs() <= 1e-12);
    // D* = F*: both bounds are within both gaps of it.
    assert!((bound - stated_bound).abs() <= gap + (objective - bound) + 1e-12);
    assert!((-1e-13..=1e-9).contains(&(objective - bound)));
    Ok(())
}

fn score(row: &[f64; 2], w: &[f64], b: f64) -> f64 {
    row.iter().zip(w).map(|(x, w)| x * w).sum::<f64>() + b
}

/// F at a point.
fn primal(rows: &[[f64; 2]], signs: &[f64], w: &[f64], b: f64) -> f64 {
    let losses = rows.iter().zip(signs).map(|(row, t)| (-t * score(row, w, b)).exp().ln_1p());
    losses.sum::<f64>() / rows.len() as f64 + LAMBDA / 2.0 * w.iter().map(|w| w * w).sum::<f64>()
}

/// D at the multipliers that the point suggests: α = 1/(1 + e^{tz}), the heavier class scaled down to the weight of the other.
fn dual(rows: &[[f64; 2]], signs: &[f64], w: &[f64], b: f64) -> f64 {
    let n = rows.len() as f64;
    let mut alpha: Vec<f64> =
        rows.iter().zip(signs).map(|(row, t)| 1.0 / (1.0 + (t * score(row, w, b)).exp())).collect();
    let weight = |of: f64| alpha.iter().zip(signs).filter(|(_, t)| **t == of).map(|(a, _)| a).sum::<f64>();
    let (plus, minus) = (weight(1.0), weight(-1.0));
    for (a, t) in alpha.iter_mut().zip(signs) {
        *a *= plus.min(minus) / if *t > 0.0 { plus } else { minus };
    }
    let entropy = |a: f64| -a * a.ln() - (1.0 - a) * (-a).ln_1p();
    let moment = |j: usize| (0..rows.len()).map(|i| alpha[i] * signs[i] * rows[i][j]).sum::<f64>() / n;
    let length = moment(0).powi(2) + moment(1).powi(2);
    alpha.iter().map(|a| entropy(*a)).sum::<f64>() / n - length / (2.0 * LAMBDA)
}
