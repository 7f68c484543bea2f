//! Every kind of picture: its structure, that nothing leaves its frame, that no words cover each other, that boundaries are
//! where the scores say, and that regions agree with predictions.

use linsep::artifact::Model;
use linsep::design::{DenseMatrix, RecipeOptions};
use linsep::model::{
    CovarianceShape, Fit, GaussianBayes, KernelSvmSettings, LossChoice, Method, PenaltyChoice, RiskMinimizer,
};
use linsep::read::{ReadOptions, read_bytes, read_files};
use linsep::table::Table;
use linsep::workflow::{FitOptions, fit_table, predict_design};
use linsep_plot::{Format, Kind, Look, Picture, PlaneChoice, Request, Shape, Theme};
use std::path::Path;
use std::sync::OnceLock;

fn example(name: &str) -> Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    read_files(&[path], &ReadOptions::default(), &Default::default()).expect("an example table can be read")
}

fn gaussian(shape: CovarianceShape) -> Method {
    Method::Gaussian(GaussianBayes::new(shape))
}

fn risk(loss: LossChoice, penalty: PenaltyChoice) -> Method {
    Method::Risk(RiskMinimizer { loss, penalty, ..RiskMinimizer::default() })
}

fn fitted(table: &Table, target: &str, columns: &[&str], method: Method) -> Model {
    let mut options = FitOptions::new(target, method);
    if !columns.is_empty() {
        let names = columns.iter().map(|c| (*c).to_owned()).collect();
        options.recipe = RecipeOptions { features: Some(names), ..RecipeOptions::default() };
    }
    match fit_table(table.clone(), &options, &Default::default()).expect("the fit runs") {
        Fit::Model(model) => *model,
        Fit::Refused(_) => panic!("there is an optimum"),
    }
}

fn drawn(kind: Kind, models: Vec<Model>, table: Option<Table>, change: impl Fn(&mut Request)) -> Picture {
    let mut request = Request { models, table, ..Request::default() };
    change(&mut request);
    kind.picture(&request, &Default::default()).unwrap_or_else(|e| panic!("{}: {}", kind.name(), e.message()))
}

const PETALS: [&str; 2] = ["Petal.Length", "Petal.Width"];
const BODY: [&str; 4] = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"];

/// One picture of every kind at least, also in more than two columns; made once.
fn all() -> &'static [Picture] {
    static PICTURES: OnceLock<Vec<Picture>> = OnceLock::new();
    PICTURES.get_or_init(every_kind)
}

