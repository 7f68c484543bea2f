//! Text in another encoding as UTF-8, and lines of comments as blank lines, while they are read.

use std::io::{self, ErrorKind, Read};

/// The encoding of a text file.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextEncoding {
    /// UTF-8, with or without a byte order mark.
    Utf8,
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
    /// Windows code page 1252.
    Windows1252,
    /// ISO 8859-1.
    Latin1,
}

impl TextEncoding {
    /// All of them.
    pub const ALL: [TextEncoding; 5] = [
        TextEncoding::Utf8,
        TextEncoding::Utf16Le,
        TextEncoding::Utf16Be,
        TextEncoding::Windows1252,
        TextEncoding::Latin1,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            TextEncoding::Utf8 => "utf-8",
            TextEncoding::Utf16Le => "utf-16le",
            TextEncoding::Utf16Be => "utf-16be",
            TextEncoding::Windows1252 => "windows-1252",
            TextEncoding::Latin1 => "latin1",
        }
    }

    /// UTF-16 by its byte order mark.
    pub(super) fn marked(head: &[u8]) -> Option<TextEncoding> {
        match head {
            // Four such bytes begin a stream of Arrow's.
            [0xff, 0xfe, rest @ ..] if !rest.starts_with(&[0xff]) => Some(TextEncoding::Utf16Le),
            [0xfe, 0xff, ..] => Some(TextEncoding::Utf16Be),
            _ => None,
        }
    }
}

/// What 0x80 to 0x9f are in code page 1252; zero where it has no character.
const WINDOWS: [u16; 32] = [
    0x20ac, 0, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017d, 0, 0,
    0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0, 0x017e, 0x0178,
];
/// Bytes that are decoded at a time: results do not depend on it.
const STEP: u64 = 1 << 16;

/// Decodes what passes.
pub(super) struct Decoded<R> {
    inner: R,
    encoding: TextEncoding,
    /// Bytes of a character whose end has not come yet.
    rest: Vec<u8>,
    out: Vec<u8>,
    at: usize,
    started: bool,
}

impl<R: Read> Decoded<R> {
    pub(super) fn new(inner: R, encoding: TextEncoding) -> Decoded<R> {
        Decoded { inner, encoding, rest: Vec::new(), out: Vec::new(), at: 0, started: false }
    }

    /// Decodes the next bytes; false at the end.
    fn refill(&mut self) -> io::Result<bool> {
        let mut bytes = std::mem::take(&mut self.rest);
        let before = bytes.len();
        self.inner.by_ref().take(STEP).read_to_end(&mut bytes)?;
        let at_end = bytes.len() == before;
        self.out.clear();
        self.at = 0;
        match self.encoding {
            TextEncoding::Utf8 => self.out.append(&mut bytes),
            TextEncoding::Latin1 => bytes.iter().for_each(|b| put(&mut self.out, char::from(*b))),
            TextEncoding::Windows1252 => {
                for byte in bytes {
                    let point = match byte {
                        0x80..=0x9f => WINDOWS[usize::from(byte) - 0x80],
                        _ => u16::from(byte),
                    };
                    match char::from_u32(u32::from(point)).filter(|_| point != 0 || byte == 0) {
                        Some(character) => put(&mut self.out, character),
                        None => return Err(wrong(format!("byte 0x{byte:02x} is no character of windows-1252"))),
                    }
                }
            }
            TextEncoding::Utf16Le | TextEncoding::Utf16Be => self.utf16(&bytes, at_end)?,
        }
        Ok(!(at_end && self.out.is_empty()))
    }

    fn utf16(&mut self, bytes: &[u8], at_end: bool) -> io::Result<()> {
        let unit = |pair: &[u8]| match self.encoding {
            TextEncoding::Utf16Le => u16::from_le_bytes([pair[0], pair[1]]),
            _ => u16::from_be_bytes([pair[0], pair[1]]),
        };
        let mut units: Vec<u16> = bytes.chunks_exact(2).map(unit).collect();
        let mut kept = bytes.len() % 2;
        // The first half of a pair waits for the second.
        if units.last().is_some_and(|u| (0xd800..0xdc00).contains(u)) && !at_end {
            units.pop();
            kept += 2;
        }
        if at_end && kept > 0 {
            return Err(wrong("the text ends within a character of UTF-16".into()));
        }
        self.rest = bytes[bytes.len() - kept..].to_vec();
        for character in char::decode_utf16(units) {
            let character = character
                .map_err(|e| wrong(format!("0x{:04x} is half of a character of UTF-16", e.unpaired_surrogate())))?;
            // The byte order mark is none of the text.
            if self.started || character != '\u{feff}' {
                put(&mut self.out, character);
            }
            self.started = true;
        }
        Ok(())
    }
}

