//! The folds of a search: by class, by group or in order of time.

use super::super::folds::Fold;
use super::super::rows::{RowRoles, numbers};
use super::TuneOptions;
use crate::error::{Error, Result};
use crate::resample::stratified_folds;
use crate::table::{Class, Table};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::borrow::Cow;

/// What a fold is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FoldKind {
    /// Its share of the rows of every class.
    Stratified,
    /// Whole groups of rows: those with the same cell in this column are never in two folds.
    Groups(String),
    /// The rows that come next by the numbers of this column, judged by fits to those before them.
    Time(String),
    /// The rows with the same cell in this column: one fold for each of its values.
    Given(String),
    /// Every row by itself.
    LeaveOneOut,
}

impl FoldKind {
    /// By groups or by time, where a column of either is named.
    pub fn by(groups: Option<&str>, time: Option<&str>) -> FoldKind {
        match (groups, time) {
            (Some(column), _) => FoldKind::Groups(column.to_owned()),
            (None, Some(column)) => FoldKind::Time(column.to_owned()),
            (None, None) => FoldKind::Stratified,
        }
    }

    /// The column that says which rows belong together, or come first.
    pub fn column(&self) -> Option<&str> {
        match self {
            FoldKind::Stratified | FoldKind::LeaveOneOut => None,
            FoldKind::Groups(column) | FoldKind::Time(column) | FoldKind::Given(column) => Some(column),
        }
    }
}

/// The folds of every repetition, numbered on.
pub(in crate::workflow) fn divide(table: &Table, roles: &RowRoles, options: &TuneOptions) -> Result<Vec<Fold>> {
    if options.repeats == 0 {
        return Err(Error::usage("0 repetitions leave nothing to judge by").help("choose at least 1"));
    }
    let mut folds = Vec::with_capacity(options.folds * options.repeats);
    for repeat in 0..options.repeats {
        // Another seed deals the rows out anew.
        let seed = options.seed.wrapping_add(repeat as u64);
        let mut found = match &options.kind {
            FoldKind::Stratified => {
                let assigned = stratified_folds(&roles.classes, &roles.names, options.folds, seed)?;
                (0..options.folds).map(|fold| Fold::of(&assigned, fold)).collect::<Vec<Fold>>()
            }
            FoldKind::Groups(column) => {
                let assigned = by_group(table, roles, column, options.folds, seed)?;
                (0..options.folds).map(|fold| Fold::of(&assigned, fold)).collect()
            }
            FoldKind::Time(_) | FoldKind::Given(_) | FoldKind::LeaveOneOut if repeat > 0 => {
                return Err(Error::usage("these folds are the same every time").help("leave the repetitions out"));
            }
            FoldKind::Given(column) => {
                let assigned = by_column(table, roles, column)?;
                let count = assigned.iter().flatten().max().map_or(0, |last| last + 1);
                (0..count).map(|fold| Fold::of(&assigned, fold)).collect()
            }
            FoldKind::LeaveOneOut => {
                let rows: Vec<usize> = (0..roles.classes.len()).filter(|row| roles.classes[*row].is_some()).collect();
                Division::each(rows, roles)?.all()
            }
            FoldKind::Time(column) => in_time(table, roles, column, options.folds)?,
        };
        let first = folds.len();
        found.iter_mut().for_each(|fold| fold.number += first);
        folds.extend(found);
    }
    folds.iter().try_for_each(|fold| every_class_is_learned(fold, roles))?;
    Ok(folds)
}

/// The folds of a search: listed, or made when they are wanted, since every row by itself would take the square of their number.
pub(in crate::workflow) enum Division<'r> {
    Listed(Vec<Fold>),
    Each { rows: Vec<usize>, roles: &'r RowRoles },
}

impl<'r> Division<'r> {
    /// Every one of these rows by itself.
    ///
    /// # Errors
    /// A class with one row, or fewer than two rows.
    pub(in crate::workflow) fn each(rows: Vec<usize>, roles: &'r RowRoles) -> Result<Division<'r>> {
        let mut counts = vec![0_usize; roles.names.len()];
        rows.iter().filter_map(|row| roles.classes[*row]).for_each(|class| counts[class.index()] += 1);
        if let Some(k) = counts.iter().position(|n| *n == 1) {
            return Err(Error::data(format!(
                "class `{}` has one row: it cannot be left out and the class still be learned",
                roles.names[k]
            ))
            .help("give the class more rows, or leave it out"));
        }
        Ok(Division::Each { rows, roles })
    }

    pub(in crate::workflow) fn len(&self) -> usize {
        match self {
            Division::Listed(folds) => folds.len(),
            Division::Each { rows, .. } => rows.len(),
        }
    }

    pub(in crate::workflow) fn fold(&self, number: usize) -> Cow<'_, Fold> {
        match self {
            Division::Listed(folds) => Cow::Borrowed(&folds[number]),
            Division::Each { rows, roles } => Cow::Owned(Fold::without(rows[number], number, roles)),
        }
    }