fn every_kind() -> Vec<Picture> {
    let (iris, penguins) = (example("iris.csv"), example("penguins.csv"));
    let of = |table: &Table, target: &str, columns: &[&str], method| fitted(table, target, columns, method);
    let logistic = || risk(LossChoice::Logistic, PenaltyChoice::RidgeOne);
    let likelihood = || risk(LossChoice::Logistic, PenaltyChoice::None);
    let lda = of(&iris, "Species", &[], gaussian(CovarianceShape::Shared));
    let petals = of(&iris, "Species", &PETALS, gaussian(CovarianceShape::Own));
    let softmax = of(&iris, "Species", &PETALS, logistic());
    let sex = of(&penguins, "sex", &BODY, logistic());
    let mass = of(&penguins, "sex", &["body_mass_g"], likelihood());
    let machine = of(&penguins, "sex", &BODY, risk(LossChoice::Hinge, PenaltyChoice::RidgeOne));
    let kernel = of(&penguins, "sex", &BODY[..2], Method::KernelSvm(KernelSvmSettings::default()));
    let flippers = of(&penguins, "species", &BODY[2..3], gaussian(CovarianceShape::Own));
    let squares = |columns: &[&str]| {
        fitted(&penguins, "sex", columns, Method::LeastSquares(linsep::model::LeastSquaresSettings::default()))
    };
    let (i, p) = (|| Some(iris.clone()), || Some(penguins.clone()));
    let plain = |_: &mut Request| {};
    vec![
        drawn(Kind::Scatter, vec![], i(), |r| r.target = Some("Species".into())),
        drawn(Kind::Scatter, vec![], p(), plain),
        drawn(Kind::Boundary, vec![softmax.clone()], i(), plain),
        drawn(Kind::Boundary, vec![sex.clone()], p(), plain),
        drawn(Kind::Boundary, vec![softmax.clone(), petals.clone()], i(), plain),
        drawn(Kind::Regions, vec![lda.clone()], i(), plain),
        drawn(Kind::Regions, vec![petals.clone()], i(), plain),
        drawn(Kind::Regions, vec![kernel], p(), plain),
        drawn(Kind::Regions, vec![sex.clone()], p(), |r| r.plane = Some(PlaneChoice::Slice)),
        drawn(Kind::Margin, vec![machine.clone()], p(), plain),
        drawn(Kind::Hulls, vec![], p(), |r| r.target = Some("sex".into())),
        drawn(Kind::Densities, vec![flippers], p(), plain),
        drawn(Kind::Densities, vec![petals.clone()], i(), plain),
        drawn(Kind::Densities, vec![lda.clone()], None, |r| r.x = Some("Petal.Width".into())),
        drawn(Kind::Curve, vec![mass.clone()], p(), plain),
        drawn(Kind::Descent, vec![mass.clone()], p(), plain),
        drawn(Kind::Roc, vec![sex.clone(), mass.clone()], p(), plain),
        drawn(Kind::PrecisionRecall, vec![sex.clone()], p(), plain),
        drawn(Kind::Threshold, vec![sex.clone()], p(), plain),
        drawn(Kind::Calibration, vec![sex.clone()], p(), plain),
        drawn(Kind::Coefficients, vec![lda.clone()], None, plain),
        drawn(Kind::Coefficients, vec![mass.clone()], p(), plain),
        drawn(Kind::Path, vec![sex.clone()], p(), plain),
        drawn(Kind::Confusion, vec![lda.clone()], i(), plain),
        drawn(Kind::Losses, vec![], None, plain),
        drawn(Kind::Losses, vec![], None, |r| r.show = vec!["relu".into()]),
        drawn(Kind::Losses, vec![], None, |r| r.show = vec!["probability".into()]),
        drawn(Kind::Estimates, vec![lda.clone()], i(), plain),
        drawn(Kind::Estimates, vec![], i(), |r| (r.x, r.prior) = (Some("Petal.Width".into()), Some((1.0, 0.5)))),
        drawn(Kind::Residuals, vec![squares(&["body_mass_g"])], p(), plain),
        drawn(Kind::Residuals, vec![squares(&BODY[..2])], p(), plain),
        drawn(Kind::Updates, vec![], p(), |r| r.target = Some("sex".into())),
        drawn(Kind::Surfaces, vec![petals.clone()], i(), plain),
        drawn(Kind::Surfaces, vec![of(&penguins, "sex", &BODY[..3], logistic())], p(), plain),
        drawn(Kind::Convergence, vec![softmax.clone()], i(), plain),
        drawn(Kind::LearningCurve, vec![softmax.clone()], i(), plain),
        drawn(Kind::Boundary, vec![sex.clone()], p(), |r| r.show = vec!["levels".into(), "distances".into()]),
        drawn(Kind::Boundary, vec![sex.clone()], p(), |r| r.row = Some(1)),
        drawn(Kind::Boundary, vec![softmax, petals.clone()], i(), |r| r.panels = true),
        drawn(Kind::Margin, vec![machine], p(), |r| r.show = vec!["balls".into()]),
        drawn(Kind::Curve, vec![squares(&["body_mass_g"])], p(), |r| r.show = vec!["densities".into()]),
        drawn(Kind::Curve, vec![mass], None, plain),
    ]
}

