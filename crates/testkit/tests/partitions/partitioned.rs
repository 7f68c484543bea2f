//! A risk of rows in several places, as an implementation of what solvers and proofs ask.

use crate::places::Place;
use linsep::certify::{
    CurvatureRows, Enclosed, FrameSums, GapRows, HessianSum, ImbalanceSums, LossSum, OrthonormalBasis, RowTriangle,
    ScoredRows, ScoresWithErrors, SizedSums, SlopeSums, TermSums, ThetaSums, WhitenedFrame,
};
use linsep::design::Units;
use linsep::error::Result;
use linsep::linalg::Square;
use linsep::numeric::{CompensatedSum, Merge};
use linsep::objective::{
    Coef, Conjugate, Detail, DualPoint, Intercept, Line, Penalty, Point, Ridge, Risk, RiskFrame, ScoredBlock, Smooth,
};
use linsep::watch::Watch;

/// A risk of rows in several places. `workers` of them work at a time; merging is in the order of the places.
pub struct Partitioned<'a, L> {
    parts: Vec<Risk<'a, L>>,
    loss: L,
    penalty: Ridge,
    intercept: Intercept,
    units: &'a Units,
    cols: usize,
    workers: usize,
}

/// What stands for the scores: a point for every place, which never leaves it.
pub struct PointsOfPlaces(Vec<Point>);

impl<'a, L: Conjugate + Clone + Send> Partitioned<'a, L> {
    pub fn new(
        places: &'a [Place],
        units: &'a Units,
        loss: &L,
        penalty: &Ridge,
        intercept: Intercept,
        workers: usize,
    ) -> Self {
        let risk = |place: &'a Place| Risk::new(place.sample(units), loss.clone(), Ridge::none(), intercept);
        // A place without rows has nothing to say.
        let parts = places.iter().filter(|p| !p.labels.is_empty()).map(risk).collect();
        let cols = units.centre().len();
        Partitioned { parts, loss: loss.clone(), penalty: penalty.clone(), intercept, units, cols, workers }
    }

    /// What every place says, in their order, whoever was done first.
    fn ask<T: Send>(&self, question: impl Fn(usize, &Risk<'a, L>) -> Result<T> + Sync) -> Result<Vec<T>> {
        let mut nothing = vec![(); self.parts.len()];
        self.ask_with(&mut nothing, |p, risk, ()| question(p, risk))
    }

    /// The same of places that keep something between two questions.
    fn ask_with<S: Send, T: Send>(
        &self,
        kept: &mut [S],
        question: impl Fn(usize, &Risk<'a, L>, &mut S) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let mut shares: Vec<Vec<(usize, &mut S)>> = (0..self.workers).map(|_| Vec::new()).collect();
        kept.iter_mut().enumerate().for_each(|(p, kept)| shares[p % self.workers].push((p, kept)));
        let mut answers: Vec<Option<Result<T>>> = (0..self.parts.len()).map(|_| None).collect();
        std::thread::scope(|scope| {
            let question = &question;
            let work = move |share: Vec<(usize, &mut S)>| {
                share.into_iter().map(|(p, kept)| (p, question(p, &self.parts[p], kept))).collect::<Vec<_>>()
            };
            let busy: Vec<_> = shares.into_iter().rev().map(|share| scope.spawn(move || work(share))).collect();
            for worker in busy {
                worker.join().unwrap().into_iter().for_each(|(p, answer)| answers[p] = Some(answer));
            }
        });
        answers.into_iter().map(|answer| answer.unwrap()).collect()
    }

    /// The weighted mean of vectors, one of every place.
    fn mean(&self, of_places: &[Vec<f64>]) -> Vec<f64> {
        let mut sum = vec![0.0; of_places.first().map_or(0, Vec::len)];
        for (risk, values) in self.parts.iter().zip(of_places) {
            sum.iter_mut().zip(values).for_each(|(s, v)| *s += risk.total_weight() * v);
        }
        sum.iter_mut().for_each(|s| *s /= self.total_weight());
        sum
    }

    /// Adds what the penalty multiplies a coefficient by.
    fn add_ridge(&self, to: &mut Coef, of: &Coef) {
        let cols = self.cols;
        to.weights_mut()
            .iter_mut()
            .zip(of.weights())
            .enumerate()
            .for_each(|(j, (t, w))| *t += self.penalty.ridge_of(j % cols) * w);
        if self.intercept == Intercept::Penalised {
            to.intercept_mut().iter_mut().zip(of.intercept()).for_each(|(t, b)| *t += self.penalty.ridge() * b);
        }
    }

    fn coef(&self, values: Vec<f64>) -> Coef {
        Coef::from_vec(values, self.loss.n_scores(), self.cols)
    }

    fn scored<'s>(&'s self, risk: &'s Risk<'a, L>, point: &'s Point) -> ScoredBlock<'s> {
        let sample = risk.sample();
        ScoredBlock { labels: sample.labels, scores: &point.scores, weights: sample.weights, offsets: sample.offsets }
    }
}

impl<L: Conjugate + Clone + Send> RiskFrame for Partitioned<'_, L> {
    type Loss = L;
    type Penalty = Ridge;

    fn loss(&self) -> &L {
        &self.loss
    }

    fn penalty(&self) -> &Ridge {
        &self.penalty
    }

    fn intercept(&self) -> Intercept {
        self.intercept
    }

    fn n_cols(&self) -> usize {
        self.cols
    }

    fn total_weight(&self) -> f64 {
        self.parts.iter().map(Risk::total_weight).sum()
    }

    fn null_objective(&self) -> f64 {
        let start = self.start();
        let of_places = self.ask(|_, risk| Ok(vec![risk.at(&start, Detail::Gradient, &Watch::default())?.objective]));
        self.mean(&of_places.unwrap())[0]
    }
}

impl<L: Conjugate + Clone + Send> Smooth for Partitioned<'_, L> {
    type Scores = PointsOfPlaces;
    type Line = Vec<Line>;

