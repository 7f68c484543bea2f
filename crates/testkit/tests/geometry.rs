//! Geometry: identities of hyperplanes and quadrics, radii that nothing beats, regions of linear machines.

use linsep::density::{Covariance, Density};
use linsep::design::DenseMatrix;
use linsep::discriminant::{Discriminant, Generalised, Linear, Quadratic};
use linsep::geometry::{Geometry, Measured, Quadric, QuadricKind, Region, Surface, mahalanobis, regions};
use linsep::linalg::Square;
use linsep::model::{CovarianceShape, FamilyChoice, Fitted, GaussianBayes, Method, NaiveBayes};
use linsep::table::Class;
use linsep::watch::Watch;
use testkit::data::{Data, Source, labels, overlapping};
use testkit::twin::solve;
use testkit::{assert_all_near, assert_near};

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// A random linear machine; two classes have one score.
fn machine(classes: usize, cols: usize, source: &mut Source) -> Linear {
    let scores = if classes == 2 { 1 } else { classes };
    Linear::new(source.normals(scores * cols), source.normals(cols), source.normals(scores)).expect("sizes fit")
}

/// Random quadratic discriminants whose covariances differ.
fn quadratic(classes: usize, cols: usize, source: &mut Source) -> Quadratic {
    let size = cols * (cols + 1) / 2;
    let mut triangles = source.normals(classes * size);
    for k in 0..classes {
        for i in 0..cols {
            let at = k * size + i * (i + 1) / 2 + i;
            triangles[at] = 0.3 + triangles[at].abs();
        }
    }
    let centres = source.normals(classes * cols).iter().map(|m| 2.0 * m).collect();
    Quadratic::new(centres, triangles, source.normals(classes)).expect("sizes fit")
}

/// The scores of one row, one per class.
fn scores(g: &Discriminant, x: &[f64]) -> Vec<f64> {
    let row = DenseMatrix::new(x.to_vec(), x.len()).expect("one row");
    let z = g.scores(&row, &Watch::default()).expect("it fits");
    if z.len() == 1 { vec![0.0, z[0]] } else { z }
}

fn decided(g: &Discriminant, x: &[f64]) -> usize {
    let z = scores(g, x);
    (1..z.len()).fold(0, |best, k| if z[k] > z[best] { k } else { best })
}

fn measured(g: &Discriminant, rows: &[f64], labels: Option<&[Option<Class>]>) -> (Geometry, Measured) {
    let geometry = Geometry::of(g, None, &Watch::default()).expect("a geometry");
    let design = DenseMatrix::new(rows.to_vec(), g.n_cols()).expect("whole rows");
    let z = g.scores(&design, &Watch::default()).expect("scores");
    let measured = geometry.measure(&design, &z, labels, true, &Watch::default()).expect("measures");
    (geometry, measured)
}

/// Projections lie on the boundary, perpendicular to it, at the distance stated; nothing nearer changes the class.
fn check_rows(g: &Discriminant, rows: &[f64], source: &mut Source) {
    let d = g.n_cols();
    let (_, found) = measured(g, rows, None);
    let points = found.projections.as_ref().expect("asked for");
    for (i, (x, row)) in rows.chunks_exact(d).zip(&found.rows).enumerate() {
        assert_eq!(row.class.index(), decided(g, x));
        let Some(nearest) = row.nearest else {
            assert_eq!(row.radius, f64::INFINITY);
            continue;
        };
        let p = &points[i * d..(i + 1) * d];
        let step = minus(p, x);
        assert_near(norm(&step), row.radius, 1e-12, norm(x).max(1.0), "length of the projection");
        let z = scores(g, p);
        let size = z.iter().fold(1.0f64, |m, z| m.max(z.abs()));
        assert_near(z[row.class.index()], z[nearest.index()], 1e-12, 10.0 * size, "scores on the boundary");
        let largest = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert_near(z[row.class.index()], largest, 1e-12, 10.0 * size, "no third class on the way");
        // Just beyond, the other class is decided; nowhere nearer.
        if row.radius > 1e-6 {
            let beyond: Vec<f64> = x.iter().zip(&step).map(|(x, s)| x + (1.0 + 1e-6) * s).collect();
            assert_ne!(decided(g, &beyond), row.class.index(), "the radius is attained");
            for _ in 0..60 {
                let way = source.normals(d);
                let length = 0.999_999 * row.radius / norm(&way);
                let near: Vec<f64> = x.iter().zip(&way).map(|(x, w)| x + length * w).collect();
                assert_eq!(decided(g, &near), row.class.index(), "the radius was beaten");
            }
        }
    }
}

