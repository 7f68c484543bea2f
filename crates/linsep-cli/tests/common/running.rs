//! A command that runs beside the test: signals, and waiting for what it does.
#![cfg(unix)]

use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Long enough for anything here on a machine that is busy with other things.
pub const LONG: Duration = Duration::from_secs(120);

/// Sends a signal, as `-INT`.
pub fn send(signal: &str, child: &Child) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill is there");
    assert!(status.success(), "the command still runs");
}

/// Waits for something to happen.
pub fn wait_until(what: &str, happened: impl Fn() -> bool) {
    let begun = Instant::now();
    while !happened() {
        assert!(begun.elapsed() < LONG, "{what} never happened");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a command has computed for some hundredths of a second: small tables have been read by then, on a machine
/// that is busy with other things too.
#[cfg(target_os = "linux")]
pub fn wait_until_computing(child: &Child, hundredths: u64) {
    let spent = || -> Option<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
        // After the name in brackets: the state, then ten numbers, then the ticks in the program and in the system.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
    };
    wait_until("work", || spent().is_some_and(|ticks| ticks >= hundredths));
}
