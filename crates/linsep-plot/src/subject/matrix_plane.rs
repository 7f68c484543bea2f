//! Planes of the matrix that fit linear discriminants: points are `centre + scale·(u a + v b)` with orthonormal a and b.

use crate::scene::Point;
use linsep::artifact::Model;
use linsep::design::{Block, Design, Tile};
use linsep::discriminant::Linear;
use linsep::{Error, Result};

/// Rows from which the second direction is found: more would not move it visibly. Chosen.
const ROWS_FOR_DIRECTION: usize = 4000;
/// Columns of the matrix at most: a picture of a plane among more says little, and rows are made dense for it. Chosen.
const MOST_COLUMNS: usize = 20_000;
/// Steps of power iteration. Any direction serves, a leading one only spreads the rows more.
const POWER_STEPS: usize = 100;
/// Rows that are projected at a time.
const BLOCK: usize = 1024;

/// A plane through the mean of the columns.
pub(super) struct MatrixPlane {
    centre: Vec<f64>,
    scale: Vec<f64>,
    axes: [Vec<f64>; 2],
    pub labels: [String; 2],
    pub said: String,
}

impl MatrixPlane {
    /// Spanned by the normal of the boundary of two classes and the direction across it in which rows vary the most.
    pub fn normal(model: &Model, linear: &Linear, design: &dyn Design) -> Result<MatrixPlane> {
        if linear.n_scores() != 1 {
            return Err(Error::usage(format!(
                "there is one normal for two classes, and there are {}",
                model.classes.len()
            ))
            .help("choose the plane of the discriminant directions"));
        }
        let (centre, scale) = units(model, linear)?;
        let mut first = scaled(linear.weights_of(0), &scale);
        if normalise(&mut first) == 0.0 {
            return Err(Error::model("all weights of the model are zero: it has no boundary"));
        }
        let second = spread_direction(design, &centre, &scale, &first)?;
        let in_sd = scale.iter().any(|s| *s != 1.0);
        let unit = if in_sd { "standard deviations" } else { "units of the columns" };
        let said = format!(
            "The plane of w and of the direction across it in which rows vary the most, of {} columns in {unit}. Rows are \
             projected on it; the boundary is exact for every row, and distances from it keep their length.",
            linear.n_cols()
        );
        let (from, to) = (&model.classes[0], &model.classes[1]);
        let labels = [
            format!("along w: {from} → {to}{}", if in_sd { " (sd)" } else { "" }),
            format!("across w{}", if in_sd { " (sd)" } else { "" }),
        ];
        Ok(MatrixPlane { centre, scale, axes: [first, second], labels, said })
    }

    /// Of the two leading directions of the weights: for three classes all boundaries are exact in it.
    pub fn discriminant(model: &Model, linear: &Linear, design: &dyn Design) -> Result<MatrixPlane> {
        if linear.n_scores() < 3 {
            return MatrixPlane::normal(model, linear, design);
        }
        let (centre, scale) = units(model, linear)?;
        let scores = linear.n_scores();
        let mut weights: Vec<Vec<f64>> = (0..scores).map(|k| scaled(linear.weights_of(k), &scale)).collect();
        let columns = linear.n_cols();
        for j in 0..columns {
            let mean = weights.iter().map(|w| w[j]).sum::<f64>() / scores as f64;
            weights.iter_mut().for_each(|w| w[j] -= mean);
        }
        let first = leading(&weights, None);
        let Some(first) = first else {
            return Err(Error::model("all weights of the model are alike: it has no boundary"));
        };
        let second = match leading(&weights, Some(&first)) {
            Some(second) => second,
            None => spread_direction(design, &centre, &scale, &first)?,
        };
        let exact = match model.classes.len() {
            3 => "All boundaries are exact for every row.".to_owned(),
            k => format!(
                "The regions are those of the points on the plane; a row off it may be decided otherwise, because {k} classes \
                 have boundaries in {} directions.",
                (k - 1).min(columns)
            ),
        };
        let in_sd = scale.iter().any(|s| *s != 1.0);
        let unit = if in_sd { "standard deviations" } else { "units of the columns" };
        let said = format!(
            "The plane of the two leading discriminant directions, of {columns} columns in {unit}; rows are projected on it. {exact}"
        );
        let sd = if in_sd { " (sd)" } else { "" };
        let labels = [format!("discriminant direction 1{sd}"), format!("discriminant direction 2{sd}")];
        Ok(MatrixPlane { centre, scale, axes: [first, second], labels, said })
    }

    /// Where the rows of a design are in the plane.
    pub fn project(&self, design: &dyn Design) -> Result<Vec<Point>> {
        let rows = design.shape().rows;
        let of = |axis: usize| -> Vec<f64> { self.axes[axis].iter().zip(&self.scale).map(|(a, s)| a / s).collect() };
        let directions = [of(0), of(1)];
        let mut out = Vec::with_capacity(rows);
        each_row(design, (0..rows).collect(), |row| {
            let along = |d: &[f64]| row.iter().zip(&self.centre).zip(d).map(|((x, c), d)| (x - c) * d).sum();
            out.push([along(&directions[0]), along(&directions[1])]);
        })?;
        Ok(out)
    }

    /// Rows of the matrix at points of the plane.
    pub fn embed(&self, points: &[Point]) -> Vec<f64> {
        let columns = self.centre.len();
        let mut rows = Vec::with_capacity(points.len() * columns);
        for [u, v] in points {
            rows.extend(
                (0..columns).map(|j| self.centre[j] + self.scale[j] * (u * self.axes[0][j] + v * self.axes[1][j])),
            );
        }
        rows
    }