    fn start(&self) -> Coef {
        let mut coef = Coef::zeros(self.loss.n_scores(), self.cols);
        if self.intercept == Intercept::Free && self.parts.iter().all(|r| r.sample().offsets.is_none()) {
            let mut totals = vec![0.0; self.loss.n_classes()];
            self.parts.iter().for_each(|r| totals.iter_mut().zip(r.class_totals()).for_each(|(t, c)| *t += c));
            coef.intercept_mut().copy_from_slice(&self.loss.best_constant(&totals));
        }
        coef
    }

    fn at(&self, coef: &Coef, detail: Detail, watch: &Watch) -> Result<Point<PointsOfPlaces>> {
        let mut points = self.ask(|_, risk| risk.at(coef, detail, watch))?;
        let gradients: Vec<Vec<f64>> = points.iter().map(|p| p.gradient.as_slice().to_vec()).collect();
        let mut gradient = self.coef(self.mean(&gradients));
        self.add_ridge(&mut gradient, coef);
        let objectives: Vec<Vec<f64>> = points.iter().map(|p| vec![p.objective]).collect();
        let mut gradient_sums = vec![0.0; points[0].gradient_sums.len()];
        points.iter().for_each(|p| gradient_sums.iter_mut().zip(&p.gradient_sums).for_each(|(s, g)| *s += g));
        let hessian = (detail == Detail::Hessian).then(|| {
            let blocks: Vec<Square> = points.iter_mut().map(|p| p.hessian.take().unwrap()).collect();
            let n = blocks[0].n();
            let share = |p: usize| self.parts[p].total_weight() / self.total_weight();
            let ridge = |j: usize| match j < n - self.loss.n_scores() {
                true => self.penalty.ridge_of(j % self.cols),
                false if self.intercept == Intercept::Penalised => self.penalty.ridge(),
                false => 0.0,
            };
            let entry =
                |i: usize, j: usize| blocks.iter().enumerate().map(|(p, b)| share(p) * b.get(i, j)).sum::<f64>();
            Square::from_lower(n, |i, j| entry(i, j) + if i == j { ridge(i) } else { 0.0 })
        });
        Ok(Point {
            coef: coef.clone(),
            objective: self.mean(&objectives)[0] + self.penalty_at(coef),
            gradient,
            hessian,
            scores: PointsOfPlaces(points),
            gradient_sums,
        })
    }

