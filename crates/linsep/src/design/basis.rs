//! Products of matrix columns: a linear classifier in φ(x) is a curved one in x.
//!
//! The terms are monomials in the encoded columns. A power of an indicator is the indicator and a product of two
//! indicators of one text column is zero, so neither is made. Terms come by degree, and within a degree in the order of
//! the table's columns; the indicators of a text column run fastest in the last factor. So all terms made of the same
//! table columns, such as `island*sex`, are neighbours.

use super::encoding::{Encoding, RecipeColumn, level_of_indicator};
use crate::error::{Error, Result};
use crate::words::{Setting, words};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Most matrix columns that a basis may lead to: a Hessian of them takes 3.2 GB, as `choose::PROOF_LIMIT`.
pub const MOST_BASIS_FEATURES: usize = 20_000;
/// Most bytes that all cells of the matrix would take as doubles, 64 GB. A large table is expanded a block at a time
/// and never takes them, but every pass computes as much: some seconds.
const MOST_BASIS_BYTES: u128 = 64 << 30;
/// Largest degree of a polynomial: powers of columns in units of one beyond it are collinear up to rounding. Chosen,
/// not measured.
pub(super) const MOST_DEGREE: u32 = 10;

/// Which products of columns join them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// None: the columns themselves.
    #[default]
    None,
    /// Products of two different columns: `age*bmi`.
    Products,
    /// Those and squares: `age^2`.
    Quadratic,
    /// All products of up to this many factors: `age^2*bmi`.
    Polynomial(u32),
}

impl Basis {
    /// A polynomial basis of degree 2 to 10.
    pub fn polynomial(degree: u32) -> Result<Basis> {
        match degree {
            2..=MOST_DEGREE => Ok(Basis::Polynomial(degree)),
            _ => Err(Error::usage(format!("a polynomial basis of degree {degree} is not possible"))
                .help(format!("the degree is a whole number from 2 to {MOST_DEGREE}"))),
        }
    }

    /// Whether there are no products.
    pub fn is_none(&self) -> bool {
        *self == Basis::None
    }

    /// Most factors of a term.
    pub fn degree(&self) -> u32 {
        match self {
            Basis::None => 1,
            Basis::Products | Basis::Quadratic => 2,
            Basis::Polynomial(degree) => *degree,
        }
    }

    /// Whether a column may be a factor more than once.
    fn has_powers(&self, column: &RecipeColumn) -> bool {
        *self != Basis::Products && !matches!(column.encoding, Encoding::Levels { .. } | Encoding::Missing)
    }

    /// The basis in words.
    pub fn describe(&self) -> String {
        match self {
            Basis::None => "the columns themselves".into(),
            Basis::Products => "products of two columns".into(),
            Basis::Quadratic => "products of two columns, and squares".into(),
            Basis::Polynomial(degree) => format!("products of up to {degree} factors"),
        }
    }
}

/// The matrix columns made of the same table columns with the same powers.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// The group without its last factor; `None` for a table column itself.
    parent: Option<usize>,
    /// The last factor, one of the recipe's columns.
    pub(super) column: usize,
    /// Its matrix columns.
    pub(super) range: Range<usize>,
}

/// All groups of some columns under a basis: first the columns themselves.
#[derive(Debug)]
pub(super) struct Groups<'a> {
    columns: &'a [RecipeColumn],
    all: Vec<Group>,
}

/// One matrix column that is a product of two earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Product {
    left: u32,
    right: u32,
}

impl Product {
    /// The matrix columns that it is made of.
    pub(super) fn factors(&self) -> (usize, usize) {
        (self.left as usize, self.right as usize)
    }
}

