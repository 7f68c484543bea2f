//! Statistics of rows that come in pieces: merged in any grouping, kept as bytes, updated and taken back; a discriminant
//! analysis of them without the rows.
//!
//! `cargo run --example streaming`

#![allow(clippy::print_stdout)]

use linsep::design::DenseMatrix;
use linsep::model::GaussianBayes;
use linsep::prelude::*;
use linsep::stats::ClassMoments;
use linsep::table::{Class, Labels};
use linsep::watch::Watch;

/// Measurements of one hour: two columns, two classes.
fn hour(number: u32) -> (Vec<f64>, Vec<Class>) {
    let wobble = |i: u32, a: u32| f64::from((i * a + number * 13) % 29) / 10.0;
    let row = |i: u32| [f64::from(i % 2) * 2.0 + wobble(i, 11), wobble(i, 7) - f64::from(i % 2)];
    ((0..100).flat_map(row).collect(), (0..100).map(|i| Class(i % 2)).collect())
}

/// Merges statistics, and fits from them.
pub fn main() -> Result<(), FitError> {
    let names = vec!["good".to_owned(), "bad".to_owned()];
    let watch = Watch::default();
    let statistics = |number: u32| -> linsep::Result<ClassMoments> {
        let (values, classes) = hour(number);
        ClassMoments::of(&DenseMatrix::new(values, 2)?, &Labels::new(classes, names.clone()), None, &watch)
    };

    // One worker sees the morning, another the afternoon; each sends bytes, of a size that knows no rows.
    let mut morning = statistics(0)?;
    let mut afternoon = statistics(2)?;
    morning.merge(&statistics(1)?)?;
    afternoon.merge(&statistics(3)?)?;
    let sent = afternoon.to_bytes();
    println!("{} bytes for {} rows", sent.len(), afternoon.weights().iter().sum::<f64>());
    let mut day = morning;
    day.merge(&ClassMoments::from_bytes(&sent)?)?;

    // The model of the day, without its rows.
    let merged = GaussianBayes::lda().fit_statistics(day.clone(), &names)?;
    let Some(merged) = merged.discriminant.as_linear() else { unreachable!("one covariance makes linear scores") };

    // All rows at once lead to the same plane, but for rounding.
    let (values, classes): (Vec<Vec<f64>>, Vec<Vec<Class>>) = (0..4).map(hour).unzip();
    let (values, classes) = (values.concat(), classes.concat());
    let labels: Vec<&str> = classes.iter().map(|class| names[class.index()].as_str()).collect();
    let whole = Lda::new().positive("bad").fit(&Matrix::new(&values, labels.len(), 2)?, &labels)?;
    let Some(whole_plane) = whole.linear() else { unreachable!("one covariance makes linear scores") };
    for (a, b) in merged.weights_of(0).iter().zip(whole_plane.weights_of(0)) {
        println!("merged {a}, at once {b}");
        assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0));
    }

    // An hour that should not have counted is taken back.
    day.remove(&statistics(3)?)?;
    assert_eq!(day.weights(), [150.0, 150.0]);
    Ok(())
}
