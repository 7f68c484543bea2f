//! The outlines of symbols.

use super::drawing::short;
use crate::scene::Symbol;
use std::fmt::Write;

/// The path of a symbol of a radius about a point. The areas of the filled ones are about equal.
pub(super) fn path(symbol: Symbol, [x, y]: [f64; 2], r: f64) -> String {
    let polygon = |corners: &[(f64, f64)], size: f64| {
        let mut d = String::new();
        for (at, (dx, dy)) in corners.iter().enumerate() {
            let letter = if at == 0 { 'M' } else { 'L' };
            let _ = write!(d, "{letter}{} {}", short(x + dx * size), short(y + dy * size));
        }
        d + "Z"
    };
    match symbol {
        Symbol::Circle | Symbol::Ring => {
            let (r, left, width) = (short(r), short(x - r), short(2.0 * r));
            format!("M{left} {}a{r} {r} 0 1 0 {width} 0a{r} {r} 0 1 0 -{width} 0Z", short(y))
        }
        Symbol::Square => polygon(&[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)], 0.88 * r),
        Symbol::Triangle => polygon(&[(0.0, -1.25), (1.1, 0.75), (-1.1, 0.75)], 1.05 * r),
        Symbol::TriangleDown => polygon(&[(0.0, 1.25), (1.1, -0.75), (-1.1, -0.75)], 1.05 * r),
        Symbol::Diamond => polygon(&[(0.0, -1.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)], 1.28 * r),
        Symbol::Hexagon => {
            polygon(&[(-1.0, 0.0), (-0.5, -0.87), (0.5, -0.87), (1.0, 0.0), (0.5, 0.87), (-0.5, 0.87)], 1.12 * r)
        }
        Symbol::Plus => polygon(&upright_cross(), 1.2 * r),
        Symbol::Cross => {
            let half = std::f64::consts::FRAC_1_SQRT_2;
            let turned: Vec<(f64, f64)> =
                upright_cross().iter().map(|(a, b)| (half * (a - b), half * (a + b))).collect();
            polygon(&turned, 1.2 * r)
        }
    }
}

/// A cross with arms of a third of its width.
fn upright_cross() -> [(f64, f64); 12] {
    let (a, b) = (0.36, 1.0);
    [(-a, -b), (a, -b), (a, -a), (b, -a), (b, a), (a, a), (a, b), (-a, b), (-a, a), (-b, a), (-b, -a), (-a, -a)]
}
