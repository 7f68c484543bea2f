//! How finely the numbers of a column were written.
//!
//! A column whose numbers are all short decimals was rounded when it was written, and two columns may differ by nothing
//! else. The unit is told from the doubles, not from the text: a double of at most fifteen digits has one shortest
//! decimal, so CSV, Parquet and a data frame of the same cells agree, and `verify` finds the same unit again.

use super::{Cells, Kind, Table};

/// Powers of ten that a double holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];
/// Shortest decimals of single-precision numbers have up to nine digits; with seven they are like any others.
const SINGLE_DIGITS: std::ops::RangeInclusive<u32> = 8..=9;

/// Different numbers that it takes to tell fixed digits from fixed decimals. Chosen (bench/constants.md): a scale from
/// 0.0 to 10.0 ends early in one number.
const DIFFERENT: usize = 8;
/// Integers of at most fifteen digits: their products with powers of ten are off by less than a half.
const FIFTEEN_DIGITS: f64 = 1e15;
/// A unit of a number is larger than that of fixed decimals if it exceeds it by this factor; the next possible one is
/// ten.
const COARSER: f64 = 1.5;
/// Half a unit of the last digit, and a little for rounding.
const HALF: f64 = 0.5001;

/// A decimal `whole · 10^−decimals`.
struct Decimal {
    whole: u64,
    decimals: usize,
}

impl Decimal {
    /// The decimal of `first` places, fewer where those do not fit, more where they do not suffice, that the double is the
    /// nearest to. Of at most fifteen digits the product is off by less than a half and the quotient of two exact numbers is
    /// correctly rounded, so equality decides.
    fn of(value: f64, first: usize) -> Option<Decimal> {
        let magnitude = value.abs();
        let at = |decimals: usize| Some((magnitude * POWERS[decimals]).round()).filter(|whole| *whole < FIFTEEN_DIGITS);
        let fits = (0..=first).rev().find(|decimals| at(*decimals).is_some())?;
        (fits..POWERS.len())
            .map_while(|decimals| at(decimals).map(|whole| (decimals, whole)))
            .find(|(decimals, whole)| whole / POWERS[*decimals] == magnitude)
            .map(|(decimals, whole)| Decimal { whole: whole as u64, decimals })
    }

    /// Digits without the zeros at the end.
    fn significant(&self) -> u32 {
        let mut whole = self.whole;
        while whole != 0 && whole.is_multiple_of(10) {
            whole /= 10;
        }
        whole.checked_ilog10().map_or(0, |d| d + 1)
    }

    /// Of the first digit, as a power of ten.
    fn exponent(&self) -> Option<i32> {
        self.whole.checked_ilog10().map(|d| d as i32 - self.decimals as i32)
    }
}

impl Table {
    /// The printed unit of a number column: the root mean square of a unit in the last digit over the rows that count,
    /// each as often as `frequency` says. `None` for text, for whole numbers, and where the numbers are as fine as doubles
    /// are.
    ///
    /// Numbers with a fixed number of decimals have one unit; numbers with a fixed number of digits have one each, as have
    /// those of single precision, which show as such by their eight or nine digits.
    ///
    /// ```
    /// use linsep::read::{ReadOptions, read_bytes};
    /// let table = read_bytes(b"a,b,n\n1.25,0.1,7\n12.5,0.3,8\n3,100.25,9\n", "demo.csv", &ReadOptions::default())?;
    /// assert_eq!(table.printed_unit(0, &[1.0; 3]), Some(0.01));
    /// assert_eq!(table.printed_unit(1, &[1.0, 1.0, 0.0]), Some(0.1)); // the row that needs more does not count
    /// assert_eq!(table.printed_unit(2, &[1.0; 3]), None);
    /// # Ok::<(), linsep::Error>(())
    /// ```
    pub fn printed_unit(&self, column: usize, frequency: &[f64]) -> Option<f64> {
        if self.columns[column].kind != Kind::Number {
            return None;
        }
        let cells = || self.chunks.iter().enumerate().map(|(c, chunk)| (self.starts[c], &chunk.cells[column]));
        if cells().all(|(_, cells)| !matches!(cells, Cells::F64(_))) {
            return None;
        }
        let mut format = DecimalFormat::of(cells(), frequency)?;
        format.floats = format.float(cells(), frequency);
        let (mut squares, mut count) = (0.0, 0.0);
        for (start, cells) in cells() {
            cells.for_each(|i, value| {
                let times = frequency[start + i];
                if times > 0.0 && value.is_finite() {
                    squares += times * format.unit(value).powi(2);
                    count += times;
                }
            });
        }
        Some((squares / count).sqrt()).filter(|unit| unit.is_finite() && *unit > 0.0)
    }
}

/// What the numbers of a column have in common.
struct DecimalFormat {
    /// Most decimals.
    decimals: usize,
    /// Most significant digits.
    digits: u32,
    /// Whether the digits are fixed rather than the decimals.
    floats: bool,
    /// Whether all are shortest decimals of single-precision numbers.
    single: bool,
}

