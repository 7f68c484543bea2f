//! Inference in words: a table like those of statistics packages, within 80 columns.

use super::summary::no_optimum_proof;
use super::text::{clip, count, grid, level_text, p_text, short, thousands, wrap};
use crate::certify::Certificate;
use crate::infer::{
    Adjustment, Coefficient, CovarianceKind, EstimatorKind, HypothesisTest, Inference, IntervalKind,
    SeparatedInference, TermTest, TestKind, Tested,
};
use crate::model::Fit;
use crate::words::{Setting, Voice, Words, words};
use crate::workflow::TableInference;
use std::fmt::Write;

/// Width of the page.
const PAGE: usize = 80;
/// Width of the names of coefficients in a page.
const NAME: usize = 24;

/// The whole answer.
pub fn inference_text(found: &TableInference, voice: &dyn Voice) -> String {
    match &found.answer {
        Fit::Model(inference) => table_text(found, inference, voice),
        Fit::Refused(separated) => separated_text(separated, voice),
    }
}

/// The name of a line.
pub(super) fn line_name(inference: &Inference, line: &Coefficient) -> String {
    line.feature.map_or("(intercept)".to_owned(), |j| inference.features[j].clone())
}

fn table_text(found: &TableInference, inference: &Inference, voice: &dyn Voice) -> String {
    let mut out = heading(found, inference);
    let mut say = Speaker { voice, lines: Vec::new() };
    for class in 1..inference.classes.len() {
        if inference.classes.len() > 2 {
            let _ = writeln!(out, "\nlog-odds of {} against {}", inference.classes[class], inference.classes[0]);
        } else {
            out.push('\n');
        }
        let lines: Vec<&Coefficient> = inference.coefficients.iter().filter(|c| c.class == class).collect();
        out.push_str(&coefficient_grid(inference, &lines));
        out.push_str(&odds_grid(inference, &lines));
    }
    out.push_str(&terms_grid(inference));
    inference.tests.iter().for_each(|test| out.push_str(&test_text(test)));
    out.push_str(&effects_grid(inference));
    out.push_str(&inflation_grid(inference));
    out.push_str(&collinearity_grid(inference));
    out.push_str(&statistics_text(inference));
    notes(found, inference, &mut say);
    if !say.lines.is_empty() {
        out.push('\n');
    }
    say.lines.iter().for_each(|line| {
        let _ = writeln!(out, "{line}");
    });
    out
}

fn heading(found: &TableInference, inference: &Inference) -> String {
    let what = match (inference.options.estimator, inference.classes.len()) {
        (EstimatorKind::Firth, _) => "Logistic regression by Firth's penalised likelihood",
        (EstimatorKind::MeanReduced, _) => "Logistic regression, estimates of reduced mean bias",
        (EstimatorKind::MedianReduced, _) => "Logistic regression, estimates of reduced median bias",
        (EstimatorKind::Likelihood, 2) => "Logistic regression by maximum likelihood",
        (EstimatorKind::Likelihood, _) => "Multinomial logistic regression by maximum likelihood",
    };
    let about = match &inference.classes[..] {
        [first, second] => format!("{}: log-odds of {second} against {first}", found.target),
        classes => format!("{}: log-odds against {}", found.target, classes[0]),
    };
    let errors = match (inference.options.covariance, inference.clusters) {
        (CovarianceKind::Model, _) => "by the information".to_owned(),
        (CovarianceKind::Cluster, Some(count)) => {
            format!("robust, {} clusters of {}", thousands(count as f64), found.cluster.as_deref().unwrap_or("rows"))
        }
        (kind, _) => format!("robust ({})", kind.name()),
    };
    let rows = match &found.weights {
        Some(column) if inference.whole_weights => {
            format!(
                "{}, {} with the frequencies of {column}",
                count(found.used, "row"),
                thousands(inference.statistics.n)
            )
        }
        Some(column) => format!("{}, weighted by {column}", count(found.used, "row")),
        None => count(found.used, "row"),
    };
    let left = found.rows - found.used;
    let left = if left > 0 {
        format!(" of {} ({} left out)", thousands(found.rows as f64), thousands(left as f64))
    } else {
        String::new()
    };
    let intervals = match inference.options.interval {
        IntervalKind::Wald => "Wald",
        IntervalKind::Profile => "profile likelihood",
    };
    let level = level_text(inference.options.level);
    format!("{what}\n  {about}\n  {rows}{left}\n  standard errors {errors}; {level} % {intervals} intervals\n")
}

