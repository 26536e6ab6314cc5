//! Letters about who gets in: invitations, passwords, and browsers that are not known.

use i18n_embed_fl::fl;

use super::phrasing::Phrasing;
use crate::{
    content::Content,
    letter::{Invitation, NewDevice, PasswordChange, PasswordChanged, PasswordReset},
    shown::{shown, shown_in_subject},
};

pub(super) fn invitation(phrasing: Phrasing, letter: &Invitation) -> Content {
    let words = phrasing.words;
    let role = phrasing.role(letter.role);
    let project = shown(&letter.project);
    let invited = match &letter.invited_by {
        Some(inviter) => {
            let inviter = shown(inviter);
            fl!(words, "invitation-text-by", inviter = inviter, project = project.as_str())
        }
        None => fl!(words, "invitation-text", project = project.as_str()),
    };
    let subject = fl!(words, "invitation-subject", project = shown_in_subject(&letter.project));
    let content = Content::new(subject, fl!(words, "invitation-why"))
        .lead(invited)
        .fact(fl!(words, "fact-project"), project)
        .fact(fl!(words, "fact-role"), role)
        .known_fact(fl!(words, "fact-invited-by"), letter.invited_by.as_deref().map(shown))
        .fact(fl!(words, "fact-expires-at"), phrasing.moment(letter.expires_at))
        .action(fl!(words, "invitation-action"), &letter.link)
        .after(fl!(words, "link-is-yours"))
        .warning(fl!(words, "invitation-not-you"), fl!(words, "invitation-not-you-text"));
    Content { heading: fl!(words, "invitation-heading"), ..content }
}

pub(super) fn password_reset(phrasing: Phrasing, letter: &PasswordReset) -> Content {
    let words = phrasing.words;
    let content = Content::new(fl!(words, "reset-subject"), fl!(words, "why-security")).lead(fl!(words, "reset-text"));
    phrasing
        .with_origin(content, &letter.account, &letter.requested)
        .fact(fl!(words, "fact-expires-at"), phrasing.moment(letter.expires_at))
        .action(fl!(words, "reset-action"), &letter.link)
        .after(fl!(words, "reset-once"))
        .warning(fl!(words, "reset-not-you"), fl!(words, "reset-not-you-text"))
}

pub(super) fn new_device(phrasing: Phrasing, letter: &NewDevice) -> Content {
    let words = phrasing.words;
    let content = Content::new(fl!(words, "device-subject"), fl!(words, "why-security"))
        .lead(fl!(words, "device-text"))
        .warning(fl!(words, "device-not-you"), fl!(words, "device-not-you-text"))
        .action_of_warning(fl!(words, "account-action"), &letter.account_url);
    phrasing.with_origin(content, &letter.account, &letter.signed_in)
}

pub(super) fn password_changed(phrasing: Phrasing, letter: &PasswordChanged) -> Content {
    let words = phrasing.words;
    let how = match letter.by {
        PasswordChange::OldPassword => fl!(words, "password-by-old"),
        PasswordChange::ResetLink => fl!(words, "password-by-link"),
        PasswordChange::CommandLine => fl!(words, "password-by-operator"),
    };
    let content = Content::new(fl!(words, "password-subject"), fl!(words, "why-security"))
        .lead(how)
        .warning(fl!(words, "password-not-you"), fl!(words, "password-not-you-text"))
        .action_of_warning(fl!(words, "password-action"), &letter.forgot_url);
    phrasing.with_origin(content, &letter.account, &letter.changed)
}
