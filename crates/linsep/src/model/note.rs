//! What the user should know about a fit.

use crate::kernel::NegativeCurvature;
use crate::role::{Role, Roles};
use crate::words::{Setting, Voice, words};
use serde::{Deserialize, Serialize};

/// Something found on the way, naming matrix columns by index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Note {
    /// Columns with one value only: their weight is zero.
    Constant {
        /// The columns.
        columns: Vec<usize>,
    },
    /// A column that is a linear combination of others, proved for the doubles of all rows: its weight is zero.
    Collinear {
        /// The column.
        column: usize,
        /// The columns it is a combination of, with the coefficients.
        combination: Vec<(usize, f64)>,
    },
    /// A column that is left out, its weight zero, because it cannot be told from a combination of others: what is proved
    /// is proved for the model without it.
    LeftOut {
        /// The column.
        column: usize,
        /// The columns it is nearly a combination of, with the coefficients.
        combination: Vec<(usize, f64)>,
        /// Whether the difference is within the printed digits of the columns; otherwise within the rounding of doubles.
        printed: bool,
    },
    /// Rounding within the printed digits of the columns moves a score by so much, root mean square.
    LastDigit {
        /// In units of the score.
        score: f64,
    },
    /// A column that is a linear combination of others, under a penalty that divides the weight among them.
    Shared {
        /// The column.
        column: usize,
        /// The columns it is a combination of, with the coefficients.
        combination: Vec<(usize, f64)>,
    },
    /// A column that rounding cannot tell from a combination of others, without a proof that it is one.
    NearlyCollinear {
        /// The column.
        column: usize,
        /// The columns it is close to a combination of, with the coefficients.
        combination: Vec<(usize, f64)>,
        /// Whether it was left out, so that what is proved is proved for the model without it; otherwise a penalty
        /// divides the weight.
        left_out: bool,
    },
    /// Fewer independent columns than columns: without a penalty their weights are not determined by the data alone.
    Rank {
        /// Independent columns.
        rank: usize,
        /// Columns that are not constant.
        columns: usize,
    },
    /// How strongly the covariance was shrunk.
    Shrinkage {
        /// The intensity, 0 to 1.
        intensity: f64,
    },
    /// How strongly the covariance of each class was shrunk.
    ClassShrinkage {
        /// The intensities, 0 to 1, in the order of the classes.
        intensities: Vec<f64>,
    },
    /// Parameters that were not estimated.
    Given {
        /// Which.
        what: Vec<String>,
    },
    /// Every intercept of an interval is as good.
    Intercepts {
        /// The least.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// The means are posterior means.
    PosteriorMeans {
        /// Which covariance of the rows was plugged in: `given` or `estimated`.
        plugged_in: String,
    },
    /// Fits without a fold, for the calibration, that did not reach their tolerance.
    UnconvergedFolds {
        /// The folds, numbered from 1.
        folds: Vec<usize>,
    },
    /// The kernel is not positive semidefinite on the rows, or not known to be: the result is a stationary point.
    Indefinite {
        /// Rows that show it; `None` where a sample of rows does not.
        evidence: Option<NegativeCurvature>,
    },
    /// Whether a plane separates the classes, where the fit did not find one.
    Separability {
        /// The verdict.
        verdict: Separability,
    },
}

/// Whether some plane puts every row strictly on its side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Separability {
    /// None does.
    Overlap {
        /// Rows that already overlap among themselves.
        rows: usize,
    },
    /// One does.
    Separable {
        /// A bound on the mistakes of a perceptron before it separates the rows, where a separating plane is known.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        bound: Option<f64>,
    },
    /// The last θ of a run does, though the average that is returned does not.
    Passed,
    /// Not decided.
    Unknown {
        /// Why.
        reason: String,
    },
}

