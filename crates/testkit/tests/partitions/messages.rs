//! Fits of rows that are only reached by messages: the answer of all rows in memory, whoever is asked first, with a proof that
//! `verify` repeats on a copy of the rows.

use crate::places::{COLS, Place, SCALES, SEVEN, places, together};
use linsep::design::Standardize;
use linsep::error::Result;
use linsep::model::{Algorithm, Intercept, LossChoice, Method, PenaltyChoice, RiskMinimizer, SoftmaxForm};
use linsep::partitions::{AskParts, answer};
use linsep::table::{Class, Labels};
use linsep::watch::Watch;
use linsep::workflow::{
    Arrays, FitOptions, PartitionedModel, PartitionedRows, TableFit, fit_arrays, fit_partitions, verify_arrays,
};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Places that so many workers ask, the last one first.
struct Asked<'a> {
    places: &'a [Place],
    workers: usize,
    questions: AtomicUsize,
}

impl<'a> Asked<'a> {
    fn new(places: &'a [Place], workers: usize) -> Asked<'a> {
        Asked { places, workers, questions: AtomicUsize::new(0) }
    }
}

impl AskParts for Asked<'_> {
    fn ask(&self, message: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.questions.fetch_add(1, Ordering::Relaxed);
        let some: Vec<&Place> = self.places.iter().filter(|p| !p.labels.is_empty()).collect();
        let mut answers: Vec<Option<Result<Vec<u8>>>> = (0..some.len()).map(|_| None).collect();
        let asked = |worker: usize| {
            let own = (0..some.len()).filter(move |p| p % self.workers == worker);
            own.map(|p| (p, answer(some[p].rows(), message, &Watch::default()))).collect::<Vec<_>>()
        };
        let asked = &asked;
        std::thread::scope(|scope| {
            let busy: Vec<_> = (0..self.workers).rev().map(|w| scope.spawn(move || asked(w))).collect();
            for worker in busy {
                worker.join().unwrap().into_iter().for_each(|(p, found)| answers[p] = Some(found));
            }
        });
        answers.into_iter().map(|found| found.unwrap()).collect()
    }
}

fn names(classes: usize) -> Vec<String> {
    (0..classes).map(|k| format!("c{k}")).collect()
}

fn columns() -> Vec<String> {
    (0..COLS).map(|j| format!("x{j}")).collect()
}

fn fit(places: &[Place], classes: usize, method: &RiskMinimizer, workers: usize) -> Result<PartitionedModel> {
    let parts = Asked::new(places, workers);
    let rows = PartitionedRows {
        parts: &parts,
        names: columns(),
        cols: COLS,
        classes: names(classes),
        labels_are_text: true,
        zero_weight: 0,
    };
    let found = fit_partitions(rows, &FitOptions::new("y", Method::Risk(method.clone())), &Watch::default())?;
    assert_eq!(found.round_trips, parts.questions.into_inner());
    Ok(found)
}

fn arrays(place: &Place, classes: usize) -> Arrays<'_> {
    let rows = place.rows();
    Arrays {
        design: rows.design,
        names: columns(),
        labels: Labels::new(place.labels.clone(), names(classes)),
        labels_are_text: true,
        weights: rows.weights,
    }
}

