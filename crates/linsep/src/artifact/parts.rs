//! The two-class fits of a model of several classes.

use super::SupportVectors;
use crate::certify::Certificate;
use crate::design::Units;
use crate::model::{Computation, Note, Objective, Outcome};
use crate::role::{Role, Roles};
use serde::{Deserialize, Serialize};

/// One of the two-class fits of a model: everything needed to explain and verify it but its discriminant, which is a
/// score of the model's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelPart {
    /// The class on the negative side; `None` for all others.
    pub against: Option<String>,
    /// The class on the positive side.
    pub class: String,
    /// Units in which the method worked.
    pub units: Units,
    /// What was minimised, and its value.
    pub objective: Objective,
    /// The proof.
    pub certificate: Certificate,
    /// Whether the tolerance was reached.
    pub outcome: Outcome,
    /// What is known of this part and not of all.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<Note>,
    /// Solver, iterations, passes.
    pub computation: Computation,
    /// Of a support vector machine: its support vectors.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub support_vectors: Option<SupportVectors>,
}

impl ModelPart {
    /// As those of a whole model.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::Fields(&[
        ("against", Roles::All(Role::Derived)),
        ("class", Roles::All(Role::Derived)),
        ("units", Units::ROLES),
        ("objective", Objective::ROLES),
        ("certificate", Certificate::ROLES),
        ("outcome", Roles::All(Role::Claim)),
        ("notes", Note::ROLES),
        ("computation", Computation::ROLES),
        ("support_vectors", SupportVectors::ROLES),
    ]);
}
