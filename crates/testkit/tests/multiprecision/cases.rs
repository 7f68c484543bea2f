//! Hostile problems, each from its own seed.

use linsep::design::Standardize;
use linsep::model::{Algorithm, LossChoice, PenaltyChoice, RiskMinimizer};
use linsep::objective::{Intercept, SoftmaxForm};
use testkit::data::{Data, Source, labels};

/// What is hostile about the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Columns {
    /// Nothing.
    Plain,
    /// Scales from 1e-150 to 1e150.
    Scaled,
    /// Shifts up to 1e14.
    Shifted,
    /// A column within 2^-k of another.
    Collinear,
    /// A plane separates all rows, or all but one.
    NearlySeparable,
    /// Small whole numbers, with ties and zeros.
    Whole,
    /// A constant column and a copy of another.
    Dependent,
}

pub const COLUMNS: [Columns; 7] = [
    Columns::Plain,
    Columns::Scaled,
    Columns::Shifted,
    Columns::Collinear,
    Columns::NearlySeparable,
    Columns::Whole,
    Columns::Dependent,
];

/// A problem and how it is to be solved.
#[derive(Debug, Clone)]
pub struct Case {
    /// What is hostile about the columns.
    pub columns: Columns,
    /// The rows.
    pub data: Data,
    /// The method.
    pub method: RiskMinimizer,
    /// Whether the rows are handed over as sparse.
    pub sparse: bool,
}

impl Case {
    /// The line of the table that the case belongs to.
    pub fn family(&self) -> String {
        let loss = match (self.method.loss, self.data.labels.n_classes()) {
            (LossChoice::Logistic, 2) => "logistic",
            (LossChoice::Logistic, _) => "softmax",
            (LossChoice::Hinge, 2) => "hinge",
            (LossChoice::Hinge, _) => "Crammer–Singer",
            (LossChoice::SquaredHinge, _) => "squared hinge",
            (LossChoice::Squared, _) => "squared",
        };
        let free = self.method.factors.contains(&0.0);
        let penalty = match self.method.penalty {
            PenaltyChoice::None => "none",
            PenaltyChoice::ElasticNet { l1_ratio: 1.0, .. } if free => "lasso, free columns",
            PenaltyChoice::ElasticNet { l1_ratio: 1.0, .. } => "lasso",
            PenaltyChoice::ElasticNet { .. } if free => "elastic net, free columns",
            PenaltyChoice::ElasticNet { .. } => "elastic net",
            _ if free => "ridge, free columns",
            _ => "ridge",
        };
        format!("{loss}, {penalty}")
    }
}

const LOSSES: [LossChoice; 4] =
    [LossChoice::Logistic, LossChoice::Squared, LossChoice::SquaredHinge, LossChoice::Hinge];

/// The case of a seed; the first of everything is the commonest.
pub fn hostile(seed: u64) -> Case {
    let mut source = Source::new(seed ^ 0x7717);
    let loss = LOSSES[source.below(4)];
    let several = loss != LossChoice::SquaredHinge && source.chance(0.3);
    let classes = if several { 3 + source.below(2) } else { 2 };
    let columns = COLUMNS[source.below(COLUMNS.len())];
    let limit = if several { 3 } else { 5 };
    let (rows, cols) = (4 + classes + source.below(if several { 14 } else { 30 }), 1 + source.below(limit));
    let mut data = rows_of(columns, rows, cols, classes, &mut source);
    let cols = data.cols;
    if source.chance(0.35) {
        data = weighted(data, &mut source);
    }
    if source.chance(0.3) {
        let count = if classes == 2 { 1 } else { classes };
        let size = 10f64.powi([0, 0, 1, 3, 6, 10, 14][source.below(7)]);
        let common = if source.chance(0.5) { size } else { 0.0 };
        let spread = if source.chance(0.5) { 1.0 } else { size };
        let offsets = (0..data.rows() * count).map(|_| common + spread * source.normal()).collect();
        data = data.offset(count, offsets);
    }
    let sparse = source.chance(0.2);
    let method = method_of(loss, cols, (several, sparse), &mut source);
    Case { columns, data, method, sparse }
}

