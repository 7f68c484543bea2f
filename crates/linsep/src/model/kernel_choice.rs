//! The kernel as a user asks for it, and the kernel that it becomes on some rows.

use crate::design::Training;
use crate::design::{ColumnSummary, Standardize, Units, summarise};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, KernelRows, StoredRows};
use crate::watch::Watch;
use crate::words::{Span, words};
use serde::{Deserialize, Serialize};

/// Entries of a precomputed table and of its transpose may differ by this share of the largest: sums in another order
/// differ by less, and the certificate counts the asymmetry as an error.
const ASYMMETRY: f64 = 1e-10;

/// A kernel whose γ may be left to the data: `1/(columns · variance of all entries)`, as scikit-learn's `scale`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "lowercase")]
#[non_exhaustive]
pub enum KernelChoice {
    /// `x·y`.
    Linear,
    /// `(γ x·y + c)^q`.
    Polynomial {
        /// γ.
        gamma: Option<f64>,
        /// c.
        coef0: f64,
        /// q.
        degree: u32,
    },
    /// `exp(−γ‖x−y‖²)`.
    Rbf {
        /// γ.
        gamma: Option<f64>,
    },
    /// `tanh(γ x·y + c)`.
    Sigmoid {
        /// γ.
        gamma: Option<f64>,
        /// c.
        coef0: f64,
    },
    /// Column j is the kernel value with training row j.
    Precomputed,
}

impl Default for KernelChoice {
    fn default() -> KernelChoice {
        KernelChoice::Rbf { gamma: None }
    }
}

impl KernelChoice {
    /// γ as it was given.
    pub fn gamma(&self) -> Option<f64> {
        match self {
            KernelChoice::Linear | KernelChoice::Precomputed => None,
            KernelChoice::Polynomial { gamma, .. }
            | KernelChoice::Rbf { gamma }
            | KernelChoice::Sigmoid { gamma, .. } => *gamma,
        }
    }

    /// Whether γ is left to the data.
    pub fn learns_gamma(&self) -> bool {
        self.gamma().is_none() && !matches!(self, KernelChoice::Linear | KernelChoice::Precomputed)
    }

    /// The kernel with this γ where none was given.
    pub fn with_gamma(&self, default: f64) -> Result<Kernel> {
        let kernel = match *self {
            KernelChoice::Linear => Kernel::Linear,
            KernelChoice::Polynomial { gamma, coef0, degree } => {
                Kernel::Polynomial { gamma: gamma.unwrap_or(default), coef0, degree }
            }
            KernelChoice::Rbf { gamma } => Kernel::Rbf { gamma: gamma.unwrap_or(default) },
            KernelChoice::Sigmoid { gamma, coef0 } => Kernel::Sigmoid { gamma: gamma.unwrap_or(default), coef0 },
            KernelChoice::Precomputed => Kernel::Precomputed,
        };
        kernel.check()?;
        Ok(kernel)
    }

    /// Parameters that make sense, as far as they are given.
    pub fn check(&self) -> Result<()> {
        self.with_gamma(1.0).map(|_| ())
    }
}

/// A kernel and what it looks at.
pub(super) struct PreparedKernel {
    pub(super) kernel: Kernel,
    pub(super) units: Units,
    pub(super) rows: KernelRows,
}

impl PreparedKernel {
    /// Units, γ and rows for a fit. `centred` says that a common shift of all rows changes nothing.
    pub(super) fn new(
        choice: &KernelChoice,
        standardize: Standardize,
        centred: bool,
        training: &Training<'_>,
        watch: &Watch,
    ) -> Result<PreparedKernel> {
        choice.check()?;
        if *choice == KernelChoice::Precomputed {
            let rows = KernelRows::table(training.design, watch)?;
            check_table(&rows)?;
            return Ok(PreparedKernel { kernel: Kernel::Precomputed, units: Units::identity(rows.cols()), rows });
        }
        let (kernel, units) = learn(choice, standardize, centred, training, watch)?;
        let rows = KernelRows::new(training.design, &units, watch)?;
        Ok(PreparedKernel { kernel, units, rows })
    }
}

/// Units and kernel as the rows determine them.
pub(super) fn learn(
    choice: &KernelChoice,
    standardize: Standardize,
    centred: bool,
    training: &Training<'_>,
    watch: &Watch,
) -> Result<(Kernel, Units)> {
    let own;
    let summary = match training.columns {
        Some(columns) => columns,
        None => {
            own = summarise(training.design, training.weights, watch)?;
            &own
        }
    };
    let kernel = choice.with_gamma(default_gamma(summary, standardize))?;
    let units = match standardize {
        // Centring changes nothing for these kernels and saves digits where columns are far from zero.
        Standardize::No if !(kernel.is_shift_invariant() || centred) => Units::identity(summary.mean.len()),
        _ => summary.units(standardize),
    };
    Ok((kernel, units))
}

/// `1/(columns · variance of all entries)`; 1 where nothing varies.
fn default_gamma(summary: &ColumnSummary, standardize: Standardize) -> f64 {
    let d = summary.mean.len().max(1) as f64;
    let variance = match standardize {
        Standardize::Yes => {
            let varying = (0..summary.mean.len()).filter(|j| summary.min[*j] < summary.max[*j]).count();
            varying as f64 / d
        }
        Standardize::No => {
            let mean = summary.mean.iter().sum::<f64>() / d;
            let within = summary.variance.iter().sum::<f64>() / d;
            within + summary.mean.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / d
        }
    };
    if variance > 0.0 { (d * variance).recip() } else { 1.0 }
}

pub(super) fn not_square(rows: usize, cols: usize) -> Error {
    Error::data(format!("a precomputed kernel of {rows} rows has {cols} columns: it is not square"))
        .help("column j of row i is K(row i, row j), for all training rows in their order and no others")
}

/// A table of kernel values is square and symmetric.
fn check_table(rows: &KernelRows) -> Result<()> {
    let (n, cols) = (rows.len(), rows.cols());
    if n != cols {
        return Err(not_square(n, cols));
    }
    let value = |i: usize, j: usize| rows.entry(i, j);
    let largest = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| value(i, j).abs()).fold(0.0, f64::max);
    for i in 0..n {
        for j in 0..i {
            if !value(i, j).is_finite() || (value(i, j) - value(j, i)).abs() > ASYMMETRY * largest {
                return Err(Error::data(words![
                    "the precomputed kernel is not symmetric: ",
                    Span::Row(j),
                    format!(" has {} in ", value(j, i)),
                    Span::Column(i),
                    ", and ",
                    Span::Row(i),
                    format!(" has {} in ", value(i, j)),
                    Span::Column(j),
                ])
                .help("K(x, y) = K(y, x): check the order of rows and columns"));
            }
        }
    }
    Ok(())
}

/// The support rows of some multipliers, as they are in the design.
pub(super) fn support(training: &Training<'_>, kernel: &Kernel, ids: &[usize]) -> Result<StoredRows> {
    let cols = training.design.shape().cols;
    let sparse = crate::design::is_sparse(training.design);
    let mut stored = if sparse { StoredRows::sparse(cols) } else { StoredRows::dense(cols) };
    if *kernel == Kernel::Precomputed {
        return Ok(StoredRows::dense(cols));
    }
    let mut tile = crate::design::Tile::default();
    for i in ids {
        let row = crate::discriminant::stored_block(training.design.block(*i..*i + 1, &mut tile)?);
        stored.push_from(&row, 0);
    }
    Ok(stored)
}
