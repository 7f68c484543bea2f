//! The verdict by the constraints that single columns leave open.
//!
//! Add a direction for the remaining constraints and the columns of all rounds, each later one small relative to the
//! earlier: the sum settles whatever any of them settles. Weights that prove that constraints are on the boundary of the
//! rest prove it for all. So the verdict for the whole is that for the rest.

use super::peel::{MOST_CLASSES, MOST_PEELED, Peeled, PeeledMachine};
use super::plan::Route;
use super::{Case, CommonPoint, EQUATION, SeparabilityOptions, SeparabilityVerdict, Undecided, Verdict};
use crate::certify::{check_cone_direction, cone_residual, others};
use crate::design::{Block, CsrMatrix, CsrRows, LabelledRows, Standardize, Tile, Units, summarise};
use crate::error::Result;
use crate::linalg::dot;
use crate::objective::{Coef, Loss, Softmax, SoftmaxForm};
use crate::separate::{ConeSolved, solve_part_of_cone};
use crate::table::Class;

/// The decision on the remaining constraints.
struct Core {
    machine: PeeledMachine,
    /// Of all constraints, those that stay on the boundary.
    open: Vec<bool>,
    /// Positive on these.
    alpha: Vec<f64>,
    residual: f64,
    common: Option<CommonPoint>,
    iterations: usize,
}

