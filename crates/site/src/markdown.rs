//! Renders a guide, which is Markdown, as HTML: headings with addresses, links by the caller's rule, and nothing that the pages'
//! content security policy forbids.
//!
//! Pictures are left out, with their captions: they are not part of the program, and one weighs more than all else of a page. HTML
//! in a guide is shown as text and never passed on.

use std::collections::BTreeMap;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use crate::section::Heading;

const OPTIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH);
/// A longer summary is cut behind a word.
const SUMMARY_CHARACTERS: usize = 160;

pub(crate) struct Rendered {
    /// The text of the first heading.
    pub(crate) title: String,
    /// The beginning of the first paragraph.
    pub(crate) summary: String,
    /// All but the first heading.
    pub(crate) html: String,
    /// The plain text below each heading, in one line. The first has none: it stands below the title.
    pub(crate) texts: Vec<(Option<Heading>, String)>,
}

/// Renders `text`. `address` says where the target of a link leads; a link that leads nowhere becomes text.
pub(crate) fn render(text: &str, address: impl Fn(&str) -> Option<String>) -> Rendered {
    let mut renderer = Renderer::new(address);
    for event in Parser::new_ext(text, OPTIONS) {
        renderer.take(event);
    }
    renderer.finish()
}

struct Renderer<'a, Address> {
    address: Address,
    /// What is rendered so far.
    events: Vec<Event<'a>>,
    title: Option<String>,
    summary: Option<String>,
    texts: Vec<(Option<Heading>, String)>,
    /// How often each id was used.
    ids: BTreeMap<String, usize>,
    /// Where the heading or paragraph begins that is open.
    heading_start: Option<usize>,
    paragraph_start: Option<usize>,
    /// The cells, items and paragraphs that are open, the innermost last.
    blocks: Vec<Block>,
    /// Whether a link is open, and how many other parts of a line, such as emphasised words.
    is_in_link: bool,
    parts: usize,
    /// The plain text of the heading or paragraph that is open.
    open_text: String,
    /// How many pictures are open.
    pictures: usize,
}

/// A cell, an item or a paragraph.
#[derive(Default)]
struct Block {
    /// Where its links begin.
    links: Vec<usize>,
    /// Whether text stands beside them.
    is_sentence: bool,
}

impl<'a, Address: Fn(&str) -> Option<String>> Renderer<'a, Address> {
    fn new(address: Address) -> Self {
        Renderer {
            address,
            events: Vec::new(),
            title: None,
            summary: None,
            texts: vec![(None, String::new())],
            ids: BTreeMap::new(),
            heading_start: None,
            paragraph_start: None,
            blocks: Vec::new(),
            is_in_link: false,
            parts: 0,
            open_text: String::new(),
            pictures: 0,
        }
    }

    fn take(&mut self, event: Event<'a>) {
        match event {
            Event::Start(Tag::Image { .. }) => self.pictures += 1,
            Event::End(TagEnd::Image) => self.pictures -= 1,
            _ if self.pictures > 0 => {}
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(ref text) => {
                self.read(text);
                self.notice_sentence(text);
                self.events.push(event);
            }
            Event::Code(ref text) => {
                self.read(text);
                self.events.push(event);
            }
            Event::SoftBreak | Event::HardBreak => {
                self.read(" ");
                self.events.push(event);
            }
            Event::Html(text) | Event::InlineHtml(text) => {
                if !text.trim_start().starts_with("<img") {
                    self.events.push(Event::Text(text));
                }
            }
            other => self.events.push(other),
        }
    }

    fn start(&mut self, tag: Tag<'a>) {
        let place = self.events.len();
        match tag {
            Tag::TableCell | Tag::Item | Tag::Paragraph => self.blocks.push(Block::default()),
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough => self.parts += 1,
            _ => {}
        }
        match tag {
            Tag::Heading { .. } => {
                self.open_text.clear();
                self.heading_start = Some(place);
                self.push("");
            }
            Tag::Paragraph => {
                self.open_text.clear();
                self.paragraph_start = Some(place);
                self.events.push(Event::Start(Tag::Paragraph));
            }
            Tag::Link { dest_url, .. } => {
                if let Some(address) = (self.address)(&dest_url) {
                    self.is_in_link = true;
                    if let Some(block) = self.blocks.last_mut() {
                        block.links.push(place);
                    }
                    self.push(&format!("<a href=\"{}\">", escaped(&address)));
                }
            }
            Tag::CodeBlock(_) => self.push("<pre tabindex=\"0\"><code>"),
            // Without its alignments, which would become styles in the HTML.
            Tag::Table(_) => {
                self.push("<div class=\"wide\" tabindex=\"0\">");
                self.events.push(Event::Start(Tag::Table(Vec::new())));
            }
            tag => self.events.push(Event::Start(tag)),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.parts -= 1,
            TagEnd::Link => {}
            // Words of two blocks are two words.
            _ => self.read(" "),
        }
        if matches!(tag, TagEnd::TableCell | TagEnd::Item | TagEnd::Paragraph) {
            self.end_block();
        }
        match tag {
            TagEnd::Heading(level) => self.end_heading(level),
            TagEnd::Paragraph => self.end_paragraph(),
            TagEnd::Link if self.is_in_link => {
                self.is_in_link = false;
                self.push("</a>");
            }
            // A link that leads nowhere.
            TagEnd::Link => {}
            TagEnd::CodeBlock => self.push("</code></pre>\n"),
            // A heading without text would be read out as one, so an empty cell is none, also in the first row.
            TagEnd::TableCell if matches!(self.events.last(), Some(Event::Start(Tag::TableCell))) => {
                self.events.pop();
                self.push("<td></td>");
            }
            TagEnd::Table => {
                self.events.push(Event::End(TagEnd::Table));
                self.push("</div>\n");
            }
            tag => self.events.push(Event::End(tag)),
        }
    }

