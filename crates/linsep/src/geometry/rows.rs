//! Distance, projection, margin and radius of every row.

use super::nearest::NearestPoint;
use super::{Geometry, Surface};
use crate::design::{Design, Pass, Rows, Units};
use crate::error::{Error, Result};
use crate::table::Class;
use crate::watch::Watch;
use rayon::prelude::*;
use std::ops::Range;

/// Where a row lies beside the boundaries of its class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowGeometry {
    /// The class predicted; where two-class fits leave it undetermined, that of the largest (sum of) scores.
    pub class: Class,
    /// The class across the nearest boundary; `None` where there is no boundary to any, where that is the rest of the
    /// classes, for undetermined rows, and where rounding leaves it open.
    pub nearest: Option<Class>,
    /// Distance to that boundary; of two classes negative on the side of the first. NaN where rounding leaves open which point of
    /// a curved boundary is the nearest, as are the lengths below.
    pub distance: f64,
    /// The robustness radius: no change of the columns by less, in Euclidean length, changes the prediction. Infinite
    /// where nothing does; NaN in a feature space, which does not know how far a row can move.
    pub radius: f64,
    /// y·g, with more classes the smallest `g_y − g_j`; `None` without a label.
    pub functional_margin: Option<f64>,
    /// The signed distance to the boundaries of the true class, the smallest: `y·g/‖w‖`, or
    /// `min_j (g_y − g_j)/‖w_y − w_j‖`; negative for a wrong prediction.
    pub margin: Option<f64>,
}

/// All rows of a design, measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Row by row.
    pub rows: Vec<RowGeometry>,
    /// The nearest point of the nearest boundary, row by row, where asked for; NaN where there is no boundary.
    pub projections: Option<Vec<f64>>,
}

/// The margin of a data set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmallestMargin {
    /// The row that has it, the first of several.
    pub row: usize,
    /// The smallest geometric margin: positive if every row is on its side.
    pub margin: f64,
    /// The smallest functional margin, perhaps of another row.
    pub functional: f64,
}

impl Measured {
    /// Rows whose distance rounding leaves open.
    pub fn unresolved(&self) -> usize {
        self.rows.iter().filter(|r| r.distance.is_nan()).count()
    }

    /// The margin of the labelled rows; `None` without any, and where that of one is not known.
    pub fn smallest_margin(&self) -> Option<SmallestMargin> {
        if self.rows.iter().any(|r| r.margin.is_some_and(f64::is_nan)) {
            return None;
        }
        let labelled = self.rows.iter().enumerate().filter_map(|(i, r)| Some((i, r.margin?, r.functional_margin?)));
        labelled.fold(None, |best: Option<SmallestMargin>, (row, margin, functional)| match best {
            None => Some(SmallestMargin { row, margin, functional }),
            Some(best) => {
                let functional = best.functional.min(functional);
                let (row, margin) = if margin < best.margin { (row, margin) } else { (best.row, best.margin) };
                Some(SmallestMargin { row, margin, functional })
            }
        })
    }

    /// Pairs of classes with the rows of the first whose nearest boundary is that to the second, in class order.
    pub fn neighbours(&self) -> Vec<(Class, Class, usize)> {
        let mut counts = std::collections::BTreeMap::new();
        for row in &self.rows {
            if let Some(nearest) = row.nearest {
                *counts.entry((row.class, nearest)).or_insert(0usize) += 1;
            }
        }
        counts.into_iter().map(|((class, nearest), n)| (class, nearest, n)).collect()
    }
}

/// What it takes to measure the rows.
struct Measure<'a> {
    geometry: &'a Geometry,
    scores: &'a [f64],
    labels: Option<&'a [Option<Class>]>,
}

/// One boundary as a row sees it.
struct Reach {
    distance: f64,
    /// The way there; not for hyperplanes, which compute it where it is asked for.
    step: Option<Vec<f64>>,
}

