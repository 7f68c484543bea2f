//! The flags that make probabilities of scores.

use clap::{Args, ValueEnum};
use linsep::decide::CalibrationKind;
use linsep::workflow::CalibrationOptions;
use linsep::{Error, Result};

/// A calibration at fit time.
#[derive(Args)]
pub struct CalibrateArguments {
    /// Make probabilities of the scores, by a map learned from rows held out of the fits that score them
    #[arg(long, value_enum, value_name = "MAP", help_heading = "Decision")]
    calibrate: Option<MapName>,

    /// Folds of the rows for --calibrate (default: 5)
    #[arg(long, value_name = "K", help_heading = "Decision")]
    calibrate_folds: Option<usize>,
}

/// Maps by name.
#[derive(Clone, Copy, ValueEnum)]
enum MapName {
    /// A logistic function of the score of two classes, or of every two-class fit
    Platt,
    /// The best rising step function of the score of two classes, or of every two-class fit
    Isotonic,
    /// One divisor of all scores
    Temperature,
}

impl CalibrateArguments {
    /// The calibration that the flags ask for; `None` without.
    pub fn options(&self) -> Result<Option<CalibrationOptions>> {
        let Some(map) = self.calibrate else {
            return match self.calibrate_folds {
                None => Ok(None),
                Some(_) => Err(Error::usage("--calibrate-folds is for --calibrate")
                    .help("add --calibrate platt, isotonic or temperature")
                    .help("leave it out")),
            };
        };
        let kind = match map {
            MapName::Platt => CalibrationKind::Platt,
            MapName::Isotonic => CalibrationKind::Isotonic,
            MapName::Temperature => CalibrationKind::Temperature,
        };
        Ok(Some(CalibrationOptions { kind, folds: self.calibrate_folds.unwrap_or(CalibrationOptions::FOLDS) }))
    }
}
