//! Register a loss or a penalty once, inherit the suite.

use linsep::objective::{
    CrammerSinger, Dual, ElasticNet, Hinge, Link, LinkLoss, Logistic, Loss, Penalty, Ridge, Softmax, SoftmaxForm,
    Squared, SquaredHinge, SquaredSigmoid,
};
use linsep::table::Class;
use testkit::assert_near;
use testkit::data::Source;
use testkit::golden::{json, number, numbers};

/// What a loss may be held to.
struct Entry {
    name: &'static str,
    loss: Box<dyn Loss>,
    dual: Option<Box<dyn Dual>>,
    convex: bool,
    /// Distance from a kink or a jump of the second derivative, in `1 − yz`, below which differences mean nothing.
    kink: bool,
    /// Whether `block` gives second derivatives that are those of the loss.
    curved: bool,
}

fn entry(name: &'static str, loss: impl Loss + 'static) -> Entry {
    Entry { name, loss: Box::new(loss), dual: None, convex: true, kink: false, curved: true }
}

impl Entry {
    fn dual(self, dual: impl Dual + 'static) -> Entry {
        Entry { dual: Some(Box::new(dual)), ..self }
    }
}

fn registered() -> Vec<Entry> {
    let (symmetric, reference) = (Softmax::new(4, SoftmaxForm::Symmetric), Softmax::new(3, SoftmaxForm::Reference));
    vec![
        entry("logistic", Logistic).dual(Logistic),
        entry("softmax", symmetric).dual(symmetric),
        entry("softmax, reference", reference).dual(reference),
        entry("squared, two targets", Squared::two_classes([-1.0, 1.0])).dual(Squared::two_classes([-1.0, 1.0])),
        entry("squared, one-hot", Squared::one_hot(3)).dual(Squared::one_hot(3)),
        Entry { kink: true, curved: false, ..entry("hinge", Hinge).dual(Hinge) },
        Entry { kink: true, ..entry("squared hinge", SquaredHinge).dual(SquaredHinge) },
        Entry {
            kink: true,
            curved: false,
            ..entry("Crammer–Singer", CrammerSinger::new(4)).dual(CrammerSinger::new(4))
        },
        Entry { convex: false, ..entry("squared sigmoid", SquaredSigmoid { gauss_newton: false }) },
        entry("probit", LinkLoss::new(Link::Probit)),
        entry("cloglog", LinkLoss::new(Link::Cloglog)),
        Entry { convex: false, ..entry("cauchit", LinkLoss::new(Link::Cauchit)) },
    ]
}

impl Entry {
    fn value(&self, class: usize, z: &[f64]) -> f64 {
        self.loss.block(&[Class(class as u32)], z, None, &mut vec![0.0; z.len()], None)
    }

    fn slope(&self, class: usize, z: &[f64]) -> Vec<f64> {
        let mut slope = vec![0.0; z.len()];
        self.loss.block(&[Class(class as u32)], z, None, &mut slope, None);
        slope
    }

    fn smooth_at(&self, class: usize, z: &[f64]) -> bool {
        if self.kink && z.len() > 1 {
            // Two classes in the lead.
            let mut ahead: Vec<f64> = (0..z.len()).map(|k| z[k] + if k == class { 0.0 } else { 1.0 }).collect();
            ahead.sort_by(|a, b| b.total_cmp(a));
            return ahead[0] - ahead[1] > 1e-2;
        }
        let y = if class == 1 { 1.0 } else { -1.0 };
        !self.kink || (1.0 - y * z[0]).abs() > 1e-2
    }

    /// Random scores of every class, moderate and in the tails.
    fn points(&self) -> Vec<(usize, Vec<f64>)> {
        let mut source = Source::new(7);
        let k = self.loss.n_scores();
        let sizes = [0.1, 1.0, 5.0, 30.0];
        (0..400)
            .map(|i| (i % self.loss.n_classes(), source.normals(k).iter().map(|z| z * sizes[i / 100]).collect()))
            .collect()
    }
}

#[test]
fn slopes_are_those_of_the_values() {
    for entry in registered() {
        for (class, z) in entry.points().into_iter().filter(|(class, z)| entry.smooth_at(*class, z)) {
            let slope = entry.slope(class, &z);
            for c in 0..z.len() {
                let h = 1e-6 * z[c].abs().max(1.0);
                let moved = |step: f64| entry.value(class, &with(&z, c, step));
                let difference = (moved(h) - moved(-h)) / (2.0 * h);
                let scale = entry.value(class, &z).abs().max(1.0);
                assert_near(slope[c], difference, 1e-7, scale, &format!("{} at {z:?}", entry.name));
            }
        }
    }
}

