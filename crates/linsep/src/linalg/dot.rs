//! Sums of products, in an order that depends on the length alone.
//!
//! Eight running sums, so that an addition need not wait for the one before; they are added in pairs. Every bound of
//! [`crate::certify`] on such a sum holds for any order.

/// `Σ a b`, each product rounded: the same bits on every machine.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "as many factors");
    let mut lanes = [0.0; 8];
    let ((eights, rest), (others, last)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in eights.iter().zip(others) {
        (0..8).for_each(|k| lanes[k] += a[k] * b[k]);
    }
    rest.iter().zip(last).fold(total(lanes), |sum, (a, b)| sum + a * b)
}

/// `Σ a b` with fused products, for loops that are compiled twice ([`crate::numeric::vectorised`]): outside of these a
/// fused product is a call of a function.
#[inline(always)]
pub(super) fn fused_dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "as many factors");
    let mut lanes = [0.0f64; 8];
    let ((eights, rest), (others, last)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in eights.iter().zip(others) {
        (0..8).for_each(|k| lanes[k] = a[k].mul_add(b[k], lanes[k]));
    }
    rest.iter().zip(last).fold(total(lanes), |sum, (a, b)| a.mul_add(*b, sum))
}

#[inline(always)]
fn total(lanes: [f64; 8]) -> f64 {
    (lanes[0] + lanes[4]) + (lanes[1] + lanes[5]) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_the_sum_of_the_products() {
        // Whole numbers: every order gives the same bits.
        let number = |i: usize| ((i * 7919) % 101) as f64 - 50.0;
        for length in 0..40 {
            let (a, b): (Vec<f64>, Vec<f64>) = (0..length).map(|i| (number(i), number(i + 13))).unzip();
            let expected: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert_eq!((dot(&a, &b), fused_dot(&a, &b)), (expected, expected), "{length}");
        }
    }
}
