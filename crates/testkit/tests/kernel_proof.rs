//! Claims about kernel machines against 400-bit arithmetic on the stored doubles: no gap is below the truth, no tolerance.

use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;
use linsep::certify::Certificate;
use linsep::design::Training;
use linsep::design::{Standardize, Units};
use linsep::discriminant::Discriminant;
use linsep::kernel::Kernel;
use linsep::model::{Fit, Fitted, KernelChoice, KernelPerceptronSettings, KernelSvmSettings, Method, PenaltyChoice};
use linsep::watch::Watch;
use testkit::data::{Data, Source, labels};

type Big = FBig<HalfEven, 2>;

fn big(value: f64) -> Big {
    Big::try_from(value).expect("a finite double").with_precision(400).value()
}

fn max0(value: Big) -> Big {
    if value > big(0.0) { value } else { big(0.0) }
}

/// The kernel of the stored doubles in ℝ; `ridge` on the diagonal of a table.
struct Truth<'a> {
    data: &'a Data,
    kernel: Kernel,
    units: &'a Units,
    ridge: f64,
}

impl Truth<'_> {
    fn seen(&self, i: usize) -> Vec<Big> {
        let of = |(j, x): (usize, &f64)| (big(*x) - big(self.units.centre()[j])) / big(self.units.scale()[j]);
        self.data.row(i).iter().enumerate().map(of).collect()
    }

    fn table(&self) -> Vec<Vec<Big>> {
        let n = self.data.rows();
        if self.kernel == Kernel::Precomputed {
            let half = big(0.5);
            let entry = |i: usize, j: usize| {
                let mean = (big(self.data.row(i)[j]) + big(self.data.row(j)[i])) * &half;
                if i == j { mean + big(self.ridge) } else { mean }
            };
            return (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
        }
        let rows: Vec<Vec<Big>> = (0..n).map(|i| self.seen(i)).collect();
        let of = |x: &[Big], y: &[Big]| self.value(x, y);
        rows.iter().map(|x| rows.iter().map(|y| of(x, y)).collect()).collect()
    }

    fn value(&self, x: &[Big], y: &[Big]) -> Big {
        let product = || x.iter().zip(y).fold(big(0.0), |s, (a, b)| s + a * b);
        match self.kernel {
            Kernel::Linear => product(),
            Kernel::Polynomial { gamma, coef0, degree } => {
                let base = big(gamma) * product() + big(coef0);
                (0..degree).fold(big(1.0), |p, _| p * &base)
            }
            Kernel::Rbf { gamma } => {
                let distance = x.iter().zip(y).fold(big(0.0), |s, (a, b)| s + (a - b) * (a - b));
                let exponent = big(gamma) * distance;
                match exponent.to_f64().value() {
                    0.0 => big(1.0),
                    tau if tau < 1e5 => (-exponent).exp(),
                    _ => big(0.0),
                }
            }
            other => panic!("{other:?} is not definite"),
        }
    }
}

/// A problem in 400 bits.
struct Twin {
    table: Vec<Vec<Big>>,
    signs: Vec<f64>,
    weights: Vec<f64>,
    lambda: f64,
}

impl Twin {
    fn total(&self) -> Big {
        self.weights.iter().fold(big(0.0), |s, w| s + big(*w))
    }

    /// F of coefficients and an intercept.
    fn objective(&self, beta: &[Big], intercept: &Big) -> Big {
        let scores = self.scores(beta);
        let squared = beta.iter().zip(&scores).fold(big(0.0), |s, (b, g)| s + b * g);
        self.loss(&scores, intercept) + big(0.5) * big(self.lambda) * squared
    }

    fn scores(&self, beta: &[Big]) -> Vec<Big> {
        self.table.iter().map(|row| row.iter().zip(beta).fold(big(0.0), |s, (k, b)| s + k * b)).collect()
    }

    fn loss(&self, scores: &[Big], intercept: &Big) -> Big {
        let term = |i: usize| big(self.weights[i]) * max0(big(1.0) - big(self.signs[i]) * (&scores[i] + intercept));
        (0..scores.len()).filter(|i| self.weights[*i] > 0.0).fold(big(0.0), |s, i| s + term(i)) / self.total()
    }

