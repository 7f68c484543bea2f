//! Features as Python holds them, lent to the library.

use crate::errors::LinsepError;
use crate::table::{Columns, stream};
use linsep::design::{CsrMatrix, DenseMatrix, Design};
use linsep::table::Table;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::borrow::Cow;

/// Features that are kept alive while they are lent.
pub(crate) enum Features<'py> {
    F64(Bound<'py, PyArray2<f64>>),
    F32(Bound<'py, PyArray2<f32>>),
    Csr { starts: Vec<usize>, indices: Indices<'py>, values: Values<'py>, cols: usize },
    Table(Box<Table>),
}

/// Columns of sparse entries: lent where they are 32 bits wide.
pub(crate) enum Indices<'py> {
    Lent(Bound<'py, PyArray1<i32>>),
    Copied(Vec<u32>),
}

/// Values of sparse entries: lent where they are doubles.
pub(crate) enum Values<'py> {
    Lent(Bound<'py, PyArray1<f64>>),
    Copied(Vec<f64>),
}

impl Indices<'_> {
    pub(crate) fn copied(&self) -> PyResult<Vec<u32>> {
        Ok(match self {
            // SAFETY: copied before anything else runs.
            Indices::Lent(array) => as_unsigned(unsafe { array.as_slice() }?).to_vec(),
            Indices::Copied(columns) => columns.clone(),
        })
    }
}

impl Values<'_> {
    pub(crate) fn copied(&self) -> PyResult<Vec<f64>> {
        Ok(match self {
            // SAFETY: copied before anything else runs.
            Values::Lent(array) => unsafe { array.as_slice() }?.to_vec(),
            Values::Copied(values) => values.clone(),
        })
    }
}

/// What the library sees.
pub(crate) enum Lent<'a> {
    F64(DenseMatrix<'a, f64>),
    F32(DenseMatrix<'a, f32>),
    Csr(CsrMatrix<'a>),
}

impl Lent<'_> {
    pub(crate) fn as_design(&self) -> &dyn Design {
        match self {
            Lent::F64(matrix) => matrix,
            Lent::F32(matrix) => matrix,
            Lent::Csr(matrix) => matrix,
        }
    }
}

impl<'py> Features<'py> {
    pub(crate) fn of(x: &Bound<'py, PyAny>) -> PyResult<Features<'py>> {
        if let Ok(array) = x.cast::<PyArray2<f64>>() {
            return Ok(Features::F64(array.clone()));
        }
        if let Ok(array) = x.cast::<PyArray2<f32>>() {
            return Ok(Features::F32(array.clone()));
        }
        if let Ok(columns) = x.cast::<Columns>() {
            return Ok(Features::Table(Box::new(columns.get().table.clone())));
        }
        if x.hasattr("__arrow_c_stream__")? {
            return Ok(Features::Table(Box::new(stream(x)?)));
        }
        let Ok(parts) = x.cast::<PyTuple>() else {
            return Err(LinsepError::new_err("features must be a 2-D array of floats, CSR arrays or a table"));
        };
        let (starts, indices, values, cols): (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, usize) =
            parts.extract()?;
        Ok(Features::Csr {
            starts: row_starts(&starts)?,
            indices: columns(&indices, cols)?,
            values: entries(&values)?,
            cols,
        })
    }

    /// The matrix, lent; a table has none yet.
    ///
    /// # Safety
    /// Nobody may write to the arrays while the matrix is in use.
    pub(crate) unsafe fn lend(&self) -> PyResult<Lent<'_>> {
        let refused = |e: linsep::Error| LinsepError::new_err(e.to_string());
        let strided = |_| LinsepError::new_err("features must be C-contiguous");
        Ok(match self {
            // SAFETY: promised by the caller.
            Features::F64(array) => {
                let values = unsafe { array.as_slice() }.map_err(strided)?;
                Lent::F64(DenseMatrix::new(values, width(array)).map_err(refused)?)
            }
            // SAFETY: promised by the caller.
            Features::F32(array) => {
                let values = unsafe { array.as_slice() }.map_err(strided)?;
                Lent::F32(DenseMatrix::new(values, width(array)).map_err(refused)?)
            }
            Features::Csr { starts, indices, values, cols } => {
                let indices: Cow<'_, [u32]> = match indices {
                    // SAFETY: promised by the caller; negative columns become columns that the matrix does not have.
                    Indices::Lent(array) => Cow::Borrowed(as_unsigned(unsafe { array.as_slice() }?)),
                    Indices::Copied(columns) => Cow::Borrowed(columns),
                };
                let values: Cow<'_, [f64]> = match values {
                    // SAFETY: promised by the caller.
                    Values::Lent(array) => Cow::Borrowed(unsafe { array.as_slice() }?),
                    Values::Copied(values) => Cow::Borrowed(values),
                };
                Lent::Csr(CsrMatrix::new(&starts[..], indices, values, *cols).map_err(refused)?)
            }
            Features::Table(_) => return Err(LinsepError::new_err("a table is no matrix")),
        })
    }
}

