//! The dual problem on a few rows, pair by pair.
//!
//! `min ½βᵀKβ − yᵀβ` over `low ≤ β ≤ high` with Σβ unchanged, f = Kβ − y: i is the row with the smallest f among those
//! that may rise, j the one among those that may fall that promises the largest decrease `(f_j − f_i)²/(K_ii + K_jj − 2K_ij)`
//! (Fan, Chen and Lin 2005, WSS 2).

use crate::numeric::vectorised;

/// Rows per entry of the tables of extremes: four vectors of eight lanes. Chosen (bench/constants.md): only the time
/// depends on it.
const CHUNK: usize = 32;
/// Curvature below this counts as this: τ of Fan, Chen and Lin (2005), with LIBSVM's value.
const FLAT: f64 = 1e-12;

/// A problem of a few rows; its arrays are filled up to whole chunks with rows that may not move.
pub(super) struct WorkingPairs {
    rows: usize,
    padded: usize,
    /// Row by row.
    pub(super) kernel: Vec<f64>,
    pub(super) f: Vec<f64>,
    pub(super) beta: Vec<f64>,
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    pub(super) diagonal: Vec<f64>,
    /// 0 where β may rise, else +∞.
    raise: Vec<f64>,
    /// 0 where β may fall, else −∞.
    fall: Vec<f64>,
    gains: Vec<f64>,
    smallest: Vec<f64>,
    largest: Vec<f64>,
}

impl WorkingPairs {
    pub(super) fn new(rows: usize) -> WorkingPairs {
        let padded = rows.div_ceil(CHUNK) * CHUNK;
        let zeros = || vec![0.0; padded];
        WorkingPairs {
            rows,
            padded,
            kernel: vec![0.0; rows * padded],
            f: zeros(),
            beta: zeros(),
            low: zeros(),
            high: zeros(),
            diagonal: vec![1.0; padded],
            raise: vec![f64::INFINITY; padded],
            fall: vec![f64::NEG_INFINITY; padded],
            gains: zeros(),
            smallest: vec![0.0; padded / CHUNK],
            largest: vec![0.0; padded / CHUNK],
        }
    }

    /// Values in a row of the kernel.
    pub(super) fn stride(&self) -> usize {
        self.padded
    }

    fn bound(&mut self, i: usize) {
        self.raise[i] = if self.beta[i] < self.high[i] { 0.0 } else { f64::INFINITY };
        self.fall[i] = if self.beta[i] > self.low[i] { 0.0 } else { f64::NEG_INFINITY };
    }

    /// Moves pairs until none violates by more than `share` of what the worst did at first (but at least `least`), or `most`
    /// are done; returns their number.
    pub(super) fn solve(&mut self, least: f64, share: f64, most: usize) -> usize {
        (0..self.rows).for_each(|i| self.bound(i));
        let n = self.padded;
        let (mut i, mut j, mut step) = (0, 0, 0.0);
        let mut goal = None;
        for done in 0..most {
            let pair = [&self.kernel[i * n..(i + 1) * n], &self.kernel[j * n..(j + 1) * n]];
            let extremes = [&mut self.smallest[..], &mut self.largest[..]];
            shift(&mut self.f, pair, step, [&self.raise, &self.fall], extremes);
            let (chunk, smallest) = least_of(&self.smallest);
            let largest = self.largest.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let violation = largest - smallest;
            let goal = *goal.get_or_insert(least.max(share * violation));
            if !(violation > goal) {
                return done;
            }
            i = place(&self.f, &self.raise, chunk, smallest);
            let own = &self.kernel[i * n..(i + 1) * n];
            promise(&self.f, &self.fall, own, &self.diagonal, smallest, self.diagonal[i], &mut self.gains);
            j = largest_of(&self.gains);
            let curvature = (self.diagonal[i] + self.diagonal[j] - 2.0 * own[j]).max(FLAT);
            let (room_up, room_down) = (self.high[i] - self.beta[i], self.beta[j] - self.low[j]);
            let free = (self.f[j] - smallest) / curvature;
            step = free.min(room_up).min(room_down);
            // A bound is reached to the bit.
            self.beta[i] = if step >= room_up { self.high[i] } else { self.beta[i] + step };
            self.beta[j] = if step >= room_down { self.low[j] } else { self.beta[j] - step };
            self.bound(i);
            self.bound(j);
        }
        most
    }
}

