//! The copy of the columns against the definition.

use super::{ColumnEntries, Columns, SomeColumns, SparseColumns, WithColumns};
use crate::design::{Block, CsrMatrix, Design, Tile, Units, select, stored_values};

/// Rows that are made entry by entry.
fn matrix(rows: usize, cols: usize, entry: impl Fn(usize, usize) -> Option<f64>) -> CsrMatrix<'static> {
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..rows {
        for (j, v) in (0..cols).filter_map(|j| entry(i, j).map(|v| (j, v))) {
            indices.push(j as u32);
            values.push(v);
        }
        starts.push(indices.len());
    }
    CsrMatrix::new(starts, indices, values, cols).expect("well-formed rows")
}

/// A number from 0 to below 1 for a place.
fn noise(i: usize, j: usize) -> f64 {
    let mixed = (i as u64 * 0x9e37_79b9 + j as u64 * 0x85eb_ca6b + 7).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    (mixed >> 40) as f64 / (1u64 << 24) as f64
}

fn rows_of<'a>(design: &'a dyn Design, tile: &'a mut Tile) -> crate::design::CsrRows<'a> {
    match design.block(0..design.shape().rows, tile) {
        Ok(Block::Csr(rows)) => rows,
        _ => panic!("sparse rows"),
    }
}

/// Rows and values of every column, by plain loops.
fn naive(x: &dyn Design) -> Vec<Vec<(u32, f64)>> {
    let mut tile = Tile::default();
    let rows = rows_of(x, &mut tile);
    let mut columns = vec![Vec::new(); x.shape().cols];
    for i in 0..rows.len() {
        let (at, values) = rows.row(i);
        at.iter().zip(values).for_each(|(j, v)| columns[*j as usize].push((i as u32, *v)));
    }
    columns
}

fn entries(column: ColumnEntries<'_>, of_row: Option<&[f64]>) -> Vec<(u32, f64)> {
    match column {
        ColumnEntries::Dense(_) => panic!("a sparse column"),
        ColumnEntries::Sparse(rows, values) => rows.iter().copied().zip(values.iter().copied()).collect(),
        ColumnEntries::Present(rows) => {
            rows.iter().map(|i| (*i, of_row.expect("what entries are")[*i as usize])).collect()
        }
    }
}

/// Many entries and ranges, empty rows and columns, long and short columns; alike or not.
fn cases() -> Vec<(&'static str, CsrMatrix<'static>)> {
    let common = |j: usize| if j < 20 { 0.6 } else { 0.02 };
    let present = move |i: usize, j: usize| i % 7 != 3 && j % 11 != 5 && noise(i, j) < common(j);
    vec![
        ("alike", matrix(900, 400, move |i, j| present(i, j).then_some(0.5 + i as f64))),
        ("not alike", matrix(900, 400, move |i, j| present(i, j).then(|| noise(j, i) - 0.5))),
        ("one row", matrix(1, 30, |_, j| (j % 3 == 1).then_some(j as f64))),
        ("one column", matrix(50, 1, |i, _| (i % 2 == 0).then_some(2.0))),
        ("no entries", matrix(5, 4, |_, _| None)),
        ("no rows", matrix(0, 4, |_, _| None)),
        ("no columns", matrix(3, 0, |_, _| None)),
    ]
}

#[test]
fn columns_are_those_of_the_definition() {
    for (name, x) in cases() {
        let mut tile = Tile::default();
        let copy = SparseColumns::new(&rows_of(&x, &mut tile)).expect("few rows");
        let columns = Columns::new(&x, &Units::identity(x.shape().cols), &Default::default()).expect("columns");
        assert!(columns.is_sparse() && copy.shape() == x.shape(), "{name}");
        for (j, expected) in naive(&x).into_iter().enumerate() {
            assert_eq!(entries(columns.column(j), columns.row_value()), expected, "{name}, column {j}");
        }
        assert_eq!(copy.row_value().is_some(), name != "not alike" && name != "one row", "{name}");
    }
}

#[test]
fn more_rows_and_columns_than_sixteen_bits_hold() {
    let tall = matrix(140_000, 3, |i, j| (noise(i, j) < 0.1).then(|| noise(i, j + 9)));
    let wide = {
        let starts: Vec<usize> = (0..=40).map(|i| i * 5).collect();
        let indices: Vec<u32> = (0..40u32).flat_map(|i| (0..5).map(move |e| i * 997 + e * 65_600)).collect();
        let values: Vec<f64> = indices.iter().map(|j| f64::from(*j)).collect();
        CsrMatrix::new(starts, indices, values, 400_000).expect("rows")
    };
    for x in [tall, wide] {
        let columns = Columns::new(&x, &Units::identity(x.shape().cols), &Default::default()).expect("columns");
        for (j, expected) in naive(&x).into_iter().enumerate() {
            assert_eq!(entries(columns.column(j), columns.row_value()), expected, "column {j}");
        }
    }
}

