//! What follows from a verdict of separability.

use crate::separate::Verdict;
use crate::words::{Setting, Words, words};

/// What each method can make of the classes, one sentence each.
pub(super) fn consequences(verdict: &Verdict, classes: usize) -> Vec<Words> {
    let method = |name: &str| Setting::Model.is(name);
    let soft = || words!["hard margin: does not exist; use a soft one (", method("svm"), ")"];
    let pocket = || words!["perceptron: never stops; ", method("pocket"), " keeps the best plane that it meets"];
    match verdict {
        Verdict::Complete(_) => vec![
            "logistic regression: maximum likelihood has no solution; use a penalty".into(),
            match classes {
                2 => words!["hard margin: exists (", method("hard-margin"), ")"],
                _ => words![
                    "hard margin: exists between every two classes (",
                    method("hard-margin"),
                    " ",
                    Setting::Multiclass.is("one-vs-one"),
                    ")",
                ],
            },
            "perceptron: stops after finitely many mistakes".into(),
        ],
        Verdict::QuasiComplete(_) => vec![
            "logistic regression: maximum likelihood has no solution; use a penalty, or leave out or group what diverges"
                .into(),
            soft(),
            pocket(),
        ],
        Verdict::Overlap(_) => vec![
            "logistic regression: maximum likelihood exists (unique unless columns are collinear)".into(),
            soft(),
            pocket(),
        ],
        Verdict::Undecided(_) => vec![words![
            "try ",
            Setting::Exact,
            ", which takes longer, another ",
            Setting::Tolerance,
            ", or columns of similar size: the classes are nearly separable",
        ]],
    }
}
