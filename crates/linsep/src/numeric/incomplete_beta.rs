//! The beta distribution: both tails, as logarithms.

use super::differences::{exp_minus_line, ln_minus_line};
use super::incomplete_gamma::Tails;
use super::stirling::{HALF_LN_TWO_PI, deviance, stirling_error};
use super::tail_integral::{fall_by_one, tail_integral};

/// From here on `e^τ` is the whole of `1 + y(e^τ − 1)` to a double, and may overflow soon.
const FAR: f64 = 600.0;

/// A point x of a beta distribution of shapes a, b, with everything about it that rounding would spoil.
#[derive(Debug, Clone, Copy)]
pub(super) struct BetaPoint {
    pub a: f64,
    pub b: f64,
    /// The point, and one minus it.
    pub x: f64,
    pub y: f64,
    /// Their logarithms, also where the numbers underflow.
    pub ln_x: f64,
    pub ln_y: f64,
    /// `(a+b)x − a = bx − ay`, to a few ulp of itself where it decides: it is the slope of the exponent at the point.
    pub excess: f64,
}

impl BetaPoint {
    /// The point x, 0 < x < 1, of which every digit counts.
    pub fn at(a: f64, b: f64, x: f64) -> BetaPoint {
        // (a+b)x − a with the rounding of the sum and of the product added back.
        let total = a + b;
        let (large, small) = if a > b { (a, b) } else { (b, a) };
        let lost = small - (total - large);
        let product = total * x;
        let excess = (product - a) + (total.mul_add(x, -product) + lost * x);
        BetaPoint { a, b, x, y: 1.0 - x, ln_x: x.ln(), ln_y: (-x).ln_1p(), excess }
    }

    /// The point where `y/x = (b/a) f`, given f and its logarithm: f has the F distribution of 2b and 2a degrees of freedom.
    pub fn at_ratio(a: f64, b: f64, f: f64, ln_f: f64) -> BetaPoint {
        let odds = b / a * f;
        let ln_odds = (b / a).ln() + ln_f;
        let (ln_x, ln_y) = match odds < 1.0 {
            true => (-odds.ln_1p(), ln_odds - odds.ln_1p()),
            false => (-ln_odds - odds.recip().ln_1p(), -odds.recip().ln_1p()),
        };
        let (x, y) = (1.0 / (1.0 + odds), 1.0 / (1.0 + odds.recip()));
        let excess = if (0.5..=2.0).contains(&f) { b * x * (1.0 - f) } else { b * x - a * y };
        BetaPoint { a, b, x, y, ln_x, ln_y, excess }
    }

    /// The point of log-odds w. Its last digit does not count: quantiles are sought among these.
    pub fn at_log_odds(a: f64, b: f64, w: f64) -> BetaPoint {
        BetaPoint::at_ratio(a, b, a / b * (-w).exp(), (a / b).ln() - w)
    }

    /// Seen from the other end.
    fn mirrored(self) -> BetaPoint {
        BetaPoint { a: self.b, b: self.a, x: self.y, y: self.x, ln_x: self.ln_y, ln_y: self.ln_x, excess: -self.excess }
    }

    /// `ln(xᵃ yᵇ/B(a,b))`: the deviances of a and b from their means, and three of Stirling's errors (C. Loader 2000).
    fn ln_density(&self) -> f64 {
        let BetaPoint { a, b, ln_x, ln_y, excess, .. } = *self;
        let total = a + b;
        let (share_a, share_b) = (a / total, b / total);
        let deviances = deviance(a, excess, ln_x - share_a.ln()) + deviance(b, -excess, ln_y - share_b.ln());
        let stirling = stirling_error(total) - stirling_error(a) - stirling_error(b);
        0.5 * (a.ln() + share_b.ln()) - HALF_LN_TWO_PI + stirling - deviances
    }

    /// `∫ e^{E(τ)} dτ`, the lower tail over the density in the log-odds: with `n = a+b`,
    /// `E = −aτ − n ln(y + x e^{−τ})`, written so that neither the linear nor, for the smaller of x and y, the quadratic
    /// terms cancel.
    fn lower_mass(&self) -> f64 {
        let BetaPoint { a, b, x, y, ln_y, excess, .. } = *self;
        let total = a + b;
        let scale = fall_by_one(excess, total * x * y);
        match x <= y {
            true => tail_integral(scale, |t| {
                excess * t - total * (x * exp_minus_line(-t) + ln_minus_line(x * (-t).exp_m1()))
            }),
            false => tail_integral(scale, |t| {
                let grown = y * t.exp_m1();
                match grown <= 1.0 {
                    true => excess * t - total * (y * exp_minus_line(t) + ln_minus_line(grown)),
                    false if t > FAR => -a * t - total * ln_y,
                    false => b * t - total * grown.ln_1p(),
                }
            }),
        }
    }

    /// Both tails: the one on the near side of the mean by its integral, the other as its complement, which is at least about
    /// as likely as the smaller shape is large. Only shapes far below one lose digits by it, in that proportion.
    pub fn tails(&self) -> Tails {
        let density = self.ln_density();
        match self.excess <= 0.0 {
            true => Tails::of_lower(density + self.lower_mass().ln(), density),
            false => Tails::of_upper(density + self.mirrored().lower_mass().ln(), density),
        }
    }
}
