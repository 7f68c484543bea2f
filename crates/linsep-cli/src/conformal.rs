//! The flags that hold rows back for sets of classes.

use clap::{Args, ValueEnum};
use linsep::decide::ConformalOptions;
use linsep::{Error, Result};

/// Sets of classes at fit time.
#[derive(Args)]
pub struct ConformalArguments {
    /// Hold rows back from the fit, so that predict --set gives sets which hold the class of a new row with this
    /// probability at least
    #[arg(long, value_name = "LEVEL", help_heading = "Decision")]
    conformal: Option<f64>,

    /// What --conformal promises of: all rows together (the default), or the rows of every class by themselves
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Decision")]
    conformal_by: Option<ByName>,

    /// Share of the rows that --conformal holds back (default: 0.2)
    #[arg(long, value_name = "SHARE", help_heading = "Decision")]
    conformal_share: Option<f64>,
}

/// What is promised of, by name.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum ByName {
    /// All rows together; the part held back is drawn from all of them
    Rows,
    /// Every class by itself, also where classes will have other shares; a part of each is held back
    Class,
}

impl ConformalArguments {
    /// The sets that the flags ask for; `None` without.
    pub fn options(&self) -> Result<Option<ConformalOptions>> {
        let Some(level) = self.conformal else {
            let flags = [
                ("--conformal-by", self.conformal_by.is_some()),
                ("--conformal-share", self.conformal_share.is_some()),
            ];
            return match flags.iter().find(|(_, given)| *given) {
                None => Ok(None),
                Some((flag, _)) => Err(Error::usage(format!("{flag} is for --conformal"))
                    .help("add --conformal 0.9")
                    .help("leave it out")),
            };
        };
        let options = ConformalOptions {
            level,
            by_class: self.conformal_by == Some(ByName::Class),
            share: self.conformal_share.unwrap_or(ConformalOptions::SHARE),
        };
        options.check()?;
        Ok(Some(options))
    }
}
