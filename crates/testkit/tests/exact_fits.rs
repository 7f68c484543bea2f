//! What fits and verdicts say of planes, against the twin that lists every direction in whole numbers: nearly equal columns,
//! margins near rounding, outliers, units of 10^±100, columns far from zero, rows that do not count. Margins and hull distances are
//! bounds, held against exact arithmetic.

use linsep::certify::{Certificate, SeparationKind};
use linsep::design::{Design, Standardize};
use linsep::model::{
    Fit, HardMarginSettings, Method, Note, Outcome, PenaltyChoice, PerceptronSettings, PerceptronVariant, Refusal,
    RiskMinimizer,
};
use linsep::objective::Intercept;
use linsep::separate::{Complete, SeparabilityOptions, Verdict, separability};
use num_bigint::{BigInt, Sign};
use testkit::data::{Data, Source, labels};
use testkit::exact::{strict_constraints, true_verdict};

/// Tables whose answer rounding hides, two classes and three.
fn families() -> Vec<(String, Data)> {
    let mut source = Source::new(11);
    let mut all = Vec::new();
    for exponent in 4..=16 {
        let small = 10f64.powi(-exponent);
        for kind in 0..4 {
            let (mut values, mut codes) = (Vec::new(), Vec::new());
            for i in 0..20 {
                let class = i % 2;
                let side = small * (2 * class as i32 - 1) as f64 * source.uniform(1.0, 2.0);
                let t = source.normal();
                match kind {
                    0 => values.extend([t, t + side]),
                    1 => values.extend([0.6 * t + 0.8 * side, -0.8 * t + 0.6 * side]),
                    2 => values.extend([t + 0.3 * class as f64, source.normal()]),
                    _ => values.extend([1e3 + t, source.below(3) as f64 + side]),
                }
                codes.push(class);
            }
            if kind == 2 {
                values[0] = small.recip();
            }
            all.push((format!("kind {kind}, 1e-{exponent}"), Data::new(values, 2, labels(codes, 2))));
        }
        let (mut values, mut codes) = (source.normals(30), (0..15).map(|i| i % 3).collect::<Vec<usize>>());
        values[0] = small.recip();
        codes[3] = source.below(3);
        all.push((format!("three classes, 1e{exponent}"), Data::new(values, 2, labels(codes, 3))));
    }
    for case in 0..300 {
        let classes = 2 + usize::from(case % 5 == 4);
        let (cols, rows) = (1 + source.below(2), classes + source.below(9));
        let scale = [1.0, 1e9, 0.1, 2f64.powi(332), 2f64.powi(-332)][case % 5];
        let values = (0..rows * cols).map(|_| (source.below(4) as f64 - 1.0) * scale).collect();
        let codes = (0..rows).map(|i| if i < classes { i } else { source.below(classes) }).collect();
        all.push((format!("whole numbers {case}"), Data::new(values, cols, labels(codes, classes))));
    }
    all
}

fn strict_rows(data: &Data) -> usize {
    let per_row = data.labels.n_classes() - 1;
    strict_constraints(data).chunks_exact(per_row).filter(|row| !row.contains(&false)).count()
}

#[test]
fn an_optimum_is_denied_only_where_there_is_none() {
    let method = Method::Risk(RiskMinimizer { penalty: PenaltyChoice::None, ..RiskMinimizer::default() });
    let (mut denied, mut proved, mut open) = (0, 0, 0);
    for (what, data) in families() {
        let truth = true_verdict(&data);
        match data.fit(&method) {
            Ok(Fit::Refused(Refusal::NoOptimum(found))) => {
                let kind = match found.kind {
                    SeparationKind::Complete => "complete",
                    SeparationKind::Quasi => "quasi-complete",
                };
                assert_eq!((kind, found.strict_rows), (truth, strict_rows(&data)), "{what}");
                assert_eq!(found.strict_rows + found.boundary.len(), data.rows(), "{what}");
                denied += 1;
            }
            Ok(Fit::Model(model)) if model.outcome == Outcome::Converged => {
                // Said of the model without a column, and nothing about the difference.
                let without =
                    model.notes.iter().any(|note| matches!(note, Note::NearlyCollinear { left_out: true, .. }));
                assert!(without || truth == "overlap", "{what}: {truth}, but {:?}", model.certificate);
                proved += 1;
            }
            Ok(Fit::Model(_)) | Err(_) => open += 1,
            Ok(Fit::Refused(Refusal::NotSeparable(_))) => panic!("{what}: a perceptron's answer"),
        }
    }
    assert!(denied > 100 && proved > 100 && open < 60, "{denied} denied, {proved} proved, {open} open");
}

