//! Progress on standard error while it is a terminal, and Ctrl-C.

use crate::exit::INTERRUPTED;
use indicatif::{ProgressBar, ProgressStyle};
use linsep::watch::{Progress as Event, Watch};
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What the user sees while waiting, and how the work hears of Ctrl-C.
pub struct Progress {
    cancelled: Arc<AtomicBool>,
    reading: Arc<AtomicBool>,
    bar: ProgressBar,
    started: Instant,
    deadline: Option<Instant>,
}

/// Work that ends sooner shows no progress: it would only flicker.
const PATIENCE: Duration = Duration::from_millis(300);

impl Progress {
    /// A line on standard error, unless it is no terminal or the user wants quiet.
    pub fn new(quiet: bool, time_limit: Option<Duration>) -> Progress {
        let bar =
            if quiet || !std::io::stderr().is_terminal() { ProgressBar::hidden() } else { ProgressBar::no_length() };
        let cancelled = Arc::new(AtomicBool::new(false));
        let reading = Arc::new(AtomicBool::new(false));
        let (flag, waiting, shown) = (Arc::clone(&cancelled), Arc::clone(&reading), bar.clone());
        // While input is read nothing has been written yet, and a silent pipe may never wake the reader to look at the
        // flag: end at once. A second Ctrl-C does not wait for the end of a block either. Without a handler Ctrl-C
        // still ends the process.
        let _ = ctrlc::set_handler(move || {
            if waiting.load(Ordering::Relaxed) || flag.swap(true, Ordering::Relaxed) {
                shown.finish_and_clear();
                let _ = writeln!(std::io::stderr(), "{INTERRUPTED}");
                std::process::exit(130);
            }
        });
        let started = Instant::now();
        Progress { cancelled, reading, bar, started, deadline: time_limit.and_then(|t| started.checked_add(t)) }
    }

    /// Runs the part of the work that waits for input.
    pub fn reading<T>(&self, work: impl FnOnce() -> T) -> T {
        self.reading.store(true, Ordering::Relaxed);
        let result = work();
        self.reading.store(false, Ordering::Relaxed);
        self.finish();
        result
    }

    /// Whether Ctrl-C was pressed.
    pub fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// A watch that reports here and stops on Ctrl-C.
    pub fn watch(&self) -> Watch {
        let (bar, started) = (self.bar.clone(), self.started);
        Watch::with_flag(Arc::clone(&self.cancelled)).observer(move |event| {
            if !bar.is_hidden() && started.elapsed() > PATIENCE {
                show(&bar, event);
            }
        })
    }

    /// The same with the time limit, for the fit itself.
    pub fn watch_with_deadline(&self) -> Watch {
        match self.deadline {
            Some(at) => self.watch().deadline(at),
            None => self.watch(),
        }
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
    }
}

fn style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}
