//! How categories are coded within a term: R's rules.
//!
//! A category in a term is coded by contrasts where the term without it is implied by what stands before it, and by indicators
//! of all its levels otherwise (Statistical Models in S, page 38). As R decides it: the rest of the term is empty or part of an
//! earlier term. Without an intercept the first category of the first term that has one gets all its levels.

use super::terms::Term;

/// The numbers that stand for a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LevelCodes {
    /// An indicator of every level.
    All,
    /// Of every level but this one.
    Without(usize),
    /// The same, and −1 everywhere for that level.
    Sum(usize),
}

impl LevelCodes {
    /// How many numbers for this many levels.
    pub(super) fn width(self, levels: usize) -> usize {
        match self {
            LevelCodes::All => levels,
            LevelCodes::Without(_) | LevelCodes::Sum(_) => levels.saturating_sub(1),
        }
    }

    pub(super) fn indicates(self) -> bool {
        !matches!(self, LevelCodes::Sum(_))
    }

    /// The level that each number is of.
    pub(super) fn levels(self, levels: usize) -> impl Iterator<Item = usize> {
        let left_out = match self {
            LevelCodes::All => None,
            LevelCodes::Without(level) | LevelCodes::Sum(level) => Some(level),
        };
        (0..levels).filter(move |l| Some(*l) != left_out)
    }

    /// The numbers of indicators, or of shares that stand in for them.
    pub(super) fn fill(self, indicators: &[f64], out: &mut [f64]) {
        let taken = match self {
            LevelCodes::Sum(level) => indicators[level],
            _ => 0.0,
        };
        out.iter_mut().zip(self.levels(indicators.len())).for_each(|(out, level)| *out = indicators[level] - taken);
    }

    /// The numbers of one level; all zero for one that is not known.
    pub(super) fn level(self, level: Option<usize>, out: &mut [f64]) {
        out.fill(0.0);
        let Some(level) = level else { return };
        match self {
            LevelCodes::Sum(left_out) if left_out == level => out.fill(-1.0),
            LevelCodes::Without(left_out) if left_out == level => {}
            LevelCodes::Without(left_out) | LevelCodes::Sum(left_out) => {
                out[level - usize::from(level > left_out)] = 1.0
            }
            LevelCodes::All => out[level] = 1.0,
        }
    }
}

/// For every term and each of its variables, whether it is a category with indicators of all levels.
pub(super) fn all_levels(terms: &[Term], intercept: bool, is_category: &[bool]) -> Vec<Vec<bool>> {
    let mut coded = Vec::with_capacity(terms.len());
    for (at, term) in terms.iter().enumerate() {
        let full = |variable: &u32| {
            let rest: Vec<u32> = term.iter().copied().filter(|v| v != variable).collect();
            let implied = || terms[..at].iter().any(|earlier| is_part(&rest, earlier));
            is_category[*variable as usize] && !rest.is_empty() && !implied()
        };
        // Terms of one variable need no search: their rest is empty.
        coded.push(term.iter().map(full).collect::<Vec<bool>>());
    }
    if !intercept {
        let first = terms
            .iter()
            .enumerate()
            .find_map(|(t, term)| term.iter().position(|v| is_category[*v as usize]).map(|place| (t, place)));
        if let Some((term, place)) = first {
            coded[term][place] = true;
        }
    }
    coded
}

/// Whether all variables of one term, both ascending, are in another.
fn is_part(small: &[u32], large: &[u32]) -> bool {
    small.iter().all(|v| large.binary_search(v).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_leave_minus_one_to_the_last() {
        let mut out = [9.0; 2];
        LevelCodes::Sum(1).level(Some(1), &mut out);
        assert_eq!(out, [-1.0, -1.0]);
        LevelCodes::Sum(1).level(Some(2), &mut out);
        assert_eq!(out, [0.0, 1.0]);
        LevelCodes::Without(1).level(Some(1), &mut out);
        assert_eq!(out, [0.0, 0.0]);
        // Shares in place of an indicator: the mean of the codes of the levels.
        LevelCodes::Sum(1).fill(&[0.5, 0.2, 0.3], &mut out);
        assert!((out[0] - 0.3).abs() < 1e-15 && (out[1] - 0.1).abs() < 1e-15);
    }

    #[test]
    fn a_category_has_all_levels_where_its_margin_is_absent() {
        // x:g without x: all levels of g.
        assert_eq!(all_levels(&[vec![0, 1]], true, &[false, true]), [[false, true]]);
        // x + x:g: contrasts.
        assert_eq!(all_levels(&[vec![0], vec![0, 1]], true, &[false, true]), [vec![false], vec![false, false]]);
        // 0 + g + h: the first has all levels.
        assert_eq!(all_levels(&[vec![0], vec![1]], false, &[true, true]), [[true], [false]]);
    }
}