#[test]
fn nothing_leaves_its_frame_and_no_words_cover_each_other() {
    let pictures = all();
    for kind in Kind::ALL {
        assert!(pictures.iter().any(|p| p.kind == kind.name()), "no picture of {}", kind.name());
    }
    for picture in pictures {
        assert!(!picture.caption.is_empty() && !picture.title.is_empty(), "{}", picture.kind);
        for width in [300.0, 400.0, 720.0, 1200.0] {
            let place = format!("{} ({}) at {width}", picture.kind, picture.title);
            let drawing = picture.drawing(&Look { width, theme: Theme::Light });
            for (frame, bounds) in &drawing.marks {
                let [left, top, right, bottom] = drawing.frames[*frame];
                let inside = bounds[0] >= left - 0.01 && bounds[1] >= top - 0.01;
                assert!(inside && bounds[2] <= right + 0.01 && bounds[3] <= bottom + 0.01, "{place}: {bounds:?}");
            }
            for (at, text) in drawing.texts.iter().enumerate() {
                let [left, top, right, bottom] = text.bounds;
                let inside = left >= 0.0 && top >= 0.0 && right <= drawing.width && bottom <= drawing.height;
                assert!(inside, "{place}: `{}` leaves the page: {:?}", text.text, text.bounds);
                for other in &drawing.texts[at + 1..] {
                    assert!(!text.overlaps(other), "{place}: `{}` and `{}` overlap", text.text, other.text);
                }
            }
            assert!(drawing.dropped.is_empty() || width < 500.0, "{place}: no room for {:?}", drawing.dropped);
        }
    }
}

#[test]
fn files_are_what_their_endings_say() {
    for picture in all() {
        for theme in [Theme::Light, Theme::Dark] {
            let look = Look { width: 400.0, theme };
            let svg = picture.svg(&look);
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{}", picture.kind);
            assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{}", picture.kind);
            assert_eq!(svg, picture.svg(&look));
            // The renderer refuses what is not well-formed.
            let png = picture.encoded(Format::Png, &look).unwrap();
            assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
            assert_eq!(&png[16..20], 400u32.to_be_bytes());
        }
    }
    let losses = drawn(Kind::Losses, vec![], None, |_| {});
    assert!(losses.encoded(Format::Pdf, &Look::default()).unwrap().starts_with(b"%PDF"));
    assert!(losses.encoded(Format::Svg, &Look { width: 10.0, theme: Theme::Light }).is_err());
    assert!(Format::of(Path::new("a.gif")).is_err() && Format::of(Path::new("a")).is_err());
    assert_eq!(Format::of(Path::new("a.b.PDF")).unwrap(), Format::Pdf);
}

/// The paths of the marks with a label.
fn paths(picture: &Picture, label: &str) -> Vec<Vec<[f64; 2]>> {
    let marks = picture.panels[0].marks.iter().filter(|m| m.label.as_deref() == Some(label));
    marks
        .flat_map(|m| match &m.shape {
            Shape::Line { paths, .. } => paths.clone(),
            _ => Vec::new(),
        })
        .collect()
}

fn scores(model: &Model, points: &[[f64; 2]]) -> Vec<f64> {
    let matrix = DenseMatrix::new(points.concat(), 2).unwrap();
    predict_design(model, &matrix, &Default::default()).unwrap().deciding
}