/// The chunk with the smallest entry, and that entry.
fn least_of(smallest: &[f64]) -> (usize, f64) {
    let mut best = (0, f64::INFINITY);
    for (c, s) in smallest.iter().enumerate() {
        if *s < best.1 {
            best = (c, *s);
        }
    }
    best
}

/// The row of a chunk that has a value.
fn place(f: &[f64], raise: &[f64], chunk: usize, value: f64) -> usize {
    let rows = chunk * CHUNK..(chunk + 1) * CHUNK;
    rows.clone().find(|k| f[*k] + raise[*k] == value).unwrap_or(rows.start)
}

/// The place of the largest entry, the first of several.
fn largest_of(gains: &[f64]) -> usize {
    let mut best = (0, 0.0);
    for (c, chunk) in gains.chunks_exact(8).enumerate() {
        let top = chunk.iter().fold(0.0f64, |a, b| if *b > a { *b } else { a });
        if top > best.1 {
            best = (c, top);
        }
    }
    let rows = best.0 * 8..best.0 * 8 + 8;
    rows.clone().find(|k| gains[*k] == best.1).unwrap_or(rows.start)
}

vectorised! {
    /// `f += step·(K_i − K_j)`, and the extremes of every chunk among the rows that may rise and those that may fall.
    fn shift(f: &mut [f64], pair: [&[f64]; 2], step: f64, room: [&[f64]; 2], extremes: [&mut [f64]; 2]) {
        let ([ki, kj], [raise, fall], [smallest, largest]) = (pair, room, extremes);
        for (c, f) in f.chunks_exact_mut(CHUNK).enumerate() {
            let rows = c * CHUNK..(c + 1) * CHUNK;
            let (ki, kj) = (&ki[rows.clone()], &kj[rows.clone()]);
            let (raise, fall) = (&raise[rows.clone()], &fall[rows]);
            let (mut low, mut high) = ([f64::INFINITY; 8], [f64::NEG_INFINITY; 8]);
            for b in 0..CHUNK / 8 {
                for l in 0..8 {
                    let k = 8 * b + l;
                    let v = (ki[k] - kj[k]).mul_add(step, f[k]);
                    f[k] = v;
                    let (up, down) = (v + raise[k], v + fall[k]);
                    low[l] = if up < low[l] { up } else { low[l] };
                    high[l] = if down > high[l] { down } else { high[l] };
                }
            }
            smallest[c] = low.iter().fold(f64::INFINITY, |a, b| if *b < a { *b } else { a });
            largest[c] = high.iter().fold(f64::NEG_INFINITY, |a, b| if *b > a { *b } else { a });
        }
    }

    /// The decrease that every row promises as partner of one with this f and K_ii; 0 where it may not fall.
    fn promise(
        f: &[f64],
        fall: &[f64],
        own: &[f64],
        diagonal: &[f64],
        smallest: f64,
        itself: f64,
        gains: &mut [f64],
    ) {
        let n = gains.len();
        let (f, fall, own, diagonal) = (&f[..n], &fall[..n], &own[..n], &diagonal[..n]);
        for k in 0..n {
            let ahead = f[k] + fall[k] - smallest;
            let curvature = (-2.0f64).mul_add(own[k], itself + diagonal[k]);
            let curvature = if curvature > FLAT { curvature } else { FLAT };
            let gain = ahead * ahead / curvature;
            gains[k] = if ahead > 0.0 { gain } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::WorkingPairs;

    #[test]
    fn two_points_meet_in_the_middle() {
        // x = ±1: K = [[1, −1], [−1, 1]], β = ∓½ without bounds in the way.
        let mut pairs = WorkingPairs::new(2);
        let n = pairs.stride();
        (pairs.kernel[0], pairs.kernel[1], pairs.kernel[n], pairs.kernel[n + 1]) = (1.0, -1.0, -1.0, 1.0);
        (pairs.f[0], pairs.f[1]) = (1.0, -1.0);
        (pairs.low[0], pairs.high[1]) = (-10.0, 10.0);
        let done = pairs.solve(1e-12, 0.0, 100);
        assert_eq!((done, pairs.beta[0], pairs.beta[1]), (1, -0.5, 0.5));
    }
}