fn settings() -> Vec<(&'static str, usize, RiskMinimizer)> {
    let plain = RiskMinimizer { penalty: PenaltyChoice::Ridge(1e-3), ..RiskMinimizer::default() };
    let net = |l1_ratio: f64| PenaltyChoice::ElasticNet { l1_ratio, lambda: Some(0.02), cost: None };
    let svm = RiskMinimizer { loss: LossChoice::SquaredHinge, ..plain.clone() };
    vec![
        ("logistic", 2, plain.clone()),
        ("as it is", 2, RiskMinimizer { standardize: Standardize::No, ..plain.clone() }),
        ("by the origin", 2, RiskMinimizer { intercept: Intercept::None, ..plain.clone() }),
        ("penalised intercept", 3, RiskMinimizer { intercept: Intercept::Penalised, ..plain.clone() }),
        ("symmetric softmax", 4, plain.clone()),
        ("reference softmax", 3, RiskMinimizer { form: SoftmaxForm::Reference, ..plain.clone() }),
        ("newton-cg", 3, RiskMinimizer { algorithm: Algorithm::NewtonCg, ..plain.clone() }),
        ("lbfgs", 2, RiskMinimizer { algorithm: Algorithm::Lbfgs, ..plain.clone() }),
        ("factors", 2, RiskMinimizer { factors: vec![1.0, 2.0, 0.5, 1.0, 4.0], ..plain.clone() }),
        ("lasso", 2, RiskMinimizer { penalty: net(1.0), ..plain.clone() }),
        ("lasso softmax", 3, RiskMinimizer { penalty: net(1.0), ..plain.clone() }),
        ("elastic net", 4, RiskMinimizer { penalty: net(0.5), ..plain.clone() }),
        ("squared hinge", 2, svm.clone()),
        ("squared hinge lasso", 2, RiskMinimizer { penalty: net(0.7), ..svm.clone() }),
        ("least squares", 3, RiskMinimizer { loss: LossChoice::Squared, ..plain.clone() }),
    ]
}

#[test]
fn messages_come_to_the_fit_of_all_rows() {
    for (name, classes, method) in settings() {
        for (weighted, sparse) in [(false, false), (true, false), (true, true)] {
            let (cut, _) = places(&SEVEN, classes, 0, weighted, &SCALES);
            let cut: Vec<Place> = if sparse { cut.into_iter().map(Place::sparse).collect() } else { cut };
            let one = together(&cut);
            let one = if sparse { one.sparse() } else { one };
            let options = FitOptions::new("y", Method::Risk(method.clone()));
            let TableFit::Model(here) = fit_arrays(arrays(&one, classes), &options, &Watch::default()).unwrap() else {
                panic!("{name}: a penalised risk has an optimum")
            };
            let there = fit(&cut, classes, &method, 1).unwrap().model;
            for workers in [2, 3, 9] {
                assert_eq!(fit(&cut, classes, &method, workers).unwrap().model, there, "{name}: {workers} workers");
            }
            let gaps = [&here, &there].map(|model| model.certificate.gap().unwrap());
            assert!(there.certificate.relative_gap().unwrap() <= method.tolerance, "{name}");
            let apart = (here.objective.value - there.objective.value).abs();
            assert!(apart <= gaps[0].max(gaps[1]) + 1e-14, "{name}: {apart:e} against {gaps:?}");
            assert_eq!(there.training.class_weights, here.training.class_weights, "{name}");
            // On a copy of the rows every claim is found again, by sums that are merged in the same way.
            let verdict = verify_arrays(&there, arrays(&one, classes), &Watch::default()).unwrap();
            assert!(verdict.passed(), "{name}: {:?}", verdict.checks);
            assert_eq!(verdict.certificate, there.certificate, "{name}");
        }
    }
}

#[test]
fn a_class_against_the_rest() {
    let method = RiskMinimizer {
        loss: LossChoice::SquaredHinge,
        penalty: PenaltyChoice::Ridge(1e-2),
        ..RiskMinimizer::default()
    };
    let (cut, _) = places(&SEVEN, 4, 0, true, &SCALES);
    let one = together(&cut);
    let there = fit(&cut, 4, &method, 2).unwrap().model;
    assert_eq!(there.parts.len(), 4);
    let options = FitOptions::new("y", Method::Risk(method));
    let TableFit::Model(here) = fit_arrays(arrays(&one, 4), &options, &Watch::default()).unwrap() else { panic!() };
    for (a, b) in here.parts.iter().zip(&there.parts) {
        let gap = a.certificate.gap().unwrap().max(b.certificate.gap().unwrap());
        assert!((a.objective.value - b.objective.value).abs() <= gap + 1e-14);
    }
    let verdict = verify_arrays(&there, arrays(&one, 4), &Watch::default()).unwrap();
    assert!(verdict.passed(), "{:?}", verdict.checks);
}

