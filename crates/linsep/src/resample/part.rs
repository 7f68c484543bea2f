//! A random part of the rows.

use crate::table::Class;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// What a part is a share of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartOf {
    /// All rows together: every part of that size is as likely as any other, so that the rows of the part and a new row are
    /// exchangeable.
    AllRows,
    /// Each class: within a class, every part of that size is as likely as any other. The shares of the classes in the part are
    /// then not random, so that only rows of one class are exchangeable with a new row of that class.
    EachClass,
}

/// The stream of the generator: another than that of folds, which come of the same seed.
const STREAM: u64 = 1;

/// Whether each row is in a random part of the rows that have a class; a share is rounded to whole rows.
///
/// ```
/// use linsep::{resample::{PartOf, random_part}, table::Class};
/// let rows: Vec<_> = (0..50).map(|i| Some(Class(u32::from(i < 10)))).collect();
/// let part = random_part(&rows, 2, 0.2, PartOf::EachClass, 7);
/// assert_eq!((0..10).filter(|i| part[*i]).count(), 2);
/// assert_eq!(part.iter().filter(|row| **row).count(), 10);
/// ```
pub fn random_part(classes: &[Option<Class>], n_classes: usize, share: f64, of: PartOf, seed: u64) -> Vec<bool> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(STREAM);
    let groups = match of {
        PartOf::AllRows => 1,
        PartOf::EachClass => n_classes,
    };
    let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); groups];
    for (row, class) in classes.iter().enumerate() {
        if let Some(class) = class {
            rows_of[if of == PartOf::AllRows { 0 } else { class.index() }].push(row);
        }
    }
    let mut part = vec![false; classes.len()];
    for mut rows in rows_of {
        rows.shuffle(&mut rng);
        let size = (share * rows.len() as f64).round() as usize;
        rows.iter().take(size).for_each(|row| part[*row] = true);
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of five rows is drawn about equally often: the part is a simple random one, whatever the classes.
    #[test]
    fn every_part_is_as_likely_as_any_other() {
        let classes: Vec<Option<Class>> = [0, 0, 0, 0, 1].iter().map(|c| Some(Class(*c))).collect();
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..5000 {
            let part = random_part(&classes, 2, 0.4, PartOf::AllRows, seed);
            *counts.entry(part).or_insert(0_i32) += 1;
        }
        assert_eq!(counts.len(), 10);
        // 500 expected, standard deviation 21.
        assert!(counts.values().all(|n| (n - 500).abs() < 110), "{counts:?}");
    }
}
