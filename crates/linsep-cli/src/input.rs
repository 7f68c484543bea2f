//! The flags of everything that reads a table, and the reading.

use crate::exit::is_for_programs;
use crate::labels::refuse;
use crate::output::refuse_inputs;
use crate::progress::Progress;
use crate::reading::ReadingArguments;
use clap::{Args, ValueEnum};
use linsep::artifact::{Model, MultiLabel, Saved};
use linsep::read::{Expected, Format, ReadOptions, read_files};
use linsep::table::{Reading, Table};
use linsep::{Error, Place, Result};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Which files to read, and how.
#[derive(Args, Clone)]
pub struct InputArguments {
    /// Tables to read: CSV, TSV, JSON lines, Parquet, Arrow, Excel's .xlsx, LIBSVM or NumPy's .npy, also .gz and .zst; several files, patterns like 'part-*.csv', or - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,

    /// Format of the files, where neither name nor content tells
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Reading")]
    pub format: Option<FormatName>,

    /// Character between CSV cells (default: found in the header)
    #[arg(long, value_name = "CHAR", help_heading = "Reading")]
    pub delimiter: Option<String>,

    /// Read these columns as text
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', help_heading = "Reading")]
    pub text: Vec<String>,

    /// Read these columns as numbers, also with a percent or currency sign, and yes and no as 1 and 0; any other cell is an error
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', help_heading = "Reading")]
    pub number: Vec<String>,

    #[command(flatten)]
    pub reading: ReadingArguments,

    /// Show no progress
    #[arg(long, short, help_heading = "Reading")]
    pub quiet: bool,
}

/// Formats by name.
#[derive(Clone, Copy, ValueEnum)]
pub enum FormatName {
    /// Comma-separated values
    Csv,
    /// Tab-separated values
    Tsv,
    /// Apache Parquet
    Parquet,
    /// Arrow file or stream, Feather version 2
    Arrow,
    /// JSON objects, one to a line
    Ndjson,
    /// LIBSVM or svmlight
    Libsvm,
    /// NumPy array
    Npy,
    /// Excel workbook
    Xlsx,
}

impl InputArguments {
    /// Reads the table; a model says which kind of column it expects.
    pub fn read(&self, model: Option<&Model>, progress: &Progress) -> Result<Table> {
        let reading = model.map(|m| m.reading.clone()).unwrap_or_default();
        self.read_as(model.map(Model::expected).unwrap_or_default(), reading, progress)
    }

    /// Reads the table to learn from; the labels stay as they are written.
    pub fn read_labelled(&self, target: Option<&str>, progress: &Progress) -> Result<Table> {
        let mut options = self.options(Vec::new(), Reading::default())?;
        if let Some(target) = target {
            options.labels = target.split(',').chain([target]).map(|name| name.trim().to_owned()).collect();
        }
        self.read_with(&options, progress)
    }

    /// Reads the table for the models of several labels.
    pub fn read_for(&self, models: &MultiLabel, progress: &Progress) -> Result<Table> {
        let mut expected = Vec::new();
        for column in models.models.iter().flat_map(Model::expected) {
            if !expected.iter().any(|(name, _)| *name == column.0) {
                expected.push(column);
            }
        }
        let reading = models.models.first().map(|m| m.reading.clone()).unwrap_or_default();
        self.read_as(expected, reading, progress)
    }

    /// Reads another file the same way; its columns are of the kinds that are expected.
    pub fn read_other(
        &self,
        file: &Path,
        expected: Vec<(String, Expected)>,
        reading: Reading,
        progress: &Progress,
    ) -> Result<Table> {
        refuse_model(file)?;
        let table = read_files(&[file], &self.options(expected, reading)?, &progress.watch());
        progress.finish();
        table
    }

    /// Reads the table; its columns are of the kinds that are expected, and read as those of a model were.
    pub fn read_as(&self, expected: Vec<(String, Expected)>, reading: Reading, progress: &Progress) -> Result<Table> {
        self.read_with(&self.options(expected, reading)?, progress)
    }

    fn read_with(&self, options: &ReadOptions, progress: &Progress) -> Result<Table> {
        let paths = self.paths()?;
        paths.iter().try_for_each(|path| refuse_model(path))?;
        let table = read_files(&paths, options, &progress.watch());
        progress.finish();
        let table = table?;
        if !self.quiet && !is_for_programs() {
            for aside in table.asides().iter().filter_map(|aside| aside.says()) {
                let _ = writeln!(std::io::stderr(), "note: {aside}");
            }
        }
        Ok(table)
    }