#[test]
fn some_columns_are_the_rows_with_these_columns_alone() {
    for (name, x) in cases() {
        let cols = x.shape().cols;
        let chosen: Vec<usize> = (0..cols).filter(|j| j % 3 != 1 || *j > 300).collect();
        let mut tile = Tile::default();
        let some = SomeColumns::new(SparseColumns::new(&rows_of(&x, &mut tile)).expect("few rows").into(), &chosen);
        let copied = select(&x, &chosen, &Default::default()).expect("a copy");
        let (mut tile, mut other) = (Tile::default(), Tile::default());
        for range in [0..x.shape().rows, x.shape().rows / 3..x.shape().rows / 2, 0..0] {
            let Ok(Block::Csr(a)) = some.block(range.clone(), &mut tile) else { panic!("sparse rows") };
            let Ok(Block::Csr(b)) = copied.as_design().block(range, &mut other) else { panic!("sparse rows") };
            assert_eq!((a.len(), a.cols), (b.len(), b.cols), "{name}");
            (0..a.len()).for_each(|i| assert_eq!(a.row(i), b.row(i), "{name}, row {i}"));
        }
        assert_eq!(stored_values(&some).expect("a count"), stored_values(copied.as_design()).expect("a count"));
    }
}

#[test]
fn products_are_those_of_the_definition() {
    for (name, x) in cases() {
        let shape = x.shape();
        let mut tile = Tile::default();
        let with = WithColumns::new(&x, SparseColumns::new(&rows_of(&x, &mut tile)).expect("few rows").into());
        let all = with.by_columns().expect("columns");
        let odd: Vec<usize> = (0..shape.cols).filter(|j| j % 2 == 1).collect();
        let some = all.choose(&odd);
        let v: Vec<f64> = (0..shape.rows).map(|i| noise(i, 3) - 0.4).collect();
        let size: Vec<f64> = v.iter().map(|v| v.abs()).collect();
        let expected = naive(&x);
        let dot = |j: usize| expected[j].iter().map(|(i, x)| x * v[*i as usize]).sum::<f64>();
        let absolute = |j: usize| expected[j].iter().map(|(i, x)| x.abs() * v[*i as usize].abs()).sum::<f64>();
        let near = |found: &[f64], wanted: Vec<f64>| {
            assert_eq!(found.len(), wanted.len(), "{name}");
            for (f, w) in found.iter().zip(&wanted) {
                assert!((f - w).abs() <= 1e-10 * (1.0 + w.abs()), "{name}: {f} for {w}");
            }
        };
        near(&all.transposed(&v), (0..shape.cols).map(dot).collect());
        near(&some.view().transposed(&v), odd.iter().map(|j| dot(*j)).collect());
        near(&all.absolute_sums(&size), (0..shape.cols).map(absolute).collect());
        near(&some.view().absolute_sums(&size), odd.iter().map(|j| absolute(*j)).collect());
        let weights: Vec<(usize, f64)> = (0..odd.len()).map(|j| (j, noise(j, 1) - 0.5)).collect();
        let mut sums = vec![0.0; shape.rows];
        for (at, w) in &weights {
            expected[odd[*at]].iter().for_each(|(i, x)| sums[*i as usize] += w * x);
        }
        near(&some.view().combine(&weights), sums);
    }
}

#[test]
fn threads_change_no_bit() {
    for (name, x) in cases() {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                let mut tile = Tile::default();
                let copy = SparseColumns::new(&rows_of(&x, &mut tile)).expect("few rows");
                let v: Vec<f64> = (0..x.shape().rows).map(|i| noise(i, 3) - 0.4).collect();
                let sums = copy.transposed(&v);
                let all: Vec<(usize, f64)> = (0..x.shape().cols).map(|j| (j, noise(j, 1))).collect();
                let with = WithColumns::new(&x, copy.into());
                let scores = with.by_columns().expect("columns").combine(&all);
                let bits = |v: Vec<f64>| v.into_iter().map(f64::to_bits).collect::<Vec<u64>>();
                (bits(sums), bits(scores))
            })
        };
        let one = on(1);
        assert!([2, 3, 7].iter().all(|threads| on(*threads) == one), "{name}");
    }
}