impl Note {
    /// Whether it says that a column was left out without a proof that it says nothing: what is proved then is proved for the
    /// model without it.
    pub(crate) fn leaves_out(&self) -> bool {
        matches!(self, Note::LeftOut { .. } | Note::NearlyCollinear { left_out: true, .. })
    }

    /// What is said of the data is a claim about it.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::All(Role::Claim);

    /// The note in words.
    pub fn describe(&self, feature: &dyn Fn(usize) -> String, voice: &dyn Voice) -> String {
        match self {
            Note::Constant { columns } => {
                let names = columns.iter().take(NAMED).map(|c| feature(*c));
                format!(
                    "constant, weight 0: {}{}",
                    names.collect::<Vec<_>>().join(", "),
                    and_more(columns.len(), NAMED)
                )
            }
            Note::Collinear { column, combination } => format!("{}: weight 0", relation(*column, combination, feature)),
            Note::LeftOut { column, combination, printed } => left_out(*column, combination, *printed, feature),
            Note::LastDigit { score } => format!(
                "rounding within the printed digits of the columns moves a score by {score:.1e} (root mean square){}",
                if *score > UNSTEADY { "; fewer columns, a ridge penalty or shrinkage make it steadier" } else { "" }
            ),
            Note::Shared { column, combination } => {
                format!("{}: the penalty divides the weight", relation(*column, combination, feature))
            }
            Note::NearlyCollinear { column, combination, left_out } => {
                let near = nearly(*column, combination, feature);
                match left_out {
                    true => format!(
                        "{near}: weight 0; what is proved is proved for the model without {0}, nothing is claimed about \
                         weights on the difference; leave one of them out or use a penalty",
                        feature(*column)
                    ),
                    false => format!("{near}: the penalty divides the weight"),
                }
            }
            Note::Rank { rank, columns } => {
                format!("rank {rank} of {columns} columns: the data alone do not determine every weight")
            }
            Note::Shrinkage { intensity } => {
                format!("covariance shrunk towards a multiple of the identity by {intensity:.4}")
            }
            Note::ClassShrinkage { intensities } => {
                let shown: Vec<String> = intensities.iter().take(8).map(|a| format!("{a:.4}")).collect();
                format!(
                    "covariances shrunk towards multiples of the identity, class by class: {}{}",
                    shown.join(", "),
                    and_more(intensities.len(), 8)
                )
            }
            Note::Given { what } => format!("given, not estimated: {}", what.join(", ")),
            Note::Intercepts { low, high } => {
                format!("every intercept from {low:.6} to {high:.6} is as good for these weights; the middle was taken")
            }
            Note::PosteriorMeans { plugged_in } => {
                format!(
                    "the means are posterior means under the stated prior, with the {plugged_in} covariance of the rows"
                )
            }
            Note::UnconvergedFolds { folds } => {
                let folds: Vec<String> = folds.iter().map(usize::to_string).collect();
                format!("calibration: the fits without fold {} did not reach the tolerance", folds.join(", "))
            }
            Note::Indefinite { evidence: Some(evidence) } => indefinite(evidence, voice),
            Note::Indefinite { evidence: None } => {
                "the kernel is not known to be positive semidefinite on all rows (a \
                 sample shows nothing against it): no gap is claimed"
                    .into()
            }
            Note::Separability { verdict } => verdict.describe(voice),
        }
    }
}

impl Separability {
    fn describe(&self, voice: &dyn Voice) -> String {
        match self {
            Separability::Overlap { .. } => "the classes overlap: no plane puts every row on its side".into(),
            Separability::Separable { bound: Some(bound) } => format!(
                "a plane separates the classes: after at most {:.4e} mistakes a perceptron finds one; allow more epochs",
                bound.ceil()
            ),
            Separability::Separable { bound: None } => {
                "a plane separates the classes: a perceptron finds one in the end; allow more epochs".into()
            }
            Separability::Passed => {
                let see = words![": see ", Setting::Model.is("perceptron")].said(voice).unwrap_or_default();
                format!("the last θ separates the classes, the average does not yet{see}")
            }
            Separability::Unknown { reason } => {
                format!("whether a plane separates the classes was not decided: {reason}")
            }
        }
    }
}

