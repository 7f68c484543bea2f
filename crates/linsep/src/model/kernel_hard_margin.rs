//! The hard margin with a kernel: of all planes of the feature space that separate two classes the widest one.
//!
//! `min ½‖w‖²` subject to `y(w·φ + b) ≥ 1`; its multipliers have no bound. The soft margin has the bound C, and where all its
//! multipliers are below it, it is the hard one. So C grows until they are. Where they never are, the multipliers of the last C
//! are points of the hulls that are nearly the same: no plane has a margin above half of their distance, and that is proved.

use super::kernel_choice::PreparedKernel;
use super::kernel_proof::{KernelClaim, Machine};
use super::kernel_svm::{KernelSvmSettings, expansion, multipliers, signs};
use super::{Computation, Fit, Fitted, NotSeparable, Objective, Outcome};
use crate::certify::{Certificate, KernelTask};
use crate::design::{Block, Tile, Training, Units, summarise};
use crate::discriminant::Discriminant;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, KernelRows};
use crate::solve::{KernelSolved, Smo, Stop};
use crate::watch::Watch;
use crate::words::{Setting, words};

/// The first C and the factor by which it grows, over the largest K(x, x): no multiplier of a hard margin is below a quarter of its
/// reciprocal. Chosen, not measured: a smaller factor costs more fits, a larger one slower fits of classes that overlap.
const COSTS: (f64, f64) = (10.0, 100.0);
/// Times that C grows at most: margins below 10⁻¹⁰ of the length of the rows are rounding.
const GROWTHS: usize = 9;
/// Hull points nearer than this share of the length of the rows are called the same: the margin has five digits at best, and the
/// distance is stated. Chosen, not measured.
const TOUCHING: f64 = 1e-9;
/// Where every row has y(w·φ + b) above this, the plane separates.
const AHEAD: f64 = 0.5;
/// Multipliers up to this share of C are below it.
const BELOW: f64 = 0.999;
/// Pairs of rows after which a C is given up, for each row: overlapping classes move pairs for long. Chosen, not measured.
const PAIRS_A_ROW: usize = 20_000;
/// The pairs of few rows.
const FEW_PAIRS: usize = 2_000_000;

impl KernelSvmSettings {
    /// The widest plane, or a bound on how wide any is.
    pub(super) fn fit_hard(
        &self,
        training: &Training<'_>,
        prepared: PreparedKernel,
        ridge: Option<f64>,
        watch: &Watch,
    ) -> Result<Fit> {
        let PreparedKernel { kernel, units, rows } = prepared;
        if ridge.is_none() {
            let what = format!("the {} kernel is not known to be positive semidefinite", kernel.name());
            return Err(Error::usage(format!("{what}, and a hard margin needs that"))
                .help(words!["choose ", Setting::Model.is("svm"), ", which finds a stationary point"])
                .help("choose another kernel"));
        }
        if kernel != Kernel::Precomputed {
            // A row that does not count may still spoil the bounds on rounding: it is named.
            summarise(training.design, None, watch)?;
        }
        let signs = signs(training);
        if let Some(same) = same_rows(training, &signs)? {
            let margin_at_most = Some(0.0);
            return Ok(
                NotSeparable { rows: same.to_vec(), witness: None, mistakes: 0, epochs: 0, margin_at_most }.into()
            );
        }
        let hard = self.task(&signs, training);
        let (solved, settled) = self.grown(&kernel, &rows, &hard, watch)?;
        drop(rows);
        let intercept = 0.5 * (solved.intercepts.0 + solved.intercepts.1);
        let prove = |scale: f64, claim: KernelClaim| -> Result<(Vec<f64>, Discriminant, f64, Certificate)> {
            let signed: Vec<f64> = solved.signed.iter().map(|b| b * scale).collect();
            let discriminant = expansion(training, &kernel, &units, (&signed, intercept * scale))?;
            let machine = Machine { kernel, discriminant: &discriminant, units: &units, signed: &signed, claim };
            let (value, certificate) = machine.prove(training, &hard, ridge, &Watch::default())?;
            Ok((signed, discriminant, value, certificate))
        };
        let (_, _, objective, first) = prove(1.0, KernelClaim::WidestMargin)?;
        let Certificate::Margin { margin, .. } = first else {
            let at_most = prove(1.0, KernelClaim::NoWiderMargin)?.2;
            return self.no_margin(&solved, settled, at_most, first);
        };
        // An approximate solution is scaled so that its nearest rows have y(w·φ + b) = 1.
        let functional = margin * (2.0 * objective).sqrt();
        let (signed, discriminant, objective, certificate) = prove(functional.recip(), KernelClaim::WidestMargin)?;
        if !objective.is_finite() || objective == 0.0 {
            return Err(Error::data("the margin is too far from 1 in size for double precision")
                .help("standardise the columns")
                .help("take another γ"));
        }
        let outcome = Outcome::from(&solved.stop).proved(&certificate, self.tolerance);
        Ok(Fit::Model(Box::new(Fitted {
            discriminant,
            units,
            objective: Objective { formula: self.formula(&kernel), value: objective, lambda: None },
            multipliers: Some(multipliers(&hard, &signed)),
            certificate,
            outcome,
            notes: Vec::new(),
            computation: Computation {
                solver: "smo".into(),
                reason: None,
                iterations: solved.iterations,
                passes: solved.passes,
            },
            density: None,
        })))
    }

