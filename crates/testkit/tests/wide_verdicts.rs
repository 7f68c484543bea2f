//! Verdicts of few sparse rows with thousands of columns: none is undecided, whatever the numbers are.
//!
//! The verdict is known by construction. Rows drawn from many columns are independent, so that only rows that repeat or mix others,
//! or are empty, can stay on a boundary; and rows that are combinations of few are a table of few columns in disguise.

use linsep::design::{CsrMatrix, Training};
use linsep::separate::{SeparabilityOptions, SeparabilityVerdict, Verdict, separability};
use std::collections::BTreeMap;
use testkit::data::{Data, Source, labels};
use testkit::exact::{strict_constraints, true_verdict};

struct SparseTable {
    rows: Vec<BTreeMap<u32, f64>>,
    cols: usize,
    labels: Vec<usize>,
}

impl SparseTable {
    /// Rows of 40 entries: whole numbers, or real ones.
    fn drawn(rows: usize, cols: usize, whole: bool, source: &mut Source) -> SparseTable {
        let mut row = || -> BTreeMap<u32, f64> {
            let number = |source: &mut Source| if whole { 1.0 + source.below(3) as f64 } else { source.normal() };
            (0..40).map(|_| (source.below(cols) as u32, number(source))).collect()
        };
        let rows: Vec<BTreeMap<u32, f64>> = (0..rows).map(|_| row()).collect();
        let labels = (0..rows.len()).map(|i| i % 2).collect();
        SparseTable { rows, cols, labels }
    }

    fn decide(&self) -> SeparabilityVerdict {
        let mut starts = vec![0];
        self.rows.iter().for_each(|row| starts.push(starts[starts.len() - 1] + row.len()));
        let (indices, values): (Vec<u32>, Vec<f64>) = self.rows.iter().flatten().map(|(c, x)| (*c, *x)).unzip();
        let design = CsrMatrix::new(starts, indices, values, self.cols).expect("rows");
        let classes = self.labels.iter().max().expect("rows") + 1;
        let labels = labels(self.labels.clone(), classes);
        separability(&Training::new(&design, &labels), &SeparabilityOptions::default(), &Default::default())
            .expect("good data")
    }

    /// That exactly these rows are on the boundary, and that the direction shows it.
    fn has_boundary(&self, boundary: &[usize], what: &str) {
        let found = self.decide();
        let (weights, intercept, named) = match &found.verdict {
            Verdict::Complete(v) => (&v.weights, &v.intercept, Vec::new()),
            Verdict::QuasiComplete(v) => (&v.weights, &v.intercept, v.boundary.clone()),
            other => panic!("{what}: {other:?}"),
        };
        assert_eq!(named, boundary, "{what}: {}", found.route.name());
        let centre = match &found.verdict {
            Verdict::Complete(v) => &v.centre,
            Verdict::QuasiComplete(v) => &v.centre,
            _ => unreachable!(),
        };
        let moved: f64 = weights[0].iter().zip(centre).map(|(w, c)| w * c).sum();
        let slack = |i: usize| {
            let score: f64 = self.rows[i].iter().map(|(c, x)| x * weights[0][*c as usize]).sum();
            (2.0 * self.labels[i] as f64 - 1.0) * (score + intercept[0] - moved)
        };
        let slacks: Vec<f64> = (0..self.rows.len()).map(slack).collect();
        let largest = slacks.iter().fold(0.0f64, |m, s| m.max(*s));
        for (i, s) in slacks.iter().enumerate() {
            match boundary.contains(&i) {
                true => assert!(s.abs() <= 1e-9 * largest, "{what}: row {i} has {s} of {largest}"),
                false => assert!(*s > 0.0, "{what}: row {i} has {s} of {largest}"),
            }
        }
    }
}

