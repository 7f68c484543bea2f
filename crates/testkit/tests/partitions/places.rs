//! Rows in places of very different sizes.

use linsep::design::{CsrMatrix, DenseMatrix, Design, LabelledRows, Units};
use linsep::objective::Sample;
use linsep::table::Class;
use testkit::data::Source;

/// Columns of all rows.
pub const COLS: usize = 5;
/// The scales of their units, and twice their spread.
pub const SCALES: [f64; COLS] = [1.0, 2.0, 3.0, 4.0, 5.0];

/// Rows as a place holds them.
pub struct Place {
    design: Box<dyn Design>,
    pub values: Vec<f64>,
    pub labels: Vec<Class>,
    pub weights: Option<Vec<f64>>,
    pub offsets: Option<Vec<f64>>,
}

impl Place {
    fn new(values: Vec<f64>, labels: Vec<Class>, weights: Option<Vec<f64>>, offsets: Option<Vec<f64>>) -> Place {
        let design = Box::new(DenseMatrix::new(values.clone(), COLS).unwrap());
        Place { design, values, labels, weights, offsets }
    }

    /// The same rows, held as sparse ones.
    pub fn sparse(self) -> Place {
        let indices = (0..self.values.len()).map(|at| (at % COLS) as u32).collect::<Vec<u32>>();
        let starts = (0..=self.labels.len()).map(|i| i * COLS).collect::<Vec<usize>>();
        let design = Box::new(CsrMatrix::new(starts, indices, self.values.clone(), COLS).unwrap());
        Place { design, ..self }
    }

    /// The same rows with another column.
    pub fn with_column(self, column: usize, value: impl Fn(&[f64]) -> f64) -> Place {
        let rows = self.values.chunks_exact(COLS);
        let values = rows.flat_map(|x| (0..COLS).map(|j| if j == column { value(x) } else { x[j] })).collect();
        Place::new(values, self.labels, self.weights, self.offsets)
    }

    /// What a place answers questions about.
    pub fn rows(&self) -> LabelledRows<'_> {
        LabelledRows { design: &*self.design, labels: &self.labels, weights: self.weights.as_deref() }
    }

    pub fn sample<'a>(&'a self, units: &'a Units) -> Sample<'a> {
        Sample::new(self.rows(), units).with_offsets(self.offsets.as_deref())
    }
}

/// So many rows in each place; columns have other scales and centres than their units say.
pub fn places(sizes: &[usize], classes: usize, offsets: usize, weighted: bool, scales: &[f64]) -> (Vec<Place>, Units) {
    let mut random = Source::new(classes as u64 + 10 * offsets as u64);
    let units = Units::new(vec![3.0; COLS], scales.to_vec());
    let place = |rows: &usize| {
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        let (mut weights, mut given) = (Vec::new(), Vec::new());
        for _ in 0..*rows {
            let x: Vec<f64> = (0..COLS).map(|j| 3.0 + SCALES[j] * 2.0 * random.uniform(-1.0, 1.0)).collect();
            let score = (x[0] - 3.0) + 0.3 * (x[1] - 3.0) + 1.5 * random.uniform(-1.0, 1.0);
            labels.push(Class((((score + 3.0) / 6.0 * classes as f64).clamp(0.0, classes as f64 - 1.0)) as u32));
            values.extend(x);
            weights.push((2.0 * random.uniform(-1.0, 1.0) + 3.0).round());
            given.extend((0..offsets).map(|_| 0.5 * random.uniform(-1.0, 1.0)));
        }
        Place::new(values, labels, weighted.then_some(weights), (offsets > 0).then_some(given))
    };
    (sizes.iter().map(place).collect(), units)
}

/// Seven places, one of them empty.
pub const SEVEN: [usize; 7] = [700, 1, 0, 1300, 450, 64, 900];

/// The same rows in one place.
pub fn together(places: &[Place]) -> Place {
    let all = |of: fn(&Place) -> &Option<Vec<f64>>| {
        of(&places[0]).as_ref().map(|_| places.iter().flat_map(|p| of(p).clone().unwrap()).collect::<Vec<f64>>())
    };
    Place::new(
        places.iter().flat_map(|p| p.values.clone()).collect(),
        places.iter().flat_map(|p| p.labels.clone()).collect(),
        all(|p| &p.weights),
        all(|p| &p.offsets),
    )
}
