//! Several classes as two-class problems: every pair of classes, or every class against the rest.
//!
//! A part is a fit of its own: for a pair on the rows of its two classes (with their units, and `λ = 1/Σs` of those rows
//! where that is the penalty), against the rest on all rows, with only the labels changed. Its one score speaks for
//! [`Part::class`] where it is positive.

use super::kernel_choice::not_square;
use super::{Computation, Fit, Fitted, Method, Multipliers, Note, Objective, Outcome, Refusal};
use crate::certify::Certificate;
use crate::design::Training;
use crate::design::{Block, DenseMatrix, Design, PreparedDesign, SelectedRows, Tile, Units, summarise};
use crate::discriminant::Discriminant;
use crate::error::{Error, Result};
use crate::table::{Class, Labels};
use crate::watch::Watch;
use crate::words::{Setting, words};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Coefficients of the same relation in two fits differ by less, relatively: what a factorisation leaves.
const SAME: f64 = 1e-6;

/// How several classes become two-class problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// Every pair of classes, (0,1), (0,2) … (1,2) …
    Pairs,
    /// Every class against all others.
    Rest,
}

/// One two-class problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The class on the negative side; `None` for all others.
    pub against: Option<Class>,
    /// The class on the positive side.
    pub class: Class,
}

/// A part, fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedPart {
    /// The two-class problem.
    pub part: Part,
    /// The rows it was fitted to; `None` for all.
    pub rows: Option<Vec<usize>>,
    /// Units in which the method worked on them.
    pub units: Units,
    /// What was minimised, and its value.
    pub objective: Objective,
    /// The proof.
    pub certificate: Certificate,
    /// Whether the tolerance was reached.
    pub outcome: Outcome,
    /// Notes of this part that not all parts share.
    pub notes: Vec<Note>,
    /// How the solution was computed.
    pub computation: Computation,
    /// Of a support vector machine: the multiplier of every one of its rows.
    pub multipliers: Option<Multipliers>,
}

/// All parts side by side.
#[derive(Debug)]
pub struct SplitFit {
    /// The scores of all parts; objectives, iterations and passes summed, certificate and outcome those of the worst part,
    /// notes those that all parts share.
    pub whole: Box<Fitted>,
    /// The parts in order.
    pub parts: Vec<FittedPart>,
}

/// A refusal, of the part that has no model.
#[derive(Debug, Clone, PartialEq)]
pub struct RefusedPart {
    /// Which; `None` for all classes together.
    pub part: Option<Part>,
    /// Number of rows it was fitted to.
    pub used: usize,
    /// Why; its rows are rows of the training.
    pub refusal: Refusal,
}

impl Part {
    /// The names of the two sides.
    pub fn sides(&self, classes: &[String]) -> [String; 2] {
        let against = self.against.map_or("rest".to_owned(), |c| classes[c.index()].clone());
        [against, classes[self.class.index()].clone()]
    }

    /// The two-class problem in words.
    pub fn describe(&self, classes: &[String]) -> String {
        let class = &classes[self.class.index()];
        match self.against {
            Some(other) => format!("`{}` against `{class}`", classes[other.index()]),
            None => format!("`{class}` against the rest"),
        }
    }

    /// What the part learns from. Against the rest nothing is copied but the labels.
    #[doc(hidden)]
    pub fn rows(&self, whole: &Training<'_>) -> Result<SelectedRows> {
        let names = self.sides(whole.labels.names()).to_vec();
        let codes = whole.labels.codes();
        let side = |class: Class| Class(u32::from(class == self.class));
        let Some(other) = self.against else {
            let labels = Labels::new(codes.iter().map(|c| side(*c)).collect(), names);
            return Ok(whole.relabelled(labels));
        };
        let rows: Vec<usize> = (0..codes.len()).filter(|i| codes[*i] == self.class || codes[*i] == other).collect();
        let labels = Labels::new(rows.iter().map(|i| side(codes[*i])).collect(), names);
        whole.select(rows, labels)
    }
}

impl Part {
    /// The same for a method; of a precomputed kernel the rows of a pair have the columns of these rows.
    pub(crate) fn rows_for(&self, method: &Method, whole: &Training<'_>) -> Result<SelectedRows> {
        let part = self.rows(whole)?;
        let (true, Some(rows)) = (method.has_kernel_table(), part.rows()) else { return Ok(part) };
        let shape = whole.design.shape();
        if shape.rows != shape.cols {
            return Err(not_square(shape.rows, shape.cols));
        }
        let all: Vec<f64> = dense_rows(whole.design, rows)?;
        let of_row = |row: &[f64]| rows.iter().map(|j| row[*j]).collect::<Vec<f64>>();
        let values: Vec<f64> = all.chunks_exact(shape.cols).flat_map(of_row).collect();
        let design = PreparedDesign::Dense(DenseMatrix::new(values, rows.len())?);
        Ok(part.with_design(design))
    }
}

