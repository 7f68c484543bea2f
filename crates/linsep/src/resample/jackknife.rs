//! Which rows a jackknife leaves out: each in turn, or random groups of them.

use super::draws::permutation;

/// Groups of rows that the jackknife leaves out one after the other where there are more rows than that: the skewness that BCa
/// takes from it is one number, and its own error at 200 groups (about √(6/200)/6 = 0.03) moves an end of a 95 % interval by less than
/// a twentieth of a standard error.
const GROUPS: usize = 200;

/// What the jackknife leaves out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LeaveOut {
    /// Rows of each group with the copies that are left out.
    pub groups: Vec<Vec<(usize, f64)>>,
    /// How many such groups there are, and how many times the share of one group was left out, which the change is divided by.
    pub times: Vec<(f64, f64)>,
}

impl LeaveOut {
    /// The groups of so many rows, with frequencies or without.
    pub fn of(all: usize, weights: Option<&[f64]>, seed: u64) -> LeaveOut {
        // A stream beyond those of all replicates.
        let stream = u64::MAX / 4;
        let Some(weights) = weights else {
            return LeaveOut::dealt(&permutation(all, seed, stream), all.min(GROUPS));
        };
        let rows: Vec<usize> = (0..all).filter(|i| weights[*i] > 0.0).collect();
        let total: f64 = weights.iter().sum();
        if rows.len() > GROUPS {
            let owners: Vec<usize> = rows.iter().flat_map(|i| std::iter::repeat_n(*i, weights[*i] as usize)).collect();
            let order: Vec<usize> = permutation(owners.len(), seed, stream).iter().map(|copy| owners[*copy]).collect();
            return LeaveOut::dealt(&order, GROUPS);
        }
        // One copy of many hardly moves the coefficients, and the change would be that of their last digits: as many copies as a
        // group would have are left out together.
        let taken = |i: usize| weights[i].min((total / GROUPS as f64).floor().max(1.0));
        LeaveOut {
            groups: rows.iter().map(|i| vec![(*i, taken(*i))]).collect(),
            times: rows.iter().map(|i| (weights[*i], taken(*i))).collect(),
        }
    }

    /// Copies of rows in a random order, dealt to groups in turn.
    fn dealt(order: &[usize], groups: usize) -> LeaveOut {
        let mut dealt = vec![Vec::new(); groups];
        order.iter().enumerate().for_each(|(at, row)| dealt[at % groups].push((*row, 1.0)));
        LeaveOut { groups: dealt, times: vec![(1.0, 1.0); groups] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every copy is left out once, whatever the number of rows.
    #[test]
    fn every_copy_is_in_one_group() {
        for rows in [3, 150, 450] {
            let weights: Vec<f64> = (0..rows).map(|i| f64::from(i % 4 * (1 + i % 3))).collect();
            for weights in [None, Some(&weights[..])] {
                let plan = LeaveOut::of(rows as usize, weights, 5);
                let mut left = vec![0.0; rows as usize];
                for (group, (times, taken)) in plan.groups.iter().zip(&plan.times) {
                    group.iter().for_each(|(row, copies)| left[*row] += copies * times / taken);
                }
                let expected = weights.map_or_else(|| vec![1.0; rows as usize], <[f64]>::to_vec);
                assert_eq!(left, expected, "{rows}");
                assert!(plan.groups.len() <= GROUPS);
            }
        }
    }
}