#[test]
fn no_slope_is_steeper_than_said() {
    let mut bounded = 0;
    for entry in registered() {
        let Some(steepest) = entry.loss.steepest() else { continue };
        bounded += 1;
        let far = [-1e300, -800.0, -40.0, 40.0, 800.0, 1e300];
        let mut points = entry.points();
        for (class, z) in entry.points().into_iter().take(40) {
            points.extend(far.iter().map(|f| (class, with(&z, 0, *f))));
        }
        let mut largest = 0.0f64;
        for (class, z) in points {
            largest = entry.slope(class, &z).iter().fold(largest, |l, s| l.max(s.abs()));
        }
        assert!(largest <= steepest && largest > 0.9 * steepest, "{}: {largest}", entry.name);
    }
    assert_eq!(bounded, 3, "logistic and both forms of softmax");
}

#[test]
fn curvatures_are_those_of_the_slopes() {
    for entry in registered().iter().filter(|e| e.curved) {
        let k = entry.loss.n_scores();
        for (class, z) in entry.points().into_iter().filter(|(class, z)| entry.smooth_at(*class, z)) {
            let mut curvature = vec![0.0; k * (k + 1) / 2];
            entry.loss.block(&[Class(class as u32)], &z, None, &mut vec![0.0; k], Some(&mut curvature));
            for a in 0..k {
                let h = 1e-5 * z[a].abs().max(1.0);
                let (ahead, behind) = (entry.slope(class, &with(&z, a, h)), entry.slope(class, &with(&z, a, -h)));
                for b in 0..=a {
                    let difference = (ahead[b] - behind[b]) / (2.0 * h);
                    let stated = curvature[a * (a + 1) / 2 + b];
                    assert_near(stated, difference, 1e-6, 1.0, &format!("{} at {z:?}", entry.name));
                }
            }
        }
    }
}

/// Far out as well: what is small is small to its last digits, not rounded away beside what is large.
#[test]
fn values_far_out_are_those_of_a_hundred_digits() {
    let golden = json("losses.json");
    let cases = golden["cases"].as_array().expect("cases");
    let mut compared = 0;
    for entry in registered() {
        let k = entry.loss.n_scores();
        for case in cases.iter().filter(|case| case["loss"] == entry.name) {
            let (z, class) = (numbers(&case["z"]), case["class"].as_u64().expect("a class") as u32);
            let (mut slope, mut curvature) = (vec![0.0; k], vec![0.0; k * (k + 1) / 2]);
            let value =
                entry.loss.block(&[Class(class)], &z, None, &mut slope, entry.curved.then_some(&mut curvature[..]));
            let near = |found: f64, exact: f64, what: &str| {
                // A few roundings, and one unit of the smallest double.
                let allowed = 16.0 * f64::EPSILON * exact.abs() + 5e-324;
                let what = format!("{}, class {class} at {z:?}: {what} {found:e}, not {exact:e}", entry.name);
                assert!((found - exact).abs() <= allowed, "{what}");
            };
            near(value, number(&case["value"]), "value");
            slope.iter().zip(numbers(&case["slope"])).for_each(|(a, b)| near(*a, b, "slope"));
            if entry.curved {
                curvature.iter().zip(numbers(&case["curvature"])).for_each(|(a, b)| near(*a, b, "curvature"));
            }
            compared += 1;
        }
    }
    assert_eq!(compared, cases.len());
}

#[test]
fn convex_losses_lie_above_their_tangents() {
    for entry in registered().iter().filter(|e| e.convex) {
        let points = entry.points();
        for (class, z) in &points {
            let (value, slope) = (entry.value(*class, z), entry.slope(*class, z));
            for (_, other) in points.iter().take(60) {
                let tangent: f64 = value + (0..z.len()).map(|c| slope[c] * (other[c] - z[c])).sum::<f64>();
                let above = entry.value(*class, other);
                assert!(above >= tangent - 1e-9 * (1.0 + tangent.abs()), "{}: {z:?} {other:?}", entry.name);
            }
        }
    }
}

