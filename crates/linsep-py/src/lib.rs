//! The extension module `linsep._core`: arrays and tables of Python in, models and answers out.
//!
//! Thin on purpose. What a method is, how it is fitted and what its results say is the library's; names, defaults and
//! attributes that scikit-learn's users expect are those of the Python files beside it. This crate converts, keeps the
//! interpreter responsive while the library works, and turns errors into exceptions.

mod errors;
mod fit;
mod infer;
mod input;
mod labels;
mod model;
mod plot;
mod pool;
mod running;
mod score;
mod settings;
mod simulate;
mod table;
mod training_rows;
mod voice;

use pyo3::prelude::*;

#[pymodule(gil_used = true)]
mod _core {
    #[pymodule_export]
    use super::errors::{LinsepError, NoOptimumError, NotSeparableError};
    #[pymodule_export]
    use super::fit::{fit, path, separability};
    #[pymodule_export]
    use super::infer::infer;
    #[pymodule_export]
    use super::labels::encode;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::plot::{Drawn, plot, plot_kinds};
    #[pymodule_export]
    use super::running::{Running, fit_levels};
    #[pymodule_export]
    use super::settings::defaults;
    #[pymodule_export]
    use super::simulate::simulate;
    #[pymodule_export]
    use super::table::Columns;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::errors::silence_decoders();
        // Every exception has help, if only none.
        module.py().get_type::<LinsepError>().setattr("help", module.py().None())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
