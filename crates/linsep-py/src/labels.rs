//! Labels as codes.

use crate::errors::LinsepError;
use linsep::table::{Class, Labels};
use numpy::{PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// Distinct labels within so wide a range are found by a table.
const TABLE: i64 = 1 << 16;

/// The distinct labels in rising order, and the place of each label among them.
fn of_integers(values: &[i64]) -> (Vec<i64>, Vec<u32>) {
    let (Some(low), Some(high)) = (values.iter().min().copied(), values.iter().max().copied()) else {
        return (Vec::new(), Vec::new());
    };
    if high.checked_sub(low).is_some_and(|range| range < TABLE) {
        let mut place = vec![u32::MAX; (high - low) as usize + 1];
        values.iter().for_each(|v| place[(v - low) as usize] = 0);
        let mut classes = Vec::new();
        for (at, place) in place.iter_mut().enumerate().filter(|(_, place)| **place == 0) {
            *place = classes.len() as u32;
            classes.push(low + at as i64);
        }
        return (classes, values.iter().map(|v| place[(v - low) as usize]).collect());
    }
    let mut classes = values.to_vec();
    classes.sort_unstable();
    classes.dedup();
    let codes = values.iter().map(|v| classes.partition_point(|c| c < v) as u32).collect();
    (classes, codes)
}

/// Classes and codes of an array of int64 or float64 labels, C-contiguous.
#[pyfunction]
pub(crate) fn encode<'py>(y: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyArray1<u32>>)> {
    let py = y.py();
    if let Ok(array) = y.cast::<PyArray1<i64>>() {
        // SAFETY: read while attached to the interpreter, and nothing else runs before the slice is done with.
        let (classes, codes) = of_integers(unsafe { array.as_slice() }?);
        return Ok((PyArray1::from_vec(py, classes).into_any(), PyArray1::from_vec(py, codes)));
    }
    if let Ok(array) = y.cast::<PyArray1<f64>>() {
        // SAFETY: as above.
        let values = unsafe { array.as_slice() }?;
        if values.iter().any(|v| v.is_nan()) {
            return Err(LinsepError::new_err("Input y contains NaN."));
        }
        if values.iter().any(|v| v.is_infinite()) {
            return Err(LinsepError::new_err("Input y contains infinity or a value too large."));
        }
        if let Some(part) = values.iter().find(|v| v.fract() != 0.0 || v.abs() > 9e15) {
            return Err(LinsepError::new_err(format!(
                "Unknown label type: continuous. The label {part} is not a whole number: a classifier needs classes"
            )));
        }
        let whole: Vec<i64> = values.iter().map(|v| *v as i64).collect();
        let (classes, codes) = of_integers(&whole);
        let classes: Vec<f64> = classes.into_iter().map(|c| c as f64).collect();
        return Ok((PyArray1::from_vec(py, classes).into_any(), PyArray1::from_vec(py, codes)));
    }
    Err(LinsepError::new_err("labels to encode must be a one-dimensional array of int64 or float64"))
}

/// Labels from the codes of Python.
pub(crate) fn labels(given: &Bound<'_, PyAny>, classes: Vec<String>) -> PyResult<Labels> {
    Ok(Labels::new(codes(given, classes.len())?, classes))
}

/// The codes alone, of so many classes.
pub(crate) fn codes(codes: &Bound<'_, PyAny>, classes: usize) -> PyResult<Vec<Class>> {
    let beyond = || LinsepError::new_err(format!("a label is not one of the {classes} classes"));
    let class = |code: Option<u32>| code.filter(|c| (*c as usize) < classes).map(Class).ok_or_else(beyond);
    if let Ok(array) = codes.cast::<PyArray1<u32>>() {
        // SAFETY: as in `encode`.
        unsafe { array.as_slice() }?.iter().map(|c| class(Some(*c))).collect()
    } else if let Ok(array) = codes.cast::<PyArray1<i64>>() {
        // SAFETY: as in `encode`.
        unsafe { array.as_slice() }?.iter().map(|c| class(u32::try_from(*c).ok())).collect()
    } else {
        let found =
            codes.cast::<numpy::PyUntypedArray>().map_or("something else".to_owned(), |a| a.dtype().to_string());
        Err(LinsepError::new_err(format!("codes must be an array of uint32 or int64, not {found}")))
    }
}
