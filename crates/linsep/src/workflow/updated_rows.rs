//! The rows of a model while some are added and others taken away: counts, classes, levels and sums.

use super::again::options_of;
use super::options::FitOptions;
use super::places::{Places, table_columns};
use super::rows::RowRoles;
use super::running::RunningFit;
use super::statistics::level_rows;
use crate::artifact::{FeatureOrigin, KeptStatistics, KeptSums, Model, RowsRecord, TrainingSummary, are_whole_totals};
use crate::design::{Encoding, Prepared, Recipe, UnknownLevel, fit_recipe};
use crate::error::{Error, Place, Result};
use crate::model::Outcome;
use crate::table::{Labels, Table};
use crate::watch::Watch;
use crate::words::{Setting, Span, words};

/// Share of a sum of squares (or of a total) that must be left when rows are taken away: the difference then keeps 12 digits,
/// as `f64::EPSILON / 1e-12` is 2e-4.
const DIGITS_LEFT: f64 = 2e-4;

/// Class names in the order of a table that has them.
pub(super) fn natural(classes: &[String]) -> Vec<String> {
    Labels::from_names(classes).names().to_vec()
}

/// What is known of the rows so far.
pub(super) struct UpdatedRows {
    pub(super) options: FitOptions,
    target_is_text: bool,
    pub(super) recipe: Recipe,
    pub(super) classes: Vec<String>,
    /// Whether the last class was chosen, so that it stays the last.
    last_is_chosen: bool,
    pub(super) statistics: KeptStatistics,
    pub(super) training: TrainingSummary,
    pub(super) fingerprint: String,
    pub(super) updates: Vec<RowsRecord>,
}

impl UpdatedRows {
    pub(super) fn of(model: &Model) -> Result<UpdatedRows> {
        let Some(statistics) = model.statistics.clone() else {
            return Err(Error::usage(
                "the model does not keep the sums over its rows, so that none can be added by themselves",
            )
            .help(words!["fit it again with ", Setting::KeepStatistics])
            .help(words!["give the rows that it was fitted on with ", Setting::With]));
        };
        let text = model.recipe.columns.iter().filter_map(|c| match &c.encoding {
            Encoding::Levels { levels, .. } => Some(levels.len()),
            _ => None,
        });
        let counted = statistics.class_rows.len() == model.classes.len()
            && statistics.sums.weights().len() == model.classes.len()
            && text.eq(statistics.level_rows.iter().map(Vec::len));
        let mut options = options_of(model);
        options.folds = None;
        // That the sums have the size of the columns is found out here, before anything is taken from them.
        let (recipe, classes) = (model.recipe.clone(), model.classes.clone());
        RunningFit::of_kept(&options, recipe.clone(), classes.clone(), model.target_is_text, &statistics.sums)?;
        if !counted || model.outcome != Outcome::Converged {
            return Err(Error::model("the statistics of the model do not fit its classes and levels")
                .help("fit the model again, and keep its statistics"));
        }
        let mut updates = model.provenance.updates.clone();
        if updates.is_empty() {
            let (rows, fingerprint) = (model.training.rows, model.provenance.fingerprint.clone());
            updates.push(RowsRecord { removed: false, rows, fingerprint });
        }
        Ok(UpdatedRows {
            options,
            target_is_text: model.target_is_text,
            last_is_chosen: natural(&classes) != classes,
            recipe,
            classes,
            statistics,
            training: TrainingSummary { accuracy: None, rejected: None, undetermined: None, ..model.training.clone() },
            fingerprint: model.provenance.fingerprint.clone(),
            updates,
        })
    }

