//! `ℓ(y, z) = −log P(y | z)` for probabilities that are another monotone function of the score than the logistic one.
//!
//! With m = yz for the links that are symmetric: probit `Φ(m)`, cauchit `½ + atan(m)/π`; complementary log-log
//! `1 − exp(−e^z)` for the second class. `tanh` as an output is `2σ(2z) − 1`: the logistic function again.
//!
//! - probit: `ℓ″ = h(h−x)` with the hazard h of the normal at x = −m. h is convex (Sampford 1953), so ℓ″ falls in m.
//! - cloglog, u = e^z: `ℓ″ = u` for the first class, `u(ue^u − e^u + 1)/(e^u − 1)²` for the second, whose logarithm is concave in z:
//!   its slope is `1 + A − 2B`, `A = u²/(u−1+e⁻ᵘ)`, `B = u/(1−e⁻ᵘ)`, where A′ < 1 (that is `2 sinh(u/2) > u`) and B′ ≥ ½;
//!   and between −u and 1, as `B ≤ A` and `B ≤ 1 + u`.
//! - cauchit is not convex: `−log P` grows like `log |m|` on the wrong side.

use super::{CurvedLoss, DescentLoss, Loss, sign};
use crate::numeric::{logistic_terms, normal_quantile, normal_tail};
use crate::table::Class;
use serde::{Deserialize, Serialize};
use std::f64::consts::{FRAC_1_PI, PI};

/// How a score becomes a probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Link {
    /// `Φ(z)`, the distribution function of the standard normal.
    Probit,
    /// `1 − exp(−e^z)`, the complementary log-log.
    Cloglog,
    /// `½ + atan(z)/π`, the distribution function of Cauchy.
    Cauchit,
}

/// The loss of a link.
#[derive(Debug, Clone, Copy)]
pub struct LinkLoss {
    /// The link.
    pub link: Link,
    /// Whether the curvature is the expected one (Fisher scoring), which is never negative.
    pub expected: bool,
}

/// ℓ, ℓ′ and ℓ″ by the score.
#[derive(Debug, Clone, Copy)]
struct LinkTerms {
    loss: f64,
    slope: f64,
    curvature: f64,
}

/// Below this `u = e^z` is so small that `1 − e⁻ᵘ` is u to half its last digit, less u²/2.
const TINY: f64 = 1e-8;
/// Below this the series of [`series`] is used, above it the closed form cancels by less than a factor of five.
const SERIES: f64 = 0.5;
/// Beyond this `e^u` overflows.
const LARGEST: f64 = 700.0;
/// Squares of larger numbers overflow.
const SQUARE: f64 = 1e150;
/// Curvatures below this are lost beside any other; products with them would underflow.
const NEGLIGIBLE: f64 = 1e-280;
/// Relative error of slopes and curvatures, for scores that are exact: far more than those of the functions that they are made of,
/// which are a few 1e-15 (compared with 400 bits in `crates/testkit/tests/links.rs`).
pub const LINK_ERROR: f64 = 1e-12;

impl Link {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Link::Probit => "probit",
            Link::Cloglog => "cloglog",
            Link::Cauchit => "cauchit",
        }
    }

    /// Whether the loss is convex, so that a minimum is the least.
    pub fn is_convex(self) -> bool {
        self != Link::Cauchit
    }

    /// The log-odds of the second class.
    ///
    /// ```
    /// use linsep::objective::Link;
    /// let p = |link: Link, z: f64| linsep::numeric::logistic(link.log_odds(z));
    /// assert!((p(Link::Probit, 1.96) - 0.975).abs() < 1e-5);
    /// assert!((p(Link::Cloglog, 0.0) - (1.0 - (-1f64).exp())).abs() < 1e-15);
    /// assert!((p(Link::Cauchit, 1.0) - 0.75).abs() < 1e-15);
    /// ```
    pub fn log_odds(self, z: f64) -> f64 {
        self.terms(Class(0), z).loss - self.terms(Class(1), z).loss
    }

    /// The score with these log-odds.
    pub fn score_at(self, log_odds: f64) -> f64 {
        let terms = logistic_terms(log_odds);
        match self {
            // By the smaller tail, which has its digits.
            Link::Probit if terms.p <= 0.5 => normal_quantile(terms.p),
            Link::Probit => -normal_quantile(terms.q),
            // −log(1−p) = softplus(log-odds).
            Link::Cloglog => terms.softplus.ln(),
            Link::Cauchit if terms.p <= 0.5 => -(PI * terms.p).tan().recip(),
            Link::Cauchit => (PI * terms.q).tan().recip(),
        }
    }

    fn terms(self, class: Class, z: f64) -> LinkTerms {
        match self {
            Link::Probit => {
                let y = sign(class);
                let tail = normal_tail(-y * z);
                LinkTerms { loss: -tail.ln, slope: -y * tail.hazard, curvature: tail.hazard * tail.excess }
            }
            Link::Cloglog if class.0 == 0 => {
                let u = z.exp();
                LinkTerms { loss: u, slope: u, curvature: u }
            }
            Link::Cloglog => cloglog_second(z),
            Link::Cauchit => cauchit(sign(class), z),
        }
    }
}

/// Of the second class, `−log(1 − e⁻ᵘ)`.
fn cloglog_second(z: f64) -> LinkTerms {
    let u = z.exp();
    if u < TINY {
        return LinkTerms { loss: 0.5 * u - z, slope: 0.5 * u - 1.0, curvature: 0.5 * u * (1.0 - u / 3.0) };
    }
    if u > LARGEST {
        return LinkTerms { loss: 0.0, slope: 0.0, curvature: 0.0 };
    }
    let (e, growth) = ((-u).exp(), u.exp_m1());
    let rest = -(-u).exp_m1();
    let loss = if e < 0.5 { -(-e).ln_1p() } else { -rest.ln() };
    let curvature = match u < SERIES {
        true => u * series(u) / (growth * growth),
        false => u * (u - 1.0 + e) * e / (rest * rest),
    };
    LinkTerms { loss, slope: -u / growth, curvature }
}

