//! A scratch directory and the command in it, for every test of the command.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod book;
pub mod running;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A directory of its own for each test, removed at the end.
pub struct Scratch {
    path: PathBuf,
}

/// How a run of the command ended.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

static NEXT: AtomicUsize = AtomicUsize::new(0);

impl Scratch {
    /// An empty directory.
    pub fn new() -> Scratch {
        let name = format!("linsep-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a temporary directory can be made");
        Scratch { path }
    }

    /// A directory with copies of the example tables.
    pub fn with_examples() -> Scratch {
        let scratch = Scratch::new();
        for entry in std::fs::read_dir(root().join("examples")).expect("the examples are there").flatten() {
            std::fs::copy(entry.path(), scratch.path.join(entry.file_name())).expect("an example can be copied");
        }
        scratch
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.file(name), bytes).expect("a scratch file can be written");
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.file(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Names of the files that are not examples, sorted; temporary ones too.
    pub fn new_names(&self) -> Vec<String> {
        let examples = root().join("examples");
        self.names().into_iter().filter(|name| !examples.join(name).exists()).collect()
    }

    /// Names of all files, sorted; temporary ones too.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.path).expect("the scratch directory can be listed");
        let mut names: Vec<String> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The command, ready to be given arguments.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linsep"));
        // The width of the documents' examples; without it text is 80 columns wide.
        command.env("COLUMNS", "99");
        command.current_dir(&self.path).env_remove("LINSEP_NUM_THREADS").stdin(Stdio::null());
        command
    }

    /// Runs a command line, split at spaces (`'…'` keeps its spaces).
    pub fn run(&self, line: &str) -> Ran {
        Ran::of(self.command().args(words(line)).output().expect("the command starts"))
    }

    /// Runs a command line and expects success.
    pub fn done(&self, line: &str) -> String {
        let ran = self.run(line);
        assert_eq!(ran.code, 0, "{line}\n{}", ran.stderr);
        assert_eq!(ran.stderr, "", "{line}");
        ran.stdout
    }

    /// Runs a command line with bytes on its standard input.
    pub fn run_with(&self, line: &str, input: &[u8]) -> Ran {
        let mut command = self.command();
        command.args(words(line)).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command starts");
        let mut pipe = child.stdin.take().expect("its input is a pipe");
        // A command that fails early may stop reading.
        let _ = pipe.write_all(input);
        drop(pipe);
        Ran::of(child.wait_with_output().expect("the command ends"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A directory left behind in the system's temporary place harms nobody.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("standard output is text"),
            stderr: String::from_utf8(output.stderr).expect("standard error is text"),
        }
    }
}

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The words of a command line; quotes keep spaces.
pub fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut started) = (Vec::new(), String::new(), None, false);
    for c in line.chars() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => word.push(c),
            None if c == '\'' || c == '"' => (quote, started) = (Some(c), true),
            None if c == ' ' => {
                if started || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                started = false;
            }
            None => word.push(c),
        }
    }
    if started || !word.is_empty() {
        words.push(word);
    }
    words
}