#[test]
fn hyperplanes_keep_their_identities() {
    let mut source = Source::new(1);
    for (classes, cols) in [(2, 1), (2, 3), (3, 2), (5, 4), (4, 7)] {
        let g = Discriminant::Linear(machine(classes, cols, &mut source));
        let rows = source.normals(40 * cols);
        check_rows(&g, &rows, &mut source);
        let geometry = Geometry::of(&g, None, &Watch::default()).expect("a geometry");
        assert_eq!(geometry.boundaries().len(), classes * (classes - 1) / 2);
        for boundary in geometry.boundaries() {
            let Surface::Hyperplane(plane) = &boundary.surface else { panic!("a hyperplane") };
            assert_near(norm(plane.normal()), 1.0, 1e-15, 1.0, "unit normal");
            assert_near(dot(plane.normal(), plane.point()), plane.offset(), 1e-14, 10.0, "n·x₀ is the offset");
            for x in rows.chunks_exact(cols) {
                let z = scores(&g, x);
                let gap = z[boundary.to.index()] - z[boundary.from.expect("a class").index()];
                assert_near(plane.value(x), gap, 1e-12, 10.0, "g");
                assert_near(plane.distance(x) * plane.norm(), gap, 1e-12, 10.0, "distance");
                assert_near(dot(plane.weights(), &minus(x, plane.point())), gap, 1e-12, 10.0, "w·(x − x₀)");
                let p = plane.project(x);
                assert_near(plane.distance(&p), 0.0, 1e-12, 10.0, "the projection is on the boundary");
                let along = minus(&p, plane.point());
                assert_near(dot(&minus(x, &p), &along), 0.0, 1e-12, 100.0, "and perpendicular");
            }
        }
    }
}

#[test]
fn large_offsets_cost_no_digits() {
    let mut source = Source::new(2);
    // Multiples of 2⁻¹⁰ keep every digit at 10⁹.
    let mut coarse = |n: usize| source.normals(n).iter().map(|v| (v * 1024.0).round() / 1024.0).collect::<Vec<f64>>();
    let (weights, centre, values, rows) = (coarse(9), coarse(3), coarse(3), coarse(3 * 50));
    let shift = |v: &[f64]| v.iter().map(|v| v + 1e9).collect::<Vec<f64>>();
    let near = Discriminant::Linear(Linear::new(weights.clone(), centre.clone(), values.clone()).expect("fits"));
    let far = Discriminant::Linear(Linear::new(weights, shift(&centre), values).expect("fits"));
    let (_, a) = measured(&near, &rows, None);
    let (_, b) = measured(&far, &shift(&rows), None);
    for (a, b) in a.rows.iter().zip(&b.rows) {
        assert_eq!((a.class, a.nearest), (b.class, b.nearest));
        assert_near(a.radius, b.radius, 1e-12, 1.0, "radius");
    }
    let triangles = vec![1.0, 0.5, 2.0, 0.25, -0.5, 1.5, 2.0, -0.5, 0.75, 1.0, 0.5, 3.0];
    let centres = centre.repeat(2).iter().enumerate().map(|(i, c)| c + i as f64).collect::<Vec<f64>>();
    let near =
        Discriminant::Quadratic(Quadratic::new(centres.clone(), triangles.clone(), vec![0.5, 0.0]).expect("fits"));
    let far = Discriminant::Quadratic(Quadratic::new(shift(&centres), triangles, vec![0.5, 0.0]).expect("fits"));
    let (_, a) = measured(&near, &rows, None);
    let (_, b) = measured(&far, &shift(&rows), None);
    for (a, b) in a.rows.iter().zip(&b.rows) {
        assert_near(a.radius, b.radius, 1e-12, 1.0, "radius of a quadric");
    }
}

#[test]
fn margins_are_signed_distances_to_the_boundaries_of_the_label() {
    let mut source = Source::new(3);
    for classes in [2, 4] {
        let linear = machine(classes, 3, &mut source);
        let g = Discriminant::Linear(linear.clone());
        let rows = source.normals(30 * 3);
        let codes: Vec<Option<Class>> = (0..30).map(|i| (i % 7 != 0).then_some(Class((i % classes) as u32))).collect();
        let (_, found) = measured(&g, &rows, Some(&codes));
        let weights = |k: usize| match (classes, k) {
            (2, 0) => vec![0.0; 3],
            (2, _) => linear.weights_of(0).to_vec(),
            _ => linear.weights_of(k).to_vec(),
        };
        let mut smallest = f64::INFINITY;
        for (i, row) in found.rows.iter().enumerate() {
            let Some(y) = codes[i].map(Class::index) else {
                assert_eq!((row.margin, row.functional_margin), (None, None));
                continue;
            };
            let z = scores(&g, &rows[i * 3..(i + 1) * 3]);
            let others = (0..classes).filter(|k| *k != y);
            let functional = others.clone().map(|k| z[y] - z[k]).fold(f64::INFINITY, f64::min);
            let geometric =
                others.map(|k| (z[y] - z[k]) / norm(&minus(&weights(y), &weights(k)))).fold(f64::INFINITY, f64::min);
            assert_near(row.functional_margin.expect("labelled"), functional, 1e-12, 1.0, "functional");
            assert_near(row.margin.expect("labelled"), geometric, 1e-12, 1.0, "geometric");
            if classes == 2 {
                let sign = if y == 1 { 1.0 } else { -1.0 };
                assert_near(row.margin.expect("labelled"), sign * row.distance, 1e-14, 1.0, "y·g/‖w‖");
            }
            smallest = smallest.min(geometric);
        }
        let stated = found.smallest_margin().expect("labelled rows");
        assert_near(stated.margin, smallest, 1e-12, 1.0, "margin of the data");
        assert_eq!(found.rows[stated.row].margin, Some(stated.margin));
    }
}

