//! Where a linear machine decides for a class.
//!
//! The region of class k is `{x : g_k(x) ≥ g_j(x) for all j}`, an intersection of half-spaces: convex, and perhaps without
//! inner points. With `a_j = (w_k − w_j, b_k − b_j)` and e the last unit vector, a point strictly inside is a v with
//! `v·a_j > 0` and `v·e > 0`; by Gordan's theorem there is none exactly if some mixture of the a_j and e is zero: then
//! `(w_k, b_k)` is on or below a mixture of the others. The mixture nearest to zero decides: it is v, or it is zero.

use crate::discriminant::Linear;
use crate::linalg::{Square, dot, factor};
use crate::table::Class;

/// The region of a class.
#[derive(Debug, Clone, PartialEq)]
pub enum Region {
    /// There the class is decided, for example at this point.
    Decided {
        /// A point with the class's score the largest.
        witness: Vec<f64>,
    },
    /// Nowhere but perhaps at ties: w_k is this mixture of the weights of other classes, and b_k is no larger than that of
    /// their intercepts, to [`MIXTURE`] of the largest.
    Never {
        /// Classes and shares that sum to one.
        mixture: Vec<(Class, f64)>,
    },
    /// Neither was proved.
    Undecided,
}

/// A mixture of unit vectors shorter than this is zero: the nearest point of their hull to the origin is found by
/// products, which resolve its square to about 1e-15. Chosen, out of reach of bench/constants.md: between, a region is
/// called undecided.
pub const MIXTURE: f64 = 1e-7;
/// With more classes than this no region is looked for: the work grows with the fourth power.
pub const MOST_CLASSES: usize = 64;
/// A violation of the optimality conditions below this is rounding: about 50 units.
const NO_PULL: f64 = 1e-14;
/// A share below this is zero; so is a pivot.
const NO_SHARE: f64 = 1e-15;
/// Changes of the active set for each point at most: the method ends by itself, in exact arithmetic.
const ROUNDS: usize = 10;

/// The region of every class of a linear machine; of two classes with one score, too.
///
/// ```
/// use linsep::discriminant::Linear;
/// use linsep::geometry::{Region, regions};
/// // −x, x and a constant that is never above both.
/// let g = Linear::new(vec![-1.0, 1.0, 0.0], vec![0.0], vec![0.0, 0.0, -1.0])?;
/// assert!(matches!(regions(&g)[2], Region::Never { .. }));
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn regions(linear: &Linear) -> Vec<Region> {
    let discriminants = Discriminants::of(linear);
    let classes = discriminants.values.len();
    match classes > MOST_CLASSES {
        true => vec![Region::Undecided; classes],
        false => (0..classes).map(|k| discriminants.region(k)).collect(),
    }
}

/// One weight vector per class, also for two classes.
struct Discriminants<'a> {
    weights: Vec<&'a [f64]>,
    values: Vec<f64>,
    centre: &'a [f64],
    /// Reciprocal size of the weights, column by column, and the size of the values.
    scale: Vec<f64>,
    size: f64,
    nothing: Vec<f64>,
}

