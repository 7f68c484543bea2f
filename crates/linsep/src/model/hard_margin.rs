//! The hard margin: of all planes that separate two classes the one furthest from their rows.
//!
//! `min ½‖w‖²` subject to `y(w·x + w₀) ≥ 1`; dual: `max Σα − ½‖Σ αyx‖²` subject to `α ≥ 0`, `Σ αy = 0`. At the optimum
//! `w = Σ αyx`, the rows with α > 0 (the support vectors) lie at the distance `γ = 1/‖w‖` from the plane, no row is nearer,
//! and `Σα = ‖w‖² = 1/γ²`. The hulls of the classes are `2γ` apart. Weights of rows say only which rows count.

use super::{Computation, Fit, Fitted, Multipliers, NotSeparable, Note, Objective, Outcome};
use crate::certify::{Certificate, widest_margin};
use crate::design::{
    Block, CsrMatrix, DenseMatrix, Design, LabelledRows, PreparedDesign, Standardize, Tile, Training, Units, summarise,
};
use crate::discriminant::{Discriminant, Linear};
use crate::error::{Error, Result};
use crate::separate::hard_margin;
use crate::separate::{SeparabilityOptions, Verdict, separability};
use crate::watch::{Halt, Watch};
use crate::words::{Setting, words};
use serde::{Deserialize, Serialize};

/// The hard margin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HardMarginSettings {
    /// Whether distances are those of standardised columns. By default they are those of the columns as they are: which
    /// plane is the widest depends on the units.
    pub standardize: Standardize,
    /// Stop when the margin is proved to be the largest but for this share.
    pub tolerance: f64,
}

impl Default for HardMarginSettings {
    fn default() -> HardMarginSettings {
        HardMarginSettings { standardize: Standardize::No, tolerance: 1e-8 }
    }
}

/// Multipliers below this share of the largest are rounding: about 50 units.
const NO_SUPPORT: f64 = 1e-14;

impl HardMarginSettings {
    pub(super) fn fit(&self, training: &Training<'_>, watch: &Watch) -> Result<Fit> {
        self.check(training)?;
        let summary = summarise(training.design, training.weights, watch)?;
        let constant = summary.constant();
        let units = self.units(&summary.units(self.standardize));
        let copy;
        let design = match self.standardize {
            Standardize::No => training.design,
            Standardize::Yes => {
                copy = scaled(training.design, &units)?;
                copy.as_design()
            }
        };
        let rows = LabelledRows { design, ..training.rows() };
        let found = hard_margin(rows, None, self.tolerance, watch)?;
        let Some(found) = found else { return self.no_plane(training, watch) };
        let mut plane = found.weights.clone();
        constant.iter().for_each(|j| plane[*j] = 0.0);
        let largest = found.alpha.iter().fold(0.0f64, |m, (_, a)| m.max(*a));
        let pairs: Vec<(usize, f64)> = found.alpha.iter().copied().filter(|(_, a)| *a > NO_SUPPORT * largest).collect();
        let in_columns = |size: f64| -> Result<Linear> {
            let weights = plane.iter().zip(units.scale()).map(|(w, s)| w / s / size).collect();
            let centre = found.centre.iter().zip(units.scale()).map(|(c, s)| c * s).collect();
            Linear::new(weights, centre, vec![found.intercept / size])
        };
        // At the optimum the nearest rows have y(w·x + w₀) = 1; an approximate solution is scaled so that they have.
        let (_, first) = self.measure(training, &in_columns(1.0)?, &units, &pairs, &Watch::default())?;
        let Certificate::Margin { margin, .. } = first else { return self.no_plane(training, watch) };
        let functional = margin * crate::certify::length(&plane);
        let linear = in_columns(functional)?;
        let (objective, certificate) = self.measure(training, &linear, &units, &pairs, &Watch::default())?;
        if !objective.is_finite() || objective == 0.0 {
            return Err(Error::data("the margin is too far from 1 in size for double precision")
                .help("give the columns other units")
                .help(words!["choose ", Setting::Standardize.is("yes")]));
        }
        let converged = certificate.meets(self.tolerance) == Some(true);
        let mut alpha = vec![0.0; rows.labels.len()];
        pairs.iter().for_each(|(row, a)| alpha[*row] = *a);
        Ok(Fit::Model(Box::new(Fitted {
            discriminant: Discriminant::Linear(linear),
            objective: Objective { formula: self.formula(), value: objective, lambda: None },
            certificate,
            outcome: match (converged, watch.halted()) {
                (true, _) => Outcome::Converged,
                (false, Some(Halt::Deadline)) => Outcome::TimeLimit,
                (false, Some(_)) => Outcome::Interrupted,
                (false, None) => Outcome::PrecisionLimit,
            },
            notes: if constant.is_empty() { Vec::new() } else { vec![Note::Constant { columns: constant }] },
            computation: Computation { solver: "hard-margin".into(), reason: None, iterations: 0, passes: 0 },
            density: None,
            multipliers: Some(Multipliers { alpha, free: pairs.len(), bounded: 0 }),
            units,
        })))
    }

