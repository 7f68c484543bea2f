//! Regions of linear scores: the window cut by lines, nothing approximated.

use super::{DecisionMap, Edge, Patch};
use crate::clip::{HalfPlane, corners, line_in, polygon, segment};
use crate::scene::Point;
use linsep::Result;

/// Regions of the largest score; of one score its sign decides, positive for the second class.
pub(super) fn largest_score(scores: &[HalfPlane], window: [f64; 4]) -> DecisionMap {
    let two;
    let scores = match scores {
        [only] => {
            two = [HalfPlane { a: 0.0, b: 0.0, c: 0.0 }, *only];
            &two[..]
        }
        all => all,
    };
    let lead = |k: usize, j: usize| HalfPlane {
        a: scores[k].a - scores[j].a,
        b: scores[k].b - scores[j].b,
        c: scores[k].c - scores[j].c,
    };
    let mut map = DecisionMap { patches: Vec::new(), edges: Vec::new(), straight: true };
    for k in 0..scores.len() {
        let ring = (0..scores.len())
            .filter(|j| *j != k)
            .fold(corners(window), |ring, j| if ring.is_empty() { ring } else { polygon(&ring, &lead(k, j)) });
        if !ring.is_empty() {
            map.patches.push(Patch { decision: k, rings: vec![ring] });
        }
        for j in k + 1..scores.len() {
            let Some((p, q)) = line_in(window, &lead(k, j)) else { continue };
            let others: Vec<HalfPlane> = (0..scores.len()).filter(|m| *m != k && *m != j).map(|m| lead(k, m)).collect();
            if let Some((p, q)) = segment(p, q, &others) {
                map.edges.push(Edge { between: [k, j], path: vec![p, q] });
            }
        }
    }
    map
}

/// Regions of votes: every cell of the lines `score = 0` has one decision, asked for at a point within.
pub(super) fn votes(
    scores: &[HalfPlane],
    window: [f64; 4],
    decide: impl Fn(&[Point]) -> Result<Vec<u32>>,
) -> Result<DecisionMap> {
    let mut cells = vec![corners(window)];
    for line in scores {
        let other = HalfPlane { a: -line.a, b: -line.b, c: -line.c };
        cells = cells.iter().flat_map(|c| [polygon(c, line), polygon(c, &other)]).filter(|c| c.len() >= 3).collect();
    }
    let centre = |ring: &Vec<Point>| {
        let n = ring.len() as f64;
        [ring.iter().map(|p| p[0]).sum::<f64>() / n, ring.iter().map(|p| p[1]).sum::<f64>() / n]
    };
    let found = decide(&cells.iter().map(centre).collect::<Vec<Point>>())?;
    let mut patches: Vec<Patch> = Vec::new();
    for (ring, decision) in cells.into_iter().zip(found) {
        match patches.iter_mut().find(|p| p.decision == decision as usize) {
            Some(patch) => patch.rings.push(ring),
            None => patches.push(Patch { decision: decision as usize, rings: vec![ring] }),
        }
    }
    patches.sort_by_key(|p| p.decision);
    Ok(DecisionMap { patches, edges: vote_edges(scores, window, decide)?, straight: true })
}

