//! Columns that agree up to their printed digits, and least squares proved in spite of rounding.

use linsep::artifact::Model;
use linsep::certify::{Certificate, CoefficientErrors};
use linsep::design::Basis;
use linsep::discriminant::{Discriminant, Linear};
use linsep::model::{
    Divisor, GaussianBayes, LeastSquaresSettings, LeastSquaresSolver, Method, Note, Outcome, PenaltyChoice,
    RiskMinimizer,
};
use linsep::read::{ReadOptions, read_bytes};
use linsep::table::Table;
use linsep::watch::Watch;
use linsep::workflow::{FitOptions, TableFit, fit_table, predict_table, verify_table};
use testkit::data::{Data, Source, labels, overlapping};
use testkit::double_double::{self, DoubleDouble};

const SOLVERS: [LeastSquaresSolver; 4] = [
    LeastSquaresSolver::Auto,
    LeastSquaresSolver::Cholesky,
    LeastSquaresSolver::Qr,
    LeastSquaresSolver::GradientDescent,
];

fn table(csv: &str) -> Table {
    read_bytes(csv.as_bytes(), "t.csv", &ReadOptions::default()).expect("a table")
}

fn fitted(csv: &str, options: &FitOptions) -> Model {
    match fit_table(table(csv), options, &Watch::default()).expect("a fit") {
        TableFit::Model(model) => *model,
        other => panic!("{other:?}"),
    }
}

fn least_squares(solver: LeastSquaresSolver) -> Method {
    Method::LeastSquares(LeastSquaresSettings { solver, ..LeastSquaresSettings::default() })
}

fn verified(model: &Model, csv: &str) {
    let found = verify_table(model, &table(csv), &Watch::default()).expect("a verification");
    assert!(found.passed(), "{:?}", found.checks);
}

fn words(model: &Model) -> Vec<String> {
    model.notes.iter().map(|note| note.describe(&|j| model.recipe.feature(j), &linsep::words::Plain)).collect()
}

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Print {
    Single,
    Digits(usize),
    Decimals(usize),
}

impl Print {
    fn show(self, x: f64) -> String {
        match self {
            Print::Single => (x as f32).to_string(),
            Print::Digits(digits) => {
                let exponent = if x == 0.0 { 0 } else { x.abs().log10().floor() as i32 };
                format!("{:.*}", (digits as i32 - 1 - exponent).max(0) as usize, x)
            }
            Print::Decimals(decimals) => format!("{x:.decimals$}"),
        }
    }
}

/// Rows like those of the image-segment data: three colours, each the mean of nine pixels, their mean, and how far each is
/// above the others; seven classes of image.
fn segments() -> (Vec<String>, Vec<Vec<f64>>) {
    let mut source = Source::new(91);
    let centres: Vec<f64> = (0..21).map(|_| 10.0 + 60.0 * source.uniform(0.0, 1.0)).collect();
    let (mut classes, mut rows) = (Vec::new(), Vec::new());
    for i in 0..700 {
        let k = i % 7;
        let colour: Vec<f64> = (0..3)
            .map(|c| {
                let middle = centres[3 * k + c] + 9.0 * source.normal();
                (0..9).map(|_| (middle + 4.0 * source.normal()).round().max(0.0)).sum::<f64>() / 9.0
            })
            .collect();
        let [r, g, b] = colour[..] else { unreachable!() };
        let (edge, largest) = ((1.0 + k as f64) * source.normal().abs(), r.max(g).max(b));
        rows.push(vec![
            edge,
            r,
            g,
            b,
            (r + g + b) / 3.0,
            2.0 * r - g - b,
            2.0 * g - r - b,
            2.0 * b - r - g,
            if largest > 0.0 { (largest - r.min(g).min(b)) / largest } else { 0.0 },
        ]);
        classes.push(format!("c{k}"));
    }
    (classes, rows)
}

