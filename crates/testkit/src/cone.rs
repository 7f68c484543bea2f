//! Clarabel, an interior-point conic solver that shares no code with linsep, as judge of optima and of separability.

use crate::data::Data;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use linsep::objective::Intercept;

fn settings() -> DefaultSettings<f64> {
    DefaultSettings {
        verbose: false,
        max_iter: 200,
        tol_gap_abs: 1e-11,
        tol_gap_rel: 1e-11,
        tol_feas: 1e-11,
        ..DefaultSettings::default()
    }
}

/// A matrix built row by row.
struct Rows {
    rows: Vec<usize>,
    cols: Vec<usize>,
    values: Vec<f64>,
    right: Vec<f64>,
    width: usize,
}

impl Rows {
    fn new(width: usize) -> Rows {
        Rows { rows: Vec::new(), cols: Vec::new(), values: Vec::new(), right: Vec::new(), width }
    }

    /// Adds the row `Σ entries·x + slack = right`.
    fn push(&mut self, entries: impl IntoIterator<Item = (usize, f64)>, right: f64) {
        for (column, value) in entries {
            self.rows.push(self.right.len());
            self.cols.push(column);
            self.values.push(value);
        }
        self.right.push(right);
    }

    fn matrix(&self) -> CscMatrix<f64> {
        CscMatrix::new_from_triplets(
            self.right.len(),
            self.width,
            self.rows.clone(),
            self.cols.clone(),
            self.values.clone(),
        )
    }

    /// The least `½xᵀPx + q·x` with these rows in the given cones.
    fn minimum(
        &self,
        quadratic: &CscMatrix<f64>,
        linear: &[f64],
        cones: &[SupportedConeT<f64>],
        settings: DefaultSettings<f64>,
    ) -> f64 {
        let mut solver = DefaultSolver::new(quadratic, linear, &self.matrix(), &self.right, cones, settings)
            .expect("a well-formed program");
        solver.solve();
        let status = solver.solution.status;
        assert!(matches!(status, SolverStatus::Solved | SolverStatus::AlmostSolved), "clarabel: {status:?}");
        solver.solution.obj_val
    }
}

/// The largest `Σt` subject to `0 ≤ t ≤ 1` and `t ≤ (v_y − v_k)·x̃` for every row of positive weight and every other
/// class k: zero exactly when the classes overlap, otherwise at least one. `intercept` says whether x̃
/// has the constant.
///
/// # Panics
/// If the solver fails.
pub fn separating_slack(data: &Data, intercept: bool) -> f64 {
    let (d, classes) = (data.cols, data.labels.n_classes());
    let used: Vec<usize> = (0..data.rows()).filter(|i| data.weight(*i) > 0.0).collect();
    let constraints: Vec<(usize, usize)> =
        used.iter().flat_map(|i| (0..classes).filter(|k| *k != data.class(*i)).map(move |k| (*i, k))).collect();
    // Columns in the order of size, so that the judge does not suffer from units.
    let scale: Vec<f64> = (0..d)
        .map(|j| used.iter().map(|i| data.row(*i)[j].abs()).fold(0.0, f64::max))
        .map(|m| if m > 0.0 { m } else { 1.0 })
        .collect();
    // v_k for every class but the first (whose scores may be taken as zero), then t.
    let vectors = (classes - 1) * (d + 1);
    let mut rows = Rows::new(vectors + constraints.len());
    for (t, (i, other)) in constraints.iter().enumerate() {
        let mut entries = vec![(vectors + t, 1.0)];
        for (class, sign) in [(data.class(*i), -1.0), (*other, 1.0)] {
            if class > 0 {
                let base = (class - 1) * (d + 1);
                entries.extend((0..d).map(|j| (base + j, sign * data.row(*i)[j] / scale[j])));
                entries.push((base + d, if intercept { sign } else { 0.0 }));
            }
        }
        rows.push(entries, 0.0);
    }
    for t in 0..constraints.len() {
        rows.push([(vectors + t, 1.0)], 1.0);
        rows.push([(vectors + t, -1.0)], 0.0);
    }
    let cones = [SupportedConeT::NonnegativeConeT(rows.right.len())];
    let objective: Vec<f64> = (0..rows.width).map(|j| if j < vectors { 0.0 } else { -1.0 }).collect();
    let none = CscMatrix::zeros((rows.width, rows.width));
    -rows.minimum(&none, &objective, &cones, settings())
}

/// The least ridge objective of two or more classes: [`least_net_objective`] without a lasso.
///
/// # Panics
/// If the solver fails.
pub fn least_ridge_objective(data: &Data, lambda: f64) -> f64 {
    least_net_objective(data, lambda, 0.0)
}

