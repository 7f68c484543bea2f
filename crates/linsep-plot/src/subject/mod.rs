//! What a picture is about: rows of a table in a plane, and a model as a function on that plane.

mod columns;
mod matrix_plane;
mod rows;

pub(crate) use columns::{best_columns, number_column, numeric_columns};
pub(crate) use rows::{LabelledPoints, MOST_SHOWN, class_label, classes_of, thinned};

use crate::clip::HalfPlane;
use crate::kinds::Request;
use crate::scene::{Point, number_text};
use linsep::artifact::Model;
use linsep::decide::{Scheme, Vote};
use linsep::design::{DenseMatrix, Design, Encoding, Recipe};
use linsep::table::{Cells, Chunk, Column, Kind, Origin, RowPlaces, Table};
use linsep::watch::Watch;
use linsep::workflow::{Predictions, predict_design};
use linsep::{Error, Result};
use matrix_plane::MatrixPlane;

/// Which plane is drawn where a model has more than two columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaneChoice {
    /// Through two columns, the others at their means or at given values.
    Slice,
    /// Spanned by the normal of the boundary and the direction across it in which the rows vary the most; two classes.
    Normal,
    /// Of the two leading directions of the weights; several classes.
    Discriminant,
}

/// The value of a column that does not vary.
enum Held {
    Number(f64),
    Level(String),
}

/// Where points of the plane lie among the columns.
enum Frame {
    /// Two columns of the table vary, all others have a value (the code of a level for text).
    Slice { columns: [usize; 2], base: Vec<(String, Held)> },
    /// A plane of the matrix.
    Matrix(MatrixPlane),
}

/// A model on a plane.
pub(crate) struct View<'a> {
    pub model: &'a Model,
    pub labels: [String; 2],
    /// What the plane is, as sentences; empty where the model has these two columns only.
    pub said: String,
    /// Whether a unit means the same on both axes by construction.
    pub same_units: bool,
    frame: Frame,
}

/// A view with the rows of a table in it.
pub(crate) struct Viewed<'a> {
    pub view: View<'a>,
    pub rows: LabelledPoints,
}

impl<'a> Viewed<'a> {
    /// The plane that was asked for, or the one that suits the model.
    pub fn choose(model: &'a Model, table: &Table, request: &Request, watch: &Watch) -> Result<Viewed<'a>> {
        let recipe = &model.recipe;
        let numeric: Vec<usize> = (0..recipe.columns.len())
            .filter(|c| !matches!(recipe.columns[*c].encoding, Encoding::Levels { .. } | Encoding::Missing))
            .collect();
        let total = recipe.table_columns().count() + recipe.sparse_width;
        if total == 1 {
            return Err(Error::usage("a plane needs two columns, and the model has one")
                .help("draw `densities` or `curve` of it")
                .help("fit a model of two columns"));
        }
        let is_linear = model.discriminant.as_linear().is_some();
        let named = request.x.is_some() || request.y.is_some();
        let plane = match request.plane {
            Some(plane) if named && plane != PlaneChoice::Slice => {
                return Err(
                    Error::usage("columns of the axes are for a slice").help("leave the plane or the columns out")
                );
            }
            Some(plane) => plane,
            None if named || total == 2 && numeric.len() == 2 => PlaneChoice::Slice,
            None if is_linear && model.discriminant.n_scores() == 1 => PlaneChoice::Normal,
            None if is_linear && model.split() != Some(linsep::model::Split::Pairs) => PlaneChoice::Discriminant,
            None => PlaneChoice::Slice,
        };
        let found = LabelledPoints::of(model, table, watch)?;
        match plane {
            PlaneChoice::Slice => slice(model, table, request, &numeric, found),
            PlaneChoice::Normal | PlaneChoice::Discriminant => {
                let linear = model.discriminant.as_linear().ok_or_else(|| {
                    Error::usage("this plane is for linear discriminants, and the boundaries of the model are curved")
                        .help("choose two columns instead")
                })?;
                let prepared = recipe.apply(table, &found.wanted(table.n_rows()))?;
                let design = prepared.design.as_design();
                let plane = match plane {
                    PlaneChoice::Normal => MatrixPlane::normal(model, linear, design)?,
                    _ => MatrixPlane::discriminant(model, linear, design)?,
                };
                let rows = found.at(plane.project(design)?);
                let (labels, said) = (plane.labels.clone(), plane.said.clone());
                let view = View { model, labels, said, same_units: true, frame: Frame::Matrix(plane) };
                Ok(Viewed { view, rows })
            }
        }
    }
}

fn slice<'a>(
    model: &'a Model,
    table: &Table,
    request: &Request,
    numeric: &[usize],
    found: LabelledPoints,
) -> Result<Viewed<'a>> {
    let recipe = &model.recipe;
    if recipe.sparse_width > 0 {
        return Err(Error::usage("the columns of this model have no names to choose axes by")
            .help("draw a linear model of it: its plane needs no names"));
    }
    let position = |name: &str| -> Result<usize> {
        let at = recipe.columns.iter().position(|c| c.name == name).ok_or_else(|| {
            let known: Vec<&str> = numeric.iter().map(|c| recipe.columns[*c].name.as_str()).collect();
            Error::usage(format!("the model has no column `{name}`"))
                .help(format!("choose among: {}", known.join(", ")))
        })?;
        match numeric.contains(&at) {
            true => Ok(at),
            false => Err(Error::usage(format!("`{name}` holds text, and an axis needs numbers"))),
        }
    };
    if numeric.len() < 2 {
        return Err(Error::usage("a slice needs two columns of numbers, and the model has fewer")
            .help("draw `coefficients` of it"));
    }
    let names: Vec<&str> = numeric.iter().map(|c| recipe.columns[*c].name.as_str()).collect();
    let ranked = best_columns(table, &names, &found)?;
    let given = [request.x.as_deref().map(position).transpose()?, request.y.as_deref().map(position).transpose()?];
    let mut free = ranked.iter().map(|at| numeric[*at]).filter(|c| !given.contains(&Some(*c)));
    let mut columns = [given[0], given[1]].map(|g| g.or_else(|| free.next()).unwrap_or(numeric[0]));
    if given == [None, None] && columns[0] > columns[1] {
        columns.swap(0, 1);
    }
    if columns[0] == columns[1] {
        let name = &recipe.columns[columns[0]].name;
        return Err(Error::usage(format!("both axes are `{name}`")).help("choose two different columns"));
    }
    let base = base_values(recipe, table, request, &found)?;
    let mut said = Vec::new();
    if recipe.columns.len() > 2 {
        if given.iter().any(Option::is_none) {
            said.push("The axes are the columns whose classes differ the most (largest F ratio).".to_owned());
        }
        said.push(others_said(&base, &columns, request));
    }
    let [x, y] = columns.map(|c| recipe.columns[c].name.clone());
    let (cx, cy) = (number_column(table, &x)?, number_column(table, &y)?);
    let at: Vec<Point> = found.table_rows.iter().map(|r| [table.number(*r, cx), table.number(*r, cy)]).collect();
    let view =
        View { model, labels: [x, y], said: said.join(" "), same_units: false, frame: Frame::Slice { columns, base } };
    Ok(Viewed { view, rows: found.at(at) })
}