    fn options(&self, expected: Vec<(String, Expected)>, as_read: Reading) -> Result<ReadOptions> {
        let mut delimiter = self.delimiter.as_deref().map(delimiter).transpose()?;
        if matches!(self.format, Some(FormatName::Tsv)) {
            delimiter = delimiter.or(Some(b'\t'));
        }
        let mut options = ReadOptions {
            format: self.format.map(|f| match f {
                FormatName::Csv | FormatName::Tsv => Format::Csv,
                FormatName::Parquet => Format::Parquet,
                FormatName::Arrow => Format::Arrow,
                FormatName::Ndjson => Format::Ndjson,
                FormatName::Libsvm => Format::Libsvm,
                FormatName::Npy => Format::Npy,
                FormatName::Xlsx => Format::Xlsx,
            }),
            delimiter,
            text: self.text.clone(),
            number: self.number.clone(),
            expected,
            as_read,
            ..ReadOptions::default()
        };
        self.reading.fill(&self.files, &mut options)?;
        Ok(options)
    }

    /// Refuses an output that is one of the inputs, these files among them: what it holds would be gone.
    pub fn refuse_as_output(&self, output: &Path, others: &[Option<&Path>]) -> Result<()> {
        let tables = self.paths()?;
        refuse_inputs(output, tables.iter().map(PathBuf::as_path).chain(others.iter().copied().flatten()))
    }

    /// The files, patterns expanded in name order.
    fn paths(&self) -> Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for file in &self.files {
            let literal = PathBuf::from(file);
            if file == "-" || literal.exists() || !file.contains(['*', '?', '[']) {
                paths.push(literal);
                continue;
            }
            let matches = glob::glob(file).map_err(|e| Error::usage(format!("`{file}` is not a pattern: {e}")))?;
            let before = paths.len();
            for path in matches {
                paths.push(path.map_err(|e| Error::io(e.path().display().to_string(), e.error()))?);
            }
            if paths.len() == before {
                return Err(Error::usage(format!("no file matches `{file}`"))
                    .help("* stands for any part of a name, ? for one character; put the pattern in quotes"));
            }
        }
        Ok(paths)
    }
}

/// Reads the model file of one target; `-` is standard input.
pub fn load_model(path: &Path) -> Result<Model> {
    match load_saved(path)? {
        Saved::One(model) => Ok(*model),
        Saved::Several(models) => Err(refuse(&models, "this")),
    }
}

/// Reads a model file of one target or of several labels; `-` is standard input.
pub fn load_saved(path: &Path) -> Result<Saved> {
    if path != Path::new("-") {
        return Saved::load(path).map_err(|error| if is_table(path) { table_as_model(path) } else { error });
    }
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).map_err(|e| Error::io("-", &e))?;
    Saved::from_bytes(&bytes, "-")
}

/// The first bytes of a file, if it is an ordinary one: what comes out of a pipe is gone.
fn head(path: &Path) -> Option<Vec<u8>> {
    let file = std::fs::File::open(path).ok().filter(|f| f.metadata().is_ok_and(|about| about.is_file()))?;
    let mut bytes = Vec::new();
    file.take(256).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Refuses a model file where a table belongs.
fn refuse_model(path: &Path) -> Result<()> {
    let is_model = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.trim_start().starts_with('{') && (text.contains("\"linsep-model\"") || text.contains("\"linsep-models\""))
    };
    match head(path).is_some_and(|bytes| is_model(&bytes)) {
        true => Err(Error::data("this is a model, not a table")
            .at(Place::file(path.display().to_string()))
            .help("where both are needed the model comes first and the table second: swap the two")),
        false => Ok(()),
    }
}

/// Whether a file that is no model has text in it as tables do: no JSON, and nothing that was compressed.
fn is_table(path: &Path) -> bool {
    // What is named as a model is a damaged one.
    if path.extension().is_some_and(|ending| ending == "json" || ending == "zst") {
        return false;
    }
    let Some(bytes) = head(path) else { return false };
    let first = bytes.iter().find(|b| !b.is_ascii_whitespace());
    let binary = bytes.iter().any(|b| *b == 0 || (*b < 0x20 && !b.is_ascii_whitespace()));
    let packed = bytes.starts_with(b"PAR1") || bytes.starts_with(b"ARROW1") || bytes.starts_with(b"PK\x03\x04");
    packed || (!binary && first.is_some_and(|b| *b != b'{' && *b != b'['))
}

fn table_as_model(path: &Path) -> Error {
    Error::model("this is a table, not a model")
        .at(Place::file(path.display().to_string()))
        .help("the model comes first and the table second: swap the two")
        .help("make a model of the table with linsep fit")
}

fn delimiter(text: &str) -> Result<u8> {
    match text.as_bytes() {
        b"\\t" | b"tab" => Ok(b'\t'),
        [byte] if !byte.is_ascii_alphanumeric() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(*byte),
        _ => Err(Error::usage(format!("`{text}` cannot separate cells")).help("use one of , ; | or tab")),
    }
}