fn lda(data: &Data) -> Fitted {
    data.model(&Method::Gaussian(GaussianBayes::lda()))
}

/// Classes of unequal size with a shared covariance that is not diagonal.
fn lda_data(classes: usize, seed: u64) -> Data {
    let mut source = Source::new(seed);
    let (mut values, mut codes) = (Vec::new(), Vec::new());
    for k in 0..classes {
        for _ in 0..20 + 25 * k {
            let z = source.normals(3);
            values.extend([z[0] + 1.5 * k as f64, 0.5 * z[0] + z[1] - k as f64, z[2] + 0.3 * z[1] + (k * k) as f64]);
            codes.push(k);
        }
    }
    Data::new(values, 3, labels(codes, classes))
}

#[test]
fn shared_gaussians_have_their_textbook_boundary_and_posterior() {
    for classes in [2, 3] {
        let data = lda_data(classes, 4);
        let model = lda(&data);
        let density = model.density.as_ref().expect("a generative model");
        let Density::Gaussian(gaussian) = &density.density else { panic!("Gaussian") };
        let Covariance::Shared(sigma) = &gaussian.covariance else { panic!("shared") };
        let geometry = Geometry::of(&model.discriminant, Some(density), &Watch::default()).expect("a geometry");
        for boundary in geometry.boundaries() {
            let (i, j) = (boundary.to.index(), boundary.from.expect("a class").index());
            let Surface::Hyperplane(plane) = &boundary.surface else { panic!("a hyperplane") };
            let delta = minus(&gaussian.means[i], &gaussian.means[j]);
            let w = solve(sigma, &delta).expect("a regular covariance");
            let squared = dot(&w, &delta);
            let ratio = (density.priors[i] / density.priors[j]).ln();
            let point: Vec<f64> = (0..3)
                .map(|c| 0.5 * (gaussian.means[i][c] + gaussian.means[j][c]) - ratio / squared * delta[c])
                .collect();
            assert_all_near(plane.point(), &point, 1e-12, 1.0, "x₀");
            assert_near(plane.value(plane.point()), 0.0, 1e-12, 10.0, "x₀ is on the boundary");
            let means = boundary.means.expect("known means");
            assert_near(means.mahalanobis.expect("one covariance"), squared.sqrt(), 1e-12, 1.0, "Mahalanobis");
            assert_near(means.euclidean, norm(&delta), 1e-12, 1.0, "distance of the means");
            // The later class is the more probable: the boundary moves away from its mean.
            assert!(density.priors[i] > density.priors[j]);
            let middle: Vec<f64> =
                gaussian.means[i].iter().zip(&gaussian.means[j]).map(|(a, b)| 0.5 * (a + b)).collect();
            let away = |x: &[f64]| norm(&minus(x, &gaussian.means[i]));
            assert!(away(plane.point()) > away(&middle));
        }
        let z = data.scores(&model);
        let r2 = mahalanobis(&model.discriminant, Some(density), &data.dense(), &Watch::default()).expect("distances");
        for i in 0..data.rows() {
            for boundary in geometry.boundaries() {
                let (a, b) = (boundary.to.index(), boundary.from.expect("a class").index());
                let gap = if classes == 2 { z[i] } else { z[i * classes + a] - z[i * classes + b] };
                let Surface::Hyperplane(plane) = &boundary.surface else { panic!("a hyperplane") };
                let distance = plane.distance(data.row(i));
                let posterior = 1.0 / (1.0 + (-distance * plane.norm()).exp());
                let joint = |k: usize| density.priors[k] * (-0.5 * r2[i * classes + k]).exp();
                assert_near(posterior, joint(a) / (joint(a) + joint(b)), 1e-12, 1.0, "posterior from the distance");
                let by_radii =
                    0.5 * (r2[i * classes + b] - r2[i * classes + a]) + (density.priors[a] / density.priors[b]).ln();
                assert_near(by_radii, gap, 1e-12, 30.0, "log-odds from Mahalanobis distances");
            }
        }
    }
}