/// The pieces of every line between its crossings with others, where the decision differs on its two sides.
fn vote_edges(
    scores: &[HalfPlane],
    window: [f64; 4],
    decide: impl Fn(&[Point]) -> Result<Vec<u32>>,
) -> Result<Vec<Edge>> {
    let span = [window[2] - window[0], window[3] - window[1]];
    let mut edges = Vec::new();
    for (at, line) in scores.iter().enumerate() {
        let Some((p, q)) = line_in(window, line) else { continue };
        let point = |t: f64| [p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])];
        let crossing = |other: &HalfPlane| {
            let (u, v) = (other.value(p), other.value(q));
            ((u < 0.0) != (v < 0.0)).then(|| u / (u - v))
        };
        let others = scores.iter().enumerate().filter(|(o, _)| *o != at).filter_map(|(_, o)| crossing(o));
        let mut ends: Vec<f64> = [0.0, 1.0].into_iter().chain(others).collect();
        ends.sort_by(f64::total_cmp);
        // Pieces shorter than this are crossings of three lines but for rounding.
        ends.dedup_by(|b, a| *b - *a < 1e-9);
        // A step off the line, far below what is seen and far above rounding; in units of the window.
        let (nx, ny) = (line.a * span[0], line.b * span[1]);
        let norm = nx.hypot(ny);
        let middles: Vec<Point> = ends
            .windows(2)
            .flat_map(|e| {
                let m = point(0.5 * (e[0] + e[1]));
                let off = 1e-6 * (e[1] - e[0]).min(1.0);
                let (dx, dy) = (off * nx / norm * span[0], off * ny / norm * span[1]);
                [[m[0] - dx, m[1] - dy], [m[0] + dx, m[1] + dy]]
            })
            .collect();
        let sides = decide(&middles)?;
        for (piece, side) in ends.windows(2).zip(sides.chunks_exact(2)) {
            if side[0] == side[1] {
                continue;
            }
            let between = [side[0].min(side[1]) as usize, side[0].max(side[1]) as usize];
            let (from, to) = (point(piece[0]), point(piece[1]));
            match edges.last_mut() {
                Some(Edge { between: before, path }) if *before == between && path.last() == Some(&from) => {
                    path.pop();
                    path.push(to);
                }
                _ => edges.push(Edge { between, path: vec![from, to] }),
            }
        }
    }
    Ok(edges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clip::doubled_area;

    fn area(map: &DecisionMap) -> f64 {
        map.patches.iter().flat_map(|p| &p.rings).map(|r| 0.5 * doubled_area(r).abs()).sum()
    }

    #[test]
    fn regions_of_three_scores_fill_the_window() {
        let scores = [
            HalfPlane { a: 1.0, b: 0.0, c: 0.0 },
            HalfPlane { a: -0.5, b: 1.0, c: 0.1 },
            HalfPlane { a: -0.5, b: -1.0, c: 0.0 },
        ];
        let map = largest_score(&scores, [-1.0, -1.0, 1.0, 1.0]);
        assert_eq!((map.patches.len(), map.edges.len()), (3, 3));
        assert!((area(&map) - 4.0).abs() < 1e-12);
        for Edge { between: [i, j], path } in &map.edges {
            for p in path {
                assert!((scores[*i].value(*p) - scores[*j].value(*p)).abs() < 1e-12);
            }
        }
        // The three boundaries meet in one point.
        let ends: Vec<Point> = map.edges.iter().flat_map(|e| e.path.clone()).collect();
        let near = |p: &Point, q: &Point| (p[0] - q[0]).abs() + (p[1] - q[1]).abs() < 1e-12;
        assert!(ends.iter().any(|p| ends.iter().filter(|q| near(p, q)).count() == 3));
    }

    #[test]
    fn votes_of_three_lines() {
        let scores = [
            HalfPlane { a: 1.0, b: 0.0, c: 0.0 },
            HalfPlane { a: 0.0, b: 1.0, c: 0.0 },
            HalfPlane { a: 1.0, b: 1.0, c: -0.5 },
        ];
        let decide = |points: &[Point]| {
            let votes = |p: &Point| scores.iter().filter(|s| s.value(*p) > 0.0).count() as u32;
            Ok(points.iter().map(votes).collect())
        };
        let map = votes(&scores, [-1.0, -1.0, 1.0, 1.0], decide).unwrap();
        assert!((area(&map) - 4.0).abs() < 1e-12);
        assert_eq!(map.patches.iter().map(|p| p.decision).collect::<Vec<_>>(), [0, 1, 2, 3]);
        for edge in &map.edges {
            assert!(edge.path.iter().all(|p| scores.iter().any(|s| s.value(*p).abs() < 1e-12)));
        }
    }
}
