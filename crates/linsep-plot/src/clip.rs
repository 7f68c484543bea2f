//! Lines and polygons cut by half-planes and windows.

use crate::scene::Point;

/// `a·x + b·y + c`, positive on the side that is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HalfPlane {
    pub a: f64,
    pub b: f64,
    pub c: f64,
}

impl HalfPlane {
    pub fn value(&self, p: Point) -> f64 {
        self.a * p[0] + self.b * p[1] + self.c
    }

    /// Where the line between two points on different sides crosses.
    fn crossing(&self, p: Point, q: Point) -> Point {
        let (u, v) = (self.value(p), self.value(q));
        let t = u / (u - v);
        [p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]
    }

    /// The sides of a window: left, bottom, right, top.
    pub fn of_window([left, bottom, right, top]: [f64; 4]) -> [HalfPlane; 4] {
        [
            HalfPlane { a: 1.0, b: 0.0, c: -left },
            HalfPlane { a: 0.0, b: 1.0, c: -bottom },
            HalfPlane { a: -1.0, b: 0.0, c: right },
            HalfPlane { a: 0.0, b: -1.0, c: top },
        ]
    }
}

/// The corners of a window, counter-clockwise.
pub(crate) fn corners([left, bottom, right, top]: [f64; 4]) -> Vec<Point> {
    vec![[left, bottom], [right, bottom], [right, top], [left, top]]
}

/// The part of a polygon on one side (Sutherland and Hodgman, CACM 17, 1974); empty where none is.
pub(crate) fn polygon(corners: &[Point], side: &HalfPlane) -> Vec<Point> {
    let mut kept = Vec::with_capacity(corners.len() + 1);
    for (at, p) in corners.iter().enumerate() {
        let q = corners[(at + 1) % corners.len()];
        let (u, v) = (side.value(*p), side.value(q));
        if u >= 0.0 {
            kept.push(*p);
        }
        if (u > 0.0 && v < 0.0) || (u < 0.0 && v > 0.0) {
            kept.push(side.crossing(*p, q));
        }
    }
    if kept.len() < 3 { Vec::new() } else { kept }
}

/// The part of a polygon within a window.
pub(crate) fn polygon_in(window: [f64; 4], corners: &[Point]) -> Vec<Point> {
    HalfPlane::of_window(window).iter().fold(corners.to_vec(), |kept, side| polygon(&kept, side))
}

/// The part of a segment on one side of every plane.
pub(crate) fn segment(p: Point, q: Point, sides: &[HalfPlane]) -> Option<(Point, Point)> {
    let (mut from, mut to) = (p, q);
    for side in sides {
        match (side.value(from) >= 0.0, side.value(to) >= 0.0) {
            (true, true) => {}
            (false, false) => return None,
            (true, false) => to = side.crossing(from, to),
            (false, true) => from = side.crossing(from, to),
        }
    }
    (from != to).then_some((from, to))
}

/// The parts of a line within a window.
pub(crate) fn path_in(window: [f64; 4], path: &[Point]) -> Vec<Vec<Point>> {
    let sides = HalfPlane::of_window(window);
    let mut parts: Vec<Vec<Point>> = Vec::new();
    for pair in path.windows(2) {
        let Some((from, to)) = segment(pair[0], pair[1], &sides) else { continue };
        match parts.last_mut() {
            Some(part) if part.last() == Some(&from) => part.push(to),
            _ => parts.push(vec![from, to]),
        }
    }
    parts
}

/// The part of the line `a·x + b·y + c = 0` within a window.
pub(crate) fn line_in(window: [f64; 4], line: &HalfPlane) -> Option<(Point, Point)> {
    let ring = corners(window);
    let mut ends: Vec<Point> = Vec::new();
    for (at, p) in ring.iter().enumerate() {
        let q = ring[(at + 1) % 4];
        let (u, v) = (line.value(*p), line.value(q));
        if u == 0.0 {
            ends.push(*p);
        } else if (u < 0.0) != (v < 0.0) && v != 0.0 {
            ends.push(line.crossing(*p, q));
        }
    }
    match ends[..] {
        [p, q, ..] if p != q => Some((p, q)),
        _ => None,
    }
}

/// Twice the area of a polygon, positive where its corners run counter-clockwise.
pub(crate) fn doubled_area(ring: &[Point]) -> f64 {
    let cross = |(at, p): (usize, &Point)| {
        let q = ring[(at + 1) % ring.len()];
        p[0] * q[1] - q[0] * p[1]
    };
    ring.iter().enumerate().map(cross).sum()
}

/// The line without points that lie on a straight line between their neighbours, to within `tolerance` (x and y measured in
/// `unit`).
pub(crate) fn straightened(path: &[Point], unit: Point, tolerance: f64) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::with_capacity(path.len());
    for p in path {
        while let [.., before, last] = kept[..] {
            let (dx, dy) = ((p[0] - before[0]) / unit[0], (p[1] - before[1]) / unit[1]);
            let (ex, ey) = ((last[0] - before[0]) / unit[0], (last[1] - before[1]) / unit[1]);
            let length = dx.hypot(dy);
            // The distance of the middle point from the chord, and whether it lies between the ends.
            let along = dx * ex + dy * ey;
            if length > 0.0
                && (dx * ey - dy * ex).abs() <= tolerance * length
                && along >= 0.0
                && along <= length * length
            {
                kept.pop();
            } else {
                break;
            }
        }
        kept.push(*p);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_cut_by_a_line() {
        let window = [0.0, 0.0, 2.0, 1.0];
        let side = HalfPlane { a: 1.0, b: 0.0, c: -0.5 };
        let kept = polygon(&corners(window), &side);
        assert_eq!(doubled_area(&kept), 3.0);
        assert_eq!(line_in(window, &side), Some(([0.5, 0.0], [0.5, 1.0])));
        assert_eq!(line_in(window, &HalfPlane { a: 1.0, b: 0.0, c: 5.0 }), None);
        assert!(polygon(&corners(window), &HalfPlane { a: 1.0, b: 0.0, c: -3.0 }).is_empty());
        let diagonal = line_in([0.0, 0.0, 1.0, 1.0], &HalfPlane { a: 1.0, b: -1.0, c: 0.0 });
        assert_eq!(diagonal, Some(([0.0, 0.0], [1.0, 1.0])));
    }

    #[test]
    fn paths_keep_what_is_inside() {
        let parts = path_in([0.0, 0.0, 1.0, 1.0], &[[-1.0, 0.5], [0.5, 0.5], [0.5, 2.0], [0.8, 2.0], [0.8, 0.0]]);
        assert_eq!(parts, [vec![[0.0, 0.5], [0.5, 0.5], [0.5, 1.0]], vec![[0.8, 1.0], [0.8, 0.0]]]);
    }

    #[test]
    fn straight_runs_become_two_points() {
        let path: Vec<Point> = (0..10).map(|k| [k as f64, 2.0 * k as f64]).chain([[10.0, 0.0]]).collect();
        assert_eq!(straightened(&path, [1.0, 1.0], 1e-9), [[0.0, 0.0], [9.0, 18.0], [10.0, 0.0]]);
    }
}
