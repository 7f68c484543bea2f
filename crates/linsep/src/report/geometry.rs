//! The boundaries of a model and the rows beside them, for machines and for people.

use super::decision::{decision_json, decision_text};
use super::text::{clip, count, grid, short, thousands, wrap};
use crate::artifact::Model;
use crate::geometry::{Boundary, Geometry, Quadric, Region, Surface};
use crate::table::{Class, Table};
use crate::words::{Setting, Voice, words};
use crate::workflow::TableGeometry;
use serde_json::{Value, json};

/// Columns shown per boundary, those with the largest part in the normal.
const MOST_COLUMNS: usize = 10;
/// Columns of a quadric whose axes are shown: what a terminal has room for.
const MOST_AXES: usize = 5;
/// Width of lines of prose.
const PROSE: usize = 92;

/// The machine interface of the geometry: `boundaries`, `regions` and, with a table, `data`.
pub fn geometry_json(model: &Model, geometry: &Geometry, data: Option<(&Table, &TableGeometry)>) -> Value {
    let boundaries: Vec<Value> = geometry.boundaries().iter().map(|b| boundary_json(model, b)).collect();
    let region = |(class, region): (usize, &Region)| {
        let mut value = json!({"class": model.classes[class]});
        match region {
            Region::Decided { witness } => {
                value["decided"] = json!("somewhere");
                value["witness"] = json!(witness);
            }
            Region::Never { mixture } => {
                let parts = mixture.iter().map(|(k, share)| json!({"class": name(model, *k), "share": share}));
                value["decided"] = json!("never");
                value["mixture"] = parts.collect();
            }
            Region::Undecided => value["decided"] = json!("undecided"),
        }
        value
    };
    let regions = geometry.regions().map(|r| r.iter().enumerate().map(region).collect::<Vec<Value>>());
    let mut value = json!({
        "model": model.method.name(),
        "classes": model.classes,
        "features": model.recipe.features()[..geometry.n_cols().min(model.recipe.n_features())],
        "offsets": model.offsets,
        "decision": decision_json(model),
        "cut": match model.classes.len() {
            2 => model.cuts().map(|cuts| cuts[0]),
            classes => model.decision.cut(classes),
        },
        "cuts": model.cuts(),
        "boundaries": boundaries,
        "regions": regions,
    });
    if let Some((table, measured)) = data {
        value["data"] = data_json(model, table, measured);
    }
    value
}

fn boundary_json(model: &Model, boundary: &Boundary) -> Value {
    let mut value = json!({"from": boundary.from.map(|c| name(model, c)), "to": name(model, boundary.to)});
    match &boundary.surface {
        Surface::Hyperplane(plane) => {
            value["kind"] = json!("hyperplane");
            value["normal"] = json!(plane.normal());
            value["offset"] = json!(plane.offset());
            value["norm"] = json!(plane.norm());
            value["point"] = json!(plane.point());
        }
        Surface::FeatureSpace { norm } => {
            value["kind"] = json!("feature_space_hyperplane");
            value["norm"] = json!(norm);
        }
        Surface::Quadric(quadric) => {
            let signature = quadric.signature();
            value["kind"] = json!("quadric");
            value["type"] = json!(quadric.name());
            value["eigenvalues"] = json!(quadric.eigenvalues());
            value["middle"] = json!(quadric.middle());
            value["half_axes"] = json!(quadric.half_axes());
            value["points"] = json!(quadric.points());
            value["signature"] =
                json!({"positive": signature.positive, "negative": signature.negative, "zero": signature.zero});
            value["centre"] = json!(quadric.centre());
            match quadric.diagonal() {
                Some(diagonal) => value["diagonal"] = json!(diagonal),
                None => value["matrix"] = json!(quadric.matrix().to_rows()),
            }
            value["gradient"] = json!(quadric.gradient());
            value["constant"] = json!(quadric.constant());
        }
        Surface::Constant(gap) => {
            value["kind"] = json!("none");
            value["difference"] = json!(gap);
        }
    }
    if let Some(means) = boundary.means {
        value["mean_distance"] = json!(means.euclidean);
        value["mahalanobis"] = json!(means.mahalanobis);
    }
    value
}