    fn along(&self, direction: &Coef, watch: &Watch) -> Result<Vec<Line>> {
        self.ask(|_, risk| risk.along(direction, watch))
    }

    fn range_of(&self, line: &Vec<Line>) -> Result<f64> {
        Ok(self.ask(|p, risk| Ok(risk.range_of(&line[p])))?.into_iter().fold(0.0, f64::max))
    }

    fn on_line(&self, point: &Point<PointsOfPlaces>, line: &Vec<Line>, steps: &[f64]) -> Result<Vec<f64>> {
        let losses =
            self.ask(|p, risk| Ok(steps.iter().map(|s| risk.on_line(&point.scores.0[p], &line[p], *s)).collect()))?;
        let at = |step: f64| point.coef.moved(step, line[0].direction());
        Ok(self.mean(&losses).iter().zip(steps).map(|(loss, step)| loss + self.penalty_at(&at(*step))).collect())
    }

    fn steps_at_once(&self) -> usize {
        4
    }

    fn hess_vec(&self, point: &Point<PointsOfPlaces>, direction: &Coef, watch: &Watch) -> Result<Coef> {
        let products =
            self.ask(|p, risk| Ok(risk.hess_vec(&point.scores.0[p], direction, watch)?.as_slice().to_vec()))?;
        let mut product = self.coef(self.mean(&products));
        self.add_ridge(&mut product, direction);
        Ok(product)
    }

    fn hessian_diagonal(&self, point: &Point<PointsOfPlaces>, watch: &Watch) -> Result<Coef> {
        let diagonals =
            self.ask(|p, risk| Ok(risk.hessian_diagonal(&point.scores.0[p], watch)?.as_slice().to_vec()))?;
        let mut diagonal = self.coef(self.mean(&diagonals));
        let ones = self.coef(vec![1.0; diagonal.as_slice().len()]);
        self.add_ridge(&mut diagonal, &ones);
        Ok(diagonal)
    }

    fn dual_point(&self, point: &Point<PointsOfPlaces>, balanced: bool, shrink: f64) -> Result<DualPoint> {
        let merged = |of_places: Vec<Vec<f64>>| -> Vec<f64> {
            let mut sums = vec![CompensatedSum::default(); of_places[0].len()];
            of_places.iter().for_each(|values| sums.iter_mut().zip(values).for_each(|(s, v)| s.add(*v)));
            sums.into_iter().map(CompensatedSum::value).collect()
        };
        let balance = merged(self.ask(|p, risk| {
            let mut sums = vec![CompensatedSum::default(); self.loss.n_balance_sums()];
            self.loss.add_balance(self.scored(risk, &point.scores.0[p]), &mut sums);
            Ok(sums.into_iter().map(CompensatedSum::value).collect())
        })?);
        let recipe = self.loss.dual_recipe(&balance, balanced);
        let dual = merged(self.ask(|p, risk| {
            let mut sums = vec![CompensatedSum::default(); self.loss.n_dual_sums()];
            self.loss.add_dual(self.scored(risk, &point.scores.0[p]), &recipe, shrink, &mut sums);
            Ok(sums.into_iter().map(CompensatedSum::value).collect())
        })?);
        Ok(self.loss.dual_point(recipe, shrink, &balance, &dual))
    }

    fn class_scaled_sums(&self, point: &Point<PointsOfPlaces>, scale: [f64; 2], watch: &Watch) -> Result<Vec<f64>> {
        let sums = self.ask(|p, risk| Smooth::class_scaled_sums(risk, &point.scores.0[p], scale, watch))?;
        Ok(added(&sums))
    }

    fn class_sums(&self, watch: &Watch) -> Result<Vec<f64>> {
        Ok(added(&self.ask(|_, risk| risk.class_sums(watch))?))
    }
}

