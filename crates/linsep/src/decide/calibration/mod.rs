//! Calibration: a monotone map from scores to log-odds, learned from rows that were not used to learn the scores.
//!
//! The targets are smoothed (J. Platt, 1999): a row of class y, whose weight is `N_y`, asks for `(N_y+1)/(N_y+K)` in its own
//! class and for `1/(N_y+K)` in every other. So no map runs off to probabilities of 0 and 1, not even where the scores
//! separate the classes, and every log loss is finite.

mod coupled;
mod isotonic;
mod platt;
mod temperature;

pub use coupled::{Coupled, Coupling, TwoSides};
pub use isotonic::pool_adjacent_violators;

use crate::error::{Error, Result};
use crate::numeric::logistic;
use crate::table::Class;
use crate::words::{Setting, words};
use serde::{Deserialize, Serialize};

/// Which map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CalibrationKind {
    /// `σ(a z + b)`, a > 0: two classes.
    Platt,
    /// The best non-decreasing function of the score: two classes.
    Isotonic,
    /// `softmax(z/T)`, T > 0: any number of classes.
    Temperature,
}

/// Scores with the classes they should lead to, of rows that the scores were not learned from.
#[derive(Debug, Clone, Copy)]
pub struct HeldOut<'a> {
    /// Row by row, one for two classes.
    pub scores: &'a [f64],
    /// The class of each row.
    pub truth: &'a [Class],
    /// Frequencies; `None` counts every row once.
    pub weights: Option<&'a [f64]>,
    /// Number of classes.
    pub n_classes: usize,
}

/// A map from scores to log-odds (two classes) or log-probabilities up to a constant.
///
/// ```
/// use linsep::decide::{Calibration, CalibrationKind, HeldOut};
/// use linsep::table::Class;
/// let scores = [-3.0, -1.0, 0.5, 1.0, 2.0, 4.0];
/// let truth = [0, 0, 0, 1, 1, 1].map(Class);
/// let rows = HeldOut { scores: &scores, truth: &truth, weights: None, n_classes: 2 };
/// let map = CalibrationKind::Platt.fit(&rows)?;
/// let log_odds = scores.map(|z| map.log_odds(z));
/// assert!(log_odds.windows(2).all(|pair| pair[0] < pair[1]));
/// // The probability is one half where the classes meet, which is not at the score 0.
/// let middle = map.score_at(0.0).unwrap();
/// assert!(0.5 < middle && middle < 1.0);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Calibration {
    /// The log-odds are `slope · z + intercept`.
    Platt {
        /// a, above 0.
        slope: f64,
        /// b.
        intercept: f64,
    },
    /// The probability of the last class between neighbouring knots is on the line between them, outside of all as at the
    /// nearest.
    Isotonic {
        /// `(score, probability)`, scores rising, probabilities not falling.
        knots: Vec<(f64, f64)>,
    },
    /// Scores are divided by the temperature.
    Temperature {
        /// T, above 0.
        temperature: f64,
    },
    /// Two-class fits of several classes: a map for each.
    Coupled(Coupled),
}

impl CalibrationKind {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            CalibrationKind::Platt => "platt",
            CalibrationKind::Isotonic => "isotonic",
            CalibrationKind::Temperature => "temperature",
        }
    }

    /// Whether the map makes sense for this many classes.
    pub fn check(self, n_classes: usize) -> Result<()> {
        match self {
            CalibrationKind::Platt | CalibrationKind::Isotonic if n_classes != 2 => Err(Error::usage(format!(
                "{} calibration is for the one score of two classes, and there are {n_classes}",
                self.name()
            ))
            .help(words!["use ", Setting::Calibrate.is("temperature")])
            .help(words!["use two-class fits: ", Setting::Multiclass.any(["one-vs-one", "one-vs-rest"])])),
            _ => Ok(()),
        }
    }

    /// Learns the map.
    ///
    /// # Errors
    /// Where the scores say nothing about the classes, or the opposite: the best map would not rise.
    #[doc(hidden)]
    pub fn fit(self, rows: &HeldOut<'_>) -> Result<Calibration> {
        self.check(rows.n_classes)?;
        rows.check()?;
        match self {
            CalibrationKind::Platt => platt::fit(rows),
            CalibrationKind::Isotonic => isotonic::fit(rows),
            CalibrationKind::Temperature => temperature::fit(rows),
        }
    }
}

