//! A picture for programs.

use super::{Axis, Mark, Picture, Scale, Shape};
use serde_json::{Value, json};

impl Picture {
    /// `{kind, title, marks, axes, caption, notes}`; of several panels `panels` with marks and axes each.
    pub fn json(&self) -> Value {
        let panels: Vec<Value> = self
            .panels
            .iter()
            .map(|panel| {
                json!({
                    "title": panel.title,
                    "marks": panel.marks.iter().map(mark).collect::<Vec<Value>>(),
                    "axes": {"x": axis(&panel.x), "y": axis(&panel.y), "equal": panel.equal},
                })
            })
            .collect();
        let mut value = json!({
            "kind": self.kind,
            "title": self.title,
            "legend": self.keys.iter().map(|key| key.label.clone()).collect::<Vec<String>>(),
            "caption": self.caption,
            "notes": self.notes,
        });
        match &panels[..] {
            [only] => {
                value["marks"] = only["marks"].clone();
                value["axes"] = only["axes"].clone();
            }
            _ => value["panels"] = panels.into(),
        }
        value
    }
}

fn axis(axis: &Axis) -> Value {
    let scale = match axis.scale {
        Scale::Linear => "linear",
        Scale::Log => "log",
    };
    json!({"label": axis.label, "range": [axis.range.0, axis.range.1], "scale": scale})
}

/// Points of a mark: of symbols one list, of lines and areas one list for each.
fn mark(mark: &Mark) -> Value {
    let (points, text) = match &mark.shape {
        Shape::Points { at, .. } => (json!(at), None),
        Shape::Line { paths, .. } => (json!(paths), None),
        Shape::Area { rings, .. } => (json!(rings), None),
        Shape::Text { at, text, .. } => (json!([at]), Some(text)),
    };
    let mut value = json!({"type": mark.name(), "points": points, "label": mark.label});
    if let Some(text) = text {
        value["text"] = json!(text);
    }
    value
}