#[test]
fn quadrics_keep_their_identities() {
    let mut source = Source::new(5);
    for (classes, cols) in [(2, 1), (2, 2), (2, 3), (3, 2), (4, 5)] {
        let quadratic = quadratic(classes, cols, &mut source);
        let rows: Vec<f64> = source.normals(25 * cols).iter().map(|v| 3.0 * v).collect();
        for from in 0..classes {
            for to in from + 1..classes {
                let q = Quadric::between(&quadratic, from, to).expect("finite");
                for x in rows.chunks_exact(cols) {
                    let z = scores(&Discriminant::Quadratic(quadratic.clone()), x);
                    let size = z[to].abs() + z[from].abs();
                    assert_near(q.value(x), z[to] - z[from], 1e-12, 10.0 + size, "g_to − g_from");
                }
            }
        }
        check_rows(&Discriminant::Quadratic(quadratic), &rows, &mut source);
    }
}

/// Naive Bayes with its own variances is QDA with diagonal covariances: the same quadrics, types and radii.
#[test]
fn terms_and_squares_are_quadrics_like_any() {
    let mut source = Source::new(15);
    for (classes, cols) in [(2, 1), (2, 3), (3, 2), (5, 4)] {
        let means: Vec<f64> = source.normals(classes * cols).iter().map(|m| 2.0 * m).collect();
        let precision: Vec<f64> = source.normals(classes * cols).iter().map(|v| (0.7 * v).exp()).collect();
        let constants = source.normals(classes);
        let mut triangles = Vec::new();
        for root in precision.chunks_exact(cols).map(|p| p.iter().map(|p| p.sqrt()).collect::<Vec<f64>>()) {
            (0..cols).for_each(|i| triangles.extend((0..=i).map(|j| if i == j { root[i] } else { 0.0 })));
        }
        let full = Quadratic::new(means.clone(), triangles, constants.clone()).expect("sizes fit");
        // c − ½Σp(x−m)² about the origin.
        let of = |f: &dyn Fn(usize) -> f64| (0..classes * cols).map(f).collect::<Vec<f64>>();
        let (linear, square) = (of(&|i| precision[i] * means[i]), of(&|i| -0.5 * precision[i]));
        let at_origin = |k: usize| {
            constants[k] - (k * cols..(k + 1) * cols).map(|i| 0.5 * precision[i] * means[i] * means[i]).sum::<f64>()
        };
        let intercept: Vec<f64> = (0..classes).map(at_origin).collect();
        let less = |v: &[f64]| (0..cols).map(|j| v[cols + j] - v[j]).collect::<Vec<f64>>();
        let terms = match classes {
            2 => {
                let b = vec![intercept[1] - intercept[0]];
                Generalised::new(vec![0.0; cols], b, less(&linear), less(&square), Vec::new())
            }
            _ => Generalised::new(vec![0.0; cols], intercept, linear, square, Vec::new()),
        }
        .expect("sizes fit");
        let rows: Vec<f64> = source.normals(25 * cols).iter().map(|v| 3.0 * v).collect();
        let (terms, full) = (Discriminant::Generalised(terms), Discriminant::Quadratic(full));
        check_rows(&terms, &rows, &mut source);
        let ((a, of_terms), (b, of_full)) = (measured(&terms, &rows, None), measured(&full, &rows, None));
        for (a, b) in of_terms.rows.iter().zip(&of_full.rows) {
            assert_eq!((a.class, a.nearest), (b.class, b.nearest));
            assert_near(a.radius, b.radius, 1e-10, 1.0, "radius");
        }
        for (a, b) in a.boundaries().iter().zip(b.boundaries()) {
            let (Surface::Quadric(a), Surface::Quadric(b)) = (&a.surface, &b.surface) else { panic!("quadrics") };
            assert_eq!((a.kind(), a.signature()), (b.kind(), b.signature()));
            assert!(a.diagonal().is_some() && b.diagonal().is_none());
            let moved = (0..cols).map(|j| a.matrix().get(j, j)).collect::<Vec<f64>>();
            assert_all_near(&moved, &b.matrix().diagonal(), 1e-12, 1.0, "W");
        }
    }
}

