//! Proofs of what was found, computed from the objective and the data by code that does not know the solver.

mod balance;
mod closed_form;
mod cone;
mod dual_bound;
mod exact;
mod fenchel;
mod free_columns;
mod gap;
mod hulls;
mod independent;
mod joint_multipliers;
mod kernel_gap;
mod kernel_margin;
mod lasso;
mod local;
mod margin;
mod multipliers;
mod orthonormal;
mod quadratic;
mod self_concordance;
mod squares;
mod verified;
mod widest;
mod witness;

pub(crate) use balance::prove_balance;
pub(crate) use closed_form::linear_system_residual;
pub(crate) use cone::{check_cone_direction, cone_gram, cone_residual, cone_slacks, cone_values, others};
pub(crate) use exact::{
    Dyadic, DyadicVectors, ExactPlane, ListedVectors, MendedDirection, Relations, WholeCombination, WholeCone,
    WholeDirection, WholeRows, combined_numbers, cost_of_change, cost_of_product, exact_direction, exactly_balanced,
    exactly_separates, independent_columns, least_score, likely_basis, vectors_alone,
};
pub(crate) use fenchel::{PartlyMinimised, proved_gap_beside_free_columns};
pub(crate) use hulls::{HullPoints, Sides, length};
pub(crate) use independent::independent_coefficients;
pub(crate) use joint_multipliers::{feasible_joint_multipliers, joint_multiplier_gap};
pub(crate) use kernel_gap::kernel_violation;
pub(crate) use lasso::is_worth_curvature;
pub(crate) use local::{LOCAL_ROUNDING, LocalCurvature, is_local_minimum, local_minimum};
pub(crate) use multipliers::feasible_multipliers;
pub(crate) use quadratic::quadratic_gap;
pub(crate) use self_concordance::bound_in_columns;
pub(crate) use squares::{SquaredPoint, SquaredProof, SquaredTask, Whitening, squares_gap};
pub(crate) use witness::slacks;
pub use witness::{Separation, SeparationKind};

// For the other stages, the command, the extension and the tests: nothing is promised about these.
#[doc(hidden)]
pub use self::{
    closed_form::linear_system_errors,
    exact::{Effort, exact_weights, exactly_dependent},
    fenchel::{
        Enclosed, GapRows, ImbalanceSums, ScoredRows, SizedSums, SlopeSums, TermSums, ThetaSums, proved_gap,
        proved_gap_of_multipliers,
    },
    gap::duality_gap,
    hulls::{hull_points, sides},
    independent::Independent,
    kernel_gap::{KernelDualPoint, KernelPoint, KernelTask, kernel_gap},
    kernel_margin::{kernel_margin, kernel_margin_at_most},
    lasso::proved_lasso,
    local::{LocalScale, exact_hessian, gauss_newton_hessian},
    margin::{Margins, margins},
    multipliers::multiplier_gap,
    orthonormal::{OrthonormalBasis, RowTriangle},
    self_concordance::{
        BallBound, CurvatureRows, FrameSums, HessianSum, LossSum, ScoresWithErrors, SelfConcordance, StoredScores,
        WhitenedFrame, curvature_ball_bound, self_concordance_bound,
    },
    widest::widest_margin,
    witness::check_direction,
};

pub use crate::objective::Coef;
use crate::role::{Role, Roles};
use serde::{Deserialize, Serialize};

/// Proved bounds on `|coefficient − optimum's|`, in the units of the data's columns and in the order of the discriminant:
/// all weights of the first score, then of the second; the intercepts are those at the centre that the model stores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CoefficientErrors {
    /// Of the weights.
    pub weights: Vec<f64>,
    /// Of the intercepts.
    pub intercept: Vec<f64>,
}

