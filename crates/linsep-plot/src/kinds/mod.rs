//! Every kind of picture, one file each.

mod boundary;
mod calibration;
mod coefficients;
mod confusion;
mod convergence;
mod curve;
mod densities;
mod descent;
mod estimates;
mod feet;
mod hulls;
mod isometric;
mod learning_curve;
mod losses;
mod margin;
mod path;
mod plane;
mod regions;
mod residuals;
mod roc;
mod scatter;
mod several;
mod surfaces;
mod updates;

use crate::scene::Picture;
use crate::subject::PlaneChoice;
use linsep::artifact::Model;
use linsep::table::Table;
use linsep::watch::Watch;
use linsep::{Error, Result};

/// What a picture is drawn from.
#[derive(Debug, Default)]
pub struct Request {
    /// Models, of which most kinds take one.
    pub models: Vec<Model>,
    /// How the user calls each: the name of its file.
    pub model_names: Vec<String>,
    /// Rows.
    pub table: Option<Table>,
    /// The column of classes, where no model says it.
    pub target: Option<String>,
    /// The column of the horizontal axis.
    pub x: Option<String>,
    /// The column of the vertical axis.
    pub y: Option<String>,
    /// The plane, of more than two columns.
    pub plane: Option<PlaneChoice>,
    /// Values at which other columns are held.
    pub at: Vec<(String, String)>,
    /// What a kind adds where it is asked to, by name: see [`Kind::shows`].
    pub show: Vec<String>,
    /// A row to point out, from 1 as the table counts.
    pub row: Option<usize>,
    /// Mean and standard deviation of what is believed of a mean before rows are seen.
    pub prior: Option<(f64, f64)>,
    /// Whether several models have a panel each.
    pub panels: bool,
}

/// A kind of picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Rows by class.
    Scatter,
    /// Boundaries of one or several models.
    Boundary,
    /// Regions of the decisions of a model.
    Regions,
    /// The slab around the boundary of two classes.
    Margin,
    /// Convex hulls of the classes.
    Hulls,
    /// What a generative model takes the classes to look like.
    Densities,
    /// The probability or the score along one column.
    Curve,
    /// The objective of two coefficients, with the steps of solvers on it.
    Descent,
    /// True against false positives.
    Roc,
    /// Precision against recall.
    PrecisionRecall,
    /// Figures against the threshold of the probability.
    Threshold,
    /// Predicted probabilities against what came.
    Calibration,
    /// Weights, with intervals where inference holds.
    Coefficients,
    /// Weights of a lasso as its penalty falls.
    Path,
    /// True classes against decided ones.
    Confusion,
    /// Losses of a margin.
    Losses,
    /// What rows say of the parameters of Gaussian classes.
    Estimates,
    /// What a regression on ±1 leaves.
    Residuals,
    /// The perceptron, step by step.
    Updates,
    /// Scores and probabilities as surfaces.
    Surfaces,
    /// How far solvers are from the optimum.
    Convergence,
    /// Errors as the fit has more rows.
    LearningCurve,
}

/// What a kind needs.
struct Needs {
    name: &'static str,
    takes: &'static str,
    about: &'static str,
}

impl Kind {
    /// All kinds, in the order of the list.
    pub const ALL: [Kind; 22] = [
        Kind::Scatter,
        Kind::Boundary,
        Kind::Regions,
        Kind::Margin,
        Kind::Hulls,
        Kind::Densities,
        Kind::Curve,
        Kind::Descent,
        Kind::Roc,
        Kind::PrecisionRecall,
        Kind::Threshold,
        Kind::Calibration,
        Kind::Coefficients,
        Kind::Path,
        Kind::Confusion,
        Kind::Losses,
        Kind::Estimates,
        Kind::Residuals,
        Kind::Updates,
        Kind::Surfaces,
        Kind::Convergence,
        Kind::LearningCurve,
    ];

