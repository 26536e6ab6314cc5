//! A letter as the lines that a relay gets. Nothing of it can end a header early: texts in headers are one line without marks of
//! direction, and addresses are parsed.

use domain::rules::changes_direction;
use lettre::{
    Address, Message,
    message::{
        Attachment, Mailbox, MultiPart, SinglePart,
        header::{ContentType, HeaderName, HeaderValue},
    },
};

/// The most of a subject that is sent.
const SUBJECT_CHARACTERS_MOST: usize = 200;

/// A letter to hand over.
pub struct Post {
    /// Stays the same when the letter is sent again, so that a mailbox can tell that it has it.
    pub id: String,
    pub to: String,
    pub subject: String,
    pub plain: String,
    pub html: String,
    /// A picture that the HTML shows.
    pub picture: Option<Picture>,
    pub unsubscribe: Option<Unsubscribe>,
}

/// A picture that a letter carries with it, so that its reader's program asks nobody for it.
pub struct Picture {
    /// What the HTML calls it, behind `cid:`.
    pub id: &'static str,
    pub png: Vec<u8>,
}

/// How to end letters of this kind, as RFC 8058 has it: a POST to the URL does it, and a person who opens it sees a page.
pub struct Unsubscribe {
    pub url: String,
}

/// A letter that cannot be written as mail, and why.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unwritable(pub(super) String);

/// The address that a letter goes to, and its lines.
pub(super) fn lines(from: &Mailbox, post: Post) -> Result<(Address, Vec<u8>), Unwritable> {
    let to: Address = post.to.parse().map_err(|_| Unwritable("no mail can go to this address".to_owned()))?;
    let host = from.email.domain();
    let mut message = Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to.clone()))
        .subject(one_line(&post.subject, SUBJECT_CHARACTERS_MOST))
        .message_id(Some(format!("<{}@{host}>", post.id)))
        .raw_header(raw("Auto-Submitted", "auto-generated".to_owned()));
    if let Some(Unsubscribe { url }) = post.unsubscribe {
        message = message
            .raw_header(raw("List-Unsubscribe", format!("<{}>", one_line(&url, usize::MAX))))
            .raw_header(raw("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".to_owned()));
    }
    let plain = MultiPart::alternative().singlepart(SinglePart::plain(post.plain));
    let html = SinglePart::html(post.html);
    let parts = match post.picture {
        None => plain.singlepart(html),
        Some(Picture { id, png }) => {
            let png = Attachment::new_inline(id.to_owned()).body(png, png_type()?);
            plain.multipart(MultiPart::related().singlepart(html).singlepart(png))
        }
    };
    let message =
        message.multipart(parts).map_err(|error| Unwritable(format!("the letter cannot be written: {error}")))?;
    Ok((to, message.formatted()))
}

fn png_type() -> Result<ContentType, Unwritable> {
    ContentType::parse("image/png").map_err(|error| Unwritable(format!("the letter cannot be written: {error}")))
}

fn raw(name: &'static str, value: String) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value)
}

/// A text without characters that break lines or turn their direction.
fn one_line(text: &str, most: usize) -> String {
    let line = text.chars().filter(|character| !changes_direction(*character));
    line.map(|character| if character.is_control() { ' ' } else { character }).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(to: &str, subject: &str) -> Post {
        Post {
            id: "ltr_1".to_owned(),
            to: to.to_owned(),
            subject: subject.to_owned(),
            plain: "Halo".to_owned(),
            html: "<p>Halo</p>".to_owned(),
            picture: None,
            unsubscribe: None,
        }
    }

    fn written(post: Post) -> Result<String, Unwritable> {
        let from = Mailbox::new(Some("Toko".to_owned()), "toko@example.com".parse().unwrap());
        lines(&from, post).map(|(_, lines)| String::from_utf8(lines).unwrap())
    }

    #[test]
    fn no_text_ends_a_header_early() {
        let text = written(post("siti@example.com", "Baru\r\nBcc: x@example.com\r\n\r\nisi\u{202e}")).unwrap();
        let (headers, _) = text.split_once("\r\n\r\n").unwrap();
        assert!(!headers.lines().any(|line| line.to_lowercase().starts_with("bcc")), "{headers}");
        assert!(!text.contains('\u{202e}'));
        assert!(headers.contains("Message-ID: <ltr_1@example.com>"), "{headers}");
        assert!(headers.contains("Auto-Submitted: auto-generated"));
        assert!(headers.is_ascii(), "{headers}");
    }

    #[test]
    fn an_address_is_one_address_or_no_letter_goes_there() {
        let long = format!("{}@example.com", "a".repeat(1_000));
        for wrong in
            ["", "siti", "a@b\r\nRCPT TO:<x@y>", "a@b> x", "a b@example.com", "siti\u{202e}\n@example.com", &long]
        {
            assert!(written(post(wrong, "Baru")).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_letter_that_can_be_ended_says_how() {
        let url = "https://bayar.example.id/dashboard/letters/stop/abc".to_owned();
        let with = Post { unsubscribe: Some(Unsubscribe { url }), ..post("siti@example.com", "Ringkasan") };
        let text = written(with).unwrap();
        assert!(text.contains("List-Unsubscribe: <https://bayar.example.id/dashboard/letters/stop/abc>"), "{text}");
        assert!(text.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click"));
        assert!(!written(post("siti@example.com", "Baru")).unwrap().contains("List-Unsubscribe"));
    }

    #[test]
    fn a_picture_comes_with_the_letter_beside_its_html() {
        let picture = Some(Picture { id: "logo", png: vec![0x89, b'P', b'N', b'G'] });
        let text = written(Post { picture, ..post("siti@example.com", "Struk") }).unwrap();
        for part in [
            "Content-Type: multipart/alternative",
            "Content-Type: multipart/related",
            "Content-Type: image/png",
            "Content-ID: <logo>",
            "Content-Disposition: inline",
        ] {
            assert_eq!(text.matches(part).count(), 1, "{part}: {text}");
        }
        let order = ["text/plain", "multipart/related", "text/html", "image/png"].map(|kind| text.find(kind).unwrap());
        assert!(order.is_sorted(), "{text}");
        let without = written(post("siti@example.com", "Struk")).unwrap();
        assert!(!without.contains("multipart/related") && without.contains("multipart/alternative"));
    }
}
