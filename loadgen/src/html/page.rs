//! A page, from its head to its end.

use super::element::escape;

/// All of it; no request to anybody.
const STYLE: &str = include_str!("style.css");

/// Collects a page's parts in order.
#[derive(Debug)]
pub struct Page {
    title: String,
    body: String,
}

impl Page {
    /// An empty page.
    pub fn new(title: &str) -> Page {
        Page { title: title.to_owned(), body: format!("<h1>{}</h1>\n", escape(title)) }
    }

    /// A paragraph; `soft` sets it back.
    pub fn text(&mut self, text: &str, soft: bool) {
        let class = if soft { r#" class="soft""# } else { "" };
        self.body.push_str(&format!("<p{class}>{}</p>\n", escape(text)));
    }

    /// A command to repeat something.
    pub fn command(&mut self, command: &str) {
        self.body.push_str(&format!("<p><code>{}</code></p>\n", escape(command)));
    }

    /// Which colour means what.
    pub fn keys(&mut self, names: &[String]) {
        self.body.push_str("<ul class=\"keys\">");
        for (colour, name) in names.iter().enumerate() {
            self.body.push_str(&format!("<li><b class=\"c{colour}\"></b>{}</li>", escape(name)));
        }
        self.body.push_str("</ul>\n");
    }

    /// A section's heading.
    pub fn section(&mut self, title: &str) {
        self.body.push_str(&format!("<h2>{}</h2>\n", escape(title)));
    }

    /// A heading inside a section.
    pub fn part(&mut self, title: &str) {
        self.body.push_str(&format!("<h3>{}</h3>\n", escape(title)));
    }

    /// Charts, each with its caption; `wide` ones below each other, others beside each other where there is room.
    pub fn charts(&mut self, charts: &[(String, String)], wide: bool) {
        let class = if wide { "" } else { r#" class="pair""# };
        self.body.push_str(&format!("<div{class}>"));
        for (caption, svg) in charts {
            let caption = escape(caption);
            self.body.push_str(&format!("<figure><figcaption>{caption}</figcaption>{svg}</figure>"));
        }
        self.body.push_str("</div>\n");
    }

    /// A table: its head, and rows of cells with a class each. `groups`, if there are any, stand above the head,
    /// each over as many columns as it says; they leave out the first column.
    pub fn table(&mut self, groups: &[(String, usize)], head: &[String], rows: &[Vec<(String, &str)>]) {
        self.body.push_str("<div class=\"scroll\"><table><thead>");
        if !groups.is_empty() {
            self.body.push_str("<tr><th></th>");
            for (name, columns) in groups {
                let name = escape(name);
                self.body.push_str(&format!("<th class=\"group\" colspan=\"{columns}\">{name}</th>"));
            }
            self.body.push_str("</tr>");
        }
        self.body.push_str("<tr>");
        for cell in head {
            self.body.push_str(&format!("<th>{}</th>", escape(cell)));
        }
        self.body.push_str("</tr></thead><tbody>\n");
        for row in rows {
            self.body.push_str("<tr>");
            for (text, class) in row {
                self.body.push_str(&format!("<td class=\"{class}\">{}</td>", escape(text)));
            }
            self.body.push_str("</tr>\n");
        }
        self.body.push_str("</tbody></table></div>\n");
    }

    /// The whole document.
    pub fn finish(self) -> String {
        let Page { title, body } = self;
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
             <style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
            escape(&title)
        )
    }
}
