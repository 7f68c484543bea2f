//! Other links than the logistic one: against mpmath, R, the logistic link itself, a slow reference and the bound by curvature.

use linsep::certify::Certificate;
use linsep::design::{LabelledRows, Standardize, Units};
use linsep::model::{Fit, Fitted, LinkRegression, Method, Outcome, PenaltyChoice, Refusal};
use linsep::numeric::logistic;
use linsep::objective::{Coef, CurvedLoss, Intercept, LINK_ERROR, Link, LinkLoss, Loss, Ridge, Risk, Sample};
use linsep::table::Class;
use linsep::watch::Watch;
use testkit::data::{Arrangement, Data, arranged, overlapping};
use testkit::golden::{Frame, json, number, numbers};
use testkit::{assert_all_near, assert_near};

const LINKS: [Link; 3] = [Link::Probit, Link::Cloglog, Link::Cauchit];

fn link(name: &str) -> Link {
    LINKS.into_iter().find(|l| l.name() == name).expect("a link")
}

fn method(link: Link, penalty: PenaltyChoice) -> LinkRegression {
    LinkRegression { penalty, tolerance: 1e-10, ..LinkRegression::new(link) }
}

fn terms(link: Link, class: u32, z: f64) -> [f64; 3] {
    let (mut slope, mut curvature) = ([0.0], [0.0]);
    let loss = LinkLoss::new(link).block(&[Class(class)], &[z], None, &mut slope, Some(&mut curvature));
    [loss, slope[0], curvature[0]]
}

/// The bound on rounding takes [`LINK_ERROR`] for granted; here it holds with a factor of ten to spare.
#[test]
fn losses_and_derivatives_are_those_of_mpmath() {
    let golden = json("links.json");
    let rows = golden["rows"].as_array().expect("rows");
    assert!(rows.len() > 100);
    for row in rows {
        let (name, class, z) = (row["link"].as_str().expect("a name"), number(&row["class"]) as u32, number(&row["z"]));
        let found = terms(link(name), class, z);
        for (found, what) in found.iter().zip(["loss", "slope", "curvature"]) {
            let expected = number(&row[what]);
            // The curvature of cauchit has a zero, about which only its terms have digits.
            let size = if name == "cauchit" { expected.abs() + found.abs().max(1e-3) } else { expected.abs() };
            let error = (found - expected).abs();
            assert!(error <= 0.1 * LINK_ERROR * size, "{name} {class} {z} {what}: {found} for {expected}");
        }
    }
}

#[test]
fn maximum_likelihood_of_r() {
    let golden = json("links_r.json");
    let features = ["bill_length_mm", "body_mass_g"].map(str::to_owned);
    let frame = Frame::golden("penguins.csv").complete(&features);
    let at = frame.column("sex");
    let data = frame.filter(|row| row[at] == "female" || row[at] == "male").labelled(&features, "sex");
    assert_eq!(data.rows() as f64, number(&golden["rows"]));
    for case in golden["cases"].as_array().expect("cases") {
        let link = link(case["link"].as_str().expect("a link"));
        for standardize in [Standardize::Yes, Standardize::No] {
            let model = data.model(&Method::Link(LinkRegression { standardize, ..method(link, PenaltyChoice::None) }));
            assert_eq!(model.outcome, Outcome::Converged);
            let linear = model.discriminant.as_linear().expect("a plane");
            assert_all_near(linear.weights_of(0), &numbers(&case["coef"]), 2e-6, 0.0, "weights");
            assert_near(linear.intercept()[0], number(&case["intercept"]), 2e-6, 0.0, "intercept");
            let total = -model.objective.value * data.rows() as f64;
            assert_near(total, number(&case["log_likelihood"]), 1e-12, 0.0, "log-likelihood");
            let p = logistic(link.log_odds(data.scores(&model)[0]));
            assert_near(p, number(&case["p_first"]), 1e-6, 0.0, "probability");
        }
    }
}

/// The bound holds: from points off the optimum it is above the true distance to the least objective that is known.
#[test]
fn the_ball_contains_the_optimum() {
    for (at, link) in [Link::Probit, Link::Cloglog].into_iter().enumerate() {
        for lambda in [0.0, 0.01] {
            let data = overlapping(80, 3, 2, 40 + at as u64);
            let penalty = if lambda > 0.0 { PenaltyChoice::Ridge(lambda) } else { PenaltyChoice::None };
            let best =
                data.model(&Method::Link(LinkRegression { standardize: Standardize::No, ..method(link, penalty) }));
            let Certificate::CurvatureBall { gap: least, curvature, .. } = best.certificate else { panic!("{best:?}") };
            assert!(least < 1e-20 && curvature > 0.99 && curvature <= 1.0);
            let (design, units) = (data.dense(), Units::identity(3));
            let sample = Sample::new(LabelledRows::new(&design, data.labels.codes()), &units);
            let risk = Risk::new(sample, LinkLoss::new(link), Ridge::new(lambda), Intercept::Free);
            let linear = best.discriminant.as_linear().expect("a plane");
            let at_best: Vec<f64> = linear.weights_of(0).iter().copied().chain(linear.intercept()).collect();
            let mut proved = 0;
            for size in [1e-7, 1e-6, 1e-5, 1e-4, 1e-3] {
                let moved: Vec<f64> = at_best.iter().zip([1.0, -0.7, 0.4, -1.2]).map(|(w, d)| w + size * d).collect();
                let coef = Coef::from_vec(moved.clone(), 1, 3);
                let bound = linsep::certify::curvature_ball_bound(&risk, &coef, &Watch::default()).expect("a bound");
                let true_gap = bound.objective - best.objective.value;
                if let Certificate::CurvatureBall { gap, errors: Some(errors), .. } = &bound.certificate {
                    proved += 1;
                    assert!(*gap >= true_gap - 1e-15 && *gap < 3.0 * true_gap + 1e-15, "{gap:e} for {true_gap:e}");
                    let off = moved.iter().zip(&at_best).map(|(a, b)| (a - b).abs());
                    let all = errors.weights.iter().chain(&errors.intercept);
                    off.zip(all).for_each(|(off, error)| assert!(off <= *error, "{off} beyond {error}"));
                }
            }
            assert!(proved >= 4, "{proved} of 5 points have a bound");
        }
    }
}

