//! Work on threads of our own, while the calling thread looks after signals and progress.

use crate::errors::{LinsepError, defect, raise};
use linsep::error::{ErrorKind, Result};
use linsep::watch::{Progress, Watch, sensible_threads};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often the calling thread looks whether the user wants to stop.
const LOOK: Duration = Duration::from_millis(50);

/// The pools of this process, by their number of threads. Only touched while attached to the interpreter and never for
/// long, so that a fork, which happens attached as well, finds it unlocked.
static POOLS: Mutex<Vec<Pool>> = Mutex::new(Vec::new());

struct Pool {
    process: u32,
    threads: usize,
    pool: Arc<ThreadPool>,
}

/// Threads to use where the caller does not say: `LINSEP_NUM_THREADS`; `OMP_NUM_THREADS`, by which joblib and its kin tell
/// their workers how many cores each may use; or all cores.
fn default_threads() -> usize {
    let said = |name: &str| std::env::var(name).ok().and_then(|n| n.trim().parse().ok()).filter(|n| *n > 0);
    said("LINSEP_NUM_THREADS")
        .or_else(|| said("OMP_NUM_THREADS"))
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// A pool with so many threads (0 for the default), made when first wanted. Threads do not survive a fork: the pools of
/// the parent are left alone, and the child makes its own.
fn pool(_attached: Python<'_>, threads: usize) -> PyResult<Arc<ThreadPool>> {
    let threads = sensible_threads(if threads == 0 { default_threads() } else { threads });
    let process = std::process::id();
    let mut pools = POOLS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    pools.retain_mut(|p| {
        let own = p.process == process;
        if !own {
            // Dropping it would signal threads that are not there.
            std::mem::forget(p.pool.clone());
        }
        own
    });
    if let Some(found) = pools.iter().find(|p| p.threads == threads) {
        return Ok(found.pool.clone());
    }
    let pool = new_pool(threads)?;
    pools.push(Pool { process, threads, pool: pool.clone() });
    Ok(pool)
}

fn new_pool(threads: usize) -> PyResult<Arc<ThreadPool>> {
    let built = ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("linsep-{i}")).build();
    Ok(Arc::new(built.map_err(|e| PyRuntimeError::new_err(format!("no threads could be started: {e}")))?))
}

/// What a long call may be told.
#[derive(Default)]
pub(crate) struct Manner {
    /// 0 for the default.
    pub(crate) threads: usize,
    pub(crate) time_limit: Option<f64>,
    /// Called with a dictionary for every step.
    pub(crate) callback: Option<Py<PyAny>>,
    /// On a thread of this call alone: work that waits for Python, which may itself ask for the threads of the pools.
    pub(crate) waits: bool,
}

impl Manner {
    pub(crate) fn threads(threads: usize) -> Manner {
        Manner { threads, ..Manner::default() }
    }
}

enum News<T> {
    Done(std::result::Result<Result<T>, Box<dyn Any + Send>>),
    Step(Step),
}

/// What a callback is told.
struct Step {
    kind: &'static str,
    solver: Option<String>,
    done: usize,
    total: Option<usize>,
    objective: Option<f64>,
    gap: Option<f64>,
    seconds: Option<f64>,
}

impl Step {
    fn of(progress: Progress<'_>) -> Option<Step> {
        let plain =
            |kind, done, total| Step { kind, solver: None, done, total, objective: None, gap: None, seconds: None };
        match progress {
            Progress::Iteration { solver, iteration, objective, relative_gap } => Some(Step {
                solver: Some(solver.to_owned()),
                objective: Some(objective),
                gap: relative_gap,
                ..plain("iteration", iteration, None)
            }),
            Progress::Forecast { solver, seconds } => {
                Some(Step { solver: Some(solver.to_owned()), seconds: Some(seconds), ..plain("forecast", 0, None) })
            }
            Progress::Fold { done, total } => Some(plain("fold", done, Some(total))),
            Progress::Path { done, total } => Some(plain("path", done, Some(total))),
            _ => None,
        }
    }

    fn tell(&self, py: Python<'_>, callback: &Py<PyAny>) -> PyResult<()> {
        let said = PyDict::new(py);
        said.set_item("kind", self.kind)?;
        said.set_item("solver", &self.solver)?;
        said.set_item("done", self.done)?;
        said.set_item("total", self.total)?;
        said.set_item("objective", self.objective)?;
        said.set_item("gap", self.gap)?;
        said.set_item("seconds", self.seconds)?;
        callback.call1(py, (said,)).map(|_| ())
    }
}

/// Runs work on a pool, detached from the interpreter. A signal or an exception in the callback cancels the work and is
/// raised once it has stopped.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    manner: &Manner,
    work: impl FnOnce(&Watch) -> Result<T> + Send,
) -> PyResult<T> {
    let pool = if manner.waits { new_pool(1)? } else { pool(py, manner.threads)? };
    let (sender, receiver) = channel::<News<T>>();
    let mut watch = Watch::default();
    if let Some(seconds) = manner.time_limit {
        if !(seconds > 0.0) {
            return Err(LinsepError::new_err(format!(
                "time_limit is {seconds}; it must be a positive number of seconds"
            )));
        }
        // Limits beyond a century are none.
        watch = watch.deadline(Instant::now() + Duration::from_secs_f64(seconds.min(3e9)));
    }
    if manner.callback.is_some() {
        let steps: Mutex<Sender<News<T>>> = Mutex::new(sender.clone());
        watch = watch.observer(move |progress| {
            if let (Some(step), Ok(steps)) = (Step::of(progress), steps.lock()) {
                // Nobody listens any more once the work is done.
                let _ = steps.send(News::Step(step));
            }
        });
    }
    let callback = &manner.callback;
    let (watched, to_cancel) = (&watch, &watch);
    let ended = py.detach(move || {
        pool.in_place_scope(move |scope| {
            scope.spawn(move |_| {
                let done = catch_unwind(AssertUnwindSafe(|| work(watched)));
                let _ = sender.send(News::Done(done));
            });
            attend(&receiver, callback.as_ref(), to_cancel)
        })
    });
    match ended? {
        Ok(Ok(value)) => Ok(value),
        // A signal has been raised by now, so what is interrupted without one ran out of time.
        Ok(Err(error)) if error.kind() == ErrorKind::Interrupted => {
            Err(LinsepError::new_err("time_limit came before there was anything to show; allow more seconds"))
        }
        Ok(Err(error)) => Err(raise(py, &error)),
        Err(panic) => Err(defect(&*panic)),
    }
}

type Ended<T> = std::result::Result<Result<T>, Box<dyn Any + Send>>;

/// Waits for the end of the work.
fn attend<T>(news: &Receiver<News<T>>, callback: Option<&Py<PyAny>>, watch: &Watch) -> PyResult<Ended<T>> {
    let mut raised: Option<PyErr> = None;
    let mut looked = Instant::now();
    loop {
        let step = match news.recv_timeout(LOOK) {
            Ok(News::Done(done)) => return raised.map_or(Ok(done), Err),
            Ok(News::Step(step)) => Some(step),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("this is a defect of linsep: the work was lost"));
            }
        };
        if raised.is_some() || (step.is_none() && looked.elapsed() < LOOK / 2) {
            continue;
        }
        looked = Instant::now();
        let attended = Python::attach(|py| {
            if let (Some(step), Some(callback)) = (&step, callback) {
                step.tell(py, callback)?;
            }
            py.check_signals()
        });
        if let Err(error) = attended {
            watch.cancel();
            raised = Some(error);
        }
    }
}
