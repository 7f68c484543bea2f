//! Three dimensions on paper: a box seen from above a corner, by parallel projection.

use crate::scene::{Axis, Colour, Mark, Panel, Point};

/// A point of three coordinates.
pub(super) type Point3 = [f64; 3];

/// Cosine and sine of the angle of the two axes on the floor, 30°.
const COS: f64 = 0.866_025_403_784_438_6;
/// See [`COS`].
const SIN: f64 = 0.5;
/// Height of the box, in widths of its floor; lower than a cube, so that surfaces are seen from above. Chosen by eye.
const HEIGHT: f64 = 0.8;

/// A box of three axes.
pub(super) struct Box3 {
    pub axes: [Axis; 3],
}

impl Box3 {
    /// Where a point of the box lies on the paper; the box is about 1.7 wide.
    pub fn project(&self, p: Point3) -> Point {
        let share = |k: usize| self.axes[k].share(p[k]);
        let (x, y, z) = (share(0), share(1), share(2));
        [(x - y) * COS, -(x + y) * SIN + HEIGHT * z]
    }

    /// How near to the reader a point is: what is nearer is drawn later.
    pub fn nearness(&self, p: Point3) -> f64 {
        let share = |k: usize| self.axes[k].share(p[k]);
        share(0) + share(1) + share(2) / HEIGHT
    }

    /// The direction towards the reader, in the units of the axes: points along it lie on one point of the paper.
    pub fn towards(&self) -> Point3 {
        let span = |k: usize| self.axes[k].range.1 - self.axes[k].range.0;
        [span(0), span(1), span(2) / HEIGHT]
    }

    /// A panel around the box, with the edges behind what it holds.
    pub fn panel(&self, title: impl Into<String>) -> Panel {
        let x = Axis::new("", (-1.18, 1.18)).plain();
        let y = Axis::new("", (-1.17, HEIGHT + 0.12)).plain();
        let mut panel = Panel::new(x, y);
        panel.title = Some(title.into());
        panel.equal = true;
        panel.bare = true;
        let [x, y, z] = [0, 1, 2].map(|k: usize| self.axes[k].range);
        let line = |a: Point3, b: Point3| vec![self.project(a), self.project(b)];
        // Corners of the floor: 00 is behind, 11 in front.
        let edges = vec![
            line([x.0, y.0, z.0], [x.1, y.0, z.0]),
            line([x.0, y.0, z.0], [x.0, y.1, z.0]),
            line([x.1, y.0, z.0], [x.1, y.1, z.0]),
            line([x.0, y.1, z.0], [x.1, y.1, z.0]),
            line([x.0, y.0, z.0], [x.0, y.0, z.1]),
            line([x.0, y.1, z.0], [x.0, y.1, z.1]),
            line([x.1, y.0, z.0], [x.1, y.0, z.1]),
            line([x.0, y.0, z.1], [x.1, y.0, z.1]),
            line([x.0, y.0, z.1], [x.0, y.1, z.1]),
        ];
        panel.marks.push(Mark::lines(edges).width(0.6).colour(Colour::Muted).label("box"));
        self.add_scales(&mut panel);
        panel
    }

    /// Ticks and names of the three axes, outside the box.
    fn add_scales(&self, panel: &mut Panel) {
        let [x, y, z] = [0, 1, 2].map(|k: usize| self.axes[k].range);
        let middle = |(low, high): (f64, f64)| 0.5 * (low + high);
        let mut ticks = Vec::new();
        let mut tick = |at: Point3, away: Point, text: String, width: f64| {
            let p = self.project(at);
            let end = [p[0] + away[0], p[1] + away[1]];
            if width < 1.0 {
                ticks.push(vec![p, [p[0] + 0.35 * away[0], p[1] + 0.35 * away[1]]]);
            }
            panel.marks.push(Mark::word(end, text).width(width).colour(Colour::Muted));
        };
        for (value, text) in self.axes[0].ticks(4) {
            tick([value, y.1, z.0], [-0.06, -0.06], text, 0.9);
        }
        for (value, text) in self.axes[1].ticks(4) {
            tick([x.1, value, z.0], [0.06, -0.06], text, 0.9);
        }
        for (value, text) in self.axes[2].ticks(4) {
            tick([x.0, y.1, value], [-0.09, 0.0], text, 0.9);
        }
        tick([middle(x), y.1, z.0], [-0.3, -0.26], self.axes[0].label.clone(), 1.05);
        tick([x.1, middle(y), z.0], [0.3, -0.26], self.axes[1].label.clone(), 1.05);
        tick([x.0, y.1, z.1], [0.0, 0.13], self.axes[2].label.clone(), 1.05);
        panel.marks.push(Mark::lines(ticks).width(0.6).colour(Colour::Muted).label("ticks"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_box_lies_within_its_panel() {
        let axes = ["a", "b", "c"].map(|name| Axis::new(name, (-2.0, 3.0)));
        let cube = Box3 { axes };
        let panel = cube.panel("t");
        let [left, bottom, right, top] = panel.window();
        for corner in 0..8 {
            let end = |k: usize| if corner >> k & 1 == 1 { 3.0 } else { -2.0 };
            let p = cube.project([end(0), end(1), end(2)]);
            assert!(p[0] > left && p[0] < right && p[1] > bottom && p[1] < top, "{p:?}");
        }
        // What lies behind a point lies on it.
        let d = cube.towards();
        let (p, q) = (cube.project([0.0, 0.0, 0.0]), cube.project([0.1 * d[0], 0.1 * d[1], 0.1 * d[2]]));
        assert!((p[0] - q[0]).abs() < 1e-12 && (p[1] - q[1]).abs() < 1e-12);
        // The front corner is nearer than the one behind.
        assert!(cube.nearness([3.0, 3.0, -2.0]) > cube.nearness([-2.0, -2.0, -2.0]));
    }
}