impl Geometry {
    /// Measures every row of a design. `scores` are those of its discriminants (with offsets, if there are any), `labels`
    /// the true classes where known.
    pub fn measure(
        &self,
        design: &dyn Design,
        scores: &[f64],
        labels: Option<&[Option<Class>]>,
        project: bool,
        watch: &Watch,
    ) -> Result<Measured> {
        let shape = design.shape();
        let per_row = if self.n_classes == 2 { 1 } else { self.n_classes };
        if shape.cols != self.n_cols || scores.len() != shape.rows * per_row {
            return Err(Error::model("the scores do not fit the rows, or the rows do not fit the model"));
        }
        let measure = Measure { geometry: self, scores, labels };
        if !project {
            return Ok(Measured {
                rows: self.each_row(design, watch, |i, x| measure.row(i, x, &mut []))?,
                projections: None,
            });
        }
        let width = shape.cols;
        let mut projections = vec![f64::NAN; shape.rows * width];
        let units = Units::identity(shape.cols);
        let rows = Pass::new(design, &units).partials_of(0).reduce(
            watch,
            (width, &mut projections),
            Vec::new,
            |out: &mut Vec<RowGeometry>, range, rows, projections| {
                whole_rows(&rows, range, shape.cols, |i, row, x| {
                    out.push(measure.row(row, x, &mut projections[i * width..(i + 1) * width]));
                });
                Ok(())
            },
            |a, b| a.extend(b),
        )?;
        Ok(Measured { rows, projections: Some(projections) })
    }

    /// `of(i, row i)` for every row; rows are empty where no boundary is curved, since scores say it all.
    pub(crate) fn each_row(
        &self,
        design: &dyn Design,
        watch: &Watch,
        of: impl Fn(usize, &[f64]) -> RowGeometry + Sync,
    ) -> Result<Vec<RowGeometry>> {
        let shape = design.shape();
        if !self.boundaries.iter().any(|b| matches!(b.surface, Surface::Quadric(_))) {
            return Ok((0..shape.rows).into_par_iter().map(|i| of(i, &[])).collect());
        }
        let units = Units::identity(shape.cols);
        Pass::new(design, &units).partials_of(0).reduce(
            watch,
            (0, &mut []),
            Vec::new,
            |out: &mut Vec<RowGeometry>, range, rows, _| {
                whole_rows(&rows, range, shape.cols, |_, row, x| out.push(of(row, x)));
                Ok(())
            },
            |a, b| a.extend(b),
        )
    }

    /// The distance of row x to a boundary whose function is `value` there; infinite where it has no point, NaN where rounding
    /// leaves it open.
    pub(crate) fn distance(&self, boundary: usize, value: f64, x: &[f64]) -> f64 {
        reach(&self.boundaries[boundary].surface, value, x).map_or(f64::INFINITY, |r| r.distance)
    }
}

/// `each(place, row, x)` for the rows of a block, zeros filled in.
fn whole_rows(rows: &Rows<'_>, range: Range<usize>, cols: usize, mut each: impl FnMut(usize, usize, &[f64])) {
    let mut dense = Vec::new();
    for (i, row) in range.enumerate() {
        match rows {
            Rows::Dense(values) => each(i, row, &values[i * cols..(i + 1) * cols]),
            Rows::Csr(rows) => {
                dense.clear();
                dense.resize(cols, 0.0);
                let (columns, values) = rows.row(i);
                columns.iter().zip(values).for_each(|(c, v)| dense[*c as usize] = *v);
                each(i, row, &dense);
            }
        }
    }
}

/// The way to a surface whose function is `value` at x; `None` where it has no point.
fn reach(surface: &Surface, value: f64, x: &[f64]) -> Option<Reach> {
    match surface {
        Surface::Hyperplane(plane) => Some(Reach { distance: value.abs() / plane.norm(), step: None }),
        Surface::FeatureSpace { norm } => Some(Reach { distance: value.abs() / norm, step: None }),
        Surface::Quadric(quadric) => match quadric.nearest(&quadric.gradient_at(x), value) {
            NearestPoint::Nowhere => None,
            NearestPoint::Step(step) => Some(Reach { distance: super::hyperplane::euclidean(&step), step: Some(step) }),
            NearestPoint::Unresolved => Some(Reach { distance: f64::NAN, step: Some(vec![f64::NAN; x.len()]) }),
        },
        Surface::Constant(_) if value == 0.0 => Some(Reach { distance: 0.0, step: None }),
        Surface::Constant(_) => None,
    }
}