    /// The slopes of `w·x` along the axes.
    pub fn slopes(&self, weights: &[f64]) -> Point {
        let of = |axis: &[f64]| weights.iter().zip(&self.scale).zip(axis).map(|((w, s), a)| w * s * a).sum();
        [of(&self.axes[0]), of(&self.axes[1])]
    }
}

/// The units that the method worked in, about the centre of its discriminants.
fn units(model: &Model, linear: &Linear) -> Result<(Vec<f64>, Vec<f64>)> {
    let columns = linear.n_cols();
    if columns > MOST_COLUMNS {
        return Err(Error::usage(format!("a plane among {columns} columns is too large to draw"))
            .help(format!("at most {MOST_COLUMNS} columns")));
    }
    let scale = model.units.scale();
    let scale = if scale.len() == columns { scale.to_vec() } else { vec![1.0; columns] };
    Ok((linear.centre().to_vec(), scale))
}

fn scaled(weights: &[f64], scale: &[f64]) -> Vec<f64> {
    weights.iter().zip(scale).map(|(w, s)| w * s).collect()
}

/// Makes a vector of length one; returns its length before.
fn normalise(vector: &mut [f64]) -> f64 {
    let largest = vector.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return 0.0;
    }
    let length = largest * vector.iter().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt();
    vector.iter_mut().for_each(|v| *v /= length);
    length
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn remove(vector: &mut [f64], direction: &[f64]) {
    let along = dot(vector, direction);
    vector.iter_mut().zip(direction).for_each(|(v, d)| *v -= along * d);
}

/// The leading right singular vector of some rows, orthogonal to a direction; `None` where nothing is left.
fn leading(rows: &[Vec<f64>], orthogonal: Option<&[f64]>) -> Option<Vec<f64>> {
    let clean = |row: &[f64]| {
        let mut row = row.to_vec();
        // Twice, because rounding of the first leaves a rest.
        for _ in 0..2 {
            orthogonal.into_iter().for_each(|direction| remove(&mut row, direction));
        }
        row
    };
    let size: f64 = rows.iter().map(|r| dot(r, r)).sum();
    let rows: Vec<Vec<f64>> = rows.iter().map(|r| clean(r)).collect();
    let mut vector = rows.iter().max_by(|a, b| dot(a, a).total_cmp(&dot(b, b)))?.clone();
    // What rounding alone leaves of rows that are all along the direction.
    if dot(&vector, &vector) <= 1e-20 * size || normalise(&mut vector) == 0.0 {
        return None;
    }
    for _ in 0..POWER_STEPS {
        let mut next = vec![0.0; vector.len()];
        for row in &rows {
            let along = dot(row, &vector);
            next.iter_mut().zip(row).for_each(|(n, r)| *n += along * r);
        }
        orthogonal.into_iter().for_each(|direction| remove(&mut next, direction));
        if normalise(&mut next) == 0.0 {
            break;
        }
        vector = next;
    }
    // The sign is that of the largest entry, so that it does not depend on the start.
    let largest = vector.iter().fold(0.0f64, |m, v| if v.abs() > m.abs() { *v } else { m });
    if largest < 0.0 {
        vector.iter_mut().for_each(|v| *v = -*v);
    }
    Some(vector)
}

/// The direction across another in which some of the rows vary the most.
fn spread_direction(design: &dyn Design, centre: &[f64], scale: &[f64], first: &[f64]) -> Result<Vec<f64>> {
    let rows = design.shape().rows;
    let take = rows.min(ROWS_FOR_DIRECTION).min(1 + 40_000_000 / centre.len().max(1));
    let chosen: Vec<usize> = (0..take).map(|k| (k as u128 * rows as u128 / take as u128) as usize).collect();
    let mut dense: Vec<Vec<f64>> = Vec::with_capacity(take);
    each_row(design, chosen, |row| {
        dense.push(row.iter().zip(centre).zip(scale).map(|((x, c), s)| (x - c) / s).collect());
    })?;
    for j in 0..centre.len() {
        let mean = dense.iter().map(|r| r[j]).sum::<f64>() / dense.len().max(1) as f64;
        dense.iter_mut().for_each(|r| r[j] -= mean);
    }
    if let Some(found) = leading(&dense, Some(first)) {
        return Ok(found);
    }
    // Rows that do not vary across it: any direction across it will do.
    let smallest = (0..first.len()).fold(0, |best, j| if first[j].abs() < first[best].abs() { j } else { best });
    let mut other = vec![0.0; first.len()];
    other[smallest] = 1.0;
    remove(&mut other, first);
    normalise(&mut other);
    Ok(other)
}

/// Visits rows of a design, rising, as dense ones.
fn each_row(design: &dyn Design, rows: Vec<usize>, mut visit: impl FnMut(&[f64])) -> Result<()> {
    let columns = design.shape().cols;
    let total = design.shape().rows;
    let mut tile = Tile::default();
    let mut wide = vec![0.0; columns];
    let mut rows = rows.into_iter().peekable();
    for start in (0..total).step_by(BLOCK) {
        let end = (start + BLOCK).min(total);
        if rows.peek().is_none_or(|r| *r >= end) {
            continue;
        }
        let block = design.block(start..end, &mut tile)?;
        while let Some(row) = rows.next_if(|r| *r < end) {
            let at = row - start;
            match &block {
                Block::F64(dense) => visit(&dense.values[at * columns..(at + 1) * columns]),
                Block::F32(dense) => {
                    let values = &dense.values[at * columns..(at + 1) * columns];
                    wide.iter_mut().zip(values).for_each(|(w, v)| *w = f64::from(*v));
                    visit(&wide);
                }
                Block::Csr(sparse) => {
                    wide.fill(0.0);
                    let (indices, values) = sparse.row(at);
                    indices.iter().zip(values).for_each(|(j, v)| wide[*j as usize] = *v);
                    visit(&wide);
                }
            }
        }
    }
    Ok(())
}