    fn all(&self) -> Vec<Fold> {
        (0..self.len()).map(|number| self.fold(number).into_owned()).collect()
    }
}

/// The fold of each row by the values of a column, in their order.
fn by_column(table: &Table, roles: &RowRoles, column: &str) -> Result<Vec<Option<usize>>> {
    let values = RowRoles::of(table, column, None, &[])?;
    let mut present = vec![false; values.names.len()];
    for (row, _) in roles.classes.iter().enumerate().filter(|(_, class)| class.is_some()) {
        match values.classes[row] {
            Some(value) => present[value.index()] = true,
            None => {
                return Err(Error::data("the number of the fold is missing")
                    .at(table.place(row).column(column))
                    .help("fill it in")
                    .help("remove the row"));
            }
        }
    }
    // Values that only rows without a label have are no folds.
    let mut numbers = vec![None; present.len()];
    let mut count = 0;
    for (number, _) in numbers.iter_mut().zip(&present).filter(|(_, there)| **there) {
        *number = Some(count);
        count += 1;
    }
    if count < 2 {
        return Err(Error::data(format!("column `{column}` has one value, and folds take two at least")));
    }
    let fold = |(class, value): (&Option<Class>, &Option<Class>)| class.and(*value).and_then(|v| numbers[v.index()]);
    Ok(roles.classes.iter().zip(&values.classes).map(fold).collect())
}

/// Refuses a fold without which a class is unknown: groups and times may hold all its rows.
fn every_class_is_learned(fold: &Fold, roles: &RowRoles) -> Result<()> {
    let (mut there, mut learned) = (vec![false; roles.names.len()], vec![false; roles.names.len()]);
    for (row, class) in roles.classes.iter().enumerate() {
        if let Some(class) = class {
            there[class.index()] = true;
            learned[class.index()] |= fold.learn[row];
        }
    }
    match (0..there.len()).find(|k| there[*k] && !learned[*k]) {
        None => Ok(()),
        Some(k) => Err(Error::data(format!(
            "without fold {} no row of class `{}` is left to learn from",
            fold.number + 1,
            roles.names[k]
        ))
        .help("choose another number of folds, another seed, or another column that divides the rows")),
    }
}

/// The fold of each row: groups in a random order, the largest first, each into the fold with the fewest rows.
fn by_group(table: &Table, roles: &RowRoles, column: &str, folds: usize, seed: u64) -> Result<Vec<Option<usize>>> {
    let groups = RowRoles::of(table, column, None, &[])?;
    let labelled = |row: &usize| roles.classes[*row].is_some();
    if let Some(row) = (0..groups.classes.len()).filter(labelled).find(|row| groups.classes[*row].is_none()) {
        return Err(Error::data("the group is missing")
            .at(table.place(row).column(column))
            .help("fill it in")
            .help("remove the row"));
    }
    let mut rows_of = vec![Vec::new(); groups.names.len()];
    for row in (0..groups.classes.len()).filter(labelled) {
        rows_of[groups.classes[row].map_or(0, |g| g.index())].push(row);
    }
    rows_of.retain(|rows| !rows.is_empty());
    if folds < 2 || folds > rows_of.len() {
        return Err(Error::usage(format!(
            "{folds} folds cannot be made of the {} groups in column `{column}`",
            rows_of.len()
        ))
        .help(format!("choose from 2 to {}", rows_of.len())));
    }
    rows_of.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    rows_of.sort_by_key(|rows| std::cmp::Reverse(rows.len()));
    let (mut assigned, mut sizes) = (vec![None; roles.classes.len()], vec![0; folds]);
    for rows in rows_of {
        let least = (0..folds).min_by_key(|fold| sizes[*fold]).unwrap_or(0);
        sizes[least] += rows.len();
        rows.into_iter().for_each(|row| assigned[row] = Some(least));
    }
    Ok(assigned)
}

