//! Methods on rows that are not in memory.

use crate::error::{Error, Result};
use crate::model::{Algorithm, LossChoice, Method};
use crate::table::Table;
use crate::words::{Setting, words};

/// Refuses methods that would bring all rows of a table back into memory, where some of them are in scratch files.
pub(super) fn check_rows_stay(method: &Method, table: &Table) -> Result<()> {
    let holds = match method {
        Method::Risk(m) => {
            m.loss == LossChoice::Hinge
                || matches!(
                    m.algorithm,
                    Algorithm::DualCd
                        | Algorithm::InteriorPoint
                        | Algorithm::RowNewton
                        | Algorithm::Sgd
                        | Algorithm::Svrg
                )
        }
        Method::Gaussian(_) | Method::NaiveBayes(_) | Method::LeastSquares(_) | Method::Given(_) => false,
        Method::HardMargin(_)
        | Method::KernelSvm(_)
        | Method::KernelPerceptron(_)
        | Method::Link(_)
        | Method::Perceptron(_)
        | Method::Sigmoid(_) => true,
    };
    if !holds || table.stored_bytes().1 == 0 {
        return Ok(());
    }
    let what = words![
        Setting::Model.is(method.name()),
        " with these settings holds all rows in memory, and the table does not fit"
    ];
    Err(Error::usage(what)
        .help(words!["allow more with ", Setting::Memory])
        .help(words!["choose ", Setting::Model.any(["logistic", "lda", "naive-bayes", "least-squares"])])
        .help(words!["choose ", Setting::Loss.is("squared-hinge")]))
}
