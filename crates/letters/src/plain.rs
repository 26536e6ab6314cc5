//! A letter as plain text, for programs that show no HTML. Lines are as long as their paragraphs: programs wrap them to the screen.

use i18n_embed_fl::fl;

use crate::{
    compose::{sender_line, sender_name},
    content::Content,
    letter::Face,
    words::Words,
};

/// What programs know the end of a letter by.
const SIGNATURE: &str = "-- ";

pub(crate) fn plain(words: Words, face: &Face, content: &Content) -> String {
    let mut blocks = vec![sender_name(face)];
    if content.is_sandbox {
        blocks.push(fl!(words, "sandbox-notice"));
    }
    blocks.push(content.heading.clone());
    blocks.extend(content.amount.clone());
    blocks.extend(content.lead.iter().cloned());
    let facts = content.facts.iter().map(|fact| format!("{}: {}", fact.label, fact.value));
    blocks.push(facts.collect::<Vec<_>>().join("\n"));
    let action = content.action.as_ref().map(|action| format!("{}:\n{}", action.label, action.url));
    let warning = content.warning.as_ref().map(|warning| format!("{}\n{}", warning.question, warning.answer));
    let after = content.after.iter().cloned();
    if content.is_action_for_warning {
        blocks.extend(after.chain(warning).chain(action));
    } else {
        blocks.extend(action.into_iter().chain(after).chain(warning));
    }
    if !content.contacts.is_empty() {
        let ways = content.contacts.iter().map(|contact| contact.text.clone());
        blocks.push([fl!(words, "contacts")].into_iter().chain(ways).collect::<Vec<_>>().join("\n"));
    }
    blocks.push(format!("{SIGNATURE}\n{}\n{}", sender_line(words, face), content.why));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n\n") + "\n"
}