    pub(super) fn change(&mut self, table: &Table, removed: bool, watch: &Watch) -> Result<()> {
        self.check_columns(table)?;
        let target = self.options.target.clone();
        let roles = RowRoles::of(table, &target, self.options.weights.as_deref(), &[])?;
        let frequencies = roles.frequencies(|_| true);
        if !removed {
            let learned = fit_recipe(table, &frequencies, &self.options.recipe);
            let learned = learned.map_err(|e| if e.place().file.is_none() { e.at(file_of(table)) } else { e })?;
            self.make_room(&roles.names, &learned, table)?;
        }
        let roles = roles.in_terms_of(table, &target, &self.classes)?;
        let counted: Vec<bool> = frequencies.iter().map(|f| *f > 0.0).collect();
        // A level that the rows of the model do not have cannot be taken away from them, whatever predictions do.
        let strict = Recipe { unknown: UnknownLevel::Error, ..self.recipe.clone() };
        // Means that are filled in are not kept as sums, so that nothing is filled in here.
        let Prepared { design, rows, missing, .. } = strict.apply(table, &counted)?;
        if rows.is_empty() {
            return Err(Error::data("no row has a label and all the cells that are needed").at(file_of(table)));
        }
        let design = design.as_design();
        let labels = Labels::new(roles.codes(&rows), self.classes.clone());
        let weights = roles.weights_of(&rows);
        let mut part =
            RunningFit::of_recipe(&self.options, self.recipe.clone(), self.classes.clone(), self.target_is_text)?;
        let named = |e: Error| Places::of(table).name(e, &rows, &self.recipe);
        part.add_rows(design, &labels, weights.as_deref(), watch).map_err(named)?;
        let mut whole = RunningFit::of_kept(
            &self.options,
            self.recipe.clone(),
            self.classes.clone(),
            self.target_is_text,
            &self.statistics.sums,
        )?;
        let counts = RowCountsOf {
            rows: table.n_rows(),
            used: rows.len(),
            missing_target: roles.classes.iter().filter(|c| c.is_none()).count(),
            zero_weight: roles.classes.iter().zip(&counted).filter(|(class, used)| class.is_some() && !**used).count(),
            missing,
            class_rows: labels.totals(None).into_iter().map(|n| n as usize).collect(),
            level_rows: level_rows(design, &self.recipe)?,
        };
        self.count(&counts, removed).ok_or_else(|| not_there(table))?;
        if removed {
            whole.remove(&part).map_err(|_| not_there(table))?;
            let sums = whole.kept();
            self.check_digits(&sums, whole.runs().is_some_and(|runs| are_whole_totals(runs, &sums)), table)?;
            self.statistics.sums = sums;
            self.drop_empty(table)?;
            self.fingerprint.clear();
        } else {
            whole.merge(&part)?;
            self.statistics.sums = whole.kept();
            self.fingerprint = self.fingerprint_with(table);
        }
        let fingerprint = format!("{:016x}", table.fingerprint());
        self.updates.push(RowsRecord { removed, rows: table.n_rows(), fingerprint });
        Ok(())
    }

    /// The fingerprint of the rows so far and these behind them; none where some were taken away.
    fn fingerprint_with(&self, table: &Table) -> String {
        let names: Vec<&str> = self.statistics.columns.iter().map(|(name, _)| name.as_str()).collect();
        let before = u64::from_str_radix(&self.fingerprint, 16);
        // The rows of the table are counted already.
        let rows = self.training.rows - table.n_rows();
        before.map_or(String::new(), |before| format!("{:016x}", table.fingerprint_behind(&names, (before, rows))))
    }