/// On a boundary the two largest scores are equal; of two classes the one is zero.
#[test]
fn boundaries_are_where_the_scores_say() {
    let (iris, penguins) = (example("iris.csv"), example("penguins.csv"));
    let machine = Method::KernelSvm(KernelSvmSettings::default());
    let cases = [
        (&iris, fitted(&iris, "Species", &PETALS, risk(LossChoice::Logistic, PenaltyChoice::RidgeOne))),
        (&iris, fitted(&iris, "Species", &PETALS, gaussian(CovarianceShape::Own))),
        (&penguins, fitted(&penguins, "sex", &BODY[..2], gaussian(CovarianceShape::Own))),
        (&penguins, fitted(&penguins, "sex", &BODY[..2], machine)),
    ];
    for (table, model) in cases {
        let picture = drawn(Kind::Boundary, vec![model.clone()], Some(table.clone()), |_| {});
        let lines = paths(&picture, "decision boundary");
        assert!(!lines.is_empty());
        let points: Vec<[f64; 2]> = lines.concat();
        let found = scores(&model, &points);
        let width = found.len() / points.len();
        let scale = found.iter().fold(1.0f64, |m, z| m.max(z.abs()));
        let mut junctions = 0;
        for (point, row) in points.iter().zip(found.chunks_exact(width)) {
            let mut sorted = row.to_vec();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let gap = if width == 1 { row[0].abs() } else { sorted[0] - sorted[1] };
            // Where three traced regions meet, the point is known to a part of a pixel only.
            if gap > 1e-9 * scale {
                junctions += 1;
                assert!(width > 2 && gap < 0.1 * scale, "{point:?}: {gap:e} of {scale:e}");
            }
        }
        assert!(junctions <= 6, "{junctions} points are off the boundary");
    }
}

