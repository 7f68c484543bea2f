//! What is asked of the rows of a place, and how messages are written.

use crate::design::Units;
use crate::error::{Error, Result};
use crate::objective::{Detail, DualRecipe, Intercept, SoftmaxForm};
use crate::table::Class;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Which loss a message is about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum PartLoss {
    Logistic,
    Softmax { classes: usize, form: SoftmaxForm },
    SquaredHinge,
    Squared { classes: usize },
}

impl PartLoss {
    pub(super) fn n_classes(self) -> usize {
        match self {
            PartLoss::Logistic | PartLoss::SquaredHinge => 2,
            PartLoss::Softmax { classes, .. } | PartLoss::Squared { classes } => classes,
        }
    }
}

/// What all questions of a fit have in common.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PartTerms {
    pub(super) loss: PartLoss,
    /// The class that is told from all others; `None` where all classes are what they are.
    pub(super) against_rest: Option<u32>,
    pub(super) intercept: Intercept,
    /// The units of the columns.
    pub(super) centre: Vec<f64>,
    pub(super) scale: Vec<f64>,
}

impl PartTerms {
    pub(crate) fn new(loss: PartLoss, against_rest: Option<Class>, intercept: Intercept, units: &Units) -> PartTerms {
        let (centre, scale) = (units.centre().to_vec(), units.scale().to_vec());
        PartTerms { loss, against_rest: against_rest.map(|class| class.0), intercept, centre, scale }
    }
}

/// A message to every place.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Message {
    /// Before there are units: what [`super::PartsOutline`] is merged of, for so many classes.
    Outline { classes: usize },
    /// About a risk at some coefficients (weights of all scores, then intercepts).
    At { terms: PartTerms, coef: Vec<f64>, question: PartQuestion },
}

/// What is asked about a risk; see [`crate::objective::Smooth`] and [`crate::certify::GapRows`] for what the answers mean.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum PartQuestion {
    Point {
        hessian: bool,
    },
    Range,
    OnLine {
        direction: Vec<f64>,
        steps: Vec<f64>,
    },
    HessVec {
        direction: Vec<f64>,
    },
    HessianDiagonal,
    Dual {
        recipe: DualRecipe,
        shrink: f64,
    },
    ClassScaled {
        scale: [f64; 2],
    },
    ClassSums,
    Sized {
        by_column: bool,
        total: f64,
    },
    Imbalance {
        total: f64,
        shift: Vec<f64>,
    },
    /// `dual` is that of the loss, written as messages are.
    Theta {
        total: f64,
        dual: Vec<u8>,
    },
    TermSums {
        total: f64,
        dual: Vec<u8>,
        shrink: f64,
    },
    Slopes {
        total: f64,
        shifts: Vec<f64>,
    },
}

impl PartQuestion {
    pub(super) fn point(detail: Detail) -> PartQuestion {
        PartQuestion::Point { hessian: detail == Detail::Hessian }
    }
}

/// A value as the bytes of a message: binary, every double to its last bit.
pub(super) fn written<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    postcard::to_allocvec(value).map_err(|e| Error::data(format!("a message to the partitions cannot be written: {e}")))
}

/// The reverse of [`written`].
pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    postcard::from_bytes(bytes).map_err(|e| {
        Error::data(format!("a message between partitions cannot be read: {e}"))
            .help("install one version of linsep on all machines")
    })
}
