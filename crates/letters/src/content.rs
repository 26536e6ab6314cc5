//! What a letter says, before it becomes HTML or plain text. All texts are ready to be shown; each form only arranges them.

/// The content of one letter.
pub(crate) struct Content {
    pub(crate) subject: String,
    pub(crate) heading: String,
    /// An amount that people should see first.
    pub(crate) amount: Option<String>,
    /// What has happened, a paragraph each.
    pub(crate) lead: Vec<String>,
    pub(crate) facts: Vec<Fact>,
    pub(crate) action: Option<Action>,
    /// Whether the action is only for those who are warned, and so follows the warning.
    pub(crate) is_action_for_warning: bool,
    /// What else there is to know, a paragraph each.
    pub(crate) after: Vec<String>,
    /// What to do if something is wrong: a question and its answer.
    pub(crate) warning: Option<Warning>,
    /// Ways to reach the merchant.
    pub(crate) contacts: Vec<ContactLink>,
    /// Why the reader gets this letter.
    pub(crate) why: String,
    /// Whether all of it is about made-up money.
    pub(crate) is_sandbox: bool,
}

pub(crate) struct Fact {
    pub(crate) label: String,
    pub(crate) value: String,
}

/// The one thing to do with a letter.
pub(crate) struct Action {
    pub(crate) label: String,
    pub(crate) url: String,
}

pub(crate) struct Warning {
    pub(crate) question: String,
    pub(crate) answer: String,
}

pub(crate) struct ContactLink {
    pub(crate) text: String,
    pub(crate) url: String,
}

impl Content {
    /// A letter that has nothing but its subject, which is also its heading, and the reason why the reader gets it.
    pub(crate) fn new(subject: String, why: String) -> Content {
        Content {
            heading: subject.clone(),
            subject,
            amount: None,
            lead: Vec::new(),
            facts: Vec::new(),
            action: None,
            is_action_for_warning: false,
            after: Vec::new(),
            warning: None,
            contacts: Vec::new(),
            why,
            is_sandbox: false,
        }
    }

    pub(crate) fn lead(mut self, paragraph: String) -> Content {
        self.lead.push(paragraph);
        self
    }

    pub(crate) fn fact(mut self, label: String, value: String) -> Content {
        self.facts.push(Fact { label, value });
        self
    }

    /// A fact that is left out where it is not known.
    pub(crate) fn known_fact(self, label: String, value: Option<String>) -> Content {
        match value {
            Some(value) => self.fact(label, value),
            None => self,
        }
    }

    pub(crate) fn action(mut self, label: String, url: &str) -> Content {
        self.action = Some(Action { label, url: url.to_owned() });
        self
    }

    pub(crate) fn after(mut self, paragraph: String) -> Content {
        self.after.push(paragraph);
        self
    }

    /// What only those do who are warned.
    pub(crate) fn action_of_warning(self, label: String, url: &str) -> Content {
        Content { is_action_for_warning: true, ..self.action(label, url) }
    }

    pub(crate) fn warning(mut self, question: String, answer: String) -> Content {
        self.warning = Some(Warning { question, answer });
        self
    }
}
