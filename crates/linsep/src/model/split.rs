//! Several classes as two-class problems: every pair of classes, or every class against the rest.
//!
//! A part is a fit of its own: for a pair on the rows of its two classes (with their units, and `λ = 1/Σs` of those rows
//! where that is the penalty), against the rest on all rows, with only the labels changed. Its one score speaks for
//! [`Part::class`] where it is positive.

use super::kernel_choice::not_square;
use super::side_by_side::{FittedPart, Part, SplitFit, apart_from_shared, whole_of};
use super::{Fit, Fitted, Method, Refusal};
use crate::design::Training;
use crate::design::{Block, DenseMatrix, Design, PreparedDesign, SelectedRows, Tile, Units, summarise};
use crate::discriminant::Discriminant;
use crate::error::{Error, Result};
use crate::table::{Class, Labels};
use crate::watch::Watch;
use crate::words::{Setting, words};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// How several classes become two-class problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// Every pair of classes, (0,1), (0,2) … (1,2) …
    Pairs,
    /// Every class against all others.
    Rest,
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
        let tables = method.has_kernel_table().then(|| training.design.shape().cols);
        let (notes, mut parts) = apart_from_shared(found, tables);
        if matches!(method, Method::HardMargin(_) | Method::Risk(_) | Method::Sigmoid(_) | Method::Link(_)) {
            prove_as_stored(method, training, (&discriminant, &apart), &mut parts, watch)?;
        }
        whole_of(discriminant, units, notes, parts)
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