/// The values of all columns where nothing varies: those given, means, and the most frequent level of text.
fn base_values(
    recipe: &Recipe,
    table: &Table,
    request: &Request,
    rows: &LabelledPoints,
) -> Result<Vec<(String, Held)>> {
    let mut base = Vec::with_capacity(recipe.columns.len());
    for column in recipe.table_columns() {
        let given = request.at.iter().find(|(name, _)| *name == column.name).map(|(_, text)| text);
        let at = table.column(&column.name)?;
        let cell = match &column.encoding {
            Encoding::Levels { levels, .. } => match given {
                Some(text) if !levels.contains(text) => {
                    return Err(Error::usage(format!("`{}` has no level `{text}`", column.name))
                        .help(format!("choose among: {}", levels.join(", "))));
                }
                Some(text) => Held::Level(text.clone()),
                None => {
                    let mut counts = vec![0usize; levels.len()];
                    for row in &rows.table_rows {
                        let text = table.text(*row, at);
                        levels.iter().position(|l| *l == text).into_iter().for_each(|l| counts[l] += 1);
                    }
                    let most = (0..levels.len()).fold(0, |best, l| if counts[l] > counts[best] { l } else { best });
                    Held::Level(levels.get(most).cloned().unwrap_or_default())
                }
            },
            _ => match given {
                Some(text) => {
                    Held::Number(text.trim().parse().ok().filter(|v: &f64| v.is_finite()).ok_or_else(|| {
                        Error::usage(format!("`{text}` is not a value of `{}`, which holds numbers", column.name))
                    })?)
                }
                None => {
                    let values = rows.table_rows.iter().map(|r| table.number(*r, at)).filter(|v| !v.is_nan());
                    let (sum, count) = values.fold((0.0, 0usize), |(sum, n), v| (sum + v, n + 1));
                    Held::Number(if count == 0 { 0.0 } else { sum / count as f64 })
                }
            },
        };
        base.push((column.name.clone(), cell));
    }
    if let Some((name, _)) = request.at.iter().find(|(name, _)| !base.iter().any(|(n, _)| n == name)) {
        return Err(Error::usage(format!("the model has no column `{name}` to hold at a value")));
    }
    Ok(base)
}