impl Measure<'_> {
    fn row(&self, row: usize, x: &[f64], projection: &mut [f64]) -> RowGeometry {
        let classes = self.geometry.n_classes;
        let pair;
        let g: &[f64] = match classes {
            2 => {
                pair = [0.0, self.scores[row]];
                &pair
            }
            _ => &self.scores[row * classes..(row + 1) * classes],
        };
        // The first of the largest, as decisions are made.
        let class = (1..classes).fold(0, |best, k| if g[k] > g[best] { k } else { best });
        let mut nearest: Option<(usize, Reach)> = None;
        for other in (0..classes).filter(|k| *k != class) {
            let Some(reach) = self.reach(class, other, g[class] - g[other], x) else { continue };
            // A boundary whose distance is not known may be the nearest.
            if nearest.as_ref().is_none_or(|(_, best)| !(reach.distance >= best.distance || best.distance.is_nan())) {
                nearest = Some((other, reach));
            }
        }
        let radius = nearest.as_ref().map_or(f64::INFINITY, |(_, reach)| reach.distance);
        if let Some((other, reach)) = &nearest {
            self.project(class, *other, g[class] - g[*other], x, reach, projection);
        }
        let label = self.labels.and_then(|l| l[row]).map(Class::index);
        let functional = |y: usize| others(classes, y).map(|k| g[y] - g[k]).fold(f64::INFINITY, f64::min);
        let margin = |y: usize| match y == class {
            true => radius,
            false => others(classes, y).map(|k| self.signed(y, k, g[y] - g[k], x)).fold(f64::INFINITY, least),
        };
        RowGeometry {
            class: Class(class as u32),
            nearest: nearest.filter(|_| !radius.is_nan()).map(|(k, _)| Class(k as u32)),
            distance: if classes == 2 && class == 0 { -radius } else { radius },
            radius: if self.geometry.is_of_feature_space() { f64::NAN } else { radius },
            functional_margin: label.map(functional),
            margin: label.map(margin),
        }
    }

    /// The distance to the boundary of two classes whose scores differ by `gap`, with its sign.
    fn signed(&self, class: usize, other: usize, gap: f64, x: &[f64]) -> f64 {
        let distance = self.reach(class, other, gap, x).map_or(f64::INFINITY, |r| r.distance);
        if gap < 0.0 { -distance } else { distance }
    }

    /// `None` where the two classes have no boundary.
    fn reach(&self, class: usize, other: usize, gap: f64, x: &[f64]) -> Option<Reach> {
        // Towards `class` the boundary's function is g_class − g_other up to its sign.
        let (boundary, sign) = self.geometry.between(other, class);
        reach(&boundary.surface, sign * gap, x)
    }

    fn project(&self, class: usize, other: usize, gap: f64, x: &[f64], reach: &Reach, out: &mut [f64]) {
        let (boundary, sign) = self.geometry.between(other, class);
        match (&boundary.surface, &reach.step) {
            (Surface::Hyperplane(plane), _) => {
                let distance = sign * gap / plane.norm();
                out.iter_mut().zip(x.iter().zip(plane.normal())).for_each(|(o, (x, n))| *o = x - distance * n);
            }
            (_, Some(step)) => out.iter_mut().zip(x.iter().zip(step)).for_each(|(o, (x, s))| *o = x + s),
            (_, None) => out.iter_mut().zip(x).for_each(|(o, x)| *o = *x),
        }
    }
}

/// The smaller of two distances, unknown where one is.
pub(crate) fn least(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }
}

fn others(classes: usize, class: usize) -> impl Iterator<Item = usize> {
    (0..classes).filter(move |k| *k != class)
}
