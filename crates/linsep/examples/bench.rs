//! The library's side of `bench/run.py`: loads arrays once, says `ready`, and does the work once per line `run`.
//!
//! `bench TASK X.npy y.npy [--lambda L] [--tol T] [--standardize] [--penalise-intercept]`, TASK
//! `logistic`, `hinge`, `sqhinge`, `lasso`, `path-lasso` or `path-ridge`
//! `rbf-fit`, `rbf-predict` (with `--gamma`, `--C`, `--cache` in bytes, `--test X.npy` for the rows to predict),
//! (these two with `--lambda` the largest of 100 down to 1e-4 of it), or one of lda, qda, gnb (Gaussian naive Bayes), mnb
//! (multinomial), ridge with `-fit` or `-predict`, or `separable` (a verdict of separability). `X-indices.npy` with `X-starts.npy` is a sparse matrix, of ones unless
//! there is `X-values.npy`. With `--proof` each line also has the time of the certificate.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "whoever runs it reads its lines")]

use linsep::certify::Certificate;
use linsep::decide;
use linsep::design::Training;
use linsep::design::{CsrMatrix, DenseMatrix, Design, Standardize};
use linsep::model::{
    Algorithm, Divisor, FamilyChoice, Fit, Fitted, GaussianBayes, KernelChoice, KernelSvmSettings, Lambdas,
    LeastSquaresSettings, LossChoice, Method, NaiveBayes, PenaltyChoice, Refusal, RiskMinimizer,
};
use linsep::objective::Intercept;
use linsep::separate::{SeparabilityOptions, Verdict, separability};
use linsep::table::{Class, Labels};
use linsep::watch::Watch;
use serde_json::json;
use std::error::Error;
use std::io::{BufRead, Read, Write};
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [task, x, y, options @ ..] = &arguments[..] else { return Err("usage: bench TASK X.npy y.npy".into()) };
    let value =
        |flag: &str| options.iter().position(|o| o == flag).and_then(|at| options.get(at + 1)?.parse::<f64>().ok());
    let standardize = if options.iter().any(|o| o == "--standardize") { Standardize::Yes } else { Standardize::No };
    let design = matrix(x)?;
    let (_, codes) = load(y, "<i8", i64::from_le_bytes)?;
    let classes = codes.iter().max().copied().unwrap_or(0) + 1;
    let labels =
        Labels::new(codes.iter().map(|c| Class(*c as u32)).collect(), (0..classes).map(|k| k.to_string()).collect());
    let training = Training::new(&*design, &labels);
    if task == "separable" {
        return serve_verdict(&training, value("--tol"));
    }
    let rows = labels.len() as f64;
    let method = match task.trim_end_matches("-fit").trim_end_matches("-predict") {
        "logistic" | "logistic-wide" | "softmax" => Method::Risk(RiskMinimizer {
            penalty: value("--lambda").map_or(PenaltyChoice::RidgeOne, PenaltyChoice::Ridge),
            tolerance: value("--tol").unwrap_or(1e-8),
            standardize,
            algorithm: match options.iter().position(|o| o == "--solver").and_then(|at| options.get(at + 1)) {
                Some(name) => serde_json::from_value(json!(name))?,
                None => Algorithm::Auto,
            },
            ..RiskMinimizer::default()
        }),
        "lasso" | "path-lasso" => Method::Risk(RiskMinimizer {
            penalty: PenaltyChoice::ElasticNet { l1_ratio: 1.0, lambda: value("--lambda"), cost: None },
            tolerance: value("--tol").unwrap_or(1e-8),
            standardize,
            ..RiskMinimizer::default()
        }),
        "path-ridge" => Method::Risk(RiskMinimizer {
            tolerance: value("--tol").unwrap_or(1e-8),
            standardize,
            ..RiskMinimizer::default()
        }),
        "hinge" | "sqhinge" => Method::Risk(RiskMinimizer {
            loss: if task == "hinge" { LossChoice::Hinge } else { LossChoice::SquaredHinge },
            penalty: value("--lambda").map_or(PenaltyChoice::RidgeOne, PenaltyChoice::Ridge),
            tolerance: value("--tol").unwrap_or(1e-8),
            intercept: match options.iter().any(|o| o == "--penalise-intercept") {
                true => Intercept::Penalised,
                false => Intercept::Free,
            },
            standardize,
            ..RiskMinimizer::default()
        }),
        "rbf" => Method::KernelSvm(KernelSvmSettings {
            kernel: KernelChoice::Rbf { gamma: value("--gamma") },
            penalty: PenaltyChoice::RidgeCost(value("--C").unwrap_or(1.0)),
            tolerance: value("--tol").unwrap_or(1e-4),
            cache: value("--cache").unwrap_or(200e6) as usize,
            standardize,
            ..KernelSvmSettings::default()
        }),
        "lda" => Method::Gaussian(GaussianBayes { standardize: Standardize::No, ..GaussianBayes::lda() }),
        "qda" => Method::Gaussian(GaussianBayes { standardize: Standardize::No, ..GaussianBayes::qda() }),
        "gnb" => Method::NaiveBayes(NaiveBayes { divisor: Divisor::Mle, ..NaiveBayes::of(FamilyChoice::Gaussian) }),
        "mnb" => Method::NaiveBayes(NaiveBayes::of(FamilyChoice::Multinomial)),
        "ridge" => Method::LeastSquares(LeastSquaresSettings {
            penalty: PenaltyChoice::Ridge(1.0 / rows),
            standardize: Standardize::No,
            ..LeastSquaresSettings::default()
        }),
        other => return Err(format!("no method {other}").into()),
    };
    if task.starts_with("path-") {
        return serve_path(&method, &training, value("--lambda"));
    }
    let mut model = fit(&method, &training)?;
    let test = options.iter().position(|o| o == "--test").and_then(|at| options.get(at + 1));
    let test = test.map(|path| matrix(path)).transpose()?;
    let scored = test.as_deref().unwrap_or(&*design);
    println!("ready");
    std::io::stdout().flush()?;
    for line in std::io::stdin().lock().lines() {
        if line?.trim() != "run" {
            break;
        }
        let start = Instant::now();
        let seconds = if task.ends_with("-predict") {
            std::hint::black_box(decide::predict(&model.discriminant, scored, &Watch::default())?);
            start.elapsed()
        } else {
            model = fit(&method, &training)?;
            start.elapsed()
        };
        let proof =
            options.iter().any(|o| o == "--proof").then(|| proof_seconds(&method, &training, &model)).transpose()?;
        // Of many columns the coefficients would only fill the pipe, unless most of them are zero.
        let linear = model.discriminant.as_linear().filter(|l| l.n_cols() < 10_000);
        let sparse = model.discriminant.as_linear().filter(|l| task == "lasso" && l.n_cols() >= 10_000);
        let entries: Option<Vec<(usize, f64)>> =
            sparse.map(|l| l.weights_of(0).iter().copied().enumerate().filter(|(_, w)| *w != 0.0).collect());
        let predicted = decide::predict(&model.discriminant, &*design, &Watch::default())?;
        let right = predicted.iter().zip(labels.codes()).filter(|(p, t)| p == t).count();
        println!(
            "{}",
            json!({
                "seconds": seconds.as_secs_f64(),
                "proof": proof,
                "objective": model.objective.value,
                "accuracy": right as f64 / predicted.len() as f64,
                "gap": model.certificate.relative_gap(),
                "passes": model.computation.passes,
                "iterations": model.computation.iterations,
                "dual": match &model.certificate {
                    Certificate::DualityGap { dual, .. } => Some(*dual),
                    _ => None,
                },
                "coef": linear.map(|l| l.weights_of(0)),
                "entries": entries,
                "intercept": linear.or(sparse).map(|l| l.intercept()[0]),
            })
        );
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// With `LINSEP_TRACE` set, every iteration is told on standard error, with the time since the start.
fn watch() -> Watch {
    let start = Instant::now();
    match std::env::var_os("LINSEP_TRACE") {
        Some(_) => {
            Watch::default().observer(move |event| eprintln!("{:.4} s {event:?}", start.elapsed().as_secs_f64()))
        }
        None => Watch::default(),
    }
}

/// A path of 100 λ; the coefficients of every point are sent.
fn serve_path(method: &Method, training: &Training<'_>, largest: Option<f64>) -> Result<(), Box<dyn Error>> {
    let Method::Risk(method) = method else { return Err("only a risk has a path".into()) };
    let lambdas = match largest {
        Some(largest) => Lambdas::Given((0..100).map(|i| largest * 1e-4f64.powf(f64::from(i) / 99.0)).collect()),
        None => Lambdas::default(),
    };
    println!("ready");
    std::io::stdout().flush()?;
    for line in std::io::stdin().lock().lines() {
        if line?.trim() != "run" {
            break;
        }
        let start = Instant::now();
        let Fit::Model(path) = method.path(training, &lambdas, &watch())? else {
            return Err("no optimum".into());
        };
        let seconds = start.elapsed().as_secs_f64();
        let coef: Vec<&[f64]> = path.points.iter().map(|p| p.linear.weights_of(0)).collect();
        let intercept: Vec<f64> = path.points.iter().map(|p| p.linear.intercept()[0]).collect();
        let gap = path.points.iter().filter_map(|p| p.certificate.relative_gap()).fold(0.0, f64::max);
        println!("{}", json!({"seconds": seconds, "gap": gap, "coef": coef, "intercept": intercept}));
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// Whether planes separate the classes; `--tol` is asked of the margin.
fn serve_verdict(training: &Training<'_>, margin_tolerance: Option<f64>) -> Result<(), Box<dyn Error>> {
    let options = SeparabilityOptions { margin_tolerance, ..SeparabilityOptions::default() };
    println!("ready");
    std::io::stdout().flush()?;
    for line in std::io::stdin().lock().lines() {
        if line?.trim() != "run" {
            break;
        }
        let start = Instant::now();
        let found = separability(training, &options, &watch())?;
        let seconds = start.elapsed().as_secs_f64();
        let verdict = &found.verdict;
        let details = match verdict {
            Verdict::Complete(v) => json!({"margin": v.margin, "gap": v.hull.as_ref().map(|h| h.gap)}),
            Verdict::QuasiComplete(v) => json!({
                "strict_rows": v.strict_rows, "diverging": v.columns, "residual": v.residual,
                "witness_rows": v.common.constraints.len(),
            }),
            Verdict::Overlap(v) => json!({"smallest": v.smallest, "residual": v.residual}),
            Verdict::Undecided(v) => json!({"reason": v.reason}),
        };
        println!(
            "{}",
            json!({"seconds": seconds, "verdict": verdict.name(), "iterations": found.iterations, "details": details})
        );
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// The time that the certificate takes, computed once more at the model.
fn proof_seconds(method: &Method, training: &Training<'_>, model: &Fitted) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    let (discriminant, units) = (&model.discriminant, &model.units);
    let found = match &model.multipliers {
        Some(found) => method.certify_multipliers(training, discriminant, units, &found.alpha, &Watch::default())?,
        None => method.certify(training, discriminant, units, &Watch::default())?,
    };
    std::hint::black_box(found);
    Ok(start.elapsed().as_secs_f64())
}

fn fit(method: &Method, training: &Training<'_>) -> Result<Fitted, Box<dyn Error>> {
    match method.fit(training, &watch())? {
        Fit::Model(fitted) => Ok(*fitted),
        Fit::Refused(Refusal::NoOptimum(_)) => Err("the classes are separable".into()),
        Fit::Refused(Refusal::NotSeparable(_)) => Err("the classes are not separable".into()),
    }
}

/// A dense matrix, or a sparse one (of ones where no values are given) by its column indices and row starts.
fn matrix(path: &str) -> Result<Box<dyn Design>, Box<dyn Error>> {
    let Some(stem) = path.strip_suffix("-indices.npy") else {
        let (shape, values) = load(path, "<f8", f64::from_le_bytes)?;
        return Ok(Box::new(DenseMatrix::new(values, shape[1])?));
    };
    let (_, indices) = load(path, "<i8", |b| i64::from_le_bytes(b) as u32)?;
    let (_, starts) = load(&format!("{stem}-starts.npy"), "<i8", |b| i64::from_le_bytes(b) as usize)?;
    let cols = indices.iter().max().map_or(0, |m| *m as usize + 1);
    let beside = format!("{stem}-values.npy");
    let values = match std::path::Path::new(&beside).exists() {
        true => load(&beside, "<f8", f64::from_le_bytes)?.1,
        false => vec![1.0; indices.len()],
    };
    Ok(Box::new(CsrMatrix::new(starts, indices, values, cols)?))
}

/// A C-ordered array of eight-byte numbers in NumPy's format, version 1.
fn load<T>(path: &str, kind: &str, number: fn([u8; 8]) -> T) -> Result<(Vec<usize>, Vec<T>), Box<dyn Error>> {
    let mut file = std::io::BufReader::with_capacity(1 << 20, std::fs::File::open(path)?);
    let mut start = [0; 10];
    file.read_exact(&mut start)?;
    let mut header = vec![0; usize::from(u16::from_le_bytes([start[8], start[9]]))];
    file.read_exact(&mut header)?;
    let header = String::from_utf8(header)?;
    if !header.contains(kind) || header.contains("'fortran_order': True") {
        return Err(format!("{path}: expected a C-ordered array of {kind}, found {header}").into());
    }
    let inside = header.split_once('(').and_then(|(_, rest)| rest.split_once(')')).ok_or("no shape")?.0;
    let shape: Vec<usize> = inside.split(',').filter_map(|d| d.trim().parse().ok()).collect();
    let mut values = Vec::with_capacity(shape.iter().product());
    let mut word = [0; 8];
    for _ in 0..shape.iter().product::<usize>() {
        file.read_exact(&mut word)?;
        values.push(number(word));
    }
    Ok((shape, values))
}
