//! True classes against decided ones.

use super::{Kind, Request};
use crate::caption::model_caption;
use crate::scene::{Axis, Colour, Mark, Panel, Picture, number_text};
use linsep::Result;
use linsep::watch::Watch;
use linsep::workflow::evaluate_table;

/// With more classes no number has room in its cell.
const MOST_NUMBERS: usize = 16;

pub(super) fn picture(request: &Request, watch: &Watch) -> Result<Picture> {
    let model = request.model(Kind::Confusion)?;
    let judged = evaluate_table(model, request.table(Kind::Confusion)?, None, watch)?;
    let confusion = &judged.evaluation.confusion;
    let rows = &confusion.counts;
    let names = |names: &[String], flipped: bool| {
        let place = |at: usize| if flipped { (names.len() - 1 - at) as f64 } else { at as f64 };
        names.iter().enumerate().map(|(at, n)| (place(at), n.clone())).collect::<Vec<(f64, String)>>()
    };
    let height = rows.len();
    let mut x = Axis::new("decided", (-0.5, height as f64 - 0.5)).plain();
    let mut y = Axis::new("true class", (-0.5, height as f64 - 0.5)).plain();
    x.names = Some(names(&confusion.classes, false));
    y.names = Some(names(&confusion.classes, true));
    let mut panel = Panel::new(x, y);
    // Square cells of many classes; few would be larger than needed.
    (panel.equal, panel.row_height) = (height > 4, 2.8);
    for (row, counts) in rows.iter().enumerate() {
        let total: f64 = counts.iter().sum();
        let y = (height - 1 - row) as f64;
        for (column, count) in counts.iter().enumerate() {
            let x = column as f64;
            let share = if total > 0.0 { count / total } else { 0.0 };
            let ring = vec![[x - 0.49, y - 0.49], [x + 0.49, y - 0.49], [x + 0.49, y + 0.49], [x - 0.49, y + 0.49]];
            let label = format!("{} decided as {}", confusion.classes[row], confusion.classes[column]);
            panel.marks.push(Mark::area(vec![ring]).colour(Colour::Heat(0.04 + 0.9 * share)).label(label));
            if height <= MOST_NUMBERS {
                let colour = if share > 0.5 { Colour::Paper } else { Colour::Ink };
                panel.marks.push(Mark::word([x, y], number_text(*count)).colour(colour));
            }
        }
    }
    let mut picture = Picture::new(Kind::Confusion.name(), format!("Decisions for {}", model.target), panel);
    let right = judged.evaluation.accuracy.value().map_or(String::new(), |accuracy| {
        let range = judged.evaluation.accuracy.interval();
        let range =
            range.map_or(String::new(), |(l, h)| format!(" (95 % interval {} to {})", number_text(l), number_text(h)));
        format!("Accuracy {}{range}.", number_text(accuracy))
    });
    let open = judged.evaluation.rejected.as_ref().or(judged.evaluation.undetermined.as_ref());
    let open = open.map_or(String::new(), |share| format!("{} of the rows are not decided.", number_text(share.value)));
    let how = "A row is a true class; the stronger its colour, the larger the share of a cell in its row.";
    picture.caption = super::paragraph(&[&model_caption(model), &right, &open, how]);
    Ok(picture)
}
