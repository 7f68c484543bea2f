//! Which coefficients of maximum likelihood keep a finite limit where the classes are separated, in exact integer
//! arithmetic.
//!
//! The recession directions `v`, along which the likelihood never falls, meet every constraint, `a·v ≥ 0`. They are a cone C
//! (the recession cone), and the constraints that vanish on all of it are the boundary B. C has inner points relative to
//! `{v : Bv = 0}`, so it spans that space: a coefficient `e_j·w` is constant along all of C exactly if `e_j` is in the row
//! space of B. Then the rows of the boundary alone determine its limit. Otherwise it diverges: to +∞ if `e_j ≥ 0` on C, that
//! is if `e_j` is a combination of constraints with weights that are not negative (Farkas), to −∞ if `−e_j` is, and else in
//! either direction, depending on the path.
//!
//! Columns that are combinations of others on all rows have no coefficient of their own. As in a fit, those that are
//! combinations of earlier columns and of the constant are left out first; all the rest is about the model without them.
//!
//! Row spaces and ranks are equalities: they are decided by exact linear relations ([`Relations`]) among rows or among
//! columns, whichever are fewer.

use super::plan::{MOST_COLUMNS, MOST_RELATED, MOST_RELATED_ENTRIES};
use crate::certify::{
    Dyadic, DyadicVectors, Effort, ListedVectors, Relations, WholeRows, combined_numbers, others, vectors_alone,
};
use crate::design::{Block, LabelledRows, Tile, Training};
use crate::error::Result;
use crate::separate::{WholeMember, whole_member};
use crate::watch::Watch;
use num_bigint::{BigInt, Sign};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// What becomes of a coefficient of maximum likelihood where the classes are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoefficientLimit {
    /// It keeps a finite limit: the rows of the boundary alone determine it.
    Finite,
    /// No direction lowers it and some raise it: it tends to +∞.
    PlusInfinity,
    /// No direction raises it and some lower it: it tends to −∞.
    MinusInfinity,
    /// Some directions raise it and some lower it: it has no limit, and the rows do not say which way it goes.
    EitherInfinity,
    /// It has no limit; which way it goes would take too long to decide.
    SomeInfinity,
    /// Its column is a combination of columns before it and of the constant on all rows: left out, as if its coefficient
    /// were zero.
    Collinear,
}

impl CoefficientLimit {
    /// Whether the coefficient has no limit though its column is no combination of others.
    pub fn diverges(self) -> bool {
        !matches!(self, CoefficientLimit::Finite | CoefficientLimit::Collinear)
    }
}

/// The limits of all coefficients, score by score: one score for two classes (that of the second), else one for each class but the
/// first, whose scores are zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoefficientLimits {
    /// Per score and column.
    pub weights: Vec<Vec<CoefficientLimit>>,
    /// Per score; nothing in a model without an intercept.
    pub intercepts: Vec<CoefficientLimit>,
}

/// What becomes of every coefficient of maximum likelihood on separated rows of positive weight: a theorem about the numbers as they
/// are stored. `None` where whole numbers would take longer than some seconds.
///
/// `boundary` are the rows, each with another class, whose constraint no direction meets strictly, as a proved verdict has
/// them ([`super::QuasiComplete::pairs`], [`super::NoOptimum::pairs`]): none for complete separation. `through` is the
/// centre of a model without an intercept. Inference on what is left, the limiting conditional model, is that of the finite
/// coefficients on the rows of the boundary.
///
/// ```
/// use linsep::design::{DenseMatrix, Training};
/// use linsep::separate::{CoefficientLimit::*, coefficient_limits};
/// use linsep::table::Labels;
/// // The first column is 1 for b alone; the second, and the intercept, are determined where it is 0; the third is twice the second.
/// let x = DenseMatrix::new(
///     vec![0.0, 1.0, 2.0, 0.0, 2.0, 4.0, 0.0, 3.0, 6.0, 0.0, 4.0, 8.0, 1.0, 2.0, 4.0], 3)?;
/// let y = Labels::from_names(["a", "b", "a", "b", "b"]);
/// let boundary = [(0, 1), (1, 0), (2, 1), (3, 0)];
/// let found = coefficient_limits(&Training::new(&x, &y), &boundary, None, &Default::default())?.expect("a small table");
/// assert_eq!(found.weights, [[PlusInfinity, Finite, Collinear]]);
/// assert_eq!(found.intercepts, [Finite]);
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn coefficient_limits(
    training: &Training<'_>,
    boundary: &[(usize, usize)],
    through: Option<&[f64]>,
    watch: &Watch,
) -> Result<Option<CoefficientLimits>> {
    let counted = training.counted()?;
    let rows = counted.view(training);
    let rows = LimitRows::new(rows.rows(), rows.labels.n_classes(), through, Effort::seconds(watch));
    let pairs: Vec<(usize, usize)> = match counted.rows() {
        None => boundary.to_vec(),
        Some(rows) => boundary.iter().filter_map(|(row, k)| Some((rows.binary_search(row).ok()?, *k))).collect(),
    };
    rows.limits(&pairs)
}