    /// The least F over intercepts, which is at a kink.
    fn at_best_intercept(&self, beta: &[Big]) -> Big {
        let scores = self.scores(beta);
        let squared = beta.iter().zip(&scores).fold(big(0.0), |s, (b, g)| s + b * g);
        let kinks = (0..beta.len()).map(|i| big(self.signs[i]) - &scores[i]);
        let least = kinks.map(|b| self.loss(&scores, &b)).reduce(|a, b| if a < b { a } else { b }).expect("rows");
        least + big(0.5) * big(self.lambda) * squared
    }

    /// The best F that was found from multipliers close to the optimum: the exact one on their face, and simpler points.
    fn least(&self, near: &[f64]) -> Big {
        let n = near.len();
        let bound = |i: usize| big(self.weights[i]) / (big(self.lambda) * self.total());
        let mut candidates = vec![vec![big(0.0); n], near.iter().map(|b| big(*b)).collect()];
        for slack in [1e-12, 1e-8, 1e-5, 1e-3] {
            let inside = |i: &usize| {
                let share = near[*i].abs() / bound(*i).to_f64().value();
                self.weights[*i] > 0.0 && share > slack && share < 1.0 - slack
            };
            let free: Vec<usize> = (0..n).filter(inside).collect();
            let mut beta: Vec<Big> = (0..n)
                .map(|i| {
                    let at_bound = self.weights[i] > 0.0 && near[i].abs() > 0.5 * bound(i).to_f64().value();
                    if at_bound && !free.contains(&i) { bound(i) * big(self.signs[i]) } else { big(0.0) }
                })
                .collect();
            if let Some(values) = self.on_face(&free, &beta) {
                free.iter().zip(values).for_each(|(i, v)| beta[*i] = v);
                candidates.push(beta);
            }
        }
        let values = candidates.iter().map(|beta| self.at_best_intercept(beta));
        values.reduce(|a, b| if a < b { a } else { b }).expect("candidates")
    }

    /// β of the free rows with margins of exactly one, given those at bounds.
    fn on_face(&self, free: &[usize], beta: &[Big]) -> Option<Vec<Big>> {
        let m = free.len();
        if m == 0 {
            return None;
        }
        let fixed = self.scores(beta);
        let mut system: Vec<Vec<Big>> = free
            .iter()
            .map(|i| {
                let mut row: Vec<Big> = free.iter().map(|j| self.table[*i][*j].clone()).collect();
                row.push(big(1.0));
                row.push(big(self.signs[*i]) - &fixed[*i]);
                row
            })
            .collect();
        let mut last = vec![big(1.0); m];
        last.push(big(0.0));
        last.push(-beta.iter().fold(big(0.0), |s, b| s + b));
        system.push(last);
        eliminate(system).map(|x| x[..m].to_vec())
    }
}

fn eliminate(mut a: Vec<Vec<Big>>) -> Option<Vec<Big>> {
    let n = a.len();
    let size = |v: &Big| if *v < big(0.0) { -v.clone() } else { v.clone() };
    // Tables of low rank have no single solution; what 400 bits leave of their pivots would make one of 1e120.
    let largest = a.iter().flat_map(|row| &row[..n]).map(size).reduce(|a, b| if a > b { a } else { b })?;
    let smallest = largest * big(1e-60);
    for k in 0..n {
        let pivot = (k..n).max_by(|i, j| size(&a[*i][k]).partial_cmp(&size(&a[*j][k])).expect("numbers"))?;
        a.swap(k, pivot);
        if size(&a[k][k]) <= smallest {
            return None;
        }
        let top = a[k].clone();
        for row in a.iter_mut().skip(k + 1) {
            let factor = &row[k] / &top[k];
            row.iter_mut().zip(&top).skip(k).for_each(|(v, t)| *v = &*v - &factor * t);
        }
    }
    let mut x = vec![big(0.0); n];
    for k in (0..n).rev() {
        let known = (k + 1..n).fold(big(0.0), |s, j| s + &a[k][j] * &x[j]);
        x[k] = (&a[k][n] - known) / &a[k][k];
    }
    Some(x)
}