fn coefficient_grid(inference: &Inference, lines: &[&Coefficient]) -> String {
    let adjusted = inference.options.adjust;
    let mut heads = vec![String::new(), "estimate".into(), "std.error".into()];
    // A page has no room for both.
    heads.extend(adjusted.is_none().then(|| "z".to_owned()));
    heads.push("p".into());
    heads.extend(adjusted.map(|a| match a {
        Adjustment::Holm => "p (Holm)".to_owned(),
        Adjustment::Bh => "p (BH)".to_owned(),
    }));
    heads.extend(["low".to_owned(), "high".to_owned()]);
    let mut rows = vec![heads];
    for line in lines {
        let mark = if line.is_uneven() { " *" } else { "" };
        let mut row =
            vec![format!("{}{mark}", clip(&line_name(inference, line), NAME)), short(line.estimate), short(line.error)];
        row.extend(adjusted.is_none().then(|| format!("{:.2}", line.z)));
        row.push(p_text(line.ln_p));
        row.extend(adjusted.map(|_| line.adjusted_ln_p.map_or("-".to_owned(), p_text)));
        row.extend([short(line.low), short(line.high)]);
        rows.push(row);
    }
    grid(&rows, 0)
}

fn odds_grid(inference: &Inference, lines: &[&Coefficient]) -> String {
    let of_features: Vec<&&Coefficient> = lines.iter().filter(|l| l.feature.is_some()).collect();
    if of_features.is_empty() {
        return String::new();
    }
    let mut rows = vec![vec![String::new(), "odds ratio".into(), "low".into(), "high".into()]];
    for line in of_features {
        let name = clip(&line_name(inference, line), NAME);
        rows.push(vec![name, short(line.estimate.exp()), short(line.low.exp()), short(line.high.exp())]);
    }
    format!("\n{}", grid(&rows, 0))
}

fn terms_grid(inference: &Inference) -> String {
    let Some(first) = inference.terms.first() else { return String::new() };
    let kind = match first.test {
        TestKind::LikelihoodRatio => "Likelihood ratio tests",
        TestKind::Wald => "Wald tests",
    };
    format!("\n{kind} of the terms{}\n{}", type_two(inference), tests_grid(&inference.terms))
}

fn type_two(inference: &Inference) -> &'static str {
    let has_products = inference.features.iter().any(|f| f.contains('*') || f.contains('^'));
    if has_products { ", each without the terms that contain it" } else { "" }
}

fn tests_grid(terms: &[TermTest]) -> String {
    let mut rows = vec![vec![String::new(), "df".into(), "chi-squared".into(), "p".into()]];
    rows.extend(terms.iter().map(|t| vec![clip(&t.name, NAME), t.df.to_string(), short(t.statistic), p_text(t.ln_p)]));
    grid(&rows, 0)
}

fn test_text(test: &HypothesisTest) -> String {
    let mut rows = vec![vec![String::new(), "df".into(), "chi-squared".into(), "p".into()]];
    let mut add = |name: &str, tested: Option<Tested>| {
        if let Some(t) = tested {
            rows.push(vec![name.to_owned(), test.df.to_string(), short(t.statistic), p_text(t.ln_p)]);
        }
    };
    add("likelihood ratio", test.ratio);
    add("score", test.score);
    add("wald", Some(test.wald));
    format!("\nTest of {}\n{}", test.hypothesis, grid(&rows, 0))
}

fn effects_grid(inference: &Inference) -> String {
    if inference.effects.is_empty() {
        return String::new();
    }
    let mut rows = vec![["", "effect", "std.error", "p", "low", "high"].map(str::to_owned).to_vec()];
    for effect in &inference.effects {
        let mark = if effect.discrete { " (0 to 1)" } else { "" };
        let name = clip(&inference.features[effect.feature], NAME);
        let numbers = [effect.effect, effect.error].map(short);
        let mut row = vec![format!("{name}{mark}")];
        row.extend(numbers);
        row.extend([p_text(effect.ln_p), short(effect.low), short(effect.high)]);
        rows.push(row);
    }
    format!("\nAverage effects on the probability of {}\n{}", inference.classes[1], grid(&rows, 0))
}