/// A bound on how far a fit is from the optimum, or the equation a closed form satisfies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Certificate {
    /// `F − F* ≤ gap = F − D` at a feasible point of the dual problem.
    DualityGap {
        /// F at the solution.
        objective: f64,
        /// D, a lower bound on F*.
        dual: f64,
        /// `F − D`, rounding allowed for.
        gap: f64,
        /// Gap over `max(|F|, F at zero weights)`.
        relative_gap: f64,
        /// `‖w − ŵ‖ ≤ √(2 gap/λ)`, in the units of the penalty.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        weight_distance: Option<f64>,
        /// How far every intercept, at the centre that the model stores, may be from an optimum's.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        intercept_distance: Option<f64>,
        /// What was added to the diagonal of a precomputed kernel: the bound is of the problem with that kernel.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        ridge_added: Option<f64>,
        /// Of a lasso: how far each coefficient may be from the optimum's, where that is proved.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        errors: Option<CoefficientErrors>,
    },
    /// `F − F* ≤ [ρν + (1−ρν) ln(1−ρν)]/ρ²` with `ν = ‖∇F‖_{H⁻¹}`, `ρ = max ‖x̃‖_{H⁻¹}`; `ρν < 1` also proves that the
    /// optimum exists and is unique (in the columns that are not aliased).
    SelfConcordance {
        /// F at the solution.
        objective: f64,
        /// ν, rounding allowed for.
        decrement: f64,
        /// ρ.
        radius: f64,
        /// The bound.
        gap: f64,
        /// The bound over `max(|F|, F at zero weights)`.
        relative_gap: f64,
        /// How far F may be from its computed value, where the weights are large and their scores small.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        objective_error: Option<f64>,
        /// How far each coefficient may be from the optimum's, where that is proved.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        errors: Option<CoefficientErrors>,
    },
    /// `F − F* ≤ ν²/2μ` with `ν = ‖∇F‖_{H⁻¹}` and `∇²F ⪰ μH` for all coefficients within r in the norm of `H = ∇²F`; `ν < μr` also
    /// proves that the optimum exists and is unique (in the columns that are not aliased).
    CurvatureBall {
        /// F at the solution.
        objective: f64,
        /// ν, rounding allowed for.
        decrement: f64,
        /// r.
        radius: f64,
        /// μ.
        curvature: f64,
        /// The bound.
        gap: f64,
        /// The bound over `max(|F|, F at zero weights)`.
        relative_gap: f64,
        /// How far F may be from its computed value.
        objective_error: f64,
        /// How far each coefficient may be from the optimum's, where that is proved.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        errors: Option<CoefficientErrors>,
    },
    /// A quadratic objective: `F − F* = ½ Σ rᵀH⁻¹r` with the gradients r (in the columns that are not aliased).
    Quadratic {
        /// F at the solution.
        objective: f64,
        /// `F − F*`, rounding allowed for.
        gap: f64,
        /// Gap over `max(|F|, F at zero weights)`.
        relative_gap: f64,
        /// How far each coefficient may be from the optimum's, where that is proved.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        errors: Option<CoefficientErrors>,
    },
    /// A closed form: the relative residual of its defining equations.
    ClosedForm {
        /// Which equations.
        equations: String,
        /// `‖A x − b‖ / (‖A‖‖x‖ + ‖b‖)`.
        relative_residual: f64,
        /// How far each coefficient may be from the exact solution for the rows, where that is proved.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        errors: Option<CoefficientErrors>,
    },
    /// A plane θ that separates the rows, `y θ·x̃ ≥ γ > 0`: no perceptron makes more than `R²‖θ‖²/γ²` mistakes on them, nor
    /// more than that of any other plane that separates them.
    Separates {
        /// γ, rounding allowed for.
        margin: f64,
        /// ‖θ‖, the intercept among its entries.
        norm: f64,
        /// R, the largest ‖x̃‖ in the units of the fit.
        radius: f64,
        /// `R²‖θ‖²/γ²`, of the plane with the wider margin where one is known.
        bound: f64,
        /// The largest `min y θ'·x̃ / ‖θ'‖` that was found for a plane θ' of the same rows, rounding allowed for; absent
        /// where no plane wider than θ was looked for or found.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        widest: Option<f64>,
        /// Mistakes made on the way to θ; unknown where only θ is given.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        mistakes: Option<usize>,
    },
    /// A plane at least `margin` from every row, and two points of the hulls of the classes `hull_distance` apart: no plane
    /// has a margin above half of that.
    Margin {
        /// γ, rounding allowed for.
        margin: f64,
        /// `‖x* − y*‖`, rounding allowed for.
        hull_distance: f64,
        /// `1 − 2γ/‖x* − y*‖`.
        relative_gap: f64,
    },
    /// Nothing but a count: the rows not strictly on their side. Fewer may be possible.
    Errors {
        /// Their weight.
        errors: f64,
        /// Σs.
        total: f64,
    },
    /// A risk that is not convex: gradient and smallest eigenvalue of the Hessian in the scales of [`LocalScale`]. A small
    /// gradient and an eigenvalue that is not negative make a local minimum; there may be a lower one.
    Local {
        /// Size of the gradient.
        gradient: f64,
        /// Of the scaled Hessian.
        smallest_eigenvalue: f64,
    },
    /// A dual problem that is not known to be convex, because the kernel is not known to be positive semidefinite: by how
    /// much the multipliers violate the KKT conditions. There may be a better stationary point.
    Stationary {
        /// In units of the scores.
        violation: f64,
    },
    /// No bound could be established.
    Absent {
        /// Why.
        reason: String,
    },
}

impl Certificate {
    /// Every number of a proof is computed again.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::All(Role::Claim);

    /// The relative bound, where there is one.
    pub fn relative_gap(&self) -> Option<f64> {
        match self {
            Certificate::DualityGap { relative_gap, .. }
            | Certificate::SelfConcordance { relative_gap, .. }
            | Certificate::CurvatureBall { relative_gap, .. }
            | Certificate::Quadratic { relative_gap, .. }
            | Certificate::Margin { relative_gap, .. } => Some(*relative_gap),
            _ => None,
        }
    }

    /// How far each coefficient may be from the optimum's, where that is proved.
    pub fn errors(&self) -> Option<&CoefficientErrors> {
        match self {
            Certificate::DualityGap { errors, .. }
            | Certificate::SelfConcordance { errors, .. }
            | Certificate::CurvatureBall { errors, .. }
            | Certificate::Quadratic { errors, .. }
            | Certificate::ClosedForm { errors, .. } => errors.as_ref(),
            _ => None,
        }
    }

    /// Whether its bound is within a tolerance; without a proof it is not. `None` for proofs without a tolerance.
    pub fn meets(&self, tolerance: f64) -> Option<bool> {
        match self {
            Certificate::Stationary { violation } => Some(*violation <= tolerance),
            Certificate::Absent { .. } => Some(false),
            bound => bound.relative_gap().map(|gap| gap <= tolerance),
        }
    }

    /// The absolute bound on `F − F*`, where there is one.
    pub fn gap(&self) -> Option<f64> {
        match self {
            Certificate::DualityGap { gap, .. }
            | Certificate::SelfConcordance { gap, .. }
            | Certificate::CurvatureBall { gap, .. }
            | Certificate::Quadratic { gap, .. } => Some(*gap),
            _ => None,
        }
    }
}

/// Allowance for the rounding error of a difference of two objectives of about this size.
fn rounding_allowance(a: f64, b: f64) -> f64 {
    16.0 * f64::EPSILON * (a.abs() + b.abs())
}