/// F of what a model stores.
fn stored_objective(truth: &Truth<'_>, twin: &Twin, discriminant: &Discriminant) -> Big {
    match discriminant {
        Discriminant::Kernel(expansion) => {
            let mut beta = vec![big(0.0); twin.signs.len()];
            expansion.support_rows().iter().zip(expansion.coefficients()).for_each(|(i, c)| beta[*i] = big(*c));
            twin.objective(&beta, &big(expansion.intercept()[0]))
        }
        Discriminant::Linear(linear) => {
            let w: Vec<Big> =
                linear.weights_of(0).iter().zip(truth.units.scale()).map(|(w, s)| big(*w) * big(*s)).collect();
            let of = |x: Vec<Big>| x.iter().zip(&w).fold(big(0.0), |s, (x, w)| s + x * w);
            let scores: Vec<Big> = (0..twin.signs.len()).map(|i| of(truth.seen(i))).collect();
            let squared = w.iter().fold(big(0.0), |s, w| s + w * w);
            twin.loss(&scores, &big(linear.intercept_at_centre()[0])) + big(0.5) * big(twin.lambda) * squared
        }
        _ => panic!("another discriminant"),
    }
}

/// How a fit came out.
#[derive(Default)]
struct Count {
    claims: usize,
    absent: usize,
    /// Claims within a thousandth of F.
    sharp: usize,
    ridges: usize,
}

/// Fits, and holds the claim and those of the ladder against the truth.
fn hold(data: &Data, method: &KernelSvmSettings, what: &str, count: &mut Count) {
    let design = data.dense();
    let training: Training<'_> = data.training(&design);
    let method = Method::KernelSvm(method.clone());
    let fitted: Box<Fitted> = match method.fit(&training, &Watch::default()) {
        Ok(Fit::Model(fitted)) => fitted,
        Ok(_) => panic!("{what}: no model"),
        Err(error) => {
            assert!(error.to_string().contains("overflow"), "{what}: {error}");
            count.absent += 1;
            return;
        }
    };
    let alpha = &fitted.multipliers.as_ref().expect("multipliers").alpha;
    let certified = |discriminant: &Discriminant| {
        method
            .certify_multipliers(&training, discriminant, &fitted.units, alpha, &Watch::default())
            .expect("a certificate")
    };
    let (objective, again) = certified(&fitted.discriminant);
    assert_eq!((objective, &again), (fitted.objective.value, &fitted.certificate), "{what}: verify has the same bits");
    let Certificate::DualityGap { gap, dual, ridge_added, .. } = fitted.certificate else {
        count.absent += 1;
        return;
    };
    let kernel = match &fitted.discriminant {
        Discriminant::Kernel(expansion) => *expansion.kernel(),
        _ => Kernel::Linear,
    };
    let truth = Truth { data, kernel, units: &fitted.units, ridge: ridge_added.unwrap_or(0.0) };
    let signs: Vec<f64> = (0..data.rows()).map(|i| if data.class(i) == 1 { 1.0 } else { -1.0 }).collect();
    let weights: Vec<f64> = (0..data.rows()).map(|i| data.weight(i)).collect();
    let lambda = fitted.objective.lambda.expect("λ");
    let twin = Twin { table: truth.table(), signs, weights, lambda };
    let near: Vec<f64> = alpha.iter().zip(&twin.signs).map(|(a, y)| a * y).collect();
    let least = twin.least(&near);
    let own = stored_objective(&truth, &twin, &fitted.discriminant);
    let true_gap = &own - &least;
    assert!(big(gap) >= true_gap, "{what}: claimed {gap:e}, true {:e}", true_gap.to_f64().value());
    assert!(big(dual) <= least, "{what}: {dual} is above {:e}", least.to_f64().value());
    count.claims += 1;
    count.sharp += usize::from(gap < 1e-3 * fitted.objective.value);
    count.ridges += usize::from(ridge_added.is_some());
    for k in [0, 1, 3, 7, 15, 25, 40] {
        let moved = nudged(&fitted.discriminant, 2f64.powi(k) * f64::EPSILON);
        let Certificate::DualityGap { gap, .. } = certified(&moved).1 else { continue };
        let true_gap = stored_objective(&truth, &twin, &moved) - &least;
        assert!(big(gap) >= true_gap, "{what}, 2^{k} ulp: claimed {gap:e}, true {:e}", true_gap.to_f64().value());
        count.claims += 1;
    }
}