fn inflation_grid(inference: &Inference) -> String {
    /// From here on a term is worth naming: its standard error is over twice that of a term alone.
    const HIGH: f64 = 2.0;
    let root = |t: &crate::infer::TermInflation| t.gvif.powf(0.5 / t.df as f64);
    if !inference.inflation.iter().any(|t| root(t) > HIGH) {
        return String::new();
    }
    let mut rows = vec![vec![String::new(), "df".into(), "GVIF".into(), "GVIF^(1/2df)".into()]];
    for term in inference.inflation.iter().filter(|t| root(t) > HIGH) {
        rows.push(vec![clip(&term.name, NAME), term.df.to_string(), short(term.gvif), short(root(term))]);
    }
    format!("\nTerms whose variance the others inflate\n{}", grid(&rows, 0))
}

fn collinearity_grid(inference: &Inference) -> String {
    /// A column is named in a combination that has at least this share of its variance: half is usual.
    const NAMED: f64 = 0.5;
    let Some(found) = &inference.collinearity else { return String::new() };
    let mut rows = vec![vec!["index".to_owned(), "share of the variance of".to_owned()]];
    let mut text = String::new();
    for index in &found.indices {
        let named = found.columns.iter().zip(&index.shares).filter(|(_, share)| **share >= NAMED);
        let name =
            |column: &Option<usize>| column.map_or("(intercept)".to_owned(), |j| clip(&inference.features[j], NAME));
        let names: Vec<String> = named.map(|(c, share)| format!("{} {:.2}", name(c), share)).collect();
        rows.push(vec![short(index.index), names.join(", ")]);
    }
    let wide = rows.iter().map(|r| r[0].chars().count()).max().unwrap_or(0);
    for row in rows {
        let pieces = wrap(&row[1], PAGE - wide - 2);
        for (at, piece) in pieces.iter().enumerate() {
            let head = if at == 0 { &row[0][..] } else { "" };
            let line = format!("{head:>wide$}  {piece}");
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    format!("\nCondition indices of the columns, scaled to length one\n{text}")
}

fn statistics_text(inference: &Inference) -> String {
    let s = &inference.statistics;
    let mut out = String::from("\n");
    let mut line = |label: &str, text: String| {
        let _ = writeln!(out, "{label:<15} {text}");
    };
    let null = format!("null deviance {}", short(s.null_deviance));
    line("deviance", format!("{}   {null}   log-likelihood {}", short(s.deviance), short(s.log_likelihood)));
    if let (Some(aic), Some(bic)) = (s.aic, s.bic) {
        line("criteria", format!("AIC {}   BIC {}", short(aic), short(bic)));
    }
    let named = [("McFadden", s.mcfadden), ("Nagelkerke", s.nagelkerke), ("Tjur", s.tjur)];
    let shares: Vec<String> =
        named.iter().filter_map(|(name, value)| value.map(|v| format!("{name} {}", short(v)))).collect();
    if !shares.is_empty() {
        line("pseudo R²", shares.join("   "));
    }
    if let Some(all) = &s.overall {
        line("all columns", format!("chi-squared {} on {} df, p {}", short(all.statistic), all.df, p_text(all.ln_p)));
    }
    out
}

/// Notes in lines of the page.
struct Speaker<'v> {
    voice: &'v dyn Voice,
    lines: Vec<String>,
}

impl Speaker<'_> {
    fn say(&mut self, text: impl Into<Words>) {
        if let Some(said) = text.into().said(self.voice) {
            let pieces = wrap(&said, PAGE - 2);
            self.lines
                .extend(pieces.into_iter().enumerate().map(|(i, p)| format!("{}{p}", if i == 0 { "" } else { "  " })));
        }
    }
}

