//! Progress on standard error while it is a terminal, and the time limit.

use crate::signals;
use indicatif::{ProgressBar, ProgressStyle};
use linsep::watch::{Progress as Event, Watch};
use std::io::IsTerminal;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The line of this process, for a signal that ends it.
static BAR: OnceLock<ProgressBar> = OnceLock::new();

/// What the user sees while waiting, and when the work must stop.
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
    deadline: Option<Instant>,
}

/// Work that ends sooner shows no progress: it would only flicker.
const PATIENCE: Duration = Duration::from_millis(300);

/// Clears the line, whoever has drawn it.
pub fn clear() {
    if let Some(bar) = BAR.get() {
        bar.finish_and_clear();
    }
}

impl Progress {
    /// A line on standard error, unless it is no terminal or the user wants quiet.
    pub fn new(quiet: bool, time_limit: Option<Duration>) -> Progress {
        let bar =
            if quiet || !std::io::stderr().is_terminal() { ProgressBar::hidden() } else { ProgressBar::no_length() };
        let _ = BAR.set(bar.clone());
        let started = Instant::now();
        Progress { bar, started, deadline: time_limit.and_then(|t| started.checked_add(t)) }
    }

    /// A watch that reports here and stops at the time limit, or at a Ctrl-C that work is patient with.
    pub fn watch(&self) -> Watch {
        let (bar, started) = (self.bar.clone(), self.started);
        let watch = Watch::with_flag(signals::flag()).observer(move |event| {
            if !bar.is_hidden() && started.elapsed() > PATIENCE {
                show(&bar, event);
            }
        });
        match self.deadline {
            Some(at) => watch.deadline(at),
            None => watch,
        }
    }

    /// What has passed since the start, for people who had to wait: from a second on.
    pub fn elapsed(&self) -> Option<String> {
        let seconds = self.started.elapsed().as_secs_f64();
        (seconds >= 1.0).then(|| match seconds {
            s if s < 100.0 => format!("{s:.1} s"),
            s if s < 6000.0 => format!("{:.0} min {:.0} s", (s / 60.0).floor(), (s % 60.0).floor()),
            s => format!("{:.1} h", s / 3600.0),
        })
    }

    /// Clears the line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn show(bar: &ProgressBar, event: Event<'_>) {
    // A stage that ended has cleared the line; the next one begins it anew.
    if bar.is_finished() {
        bar.reset();
    }
    match event {
        Event::Bytes { done, total } => {
            let template = match total {
                Some(total) => {
                    bar.set_length(total);
                    "reading {bytes} of {total_bytes} ({bytes_per_sec}, {eta} left) {wide_bar}"
                }
                None => "reading {bytes} ({bytes_per_sec})",
            };
            style(bar, template);
            bar.set_position(done);
        }
        Event::Iteration { solver, iteration, objective, relative_gap } => {
            style(bar, "{msg} ({elapsed})");
            let gap = relative_gap.map(|g| format!(", relative gap {g:.1e}")).unwrap_or_default();
            bar.set_message(format!("{solver}: iteration {iteration}, objective {objective:.6}{gap}"));
            bar.tick();
        }
        Event::Forecast { solver, seconds } => {
            style(bar, "{msg}");
            let about = match seconds {
                s if s < 1.0 => "a second or less".to_owned(),
                s if s < 90.0 => format!("about {s:.0} seconds"),
                s if s < 5400.0 => format!("about {:.0} minutes", s / 60.0),
                s => format!("about {:.0} hours", s / 3600.0),
            };
            bar.set_message(format!("{solver}: a first guess is {about}; --time-limit ends it earlier"));
            bar.tick();
        }
        Event::Path { done, total } => {
            style(bar, "path: λ {pos} of {len} ({eta} left) {wide_bar}");
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        }
        Event::Fold { done, total } => {
            style(bar, "cross-validation: fold {pos} of {len} ({eta} left) {wide_bar}");
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        }
        // What later versions tell as well.
        _ => {}
    }
}

fn style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}
