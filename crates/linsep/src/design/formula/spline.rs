//! B-splines and natural cubic splines of a column, as R's `bs` and `ns`: the same knots, the same columns.
//!
//! B-splines are evaluated by the recurrence of Cox and de Boor in the interval between knots that holds the number. Beyond the
//! outer knots `bs` goes on with the polynomial of the last interval, `ns` with a straight line. A natural spline is what is
//! left of cubic B-splines when the second derivatives at the outer knots are made zero: the part orthogonal to these two
//! linear forms, in the coordinates of Householder's reflections, which fix the columns (R takes LINPACK's).

use crate::error::{Error, Result};

/// Which spline, as asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SplineKind {
    /// A natural cubic spline, or B-splines of the degree.
    pub(super) natural: bool,
    pub(super) degree: usize,
    /// Whether the first column stays, so that the constant is among the functions.
    pub(super) intercept: bool,
    /// Number of columns, where that decides the knots.
    pub(super) df: Option<usize>,
    /// Inner knots that are given.
    pub(super) knots: Option<Vec<f64>>,
    /// Outer knots that are given.
    pub(super) boundary: Option<[f64; 2]>,
}

/// Degree of natural splines.
const CUBIC: usize = 3;
/// Largest degree of B-splines, as of polynomials: chosen.
pub(super) const MOST_DEGREE: usize = 10;

impl SplineKind {
    /// How many columns there are without inner knots.
    fn without_knots(&self) -> usize {
        let own = if self.natural { 1 } else { self.degree };
        own + usize::from(self.intercept)
    }

    /// How many inner knots are placed at quantiles.
    pub(super) fn n_quantiles(&self) -> Result<usize> {
        let Some(df) = self.df.filter(|_| self.knots.is_none()) else { return Ok(0) };
        df.checked_sub(self.without_knots()).ok_or_else(|| {
            let kind =
                if self.natural { "a natural spline".into() } else { format!("B-splines of degree {}", self.degree) };
            Error::usage(format!("df = {df} is too small: {kind} take at least {}", self.without_knots()))
                .help(format!("choose df = {} or more", self.without_knots()))
        })
    }

    /// Number of columns with this many inner knots.
    pub(super) fn width(&self, inner: usize) -> usize {
        self.without_knots() + inner
    }
}

/// A spline whose knots are known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SplineBasis {
    degree: usize,
    /// All knots, the outer ones as often as the order says, as shares of the way between them.
    knots: Vec<f64>,
    low: f64,
    high: f64,
    /// The first column that stays: 1 without an intercept.
    skip: usize,
    natural: Option<NaturalEnds>,
}

/// What makes a spline natural.
#[derive(Debug, Clone, PartialEq)]
struct NaturalEnds {
    /// Vectors of the two reflections, the first entry of each scaled as LINPACK does.
    reflections: [Vec<f64>; 2],
    /// B-splines and their slopes at the outer knots: beyond them the spline is straight.
    ends: [(Vec<f64>, Vec<f64>); 2],
}

impl SplineBasis {
    /// With inner and outer knots; an error says which of them cannot be.
    pub(super) fn new(kind: &SplineKind, boundary: [f64; 2], inner: &[f64]) -> Result<SplineBasis> {
        let degree = if kind.natural { CUBIC } else { kind.degree };
        let [low, high] = boundary;
        let range = high - low;
        if !(low < high && range.is_finite()) {
            return Err(Error::data(format!("a spline needs two different outer knots, and both are {low}"))
                .help("leave the term out: the column is constant"));
        }
        if let Some(knot) = inner.iter().find(|k| !(**k > low && **k < high)) {
            return Err(Error::data(format!("the inner knot {knot} is not between the outer knots {low} and {high}"))
                .help("choose fewer columns (df): many rows have the same value")
                .help("give the knots"));
        }
        let crowded = |w: &[f64]| w[0] == w[degree.max(1)];
        if let Some(at) = inner.windows(degree.max(1) + 1).find(|w| crowded(w)) {
            return Err(Error::data(format!("{} inner knots are all {}", degree.max(1) + 1, at[0]))
                .help("choose fewer columns (df): many rows have the same value")
                .help("give the knots"));
        }
        let mut knots = vec![0.0; degree + 1];
        knots.extend(inner.iter().map(|k| (k - low) / range));
        knots.extend(vec![1.0; degree + 1]);
        knots[degree + 1..].sort_by(f64::total_cmp);
        let mut basis = SplineBasis { degree, knots, low, high, skip: usize::from(!kind.intercept), natural: None };
        if kind.natural {
            basis.natural = Some(basis.natural_ends());
        }
        Ok(basis)
    }

    fn n_splines(&self) -> usize {
        self.knots.len() - self.degree - 1
    }