fn data_json(model: &Model, table: &Table, data: &TableGeometry) -> Value {
    let pairs = data.measured.neighbours().into_iter();
    let pairs: Vec<Value> = pairs
        .map(|(class, nearest, rows)| json!({"class": name(model, class), "nearest": name(model, nearest), "rows": rows}))
        .collect();
    let margin = data.measured.smallest_margin().map(|smallest| {
        json!({
            "margin": finite(smallest.margin),
            "functional": smallest.functional,
            "canonical": canonical_json(model, smallest.functional),
            "place": table.place(data.rows[smallest.row]).to_string(),
        })
    });
    let predicted = counts(model, data);
    let open = data.predictions.iter().filter(|p| p.is_none()).count();
    let unseen = model.classes.iter().zip(&predicted).filter(|(_, n)| **n == 0).map(|(c, _)| c);
    json!({
        "rows": data.rows.len(),
        "incomplete_rows": data.table_rows - data.rows.len(),
        "rejected": if model.decision.may_be_undetermined() { 0 } else { open },
        "undetermined": if model.decision.may_be_undetermined() { open } else { 0 },
        "unresolved": data.measured.unresolved(),
        "margin": margin,
        "smallest_radius": smallest_radius(data).map(|(radius, _)| finite(radius)),
        "neighbours": pairs,
        "not_predicted": unseen.collect::<Vec<_>>(),
    })
}

/// The same plane, scaled so that its smallest functional margin is one; null where a row is not on its side.
fn canonical_json(model: &Model, functional: f64) -> Value {
    let Some(linear) = model.discriminant.as_linear().filter(|_| functional > 0.0) else { return Value::Null };
    let scaled = |v: &[f64]| v.iter().map(|v| v / functional).collect::<Vec<f64>>();
    json!({
        "factor": functional.recip(),
        "weights": (0..linear.n_scores()).map(|k| scaled(linear.weights_of(k))).collect::<Vec<_>>(),
        "intercept": scaled(&linear.intercept()),
    })
}

