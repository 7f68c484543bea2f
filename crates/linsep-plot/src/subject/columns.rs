//! Columns of a table for the axes.

use super::LabelledPoints;
use linsep::table::{Kind, Table};
use linsep::{Error, Result};

/// The place of a column that holds numbers.
pub(crate) fn number_column(table: &Table, name: &str) -> Result<usize> {
    let at = table.column(name)?;
    match table.columns()[at].kind {
        Kind::Number => Ok(at),
        Kind::Text { .. } => Err(Error::usage(format!("`{name}` holds text, and an axis needs numbers"))),
    }
}

/// The columns of numbers, some names left out.
pub(crate) fn numeric_columns(table: &Table, without: &[&str]) -> Vec<String> {
    let wanted = |c: &&linsep::table::Column| c.kind == Kind::Number && !without.contains(&c.name.as_str());
    table.columns().iter().filter(wanted).map(|c| c.name.clone()).collect()
}

/// Columns in the order of how far apart the class means are: the F ratio, between over within classes. Columns without one
/// come last.
pub(crate) fn best_columns(table: &Table, names: &[&str], rows: &LabelledPoints) -> Result<Vec<usize>> {
    let mut ratios = Vec::with_capacity(names.len());
    for name in names {
        let column = number_column(table, name)?;
        let classes = rows.names.len();
        let (mut count, mut sum) = (vec![0.0; classes], vec![0.0; classes]);
        let values: Vec<(f64, usize)> = rows
            .table_rows
            .iter()
            .zip(&rows.classes)
            .filter_map(|(row, class)| Some((table.number(*row, column), (*class)?)))
            .filter(|(v, _)| v.is_finite())
            .collect();
        for (value, class) in &values {
            count[*class] += 1.0;
            sum[*class] += value;
        }
        let mean = |k: usize| sum[k] / f64::max(count[k], 1.0);
        let overall = sum.iter().sum::<f64>() / f64::max(values.len() as f64, 1.0);
        let between: f64 = (0..classes).map(|k| count[k] * (mean(k) - overall).powi(2)).sum();
        let within: f64 = values.iter().map(|(v, k)| (v - mean(*k)).powi(2)).sum();
        // A constant column has neither.
        ratios.push(if within > 0.0 { between / within } else { -1.0 });
    }
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|a, b| ratios[*b].total_cmp(&ratios[*a]).then(a.cmp(b)));
    Ok(order)
}
