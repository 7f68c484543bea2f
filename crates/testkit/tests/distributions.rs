//! Distribution functions against values of many digits, and against each other by identities.

use linsep::numeric::{
    beta_ln_cdf, beta_quantile, chi_square_ln_tail, chi_square_quantile, f_ln_tail, f_quantile, normal_quantile,
    normal_two_sided_ln, student_quantile, student_two_sided_ln,
};
use serde_json::Value;
use testkit::golden::{json, numbers};

/// Rows of arguments and value of one function.
fn rows(golden: &Value, name: &str) -> Vec<(Vec<f64>, f64)> {
    let rows = golden[name].as_array().expect("rows");
    let split = |row: &Value| {
        let mut row = numbers(row);
        let value = row.pop().expect("a value");
        (row, value)
    };
    rows.iter().map(split).collect()
}

/// Largest relative errors of p where p > 1e-300, and of ln p beyond.
fn tail_errors(golden: &Value, name: &str, least: usize, found: impl Fn(&[f64]) -> f64) -> (f64, f64) {
    let rows = rows(golden, name);
    assert!(rows.len() >= least, "{name}: {} rows", rows.len());
    let (mut of_p, mut of_ln) = ((0.0, Vec::new()), (0.0, Vec::new()));
    for (at, value) in rows {
        let found = found(&at);
        let (error, worst) = match value > 1e-300f64.ln() {
            true => ((found - value).exp_m1().abs(), &mut of_p),
            false => ((found / value - 1.0).abs(), &mut of_ln),
        };
        assert!(!error.is_nan(), "{name} at {at:?}: {found}, not {value}");
        if error > worst.0 {
            *worst = (error, at);
        }
    }
    (of_p.0, of_ln.0)
}

#[test]
fn tails_of_mpmath() {
    let golden = json("distributions.json");
    let errors = [
        tail_errors(&golden, "normal_two_sided_ln", 30, |x| normal_two_sided_ln(x[0])),
        tail_errors(&golden, "chi_square_ln_tail", 180, |x| chi_square_ln_tail(x[0], x[1])),
        tail_errors(&golden, "student_two_sided_ln", 120, |x| student_two_sided_ln(x[0], x[1])),
        tail_errors(&golden, "f_ln_tail", 110, |x| f_ln_tail(x[0], x[1], x[2])),
        tail_errors(&golden, "beta_ln_cdf", 100, |x| beta_ln_cdf(x[0], x[1], x[2])),
    ];
    for (of_p, of_ln) in errors {
        assert!(of_p < 1e-12 && of_ln < 1e-13, "{errors:?}");
    }
}

#[test]
fn quantiles_of_mpmath() {
    let golden = json("distributions.json");
    let worst = |name: &str, found: &dyn Fn(&[f64]) -> f64| {
        let rows = rows(&golden, name);
        assert!(rows.len() >= 60, "{name}: {} rows", rows.len());
        let mut worst = (0.0, Vec::new());
        for (at, value) in rows {
            let error = (found(&at) / value - 1.0).abs();
            assert!(!error.is_nan(), "{name} at {at:?}: {}, not {value}", found(&at));
            if error > worst.0 {
                worst = (error, at);
            }
        }
        worst.0
    };
    let errors = [
        worst("chi_square_quantile", &|x| chi_square_quantile(x[0], x[1])),
        worst("student_quantile", &|x| student_quantile(x[0], x[1])),
        worst("f_quantile", &|x| f_quantile(x[0], x[1], x[2])),
        worst("beta_quantile", &|x| beta_quantile(x[0], x[1], x[2])),
    ];
    assert!(errors.iter().all(|e| *e < 1e-13), "{errors:?}");
}

/// Two logarithms of probabilities agree: p to `tolerance`, or ln p to it where p is far below one.
fn same(a: f64, b: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance * (0.01 * b.abs()).max(1.0), "{what}: {a}, not {b}");
}

#[test]
fn one_degree_of_freedom_is_the_normal_squared() {
    for k in 1..400 {
        // The square is exact, so both are asked the same question.
        let z = f64::from(k) / 8.0;
        same(chi_square_ln_tail(z * z, 1.0), normal_two_sided_ln(z), 1e-13, &format!("z = {z}"));
        assert_eq!(normal_two_sided_ln(z), normal_two_sided_ln(-z));
    }
}

#[test]
fn many_degrees_of_freedom_are_the_normal() {
    for z in [0.1, 1.0, 2.0, 10.0, 37.0] {
        assert_eq!(student_two_sided_ln(z, f64::INFINITY), normal_two_sided_ln(z));
        // The first correction is (z⁴ + z²)/(4 df) of a density, relative to a tail of about density/z.
        let close = student_two_sided_ln(z, 1e15) - normal_two_sided_ln(z);
        assert!(close.abs() < (z.powi(5) + z) * 1e-15 + 3e-13, "z = {z}: {close}");
        assert!((f_ln_tail(z, 3.0, 1e15) - f_ln_tail(z, 3.0, f64::INFINITY)).abs() < 1e-11, "z = {z}");
    }
    assert_eq!(f_ln_tail(2.5, 4.0, f64::INFINITY), chi_square_ln_tail(10.0, 4.0));
    assert_eq!(student_quantile(0.9, f64::INFINITY), normal_quantile(0.9));
    assert_eq!(f_quantile(0.9, 4.0, f64::INFINITY), chi_square_quantile(0.9, 4.0) / 4.0);
}