impl<'a> Discriminants<'a> {
    fn of(linear: &'a Linear) -> Discriminants<'a> {
        let scores = linear.n_scores();
        let weights: Vec<&[f64]> = (0..scores).map(|k| linear.weights_of(k)).collect();
        let largest = |j: usize| weights.iter().fold(0.0f64, |m, w| m.max(w[j].abs()));
        let scale = (0..linear.n_cols()).map(|j| if largest(j) > 0.0 { largest(j).recip() } else { 1.0 }).collect();
        let size = linear.intercept_at_centre().iter().fold(0.0f64, |m, b| m.max(b.abs()));
        Discriminants {
            weights,
            values: match scores {
                // One score: g₀ = 0.
                1 => vec![0.0, linear.intercept_at_centre()[0]],
                _ => linear.intercept_at_centre().to_vec(),
            },
            centre: linear.centre(),
            scale,
            size: if size > 0.0 { size } else { 1.0 },
            nothing: vec![0.0; linear.n_cols()],
        }
    }

    fn weights_of(&self, class: usize) -> &[f64] {
        match (self.weights.len(), class) {
            (1, 0) => &self.nothing,
            (1, _) => self.weights[0],
            _ => self.weights[class],
        }
    }

    fn region(&self, class: usize) -> Region {
        let (columns, classes) = (self.centre.len(), self.values.len());
        let mut rays: Vec<(Option<usize>, f64, Vec<f64>)> = Vec::with_capacity(classes);
        for other in (0..classes).filter(|j| *j != class) {
            let (a, b) = (self.weights_of(class), self.weights_of(other));
            let mut ray: Vec<f64> = (0..columns).map(|j| (a[j] - b[j]) * self.scale[j]).collect();
            ray.push((self.values[class] - self.values[other]) / self.size);
            let norm = super::hyperplane::euclidean(&ray);
            if norm > 0.0 {
                ray.iter_mut().for_each(|v| *v /= norm);
                rays.push((Some(other), norm, ray));
            } else if other < class {
                // The same function: the first class has it at every tie.
                return Region::Never { mixture: vec![(Class(other as u32), 1.0)] };
            }
        }
        rays.push((None, 1.0, (0..=columns).map(|j| f64::from(u8::from(j == columns))).collect()));
        let shares = nearest_mixture(&rays.iter().map(|r| &r.2[..]).collect::<Vec<_>>());
        let mut v = vec![0.0; columns + 1];
        for (share, (.., ray)) in shares.iter().zip(&rays) {
            v.iter_mut().zip(ray).for_each(|(v, r)| *v += share * r);
        }
        if v[columns] > 0.0 {
            let at = |j: usize| self.centre[j] + v[j] * self.scale[j] * self.size / v[columns];
            let witness: Vec<f64> = (0..columns).map(at).collect();
            if witness.iter().all(|x| x.is_finite()) && self.decides(class, rays.iter().filter_map(|r| r.0), &witness) {
                return Region::Decided { witness };
            }
        }
        let total: f64 = shares.iter().sum();
        if !(super::hyperplane::euclidean(&v) <= MIXTURE * total) {
            return Region::Undecided;
        }
        let parts = shares.iter().zip(&rays).filter_map(|(share, (other, norm, _))| other.map(|j| (j, share / norm)));
        let parts: Vec<(usize, f64)> = parts.filter(|(_, share)| *share > 0.0).collect();
        let sum: f64 = parts.iter().map(|(_, share)| share).sum();
        Region::Never { mixture: parts.iter().map(|(j, share)| (Class(*j as u32), share / sum)).collect() }
    }

    /// Whether the score of a class is above those of its rivals at a point, by more than rounding.
    fn decides(&self, class: usize, mut rivals: impl Iterator<Item = usize>, x: &[f64]) -> bool {
        let score = |k: usize| {
            let terms = self.weights_of(k).iter().zip(x.iter().zip(self.centre)).map(|(w, (x, c))| w * (x - c));
            terms.fold((self.values[k], self.values[k].abs()), |(s, size), t| (s + t, size + t.abs()))
        };
        let (own, own_size) = score(class);
        rivals.all(|j| {
            let (other, other_size) = score(j);
            let rounding = 4.0 * f64::EPSILON * x.len() as f64 * (own_size + other_size);
            own - other > rounding
        })
    }
}

/// Shares λ ≥ 0 of points z that minimise `‖Σλz‖² + (1 − Σλ)²`, by the active sets of Lawson and Hanson (1974, chapter 23).
///
/// With `v = Σλz`, at the optimum `v·z ≥ 1 − Σλ ≥ 0` for every point: unless v is zero it has a positive product with all.
fn nearest_mixture(points: &[&[f64]]) -> Vec<f64> {
    let m = points.len();
    let gram = Square::from_lower(m, |i, j| dot(points[i], points[j]) + 1.0);
    let mut shares = vec![0.0; m];
    let mut active: Vec<usize> = Vec::new();
    for _ in 0..ROUNDS * m {
        let product = gram.multiply(&shares);
        let pull = |j: &usize| 1.0 - product[*j];
        let rest = (0..m).filter(|j| !active.contains(j) && pull(j) > NO_PULL);
        let Some(next) = rest.max_by(|a, b| pull(a).total_cmp(&pull(b))) else { break };
        active.push(next);
        active.sort_unstable();
        loop {
            let part = Square::from_lower(active.len(), |i, j| gram.get(active[i], active[j]));
            let solved = factor(&part, NO_SHARE).solve(&vec![1.0; active.len()]);
            if solved.iter().all(|s| *s > 0.0) {
                active.iter().zip(&solved).for_each(|(j, s)| shares[*j] = *s);
                break;
            }
            // The ratio test: as far towards the solution as all shares stay positive; the first that vanishes leaves the
            // active set.
            let ends = active.iter().zip(&solved).filter(|(_, s)| **s <= 0.0);
            let step = ends.map(|(j, s)| shares[*j] / (shares[*j] - s)).fold(1.0f64, f64::min).max(0.0);
            active.iter().zip(&solved).for_each(|(j, s)| shares[*j] += step * (s - shares[*j]));
            let mut leaving: Vec<usize> = active.iter().copied().filter(|j| shares[*j] <= NO_SHARE).collect();
            if leaving.is_empty() {
                let smallest = active.iter().copied().min_by(|a, b| shares[*a].total_cmp(&shares[*b]));
                leaving.extend(smallest);
            }
            leaving.iter().for_each(|j| shares[*j] = 0.0);
            active.retain(|j| !leaving.contains(j));
            if active.is_empty() {
                return shares;
            }
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(weights: &[[f64; 2]], values: &[f64]) -> Linear {
        Linear::new(weights.concat(), vec![0.0, 0.0], values.to_vec()).unwrap()
    }

    #[test]
    fn a_mixture_below_is_never_decided_and_above_is() {
        let corners = [[1.0, 0.0], [-1.0, 1.0], [-1.0, -2.0], [0.0, 0.0]];
        // (0,0) is ½, ⅓ and ⅙ of the corners.
        for (value, decided) in [(-0.1, false), (0.0, false), (0.1, true)] {
            match &regions(&machine(&corners, &[0.0, 0.0, 0.0, value]))[3] {
                Region::Decided { witness } => assert!(decided && witness.iter().all(|x| x.abs() < 0.2)),
                Region::Never { mixture } => {
                    assert!(!decided);
                    let shares: Vec<f64> = mixture.iter().map(|m| m.1).collect();
                    for (share, expected) in shares.iter().zip([0.5, 1.0 / 3.0, 1.0 / 6.0]) {
                        assert!((share - expected).abs() < 1e-9, "{shares:?}");
                    }
                }
                Region::Undecided => panic!("undecided at {value}"),
            }
        }
    }

    #[test]
    fn a_class_beyond_the_others_is_always_decided() {
        let corners = [[1.0, 0.0], [-1.0, 1.0], [-1.0, -2.0], [5.0, 5.0]];
        let found = regions(&machine(&corners, &[0.0, 0.0, 0.0, -1e6]));
        assert!(found.iter().filter(|r| matches!(r, Region::Decided { .. })).count() >= 3);
        assert!(matches!(found[3], Region::Decided { .. }));
    }

    #[test]
    fn equal_functions_belong_to_the_first() {
        let found = regions(&machine(&[[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]], &[0.0, 0.0, 0.0]));
        assert!(matches!(found[0], Region::Decided { .. }));
        assert_eq!(found[2], Region::Never { mixture: vec![(Class(0), 1.0)] });
    }

    #[test]
    fn two_classes_share_the_space_unless_the_weights_are_zero() {
        let both = regions(&Linear::new(vec![2.0], vec![1e9], vec![-3.0]).unwrap());
        assert!(both.iter().all(|r| matches!(r, Region::Decided { .. })));
        let one = regions(&Linear::new(vec![0.0], vec![0.0], vec![-3.0]).unwrap());
        assert!(matches!(one[0], Region::Decided { .. }) && matches!(one[1], Region::Never { .. }));
    }
}