impl HeldOut<'_> {
    fn n_scores(&self) -> usize {
        if self.n_classes == 2 { 1 } else { self.n_classes }
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[row])
    }

    /// The weight of each class.
    fn totals(&self) -> Vec<f64> {
        let mut totals = vec![0.0; self.n_classes];
        self.truth.iter().enumerate().for_each(|(row, class)| totals[class.index()] += self.weight(row));
        totals
    }

    /// The smoothed targets of a row of each class: for its own class and for every other.
    fn targets(&self) -> Vec<(f64, f64)> {
        let classes = self.n_classes as f64;
        self.totals().into_iter().map(|n| ((n + 1.0) / (n + classes), 1.0 / (n + classes))).collect()
    }

    fn check(&self) -> Result<()> {
        if self.scores.len() != self.truth.len() * self.n_scores()
            || self.weights.is_some_and(|w| w.len() != self.truth.len())
        {
            return Err(Error::usage("calibration needs the scores, the class and the weight of every row"));
        }
        if let Some(at) = self.scores.iter().position(|z| !z.is_finite()) {
            return Err(Error::data(format!("the score {} cannot be calibrated", self.scores[at])));
        }
        match self.totals().iter().filter(|n| **n > 0.0).count() {
            0 | 1 => Err(Error::data("the rows to calibrate with have only one class")
                .help("calibration needs held-out rows of at least two classes")),
            _ => Ok(()),
        }
    }
}

/// The scores do not rank the classes.
fn not_rising(kind: CalibrationKind, found: &str) -> Error {
    Error::data(format!(
        "{} calibration fails: on rows that were held out {found}, so the scores do not tell the classes apart",
        kind.name()
    ))
    .help(words!["leave out ", Setting::Calibrate])
    .help("choose columns or a method that predict the class")
}

impl Calibration {
    /// Which kind of map it is.
    pub fn kind(&self) -> CalibrationKind {
        match self {
            Calibration::Platt { .. } => CalibrationKind::Platt,
            Calibration::Isotonic { .. } => CalibrationKind::Isotonic,
            Calibration::Temperature { .. } => CalibrationKind::Temperature,
            // All of its maps are of one kind; a file without any is refused.
            Calibration::Coupled(coupled) => coupled.maps.first().map_or(CalibrationKind::Platt, Calibration::kind),
        }
    }

    /// Scores to log-odds (two classes) or log-probabilities up to a constant: one for every class, of however many
    /// two-class fits the scores are.
    pub fn apply(&self, scores: &mut Vec<f64>) {
        match self {
            Calibration::Coupled(coupled) => *scores = coupled.log_probabilities(scores),
            one => scores.iter_mut().for_each(|z| *z = one.log_odds(*z)),
        }
    }

    /// One score to log-odds; maps of several classes at once divide it by their temperature. NaN for coupled scores, which
    /// have a meaning only together.
    pub fn log_odds(&self, score: f64) -> f64 {
        match self {
            Calibration::Platt { slope, intercept } => slope * score + intercept,
            Calibration::Isotonic { knots } => isotonic::log_odds(isotonic::interpolate(knots, score)),
            Calibration::Temperature { temperature } => score / temperature,
            Calibration::Coupled(_) => f64::NAN,
        }
    }

    /// Of two classes: the largest score whose log-odds are not above these, so that larger scores decide for the last
    /// class. `None` where all scores are on one side.
    pub fn score_at(&self, log_odds: f64) -> Option<f64> {
        let score = match self {
            Calibration::Platt { slope, intercept } => (log_odds - intercept) / slope,
            Calibration::Isotonic { knots } => isotonic::last_score_at(knots, logistic(log_odds))?,
            Calibration::Temperature { temperature } => log_odds * temperature,
            Calibration::Coupled(_) => return None,
        };
        score.is_finite().then_some(score)
    }

    /// Whether the numbers are those of a map: what a file could get wrong.
    pub(crate) fn is_whole(&self) -> bool {
        match self {
            Calibration::Platt { slope, intercept } => *slope > 0.0 && slope.is_finite() && intercept.is_finite(),
            Calibration::Isotonic { knots } => {
                let rising = knots.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
                let within = |(score, p): &(f64, f64)| score.is_finite() && *p > 0.0 && *p < 1.0;
                !knots.is_empty() && rising && knots.iter().all(within)
            }
            Calibration::Temperature { temperature } => *temperature > 0.0 && temperature.is_finite(),
            Calibration::Coupled(coupled) => coupled.is_whole(),
        }
    }
}
