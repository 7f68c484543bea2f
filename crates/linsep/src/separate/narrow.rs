//! The verdict by Newton's method in the space of the columns: which constraints can be strict together, and the proof.

use super::limits::LimitRows;
use super::plan::Route;
use super::{
    Case, CommonPoint, Complete, MARGIN, NOT_BALANCED, NearestPoints, Overlap, QuasiComplete, SeparabilityVerdict,
    SeparatingPlane, Undecided, Verdict, hard_margin, solve_cone,
};
use crate::certify::{check_cone_direction, cone_residual, others, sides};
use crate::design::{LabelledRows, Standardize, Units, gather, summarise, weighted_sum};
use crate::error::Result;
use crate::objective::{Coef, Intercept, Logistic, Loss, Ridge, Risk, Sample, Softmax, SoftmaxForm};
use crate::table::Class;

/// Entries of a direction below this share of the largest are rounding.
const CLEANED: f64 = 1e-12;

impl<'a> Case<'a> {
    pub(super) fn narrow(&self) -> Result<SeparabilityVerdict> {
        let units = summarise(self.rows.design, None, self.watch)?.units(Standardize::Yes);
        match self.classes {
            2 => self.decide(&units, Logistic),
            // The scores of the first class may be taken as zero.
            classes => self.decide(&units, Softmax::new(classes, SoftmaxForm::Reference)),
        }
    }

