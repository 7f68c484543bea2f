//! Dates and times as numbers: days since a first day.

use serde::{Deserialize, Serialize};

/// The order of year, month and day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DateOrder {
    /// Year, month, day, as in ISO 8601.
    Ymd,
    /// Day, month, year.
    Dmy,
    /// Month, day, year.
    Mdy,
}

impl DateOrder {
    /// All of them.
    pub const ALL: [DateOrder; 3] = [DateOrder::Ymd, DateOrder::Dmy, DateOrder::Mdy];

    /// Its short name.
    pub fn name(self) -> &'static str {
        match self {
            DateOrder::Ymd => "ymd",
            DateOrder::Dmy => "dmy",
            DateOrder::Mdy => "mdy",
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            DateOrder::Ymd => "year, month, day",
            DateOrder::Dmy => "day, month, year",
            DateOrder::Mdy => "month, day, year",
        }
    }
}

/// A moment, and what it was written with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Days since 1970-01-01.
    pub day: i64,
    /// Nanoseconds since midnight; beyond the day where a zone shifts it.
    nanoseconds: i64,
    /// Whether a zone was given, so that this is universal time.
    pub zoned: bool,
    /// Whether the year has four digits.
    pub whole_year: bool,
    /// What stands between year, month and day.
    pub separator: char,
}

/// Nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;
/// Nanoseconds of a day.
const DAY: i64 = 86_400 * SECOND;
/// Years of two digits below this are of this century, the others of the last: the rule of POSIX.
const PIVOT: i64 = 69;
/// Days before each month of a year that is no leap year.
const BEFORE_MONTH: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

impl Moment {
    /// Reads a trimmed date, with or without a time; `None` if it is none in this order.
    pub fn read(text: &str, order: DateOrder) -> Option<Moment> {
        let (date, time) = match text.find(['T', 't', ' ']) {
            Some(at) => (&text[..at], Some(text[at + 1..].trim_start_matches(' '))),
            None => (text, None),
        };
        let separator = date.chars().find(|c| !c.is_ascii_digit()).filter(|c| matches!(c, '-' | '/' | '.'))?;
        let mut parts = date.split(separator);
        let parts = [parts.next()?, parts.next()?, parts.next().filter(|_| parts.next().is_none())?];
        let [year, month, day] = match order {
            DateOrder::Ymd => parts,
            DateOrder::Dmy => [parts[2], parts[1], parts[0]],
            DateOrder::Mdy => [parts[2], parts[0], parts[1]],
        };
        let whole_year = year.len() == 4;
        let year = match year.len() {
            4 => digits(year, 4)?,
            // ISO has four digits; of two nobody could tell which part the year is.
            2 if order != DateOrder::Ymd => {
                let short = digits(year, 2)?;
                short + if short < PIVOT { 2000 } else { 1900 }
            }
            _ => return None,
        };
        let day = days_since_1970(year, digits(month, 2)?, digits(day, 2)?)?;
        let (nanoseconds, zoned) = time.map_or(Some((0, false)), time_of_day)?;
        Some(Moment { day, nanoseconds, zoned, whole_year, separator })
    }

    /// The day that it falls on, in universal time where a zone was given.
    pub fn own_day(&self) -> i64 {
        self.day + self.nanoseconds.div_euclid(DAY)
    }

    /// Days, and parts of days, since the midnight that began a day.
    pub fn days_since(&self, first: i64) -> f64 {
        let whole = self.own_day() - first;
        let rest = self.nanoseconds.rem_euclid(DAY);
        // Whole days are exact; a rest is rounded once, by the sum.
        whole as f64 + rest as f64 / DAY as f64
    }
}

/// A day since 1970-01-01 in ISO's form.
pub fn iso_day(day: i64) -> String {
    // Years of 365 days lead too far back, years of 366 not far enough on; from there the years are gone through.
    let mut year = (1970 + day.div_euclid(if day < 0 { 365 } else { 366 })).max(1);
    while days_since_1970(year + 1, 1, 1).is_some_and(|next| next <= day) {
        year += 1;
    }
    let within = day - days_since_1970(year, 1, 1).unwrap_or(day);
    let month = (1..=12).rev().find(|m| days_before(year, *m) <= within).unwrap_or(1);
    format!("{year:04}-{month:02}-{:02}", within - days_before(year, month) + 1)
}

/// A day since 1970-01-01 from ISO's form.
pub fn day_of_iso(text: &str) -> Option<i64> {
    Moment::read(text, DateOrder::Ymd).filter(|m| m.nanoseconds == 0 && !m.zoned).map(|m| m.day)
}