/// Constant columns that a note names, about two lines; the model file lists all of them.
const NAMED: usize = 20;

/// How many there are beyond those that are named, where there are some.
fn and_more(count: usize, named: usize) -> String {
    if count > named { format!(" and {} more", count - named) } else { String::new() }
}

/// Rows on which a kernel is not positive semidefinite, in words.
fn indefinite(evidence: &NegativeCurvature, voice: &dyn Voice) -> String {
    let first = voice.first();
    let rows = match &evidence.rows[..] {
        [one] => format!("K of used row {} with itself is {:.6}", one + first, evidence.eigenvalue),
        [a, b] => format!(
            "its values on the used rows {} and {} have the eigenvalues {:.6} and {:.6}",
            a + first,
            b + first,
            evidence.eigenvalue,
            evidence.largest
        ),
        many => format!(
            "its values on {} rows have eigenvalues from {:.6} to {:.6}",
            many.len(),
            evidence.eigenvalue,
            evidence.largest
        ),
    };
    format!("the kernel is not positive semidefinite ({rows}): a stationary point, there may be better ones")
}

/// What a column is close to, in words.
fn nearly(column: usize, combination: &[(usize, f64)], feature: &dyn Fn(usize) -> String) -> String {
    match combination {
        [] => format!("{} is zero within rounding", feature(column)),
        terms => {
            let shown: Vec<String> = terms.iter().take(4).map(|(c, _)| feature(*c)).collect();
            let more = and_more(terms.len(), 4);
            let what = if terms.len() == 1 { "a multiple" } else { "a combination" };
            format!("{} is within rounding of {what} of {}{more}", feature(column), shown.join(", "))
        }
    }
}

/// A score that moves by more than this with the last digit of the columns is noted: as log-odds, 2.5 % of a
/// probability at ½.
pub const UNSTEADY: f64 = 0.1;
/// A factor this near one, from printed digits, is not worth the words "a multiple of".
const PRINTED_FACTOR: f64 = 1e-3;
/// A factor this near one is one up to the rounding of a factorisation.
const DUPLICATE: f64 = 1e-9;

/// A column that was left out, in words that claim no more than is known.
fn left_out(column: usize, combination: &[(usize, f64)], printed: bool, feature: &dyn Fn(usize) -> String) -> String {
    let of = match combination {
        [(other, factor)] if (factor - 1.0).abs() < PRINTED_FACTOR => feature(*other),
        [(other, _)] => format!("a multiple of {}", feature(*other)),
        terms => format!("a combination of {}", some(terms, feature)),
    };
    let column = feature(column);
    match printed {
        true => format!(
            "{column} agrees with {of} up to its printed digits: left out, weight 0, and all is proved for the model without \
             it; a ridge penalty or shrinkage keeps it"
        ),
        false => format!(
            "{column} is left out, weight 0: rounding hides how it differs from {of}; all is proved for the model without \
             {column}, and nothing is claimed about weights on the difference"
        ),
    }
}

/// Some columns by name.
fn some(terms: &[(usize, f64)], feature: &dyn Fn(usize) -> String) -> String {
    let shown: Vec<String> = terms.iter().take(4).map(|(c, _)| feature(*c)).collect();
    format!("{}{}", shown.join(", "), and_more(terms.len(), 4))
}

/// What a collinear column is, in words.
fn relation(column: usize, combination: &[(usize, f64)], feature: &dyn Fn(usize) -> String) -> String {
    match combination {
        [(other, factor)] if (factor - 1.0).abs() < DUPLICATE => {
            format!("{} duplicates {}", feature(column), feature(*other))
        }
        terms => format!("{} is a linear combination of {}", feature(column), some(terms, feature)),
    }
}
