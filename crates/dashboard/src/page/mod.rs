//! What a handler takes for its page: one value with all that belongs to the request, and the methods that every page
//! needs.
//!
//! | Extractor | For | It has checked |
//! |---|---|---|
//! | [`PublicPage`] | pages that need no session | nothing |
//! | [`UserPage`] | a user's own pages | the session |
//! | [`Page`] | pages of a project's desk | the session, then the membership and that the role may look |
//! | [`CounterPage`] | pages of a project's counter | the session, then the membership and that the role may sell |
//! | [`OperatorPage`] | pages of the installation | the session, then that the user is an operator |
//!
//! A `UserPage` can be used like a `PublicPage`, and the last three like a `UserPage`. The token of a form is checked by
//! [`SignedForm`](crate::session::SignedForm), which a handler takes after its page; the role is checked by the desk.

mod counter;
mod desk;
mod operator;
mod public;
mod user;

pub(crate) use counter::{CounterPage, LiveCounterPage};
pub(crate) use desk::{LivePage, Page};
pub(crate) use operator::OperatorPage;
pub(crate) use public::PublicPage;
pub(crate) use user::UserPage;
