//! Weights, means and scatters as bytes, for a file or another machine.

use super::{ClassMoments, Scatter};
use crate::error::{Error, Result};
use crate::linalg::Square;

impl ClassMoments {
    /// The statistics as bytes: sizes, weights, means and their tails, lower triangles, little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let kind = u64::from(self.kind == Scatter::Own);
        for size in [kind, self.weights.len() as u64, self.cols as u64] {
            bytes.extend(size.to_le_bytes());
        }
        let lower = |s: &Square| {
            (0..self.cols)
                .flat_map(|j| (j..self.cols).map(move |i| (i, j)))
                .map(|(i, j)| s.get(i, j))
                .collect::<Vec<f64>>()
        };
        let scatter = self.scatters.iter().flat_map(lower);
        for value in self.weights.iter().chain(&self.means).chain(&self.tails).copied().chain(scatter) {
            bytes.extend(value.to_le_bytes());
        }
        bytes
    }

    /// The statistics back from [`ClassMoments::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<ClassMoments> {
        let bad = || Error::data("these bytes are not class statistics");
        let words: Vec<[u8; 8]> = bytes.chunks_exact(8).filter_map(|w| w.try_into().ok()).collect();
        let [kind, classes, cols, values @ ..] = &words[..] else { return Err(bad()) };
        let kind = match u64::from_le_bytes(*kind) {
            0 => Scatter::Pooled,
            1 => Scatter::Own,
            _ => return Err(bad()),
        };
        let (classes, cols) = (u64::from_le_bytes(*classes), u64::from_le_bytes(*cols));
        let matrices = kind.matrices(classes as usize) as u64;
        let expected = classes.checked_mul(cols).and_then(|means| {
            let scatter = cols.checked_mul(cols + 1)?.checked_mul(matrices)? / 2;
            means.checked_mul(2)?.checked_add(scatter)?.checked_add(classes)
        });
        if !bytes.len().is_multiple_of(8) || expected != Some(values.len() as u64) {
            return Err(bad());
        }
        let (classes, cols) = (classes as usize, cols as usize);
        let mut values = values.iter().map(|w| f64::from_le_bytes(*w));
        let weights: Vec<f64> = values.by_ref().take(classes).collect();
        let means: Vec<f64> = values.by_ref().take(classes * cols).collect();
        let tails: Vec<f64> = values.by_ref().take(classes * cols).collect();
        let mut next = |_, _| values.next().unwrap_or(f64::NAN);
        let scatters = (0..matrices).map(|_| Square::from_lower(cols, &mut next)).collect();
        let moments = ClassMoments { kind, cols, weights, means, tails, scatters };
        // Impossible values are refused here: later they would only show as a meaningless fit.
        if !moments.is_finite() || moments.weights.iter().any(|w| *w < 0.0) {
            return Err(bad());
        }
        Ok(moments)
    }
}