/// Whether a point is within rings, by their winding number.
fn within(rings: &[Vec<[f64; 2]>], p: [f64; 2]) -> bool {
    let mut winding = 0;
    for ring in rings {
        for (at, a) in ring.iter().enumerate() {
            let b = ring[(at + 1) % ring.len()];
            let cross = (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
            if a[1] <= p[1] && b[1] > p[1] && cross > 0.0 {
                winding += 1;
            } else if a[1] > p[1] && b[1] <= p[1] && cross < 0.0 {
                winding -= 1;
            }
        }
    }
    winding != 0
}

/// Distance of a point from a segment, in pixels of a usual picture.
fn distance(p: [f64; 2], a: [f64; 2], b: [f64; 2], unit: [f64; 2]) -> f64 {
    let (dx, dy) = ((b[0] - a[0]) / unit[0], (b[1] - a[1]) / unit[1]);
    let (px, py) = ((p[0] - a[0]) / unit[0], (p[1] - a[1]) / unit[1]);
    let squared = dx * dx + dy * dy;
    let t = if squared > 0.0 { ((px * dx + py * dy) / squared).clamp(0.0, 1.0) } else { 0.0 };
    (px - t * dx).hypot(py - t * dy)
}

#[test]
fn regions_agree_with_predictions() {
    let (iris, penguins) = (example("iris.csv"), example("penguins.csv"));
    let machine = Method::KernelSvm(KernelSvmSettings::default());
    let cases = [
        (&iris, fitted(&iris, "Species", &PETALS, risk(LossChoice::Logistic, PenaltyChoice::RidgeOne))),
        (&iris, fitted(&iris, "Species", &PETALS, gaussian(CovarianceShape::Own))),
        (&penguins, fitted(&penguins, "sex", &BODY[..2], machine)),
    ];
    for (table, model) in cases {
        let picture = drawn(Kind::Regions, vec![model.clone()], Some(table.clone()), |_| {});
        let [left, bottom, right, top] = picture.panels[0].window();
        let unit = [(right - left) / 640.0, (top - bottom) / 450.0];
        // A fixed sequence that fills the square evenly.
        let point = |k: usize| {
            let share = |step: f64| (0.5 + k as f64 * step).fract();
            [left + (right - left) * share(0.754_877_666), bottom + (top - bottom) * share(0.569_840_290)]
        };
        let points: Vec<[f64; 2]> = (0..10_000).map(point).collect();
        let matrix = DenseMatrix::new(points.concat(), 2).unwrap();
        let found = predict_design(&model, &matrix, &Default::default()).unwrap();
        let lines = paths(&picture, "boundary");
        let mut compared = 0;
        for (p, class) in points.iter().zip(&found.classes) {
            let near = lines.iter().flat_map(|l| l.windows(2)).any(|s| distance(*p, s[0], s[1], unit) < 1.0);
            if near {
                continue;
            }
            compared += 1;
            let name = &model.classes[class.expect("this model always decides").index()];
            for mark in &picture.panels[0].marks {
                if let (Shape::Area { rings, .. }, Some(label)) = (&mark.shape, &mark.label) {
                    assert_eq!(within(rings, *p), label == name, "{p:?} is {name}, and {label} is drawn");
                }
            }
        }
        assert!(compared > 9000, "only {compared} points are off the boundaries");
    }
}

#[test]
fn many_classes_and_strange_names_have_room() {
    let mut csv = "größe in Metern & mehr als man je <lesen> möchte, wirklich,ارتفاع,class\n".replacen(
        "mehr als man je <lesen> möchte, wirklich",
        "mehr als man je <lesen> möchte — wirklich sehr lang",
        1,
    );
    for row in 0..600 {
        let (k, r) = (row % 60, (row * 37 % 101) as f64 / 101.0);
        let name = if k == 7 { "מחלקה".to_owned() } else { format!("class number {k} \"quoted\"") };
        let name = name.replace('"', "\"\"");
        csv.push_str(&format!("{},{},\"{name}\"\n", (k % 10) as f64 + r, (k / 10) as f64 + (r * 7.0).fract()));
    }
    let table = read_bytes(csv.as_bytes(), "names.csv", &ReadOptions::default()).unwrap();
    let model = fitted(&table, "class", &[], gaussian(CovarianceShape::Shared));
    for kind in [Kind::Scatter, Kind::Regions, Kind::Confusion, Kind::Boundary] {
        let picture = drawn(kind, vec![model.clone()], Some(table.clone()), |_| {});
        for width in [400.0, 1200.0] {
            let drawing = picture.drawing(&Look { width, theme: Theme::Dark });
            for (at, text) in drawing.texts.iter().enumerate() {
                let overlap = drawing.texts[at + 1..].iter().find(|other| text.overlaps(other));
                assert!(overlap.is_none(), "{}: `{}` and {overlap:?}", kind.name(), text.text);
                assert!(text.bounds[2] <= drawing.width && text.bounds[0] >= 0.0, "{}: {}", kind.name(), text.text);
            }
            assert!(picture.encoded(Format::Png, &Look { width, theme: Theme::Dark }).is_ok());
        }
    }
}

fn marks<'a>(picture: &'a Picture, panel: usize, label: &str) -> Vec<&'a Shape> {
    let of = picture.panels[panel].marks.iter().filter(|m| m.label.as_deref() == Some(label));
    of.map(|m| &m.shape).collect()
}