fn notes(found: &TableInference, inference: &Inference, say: &mut Speaker<'_>) {
    if inference.coefficients.iter().any(Coefficient::is_uneven) && inference.options.interval == IntervalKind::Wald {
        say.say(words![
            "* p by the likelihood ratio differs twofold: the estimate is not nearly normal (Hauck and Donner). Use ",
            Setting::Interval.is("profile"),
            "."
        ]);
    }
    for (column, level) in &found.references {
        say.say(format!("{column} is compared with its level {level}."));
    }
    if !inference.left_out.is_empty() {
        let names: Vec<&str> = inference.left_out.iter().map(|j| inference.features[*j].as_str()).collect();
        let (it, be) = if names.len() == 1 { ("it", "is") } else { ("they", "are") };
        say.say(format!(
            "Without a coefficient: {}; {it} {be} constant or combinations of the columns before.",
            names.join(", ")
        ));
    }
    match (&found.weights, inference.whole_weights) {
        (Some(column), true) => {
            say.say(format!("The weights of {column} are frequencies: a row of weight k counts as k rows."));
        }
        (Some(column), false) => say.say(format!(
            "The weights of {column} are not whole numbers, so there are no likelihood ratio tests, AIC or BIC; the \
             covariance is the sandwich with s²(y − p)²."
        )),
        (None, _) => {}
    }
    if inference.options.covariance != CovarianceKind::Model && inference.whole_weights {
        say.say("A robust covariance does not trust the likelihood: no likelihood ratio tests, no AIC.");
    }
    if inference.options.estimator == EstimatorKind::Firth {
        say.say(
            "Firth's estimates maximise the likelihood with the penalty ½ log det I, here a local maximum; tests and \
             intervals by the penalised likelihood. No AIC: the likelihood is not at its maximum.",
        );
    }
    if let Some(intercept) = inference.corrected_intercept {
        say.say(format!(
            "Firth's estimates pull probabilities towards one half. With the intercept {} (FLIC) their mean is the share of the \
             class.",
            short(intercept)
        ));
    }
    match inference.options.estimator {
        EstimatorKind::MeanReduced => say.say(
            "The estimates are those of Firth; tests and intervals are Wald's, by the information. No AIC, and no likelihood \
             ratio tests: the likelihood is not at its maximum.",
        ),
        EstimatorKind::MedianReduced => say.say(
            "Each estimate is above and below the truth about equally often. It belongs to these coefficients: of another \
             reference level they are not the differences of these. Tests and intervals are Wald's; no AIC, and no likelihood \
             ratio tests.",
        ),
        EstimatorKind::Likelihood | EstimatorKind::Firth => {}
    }
    // Errors of coefficients are proved only where the maximum is.
    if let Some(Certificate::SelfConcordance { errors: Some(_), .. }) = &inference.certificate {
        say.say("That the maximum exists is proved: no direction separates the rows.");
    }
}

fn separated_text(found: &SeparatedInference, voice: &dyn Voice) -> String {
    let mut out = no_optimum_proof(&found.proof, &found.features, &found.classes);
    let mut say = Speaker { voice, lines: Vec::new() };
    say.say("");
    say.say(
        "There are no standard errors, z values or Wald intervals of coefficients that diverge: they have no finite \
         estimate, and what programs print for them depends on when they stop.",
    );
    if found.classes.len() == 2 {
        say.say(words!["Finite estimates with intervals: ", Setting::Firth, "."]);
    }
    say.lines.iter().for_each(|line| {
        let _ = writeln!(out, "{line}");
    });
    if !found.one_sided.is_empty() {
        let mut rows = vec![["", "estimate", "low", "high"].map(str::to_owned).to_vec()];
        for (column, side, end) in &found.one_sided {
            let infinite = if *side > 0.0 { "inf" } else { "-inf" }.to_owned();
            let end = if end.is_nan() { "not found".to_owned() } else { short(*end) };
            let (low, high) = if *side > 0.0 { (end, infinite.clone()) } else { (infinite.clone(), end) };
            rows.push(vec![clip(&found.features[*column], NAME), infinite, low, high]);
        }
        let _ = writeln!(out, "\nOne-sided intervals by the profile likelihood\n{}", grid(&rows, 0).trim_end());
    }
    if let Some(limiting) = &found.limiting {
        let lines: Vec<&Coefficient> = limiting.coefficients.iter().collect();
        let rows = count(limiting.statistics.n as usize, "row");
        let _ = writeln!(
            out,
            "\nCoefficients that have a limit, by the {rows} on the boundary: valid in the\nlimiting conditional model, \
             where the others are infinite\n{}",
            coefficient_grid(limiting, &lines).trim_end()
        );
    }
    if let Some(value) = found.log_likelihood {
        let _ = writeln!(out, "\nLikelihood ratio tests of the terms, by the supremum of the likelihood");
        out.push_str(&tests_grid(&found.terms));
        let _ = writeln!(out, "\nsupremum of the log-likelihood {}", short(value));
    }
    out
}