/// Some rows as dense numbers.
fn dense_rows(design: &dyn Design, rows: &[usize]) -> Result<Vec<f64>> {
    let identity = Units::identity(design.shape().cols);
    let (mut tile, mut row_values) = (Tile::default(), Vec::new());
    let mut out = Vec::with_capacity(rows.len() * design.shape().cols);
    for row in rows {
        match design.block(*row..row + 1, &mut tile)? {
            Block::F64(block) => block.load(&identity, &mut row_values),
            Block::F32(block) => block.load(&identity, &mut row_values),
            Block::Csr(block) => {
                row_values.clear();
                row_values.resize(design.shape().cols, 0.0);
                let (columns, values) = block.row(0);
                columns.iter().zip(values).for_each(|(c, v)| row_values[*c as usize] = *v);
            }
        }
        out.extend_from_slice(&row_values);
    }
    Ok(out)
}

impl Split {
    /// The two-class problems for so many classes.
    pub fn parts(self, n_classes: usize) -> Vec<Part> {
        let class = |k: usize| Class(k as u32);
        match self {
            Split::Pairs => (0..n_classes)
                .flat_map(|i| (i + 1..n_classes).map(move |j| Part { against: Some(class(i)), class: class(j) }))
                .collect(),
            Split::Rest => (0..n_classes).map(|k| Part { against: None, class: class(k) }).collect(),
        }
    }

