//! Decisions of any kind, traced on a grid.

use super::{Edge, Patch};
use crate::clip::straightened;
use crate::scene::Point;
use linsep::Result;
use std::collections::BTreeMap;

/// Steps of the grid along the longer side: between three and four pixels of the usual picture, where a chord of a circle of
/// 30 pixels is off by less than a tenth of one.
const STEPS: usize = 180;
/// Halvings of an edge: a step of the grid becomes less than the last digit of any coordinate.
const HALVINGS: usize = 54;
/// Steps along a side of a cell in which three decisions meet, where that point is looked for.
const FINER: usize = 12;
/// Points this close to a straight line, relative to the window, are left out; a hundredth of what is seen.
const STRAIGHT: f64 = 1e-7;

/// What was traced.
pub(crate) struct Tracing {
    pub patches: Vec<Patch>,
    pub edges: Vec<Edge>,
}

type Decide<'a> = dyn Fn(&[Point]) -> Result<Vec<u32>> + 'a;

/// The cells of a window.
struct Grid {
    window: [f64; 4],
    nx: usize,
    ny: usize,
    /// The decision at each node, row by row from below.
    decisions: Vec<u32>,
}

impl Grid {
    fn node(&self, i: usize, j: usize) -> Point {
        let [left, bottom, right, top] = self.window;
        [left + (right - left) * i as f64 / self.nx as f64, bottom + (top - bottom) * j as f64 / self.ny as f64]
    }

    fn at(&self, i: usize, j: usize) -> u32 {
        self.decisions[j * (self.nx + 1) + i]
    }
}

/// A side of a cell by its first node, and whether it goes up.
type Side = (usize, usize, bool);

/// Traces where the decision changes. Ends of segments on the grid are exact to rounding; between them lines are straight.
pub(crate) fn trace(window: [f64; 4], decide: impl Fn(&[Point]) -> Result<Vec<u32>>) -> Result<Tracing> {
    let decide: &Decide<'_> = &decide;
    let (nx, ny) = (STEPS, STEPS);
    let mut grid = Grid { window, nx, ny, decisions: Vec::new() };
    let nodes: Vec<Point> =
        (0..=ny).flat_map(|j| (0..=nx).map(move |i| (i, j))).map(|(i, j)| grid.node(i, j)).collect();
    grid.decisions = decide(&nodes)?;
    let crossings = crossings(&grid, decide)?;
    let mut cells = Cells { polygons: BTreeMap::new(), segments: BTreeMap::new() };
    for j in 0..ny {
        for i in 0..nx {
            cells.add(&grid, (i, j), &crossings, decide)?;
        }
    }
    let unit = [window[2] - window[0], window[3] - window[1]];
    let patches = cells
        .polygons
        .into_iter()
        .map(|(decision, polygons)| Patch {
            decision: decision as usize,
            rings: merged(&polygons).iter().map(|ring| straightened(ring, unit, STRAIGHT)).collect(),
        })
        .collect();
    let mut edges = Vec::new();
    for (between, segments) in cells.segments {
        let between = [between.0 as usize, between.1 as usize];
        let paths = chained(segments);
        edges.extend(paths.iter().map(|path| Edge { between, path: straightened(path, unit, STRAIGHT) }));
    }
    Ok(Tracing { patches, edges })
}

/// Where the decision changes along every side whose ends differ; all sides are halved together.
fn crossings(grid: &Grid, decide: &Decide<'_>) -> Result<BTreeMap<Side, Point>> {
    let mut sides: Vec<(Side, u32, Point, Point)> = Vec::new();
    for j in 0..=grid.ny {
        for i in 0..=grid.nx {
            if i < grid.nx && grid.at(i, j) != grid.at(i + 1, j) {
                sides.push(((i, j, false), grid.at(i, j), grid.node(i, j), grid.node(i + 1, j)));
            }
            if j < grid.ny && grid.at(i, j) != grid.at(i, j + 1) {
                sides.push(((i, j, true), grid.at(i, j), grid.node(i, j), grid.node(i, j + 1)));
            }
        }
    }
    for _ in 0..HALVINGS {
        let middle = |p: &Point, q: &Point| [0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1])];
        let middles: Vec<Point> = sides.iter().map(|(_, _, p, q)| middle(p, q)).collect();
        let found = decide(&middles)?;
        for (((_, start, p, q), middle), decision) in sides.iter_mut().zip(middles).zip(found) {
            *(if decision == *start { p } else { q }) = middle;
        }
    }
    Ok(sides.into_iter().map(|(side, _, _, q)| (side, q)).collect())
}

struct Cells {
    polygons: BTreeMap<u32, Vec<Vec<Point>>>,
    segments: BTreeMap<(u32, u32), Vec<[Point; 2]>>,
}