fn csv(classes: &[String], rows: &[Vec<f64>], print: Print) -> String {
    let mut out = String::from("class,edge,red,green,blue,intensity,exred,exgreen,exblue,saturation\n");
    for (class, row) in classes.iter().zip(rows) {
        let cells: Vec<String> = row.iter().map(|x| print.show(*x)).collect();
        out.push_str(&format!("{class},{}\n", cells.join(",")));
    }
    out
}

fn accuracy(model: &Model, csv: &str, classes: &[String]) -> f64 {
    let predicted = predict_table(model, &table(csv), None, &Watch::default()).expect("predictions");
    let right =
        (0..classes.len()).filter(|i| predicted.classes[*i].is_some_and(|c| model.classes[c.index()] == classes[*i]));
    right.count() as f64 / classes.len() as f64
}

#[test]
fn a_model_survives_fewer_decimals() {
    let (classes, rows) = segments();
    for print in [Print::Single, Print::Digits(6), Print::Decimals(6), Print::Decimals(4)] {
        let written = csv(&classes, &rows, print);
        let coarse = csv(&classes, &rows, Print::Decimals(4));
        let methods = [
            Method::Gaussian(GaussianBayes::lda()),
            Method::Gaussian(GaussianBayes::qda()),
            least_squares(LeastSquaresSolver::Auto),
            least_squares(LeastSquaresSolver::Qr),
        ];
        for method in methods {
            let what = format!("{print:?}, {}", method.name());
            let model = fitted(&written, &FitOptions::new("class", method));
            let left_out: Vec<String> = model
                .notes
                .iter()
                .filter_map(|n| match n {
                    Note::LeftOut { column, printed: true, .. } => Some(model.recipe.feature(*column)),
                    _ => None,
                })
                .collect();
            assert_eq!(left_out, ["intensity", "exred", "exgreen", "exblue"], "{what}: {:?}", words(&model));
            assert!(words(&model).iter().any(|w| w.contains("agrees with") && w.contains("up to its printed digits")));
            assert!(!words(&model).iter().any(|w| w.contains("is a linear combination")), "{what}");
            let digit =
                model.notes.iter().find_map(|n| if let Note::LastDigit { score } = n { Some(*score) } else { None });
            assert!(digit.is_some_and(|score| score > 0.0 && score < 0.05), "{what}: {digit:?}");
            let (before, after) = (accuracy(&model, &written, &classes), accuracy(&model, &coarse, &classes));
            assert!(before > 0.5 && before - after < 0.005, "{what}: from {before} to {after}");
            verified(&model, &written);
        }
    }
}

/// Dependence that holds for the doubles is called by its name; what holds on paper only is not.
#[test]
fn exact_dependence_is_told_from_agreement() {
    let mut source = Source::new(12);
    let (mut whole, mut decimal) = (String::from("y,a,b,sum\n"), String::from("y,a,b,sum\n"));
    for _ in 0..200 {
        let (a, b) = ((100.0 * source.uniform(0.0, 1.0)).round(), (50.0 * source.uniform(0.0, 1.0)).round());
        let class = if source.normal() + 0.02 * (a - b) > 0.0 { "p" } else { "q" };
        whole.push_str(&format!("{class},{a},{b},{}\n", a - 2.0 * b));
        decimal.push_str(&format!("{class},{:.1},{:.1},{:.1}\n", a / 10.0, b / 10.0, (a - 2.0 * b) / 10.0));
    }
    for method in [Method::Gaussian(GaussianBayes::lda()), Method::Gaussian(GaussianBayes::qda())]
        .into_iter()
        .chain(SOLVERS.map(least_squares))
    {
        let model = fitted(&whole, &FitOptions::new("y", method.clone()));
        let proved = |n: &Note| matches!(n, Note::Collinear { column: 2, combination } if combination.len() == 2);
        assert!(model.notes.iter().any(proved), "{method:?}: {:?}", model.notes);
        verified(&model, &whole);
        let model = fitted(&decimal, &FitOptions::new("y", method.clone()));
        let agrees = |n: &Note| matches!(n, Note::LeftOut { column: 2, printed: true, .. });
        assert!(model.notes.iter().any(agrees), "{method:?}: {:?}", model.notes);
        verified(&model, &decimal);
    }
}

