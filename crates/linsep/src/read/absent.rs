//! What this build of the library leaves out.

use crate::error::{Error, Place};

/// The error of a file whose reader was left out of the build.
pub(crate) fn absent(what: &str, file: &str) -> Error {
    Error::usage(format!("this build of the library cannot read {what}: it was made without them"))
        .at(Place::file(file))
        .help(format!("build it with {what}"))
}

#[cfg(test)]
mod tests {
    use crate::read::{ReadOptions, read_bytes};

    /// What a file of each kind begins with, and what is said where its reader is absent.
    #[test]
    fn what_was_left_out_is_named() {
        let files: [(&[u8], &str, bool, &str); 5] = [
            (b"PAR1", "a.parquet", cfg!(feature = "parquet"), "Parquet files"),
            (b"ARROW1", "a.arrow", cfg!(feature = "arrow"), "Arrow files and streams"),
            (b"PK\x03\x04", "a.xlsx", cfg!(feature = "xlsx"), "Excel workbooks"),
            (&[0x1f, 0x8b, 8, 0], "a.csv.gz", cfg!(feature = "compression"), "gzip and zstandard files"),
            (&[0x28, 0xb5, 0x2f, 0xfd], "a.csv.zst", cfg!(feature = "compression"), "gzip and zstandard files"),
        ];
        for (bytes, name, present, what) in files {
            let error = read_bytes(bytes, name, &ReadOptions::default()).unwrap_err();
            let left_out =
                error.message() == format!("this build of the library cannot read {what}: it was made without them");
            assert_eq!(left_out, !present, "{name}: {error}");
            assert_eq!(error.place().file.as_deref(), Some(name));
        }
    }
}