impl<'a, L: Conjugate + Enclosed + Clone + Send> GapRows for Partitioned<'a, L> {
    type SizedRows = Vec<ScoredRows<'a>>;

    fn sized(&self, coef: &Coef, by_column: bool, total: f64, watch: &Watch) -> Result<(Self::SizedRows, SizedSums)> {
        let answers = self.ask(|_, risk| risk.sized(coef, by_column, total, watch))?;
        let (rows, sums): (Vec<_>, Vec<_>) = answers.into_iter().unzip();
        Ok((rows, merged(sums)))
    }

    fn imbalance(&self, rows: &mut Self::SizedRows, shift: &[f64]) -> Result<ImbalanceSums> {
        Ok(merged(self.ask_with(rows, |_, risk, rows| risk.imbalance(rows, shift))?))
    }

    fn theta_sums(&self, rows: &mut Self::SizedRows, dual: &L::DualPoint, watch: &Watch) -> Result<ThetaSums> {
        Ok(merged(self.ask_with(rows, |_, risk, rows| risk.theta_sums(rows, dual, watch))?))
    }

    fn term_sums(&self, rows: &Self::SizedRows, dual: &L::DualPoint, shrink: f64) -> Result<TermSums> {
        Ok(merged(self.ask(|p, risk| risk.term_sums(&rows[p], dual, shrink))?))
    }

    fn slopes(&self, rows: &Self::SizedRows, shifts: &[f64]) -> Result<Vec<SlopeSums>> {
        Ok(merged(self.ask(|p, risk| risk.slopes(&rows[p], shifts))?))
    }

    fn slopes_at_once(&self) -> usize {
        5
    }
}

impl<'a, L: Conjugate + Clone + Send> CurvatureRows for Partitioned<'a, L> {
    type EnclosedRows = Vec<ScoresWithErrors<'a>>;

    fn units(&self) -> &Units {
        self.units
    }

    fn enclosed(&self, coef: &Coef, watch: &Watch) -> Result<(Self::EnclosedRows, LossSum)> {
        let answers = self.ask(|_, risk| risk.enclosed(coef, watch))?;
        let (rows, sums): (Vec<_>, Vec<_>) = answers.into_iter().unzip();
        Ok((rows, merged(sums)))
    }

    fn curvature(&self, rows: &Self::EnclosedRows, total: f64, watch: &Watch) -> Result<Option<HessianSum>> {
        let sums = self.ask(|p, risk| risk.curvature(&rows[p], total, watch))?;
        Ok(sums.into_iter().collect::<Option<Vec<HessianSum>>>().map(merged))
    }

    fn triangle(&self, watch: &Watch) -> Result<Option<RowTriangle>> {
        let triangles = self.ask(|_, risk| risk.triangle(watch))?;
        Ok(triangles.into_iter().collect::<Option<Vec<RowTriangle>>>().map(merged))
    }

    fn turned_curvature(
        &self,
        rows: &mut Self::EnclosedRows,
        basis: &OrthonormalBasis,
        total: f64,
        watch: &Watch,
    ) -> Result<HessianSum> {
        Ok(merged(self.ask_with(rows, |_, risk, rows| risk.turned_curvature(rows, basis, total, watch))?))
    }

    fn frame_sums(&self, rows: &Self::EnclosedRows, frame: &WhitenedFrame, watch: &Watch) -> Result<FrameSums> {
        Ok(merged(self.ask(|p, risk| risk.frame_sums(&rows[p], frame, watch))?))
    }
}

/// In the order of the places.
fn merged<T: Merge>(of_places: Vec<T>) -> T {
    let mut all = of_places.into_iter();
    let mut sum = all.next().expect("a place");
    all.for_each(|of_place| sum.merge(of_place));
    sum
}

fn added(of_places: &[Vec<f64>]) -> Vec<f64> {
    let mut sum = vec![0.0; of_places[0].len()];
    of_places.iter().for_each(|values| sum.iter_mut().zip(values).for_each(|(s, v)| *s += v));
    sum
}
