//! Bytes to tables.
