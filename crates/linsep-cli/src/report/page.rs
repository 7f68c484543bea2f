//! A report as data, then as one HTML file or as Markdown.

/// A part of a section.
pub enum Block {
    /// A sentence or several.
    Paragraph(String),
    /// Names and what they are.
    Facts(Vec<(String, String)>),
    /// Cells under headings; all columns but the first are set to the right where `numbers` says so.
    Cells { head: Vec<String>, rows: Vec<Vec<String>>, numbers: bool },
    /// Text whose columns are aligned.
    Aligned(String),
    /// Commands, one a line.
    Commands(Vec<String>),
    /// A picture on a light and on a dark page, with the command that draws it.
    Picture { light: String, dark: String, caption: String, command: String },
}

/// A heading and what is under it.
pub struct Section {
    pub title: String,
    pub blocks: Vec<Block>,
}

/// The whole.
pub struct Page {
    pub title: String,
    pub subtitle: String,
    pub sections: Vec<Section>,
}

/// Light and dark by the reader's preference, always light on paper; no colour carries a meaning of its own.
const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1b1d20;--quiet:#5b6167;--page:#fff;--line:#d8dce1;--soft:#f4f6f8}\
@media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--quiet:#a2a9b1;--page:#16181b;--line:#3a3f45;--soft:#202327}}\
*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);font:16px/1.55 system-ui,'DejaVu Sans',sans-serif}\
main{max-width:54rem;margin:0 auto;padding:2rem 1.25rem 4rem}h1{font-size:1.7rem;line-height:1.25;margin:0}\
.subtitle{color:var(--quiet);margin:.3rem 0 0}nav{margin:1.5rem 0;columns:2;font-size:.95rem}nav a{display:block}a{color:inherit}\
h2{font-size:1.25rem;margin:2.5rem 0 .75rem;padding-top:.75rem;border-top:1px solid var(--line)}\
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.92rem;margin:.75rem 0}\
th,td{padding:.3rem .8rem .3rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}\
thead th{color:var(--quiet);font-weight:600}td:not(.n):last-child{min-width:8rem}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1.25rem;margin:.75rem 0}dt{color:var(--quiet)}dd{margin:0;overflow-wrap:anywhere}\
pre{background:var(--soft);padding:.8rem 1rem;overflow-x:auto;font:.84rem/1.5 ui-monospace,'DejaVu Sans Mono',monospace;border-radius:4px}\
figure{margin:1.25rem 0;break-inside:avoid}figure svg{display:block;max-width:100%;height:auto}figcaption{color:var(--quiet);font-size:.88rem;margin-top:.4rem;overflow-wrap:anywhere}\
.dark{display:none}@media(prefers-color-scheme:dark){.dark{display:block}.light{display:none}}\
@media(max-width:40rem){nav{columns:1}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}}\
@media print{:root{--ink:#000;--quiet:#444;--page:#fff;--line:#bbb;--soft:#f4f4f4}.dark{display:none!important}.light{display:block!important}\
main{max-width:none;padding:0}nav{display:none}h2{break-after:avoid}tr{break-inside:avoid}pre{white-space:pre-wrap}figure svg{max-height:10.5cm;width:auto}body{font-size:11pt}}";

/// Text that may hold anything, as HTML.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // What HTML does not allow, even escaped.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// The same for a cell or a sentence of Markdown.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '|' | '\\' | '`' | '*' | '_' | '<' | '[' | ']' | '#' => out.extend(['\\', letter]),
            '\n' => out.push(' '),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

impl Page {
    /// One file without scripts that asks nothing of the network.
    pub fn html(&self) -> String {
        let title = escaped(&self.title);
        let mut out = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
             </head>\n<body>\n<main>\n<h1>{title}</h1>\n<p class=\"subtitle\">{}</p>\n<nav aria-label=\"Contents\">\n",
            escaped(&self.subtitle)
        );
        for (place, section) in self.sections.iter().enumerate() {
            out.push_str(&format!("<a href=\"#s{place}\">{}</a>\n", escaped(&section.title)));
        }
        out.push_str("</nav>\n");
        for (place, section) in self.sections.iter().enumerate() {
            out.push_str(&format!("<section>\n<h2 id=\"s{place}\">{}</h2>\n", escaped(&section.title)));
            section.blocks.iter().for_each(|block| out.push_str(&block.html()));
            out.push_str("</section>\n");
        }
        out.push_str("</main>\n</body>\n</html>\n");
        out
    }

    /// The same in words; pictures are named with the commands that draw them.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n{}\n", plain(&self.title), plain(&self.subtitle));
        for section in &self.sections {
            out.push_str(&format!("\n## {}\n", plain(&section.title)));
            section.blocks.iter().for_each(|block| {
                out.push('\n');
                out.push_str(&block.markdown());
            });
        }
        out
    }
}

impl Block {
    fn html(&self) -> String {
        match self {
            Block::Paragraph(text) => format!("<p>{}</p>\n", escaped(text)),
            Block::Facts(facts) => {
                let pairs = facts.iter().map(|(n, v)| format!("<dt>{}</dt><dd>{}</dd>\n", escaped(n), escaped(v)));
                format!("<dl>\n{}</dl>\n", pairs.collect::<String>())
            }
            Block::Cells { head, rows, numbers } => {
                let class = |place: usize| if *numbers && place > 0 { " class=\"n\"" } else { "" };
                let cells = |row: &[String], tag: &str| -> String {
                    let cell = |(i, text): (usize, &String)| format!("<{tag}{}>{}</{tag}>", class(i), escaped(text));
                    format!("<tr>{}</tr>\n", row.iter().enumerate().map(cell).collect::<String>())
                };
                let body: String = rows.iter().map(|row| cells(row, "td")).collect();
                format!(
                    "<div class=\"wide\"><table>\n<thead>{}</thead>\n<tbody>{body}</tbody>\n</table></div>\n",
                    cells(head, "th")
                )
            }
            Block::Aligned(text) => format!("<pre>{}</pre>\n", escaped(text.trim_end())),
            Block::Commands(lines) => format!("<pre><code>{}</code></pre>\n", escaped(&lines.join("\n"))),
            Block::Picture { light, dark, caption, command } => format!(
                "<figure>\n<div class=\"light\">{light}</div>\n<div class=\"dark\">{dark}</div>\n<figcaption>{}<br><code>{}</code>\
                 </figcaption>\n</figure>\n",
                escaped(caption),
                escaped(command)
            ),
        }
    }

    fn markdown(&self) -> String {
        match self {
            Block::Paragraph(text) => format!("{}\n", plain(text)),
            Block::Facts(facts) => facts.iter().map(|(n, v)| format!("- {}: {}\n", plain(n), plain(v))).collect(),
            Block::Cells { head, rows, numbers } => {
                let line = |row: &[String]| {
                    format!("| {} |\n", row.iter().map(|cell| plain(cell)).collect::<Vec<String>>().join(" | "))
                };
                let rule =
                    (0..head.len()).map(|i| if *numbers && i > 0 { "---:|" } else { "---|" }).collect::<String>();
                format!("{}|{rule}\n{}", line(head), rows.iter().map(|row| line(row)).collect::<String>())
            }
            Block::Aligned(text) => fenced(text.trim_end(), "text"),
            Block::Commands(lines) => fenced(&lines.join("\n"), "sh"),
            Block::Picture { caption, command, .. } => format!("{}\n\n{}", plain(caption), fenced(command, "sh")),
        }
    }
}

/// A block of code; the fence is longer than any in it.
fn fenced(text: &str, language: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}{language}\n{text}\n{fence}\n")
}