#[test]
fn the_square_of_t_is_f() {
    for df in [0.7, 1.0, 2.0, 9.0, 250.0, 1e7] {
        for t in [0.125, 0.5, 1.0, 2.25, 6.0, 30.0, 500.0] {
            same(student_two_sided_ln(t, df), f_ln_tail(t * t, 1.0, df), 1e-14, &format!("{t} {df}"));
            // Cauchy and two degrees of freedom in closed form: 1 − (2/π) arctan t, and 1 − t/√(2+t²).
            let closed = match df {
                1.0 => Some((t.recip().atan() * std::f64::consts::FRAC_2_PI).ln()),
                2.0 => Some((2.0 / (2.0 + t * t) / (1.0 + t / (2.0 + t * t).sqrt())).ln()),
                _ => None,
            };
            if let Some(closed) = closed {
                same(student_two_sided_ln(t, df), closed, 1e-14, &format!("{t} {df}"));
            }
        }
    }
}

#[test]
fn closed_forms_and_symmetries() {
    for x in [1e-9, 0.1, 1.0, 7.5, 300.0, 1e4, 1e9] {
        same(chi_square_ln_tail(x, 2.0), -0.5 * x, 1e-14, &format!("χ²₂ at {x}"));
        // Four degrees of freedom: e^{−x/2}(1 + x/2).
        same(chi_square_ln_tail(x, 4.0), (0.5 * x).ln_1p() - 0.5 * x, 1e-14, &format!("χ²₄ at {x}"));
    }
    for (a, b) in [(0.4, 3.0), (2.0, 2.0), (7.0, 0.6), (90.0, 300.0)] {
        for x in [0.125, 0.25, 0.5, 0.75, 0.875] {
            // I_x(a, b) + I_{1−x}(b, a) = 1; the arguments are exact.
            let sum = beta_ln_cdf(x, a, b).exp() + beta_ln_cdf(1.0 - x, b, a).exp();
            assert!((sum - 1.0).abs() < 1e-14, "{a} {b} {x}: {sum}");
            same(beta_ln_cdf(x, a, 1.0), a * x.ln(), 1e-14, "a power");
            same(beta_ln_cdf(x, 1.0, b), (-((-x).ln_1p() * b).exp_m1()).ln(), 1e-14, "a power from the other end");
            // 1/F has the degrees of freedom exchanged.
            let ratio = 1.0 / x;
            let one = f_ln_tail(ratio, a, b).exp() + f_ln_tail(x, b, a).exp();
            assert!((one - 1.0).abs() < 1e-14, "F {a} {b} {x}: {one}");
        }
    }
}

#[test]
fn whole_shapes_are_binomial_sums() {
    // I_x(k, n−k+1) = P(Bin(n, x) ≥ k).
    for (n, x) in [(12u32, 0.3f64), (40, 0.02), (60, 0.9)] {
        let mut term = (1.0 - x).powi(n as i32);
        let mut tails = vec![0.0; n as usize + 2];
        let mut masses = Vec::new();
        for k in 0..=n {
            masses.push(term);
            term *= f64::from(n - k) / f64::from(k + 1) * x / (1.0 - x);
        }
        for k in (0..=n as usize).rev() {
            tails[k] = tails[k + 1] + masses[k];
        }
        for k in 1..=n {
            let found = beta_ln_cdf(x, f64::from(k), f64::from(n - k + 1));
            same(found, tails[k as usize].ln(), 1e-13, &format!("{n} {x} {k}"));
        }
    }
}

#[test]
fn quantiles_invert_the_distribution_function() {
    for p in [1e-12, 1e-4, 0.025, 0.3, 0.5, 0.8, 0.975, 1.0 - 1e-6] {
        let upper = f64::ln(1.0 - p);
        for df in [0.4, 1.0, 6.0, 77.0, 3e5] {
            let (x, t) = (chi_square_quantile(p, df), student_quantile(p, df));
            // A quantile that is off by an ulp moves the tail by density/tail ulps.
            let tolerance = 1e-13 * (1.0 + df.sqrt()) / (1.0 - p);
            assert!((chi_square_ln_tail(x, df) - upper).abs() < tolerance, "χ² {p} {df}: {x}");
            let two_sided = (2.0 * f64::min(p, 1.0 - p)).ln();
            assert!((student_two_sided_ln(t, df) - two_sided).abs() < 1e-13 * 40.0, "t {p} {df}: {t}");
            assert!(t == 0.0 || (t > 0.0) == (p > 0.5));
            for other in [0.9, 5.0, 120.0] {
                let f = f_quantile(p, df, other);
                assert!((f_ln_tail(f, df, other) - upper).abs() < tolerance, "F {p} {df} {other}: {f}");
                let b = beta_quantile(p, df, other);
                let found = beta_ln_cdf(b, df, other);
                assert!(
                    (found - p.ln()).abs() < 1e-12 * (1.0 + df.sqrt()) || b > 1.0 - 1e-3,
                    "Beta {p} {df} {other}: {b} {found}"
                );
            }
        }
    }
}