/// `ℓ(z) + ℓ*(θ) ≥ z·θ`, with equality at `θ = ℓ′(z)`.
#[test]
fn conjugates_obey_fenchel() {
    for entry in registered() {
        let Some(dual) = &entry.dual else { continue };
        let points = entry.points();
        for (class, z) in &points {
            let theta = entry.slope(*class, z);
            let value = dual.dual_value(Class(*class as u32), &theta);
            assert!(value > f64::NEG_INFINITY, "{}: a slope is in the domain at {z:?}", entry.name);
            let product = |z: &[f64]| -> f64 { z.iter().zip(&theta).map(|(z, t)| z * t).sum() };
            let size = entry.value(*class, z).abs().max(product(z).abs()).max(1.0);
            assert_near(entry.value(*class, z) - value, product(z), 1e-9, size, &format!("{} at {z:?}", entry.name));
            for (_, other) in points.iter().step_by(7) {
                let sum = entry.value(*class, other) - value;
                let slack = sum - product(other);
                assert!(slack >= -1e-9 * (1.0 + sum.abs()), "{}: {z:?} {other:?} by {slack}", entry.name);
            }
        }
    }
}

#[test]
fn weights_multiply_and_zero_silences() {
    for entry in registered() {
        for (class, z) in entry.points().into_iter().step_by(9) {
            let mut slope = vec![0.0; z.len()];
            let labels = [Class(class as u32)];
            let three = entry.loss.block(&labels, &z, Some(&[3.0]), &mut slope, None);
            assert_near(three, 3.0 * entry.value(class, &z), 1e-14, 1e-300, entry.name);
            assert_eq!(entry.loss.block(&labels, &z, Some(&[0.0]), &mut slope, None), 0.0, "{}", entry.name);
            assert!(slope.iter().all(|s| *s == 0.0), "{}", entry.name);
        }
    }
}

fn with(z: &[f64], at: usize, step: f64) -> Vec<f64> {
    let mut moved = z.to_vec();
    moved[at] += step;
    moved
}

/// A penalty with a name, its functions by column.
struct Registered {
    name: &'static str,
    value: Box<dyn Fn(usize, f64) -> f64>,
    prox: Box<dyn Fn(usize, f64, f64) -> f64>,
    violation: Box<dyn Fn(usize, f64, f64) -> f64>,
}

fn register<P: Penalty + 'static>(name: &'static str, penalty: P) -> Registered {
    let (a, b, c) = (penalty.clone(), penalty.clone(), penalty);
    let value = move |column: usize, w: f64| {
        let mut weights = [0.0; 3];
        weights[column] = w;
        a.value(&weights, 3)
    };
    Registered {
        name,
        value: Box::new(value),
        prox: Box::new(move |column, w, step| b.prox(column, w, step)),
        violation: Box::new(move |column, w, gradient| c.violation(column, w, gradient)),
    }
}

fn penalties() -> Vec<Registered> {
    let factors = [0.0, 1.0, 2.5];
    let net = ElasticNet::new(0.7, 0.3).expect("a share");
    vec![
        register("ridge", Ridge::new(0.7)),
        register("lasso", ElasticNet::lasso(0.7)),
        register("elastic net", net.clone()),
        register("ridge with factors", Ridge::new(0.7).with_factors(&factors).expect("factors")),
        register("elastic net with factors", net.with_factors(&factors).expect("factors")),
    ]
}

#[test]
fn proximal_points_minimise() {
    let mut source = Source::new(5);
    for Registered { name, value: penalty, prox, violation } in penalties() {
        for i in 0..300 {
            let (column, w, step) = (i % 3, 3.0 * source.normal(), source.uniform(0.05, 4.0));
            let v = prox(column, w, step);
            let value = |v: f64| 0.5 * (v - w) * (v - w) + step * penalty(column, v);
            // A grid around the point, and zero, where the kink is.
            let tried = (-2000..=2000).map(|k| v + f64::from(k) * 2e-3).chain([0.0, w]);
            let best = tried.map(value).fold(f64::INFINITY, f64::min);
            assert!(value(v) <= best + 1e-13 * (1.0 + best.abs()), "{name}: prox({w}, {step}) = {v}");
            // A fixed point of the proximal gradient step satisfies the optimality condition, and no other does.
            let gradient = (w - v) / step;
            assert!(violation(column, v, -gradient) < 1e-12, "{name}: {v} {gradient}");
            assert!(violation(column, v + 0.5, -gradient - 5.0) > 1e-3, "{name}");
        }
    }
}
