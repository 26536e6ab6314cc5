//! Changing a link that can be paid and that nobody has paid yet: its texts and its expiry. What was agreed to with money, the
//! amount above all, never changes.

use crate::{
    link::{Link, LinkStatus},
    project::Project,
    rules::{DESCRIPTION, Invalid, TITLE},
    time::Timestamp,
};

/// What can be changed about a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkTerms {
    pub title: String,
    pub description: String,
    pub expires_at: Option<Timestamp>,
}

/// Why a link is not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditRefusal {
    /// Some payment of the link is paid: its customer has agreed to these texts.
    Paid,
    /// The link is cancelled, past its expiry, or has no method that its project offers.
    NotActive,
    /// Somebody else has changed it since the form was shown.
    ChangedMeanwhile,
}

impl LinkTerms {
    pub fn of(link: &Link) -> LinkTerms {
        LinkTerms { title: link.title.clone(), description: link.description.clone(), expires_at: link.expires_at }
    }

    /// Checks the rules for a new link. `from` is what the link has now: its expiry is not judged again.
    pub fn check(self, from: &LinkTerms, now: Timestamp) -> Result<LinkTerms, Invalid> {
        let LinkTerms { title, description, expires_at } = self;
        let (title, description) = (TITLE.check(title)?, DESCRIPTION.check(description)?);
        if expires_at != from.expires_at && expires_at.is_some_and(|at| at <= now) {
            return Err(Invalid::new("expires_at", "must be in the future"));
        }
        Ok(LinkTerms { title, description, expires_at })
    }

    /// The names of what differs from `from`.
    pub fn changed(&self, from: &LinkTerms) -> Vec<&'static str> {
        let LinkTerms { title, description, expires_at } = self;
        [
            ("title", *title != from.title),
            ("description", *description != from.description),
            ("expires_at", *expires_at != from.expires_at),
        ]
        .into_iter()
        .filter_map(|(name, differs)| differs.then_some(name))
        .collect()
    }
}

impl Link {
    /// Why the link cannot be changed at `now`; none if it can. `is_paid`: some payment of it is paid.
    pub fn edit_refusal(&self, now: Timestamp, project: &Project, is_paid: bool) -> Option<EditRefusal> {
        match self.status_at(now, project) {
            _ if is_paid => Some(EditRefusal::Paid),
            LinkStatus::Active => None,
            LinkStatus::Cancelled | LinkStatus::Inactive => Some(EditRefusal::NotActive),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn terms(title: &str, expires_at: Option<i64>) -> LinkTerms {
        let expires_at = expires_at.map(|millis| Timestamp::from_millis(NOW.as_millis() + millis));
        LinkTerms { title: title.to_owned(), description: String::new(), expires_at }
    }

    #[test]
    fn a_changed_link_follows_the_rules_of_a_new_one() {
        let from = terms("Kopi", Some(10));
        let check = |to: LinkTerms| to.check(&from, NOW).map_err(|invalid| invalid.field);
        assert!(check(terms("Teh", Some(1))).is_ok() && check(terms("Teh", None)).is_ok());
        for (title, expires_at, field) in [
            ("", None, "title"),
            (&*"x".repeat(256), None, "title"),
            ("a\u{202e}b", None, "title"),
            ("Teh", Some(0), "expires_at"),
        ] {
            assert_eq!(check(terms(title, expires_at)), Err(field.to_owned()));
        }
        let long = LinkTerms { description: "x".repeat(2_001), ..terms("Teh", None) };
        assert_eq!(check(long), Err("description".to_owned()));
    }

    #[test]
    fn an_expiry_that_stays_is_not_judged_again() {
        assert!(terms("Teh", Some(-5)).check(&terms("Kopi", Some(-5)), NOW).is_ok());
    }

    #[test]
    fn what_changed_is_named() {
        let from = terms("Kopi", None);
        assert!(from.changed(&from).is_empty());
        assert_eq!(terms("Teh", Some(1)).changed(&from), ["title", "expires_at"]);
        assert_eq!(LinkTerms { description: "Dua".to_owned(), ..from.clone() }.changed(&from), ["description"]);
    }
}