impl Cells {
    fn segment(&mut self, a: u32, b: u32, ends: [Point; 2]) {
        if ends[0] != ends[1] {
            self.segments.entry((a.min(b), a.max(b))).or_default().push(ends);
        }
    }

    fn polygon(&mut self, decision: u32, corners: Vec<Point>) {
        self.polygons.entry(decision).or_default().push(corners);
    }

    /// Cuts a cell into its decisions.
    fn add(
        &mut self,
        grid: &Grid,
        (i, j): (usize, usize),
        crossings: &BTreeMap<Side, Point>,
        decide: &Decide<'_>,
    ) -> Result<()> {
        let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
        let sides: [Side; 4] = [(i, j, false), (i + 1, j, true), (i, j + 1, false), (i, j, true)];
        let decisions = corners.map(|(i, j)| grid.at(i, j));
        let nodes = corners.map(|(i, j)| grid.node(i, j));
        if decisions.iter().all(|d| *d == decisions[0]) {
            self.polygon(decisions[0], nodes.to_vec());
            return Ok(());
        }
        let crossing = sides.map(|side| crossings.get(&side).copied());
        // Runs of corners with one decision, each from the crossing before it to the one behind it.
        let first = (0..4).find(|k| crossing[(k + 3) % 4].is_some()).unwrap_or(0);
        let mut runs: Vec<(u32, Vec<Point>)> = Vec::new();
        for k in (first..first + 4).map(|k| k % 4) {
            match crossing[(k + 3) % 4] {
                Some(start) => runs.push((decisions[k], vec![start, nodes[k]])),
                None => runs.last_mut().into_iter().for_each(|(_, run)| run.push(nodes[k])),
            }
            if let (Some(end), Some((_, run))) = (crossing[k], runs.last_mut()) {
                run.push(end);
            }
        }
        let ends = |run: &[Point]| [run[0], run[run.len() - 1]];
        if let [(a, p), (b, q)] = &runs[..] {
            self.segment(*a, *b, ends(p));
            let (a, p, b, q) = (*a, p.clone(), *b, q.clone());
            self.polygon(a, p);
            self.polygon(b, q);
            return Ok(());
        }
        let middle = [0.5 * (nodes[0][0] + nodes[2][0]), 0.5 * (nodes[0][1] + nodes[2][1])];
        if runs.len() == 4 {
            // Two opposite corners that are connected through the middle cut the others off.
            let centre = decide(&[middle])?[0];
            if let Some(k) = (0..2).find(|k| runs[*k].0 == centre && runs[k + 2].0 == centre) {
                for other in [(k + 1) % 4, (k + 3) % 4] {
                    let (decision, run) = runs[other].clone();
                    self.segment(centre, decision, ends(&run));
                    self.polygon(decision, run);
                }
                let ring = [&runs[k].1[..], &runs[k + 2].1[..]].concat();
                self.polygon(centre, ring);
                return Ok(());
            }
        }
        let meeting = meeting_point(nodes[0], nodes[2], decide)?.unwrap_or(middle);
        for at in 0..runs.len() {
            let (decision, run) = runs[at].clone();
            let after = runs[(at + 1) % runs.len()].0;
            self.segment(decision, after, [ends(&run)[1], meeting]);
            self.polygon(decision, run.into_iter().chain([meeting]).collect());
        }
        Ok(())
    }
}

/// Where the most decisions meet within a cell, to a fraction of its side.
fn meeting_point(low: Point, high: Point, decide: &Decide<'_>) -> Result<Option<Point>> {
    let at = |i: usize, j: usize| {
        let share = |k: usize| k as f64 / FINER as f64;
        [low[0] + (high[0] - low[0]) * share(i), low[1] + (high[1] - low[1]) * share(j)]
    };
    let points: Vec<Point> =
        (0..=FINER).flat_map(|j| (0..=FINER).map(move |i| (i, j))).map(|(i, j)| at(i, j)).collect();
    let found = decide(&points)?;
    let mut best = (0, None);
    for j in 0..FINER {
        for i in 0..FINER {
            let node = |i: usize, j: usize| found[j * (FINER + 1) + i];
            let mut corners = [node(i, j), node(i + 1, j), node(i, j + 1), node(i + 1, j + 1)];
            corners.sort_unstable();
            let distinct = 1 + corners.windows(2).filter(|w| w[0] != w[1]).count();
            if distinct > best.0 {
                let (p, q) = (at(i, j), at(i + 1, j + 1));
                best = (distinct, Some([0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1])]));
            }
        }
    }
    Ok(best.1)
}

/// A point that can be looked up: neighbours share its bits.
type PointKey = (u64, u64);

fn key(p: Point) -> PointKey {
    (p[0].to_bits(), p[1].to_bits())
}

