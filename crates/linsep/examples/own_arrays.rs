//! Arrays of one's own, a certified classifier of them, and its answers.
//!
//! `cargo run --example own_arrays`

#![allow(clippy::print_stdout)]

use linsep::prelude::*;

/// Petals of three irises, length and width in centimetres.
const PETALS: [[f64; 2]; 12] = [
    [1.4, 0.2],
    [1.3, 0.2],
    [1.5, 0.4],
    [1.7, 0.3],
    [4.7, 1.4],
    [4.5, 1.5],
    [5.1, 1.7],
    [4.0, 1.3],
    [6.0, 2.5],
    [5.1, 1.9],
    [5.9, 2.1],
    [4.8, 1.8],
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Iris {
    Setosa,
    Versicolor,
    Virginica,
}

/// A type of one's own may be the label; predictions are of it.
impl Label for Iris {
    type Class = Iris;

    fn class(&self) -> Iris {
        *self
    }

    fn name(&self) -> String {
        format!("{self:?}")
    }

    fn order(&self, other: &Iris) -> std::cmp::Ordering {
        self.cmp(other)
    }
}

/// Fits, asks and verifies.
pub fn main() -> Result<(), FitError> {
    use Iris::{Setosa, Versicolor, Virginica};
    let kinds: Vec<Iris> = [Setosa, Versicolor, Virginica].into_iter().flat_map(|kind| [kind; 4]).collect();

    // Softmax regression; `fit` borrows the rows.
    let model = LogisticRegression::new().ridge(0.01).feature_names(["length", "width"]).fit(&PETALS, &kinds)?;
    println!("{}", model.summary());
    assert!(model.is_converged());
    assert!(model.certificate().relative_gap().is_some_and(|gap| gap <= 1e-8));

    // Anything that is rows of numbers can be asked about.
    let flower = Matrix::new(vec![1.6f32, 0.25], 1, 2)?;
    let probabilities = model.predict_proba(&flower)?;
    println!("{:?} with probability {:.3}", model.predict(&flower)?[0], probabilities[(0, 0)]);
    assert_eq!(model.predict(&flower)?, [Setosa]);

    // The claims of the model follow from the rows, and from no others.
    assert!(model.verify(&PETALS, &kinds)?.passed());

    // Every method is fitted the same way.
    for right in [
        Lda::new().fit(&PETALS, &kinds)?.predict(&PETALS)? == kinds,
        LinearSvm::new().cost(10.0).fit(&PETALS, &kinds)?.predict(&PETALS)? == kinds,
        KernelSvm::new().cost(10.0).fit(&PETALS, &kinds)?.predict(&PETALS)? == kinds,
    ] {
        println!("all training rows right: {right}");
    }
    Ok(())
}
