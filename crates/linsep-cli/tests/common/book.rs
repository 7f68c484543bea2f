//! Workbooks of a few cells, written as ZIP archives without compression.

use std::fmt::Write;

/// A sheet: its name, the `<row>` elements, and what follows the cells (merged ones).
pub type BookSheet<'a> = (&'a str, &'a str, &'a str);

/// A workbook of these sheets. Style 1 is a date, style 2 a duration.
pub fn book(sheets: &[BookSheet<'_>]) -> Vec<u8> {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
    let (mut list, mut links, mut types) = (String::new(), String::new(), String::new());
    let mut files: Vec<(String, String)> = Vec::new();
    for (i, (name, rows, after)) in sheets.iter().enumerate() {
        let n = i + 1;
        write!(list, "<sheet name=\"{name}\" sheetId=\"{n}\" r:id=\"r{n}\"/>").unwrap();
        write!(links, "<Relationship Id=\"r{n}\" Type=\"{OFFICE}/worksheet\" Target=\"worksheets/s{n}.xml\"/>")
            .unwrap();
        write!(types, "<Override PartName=\"/xl/worksheets/s{n}.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml\"/>").unwrap();
        let sheet = format!("<worksheet xmlns=\"{MAIN}\"><sheetData>{rows}</sheetData>{after}</worksheet>");
        files.push((format!("xl/worksheets/s{n}.xml"), sheet));
    }
    let formats = "<numFmts count=\"2\"><numFmt numFmtId=\"164\" formatCode=\"yyyy\\-mm\\-dd\"/>\
                   <numFmt numFmtId=\"165\" formatCode=\"[h]:mm:ss\"/></numFmts>\
                   <cellXfs count=\"3\"><xf numFmtId=\"0\"/><xf numFmtId=\"164\"/><xf numFmtId=\"165\"/></cellXfs>";
    files.splice(
        0..0,
        [
            (
                "[Content_Types].xml".to_owned(),
                format!(
                    "<Types xmlns=\"{PACKAGE}/content-types\"><Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>{types}</Types>"
                ),
            ),
            (
                "_rels/.rels".to_owned(),
                format!(
                    "<Relationships xmlns=\"{PACKAGE}/relationships\"><Relationship Id=\"r1\" Type=\"{OFFICE}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
                ),
            ),
            (
                "xl/workbook.xml".to_owned(),
                format!("<workbook xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE}\"><sheets>{list}</sheets></workbook>"),
            ),
            (
                "xl/_rels/workbook.xml.rels".to_owned(),
                format!(
                    "<Relationships xmlns=\"{PACKAGE}/relationships\">{links}<Relationship Id=\"st\" Type=\"{OFFICE}/styles\" Target=\"styles.xml\"/></Relationships>"
                ),
            ),
            ("xl/styles.xml".to_owned(), format!("<styleSheet xmlns=\"{MAIN}\">{formats}</styleSheet>")),
        ],
    );
    archive(&files)
}

/// Rows of cells as `<row>` elements. A cell in brackets is raw XML between `<c` and `</c>` without its reference; numbers are
/// numbers, nothing is no cell, everything else is text.
pub fn rows(text: &str) -> String {
    let mut xml = String::new();
    for (r, line) in text.lines().enumerate() {
        write!(xml, "<row r=\"{}\">", r + 1).unwrap();
        for (c, cell) in line.split('|').enumerate() {
            let at = format!("r=\"{}{}\"", char::from(b'A' + c as u8), r + 1);
            match cell {
                "" => {}
                _ if cell.starts_with('[') => {
                    write!(xml, "<c {at} {}</c>", cell.trim_matches(['[', ']'])).unwrap();
                }
                _ if cell.parse::<f64>().is_ok() => write!(xml, "<c {at}><v>{cell}</v></c>").unwrap(),
                _ => write!(xml, "<c {at} t=\"inlineStr\"><is><t>{cell}</t></is></c>").unwrap(),
            }
        }
        xml += "</row>";
    }
    xml
}

/// Files as a ZIP archive.
pub fn archive(files: &[(String, String)]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let at = bytes.len() as u32;
        let size = (text.len() as u32).to_le_bytes();
        let mut about = vec![20, 0, 0, 0, 0, 0, 0, 0, 33, 0];
        about.extend(checksum(text.as_bytes()).to_le_bytes());
        about.extend(size);
        about.extend(size);
        about.extend((name.len() as u16).to_le_bytes());
        about.extend([0, 0]);
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&about);
        bytes.extend(name.as_bytes());
        bytes.extend(text.as_bytes());
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&about);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let at = (bytes.len() as u32).to_le_bytes();
    let (count, size) = ((files.len() as u16).to_le_bytes(), (directory.len() as u32).to_le_bytes());
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06\x00\x00\x00\x00");
    bytes.extend([count, count].concat());
    bytes.extend(size);
    bytes.extend(at);
    bytes.extend([0, 0]);
    bytes
}

/// The cyclic redundancy check of ZIP.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |mut rest, byte| {
        rest ^= u32::from(*byte);
        for _ in 0..8 {
            rest = (rest >> 1) ^ (0xedb8_8320 & (rest & 1).wrapping_neg());
        }
        rest
    })
}
