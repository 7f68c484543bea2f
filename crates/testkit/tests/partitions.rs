//! Solvers of smooth risks on rows that lie in several places: each place adds up its own rows, the sums are merged in the
//! order of the places, and neither how many workers share them nor which of them is first changes a bit.

use linsep::certify::duality_gap;
use linsep::design::{DenseMatrix, LabelledRows, Units};
use linsep::error::Result;
use linsep::linalg::Square;
use linsep::numeric::CompensatedSum;
use linsep::objective::{
    Coef, Conjugate, Detail, DualPoint, Intercept, Line, Logistic, Penalty, Point, Ridge, Risk, RiskFrame, Sample,
    ScoredBlock, Smooth, Softmax, SoftmaxForm, Squared, SquaredHinge,
};
use linsep::solve::{Lbfgs, Newton, NewtonCg, Solved, Solver, Stop};
use linsep::table::Class;
use linsep::watch::Watch;
use testkit::data::Source;

/// Rows as a place holds them.
struct Place {
    design: DenseMatrix<'static, f64>,
    labels: Vec<Class>,
    weights: Option<Vec<f64>>,
    offsets: Option<Vec<f64>>,
}

impl Place {
    fn sample<'a>(&'a self, units: &'a Units) -> Sample<'a> {
        let rows = LabelledRows { design: &self.design, labels: &self.labels, weights: self.weights.as_deref() };
        Sample::new(rows, units).with_offsets(self.offsets.as_deref())
    }
}

/// A risk of rows in several places. `workers` of them work at a time; merging is in the order of the places.
struct Partitioned<'a, L> {
    parts: Vec<Risk<'a, L>>,
    loss: L,
    penalty: Ridge,
    intercept: Intercept,
    cols: usize,
    workers: usize,
}

/// What stands for the scores: a point for every place, which never leaves it.
struct PointsOfPlaces(Vec<Point>);

impl<'a, L: Conjugate + Clone + Send> Partitioned<'a, L> {
    fn new(
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
        Partitioned { parts, loss: loss.clone(), penalty: penalty.clone(), intercept, cols, workers }
    }