/// The columns that have no limit, as far as that is proved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NamedColumns {
    pub(super) diverging: Option<Vec<usize>>,
    pub(super) intercept_diverges: bool,
    pub(super) collinear: Option<Vec<usize>>,
}

/// Rows that all count, as vectors: the constant first where there is an intercept, then the columns.
pub(super) struct LimitRows<'a> {
    rows: LabelledRows<'a>,
    classes: usize,
    through: Option<&'a [f64]>,
    effort: Effort<'a>,
    /// A difference from the centre did not fit its exact representation.
    lost: AtomicBool,
}

impl DyadicVectors for LimitRows<'_> {
    fn dimension(&self) -> usize {
        self.first() + self.rows.design.shape().cols
    }

    fn count(&self) -> usize {
        self.rows.labels.len()
    }

    fn entries(&self, at: usize, out: &mut Vec<(usize, Dyadic)>) -> Result<()> {
        out.clear();
        let first = self.first();
        if first == 1 {
            out.push((0, Dyadic::of(1.0)));
        }
        let mut tile = Tile::default();
        let plain = |out: &mut Vec<(usize, Dyadic)>, values: &mut dyn Iterator<Item = (usize, f64)>| {
            out.extend(values.filter(|(_, x)| *x != 0.0).map(|(j, x)| (first + j, Dyadic::of(x))));
        };
        let block = self.rows.design.block(at..at + 1, &mut tile)?;
        let Some(centre) = self.through.filter(|c| c.iter().any(|c| *c != 0.0)) else {
            match block {
                Block::F64(dense) => plain(out, &mut dense.values.iter().copied().enumerate()),
                Block::F32(dense) => plain(out, &mut dense.values.iter().map(|x| f64::from(*x)).enumerate()),
                Block::Csr(sparse) => {
                    let (columns, values) = sparse.row(0);
                    plain(out, &mut columns.iter().map(|c| *c as usize).zip(values.iter().copied()));
                }
            }
            return Ok(());
        };
        let mut values = vec![0.0; centre.len()];
        match block {
            Block::F64(dense) => values.copy_from_slice(dense.values),
            Block::F32(dense) => values.iter_mut().zip(dense.values).for_each(|(v, x)| *v = f64::from(*x)),
            Block::Csr(sparse) => {
                let (columns, entries) = sparse.row(0);
                columns.iter().zip(entries).for_each(|(c, x)| values[*c as usize] = *x);
            }
        }
        for (j, (x, c)) in values.iter().zip(centre).enumerate() {
            match Dyadic::difference(*x, *c) {
                Some(x) if x.is_zero() => {}
                Some(x) => out.push((j, x)),
                None => self.lost.store(true, Ordering::Relaxed),
            }
        }
        Ok(())
    }
}

/// Vectors `(e_y − e_k)⊗x̃` of some constraints, in some coordinates of the rows.
struct PairVectors<'r, 'a> {
    rows: &'r LimitRows<'a>,
    pairs: &'r [(usize, usize)],
    /// By coordinate of a row its place, if it is kept.
    place: Vec<Option<usize>>,
    kept: usize,
}

impl DyadicVectors for PairVectors<'_, '_> {
    fn dimension(&self) -> usize {
        self.kept * (self.rows.classes - 1)
    }

    fn count(&self) -> usize {
        self.pairs.len()
    }

    fn entries(&self, at: usize, out: &mut Vec<(usize, Dyadic)>) -> Result<()> {
        let (row, other) = self.pairs[at];
        self.rows.entries(row, out)?;
        let own = self.rows.rows.labels[row].index();
        out.retain_mut(|(j, _)| self.place[*j].inspect(|place| *j = *place).is_some());
        let start = |class: usize| (class - 1) * self.kept;
        let plain = out.len();
        if own > 0 && other > 0 {
            out.extend_from_within(..);
        }
        for (at, (j, x)) in out.iter_mut().enumerate() {
            match own > 0 && at < plain {
                true => *j += start(own),
                false => (*j, *x) = (*j + start(other), x.negated()),
            }
        }
        Ok(())
    }
}