impl Case<'_> {
    /// The verdict by the remaining constraints; `None` where they are too many, or rounding prevents a decision.
    pub(super) fn by_core(&self, same: Option<&CommonPoint>) -> Result<Option<SeparabilityVerdict>> {
        let mut tile = Tile::default();
        let Block::Csr(x) = self.rows.design.block(0..self.rows.labels.len(), &mut tile)? else { return Ok(None) };
        if self.classes > MOST_CLASSES || !self.size().fits_machine() || x.len() > MOST_PEELED {
            return Ok(None);
        }
        let peeled = self.peel(&x);
        let Some(core) = self.core(&x, &peeled)? else { return Ok(None) };
        let machine = self.completed(&x, &peeled, core.machine, &core.open);
        let verdict = if !core.open.contains(&true) {
            self.strict_machine(machine)?
        } else if !core.open.contains(&false) {
            let common = same.cloned().or(core.common);
            Some(self.overlap_or_not(self.loss(), (&core.alpha, core.residual), common)?)
        } else {
            match same.cloned().or(core.common) {
                Some(common) => self.quasi_by_core(machine, &core.open, core.residual, common)?,
                None => None,
            }
        };
        Ok(verdict.map(|verdict| self.found(Route::SingleColumns, verdict, core.iterations)))
    }

    /// Decides the remaining constraints; `None` where they are too many, or not decided.
    fn core(&self, x: &CsrRows<'_>, peeled: &Peeled) -> Result<Option<Core>> {
        let per_row = self.classes - 1;
        let is_left = |row: &usize| peeled.open[row * per_row..(row + 1) * per_row].contains(&true);
        let rows: Vec<usize> = (0..self.rows.labels.len()).filter(is_left).collect();
        let mut core = Core {
            machine: PeeledMachine::zeros(self.classes, x.cols),
            open: vec![false; peeled.open.len()],
            alpha: vec![0.0; peeled.open.len()],
            residual: 0.0,
            common: None,
            iterations: 0,
        };
        if rows.is_empty() {
            return Ok(Some(core));
        }
        let (matrix, used) = part(x, &rows)?;
        let labels: Vec<Class> = rows.iter().map(|row| self.rows.labels[*row]).collect();
        let asked: Vec<bool> =
            rows.iter().flat_map(|row| &peeled.open[row * per_row..(row + 1) * per_row]).copied().collect();
        let case = Case { rows: LabelledRows::new(&matrix, &labels), ..*self };
        let decided = match case.size().route_of_core() {
            Some(Route::RowProducts) => case.part_decided_by_products(&asked)?,
            Some(_) => case.part_decided(&asked)?,
            None => return Ok(None),
        };
        let Ok(decided) = decided else { return Ok(None) };
        core.machine.put(&decided.weights, &decided.intercept, Some(&used));
        for (at, row) in rows.iter().enumerate() {
            for c in 0..per_row {
                core.open[row * per_row + c] = decided.open[at * per_row + c];
                core.alpha[row * per_row + c] = decided.alpha[at * per_row + c];
            }
        }
        core.residual = decided.residual;
        core.iterations = decided.iterations;
        core.common = decided.common;
        if let Some(common) = &mut core.common {
            common.constraints.iter_mut().for_each(|c| c.row = rows[c.row]);
        }
        Ok(Some(core))
    }

    /// The verdict for few rows, through their Gram matrix.
    pub(super) fn through_rows(&self, same: Option<CommonPoint>) -> Result<SeparabilityVerdict> {
        let asked = vec![true; self.rows.labels.len() * (self.classes - 1)];
        let undecided = |reason: &str, common| {
            Verdict::Undecided(Box::new(Undecided { reason: reason.to_owned(), common: same.clone().or(common) }))
        };
        let decided = match self.part_decided_by_products(&asked)? {
            Ok(decided) => decided,
            Err(Undecided { reason, common }) => {
                return Ok(self.found(Route::RowProducts, undecided(&reason, common), 0));
            }
        };
        let common = same.clone().or(decided.common);
        if !decided.open.contains(&false) {
            let verdict = self.overlap_or_not(self.loss(), (&decided.alpha, decided.residual), common)?;
            return Ok(self.found(Route::RowProducts, verdict, decided.iterations));
        }
        let mut machine = PeeledMachine::zeros(self.classes, self.rows.design.shape().cols);
        machine.put(&decided.weights, &decided.intercept, None);
        let verdict = if !decided.open.contains(&true) {
            let strict = self.strict_machine(machine)?;
            strict.unwrap_or_else(|| undecided("the rows are separable by a margin that drowns in rounding", None))
        } else {
            let quasi = match common.clone() {
                Some(common) => self.quasi_by_core(machine, &decided.open, decided.residual, common)?,
                None => None,
            };
            quasi.unwrap_or_else(|| undecided("rounding hides which rows are on the boundary", common))
        };
        Ok(self.found(Route::RowProducts, verdict, decided.iterations))
    }

    /// Decides some constraints through `Z` with `ZZᵀ = XXᵀ`, and maps the result back to the columns of X.
    fn part_decided_by_products(&self, asked: &[bool]) -> Result<Decided> {
        let (z, products) = self.coordinates()?;
        // Z is rounded: nothing exact about Z holds for X.
        let options = SeparabilityOptions { exact: false, ..*self.options };
        let mut decided = match (Case { rows: LabelledRows { design: &z, ..self.rows }, options: &options, ..*self })
            .part_decided(asked)?
        {
            Ok(decided) => decided,
            undecided => return Ok(undecided),
        };
        for w in &mut decided.weights {
            // `w·x = Zu` for every row, with w a combination of rows; of empty rows Z has no columns.
            let zu: Vec<f64> = match w.len() {
                0 => vec![0.0; self.rows.labels.len()],
                rank => z.values().chunks_exact(rank).map(|z| dot(z, w)).collect(),
            };
            *w = self.combined(&products.solve(&zu))?;
        }
        // Z does not resolve nearly equal rows: residuals that matter for the proof are measured on X.
        if decided.open.contains(&true) {
            decided.residual = self.residual_of(&decided.alpha)?;
            let residual = decided.residual;
            if let Some(common) = &mut decided.common {
                let per_row = self.classes - 1;
                let mut alpha = vec![0.0; decided.alpha.len()];
                for c in &common.constraints {
                    let place = others(self.classes, c.own).position(|k| k == c.other).unwrap_or(0);
                    alpha[c.row * per_row + place] = c.weight;
                }
                common.residual = self.residual_of(&alpha)?;
            }
            decided.common = decided.common.filter(|common| common.residual <= EQUATION);
            if !(residual <= EQUATION) {
                let reason = format!("the weights of the rows leave a relative residual of {residual:.1e}");
                return Ok(Err(Undecided { reason, common: decided.common }));
            }
        }
        Ok(Ok(decided))
    }

    /// The relative residual of `Σ αa = 0` for weights of constraints, in the columns as they are.
    pub(super) fn residual_of(&self, alpha: &[f64]) -> Result<f64> {
        let identity = Units::identity(self.rows.design.shape().cols);
        let case = Case { ..*self };
        cone_residual(&case.risk(&identity, self.loss()), alpha, self.watch)
    }

    /// A loss that only supplies the number of classes and of scores, one fewer.
    fn loss(&self) -> Softmax {
        Softmax::new(self.classes, SoftmaxForm::Reference)
    }

    /// Decides some constraints of these rows.
    fn part_decided(&self, asked: &[bool]) -> Result<Decided> {
        let units = summarise(self.rows.design, None, self.watch)?.units(Standardize::Yes);
        let case = Case { ..*self };
        let risk = case.risk(&units, self.loss());
        let ConeSolved { direction, open, alpha, iterations, undecided, .. } =
            solve_part_of_cone(&risk, asked, None, self.options.tolerance, self.watch)?;
        if alpha.is_none() && open.contains(&true) {
            let reason = undecided.unwrap_or("the search came to no end").to_owned();
            return Ok(Err(Undecided { reason, common: None }));
        }
        let alpha = alpha.unwrap_or_else(|| vec![0.0; open.len()]);
        let (mut residual, mut common) = (0.0, None);
        if open.contains(&true) {
            residual = cone_residual(&risk, &alpha, self.watch)?;
            common = self.common_point(&risk, &open, &alpha)?;
        }
        if !(residual <= EQUATION) {
            let reason = format!("the weights of the rows leave a relative residual of {residual:.1e}");
            return Ok(Err(Undecided { reason, common }));
        }
        let zero = || Coef::zeros(risk.loss().n_scores(), risk.n_cols());
        let (weights, intercept, centre) = self.in_columns(&direction.unwrap_or_else(zero), &units);
        let at_zero = |(b, w): (f64, &Vec<f64>)| b - dot(w, &centre);
        let intercept = intercept.into_iter().zip(&weights).map(at_zero).collect();
        Ok(Ok(PartDecided { weights, intercept, open, alpha, residual, common, iterations }))
    }

    /// No constraint is left open: the machine is strict.
    fn strict_machine(&self, machine: PeeledMachine) -> Result<Option<Verdict>> {
        if self.classes == 2 {
            return Ok(match self.plane_as_it_is(machine.difference(1, Some(0)).0)? {
                Verdict::Undecided(_) => None,
                verdict => Some(verdict),
            });
        }
        let (weights, intercept): (Vec<_>, Vec<_>) = (0..self.classes).map(|k| machine.difference(k, None)).unzip();
        drop(machine);
        let Some(complete) = self.measured_machine(weights, intercept, vec![0.0; self.rows.design.shape().cols])?
        else {
            return Ok(None);
        };
        self.if_it_separates(complete).map(Some)
    }

    /// The verdict that a direction and the constraints it cannot settle stand for, if it holds on all rows.
    fn quasi_by_core(
        &self,
        machine: PeeledMachine,
        open: &[bool],
        residual: f64,
        common: CommonPoint,
    ) -> Result<Option<Verdict>> {
        let strict = self.strict_constraints(&machine)?;
        if !strict.is_some_and(|strict| strict.iter().zip(open).all(|(s, o)| s != o)) {
            return Ok(None);
        }
        let scores: Vec<(Vec<f64>, f64)> = (1..self.classes).map(|k| machine.difference(k, Some(0))).collect();
        if !self.boundary_is_proved(&scores, open)? {
            return Ok(None);
        }
        drop(scores);
        let (weights, intercept): (Vec<_>, Vec<_>) = match self.classes {
            2 => [machine.difference(1, Some(0))].into_iter().unzip(),
            classes => (0..classes).map(|k| machine.difference(k, None)).unzip(),
        };
        let plane = (weights, intercept, vec![0.0; self.rows.design.shape().cols]);
        self.proved_quasi(open, plane, residual, common).map(Some)
    }

    /// Which constraints a machine meets strictly; `None` where it fails some.
    fn strict_constraints(&self, machine: &PeeledMachine) -> Result<Option<Vec<bool>>> {
        let (mut values, mut intercepts) = (Vec::new(), Vec::new());
        for class in 1..self.classes {
            let (weights, intercept) = machine.difference(class, Some(0));
            values.extend(weights);
            intercepts.push(intercept);
        }
        values.extend(intercepts);
        self.strict_in_doubles(values)
    }

    /// The same of weights in the units of the columns about zero, score by score, and then the intercepts.
    pub(super) fn strict_in_doubles(&self, values: Vec<f64>) -> Result<Option<Vec<bool>>> {
        let cols = self.rows.design.shape().cols;
        let identity = Units::identity(cols);
        let case = Case { ..*self };
        let risk = case.risk(&identity, self.loss());
        let direction = Coef::from_vec(values, self.classes - 1, cols);
        let check = check_cone_direction(&risk, &direction, self.options.tolerance, self.watch)?;
        Ok(check.separates(self.options.tolerance).then_some(check.strict))
    }
}