    /// Fits a method to every part, the parts in parallel; the result does not depend on the number of threads.
    ///
    /// ```
    /// use linsep::design::DenseMatrix;
    /// use linsep::model::{Fit, LossChoice, Method, RiskMinimizer, Split};
    /// use linsep::design::{Training};
    /// use linsep::table::Labels;
    /// let x = DenseMatrix::new(vec![0.0, 1.0, 4.0, 5.0, 8.0, 9.0], 1)?;
    /// let y = Labels::from_names(["a", "a", "b", "b", "c", "c"]);
    /// let svm = Method::Risk(RiskMinimizer { loss: LossChoice::Hinge, ..RiskMinimizer::default() });
    /// let fit = Split::Pairs.fit(&svm, &Training::new(&x, &y), &Default::default())?;
    /// let Fit::Model(fit) = fit else { panic!("a penalty always has an optimum") };
    /// assert_eq!((fit.whole.discriminant.n_scores(), fit.parts.len()), (3, 3));
    /// # Ok::<(), linsep::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn fit(self, method: &Method, training: &Training<'_>, watch: &Watch) -> Result<Fit<SplitFit, RefusedPart>> {
        training.check()?;
        check(method, training)?;
        let columns = match method.has_kernel() {
            true => Some(summarise(training.design, training.weights, watch)?),
            false => None,
        };
        let training = &Training { columns: columns.as_ref(), ..*training };
        let names = training.labels.names();
        let parts = self.parts(names.len());
        let fit = |part: &Part| {
            let rows = part.rows_for(method, training)?;
            let fit = method.fit(&rows.view(training), watch).map_err(|e| rows.locate(e))?;
            Ok((rows.into_rows(), fit))
        };
        let fits: Vec<Result<(Option<Vec<usize>>, Fit)>> = parts.par_iter().map(fit).collect();
        let mut found = Vec::with_capacity(parts.len());
        // The first part without a model is reported, whichever finished first.
        for (part, fit) in parts.into_iter().zip(fits) {
            match fit.map_err(|e| of_part(e, &part, names))? {
                (rows, Fit::Model(fitted)) => found.push((part, rows, *fitted)),
                (rows, Fit::Refused(mut refusal)) => {
                    if let Some(rows) = &rows {
                        refusal.rename_rows(rows);
                    }
                    let used = rows.map_or(training.labels.len(), |r| r.len());
                    return Ok(Fit::Refused(RefusedPart { part: Some(part), used, refusal }));
                }
            }
        }
        self.assemble(method, training, found, watch).map(Fit::Model)
    }

    /// The parts side by side.
    pub(crate) fn assemble(
        self,
        method: &Method,
        training: &Training<'_>,
        found: Vec<(Part, Option<Vec<usize>>, Fitted)>,
        watch: &Watch,
    ) -> Result<SplitFit> {
        let units = self.units(method, training, &found, watch)?;
        let among_all = |(_, rows, f): &(Part, Option<Vec<usize>>, Fitted)| match rows {
            Some(rows) => f.discriminant.renumbered(rows, training.labels.len()),
            None => Ok(f.discriminant.clone()),
        };
        let discriminants = found.iter().map(among_all).collect::<Result<Vec<Discriminant>>>()?;
        let centre = match method {
            Method::HardMargin(_) => common_centre(&discriminants, &units, training, watch)?,
            _ => units.centre().to_vec(),
        };
        let apart = discriminants.clone();
        let discriminant = Discriminant::stack(discriminants, &centre)?;
        let everywhere = |note: &Note| found.iter().all(|(.., f)| f.notes.iter().any(|n| is_same(n, note)));
        let notes: Vec<Note> =
            found.first().map_or(Vec::new(), |(.., f)| f.notes.iter().filter(|n| everywhere(n)).cloned().collect());
        let mut parts: Vec<FittedPart> = found
            .into_iter()
            .map(|(part, rows, f)| FittedPart {
                part,
                units: match (method.has_kernel_table(), &rows) {
                    (true, Some(_)) => Units::identity(training.design.shape().cols),
                    _ => f.units,
                },
                rows,
                objective: f.objective,
                certificate: f.certificate,
                outcome: f.outcome,
                notes: f.notes.into_iter().filter(|n| !notes.iter().any(|m| is_same(n, m))).collect(),
                computation: f.computation,
                multipliers: f.multipliers,
            })
            .collect();
        if matches!(method, Method::HardMargin(_) | Method::Risk(_) | Method::Sigmoid(_) | Method::Link(_)) {
            prove_as_stored(method, training, (&discriminant, &apart), &mut parts, watch)?;
        }
        let Some(worst) = worst_certificate(parts.iter().map(|p| (p.outcome, &p.certificate))).cloned() else {
            return Err(Error::usage("there are no classes to tell apart"));
        };
        let whole = Fitted {
            discriminant,
            objective: objective(&parts),
            certificate: worst,
            outcome: parts.iter().map(|p| p.outcome).max_by_key(|o| severity(*o)).unwrap_or(Outcome::Converged),
            notes,
            computation: computation(&parts),
            density: None,
            multipliers: None,
            units,
        };
        Ok(SplitFit { whole: Box::new(whole), parts })
    }

    /// The units of all rows: those of a part against the rest, and for pairs what the method would take.
    fn units(
        self,
        method: &Method,
        training: &Training<'_>,
        found: &[(Part, Option<Vec<usize>>, Fitted)],
        watch: &Watch,
    ) -> Result<Units> {
        let cols = training.design.shape().cols;
        // The table of a pair has the columns of its rows, the model those of all.
        if method.has_kernel_table() {
            return Ok(Units::identity(cols));
        }
        let Some((.., first)) = found.first() else { return Ok(Units::identity(cols)) };
        let same = found.iter().all(|(.., f)| f.units == first.units);
        if self == Split::Rest || same {
            return Ok(first.units.clone());
        }
        let units = summarise(training.design, training.weights, watch)?.units(method.standardize());
        match found.iter().all(|(.., f)| f.units.centre().iter().all(|c| *c == 0.0)) {
            true => Ok(Units::new(vec![0.0; units.centre().len()], units.scale().to_vec())),
            false => Ok(units),
        }
    }
}

/// Where the planes of hard margins are stated together: about the mean of all rows where each has a centre of its own.
fn common_centre(planes: &[Discriminant], units: &Units, training: &Training<'_>, watch: &Watch) -> Result<Vec<f64>> {
    let centres: Vec<&[f64]> = planes.iter().filter_map(Discriminant::as_linear).map(|l| l.centre()).collect();
    match centres.first() {
        Some(first) if centres.iter().all(|c| c == first) => Ok(first.to_vec()),
        Some(_) => Ok(summarise(training.design, training.weights, watch)?.mean),
        None => Ok(units.centre().to_vec()),
    }
}

/// A certificate is that of the plane in the file: moved to the common centre its intercept was rounded, so it is proved there.
fn prove_as_stored(
    method: &Method,
    training: &Training<'_>,
    (together, apart): (&Discriminant, &[Discriminant]),
    parts: &mut [FittedPart],
    watch: &Watch,
) -> Result<()> {
    for (score, (part, before)) in parts.iter_mut().zip(apart).enumerate() {
        let plane = together.part(score)?;
        if plane == *before {
            continue;
        }
        let rows = part.part.rows_for(method, training)?;
        let rows = rows.view(training);
        let (value, certificate) = match &part.multipliers {
            Some(multipliers) => method.certify_multipliers(&rows, &plane, &part.units, &multipliers.alpha, watch)?,
            None => method.certify(&rows, &plane, &part.units, watch)?,
        };
        part.outcome = method.settled(part.outcome, &certificate);
        (part.objective.value, part.certificate) = (value, certificate);
    }
    Ok(())
}

