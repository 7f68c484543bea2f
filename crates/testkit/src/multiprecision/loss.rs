//! Losses of a row: value, gradient and (generalised) curvature in its scores, by their definitions.

use super::Real;

/// A loss of the library, in its own parametrisation of the scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// `log(1 + e^{−yz})`, one score.
    Logistic,
    /// `log Σ e^{z_k} − z_y`; with a reference class its score is zero and it has none of its own.
    Softmax {
        /// Whether the first class is the reference.
        reference: bool,
    },
    /// `½(z − y)²` with y = ±1, one score.
    Squared,
    /// `½ Σ (z_k − 1{y=k})²`.
    OneHot,
    /// `max(0, 1 − yz)²`, one score.
    SquaredHinge,
    /// `max(0, 1 − yz)`, one score.
    Hinge,
    /// `max_k (1{k≠y} + z_k − z_y)`.
    CrammerSinger,
}

/// Gradient and curvature of one row in its scores.
pub(super) struct Derivatives {
    pub(super) first: Vec<Real>,
    /// The full symmetric matrix.
    pub(super) second: Vec<Vec<Real>>,
}

impl Loss {
    /// Free scores for so many classes.
    pub fn scores(self, classes: usize) -> usize {
        match self {
            Loss::Logistic | Loss::Squared | Loss::SquaredHinge | Loss::Hinge => 1,
            Loss::Softmax { reference } => classes - usize::from(reference),
            Loss::OneHot | Loss::CrammerSinger => classes,
        }
    }

    /// The loss of a row of this class.
    pub fn value(self, class: usize, z: &[Real]) -> Real {
        let margin = || if class == 1 { z[0].clone() } else { -&z[0] };
        match self {
            Loss::Logistic => {
                let m = margin();
                let tail = (-m.abs()).exp().ln_1p();
                if m.sign() < 0 { tail - m } else { tail }
            }
            Loss::Softmax { reference } => {
                let all = with_reference(z, reference);
                let (top, others) = exponentials(&all);
                let rest: Real = (0..all.len()).filter(|k| *k != top).map(|k| others[k].clone()).sum();
                rest.ln_1p() + (&all[top] - &all[class])
            }
            Loss::Squared => half_square(&(margin() - Real::one())),
            Loss::OneHot => (0..z.len()).map(|k| half_square(&(&z[k] - target(class, k)))).sum(),
            Loss::SquaredHinge => {
                let short = (Real::one() - margin()).max(Real::zero());
                &short * &short
            }
            Loss::Hinge => (Real::one() - margin()).max(Real::zero()),
            Loss::CrammerSinger => (0..z.len())
                .filter(|k| *k != class)
                .map(|k| Real::one() + &z[k] - &z[class])
                .fold(Real::zero(), Real::max),
        }
    }

    /// Gradient and curvature of a smooth loss.
    ///
    /// # Panics
    /// For hinges, which have none.
    pub(super) fn derivatives(self, class: usize, z: &[Real]) -> Derivatives {
        match self {
            Loss::Logistic => {
                // q = σ(−yz) from the exponential of a negative number.
                let m = if class == 1 { z[0].clone() } else { -&z[0] };
                let e = (-m.abs()).exp();
                let one_plus = Real::one() + &e;
                let (small, large) = (&e / &one_plus, Real::one() / one_plus);
                let second = &small * &large;
                let q = if m.sign() < 0 { large } else { small };
                single(if class == 1 { -q } else { q }, second)
            }
            Loss::Softmax { reference } => softmax(class, z, reference),
            Loss::Squared => {
                let y = if class == 1 { Real::one() } else { -Real::one() };
                single(&z[0] - y, Real::one())
            }
            Loss::OneHot => Derivatives {
                first: (0..z.len()).map(|k| &z[k] - target(class, k)).collect(),
                second: identity(z.len()),
            },
            Loss::SquaredHinge => {
                let y = if class == 1 { Real::one() } else { -Real::one() };
                let short = Real::one() - &y * &z[0];
                let two = Real::from(2.0);
                match short.sign() > 0 {
                    true => single(-(&two * &short * y), two),
                    false => single(Real::zero(), Real::zero()),
                }
            }
            Loss::Hinge | Loss::CrammerSinger => panic!("a hinge has no curvature"),
        }
    }
}

