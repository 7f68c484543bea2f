//! Setters that several builders have.

/// λ of a ridge, or C; checked when the method is fitted.
macro_rules! ridge_setters {
    ($name:ident) => {
        impl $name {
            /// The penalty `λ/2 ‖W‖²`.
            pub fn ridge(mut self, lambda: f64) -> $name {
                self.settings.penalty = $crate::model::PenaltyChoice::Ridge(lambda);
                self
            }

            /// The ridge penalty with `λ = 1/(CΣs)`: C is what other tools ask for, the price of a unit of loss.
            pub fn cost(mut self, c: f64) -> $name {
                self.settings.penalty = $crate::model::PenaltyChoice::RidgeCost(c);
                self
            }
        }
    };
}

/// Penalties that make coefficients zero.
macro_rules! lasso_setters {
    ($name:ident) => {
        impl $name {
            /// The penalty `λ‖W‖₁`, which makes coefficients zero.
            pub fn lasso(self, lambda: f64) -> $name {
                self.elastic_net(lambda, 1.0)
            }

            /// The penalty `λ[(1−α)/2 ‖W‖² + α‖W‖₁]`; α, the share of the lasso, is above 0 and at most 1.
            pub fn elastic_net(mut self, lambda: f64, alpha: f64) -> $name {
                self.settings.penalty =
                    $crate::model::PenaltyChoice::ElasticNet { l1_ratio: alpha, lambda: Some(lambda), cost: None };
                self
            }
        }
    };
}

/// No penalty: then there may be no optimum.
macro_rules! no_penalty_setter {
    ($name:ident) => {
        impl $name {
            /// No penalty. Where a plane separates the classes there is then no optimum, and the answer is the proof of it.
            pub fn no_penalty(mut self) -> $name {
                self.settings.penalty = $crate::model::PenaltyChoice::None;
                self
            }
        }
    };
}

/// Whether columns are standardised.
macro_rules! standardize_setter {
    ($name:ident) => {
        impl $name {
            /// Whether columns are scaled to mean 0 and variance 1 first, so that all of them are treated alike; unless this
            /// says otherwise, sparse ones are not. The model is in the units of the columns either way.
            pub fn standardize(mut self, yes: bool) -> $name {
                use $crate::design::Standardize;
                self.request.standardize_given = true;
                self.settings.standardize = if yes { Standardize::Yes } else { Standardize::No };
                self
            }
        }
    };
}

/// What becomes of the intercept.
macro_rules! intercept_setters {
    ($name:ident) => {
        impl $name {
            /// No intercept: every plane goes through the origin.
            pub fn no_intercept(self) -> $name {
                self.intercept($crate::objective::Intercept::None)
            }

            /// What becomes of the intercept; it is free unless this says otherwise.
            pub fn intercept(mut self, intercept: $crate::objective::Intercept) -> $name {
                self.settings.intercept = intercept;
                self
            }
        }
    };
}

/// When a fit may stop.
macro_rules! tolerance_setter {
    ($name:ident) => {
        impl $name {
            /// Stop when the relative gap is proved to be at most this.
            pub fn tolerance(mut self, gap: f64) -> $name {
                self.settings.tolerance = gap;
                self
            }
        }
    };
}

/// The seed of everything random.
macro_rules! seed_setter {
    ($name:ident) => {
        impl $name {
            /// The seed of everything random; the same seed gives the same model.
            pub fn seed(mut self, seed: u64) -> $name {
                self.settings.seed = seed;
                self
            }
        }
    };
}

/// Prior probabilities.
macro_rules! priors_setter {
    ($name:ident) => {
        impl $name {
            /// Prior probabilities of the classes, in their order; the observed shares unless given.
            pub fn priors(mut self, priors: impl Into<Vec<f64>>) -> $name {
                self.settings.priors = Some(priors.into());
                self
            }
        }
    };
}

pub(super) use {
    intercept_setters, lasso_setters, no_penalty_setter, priors_setter, ridge_setters, seed_setter, standardize_setter,
    tolerance_setter,
};
