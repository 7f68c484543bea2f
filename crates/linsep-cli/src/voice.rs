//! The command's voice: settings are flags, rows and columns are counted from 1.

use crate::page;
use linsep::words::{Setting, Voice, listed};

/// How the command speaks.
pub struct Command;

impl Voice for Command {
    fn setting(&self, setting: Setting, value: Option<&str>) -> Option<String> {
        let flag = flag(setting);
        Some(value.map_or(flag.to_owned(), |value| format!("{flag} {value}")))
    }

    fn choice(&self, setting: Setting, values: &[String]) -> Option<String> {
        self.setting(setting, Some(&listed(values)?))
    }

    fn width(&self) -> usize {
        page::width()
    }

    fn nothing_written(&self) -> Option<&'static str> {
        Some("No model was written.")
    }
}

/// What a setting is called on the command line.
fn flag(setting: Setting) -> &'static str {
    match setting {
        Setting::Basis => "--basis",
        Setting::BasisColumns => "--basis-columns",
        Setting::Batch => "--batch",
        Setting::C => "--C",
        Setting::Cache => "--cache",
        Setting::Calibrate => "--calibrate",
        Setting::CalibrateFolds => "--calibrate-folds",
        Setting::Coef0 => "--coef0",
        Setting::Comment => "--comment",
        Setting::Conformal => "--conformal",
        Setting::ConformalBy => "--conformal-by",
        Setting::ConformalShare => "--conformal-share",
        Setting::Covariance => "--covariance",
        Setting::CrossValidation => "--cv",
        Setting::Date => "--date",
        Setting::Decimal => "--decimal",
        Setting::Degree => "--degree",
        Setting::Distance => "--distance",
        Setting::Drop => "--drop",
        Setting::Encoding => "--encoding",
        Setting::Exact => "--exact",
        Setting::Families => "--family",
        Setting::Features => "--features",
        Setting::Formula => "--formula",
        Setting::Reference => "--reference",
        Setting::Firth => "--firth",
        Setting::Gamma => "--gamma",
        Setting::Header => "--no-header",
        Setting::IndexFrom => "--index-from",
        Setting::Init => "--init",
        Setting::Inspect => "inspect --json",
        Setting::Intercept => "--intercept",
        Setting::Interval => "--interval",
        Setting::Json => "--json",
        Setting::KeepStatistics => "--keep-statistics",
        Setting::Kernel => "--kernel",
        Setting::LambdaValues => "--lambda-values",
        Setting::Level => "--level",
        Setting::Levels => "--max-levels",
        Setting::Loss => "--loss",
        Setting::Margin => "--margin",
        Setting::Missing => "--missing",
        Setting::Model => "--model",
        Setting::Multiclass => "--multiclass",
        Setting::NaValues => "--na-values",
        Setting::Number => "--number",
        Setting::Penalty => "--penalty",
        Setting::Priors => "--priors",
        Setting::Projection => "--projection",
        Setting::Rows => "--rows",
        Setting::ScoreThreshold => "--score-threshold",
        Setting::Shrinkage => "--shrinkage",
        Setting::Sheet => "--sheet",
        Setting::Memory => "--memory",
        Setting::Scratch => "--scratch",
        Setting::Skip => "--skip",
        Setting::Smoothing => "--smoothing",
        Setting::Solver => "--solver",
        Setting::Standardize => "--standardize",
        Setting::Step => "--step",
        Setting::Targets => "--targets",
        Setting::TextColumns => "--text",
        Setting::Thousands => "--thousands",
        Setting::Tie => "--tie",
        Setting::Ties => "--ties",
        Setting::Tolerance => "--tol",
        Setting::Transform => "--transform",
        Setting::TransformColumns => "--transform-columns",
        Setting::TrueOf => "--m",
        Setting::TruePriors => "--true-priors",
        Setting::Unknown => "--unknown",
        Setting::VarianceSmoothing => "--variance-smoothing",
        Setting::Vote => "--vote",
        Setting::With => "--with",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_flag_is_one_of_the_commands() {
        let command = crate::Arguments::command();
        let flags: Vec<String> = command
            .get_subcommands()
            .flat_map(|c| c.get_arguments())
            .filter_map(|a| a.get_long().map(|long| format!("--{long}")))
            .collect();
        for setting in Setting::ALL {
            let said = Command.setting(setting, None).expect("the command has every setting");
            let flag = said.split(' ').next_back().unwrap_or_default();
            assert!(flags.iter().any(|f| f == flag), "{setting:?}: there is no {flag}");
        }
        let choice = Command.choice(Setting::Model, &["svm".into(), "lda".into()]);
        assert_eq!(choice.as_deref(), Some("--model svm or lda"));
    }
}
