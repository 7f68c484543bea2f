//! How far solvers are from the optimum, step by step.

use super::{Kind, Request};
use crate::caption::model_caption;
use crate::scene::{Axis, Colour, Dash, Key, Mark, Panel, Picture, Point, Symbol, number_text};
use linsep::model::{Algorithm, Method, RiskMinimizer};
use linsep::watch::{Progress, Watch};
use linsep::workflow::{TableFit, fit_table, options_of};
use linsep::{Error, Result};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Solvers that tell their steps, with the names that people know them by.
const SOLVERS: [(Algorithm, &str); 6] = [
    (Algorithm::Newton, "Newton"),
    (Algorithm::Lbfgs, "L-BFGS"),
    (Algorithm::GradientDescent, "gradient descent, line search"),
    (Algorithm::FixedStep, "gradient descent, fixed step"),
    (Algorithm::Svrg, "SVRG"),
    (Algorithm::Sgd, "SGD"),
];
/// Steps that are followed: beyond, first-order curves only go on as they were. Chosen by eye.
const MOST_STEPS: usize = 120;
/// Gaps below this are not followed: they come near to the rounding of J itself, which differs between processors.
const FLOOR: f64 = 1e-12;

/// Iteration, seconds and objective.
type Followed = (usize, f64, f64);

pub(super) fn picture(request: &Request, watch: &Watch) -> Result<Picture> {
    let model = request.model(Kind::Convergence)?;
    let table = request.table(Kind::Convergence)?;
    let Method::Risk(method) = &model.method else {
        return Err(Error::usage(
            "convergence is drawn of a model that minimises a risk, and this one has another method",
        )
        .help("fit logistic regression with a ridge penalty"));
    };
    let mut runs: Vec<(&str, Vec<Followed>)> = Vec::new();
    let mut unable = Vec::new();
    for (algorithm, name) in SOLVERS {
        let mut options = options_of(model);
        (options.folds, options.conformal, options.calibration) = (None, None, None);
        options.method = Method::Risk(RiskMinimizer { algorithm, max_iterations: Some(MOST_STEPS), ..method.clone() });
        let steps: Arc<Mutex<Vec<Followed>>> = Arc::default();
        let (kept, start) = (steps.clone(), Instant::now());
        let followed = watch.clone().also(move |progress| {
            let Progress::Point { iteration, objective, .. } = progress else { return };
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            if iteration == 0 {
                kept.clear();
            }
            kept.push((iteration, start.elapsed().as_secs_f64(), objective));
        });
        let ended = fit_table(table.clone(), &options, &followed);
        let steps = steps.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match ended {
            Ok(TableFit::Model(fitted)) if fitted.parts.is_empty() && steps.len() > 1 => runs.push((name, steps)),
            _ => unable.push(name),
        }
        if watch.halted().is_some() {
            return Err(Error::usage("stopped"));
        }
    }
    let best = runs.iter().flat_map(|(_, s)| s.iter().map(|f| f.2)).fold(f64::INFINITY, f64::min);
    if runs.is_empty() || !best.is_finite() {
        return Err(Error::usage("no solver that tells its steps can minimise what this model does")
            .help("fit a smooth loss with a ridge penalty, or none"));
    }
    let mut picture = drawn(request, &runs, best);
    picture.title = format!("Convergence for {}", model.target);
    let said = format!(
        "(J − J*)/|J*| after every iteration, J* = {} the least of all iterates; an iteration of SVRG and SGD is a pass over \
         the rows. Curves end at {FLOOR:.0e} or after {MOST_STEPS} iterations.",
        number_text(best)
    );
    picture.caption = super::paragraph(&[&model_caption(model), &said]);
    if !unable.is_empty() {
        picture.notes.push(format!("Not for this objective, or it tells no steps: {}.", unable.join(", ")));
    }
    Ok(picture)
}

fn drawn(request: &Request, runs: &[(&str, Vec<Followed>)], best: f64) -> Picture {
    let scale = if best == 0.0 { 1.0 } else { best.abs() };
    let gap = |objective: f64| ((objective - best) / scale).max(FLOOR);
    let all = runs.iter().flat_map(|(_, s)| s.iter().map(|f| gap(f.2)));
    let (low, high) = all.fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(v), h.max(v)));
    let y = Axis::new("relative gap", (0.5 * low.min(0.1 * high), 3.0 * high.max(2.0 * FLOOR))).log();
    let seconds = request.show.iter().any(|s| s == "seconds");
    let panel = |timed: bool| {
        let at = move |f: &Followed| if timed { f.1 } else { f.0 as f64 };
        let x =
            Axis::around(if timed { "seconds" } else { "iterations" }, runs.iter().flat_map(|(_, s)| s.iter().map(at)));
        let mut panel = Panel::new(x, y.clone());
        for (k, (name, steps)) in runs.iter().enumerate() {
            let end = steps.iter().position(|f| gap(f.2) <= FLOOR).map_or(steps.len(), |at| at + 1);
            let path: Vec<Point> = steps[..end].iter().map(|f| [at(f), gap(f.2)]).collect();
            let colour = Colour::Class(k);
            panel.marks.push(Mark::line(path.clone()).colour(colour).dash(Dash::of_series(k)).width(1.4).label(*name));
            let few = if path.len() <= 25 { path } else { path.into_iter().step_by(10).collect() };
            panel.marks.push(Mark::points(few, Symbol::of_class(k)).colour(colour).width(0.8).label(*name));
        }
        panel
    };
    let mut picture = Picture::new(Kind::Convergence.name(), "", panel(false));
    if seconds {
        picture.panels.push(panel(true));
    }
    for (k, (name, _)) in runs.iter().enumerate() {
        let mark = Mark::points(Vec::new(), Symbol::of_class(k)).colour(Colour::Class(k));
        picture.keys.push(Key::new(*name, mark));
    }
    picture
}
