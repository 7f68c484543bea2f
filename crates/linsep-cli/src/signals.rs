//! Ctrl-C, the request to terminate and a terminal that hangs up: the command ends at once, whatever it is doing, and
//! leaves no temporary file behind.

use crate::progress;
use linsep::artifact::abandon_writes;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

/// What Ctrl-C sets in the place of ending the command, while [`patient`] work runs.
static CANCELLED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static PATIENT: AtomicBool = AtomicBool::new(false);

/// Why the command has to end, as its exit code says it: 128 and the number of the signal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Request {
    HangUp = 129,
    Interrupt = 130,
    Terminate = 143,
}

/// The flag of a watch that Ctrl-C stops while [`patient`] work runs.
pub fn flag() -> Arc<AtomicBool> {
    Arc::clone(&CANCELLED)
}

/// Whether Ctrl-C was pressed during patient work.
pub fn cancelled() -> bool {
    CANCELLED.load(Ordering::Relaxed)
}

/// Runs work that has something to show when it is stopped: the first Ctrl-C only sets the flag.
pub fn patient<T>(work: impl FnOnce() -> T) -> T {
    PATIENT.store(true, Ordering::Relaxed);
    let result = work();
    PATIENT.store(false, Ordering::Relaxed);
    result
}

fn attend(request: Request) {
    let patient = request == Request::Interrupt && PATIENT.load(Ordering::Relaxed);
    if patient && !CANCELLED.swap(true, Ordering::Relaxed) {
        return;
    }
    // Whoever is about to give a file its name waits from here on, until there is nobody left to wait.
    let abandoned = abandon_writes();
    progress::clear();
    let what = if request == Request::Interrupt { "interrupted" } else { "terminated" };
    let _ = match abandoned.finished() {
        0 => writeln!(std::io::stderr(), "{what}: nothing was written"),
        _ => writeln!(std::io::stderr(), "{what}"),
    };
    std::process::exit(request as i32);
}

/// Waits for signals from now on. It must be called before any thread is started: threads inherit that signals are
/// blocked, so that they all reach the one that waits for them.
#[cfg(unix)]
pub fn install() {
    use nix::sys::signal::{SigHandler, SigSet, Signal, signal};
    let requests = [
        (Signal::SIGHUP, Request::HangUp),
        (Signal::SIGINT, Request::Interrupt),
        (Signal::SIGTERM, Request::Terminate),
    ];
    let mut awaited = SigSet::empty();
    for (number, _) in requests {
        // SAFETY: the default action and that of ignoring run no code of ours.
        let before = unsafe { signal(number, SigHandler::SigDfl) };
        if let Ok(SigHandler::SigIgn) = before {
            // `nohup` and shells that start work in the background want it so.
            // SAFETY: as above.
            let _ = unsafe { signal(number, SigHandler::SigIgn) };
        } else {
            awaited.add(number);
        }
    }
    // A file that meets the limit of its size is an error like a full disk, not the end.
    // SAFETY: as above.
    let _ = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
    if awaited.thread_block().is_err() {
        return;
    }
    let wait = move || {
        while let Ok(number) = awaited.wait() {
            requests.iter().filter(|(n, _)| *n == number).for_each(|(_, request)| attend(*request));
        }
    };
    if std::thread::Builder::new().name("signals".to_owned()).spawn(wait).is_err() {
        // Without the thread signals end the process as they always do.
        let _ = awaited.thread_unblock();
    }
}

/// Waits for Ctrl-C from now on.
#[cfg(not(unix))]
pub fn install() {
    // Without a handler Ctrl-C still ends the process.
    let _ = ctrlc::set_handler(|| attend(Request::Interrupt));
}