fn put(out: &mut Vec<u8>, character: char) {
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

fn wrong(message: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, message)
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.out.len() {
            if !self.refill()? {
                return Ok(0);
            }
        }
        let n = into.len().min(self.out.len() - self.at);
        into[..n].copy_from_slice(&self.out[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

/// Empties lines that begin with a sign, outside of quotes: their line feeds stay, so that lines keep their numbers.
pub(super) struct Uncommented<R> {
    inner: R,
    sign: u8,
    state: CommentState,
}

#[derive(Clone, Copy, PartialEq)]
enum CommentState {
    LineStart,
    Within,
    Quoted,
    Comment,
}

impl<R: Read> Uncommented<R> {
    pub(super) fn new(inner: R, sign: u8) -> Uncommented<R> {
        Uncommented { inner, sign, state: CommentState::LineStart }
    }
}

impl<R: Read> Read for Uncommented<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.inner.read(into)?;
            let mut kept = 0;
            for i in 0..n {
                let byte = into[i];
                self.state = match (self.state, byte) {
                    (CommentState::Quoted, b'"') => CommentState::Within,
                    (CommentState::Quoted, _) => CommentState::Quoted,
                    (_, b'\n') => CommentState::LineStart,
                    (CommentState::Comment, _) => CommentState::Comment,
                    (CommentState::LineStart, sign) if sign == self.sign => CommentState::Comment,
                    (_, b'"') => CommentState::Quoted,
                    _ => CommentState::Within,
                };
                if self.state != CommentState::Comment {
                    into[kept] = byte;
                    kept += 1;
                }
            }
            if kept > 0 || n == 0 {
                return Ok(kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Hands out few bytes at a time.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(into.len()).min(self.0.len());
            into[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn all(mut reader: impl Read) -> io::Result<String> {
        let mut text = String::new();
        reader.read_to_string(&mut text).map(|_| text)
    }

    proptest! {
        #[test]
        fn utf16_reads_back(text in "\\PC{0,40}", low in any::<bool>(), mark in any::<bool>()) {
            let marked = format!("{}{text}", if mark { "\u{feff}" } else { "" });
            let bytes: Vec<u8> =
                marked.encode_utf16().flat_map(|u| if low { u.to_le_bytes() } else { u.to_be_bytes() }).collect();
            let encoding = if low { TextEncoding::Utf16Le } else { TextEncoding::Utf16Be };
            let text = text.trim_start_matches('\u{feff}').to_owned();
            prop_assert_eq!(all(Decoded::new(&bytes[..], encoding)).unwrap(), text);
        }

        /// The state of comments does not depend on how the bytes come.
        #[test]
        fn comments_in_any_pieces(text in "[#a\"\n,]{0,40}", step in 1usize..5) {
            let whole = all(Uncommented::new(text.as_bytes(), b'#')).unwrap();
            prop_assert_eq!(all(Uncommented::new(Trickle(text.as_bytes(), step), b'#')).unwrap(), whole.clone());
            prop_assert_eq!(whole.matches('\n').count(), text.matches('\n').count());
        }
    }

    #[test]
    fn single_bytes() {
        let read = |bytes: &[u8], encoding| all(Decoded::new(bytes, encoding));
        assert_eq!(read(b"caf\xe9 \x80", TextEncoding::Windows1252).unwrap(), "café €");
        assert_eq!(read(b"caf\xe9 \x80", TextEncoding::Latin1).unwrap(), "café \u{80}");
        assert!(read(b"\x81", TextEncoding::Windows1252).unwrap_err().to_string().contains("0x81"));
        assert!(read(b"a\0b", TextEncoding::Utf16Le).unwrap_err().to_string().contains("ends within"));
        assert!(read(b"\x00\xd8a\0", TextEncoding::Utf16Le).unwrap_err().to_string().contains("half"));
        assert!(read(b"\x00\xd8", TextEncoding::Utf16Le).is_err());
    }

    #[test]
    fn comments_leave_their_lines() {
        let of = |text: &str| all(Uncommented::new(text.as_bytes(), b'#')).unwrap();
        assert_eq!(of("# say \"hi\na,b\n#x\n1,#2\n"), "\na,b\n\n1,#2\n");
        assert_eq!(of("a\n\"x\n#y\"\n#z"), "a\n\"x\n#y\"\n");
    }
}
