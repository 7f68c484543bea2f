//! The matrix columns of a formula that follow from its terms and what was learned.

use super::arithmetic::Arithmetic;
use super::coding::{LevelCodes, all_levels};
use super::columns::{FormulaColumns, FormulaPart, PartSource, TermColumns};
use super::expression::{Expression, spelled_number};
use super::parse::wrong;
use super::polynomial::OrthogonalPolynomial;
use super::spline::SplineBasis;
use super::teacher::{LearnedVariable, Teacher};
use super::terms::{PlacedVariable, TermList};
use super::variable::{CategoryCoding, Variable};
use crate::design::basis::MOST_BASIS_FEATURES;
use crate::design::encoding::{Encoding, RecipeColumn};
use crate::error::{Error, Result, nearest};
use crate::words::{Setting, words};
use std::collections::BTreeMap;
use std::ops::Range;

/// The table columns in use, by name.
pub(super) struct PlainRow<'a> {
    columns: &'a [RecipeColumn],
    index: BTreeMap<&'a str, usize>,
    firsts: Vec<usize>,
}

impl<'a> PlainRow<'a> {
    pub(super) fn new(columns: &'a [RecipeColumn]) -> PlainRow<'a> {
        let mut firsts = vec![0];
        columns.iter().enumerate().for_each(|(at, c)| firsts.push(firsts[at] + c.width()));
        PlainRow { columns, index: columns.iter().enumerate().map(|(at, c)| (c.name.as_str(), at)).collect(), firsts }
    }

    fn column(&self, name: &str, at: usize) -> Result<usize> {
        self.index.get(name).copied().ok_or_else(|| absent(name, at, self.columns.iter().map(|c| c.name.as_str())))
    }

    fn range(&self, column: usize) -> Range<usize> {
        self.firsts[column]..self.firsts[column + 1]
    }

    /// The recipe's column of a place in the plain row.
    fn owner(&self, place: usize) -> usize {
        self.firsts.partition_point(|first| *first <= place).saturating_sub(1)
    }

    /// The place of a column of numbers in the plain row.
    fn number(&self, name: &str, at: usize) -> Result<usize> {
        let column = self.column(name, at)?;
        match self.columns[column].encoding {
            Encoding::Levels { .. } => {
                Err(wrong(at, format!("column `{name}` holds text, and a function takes numbers"))
                    .help(format!("write {} alone, as categories", super::expression::spelled_name(name)))
                    .help(words!["read it as numbers: ", Setting::Number.is(name)]))
            }
            _ => Ok(self.firsts[column]),
        }
    }

    fn arithmetic(&self, e: &Expression) -> Result<Arithmetic> {
        Arithmetic::of(e, &|name, at| self.number(name, at))
    }
}

/// A column that a table has not, with the nearest names.
pub(super) fn absent<'n>(name: &str, at: usize, known: impl Iterator<Item = &'n str> + Clone) -> Error {
    let near = nearest(name, known.clone());
    let error = wrong(at, format!("there is no column `{name}`"));
    match near.is_empty() {
        false => error.help(format!("did you mean `{}`?", near.join("`, `"))),
        true => error.help(format!("the columns are: {}", known.take(12).collect::<Vec<_>>().join(", "))),
    }
}

/// The names of the columns that the used variables read, each once with its first place, in their order.
pub(super) fn names_in(list: &TermList) -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> = Vec::new();
    let mut seen: BTreeMap<String, ()> = BTreeMap::new();
    let used = list.used();
    for (placed, _) in list.variables.iter().zip(used).filter(|(_, used)| *used) {
        let mut add = |name: &str, at: usize| {
            if seen.insert(name.to_owned(), ()).is_none() {
                found.push((name.to_owned(), at));
            }
        };
        match &placed.variable {
            Variable::Column(name) | Variable::Category { column: name, .. } => add(name, placed.at),
            other => {
                if let Some(e) = other.argument() {
                    each_name(e, &mut add);
                }
            }
        }
    }
    found
}

fn each_name(e: &Expression, add: &mut dyn FnMut(&str, usize)) {
    use super::expression::ExpressionKind;
    match &e.kind {
        ExpressionKind::Name(name) => add(name, e.at),
        ExpressionKind::Negative(inner) => each_name(inner, add),
        ExpressionKind::Power(base, exponent) => [base, exponent].into_iter().for_each(|e| each_name(e, add)),
        ExpressionKind::Chain(first, rest) => {
            each_name(first, add);
            rest.iter().for_each(|(_, part)| each_name(part, add));
        }
        ExpressionKind::Call(_, arguments) => arguments.iter().for_each(|a| each_name(&a.value, add)),
        ExpressionKind::Number(_) | ExpressionKind::Text(_) | ExpressionKind::Dot => {}
    }
}

