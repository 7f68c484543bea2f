//! `simulate --x`: the law of the features, or a table of them.

use linsep::read::{ReadOptions, read_files};
use linsep::sample::{FeatureLaw, NormalPart, OwnRows};
use linsep::table::Kind;
use linsep::{Error, Result};
use std::path::Path;

/// What `--x` says.
pub enum Given {
    /// A law.
    Law(FeatureLaw),
    /// The rows of a table.
    Rows(OwnRows),
}

/// `normal`, `normal:M,S`, `uniform:A,B`, `mixture:M,S,P;M,S,P` or the name of a table.
pub fn features_given(text: Option<&str>, correlation: Option<f64>) -> Result<Given> {
    let Some(text) = text.filter(|text| *text != "normal") else {
        return Ok(Given::Law(FeatureLaw::Normal(correlation.unwrap_or(0.0))));
    };
    if correlation.is_some() {
        return Err(Error::usage("--correlation is of features that are standard normal")
            .help("leave --correlation out")
            .help("leave --x out"));
    }
    let law = match text.split_once(':') {
        Some(("uniform", ends)) => match numbers(ends)?[..] {
            [low, high] => FeatureLaw::Uniform(low, high),
            _ => return Err(unknown(text)),
        },
        Some(("normal", numbers)) => FeatureLaw::Mixture(vec![part(numbers, text, Some(1.0))?]),
        Some(("mixture", parts)) => {
            let parts: Vec<&str> = parts.split(';').collect();
            let even = 1.0 / parts.len() as f64;
            FeatureLaw::Mixture(parts.iter().map(|p| part(p, text, Some(even))).collect::<Result<_>>()?)
        }
        _ if Path::new(text).is_file() => return Ok(Given::Rows(own_rows(text)?)),
        _ => return Err(unknown(text)),
    };
    Ok(Given::Law(law))
}

/// `mean,deviation`, or `mean,deviation,share`.
fn part(text: &str, whole: &str, share: Option<f64>) -> Result<NormalPart> {
    match (&numbers(text)?[..], share) {
        ([mean, deviation], Some(share)) => Ok(NormalPart { share, mean: *mean, deviation: *deviation }),
        ([mean, deviation, share], _) => Ok(NormalPart { share: *share, mean: *mean, deviation: *deviation }),
        _ => Err(unknown(whole)),
    }
}

fn numbers(text: &str) -> Result<Vec<f64>> {
    let one = |n: &str| n.trim().parse::<f64>().map_err(|_| Error::usage(format!("`{n}` of --x is not a number")));
    text.split(',').map(one).collect()
}

fn unknown(text: &str) -> Error {
    Error::usage(format!("`{text}` is not a law of features, nor a file")).help(
        "write --x normal, normal:0,2 (mean, standard deviation), uniform:0,10, 'mixture:-2,1;3,0.5' (parts; a third number \
         is the share), or the name of a table",
    )
}

/// The table's numbers, all of them there.
fn own_rows(file: &str) -> Result<OwnRows> {
    let table = read_files(&[file], &ReadOptions::default(), &linsep::watch::Watch::default())?;
    if table.sparse_width() > 0 {
        return Err(
            Error::usage(format!("`{file}` has sparse rows")).help("give a table with a column for each feature")
        );
    }
    if let Some(column) = table.columns().iter().find(|c| !matches!(c.kind, Kind::Number)) {
        return Err(Error::data(format!("column `{}` of `{file}` is not of numbers", column.name))
            .help("give a table of features only, all of them numbers"));
    }
    let features: Vec<String> = table.columns().iter().map(|c| c.name.clone()).collect();
    let mut values = Vec::with_capacity(table.n_rows() * features.len());
    for row in 0..table.n_rows() {
        for (column, name) in features.iter().enumerate() {
            let value = table.number(row, column);
            if !value.is_finite() {
                return Err(Error::data(format!("a cell of `{name}` is missing, so the row has no class"))
                    .at(table.place(row))
                    .help("fill it in, or leave the row out"));
            }
            values.push(value);
        }
    }
    Ok(OwnRows { name: file.to_owned(), features, values })
}
