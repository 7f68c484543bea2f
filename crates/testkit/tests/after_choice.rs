//! Inference after a choice of columns by the other half of the rows.

use linsep::density::Draws;
use linsep::infer::Inference;
use linsep::model::{Fit, Method, PenaltyChoice, RiskMinimizer};
use linsep::read::{ReadOptions, read_bytes};
use linsep::resample::{PartOf, random_part};
use linsep::table::{Class, Table};
use linsep::workflow::{FitOptions, InferOptions, SplitOptions, TableFit, fit_table, infer_after_choice, infer_table};

const COLUMNS: usize = 8;
const ROWS: usize = 160;

/// Classes that have nothing to do with the columns.
fn lines(seed: u64) -> Vec<String> {
    let mut draws = Draws::new(seed, 0);
    let row = |_| {
        let cells: Vec<String> = (0..COLUMNS).map(|_| draws.normal().to_string()).collect();
        format!("{},{}", cells.join(","), if draws.chance(0.5) { "yes" } else { "no" })
    };
    (0..ROWS).map(row).collect()
}

fn table(lines: &[String]) -> Table {
    let names: Vec<String> = (0..COLUMNS).map(|j| format!("x{j}")).collect();
    let text = format!("{},y\n{}\n", names.join(","), lines.join("\n"));
    read_bytes(text.as_bytes(), "rows.csv", &ReadOptions::default()).unwrap()
}

fn lasso(lambda: f64) -> PenaltyChoice {
    PenaltyChoice::ElasticNet { l1_ratio: 1.0, lambda: Some(lambda), cost: None }
}

fn p_values(answer: &Fit<Box<Inference>, Box<linsep::infer::SeparatedInference>>) -> Vec<f64> {
    let Fit::Model(inference) = answer else { panic!("the rows overlap") };
    inference.coefficients.iter().filter(|c| c.feature.is_some()).map(|c| c.ln_p.exp()).collect()
}

#[test]
fn chosen_columns_look_no_better_than_they_are() {
    let (mut split, mut naive) = (Vec::new(), Vec::new());
    let mut options = InferOptions::new("y");
    for seed in 0..150 {
        let rows = lines(seed);
        options.recipe.features = None;
        let Ok(found) = infer_after_choice(
            table(&rows),
            &options,
            &SplitOptions { penalty: lasso(0.06), seed },
            &Default::default(),
        ) else {
            continue;
        };
        assert_eq!((found.choosing_rows, found.inference.used), (ROWS / 2, ROWS / 2));
        assert_eq!(found.chosen.len() + found.left_out.len(), COLUMNS);
        split.extend(p_values(&found.inference.answer));
        // The rows that chose, asked again.
        let classes: Vec<Option<Class>> = rows.iter().map(|r| Some(Class(u32::from(r.ends_with("yes"))))).collect();
        let part = random_part(&classes, 2, 0.5, PartOf::AllRows, seed);
        let own: Vec<String> = rows.iter().zip(&part).filter(|(_, chose)| **chose).map(|(r, _)| r.clone()).collect();
        options.recipe.features = Some(found.chosen.clone());
        naive.extend(p_values(&infer_table(table(&own), &options, &Default::default()).unwrap().answer));
        let method = Method::Risk(RiskMinimizer { penalty: lasso(0.06), ..RiskMinimizer::default() });
        let TableFit::Model(model) =
            fit_table(table(&own), &FitOptions::new("y", method), &Default::default()).unwrap()
        else {
            panic!("a lasso has a solution")
        };
        let weights = model.discriminant.as_linear().unwrap().weights_of(0).to_vec();
        let chosen: Vec<String> = (0..COLUMNS).filter(|j| weights[*j] != 0.0).map(|j| format!("x{j}")).collect();
        assert_eq!(found.chosen, chosen);
    }
    let share = |p: &[f64]| p.iter().filter(|p| **p < 0.1).count() as f64 / p.len() as f64;
    assert!(split.len() > 150, "{}", split.len());
    // A tenth of p values is below 0.1, up to three of their standard errors; of the rows that chose, far more.
    assert!((share(&split) - 0.1).abs() < 3.0 * (0.09 / split.len() as f64).sqrt(), "{}", share(&split));
    assert!(share(&naive) > 0.25, "{}", share(&naive));
}

#[test]
fn what_cannot_be_divided_is_refused() {
    let rows = lines(1);
    let asked = |options: &InferOptions, penalty: PenaltyChoice| {
        infer_after_choice(table(&rows), options, &SplitOptions { penalty, seed: 0 }, &Default::default())
            .map(|found| found.chosen)
            .map_err(|e| e.to_string())
    };
    let plain = InferOptions::new("y");
    assert!(asked(&plain, lasso(10.0)).unwrap_err().contains("leaves no column a weight"));
    assert!(asked(&plain, PenaltyChoice::RidgeOne).unwrap_err().contains("a ridge leaves none out"));
    let weighted = InferOptions { weights: Some("x0".into()), ..plain.clone() };
    assert!(asked(&weighted, lasso(0.01)).unwrap_err().contains("cannot be divided"));
    let clustered = InferOptions { cluster: Some("x0".into()), ..plain.clone() };
    assert!(asked(&clustered, lasso(0.01)).unwrap_err().contains("in both halves"));
    assert_eq!(asked(&plain, lasso(0.001)), asked(&plain, lasso(0.001)));
}