fn target(class: usize, k: usize) -> Real {
    if class == k { Real::one() } else { Real::zero() }
}

fn half_square(v: &Real) -> Real {
    v * v * Real::from(0.5)
}

fn single(first: Real, second: Real) -> Derivatives {
    Derivatives { first: vec![first], second: vec![vec![second]] }
}

fn identity(n: usize) -> Vec<Vec<Real>> {
    (0..n).map(|i| (0..n).map(|j| target(i, j)).collect()).collect()
}

fn with_reference(z: &[Real], reference: bool) -> Vec<Real> {
    let fixed = reference.then(Real::zero);
    fixed.into_iter().chain(z.iter().cloned()).collect()
}

/// The largest score and `e^{z_k − max}`.
fn exponentials(z: &[Real]) -> (usize, Vec<Real>) {
    let top = (1..z.len()).fold(0, |top, k| if z[k] > z[top] { k } else { top });
    (top, z.iter().map(|z_k| (z_k - &z[top]).exp()).collect())
}

fn softmax(class: usize, z: &[Real], reference: bool) -> Derivatives {
    let all = with_reference(z, reference);
    let (_, e) = exponentials(&all);
    let total: Real = e.iter().cloned().sum();
    let p: Vec<Real> = e.iter().map(|e| e / &total).collect();
    // 1 − p by the others, or a row that is almost certain has no digits.
    let rest = |k: usize| -> Real { (0..p.len()).filter(|j| *j != k).map(|j| p[j].clone()).sum() };
    let free = usize::from(reference)..all.len();
    let first = free.clone().map(|k| if k == class { -rest(k) } else { p[k].clone() }).collect();
    let entry = |a: usize, b: usize| if a == b { &p[a] * rest(a) } else { -(&p[a] * &p[b]) };
    let second = free.clone().map(|a| free.clone().map(|b| entry(a, b)).collect()).collect();
    Derivatives { first, second }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMOOTH: [(Loss, usize); 6] = [
        (Loss::Logistic, 1),
        (Loss::Softmax { reference: true }, 2),
        (Loss::Softmax { reference: false }, 3),
        (Loss::Squared, 1),
        (Loss::OneHot, 3),
        (Loss::SquaredHinge, 1),
    ];

    #[test]
    fn derivatives_are_those_of_the_value() {
        let step = Real::power_of_two(-60);
        for (loss, scores) in SMOOTH {
            let classes = if scores == 1 { 2 } else { 3 };
            for class in 0..classes {
                let z: Vec<Real> = (0..scores).map(|k| Real::from(0.3 + 1.7 * k as f64 - class as f64)).collect();
                let at = loss.derivatives(class, &z);
                for k in 0..scores {
                    let moved = |by: &Real| {
                        let mut z = z.clone();
                        z[k] = &z[k] + by;
                        loss.value(class, &z)
                    };
                    let (up, down, mid) = (moved(&step), moved(&-&step), loss.value(class, &z));
                    let first = (&up - &down) / (Real::from(2.0) * &step);
                    assert!((first - &at.first[k]).abs() < Real::power_of_two(-100), "{loss:?} {class} {k}");
                    let second = (up + down - mid * Real::from(2.0)) / (&step * &step);
                    assert!((second - &at.second[k][k]).abs() < Real::power_of_two(-100), "{loss:?} {class} {k}");
                }
            }
        }
    }

    #[test]
    fn softmax_of_two_classes_is_logistic() {
        for z in [-3.0, 0.0, 1e-9, 40.0, -900.0] {
            let z = [Real::from(z)];
            for class in 0..2 {
                let (a, b) = (Loss::Logistic.value(class, &z), Loss::Softmax { reference: true }.value(class, &z));
                assert!((&a - &b).abs() <= a.abs() * Real::power_of_two(-390), "{a:?} {b:?}");
            }
        }
    }
}
