//! The decision of a model over a window: regions, and the boundaries between them.
//!
//! Where the largest of linear scores decides, regions are polygons and boundaries segments, found by cutting the window; where
//! two-class fits with linear scores vote, the cells of their lines. Everything else is traced: decisions on a grid, and on every
//! edge of the grid along which the decision changes the place where it does, by bisection down to the last digit.

mod exact;
mod trace;

pub(crate) use trace::{Tracing, trace};

use crate::scene::Point;
use crate::subject::View;
use linsep::Result;
use linsep::watch::Watch;

/// Lines of two-class fits whose cells are found; with more there are too many cells, and they are traced. Chosen.
const MOST_LINES: usize = 60;

/// Where one decision is made: a class, or the number of classes where none is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Patch {
    pub decision: usize,
    pub rings: Vec<Vec<Point>>,
}

/// A line between two decisions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Edge {
    pub between: [usize; 2],
    pub path: Vec<Point>,
}

/// The decisions over a window.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DecisionMap {
    pub patches: Vec<Patch>,
    pub edges: Vec<Edge>,
    /// Whether boundaries are segments of lines.
    pub straight: bool,
}

/// The decisions of a model over a window.
pub(crate) fn decision_map(view: &View<'_>, window: [f64; 4], watch: &Watch) -> Result<DecisionMap> {
    let middle = [0.5 * (window[0] + window[2]), 0.5 * (window[1] + window[3])];
    if let Some(scores) = view.linear_scores(middle, watch)? {
        if let Some(cuts) = view.arg_max_cuts() {
            let mut scores = scores;
            scores.iter_mut().zip(&cuts).for_each(|(s, cut)| s.c -= cut);
            return Ok(exact::largest_score(&scores, window));
        }
        let votes = view.model.decision.scheme().is_some() && view.model.calibration.is_none();
        if votes && scores.len() <= MOST_LINES {
            return exact::votes(&scores, window, |points| view.decided(points, watch));
        }
    }
    let Tracing { patches, edges } = trace(window, |points| view.decided(points, watch))?;
    Ok(DecisionMap { patches, edges, straight: false })
}
