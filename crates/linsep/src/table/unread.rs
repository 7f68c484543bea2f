//! Cells that people read as times, months or numbers and no reader here does: they are asked about, never taken for levels
//! or plain numbers without a word.

use super::{Kind, NumberStyle, Table};

/// Months in English; abbreviations are their beginnings, of three letters or more.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// Years of dates that are written as one number, `20241231`. Chosen: wide enough for people's data, narrow enough that other
/// whole numbers of eight digits seldom all fall among them.
const YEARS: std::ops::RangeInclusive<u32> = 1900..=2099;

/// Whether a text is a time of day (`10:30`, `9:05:30 pm`), a month (`2024-01`, `03/2024`) or a date with the name of its month.
pub(super) fn is_unread_moment(text: &str) -> bool {
    is_time(text) || is_month(text) || has_month_name(text)
}

fn number(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<u32> {
    let plain = digits.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

fn is_time(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let bare = lower.strip_suffix("am").or_else(|| lower.strip_suffix("pm")).unwrap_or(&lower).trim_end();
    let parts: Vec<&str> = bare.split(':').collect();
    let [hour, minute, second @ ..] = &parts[..] else { return false };
    let whole = |text: &&str| number(text.split('.').next().unwrap_or(text), 2..=2).is_some_and(|s| s < 61);
    number(hour, 1..=2).is_some_and(|h| h < 25)
        && number(minute, 2..=2).is_some_and(|m| m < 60)
        && second.len() < 2
        && second.iter().all(whole)
}

fn is_month(text: &str) -> bool {
    let Some((first, second)) = text.split_once(['-', '/', '.']) else { return false };
    let month = |text: &str| number(text, 1..=2).is_some_and(|m| (1..=12).contains(&m));
    let year = |text: &str| number(text, 4..=4).is_some_and(|y| YEARS.contains(&y));
    (year(first) && month(second)) || (month(first) && year(second))
}

/// Words between digits: the name of a month, and numbers of a day and a year or one of them.
fn has_month_name(text: &str) -> bool {
    let parts: Vec<&str> = text.split([' ', '-', ',', '.', '/']).filter(|part| !part.is_empty()).collect();
    let is_name = |part: &&&str| {
        let lower = part.to_lowercase();
        lower.len() >= 3 && MONTHS.iter().any(|month| month.starts_with(&lower))
    };
    let is_number = |part: &&&str| {
        let digits = part.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        number(digits, 1..=4).is_some() && part.len() - digits.len() <= 2
    };
    let (names, numbers) = (parts.iter().filter(is_name).count(), parts.iter().filter(is_number).count());
    names == 1 && (1..=2).contains(&numbers) && names + numbers == parts.len()
}

/// Whether a text is a number but for its minus sign, which is a dash.
pub(super) fn has_other_minus(text: &str, style: NumberStyle) -> bool {
    let rest = text.strip_prefix(['\u{2212}', '\u{2013}', '\u{2012}', '\u{fe63}', '\u{ff0d}']);
    rest.is_some_and(|rest| style.number(rest).is_some() || style.marked(rest).is_some())
}

/// The first row of a column of whole numbers that are all dates: `20241231`.
pub(super) fn compact_dates(table: &Table, column: usize, least: usize) -> Option<usize> {
    if table.columns()[column].kind != Kind::Number {
        return None;
    }
    let mut first = None;
    let mut seen = 0;
    for (c, chunk) in table.chunks().iter().enumerate() {
        let cells = &chunk.cells[column];
        for (i, value) in (0..cells.len()).map(|i| (i, cells.number(i))).filter(|(_, value)| !value.is_nan()) {
            if !is_compact_date(value) {
                return None;
            }
            seen += 1;
            first.get_or_insert(table.chunk_start(c) + i);
        }
    }
    first.filter(|_| seen >= least)
}

fn is_compact_date(value: f64) -> bool {
    if value.fract() != 0.0 || !(19_000_101.0..=20_991_231.0).contains(&value) {
        return false;
    }
    let whole = value as u32;
    let (year, month, day) = (whole / 10_000, whole / 100 % 100, whole % 100);
    YEARS.contains(&year) && super::day_of_iso(&format!("{year:04}-{month:02}-{day:02}")).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_months_are_recognised() {
        for text in [
            "10:30",
            "9:05",
            "23:59:60",
            "10:30:15.25",
            "9:05 pm",
            "2024-01",
            "1/2024",
            "12.2023",
            "3 Feb 2024",
            "Jan 2, 2024",
        ] {
            assert!(is_unread_moment(text), "{text}");
        }
        for text in ["May 1st 2020", "02-Mar-21", "March 2020", "Dec-19"] {
            assert!(is_unread_moment(text), "{text}");
        }
        for text in [
            "", ":", "25:00", "10:60", "1:2:3:4", "2024-13", "13/2024", "marble 3", "may", "May be 3", "3", "1/2",
            "a:b", "é 1",
        ] {
            assert!(!is_unread_moment(text), "{text}");
        }
    }

    #[test]
    fn dates_as_numbers_are_days_that_exist() {
        assert!([20240229.0, 19991231.0, 20000101.0].into_iter().all(is_compact_date));
        assert!(
            ![20230229.0, 20241301.0, 20240100.0, 2024010.0, 20240101.5, 1e300, -20240101.0]
                .into_iter()
                .any(is_compact_date)
        );
    }

    #[test]
    fn dashes_are_no_minus() {
        let style = NumberStyle::default();
        assert!(["\u{2212}5", "\u{2013}1.5"].into_iter().all(|text| has_other_minus(text, style)));
        assert!(!["-5", "5", "\u{2212}", "\u{2212}a"].into_iter().any(|text| has_other_minus(text, style)));
    }
}