/// `ℓ″` over an interval is within what the bound takes it to be: on a grid.
#[test]
fn curvature_stays_within_its_bounds() {
    for link in [Link::Probit, Link::Cloglog] {
        for class in [0, 1] {
            for step in -40..30 {
                let z = 0.25 * f64::from(step);
                for reach in [1e-3, 0.1, 1.0] {
                    let (low, high) = LinkLoss::new(link).curvature_within(Class(class), z, reach);
                    let here = terms(link, class, z)[2];
                    if here < 1e-250 {
                        // Lost beside every other row.
                        continue;
                    }
                    for k in -50..=50 {
                        let there = terms(link, class, z + reach * f64::from(k) / 50.0)[2] / here;
                        assert!(low <= there && there <= high, "{link:?} {class} {z} ± {reach}: {low} {there} {high}");
                    }
                }
            }
        }
    }
}

/// Scores back and forth, and cells of a saturated table: the fitted probabilities are the shares, whatever the link.
#[test]
fn probabilities_of_a_saturated_table_are_the_shares() {
    let x: Vec<f64> = (0..20).map(|i| if i < 8 { 0.0 } else { 1.0 }).collect();
    let codes: Vec<usize> = (0..20).map(|i| usize::from(i < 2 || (8..17).contains(&i))).collect();
    let data = Data::new(x, 1, testkit::data::labels(codes, 2));
    for link in LINKS {
        let model = data.model(&Method::Link(method(link, PenaltyChoice::None)));
        let scores = data.scores(&model);
        assert_near(logistic(link.log_odds(scores[0])), 0.25, 1e-8, 0.0, "first cell");
        assert_near(logistic(link.log_odds(scores[10])), 0.75, 1e-8, 0.0, "second cell");
        for log_odds in [-30.0, -2.0, 0.0, 0.3, 5.0, 30.0] {
            assert_near(link.log_odds(link.score_at(log_odds)), log_odds, 1e-9, 1.0, "log-odds");
        }
    }
}

#[test]
fn separated_classes_have_no_maximum_and_others_do() {
    for link in LINKS {
        for arrangement in [Arrangement::Complete, Arrangement::Quasi] {
            let data = arranged(arrangement, 60, 2, true, 3);
            let fit = data.fit(&Method::Link(method(link, PenaltyChoice::None)));
            assert!(matches!(fit, Ok(Fit::Refused(Refusal::NoOptimum(_)))), "{link:?} {arrangement:?}");
            let penalised = data.model(&Method::Link(method(link, PenaltyChoice::Ridge(0.1))));
            assert_eq!(penalised.outcome, Outcome::Converged);
        }
    }
}

/// Cauchit is not convex, and no more than a local minimum is claimed.
#[test]
fn cauchit_is_local() {
    let data = overlapping(60, 2, 2, 7);
    let model = data.model(&Method::Link(method(Link::Cauchit, PenaltyChoice::None)));
    let Certificate::Local { gradient, smallest_eigenvalue } = model.certificate else { panic!("{model:?}") };
    assert!(gradient < 1e-10 && smallest_eigenvalue > 0.0);
    assert!(terms(Link::Cauchit, 1, -3.0)[2] < 0.0, "the loss is not convex");
}

/// Weight k is k copies, and rows of weight zero may hold anything.
#[test]
fn weights_are_frequencies() {
    let data = overlapping(30, 2, 2, 9);
    let weights: Vec<f64> = (0..30).map(|i| f64::from(i % 3)).collect();
    let copies: Vec<usize> = (0..30).flat_map(|i| std::iter::repeat_n(i, i % 3)).collect();
    let of =
        |data: &Data, link: Link| -> Fitted { data.model(&Method::Link(method(link, PenaltyChoice::Ridge(0.05)))) };
    for link in LINKS {
        let (weighted, copied) = (of(&data.weighted(weights.clone()), link), of(&data.select(&copies), link));
        let all = |m: &Fitted| -> Vec<f64> { m.discriminant.as_linear().expect("a plane").weights_of(0).to_vec() };
        assert_all_near(&all(&weighted), &all(&copied), 1e-7, 0.0, "weights");
    }
}

/// Offsets, columns far from zero, and sizes of 1e±100 give answers or errors, never a panic.
#[test]
fn extreme_columns() {
    for link in LINKS {
        for factor in [1e-100, 1e100] {
            let data = overlapping(40, 2, 2, 5).map(|_, x| factor * x);
            let model = data.model(&Method::Link(method(link, PenaltyChoice::None)));
            assert_eq!(model.outcome, Outcome::Converged, "{link:?} {factor:e}: {:?}", model.certificate);
        }
        let far = overlapping(40, 2, 2, 5).map(|_, x| 1e9 + x);
        assert!(matches!(far.fit(&Method::Link(method(link, PenaltyChoice::None))), Ok(Fit::Model(_))));
        let point = LinkLoss::new(link);
        assert!(point.curvature_bound() >= 0.6 && point.best_constant(&[1.0, 3.0])[0].is_finite());
    }
}