#[test]
fn repeated_mixed_and_empty_rows() {
    for (rows, cols, seeds) in [(60, 3_000, 6), (100, 2_001, 4), (200, 5_000, 2)] {
        for seed in 0..seeds {
            for whole in [true, false] {
                let mut source = Source::new(1_000 * rows as u64 + seed);
                let what = |kind: &str| format!("{rows}×{cols}, seed {seed}, whole numbers: {whole}, {kind}");
                let plain = SparseTable::drawn(rows, cols, whole, &mut source);
                let changed = |change: &dyn Fn(&mut SparseTable)| {
                    let mut table =
                        SparseTable { rows: plain.rows.clone(), cols: plain.cols, labels: plain.labels.clone() };
                    change(&mut table);
                    table
                };
                plain.has_boundary(&[], &what("as they are"));
                // The same row under both labels, and one under one label.
                let twins = changed(&|t| {
                    t.rows[1] = t.rows[0].clone();
                    t.rows[8] = t.rows[4].clone();
                });
                twins.has_boundary(&[0, 1], &what("twins"));
                let two_pairs = changed(&|t| {
                    t.rows[1] = t.rows[0].clone();
                    t.rows[7] = t.rows[30].clone();
                });
                two_pairs.has_boundary(&[0, 1, 7, 30], &what("two pairs"));
                // Empty rows of both labels, and of one.
                let empty = changed(&|t| [2, 3, 5].iter().for_each(|i| t.rows[*i].clear()));
                empty.has_boundary(&[2, 3, 5], &what("empty rows"));
                let empty = changed(&|t| [2, 4].iter().for_each(|i| t.rows[*i].clear()));
                empty.has_boundary(&[], &what("empty rows of one class"));
                // A mixture of rows of the other class, in doubles without rounding if the numbers are whole.
                if whole {
                    let mixed = changed(&|t| {
                        let mut sum = BTreeMap::new();
                        for (row, share) in [(1, 0.5), (11, 0.25), (21, 0.25)] {
                            t.rows[row].iter().for_each(|(c, x)| *sum.entry(*c).or_insert(0.0) += share * x);
                        }
                        t.rows[6] = sum;
                    });
                    mixed.has_boundary(&[1, 6, 11, 21], &what("a mixture"));
                }
                // Nearly the same row under both labels: a plane tells them apart, however little.
                let near = changed(&|t| {
                    t.rows[1] = t.rows[0].clone();
                    t.rows[1].insert(cols as u32 - 1, 1e-13);
                    t.rows[0].insert(cols as u32 - 1, 2e-13);
                });
                let found = near.decide();
                assert!(matches!(found.verdict, Verdict::Complete(_)), "{}: {:?}", what("near"), found.verdict);
            }
        }
    }
}

/// Few independent columns behind many: the verdict is that of the few.
#[test]
fn tables_of_low_rank() {
    let mut source = Source::new(71);
    let mut seen = BTreeMap::new();
    for case in 0..30 {
        let classes = if case % 3 == 2 { 3 } else { 2 };
        let rank = if classes == 3 { 1 + source.below(2) } else { 1 + source.below(3) };
        let rows = 8 + source.below(18);
        let cols = 2_500;
        // Every column is a multiple, without rounding, of one of the few.
        let factor = |source: &mut Source| match case % 2 {
            0 => 1.0 + source.below(5) as f64,
            _ => (source.uniform(0.5, 2.0) * 2f64.powi(30)).round() * 2f64.powi(-30),
        };
        let factors: Vec<(usize, f64)> = (0..cols).map(|j| (j % rank, factor(&mut source))).collect();
        let values: Vec<f64> = (0..rows * rank).map(|_| source.below(4) as f64 - 1.0).collect();
        let tells = source.chance(0.6);
        let code = |i: usize, source: &mut Source| match i {
            i if i < classes => i,
            i if tells && values[i * rank] > 0.0 => classes - 1,
            i if tells && values[i * rank] < 0.0 => 0,
            _ => source.below(classes),
        };
        let codes: Vec<usize> = (0..rows).map(|i| code(i, &mut source)).collect();
        let few = Data::new(values.clone(), rank, labels(codes.clone(), classes));
        let row = |i: usize| {
            let all = factors.iter().enumerate().map(|(j, (k, f))| (j as u32, f * values[i * rank + k]));
            all.filter(|(_, x)| *x != 0.0).collect()
        };
        let table = SparseTable { rows: (0..rows).map(row).collect(), cols, labels: codes };
        let found = table.decide();
        assert_eq!(found.verdict.name(), true_verdict(&few), "case {case}: {:?}", found.verdict);
        if let Verdict::QuasiComplete(v) = &found.verdict {
            let strict = strict_constraints(&few);
            let on_it = |i: &usize| strict[i * (classes - 1)..(i + 1) * (classes - 1)].contains(&false);
            assert_eq!(v.boundary, (0..rows).filter(on_it).collect::<Vec<usize>>(), "case {case}");
        }
        *seen.entry(found.verdict.name()).or_insert(0) += 1;
    }
    assert!(seen.len() == 3, "{seen:?}");
}

#[test]
fn threads_do_not_matter() {
    let mut source = Source::new(72);
    let mut table = SparseTable::drawn(60, 3_000, true, &mut source);
    table.rows[1] = table.rows[0].clone();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| table.decide())
    };
    assert_eq!(run(1), run(3));
}