/// A column within rounding of another, in arrays that nobody printed: the words claim nothing about the difference.
#[test]
fn without_printed_digits_nothing_is_claimed_about_the_difference() {
    let data = overlapping(120, 2, 2, 4).with_column(|i, x| x[0] * (1.0 + 1e-15 * (i % 7) as f64));
    for method in [Method::Gaussian(GaussianBayes::lda()), least_squares(LeastSquaresSolver::Auto)] {
        let model = data.model(&method);
        let note = model.notes.iter().find(|n| matches!(n, Note::LeftOut { column: 2, printed: false, .. }));
        let words = note.expect("a note").describe(&|j| format!("x{j}"), &linsep::words::Plain);
        assert!(words.contains("nothing is claimed about weights on the difference"), "{words}");
    }
}

/// Powers of years are nearly dependent and exactly what was asked for: none is dropped, and the fit is that of the years
/// counted from the middle.
#[test]
fn powers_of_years_all_stay() {
    let mut source = Source::new(30);
    let (mut years, mut near) = (String::from("y,year\n"), String::from("y,year\n"));
    for year in 1995..2025 {
        for _ in 0..4 {
            let t = f64::from(year - 2010) / 15.0;
            let class = if source.chance((0.5 + 0.4 * t - 0.9 * t * t * t).clamp(0.05, 0.95)) { "p" } else { "q" };
            years.push_str(&format!("{class},{year}\n"));
            near.push_str(&format!("{class},{}\n", year - 2010));
        }
    }
    for solver in [LeastSquaresSolver::Auto, LeastSquaresSolver::Qr] {
        let mut options = FitOptions::new("y", least_squares(solver));
        options.recipe.basis = Basis::Polynomial(4);
        let (far, close) = (fitted(&years, &options), fitted(&near, &options));
        assert!(far.notes.is_empty(), "{:?}", words(&far));
        let linear = far.discriminant.as_linear().expect("linear");
        assert!(linear.weights_of(0).iter().all(|w| *w != 0.0));
        let gap = far.certificate.gap().expect("a gap");
        // x^4 of 2024 is not a double: the functions are the same up to that.
        assert!((far.objective.value - close.objective.value).abs() < 1e-9, "{gap:e}");
        assert!(gap < 1e-12, "{gap:e}");
        verified(&far, &years);
    }
}

/// Timestamps, large offsets, far scales: what is fitted passes its own verification.
#[test]
fn fresh_fits_pass_their_own_verification() {
    let mut source = Source::new(41);
    let rows: Vec<(usize, f64, f64)> = (0..240)
        .map(|_| {
            let (a, b) = (10.0 * source.normal(), source.normal());
            (usize::from(0.1 * a + b + source.normal() > 0.0), a, b)
        })
        .collect();
    type Print<'a> = &'a dyn Fn(f64) -> String;
    let cases: [(&str, Print<'_>, Print<'_>); 6] = [
        ("timestamps", &|a| format!("{:.0}", 1.7e9 + a), &|b| format!("{b:.3}")),
        ("timestamps with decimals", &|a| format!("{:.3}", 1.7e9 + a), &|b| format!("{b:.3}")),
        ("shift", &|a| format!("{}", 1e9 + a), &|b| format!("{}", b - 1e9)),
        ("large", &|a| format!("{:e}", 1e100 * a), &|b| format!("{:e}", 1e100 * b)),
        ("small", &|a| format!("{:e}", 1e-100 * a), &|b| format!("{:e}", 1e-100 * b)),
        ("both", &|a| format!("{:e}", 1e100 * a), &|b| format!("{:e}", 1e-100 * b)),
    ];
    for (name, a_text, b_text) in cases {
        let mut csv = String::from("y,a,b\n");
        for (class, a, b) in &rows {
            csv.push_str(&format!("{},{},{}\n", ["p", "q"][*class], a_text(*a), b_text(*b)));
        }
        for solver in SOLVERS {
            let model = fitted(&csv, &FitOptions::new("y", least_squares(solver)));
            assert_eq!(model.outcome, Outcome::Converged, "{name}, {solver:?}: {:?}", model.certificate);
            assert!(model.certificate.relative_gap().is_some_and(|gap| gap < 1e-8), "{name}: {:?}", model.certificate);
            verified(&model, &csv);
        }
        for method in [GaussianBayes::lda(), GaussianBayes { divisor: Divisor::Mle, ..GaussianBayes::qda() }] {
            verified(&fitted(&csv, &FitOptions::new("y", Method::Gaussian(method))), &csv);
        }
    }
}

