//! Options as builders: a struct of choices, with a method for each that returns the options with that choice.

/// Defines a struct of options and, for each field, a method of its name that sets it. Fields are not part of what is promised,
/// so that a new choice breaks nobody; the methods are, and have the words of the fields.
macro_rules! options {
    ($(#[$meta:meta])* pub struct $type:ident { $($fields:tt)* }) => {
        crate::options::options!(@fields [$(#[$meta])*] $type { $($fields)* });
        crate::options::options!(@setters $type: $($fields)*);
    };
    (@fields [$(#[$meta:meta])*] $type:ident { $($(#[$doc:meta])* pub $name:ident: $kind:ty,)* }) => {
        $(#[$meta])*
        pub struct $type { $($(#[$doc])* #[doc(hidden)] pub $name: $kind,)* }
    };
    (@setters $type:ident:) => {};
    (@setters $type:ident: $(#[$doc:meta])* pub $name:ident: String, $($rest:tt)*) => {
        impl $type {
            $(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $name: impl Into<String>) -> $type {
                self.$name = $name.into();
                self
            }
        }
        crate::options::options!(@setters $type: $($rest)*);
    };
    (@setters $type:ident: $(#[$doc:meta])* pub $name:ident: Option<String>, $($rest:tt)*) => {
        impl $type {
            $(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $name: impl Into<String>) -> $type {
                self.$name = Some($name.into());
                self
            }
        }
        crate::options::options!(@setters $type: $($rest)*);
    };
    (@setters $type:ident: $(#[$doc:meta])* pub $name:ident: Vec<String>, $($rest:tt)*) => {
        impl $type {
            $(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $name: impl IntoIterator<Item = impl Into<String>>) -> $type {
                self.$name = $name.into_iter().map(Into::into).collect();
                self
            }
        }
        crate::options::options!(@setters $type: $($rest)*);
    };
    (@setters $type:ident: $(#[$doc:meta])* pub $name:ident: Option<Vec<String>>, $($rest:tt)*) => {
        impl $type {
            $(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $name: impl IntoIterator<Item = impl Into<String>>) -> $type {
                self.$name = Some($name.into_iter().map(Into::into).collect());
                self
            }
        }
        crate::options::options!(@setters $type: $($rest)*);
    };
    // A value, or `None` where the docs say what that is.
    (@setters $type:ident: $(#[$doc:meta])* pub $name:ident: Option<$kind:ty>, $($rest:tt)*) => {
        impl $type {
            $(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $name: impl Into<Option<$kind>>) -> $type {
                self.$name = $name.into();
                self
            }
        }
        crate::options::options!(@setters $type: $($rest)*);
    };
    (@setters $type:ident: $(#[$doc:meta])* pub $name:ident: $kind:ty, $($rest:tt)*) => {
        impl $type {
            $(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $name: $kind) -> $type {
                self.$name = $name;
                self
            }
        }
        crate::options::options!(@setters $type: $($rest)*);
    };
}
pub(crate) use options;