    /// The table has the columns of the model's table, each of the same kind.
    fn check_columns(&self, table: &Table) -> Result<()> {
        let found = table_columns(table);
        let help = "an update takes the columns of the table that the model was fitted on, used or not";
        for (name, text) in &self.statistics.columns {
            let kind = |text: bool| if text { "text" } else { "numbers" };
            match found.iter().find(|(other, _)| other == name) {
                None => {
                    return Err(Error::data(format!("there is no column `{name}`")).at(file_of(table)).help(help));
                }
                Some((_, other)) if other != text => {
                    let fact =
                        format!("column `{name}` holds {}, and {} in the rows of the model", kind(*other), kind(*text));
                    return Err(Error::data(fact).at(file_of(table).column(name)).help(words![
                        "read it as it was read before: ",
                        Setting::TextColumns,
                        " or ",
                        Setting::Number
                    ]));
                }
                Some(_) => {}
            }
        }
        match found.iter().find(|(name, _)| !self.statistics.columns.iter().any(|(other, _)| other == name)) {
            Some((name, _)) => Err(Error::data(format!("the rows of the model have no column `{name}`"))
                .at(file_of(table).column(name))
                .help(help)),
            None => Ok(()),
        }
    }

    /// Makes room for classes and levels that are new.
    fn make_room(&mut self, classes: &[String], learned: &Recipe, table: &Table) -> Result<()> {
        let mut names: Vec<String> = self.classes.clone();
        names.extend(classes.iter().filter(|c| !self.classes.contains(c)).cloned());
        let mut wanted = natural(&names);
        if self.last_is_chosen
            && let Some(last) = self.classes.last()
        {
            wanted.retain(|name| name != last);
            wanted.push(last.clone());
        }
        let mut recipe = self.recipe.clone();
        let mut level_rows = Vec::new();
        let mut counts = self.statistics.level_rows.iter();
        for column in &mut recipe.columns {
            let Encoding::Levels { levels, reference, .. } = &mut column.encoding else { continue };
            let before = levels.clone();
            let of_rows = counts.next().map_or(&[][..], Vec::as_slice);
            if let Some(Encoding::Levels { levels: more, .. }) =
                learned.columns.iter().find(|c| c.name == column.name).map(|c| &c.encoding)
            {
                levels.extend(more.iter().filter(|level| !before.contains(level)).cloned());
                levels.sort_unstable();
            }
            *reference = moved_reference(reference, &before, levels);
            let rows_of = |level: &String| before.iter().position(|b| b == level).map_or(0, |at| of_rows[at]);
            level_rows.push(levels.iter().map(rows_of).collect());
        }
        recipe.sparse_width = recipe.sparse_width.max(learned.sparse_width);
        if recipe.n_features() != self.recipe.n_features() && !recipe.basis.is_none() {
            return Err(Error::data("a text column has a new level, and products of columns were not summed with it")
                .at(file_of(table))
                .help("fit all rows again"));
        }
        self.move_to(wanted, recipe, level_rows);
        Ok(())
    }

    /// Leaves out classes and levels that have no rows any more.
    fn drop_empty(&mut self, table: &Table) -> Result<()> {
        let rows = &self.statistics.class_rows;
        let classes = self.classes.iter().zip(rows).filter(|(_, n)| **n > 0).map(|(name, _)| name.clone()).collect();
        let mut recipe = self.recipe.clone();
        let mut level_rows = Vec::new();
        let mut counts = self.statistics.level_rows.iter();
        for column in &mut recipe.columns {
            let Encoding::Levels { levels, reference, .. } = &mut column.encoding else { continue };
            let of_rows = counts.next().map_or(&[][..], Vec::as_slice);
            let before = std::mem::take(levels);
            let kept = || before.iter().zip(of_rows).filter(|(_, n)| **n > 0);
            level_rows.push(kept().map(|(_, n)| *n).collect());
            *levels = kept().map(|(level, _)| level.clone()).collect();
            *reference = moved_reference(reference, &before, levels);
        }
        if recipe.n_features() != self.recipe.n_features() && !recipe.basis.is_none() {
            return Err(Error::data(
                "a level of a text column has no rows left, and products of columns were summed with it",
            )
            .at(file_of(table))
            .help("fit the rows that are left"));
        }
        self.move_to(classes, recipe, level_rows);
        Ok(())
    }

