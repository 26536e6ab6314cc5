//! A letter as a notice: a text that a program passes on to a chat as it is, and the letter's values by name. It has no HTML, and
//! nothing of what only concerns mail: how to end such letters, or an address that was mistyped.

use domain::language::Language;

use crate::{
    compose,
    content::Content,
    letter::{Face, Letter},
    plain::{action, facts, sandbox_notice, ways},
    shown::subject,
    values::{Values, values},
    words::{Words, code, words},
};

/// A letter as a notice says it.
pub struct Noticed<'a> {
    /// One line without control characters and marks of direction.
    /// `id` or `en`.
    pub language: &'static str,
    pub subject: String,
    pub text: String,
    pub values: Values<'a>,
}

/// The notice in that language, from whom `face` says; none of letters that are for one person alone.
pub fn notice<'a>(letter: &'a Letter, language: Language, face: &Face) -> Option<Noticed<'a>> {
    if !letter.kind().may_be_notice() {
        return None;
    }
    let content = match letter {
        Letter::Test(test) => compose::notice_test(test, language, face),
        letter => compose::content(letter, language, face),
    };
    let text = text(words(language), &content);
    Some(Noticed { language: code(language), subject: subject(&content.subject), text, values: values(letter)? })
}

fn text(words: Words, content: &Content) -> String {
    let mut blocks: Vec<String> = sandbox_notice(words, content).into_iter().collect();
    blocks.push(content.heading.clone());
    blocks.extend(content.amount.clone());
    blocks.extend(content.lead.iter().cloned());
    blocks.push(facts(content));
    blocks.extend(action(content));
    blocks.extend(content.after.iter().cloned());
    blocks.extend(ways(words, content));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n\n")
}