/// `ue^u − e^u + 1 = Σ (k−1)u^k/k!` for 0 ≤ u < ½: after twenty terms nothing is left.
fn series(u: f64) -> f64 {
    let (mut power, mut sum) = (u, 0.0);
    for k in 2..20 {
        power *= u / f64::from(k);
        sum += f64::from(k - 1) * power;
    }
    sum
}

fn cauchit(y: f64, z: f64) -> LinkTerms {
    let m = y * z;
    let (p, loss) = match m {
        m if m < -1.0 => {
            let p = FRAC_1_PI * (-m.recip()).atan();
            (p, -p.ln())
        }
        m if m > 1.0 => {
            let rest = FRAC_1_PI * m.recip().atan();
            (1.0 - rest, -(-rest).ln_1p())
        }
        m => {
            let p = 0.5 + FRAC_1_PI * m.atan();
            (p, -p.ln())
        }
    };
    if m.abs() > SQUARE {
        // f/P is 1/|m| on the wrong side and nothing on the other.
        let rate = if m < 0.0 { -m.recip() } else { 0.0 };
        return LinkTerms { loss, slope: -y * rate, curvature: -rate * rate };
    }
    let rate = FRAC_1_PI / ((1.0 + m * m) * p);
    LinkTerms { loss, slope: -y * rate, curvature: rate * (rate + 2.0 * m / (1.0 + m * m)) }
}

impl LinkLoss {
    /// The loss of a link, with its own curvature.
    pub fn new(link: Link) -> LinkLoss {
        LinkLoss { link, expected: false }
    }

    /// Bounds on `ℓ″(z′)/ℓ″(z)` for all z′ within `reach` of z, rounding included; for the convex links.
    pub fn curvature_within(&self, class: Class, z: f64, reach: f64) -> (f64, f64) {
        let at = |z: f64| self.link.terms(class, z).curvature;
        let here = at(z);
        if here < NEGLIGIBLE {
            // It adds nothing to the Hessian here, and elsewhere not less than nothing.
            return (1.0, 1.0);
        }
        let (low, high) = match self.link {
            // Falls in m.
            Link::Probit => {
                let y = sign(class);
                (at(z + y * reach) / here, at(z - y * reach) / here)
            }
            Link::Cloglog if class.0 == 0 => ((-reach).exp(), reach.exp()),
            // The logarithm is concave, its slope between −u and 1.
            Link::Cloglog => {
                let u = (z + reach).exp();
                (at(z - reach).min(at(z + reach)) / here, (reach * u.max(1.0)).exp())
            }
            Link::Cauchit => (f64::NAN, f64::NAN),
        };
        (low * (1.0 - 4.0 * LINK_ERROR), high * (1.0 + 4.0 * LINK_ERROR))
    }

    /// ℓ′ and ℓ″ of a row.
    pub fn derivatives(&self, class: Class, z: f64) -> (f64, f64) {
        let terms = self.link.terms(class, z);
        (terms.slope, terms.curvature)
    }
}

impl Loss for LinkLoss {
    fn n_scores(&self) -> usize {
        1
    }

    fn n_classes(&self) -> usize {
        2
    }

    fn block(
        &self,
        labels: &[Class],
        scores: &[f64],
        weights: Option<&[f64]>,
        residual: &mut [f64],
        curvature: Option<&mut [f64]>,
    ) -> f64 {
        let mut total = 0.0;
        let mut curvature = curvature;
        for (i, class) in labels.iter().enumerate() {
            let s = weights.map_or(1.0, |w| w[i]);
            if s == 0.0 {
                residual[i] = 0.0;
                curvature.iter_mut().for_each(|c| c[i] = 0.0);
                continue;
            }
            let terms = self.link.terms(*class, scores[i]);
            total += s * terms.loss;
            residual[i] = s * terms.slope;
            if let Some(curvature) = &mut curvature {
                curvature[i] = s * match self.expected {
                    true => {
                        // (dp/dz)²/(pq), the product of the slopes of the two classes.
                        let other = self.link.terms(Class(1 - class.0.min(1)), scores[i]);
                        (terms.slope * other.slope).abs()
                    }
                    false => terms.curvature,
                };
            }
        }
        total
    }

    fn best_constant(&self, totals: &[f64]) -> Vec<f64> {
        vec![self.link.score_at(totals[1].ln() - totals[0].ln())]
    }
}

impl CurvedLoss for LinkLoss {
    /// Of probit below 1; of cauchit at most that of the positive terms, `rate² + rate`, rate ≤ 0.7246…; cloglog has none.
    fn curvature_bound(&self) -> f64 {
        match self.link {
            Link::Probit => 1.0,
            Link::Cloglog => f64::INFINITY,
            Link::Cauchit => 1.3,
        }
    }
}

impl DescentLoss for LinkLoss {
    /// ℓ″ at zero, or nearly.
    fn typical_curvature(&self) -> f64 {
        match self.link {
            Link::Probit => 2.0 * FRAC_1_PI,
            Link::Cloglog => 0.5,
            Link::Cauchit => 4.0 * FRAC_1_PI * FRAC_1_PI,
        }
    }

    fn with_positive_curvature(&self, positive: bool) -> LinkLoss {
        LinkLoss { expected: positive, ..*self }
    }
}
