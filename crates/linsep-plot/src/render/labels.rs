//! Words beside points, placed so that none covers another.

use super::drawing::{Anchor, TextStyle, overlap, text_bounds};

/// Where a word may stand relative to its point, in em, the best first: beside it, above, below, then further away.
const PLACES: [(f64, f64, Anchor); 16] = [
    (0.6, -0.5, Anchor::Start),
    (0.6, 1.1, Anchor::Start),
    (-0.6, -0.5, Anchor::End),
    (-0.6, 1.1, Anchor::End),
    (0.0, -0.8, Anchor::Middle),
    (0.0, 1.6, Anchor::Middle),
    (0.8, 0.3, Anchor::Start),
    (-0.8, 0.3, Anchor::End),
    (1.4, -1.4, Anchor::Start),
    (1.4, 2.0, Anchor::Start),
    (-1.4, -1.4, Anchor::End),
    (-1.4, 2.0, Anchor::End),
    (0.0, -2.2, Anchor::Middle),
    (0.0, 2.8, Anchor::Middle),
    (2.4, 0.3, Anchor::Start),
    (-2.4, 0.3, Anchor::End),
];

/// A box with the room that keeps words from reading as one.
fn apart([left, top, right, bottom]: [f64; 4]) -> [f64; 4] {
    let room = 0.35 * (bottom - top);
    [left - room, top, right + room, bottom]
}

/// What words may not cover, and what they had better not.
pub(super) struct Obstacles {
    /// Left, top, right, bottom of the plotting area.
    pub frame: [f64; 4],
    /// Boxes of words.
    pub words: Vec<[f64; 4]>,
    /// Rows.
    pub points: Vec<[f64; 2]>,
    /// Points along lines.
    pub lines: Vec<[f64; 2]>,
}

impl Obstacles {
    fn is_free(&self, bounds: [f64; 4]) -> bool {
        let [left, top, right, bottom] = self.frame;
        bounds[0] >= left
            && bounds[1] >= top
            && bounds[2] <= right
            && bounds[3] <= bottom
            && !self.words.iter().any(|w| overlap(*w, apart(bounds)))
    }

    /// How much a box covers; a row weighs more than a piece of a line.
    fn covered(&self, bounds: [f64; 4]) -> f64 {
        let within = |p: &&[f64; 2]| p[0] > bounds[0] && p[0] < bounds[2] && p[1] > bounds[1] && p[1] < bounds[3];
        self.points.iter().filter(within).count() as f64 + 0.3 * self.lines.iter().filter(within).count() as f64
    }

    /// The place of a word beside a point that covers the least; `None` where every place is taken.
    pub fn place(&mut self, text: &str, at: [f64; 2], style: &TextStyle<'_>) -> Option<([f64; 2], Anchor)> {
        let mut best: Option<(f64, [f64; 2], Anchor, [f64; 4])> = None;
        for (rank, (dx, dy, anchor)) in PLACES.into_iter().enumerate() {
            let spot = [at[0] + dx * style.size, at[1] + dy * style.size];
            let bounds = text_bounds(text, spot, &TextStyle { anchor, ..*style });
            if !self.is_free(bounds) {
                continue;
            }
            // A worse place is taken for the sake of a row, not for nothing.
            let cost = self.covered(bounds) + 0.05 * rank as f64;
            if best.is_none_or(|(least, ..)| cost < least) {
                best = Some((cost, spot, anchor, bounds));
            }
        }
        let (_, spot, anchor, bounds) = best?;
        self.words.push(bounds);
        Some((spot, anchor))
    }

    /// Whether a word centred on a point has room there.
    pub fn fix(&mut self, text: &str, at: [f64; 2], style: &TextStyle<'_>) -> bool {
        let bounds = text_bounds(text, at, style);
        let free = self.is_free(bounds);
        if free {
            self.words.push(bounds);
        }
        free
    }
}
