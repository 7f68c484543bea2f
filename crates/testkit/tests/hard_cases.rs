//! Every loss with every penalty, and every solver of the pair, where data or patience are short.

use linsep::design::Design;
use linsep::error::ErrorKind;
use linsep::model::{Algorithm, Fit, LossChoice, Method, Outcome, PenaltyChoice, RiskMinimizer};
use linsep::watch::{Progress, Watch};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use testkit::data::{Data, Source, labels, overlapping};

/// Every pair of a loss and a penalty that the library takes.
fn pairs() -> Vec<RiskMinimizer> {
    let losses = [LossChoice::Logistic, LossChoice::Hinge, LossChoice::SquaredHinge, LossChoice::Squared];
    let penalties = [
        PenaltyChoice::Ridge(1e-3),
        PenaltyChoice::ElasticNet { l1_ratio: 1.0, lambda: Some(1e-3), cost: None },
        PenaltyChoice::ElasticNet { l1_ratio: 0.5, lambda: Some(1e-3), cost: None },
    ];
    let all = losses
        .iter()
        .flat_map(|loss| penalties.map(|penalty| RiskMinimizer { loss: *loss, penalty, ..RiskMinimizer::default() }));
    let taken: Vec<RiskMinimizer> = all.filter(|method| method.check_solver().is_ok()).collect();
    assert!(taken.len() >= 10, "{}", taken.len());
    taken
}

fn name(method: &RiskMinimizer) -> String {
    format!("{} with {:?} by {}", method.loss.name(), method.penalty, method.algorithm.name())
}

/// Pairs with each of their solvers.
fn triples() -> Vec<RiskMinimizer> {
    let with = |method: RiskMinimizer| {
        let solvers = method.solvers().to_vec();
        solvers.into_iter().map(move |algorithm| RiskMinimizer { algorithm, ..method.clone() })
    };
    let triples: Vec<RiskMinimizer> = pairs().into_iter().flat_map(with).collect();
    assert!(triples.len() >= 20, "{}", triples.len());
    triples
}

/// A fit; the solver in the space of the rows takes sparse ones only.
fn fit(data: &Data, method: RiskMinimizer, watch: &Watch) -> linsep::Result<Fit> {
    let (dense, csr) = (data.dense(), data.csr());
    let design: &dyn Design = if method.algorithm == Algorithm::RowNewton { &csr } else { &dense };
    Method::Risk(method).fit(&data.training(design), watch)
}

/// One positive row to a hundred thousand, which lie among them.
fn rare() -> Data {
    let n = 100_001;
    let mut source = Source::new(77);
    let values = source.normals(2 * n);
    Data::new(values, 2, labels((0..n).map(|i| usize::from(i == 40_000)).collect(), 2))
}

#[test]
fn one_row_in_a_hundred_thousand() {
    let data = rare();
    for method in pairs() {
        let what = name(&method);
        let model = data.model(&Method::Risk(method.clone()));
        assert_eq!(model.outcome, Outcome::Converged, "{what}");
        let gap = model.certificate.relative_gap().unwrap_or_else(|| panic!("{what}: {:?}", model.certificate));
        assert!(gap <= method.tolerance, "{what}: {gap:e}");
        let scores = data.scores(&model);
        assert!(scores.iter().all(|z| z.is_finite()), "{what}");
        if method.loss == LossChoice::Logistic {
            // A free intercept makes probabilities right on average.
            let expected: f64 = scores.iter().map(|z| 1.0 / (1.0 + (-z).exp())).sum();
            assert!((expected - 1.0).abs() < 1e-3, "{what}: {expected} rows expected, one is there");
        }
    }
}

/// Cancelled after the first iteration: the model so far with what is proved of it, or word that there is none.
#[test]
fn every_solver_can_be_interrupted() {
    let data = overlapping(3000, 6, 2, 41);
    for method in triples() {
        let what = name(&method);
        let method = RiskMinimizer { tolerance: 1e-15, ..method };
        let flag = Arc::new(AtomicBool::new(false));
        let (seen, told) = (Arc::clone(&flag), Arc::new(AtomicBool::new(false)));
        let tell = Arc::clone(&told);
        let watch = Watch::with_flag(flag).observer(move |event| {
            if matches!(event, Progress::Iteration { .. }) {
                tell.store(true, Ordering::Relaxed);
                seen.store(true, Ordering::Relaxed);
            }
        });
        match fit(&data, method, &watch) {
            Ok(Fit::Model(model)) => assert_eq!(model.outcome, Outcome::Interrupted, "{what}"),
            Ok(other) => panic!("{what}: {other:?}"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted, "{what}: {error}"),
        }
        assert!(told.load(Ordering::Relaxed), "{what} never said where it was");
    }
}

/// A tolerance that no solver reaches, and a deadline: the answer comes soon after it, and says so.
#[test]
fn every_solver_keeps_a_deadline() {
    let data = overlapping(2000, 20, 2, 43);
    for method in triples() {
        let what = name(&method);
        let endless = RiskMinimizer { tolerance: 1e-300, max_iterations: Some(usize::MAX), ..method };
        let started = Instant::now();
        let watch = Watch::default().deadline(started + Duration::from_millis(100));
        match fit(&data, endless, &watch) {
            Ok(Fit::Model(model)) => {
                let ended = [Outcome::TimeLimit, Outcome::PrecisionLimit];
                assert!(ended.contains(&model.outcome), "{what}: {:?}", model.outcome);
            }
            Ok(other) => panic!("{what}: {other:?}"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted, "{what}: {error}"),
        }
        // Twenty times the limit: other tests run at the same time, and the proof of what was found comes after it.
        assert!(started.elapsed() < Duration::from_secs(2), "{what}: {:?}", started.elapsed());
    }
}