    /// Half of ‖w‖², and the margin against the distance of the hulls, recomputed from a plane, multipliers and the data.
    pub(super) fn certify_multipliers(
        &self,
        training: &Training<'_>,
        discriminant: &Discriminant,
        units: &Units,
        alpha: &[f64],
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        self.check(training)?;
        let linear = discriminant.as_linear().ok_or_else(|| Error::model("a hard margin model must be linear"))?;
        let shape = training.design.shape();
        if linear.n_scores() != 1 || linear.n_cols() != shape.cols || alpha.len() != shape.rows {
            return Err(Error::model("the model does not have the classes, columns and rows of the data"));
        }
        let pairs: Vec<(usize, f64)> = alpha.iter().copied().enumerate().filter(|(_, a)| *a != 0.0).collect();
        self.measure(training, linear, units, &pairs, watch)
    }

    fn measure(
        &self,
        training: &Training<'_>,
        linear: &Linear,
        units: &Units,
        alpha: &[(usize, f64)],
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        let normal: Vec<f64> = linear.weights_of(0).iter().zip(units.scale()).map(|(w, s)| w * s).collect();
        // About the plane's own centre, where its intercept is stated.
        let about = Units::new(linear.centre().to_vec(), units.scale().to_vec());
        let plane = (&normal[..], linear.intercept_at_centre()[0]);
        widest_margin(training.rows(), &about, plane, alpha, watch)
    }

    fn check(&self, training: &Training<'_>) -> Result<()> {
        let classes = training.labels.n_classes();
        if classes != 2 {
            return Err(Error::data(format!("the target has {classes} classes; a hard margin is between two"))
                .help("keep the rows of two classes")
                .help(words!["choose ", Setting::Model.any(["logistic", "lda"])]));
        }
        if training.offsets.is_some() {
            return Err(Error::usage("the hard margin has no offsets")
                .help(words!["offsets belong to ", Setting::Model.is("svm")]));
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return Err(Error::usage(format!("the tolerance {} is not between 0 and 1", self.tolerance))
                .help(words!["for example ", Setting::Tolerance.is("1e-8")]));
        }
        Ok(())
    }

    fn units(&self, learned: &Units) -> Units {
        match self.standardize {
            Standardize::Yes => learned.clone(),
            Standardize::No => Units::identity(learned.scale().len()),
        }
    }

    pub(super) fn formula(&self) -> String {
        let x = match self.standardize {
            Standardize::Yes => "x̂",
            Standardize::No => "x",
        };
        format!("½‖w‖² subject to y(w·{x} + w₀) ≥ 1 for every row")
    }

    /// Why there is no plane, with the weights on rows that prove it.
    fn no_plane(&self, training: &Training<'_>, watch: &Watch) -> Result<Fit> {
        let found = separability(training, &SeparabilityOptions::default(), watch)?;
        let refuse = |message: String| {
            Err(Error::data(message)
                .help(words!["choose ", Setting::Model.is("svm"), ", which needs none"])
                .help("give the columns other units"))
        };
        let counts = |row: &usize| training.weights.is_none_or(|w| w[*row] > 0.0);
        let rows = match &found.verdict {
            Verdict::QuasiComplete(v) => v.boundary.clone(),
            Verdict::Overlap(_) => (0..training.labels.len()).filter(counts).collect(),
            Verdict::Complete(v) => {
                let margin = v.margin;
                return refuse(format!(
                    "a plane separates the classes by at least {margin:.1e}, but rounding hides the widest one"
                ));
            }
            Verdict::Undecided(v) => match &v.common {
                Some(common) => common.constraints.iter().map(|c| c.row).collect(),
                None => {
                    let undecided = "no separating plane was found, and whether there is one was not decided";
                    return refuse(format!("{undecided}: {}", v.reason));
                }
            },
        };
        let witness = Some(Box::new(found));
        Ok(NotSeparable { rows, witness, mistakes: 0, epochs: 0, margin_at_most: None }.into())
    }
}

/// The columns divided by their scales; a margin does not depend on the centre.
fn scaled(design: &dyn Design, units: &Units) -> Result<PreparedDesign> {
    let shape = design.shape();
    let about_zero = Units::new(vec![0.0; shape.cols], units.scale().to_vec());
    let (mut tile, mut row, mut dense) = (Tile::default(), Vec::new(), Vec::new());
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..shape.rows {
        match design.block(i..i + 1, &mut tile)? {
            Block::F64(block) => block.load(&about_zero, &mut row),
            Block::F32(block) => block.load(&about_zero, &mut row),
            Block::Csr(block) => {
                let (columns, entries) = block.row(0);
                indices.extend_from_slice(columns);
                values.extend(columns.iter().zip(entries).map(|(c, v)| v * units.inverse_scale()[*c as usize]));
                starts.push(indices.len());
                continue;
            }
        }
        dense.extend_from_slice(&row);
    }
    Ok(match starts.len() > 1 {
        true => PreparedDesign::Sparse(CsrMatrix::new(starts, indices, values, shape.cols)?),
        false => PreparedDesign::Dense(DenseMatrix::new(dense, shape.cols)?),
    })
}
