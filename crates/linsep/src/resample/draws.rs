//! Rows drawn again with replacement, and classes dealt out anew.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Streams of the generator below this belong to folds and parts; each replicate has its own above it, so that replicate 7 is the
/// same whichever thread draws it, and whatever was drawn before.
const FIRST_STREAM: u64 = 16;

fn generator(seed: u64, replicate: u64, kind: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(FIRST_STREAM + 2 * replicate + kind);
    rng
}

/// How often each row is among `Σs` draws with replacement, each row as likely as its frequency says.
///
/// ```
/// let counts = linsep::resample::bootstrap_counts(5, None, 1, 0);
/// assert_eq!(counts.iter().sum::<u32>(), 5);
/// assert_eq!(counts, linsep::resample::bootstrap_counts(5, None, 1, 0));
/// ```
pub fn bootstrap_counts(rows: usize, frequencies: Option<&[f64]>, seed: u64, replicate: u64) -> Vec<u32> {
    let mut rng = generator(seed, replicate, 0);
    let mut counts = vec![0; rows];
    match frequencies {
        None => (0..rows).for_each(|_| counts[rng.random_range(0..rows)] += 1),
        Some(frequencies) => {
            let mut below = 0;
            let ends: Vec<u64> = frequencies
                .iter()
                .map(|s| {
                    below += *s as u64;
                    below
                })
                .collect();
            for _ in 0..below {
                let copy = rng.random_range(0..below);
                counts[ends.partition_point(|end| *end <= copy)] += 1;
            }
        }
    }
    counts
}

/// The places of the rows in a random order, every order as likely as any other.
pub fn permutation(rows: usize, seed: u64, replicate: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(&mut generator(seed, replicate, 1));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_uniform_over_copies() {
        let frequencies = [1.0, 3.0, 0.0, 2.0];
        let mut total = [0_u32; 4];
        for replicate in 0..2000 {
            let counts = bootstrap_counts(4, Some(&frequencies), 3, replicate);
            assert_eq!(counts.iter().sum::<u32>(), 6);
            total.iter_mut().zip(&counts).for_each(|(t, c)| *t += c);
        }
        assert_eq!(total[2], 0);
        for (found, s) in total.iter().zip(frequencies) {
            // Binomial of 12,000 draws.
            let p = s / 6.0;
            let error = (12_000.0 * p * (1.0 - p)).sqrt();
            assert!((f64::from(*found) - 12_000.0 * p).abs() <= 4.0 * error, "{total:?}");
        }
    }
}