/// The first coefficient and the intercept moved by a share of themselves.
fn nudged(discriminant: &Discriminant, share: f64) -> Discriminant {
    let mut value = serde_json::to_value(discriminant).expect("JSON");
    fn walk(value: &mut serde_json::Value, share: f64) {
        if let serde_json::Value::Object(fields) = value {
            for (name, field) in fields.iter_mut() {
                if ["coefficients", "weights", "intercept", "intercept_at_centre"].contains(&name.as_str()) {
                    if let Some(first) = field.as_array_mut().and_then(|a| a.first_mut()) {
                        let v = first.as_f64().expect("a number");
                        *first = serde_json::Value::from(v * (1.0 + share) + share * 1e-3);
                    }
                } else {
                    walk(field, share);
                }
            }
        }
    }
    walk(&mut value, share);
    serde_json::from_value(value).expect("a discriminant")
}

fn drawn(source: &mut Source, rows: usize, cols: usize) -> Data {
    let codes: Vec<usize> = (0..rows).map(|i| i % 2).collect();
    let values = (0..rows * cols).map(|k| source.uniform(-1.0, 1.0) + 0.4 * ((k / cols) % 2) as f64).collect();
    Data::new(values, cols, labels(codes, 2))
}

/// Data as it is, far away, large, small, with rows that are nearly equal, and weighted.
fn families(source: &mut Source) -> Vec<(String, Data)> {
    let mut found = Vec::new();
    for (rows, cols) in [(8, 1), (11, 2), (14, 3)] {
        let plain = drawn(source, rows, cols);
        let near = Data {
            values: (0..rows * cols)
                .map(|k| plain.values[if k / cols % 3 == 1 { k - cols } else { k }] + 1e-12 * (k % 5) as f64)
                .collect(),
            ..plain.clone()
        };
        let weights = (0..rows).map(|i| [1.0, 2.5, 0.0, 0.3, 1e3][i % 5]).collect();
        found.push((format!("shifted {rows}"), plain.map(|j, v| v + [1e9, -3e8, 7e6][j])));
        for scale in [1e-100, 1e-20, 1e6, 1e60, 1e100, 1e150] {
            found.push((format!("times {scale:e} {rows}"), plain.map(|_, v| v * scale)));
        }
        found.push((format!("near {rows}"), near));
        found.push((format!("weighted {rows}"), plain.clone().weighted(weights)));
        found.push((format!("plain {rows}"), plain));
    }
    found
}

#[test]
fn no_claimed_gap_is_below_the_truth() {
    let mut count = Count::default();
    let mut source = Source::new(15);
    for (name, data) in families(&mut source) {
        let mut kernels = vec![KernelChoice::Linear, KernelChoice::Rbf { gamma: None }];
        kernels.extend([1e-3, 30.0, 1e8].map(|g| KernelChoice::Rbf { gamma: Some(g) }));
        kernels.extend(
            [(None, 0.0, 1), (None, 1.0, 2), (Some(1.0), 1.0, 5), (Some(1e3), 0.5, 3)]
                .map(|(gamma, coef0, degree)| KernelChoice::Polynomial { gamma, coef0, degree }),
        );
        for kernel in kernels {
            for cost in [0.1, 1e4] {
                for (standardize, tolerance) in [(Standardize::Yes, 1e-6), (Standardize::No, 1e-2)] {
                    let method = KernelSvmSettings {
                        kernel,
                        penalty: PenaltyChoice::RidgeCost(cost),
                        standardize,
                        tolerance,
                        max_iterations: Some(20_000),
                        ..KernelSvmSettings::default()
                    };
                    hold(&data, &method, &format!("{name}, {kernel:?}, C = {cost}, {standardize:?}"), &mut count);
                }
            }
        }
    }
    assert!(
        count.claims > 5000 && count.sharp > 700,
        "{} claims, {} sharp, {} absent",
        count.claims,
        count.sharp,
        count.absent
    );
}

