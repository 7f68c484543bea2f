//! The texts that flags take.

use linsep::model::{Known, PenaltyChoice, Shrinkage};
use linsep::table::{Labels, Table};
use linsep::{Error, Result};
use std::path::Path;

pub fn penalty(text: &str) -> Result<PenaltyChoice> {
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    let amounts: Vec<&str> = parts.collect();
    let net = |l1_ratio: f64, lambda: Option<f64>| PenaltyChoice::ElasticNet { l1_ratio, lambda, cost: None };
    match (name, &amounts[..]) {
        ("none", []) => Ok(PenaltyChoice::None),
        ("ridge", [] | ["auto"]) => Ok(PenaltyChoice::RidgeOne),
        ("ridge", [amount]) => Ok(PenaltyChoice::Ridge(size(amount, "ridge")?)),
        ("lasso", [] | ["auto"]) => Ok(net(1.0, None)),
        ("lasso", [amount]) => Ok(net(1.0, Some(size(amount, "lasso")?))),
        ("elastic-net", [share]) => Ok(net(lasso_share(share)?, None)),
        ("elastic-net", [share, "auto"]) => Ok(net(lasso_share(share)?, None)),
        ("elastic-net", [share, amount]) => Ok(net(lasso_share(share)?, Some(size(amount, "elastic net")?))),
        _ => Err(Error::usage(format!("`{text}` is not a penalty"))
            .help("use ridge, ridge:0.1, lasso, lasso:0.01, elastic-net:0.5:0.01 or none")),
    }
}

/// How a penalty says that folds choose its size.
pub(super) const BY_FOLDS: &str = ":cv";

/// Whether the text is the kind of a penalty alone, or the kind whose size folds choose.
fn is_kind(text: &str, kind: &str) -> bool {
    text.strip_suffix(BY_FOLDS).unwrap_or(text) == kind
}

/// The penalty of a path, which has no size of its own.
pub(super) fn path_penalty(text: &str) -> Result<PenaltyChoice> {
    let net = |l1_ratio: f64| PenaltyChoice::ElasticNet { l1_ratio, lambda: None, cost: None };
    match text.strip_suffix(BY_FOLDS).unwrap_or(text).split_once(':') {
        None if is_kind(text, "lasso") => Ok(net(1.0)),
        None if is_kind(text, "ridge") => Ok(PenaltyChoice::RidgeOne),
        Some(("elastic-net", share)) if !share.contains(':') => Ok(net(lasso_share(share)?)),
        _ => Err(Error::usage(format!("`{text}` is not the penalty of a path"))
            .help("use lasso, elastic-net:0.5 or ridge; the path chooses λ, or --lambda-values does")),
    }
}

/// λ.
fn size(text: &str, name: &str) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(lambda) if lambda > 0.0 && lambda.is_finite() => Ok(lambda),
        _ => {
            let word = name.replace(' ', "-");
            let example = if name == "elastic net" { "elastic-net:0.5:0.1".to_owned() } else { format!("{word}:0.1") };
            Err(Error::usage(format!("`{text}` is not a positive {name} penalty"))
                .help(format!("for example --penalty {example}; --penalty none for no penalty")))
        }
    }
}

/// α of the elastic net.
fn lasso_share(text: &str) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err(Error::usage(format!("`{text}` is not the share of a lasso, above 0 and at most 1"))
            .help("for example --penalty elastic-net:0.5:0.1")),
    }
}

/// `column=factor` pairs.
pub(super) fn factors(pairs: &[String]) -> Result<Vec<(String, f64)>> {
    let one = |pair: &String| {
        let parsed = pair.rsplit_once('=').and_then(|(column, f)| Some((column.to_owned(), f.parse::<f64>().ok()?)));
        parsed.ok_or_else(|| {
            Error::usage(format!("`{pair}` is not a penalty factor")).help("write --penalty-factors age=0,bmi=2")
        })
    };
    pairs.iter().map(one).collect()
}

pub(super) fn shrinkage(text: &str) -> Result<Shrinkage> {
    match text {
        "none" => Ok(Shrinkage::None),
        "auto" => Ok(Shrinkage::LedoitWolf),
        number => {
            match number.parse::<f64>() {
                Ok(a) if (0.0..=1.0).contains(&a) => Ok(Shrinkage::Fixed(a)),
                _ => Err(Error::usage(format!("`{number}` is not a shrinkage"))
                    .help("use none, auto or a number from 0 to 1")),
            }
        }
    }
}

pub(super) fn parameters(path: &Path) -> Result<Known> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|e| Error::io(&name, &e))?;
    Known::from_json(&bytes, &name)
}

/// Class names in the order the model will have.
pub fn class_names(table: &Table, target: &str, positive: Option<&str>) -> Result<Vec<String>> {
    let (_, mut names) = Labels::from_column(table, table.column(target)?);
    if let Some(positive) = positive {
        names.retain(|n| n != positive);
        names.push(positive.to_owned());
    }
    Ok(names)
}

/// `class=share` pairs in the order of the classes.
pub fn priors(flag: &str, pairs: &[String], names: &[String]) -> Result<Vec<f64>> {
    let mut shares = vec![None; names.len()];
    for pair in pairs {
        let parsed = pair.rsplit_once('=').and_then(|(class, p)| Some((class, p.parse::<f64>().ok()?)));
        let Some((class, share)) = parsed else {
            return Err(Error::usage(format!("`{pair}` is not a prior")).help(format!("write {flag} a=0.2,b=0.8")));
        };
        match names.iter().position(|n| n == class) {
            Some(k) if shares[k].is_some() => {
                return Err(Error::usage(format!("class `{class}` has two priors")).help("give it one"));
            }
            Some(k) => shares[k] = Some(share),
            None => {
                return Err(Error::usage(format!("there is no class `{class}`"))
                    .help(format!("the classes are: {}", names.join(", "))));
            }
        }
    }
    let missing: Vec<&str> = names.iter().zip(&shares).filter(|(_, s)| s.is_none()).map(|(n, _)| n.as_str()).collect();
    if !missing.is_empty() {
        return Err(
            Error::usage(format!("no prior for class `{}`", missing.join("`, `"))).help("give one for every class")
        );
    }
    Ok(shares.into_iter().flatten().collect())
}