/// Polygons that touch along whole sides as few rings: sides that two of them share cancel.
fn merged(polygons: &[Vec<Point>]) -> Vec<Vec<Point>> {
    let mut open: BTreeMap<(PointKey, PointKey), (Point, Point)> = BTreeMap::new();
    for ring in polygons {
        for (at, p) in ring.iter().enumerate() {
            let q = ring[(at + 1) % ring.len()];
            if key(*p) != key(q) && open.remove(&(key(q), key(*p))).is_none() {
                open.insert((key(*p), key(q)), (*p, q));
            }
        }
    }
    let mut from: BTreeMap<PointKey, Vec<Point>> = BTreeMap::new();
    let mut starts: BTreeMap<PointKey, Point> = BTreeMap::new();
    for (p, q) in open.into_values() {
        from.entry(key(p)).or_default().push(q);
        starts.insert(key(p), p);
    }
    let mut rings = Vec::new();
    while let Some((&start, _)) = from.iter().find(|(_, ends)| !ends.is_empty()) {
        let mut ring = vec![starts[&start]];
        let mut here = start;
        while let Some(next) = from.get_mut(&here).and_then(Vec::pop) {
            here = key(next);
            if here == start {
                break;
            }
            ring.push(next);
        }
        from.retain(|_, ends| !ends.is_empty());
        if ring.len() >= 3 {
            rings.push(ring);
        }
    }
    rings
}

/// Segments with common ends as few lines.
fn chained(segments: Vec<[Point; 2]>) -> Vec<Vec<Point>> {
    let mut ends: BTreeMap<PointKey, Vec<usize>> = BTreeMap::new();
    for (at, [p, q]) in segments.iter().enumerate() {
        ends.entry(key(*p)).or_default().push(at);
        ends.entry(key(*q)).or_default().push(at);
    }
    let mut used = vec![false; segments.len()];
    // Lines that end somewhere are begun there, closed ones anywhere.
    let is_end = |at: &usize| segments[*at].iter().any(|p| ends[&key(*p)].len() != 2);
    let order: Vec<usize> = (0..segments.len()).filter(is_end).chain(0..segments.len()).collect();
    let mut paths = Vec::new();
    for start in order {
        if used[start] {
            continue;
        }
        used[start] = true;
        let [p, q] = segments[start];
        let (p, q) = if ends[&key(q)].len() != 2 && ends[&key(p)].len() == 2 { (q, p) } else { (p, q) };
        let mut path = vec![p, q];
        let mut here = q;
        while ends[&key(here)].len() == 2 {
            let Some(next) = ends[&key(here)].iter().copied().find(|at| !used[*at]) else { break };
            used[next] = true;
            let [a, b] = segments[next];
            here = if key(a) == key(here) { b } else { a };
            path.push(here);
        }
        paths.push(path);
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clip::doubled_area;

    fn circles(points: &[Point]) -> Result<Vec<u32>> {
        let decide = |p: &Point| match p[0].hypot(p[1]) {
            r if r < 0.4 => 2,
            r if r < 0.8 => 1,
            _ => 0,
        };
        Ok(points.iter().map(decide).collect())
    }

    #[test]
    fn circles_are_closed_lines_of_the_right_radius() {
        let found = trace([-1.0, -1.0, 1.0, 1.0], circles).unwrap();
        assert_eq!(found.edges.len(), 2);
        for edge in &found.edges {
            assert_eq!(edge.path.first(), edge.path.last());
            let radius = if edge.between == [0, 1] { 0.8 } else { 0.4 };
            assert!(edge.path.iter().all(|p| (p[0].hypot(p[1]) - radius).abs() < 1e-14));
        }
        let area = |k: usize| -> f64 {
            let patch = found.patches.iter().find(|p| p.decision == k).unwrap();
            patch.rings.iter().map(|r| 0.5 * doubled_area(r)).sum()
        };
        let pi = std::f64::consts::PI;
        assert!((area(2) - pi * 0.16).abs() < 2e-4 && (area(1) - pi * 0.48).abs() < 2e-4, "{} {}", area(2), area(1));
        assert!((area(0) + area(1) + area(2) - 4.0).abs() < 1e-9);
    }

    #[test]
    fn three_regions_meet_in_a_point() {
        let decide = |points: &[Point]| {
            Ok(points
                .iter()
                .map(|p| {
                    if p[0] < 0.013 {
                        0
                    } else if p[1] < 0.027 {
                        1
                    } else {
                        2
                    }
                })
                .collect())
        };
        let found = trace([-1.0, -1.0, 1.0, 1.0], decide).unwrap();
        assert_eq!(found.edges.len(), 3);
        let meets = |e: &Edge| e.path.iter().any(|p| (p[0] - 0.013).abs() < 2e-3 && (p[1] - 0.027).abs() < 2e-3);
        assert!(found.edges.iter().all(meets));
    }
}