/// What is stated is compared: a smaller gap, or rows that are cut in another way, is found out.
#[test]
fn edited_claims_are_refuted() {
    let (cut, _) = places(&SEVEN, 2, 0, true, &SCALES);
    let one = together(&cut);
    let method = RiskMinimizer { penalty: PenaltyChoice::Ridge(1e-3), ..RiskMinimizer::default() };
    let model = fit(&cut, 2, &method, 1).unwrap().model;
    let mut bold = model.clone();
    let linsep::certify::Certificate::DualityGap { gap, relative_gap, .. } = &mut bold.certificate else { panic!() };
    (*gap, *relative_gap) = (*gap / 2.0, *relative_gap / 2.0);
    assert!(!verify_arrays(&bold, arrays(&one, 2), &Watch::default()).unwrap().passed());
    let mut moved = model;
    moved.objective.value *= 1.0 + 1e-6;
    assert!(!verify_arrays(&moved, arrays(&one, 2), &Watch::default()).unwrap().passed());
}

#[test]
fn what_needs_single_rows_is_refused() {
    let (cut, _) = places(&SEVEN, 2, 0, false, &SCALES);
    let plain = RiskMinimizer { penalty: PenaltyChoice::Ridge(1e-3), ..RiskMinimizer::default() };
    let refused = |method: RiskMinimizer| fit(&cut, 2, &method, 1).err().expect("refused").message().to_owned();
    assert!(refused(RiskMinimizer { penalty: PenaltyChoice::None, ..plain.clone() }).contains("optimum exists"));
    assert!(refused(RiskMinimizer { loss: LossChoice::Hinge, ..plain.clone() }).contains("row by row"));
    assert!(refused(RiskMinimizer { algorithm: Algorithm::Svrg, ..plain.clone() }).contains("visits single rows"));
    let factors = vec![0.0, 1.0, 1.0, 1.0, 1.0];
    assert!(refused(RiskMinimizer { factors, ..plain.clone() }).contains("without a penalty"));
    let empty: Vec<Place> = Vec::new();
    assert!(fit(&empty, 2, &plain, 1).err().unwrap().message().contains("no partition has any rows"));
    let missing = fit(&cut, 3, &plain, 1).err().unwrap();
    assert!(missing.message().contains("`c2` has no rows"), "{}", missing.message());
}

/// Messages that are cut short, or about other rows, are errors, never panics.
#[test]
fn damaged_messages_are_errors() {
    struct Keep(std::sync::Mutex<Vec<Vec<u8>>>, Place);
    impl AskParts for Keep {
        fn ask(&self, message: &[u8]) -> Result<Vec<Vec<u8>>> {
            self.0.lock().unwrap().push(message.to_vec());
            Ok(vec![answer(self.1.rows(), message, &Watch::default())?])
        }
    }
    let (mut cut, _) = places(&[60], 3, 0, true, &SCALES);
    let keep = Keep(std::sync::Mutex::new(Vec::new()), cut.remove(0));
    let method = RiskMinimizer { penalty: PenaltyChoice::Ridge(1e-2), ..RiskMinimizer::default() };
    let rows = PartitionedRows {
        parts: &keep,
        names: columns(),
        cols: COLS,
        classes: names(3),
        labels_are_text: true,
        zero_weight: 0,
    };
    fit_partitions(rows, &FitOptions::new("y", Method::Risk(method)), &Watch::default()).unwrap();
    let messages = keep.0.into_inner().unwrap();
    assert!(messages.len() > 8);
    let place = keep.1;
    for message in &messages {
        for end in (0..message.len()).step_by(7) {
            assert!(answer(place.rows(), &message[..end], &Watch::default()).is_err());
        }
        for at in 0..message.len().min(40) {
            let mut other = message.clone();
            other[at] ^= 0x15;
            let _ = answer(place.rows(), &other, &Watch::default());
        }
    }
    let (narrow, _) = places(&[20], 4, 0, false, &SCALES);
    let labels = vec![Class(3); 20];
    let rows = linsep::design::LabelledRows { labels: &labels, ..narrow[0].rows() };
    assert!(answer(rows, &messages[1], &Watch::default()).is_err(), "a class beyond those asked about");
}