/// JSON has no infinity.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// The boundaries in words and numbers.
pub fn geometry_text(model: &Model, geometry: &Geometry, voice: &dyn Voice) -> String {
    let boundaries = match geometry.boundaries().len() {
        1 => "one boundary".to_owned(),
        n => format!("{} boundaries", thousands(n as f64)),
    };
    let columns = count(geometry.n_cols(), "matrix column");
    let mut out = format!("{}, {} classes, {columns}: {boundaries}\n", model.method.name(), geometry.n_classes());
    out.push_str(match geometry.is_of_feature_space() {
        true if model.method.has_kernel() => {
            "lengths |g|/‖w‖ are those of the kernel's feature space: they are no radius within which a row may move\n"
        }
        true => {
            "lengths |g|/‖w‖ are those of the features that columns were made into: no radius within which a row may move\n"
        }
        false => "lengths are Euclidean, in the units of the matrix columns; normals point to the second class\n",
    });
    if !model.offsets.is_empty() {
        out.push_str("boundaries are those of rows whose offset is zero\n");
    }
    if let Some(note) = decision_note(model) {
        wrap(&format!("decision: {note}"), voice.width().min(PROSE))
            .iter()
            .for_each(|line| out.push_str(&format!("{line}\n")));
    }
    for boundary in geometry.boundaries() {
        out.push('\n');
        boundary_text(model, boundary, voice, &mut out);
    }
    if let Some(regions) = geometry.regions() {
        out.push('\n');
        for line in wrap(&regions_text(model, regions), voice.width().min(PROSE + 2) - 2) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out
}

/// How boundaries and lengths relate to the decision of the model; `None` where the largest score decides.
pub fn decision_note(model: &Model) -> Option<String> {
    let decision = &model.decision;
    if let Some(scheme) = decision.scheme() {
        let words = match scheme.is_arg_max() {
            true => "boundaries and lengths are those of this decision",
            false if model.discriminant.as_kernel().is_some() => {
                "boundaries and lengths are those of the two-class fits"
            }
            false => {
                "boundaries are those of the two-class fits, and the radius is a lower bound: no smaller change of a row \
                 changes its prediction, a larger one may not either"
            }
        };
        return Some(format!("{}; {words}", decision_text(model)));
    }
    if !model.parts.is_empty() && model.cuts().is_none() {
        let without = if decision.reject.is_some() { ", without the rejection" } else { "" };
        return Some(format!("{}; boundaries and lengths are those of this decision{without}", decision_text(model)));
    }
    let words = match (model.cuts(), decision.reject) {
        (Some(cuts), None) if cuts.iter().all(|c| *c == 0.0) => return None,
        (Some(cuts), Some(_)) if cuts.iter().all(|c| *c == 0.0) => {
            "boundaries and lengths are those without the rejection".to_owned()
        }
        (Some(cuts), reject) => {
            let without = if reject.is_some() { ", without the rejection" } else { "" };
            let class = clip(&model.classes[1], 24);
            let place = match (&cuts[..], &model.calibration) {
                ([cut], None) if model.true_priors.is_none() => {
                    format!("where the log-odds of `{class}` are {}", short(*cut))
                }
                ([cut], _) => format!("where the score of `{class}` is {}", short(*cut)),
                _ => "with the true priors of the classes".to_owned(),
            };
            format!("boundaries and lengths are those of this decision{without}: {place}")
        }
        (None, _) => {
            "boundaries and lengths are those of the largest score, so predictions may lie across them".to_owned()
        }
    };
    Some(format!("{}; {words}", decision_text(model)))
}

fn boundary_text(model: &Model, boundary: &Boundary, voice: &dyn Voice, out: &mut String) {
    let from = boundary.from.map_or("rest", |c| name(model, c));
    let pair = format!("{} | {}", clip(from, 30), clip(name(model, boundary.to), 30));
    let columns = model.recipe.n_features();
    match &boundary.surface {
        Surface::Hyperplane(plane) => {
            let kind = crate::geometry::QuadricKind::Hyperplane.name(columns);
            out.push_str(&format!("  {pair}: {kind} w·(x − x₀) = 0, ‖w‖ = {}\n", short(plane.norm())));
        }
        Surface::FeatureSpace { norm } => {
            let space = if model.method.has_kernel() { "the kernel's feature space" } else { "the feature space" };
            out.push_str(&format!("  {pair}: a hyperplane of {space}, ‖w‖ = {}\n", short(*norm)))
        }
        Surface::Quadric(quadric) => {
            let signature = quadric.signature();
            let signs = [(signature.positive, "positive"), (signature.negative, "negative"), (signature.zero, "zero")];
            let signs: Vec<String> = signs.iter().filter(|s| s.0 > 0).map(|(n, sign)| format!("{n} {sign}")).collect();
            out.push_str(&format!("  {pair}: {} (curvatures: {})\n", quadric.name(), signs.join(", ")));
            out.push_str(&shape_text(model, quadric));
        }
        Surface::Constant(gap) => {
            let line = format!("  {pair}: no boundary, the scores differ by {} everywhere\n", short(*gap));
            out.push_str(&line);
        }
    }
    if let Some(means) = boundary.means {
        let mahalanobis = means.mahalanobis.map(|m| format!(", {} in Mahalanobis distance", short(m)));
        out.push_str(&format!(
            "    the means are {} apart{}\n",
            short(means.euclidean),
            mahalanobis.unwrap_or_default()
        ));
    }
    if let Surface::Hyperplane(plane) = &boundary.surface {
        let mut order: Vec<usize> = (0..columns).collect();
        order.sort_by(|a, b| plane.normal()[*b].abs().total_cmp(&plane.normal()[*a].abs()));
        let mut rows = vec![["", "unit normal", "x₀"].map(str::to_owned).to_vec()];
        for j in order.iter().take(MOST_COLUMNS) {
            let name = clip(&model.recipe.feature(*j), 40);
            rows.push(vec![name, short(plane.normal()[*j]), short(plane.point()[*j])]);
        }
        out.push_str(&grid(&rows, 4));
        if columns > MOST_COLUMNS {
            let more = thousands((columns - MOST_COLUMNS) as f64);
            let where_else = words![", all with ", Setting::Json].said(voice).unwrap_or_default();
            out.push_str(&format!("    and {more} more{where_else}\n"));
        }
    }
}

/// The centre of a quadric, and its axes with the curvature along each; in one column its points.
fn shape_text(model: &Model, quadric: &Quadric) -> String {
    let columns = quadric.n_cols();
    if let Some(points) = quadric.points().filter(|points| !points.is_empty()) {
        let points: Vec<String> = points.iter().map(|x| short(*x)).collect();
        return format!("    at {} = {}\n", clip(&model.recipe.feature(0), 40), points.join(" and "));
    }
    let values = quadric.eigenvalues();
    if columns > MOST_AXES || values.iter().all(|v| *v == 0.0) {
        return String::new();
    }
    let (middle, half) = (quadric.middle(), quadric.half_axes());
    let axes: Vec<Vec<f64>> = (0..columns).map(|k| quadric.axis(k)).collect();
    let centre = |text: String| middle.iter().map(move |_| text.clone());
    let line = |name: &str, centred: String, numbers: Vec<String>| -> Vec<String> {
        std::iter::once(name.to_owned()).chain(centre(centred)).chain(numbers).collect()
    };
    let mut rows = vec![line("", "centre".into(), (1..=columns).map(|k| format!("axis {k}")).collect())];
    for j in 0..columns {
        let of = axes.iter().map(|axis| short(axis[j])).collect();
        let at = middle.as_ref().map_or(String::new(), |m| short(m[j]));
        rows.push(line(&clip(&model.recipe.feature(j), 40), at, of));
    }
    rows.push(line("eigenvalue of W", String::new(), values.iter().map(|v| short(*v)).collect()));
    rows.extend(half.map(|half| line("half axis", String::new(), half.iter().map(|h| short(*h)).collect())));
    grid(&rows, 4)
}

fn regions_text(model: &Model, regions: &[Region]) -> String {
    let never = |(k, region): (usize, &Region)| match region {
        Region::Never { mixture } => {
            let parts: Vec<String> =
                mixture.iter().map(|(c, share)| format!("{} {}", short(*share), name(model, *c))).collect();
            Some(format!("{} is never decided: its weights are the mixture {}", model.classes[k], parts.join(" + ")))
        }
        _ => None,
    };
    let mut said: Vec<String> = regions.iter().enumerate().filter_map(never).collect();
    let open: Vec<&str> = regions
        .iter()
        .zip(&model.classes)
        .filter(|(region, _)| **region == Region::Undecided)
        .map(|(_, class)| class.as_str())
        .collect();
    match (said.is_empty(), open.is_empty()) {
        (true, true) => return "regions: convex, and every class is decided somewhere".into(),
        (_, true) => {}
        (_, false) if open.len() > 8 => said.push(format!("for {} classes it was not settled", open.len())),
        (_, false) => said.push(format!("whether there is one was not settled for {}", open.join(", "))),
    }
    format!("regions: convex; {}", said.join("; "))
}

/// What the rows of a table say about margins, radii and which classes are neighbours.
pub fn measured_text(model: &Model, table: &Table, data: &TableGeometry) -> String {
    let mut out = count(data.rows.len(), "row");
    if data.table_rows > data.rows.len() {
        out.push_str(&format!(
            "; {} with missing cells left empty",
            thousands((data.table_rows - data.rows.len()) as f64)
        ));
    }
    out.push('\n');
    let mut facts: Vec<(&str, String)> = Vec::new();
    let rejected = data.predictions.iter().filter(|p| p.is_none()).count();
    if rejected > 0 {
        let label = if model.decision.may_be_undetermined() { "undetermined " } else { "rejected" };
        facts.push((label, count(rejected, "row")));
    }
    let unresolved = data.measured.unresolved();
    if unresolved > 0 {
        let fact =
            format!("{}: rounding leaves open which point of a boundary is the nearest", count(unresolved, "row"));
        facts.push(("unknown", fact));
    }
    if let Some(smallest) = data.measured.smallest_margin() {
        let place = table.place(data.rows[smallest.row]);
        let side = match smallest.margin {
            m if m > 0.0 => "every labelled row is on its side",
            0.0 => "that row is on the boundary",
            _ => "that row is on the wrong side",
        };
        facts.push(("margin", format!("{} at {place}: {side}", short(smallest.margin))));
        facts.push(("functional", functional_text(model, smallest.functional)));
    }
    if let Some((radius, row)) = smallest_radius(data) {
        facts.push(("radius", format!("{} at least, at {}", short(radius), table.place(data.rows[row]))));
    }
    let pairs = data.measured.neighbours();
    let pair = |(class, nearest, n): &(Class, Class, usize)| {
        format!("{} next to {} {}", name(model, *class), name(model, *nearest), thousands(*n as f64))
    };
    match pairs.len() {
        0 => {}
        n if n > 20 => facts.push(("neighbours", format!("{n} pairs of classes share a boundary on these rows"))),
        _ => facts.push(("neighbours", pairs.iter().map(pair).collect::<Vec<_>>().join(", "))),
    }
    let predicted = counts(model, data);
    let unseen: Vec<&str> =
        model.classes.iter().zip(&predicted).filter(|(_, n)| **n == 0).map(|(c, _)| c.as_str()).collect();
    if !unseen.is_empty() && unseen.len() <= 20 {
        facts.push(("unused", format!("no row of this table is predicted to be {}", unseen.join(" or "))));
    }
    facts.extend(decision_note(model).map(|note| ("decision", note)));
    for (label, fact) in facts {
        for (i, line) in wrap(&fact, PROSE - 14).iter().enumerate() {
            out.push_str(&format!("  {:<12}{line}\n", if i == 0 { label } else { "" }));
        }
    }
    out
}

/// The smallest y·g, and what makes it one.
fn functional_text(model: &Model, functional: f64) -> String {
    let what = if model.classes.len() == 2 { "y·g" } else { "g_y − g_j" };
    match functional > 0.0 && model.discriminant.as_linear().is_some() {
        true => format!(
            "{} is the smallest {what}; weights and intercept times {} make it 1",
            short(functional),
            short(functional.recip())
        ),
        false => format!("{} is the smallest {what}", short(functional)),
    }
}

/// How many rows are predicted to be of each class.
fn counts(model: &Model, data: &TableGeometry) -> Vec<usize> {
    let mut counts = vec![0; model.classes.len()];
    data.predictions.iter().flatten().for_each(|class| counts[class.index()] += 1);
    counts
}

/// The smallest radius and the first row that has it.
fn smallest_radius(data: &TableGeometry) -> Option<(f64, usize)> {
    // A radius that is not known may be the smallest.
    if data.measured.rows.iter().any(|r| r.radius.is_nan()) {
        return None;
    }
    let rows = data.measured.rows.iter().enumerate().map(|(i, r)| (r.radius, i));
    rows.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
}

fn name(model: &Model, class: Class) -> &str {
    &model.classes[class.index()]
}
