//! The decision at every point of a plane.

use super::{Kind, Request, plane};
use crate::caption::model_caption;
use crate::field::{DecisionMap, decision_map};
use crate::scene::{Colour, Key, Mark, Picture};
use crate::subject::Viewed;
use linsep::Result;
use linsep::watch::Watch;

pub(super) fn picture(request: &Request, watch: &Watch) -> Result<Picture> {
    let model = request.model(Kind::Regions)?;
    let Viewed { view, rows } = Viewed::choose(model, request.table(Kind::Regions)?, request, watch)?;
    let panel = plane::axes(&view.labels, &rows.at, view.same_units);
    let map = decision_map(&view, panel.window(), watch)?;
    let mut picture = Picture::new(Kind::Regions.name(), format!("Decision regions for {}", model.target), panel);
    picture.panels[0].x.grid = false;
    picture.panels[0].y.grid = false;
    let undecided = add_patches(&mut picture, &map, &model.classes, model.decision.may_reject());
    let lines = map.edges.iter().map(|e| e.path.clone()).collect();
    if model.decision.scheme().is_some() {
        super::boundary::add_own_lines(&mut picture, &view, watch)?;
    }
    picture.panels[0].marks.push(Mark::lines(lines).width(1.1).label("boundary"));
    plane::add_rows(&mut picture, &rows);
    picture.keys.extend(undecided);
    let wrong = plane::add_mistakes(&mut picture, &rows);
    let how =
        if map.straight { "Boundaries are exact lines." } else { "Boundaries are traced, and exact at every corner." };
    picture.caption = super::paragraph(&[&model_caption(model), &wrong, how, &view.said]);
    Ok(picture)
}

/// Adds the regions; the key of points without a decision, if there are any.
fn add_patches(picture: &mut Picture, map: &DecisionMap, classes: &[String], rejects: bool) -> Option<Key> {
    let mut undecided = None;
    for patch in &map.patches {
        let area = Mark::area(patch.rings.clone());
        let mark = match classes.get(patch.decision) {
            Some(name) => area.colour(Colour::Class(patch.decision)).opacity(0.17).label(name),
            None => {
                let name = if rejects { "rejected" } else { "undetermined" };
                let mark = area.hatched().colour(Colour::Muted).opacity(0.55).label(name);
                undecided = Some(Key::new(name, mark.clone()));
                mark
            }
        };
        picture.panels[0].marks.push(mark);
    }
    undecided
}
