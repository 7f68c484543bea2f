//! The flags that say how more than two classes are fitted and how their two-class fits decide.

use clap::{Args, ValueEnum};
use linsep::artifact::Model;
use linsep::decide::{Rule, Scheme, Ties, Vote};
use linsep::workflow::{Approach, Multiclass};
use linsep::{Error, Result};

/// How two-class fits decide, for everything that fits or uses a model.
#[derive(Args)]
pub struct VoteArguments {
    /// Of --multiclass one-vs-one: how the pairs of classes decide (default: majority)
    #[arg(long, value_enum, value_name = "VOTE", help_heading = "Decision")]
    vote: Option<VoteName>,

    /// Where two-class fits do not lead to one class (default: undetermined; where scores are compared, first)
    #[arg(long, value_enum, value_name = "TIES", help_heading = "Decision")]
    ties: Option<TiesName>,
}

/// How more than two classes are fitted.
#[derive(Clone, Copy, ValueEnum)]
pub enum ApproachName {
    /// All at once, as the method does it itself (svm: Crammer–Singer)
    Joint,
    /// Every pair of classes, which vote
    OneVsOne,
    /// Every class against the rest: the one that is positive, if only one is
    OneVsRest,
    /// Every class against the rest: the largest score
    LinearMachine,
}

#[derive(Clone, Copy, ValueEnum)]
enum VoteName {
    /// The class that wins the most pairs
    Majority,
    /// The class that wins all of its pairs
    Unanimity,
    /// The class with the largest sum of scores
    Scores,
}

#[derive(Clone, Copy, ValueEnum)]
enum TiesName {
    /// Predict nothing, and say so
    Undetermined,
    /// Of the candidates the one with the largest scores
    Scores,
    /// Of the candidates the first
    First,
}

impl From<ApproachName> for Approach {
    fn from(name: ApproachName) -> Approach {
        match name {
            ApproachName::Joint => Approach::Joint,
            ApproachName::OneVsOne => Approach::OneVsOne,
            ApproachName::OneVsRest => Approach::OneVsRest,
            ApproachName::LinearMachine => Approach::LinearMachine,
        }
    }
}

impl VoteArguments {
    fn vote(&self) -> Option<Vote> {
        self.vote.map(|name| match name {
            VoteName::Majority => Vote::Majority,
            VoteName::Unanimity => Vote::Unanimity,
            VoteName::Scores => Vote::Scores,
        })
    }

    fn ties(&self) -> Option<Ties> {
        self.ties.map(|name| match name {
            TiesName::Undetermined => Ties::Undetermined,
            TiesName::Scores => Ties::Scores,
            TiesName::First => Ties::First,
        })
    }

    /// What a fit is asked for.
    pub fn multiclass(&self, approach: Option<ApproachName>) -> Multiclass {
        Multiclass { approach: approach.map(Approach::from), vote: self.vote(), ties: self.ties() }
    }

    /// Puts the vote and the ties that the flags ask for in the place of the model's.
    pub fn replace(&self, model: &mut Model) -> Result<()> {
        let flag = match (self.vote.is_some(), self.ties.is_some()) {
            (false, false) => return Ok(()),
            (true, _) => "--vote",
            (false, true) => "--ties",
        };
        let Some(mut scheme) = model.decision.scheme() else {
            let fact = match model.classes.len() {
                2 => "is for more than two classes, and this model has two",
                _ if !model.parts.is_empty() => {
                    "is about scores, and of this model the calibrated probabilities decide"
                }
                _ => "is for two-class fits, and this model was fitted to all classes at once",
            };
            return Err(Error::usage(format!("{flag} {fact}"))
                .help("leave it out")
                .help("fit with --multiclass one-vs-one or one-vs-rest and without --calibrate"));
        };
        match (scheme, self.vote()) {
            (Scheme::OneVsOne { ties, .. }, Some(vote)) => scheme = Scheme::OneVsOne { vote, ties },
            (_, None) => {}
            (other, Some(_)) => {
                return Err(Error::usage(format!(
                    "--vote is for pairs of classes, and this model is {}",
                    other.name()
                ))
                .help("leave it out")
                .help("fit with --multiclass one-vs-one"));
            }
        }
        if let Some(ties) = self.ties() {
            scheme = scheme.with_ties(ties);
        } else if scheme.compares_scores() && scheme.ties() == Ties::Scores {
            scheme = scheme.with_ties(Ties::First);
        }
        scheme.check(model.classes.len())?;
        model.decision.rule = Rule::Scheme(scheme);
        Ok(())
    }
}
