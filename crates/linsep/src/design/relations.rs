//! Linear relations between matrix columns that follow from the coding alone and say nothing about the data.

use super::basis::expand;
use super::encoding::{Encoding, RecipeColumn, indicator_of_level};
use super::recipe::Recipe;

/// Random rows: a relation that the coding does not imply fails on each of them with probability almost one.
const ROWS: usize = 64;
/// Relative disagreement allowed: coefficients come from a factorisation, which leaves 1e-8 to 1e-12 of them. Chosen,
/// out of reach of bench/constants.md.
const AGREEMENT: f64 = 1e-6;
/// Multiplier of a linear congruential generator modulo 2⁶⁴ (Knuth's MMIX).
const STEP: u64 = 6364136223846793005;
/// Its increment.
const SHIFT: u64 = 1442695040888963407;

/// Distinguishes relations that hold for every table from those that hold in this one.
///
/// The indicators of all levels of a text column add up to one; their products with another column add up to that column.
/// Such relations are recognised by a randomised test rather than by rules: rows are drawn with independent numbers and
/// levels, and a relation that holds on all of them, up to a constant, is implied by the coding.
#[derive(Debug)]
pub struct CodingRelations {
    cols: usize,
    rows: Vec<f64>,
}

impl CodingRelations {
    /// Random rows of the named columns of a recipe.
    pub fn new(recipe: &Recipe) -> CodingRelations {
        let groups = recipe.groups();
        let formula = recipe.formula_columns();
        let (plain_cols, products) = (groups.width(), groups.products());
        let cols = formula.map_or(plain_cols, |f| f.width());
        let mut plain = vec![0.0; plain_cols];
        let mut state = 1u64;
        let mut next = || {
            // Knuth's generator; the high bits are good enough to be independent.
            state = state.wrapping_mul(STEP).wrapping_add(SHIFT);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut rows = vec![0.0; ROWS * cols];
        let indicators = recipe.columns.iter().filter(|c| c.is_missing_indicator());
        let indicated: Vec<&str> = indicators.map(|c| c.name.as_str()).collect();
        let is_text = |c: &&RecipeColumn| matches!(c.encoding, Encoding::Levels { .. });
        let texts: Vec<&str> = recipe.columns.iter().filter(is_text).map(|c| c.name.as_str()).collect();
        for row in rows.chunks_exact_mut(cols.max(1)) {
            let (out, row) = match formula {
                Some(_) => (Some(row), &mut plain[..]),
                None => (None, row),
            };
            row.fill(0.0);
            let mut first = 0;
            // A missing cell that has an indicator is a level of its own.
            let mut missing = Vec::new();
            for column in &recipe.columns {
                match &column.encoding {
                    Encoding::Levels { .. } if indicated.contains(&column.name.as_str()) && next() < 0.5 => {
                        missing.push(column.name.as_str());
                    }
                    Encoding::Missing => {
                        let text = texts.contains(&column.name.as_str());
                        let is_missing = if text { missing.contains(&column.name.as_str()) } else { next() < 0.5 };
                        row[first] = f64::from(u8::from(is_missing));
                    }
                    Encoding::Levels { levels, .. } => {
                        let level = (next() * levels.len() as f64) as usize;
                        if let Some(indicator) = indicator_of_level(level, column.reference_place()) {
                            row[first + indicator] = 1.0;
                        }
                    }
                    _ => row[first] = 1.0 + next(),
                }
                first += column.width();
            }
            match (formula, out) {
                (Some(formula), Some(out)) => formula.fill_drawn(row, &mut next, out),
                _ => expand(&products, row),
            }
        }
        CodingRelations { cols, rows }
    }

    /// Whether `column = Σ coefficient·other + constant` on all random rows.
    pub fn explain(&self, column: usize, combination: &[(usize, f64)]) -> bool {
        let mut constant = None;
        self.rows.chunks_exact(self.cols.max(1)).all(|row| {
            let combined: f64 = combination.iter().map(|(j, c)| c * row[*j]).sum();
            let size: f64 = combination.iter().map(|(j, c)| (c * row[*j]).abs()).sum();
            let rest = row[column] - combined;
            let expected = *constant.get_or_insert(rest);
            (rest - expected).abs() <= AGREEMENT * (1.0 + size)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{Basis, RecipeOptions, fit_recipe};
    use crate::read::{ReadOptions, read_bytes};

    #[test]
    fn what_the_coding_says_is_no_news() {
        let csv = b"age,sex,dose\n1,f,2\n2,m,4\n3,f,6\n4,m,8\n";
        let table = read_bytes(csv, "t.csv", &ReadOptions::default()).expect("a table");
        let options = RecipeOptions { basis: Basis::Products, ..RecipeOptions::default() };
        let recipe = fit_recipe(&table, &[1.0; 4], &options).expect("a recipe");
        let at = |name: &str| recipe.features().iter().position(|f| f == name).expect("a feature");
        let relations = CodingRelations::new(&recipe);
        assert!(relations.explain(at("sex=m"), &[(at("sex=f"), -1.0)]));
        assert!(relations.explain(at("age"), &[(at("age*sex=f"), 1.0), (at("age*sex=m"), 1.0)]));
        // True in this table, and news.
        assert!(!relations.explain(at("dose"), &[(at("age"), 2.0)]));
        assert!(!relations.explain(at("age"), &[(at("age*sex=f"), 1.0)]));
    }
}
