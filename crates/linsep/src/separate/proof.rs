//! The proof of a verdict: its witness holds for the stored numbers, rounding included.
//!
//! *Complete* is proved by certain signs, computed in integers where the error bounds of doubles do not decide. *Overlap* is
//! proved by a verified solve, or by weights made to balance in rational arithmetic. *Quasi-complete* is about equalities,
//! so only rational arithmetic proves it. What is not proved is undecided, and tables that are not too large are then
//! decided by the simplex method in integer arithmetic.

use super::plan::{MOST_BITS, MOST_VERIFIED};
use super::{Case, CommonPoint, Complete, Constraint, NOT_BALANCED, Overlap, Undecided, Verdict, WholeScore};
use crate::certify::{Effort, WholeCone, WholeRows, cone_residual, prove_balance};
use crate::design::{Block, ColumnSummary, Standardize, Tile, Units, summarise};
use crate::error::Result;
use crate::objective::{Logistic, Loss, Risk, Softmax, SoftmaxForm};
use crate::separate::{solve_whole_cone, whole_common_point};

impl Case<'_> {
    /// The work limit of exact arithmetic.
    pub(super) fn effort(&self) -> Effort<'_> {
        if self.options.exact { Effort::minutes(self.watch) } else { Effort::seconds(self.watch) }
    }

    /// The verdict, if every row is strictly on its side.
    pub(super) fn if_it_separates(&self, mut complete: Complete) -> Result<Verdict> {
        if !self.exactly_complete(&complete)? {
            let reason = "a plane was found, but not one that holds in rational arithmetic".into();
            return Ok(Verdict::Undecided(Box::new(Undecided { reason, common: None })));
        }
        complete.exact = Some(true);
        Ok(Verdict::Complete(Box::new(complete)))
    }

    /// Weights on all constraints with exactly balancing ones nearby, and whether rational arithmetic confirms it.
    pub(super) fn proved_overlap<L: Loss + Clone>(
        &self,
        risk: &Risk<'_, L>,
        alpha: &[f64],
    ) -> Result<Option<(Vec<f64>, Option<bool>)>> {
        // A constraint without a positive weight could be strict.
        if !alpha.iter().all(|alpha| *alpha > 0.0) {
            return Ok(None);
        }
        let verified = self.verified(risk.loss().clone(), alpha)?;
        let exactly =
            |alpha: &[f64]| -> Result<Option<bool>> { Ok(self.exactly_balanced(risk, alpha)?.filter(|exact| *exact)) };
        match verified {
            Some(weights) => {
                let exact = if self.options.exact { exactly(&weights)? } else { None };
                Ok(Some((weights, exact)))
            }
            None => Ok(exactly(alpha)?.map(|exact| (alpha.to_vec(), Some(exact)))),
        }
    }

    /// Weights that a verified solve proves to be near exact ones, on the constraints that have one.
    pub(super) fn verified<L: Loss>(&self, loss: L, alpha: &[f64]) -> Result<Option<Vec<f64>>> {
        if loss.n_scores() * (self.rows.design.shape().cols + 1) > MOST_VERIFIED {
            return Ok(None);
        }
        let weighs = |alpha: &[f64]| f64::from(u8::from(alpha.iter().any(|a| *a > 0.0)));
        let counted: Option<Vec<f64>> =
            alpha.contains(&0.0).then(|| alpha.chunks_exact(self.classes - 1).map(weighs).collect());
        let summary = summarise(self.rows.design, counted.as_deref(), self.watch)?;
        let units = self.proof_units(&summary)?;
        let case = Case { ..*self };
        let proved = prove_balance(&case.risk(&units, loss), alpha, &summary.constant(), self.watch)?;
        Ok(proved.map(|proved| proved.weights))
    }

    /// Units in which every entry is known to a few roundings: about the mean, but sparse rows about zero.
    fn proof_units(&self, summary: &ColumnSummary) -> Result<Units> {
        let units = summary.units(Standardize::Yes);
        let mut tile = Tile::default();
        Ok(match self.rows.design.block(0..self.rows.labels.len().min(1), &mut tile)? {
            Block::Csr(_) => Units::new(vec![0.0; units.scale().len()], units.scale().to_vec()),
            _ => units,
        })
    }

    /// The verdict in whole numbers, where that can be afforded; `common` is a common point that is known already.
    pub(super) fn in_whole_numbers(&self, common: Option<CommonPoint>) -> Result<Option<Verdict>> {
        let Some(rows) = WholeRows::new(self.rows, self.classes, None, MOST_BITS)? else {
            return Ok(None);
        };
        let asked = vec![true; rows.constraints()];
        let Some(cone) = solve_whole_cone(&rows, &asked, self.effort()) else { return Ok(None) };
        if !rows.holds(&cone, &asked) {
            return Ok(None);
        }
        let open = cone.open.iter().filter(|open| **open).count();
        if open == 0 {
            return self.complete_in_whole_numbers(&rows, &cone).map(Some);
        }
        let common = match common {
            Some(common) => Some(common),
            None => self.common_in_whole_numbers(&rows, &cone.open),
        };
        let summary = summarise(self.rows.design, None, self.watch)?;
        let units = self.proof_units(&summary)?;
        match self.classes {
            2 => self.stated(&rows, &cone, common, &units, Logistic),
            classes => self.stated(&rows, &cone, common, &units, Softmax::new(classes, SoftmaxForm::Reference)),
        }
    }

    /// Overlap or quasi-complete as it was found in whole numbers.
    fn stated<L: Loss>(
        &self,
        rows: &WholeRows,
        cone: &WholeCone,
        common: Option<CommonPoint>,
        units: &Units,
        loss: L,
    ) -> Result<Option<Verdict>> {
        let case = Case { ..*self };
        let risk = case.risk(units, loss);
        let alpha = cone.weights_as_doubles();
        let residual = cone_residual(&risk, &alpha, self.watch)?;
        let Some(direction) = &cone.direction else {
            // Weights too small for doubles must not be read as zero.
            let alpha: Vec<f64> = alpha.iter().map(|a| a.max(f64::MIN_POSITIVE)).collect();
            return Ok(Some(Verdict::Overlap(Box::new(Overlap::new(&alpha, residual, common, Some(true))))));
        };
        let Some(common) = common else { return Ok(None) };
        let plane = rows.in_columns(direction);
        self.proved_quasi(&cone.open, plane, residual, common).map(Some)
    }

    /// Every constraint is strict: a plane in doubles where there is one near, and else in whole numbers.
    fn complete_in_whole_numbers(&self, rows: &WholeRows, cone: &WholeCone) -> Result<Verdict> {
        let direction = cone.direction.clone().unwrap_or_default();
        let (weights, intercept, centre) = rows.in_columns(&direction);
        if self.classes == 2
            && let Some(found) = self.widest(Some(&weights[0]))?
            && let verdict @ Verdict::Complete(_) = self.if_it_separates(self.complete_plane(&found)?)?
        {
            return Ok(verdict);
        }
        let margin = rows.margin(&direction);
        let mut complete = Complete { weights, intercept, centre, margin, hull: None, exact: Some(true), whole: None };
        match self.exact_margin(&complete)?.filter(|margin| *margin > 0.0) {
            // The margin of the rounded plane differs from that of the integers.
            Some(margin) => complete.margin = margin,
            None => {
                let score = |(weights, intercept): (Vec<(String, i32)>, String)| WholeScore { weights, intercept };
                complete.whole = Some(rows.digits(&direction).into_iter().map(score).collect());
            }
        }
        Ok(Verdict::Complete(Box::new(complete)))
    }

    fn common_in_whole_numbers(&self, rows: &WholeRows, open: &[bool]) -> Option<CommonPoint> {
        let basic = whole_common_point(rows, open, self.effort())?;
        let mut all = vec![num_bigint::BigInt::ZERO; rows.constraints()];
        basic.iter().for_each(|(c, w)| all[*c] = w.clone());
        if !rows.balances(&all) {
            return None;
        }
        let cone = WholeCone { open: Vec::new(), direction: None, weights: all };
        let doubles = cone.weights_as_doubles();
        let total: f64 = doubles.iter().sum();
        let constraint = |(c, w): &(usize, num_bigint::BigInt)| {
            let (row, own, other) = rows.ends(*c);
            Constraint { row, own, other, weight: 2.0 * doubles[*c] / total, exact: Some(w.to_string()) }
        };
        Some(CommonPoint { constraints: basic.iter().map(constraint).collect(), residual: 0.0 })
    }

    /// An overlap of many columns, if it is proved.
    pub(super) fn overlap_or_not<L: Loss + Clone>(
        &self,
        loss: L,
        (alpha, residual): (&[f64], f64),
        common: Option<CommonPoint>,
    ) -> Result<Verdict> {
        let all = alpha.iter().all(|alpha| *alpha > 0.0);
        Ok(match if all { self.verified(loss, alpha)? } else { None } {
            Some(weights) => Verdict::Overlap(Box::new(Overlap::new(&weights, residual, common, None))),
            None => Verdict::Undecided(Box::new(Undecided { reason: NOT_BALANCED.into(), common })),
        })
    }
}