#[test]
fn naive_bayes_has_quadrics_in_any_units_and_number() {
    let data = overlapping(200, 3, 3, 16);
    let bayes = Method::NaiveBayes(NaiveBayes::of(FamilyChoice::Gaussian));
    let near = data.model(&bayes);
    let kinds = |model: &Fitted| {
        let geometry = Geometry::of(&model.discriminant, model.density.as_ref(), &Watch::default()).expect("quadrics");
        let of = |s: &Surface| if let Surface::Quadric(q) = s { q.kind() } else { panic!("a quadric") };
        geometry.boundaries().iter().map(|b| of(&b.surface)).collect::<Vec<QuadricKind>>()
    };
    let far = data.map(|j, v| v * [1e-9, 1.0, 1e9][j] + [0.0, 1e6, 0.0][j]);
    let model = far.model(&bayes);
    assert_eq!(kinds(&near), kinds(&model));
    check_rows(&near.discriminant, &data.values[..60], &mut Source::new(17));
    // The first column is by far the shortest way, and the only one that matters.
    let measure = |model: &Fitted, data: &Data| {
        let geometry = Geometry::of(&model.discriminant, model.density.as_ref(), &Watch::default()).expect("quadrics");
        geometry.measure(&data.dense(), &data.scores(model), None, true, &Watch::default()).expect("measures")
    };
    let found = measure(&model, &far);
    for (i, row) in found.rows.iter().enumerate().filter(|(_, r)| r.radius > 0.0 && r.radius < 1e-6) {
        let point = &found.projections.as_ref().expect("asked for")[3 * i..3 * i + 3];
        let z = scores(&model.discriminant, point);
        let (a, b) = (z[row.class.index()], z[row.nearest.expect("a boundary").index()]);
        assert_near(a, b, 1e-9, 1.0, "scores on the boundary");
    }
    // One column that both classes spread alike, to the last digit: flat, whatever rounding says.
    let spread = [0.1, 0.7, 1.3, 2.9, 4.1];
    let values: Vec<f64> =
        spread.iter().flat_map(|x| [*x, *x]).chain(spread.iter().flat_map(|x| [x + 0.3, 3.0 * x])).collect();
    let alike = Data::new(values, 2, labels((0..10).map(|i| i / 5).collect(), 2));
    assert_eq!(kinds(&alike.model(&bayes)), [QuadricKind::Paraboloid { hyperbolic: false, flat: 0 }]);
    // A matrix of all pairs of columns would not fit.
    let wide = Generalised::new(vec![0.0; 50_000], vec![1.0], vec![0.5; 50_000], vec![-0.25; 50_000], Vec::new());
    let (geometry, found) = measured(&Discriminant::Generalised(wide.expect("sizes fit")), &vec![0.0; 50_000], None);
    let Surface::Quadric(q) = &geometry.boundaries()[0].surface else { panic!("a quadric") };
    assert_eq!(q.kind(), QuadricKind::Ellipsoid { flat: 0 });
    // 1 + ½s√n − ¼s² = 0 towards −(1, 1 …): the nearer zero.
    let root = 50_000f64.sqrt();
    assert_near(found.rows[0].radius, 2.0 * ((0.25 * root * root + 1.0).sqrt() - 0.5 * root), 1e-9, 0.0, "radius");
}

/// The nearest zero of q in a direction, by the formula for quadratic equations.
fn first_zero(q: &Quadric, x: &[f64], way: &[f64]) -> f64 {
    let a = 0.5 * dot(&q.matrix().multiply(way), way);
    let b = dot(&q.gradient_at(x), way);
    let c = q.value(x);
    let root = b * b - 4.0 * a * c;
    if root < 0.0 {
        return f64::INFINITY;
    }
    let half = -0.5 * (b + b.signum() * root.sqrt());
    (half / a).abs().min((c / half).abs())
}

/// The distance to a quadric of two columns by looking in all directions, then closer about the best.
fn brute_force(q: &Quadric, x: &[f64]) -> f64 {
    let reach = |angle: f64| first_zero(q, x, &[angle.cos(), angle.sin()]);
    let turn = std::f64::consts::PI;
    let (mut middle, mut width) = (0.0, turn);
    for _ in 0..24 {
        let angles = (-400..=400).map(|i| middle + width * f64::from(i) / 400.0);
        middle = angles.min_by(|a, b| reach(*a).total_cmp(&reach(*b))).expect("many angles");
        width /= 20.0;
    }
    reach(middle)
}

/// A column that curves a little and away, beside one that curves much: the multiplier is far below its pole.
#[test]
fn curvatures_of_very_different_size_keep_the_shortest_way() {
    for small in [1e-6, 1e-10, 1e-14] {
        for turn in [0.0f64, 0.3] {
            let (c, s) = (turn.cos(), turn.sin());
            let matrix = square(&[&[c * c - small * s * s, 0.0], &[c * s * (1.0 + small), s * s - small * c * c]]);
            let q = Quadric::new(vec![0.0; 2], matrix, vec![1.0, 0.7], 0.4).expect("finite");
            let step = q.step(&[0.0, 0.0]).expect("a point");
            assert_near(q.value(&step), 0.0, 1e-14, 1.0, "on the quadric");
            assert_near(norm(&step), brute_force(&q, &[0.0, 0.0]), 1e-12, 1.0, "nothing is nearer");
        }
    }
}

fn square(rows: &[&[f64]]) -> Square {
    Square::from_lower(rows.len(), |i, j| rows[i][j])
}

