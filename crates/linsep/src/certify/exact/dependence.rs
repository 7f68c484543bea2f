//! Whether a column is a combination of others, in whole numbers.

use super::integer::ExactSum;
use crate::design::{Block, Design, Tile};
use crate::error::Result;
use crate::watch::Watch;
use num_bigint::Sign;

/// The largest common denominator that is tried. Chosen, not measured: relations with larger ones are not recognised.
const LARGEST_DENOMINATOR: u32 = 1000;
/// How near to an integer a coefficient times the denominator must be. Chosen, not measured: a wrong guess fails on the
/// rows.
const NEARLY_WHOLE: f64 = 1e-6;
/// Rows read in one block. Chosen, not measured: only the time depends on it.
const ROWS: usize = 256;
/// Integers below this are exact as doubles, with three bits to spare of 2⁵³.
const LARGEST_WHOLE: f64 = 1e15;
/// Above this the error of a product is a normal number: 2⁻⁵³ of it is far above 1e-308.
const NO_UNDERFLOW: f64 = 1e-280;

/// Proves `q·x_column = Σ p·x_other + constant` exactly on all rows of positive weight, for whole p and q near the
/// given coefficients. With `centre` the relation must hold for the centred columns without a constant, as it must in a
/// model without an intercept.
///
/// False says that no such relation was found, not that there is none.
///
/// ```
/// use linsep::certify::exactly_dependent;
/// use linsep::design::DenseMatrix;
/// let x = DenseMatrix::new(vec![0.1, 3.0, 6.0, 0.7, 5.0, 10.0, 0.3, 1.0, 2.0], 3)?;
/// assert!(exactly_dependent(&x, None, 2, &[(1, 2.0 + 1e-9)], None, &Default::default())?);
/// assert!(!exactly_dependent(&x, None, 2, &[(0, 1.0), (1, 2.0)], None, &Default::default())?);
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn exactly_dependent(
    design: &dyn Design,
    weights: Option<&[f64]>,
    column: usize,
    combination: &[(usize, f64)],
    centre: Option<&[f64]>,
    watch: &Watch,
) -> Result<bool> {
    let Some(terms) = whole_terms(column, combination) else { return Ok(false) };
    // Products with the constant that the first row (or the centre) shows, to be taken off again.
    let mut reference: Option<Vec<(f64, f64)>> = centre.map(|c| terms.iter().map(|(j, p)| (-*p, c[*j])).collect());
    let (rows, mut tile) = (design.shape().rows, Tile::default());
    for start in (0..rows).step_by(ROWS) {
        if watch.halted().is_some() {
            return Ok(false);
        }
        let range = start..(start + ROWS).min(rows);
        let block = design.block(range.clone(), &mut tile)?;
        for i in range {
            if weights.is_some_and(|w| w[i] == 0.0) {
                continue;
            }
            let products: Vec<(f64, f64)> = terms.iter().map(|(j, p)| (*p, entry(&block, i - start, *j))).collect();
            match &reference {
                None => reference = Some(products.iter().map(|(p, x)| (-p, *x)).collect()),
                Some(reference) if !cancel(&products, reference) => return Ok(false),
                Some(_) => {}
            }
        }
    }
    Ok(true)
}

/// Whole multiples of the columns that would add up to a constant.
fn whole_terms(column: usize, combination: &[(usize, f64)]) -> Option<Vec<(usize, f64)>> {
    let near = |q: f64, c: f64| (q * c - (q * c).round()).abs() <= NEARLY_WHOLE * (1.0 + (q * c).abs());
    let q = (1..=LARGEST_DENOMINATOR).map(f64::from).find(|q| combination.iter().all(|(_, c)| near(*q, *c)))?;
    let mut terms: Vec<(usize, f64)> = combination.iter().map(|(j, c)| (*j, (q * c).round())).collect();
    terms.retain(|(_, p)| *p != 0.0);
    terms.push((column, -q));
    (terms.iter().all(|(_, p)| p.abs() < LARGEST_WHOLE)).then_some(terms)
}

fn entry(block: &Block<'_>, row: usize, column: usize) -> f64 {
    match block {
        Block::F64(dense) => dense.values[row * dense.cols + column],
        Block::F32(dense) => f64::from(dense.values[row * dense.cols + column]),
        Block::Csr(rows) => {
            let (columns, values) = rows.row(row);
            columns.binary_search(&(column as u32)).map_or(0.0, |at| values[at])
        }
    }
}

/// Whether all products together are exactly zero: in doubles where nothing is rounded, else in whole numbers.
fn cancel(products: &[(f64, f64)], reference: &[(f64, f64)]) -> bool {
    let (mut sum, mut exact) = (0.0f64, true);
    for (p, x) in products.iter().chain(reference) {
        let product = p * x;
        let next = sum + product;
        let back = next - sum;
        let lost = (sum - (next - back)) + (product - back);
        // Where underflow could hide an error, or one shows, whole numbers decide.
        let plain = *x == 0.0 || product.abs() > NO_UNDERFLOW;
        exact &= plain && p.mul_add(*x, -product) == 0.0 && lost == 0.0;
        sum = next;
    }
    if exact && sum.is_finite() {
        return sum == 0.0;
    }
    let mut sum = ExactSum::new();
    products.iter().chain(reference).for_each(|(p, x)| sum.add_product(*p, *x));
    sum.sign() == Sign::NoSign
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::DenseMatrix;

    #[test]
    fn a_relation_holds_exactly_or_not_at_all() -> Result<()> {
        // 0.1 + 0.2 is not 0.3, but the doubles 0.1·3 … as stored may be.
        let rows = [[0.1, 0.2, 0.1 + 0.2], [0.5, 0.25, 0.75], [1e-300, 3.0, 3.0]];
        let flat: Vec<f64> = rows.iter().flatten().copied().collect();
        let all = DenseMatrix::new(flat.clone(), 3)?;
        let some = DenseMatrix::new(flat[3..6].to_vec(), 3)?;
        let calm = Watch::default();
        let relation = [(0, 1.0), (1, 1.0)];
        assert!(!exactly_dependent(&all, None, 2, &relation, None, &calm)?);
        assert!(!exactly_dependent(&all, Some(&[1.0, 1.0, 0.0]), 2, &relation, None, &calm)?);
        assert!(exactly_dependent(&all, Some(&[0.0, 1.0, 0.0]), 2, &relation, None, &calm)?);
        assert!(exactly_dependent(&some, None, 2, &relation, Some(&[0.0; 3]), &calm)?);
        assert!(!exactly_dependent(&some, None, 2, &relation, Some(&[1.0; 3]), &calm)?);
        Ok(())
    }
}
