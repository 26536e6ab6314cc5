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
    blocks.extend(sandbox_notice(words, content));
    blocks.push(content.heading.clone());
    blocks.extend(content.amount.clone());
    blocks.extend(content.lead.iter().cloned());
    blocks.push(facts(content));
    let action = action(content);
    let warning = content.warning.as_ref().map(|warning| format!("{}\n{}", warning.question, warning.answer));
    let after = content.after.iter().cloned();
    if content.is_action_for_warning {
        blocks.extend(after.chain(warning).chain(action));
    } else {
        blocks.extend(action.into_iter().chain(after).chain(warning));
    }
    blocks.extend(ways(words, content));
    blocks.push(format!("{SIGNATURE}\n{}\n{}", sender_line(words, face), content.why));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n\n") + "\n"
}

pub(crate) fn sandbox_notice(words: Words, content: &Content) -> Option<String> {
    content.is_sandbox.then(|| fl!(words, "sandbox-notice"))
}

/// A line for each fact.
pub(crate) fn facts(content: &Content) -> String {
    let facts = content.facts.iter().map(|fact| format!("{}: {}", fact.label, fact.value));
    facts.collect::<Vec<_>>().join("\n")
}

pub(crate) fn action(content: &Content) -> Option<String> {
    content.action.as_ref().map(|action| format!("{}:\n{}", action.label, action.url))
}

/// How to reach the merchant.
pub(crate) fn ways(words: Words, content: &Content) -> Option<String> {
    let ways = content.contacts.iter().map(|contact| contact.text.clone());
    let ways: Vec<String> = [fl!(words, "contacts")].into_iter().chain(ways).collect();
    (ways.len() > 1).then(|| ways.join("\n"))
}