    fn end_heading(&mut self, level: HeadingLevel) {
        let text = self.open_text.trim().to_owned();
        let Some(place) = self.heading_start.take() else { return };
        if self.title.is_none() {
            self.events.truncate(place);
            self.title = Some(text);
            return;
        }
        // The title is the only heading of the first level.
        let (id, level) = (self.id(&text), (level as u8).max(2));
        self.events[place] = Event::Html(format!("<h{level} id=\"{id}\">").into());
        let anchor = format!("<a class=\"anchor\" href=\"#{id}\" aria-hidden=\"true\" tabindex=\"-1\">#</a>");
        self.push(&format!(" {anchor}</h{level}>\n"));
        self.texts.push((Some(Heading { id, text, level }), String::new()));
    }

    fn end_paragraph(&mut self) {
        let Some(place) = self.paragraph_start.take() else { return };
        // Nothing is left of a paragraph that was a picture.
        if self.events.len() == place + 1 {
            self.events.truncate(place);
            return;
        }
        self.events.push(Event::End(TagEnd::Paragraph));
        let text = self.open_text.trim();
        self.summary.get_or_insert_with(|| shortened(text));
    }

    /// Marks the links of a cell, item or paragraph that has no text beside them: they need the size of buttons.
    fn end_block(&mut self) {
        let Some(block) = self.blocks.pop().filter(|block| !block.is_sentence) else { return };
        for place in block.links {
            if let Event::Html(tag) = &self.events[place] {
                self.events[place] = Event::Html(tag.replacen("<a ", "<a class=\"alone\" ", 1).into());
            }
        }
    }

    /// Text beside links makes a sentence of them; a comma does not.
    fn notice_sentence(&mut self, text: &str) {
        let is_beside = !self.is_in_link && self.parts == 0 && text.trim().chars().nth(1).is_some();
        if let (true, Some(block)) = (is_beside, self.blocks.last_mut()) {
            block.is_sentence = true;
        }
    }

    /// Adds to the plain text.
    fn read(&mut self, text: &str) {
        self.open_text.push_str(text);
        if self.heading_start.is_none()
            && let Some((_, section)) = self.texts.last_mut()
        {
            section.push_str(text);
        }
    }

    fn push(&mut self, html: &str) {
        self.events.push(Event::Html(html.to_owned().into()));
    }

    /// The id of a heading, made as GitHub does, so that addresses of headings hold in the repository and here.
    fn id(&mut self, heading: &str) -> String {
        let heading = heading.to_lowercase();
        let kept = heading.chars().filter(|one| one.is_alphanumeric() || " -_".contains(*one));
        let id: String = kept.map(|one| if one == ' ' { '-' } else { one }).collect();
        let uses = self.ids.entry(id.clone()).or_default();
        *uses += 1;
        if *uses == 1 { id } else { format!("{id}-{}", *uses - 1) }
    }

    fn finish(self) -> Rendered {
        let mut html = String::new();
        html::push_html(&mut html, self.events.into_iter());
        let in_one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        Rendered {
            title: self.title.unwrap_or_default(),
            summary: self.summary.unwrap_or_default(),
            html,
            texts: self.texts.into_iter().map(|(heading, text)| (heading, in_one_line(text))).collect(),
        }
    }
}

/// The beginning of a paragraph: whole sentences if one is short enough, or else whole words.
fn shortened(paragraph: &str) -> String {
    let paragraph = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = paragraph.char_indices().nth(SUMMARY_CHARACTERS).map(|(at, _)| at);
    let Some(end) = end else { return paragraph };
    let cut = &paragraph[..end];
    match (cut.rfind(". "), cut.rfind(' ')) {
        (Some(sentence), _) => cut[..=sentence].to_owned(),
        (None, Some(word)) => format!("{}…", cut[..word].trim_end_matches([',', ':', ';'])),
        (None, None) => format!("{cut}…"),
    }
}

