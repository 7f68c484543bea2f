//! How well scores rank the rows of two classes: receiver operating characteristic, precision against recall, and what a
//! threshold comes to.

use super::{Kind, Request};
use crate::caption::{model_caption, short_name};
use crate::scene::{Axis, Colour, Dash, Key, Mark, Panel, Picture, Point, Symbol, number_text};
use crate::subject::{class_label, classes_of};
use linsep::artifact::Model;
use linsep::table::Table;
use linsep::watch::Watch;
use linsep::workflow::{evaluate_table, predict_table};
use linsep::{Error, Result};

/// Rows at or above a score: its threshold, and how many of either class.
struct Step {
    score: f64,
    own: f64,
    rest: f64,
}

/// The rows of two classes from the largest score down, one step for every distinct score.
struct Ranked {
    steps: Vec<Step>,
    own: f64,
    rest: f64,
    /// The place of the model's own decision, where a cut of the score says it.
    decided: Option<Step>,
}

impl Ranked {
    fn of(model: &Model, table: &Table, watch: &Watch) -> Result<Ranked> {
        if model.classes.len() != 2 {
            return Err(Error::usage(format!(
                "rows are ranked between two classes, and there are {}",
                model.classes.len()
            ))
            .help("draw `confusion` of several"));
        }
        let Some(classes) = classes_of(table, &model.target, &model.classes)? else {
            return Err(Error::data(format!("the table has no column `{}` to compare with", model.target)));
        };
        let found = predict_table(model, table, None, watch)?;
        // As in `evaluate`: rows count by the model's weights where the table has them.
        let weights = model.weights.as_ref().and_then(|name| table.columns().iter().position(|c| c.name == *name));
        let weight_of = |row: usize| weights.map_or(1.0, |column| table.number(row, column));
        let mut rows: Vec<(f64, bool, f64)> = Vec::new();
        let (mut above, mut above_rest) = (0.0, 0.0);
        for (at, row) in found.rows.iter().enumerate() {
            let Some(class) = classes[*row] else { continue };
            let weight = weight_of(*row);
            // No weight, or a missing one, is no row.
            if !(weight > 0.0) {
                continue;
            }
            rows.push((found.deciding[at], class == 1, weight));
            if found.classes[at].is_some_and(|c| c.index() == 1) {
                *(if class == 1 { &mut above } else { &mut above_rest }) += weight;
            }
        }
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (mut own, mut rest) = (0.0, 0.0);
        let mut steps = vec![Step { score: f64::INFINITY, own: 0.0, rest: 0.0 }];
        for tied in rows.chunk_by(|a, b| a.0 == b.0) {
            own += tied.iter().filter(|r| r.1).map(|r| r.2).sum::<f64>();
            rest += tied.iter().filter(|r| !r.1).map(|r| r.2).sum::<f64>();
            steps.push(Step { score: tied[0].0, own, rest });
        }
        if own == 0.0 || rest == 0.0 {
            return Err(Error::data("all rows with a class are of one: there is nothing to rank"));
        }
        let decided = model.decision.reject.is_none().then_some(Step { score: 0.0, own: above, rest: above_rest });
        Ok(Ranked { steps, own, rest, decided })
    }

    fn area(&self) -> f64 {
        let trapezium = |w: &[Step]| (w[1].rest - w[0].rest) * 0.5 * (w[0].own + w[1].own);
        self.steps.windows(2).map(trapezium).sum::<f64>() / (self.own * self.rest)
    }
}

/// Panel of two shares.
fn unit_panel(x: &str, y: &str) -> Panel {
    let mut panel = Panel::new(Axis::new(x, (-0.02, 1.02)), Axis::new(y, (-0.02, 1.02)));
    (panel.equal, panel.aspect) = (false, 0.82);
    panel
}

fn check_models(request: &Request, kind: Kind) -> Result<&Table> {
    if request.models.is_empty() {
        return Err(request.lacks(kind, "a model file"));
    }
    request.table(kind)
}

/// Share of the last class that is found against share of the first that is taken for it.
pub(super) fn roc(request: &Request, watch: &Watch) -> Result<Picture> {
    let table = check_models(request, Kind::Roc)?;
    let class = last_class(request);
    let panel = unit_panel("false positive rate", &format!("true positive rate (recall of {class})"));
    let mut picture = Picture::new(Kind::Roc.name(), format!("ROC curve for {}", request.models[0].target), panel);
    picture.panels[0]
        .marks
        .push(Mark::line(vec![[0.0, 0.0], [1.0, 1.0]]).width(0.7).colour(Colour::Muted).label("chance"));
    let mut said = Vec::new();
    for (at, model) in request.models.iter().enumerate() {
        let ranked = Ranked::of(model, table, watch)?;
        let curve: Vec<Point> = ranked.steps.iter().map(|s| [s.rest / ranked.rest, s.own / ranked.own]).collect();
        let auc = evaluate_table(model, table, None, watch)?.evaluation.auc;
        let interval = auc.as_ref().and_then(linsep::evaluate::Metric::interval);
        let area = number_text(ranked.area());
        let label = format!("{} (AUC {area})", series_name(request, at));
        add_series(&mut picture, at, vec![curve], &label);
        if let Some(step) = &ranked.decided {
            let place = vec![[step.rest / ranked.rest, step.own / ranked.own]];
            picture.panels[0].marks.push(decision_dot(at, place));
        }
        let range = interval.map_or(String::new(), |(low, high)| {
            format!(", 95 % interval {} to {}", number_text(low), number_text(high))
        });
        said.push(format!("{} Area under the curve {area}{range}.", named(request, at, model)));
    }
    said.push("The dot is the model's own decision.".to_owned());
    picture.caption = said.join(" ");
    Ok(picture)
}