    /// Brings the sums into other classes and levels.
    fn move_to(&mut self, classes: Vec<String>, recipe: Recipe, level_rows: Vec<Vec<usize>>) {
        let places: Vec<Option<usize>> =
            classes.iter().map(|name| self.classes.iter().position(|c| c == name)).collect();
        let old_cols = self.recipe.n_features();
        let features = origins(&self.recipe, &recipe);
        let rows = &self.statistics.class_rows;
        self.statistics.class_rows = places.iter().map(|k| k.map_or(0, |k| rows[k])).collect();
        self.statistics.sums = self.statistics.sums.moved(&places, &features, old_cols);
        self.statistics.level_rows = level_rows;
        self.classes = classes;
        self.recipe = recipe;
    }

    /// Counts rows in or out; `None` where there were fewer.
    fn count(&mut self, part: &RowCountsOf, removed: bool) -> Option<()> {
        let changed = |a: usize, b: usize| if removed { a.checked_sub(b) } else { Some(a + b) };
        let all = |a: &[usize], b: &[usize]| -> Option<Vec<usize>> {
            a.iter().zip(b).map(|(a, b)| changed(*a, *b)).collect()
        };
        let t = &mut self.training;
        t.rows = changed(t.rows, part.rows)?;
        t.used = changed(t.used, part.used)?;
        t.missing_target = changed(t.missing_target, part.missing_target)?;
        t.zero_weight = changed(t.zero_weight, part.zero_weight)?;
        let order = self.recipe.columns.iter().map(|c| &c.name);
        let of = |list: &[(String, usize)], name: &String| list.iter().find(|(n, _)| n == name).map_or(0, |(_, n)| *n);
        let missing = order.map(|name| Some((name.clone(), changed(of(&t.missing, name), of(&part.missing, name))?)));
        t.missing = missing.collect::<Option<Vec<_>>>()?.into_iter().filter(|(_, n)| *n > 0).collect();
        self.statistics.class_rows = all(&self.statistics.class_rows, &part.class_rows)?;
        let levels = self.statistics.level_rows.iter().zip(&part.level_rows);
        self.statistics.level_rows = levels.map(|(a, b)| all(a, b)).collect::<Option<_>>()?;
        Some(())
    }
}

/// Rows of one table, counted.
struct RowCountsOf {
    rows: usize,
    used: usize,
    missing_target: usize,
    zero_weight: usize,
    missing: Vec<(String, usize)>,
    class_rows: Vec<usize>,
    level_rows: Vec<Vec<usize>>,
}

/// The first file of a table.
fn file_of(table: &Table) -> Place {
    table.chunks().first().map(|c| Place::file(&*c.origin.file)).unwrap_or_default()
}

fn not_there(table: &Table) -> Error {
    Error::data("these rows are not all among those of the model, so that they cannot be taken away from it")
        .at(file_of(table))
        .help("take away only rows that it was fitted on, each once")
}

/// The reference of the levels that are there afterwards: a fit of all rows takes the first one, unless another was chosen.
fn moved_reference(reference: &Option<String>, before: &[String], after: &[String]) -> Option<String> {
    let reference = reference.as_ref()?;
    let stays = before.first() != Some(reference) && after.contains(reference);
    if stays { Some(reference.clone()) } else { after.first().cloned() }
}