#[test]
fn the_nearest_point_is_the_one_a_search_finds() {
    let mut source = Source::new(6);
    let cases = [
        (square(&[&[2.0, 0.0], &[0.0, 6.0]]), [0.0, 0.0], -3.0),
        (square(&[&[2.0, 1.0], &[1.0, -3.0]]), [0.5, -1.0], 0.7),
        (square(&[&[0.0, 0.0], &[0.0, 2.0]]), [1.0, 0.0], 0.0),
        (square(&[&[-1.0, 0.2], &[0.2, -4.0]]), [0.3, 0.1], 2.0),
        (square(&[&[1.0, -1.0], &[-1.0, 1.0]]), [0.0, 0.0], -2.0),
        (square(&[&[1e-8, 0.0], &[0.0, 3.0]]), [0.1, 1.0], -1.0),
    ];
    for (matrix, gradient, constant) in cases {
        let q = Quadric::new(vec![0.0; 2], matrix, gradient.to_vec(), constant).expect("finite");
        for _ in 0..12 {
            let x: Vec<f64> = source.normals(2).iter().map(|v| 2.0 * v).collect();
            let step = q.step(&x).expect("these have points");
            let end: Vec<f64> = x.iter().zip(&step).map(|(x, s)| x + s).collect();
            assert_near(q.value(&end), 0.0, 1e-12, 30.0, "the end is on the quadric");
            assert_near(norm(&step), brute_force(&q, &x), 1e-9, 1e-3, "the length is the smallest");
        }
    }
}

#[test]
fn the_hard_case_and_no_point_at_all() {
    // From the middle of an ellipse the nearest points are two, along the short axis.
    let ellipse = |constant| Quadric::new(vec![0.0; 2], square(&[&[2.0, 0.0], &[0.0, 8.0]]), vec![0.0; 2], constant);
    let step = ellipse(-4.0).expect("finite").step(&[0.0, 0.0]).expect("a point");
    assert_near(norm(&step), 1.0, 1e-14, 1.0, "half the short axis");
    assert_near(step[0], 0.0, 1e-14, 1.0, "along it");
    // On the long axis near the middle h has no part along the short one, yet the way goes there.
    let q = ellipse(-4.0).expect("finite");
    let step = q.step(&[0.1, 0.0]).expect("a point");
    assert_near(norm(&step), brute_force(&q, &[0.1, 0.0]), 1e-9, 1.0, "not along the axis");
    assert!(step[1].abs() > 0.9);
    // A hair beside the axis: the pole is approached to the last bits.
    for hair in [1e-3, 1e-9, 1e-15, 1e-100] {
        let x = [0.1, hair];
        let step = q.step(&x).expect("a point");
        assert_near(norm(&step), brute_force(&q, &x), 1e-9, 1.0, "nearly hard");
        let end = [x[0] + step[0], x[1] + step[1]];
        assert_near(q.value(&end), 0.0, 1e-13, 4.0, "on the ellipse");
    }
    assert!(ellipse(4.0).expect("finite").step(&[1.0, 1.0]).is_none());
    let flat = Quadric::new(vec![0.0; 2], Square::zeros(2), vec![0.0; 2], 1.0).expect("finite");
    assert!(flat.step(&[1.0, 1.0]).is_none());
    let plane = Quadric::new(vec![0.0; 2], Square::zeros(2), vec![3.0, 4.0], -10.0).expect("finite");
    assert_near(norm(&plane.step(&[6.0, 8.0]).expect("a point")), 8.0, 1e-14, 1.0, "a plane is a quadric");
}

/// Eigenvalues of W, the vector w, the constant, and the type with its name in the plane.
type Case<'a> = (&'a [f64], &'a [f64], f64, QuadricKind, &'a str);

