//! Users of the dashboard as far as HTTP goes: a signed-in browser that sends forms as the pages do.

use domain::{
    access::Role,
    id::ProjectId,
    user::{Token, User},
};
use engine::NewUser;
use reqwest::{Method, RequestBuilder};
use testkit::{Kit, Reply};

use crate::support::customer::Customer;

/// The password of everybody in tests.
pub(crate) const PASSWORD: &str = "twelve or more";
const SESSION_COOKIE: &str = "lunas_session";

pub(crate) struct Person {
    pub(crate) user: User,
    pub(crate) browser: Customer,
}

impl Person {
    /// A new user, signed in.
    pub(crate) async fn new(kit: &Kit, email: &str) -> Person {
        Person::signed_in(kit, make(kit, email, false).await).await
    }

    pub(crate) async fn operator(kit: &Kit, email: &str) -> Person {
        Person::signed_in(kit, make(kit, email, true).await).await
    }

    /// A signed-in member of a project.
    pub(crate) async fn member(kit: &Kit, project: ProjectId, role: Role, email: &str) -> Person {
        let user = make(kit, email, false).await;
        kit.engine.add_member(project, &user, role).await.unwrap();
        Person::signed_in(kit, user).await
    }

    /// Signs in a user who exists already, in a new browser.
    pub(crate) async fn signed_in(kit: &Kit, user: User) -> Person {
        let browser = Customer::of(kit);
        let reply = sign_in(&browser, user.email.as_str(), PASSWORD).await;
        assert_eq!(reply.status, 303, "{}", reply.text);
        Person { user, browser }
    }

    /// The session's token as the browser keeps it.
    pub(crate) fn token(&self) -> Option<Token> {
        self.browser.cookie("/", SESSION_COOKIE).as_deref().and_then(Token::parse)
    }

    pub(crate) async fn open(&self, path: &str) -> Reply {
        self.browser.open(path).await
    }

    /// Sends a form as a page of the dashboard would, with its token.
    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        self.browser.send(self.form(path, fields)).await
    }

    pub(crate) fn form(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let token = self.token().map(|token| token.form_token()).unwrap_or_default();
        let mut fields = fields.to_vec();
        fields.push(("form_token", &token));
        self.browser.form(path, &fields).header("sec-fetch-site", "same-origin")
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.browser.request(method, path)
    }
}

/// Creates a user.
pub(crate) async fn make(kit: &Kit, email: &str, is_operator: bool) -> User {
    let new = NewUser { email: email.to_owned(), password: PASSWORD.into(), is_operator };
    kit.engine.create_user(new).await.unwrap()
}

pub(crate) async fn sign_in(browser: &Customer, email: &str, password: &str) -> Reply {
    browser.post("/dashboard/sign-in", &[("email", email), ("password", password)]).await
}

/// The path of a project's pages in the dashboard.
pub(crate) fn desk(project: ProjectId) -> String {
    format!("/dashboard/{project}")
}
