//! No bound is below the truth: certificates of thousands of small hostile problems against a twin in 400 bits.
//!
//! `LINSEP_TWIN=10` runs ten times as many problems; `LINSEP_TWIN_CASE=hostile:17` runs one and prints its rows.

mod cases;
mod identities;
mod suite;
mod verdicts;