/// A text for an attribute.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str) -> Rendered {
        render(text, |target| (!target.ends_with(".rs")).then(|| target.to_owned()))
    }

    #[test]
    fn a_guide_says_its_title_and_summary_itself() {
        let guide = rendered("# The `lunas` *guide*\n\nOne\ntwo [three](x).\n\nFour.\n");
        assert_eq!((guide.title.as_str(), guide.summary.as_str()), ("The lunas guide", "One two three."));
        assert!(!guide.html.contains("guide"), "{}", guide.html);
        let long = format!("# T\n\nShort one. {}\n", "word ".repeat(60));
        assert_eq!(rendered(&long).summary, "Short one.");
        let summary = rendered(&format!("# T\n\n{}\n", "words, ".repeat(60))).summary;
        assert!(summary.ends_with("words…") && summary.chars().count() <= SUMMARY_CHARACTERS, "{summary}");
    }

    #[test]
    fn headings_have_the_ids_that_github_gives_them() {
        let guide =
            rendered("# T\n\n## 4.1 `POST /v1/payments`: a *direct* payment\n\n## Twice\n\n### Twice\n\n# Late\n");
        let headings: Vec<(String, u8)> =
            guide.texts.into_iter().filter_map(|(heading, _)| heading).map(|one| (one.id, one.level)).collect();
        let want = [("41-post-v1payments-a-direct-payment", 2), ("twice", 2), ("twice-1", 3), ("late", 2)];
        assert_eq!(headings, want.map(|(id, level)| (id.to_owned(), level)));
        assert!(
            guide.html.contains("<h3 id=\"twice-1\">Twice <a class=\"anchor\" href=\"#twice-1\""),
            "{}",
            guide.html
        );
        assert!(!guide.html.contains("<h1"), "the page has one");
    }

    #[test]
    fn links_go_where_the_caller_says_and_nowhere_as_text() {
        let guide = rendered("# T\n\nSee [this](a.md#b&c) or [that](x.rs).\n");
        assert!(guide.html.contains("See <a href=\"a.md#b&amp;c\">this</a> or that."), "{}", guide.html);
    }

    #[test]
    fn links_without_text_beside_them_are_set_apart() {
        for (text, want) in [
            ("| a |\n|--:|\n| [x](y) |\n", 1),
            ("- [x](y)\n- **[x](y)**\n  - [x](y) and more\n", 2),
            ("[x](y), [x](y), *[x](y)*.\n", 3),
            ("See [x](y).\n", 0),
            ("- [x](y): why\n", 0),
            ("[that](x.rs) [x](y)\n", 0),
        ] {
            let html = rendered(&format!("# T\n\n{text}")).html;
            assert_eq!(html.matches("<a class=\"alone\" href").count(), want, "{text}: {html}");
        }
    }

    #[test]
    fn pictures_are_left_out_and_html_is_text() {
        let guide =
            rendered("# T\n\n![A picture](a.png)\n\n<img src=\"b.png\">\n\n<script>alert(1)</script>\n\nx <b>y</b>\n");
        for absent in ["<img", "<script", "picture", "<b>", "<p></p>"] {
            assert!(!guide.html.contains(absent), "{absent}: {}", guide.html);
        }
        assert!(guide.html.contains("&lt;script&gt;alert(1)"), "{}", guide.html);
        assert!(guide.html.contains("x &lt;b&gt;y"), "{}", guide.html);
    }

    #[test]
    fn nothing_has_a_style_and_what_may_be_wide_scrolls_by_itself() {
        let html = rendered("# T\n\n| a | b |\n|:--|--:|\n| 1 | 2 |\n\n```sh\necho \"<a>\"\n```\n").html;
        assert!(!html.contains("style"), "{html}");
        assert!(html.contains("<div class=\"wide\" tabindex=\"0\"><table>"), "{html}");
        assert!(html.contains("<pre tabindex=\"0\"><code>echo \"&lt;a&gt;\"\n</code></pre>"), "{html}");
    }

    #[test]
    fn an_empty_cell_is_no_heading() {
        let html = rendered("# T\n\n| a | |\n|---|---|\n| 1 | |\n").html;
        assert!(html.contains("<th>a</th><td></td>") && html.contains("<td>1</td><td></td>"), "{html}");
    }

    #[test]
    fn each_part_has_its_text_in_one_line() {
        let guide = rendered("# T\n\nIntro `a`.\n\n## One\n\nText\nof *one*.\n\n- x\n- y\n\n```\ncode\n```\n");
        let texts: Vec<&str> = guide.texts.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["Intro a.", "Text of one. x y code"]);
        assert_eq!(guide.texts[1].0.as_ref().map(|heading| heading.text.as_str()), Some("One"));
    }
}
