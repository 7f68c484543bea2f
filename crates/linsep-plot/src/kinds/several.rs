//! Several models, a panel each.

use super::{Kind, Request};
use crate::scene::Picture;
use linsep::watch::Watch;
use linsep::{Error, Result};

/// More panels are too small to read.
const MOST: usize = 9;

/// The picture of every model alone, side by side under one legend.
pub(super) fn picture(kind: Kind, request: &Request, watch: &Watch) -> Result<Picture> {
    if request.models.len() > MOST {
        return Err(Error::usage(format!("{} models are more than {MOST} panels", request.models.len())));
    }
    let mut whole: Option<Picture> = None;
    for (at, model) in request.models.iter().enumerate() {
        let alone = Request {
            models: vec![model.clone()],
            model_names: vec![request.name_of(at)],
            table: request.table.clone(),
            target: request.target.clone(),
            x: request.x.clone(),
            y: request.y.clone(),
            plane: request.plane,
            at: request.at.clone(),
            show: request.show.clone(),
            row: request.row,
            prior: request.prior,
            panels: false,
        };
        let name = request.name_of(at);
        let mut part = kind.picture(&alone, watch)?;
        for panel in &mut part.panels {
            panel.title = Some(match panel.title.take() {
                Some(title) => format!("{name}: {title}"),
                None => name.clone(),
            });
        }
        part.caption = format!("{name}: {}", part.caption);
        match &mut whole {
            None => whole = Some(part),
            Some(whole) => {
                whole.panels.extend(part.panels);
                for key in part.keys {
                    if !whole.keys.iter().any(|k| k.label == key.label) {
                        whole.keys.push(key);
                    }
                }
                whole.caption = format!("{} {}", whole.caption, part.caption);
                for note in part.notes {
                    if !whole.notes.contains(&note) {
                        whole.notes.push(note);
                    }
                }
            }
        }
    }
    whole.ok_or_else(|| request.lacks(kind, "a model file"))
}