fn is_leap(year: i64) -> bool {
    (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
}

/// Days of a year before a month.
fn days_before(year: i64, month: i64) -> i64 {
    BEFORE_MONTH[month as usize - 1] + i64::from(month > 2 && is_leap(year))
}

/// In the Gregorian calendar, also before it was introduced; `None` for days that do not exist.
fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    // The calendar of ISO 8601 has years of four digits; one more is the end of the last.
    if !(1..=10_000).contains(&year) || !(1..=12).contains(&month) || day < 1 {
        return None;
    }
    let end = if month == 12 { 365 + i64::from(is_leap(year)) } else { days_before(year, month + 1) };
    if day > end - days_before(year, month) {
        return None;
    }
    // Leap years before this one, and before 1970: 477.
    let leaps = |y: i64| y / 4 - y / 100 + y / 400;
    Some((year - 1970) * 365 + leaps(year - 1) - leaps(1969) + days_before(year, month) + day - 1)
}

/// One to `most` digits as a number.
fn digits(text: &str, most: usize) -> Option<i64> {
    let right = (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    right.then(|| text.parse().ok()).flatten()
}

/// `hh:mm[:ss[.fraction]][Z|±hh[:mm]]` as nanoseconds of universal time, and whether there is a zone.
fn time_of_day(text: &str) -> Option<(i64, bool)> {
    let (clock, zone) = match text.find(['Z', 'z', '+', '-']) {
        Some(at) => (text[..at].trim_end_matches(' '), Some(&text[at..])),
        None => (text, None),
    };
    let offset = match zone {
        None => 0,
        Some("Z" | "z") => 0,
        Some(zone) => {
            let (hours, minutes) = zone[1..].split_once(':').unwrap_or(match zone.len() {
                5 if zone.is_ascii() => zone[1..].split_at(2),
                _ => (&zone[1..], "00"),
            });
            let minutes = two(hours, 23)? * 60 + two(minutes, 59)?;
            if zone.starts_with('-') { -minutes } else { minutes }
        }
    };
    let mut parts = clock.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let hours = digits(hours, 2).filter(|h| *h < 24)?;
    let (seconds, fraction) = match seconds.unwrap_or("00").split_once(['.', ',']) {
        Some((seconds, fraction)) => (two(seconds, 60)?, nanoseconds(fraction)?),
        // Sixty is a leap second.
        None => (two(seconds.unwrap_or("00"), 60)?, 0),
    };
    let minutes = hours * 60 + two(minutes, 59)? - offset;
    Some(((minutes * 60 + seconds) * SECOND + fraction, zone.is_some()))
}

fn two(text: &str, most: i64) -> Option<i64> {
    (text.len() == 2).then(|| digits(text, 2)).flatten().filter(|v| *v <= most)
}

/// Digits after the point of a second; beyond nine they are cut.
fn nanoseconds(fraction: &str) -> Option<i64> {
    if fraction.is_empty() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let nine: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    nine.parse().ok()
}

/// The one order in which all texts are dates, written alike; `Err` says why there is none.
pub(crate) fn order_of<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Result<DateOrder, NoOrder> {
    let mut fits = [true; 3];
    let mut alike: Option<(bool, bool)> = None;
    let (mut separators_agree, mut short, mut separator) = (true, false, None);
    for text in texts {
        let mut any = false;
        for (fit, order) in fits.iter_mut().zip(DateOrder::ALL) {
            let Some(moment) = Moment::read(text, order) else {
                *fit = false;
                continue;
            };
            any = true;
            short |= !moment.whole_year;
            let own = (moment.zoned, moment.whole_year);
            separators_agree &= alike.is_none_or(|a| a == own) && separator.is_none_or(|s| s == moment.separator);
            (alike, separator) = (Some(own), Some(moment.separator));
        }
        if !any {
            return Err(NoOrder::NoDate);
        }
    }
    if alike.is_none() {
        return Err(NoOrder::NoDate);
    }
    let found: Vec<DateOrder> = DateOrder::ALL.into_iter().zip(fits).filter(|(_, f)| *f).map(|(o, _)| o).collect();
    match found[..] {
        [] => Err(NoOrder::Several),
        _ if !separators_agree => Err(NoOrder::Several),
        [_] if short => Err(NoOrder::Unclear),
        [order] => Ok(order),
        // Points are written between day, month and year in this order only.
        [DateOrder::Dmy, DateOrder::Mdy] if separator == Some('.') && !short => Ok(DateOrder::Dmy),
        _ => Err(NoOrder::Unclear),
    }
}

/// Why texts are not dates of one order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoOrder {
    /// Some text is no date.
    NoDate,
    /// All are, but not all in one order, or written differently.
    Several,
    /// All are dates in two orders, or their years have two digits.
    Unclear,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_day_of_ten_thousand_years() {
        // Counted one day at a time.
        let mut day = days_since_1970(1, 1, 1).unwrap();
        assert_eq!(days_since_1970(1970, 1, 1), Some(0));
        assert_eq!(day, -719_162);
        for year in 1..=9999 {
            for month in 1..=12 {
                let length =
                    [31, 28 + i64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month as usize - 1];
                for d in 1..=length {
                    assert_eq!(days_since_1970(year, month, d), Some(day));
                    if d == 1 || d == length {
                        assert_eq!(iso_day(day), format!("{year:04}-{month:02}-{d:02}"));
                    }
                    day += 1;
                }
                assert_eq!(days_since_1970(year, month, length + 1), None);
            }
        }
    }

    #[test]
    fn dates_and_times() {
        let days = |text: &str, order| Moment::read(text, order).map(|m| m.days_since(0));
        for (text, order, found) in [
            ("2024-02-29", DateOrder::Ymd, Some(19782.0)),
            ("2023-02-29", DateOrder::Ymd, None),
            ("29.2.2024", DateOrder::Dmy, Some(19782.0)),
            ("2/29/2024", DateOrder::Mdy, Some(19782.0)),
            ("2/29/24", DateOrder::Mdy, Some(19782.0)),
            ("31.12.69", DateOrder::Dmy, Some(-1.0)),
            ("24-02-29", DateOrder::Ymd, None),
            ("1970-01-02T12:00", DateOrder::Ymd, Some(1.5)),
            ("1970-01-02 06:00:00", DateOrder::Ymd, Some(1.25)),
            ("1970-01-02T00:00:00Z", DateOrder::Ymd, Some(1.0)),
            ("1970-01-02T00:00:00+12:00", DateOrder::Ymd, Some(0.5)),
            ("1970-01-02T12:00:00-1200", DateOrder::Ymd, Some(2.0)),
            ("1970-01-02T00:00:00.432", DateOrder::Ymd, Some(1.000005)),
            ("1970-01-02T24:00", DateOrder::Ymd, None),
            ("1970-01-02T1", DateOrder::Ymd, None),
            ("1970-01-02T", DateOrder::Ymd, None),
            ("1970-01-02T10:00+é", DateOrder::Ymd, None),
            ("1970-1/2", DateOrder::Ymd, None),
            ("1970-01-02-03", DateOrder::Ymd, None),
            ("1970-01", DateOrder::Ymd, None),
            ("-1970-01-02", DateOrder::Ymd, None),
            ("", DateOrder::Ymd, None),
            ("1.2.3", DateOrder::Dmy, None),
        ] {
            assert_eq!(days(text, order), found, "{text}");
        }
    }

    #[test]
    fn one_order_or_none() {
        let of = |texts: &[&str]| order_of(texts.iter().copied());
        assert_eq!(of(&["2024-01-02", "2024-12-31"]), Ok(DateOrder::Ymd));
        assert_eq!(of(&["01.02.2024"]), Ok(DateOrder::Dmy));
        assert_eq!(of(&["01/02/2024", "31/12/2024"]), Ok(DateOrder::Dmy));
        assert_eq!(of(&["01/02/2024", "12/31/2024"]), Ok(DateOrder::Mdy));
        assert_eq!(of(&["01/02/2024", "03/04/2024"]), Err(NoOrder::Unclear));
        assert_eq!(of(&["31.12.24"]), Err(NoOrder::Unclear));
        assert_eq!(of(&["31/12/2024", "12/31/2024"]), Err(NoOrder::Several));
        assert_eq!(of(&["2024-01-02", "02.01.2024"]), Err(NoOrder::Several));
        assert_eq!(of(&["2024-01-02T10:00Z", "2024-01-02T10:00"]), Err(NoOrder::Several));
        assert_eq!(of(&["2024-01-02", "soon"]), Err(NoOrder::NoDate));
        assert_eq!(of(&[]), Err(NoOrder::NoDate));
    }

    proptest! {
        /// What a moment is written as, it is read as, in every order.
        #[test]
        fn written_and_read(day in -719_162i64..2_932_896, seconds in 0i64..86_400, which in 0usize..3) {
            let iso = iso_day(day);
            let (y, m, d) = (&iso[..4], &iso[5..7], &iso[8..]);
            let order = DateOrder::ALL[which];
            let date = [format!("{y}-{m}-{d}"), format!("{d}.{m}.{y}"), format!("{m}/{d}/{y}")][which].clone();
            let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
            let moment = Moment::read(&format!("{date} {time}"), order).unwrap();
            prop_assert_eq!(moment.own_day(), day);
            prop_assert_eq!(moment.days_since(day), seconds as f64 / 86_400.0);
        }

        /// Nothing that people type makes it panic.
        #[test]
        fn any_text(text in "[0-9TZ:./ +é-]{0,24}") {
            DateOrder::ALL.iter().for_each(|o| _ = Moment::read(&text, *o));
        }
    }
}