/// Precision against recall.
pub(super) fn precision_recall(request: &Request, watch: &Watch) -> Result<Picture> {
    let table = check_models(request, Kind::PrecisionRecall)?;
    let class = last_class(request);
    let panel = unit_panel(&format!("recall of {class}"), "precision");
    let title = format!("Precision and recall for {}", request.models[0].target);
    let mut picture = Picture::new(Kind::PrecisionRecall.name(), title, panel);
    let mut said = Vec::new();
    for (at, model) in request.models.iter().enumerate() {
        let ranked = Ranked::of(model, table, watch)?;
        if at == 0 {
            let share = ranked.own / (ranked.own + ranked.rest);
            let chance = Mark::line(vec![[0.0, share], [1.0, share]]).width(0.7).colour(Colour::Muted);
            picture.panels[0].marks.push(chance.label("share of the class"));
        }
        let point = |s: &Step| [s.own / ranked.own, s.own / (s.own + s.rest)];
        let curve: Vec<Point> = ranked.steps.iter().skip(1).map(point).collect();
        add_series(&mut picture, at, vec![curve], &series_name(request, at));
        if let Some(step) = ranked.decided.as_ref().filter(|s| s.own + s.rest > 0.0) {
            picture.panels[0].marks.push(decision_dot(at, vec![point(step)]));
        }
        said.push(named(request, at, model));
    }
    said.push("The grey line is the share of the class among the rows, the dot the model's own decision.".to_owned());
    picture.caption = said.join(" ");
    Ok(picture)
}

/// A figure of a step, of so many rows of either class.
type Figure = fn(&Step, f64, f64) -> Option<f64>;

/// Figures against the threshold of the probability.
pub(super) fn threshold(request: &Request, watch: &Watch) -> Result<Picture> {
    let model = request.model(Kind::Threshold)?;
    let table = request.table(Kind::Threshold)?;
    if !model.has_probabilities() {
        return Err(Error::usage("a threshold is one of a probability, and this model has none")
            .help("fit a logistic model, or calibrate this one"));
    }
    let ranked = Ranked::of(model, table, watch)?;
    let panel = unit_panel("threshold of the probability", "share");
    let mut picture = Picture::new(Kind::Threshold.name(), format!("Thresholds for {}", model.target), panel);
    let total = ranked.own + ranked.rest;
    let figures: [(&str, Figure); 5] = [
        ("recall", |s, own, _| Some(s.own / own)),
        ("specificity", |s, _, rest| Some((rest - s.rest) / rest)),
        ("precision", |s, _, _| (s.own + s.rest > 0.0).then(|| s.own / (s.own + s.rest))),
        ("F1", |s, own, _| Some(2.0 * s.own / (s.own + s.rest + own))),
        ("accuracy", |s, own, rest| Some((s.own + rest - s.rest) / (own + rest))),
    ];
    for (at, (name, figure)) in figures.into_iter().enumerate() {
        // Above a threshold is strictly above: the step of a score holds from its probability up to the one before.
        let mut path: Vec<Point> = Vec::new();
        let mut upper = 1.0;
        for step in &ranked.steps {
            let lower = if step.score == f64::INFINITY { 1.0 } else { linsep::numeric::logistic(step.score) };
            // The step before it: rows above thresholds in [this, before).
            path.extend(path.last().copied().filter(|_| lower < upper).map(|p| [lower, p[1]]));
            path.extend(figure(step, ranked.own, ranked.rest).map(|value| [lower, value]));
            upper = lower;
        }
        path.extend(path.last().copied().map(|p| [0.0, p[1]]));
        add_series(&mut picture, at, vec![path], name);
    }
    let said = format!("Each curve is exact: it steps at the probability of every one of {} rows.", number_text(total));
    picture.caption = super::paragraph(&[&model_caption(model), &said]);
    Ok(picture)
}

/// The class that is looked for.
fn last_class(request: &Request) -> String {
    let model = &request.models[0];
    model.classes.last().map_or_else(String::new, |class| class_label(&model.target, class))
}

fn series_name(request: &Request, at: usize) -> String {
    match request.models.len() {
        1 => short_name(&request.models[0]),
        _ => request.name_of(at),
    }
}

fn add_series(picture: &mut Picture, at: usize, paths: Vec<Vec<Point>>, label: &str) {
    let mark = Mark::lines(paths).colour(Colour::Class(at)).dash(Dash::of_series(at)).width(1.6).label(label);
    picture.keys.push(Key::new(label, mark.clone()));
    picture.panels[0].marks.push(mark);
}

fn decision_dot(at: usize, place: Vec<Point>) -> Mark {
    Mark::points(place, Symbol::Circle).colour(Colour::Class(at)).width(1.5).label("decision")
}

/// The caption of a model, behind its name where there are several.
fn named(request: &Request, at: usize, model: &linsep::artifact::Model) -> String {
    match request.models.len() {
        1 => model_caption(model),
        _ => format!("{}: {}", request.name_of(at), model_caption(model)),
    }
}
