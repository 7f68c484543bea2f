//! What may be asked about more than two classes.

use crate::decide::{Scheme, Ties, Vote};
use crate::error::{Error, Result};
use crate::model::{LossChoice, Method};
use crate::words::{Setting, words};

/// How more than two classes are fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approach {
    /// All at once, as the method does it itself.
    Joint,
    /// A fit for every pair of classes, which vote.
    OneVsOne,
    /// A fit for every class against the rest; the class that is positive, if it is the only one.
    OneVsRest,
    /// The same fits; the class with the largest score.
    LinearMachine,
}

/// What a user may ask about more than two classes; what is left out is the method's default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Multiclass {
    /// How they are fitted.
    pub approach: Option<Approach>,
    /// How pairs decide.
    pub vote: Option<Vote>,
    /// What becomes of contradictions.
    pub ties: Option<Ties>,
}

impl Approach {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Approach::Joint => "joint",
            Approach::OneVsOne => "one-vs-one",
            Approach::OneVsRest => "one-vs-rest",
            Approach::LinearMachine => "linear-machine",
        }
    }

    /// What a method does unless told otherwise: all at once where it can. Support vector machines are a linear machine
    /// of fits against the rest, as in LIBLINEAR; perceptrons and hard margins, which ask for separable classes, take
    /// pairs, and so do kernels, as in LIBSVM: fits of fewer rows.
    pub fn default_of(method: &Method) -> Approach {
        match method {
            Method::Risk(m) if matches!(m.loss, LossChoice::Hinge | LossChoice::SquaredHinge) => {
                Approach::LinearMachine
            }
            Method::Perceptron(_) | Method::HardMargin(_) | Method::KernelSvm(_) | Method::KernelPerceptron(_) => {
                Approach::OneVsOne
            }
            Method::Sigmoid(_) | Method::Link(_) => Approach::LinearMachine,
            _ => Approach::Joint,
        }
    }
}

impl Multiclass {
    /// How so many classes are fitted by a method and decided; `None` for the method itself.
    ///
    /// # Errors
    /// Votes and ties of two classes, votes without pairs, ties where nothing can contradict.
    pub fn scheme(&self, method: &Method, n_classes: usize) -> Result<Option<Scheme>> {
        if n_classes <= 2 {
            return match self.of_votes() {
                None => Ok(None),
                Some(setting) => Err(Error::usage(words![setting, " is for more than two classes, and there are two"])
                    .help("leave it out: the sign of the one score decides")),
            };
        }
        let approach = self.approach.unwrap_or(Approach::default_of(method));
        if let Some(setting) = self.foreign_setting(approach) {
            let fitting: &[&str] = match setting {
                Setting::Vote => &["one-vs-one"],
                _ => &["one-vs-one", "one-vs-rest", "linear-machine"],
            };
            return Err(Error::usage(words![setting, format!(" does not belong to {} fits", approach.name())])
                .help(words!["choose ", Setting::Multiclass.any(fitting)])
                .help("leave it out"));
        }
        let (vote, ties) = (self.vote.unwrap_or_default(), self.ties.unwrap_or_default());
        // Equal scores are so rare that the first class is as good; contradictions are not.
        let equal = self.ties.unwrap_or(Ties::First);
        let scheme = match approach {
            Approach::Joint => return Ok(None),
            Approach::OneVsOne if vote == Vote::Scores => Scheme::OneVsOne { vote, ties: equal },
            Approach::OneVsOne => Scheme::OneVsOne { vote, ties },
            Approach::OneVsRest => Scheme::OneVsRest { ties },
            Approach::LinearMachine => Scheme::LinearMachine { ties: equal },
        };
        scheme.check(n_classes)?;
        Ok(Some(scheme))
    }

    /// The setting that asks for another way to decide than the method's own.
    pub(super) fn of_votes(&self) -> Option<Setting> {
        match (self.vote, self.ties) {
            (Some(_), _) => Some(Setting::Vote),
            (None, Some(_)) => Some(Setting::Ties),
            (None, None) => None,
        }
    }

    fn foreign_setting(&self, approach: Approach) -> Option<Setting> {
        match approach {
            Approach::OneVsOne => None,
            _ if self.vote.is_some() => Some(Setting::Vote),
            Approach::Joint if self.ties.is_some() => Some(Setting::Ties),
            _ => None,
        }
    }
}