/// Settings that speak of all classes have no meaning for two of them.
fn check(method: &Method, training: &Training<'_>) -> Result<()> {
    let refuse = |what: &str| {
        Err(Error::usage(format!("{what} are for all classes together, not for two-class fits"))
            .help("leave them out")
            .help(words!["choose ", Setting::Multiclass.is("joint"), " where the method has it"]))
    };
    match method {
        _ if training.offsets.is_some() => refuse("offsets"),
        Method::Gaussian(m) if m.known.is_some() => refuse("known parameters"),
        Method::Gaussian(m) if m.priors.is_some() => refuse("priors"),
        Method::NaiveBayes(m) if m.priors.is_some() => refuse("priors"),
        _ => Ok(()),
    }
}

/// An error that names its part.
pub(crate) fn of_part(error: Error, part: &Part, names: &[String]) -> Error {
    error.in_context(part.describe(names))
}

/// Whether two notes say the same: relations between columns that hold for all rows have coefficients that differ by
/// rounding only.
fn is_same(a: &Note, b: &Note) -> bool {
    let same = |x: &[(usize, f64)], y: &[(usize, f64)]| {
        let close = |((i, a), (j, b)): (&(usize, f64), &(usize, f64))| i == j && (a - b).abs() <= SAME * a.abs();
        x.len() == y.len() && x.iter().zip(y).all(close)
    };
    match (a, b) {
        (Note::Shared { column, combination }, Note::Shared { column: other, combination: of }) => {
            column == other && same(combination, of)
        }
        (
            Note::LeftOut { column, combination, printed },
            Note::LeftOut { column: other, combination: of, printed: too },
        ) => column == other && printed == too && same(combination, of),
        (Note::Collinear { column, combination }, Note::Collinear { column: other, combination: of }) => {
            column == other && same(combination, of)
        }
        (
            Note::NearlyCollinear { column, combination, left_out },
            Note::NearlyCollinear { column: other, combination: of, left_out: also },
        ) => column == other && left_out == also && same(combination, of),
        _ => a == b,
    }
}

/// The certificate of the worst part, the first of equals: it stands for the whole.
pub(crate) fn worst_certificate<'a>(
    parts: impl Iterator<Item = (Outcome, &'a Certificate)>,
) -> Option<&'a Certificate> {
    parts.reduce(|a, b| if badness(b) > badness(a) { b } else { a }).map(|(_, certificate)| certificate)
}

/// Parts ordered by their bounds, those without one last.
fn badness((outcome, certificate): (Outcome, &Certificate)) -> (u8, u8, f64) {
    let (kind, size) = match certificate {
        Certificate::Separates { bound, .. } => (0, *bound),
        Certificate::ClosedForm { relative_residual, .. } => (1, *relative_residual),
        Certificate::Errors { errors, total } => (2, errors / total),
        Certificate::Local { gradient, .. } => (2, *gradient),
        // The narrowest of several margins is the one that all rows have.
        Certificate::Margin { margin, .. } => (3, -margin),
        Certificate::Absent { .. } => (4, 0.0),
        bound => (3, bound.relative_gap().unwrap_or(f64::INFINITY)),
    };
    (severity(outcome), kind, size)
}

fn severity(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Converged => 0,
        Outcome::PrecisionLimit => 1,
        Outcome::IterationLimit => 2,
        Outcome::TimeLimit => 3,
        Outcome::Interrupted => 4,
    }
}

/// The sum over the parts, with what they have in common.
fn objective(parts: &[FittedPart]) -> Objective {
    let first = &parts[0].objective;
    Objective {
        formula: first.formula.clone(),
        value: crate::numeric::sum(parts.iter().map(|p| p.objective.value)),
        lambda: first.lambda.filter(|lambda| parts.iter().all(|p| p.objective.lambda == Some(*lambda))),
    }
}

fn computation(parts: &[FittedPart]) -> Computation {
    let first = &parts[0].computation;
    let same = parts.iter().all(|p| p.computation.solver == first.solver);
    Computation {
        solver: if same { first.solver.clone() } else { "several".into() },
        reason: first.reason.clone().filter(|r| same && parts.iter().all(|p| p.computation.reason.as_ref() == Some(r))),
        iterations: parts.iter().map(|p| p.computation.iterations).sum(),
        passes: parts.iter().map(|p| p.computation.passes).sum(),
    }
}
