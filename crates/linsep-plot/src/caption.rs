//! What a caption says of a model: how it was fitted, and what is proved of it.

use linsep::artifact::Model;
use linsep::report::fit_summary;
use linsep::words::Plain;

/// The headline of a model as a sentence, and its certificate.
pub(crate) fn model_caption(model: &Model) -> String {
    let summary = fit_summary(model, &Plain);
    let headline = summary.lines().next().unwrap_or_default().trim().to_owned();
    let mut caption = headline;
    caption.push('.');
    if let Some(certificate) = field(&summary, "certificate") {
        caption.push_str(&format!(" Certificate: {certificate}."));
    }
    caption
}

/// The name of a model where several are drawn: the headline up to its settings.
pub(crate) fn short_name(model: &Model) -> String {
    let summary = fit_summary(model, &Plain);
    let headline = summary.lines().next().unwrap_or_default();
    headline.split([':', ',']).next().unwrap_or(headline).trim().to_owned()
}

/// A field of a summary, its lines joined: `  name  text`, and further lines indented as far.
fn field(summary: &str, name: &str) -> Option<String> {
    let mut lines = summary.lines().skip_while(|line| !line.trim_start().starts_with(name));
    let first = lines.next()?;
    let indent = |line: &str| line.len() - line.trim_start().len();
    let own = indent(first);
    let mut text = first.trim_start().strip_prefix(name)?.trim().to_owned();
    for line in lines.take_while(|line| indent(line) > own && !line.trim().is_empty()) {
        text.push(' ');
        text.push_str(line.trim());
    }
    Some(text)
}
