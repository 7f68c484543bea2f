//! The journal of a search: what every fold came to, one JSON line each, so that a search which was killed can go on.

use linsep::table::Table;
use linsep::workflow::{Candidate, TrialJournal, TrialPlace, TuneOptions};
use linsep::{Error, Place, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// What a place came to: loss and weight under every size.
type Known = BTreeMap<TrialPlace, Vec<(f64, f64)>>;

/// A journal on disk.
pub struct Journal {
    name: String,
    known: Known,
    file: Mutex<File>,
}

/// One number for table, candidates, options and version: a search goes on only with the journal of its own.
pub fn run_of(table: &Table, candidates: &[Candidate], options: &TuneOptions) -> String {
    let mut hasher = DefaultHasher::new();
    (env!("CARGO_PKG_VERSION"), table.fingerprint()).hash(&mut hasher);
    format!("{candidates:?} {options:?}").hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

impl Journal {
    /// Opens the journal of a run, or begins it.
    ///
    /// # Errors
    /// A file that is no journal, the journal of another run, or a line in it that is damaged. A last line without its end is what
    /// a killed process leaves, and is dropped.
    pub fn open(path: &Path, run: &str) -> Result<Journal> {
        let name = path.display().to_string();
        let io = |e: std::io::Error| Error::io(&name, &e);
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        if whole == 0 && !bytes.is_empty() && !bytes.starts_with(b"{\"linsep_journal\"") {
            return Err(no_journal(&name));
        }
        let known = read(&bytes[..whole], &name, run)?;
        file.set_len(whole as u64).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        if whole == 0 {
            writeln!(file, "{}", json!({"linsep_journal": 1, "run": run})).map_err(io)?;
        }
        Ok(Journal { name, known, file: Mutex::new(file) })
    }
}

fn no_journal(name: &str) -> Error {
    Error::data("this is not the journal of a search").at(Place::file(name)).help("name a file that does not exist yet")
}

fn read(bytes: &[u8], name: &str, run: &str) -> Result<Known> {
    let text = std::str::from_utf8(bytes).map_err(|_| no_journal(name))?;
    let mut known = Known::new();
    for (number, line) in text.lines().enumerate() {
        let value: Option<Value> = serde_json::from_str(line).ok();
        if number == 0 {
            let value = value.filter(|v| v["linsep_journal"] == 1).ok_or_else(|| no_journal(name))?;
            if value["run"] != run {
                return Err(Error::data(
                    "this is the journal of another search: table, settings, folds or version differ",
                )
                .at(Place::file(name))
                .help("repeat the command that began it")
                .help("name a file that does not exist yet"));
            }
            continue;
        }
        let (place, losses) = value.as_ref().and_then(entry).ok_or_else(|| {
            Error::data("this line of the journal is damaged")
                .at(Place::file(name).line(number as u64 + 1))
                .help("remove it: what it held is found again")
        })?;
        known.insert(place, losses);
    }
    Ok(known)
}

fn entry(value: &Value) -> Option<(TrialPlace, Vec<(f64, f64)>)> {
    let count = |name: &str| value[name].as_u64().map(|n| n as usize);
    let place = TrialPlace { search: count("search")?, candidate: count("candidate")?, fold: count("fold")? };
    let pair = |v: &Value| Some((v[0].as_f64()?, v[1].as_f64()?));
    Some((place, value["losses"].as_array()?.iter().map(pair).collect::<Option<Vec<_>>>()?))
}

impl TrialJournal for Journal {
    fn find(&self, place: TrialPlace) -> Option<Vec<(f64, f64)>> {
        self.known.get(&place).cloned()
    }

    fn keep(&self, place: TrialPlace, losses: &[(f64, f64)]) -> Result<()> {
        // Numbers that JSON does not have are found again.
        if losses.iter().any(|(loss, weight)| !(loss.is_finite() && weight.is_finite())) {
            return Ok(());
        }
        let TrialPlace { search, candidate, fold } = place;
        let line = json!({"search": search, "candidate": candidate, "fold": fold, "losses": losses});
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // One write for a line, so that only the last can be cut short.
        file.write_all(format!("{line}\n").as_bytes()).map_err(|e| Error::io(&self.name, &e))
    }
}