/// The least mean log-loss `+ ridge/2 ‖w‖² + lasso ‖w‖₁` of two or more classes in the reference form (two classes) or the
/// symmetric form, with a free intercept, rows as they are, weights and (one per vector) offsets of the data.
///
/// `log Σ e^{z_k} − z_y ≤ u` is `Σ q_k ≤ 1`, `(z_k − z_y − u, 1, q_k)` in the exponential cone.
///
/// # Panics
/// If the solver fails.
pub fn least_net_objective(data: &Data, ridge: f64, lasso: f64) -> f64 {
    let (d, classes) = (data.cols, data.labels.n_classes());
    let fixed = usize::from(classes == 2);
    let vectors = (classes - fixed) * (d + 1);
    let used: Vec<usize> = (0..data.rows()).filter(|i| data.weight(*i) > 0.0).collect();
    let total: f64 = used.iter().map(|i| data.weight(*i)).sum();
    // Vectors, then per row: u and q_1 … q_K, then t ≥ |w|.
    let penalised: Vec<usize> = (0..vectors).filter(|j| j % (d + 1) != d).collect();
    let sizes = vectors + used.len() * (1 + classes);
    let mut rows = Rows::new(sizes + penalised.len());
    let mut objective = vec![0.0; rows.width];
    objective[sizes..].fill(lasso);
    for (t, w) in penalised.iter().enumerate() {
        rows.push([(*w, 1.0), (sizes + t, -1.0)], 0.0);
        rows.push([(*w, -1.0), (sizes + t, -1.0)], 0.0);
    }
    for (at, i) in used.iter().enumerate() {
        let u = vectors + at * (1 + classes);
        objective[u] = data.weight(*i) / total;
        // 1 − Σq ≥ 0.
        rows.push((0..classes).map(|k| (u + 1 + k, 1.0)), 1.0);
    }
    for (at, i) in used.iter().enumerate() {
        let u = vectors + at * (1 + classes);
        let offset = |class: usize| match &data.offsets {
            Some((k, o)) if class >= fixed => o[i * k + class - fixed],
            _ => 0.0,
        };
        let score = |class: usize, sign: f64| -> Vec<(usize, f64)> {
            if class < fixed {
                return Vec::new();
            }
            let base = (class - fixed) * (d + 1);
            let x = data.row(*i).iter().copied().chain([1.0]);
            x.enumerate().map(|(j, x)| (base + j, sign * x)).collect()
        };
        let own = data.class(*i);
        for k in 0..classes {
            // Clarabel's cone is {(x, y, z): y e^{x/y} ≤ z}; the slack is right − Ax.
            let mut first = vec![(u, 1.0)];
            if k != own {
                first.extend(score(k, -1.0));
                first.extend(score(own, 1.0));
            }
            rows.push(first, if k == own { 0.0 } else { offset(k) - offset(own) });
            rows.push([], 1.0);
            rows.push([(u + 1 + k, -1.0)], 0.0);
        }
    }
    let mut cones = vec![SupportedConeT::NonnegativeConeT(2 * penalised.len() + used.len())];
    cones.extend((0..used.len() * classes).map(|_| SupportedConeT::ExponentialConeT()));
    let quadratic = CscMatrix::new_from_triplets(
        rows.width,
        rows.width,
        penalised.clone(),
        penalised.clone(),
        vec![ridge; penalised.len()],
    );
    let settings = DefaultSettings { tol_gap_abs: 1e-9, tol_gap_rel: 1e-9, tol_feas: 1e-9, ..settings() };
    rows.minimum(&quadratic, &objective, &cones, settings)
}

