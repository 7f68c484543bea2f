//! Linear classifiers with proofs.
//!
//! Every method here chooses discriminants `g_k(x) = w_k·x + w_k0` and decides for the largest. Risk minimisers solve
//!
//! `F(W,b) = Σ sᵢ ℓ(yᵢ, x̂ᵢW + b + oᵢ) / Σ sᵢ + λ/2 ‖W‖²`
//!
//! and carry a certificate that bounds `F − F*`; closed forms carry the residual of their equations. Where no optimum
//! exists, that is the answer, with its proof.
//!
//! [`prelude`] has what most programs need: a builder for every method, and what its fit can be asked.
//!
//! ```
//! use linsep::prelude::*;
//!
//! let x = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.5], [0.5, 2.0]];
//! let model = LogisticRegression::new().ridge(0.1).fit(&x, &["a", "a", "b", "b", "a"])?;
//! assert_eq!(model.predict(&[[3.0, 3.0]])?, ["b"]);
//! assert!(model.certificate().relative_gap().unwrap() <= 1e-8);
//! # Ok::<(), linsep::Error>(())
//! ```
//!
//! The modules are the stages of the pipeline: [`read`] makes a [`table`] of bytes, [`design`] makes a matrix of it,
//! [`stats`] and the objective look at the matrix, solvers find and [`certify`] proves, [`separate`] says whether planes
//! can, [`model`] puts a method together, [`geometry`] measures its boundaries, [`decide`] turns scores into classes,
//! [`artifact`] keeps it, [`evaluate`] judges it, [`infer`] says what it tells about the population, [`report`] puts it
//! into words, [`workflow`] runs the whole for tables, and [`classifiers`] are its face for arrays. What is wrong is an
//! [`Error`], made of [`words`] that every face says its own way.
//!
//! What these pages show is what is promised. The rest of what is public serves the command, the Python package and the
//! tests, and may change with any version.
//!
//! A table, by the workflow of the command:
//!
//! ```
//! use linsep::prelude::*;
//! use linsep::read::{ReadOptions, read_bytes};
//! use linsep::watch::Watch;
//! use linsep::workflow::{TableFit, fit_table, predict_table};
//!
//! let csv = b"dose,kind,died\n1,a,no\n2,b,no\n3,a,yes\n2,a,no\n4,b,yes\n3,b,no\n5,a,yes\n2,a,yes\n";
//! let table = read_bytes(csv, "trial.csv", &ReadOptions::default())?;
//! let options = LogisticRegression::new().options().target("died").positive("yes");
//! let TableFit::Model(model) = fit_table(table.clone(), &options, &Watch::default())? else { panic!("a ridge always has an optimum") };
//! assert!(model.certificate.relative_gap().unwrap() <= 1e-8);
//! let predictions = predict_table(&model, &table, None, &Watch::default())?;
//! assert_eq!(predictions.classes.len(), 8);
//! # Ok::<(), linsep::Error>(())
//! ```

pub mod artifact;
pub mod certify;
pub mod classifiers;
pub mod decide;
pub mod density;
pub mod design;
pub mod discriminant;
pub mod error;
pub mod evaluate;
pub mod geometry;
pub mod infer;
pub mod kernel;
pub mod model;
pub mod prelude;
pub mod read;
pub mod report;
pub mod separate;
pub mod stats;
pub mod table;
pub mod watch;
pub mod words;
pub mod workflow;

// Inner stages: the command, the extension and the tests of this workspace reach into them, nobody else is promised
// anything about them.
#[doc(hidden)]
pub mod linalg;
#[doc(hidden)]
pub mod numeric;
#[doc(hidden)]
pub mod objective;
mod options;
#[doc(hidden)]
pub mod partitions;
#[doc(hidden)]
pub mod resample;
#[doc(hidden)]
pub mod role;
#[doc(hidden)]
pub mod sample;
#[doc(hidden)]
pub mod solve;

pub use classifiers::FitError;
pub use error::{Error, ErrorKind, Place, Result};