    fn needs(self) -> Needs {
        let (name, takes, about) = match self {
            Kind::Scatter => ("scatter", "[MODEL] DATA", "rows by class"),
            Kind::Boundary => ("boundary", "MODEL… DATA", "boundaries of one or several models, mistakes ringed"),
            Kind::Regions => ("regions", "MODEL DATA", "the decision at every point, none hatched"),
            Kind::Margin => ("margin", "MODEL DATA", "slab, support vectors and slacks of two classes"),
            Kind::Hulls => ("hulls", "DATA", "convex hulls, their nearest points or a common one"),
            Kind::Densities => ("densities", "MODEL [DATA]", "class densities of one column or two, with thresholds"),
            Kind::Curve => {
                ("curve", "MODEL… [DATA]", "probability or score along the one column of a model, with a band")
            }
            Kind::Descent => {
                ("descent", "MODEL DATA", "contours of the objective of one column, with the steps of two solvers")
            }
            Kind::Roc => ("roc", "MODEL… DATA", "true against false positives, with the area"),
            Kind::PrecisionRecall => ("precision-recall", "MODEL… DATA", "precision against recall"),
            Kind::Threshold => {
                ("threshold", "MODEL DATA", "recall, specificity, precision, F1 and accuracy against the threshold")
            }
            Kind::Calibration => ("calibration", "MODEL DATA", "predicted probabilities against what came"),
            Kind::Coefficients => (
                "coefficients",
                "MODEL [DATA]",
                "weights; with the table of an unpenalised logistic model their intervals",
            ),
            Kind::Path => ("path", "[MODEL] DATA", "weights of a lasso as its penalty falls"),
            Kind::Confusion => ("confusion", "MODEL DATA", "true classes against decided ones"),
            Kind::Losses => ("losses", "", "0–1, perceptron, hinge, squared hinge, logistic and squared loss"),
            Kind::Estimates => {
                ("estimates", "[MODEL] DATA", "truth against estimates from growing samples, ML and MAP")
            }
            Kind::Residuals => {
                ("residuals", "MODEL DATA", "what a regression on ±1 leaves, along one column or over two")
            }
            Kind::Updates => ("updates", "DATA", "the perceptron step by step, a panel each"),
            Kind::Surfaces => {
                ("surfaces", "MODEL DATA", "scores and posteriors over two columns; the boundary of three")
            }
            Kind::Convergence => ("convergence", "MODEL DATA", "gap of several solvers against their iterations"),
            Kind::LearningCurve => ("learning-curve", "MODEL DATA", "errors of the fit and of others as rows grow"),
        };
        Needs { name, takes, about }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.needs().name
    }