/// A steep logistic score of a column with one decimal.
#[test]
fn the_last_digit_is_told_where_it_matters() {
    let mut source = Source::new(8);
    let mut csv = String::from("y,x\n");
    for _ in 0..300 {
        let x = (100.0 * source.uniform(0.0, 1.0)).round() / 10.0;
        let class = if source.chance(1.0 / (1.0 + (-12.0 * (x - 5.0)).exp())) { "p" } else { "q" };
        csv.push_str(&format!("{class},{x:.1}\n"));
    }
    let method = RiskMinimizer { penalty: PenaltyChoice::Ridge(1e-6), ..RiskMinimizer::default() };
    let model = fitted(&csv, &FitOptions::new("y", Method::Risk(method)));
    let told = model.notes.iter().find_map(|n| if let Note::LastDigit { score } = n { Some(*score) } else { None });
    let weight = model.discriminant.as_linear().expect("linear").weights_of(0)[0];
    let expected = weight.abs() * 0.1 / 12f64.sqrt();
    assert!(told.is_some_and(|score| (score / expected - 1.0).abs() < 1e-12), "{told:?} {expected}");
    let calm = fitted(
        &csv,
        &FitOptions::new(
            "y",
            Method::Risk(RiskMinimizer { penalty: PenaltyChoice::Ridge(10.0), ..RiskMinimizer::default() }),
        ),
    );
    assert!(!calm.notes.iter().any(|n| matches!(n, Note::LastDigit { .. })), "{:?}", calm.notes);
}

// ---------------------------------------------------------------- the bound, against thirty-two digits

/// `F − F*` and `v − v*` at stored coefficients, in numbers of 32 digits: columns about the stored centre, then a one.
fn truth(data: &Data, linear: &Linear) -> (f64, Vec<f64>) {
    let dd = DoubleDouble::from;
    let p = data.cols + 1;
    let total = dd((0..data.rows()).map(|i| data.weight(i)).sum());
    let mut hessian = vec![vec![dd(0.0); p]; p];
    let mut gradient = vec![dd(0.0); p];
    for i in 0..data.rows() {
        let x: Vec<DoubleDouble> =
            data.row(i).iter().zip(linear.centre()).map(|(x, c)| dd(*x) - dd(*c)).chain([dd(1.0)]).collect();
        let mut residual = dd(linear.intercept_at_centre()[0]) - dd(2.0 * data.class(i) as f64 - 1.0);
        for (x, w) in x.iter().zip(linear.weights_of(0)) {
            residual = residual + *x * dd(*w);
        }
        let weight = dd(data.weight(i));
        for j in 0..p {
            gradient[j] = gradient[j] + weight * x[j] * residual;
            (0..p).for_each(|l| hessian[j][l] = hessian[j][l] + weight * x[j] * x[l]);
        }
    }
    let off = double_double::solve(&hessian, &gradient);
    let sum = gradient.iter().zip(&off).fold(dd(0.0), |sum, (g, v)| sum + *g * dd(*v));
    ((dd(0.5) * sum / total).value(), off)
}

