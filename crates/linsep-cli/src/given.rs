//! The flags of rules that are given: planes by their weights, classes by their distributions.

use clap::Args;
use linsep::density::default_classes;
use linsep::error::Place;
use linsep::model::{GivenRule, GivenSettings};
use linsep::workflow::given_from_json;
use linsep::{Error, Result};
use std::path::Path;

/// What `--model given` is told.
#[derive(Args)]
pub struct GivenArguments {
    /// Given: a plane as column=weight pairs, 'x1=1,x2=-1,(intercept)=0.5'; of more classes one for each, 'setosa: x1=1,…'; or a
    /// JSON file of weights and intercept
    #[arg(long, value_name = "PLANE", allow_hyphen_values = true, help_heading = "Method")]
    plane: Vec<String>,

    /// Given: names of the classes, the positive one last (default: 0,1, or those of the planes)
    #[arg(long, value_name = "CLASS", allow_hyphen_values = true, value_delimiter = ',', help_heading = "Method")]
    classes: Vec<String>,

    /// Given: take the scores of the planes as log-odds, so that there are probabilities
    #[arg(long, help_heading = "Method")]
    log_odds: bool,
}

/// What the intercept of a plane is called.
const INTERCEPT: &str = "(intercept)";
const EXAMPLE: &str = "write --plane 'x1=1,x2=-1,(intercept)=0.5'";

impl GivenArguments {
    /// Flags without `--model given` would be ignored; say so instead.
    pub fn refuse(&self) -> Result<()> {
        let given = [
            ("--plane", !self.plane.is_empty()),
            ("--classes", !self.classes.is_empty()),
            ("--log-odds", self.log_odds),
        ];
        match given.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((flag, _)) => {
                Err(Error::usage(format!("{flag} belongs to --model given"))
                    .help("leave it out, or choose --model given"))
            }
        }
    }

    /// The rule that the flags state.
    pub fn settings(&self, parameters: Option<&Path>) -> Result<GivenSettings> {
        match (parameters, &self.plane[..]) {
            (Some(_), [_, ..]) => Err(Error::usage("--plane and --parameters both state the rule").help("give one")),
            (Some(path), []) => self.rule_of_file(path),
            (None, []) => Err(Error::usage("--model given needs a rule").help(EXAMPLE).help("give --parameters FILE")),
            (None, [one]) if !one.contains('=') || Path::new(one).is_file() => self.rule_of_file(Path::new(one)),
            (None, planes) => self.rule_of_pairs(planes),
        }
    }

    /// The truth beside simulated rows, or any file of the same fields.
    fn rule_of_file(&self, path: &Path) -> Result<GivenSettings> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|e| Error::io(&name, &e))?;
        let mut settings = given_from_json(&bytes, &name)?;
        if let GivenRule::Planes { log_odds, .. } = &mut settings.rule {
            *log_odds |= self.log_odds;
        }
        self.named(settings).map_err(|e| e.at(Place::file(&name)))
    }

    /// The settings with the names of `--classes`.
    fn named(&self, mut settings: GivenSettings) -> Result<GivenSettings> {
        if self.classes.is_empty() {
            return Ok(settings);
        }
        if self.classes.len() != settings.classes.len() {
            let (given, there) = (self.classes.len(), settings.classes.len());
            return Err(Error::usage(format!("--classes names {given} classes, and the rule has {there}"))
                .help("name every class once"));
        }
        settings.classes.clone_from(&self.classes);
        Ok(settings)
    }

    fn rule_of_pairs(&self, planes: &[String]) -> Result<GivenSettings> {
        let planes = planes.iter().map(|text| plane(text)).collect::<Result<Vec<StatedPlane>>>()?;
        let mut features: Vec<String> = Vec::new();
        for (name, _) in planes.iter().flat_map(|p| &p.weights) {
            if !features.contains(name) {
                features.push(name.clone());
            }
        }
        let weight =
            |plane: &StatedPlane, name: &String| plane.weights.iter().find(|(n, _)| n == name).map_or(0.0, |w| w.1);
        let (order, classes) = self.order(&planes)?;
        let chosen: Vec<&StatedPlane> = order.iter().map(|i| &planes[*i]).collect();
        let rule = GivenRule::Planes {
            weights: chosen.iter().map(|p| features.iter().map(|name| weight(p, name)).collect()).collect(),
            intercept: chosen.iter().map(|p| p.intercept).collect(),
            log_odds: self.log_odds,
        };
        Ok(GivenSettings { features, classes, rule })
    }

    /// The planes in the order of the classes, and the classes.
    fn order(&self, planes: &[StatedPlane]) -> Result<(Vec<usize>, Vec<String>)> {
        if let [one] = planes {
            let classes = if self.classes.is_empty() { default_classes(2) } else { self.classes.clone() };
            if let Some(class) = one.class.as_ref().filter(|class| classes.last() != Some(class)) {
                return Err(Error::usage(format!("one plane is that of the last class, and `{class}` is not"))
                    .help(format!("write --classes OTHER,{class}")));
            }
            return Ok((vec![0], classes));
        }
        let named: Option<Vec<String>> = planes.iter().map(|p| p.class.clone()).collect();
        let Some(named) = named else {
            return Err(
                Error::usage("of several planes each needs its class").help("write 'setosa: x1=1,(intercept)=2'")
            );
        };
        let classes = if self.classes.is_empty() { named.clone() } else { self.classes.clone() };
        if named.len() == 2 {
            return Err(
                Error::usage("two classes have one plane, that of the last").help("give the difference of the two")
            );
        }
        let place = |class: &String| {
            named.iter().position(|n| n == class).ok_or_else(|| {
                Error::usage(format!("there is no plane for class `{class}`")).help("give one for each of --classes")
            })
        };
        let order = classes.iter().map(place).collect::<Result<Vec<usize>>>()?;
        if let Some(stray) = named.iter().find(|n| !classes.contains(n)) {
            return Err(Error::usage(format!("--classes does not name `{stray}`, which has a plane"))
                .help("name every class once"));
        }
        Ok((order, classes))
    }
}

struct StatedPlane {
    class: Option<String>,
    weights: Vec<(String, f64)>,
    intercept: f64,
}

/// `x1=1,x2=-1,(intercept)=0.5`, with `class:` before it where there are several.
fn plane(text: &str) -> Result<StatedPlane> {
    let (class, pairs) = match text.split_once(':') {
        Some((class, pairs)) if !class.contains('=') => (Some(class.trim().to_owned()), pairs),
        _ => (None, text),
    };
    let (mut weights, mut intercept): (Vec<(String, f64)>, Option<f64>) = (Vec::new(), None);
    for pair in pairs.split(',') {
        let parsed = pair.rsplit_once('=').and_then(|(name, w)| Some((name.trim(), w.trim().parse::<f64>().ok()?)));
        let Some((name, weight)) = parsed.filter(|(_, w)| w.is_finite()) else {
            return Err(Error::usage(format!("`{}` is not a weight of a column", pair.trim())).help(EXAMPLE));
        };
        let twice = match name == INTERCEPT {
            true => intercept.replace(weight).is_some(),
            false => {
                let twice = weights.iter().any(|(n, _)| n == name);
                weights.push((name.to_owned(), weight));
                twice
            }
        };
        if twice {
            return Err(Error::usage(format!("the weight of `{name}` is given twice")).help("give it once"));
        }
    }
    if weights.is_empty() {
        return Err(Error::usage(format!("`{text}` names no column")).help(EXAMPLE));
    }
    Ok(StatedPlane { class, weights, intercept: intercept.unwrap_or(0.0) })
}
