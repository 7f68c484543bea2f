//! Words of other tools, and the flags that mean the same here.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Flags as other tools have them, without the dashes, in small letters and with - for _; and what to use.
const TIPS: [(&[&str], &str); 18] = [
    (&["lambda", "reg", "regularization", "l2"], "the size of a penalty is a part of it: --penalty ridge:LAMBDA"),
    (&["l1"], "--penalty lasso:LAMBDA"),
    (&["alpha", "l1-ratio"], "--penalty ridge:LAMBDA, or elastic-net:SHARE:LAMBDA where SHARE is that of the lasso"),
    (&["aic", "bic", "stepwise"], "linsep infer prints AIC and BIC; linsep tune chooses settings by folds"),
    (&["grid-search", "param-grid", "cs"], "linsep tune --grid 'flag=a|b' compares values of any flag by folds"),
    (&["label", "labels", "y", "response", "outcome"], "the column to predict is --target COLUMN"),
    (&["sep", "separator", "delim"], "--delimiter CHAR"),
    (&["random-state", "random-seed"], "--seed N"),
    (&["n-jobs", "jobs", "cores", "nthreads"], "--threads N"),
    (&["epochs", "n-iter", "iterations", "maxit"], "--max-iter N"),
    (&["learning-rate", "eta", "eta0", "lr"], "--step SIZE, with --solver gradient-descent or sgd"),
    (&["scale", "normalize", "normalise"], "--standardize yes or no"),
    (&["folds", "kfold", "nfolds", "cross-validation"], "--cv K"),
    (&["out", "out-file", "outfile", "save"], "-o FILE"),
    (&["probability", "probabilities", "prob"], "linsep predict --proba"),
    (&["tolerance", "eps", "epsilon"], "--tol SIZE"),
    (&["method", "algorithm", "classifier", "estimator"], "--model NAME; its algorithm is --solver NAME"),
    (&["test", "test-size", "holdout", "validation"], "fit --cv K, or linsep evaluate MODEL with rows kept apart"),
];

/// The tip for a flag that is not known.
fn tip(flag: &str) -> Option<&'static str> {
    let word = flag.split('=').next()?.trim_start_matches('-').to_lowercase().replace(['_', '.'], "-");
    TIPS.iter().find(|(words, _)| words.contains(&word.as_str())).map(|(_, tip)| *tip)
}

/// The error with a tip, where a flag has another name here.
pub fn with_tip(mut error: clap::Error) -> clap::Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let found = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) => tip(flag),
        _ => None,
    };
    if let Some(tip) = found {
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn tips_name_flags_that_exist() {
        let command = crate::Arguments::command();
        let mut flags = vec!["threads".to_owned()];
        flags.extend(
            command.get_subcommands().flat_map(|c| c.get_arguments()).filter_map(|a| a.get_long().map(str::to_owned)),
        );
        for (words, tip) in TIPS {
            for said in tip.split(' ').filter_map(|word| word.strip_prefix("--")) {
                let said = said.trim_end_matches([',', ';', '.']);
                assert!(flags.iter().any(|f| f == said), "{words:?}: there is no --{said}");
            }
        }
        assert!(tip("--Lambda=3").is_some() && tip("--random_state").is_some() && tip("--nonsense").is_none());
    }
}