#[test]
fn tails_fall_and_quantiles_rise() {
    for df in [0.2, 1.0, 3.0, 19.9, 20.1, 700.0] {
        let falls = |tail: &dyn Fn(f64) -> f64, what: &str| {
            let values: Vec<f64> = (0..400).map(|k| tail(0.01 * f64::from(k * k))).collect();
            assert!(values.windows(2).all(|w| w[1] <= w[0] + 1e-14), "{what} {df}");
            assert!(values.iter().all(|v| *v <= 0.0) && values[399] < values[1]);
        };
        falls(&|x| chi_square_ln_tail(x, df), "χ²");
        falls(&|t| student_two_sided_ln(t, df), "t");
        falls(&|x| f_ln_tail(x, df, 8.0), "F");
        falls(&|x| f_ln_tail(x, 8.0, df), "F");
        let quantiles: Vec<f64> = (1..200).map(|k| f_quantile(f64::from(k) / 200.0, df, 4.0)).collect();
        assert!(quantiles.windows(2).all(|w| w[0] < w[1]), "{df}: {quantiles:?}");
        // More degrees of freedom make a larger variable.
        assert!(chi_square_ln_tail(df, df) < chi_square_ln_tail(df, df + 0.1));
    }
}

#[test]
fn arguments_at_the_ends_and_beyond() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    assert_eq!([normal_two_sided_ln(0.0), normal_two_sided_ln(inf), normal_two_sided_ln(-inf)], [0.0, -inf, -inf]);
    assert!(normal_two_sided_ln(nan).is_nan());
    assert_eq!(
        [chi_square_ln_tail(0.0, 3.0), chi_square_ln_tail(-1.0, 3.0), chi_square_ln_tail(inf, 3.0)],
        [0.0, 0.0, -inf]
    );
    assert_eq!([chi_square_quantile(0.0, 3.0), chi_square_quantile(1.0, 3.0)], [0.0, inf]);
    assert_eq!([student_two_sided_ln(0.0, 3.0), student_two_sided_ln(-inf, 3.0)], [0.0, -inf]);
    assert_eq!([0.0, 0.5, 1.0].map(|p| student_quantile(p, 3.0)), [-inf, 0.0, inf]);
    assert_eq!([f_ln_tail(0.0, 2.0, 3.0), f_ln_tail(-5.0, 2.0, 3.0), f_ln_tail(inf, 2.0, 3.0)], [0.0, 0.0, -inf]);
    assert_eq!([f_quantile(0.0, 2.0, 3.0), f_quantile(1.0, 2.0, 3.0)], [0.0, inf]);
    assert_eq!([-1.0, 0.0, 1.0, 2.0].map(|x| beta_ln_cdf(x, 2.0, 3.0)), [-inf, -inf, 0.0, 0.0]);
    assert_eq!([beta_quantile(0.0, 2.0, 3.0), beta_quantile(1.0, 2.0, 3.0)], [0.0, 1.0]);
    // The least and the largest doubles are numbers like any other.
    for x in [5e-324, f64::MIN_POSITIVE, 1e-160, 1e160, f64::MAX] {
        let values = [
            chi_square_ln_tail(x, 3.0),
            student_two_sided_ln(x, 3.0),
            f_ln_tail(x, 2.0, 3.0),
            f_ln_tail(x, 1e-3, 1e300),
            beta_ln_cdf(x, 2.0, 3.0),
        ];
        assert!(values.iter().all(|v| *v <= 0.0), "{x}: {values:?}");
    }
    for df in [nan, 0.0, -1.0] {
        let values = [
            chi_square_ln_tail(1.0, df),
            chi_square_quantile(0.5, df),
            student_two_sided_ln(1.0, df),
            student_quantile(0.4, df),
            f_ln_tail(1.0, df, 2.0),
            f_ln_tail(1.0, 2.0, df),
            f_quantile(0.5, df, 2.0),
            f_quantile(0.5, 2.0, df),
            beta_ln_cdf(0.5, df, 2.0),
            beta_ln_cdf(0.5, 2.0, df),
            beta_quantile(0.5, df, 2.0),
            beta_quantile(0.5, 2.0, df),
        ];
        assert!(values.iter().all(|v| v.is_nan()), "{df}: {values:?}");
    }
    for p in [nan, -0.1, 1.1] {
        let values = [
            chi_square_quantile(p, 2.0),
            student_quantile(p, 2.0),
            f_quantile(p, 2.0, 3.0),
            beta_quantile(p, 2.0, 3.0),
        ];
        assert!(values.iter().all(|v| v.is_nan()), "{p}: {values:?}");
    }
    assert!(
        [
            chi_square_ln_tail(nan, 2.0),
            student_two_sided_ln(nan, 2.0),
            f_ln_tail(nan, 2.0, 2.0),
            beta_ln_cdf(nan, 1.0, 1.0)
        ]
        .iter()
        .all(|v| v.is_nan())
    );
}