fn claim(certificate: &Certificate) -> (f64, &CoefficientErrors) {
    match certificate {
        Certificate::Quadratic { gap, errors: Some(errors), .. } => (*gap, errors),
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_claim_is_below_the_truth() {
    let watch = Watch::default();
    let mut cases = 0;
    for (shift, scale, near) in [
        (0.0, 1.0, 1.0),
        (1e6, 1.0, 1.0),
        (1e9, 1.0, 1.0),
        (0.0, 1e100, 1.0),
        (1e3, 1e-100, 1e-2),
        (0.0, 1.0, 1e-4),
        (10.0, 1.0, 1e-6),
    ] {
        for weighted in [false, true] {
            let mut data = overlapping(60, 3, 2, 77)
                .with_column(|i, x| x[0] + near * ((i * 37 % 23) as f64 / 23.0 - 0.5))
                .map(|_, v| (v + shift) * scale);
            if weighted {
                data = data.weighted((0..60).map(|i| f64::from(i % 4) + 0.25).collect());
            }
            for solver in SOLVERS {
                let settings = least_squares(solver);
                let model = data.model(&settings);
                let linear = model.discriminant.as_linear().expect("linear");
                if linear.weights_of(0).contains(&0.0) {
                    continue; // a column was left out: the claim is about the others
                }
                // The ladder: one weight moved by 2^k units in the last place.
                for k in (0..=40).step_by(8) {
                    for at in 0..3 {
                        let mut weights = linear.weights_of(0).to_vec();
                        weights[at] += weights[at].abs() * f64::EPSILON * 2f64.powi(k - 8);
                        let (centre, intercept) = (linear.centre().to_vec(), linear.intercept_at_centre().to_vec());
                        let moved = Linear::new(weights, centre, intercept).expect("a plane");
                        let (gap, off) = truth(&data, &moved);
                        let (_, certificate) = settings
                            .certify(&data.training(&data.dense()), &Discriminant::Linear(moved), &model.units, &watch)
                            .expect("a certificate");
                        let (claimed, errors) = claim(&certificate);
                        let what = format!("shift {shift:e}, scale {scale:e}, near {near:e}, {solver:?}, 2^{k}");
                        assert!(claimed >= gap, "{what}: claimed {claimed:e}, true {gap:e}");
                        for (j, off) in off[..4].iter().enumerate() {
                            assert!(errors.weights[j] >= off.abs(), "{what}: {:e} {off:e}", errors.weights[j]);
                        }
                        assert!(errors.intercept[0] >= off[4].abs(), "{what}");
                        // And no useless claim: once the move is what matters, the bound is close.
                        if k == 40 {
                            assert!(claimed <= 1.5 * gap + 1e-20, "{what}: claimed {claimed:e}, true {gap:e}");
                        }
                        cases += 1;
                    }
                }
            }
        }
    }
    assert!(cases > 500, "{cases}");
}

/// What `fit` states is what `certify` finds at the stored numbers, to the bit.
#[test]
fn the_stated_proof_is_found_again() {
    let mut source = Source::new(3);
    let sets = [
        overlapping(90, 4, 2, 5),
        overlapping(90, 4, 3, 6).map(|_, v| v + 1e8),
        Data::new(source.normals(8 * 12), 12, labels((0..8).map(|i| i % 2).collect(), 2)),
    ];
    for data in &sets {
        for solver in SOLVERS {
            for penalty in [PenaltyChoice::None, PenaltyChoice::Ridge(0.01)] {
                let settings =
                    Method::LeastSquares(LeastSquaresSettings { solver, penalty, ..LeastSquaresSettings::default() });
                let model = data.model(&settings);
                let training = data.dense();
                let (value, certificate) = settings
                    .certify(&data.training(&training), &model.discriminant, &model.units, &Watch::default())
                    .expect("a certificate");
                assert_eq!((value, certificate), (model.objective.value, model.certificate.clone()), "{solver:?}");
            }
        }
    }
}