/// The least `Σsℓ/Σs + λ/2 ‖w‖²` of a hinge loss, or of its square, rows as they are, with weights and (one per row) offsets.
///
/// # Panics
/// If the solver fails.
pub fn least_margin_objective(data: &Data, lambda: f64, squared: bool, intercept: Intercept) -> f64 {
    let d = data.cols;
    let used: Vec<usize> = (0..data.rows()).filter(|i| data.weight(*i) > 0.0).collect();
    let total: f64 = used.iter().map(|i| data.weight(*i)).sum();
    // w, b, then the slack of every row.
    let mut rows = Rows::new(d + 1 + used.len());
    for (at, i) in used.iter().enumerate() {
        let y = if data.class(*i) == 1 { 1.0 } else { -1.0 };
        let offset = data.offsets.as_ref().map_or(0.0, |(_, o)| o[*i]);
        let mut entries: Vec<(usize, f64)> = data.row(*i).iter().enumerate().map(|(j, x)| (j, -y * x)).collect();
        entries.push((d, if intercept == Intercept::None { 0.0 } else { -y }));
        entries.push((d + 1 + at, -1.0));
        rows.push(entries, y * offset - 1.0);
        rows.push([(d + 1 + at, -1.0)], 0.0);
    }
    let mut linear = vec![0.0; rows.width];
    let mut diagonal: Vec<(usize, f64)> = (0..d).map(|j| (j, lambda)).collect();
    // Without an intercept its variable is fixed by a penalty of its own.
    if intercept != Intercept::Free {
        diagonal.push((d, lambda));
    }
    for (at, i) in used.iter().enumerate() {
        match squared {
            true => diagonal.push((d + 1 + at, 2.0 * data.weight(*i) / total)),
            false => linear[d + 1 + at] = data.weight(*i) / total,
        }
    }
    let (places, values): (Vec<usize>, Vec<f64>) = diagonal.into_iter().unzip();
    let quadratic = CscMatrix::new_from_triplets(rows.width, rows.width, places.clone(), places, values);
    let cones = [SupportedConeT::NonnegativeConeT(rows.right.len())];
    rows.minimum(&quadratic, &linear, &cones, settings())
}

/// The least `Σs max_k(1{k≠y} + z_k − z_y)/Σs + λ/2 ‖W‖²` of several classes, rows as they are, with weights and (one per
/// class) offsets.
///
/// # Panics
/// If the solver fails.
pub fn least_joint_margin_objective(data: &Data, lambda: f64, intercept: Intercept) -> f64 {
    let (d, classes) = (data.cols, data.labels.n_classes());
    let used: Vec<usize> = (0..data.rows()).filter(|i| data.weight(*i) > 0.0).collect();
    let total: f64 = used.iter().map(|i| data.weight(*i)).sum();
    // W and b class by class, then the slack of every row.
    let vectors = classes * (d + 1);
    let mut rows = Rows::new(vectors + used.len());
    for (at, i) in used.iter().enumerate() {
        let own = data.class(*i);
        let offset = |k: usize| data.offsets.as_ref().map_or(0.0, |(_, o)| o[i * classes + k]);
        let score = |k: usize, sign: f64| {
            let constant = if intercept == Intercept::None { 0.0 } else { 1.0 };
            let x = data.row(*i).iter().copied().chain([constant]);
            x.enumerate().map(move |(j, x)| (k * (d + 1) + j, sign * x)).collect::<Vec<(usize, f64)>>()
        };
        for k in (0..classes).filter(|k| *k != own) {
            let mut entries = score(k, 1.0);
            entries.extend(score(own, -1.0));
            entries.push((vectors + at, -1.0));
            rows.push(entries, offset(own) - offset(k) - 1.0);
        }
        rows.push([(vectors + at, -1.0)], 0.0);
    }
    let mut linear = vec![0.0; rows.width];
    used.iter().enumerate().for_each(|(at, i)| linear[vectors + at] = data.weight(*i) / total);
    // Without an intercept its variable is fixed by a penalty of its own.
    let penalised = |j: &usize| j % (d + 1) != d || intercept != Intercept::Free;
    let places: Vec<usize> = (0..vectors).filter(penalised).collect();
    let values = vec![lambda; places.len()];
    let quadratic = CscMatrix::new_from_triplets(rows.width, rows.width, places.clone(), places, values);
    let cones = [SupportedConeT::NonnegativeConeT(rows.right.len())];
    rows.minimum(&quadratic, &linear, &cones, settings())
}

/// The least `½‖w‖²` subject to `y(w·x + w₀) ≥ 1` for the rows of positive weight.
///
/// # Panics
/// If the solver fails: the rows must be separable.
pub fn least_hard_margin(data: &Data) -> f64 {
    let d = data.cols;
    let mut rows = Rows::new(d + 1);
    for i in (0..data.rows()).filter(|i| data.weight(*i) > 0.0) {
        let y = if data.class(i) == 1 { 1.0 } else { -1.0 };
        let entries = data.row(i).iter().copied().chain([1.0]).enumerate().map(|(j, x)| (j, -y * x));
        rows.push(entries.collect::<Vec<_>>(), -1.0);
    }
    let places: Vec<usize> = (0..d).collect();
    let quadratic = CscMatrix::new_from_triplets(d + 1, d + 1, places.clone(), places, vec![1.0; d]);
    let cones = [SupportedConeT::NonnegativeConeT(rows.right.len())];
    let linear = vec![0.0; d + 1];
    rows.minimum(&quadratic, &linear, &cones, settings())
}
