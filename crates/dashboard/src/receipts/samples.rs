//! The pages about held money, as samples for tests.

use askama::Template;
use domain::language::Language;

use super::{
    assign::{AssignPage, ConfirmPage},
    choices::{Choice, Choices},
    decide::{Accepting, DecidePage, Offered, ReceiptFacts, ReturnWay, Returning, Taken, UsedFor},
    effect::Effect,
    list::{ReceiptsPage, Row},
    several::{self, ResultPage, SeveralPage},
    wording::{Answer, TakenDecision},
};
use crate::{
    payment::customer::Fact,
    refunds::account::TypedAccount,
    samples::{badge, hostile, now, paging, shell},
};

fn url() -> String {
    "/x".to_owned()
}

fn rupiah() -> String {
    "Rp999.999.999.999".to_owned()
}

fn decision(language: Language) -> TakenDecision {
    TakenDecision { badge: badge("paid"), note: hostile(), at: now(language) }
}

fn answer() -> Answer {
    Answer { note: hostile(), mistake: Some(hostile()) }
}

fn customer() -> Vec<Fact> {
    vec![Fact { label: "Nama".to_owned(), text: hostile() }]
}

fn receipts(language: Language, decided: bool, rows: usize) -> ReceiptsPage {
    let row = |number: usize| Row {
        id: format!("rcp_{number}"),
        url: url(),
        pick: hostile(),
        reference: hostile(),
        customer: (number == 0).then(hostile),
        amount: rupiah(),
        due: rupiah(),
        difference: (number == 0).then(hostile),
        reason: hostile(),
        received: now(language),
        waits: "3 hari".to_owned(),
        decision: decided.then(|| decision(language)),
    };
    ReceiptsPage {
        shell: shell(language),
        balance_url: url(),
        path: url(),
        decided,
        picks: !decided,
        sum: (!decided).then(hostile),
        notice: decided.then(hostile),
        rows: (0..rows).map(row).collect(),
        paging: paging(),
    }
}

fn effect(differs: bool) -> Effect {
    Effect {
        sentence: hostile(),
        moves: hostile(),
        received: rupiah(),
        due: rupiah(),
        difference: differs.then(rupiah),
        fee: rupiah(),
        net: rupiah(),
    }
}

fn choices(language: Language, rows: usize) -> Choices {
    let choice = |_| Choice {
        url: url(),
        reference: hostile(),
        customer: Some(hostile()),
        amount: rupiah(),
        badge: badge("paid"),
        created: now(language),
    };
    Choices {
        asked: hostile(),
        mistake: (rows == 0).then(hostile),
        title: hostile(),
        none: hostile(),
        rows: (0..rows).map(choice).collect(),
    }
}

fn receipt(language: Language, offered: Offered) -> DecidePage {
    let facts = ReceiptFacts {
        id: "rcp_1".to_owned(),
        bank_id: hostile(),
        amount: rupiah(),
        paid: now(language),
        received: now(language),
        reason: hostile(),
        payment_url: url(),
        reference: hostile(),
        payment_amount: rupiah(),
        payment_badge: badge("paid"),
        difference: Some(hostile()),
        customer: customer(),
    };
    DecidePage { shell: shell(language), list_url: url(), url: url(), facts, notice: Some(hostile()), offered }
}

fn choice(language: Language, accept: Result<Effect, String>) -> Offered {
    let accept = accept.map(|effect| Accepting { effect, answer: answer() });
    let returning = Returning { answer: answer(), way: ReturnWay::Typed, account: TypedAccount::empty() };
    Offered::Choice { accept, assign: choices(language, 2), returning: Box::new(returning) }
}

fn taken(language: Language) -> Offered {
    let payment = Some(UsedFor { url: url(), reference: hostile() });
    let refund_url = Some(url());
    Offered::Decided(Taken { decision: decision(language), by: Some(hostile()), payment, refund_url, elsewhere: true })
}

fn confirm(language: Language, effect: Result<Effect, String>) -> ConfirmPage {
    ConfirmPage {
        shell: shell(language),
        url: url(),
        amount: rupiah(),
        payment_id: "pay_1".to_owned(),
        payment_url: url(),
        reference: hostile(),
        customer: customer(),
        badge: badge("paid"),
        created: now(language),
        notice: Some(hostile()),
        effect,
        answer: answer(),
    }
}

fn several(language: Language, accepts: bool) -> SeveralPage {
    let row = |number: usize| several::Row {
        id: format!("rcp_{number}"),
        url: url(),
        reference: hostile(),
        customer: Some(hostile()),
        amount: rupiah(),
        due: rupiah(),
        difference: Some(hostile()),
        outcome: hostile(),
    };
    let accept = several::Accepting { text: hostile(), rest: Some(hostile()), button: "Terima 2".to_owned() };
    SeveralPage {
        shell: shell(language),
        list_url: url(),
        sub: hostile(),
        rows: (0..2).map(row).collect(),
        accept: accepts.then_some(accept),
        returning: several::Returning { text: hostile(), button: "Catat 2".to_owned() },
        answer: answer(),
    }
}

fn result(language: Language, failures: usize) -> ResultPage {
    let failed = |_| several::Failed { url: url(), reference: hostile(), amount: rupiah(), why: hostile() };
    ResultPage {
        shell: shell(language),
        list_url: url(),
        done: (failures < 2).then(hostile),
        failed_title: hostile(),
        failed: (0..failures).map(failed).collect(),
    }
}

pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
    let assign = AssignPage {
        shell: shell(language),
        url: url(),
        amount: rupiah(),
        reference: hostile(),
        assign: choices(language, 0),
    };
    vec![
        ("receipts", receipts(language, false, 2).render().unwrap()),
        ("decided receipts", receipts(language, true, 2).render().unwrap()),
        ("no receipts", receipts(language, false, 0).render().unwrap()),
        ("no decided receipts", receipts(language, true, 0).render().unwrap()),
        ("receipt", receipt(language, choice(language, Ok(effect(false)))).render().unwrap()),
        ("receipt of another amount", receipt(language, choice(language, Ok(effect(true)))).render().unwrap()),
        ("unfit receipt", receipt(language, choice(language, Err(hostile()))).render().unwrap()),
        ("decided receipt", receipt(language, taken(language)).render().unwrap()),
        ("a viewer's receipt", receipt(language, Offered::Nothing).render().unwrap()),
        ("another payment", assign.render().unwrap()),
        ("confirmation", confirm(language, Ok(effect(true))).render().unwrap()),
        ("unfit confirmation", confirm(language, Err(hostile())).render().unwrap()),
        ("several", several(language, true).render().unwrap()),
        ("several to return", several(language, false).render().unwrap()),
        ("result", result(language, 2).render().unwrap()),
        ("success", result(language, 0).render().unwrap()),
    ]
}