/// What became of some constraints, or why that is not known.
type Decided = std::result::Result<PartDecided, Undecided>;

/// Some constraints of some rows, decided: a direction in the units of their columns about zero, one score a class (two classes:
/// one), and what is on its boundary.
struct PartDecided {
    weights: Vec<Vec<f64>>,
    intercept: Vec<f64>,
    open: Vec<bool>,
    alpha: Vec<f64>,
    residual: f64,
    common: Option<CommonPoint>,
    iterations: usize,
}

/// Some rows with the columns that they use, of which there is at least one.
fn part(x: &CsrRows<'_>, rows: &[usize]) -> Result<(CsrMatrix<'static>, Vec<usize>)> {
    let mut place = vec![u32::MAX; x.cols];
    rows.iter().for_each(|row| x.row(*row).0.iter().for_each(|c| place[*c as usize] = 0));
    let mut used: Vec<usize> = (0..x.cols).filter(|c| place[*c] == 0).collect();
    if used.is_empty() {
        used.extend((x.cols > 0).then_some(0));
    }
    used.iter().enumerate().for_each(|(at, c)| place[*c] = at as u32);
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows {
        let (columns, entries) = x.row(*row);
        indices.extend(columns.iter().map(|c| place[*c as usize]));
        values.extend_from_slice(entries);
        starts.push(indices.len());
    }
    Ok((CsrMatrix::new(starts, indices, values, used.len())?, used))
}
