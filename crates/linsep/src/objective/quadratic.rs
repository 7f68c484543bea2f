//! A quadratic objective by its statistics: what squared loss with a ridge comes to.

use crate::linalg::Square;

/// `F(v₁…v_T) = constant + Σ_t [½ v_tᵀHv_t − g_t·v_t]`: one Hessian, one linear term per score.
#[derive(Debug, Clone, PartialEq)]
pub struct QuadraticObjective {
    /// H, positive semidefinite.
    pub hessian: Square,
    /// `g_t`, one per score.
    pub linear: Vec<Vec<f64>>,
}

impl QuadraticObjective {
    /// `H v − g_t`.
    pub fn gradient(&self, score: usize, v: &[f64]) -> Vec<f64> {
        self.hessian.multiply(v).iter().zip(&self.linear[score]).map(|(hv, g)| hv - g).collect()
    }

    /// The same problem in units in which every column of H has diagonal one, with what a solution is divided by to get
    /// there; columns without content keep their unit.
    pub fn unit_diagonal(&self) -> (QuadraticObjective, Vec<f64>) {
        let unit = |d: f64| if d > 0.0 { d.sqrt().recip() } else { 1.0 };
        let units: Vec<f64> = self.hessian.diagonal().into_iter().map(unit).collect();
        let hessian = Square::from_lower(self.hessian.n(), |i, j| self.hessian.get(i, j) * units[i] * units[j]);
        let linear = self.linear.iter().map(|g| g.iter().zip(&units).map(|(g, u)| g * u).collect()).collect();
        (QuadraticObjective { hessian, linear }, units)
    }
}