impl<'a> Groups<'a> {
    /// The groups in the order of the matrix; `chosen` says which columns take part in products.
    pub(super) fn new(columns: &'a [RecipeColumn], basis: Basis, chosen: impl Fn(&str) -> bool) -> Groups<'a> {
        let mut end = 0;
        let mut take = |width: usize| {
            end += width;
            end - width..end
        };
        let plain = columns.iter().enumerate();
        let mut all: Vec<Group> =
            plain.map(|(column, c)| Group { parent: None, column, range: take(c.width()) }).collect();
        let factors: Vec<usize> =
            (0..columns.len()).filter(|c| is_factor(&columns[*c], &chosen) && columns[*c].width() > 0).collect();
        let mut last_degree = factors.clone();
        for _ in 2..=basis.degree() {
            let first_new = all.len();
            for parent in last_degree {
                let own = all[parent].column;
                let next = factors.iter().filter(|c| **c > own || (**c == own && basis.has_powers(&columns[own])));
                for column in next {
                    let range = take(all[parent].range.len() * columns[*column].width());
                    all.push(Group { parent: Some(parent), column: *column, range });
                }
            }
            last_degree = (first_new..all.len()).collect();
        }
        Groups { columns, all }
    }

    /// The groups.
    pub(super) fn all(&self) -> &[Group] {
        &self.all
    }

    /// Number of matrix columns.
    pub(super) fn width(&self) -> usize {
        self.all.last().map_or(0, |g| g.range.end)
    }

    /// The products that make the columns behind the plain ones, in order.
    pub(super) fn products(&self) -> Vec<Product> {
        let mut products = Vec::new();
        for group in &self.all {
            let Some(parent) = group.parent else { continue };
            let (left, right) = (&self.all[parent].range, &self.all[group.column].range);
            for left in left.clone() {
                products.extend(right.clone().map(|right| Product { left: left as u32, right: right as u32 }));
            }
        }
        products
    }

    /// The recipe columns that are factors of a group, with their powers.
    pub(super) fn factors(&self, group: usize) -> Vec<(usize, u32)> {
        let mut factors: Vec<(usize, u32)> = Vec::new();
        let mut at = Some(group);
        while let Some(group) = at {
            let group = &self.all[group];
            match factors.last_mut() {
                Some((column, power)) if *column == group.column => *power += 1,
                _ => factors.push((group.column, 1)),
            }
            at = group.parent;
        }
        factors.reverse();
        factors
    }

    /// The group of a matrix column.
    pub(super) fn group_of(&self, index: usize) -> Option<usize> {
        // Columns of width zero share their end with the column before them.
        let at = self.all.partition_point(|g| g.range.end <= index);
        (at < self.all.len()).then_some(at)
    }

    /// The name of one matrix column of a group, by its place there.
    pub(super) fn feature(&self, group: usize, mut offset: usize) -> String {
        let mut parts = Vec::new();
        for (column, power) in self.factors(group).into_iter().rev() {
            let column = &self.columns[column];
            let part = match &column.encoding {
                Encoding::Levels { levels, .. } => {
                    let level = level_of_indicator(offset % column.width(), column.reference_place());
                    offset /= column.width();
                    format!("{}={}", column.name, levels[level])
                }
                _ if power == 1 => column.title(),
                _ => format!("{}^{power}", column.name),
            };
            parts.push(part);
        }
        parts.reverse();
        parts.join("*")
    }
}

/// Whether a column is a factor of products: of those chosen, all but indicators of missing cells, whose products with the
/// cells that are filled in would be multiples of themselves.
fn is_factor(column: &RecipeColumn, chosen: &impl Fn(&str) -> bool) -> bool {
    !column.is_missing_indicator() && chosen(&column.name)
}

/// Writes the products of a row behind its plain columns.
pub(super) fn expand(products: &[Product], row: &mut [f64]) {
    let plain = row.len() - products.len();
    for (p, Product { left, right }) in products.iter().enumerate() {
        row[plain + p] = row[*left as usize] * row[*right as usize];
    }
}

/// Number of matrix columns under a basis, counted without making them: the coefficients up to the degree of
/// Π (1 + w·t) over text columns with w indicators and Π 1/(1 − t) over numbers (1 + t where there are no powers), and
/// the columns that take no part. Too many to count is `u128::MAX`.
pub(super) fn count_features(columns: &[RecipeColumn], basis: Basis, chosen: impl Fn(&str) -> bool) -> u128 {
    let degree = basis.degree() as usize;
    let mut terms = vec![0u128; degree + 1];
    terms[0] = 1;
    let mut plain = 0u128;
    for column in columns {
        let width = column.width() as u128;
        plain += width;
        if !is_factor(column, &chosen) {
            continue;
        }
        if basis.has_powers(column) {
            // In rising order of degree, a term may contain the column any number of times.
            for d in 1..=degree {
                terms[d] = terms[d].saturating_add(terms[d - 1]);
            }
        } else {
            for d in (1..=degree).rev() {
                terms[d] = terms[d].saturating_add(terms[d - 1].saturating_mul(width));
            }
        }
    }
    terms[2..].iter().fold(plain, |sum, t| sum.saturating_add(*t))
}

/// Refuses a basis whose matrix would be too large, before anything is made.
pub(super) fn forecast(columns: &[RecipeColumn], features: u128, rows: usize) -> Result<()> {
    let bytes = features.saturating_mul(8).saturating_mul(rows as u128);
    if features <= MOST_BASIS_FEATURES as u128 && bytes <= MOST_BASIS_BYTES {
        return Ok(());
    }
    let plain: usize = columns.iter().map(RecipeColumn::width).sum();
    let count = if features == u128::MAX { "more than 10^38".to_owned() } else { features.to_string() };
    let message = format!(
        "the basis would make {count} features of {plain}, a matrix of {} for {rows} rows; \
         the limits are {MOST_BASIS_FEATURES} features and {}",
        size(bytes),
        size(MOST_BASIS_BYTES)
    );
    Err(Error::data(message)
        .help(words!["name fewer columns with ", Setting::BasisColumns])
        .help("choose a lower degree")
        .help("drop text columns of many levels"))
}

/// Bytes in a unit that suits them.
fn size(bytes: u128) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let unit = (0..units.len() - 1).find(|u| bytes >> (10 * u) < 1024).unwrap_or(units.len() - 1);
    match unit {
        0 => format!("{bytes} bytes"),
        _ => format!("{:.1} {}", bytes as f64 / (1u128 << (10 * unit)) as f64, units[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(name: &str) -> RecipeColumn {
        RecipeColumn { name: name.into(), encoding: Encoding::Number { mean: None, printed: None } }
    }

    fn text(name: &str, levels: &[&str], drop_first: bool) -> RecipeColumn {
        let levels: Vec<String> = levels.iter().map(|l| (*l).to_owned()).collect();
        let reference = drop_first.then(|| levels[0].clone());
        RecipeColumn { name: name.into(), encoding: Encoding::Levels { levels, reference, shares: None } }
    }

    fn names(columns: &[RecipeColumn], basis: Basis) -> Vec<String> {
        let groups = Groups::new(columns, basis, |_| true);
        let named = groups.all().iter().enumerate();
        named
            .flat_map(|(g, group)| (0..group.range.len()).map(move |o| (g, o)))
            .map(|(g, o)| groups.feature(g, o))
            .collect()
    }

    #[test]
    fn terms_come_by_degree_and_then_by_column() {
        let columns = [number("a"), number("b")];
        assert_eq!(names(&columns, Basis::None), ["a", "b"]);
        assert_eq!(names(&columns, Basis::Products), ["a", "b", "a*b"]);
        assert_eq!(names(&columns, Basis::Quadratic), ["a", "b", "a^2", "a*b", "b^2"]);
        let cubic = ["a", "b", "a^2", "a*b", "b^2", "a^3", "a^2*b", "a*b^2", "b^3"];
        assert_eq!(names(&columns, Basis::Polynomial(3)), cubic);
    }

    #[test]
    fn indicators_meet_others_but_not_themselves() {
        let columns = [text("s", &["f", "m"], false), number("a"), text("k", &["x", "y", "z"], true)];
        let found = names(&columns, Basis::Polynomial(3));
        let expected = [
            "s=f",
            "s=m",
            "a",
            "k=y",
            "k=z",
            "s=f*a",
            "s=m*a",
            "s=f*k=y",
            "s=f*k=z",
            "s=m*k=y",
            "s=m*k=z",
            "a^2",
            "a*k=y",
            "a*k=z",
            "s=f*a^2",
            "s=m*a^2",
            "s=f*a*k=y",
            "s=f*a*k=z",
            "s=m*a*k=y",
            "s=m*a*k=z",
            "a^3",
            "a^2*k=y",
            "a^2*k=z",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_count_is_that_of_the_terms() {
        let one_level = text("c", &["only"], true);
        let columns =
            [number("a"), text("s", &["f", "m"], false), one_level, number("b"), text("k", &["x", "y", "z"], true)];
        let bases = [Basis::None, Basis::Products, Basis::Quadratic, Basis::Polynomial(3), Basis::Polynomial(5)];
        for basis in bases {
            for some in [["a", "s", "c", "b", "k"].as_slice(), &["s", "b"], &["c"], &["k"]] {
                let chosen = |name: &str| some.contains(&name);
                let groups = Groups::new(&columns, basis, chosen);
                assert_eq!(count_features(&columns, basis, chosen), groups.width() as u128, "{basis:?} {some:?}");
                let plain: usize = columns.iter().map(RecipeColumn::width).sum();
                assert_eq!(groups.products().len() + plain, groups.width());
            }
        }
    }

    #[test]
    fn products_use_earlier_columns() {
        let columns = [number("a"), text("s", &["f", "m"], false), number("b")];
        let groups = Groups::new(&columns, Basis::Polynomial(3), |_| true);
        let mut row = vec![2.0, 0.0, 1.0, 3.0];
        row.resize(groups.width(), f64::NAN);
        expand(&groups.products(), &mut row);
        for (g, group) in groups.all().iter().enumerate() {
            for (o, j) in group.range.clone().enumerate() {
                let name = groups.feature(g, o);
                let factor = |part: &str| match part.split_once('^') {
                    Some((base, power)) => (base.to_owned(), power.parse().expect("a power")),
                    None => (part.to_owned(), 1),
                };
                let value = |base: &str| match base {
                    "a" => 2.0f64,
                    "b" => 3.0,
                    "s=m" => 1.0,
                    "s=f" => 0.0,
                    other => panic!("{other}"),
                };
                let expected: f64 = name.split('*').map(factor).map(|(b, p)| value(&b).powi(p)).product();
                assert_eq!(row[j], expected, "{name}");
            }
        }
    }

    #[test]
    fn too_many_are_counted_all_the_same() {
        let columns: Vec<RecipeColumn> = (0..100_000).map(|i| number(&i.to_string())).collect();
        let features = count_features(&columns, Basis::Polynomial(10), |_| true);
        assert_eq!(features, u128::MAX);
        let error = forecast(&columns, features, 50).expect_err("too large");
        assert!(error.message().contains("more than 10^38"), "{}", error.message());
        let quadratic = count_features(&columns[..200], Basis::Quadratic, |_| true);
        assert_eq!(quadratic, 20_300);
        let error = forecast(&columns[..200], quadratic, 1000).expect_err("too large");
        assert!(error.message().contains("20300 features of 200, a matrix of 154.9 MiB"), "{}", error.message());
        assert!(forecast(&columns[..3], 10, 1 << 30).is_err(), "80 GiB");
        assert!(forecast(&columns[..3], 10, 1 << 20).is_ok());
    }

    #[test]
    fn degrees_have_limits() {
        assert!([0, 1, 11].iter().all(|d| Basis::polynomial(*d).is_err()));
        assert_eq!(Basis::polynomial(3).map(|b| b.degree()).ok(), Some(3));
    }
}