#[test]
fn a_plane_is_denied_only_where_there_is_none() {
    let perceptron = PerceptronSettings { max_epochs: 50, ..PerceptronSettings::new(PerceptronVariant::Online) };
    let hard = HardMarginSettings::default();
    let standard = HardMarginSettings { standardize: Standardize::Yes, ..HardMarginSettings::default() };
    let methods = [Method::Perceptron(perceptron), Method::HardMargin(hard), Method::HardMargin(standard)];
    let mut denied = 0;
    for (what, data) in families().into_iter().filter(|(_, data)| data.labels.n_classes() == 2) {
        let truth = true_verdict(&data);
        for method in &methods {
            match data.fit(method) {
                Ok(Fit::Refused(Refusal::NotSeparable(_))) => {
                    assert!(truth != "complete", "{what}, {}: a plane exists", method.name());
                    denied += 1;
                }
                Ok(Fit::Model(model)) => match model.certificate {
                    Certificate::Separates { .. } | Certificate::Margin { .. } => {
                        assert_eq!(truth, "complete", "{what}, {}", method.name());
                    }
                    _ => {}
                },
                Ok(Fit::Refused(Refusal::NoOptimum(_))) => panic!("{what}: a likelihood's answer"),
                Err(_) => {}
            }
        }
    }
    assert!(denied > 300, "{denied}");
}

/// A plane through the origin separates rows exactly if some plane separates them and their mirror images.
#[test]
fn without_an_intercept() {
    let perceptron = |standardize| {
        let intercept = Intercept::None;
        let max_epochs = 50;
        Method::Perceptron(PerceptronSettings {
            standardize,
            intercept,
            max_epochs,
            ..PerceptronSettings::new(PerceptronVariant::Online)
        })
    };
    let likelihood = Method::Risk(RiskMinimizer {
        penalty: PenaltyChoice::None,
        standardize: Standardize::No,
        intercept: Intercept::None,
        ..RiskMinimizer::default()
    });
    let (mut denied, mut no_optimum) = (0, 0);
    for (what, data) in families().into_iter().filter(|(_, data)| data.labels.n_classes() == 2) {
        let mut values: Vec<f64> = (0..data.rows()).flat_map(|i| data.row(i).to_vec()).collect();
        let mut codes: Vec<usize> = (0..data.rows()).map(|i| data.class(i)).collect();
        values.extend((0..data.rows()).flat_map(|i| data.row(i).iter().map(|x| -x).collect::<Vec<f64>>()));
        codes.extend((0..data.rows()).map(|i| 1 - data.class(i)));
        let mirrored = true_verdict(&Data::new(values, data.cols, labels(codes, 2)));
        if let Ok(Fit::Refused(Refusal::NotSeparable(_))) = data.fit(&perceptron(Standardize::No)) {
            assert!(mirrored != "complete", "{what}: a plane exists");
            denied += 1;
        }
        if let Ok(Fit::Refused(Refusal::NoOptimum(found))) = data.fit(&likelihood) {
            let kind = if found.boundary.is_empty() { "complete" } else { "quasi-complete" };
            assert_eq!(kind, mirrored, "{what}");
            no_optimum += 1;
        }
    }
    assert!(denied > 100 && no_optimum > 50, "{denied} {no_optimum}");
}

/// `mantissa·2^exponent`.
#[derive(Clone)]
struct Dyadic(BigInt, i64);