fn others_said(base: &[(String, Held)], columns: &[usize; 2], request: &Request) -> String {
    let others: Vec<&(String, Held)> =
        base.iter().enumerate().filter(|(c, _)| !columns.contains(c)).map(|(_, value)| value).collect();
    let value = |(name, cell): &&(String, Held)| match cell {
        Held::Number(v) => format!("{name} = {}", number_text(*v)),
        Held::Level(level) => format!("{name} = {level}"),
    };
    let how = if request.at.is_empty() { "means and most frequent levels" } else { "means or the values given" };
    let mut text: Vec<String> = others.iter().take(5).map(value).collect();
    if others.len() > 5 {
        text.push(format!("and {} more", others.len() - 5));
    }
    format!(
        "A slice: boundaries are exact where the other columns are at their {how} ({}); rows are drawn whatever their other columns.",
        text.join(", ")
    )
}

impl View<'_> {
    /// Predictions at points of the plane.
    pub fn predict(&self, points: &[Point], watch: &Watch) -> Result<Predictions> {
        match &self.frame {
            Frame::Matrix(plane) => {
                let matrix = DenseMatrix::new(plane.embed(points), self.model.discriminant.n_cols())?;
                predict_design(self.model, &matrix, watch)
            }
            Frame::Slice { columns, base } => {
                let table = slice_table(columns, base, points);
                let prepared = self.model.recipe.apply(&table, &vec![true; points.len()])?;
                let design: &dyn Design = prepared.design.as_design();
                predict_design(self.model, design, watch)
            }
        }
    }

    /// The decision at points: the class, or one more than the last for none.
    pub fn decided(&self, points: &[Point], watch: &Watch) -> Result<Vec<u32>> {
        let none = self.model.classes.len() as u32;
        let found = self.predict(points, watch)?;
        Ok(found.classes.iter().map(|c| c.map_or(none, |c| c.0)).collect())
    }

    /// Every score as a linear function of the plane, about a point near its middle, where they are linear.
    pub fn linear_scores(&self, about: Point, watch: &Watch) -> Result<Option<Vec<HalfPlane>>> {
        let Some(linear) = self.model.discriminant.as_linear() else { return Ok(None) };
        let slopes: Vec<Point> = match &self.frame {
            Frame::Matrix(plane) => (0..linear.n_scores()).map(|k| plane.slopes(linear.weights_of(k))).collect(),
            Frame::Slice { columns, .. } => {
                let recipe = &self.model.recipe;
                if !recipe.is_linear() {
                    return Ok(None);
                }
                let origins = recipe.origins();
                let at =
                    columns.map(|c| origins.iter().find(|o| o.name == recipe.columns[c].name).map(|o| o.columns.start));
                let [Some(x), Some(y)] = at else { return Ok(None) };
                (0..linear.n_scores()).map(|k| [linear.weights_of(k)[x], linear.weights_of(k)[y]]).collect()
            }
        };
        let values = self.predict(&[about], watch)?.scores;
        let plane = |(slope, value): (&Point, &f64)| HalfPlane {
            a: slope[0],
            b: slope[1],
            c: value - slope[0] * about[0] - slope[1] * about[1],
        };
        Ok(Some(slopes.iter().zip(&values).map(plane).collect()))
    }

    /// Whether the largest of the scores, less the model's cuts, decides; then the cuts.
    pub fn arg_max_cuts(&self) -> Option<Vec<f64>> {
        let sums = matches!(self.model.decision.scheme(), Some(Scheme::OneVsOne { vote: Vote::Scores, .. }));
        let rejects = self.model.decision.reject.is_some();
        let arg_max = self.model.decision.scheme().is_none_or(Scheme::is_arg_max);
        if sums || rejects || !arg_max {
            return None;
        }
        self.model.cuts()
    }
}

/// Rows of a slice as a table.
fn slice_table(columns: &[usize; 2], base: &[(String, Held)], points: &[Point]) -> Table {
    let mut heads = Vec::with_capacity(base.len());
    let mut cells = Vec::with_capacity(base.len());
    for (at, (name, value)) in base.iter().enumerate() {
        let (kind, column) = match value {
            Held::Level(level) => {
                (Kind::Text { levels: vec![level.clone()] }, Cells::Text(vec![0; points.len()].into()))
            }
            Held::Number(value) => {
                let axis = columns.iter().position(|c| *c == at);
                let of = |p: &Point| axis.map_or(*value, |axis| p[axis]);
                (Kind::Number, Cells::F64(points.iter().map(of).collect()))
            }
        };
        heads.push(Column { name: name.clone(), kind });
        cells.push(column);
    }
    let origin = Origin { file: "points of the picture".into(), rows: RowPlaces::Numbered { first: 1 } };
    Table::new(heads, vec![Chunk { n_rows: points.len(), cells, sparse: None, origin }], 0)
}