/// What the kinds of several panels and of three dimensions consist of.
#[test]
fn figures_have_their_parts() {
    let of = |kind: Kind, title: &str| {
        all().iter().find(|p| p.kind == kind.name() && p.title.contains(title)).expect("it is drawn")
    };
    let sizes = of(Kind::Estimates, "growing");
    let titles: Vec<&str> = sizes.panels.iter().filter_map(|p| p.title.as_deref()).collect();
    assert_eq!(titles, ["n = 3", "n = 10", "n = 50"]);
    assert_eq!((marks(sizes, 0, "truth").len(), marks(sizes, 0, "estimate").len()), (3, 3));
    // The prior is one curve, the posterior one for every sample; between prior and rows it has its peak.
    let beliefs = of(Kind::Estimates, "mean of");
    assert_eq!((marks(beliefs, 0, "prior").len(), marks(beliefs, 0, "MAP").len()), (1, 1));
    let at = |label: &str| match marks(beliefs, 0, label)[0] {
        Shape::Line { paths, .. } => paths[0][0][0],
        other => panic!("{other:?}"),
    };
    assert!(at("MAP") > at("ML").min(1.0) && at("MAP") < at("ML").max(1.0));
    let steps = of(Kind::Updates, "perceptron");
    assert!(steps.panels.len() == 6 && marks(steps, 0, "before").is_empty() && marks(steps, 1, "before").len() == 1);
    // A residual ends on the line, of which the picture has two points.
    let squares = of(Kind::Residuals, "sex");
    let (Shape::Line { paths: residuals, .. }, Shape::Line { paths: line, .. }) =
        (marks(squares, 0, "residual")[0], marks(squares, 0, "g(x)")[0])
    else {
        panic!("both are lines");
    };
    assert_eq!(residuals.len(), 150);
    let [p, q] = [line[0][0], line[0][1]];
    for r in residuals {
        let g = p[1] + (r[1][0] - p[0]) * (q[1] - p[1]) / (q[0] - p[0]);
        assert!(r[0][1].abs() == 1.0 && r[0][0] == r[1][0] && (r[1][1] - g).abs() < 1e-9);
    }
    let surfaces = of(Kind::Surfaces, "Surfaces");
    assert_eq!(surfaces.panels.len(), 3);
    assert_eq!(marks(surfaces, 1, "Discriminants").len(), 14 * 14 * 3);
    assert_eq!(marks(of(Kind::Surfaces, "three"), 0, "plane g = 0").len(), 1);
    // Newton's method ends first and lowest; no solver is below zero.
    let gaps = of(Kind::Convergence, "");
    let Shape::Line { paths, .. } = marks(gaps, 0, "Newton")[0] else { panic!("a line") };
    assert!(paths[0].len() < 20 && paths[0].last().is_some_and(|p| p[1] <= 1e-12) && paths[0][0][1] > 0.1);
    let learned = of(Kind::LearningCurve, "");
    let Shape::Line { paths, .. } = marks(learned, 0, "rows held out")[0] else { panic!("a line") };
    assert_eq!(paths[0].iter().map(|p| p[0]).collect::<Vec<f64>>(), [15.0, 30.0, 45.0, 60.0, 75.0, 90.0, 105.0, 120.0]);
    assert!(paths[0].iter().all(|p| (0.0..0.5).contains(&p[1])));
}

#[test]
fn data_are_handed_over() {
    let picture = drawn(Kind::Scatter, vec![], Some(example("iris.csv")), |r| r.target = Some("Species".into()));
    let value = picture.json();
    let marks = value["marks"].as_array().unwrap();
    assert_eq!(value["kind"], "scatter");
    assert_eq!(marks.len(), 3);
    let count: usize = marks.iter().map(|m| m["points"].as_array().unwrap().len()).sum();
    assert_eq!(count, 150);
    assert_eq!(marks[0]["label"], "setosa");
    assert_eq!(value["axes"]["x"]["label"], "Petal.Length");
    assert!(value["caption"].as_str().unwrap().contains("150 rows"));
}

#[test]
fn thousands_of_rows_are_thinned_and_said() {
    let rows: String = (0..5000).map(|k| format!("{},{},{}\n", k % 71, k % 97, k % 2)).collect();
    let table = read_bytes(format!("a,b,y\n{rows}").as_bytes(), "many.csv", &ReadOptions::default()).unwrap();
    let picture = drawn(Kind::Scatter, vec![], Some(table), |r| r.target = Some("y".into()));
    let count: usize = picture.panels[0]
        .marks
        .iter()
        .map(|m| match &m.shape {
            Shape::Points { at, .. } => at.len(),
            _ => 0,
        })
        .sum();
    assert_eq!(count, 2000);
    assert!(picture.notes.iter().any(|n| n.contains("2000 of 5000 rows")), "{:?}", picture.notes);
}

fn refused(kind: Kind, models: Vec<Model>, table: Option<Table>, change: impl Fn(&mut Request)) -> String {
    let mut request = Request { models, table, ..Request::default() };
    change(&mut request);
    kind.picture(&request, &Default::default()).expect_err("this cannot be drawn").message()
}

