//! The link whose payments are listed: merchants type its title, and addresses hold its id.

use domain::{
    id::LinkId,
    link::Link,
    rules::{Fault, TextRule},
};
use engine::Error;
use i18n_embed_fl::fl;

use crate::{page::Page, payments::filter::TypedFilter};

/// Links that are offered where a text may mean several.
const OFFERED_MOST: usize = 8;
const TITLE: TextRule = TextRule { field: "link", least: 1, most: 255, line_breaks: false };

/// What the field asks for.
pub(crate) enum ChosenLink {
    Any,
    One {
        id: LinkId,
        title: String,
    },
    /// It cannot be told which; `offered` are those that it may mean.
    Unclear {
        why: String,
        offered: Vec<OfferedLink>,
    },
}

/// A link to choose.
pub(crate) struct OfferedLink {
    /// The list of its payments.
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) reference: String,
}

pub(crate) async fn chosen_link(page: &Page, asked: &TypedFilter) -> Result<ChosenLink, Error> {
    let words = page.words();
    let Ok(text) = page.visitor.query.text("link") else {
        return Ok(ChosenLink::Unclear { why: fl!(words, "filter-link-twice"), offered: Vec::new() });
    };
    let text = text.unwrap_or_default().trim();
    if let Ok(id) = text.parse::<LinkId>() {
        let title = page.desk.link_title(id).await?.unwrap_or_else(|| id.to_string());
        return Ok(ChosenLink::One { id, title });
    }
    match TITLE.fault(text) {
        Some(Fault::Empty) => return Ok(ChosenLink::Any),
        Some(_) => return Ok(ChosenLink::Unclear { why: fl!(words, "filter-link-wrong"), offered: Vec::new() }),
        None => {}
    }
    let found = page.desk.links_named(text).await?;
    let unclear = |why| ChosenLink::Unclear {
        why,
        offered: found.iter().take(OFFERED_MOST).map(|link| offered(page, asked, link)).collect(),
    };
    Ok(match found.as_slice() {
        [] => unclear(fl!(words, "filter-link-unknown")),
        [link] => ChosenLink::One { id: link.id, title: link.title.clone() },
        _ => unclear(fl!(words, "filter-link-several")),
    })
}

fn offered(page: &Page, asked: &TypedFilter, link: &Link) -> OfferedLink {
    let query = TypedFilter { link: link.id.to_string(), ..asked.clone() }.query();
    OfferedLink {
        url: format!("{}/payments?{query}", page.base()),
        title: link.title.clone(),
        reference: link.reference.clone(),
    }
}