    /// What every place says, in their order, whoever was done first.
    fn ask<T: Send>(&self, question: impl Fn(usize, &Risk<'a, L>) -> Result<T> + Sync) -> Result<Vec<T>> {
        let mut answers: Vec<Option<Result<T>>> = (0..self.parts.len()).map(|_| None).collect();
        std::thread::scope(|scope| {
            let share = |worker: usize| (worker..self.parts.len()).step_by(self.workers);
            let question = &question;
            let work = move |worker: usize| share(worker).map(|p| (p, question(p, &self.parts[p]))).collect::<Vec<_>>();
            let busy: Vec<_> = (0..self.workers).rev().map(|worker| scope.spawn(move || work(worker))).collect();
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

    fn penalty_at(&self, coef: &Coef) -> f64 {
        let intercept = match self.intercept {
            Intercept::Penalised => coef.intercept().iter().map(|b| 0.5 * self.penalty.ridge() * b * b).sum(),
            Intercept::Free | Intercept::None => 0.0,
        };
        self.penalty.value(coef.weights(), self.cols) + intercept
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
    type Penalty = Ridge;

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
    type Loss = L;
    type Scores = PointsOfPlaces;
    type Line = Vec<Line>;

    fn loss(&self) -> &L {
        &self.loss
    }

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

fn added(of_places: &[Vec<f64>]) -> Vec<f64> {
    let mut sum = vec![0.0; of_places[0].len()];
    of_places.iter().for_each(|values| sum.iter_mut().zip(values).for_each(|(s, v)| *s += v));
    sum
}

/// Rows in places of very different sizes, one of them empty; columns have other scales and centres than their units say.
fn places(classes: usize, offsets: usize, weighted: bool) -> (Vec<Place>, Units) {
    let cols = 5;
    let mut random = Source::new(classes as u64 + 10 * offsets as u64);
    let units = Units::new(vec![3.0; cols], (1..=cols).map(|j| j as f64).collect());
    let place = |rows: usize| {
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        let (mut weights, mut given) = (Vec::new(), Vec::new());
        for _ in 0..rows {
            let x: Vec<f64> = (0..cols).map(|j| 3.0 + (j + 1) as f64 * 2.0 * random.uniform(-1.0, 1.0)).collect();
            let score = (x[0] - 3.0) + 0.3 * (x[1] - 3.0) + 1.5 * random.uniform(-1.0, 1.0);
            labels.push(Class((((score + 3.0) / 6.0 * classes as f64).clamp(0.0, classes as f64 - 1.0)) as u32));
            values.extend(x);
            weights.push((2.0 * random.uniform(-1.0, 1.0) + 3.0).round());
            given.extend((0..offsets).map(|_| 0.5 * random.uniform(-1.0, 1.0)));
        }
        Place {
            design: DenseMatrix::new(values, cols).unwrap(),
            labels,
            weights: weighted.then_some(weights),
            offsets: (offsets > 0).then_some(given),
        }
    };
    ([700, 1, 0, 1300, 450, 64, 900].map(place).into_iter().collect(), units)
}

/// The same rows in one place.
fn together(places: &[Place]) -> Place {
    let all = |of: fn(&Place) -> &Option<Vec<f64>>| {
        of(&places[0]).as_ref().map(|_| places.iter().flat_map(|p| of(p).clone().unwrap()).collect::<Vec<f64>>())
    };
    Place {
        design: DenseMatrix::new(places.iter().flat_map(|p| p.design.values().to_vec()).collect::<Vec<f64>>(), 5)
            .unwrap(),
        labels: places.iter().flat_map(|p| p.labels.clone()).collect(),
        weights: all(|p| &p.weights),
        offsets: all(|p| &p.offsets),
    }
}

/// One solver on rows in one place and in many, by one worker up to more than there are places.
fn agree<L: Conjugate + Clone + Send, S>(
    name: &str,
    solver: &S,
    loss: &L,
    lambda: f64,
    intercept: Intercept,
    weighted: bool,
    offsets: bool,
) where
    S: for<'a> Solver<Risk<'a, L>, Scores = Vec<f64>> + for<'a> Solver<Partitioned<'a, L>, Scores = PointsOfPlaces>,
{
    let width = if offsets { loss.n_scores() } else { 0 };
    let (places, units) = places(loss.n_classes(), width, weighted);
    let penalty = Ridge::new(lambda);
    let one = together(&places);
    let whole = Risk::new(one.sample(&units), loss.clone(), penalty.clone(), intercept);
    let here: Solved = solver.solve(&whole, None, &Watch::default()).unwrap();
    let mut first: Option<(Coef, Option<f64>, usize)> = None;
    for workers in [1, 2, 3, 9] {
        let problem = Partitioned::new(&places, &units, loss, &penalty, intercept, workers);
        let there = solver.solve(&problem, None, &Watch::default()).unwrap();
        assert_eq!(there.stop, Stop::Converged, "{name}: {workers} workers");
        let found = (there.point.coef.clone(), there.certificate.gap(), there.passes);
        assert_eq!(&found, first.get_or_insert(found.clone()), "{name}: {workers} workers");
        // Both gaps are bounds, so the objectives differ by no more than them.
        let (a, b) = (here.certificate.gap().unwrap(), there.certificate.gap().unwrap());
        let apart = (here.point.objective - there.point.objective).abs();
        assert!(apart <= a.max(b) + 1e-13, "{name}: {apart:e} against {a:e} and {b:e}");
        // The gap of the same point is the same but for rounding.
        let at = whole.at(&there.point.coef, Detail::Gradient, &Watch::default()).unwrap();
        let again = duality_gap(&whole, &at, &Watch::default()).unwrap();
        assert!((again.gap().unwrap() - b).abs() <= 1e-13, "{name}: {again:?} against {b:e}");
    }
}

#[test]
fn solvers_agree_wherever_the_rows_are() {
    let (free, none, penalised) = (Intercept::Free, Intercept::None, Intercept::Penalised);
    let symmetric = Softmax::new(4, SoftmaxForm::Symmetric);
    let reference = Softmax::new(3, SoftmaxForm::Reference);
    for weighted in [false, true] {
        for offsets in [false, true] {
            agree("newton logistic", &Newton::default(), &Logistic, 1e-3, free, weighted, offsets);
            agree("newton softmax", &Newton::default(), &symmetric, 1e-3, free, weighted, offsets);
            agree(
                "newton-cg softmax",
                &NewtonCg { tolerance: 1e-9, max_iterations: 200 },
                &symmetric,
                1e-2,
                free,
                weighted,
                offsets,
            );
            agree("lbfgs reference", &Lbfgs::default(), &reference, 1e-2, penalised, weighted, offsets);
            agree("newton squared hinge", &Newton::default(), &SquaredHinge, 1e-2, none, weighted, offsets);
            agree("lbfgs squared hinge", &Lbfgs::default(), &SquaredHinge, 1e-2, free, weighted, offsets);
            agree(
                "newton-cg squared",
                &NewtonCg { tolerance: 1e-9, max_iterations: 200 },
                &Squared::one_hot(3),
                1e-2,
                free,
                weighted,
                offsets,
            );
        }
    }
}

/// A step that is too long is shortened by several values of a line at once, and by the same amount.
#[test]
fn lines_are_searched_alike() {
    let (places, units) = places(2, 0, false);
    let far = Coef::from_vec(vec![40.0, -30.0, 20.0, 10.0, -40.0, 3.0], 1, 5);
    let one = together(&places);
    let whole = Risk::new(one.sample(&units), Logistic, Ridge::new(1e-6), Intercept::Free);
    let problem = Partitioned::new(&places, &units, &Logistic, &Ridge::new(1e-6), Intercept::Free, 2);
    let solver = NewtonCg { tolerance: 1e-9, max_iterations: 400 };
    let here = solver.solve(&whole, Some(&far), &Watch::default()).unwrap();
    let there = solver.solve(&problem, Some(&far), &Watch::default()).unwrap();
    assert!(there.trace.iter().any(|step| step.step < 1.0), "no step was shortened");
    assert!((here.point.objective - there.point.objective).abs() <= 1e-9);
}
