//! Some columns of a design as a design of their own.

use super::{CsrMatrix, DenseMatrix, Design, Pass, PreparedDesign, Rows, Units, is_sparse};
use crate::error::Result;
use crate::watch::Watch;

/// Copies the given columns, which must rise, in that order.
///
/// ```
/// use linsep::design::{DenseMatrix, Design, select};
/// let x = DenseMatrix::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3)?;
/// let some = select(&x, &[0, 2], &Default::default())?;
/// assert_eq!((some.as_design().shape().rows, some.as_design().shape().cols), (2, 2));
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn select(design: &dyn Design, columns: &[usize], watch: &Watch) -> Result<PreparedDesign> {
    let shape = design.shape();
    let (m, units) = (columns.len(), Units::identity(shape.cols));
    let pass = Pass::new(design, &units).partials_of(1);
    let mut dense = Vec::new();
    let sparse = is_sparse(design);
    if !sparse {
        dense.resize(shape.rows * m, 0.0);
    }
    let mut position = vec![u32::MAX; if sparse { shape.cols } else { 0 }];
    if sparse {
        columns.iter().enumerate().for_each(|(at, j)| position[*j] = at as u32);
    }
    let width = if sparse { 0 } else { m };
    let part = pass.reduce(
        watch,
        (width, &mut dense),
        SparsePart::default,
        |part, _, rows, out| {
            match rows {
                Rows::Dense(values) => {
                    for (out, x) in out.chunks_exact_mut(m.max(1)).zip(values.chunks_exact(shape.cols.max(1))) {
                        out.iter_mut().zip(columns).for_each(|(o, j)| *o = x[*j]);
                    }
                }
                Rows::Csr(rows) => (0..rows.len()).for_each(|i| part.add(rows.row(i), &position)),
            }
            Ok(())
        },
        SparsePart::append,
    )?;
    Ok(match sparse {
        true => {
            let mut starts = Vec::with_capacity(shape.rows + 1);
            starts.push(0);
            starts.extend(part.lengths.iter().scan(0, |end, length| {
                *end += *length as usize;
                Some(*end)
            }));
            PreparedDesign::Sparse(CsrMatrix::new(starts, part.indices, part.values, m)?)
        }
        false => PreparedDesign::Dense(DenseMatrix::new(dense, m)?),
    })
}

/// The selected entries of some rows.
#[derive(Default)]
struct SparsePart {
    lengths: Vec<u32>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl SparsePart {
    fn add(&mut self, (columns, values): (&[u32], &[f64]), position: &[u32]) {
        let before = self.indices.len();
        for (c, v) in columns.iter().zip(values) {
            let at = position[*c as usize];
            if at != u32::MAX {
                self.indices.push(at);
                self.values.push(*v);
            }
        }
        self.lengths.push((self.indices.len() - before) as u32);
    }

    fn append(&mut self, other: SparsePart) {
        self.lengths.extend(other.lengths);
        self.indices.extend(other.indices);
        self.values.extend(other.values);
    }
}
