//! One panel: where its axes stand, and its marks in pixels.

use super::drawing::{Anchor, Drawing, TextStyle, bounds_of, path_text, short};
use super::labels::Obstacles;
use super::layout::Page;
use super::symbol;
use crate::clip;
use crate::font;
use crate::scene::{Axis, AxisTicks, Mark, Panel, Point, Scale, Shape, Symbol};

/// A panel with the place of its plotting area.
pub(super) struct PanelPlan<'a> {
    panel: &'a Panel,
    /// Left, top, right, bottom of the plotting area.
    frame: [f64; 4],
    /// Left edge and width of all of it.
    outer: (f64, f64),
    top: f64,
    x_ticks: AxisTicks,
    y_ticks: AxisTicks,
    /// Whether the names below are read upwards.
    upright_names: bool,
    x_names_height: f64,
}

/// Share of the width that names of the vertical axis may take.
const NAMES_SHARE: f64 = 0.36;

impl<'a> PanelPlan<'a> {
    pub fn new(panel: &'a Panel, page: &Page, [left, top]: [f64; 2], width: f64) -> PanelPlan<'a> {
        let em = page.em;
        let tick_size = 0.9 * em;
        let title = if panel.title.is_some() { 1.7 * em } else { 0.3 * em };
        let right_room = 0.6 * em;
        if panel.bare {
            let frame = [left, top + title, left + width, top + title + plot_height(panel, width, em)];
            let (x_ticks, y_ticks) = (Vec::new(), Vec::new());
            let outer = (left, width);
            return PanelPlan { panel, frame, outer, top, x_ticks, y_ticks, upright_names: false, x_names_height: 0.0 };
        }
        let beside = if panel.y.label.is_empty() { 0.3 * em } else { 1.5 * em };
        // The height follows from the width and the ticks beside it from the height: twice is enough.
        let mut names = 3.0 * em;
        let (mut y_ticks, mut height) = (Vec::new(), 0.0);
        for _ in 0..2 {
            let inner = (width - beside - names - 0.5 * em - right_room).max(4.0 * em);
            height = plot_height(panel, inner, em);
            y_ticks = thinned(panel.y.ticks(((height / (2.4 * em)) as usize).clamp(2, 8)), height, 1.25 * em, &panel.y);
            let most = NAMES_SHARE * width;
            y_ticks.iter_mut().for_each(|(_, text)| *text = font::shortened(text, tick_size, false, most));
            names = y_ticks.iter().map(|(_, text)| font::width(text, tick_size, false)).fold(0.0, f64::max);
        }
        let frame_left = left + beside + names + 0.5 * em;
        let frame = [frame_left, top + title, left + width - right_room, top + title + height];
        let inner = frame[2] - frame[0];
        let mut plan = PanelPlan {
            panel,
            frame,
            outer: (left, width),
            top,
            x_ticks: Vec::new(),
            y_ticks,
            upright_names: false,
            x_names_height: 1.3 * em,
        };
        plan.place_x_ticks(inner, em, tick_size);
        plan
    }

    fn place_x_ticks(&mut self, inner: f64, em: f64, size: f64) {
        let axis = &self.panel.x;
        let widest = |ticks: &AxisTicks| ticks.iter().map(|(_, t)| font::width(t, size, false)).fold(0.0, f64::max);
        let fits = |ticks: &AxisTicks| {
            let places: Vec<f64> = ticks.iter().map(|(v, _)| axis.share(*v) * inner).collect();
            let apart = |pair: (&[f64], &[(f64, String)])| {
                let half = |t: &str| 0.5 * font::width(t, size, false);
                (pair.0[1] - pair.0[0]).abs() >= half(&pair.1[0].1) + half(&pair.1[1].1) + 0.5 * em
            };
            places.windows(2).zip(ticks.windows(2)).all(apart)
        };
        if axis.names.is_none() {
            let most = ((inner / (3.0 * em)) as usize).clamp(2, 10);
            let found = (1..=most).rev().map(|most| axis.ticks(most)).find(fits);
            self.x_ticks = found.unwrap_or_default();
            return;
        }
        let names = axis.ticks(0);
        if fits(&names) {
            self.x_ticks = names;
            return;
        }
        self.upright_names = true;
        let mut names = thinned(names, inner, 1.25 * em, axis);
        names.iter_mut().for_each(|(_, t)| *t = font::shortened(t, size, false, 9.0 * em));
        self.x_names_height = widest(&names) + 0.5 * em;
        self.x_ticks = names;
    }

    /// A point in pixels.
    fn pixel(&self, p: Point) -> [f64; 2] {
        let [left, top, right, bottom] = self.frame;
        [left + self.panel.x.share(p[0]) * (right - left), bottom - self.panel.y.share(p[1]) * (bottom - top)]
    }

    /// Draws axes and marks; returns where the panel ends.
    pub fn draw(&self, page: &Page, drawing: &mut Drawing) -> f64 {
        let number = drawing.frames.len();
        drawing.frames.push(self.frame);
        let [left, top, right, bottom] = self.frame;
        let em = page.em;
        if let Some(title) = &self.panel.title {
            let most = self.outer.1 - (left - self.outer.0);
            let title = font::shortened(title, em, true, most);
            drawing.text(&title, [left, self.top + 1.05 * em], &page.style(1.0, true));
        }
        self.grid(page, drawing);
        let mut shown = 0usize;
        for mark in &self.panel.marks {
            if let Shape::Points { at, .. } = &mark.shape {
                shown += at.len();
            }
        }
        // Many symbols are drawn smaller, so that they do not become one: by how many there are in the room of a usual panel.
        let room = (right - left) * (bottom - top) / (USUAL_ROOM * em * em);
        let crowd = [(3000.0, 0.45), (1200.0, 0.6), (400.0, 0.75), (150.0, 0.9)];
        let crowd = crowd.iter().find(|(n, _)| shown as f64 > n * room.max(0.3)).map_or(1.0, |(_, size)| *size);
        for mark in self.panel.marks.iter().filter(|m| !matches!(m.shape, Shape::Text { .. })) {
            self.mark(mark, crowd, number, page, drawing);
        }
        if self.panel.bare {
            self.words(page, drawing);
            return bottom;
        }
        // The frame is drawn over the marks, whose ends it cuts clean.
        let frame = path_text(&[[left, top], [left, bottom], [right, bottom]], false);
        drawing.path(&frame, &format!(r#"fill="none" stroke="{}" stroke-width="{}""#, page.muted, short(em / 14.0)));
        self.words(page, drawing);
        self.axis_texts(page, drawing)
    }

    fn grid(&self, page: &Page, drawing: &mut Drawing) {
        let [left, top, right, bottom] = self.frame;
        let mut d = String::new();
        let x_lines = if self.panel.x.grid { &self.x_ticks[..] } else { &[] };
        let y_lines = if self.panel.y.grid { &self.y_ticks[..] } else { &[] };
        for (value, _) in x_lines {
            let x = self.pixel([*value, self.panel.y.range.0])[0];
            d.push_str(&path_text(&[[x, top], [x, bottom]], false));
        }
        for (value, _) in y_lines {
            let y = self.pixel([self.panel.x.range.0, *value])[1];
            d.push_str(&path_text(&[[left, y], [right, y]], false));
        }
        if !d.is_empty() {
            let width = short(page.em / 14.0);
            drawing.path(&d, &format!(r#"fill="none" stroke="{}" stroke-width="{width}""#, page.theme.grid()));
        }
    }

    fn axis_texts(&self, page: &Page, drawing: &mut Drawing) -> f64 {
        let [left, top, right, bottom] = self.frame;
        let em = page.em;
        let style = TextStyle { colour: &page.muted, ..page.style(0.9, false) };
        let mut ticks = String::new();
        for (value, text) in &self.x_ticks {
            let x = self.pixel([*value, self.panel.y.range.0])[0];
            ticks.push_str(&path_text(&[[x, bottom], [x, bottom + 0.3 * em]], false));
            match self.upright_names {
                false => {
                    drawing.text(text, [x, bottom + 1.3 * em], &TextStyle { anchor: Anchor::Middle, ..style });
                }
                true => {
                    let upwards = TextStyle { anchor: Anchor::End, upwards: true, ..style };
                    drawing.text(text, [x + 0.33 * em, bottom + 0.45 * em], &upwards);
                }
            }
        }
        for (value, text) in &self.y_ticks {
            let y = self.pixel([self.panel.x.range.0, *value])[1];
            ticks.push_str(&path_text(&[[left - 0.3 * em, y], [left, y]], false));
            drawing.text(text, [left - 0.5 * em, y + 0.33 * em], &TextStyle { anchor: Anchor::End, ..style });
        }
        let width = short(em / 14.0);
        drawing.path(&ticks, &format!(r#"fill="none" stroke="{}" stroke-width="{width}""#, page.muted));
        let label = page.style(1.0, false);
        if !self.panel.y.label.is_empty() {
            let text = font::shortened(&self.panel.y.label, label.size, false, bottom - top);
            let upwards = TextStyle { anchor: Anchor::Middle, upwards: true, ..label };
            drawing.text(&text, [self.outer.0 + 0.85 * em, 0.5 * (top + bottom)], &upwards);
        }
        let mut end = bottom + 0.3 * em + self.x_names_height;
        if !self.panel.x.label.is_empty() {
            let text = font::shortened(&self.panel.x.label, label.size, false, right - left);
            end += 1.2 * em;
            drawing.text(&text, [0.5 * (left + right), end], &TextStyle { anchor: Anchor::Middle, ..label });
            end += 0.3 * em;
        }
        end
    }

    fn mark(&self, mark: &Mark, crowd: f64, number: usize, page: &Page, drawing: &mut Drawing) {
        let window = self.panel.window();
        match &mark.shape {
            Shape::Points { at, symbol, size } => {
                let radius = page.radius() * size * if *symbol == Symbol::Ring { crowd.max(0.6) } else { crowd };
                drawing.open(&page.symbol_attributes(mark, *symbol));
                for p in at.iter().filter(|p| within(window, **p)) {
                    let pixel = self.pixel(*p);
                    let d = symbol::path(*symbol, pixel, radius);
                    drawing.marks.push((number, [pixel[0], pixel[1], pixel[0], pixel[1]]));
                    drawing.path(&d, "");
                }
                drawing.close();
            }
            Shape::Line { paths, arrow } => {
                for path in paths {
                    let usable = self.positive(path);
                    for part in clip::path_in(window, &usable) {
                        let pixels: Vec<[f64; 2]> = part.iter().map(|p| self.pixel(*p)).collect();
                        let pixels = clip::straightened(&pixels, [1.0, 1.0], STRAIGHT);
                        drawing.marks.push((number, bounds_of(&pixels)));
                        drawing.path(&path_text(&pixels, false), &page.line_attributes(mark));
                        let ends_here = part.last() == path.last();
                        if let ([.., before, end], true, true) = (&pixels[..], *arrow, ends_here) {
                            self.arrow_head(*before, *end, mark, page, drawing);
                        }
                    }
                }
            }
            Shape::Area { rings, hatched } => {
                let mut d = String::new();
                for ring in rings {
                    let kept = clip::polygon_in(window, ring);
                    if kept.len() < 3 {
                        continue;
                    }
                    let pixels: Vec<[f64; 2]> = kept.iter().map(|p| self.pixel(*p)).collect();
                    let pixels = clip::straightened(&pixels, [1.0, 1.0], STRAIGHT);
                    drawing.marks.push((number, bounds_of(&pixels)));
                    d.push_str(&path_text(&pixels, true));
                }
                if d.is_empty() {
                    return;
                }
                let colour = page.theme.colour(mark.colour);
                let fill = if *hatched { drawing.hatch(&colour) } else { colour };
                let factor = if *hatched || mark.opacity >= 1.0 { 1.0 } else { page.theme.region_factor() };
                let opacity = (mark.opacity * factor).min(1.0);
                drawing.path(&d, &format!(r#"fill="{fill}" fill-opacity="{}""#, short(opacity)));
            }
            Shape::Text { .. } => {}
        }
    }

    /// On a logarithmic axis only positive values have a place.
    fn positive(&self, path: &[Point]) -> Vec<Point> {
        let fine = |p: &&Point| {
            (self.panel.x.scale == Scale::Linear || p[0] > 0.0) && (self.panel.y.scale == Scale::Linear || p[1] > 0.0)
        };
        path.iter().filter(fine).copied().collect()
    }

    fn arrow_head(&self, before: [f64; 2], end: [f64; 2], mark: &Mark, page: &Page, drawing: &mut Drawing) {
        let (dx, dy) = (end[0] - before[0], end[1] - before[1]);
        let length = dx.hypot(dy);
        if length == 0.0 {
            return;
        }
        let (u, v) = (dx / length, dy / length);
        let (long, wide) = (0.75 * page.em, 0.27 * page.em);
        let corner = |side: f64| [end[0] - long * u - side * wide * v, end[1] - long * v + side * wide * u];
        let tip = [end[0] + 0.1 * page.em * u, end[1] + 0.1 * page.em * v];
        let d = path_text(&[tip, corner(1.0), corner(-1.0)], true);
        drawing.path(&d, &format!(r#"fill="{}""#, page.theme.colour(mark.colour)));
    }

    /// The words of the panel, those with a fixed place first.
    fn words(&self, page: &Page, drawing: &mut Drawing) {
        let window = self.panel.window();
        let mut obstacles = Obstacles { frame: self.frame, words: Vec::new(), points: Vec::new(), lines: Vec::new() };
        for mark in &self.panel.marks {
            match &mark.shape {
                Shape::Points { at, .. } => {
                    obstacles.points.extend(at.iter().filter(|p| within(window, **p)).map(|p| self.pixel(*p)));
                }
                Shape::Line { paths, .. } => {
                    let parts = paths.iter().flat_map(|path| clip::path_in(window, &self.positive(path)));
                    parts.for_each(|part| {
                        sampled(&part.iter().map(|p| self.pixel(*p)).collect::<Vec<_>>(), &mut obstacles.lines)
                    });
                }
                _ => {}
            }
        }
        let texts = self.panel.marks.iter().filter_map(|mark| match &mark.shape {
            Shape::Text { at, text, fixed } => Some((mark, *at, text, *fixed)),
            _ => None,
        });
        let mut texts: Vec<(&Mark, Point, &String, bool)> = texts.collect();
        texts.sort_by_key(|(.., fixed)| !*fixed);
        for (mark, at, text, fixed) in texts {
            if !within(window, at) {
                continue;
            }
            let colour = page.theme.colour(mark.colour);
            let style = TextStyle { colour: &colour, halo: Some(&page.paper), ..page.style(0.92 * mark.width, false) };
            let at = self.pixel(at);
            match fixed {
                true => {
                    let style = TextStyle { anchor: Anchor::Middle, halo: None, ..style };
                    let spot = [at[0], at[1] + 0.33 * style.size];
                    match obstacles.fix(text, spot, &style) {
                        true => drawing.text(text, spot, &style),
                        false => drawing.dropped.push(text.clone()),
                    }
                }
                false => match obstacles.place(text, at, &style) {
                    Some((spot, anchor)) => drawing.text(text, spot, &TextStyle { anchor, ..style }),
                    None => drawing.dropped.push(text.clone()),
                },
            }
        }
    }
}

/// Area of the plotting area of a usual picture of 720 pixels, in squares of its text size.
const USUAL_ROOM: f64 = 1900.0;
/// Points this near to a straight line, in pixels, are left out: a quarter of what is written.
const STRAIGHT: f64 = 0.0025;

fn within([left, bottom, right, top]: [f64; 4], p: Point) -> bool {
    p[0] >= left && p[0] <= right && p[1] >= bottom && p[1] <= top
}

/// Points every few pixels along a line.
fn sampled(path: &[[f64; 2]], into: &mut Vec<[f64; 2]>) {
    for pair in path.windows(2) {
        let (dx, dy) = (pair[1][0] - pair[0][0], pair[1][1] - pair[0][1]);
        let steps = (dx.hypot(dy) / 5.0).ceil().min(400.0) as usize;
        into.extend((0..steps).map(|k| {
            let t = k as f64 / steps as f64;
            [pair[0][0] + t * dx, pair[0][1] + t * dy]
        }));
    }
}

/// Height of the plotting area for a width.
fn plot_height(panel: &Panel, width: f64, em: f64) -> f64 {
    let span = |axis: &Axis| axis.range.1 - axis.range.0;
    match &panel.y.names {
        _ if panel.equal => width * span(&panel.y) / span(&panel.x),
        Some(names) => (names.len() as f64 * panel.row_height * em).max(6.0 * em),
        None => width * panel.aspect,
    }
}

/// Every name, or every second, third … where they would not keep apart.
fn thinned(ticks: AxisTicks, length: f64, apart: f64, axis: &Axis) -> AxisTicks {
    if axis.names.is_none() || ticks.len() < 2 {
        return ticks;
    }
    let slot = (axis.share(ticks[1].0) - axis.share(ticks[0].0)).abs() * length;
    let every = (apart / slot.max(1e-9)).ceil().max(1.0) as usize;
    ticks.into_iter().enumerate().filter(|(at, _)| at % every == 0).map(|(_, tick)| tick).collect()
}