    /// The interval whose polynomials hold at u: the first or last one beyond the outer knots.
    fn interval(&self, u: f64) -> usize {
        let (first, last) = (self.degree, self.n_splines() - 1);
        let above = self.knots.partition_point(|k| *k <= u);
        let mut at = above.saturating_sub(1).clamp(first, last);
        // Only the outer knots could leave it empty: inner ones are behind the last that is not above u.
        while at > first && self.knots[at] == self.knots[at + 1] {
            at -= 1;
        }
        at
    }

    /// All B-splines of a lower or the same degree at u, from the polynomials of an interval.
    fn splines(&self, degree: usize, interval: usize, u: f64) -> Vec<f64> {
        let mut all = vec![0.0; self.knots.len() - degree - 1];
        self.spans(degree, interval, u, &mut all[interval - degree..=interval]);
        all
    }

    /// The degree + 1 B-splines that are not zero in an interval.
    fn spans(&self, degree: usize, interval: usize, u: f64, out: &mut [f64]) {
        let t = &self.knots;
        out[0] = 1.0;
        for j in 1..=degree {
            let mut saved = 0.0;
            for r in 0..j {
                let (left, right) = (t[interval + 1 + r - j], t[interval + 1 + r]);
                let part = out[r] / (right - left);
                out[r] = saved + (right - u) * part;
                saved = (u - left) * part;
            }
            out[j] = saved;
        }
    }

    /// The derivatives of all B-splines of a degree, given those of the degree below.
    fn derived(&self, degree: usize, below: &[f64]) -> Vec<f64> {
        let t = &self.knots;
        let share = |i: usize| match t[i + degree] - t[i] {
            0.0 => 0.0,
            width => below[i] / width,
        };
        (0..below.len() - 1).map(|i| degree as f64 * (share(i) - share(i + 1))).collect()
    }

    fn natural_ends(&self) -> NaturalEnds {
        let at = |u: f64| {
            let interval = self.interval(u);
            let values = self.splines(CUBIC, interval, u);
            let slopes = self.derived(CUBIC, &self.splines(CUBIC - 1, interval, u));
            let bends = self.derived(CUBIC, &self.derived(CUBIC - 1, &self.splines(CUBIC - 2, interval, u)));
            (values, slopes, bends[self.skip..].to_vec())
        };
        let ((v0, s0, mut first), (v1, s1, mut second)) = (at(0.0), at(1.0));
        reflector(&mut first, 0);
        reflect(&first, 0, &mut second);
        reflector(&mut second, 1);
        NaturalEnds { reflections: [first, second], ends: [(v0, s0), (v1, s1)] }
    }

    /// The columns of the basis at a number; `room` is for the B-splines.
    pub(super) fn fill(&self, x: f64, room: &mut Vec<f64>, out: &mut [f64]) {
        let u = (x - self.low) / (self.high - self.low);
        room.clear();
        room.resize(self.n_splines(), 0.0);
        let beyond = self.natural.as_ref().and_then(|natural| match u {
            u if u < 0.0 => Some((&natural.ends[0], u)),
            u if u > 1.0 => Some((&natural.ends[1], u - 1.0)),
            _ => None,
        });
        match beyond {
            Some(((values, slopes), step)) => {
                room.iter_mut().zip(values.iter().zip(slopes)).for_each(|(o, (v, s))| *o = v + step * s);
            }
            None => {
                let interval = self.interval(u);
                self.spans(self.degree, interval, u, &mut room[interval - self.degree..=interval]);
            }
        }
        let kept = &mut room[self.skip..];
        let Some(natural) = &self.natural else {
            return out.copy_from_slice(kept);
        };
        natural.reflections.iter().enumerate().for_each(|(at, vector)| reflect(vector, at, kept));
        out.copy_from_slice(&kept[2..]);
    }
}

/// Makes the vector of the reflection that clears all behind place `at`: LINPACK's dqrdc2, which scales it to have
/// 1 + |x_at|/‖x‖ there.
fn reflector(x: &mut [f64], at: usize) {
    let tail = &mut x[at..];
    let norm = tail.iter().map(|v| v * v).sum::<f64>().sqrt();
    if norm > 0.0 {
        let norm = if tail[0] < 0.0 { -norm } else { norm };
        tail.iter_mut().for_each(|v| *v /= norm);
        tail[0] += 1.0;
    }
}

/// Applies such a reflection.
fn reflect(vector: &[f64], at: usize, y: &mut [f64]) {
    if vector[at] == 0.0 {
        return;
    }
    let t = -vector[at..].iter().zip(&y[at..]).map(|(a, b)| a * b).sum::<f64>() / vector[at];
    y[at..].iter_mut().zip(&vector[at..]).for_each(|(y, v)| *y += t * v);
}