#[test]
fn every_type_of_quadric_is_named() {
    use QuadricKind::*;
    let kinds: Vec<Case> = vec![
        (&[1.0, 4.0], &[0.0, 0.0], -1.0, Ellipsoid { flat: 0 }, "ellipse"),
        (&[-1.0, -4.0], &[0.0, 0.0], 1.0, Ellipsoid { flat: 0 }, "ellipse"),
        (&[1.0, 4.0], &[1.0, 4.0], 2.5, Point { flat: 0 }, "point"),
        (&[1.0, 4.0], &[0.0, 0.0], 1.0, Empty, "empty"),
        (&[1.0, -4.0], &[1.0, 1.0], 3.0, Hyperboloid { sheets: 2, flat: 0 }, "hyperbola"),
        (&[1.0, -4.0], &[0.0, 0.0], 0.0, CrossingHyperplanes, "two crossing lines"),
        (&[1.0, 0.0], &[1.0, 0.0], 0.0, ParallelHyperplanes, "two parallel lines"),
        (&[2.0, 0.0], &[2.0, 0.0], 1.0, DoubleHyperplane, "one line, touched from one side"),
        (&[1.0, 0.0], &[0.0, 0.0], 1.0, Empty, "empty"),
        (&[1.0, 0.0], &[0.0, 1.0], 0.0, Paraboloid { hyperbolic: false, flat: 0 }, "parabola"),
        (&[0.0, 0.0], &[1.0, 2.0], 3.0, Hyperplane, "line"),
        (&[0.0, 0.0], &[0.0, 0.0], 3.0, Empty, "empty"),
        (&[0.0, 0.0], &[0.0, 0.0], 0.0, Everything, "everything"),
        (&[1.0], &[0.0], -1.0, ParallelHyperplanes, "two points"),
        (&[1.0], &[1.0], 0.5, Point { flat: 0 }, "point"),
        (&[1.0, 2.0, 3.0], &[1.0, 0.0, 0.0], -1.0, Ellipsoid { flat: 0 }, "ellipsoid"),
        (&[1.0, 2.0, -3.0], &[0.0; 3], -1.0, Hyperboloid { sheets: 1, flat: 0 }, "hyperboloid of one sheet"),
        (&[1.0, 2.0, -3.0], &[0.0; 3], 1.0, Hyperboloid { sheets: 2, flat: 0 }, "hyperboloid of two sheets"),
        (&[-1.0, -2.0, 3.0], &[0.0; 3], 1.0, Hyperboloid { sheets: 1, flat: 0 }, "hyperboloid of one sheet"),
        (&[1.0, 2.0, -3.0], &[0.0; 3], 0.0, Cone { flat: 0 }, "cone"),
        (&[1.0, 2.0, 0.0], &[0.0; 3], -1.0, Ellipsoid { flat: 1 }, "elliptic cylinder"),
        (&[1.0, -2.0, 0.0], &[0.0; 3], -1.0, Hyperboloid { sheets: 2, flat: 1 }, "hyperbolic cylinder"),
        (&[1.0, -2.0, 0.0], &[0.0; 3], 0.0, CrossingHyperplanes, "two crossing planes"),
        (&[1.0, 2.0, 0.0], &[0.0, 0.0, 1.0], 0.0, Paraboloid { hyperbolic: false, flat: 0 }, "elliptic paraboloid"),
        (&[1.0, -2.0, 0.0], &[0.0, 0.0, 1.0], 0.0, Paraboloid { hyperbolic: true, flat: 0 }, "hyperbolic paraboloid"),
        (&[1.0, 0.0, 0.0], &[0.0, 0.0, 1.0], 0.0, Paraboloid { hyperbolic: false, flat: 1 }, "parabolic cylinder"),
        (&[1.0, 2.0, 0.0], &[0.0; 3], 0.0, Point { flat: 1 }, "line"),
        (&[1.0, 0.0, 0.0], &[0.0; 3], -1.0, ParallelHyperplanes, "two parallel planes"),
        (&[1.0, 2.0, 3.0, 0.0], &[0.0; 4], -1.0, Ellipsoid { flat: 1 }, "ellipsoidal cylinder"),
        (&[0.0; 4], &[0.0, 0.0, 0.0, 2.0], -1.0, Hyperplane, "hyperplane"),
    ];
    let mut source = Source::new(7);
    for (diagonal, gradient, constant, kind, name) in kinds {
        let d = diagonal.len();
        let plain = Square::from_lower(d, |i, j| if i == j { diagonal[i] } else { 0.0 });
        let q = Quadric::new(vec![0.0; d], plain, gradient.to_vec(), constant).expect("finite");
        assert_eq!((q.kind(), q.kind().name(d).as_str()), (kind, name), "{diagonal:?} {gradient:?} {constant}");
        // Another basis, other units and another middle: M, Mᵀ W M, Mᵀ(w + W t) and q(t). The type is the same.
        for _ in 0..5 {
            let mut m = source.normals(d * d);
            (0..d).for_each(|i| m[i * d + i] += 3.0);
            (0..d * d).for_each(|at| m[at] *= 10f64.powi((at % d) as i32 * 3 - 3));
            let t = source.normals(d);
            let entry = |i: usize, j: usize| (0..d).map(|r| m[r * d + i] * diagonal[r] * m[r * d + j]).sum();
            let slope: Vec<f64> = (0..d).map(|r| gradient[r] + diagonal[r] * t[r]).collect();
            let moved: Vec<f64> = (0..d).map(|j| (0..d).map(|r| m[r * d + j] * slope[r]).sum()).collect();
            let value = constant + (0..d).map(|r| t[r] * (gradient[r] + 0.5 * diagonal[r] * t[r])).sum::<f64>();
            let q = Quadric::new(vec![0.0; d], Square::from_lower(d, entry), moved, value).expect("finite");
            assert_eq!(q.kind(), kind, "{diagonal:?} {gradient:?} {constant} in another basis");
        }
    }
}

