//! exp and log to 400 bits, by series on a working precision that covers what the reductions lose.

use super::real::{BITS, Float, Real};
use std::sync::OnceLock;

/// Bits of the intermediate values: 20 go to the reduction of arguments up to 1e6, 24 to repeated squaring.
const WORK: usize = 480;
/// Halvings of the reduced argument.
const HALVINGS: usize = 24;
/// `e^{−10⁶}` is `2^{−1.4·10⁶}`: below any double and any difference of objectives here.
const VANISHES: f64 = -1e6;

fn work(value: f64) -> Float {
    Float::try_from(value).expect("a finite double").with_precision(WORK).value()
}

fn constants() -> &'static (Float, Vec<Float>) {
    static CONSTANTS: OnceLock<(Float, Vec<Float>)> = OnceLock::new();
    CONSTANTS.get_or_init(|| {
        let (mut inverse, mut factorials) = (work(1.0), vec![work(1.0)]);
        for k in 1..24u32 {
            inverse /= work(f64::from(k));
            factorials.push(inverse.clone());
        }
        (work(2.0).ln(), factorials)
    })
}

/// `e^x` on the working precision; x at most 1e6 in size.
fn exp_work(x: &Float) -> Float {
    let (ln2, inverse_factorials) = constants();
    let n = (x.to_f64().value() / std::f64::consts::LN_2).round();
    let r = (x - &(ln2 * &work(n))) >> HALVINGS as isize;
    // |r| < 2^−25: the 20th term is below 2^−500.
    let mut sum = inverse_factorials[19].clone();
    for k in (0..19).rev() {
        sum = &sum * &r + &inverse_factorials[k];
    }
    for _ in 0..HALVINGS {
        sum = sum.sqr();
    }
    sum << n as isize
}

impl Real {
    /// `e^x` for x up to 1e6; zero below −1e6.
    ///
    /// # Panics
    /// Above 1e6: the losses never ask for it.
    pub fn exp(&self) -> Real {
        let size = self.to_f64();
        if size < VANISHES {
            return Real::zero();
        }
        assert!(size <= -VANISHES, "exp of {size:e}");
        Real(exp_work(&self.0.clone().with_precision(WORK).value()).with_precision(BITS).value())
    }

    /// `ln(1 + t)` for t ≥ 0, with relative precision for small t.
    pub fn ln_1p(&self) -> Real {
        assert!(self.sign() >= 0, "ln(1 + t) of a negative number");
        if self.is_zero() {
            return Real::zero();
        }
        let t = self.0.clone().with_precision(WORK).value();
        if *self < Real::power_of_two(-16) {
            return Real(ln_1p_series(&t).with_precision(BITS).value());
        }
        // Halley's step on e^l = 1+t has cubic convergence: 2^−53, 2^−159, 2^−477.
        let value = work(1.0) + &t;
        let mut l = work(self.to_f64().ln_1p());
        for _ in 0..2 {
            let e = exp_work(&l);
            l += (&value - &e) * work(2.0) / (&value + &e);
        }
        Real(l.with_precision(BITS).value())
    }

    /// `ln x` for x ≥ 1.
    pub fn ln(&self) -> Real {
        (self - Real::one()).ln_1p()
    }
}

/// `2 artanh(t/(2+t))` for t below 2^−16.
fn ln_1p_series(t: &Float) -> Float {
    let u = t / (work(2.0) + t);
    let square = u.sqr();
    let mut sum = work(0.0);
    for k in (0..15u32).rev() {
        sum = sum * &square + work(1.0) / work(f64::from(2 * k + 1));
    }
    sum * u * work(2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: &Real, b: &Real, what: &str) {
        let size = a.abs().max(b.abs());
        assert!((a - b).abs() <= size * Real::power_of_two(-390), "{what}: {a:?} and {b:?}");
    }

    #[test]
    fn exponentials_agree_with_the_crate_and_with_their_law() {
        for x in [0.0, 1e-30, -1e-9, 0.7, -3.25, 40.0, -700.0, -745.5, 12345.678] {
            let x = Real::from(x);
            if !x.is_zero() {
                near(&x.exp(), &Real(x.0.exp()), "exp");
            }
            near(&(x.exp() * (-&x).exp()), &Real::one(), "exp(x)exp(−x)");
        }
    }

    #[test]
    fn logarithms_invert_exponentials() {
        for t in [1e-200, 1e-30, 1.5e-5, 1e-3, 0.3, 1.0, 2.5, 1e10] {
            let t = Real::from(t);
            near(&t.ln_1p(), &Real(t.0.ln_1p()), "ln(1+t)");
            let back = t.ln_1p().exp() - Real::one();
            if t > Real::from(1e-4) {
                assert!((&back - &t).abs() <= &t * Real::power_of_two(-370), "{t:?}");
            }
        }
        near(&Real::from(8.0).ln(), &(Real::from(2.0).ln() * Real::from(3.0)), "ln 8");
    }
}
