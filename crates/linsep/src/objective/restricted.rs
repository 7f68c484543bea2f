//! Some columns of a risk as a risk of their own.

use super::{Coef, ElasticNet, Loss, Penalty, Point, Risk, Sample};
use crate::design::{DenseMatrix, Design, PreparedDesign, SomeColumns, Units, select};
use crate::error::Result;
use crate::watch::Watch;

/// Some columns with their units and penalty factors.
pub(crate) struct Restricted {
    pub(crate) columns: Vec<usize>,
    design: Chosen,
    units: Units,
}

/// Where the columns are.
enum Chosen {
    /// In a copy of all columns.
    There(SomeColumns),
    /// In a copy of their own.
    Copied(PreparedDesign),
}

impl Restricted {
    /// The given columns, rising.
    pub(crate) fn of(sample: &Sample<'_>, columns: Vec<usize>, watch: &Watch) -> Result<Restricted> {
        let design = match sample.design.by_columns() {
            Some(view) => Chosen::There(view.choose(&columns)),
            None => Chosen::Copied(select(sample.design, &columns, watch)?),
        };
        Ok(Restricted::with(sample, columns, design))
    }

    /// The same with a dense copy of their values: products of sparse rows in units lose digits that a proof needs.
    pub(crate) fn dense(sample: &Sample<'_>, columns: Vec<usize>, watch: &Watch) -> Result<Restricted> {
        let chosen = select(sample.design, &columns, watch)?;
        let design = match &chosen {
            PreparedDesign::Sparse(rows) => PreparedDesign::Dense(DenseMatrix::new(rows.spread(), columns.len())?),
            _ => chosen,
        };
        Ok(Restricted::with(sample, columns, Chosen::Copied(design)))
    }

    fn with(sample: &Sample<'_>, columns: Vec<usize>, design: Chosen) -> Restricted {
        let some = |values: &[f64]| columns.iter().map(|j| values[*j]).collect();
        let units = Units::new(some(sample.units.centre()), some(sample.units.scale()));
        Restricted { columns, design, units }
    }

    pub(crate) fn design(&self) -> &dyn Design {
        match &self.design {
            Chosen::There(some) => some,
            Chosen::Copied(prepared) => prepared.as_design(),
        }
    }

    /// The risk in these columns, the others' weights zero.
    pub(crate) fn risk<'a, L: Loss + Clone>(
        &'a self,
        whole: &Risk<'a, L, ElasticNet>,
    ) -> Result<Risk<'a, L, ElasticNet>> {
        let sample = Sample { units: &self.units, ..whole.sample().with_design(self.design()) };
        let penalty = match whole.penalty().factors() {
            None => whole.penalty().clone(),
            Some(factors) => {
                let factors: Vec<f64> = self.columns.iter().map(|j| factors[*j]).collect();
                whole.penalty().clone().with_factors(&factors)?
            }
        };
        Ok(Risk::new(sample, whole.loss().clone(), penalty, whole.intercept()))
    }

    /// The coefficients of these columns.
    pub(crate) fn gather(&self, whole: &Coef) -> Coef {
        let (k, m) = (whole.n_scores(), self.columns.len());
        let mut some = Coef::zeros(k, m);
        for c in 0..k {
            let of_score = &mut some.weights_mut()[c * m..(c + 1) * m];
            of_score.iter_mut().zip(&self.columns).for_each(|(w, j)| *w = whole.weights_of(c)[*j]);
        }
        some.intercept_mut().copy_from_slice(whole.intercept());
        some
    }

    /// The point in these columns; the weights of the others must be zero.
    pub(crate) fn gather_point(&self, whole: &Point) -> Point {
        let cols = whole.coef.n_cols();
        let groups = whole.gradient_sums.chunks_exact(cols.max(1));
        Point {
            coef: self.gather(&whole.coef),
            objective: whole.objective,
            gradient: self.gather(&whole.gradient),
            hessian: None,
            scores: whole.scores.clone(),
            gradient_sums: groups.flat_map(|sums| self.columns.iter().map(|j| sums[*j])).collect(),
        }
    }

    /// The reverse, zero elsewhere.
    pub(crate) fn scatter(&self, some: &Coef, cols: usize) -> Coef {
        let k = some.n_scores();
        let mut whole = Coef::zeros(k, cols);
        for c in 0..k {
            let of_score = &mut whole.weights_mut()[c * cols..(c + 1) * cols];
            self.columns.iter().zip(some.weights_of(c)).for_each(|(j, w)| of_score[*j] = *w);
        }
        whole.intercept_mut().copy_from_slice(some.intercept());
        whole
    }
}
