//! The extension module `linsep._core`: arrays and tables of Python in, models and answers out.
//!
//! Thin on purpose. What a method is, how it is fitted and what its results say is the library's; names, defaults and
//! attributes that scikit-learn's users expect are those of the Python files beside it. This crate converts, keeps the
//! interpreter responsive while the library works, and turns errors into exceptions.

mod errors;
mod explain;
mod files;
mod fit;
mod infer;
mod input;
mod judge;
mod labels;
mod model;
mod online;
mod partitions;
mod plot;
mod policies;
mod pool;
mod running;
mod score;
mod search;
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
    use super::explain::explain;
    #[pymodule_export]
    use super::files::{forgiving, load, save_labels, stated, with_label_types};
    #[pymodule_export]
    use super::fit::{fit, formula_target, path, separability};
    #[pymodule_export]
    use super::infer::infer;
    #[pymodule_export]
    use super::judge::{evaluate, geometry};
    #[pymodule_export]
    use super::labels::encode;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::online::online_pass;
    #[pymodule_export]
    use super::partitions::{answer_part, fit_partitions};
    #[pymodule_export]
    use super::plot::{Drawn, plot, plot_kinds};
    #[pymodule_export]
    use super::running::{Running, fit_levels};
    #[pymodule_export]
    use super::search::{compare, left_out, tune};
    #[pymodule_export]
    use super::settings::defaults;
    #[pymodule_export]
    use super::simulate::simulate;
    #[pymodule_export]
    use super::table::{Columns, as_table};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::errors::silence_decoders();
        // Every exception has help, if only none.
        module.py().get_type::<LinsepError>().setattr("help", module.py().None())?;
        // And every proof its parts, if only none.
        for part in ["direction", "intercept", "columns", "rows", "kind", "classes"] {
            module.py().get_type::<NoOptimumError>().setattr(part, module.py().None())?;
        }
        for part in ["rows", "witness"] {
            module.py().get_type::<NotSeparableError>().setattr(part, module.py().None())?;
        }
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
