//! How a caller follows and stops long work: a cancel flag, a deadline and an observer.
//!
//! Work polls its [`Watch`] once per block of rows, so a cancel takes effect within milliseconds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Threads for each core at most: more only take memory.
const THREADS_PER_CORE: usize = 4;

/// What the observer is told.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// Bytes consumed by a reader so far, and the total where it is known.
    Bytes {
        /// Bytes read so far.
        done: u64,
        /// Size of the input; `None` for a stream.
        total: Option<u64>,
    },
    /// An iteration of a solver has ended.
    Iteration {
        /// Which solver.
        solver: &'a str,
        /// Iterations done.
        iteration: usize,
        /// Objective at the iterate.
        objective: f64,
        /// Relative bound on the suboptimality, where the solver has one.
        relative_gap: Option<f64>,
    },
    /// Where a solver is: at its start (iteration 0), and after every iteration.
    Point {
        /// Which solver.
        solver: &'a str,
        /// Iterations done.
        iteration: usize,
        /// Objective there.
        objective: f64,
        /// Length of its gradient.
        gradient: f64,
        /// The step taken to get there; 0 at the start.
        step: f64,
        /// The weights of all scores and then their intercepts, in the units of the fit.
        coefficients: &'a [f64],
    },
    /// A solver is about to begin, and may take long.
    Forecast {
        /// Which solver.
        solver: &'a str,
        /// About how long, by the order of magnitude.
        seconds: f64,
    },
    /// Fold `done` of `total` has been fitted and scored.
    Fold {
        /// Folds done.
        done: usize,
        /// Folds in all.
        total: usize,
    },
    /// λ number `done` of `total` along a path has been solved.
    Path {
        /// Points done.
        done: usize,
        /// Points in all.
        total: usize,
    },
}

type Observer = dyn Fn(Progress<'_>) + Send + Sync;

/// Cancel flag, deadline and observer, shared by reference with everything that may take long.
///
/// ```
/// use linsep::watch::{Halt, Watch};
/// let watch = Watch::default();
/// assert_eq!(watch.halted(), None);
/// watch.cancel();
/// assert_eq!(watch.halted(), Some(Halt::Cancelled));
/// ```
#[derive(Clone, Default)]
pub struct Watch {
    cancelled: Arc<AtomicBool>,
    deadline: Option<Instant>,
    observer: Option<Arc<Observer>>,
}

/// Why work was told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// [`Watch::cancel`] was called.
    Cancelled,
    /// The deadline has passed.
    Deadline,
}

impl Watch {
    /// A watch whose flag is shared with a signal handler.
    pub fn with_flag(cancelled: Arc<AtomicBool>) -> Watch {
        Watch { cancelled, ..Watch::default() }
    }

    /// The same watch with a deadline.
    pub fn deadline(mut self, at: Instant) -> Watch {
        self.deadline = Some(at);
        self
    }

    /// The same watch with a deadline so long from now; one beyond all clocks is none.
    pub fn within(self, limit: Duration) -> Watch {
        match Instant::now().checked_add(limit) {
            Some(at) => self.deadline(at),
            None => self,
        }
    }

    /// The same watch with an observer; it is called from worker threads.
    pub fn observer(mut self, observer: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Watch {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// The same watch with one more observer.
    pub fn also(mut self, observer: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Watch {
        self.observer = Some(match self.observer.take() {
            None => Arc::new(observer),
            Some(first) => Arc::new(move |progress: Progress<'_>| {
                first(progress);
                observer(progress);
            }),
        });
        self
    }

    /// Ask the work to stop.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether there is a time at which the work must stop.
    pub fn has_deadline(&self) -> bool {
        self.deadline.is_some()
    }

    /// Whether and why the work should stop.
    pub fn halted(&self) -> Option<Halt> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Some(Halt::Cancelled);
        }
        match self.deadline {
            Some(at) if Instant::now() >= at => Some(Halt::Deadline),
            _ => None,
        }
    }

    /// Tell the observer.
    pub fn report(&self, progress: Progress<'_>) {
        if let Some(observer) = &self.observer {
            observer(progress);
        }
    }
}

/// How long something takes.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Begins now.
    pub fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// Seconds since it began.
    pub fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Threads for a caller who asks for so many: at most four for each core, since more only take memory from the work.
/// Zero, which leaves the choice to the pool, stays zero.
///
/// ```
/// let cores = std::thread::available_parallelism().map_or(1, usize::from);
/// assert_eq!(linsep::watch::sensible_threads(100_000), 4 * cores);
/// assert_eq!(linsep::watch::sensible_threads(1), 1);
/// ```
pub fn sensible_threads(asked: usize) -> usize {
    asked.min(THREADS_PER_CORE * std::thread::available_parallelism().map_or(1, usize::from))
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("halted", &self.halted()).finish_non_exhaustive()
    }
}