    pub(super) fn risk<L: Loss>(&self, units: &'a Units, loss: L) -> Risk<'a, L> {
        let sample = Sample::new(self.rows, units);
        Risk::new(sample, loss, Ridge::none(), Intercept::Free)
    }

    fn decide<L: Loss + Clone>(&self, units: &Units, loss: L) -> Result<SeparabilityVerdict> {
        let case = Case { ..*self };
        let risk = case.risk(units, loss.clone());
        let start = case.start(units, loss)?;
        let solved = solve_cone(&risk, start, self.options.tolerance, self.watch)?;
        let open = solved.open.iter().filter(|open| **open).count();
        let verdict = match (&solved.alpha, &solved.direction) {
            (None, Some(direction)) if open == 0 => self.complete(&risk, direction)?,
            (None, _) => Verdict::Undecided(Box::new(Undecided {
                reason: solved.undecided.unwrap_or("the search came to no end").to_owned(),
                common: None,
            })),
            (Some(alpha), direction) => {
                let residual = cone_residual(&risk, alpha, self.watch)?;
                let common = self.common_point(&risk, &solved.open, alpha)?;
                match direction {
                    None => self.overlap(&risk, alpha, residual, common)?,
                    Some(direction) => {
                        let boundary = (&solved.open[..], &alpha[..], residual);
                        self.quasi_complete(&risk, direction, boundary, common)?
                    }
                }
            }
        };
        Ok(self.found(self.size().by_columns(), verdict, solved.iterations))
    }

    /// A warm start for many rows: the iterate of a part of them, if they overlap.
    fn start<L: Loss>(&self, units: &Units, loss: L) -> Result<Option<Coef>> {
        if self.size().by_columns() != Route::PartOfRows {
            return Ok(None);
        }
        let rows: Vec<usize> = (0..self.rows.labels.len()).step_by(self.size().step_of_part()).collect();
        let part = gather(self.rows.design, &rows)?;
        let labels: Vec<Class> = rows.iter().map(|i| self.rows.labels[*i]).collect();
        let case = Case { rows: LabelledRows::new(part.as_design(), &labels), ..*self };
        let solved = solve_cone(&case.risk(units, loss), None, self.options.tolerance, self.watch)?;
        Ok(solved.alpha.map(|_| solved.iterate))
    }

    /// Every constraint is met strictly: the widest plane of two classes, or the direction itself.
    fn complete<L: Loss>(&self, risk: &Risk<'_, L>, direction: &Coef) -> Result<Verdict> {
        if self.classes == 2 {
            let normal: Vec<f64> =
                direction.weights().iter().zip(risk.sample().units.inverse_scale()).map(|(w, s)| w * s).collect();
            return match self.widest(Some(&normal))? {
                Some(found) => self.if_it_separates(self.complete_plane(&found)?),
                None => self.plane_as_it_is(normal),
            };
        }
        let check = check_cone_direction(risk, direction, self.options.tolerance, self.watch)?;
        if !check.is_strict() {
            return Ok(Verdict::Undecided(Box::new(Undecided {
                reason: "the direction that was found is not strict in every row at this tolerance".into(),
                common: None,
            })));
        }
        let (weights, intercept, centre) = self.in_columns(direction, risk.sample().units);
        match self.measured_machine(weights, intercept, centre)? {
            Some(complete) => self.if_it_separates(complete),
            None => Ok(Verdict::Undecided(Box::new(Undecided {
                reason: "a linear machine was found whose margin drowns in rounding".into(),
                common: None,
            }))),
        }
    }

    pub(super) fn widest(&self, start: Option<&[f64]>) -> Result<Option<SeparatingPlane>> {
        hard_margin(self.rows, start, self.options.margin_tolerance.unwrap_or(MARGIN), self.watch)
    }

    pub(super) fn complete_plane(&self, found: &SeparatingPlane) -> Result<Complete> {
        let total: f64 = found.alpha.iter().map(|(_, a)| 0.5 * a).sum();
        let weights: Vec<(usize, f64)> = found.alpha.iter().map(|(row, a)| (*row, a / total)).collect();
        let (weights, distance) = match self.fewer_hull_rows(found, &weights)? {
            Some(fewer) => (fewer.weights.clone(), fewer.distance_bound()),
            None => (weights, found.hull_distance),
        };
        let points = [self.mixture(&weights, Class(0))?, self.mixture(&weights, Class(1))?];
        Ok(Complete {
            weights: vec![found.weights.clone()],
            intercept: vec![found.intercept],
            centre: found.centre.clone(),
            margin: found.margin,
            hull: Some(NearestPoints { weights, points, distance, gap: 1.0 - 2.0 * found.margin / distance }),
            exact: None,
            whole: None,
        })
    }

    /// The point of the hull of a class that weights of rows stand for.
    fn mixture(&self, weights: &[(usize, f64)], class: Class) -> Result<Vec<f64>> {
        let (mut rows, mut shares): (Vec<usize>, Vec<f64>) = (Vec::new(), Vec::new());
        for (row, share) in weights.iter().filter(|(row, _)| self.rows.labels[*row] == class) {
            rows.push(*row);
            shares.push(*share);
        }
        weighted_sum(self.rows.design, &rows, &shares)
    }

    /// A strict plane, though not the widest: rounding hides the widest margin.
    pub(super) fn plane_as_it_is(&self, normal: Vec<f64>) -> Result<Verdict> {
        let identity = Units::identity(normal.len());
        let measured = sides(self.rows, &identity, &normal, self.watch)?;
        if !(measured.margin() > 0.0) {
            return Ok(Verdict::Undecided(Box::new(Undecided {
                reason: "a plane was found whose margin drowns in rounding".into(),
                common: None,
            })));
        }
        self.if_it_separates(Complete {
            intercept: vec![measured.intercept()],
            margin: measured.margin(),
            centre: vec![0.0; normal.len()],
            weights: vec![normal],
            hull: None,
            exact: None,
            whole: None,
        })
    }

    pub(super) fn overlap<L: Loss + Clone>(
        &self,
        risk: &Risk<'_, L>,
        alpha: &[f64],
        residual: f64,
        common: Option<CommonPoint>,
    ) -> Result<Verdict> {
        let Some((weights, exact)) = self.proved_overlap(risk, alpha)? else {
            return Ok(Verdict::Undecided(Box::new(Undecided { reason: NOT_BALANCED.into(), common })));
        };
        Ok(Verdict::Overlap(Box::new(Overlap::new(&weights, residual, common, exact))))
    }

    fn quasi_complete<L: Loss + Clone>(
        &self,
        risk: &Risk<'_, L>,
        direction: &Coef,
        (open, alpha, residual): (&[bool], &[f64], f64),
        common: Option<CommonPoint>,
    ) -> Result<Verdict> {
        let check = check_cone_direction(risk, direction, self.options.tolerance, self.watch)?;
        let Some(common) = common.filter(|_| check.separates(self.options.tolerance)) else {
            return Ok(Verdict::Undecided(Box::new(Undecided {
                reason: "rounding hides which rows are on the boundary".into(),
                common: None,
            })));
        };
        if !self.exactly_quasi(risk, direction, open, alpha)? {
            let reason = "which rows are on the boundary was not proved in rational arithmetic".into();
            return Ok(Verdict::Undecided(Box::new(Undecided { reason, common: Some(common) })));
        }
        let plane = self.in_columns(direction, risk.sample().units);
        self.proved_quasi(open, plane, residual, common)
    }

    /// A quasi-complete verdict that rational arithmetic has proved, with the coefficients that diverge.
    pub(super) fn proved_quasi(
        &self,
        open: &[bool],
        (weights, intercept, centre): (Vec<Vec<f64>>, Vec<f64>, Vec<f64>),
        residual: f64,
        common: CommonPoint,
    ) -> Result<Verdict> {
        let per_row = self.classes - 1;
        let on_it = |row: &usize| open[row * per_row..(row + 1) * per_row].contains(&true);
        let boundary: Vec<usize> = (0..self.rows.labels.len()).filter(on_it).collect();
        let pair = |c: usize| {
            let own = self.rows.labels[c / per_row].index();
            (c / per_row, others(self.classes, own).nth(c % per_row).unwrap_or(own))
        };
        let pairs: Vec<(usize, usize)> = (0..open.len()).filter(|c| open[*c]).map(pair).collect();
        let rows = LimitRows::new(self.rows, self.classes, None, self.effort());
        let named = rows.named(&pairs)?;
        Ok(Verdict::QuasiComplete(Box::new(QuasiComplete {
            weights,
            intercept,
            centre,
            columns: named.diverging,
            intercept_diverges: named.intercept_diverges,
            collinear: named.collinear,
            strict_rows: self.rows.labels.len() - boundary.len(),
            boundary,
            pairs,
            residual,
            common,
            exact: Some(true),
        })))
    }

    /// A direction in the units of the columns: weights and intercepts per score about the centre; two classes have one.
    pub(super) fn in_columns(&self, direction: &Coef, units: &Units) -> (Vec<Vec<f64>>, Vec<f64>, Vec<f64>) {
        let k = direction.n_scores();
        let largest = direction.as_slice().iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let clean = |v: f64| if v.abs() > CLEANED * largest { v } else { 0.0 };
        let scaled = |c: usize| -> Vec<f64> {
            direction.weights_of(c).iter().zip(units.inverse_scale()).map(|(w, s)| clean(*w) * s).collect()
        };
        let mut weights: Vec<Vec<f64>> = (0..k).map(scaled).collect();
        let mut intercept: Vec<f64> = direction.intercept().to_vec();
        if self.classes > 2 {
            weights.insert(0, vec![0.0; direction.n_cols()]);
            intercept.insert(0, 0.0);
        }
        (weights, intercept, units.centre().to_vec())
    }
}