fn width<T: numpy::Element>(array: &Bound<'_, PyArray2<T>>) -> usize {
    use numpy::PyUntypedArrayMethods;
    array.shape()[1]
}

fn as_unsigned(columns: &[i32]) -> &[u32] {
    // SAFETY: the two types have the same size, alignment and valid bits.
    unsafe { std::slice::from_raw_parts(columns.as_ptr().cast(), columns.len()) }
}

fn row_starts(array: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let negative = || LinsepError::new_err("the row starts of a sparse matrix must rise from 0");
    if let Ok(array) = array.cast::<PyArray1<i32>>() {
        // SAFETY: copied before anything else runs.
        return unsafe { array.as_slice() }?.iter().map(|s| usize::try_from(*s).map_err(|_| negative())).collect();
    }
    let array = array.cast::<PyArray1<i64>>().map_err(|_| LinsepError::new_err("row starts must be int32 or int64"))?;
    // SAFETY: as above.
    unsafe { array.as_slice() }?.iter().map(|s| usize::try_from(*s).map_err(|_| negative())).collect()
}

fn columns<'py>(array: &Bound<'py, PyAny>, cols: usize) -> PyResult<Indices<'py>> {
    if cols > i32::MAX as usize {
        return Err(LinsepError::new_err(format!("{cols} columns are more than a sparse matrix may have here")));
    }
    if let Ok(array) = array.cast::<PyArray1<i32>>() {
        return Ok(Indices::Lent(array.clone()));
    }
    let wide = array.cast::<PyArray1<i64>>().map_err(|_| LinsepError::new_err("columns must be int32 or int64"))?;
    let beyond = || LinsepError::new_err(format!("a sparse entry is beyond column {cols}"));
    // SAFETY: copied before anything else runs.
    let narrow: PyResult<Vec<u32>> =
        unsafe { wide.as_slice() }?.iter().map(|c| u32::try_from(*c).map_err(|_| beyond())).collect();
    Ok(Indices::Copied(narrow?))
}

fn entries<'py>(array: &Bound<'py, PyAny>) -> PyResult<Values<'py>> {
    if let Ok(array) = array.cast::<PyArray1<f64>>() {
        return Ok(Values::Lent(array.clone()));
    }
    let narrow =
        array.cast::<PyArray1<f32>>().map_err(|_| LinsepError::new_err("values must be float64 or float32"))?;
    // SAFETY: copied before anything else runs.
    Ok(Values::Copied(unsafe { narrow.as_slice() }?.iter().map(|v| f64::from(*v)).collect()))
}

/// A one-dimensional array of doubles, copied: weights and the like.
pub(crate) fn doubles(array: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<f64>>> {
    let Some(array) = array else { return Ok(None) };
    let array =
        array.cast::<PyArray1<f64>>().map_err(|_| LinsepError::new_err("weights must be an array of float64"))?;
    // SAFETY: copied before anything else runs.
    Ok(Some(unsafe { array.as_slice() }?.to_vec()))
}