fn method_of(
    loss: LossChoice,
    cols: usize,
    (several, sparse_rows): (bool, bool),
    source: &mut Source,
) -> RiskMinimizer {
    let lambda = 10f64.powf(source.uniform(-9.0, 1.0));
    let l1_ratio = if source.chance(0.5) { 1.0 } else { source.uniform(0.05, 0.95) };
    let sparse = PenaltyChoice::ElasticNet { l1_ratio, lambda: Some(lambda * 0.1), cost: None };
    let penalty = match (loss, source.below(10)) {
        (_, 0) => PenaltyChoice::RidgeOne,
        (LossChoice::Hinge, _) | (_, 1..=4) => PenaltyChoice::Ridge(lambda),
        (LossChoice::SquaredHinge, _) | (_, 5..=7) => sparse,
        _ => PenaltyChoice::None,
    };
    let unpenalised = penalty == PenaltyChoice::None;
    let mut factors = Vec::new();
    if !unpenalised && source.chance(0.3) {
        let zeros = loss != LossChoice::Hinge && source.chance(0.5);
        factors = (0..cols)
            .map(|_| if zeros && source.chance(0.4) { 0.0 } else { 10f64.powf(source.uniform(-3.0, 2.0)) })
            .collect();
    }
    let intercept = match source.below(6) {
        0 => Intercept::None,
        1 if !unpenalised => Intercept::Penalised,
        _ => Intercept::Free,
    };
    let mut method = RiskMinimizer {
        loss,
        penalty,
        factors,
        intercept,
        form: if source.chance(0.5) { SoftmaxForm::Symmetric } else { SoftmaxForm::Reference },
        standardize: if source.chance(0.6) { Standardize::Yes } else { Standardize::No },
        tolerance: 10f64.powf(source.uniform(-12.0, -1.0)),
        ..RiskMinimizer::default()
    };
    if source.chance(0.15) {
        method.max_iterations = Some(1 + source.below(3));
    }
    if source.chance(0.5) {
        // Some solvers are for two classes, for sparse rows, or for penalties on every column.
        let suits = |a: &&Algorithm| match a {
            Algorithm::InteriorPoint => !several,
            Algorithm::RowNewton => !several && sparse_rows,
            Algorithm::DualCd => !method.factors.contains(&0.0),
            _ => true,
        };
        let able: Vec<Algorithm> = method.solvers().iter().filter(suits).copied().collect();
        let chosen = able[source.below(able.len())];
        method.algorithm = chosen;
        // First-order methods on hostile columns would take all the time there is.
        let slow =
            [Algorithm::GradientDescent, Algorithm::FixedStep, Algorithm::Svrg, Algorithm::Sgd, Algorithm::DualCd];
        if slow.contains(&chosen) {
            method.max_iterations = Some(1 + source.below(200));
        }
    }
    method
}

/// Weights with zeros and, half of the time, sixteen orders of magnitude; every class keeps a row.
fn weighted(data: Data, source: &mut Source) -> Data {
    let classes = data.labels.n_classes();
    let wild = source.chance(0.5);
    let weights = (0..data.rows())
        .map(|i| match i >= classes && source.chance(0.15) {
            true => 0.0,
            false if wild => 10f64.powf(source.uniform(-8.0, 8.0)),
            false => source.uniform(0.1, 3.0),
        })
        .collect();
    data.weighted(weights)
}

/// Rows whose first ones are of all classes.
fn rows_of(columns: Columns, rows: usize, cols: usize, classes: usize, source: &mut Source) -> Data {
    let whole = columns == Columns::Whole;
    let mut values = vec![0.0; rows * cols];
    for v in &mut values {
        *v = if whole { source.below(5) as f64 - 2.0 } else { source.normal() };
    }
    // Scores of a random machine, with noise that the nearly separable do not have.
    let noise = if columns == Columns::NearlySeparable { 0.0 } else { source.uniform(0.2, 2.0) };
    let plane: Vec<Vec<f64>> = (0..classes).map(|_| source.normals(cols + 1)).collect();
    let mut codes: Vec<usize> = (0..rows)
        .map(|i| {
            let x = &values[i * cols..(i + 1) * cols];
            let mut score =
                |w: &[f64]| w[cols] + noise * source.normal() + x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
            let scores: Vec<f64> = plane.iter().map(|w| score(w)).collect();
            (1..classes).fold(0, |best, k| if scores[k] > scores[best] { k } else { best })
        })
        .collect();
    if columns != Columns::NearlySeparable || (0..classes).any(|k| !codes.contains(&k)) || source.chance(0.5) {
        (0..classes).for_each(|k| codes[k] = k);
    }
    let data = Data::new(values, cols, labels(codes, classes));
    match columns {
        Columns::Plain | Columns::NearlySeparable | Columns::Whole => data,
        Columns::Scaled => {
            let limit = if source.chance(0.5) { 150.0 } else { 20.0 };
            let scales: Vec<f64> = (0..cols).map(|_| 10f64.powf(source.uniform(-limit, limit))).collect();
            data.map(|j, v| v * scales[j])
        }
        Columns::Shifted => {
            let shifts: Vec<f64> = (0..cols).map(|_| 10f64.powf(source.uniform(2.0, 14.0))).collect();
            data.map(|j, v| v + shifts[j])
        }
        Columns::Collinear => {
            let size = 2f64.powi(-(source.below(50) as i32));
            let by_class = source.chance(0.5);
            let noise: Vec<f64> = (0..rows)
                .map(|i| match by_class {
                    // The difference tells the classes apart.
                    true => [-1.0, 1.0][usize::from(data.class(i) > 0)] * source.uniform(0.5, 1.5),
                    false => source.normal(),
                })
                .collect();
            data.with_column(|i, x| x[0] + size * noise[i])
        }
        Columns::Dependent => {
            let constant = 10f64.powf(source.uniform(-3.0, 8.0));
            data.with_column(|_, x| x[0]).with_column(|_, _| constant)
        }
    }
}