/// What every matrix column of a recipe was in an earlier one of the same table columns, without products.
fn origins(old: &Recipe, new: &Recipe) -> Vec<FeatureOrigin> {
    if !new.basis.is_none() {
        return (0..new.n_features()).map(FeatureOrigin::Same).collect();
    }
    let mut found = Vec::with_capacity(new.n_features());
    let mut start = 0;
    for (before, column) in old.columns.iter().zip(&new.columns) {
        let width = before.width();
        match (&before.encoding, &column.encoding) {
            (Encoding::Levels { levels: known, reference: hidden, .. }, Encoding::Levels { levels, reference, .. }) => {
                let hidden = hidden.as_ref().and_then(|r| known.iter().position(|k| k == r));
                let one = |level: &String| match known.iter().position(|k| k == level) {
                    Some(at) if Some(at) == hidden => FeatureOrigin::Rest(start..start + width),
                    Some(at) => FeatureOrigin::Same(start + at - usize::from(hidden.is_some_and(|h| at > h))),
                    None => FeatureOrigin::Absent,
                };
                found.extend(levels.iter().filter(|level| Some(*level) != reference.as_ref()).map(one));
            }
            _ => found.push(FeatureOrigin::Same(start)),
        }
        start += width;
    }
    let same = |j: usize| if j < old.sparse_width { FeatureOrigin::Same(start + j) } else { FeatureOrigin::Absent };
    found.extend((0..new.sparse_width).map(same));
    found
}

impl UpdatedRows {
    /// Which matrix columns are there after levels without rows are left out.
    fn columns_that_stay(&self) -> Vec<bool> {
        let mut stays = Vec::with_capacity(self.recipe.n_features());
        let mut counts = self.statistics.level_rows.iter();
        for column in &self.recipe.columns {
            let Encoding::Levels { levels, reference, .. } = &column.encoding else {
                stays.push(true);
                continue;
            };
            let rows = counts.next().map_or(&[][..], Vec::as_slice);
            let left: Vec<String> = levels.iter().zip(rows).filter(|(_, n)| **n > 0).map(|(l, _)| l.clone()).collect();
            let hidden = moved_reference(reference, levels, &left);
            let has_one = |level: &String| left.contains(level) && Some(level) != hidden.as_ref();
            stays.extend(levels.iter().filter(|level| Some(*level) != reference.as_ref()).map(has_one));
        }
        stays.resize(self.recipe.n_features(), true);
        stays
    }

    /// Refuses a difference that keeps too few digits: what is left is small beside what was taken away.
    fn check_digits(&self, left: &KeptSums, whole: bool, table: &Table) -> Result<()> {
        let stays = self.columns_that_stay();
        let lost = match (&self.statistics.sums, left) {
            // Without rows there is nothing that could have lost its digits.
            _ if whole || self.training.used == 0 => None,
            (KeptSums::Moments { scatters: before, .. }, KeptSums::Moments { weights, scatters, .. }) => {
                let cols = self.recipe.n_features();
                // Column j of a lower triangle begins with its own square.
                let starts: Vec<usize> = (0..cols).map(|j| j * cols - j * j.saturating_sub(1) / 2).collect();
                let gone = |k: usize| scatters.len() > 1 && weights[k] == 0.0;
                let of = |k: usize| {
                    let (before, left) = (&before[k], &scatters[k]);
                    (0..cols).find(|j| stays[*j] && !gone(k) && left[starts[*j]] < DIGITS_LEFT * before[starts[*j]])
                };
                (0..scatters.len()).find_map(of)
            }
            (KeptSums::Columns { first: f, second: s, .. }, KeptSums::Columns { weights, first, second, .. }) => {
                let cols = self.recipe.n_features();
                let thin = |before: &[f64], left: &[f64]| {
                    let is_thin = |at: &usize| {
                        weights[at / cols] > 0.0
                            && stays[at % cols]
                            && left[*at] != 0.0
                            && left[*at].abs() < DIGITS_LEFT * before[*at].abs()
                    };
                    (0..left.len()).find(is_thin).map(|at| at % cols)
                };
                // Means of Gaussian columns may be close to zero; their squared deviations tell.
                match second.is_empty() {
                    true => thin(f, first),
                    false => thin(s, second),
                }
            }
            _ => None,
        };
        match lost {
            None => Ok(()),
            Some(column) => Err(Error::data(words![
                "the rows that are left vary so little in ",
                Span::NamedColumn(self.recipe.feature(column)),
                ", beside those taken away, that their difference has too few digits"
            ])
            .at(file_of(table))
            .help("fit the rows that are left")),
        }
    }
}