/// Learns what a formula needs, or takes it from a file, and lays its matrix columns out.
pub(super) fn lay_out(
    list: &TermList,
    columns: &[RecipeColumn],
    mut teacher: Teacher<'_>,
) -> Result<(FormulaColumns, Vec<LearnedVariable>)> {
    let row = PlainRow::new(columns);
    let (used, mut learned) = (list.used(), Vec::new());
    let mut drafts: Vec<Option<Draft>> = Vec::with_capacity(list.variables.len());
    for (placed, used) in list.variables.iter().zip(&used) {
        drafts.push(match used {
            true => Some(Draft::of(placed, &row, &mut teacher, &mut learned)?),
            false => None,
        });
    }
    name_categories(&mut drafts);
    let is_category: Vec<bool> =
        drafts.iter().map(|d| matches!(d, Some(Draft { kind: DraftKind::Category { .. }, .. }))).collect();
    let coded = all_levels(&list.terms, list.intercept, &is_category);
    let mut made: BTreeMap<(u32, bool), usize> = BTreeMap::new();
    let (mut parts, mut terms, mut width, mut room): (Vec<FormulaPart>, Vec<TermColumns>, usize, usize) =
        (Vec::new(), Vec::new(), 0, 0);
    for (term, full) in list.terms.iter().zip(&coded) {
        let mut of_term = Vec::with_capacity(term.len());
        for (variable, full) in term.iter().zip(full) {
            let Some(draft) = &drafts[*variable as usize] else { continue };
            let at = *made.entry((*variable, *full)).or_insert_with(|| {
                let part = draft.part(*full, room);
                room = part.range.end;
                parts.push(part);
                parts.len() - 1
            });
            of_term.push(at);
        }
        let wide = of_term.iter().fold(1usize, |w, part| w.saturating_mul(parts[*part].range.len()));
        let end = width.saturating_add(wide);
        if end > MOST_BASIS_FEATURES {
            return Err(Error::data(format!("the formula makes more than {MOST_BASIS_FEATURES} matrix columns"))
                .help("name fewer terms")
                .help("leave out text columns of many levels"));
        }
        let name: Vec<&str> =
            term.iter().filter_map(|v| drafts[*v as usize].as_ref()).map(|d| d.name.as_str()).collect();
        let variables = term.iter().map(|v| *v as usize).collect();
        terms.push(TermColumns { name: name.join(":"), variables, parts: of_term, range: width..end });
        width = end;
    }
    let plain = row.firsts.last().copied().unwrap_or(0);
    Ok((FormulaColumns::new(parts, terms, plain), learned))
}

/// A variable before it is known how terms code it.
struct Draft {
    spelled: String,
    name: String,
    kind: DraftKind,
    columns: Vec<usize>,
}

enum DraftKind {
    Number(Arithmetic, Option<usize>),
    Powers(Arithmetic, usize),
    Orthogonal(Arithmetic, OrthogonalPolynomial),
    Spline(Arithmetic, Box<SplineBasis>, usize),
    Category { column: String, place: CategoryPlace, levels: Vec<String>, contrast: LevelCodes, label: String },
}

#[derive(Clone)]
enum CategoryPlace {
    Text(Range<usize>),
    Values(usize, Vec<f64>),
}

impl Draft {
    fn of(
        placed: &PlacedVariable,
        row: &PlainRow<'_>,
        teacher: &mut Teacher<'_>,
        learned: &mut Vec<LearnedVariable>,
    ) -> Result<Draft> {
        let mut places = Vec::new();
        let mut name = placed.spelled.clone();
        let arithmetic = |e: &Expression, places: &mut Vec<usize>| {
            let found = row.arithmetic(e)?;
            found.columns(places);
            Ok::<Arithmetic, Error>(found)
        };
        let kind = match &placed.variable {
            Variable::Column(column) => {
                let at = row.column(column, placed.at)?;
                name.clone_from(column);
                match &row.columns[at].encoding {
                    Encoding::Levels { .. } => {
                        places.push(row.firsts[at]);
                        category(placed, row, (column, CategoryCoding::Treatment, None), teacher, learned)?
                    }
                    _ => {
                        places.push(row.firsts[at]);
                        DraftKind::Number(Arithmetic::Column(row.firsts[at]), Some(row.firsts[at]))
                    }
                }
            }
            Variable::Number(e) => DraftKind::Number(arithmetic(e, &mut places)?, None),
            Variable::Polynomial { of, degree, raw } => {
                let of = arithmetic(of, &mut places)?;
                match raw {
                    true => DraftKind::Powers(of, *degree),
                    false => {
                        let found = teacher.polynomial(&of, *degree).map_err(|e| about(e, placed))?;
                        learned.push(LearnedVariable::Polynomial(found.clone()));
                        DraftKind::Orthogonal(of, found)
                    }
                }
            }
            Variable::Spline { of, kind } => {
                let of = arithmetic(of, &mut places)?;
                let (boundary, knots) = teacher.knots(&of, kind).map_err(|e| about(e, placed))?;
                let basis = SplineBasis::new(kind, boundary, &knots).map_err(|e| about(e, placed))?;
                let width = kind.width(knots.len());
                learned.push(LearnedVariable::Spline { boundary, knots });
                DraftKind::Spline(of, Box::new(basis), width)
            }
            Variable::Category { column, coding, reference } => {
                places.push(row.firsts[row.column(column, placed.at)?]);
                category(placed, row, (column, *coding, reference.as_deref()), teacher, learned)?
            }
        };
        let columns = places.iter().map(|p| row.owner(*p)).collect();
        Ok(Draft { spelled: placed.spelled.clone(), name, kind, columns })
    }