#[test]
fn equal_covariances_leave_a_hyperplane_and_equal_classes_everything() {
    let triangle = [1.0, 0.3, 2.0];
    let g = |centres: Vec<f64>, constants| Quadratic::new(centres, triangle.repeat(2), constants).expect("sizes fit");
    let kind = |g: Quadratic| Quadric::between(&g, 0, 1).expect("finite").kind();
    assert_eq!(kind(g(vec![0.0, 0.0, 1.0, 5.0], vec![0.0, 0.2])), QuadricKind::Hyperplane);
    assert_eq!(kind(g(vec![1e9, 0.0, 1e9, 0.0], vec![0.1, 0.1])), QuadricKind::Everything);
    assert_eq!(kind(g(vec![1.0, 0.0, 1.0, 0.0], vec![0.1, 0.2])), QuadricKind::Empty);
}

#[test]
fn regions_of_a_linear_machine_are_convex() {
    let mut source = Source::new(8);
    let g = Discriminant::Linear(machine(6, 2, &mut source));
    let mut inside = 0;
    for _ in 0..3000 {
        let (a, b) = (source.normals(2), source.normals(2));
        let class = decided(&g, &a);
        if decided(&g, &b) != class {
            continue;
        }
        inside += 1;
        for i in 1..10 {
            let t = f64::from(i) / 10.0;
            let x: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + t * (b - a)).collect();
            assert_eq!(decided(&g, &x), class, "a segment leaves its region");
        }
    }
    assert!(inside > 300, "too few segments: {inside}");
}

#[test]
fn regions_have_a_witness_or_none() {
    let mut source = Source::new(9);
    let (mut never, mut somewhere) = (0, 0);
    for case in 0..60 {
        let classes = 3 + case % 6;
        let linear = machine(classes, 1 + case % 3, &mut source);
        let (g, d) = (Discriminant::Linear(linear.clone()), linear.n_cols());
        for (k, region) in regions(&linear).iter().enumerate() {
            match region {
                Region::Decided { witness } => {
                    somewhere += 1;
                    assert_eq!(decided(&g, witness), k, "case {case}");
                }
                Region::Never { mixture } => {
                    never += 1;
                    let mixed = |of: &dyn Fn(usize) -> f64| mixture.iter().map(|(j, s)| s * of(j.index())).sum::<f64>();
                    for c in 0..d {
                        assert_near(mixed(&|j| linear.weights_of(j)[c]), linear.weights_of(k)[c], 1e-6, 1.0, "weights");
                    }
                    let value = |j: usize| linear.intercept_at_centre()[j];
                    assert!(mixed(&value) >= value(k) - 1e-6, "case {case}");
                    for _ in 0..2000 {
                        let far = 10f64.powf(source.uniform(-2.0, 3.0));
                        let x: Vec<f64> = source.normals(d).iter().map(|v| far * v).collect();
                        assert_ne!(decided(&g, &x), k, "case {case}");
                    }
                }
                Region::Undecided => panic!("case {case}, class {k} is undecided"),
            }
        }
    }
    assert!(never > 20 && somewhere > 100, "{never} never, {somewhere} somewhere");
}

#[test]
fn sparse_rows_are_measured_like_dense_ones() {
    let data = overlapping(700, 4, 3, 10);
    let qda = GaussianBayes { shape: CovarianceShape::Own, ..GaussianBayes::lda() };
    for method in [Method::Gaussian(GaussianBayes::lda()), Method::Gaussian(qda)] {
        let model = data.model(&method);
        let geometry =
            Geometry::of(&model.discriminant, model.density.as_ref(), &Watch::default()).expect("a geometry");
        let z = data.scores(&model);
        let dense = geometry.measure(&data.dense(), &z, None, true, &Watch::default()).expect("measures");
        let sparse = geometry.measure(&data.csr(), &z, None, true, &Watch::default()).expect("measures");
        assert_eq!(dense, sparse);
        assert_eq!(dense.rows.len(), 700);
        let neighbours: usize = dense.neighbours().iter().map(|n| n.2).sum();
        assert_eq!(neighbours, dense.rows.iter().filter(|r| r.nearest.is_some()).count());
    }
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    let g = Discriminant::Linear(Linear::new(vec![1.0, 2.0], vec![0.0; 2], vec![0.0]).expect("fits"));
    let geometry = Geometry::of(&g, None, &Watch::default()).expect("a geometry");
    let wide = DenseMatrix::new(vec![1.0; 3], 3).expect("one row");
    assert!(geometry.measure(&wide, &[0.0], None, false, &Watch::default()).is_err());
    let logistic = mahalanobis(&g, None, &DenseMatrix::new(vec![1.0; 2], 2).expect("one row"), &Watch::default());
    assert!(logistic.expect_err("no classes").to_string().contains("Gaussian"));
}