impl<'a> LimitRows<'a> {
    pub(super) fn new(
        rows: LabelledRows<'a>,
        classes: usize,
        through: Option<&'a [f64]>,
        effort: Effort<'a>,
    ) -> LimitRows<'a> {
        LimitRows { rows, classes, through, effort, lost: AtomicBool::new(false) }
    }

    /// The coordinate of the first column.
    fn first(&self) -> usize {
        usize::from(self.through.is_none())
    }

    /// The columns that diverge: of tables with many columns all whose coefficients have no limit, of which only those that are
    /// zero everywhere are named apart.
    pub(super) fn named(&self, pairs: &[(usize, usize)]) -> Result<NamedColumns> {
        let (cols, first) = (self.rows.design.shape().cols, self.first());
        let narrow = cols <= MOST_COLUMNS;
        let kept = if narrow { self.independent()? } else { Some(self.not_empty()?) };
        let (kept, all) = match kept {
            Some(kept) => (kept, true),
            // Without a boundary every coefficient diverges, also those of columns that may be combinations of others.
            None if pairs.is_empty() => (self.not_empty()?, false),
            None => return Ok(NamedColumns::default()),
        };
        let is_kept = |j: usize| kept.binary_search(&(first + j)).is_ok();
        let collinear = all.then(|| (0..cols).filter(|j| !is_kept(*j)).collect());
        let Some(finite) = self.finite(&kept, pairs)? else {
            return Ok(NamedColumns { collinear, ..NamedColumns::default() });
        };
        let diverges = |at: usize| (0..self.classes - 1).any(|score| !finite[score * kept.len() + at]);
        let named = kept.iter().enumerate().filter(|(at, j)| **j >= first && diverges(*at)).map(|(_, j)| j - first);
        let intercept_diverges = first == 1 && kept.first() == Some(&0) && diverges(0);
        Ok(NamedColumns { diverging: Some(named.collect()), intercept_diverges, collinear })
    }

    /// The limits of all coefficients.
    fn limits(&self, pairs: &[(usize, usize)]) -> Result<Option<CoefficientLimits>> {
        let Some(kept) = self.independent()? else { return Ok(None) };
        let Some(finite) = self.finite(&kept, pairs)? else { return Ok(None) };
        let signs = self.signs(&kept, pairs, &finite)?;
        let (cols, first) = (self.rows.design.shape().cols, self.first());
        let limit = |score: usize, coordinate: usize| match kept.binary_search(&coordinate) {
            Err(_) => CoefficientLimit::Collinear,
            Ok(at) if finite[score * kept.len() + at] => CoefficientLimit::Finite,
            Ok(at) => signs[score * kept.len() + at],
        };
        let scores = 0..self.classes - 1;
        Ok(Some(CoefficientLimits {
            weights: scores.clone().map(|k| (0..cols).map(|j| limit(k, first + j)).collect()).collect(),
            intercepts: scores.filter(|_| first == 1).map(|k| limit(k, 0)).collect(),
        }))
    }

    /// Coordinates that are not zero on all rows; no proof is needed beyond that.
    fn not_empty(&self) -> Result<Vec<usize>> {
        let (mut used, mut entries) = (vec![false; self.dimension()], Vec::new());
        for row in 0..self.count() {
            self.entries(row, &mut entries)?;
            entries.iter().for_each(|(j, _)| used[*j] = true);
        }
        Ok((0..used.len()).filter(|j| used[*j]).collect())
    }

    /// Coordinates that are independent on all rows, and that the others are combinations of; `None` where that is not decided.
    fn independent(&self) -> Result<Option<Vec<usize>>> {
        let found = if self.count() < self.dimension() {
            let Some(columns) = transposed(self)? else { return Ok(None) };
            Relations::among(&columns, self.effort)?.map(|relations| relations.basis)
        } else {
            Relations::among(self, self.effort)?.map(|relations| relations.independent)
        };
        Ok(found.filter(|_| !self.lost.load(Ordering::Relaxed)))
    }

    fn pair_vectors<'r>(&'r self, kept: &[usize], pairs: &'r [(usize, usize)]) -> PairVectors<'r, 'a> {
        let mut place = vec![None; self.dimension()];
        kept.iter().enumerate().for_each(|(at, j)| place[*j] = Some(at));
        PairVectors { rows: self, pairs, place, kept: kept.len() }
    }

    /// Which coefficients of the kept coordinates, score by score, the boundary determines; `None` where that is not decided.
    fn finite(&self, kept: &[usize], pairs: &[(usize, usize)]) -> Result<Option<Vec<bool>>> {
        let vectors = self.pair_vectors(kept, pairs);
        let unknowns = vectors.dimension();
        let found = if pairs.is_empty() {
            Some(vec![false; unknowns])
        } else if pairs.len() < unknowns {
            // A unit vector in the row space: a column that is no combination of the others.
            let Some(columns) = transposed(&vectors)? else { return Ok(None) };
            vectors_alone(&columns, self.effort)?
        } else {
            Relations::among(&vectors, self.effort)?.map(|relations| {
                let mut finite = vec![true; unknowns];
                relations.each.iter().flatten().for_each(|(at, _)| finite[*at] = false);
                finite
            })
        };
        Ok(found.filter(|_| !self.lost.load(Ordering::Relaxed)))
    }

    /// The signs of the infinite limits.
    fn signs(&self, kept: &[usize], pairs: &[(usize, usize)], finite: &[bool]) -> Result<Vec<CoefficientLimit>> {
        let mut signs = vec![CoefficientLimit::SomeInfinity; finite.len()];
        let on_boundary: std::collections::BTreeSet<(usize, usize)> = pairs.iter().copied().collect();
        let all = (0..self.rows.labels.len())
            .flat_map(|row| others(self.classes, self.rows.labels[row].index()).map(move |other| (row, other)));
        let strict: Vec<(usize, usize)> = all.filter(|pair| !on_boundary.contains(pair)).collect();
        // Directions that vanish on the boundary, v = Zβ, and what the other constraints make of β.
        let Some(relations) = Relations::among(&self.pair_vectors(kept, pairs), self.effort)? else { return Ok(signs) };
        let q = relations.each.len();
        let mut by_coordinate = vec![vec![BigInt::ZERO; q]; finite.len()];
        for (l, relation) in relations.each.iter().enumerate() {
            relation.iter().for_each(|(at, z)| by_coordinate[*at][l] = z.clone());
        }
        let longest = relations.each.iter().flatten().map(|(_, z)| z.bits()).max().unwrap_or(0);
        let bits = (strict.len() * q) as f64 * (128 + longest) as f64;
        if bits > super::plan::MOST_BITS as f64 {
            return Ok(signs);
        }
        let vectors = self.pair_vectors(kept, &strict);
        let of_pair = |entries: &mut Vec<(usize, Dyadic)>, at: usize| -> Result<Vec<BigInt>> {
            vectors.entries(at, entries)?;
            Ok(combined_numbers(entries, &relations.exponents, &by_coordinate, q))
        };
        let rows: Vec<Vec<BigInt>> =
            (0..strict.len()).into_par_iter().map_init(Vec::new, of_pair).collect::<Result<_>>()?;
        let numbers = WholeRows::of_vectors(rows.into_iter().flatten().collect(), strict.len(), q);
        // Directions of the cone found so far: the signs that each coefficient takes on them.
        let mut seen = vec![(false, false); finite.len()];
        let meet = |beta: &[BigInt], seen: &mut Vec<(bool, bool)>| {
            for (seen, z) in seen.iter_mut().zip(&by_coordinate) {
                let moved: BigInt = z.iter().zip(beta).map(|(z, b)| z * b).sum();
                seen.0 |= moved.sign() == Sign::Plus;
                seen.1 |= moved.sign() == Sign::Minus;
            }
        };
        for at in (0..finite.len()).filter(|at| !finite[*at]) {
            // The search for one coefficient begins with a look at all constraints, which a halt would not stop.
            if !self.effort.allows(0.0) {
                break;
            }
            let mut limit = None;
            for (sign, found) in [(1, CoefficientLimit::PlusInfinity), (-1, CoefficientLimit::MinusInfinity)] {
                let against = if sign > 0 { seen[at].1 } else { seen[at].0 };
                if against || limit.is_some() {
                    continue;
                }
                let goal = by_coordinate[at].iter().map(|z| z * sign).collect();
                match whole_member(&numbers, goal, self.effort) {
                    None => limit = Some(CoefficientLimit::SomeInfinity),
                    Some(WholeMember::Member) => limit = Some(found),
                    Some(WholeMember::Beyond(direction)) => meet(&direction, &mut seen),
                }
            }
            signs[at] = limit.unwrap_or(CoefficientLimit::EitherInfinity);
        }
        Ok(signs)
    }
}

/// Coordinates as vectors and vectors as coordinates; `None` where they are too many.
fn transposed(vectors: &dyn DyadicVectors) -> Result<Option<ListedVectors>> {
    if vectors.count() > MOST_RELATED {
        return Ok(None);
    }
    let (mut out, mut entries, mut stored) = (vec![Vec::new(); vectors.dimension()], Vec::new(), 0);
    for at in 0..vectors.count() {
        vectors.entries(at, &mut entries)?;
        stored += entries.len();
        if stored > MOST_RELATED_ENTRIES {
            return Ok(None);
        }
        entries.iter().for_each(|(j, x)| out[*j].push((at, *x)));
    }
    Ok(Some(ListedVectors { dimension: vectors.count(), vectors: out }))
}
