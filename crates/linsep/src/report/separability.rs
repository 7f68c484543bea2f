//! Separability in words.

use super::consequences::consequences;
use super::text::{clip, count, grid, short, thousands, wrap};
use crate::error::Place;
use crate::separate::{CommonPoint, Complete, Overlap, QuasiComplete, SeparabilityVerdict, Undecided, Verdict};
use crate::words::{Setting, Voice, words};
use crate::workflow::{Question, SHOWN_BOUNDARY, TableSeparability};
use std::borrow::Cow;

/// Width of the lines of an answer.
const LINE: usize = 86;
/// Hull points with a smaller gap to the margin are called the nearest.
const NEAREST: f64 = 1e-2;
/// A margin that hull points bound within this share is the widest to its printed digits.
const WIDEST: f64 = 1e-5;
/// Entries of a list that are shown.
const SHOWN: usize = 10;

/// Everything as text: the verdict in a sentence, what it rests on, and what follows from it.
pub fn separability_text(found: &TableSeparability, voice: &dyn Voice) -> String {
    let mut out = String::new();
    if let Some((question, first)) = found.answers.first()
        && (found.answers.len() == 1 || *question == Question::Joint)
    {
        out.push_str(&Page { found, question: *question, about: first }.text(voice));
        if found.answers.len() == 1 {
            return out;
        }
        out.push('\n');
    }
    let further: Vec<&(Question, SeparabilityVerdict)> =
        found.answers.iter().filter(|(question, _)| *question != Question::Joint).collect();
    let mut rows = vec![["", "verdict", "margin", "witness rows"].map(str::to_owned).to_vec()];
    for (question, about) in further {
        let page = Page { found, question: *question, about };
        let name = format!("{} | {}", clip(&page.class(0), 24), clip(&page.class(1), 24));
        let (margin, witness) = match &about.verdict {
            Verdict::Complete(v) => {
                let rows = v.hull.as_ref().map_or(String::new(), |h| h.weights.len().to_string());
                let is_widest = v.hull.as_ref().is_some_and(|h| h.gap <= WIDEST);
                (if is_widest { short(v.margin) } else { format!("at least {}", short(v.margin)) }, rows)
            }
            Verdict::QuasiComplete(v) => (String::new(), v.common.constraints.len().to_string()),
            Verdict::Overlap(v) => {
                let rows = v.common.as_ref().map_or(String::new(), |c| c.constraints.len().to_string());
                (String::new(), rows)
            }
            Verdict::Undecided(_) => (String::new(), String::new()),
        };
        rows.push(vec![name, about.verdict.name().to_owned(), margin, witness]);
    }
    out.push_str(&grid(&rows, 2));
    out
}

/// What stands beside the weights of a plane.
struct PlaneColumns<'v> {
    points: Vec<(String, Cow<'v, [f64]>)>,
    intercept: Option<f64>,
}

/// The point halfway between two.
pub(super) fn middle(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + 0.5 * (b - a)).collect()
}

/// `w₀` of `w·x + w₀`, of a plane of one score.
pub(super) fn intercept_at_zero(v: &Complete) -> Option<f64> {
    let [weights] = &v.weights[..] else { return None };
    let terms = weights.iter().zip(&v.centre).map(|(w, c)| -w * c);
    Some(crate::numeric::sum(terms.chain(v.intercept.first().copied())))
}

/// One answer.
pub(super) struct Page<'f> {
    pub(super) found: &'f TableSeparability,
    pub(super) question: Question,
    pub(super) about: &'f SeparabilityVerdict,
}

