//! What the line searches share.

/// Armijo's condition: a step must lower the objective by this share of what its slope predicts. The usual constant
/// (Nocedal and Wright 2006, section 3.1); for Newton directions anything below ½ keeps quadratic convergence.
pub(crate) const DECREASE: f64 = 1e-4;
/// Share of the step `ln(1+r)/r`, which an exact Hessian allows, below which no step is tried: 20 halvings.
pub(crate) const SHORTEST_STEP: f64 = 1e-6;