    /// The numbers of the variable under a coding.
    fn part(&self, full: bool, first: usize) -> FormulaPart {
        let numbered = |width: usize| (1..=width).map(|k| format!("{}[{k}]", self.name)).collect::<Vec<String>>();
        let (mut plain, mut reference) = (None, None);
        let (source, names) = match &self.kind {
            DraftKind::Number(of, place) => {
                plain = *place;
                (PartSource::Number(of.clone()), vec![self.name.clone()])
            }
            DraftKind::Powers(of, degree) => (PartSource::Powers(of.clone()), numbered(*degree)),
            DraftKind::Orthogonal(of, found) => {
                (PartSource::Orthogonal(of.clone(), found.clone()), numbered(found.shifts.len()))
            }
            DraftKind::Spline(of, basis, width) => (PartSource::Spline(of.clone(), basis.clone()), numbered(*width)),
            DraftKind::Category { column, place, levels, contrast, label } => {
                let contrast = if full { LevelCodes::All } else { *contrast };
                if let LevelCodes::Without(level) = contrast {
                    reference = Some((column.clone(), levels[level].clone()));
                }
                let names = contrast.levels(levels.len()).map(|l| format!("{label}={}", levels[l])).collect();
                let source = match place.clone() {
                    CategoryPlace::Text(range) => PartSource::Text(range, contrast),
                    CategoryPlace::Values(at, values) => PartSource::Values(at, values, contrast),
                };
                (source, names)
            }
        };
        let range = first..first + names.len();
        FormulaPart {
            spelled: self.spelled.clone(),
            plain,
            source,
            range,
            names,
            reference,
            columns: self.columns.clone(),
        }
    }
}

/// The error with the word that it is about.
fn about(error: Error, placed: &PlacedVariable) -> Error {
    error.in_context(format!("`{}` (character {} of the formula)", placed.spelled, placed.at))
}

/// Features of a category are named by its column, unless two variables would give the same names.
fn name_categories(drafts: &mut [Option<Draft>]) {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for draft in drafts.iter().flatten() {
        if let DraftKind::Category { label, .. } = &draft.kind {
            *times.entry(label.clone()).or_default() += 1;
        }
    }
    for draft in drafts.iter_mut().flatten() {
        if let DraftKind::Category { label, .. } = &mut draft.kind
            && times.get(label).is_some_and(|n| *n > 1)
        {
            label.clone_from(&draft.name);
        }
    }
}

fn category(
    placed: &PlacedVariable,
    row: &PlainRow<'_>,
    (column, coding, reference): (&str, CategoryCoding, Option<&str>),
    teacher: &mut Teacher<'_>,
    learned: &mut Vec<LearnedVariable>,
) -> Result<DraftKind> {
    let at = row.column(column, placed.at)?;
    let (place, levels) = match &row.columns[at].encoding {
        Encoding::Levels { levels, .. } => (CategoryPlace::Text(row.range(at)), levels.clone()),
        other => {
            if matches!(other, Encoding::Number { mean: Some(_), .. }) {
                return Err(wrong(placed.at, format!("column `{column}` holds numbers, whose mean is no category"))
                    .help(words!["read it as text: ", Setting::TextColumns.is(column)])
                    .help(words!["choose ", Setting::Missing.is("drop")]));
            }
            let values = teacher.levels(&Arithmetic::Column(row.firsts[at])).map_err(|e| about(e, placed))?;
            learned.push(LearnedVariable::Levels(values.clone()));
            let levels = values.iter().map(|v| spelled_number(*v)).collect();
            (CategoryPlace::Values(row.firsts[at], values), levels)
        }
    };
    // No training rows leave a column without levels; only a damaged file does.
    let Some(last) = levels.len().checked_sub(1) else {
        return Err(Error::model(format!("column `{column}` has no levels")).help("fit the model again"));
    };
    let chosen = match reference {
        None if coding == CategoryCoding::Sum => last,
        None => 0,
        Some(reference) => levels.iter().position(|l| l == reference).ok_or_else(|| {
            let near = nearest(reference, levels.iter().map(String::as_str));
            let error = wrong(placed.at, format!("column `{column}` has no level `{reference}`"));
            match near.is_empty() {
                true => error.help(format!(
                    "its levels are: {}",
                    levels.iter().take(12).cloned().collect::<Vec<_>>().join(", ")
                )),
                false => error.help(format!("did you mean `{}`?", near.join("`, `"))),
            }
        })?,
    };
    let (contrast, label) = match coding {
        CategoryCoding::Treatment => (LevelCodes::Without(chosen), column.to_owned()),
        CategoryCoding::Sum => (LevelCodes::Sum(chosen), format!("{column}[sum]")),
    };
    debug_assert!(contrast.width(levels.len()) <= levels.len());
    Ok(DraftKind::Category { column: column.to_owned(), place, levels, contrast, label })
}
