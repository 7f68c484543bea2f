//! The library's errors as Python's exceptions.

use linsep::error::{Error, ErrorKind};
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyErr, create_exception};
use std::any::Any;

create_exception!(
    linsep,
    LinsepError,
    PyValueError,
    "Something that cannot be done with these data or settings; `help` says what can."
);
create_exception!(linsep, NoOptimumError, LinsepError, "The objective has no minimum; the message is the proof.");
create_exception!(linsep, NotSeparableError, LinsepError, "No plane separates the classes; the message is the proof.");

/// An exception with the library's words.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let place = error.place().to_string();
    let message = match place.is_empty() {
        true => error.message().to_owned(),
        false => format!("{place}: {}", error.message()),
    };
    let help = error.help_text().map(in_python);
    let whole = help.as_ref().map_or(message.clone(), |help| format!("{message}\n  help: {help}"));
    match error.kind() {
        ErrorKind::Io if error.message() == "there is no such file" => PyFileNotFoundError::new_err(whole),
        ErrorKind::Io => PyOSError::new_err(whole),
        _ => {
            let raised = LinsepError::new_err(whole);
            // An exception that cannot carry its help is still the exception.
            let _ = raised.value(py).setattr("help", help);
            raised
        }
    }
}

/// The library's words name flags of the command; here they are parameters and classes.
pub(crate) fn in_python(text: &str) -> String {
    let words = [
        (
            "\n  No model was written. A penalty always has an optimum: --penalty ridge:0.01",
            "\n  A penalty always has an optimum: a finite C.",
        ),
        ("--penalty none", "C=inf"),
        ("--penalty ridge:0.01", "a finite C"),
        ("fill it in, or choose --missing drop or --missing mean", "fill it in, or leave the row out"),
        ("choose --missing mean, or", "fill cells in, or"),
        ("--model svm with a small penalty", "LinearSVC with a large C"),
        ("--model svm", "LinearSVC"),
        ("--model pocket", "PocketPerceptron"),
        ("--model perceptron", "Perceptron"),
        ("--model logistic", "LogisticRegression"),
        ("--model lda", "LinearDiscriminantAnalysis"),
        ("--shrinkage auto", "shrinkage=\"auto\""),
        ("--shrinkage", "shrinkage"),
        ("--variance-smoothing ", "var_smoothing="),
        ("--smoothing ", "alpha="),
        ("--multiclass one-vs-one", "OneVsOneClassifier"),
        ("--multiclass one-vs-rest", "OneVsRestClassifier"),
        ("--gamma", "gamma"),
        ("--family", "families"),
        ("--drop", "leave out"),
        ("--max-iter", "max_iter"),
        ("--tol", "tol"),
        ("--time-limit", "time_limit"),
        ("--C ", "C="),
        ("see inspect --json", "see certificate_ and model_.describe()"),
        ("--json has all", "the witness has all"),
    ];
    words.iter().fold(text.to_owned(), |text, (flag, parameter)| text.replace(flag, parameter))
}

/// A defect of ours: never an abort, never a panic that the caller cannot catch.
pub(crate) fn defect(panic: &(dyn Any + Send)) -> PyErr {
    let words = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    PyRuntimeError::new_err(format!("this is a defect of linsep, please report it: {}", words.unwrap_or("unknown")))
}

/// The crates that decode Arrow panic on some damaged tables, and the library turns that into an error: nobody needs to
/// read of the panic, too. The hook is that of this module, whose copy of Rust's runtime no other has.
pub(crate) fn silence_decoders() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !linsep::read::is_decoding() {
            tell(panic);
        }
    }));
}
