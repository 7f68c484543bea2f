//! Centre, axes and lengths of a quadric, and the points that it is in one column.

use super::{FLAT, Quadric, QuadricKind};

impl Quadric {
    /// The eigenvalues of W, zero where they are rounding. Along the k-th axis q is `½ λ_k t² + …`.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.values
    }

    /// The unit vector of the k-th eigenvalue, its largest entry positive.
    pub fn axis(&self, k: usize) -> Vec<f64> {
        let unit: Vec<f64> = (0..self.n_cols()).map(|i| f64::from(u8::from(i == k))).collect();
        let mut axis = self.form.rotate_back(&unit);
        let largest = axis.iter().fold(0.0f64, |best, v| if v.abs() > best.abs() { *v } else { best });
        axis.iter_mut().filter(|_| largest < 0.0).for_each(|v| *v = -*v);
        axis
    }

    /// The point about which the quadric is symmetric, where the gradient is zero; `None` where there is none or more than
    /// one because W is singular.
    pub fn middle(&self) -> Option<Vec<f64>> {
        let largest = self.values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        if self.signature().zero > 0 || self.values.iter().any(|v| v.abs() <= FLAT * FLAT * largest) {
            return None;
        }
        let slopes = self.form.rotate(self.gradient());
        let step: Vec<f64> = slopes.iter().zip(&self.values).map(|(w, v)| -w / v).collect();
        let moved = self.form.rotate_back(&step);
        Some(self.centre().iter().zip(moved).map(|(m, u)| m + u).collect())
    }

    /// Of an ellipsoid the lengths of its half axes, in the order of the eigenvalues: `√(−2q(middle)/λ)`.
    pub fn half_axes(&self) -> Option<Vec<f64>> {
        let QuadricKind::Ellipsoid { flat: 0 } = self.kind() else { return None };
        let value = self.value(&self.middle()?);
        Some(self.values.iter().map(|v| (-2.0 * value / v).max(0.0).sqrt()).collect())
    }

    /// Whether an ellipsoid has axes of one length: a circle, a sphere.
    pub fn is_round(&self) -> bool {
        let (low, high) =
            self.values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
        let ellipsoid = matches!(self.kind(), QuadricKind::Ellipsoid { flat: 0 });
        ellipsoid && high - low <= FLAT * high.abs().max(low.abs())
    }

    /// What it is called, circles and spheres by their own names.
    pub fn name(&self) -> String {
        match self.n_cols() {
            2 if self.is_round() => "circle".into(),
            3 if self.is_round() => "sphere".into(),
            columns => self.kind().name(columns),
        }
    }

    /// In one column the points where q is zero, rising; `None` in more columns.
    ///
    /// ```
    /// use linsep::geometry::Quadric;
    /// use linsep::linalg::Square;
    /// // ½·2·u² − 8 about 1.
    /// let q = Quadric::new(vec![1.0], Square::from_lower(1, |_, _| 2.0), vec![0.0], -9.0).unwrap();
    /// assert_eq!(q.points(), Some(vec![-2.0, 4.0]));
    /// ```
    pub fn points(&self) -> Option<Vec<f64>> {
        let ([m], [w], [curvature]) = (self.centre(), self.gradient(), &self.values[..]) else { return None };
        let c = self.constant();
        if *curvature == 0.0 {
            return Some(if *w == 0.0 { Vec::new() } else { vec![m - c / w] });
        }
        let discriminant = w * w - 2.0 * curvature * c;
        if matches!(self.kind(), QuadricKind::Empty) || discriminant < 0.0 {
            return Some(Vec::new());
        }
        // The root whose terms do not cancel, and the other by the product of both.
        let sum = -(w + discriminant.sqrt().copysign(*w));
        let mut points = match sum == 0.0 {
            true => vec![*m, *m],
            false => vec![m + sum / curvature, m + 2.0 * c / sum],
        };
        points.sort_by(f64::total_cmp);
        if matches!(self.kind(), QuadricKind::Point { .. } | QuadricKind::DoubleHyperplane) {
            points.truncate(1);
        }
        Some(points)
    }
}