    /// Soft margins of growing C, and whether the last one is the hard one.
    fn grown(
        &self,
        kernel: &Kernel,
        rows: &KernelRows,
        hard: &KernelTask<'_>,
        watch: &Watch,
    ) -> Result<(KernelSolved, bool)> {
        let counts: Vec<f64> = (0..hard.signs.len()).map(|i| f64::from(u8::from(hard.weight(i) > 0.0))).collect();
        let total = crate::numeric::sum(counts.iter().copied());
        let largest = rows.diagonal(kernel)?.iter().zip(&counts).fold(0.0f64, |m, (k, s)| m.max(k * s));
        if !(largest > 0.0 && largest.is_finite()) {
            return Err(Error::data(format!("the {} kernel has no length on these rows", kernel.name()))
                .help("take another γ, constant or degree"));
        }
        let pairs = FEW_PAIRS.max(PAIRS_A_ROW.saturating_mul(counts.len()));
        let (mut cost, mut squared) = (COSTS.0 / largest, largest.recip());
        let (mut iterations, mut passes) = (0, 0);
        let mut nearest: Option<(f64, KernelSolved)> = None;
        for growth in 0.. {
            let lambda = (cost * total).recip();
            let task = KernelTask { weights: Some(&counts), lambda, ..*hard };
            // A share of the ½λ‖w‖² that the objective comes down to, which is at least that of the last C.
            let tolerance = self.tolerance * 0.25 * lambda * squared;
            let smo = Smo { tolerance, max_iterations: self.max_iterations.unwrap_or(pairs), cache: self.cache };
            let mut solved = smo.solve(kernel, rows, &task, true, watch)?;
            (iterations, passes) = (iterations + solved.iterations, passes + solved.passes);
            (solved.iterations, solved.passes) = (iterations, passes);
            let most = solved.signed.iter().fold(0.0f64, |m, b| m.max(b.abs()));
            let intercept = 0.5 * (solved.intercepts.0 + solved.intercepts.1);
            let margin = |i: usize| hard.signs[i] * (solved.scores[i] + intercept);
            let ahead = (0..counts.len()).filter(|i| counts[*i] > 0.0).all(|i| margin(i) > AHEAD);
            if most <= BELOW * cost && ahead {
                return Ok((solved, true));
            }
            let terms = solved.signed.iter().zip(&solved.scores).filter(|(b, _)| **b != 0.0).map(|(b, g)| b * g);
            let found = crate::numeric::sum(terms);
            let mass = solved.signed.iter().map(|b| b.abs()).sum::<f64>();
            let at_most = found.max(0.0).sqrt() / mass;
            let halted = matches!(solved.stop, Stop::TimeLimit | Stop::Interrupted);
            let over = halted || growth >= GROWTHS || at_most < TOUCHING * largest.sqrt();
            if nearest.as_ref().is_none_or(|(least, _)| at_most < *least) || halted {
                nearest = Some((at_most, solved));
            }
            if let (true, Some((_, solved))) = (over, nearest.take_if(|_| over)) {
                return Ok((solved, false));
            }
            squared = squared.max(found);
            cost *= COSTS.1;
        }
        Err(Error::usage("C grew without end"))
    }

    /// No plane was found: how wide one could be at most.
    fn no_margin(&self, solved: &KernelSolved, settled: bool, at_most: f64, proof: Certificate) -> Result<Fit> {
        let refuse = |what: String| {
            Err(Error::data(what).help(words!["choose ", Setting::Model.is("svm"), " and ", Setting::C.is("100")]))
        };
        let reason = match proof {
            Certificate::Absent { reason } => reason,
            _ => "no plane was found".to_owned(),
        };
        match solved.stop {
            Stop::TimeLimit | Stop::Interrupted => {
                refuse("time was over before a plane was found that separates the classes".to_owned())
            }
            _ if settled || !at_most.is_finite() => refuse(format!("rounding hides the widest plane: {reason}")),
            _ => {
                let rows = (0..solved.signed.len()).filter(|i| solved.signed[*i] != 0.0).collect();
                let margin_at_most = Some(at_most);
                Ok(NotSeparable { rows, witness: None, mistakes: 0, epochs: 0, margin_at_most }.into())
            }
        }
    }
}

/// Two rows that count, are the same to the bit and of different classes: no kernel tells them apart.
fn same_rows(training: &Training<'_>, signs: &[f64]) -> Result<Option<[usize; 2]>> {
    let counted: Vec<usize> = (0..signs.len()).filter(|i| training.weights.is_none_or(|w| w[*i] > 0.0)).collect();
    let (mut tile, mut row, mut keys) = (Tile::default(), Vec::new(), Vec::with_capacity(counted.len()));
    let units = Units::identity(training.design.shape().cols);
    for i in counted {
        match training.design.block(i..i + 1, &mut tile)? {
            Block::F64(block) => block.load(&units, &mut row),
            Block::F32(block) => block.load(&units, &mut row),
            Block::Csr(block) => {
                let (columns, values) = block.row(0);
                let entries = columns.iter().zip(values).filter(|(_, v)| **v != 0.0);
                row = entries.flat_map(|(c, v)| [f64::from(*c), *v]).collect();
            }
        }
        // Zero without its sign.
        let key: Vec<u64> = row.iter().map(|x| (x + 0.0).to_bits()).collect();
        keys.push((key, i));
    }
    keys.sort_unstable();
    let same = keys.windows(2).find(|pair| pair[0].0 == pair[1].0 && signs[pair[0].1] != signs[pair[1].1]);
    Ok(same.map(|pair| [pair[0].1, pair[1].1]))
}