impl Page<'_> {
    /// The name of a class of the question.
    pub(super) fn class(&self, k: usize) -> String {
        let name = |k: usize| self.found.classes[k].clone();
        match self.question {
            Question::Joint => name(k),
            Question::Pair(a, b) => name(if k == 0 { a } else { b }),
            Question::Rest(a) if k == 1 => name(a),
            Question::Rest(_) => "the rest".to_owned(),
        }
    }

    fn feature(&self, j: usize) -> String {
        format!("`{}`", clip(&self.found.features[j], 40))
    }

    /// A row by its place.
    fn row(&self, row: usize, voice: &dyn Voice) -> String {
        match self.found.place(row) {
            Some(Place { line: Some(line), .. }) => format!("line {line}"),
            _ => format!("row {}", row + voice.first()),
        }
    }

    fn text(&self, voice: &dyn Voice) -> String {
        let verdict = &self.about.verdict;
        let mut out = format!("{}\n", self.headline());
        let mut lines: Vec<(&str, String)> = vec![("data", self.data())];
        match verdict {
            Verdict::Complete(v) => lines.extend(self.complete(v, voice)),
            Verdict::QuasiComplete(v) => lines.extend(self.quasi_complete(v, voice)),
            Verdict::Overlap(v) => lines.extend(self.overlap(v)),
            Verdict::Undecided(v) => lines.extend(self.undecided(v)),
        }
        if let Some(exact) = self.exact() {
            lines.push(("exact", exact));
        }
        lines.push(("route", self.about.route.describe().to_owned()));
        for (name, text) in &lines {
            for (i, line) in wrap(text, voice.width().min(LINE) - 15).iter().enumerate() {
                out.push_str(format!("  {:<11}  {line}", if i == 0 { name } else { "" }).trim_end());
                out.push('\n');
            }
        }
        out.push_str(&self.table(voice));
        out.push('\n');
        for text in consequences(verdict, self.about.classes).iter().filter_map(|words| words.said(voice)) {
            for (i, line) in wrap(&text, voice.width().min(LINE) - 4).iter().enumerate() {
                out.push_str(&format!("  {}{line}\n", if i == 0 { "" } else { "  " }));
            }
        }
        out
    }

    fn headline(&self) -> &'static str {
        let several = self.about.classes > 2;
        match (&self.about.verdict, several) {
            (Verdict::Complete(_), false) => {
                "Completely separable: a plane puts every row strictly on the side of its class."
            }
            (Verdict::Complete(_), true) => {
                "Completely separable: a linear machine puts every row strictly in the region of its class."
            }
            (Verdict::QuasiComplete(_), false) => {
                "Quasi-completely separable: no row need be on the wrong side, but some stay on the plane."
            }
            (Verdict::QuasiComplete(_), true) => {
                "Quasi-completely separable: no row need be in a wrong region, but some stay on a boundary."
            }
            (Verdict::Overlap(_), _) => "Not separable: the classes overlap.",
            (Verdict::Undecided(_), _) => "Undecided.",
        }
    }

    fn data(&self) -> String {
        let counts = self.found.classes.iter().zip(&self.found.counts);
        let counts: Vec<String> = counts.map(|(name, n)| format!("{name} {}", thousands(*n as f64))).collect();
        format!(
            "{} of {}, {}, target `{}`: {}",
            thousands(self.found.used as f64),
            count(self.found.rows, "row"),
            count(self.about.columns, "feature"),
            self.found.target,
            counts.join(", ")
        )
    }

    fn complete(&self, v: &Complete, voice: &dyn Voice) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        match &v.hull {
            Some(hull) => {
                lines.push(("margin", format!(
                    "{} in the units of the columns; no plane has more than {}, half the distance between the hulls \
                     (they differ by {:.0e}, relative)",
                    short(v.margin), short(0.5 * hull.distance), hull.gap.max(0.0)
                )));
                let rows = count(hull.weights.len(), "row");
                let witness = match hull.gap <= NEAREST {
                    true => format!("the nearest points of the two hulls, x* and y*, are mixtures of {rows}"),
                    false => format!(
                        "the plane, on every row; two points of the hulls, mixtures of {rows}, bound the margin"
                    ),
                };
                lines.push(("witness", witness));
            }
            None => {
                let what = if self.about.classes > 2 { "to the nearest boundary of its class" } else { "to the plane" };
                lines.push((
                    "margin",
                    format!("at least {} from any row {what}, in the units of the columns", short(v.margin)),
                ));
            }
        }
        if v.whole.is_some() {
            let whole = words!["; ", Setting::Json, " has the whole numbers"].said(voice).unwrap_or_default();
            let what = "no doubles near them separate, so the coefficients shown are rounded";
            lines.push(("plane", format!("{what}{whole}")));
        }
        lines
    }

    fn quasi_complete(&self, v: &QuasiComplete, voice: &dyn Voice) -> Vec<(&'static str, String)> {
        let (strict, boundary) = (count(v.strict_rows, "row"), thousands(v.boundary.len() as f64));
        let direction = format!("{strict} strictly on their side, {boundary} on the boundary, none on the wrong side");
        let mut lines = vec![("direction", direction)];
        let columns = v.columns.as_deref().unwrap_or_default();
        let mut names: Vec<String> = columns.iter().take(SHOWN).map(|j| self.feature(*j)).collect();
        if columns.len() > SHOWN {
            names.push(format!("{} more", thousands((columns.len() - SHOWN) as f64)));
        }
        if v.intercept_diverges {
            names.push("the intercept".into());
        }
        if v.columns.is_none() {
            lines.push(("diverging", "not named: to prove which would take too long".into()));
        } else if !names.is_empty() {
            let left_out = v.collinear.as_ref().map_or(0, Vec::len);
            let others = if columns.len() + left_out < self.about.columns { "; the others have one" } else { "" };
            lines.push(("diverging", format!("{}: no finite maximum-likelihood estimate{others}", names.join(", "))));
        }
        if let Some(collinear) = v.collinear.as_ref().filter(|c| !c.is_empty()) {
            let names: Vec<String> = collinear.iter().take(SHOWN).map(|j| self.feature(*j)).collect();
            let more = if collinear.len() > SHOWN { ", …" } else { "" };
            lines.push(("collinear", format!("{}{more}: not determined, whatever the labels", names.join(", "))));
        }
        if (1..=SHOWN_BOUNDARY).contains(&v.boundary.len()) {
            let rows: Vec<String> = v.boundary.iter().map(|row| self.row(*row, voice)).collect();
            lines.push(("boundary", rows.join(", ")));
        }
        lines.push(("witness", self.common(&v.common)));
        lines
    }

    fn overlap(&self, v: &Overlap) -> Vec<(&'static str, String)> {
        let rows = if self.about.classes > 2 { "pairs of a row and another class" } else { "rows" };
        let mut lines = vec![(
            "weights",
            format!(
                "all {} {rows} have positive weights α with Σ αyx̃ = 0 (to {:.0e}; α from {} to 1): no plane can favour one row \
             without failing another",
                thousands(v.weights.len() as f64),
                v.residual,
                short(v.smallest)
            ),
        )];
        if let Some(common) = &v.common {
            lines.push(("witness", self.common(common)));
        }
        lines
    }

    fn undecided(&self, v: &Undecided) -> Vec<(&'static str, String)> {
        let mut lines = vec![("reason", v.reason.clone())];
        if let Some(common) = &v.common {
            lines.push(("witness", format!("{}; so no plane is strict", self.common(common))));
        }
        lines
    }

    fn common(&self, common: &CommonPoint) -> String {
        let rows = count(common.constraints.len(), "row");
        match self.about.classes > 2 {
            true => format!("{rows} weighted against other classes balance (to {:.0e})", common.residual),
            false => {
                format!("the hulls of the classes share a point, a mixture of {rows} (to {:.0e})", common.residual)
            }
        }
    }

    fn exact(&self) -> Option<String> {
        let common = match &self.about.verdict {
            Verdict::QuasiComplete(v) => Some(v.common.is_exact()),
            Verdict::Overlap(v) => v.common.as_ref().map(CommonPoint::is_exact),
            _ => None,
        };
        match (self.about.verdict.exact(), common) {
            (Some(true), _) => Some("the witness holds in rational arithmetic, without rounding".into()),
            (None, Some(true)) => Some("the common point holds in rational arithmetic: no plane is strict".into()),
            _ => None,
        }
    }

    /// The few rows and their weights, and the plane.
    fn table(&self, voice: &dyn Voice) -> String {
        let mut out = String::new();
        let mut plane = |weights: &[f64], what: &str, more: &PlaneColumns<'_>| {
            let mut largest: Vec<usize> = (0..weights.len()).filter(|j| weights[*j] != 0.0).collect();
            largest.sort_by(|a, b| weights[*b].abs().total_cmp(&weights[*a].abs()).then(a.cmp(b)));
            let mut rows = vec![vec![String::new(), what.to_owned()]];
            rows[0].extend(more.points.iter().map(|(name, _)| name.clone()));
            for j in largest.iter().take(SHOWN) {
                let points = more.points.iter().map(|(_, point)| short(point[*j]));
                rows.push([clip(&self.found.features[*j], 40), short(weights[*j])].into_iter().chain(points).collect());
            }
            rows.extend(more.intercept.map(|b| vec!["(intercept)".to_owned(), short(b)]));
            out.push('\n');
            out.push_str(&grid(&rows, 2));
            if largest.len() > SHOWN {
                out.push_str(&format!("  … {} more\n", largest.len() - SHOWN));
            }
        };
        match &self.about.verdict {
            Verdict::Complete(v) if v.weights.len() == 1 => {
                let more = PlaneColumns {
                    points: self.points(v),
                    intercept: v.whole.is_none().then(|| intercept_at_zero(v)).flatten(),
                };
                plane(&v.weights[0], &format!("w (for {})", self.class(1)), &more);
            }
            Verdict::QuasiComplete(v) if v.weights.len() == 1 => {
                let none = PlaneColumns { points: Vec::new(), intercept: None };
                plane(&v.weights[0], &format!("direction (for {})", self.class(1)), &none);
            }
            _ => {}
        }
        let rows: Vec<(usize, String, f64)> = match &self.about.verdict {
            Verdict::Complete(v) => {
                let of_hull = |(row, w): &(usize, f64)| (*row, String::new(), *w);
                v.hull.iter().flat_map(|h| h.weights.iter().map(of_hull)).collect()
            }
            Verdict::QuasiComplete(v) => self.weighted(&v.common),
            Verdict::Overlap(v) => v.common.as_ref().map_or(Vec::new(), |c| self.weighted(c)),
            Verdict::Undecided(v) => v.common.as_ref().map_or(Vec::new(), |c| self.weighted(c)),
        };
        if rows.is_empty() {
            return out;
        }
        let several = rows.iter().any(|(_, class, _)| !class.is_empty());
        let mut heaviest: Vec<&(usize, String, f64)> = rows.iter().collect();
        heaviest.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
        let mut lines = vec![vec!["witness row".to_owned(), "weight".into()]];
        if several {
            lines[0].push("class".into());
        }
        for (row, class, weight) in heaviest.iter().take(SHOWN) {
            let mut line = vec![self.row(*row, voice), short(*weight)];
            if several {
                line.push(clip(class, 40));
            }
            lines.push(line);
        }
        out.push('\n');
        out.push_str(&grid(&lines, 2));
        if rows.len() > SHOWN {
            let where_else = words![" (", Setting::Json, " has all)"].said(voice).unwrap_or_default();
            out.push_str(&format!("  … {} more{where_else}\n", rows.len() - SHOWN));
        }
        out
    }

    /// y*, x* and the middle of them, where they are the nearest points of the hulls.
    fn points<'v>(&self, v: &'v Complete) -> Vec<(String, Cow<'v, [f64]>)> {
        let Some(hull) = v.hull.as_ref().filter(|hull| hull.gap <= NEAREST) else { return Vec::new() };
        let [first, second] = &hull.points;
        let name = |point: &str, k: usize| format!("{point} (of {})", clip(&self.class(k), 16));
        vec![
            (name("y*", 0), Cow::Borrowed(&first[..])),
            (name("x*", 1), Cow::Borrowed(&second[..])),
            ("x₀ midway".to_owned(), Cow::Owned(middle(first, second))),
        ]
    }

    fn weighted(&self, common: &CommonPoint) -> Vec<(usize, String, f64)> {
        let name = |own: usize, other: usize| match self.about.classes > 2 {
            true => format!("{}, not {}", self.class(own), self.class(other)),
            false => self.class(own),
        };
        common.constraints.iter().map(|c| (c.row, name(c.own, c.other), c.weight)).collect()
    }
}
