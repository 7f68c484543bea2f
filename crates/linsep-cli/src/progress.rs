//! Progress on standard error while it is a terminal, and Ctrl-C.

use indicatif::{ProgressBar, ProgressStyle};
use linsep::watch::{Progress as Event, Watch};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What the user sees while waiting, and how the work hears of Ctrl-C.
pub struct Progress {
    cancelled: Arc<AtomicBool>,
    bar: ProgressBar,
    deadline: Option<Instant>,
}

impl Progress {
    /// A line on standard error, unless it is no terminal or the user wants quiet.
    pub fn new(quiet: bool, time_limit: Option<Duration>) -> Progress {
        let bar =
            if quiet || !std::io::stderr().is_terminal() { ProgressBar::hidden() } else { ProgressBar::no_length() };
        let cancelled = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&cancelled);
        // A second Ctrl-C does not wait for the end of a block. Without a handler Ctrl-C still ends the process.
        let _ = ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
        Progress { cancelled, bar, deadline: time_limit.map(|t| Instant::now() + t) }
    }

    /// A watch that reports here and stops on Ctrl-C.
    pub fn watch(&self) -> Watch {
        let bar = self.bar.clone();
        Watch::with_flag(Arc::clone(&self.cancelled)).observer(move |event| show(&bar, event))
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
        self.bar.reset();
    }
}

fn show(bar: &ProgressBar, event: Event<'_>) {
    if bar.is_hidden() {
        return;
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