impl DecimalFormat {
    fn of<'a>(cells: impl Iterator<Item = (usize, &'a Cells)> + Clone, frequency: &[f64]) -> Option<DecimalFormat> {
        let mut format = DecimalFormat { decimals: 0, digits: 0, floats: true, single: true };
        for (start, cells) in cells {
            for i in (0..cells.len()).filter(|i| frequency[start + i] > 0.0) {
                let value = cells.number(i);
                if value.is_finite() && !format.take(value) {
                    return None;
                }
            }
        }
        format.single &= SINGLE_DIGITS.contains(&format.digits);
        (format.decimals > 0).then_some(format)
    }

    /// Whether a number is a short decimal, which the format then covers.
    fn take(&mut self, value: f64) -> bool {
        let Some(decimal) = Decimal::of(value, self.decimals) else { return false };
        self.decimals = self.decimals.max(decimal.decimals);
        let shown = decimal.whole.checked_ilog10().map_or(0, |d| d + 1);
        if shown > self.digits.min(SINGLE_DIGITS.start() - 1) {
            let digits = decimal.significant();
            self.digits = self.digits.max(digits);
            self.single &= digits < *SINGLE_DIGITS.start() || is_single(value, &decimal, digits);
        }
        true
    }

    /// Whether so many different numbers end before the last decimal of the column that it is their digits that are fixed: with
    /// fixed decimals one number in ten does, the 10.0 of a scale from 0.0 to 10.0 among them.
    fn float<'a>(&self, cells: impl Iterator<Item = (usize, &'a Cells)>, frequency: &[f64]) -> bool {
        let fixed = POWERS[self.decimals].recip();
        let mut seen: Vec<f64> = Vec::new();
        for (start, cells) in cells {
            for i in (0..cells.len()).filter(|i| frequency[start + i] > 0.0) {
                let value = cells.number(i);
                if value.is_finite() && self.unit(value) > COARSER * fixed && !seen.contains(&value) {
                    seen.push(value);
                    if seen.len() == DIFFERENT {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// A unit in the last digit of a number of the column.
    fn unit(&self, value: f64) -> f64 {
        let fixed = POWERS[self.decimals].recip();
        let Some(exponent) = Decimal::of(value, self.decimals).and_then(|d| d.exponent()) else { return fixed };
        let floating = if self.floats { 10f64.powi(exponent + 1 - self.digits as i32) } else { 0.0 };
        let single = if self.single { single_spacing(value) } else { 0.0 };
        fixed.max(floating).max(single)
    }
}

/// Whether a decimal is within half a unit of its last digit of the nearest single-precision number, as shortest decimals
/// are: with eight digits or more, others hardly ever are.
fn is_single(value: f64, decimal: &Decimal, digits: u32) -> bool {
    let Some(exponent) = decimal.exponent() else { return true };
    let single = f64::from(value as f32);
    (value - single).abs() <= HALF * 10f64.powi(exponent + 1 - digits as i32)
}

/// The distance of neighbouring single-precision numbers.
fn single_spacing(value: f64) -> f64 {
    let single = (value.abs() as f32).max(f32::MIN_POSITIVE);
    f64::from(f32::from_bits(single.to_bits() + 1)) - f64::from(single)
}

#[cfg(test)]
mod tests {
    use crate::read::{ReadOptions, read_bytes};

    fn unit(cells: &[String]) -> Option<f64> {
        let text = format!("x\n{}\n", cells.join("\n"));
        let table = read_bytes(text.as_bytes(), "t.csv", &ReadOptions::default()).unwrap();
        table.printed_unit(0, &vec![1.0; cells.len()])
    }

    #[test]
    fn fixed_decimals_have_their_unit() {
        for decimals in 1..=8 {
            let cells: Vec<String> =
                (0..200).map(|i| format!("{:.*}", decimals, (f64::from(i) * 7.3).sqrt() * 3.7 - 31.3)).collect();
            let expected = 10f64.powi(-(decimals as i32));
            assert!((unit(&cells).unwrap() / expected - 1.0).abs() < 1e-12, "{decimals}");
        }
    }

    #[test]
    fn whole_numbers_and_full_doubles_have_none() {
        let of = |f: &dyn Fn(i32) -> f64| unit(&(0..100).map(|i| f(i).to_string()).collect::<Vec<_>>());
        assert_eq!(of(&f64::from), None);
        assert_eq!(of(&|i| f64::from(i) * 1e12), None);
        assert_eq!(of(&|i| (f64::from(i) + 0.5).sqrt()), None);
        assert_eq!(of(&|i| (f64::from(i) + 0.5).sqrt() * 1e-100), None);
    }

    #[test]
    fn digits_that_float_have_a_unit_each() {
        // Six digits, as C's %g prints them: 12.3456 has the unit 1e-4, 0.123456 has 1e-6.
        let large = (0..10).map(|i| format!("1{i}.3456"));
        let cells: Vec<String> = large.chain((0..10).map(|i| format!("0.12345{}", 9 - i))).collect();
        let expected = ((1e-8 + 1e-12) / 2.0f64).sqrt();
        assert!((unit(&cells).unwrap() / expected - 1.0).abs() < 1e-9);
        // A scale from 0.0 to 10.0 has one decimal throughout.
        let scale: Vec<String> = (0..=100).map(|i| format!("{:.1}", f64::from(i) / 10.0)).collect();
        assert!((unit(&scale).unwrap() - 0.1).abs() < 1e-15);
        // Exponents count: 1.25e-7 has nine decimals.
        assert_eq!(unit(&["1.25e-7".to_owned(), "2e-7".to_owned()]), Some(1e-9));
    }

    #[test]
    fn single_precision_shows() {
        let cells: Vec<String> = (1..400).map(|i| (i as f32 / 9.0).to_string()).collect();
        let spacing = |i: i32| {
            let x = i as f32 / 9.0;
            f64::from(f32::from_bits(x.to_bits() + 1)) - f64::from(x)
        };
        let expected = ((1..400).map(|i| spacing(i).powi(2)).sum::<f64>() / 399.0).sqrt();
        let found = unit(&cells).unwrap();
        assert!(found >= expected && found < 1.5 * expected, "{found:e} {expected:e}");
    }

    #[test]
    fn a_large_number_beside_a_small_one() {
        let cells = ["123456789.5".to_owned(), "0.000000001".to_owned()];
        assert!(unit(&cells).is_some());
    }
}