/// Tables of full rank, of low rank (which need a ridge), and one with a negative eigenvalue that used to pass.
#[test]
fn precomputed_kernels_are_proved_to_be_semidefinite_or_nothing_is_claimed() {
    let mut count = Count::default();
    let mut source = Source::new(3);
    for rank in [2, 12] {
        for scale in [1.0, 1e-100, 1e100] {
            let x: Vec<f64> = (0..12 * rank).map(|_| source.uniform(-1.0, 1.0)).collect();
            let entry = |i: usize, j: usize| scale * (0..rank).map(|k| x[i * rank + k] * x[j * rank + k]).sum::<f64>();
            let mut values: Vec<f64> = (0..144).map(|k| entry((k / 12).max(k % 12), (k / 12).min(k % 12))).collect();
            let of = |values: &[f64]| Data::new(values.to_vec(), 12, labels((0..12).map(|i| i % 2).collect(), 2));
            for cost in [0.1, 1e3] {
                let method = KernelSvmSettings {
                    kernel: KernelChoice::Precomputed,
                    penalty: PenaltyChoice::RidgeCost(cost / scale),
                    max_iterations: Some(20_000),
                    ..KernelSvmSettings::default()
                };
                hold(&of(&values), &method, &format!("rank {rank}, {scale:e}, C = {cost}"), &mut count);
            }
            if rank == 2 {
                (0..12).for_each(|i| values[i * 13] -= 1e-11 * scale);
                let method = KernelSvmSettings {
                    kernel: KernelChoice::Precomputed,
                    max_iterations: Some(20_000),
                    ..KernelSvmSettings::default()
                };
                let fitted = of(&values).model(&Method::KernelSvm(method));
                assert!(matches!(fitted.certificate, Certificate::Stationary { .. }), "{:?}", fitted.certificate);
            }
        }
    }
    assert!(count.claims > 60 && count.ridges >= 6, "{} claims, {} ridges", count.claims, count.ridges);
}

/// Margins, lengths and bounds of separating kernel perceptrons.
#[test]
fn kernel_perceptrons_separate_in_real_numbers() {
    let (mut separated, mut source) = (0, Source::new(8));
    for (name, data) in families(&mut source) {
        for kernel in [
            KernelChoice::Rbf { gamma: Some(20.0) },
            KernelChoice::Polynomial { gamma: Some(1.0), coef0: 1.0, degree: 5 },
        ] {
            let method =
                Method::KernelPerceptron(KernelPerceptronSettings { kernel, ..KernelPerceptronSettings::default() });
            let Ok(Fit::Model(fitted)) = data.fit(&method) else { continue };
            let Certificate::Separates { margin, norm, radius, .. } = fitted.certificate else { continue };
            let expansion = fitted.discriminant.as_kernel().expect("an expansion");
            let truth = Truth { data: &data, kernel: *expansion.kernel(), units: &fitted.units, ridge: 0.0 };
            let table = truth.table();
            let mut beta = vec![big(0.0); data.rows()];
            expansion.support_rows().iter().zip(expansion.coefficients()).for_each(|(i, c)| beta[*i] = big(*c));
            let mut squared = big(0.0);
            for (i, row) in table.iter().enumerate() {
                let g = row.iter().zip(&beta).fold(big(0.0), |s, (k, b)| s + k * b);
                squared += &beta[i] * &g;
                let own = if data.class(i) == 1 { g } else { -g };
                assert!(data.weight(i) == 0.0 || own >= big(margin), "{name}, row {i}");
                assert!(data.weight(i) == 0.0 || row[i] <= big(radius) * big(radius), "{name}, row {i}");
            }
            assert!(squared <= big(norm) * big(norm), "{name}");
            separated += 1;
        }
    }
    assert!(separated > 20, "{separated} separated");
}