#[test]
fn what_cannot_be_drawn_is_refused_in_words() {
    let (iris, penguins) = (example("iris.csv"), example("penguins.csv"));
    let lda = fitted(&iris, "Species", &[], gaussian(CovarianceShape::Shared));
    let mass = fitted(&penguins, "sex", &["body_mass_g"], risk(LossChoice::Logistic, PenaltyChoice::None));
    let i = || Some(iris.clone());
    let says = |message: String, part: &str| assert!(message.contains(part), "`{message}` does not say `{part}`");
    let plain = |_: &mut Request| {};
    says(refused(Kind::Regions, vec![], i(), plain), "needs a model file");
    says(refused(Kind::Regions, vec![lda.clone()], None, plain), "needs a table");
    says(refused(Kind::Regions, vec![lda.clone(), lda.clone()], i(), plain), "one model");
    says(refused(Kind::Regions, vec![mass.clone()], Some(penguins.clone()), plain), "two columns");
    says(refused(Kind::Regions, vec![lda.clone()], Some(penguins.clone()), plain), "Sepal");
    says(refused(Kind::Regions, vec![lda.clone()], i(), |r| r.x = Some("nothing".into())), "no column `nothing`");
    let twice = |r: &mut Request| (r.x, r.y) = (Some("Petal.Width".into()), Some("Petal.Width".into()));
    says(refused(Kind::Regions, vec![lda.clone()], i(), twice), "both axes");
    says(refused(Kind::Scatter, vec![], Some(penguins.clone()), |r| r.x = Some("island".into())), "holds text");
    says(refused(Kind::Margin, vec![lda.clone()], i(), plain), "two classes");
    says(refused(Kind::Roc, vec![lda.clone()], i(), plain), "two classes");
    says(refused(Kind::Curve, vec![lda.clone()], i(), plain), "two classes");
    says(refused(Kind::Descent, vec![lda.clone()], i(), plain), "two coefficients");
    says(refused(Kind::Densities, vec![mass], Some(penguins.clone()), plain), "says nothing");
    says(refused(Kind::Hulls, vec![], i(), plain), "no column of classes");
    says(refused(Kind::Losses, vec![lda.clone()], None, plain), "no model");
    says(refused(Kind::Regions, vec![lda.clone()], i(), |r| r.show = vec!["balls".into()]), "no `balls` to show");
    says(refused(Kind::Regions, vec![lda.clone()], i(), |r| r.row = Some(1)), "points out no row");
    says(refused(Kind::Regions, vec![lda.clone()], i(), |r| r.prior = Some((0.0, 1.0))), "no prior");
    says(refused(Kind::Residuals, vec![lda.clone()], i(), plain), "two classes");
    says(refused(Kind::Updates, vec![], i(), |r| r.target = Some("Species".into())), "there are 3");
    says(refused(Kind::Convergence, vec![lda.clone()], i(), plain), "another method");
    says(refused(Kind::Boundary, vec![lda], i(), |r| r.show = vec!["levels".into()]), "two classes");
    let text = read_bytes(b"a,b\nx,1\ny,2\n", "t.csv", &ReadOptions::default()).unwrap();
    says(refused(Kind::Scatter, vec![], Some(text), plain), "two columns of numbers");
    assert!(Kind::named("region").unwrap_err().help_text().unwrap().contains("regions"));
}

/// A constant column has an axis around its value.
#[test]
fn a_constant_column_is_drawn() {
    let table = read_bytes(b"a,b\n1,5\n2,5\n3,5\n", "t.csv", &ReadOptions::default()).unwrap();
    let picture = drawn(Kind::Scatter, vec![], Some(table), |_| {});
    let (low, high) = picture.panels[0].y.range;
    assert!(low < 5.0 && high > 5.0);
}