    /// The files it is drawn from, in the words of a usage line.
    pub fn takes(self) -> &'static str {
        self.needs().takes
    }

    /// What it shows.
    pub fn about(self) -> &'static str {
        self.needs().about
    }

    /// The kind of a name.
    ///
    /// # Errors
    /// For other names.
    pub fn named(name: &str) -> Result<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Kind::ALL.iter().map(|k| k.name()).collect();
            let near = linsep::error::nearest(name, names.iter().copied());
            let error = Error::usage(format!("there is no picture `{name}`"));
            match near.is_empty() {
                true => error.help(format!("the kinds are: {}", names.join(", "))),
                false => error.help(format!("did you mean `{}`?", near.join("`, `"))),
            }
        })
    }

    /// What it adds where it is asked to, each with what that is.
    pub fn shows(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Kind::Boundary => &[
                ("levels", "lines of equal score, of two classes"),
                ("distances", "lines from rows to the boundary, with signed distances"),
            ],
            Kind::Margin => &[
                ("distances", "lines from rows to the boundary, with signed distances"),
                ("balls", "around every row the ball that touches the boundary"),
            ],
            Kind::Curve => &[("densities", "Gaussian densities of the classes below the curve")],
            Kind::Losses => &[
                ("relu", "max(0, s) beside the loss of the perceptron"),
                ("probability", "squared and logarithmic loss of a probability, of one row"),
            ],
            Kind::Convergence => &[("seconds", "a second panel, against the clock")],
            _ => &[],
        }
    }

    /// Refuses what a kind cannot show, and what only some kinds take.
    fn check(self, request: &Request) -> Result<()> {
        for asked in &request.show {
            if !self.shows().iter().any(|(name, _)| name == asked) {
                let known: Vec<&str> = self.shows().iter().map(|(name, _)| *name).collect();
                let error = Error::usage(format!("the picture `{}` has no `{asked}` to show", self.name()));
                return Err(match known.is_empty() {
                    true => error.help("leave it out"),
                    false => error.help(format!("choose among: {}", known.join(", "))),
                });
            }
        }
        if request.row.is_some() && self != Kind::Boundary {
            return Err(Error::usage(format!("the picture `{}` points out no row", self.name()))
                .help("draw `boundary`, which projects a row"));
        }
        if request.prior.is_some() && self != Kind::Estimates {
            return Err(Error::usage(format!("the picture `{}` has no prior", self.name())).help("draw `estimates`"));
        }
        Ok(())
    }

    /// Draws the picture.
    ///
    /// # Errors
    /// Where a model or a table is lacking, does not fit, or leaves nothing to draw.
    pub fn picture(self, request: &Request, watch: &Watch) -> Result<Picture> {
        self.check(request)?;
        if request.panels && request.models.len() > 1 {
            return several::picture(self, request, watch);
        }
        match self {
            Kind::Scatter => scatter::picture(request, watch),
            Kind::Boundary => boundary::picture(request, watch),
            Kind::Regions => regions::picture(request, watch),
            Kind::Margin => margin::picture(request, watch),
            Kind::Hulls => hulls::picture(request, watch),
            Kind::Densities => densities::picture(request, watch),
            Kind::Curve => curve::picture(request, watch),
            Kind::Descent => descent::picture(request),
            Kind::Roc => roc::roc(request, watch),
            Kind::PrecisionRecall => roc::precision_recall(request, watch),
            Kind::Threshold => roc::threshold(request, watch),
            Kind::Calibration => calibration::picture(request, watch),
            Kind::Coefficients => coefficients::picture(request, watch),
            Kind::Path => path::picture(request, watch),
            Kind::Confusion => confusion::picture(request, watch),
            Kind::Losses => losses::picture(request),
            Kind::Estimates => estimates::picture(request),
            Kind::Residuals => residuals::picture(request, watch),
            Kind::Updates => updates::picture(request),
            Kind::Surfaces => surfaces::picture(request, watch),
            Kind::Convergence => convergence::picture(request, watch),
            Kind::LearningCurve => learning_curve::picture(request, watch),
        }
    }
}

impl Request {
    fn table(&self, kind: Kind) -> Result<&Table> {
        self.table.as_ref().ok_or_else(|| self.lacks(kind, "a table of rows"))
    }

    fn model(&self, kind: Kind) -> Result<&Model> {
        match &self.models[..] {
            [model] => Ok(model),
            [] => Err(self.lacks(kind, "a model file")),
            more => Err(Error::usage(format!("`{}` is drawn of one model, and {} are given", kind.name(), more.len()))
                .help("draw `boundary` to compare several")),
        }
    }

    fn lacks(&self, kind: Kind, what: &str) -> Error {
        Error::usage(format!("the picture `{}` needs {what}", kind.name())).help(format!("give it {}", kind.takes()))
    }

    /// Whether something is to be shown.
    fn shows(&self, what: &str) -> bool {
        self.show.iter().any(|s| s == what)
    }

    /// How a model is called.
    fn name_of(&self, at: usize) -> String {
        self.model_names.get(at).cloned().unwrap_or_else(|| crate::caption::short_name(&self.models[at]))
    }
}

/// Sentences as one paragraph, empty ones left out.
fn paragraph(sentences: &[&str]) -> String {
    sentences.iter().filter(|s| !s.is_empty()).copied().collect::<Vec<&str>>().join(" ")
}