/// One block more than folds, of about as many rows each; a fold is a block, and what is learned from are all before it. Rows of
/// one time are in one block.
fn in_time(table: &Table, roles: &RowRoles, column: &str, folds: usize) -> Result<Vec<Fold>> {
    let times = numbers(table, column, "time", |row| roles.classes[row].is_some())?;
    let mut rows: Vec<usize> = (0..times.len()).filter(|row| roles.classes[*row].is_some()).collect();
    rows.sort_by(|a, b| times[*a].total_cmp(&times[*b]).then(a.cmp(b)));
    let distinct =
        rows.windows(2).filter(|pair| times[pair[0]] < times[pair[1]]).count() + usize::from(!rows.is_empty());
    if folds == 0 || folds + 1 > distinct {
        return Err(Error::usage(format!(
            "{folds} folds in order of time need {} different times, and column `{column}` has {distinct}",
            folds + 1
        ))
        .help("choose fewer folds"));
    }
    // The block of each place in the order; a time that began in one block ends in it, and no block is left without one.
    let (mut block_of, mut left) = (vec![0; rows.len()], distinct);
    for place in 1..rows.len() {
        let before = block_of[place - 1];
        block_of[place] = before;
        if times[rows[place]] != times[rows[place - 1]] {
            left -= 1;
            let even = place * (folds + 1) / rows.len();
            block_of[place] = even.clamp(before.max((folds + 1).saturating_sub(left)), before + 1);
        }
    }
    let fold = |number: usize| {
        let (mut learn, mut test) = (vec![false; times.len()], vec![false; times.len()]);
        for (place, row) in rows.iter().enumerate() {
            learn[*row] = block_of[place] <= number;
            test[*row] = block_of[place] == number + 1;
        }
        Fold { number, learn, test }
    };
    Ok((0..folds).map(fold).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{ReadOptions, read_bytes};

    fn table() -> (Table, RowRoles) {
        let line = |i: usize| format!("{},g{},{},{}\n", i % 5, (i * i) % 11, (i * 7) % 13, ["no", "yes"][i % 2]);
        let csv: String = (0..90).map(line).collect();
        let table = read_bytes(format!("x,g,t,y\n{csv}").as_bytes(), "t.csv", &ReadOptions::default()).unwrap();
        let roles = RowRoles::of(&table, "y", None, &[]).unwrap();
        (table, roles)
    }

    #[test]
    fn a_group_is_in_one_fold() {
        let (table, roles) = table();
        let groups = RowRoles::of(&table, "g", None, &[]).unwrap().classes;
        for seed in 0..20 {
            let options = TuneOptions { folds: 3, kind: FoldKind::Groups("g".into()), seed, ..TuneOptions::default() };
            let folds = divide(&table, &roles, &options).unwrap();
            for fold in &folds {
                for row in (0..90).filter(|row| fold.test[*row]) {
                    assert!((0..90).all(|other| !fold.learn[other] || groups[other] != groups[row]));
                }
            }
            // Every row is judged once.
            assert!((0..90).all(|row| folds.iter().filter(|fold| fold.test[row]).count() == 1));
        }
    }

    #[test]
    fn what_comes_later_is_judged_by_what_was_before() {
        let (table, roles) = table();
        let times = numbers(&table, "t", "time", |_| true).unwrap();
        let options = TuneOptions { folds: 4, kind: FoldKind::Time("t".into()), ..TuneOptions::default() };
        let folds = divide(&table, &roles, &options).unwrap();
        assert_eq!(folds.len(), 4);
        // As many folds as thirteen times allow.
        let most = TuneOptions { folds: 12, ..options };
        assert!(divide(&table, &roles, &most).unwrap().iter().all(|fold| fold.test.contains(&true)));
        assert!(divide(&table, &roles, &TuneOptions { folds: 13, ..most }).is_err());
        for fold in &folds {
            let chosen = |rows: &[bool]| (0..90).filter(|r| rows[*r]).map(|r| times[r]).collect::<Vec<f64>>();
            let (learned, judged) = (chosen(&fold.learn), chosen(&fold.test));
            assert!(!learned.is_empty() && !judged.is_empty());
            let last = learned.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert!(judged.iter().all(|t| *t > last), "{last} {judged:?}");
        }
    }

    #[test]
    fn repetitions_deal_anew() {
        let (table, roles) = table();
        let options = TuneOptions { repeats: 3, ..TuneOptions::default() };
        let folds = divide(&table, &roles, &options).unwrap();
        assert_eq!(folds.iter().map(|f| f.number).collect::<Vec<_>>(), (0..15).collect::<Vec<_>>());
        assert_ne!(folds[0].test, folds[5].test);
    }
}
