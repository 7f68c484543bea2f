//! `g(x) = w·(x − c) + b = 0`: unit normal, signed distance, projection.

use crate::numeric::sum;

/// A hyperplane of the matrix columns, kept about a centre so that a large offset of a column costs no digits.
///
/// ```
/// use linsep::geometry::Hyperplane;
/// // 3x + 4y = 10
/// let plane = Hyperplane::new(vec![3.0, 4.0], vec![0.0, 0.0], -10.0).expect("a direction");
/// assert_eq!(plane.normal(), [0.6, 0.8]);
/// assert_eq!(plane.distance(&[6.0, 8.0]), 8.0);
/// assert_eq!(plane.offset(), 2.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Hyperplane {
    weights: Vec<f64>,
    norm: f64,
    normal: Vec<f64>,
    centre: Vec<f64>,
    at_centre: f64,
    point: Vec<f64>,
}

impl Hyperplane {
    /// From w, c and the value at c; `None` where w is zero or a number is not finite, for then nothing is a boundary.
    pub fn new(weights: Vec<f64>, centre: Vec<f64>, at_centre: f64) -> Option<Hyperplane> {
        let norm = euclidean(&weights);
        if !(norm > 0.0 && norm.is_finite() && at_centre.is_finite()) {
            return None;
        }
        let normal: Vec<f64> = weights.iter().map(|w| w / norm).collect();
        let away = at_centre / norm;
        let point = centre.iter().zip(&normal).map(|(c, n)| c - away * n).collect();
        Some(Hyperplane { weights, norm, normal, centre, at_centre, point })
    }

    /// The same hyperplane with another x₀ on it.
    pub fn through(mut self, point: Vec<f64>) -> Hyperplane {
        self.point = point;
        self
    }

    /// w.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// ‖w‖.
    pub fn norm(&self) -> f64 {
        self.norm
    }

    /// The unit normal w/‖w‖, towards growing g.
    pub fn normal(&self) -> &[f64] {
        &self.normal
    }

    /// x₀, a point with `w·(x − x₀) = 0` for all x on the hyperplane: the nearest to the centre, unless another was given.
    pub fn point(&self) -> &[f64] {
        &self.point
    }

    /// `n·x` on the hyperplane, n the unit normal: the signed distance from the origin.
    pub fn offset(&self) -> f64 {
        sum(self.normal.iter().zip(&self.centre).map(|(n, c)| n * c)) - self.at_centre / self.norm
    }

    /// g(x).
    pub fn value(&self, x: &[f64]) -> f64 {
        let terms = self.weights.iter().zip(x.iter().zip(&self.centre)).map(|(w, (x, c))| w * (x - c));
        sum(terms.chain([self.at_centre]))
    }

    /// The signed distance g(x)/‖w‖, positive where the normal points.
    pub fn distance(&self, x: &[f64]) -> f64 {
        self.value(x) / self.norm
    }

    /// The way from a row with value g to its projection, `−g/‖w‖·w/‖w‖`.
    pub fn step(&self, value: f64) -> Vec<f64> {
        let distance = value / self.norm;
        self.normal.iter().map(|n| -distance * n).collect()
    }

    /// The nearest point of the hyperplane.
    pub fn project(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(self.step(self.value(x))).map(|(x, s)| x + s).collect()
    }

    /// The two points where the boundary of two columns enters and leaves a box, for drawing; `None` where it misses the
    /// box, touches it in one point only, or there are not two columns.
    pub fn ends(&self, low: [f64; 2], high: [f64; 2]) -> Option<[[f64; 2]; 2]> {
        let [w0, w1] = self.weights[..] else { return None };
        let start = [self.point[0], self.point[1]];
        let along = [-w1 / self.norm, w0 / self.norm];
        // Liang and Barsky: each pair of sides leaves an interval of the line.
        let (mut from, mut to) = (f64::NEG_INFINITY, f64::INFINITY);
        for side in 0..2 {
            if along[side] == 0.0 {
                if start[side] < low[side] || start[side] > high[side] {
                    return None;
                }
                continue;
            }
            let (a, b) = ((low[side] - start[side]) / along[side], (high[side] - start[side]) / along[side]);
            (from, to) = (from.max(a.min(b)), to.min(a.max(b)));
        }
        let at = |t: f64| [0, 1].map(|side| (start[side] + t * along[side]).clamp(low[side], high[side]));
        (from < to).then(|| [at(from), at(to)])
    }
}

/// ‖v‖, scaled so that neither large nor small numbers leave the range.
pub(super) fn euclidean(v: &[f64]) -> f64 {
    let largest = v.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return largest;
    }
    largest * v.iter().map(|v| (v / largest) * (v / largest)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_hold_at_any_offset() {
        for offset in [0.0, 1e3, 1e9] {
            let w = vec![0.3, -1.7, 2.2];
            let centre = vec![offset, -offset, 2.0 * offset];
            let plane = Hyperplane::new(w.clone(), centre.clone(), 0.8).unwrap();
            assert!((euclidean(plane.normal()) - 1.0).abs() < 1e-15);
            // Whole numbers keep x exact at any offset.
            let x: Vec<f64> = centre.iter().zip([4.0, 7.0, -3.0]).map(|(c, z)| c + z).collect();
            let g = 0.3 * 4.0 - 1.7 * 7.0 - 2.2 * 3.0 + 0.8;
            assert!((plane.value(&x) - g).abs() < 1e-14);
            assert!((plane.distance(&x) - g / plane.norm()).abs() < 1e-14);
            let step = plane.step(plane.value(&x));
            assert!((euclidean(&step) - plane.distance(&x).abs()).abs() < 1e-14);
            // x₀ and projections are stored to the last digit of the columns (of size ten at least), and no better.
            let digit = 4.0 * offset.max(10.0) * f64::EPSILON;
            assert!(plane.value(plane.point()).abs() <= 4.0 * digit);
            assert!(plane.value(&plane.project(&x)).abs() <= 4.0 * digit);
        }
    }

    #[test]
    fn tiny_and_huge_weights_have_a_normal() {
        for size in [1e-200, 1.0, 1e200] {
            let plane = Hyperplane::new(vec![3.0 * size, 4.0 * size], vec![0.0; 2], 5.0 * size).unwrap();
            assert!((plane.normal()[0] - 0.6).abs() < 1e-15 && (plane.distance(&[0.0, 0.0]) - 1.0).abs() < 1e-15);
        }
        assert!(Hyperplane::new(vec![0.0, 0.0], vec![0.0, 0.0], 1.0).is_none());
    }

    #[test]
    fn end_points_are_on_the_box_and_on_the_boundary() {
        let plane = Hyperplane::new(vec![1.0, 1.0], vec![0.0; 2], -1.0).unwrap();
        let ends = plane.ends([0.0, 0.0], [1.0, 1.0]).unwrap();
        for (end, expected) in ends.iter().zip([[1.0, 0.0], [0.0, 1.0]]) {
            assert!(end.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{ends:?}");
        }
        assert_eq!(plane.ends([2.0, 2.0], [3.0, 3.0]), None);
        let vertical = Hyperplane::new(vec![2.0, 0.0], vec![0.0; 2], -1.0).unwrap();
        assert_eq!(vertical.ends([0.0, -1.0], [1.0, 4.0]), Some([[0.5, -1.0], [0.5, 4.0]]));
        assert_eq!(vertical.ends([0.6, -1.0], [1.0, 4.0]), None);
        assert!(Hyperplane::new(vec![1.0; 3], vec![0.0; 3], 0.0).unwrap().ends([0.0; 2], [1.0; 2]).is_none());
    }
}