impl Dyadic {
    fn of(x: f64) -> Dyadic {
        assert!(x.is_finite());
        let bits = x.abs().to_bits();
        let (exponent, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
        let (m, e) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
        Dyadic(if x < 0.0 { -BigInt::from(m) } else { BigInt::from(m) }, e)
    }

    fn zero() -> Dyadic {
        Dyadic(BigInt::ZERO, 0)
    }

    fn times(&self, other: &Dyadic) -> Dyadic {
        Dyadic(&self.0 * &other.0, self.1 + other.1)
    }

    fn plus(&self, other: &Dyadic) -> Dyadic {
        let low = self.1.min(other.1);
        Dyadic((&self.0 << (self.1 - low) as u64) + (&other.0 << (other.1 - low) as u64), low)
    }

    fn minus(&self, other: &Dyadic) -> Dyadic {
        self.plus(&Dyadic(-&other.0, other.1))
    }

    fn sign(&self) -> Sign {
        self.0.sign()
    }
}

/// No row is nearer to the plane than the margin, and the hulls are no further apart than the distance.
fn bounds_hold(data: &Data, v: &Complete, what: &str) {
    assert!(v.margin > 0.0 && v.margin.is_finite(), "{what}: {}", v.margin);
    let margin = Dyadic::of(v.margin);
    let counted = || (0..data.rows()).filter(|i| data.weight(*i) > 0.0);
    let classes = data.labels.n_classes();
    // Of two classes one score, less a zero.
    let score = |class: usize, x: &[f64]| {
        let Some(k) = (class + v.weights.len()).checked_sub(classes) else { return Dyadic::zero() };
        let mut sum = Dyadic::of(v.intercept[k]);
        for ((w, x), c) in v.weights[k].iter().zip(x).zip(&v.centre) {
            sum = sum.plus(&Dyadic::of(*w).times(&Dyadic::of(*x).minus(&Dyadic::of(*c))));
        }
        sum
    };
    let weight = |class: usize, j: usize| match (class + v.weights.len()).checked_sub(classes) {
        Some(k) => Dyadic::of(v.weights[k][j]),
        None => Dyadic::zero(),
    };
    for i in counted().filter(|_| v.whole.is_none()) {
        let own = data.class(i);
        for other in (0..classes).filter(|k| *k != own) {
            let slack = score(own, data.row(i)).minus(&score(other, data.row(i)));
            assert_eq!(slack.sign(), Sign::Plus, "{what}: row {i}");
            let mut square = Dyadic::zero();
            for j in 0..data.cols {
                let difference = weight(own, j).minus(&weight(other, j));
                square = square.plus(&difference.times(&difference));
            }
            let wanted = margin.times(&margin).times(&square);
            assert!(
                slack.times(&slack).minus(&wanted).sign() != Sign::Minus,
                "{what}: row {i} is nearer than {}",
                v.margin
            );
        }
    }
    let Some(hull) = &v.hull else { return };
    assert!(2.0 * v.margin <= hull.distance && hull.gap >= 0.0, "{what}: {} {}", v.margin, hull.distance);
    let total = |class: usize| {
        let of_class = hull.weights.iter().filter(|(row, _)| data.class(*row) == class);
        of_class.fold(Dyadic::zero(), |sum, (_, w)| sum.plus(&Dyadic::of(*w)))
    };
    let totals = [total(0), total(1)];
    let mut square = Dyadic::zero();
    for j in 0..data.cols {
        let mut entry = Dyadic::zero();
        for (row, w) in &hull.weights {
            let term = Dyadic::of(*w).times(&Dyadic::of(data.row(*row)[j])).times(&totals[1 - data.class(*row)]);
            entry = if data.class(*row) == 1 { entry.plus(&term) } else { entry.minus(&term) };
        }
        square = square.plus(&entry.times(&entry));
    }
    let bound = Dyadic::of(hull.distance).times(&totals[0]).times(&totals[1]);
    assert!(bound.times(&bound).minus(&square).sign() != Sign::Minus, "{what}: the hulls are further apart");
}

fn verdict(data: &Data, design: &dyn Design, what: &str) -> &'static str {
    let found = separability(&data.training(design), &SeparabilityOptions::default(), &Default::default());
    let found = found.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(found.verdict.name(), true_verdict(data), "{what}: {:?}", found.verdict);
    if let Verdict::Complete(v) = &found.verdict {
        bounds_hold(data, v, what);
    }
    found.verdict.name()
}

#[test]
fn margins_are_bounds_in_any_units() {
    let mut source = Source::new(12);
    let mut complete = 0;
    for case in 0..400 {
        let classes = 2 + usize::from(case % 5 == 4);
        let cols = 1 + source.below(2);
        let rows = classes + source.below(12);
        let scales = [1.0, 1e100, 1e-100, 1e130, 1e-130, 1e-70, 1e9, 3e-7];
        let shifts = [0.0, 0.0, 1e9, -1e9, 1e15];
        let (scale, shift) = (scales[case % 8], shifts[case % 5]);
        let gap = [0.0, 3.0, 30.0][case % 3];
        let mut values = Vec::new();
        let codes: Vec<usize> = (0..rows).map(|i| if i < classes { i } else { source.below(classes) }).collect();
        for code in &codes {
            for j in 0..cols {
                let x = source.normal() + if j == 0 { gap * *code as f64 } else { 0.0 };
                // One column in other units than the other.
                values.push((x + shift) * if j == 1 && case % 2 == 0 { scale * 1e-3 } else { scale });
            }
        }
        let data = Data::new(values, cols, labels(codes, classes));
        let what = format!("case {case}: {classes} classes, {cols} columns, scale {scale:e}, shift {shift:e}");
        complete += usize::from(verdict(&data, &data.dense(), &what) == "complete");
        // Sparse columns far from zero are refused.
        if shift == 0.0 {
            verdict(&data, &data.csr(), &format!("{what}, sparse"));
        }
    }
    assert!(complete > 100, "{complete}");
}

#[test]
fn few_rows_repeated_rows_and_rows_that_do_not_count() {
    let mut source = Source::new(13);
    for case in 0..400 {
        let classes = 2 + case % 2;
        let cols = 1 + source.below(2);
        // From one row a class on.
        let rows = classes + source.below(6);
        let mut values: Vec<f64> = (0..rows * cols).map(|_| source.below(3) as f64).collect();
        let mut codes: Vec<usize> = (0..rows).map(|i| if i < classes { i } else { source.below(classes) }).collect();
        for i in 0..rows {
            let again: Vec<f64> = values[i * cols..(i + 1) * cols].to_vec();
            values.extend(again);
            codes.push(codes[i]);
        }
        let data = Data::new(values, cols, labels(codes, classes)).with_column(|_, _| -2.5);
        let weights = (0..2 * rows).map(|i| if i >= classes && source.chance(0.4) { 0.0 } else { 1e-3 }).collect();
        let data = data.weighted(weights);
        verdict(&data, &data.dense(), &format!("case {case}"));
        verdict(&data, &data.csr(), &format!("case {case}, sparse"));
    }
}
