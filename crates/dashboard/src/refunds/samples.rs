//! The pages about refunds, as samples for tests.

use askama::Template;
use domain::language::Language;

use super::{
    account::{BankChoice, TypedAccount},
    batch::BatchPage,
    create::{ConfirmPage, CreatePage, RefundForm, Way},
    filter::{Mistakes, TypedFilter},
    list::{RefundList, RefundRow, RefundsPage},
    show::{ApprovalBox, ClaimBox, FoundBox, OpenClaim, RefundPage, TransferBox},
    transfers::{BatchRow, TransfersPage},
    uncertain::Uncertainty,
};
use crate::{
    payment::{customer::Fact, timeline::Happening},
    payments::{Tile, picks::Pick},
    receipts::wording::Answer,
    samples::{badge, hostile, now, paging, shell},
};

fn url() -> String {
    "/x".to_owned()
}

fn rupiah() -> String {
    "Rp999.999.999.999".to_owned()
}

fn facts() -> Vec<Fact> {
    vec![Fact { label: "Alasan".to_owned(), text: hostile() }]
}

fn answer(is_wrong: bool) -> Answer {
    Answer { note: hostile(), mistake: is_wrong.then(hostile) }
}

fn row(language: Language) -> RefundRow {
    RefundRow {
        url: url(),
        who: hostile(),
        reference: Some(hostile()),
        road: hostile(),
        amount: rupiah(),
        badge: badge("wait"),
        created: now(language),
    }
}

fn account(is_wrong: bool) -> TypedAccount {
    TypedAccount {
        banks: vec![BankChoice { value: "014".to_owned(), label: hostile(), chosen: true }],
        number: hostile(),
        holder: hostile(),
        bank_mistake: is_wrong.then(hostile),
        number_mistake: is_wrong.then(hostile),
        holder_mistake: is_wrong.then(hostile),
    }
}

fn list(language: Language, found: Option<usize>, is_everything: bool) -> RefundsPage {
    let pick = || vec![Pick { url: url(), label: hostile(), is_chosen: true }];
    let [status, payment, period, from, to] = [(); 5].map(|()| if is_everything { String::new() } else { hostile() });
    let wrong = || found.is_none().then(hostile);
    RefundsPage {
        shell: shell(language),
        path: "/dashboard/prj_1/refunds".to_owned(),
        payments_url: url(),
        asked: TypedFilter { status, payment, period, from, to },
        mistakes: Mistakes { status: false, payment: wrong(), from: wrong(), to: wrong() },
        tabs: pick(),
        periods: pick(),
        to_transfer: (!is_everything).then(|| "12".to_owned()),
        found: found.map(|rows| RefundList {
            rows: (0..rows).map(|_| row(language)).collect(),
            sums: vec![Tile { label: hostile(), figure: rupiah(), text: hostile() }],
            paging: paging(),
            csv_url: url(),
            excel_url: url(),
        }),
    }
}

fn create(language: Language, is_wrong: bool, is_offered: bool) -> CreatePage {
    let form = RefundForm {
        attempt: "0".repeat(32),
        amount: hostile(),
        amount_hint: hostile(),
        amount_mistake: is_wrong.then(hostile),
        reason: hostile(),
        reason_mistake: is_wrong.then(hostile),
        usual: Way { label: hostile(), text: hostile() },
        is_typed: is_wrong,
        account: account(is_wrong),
    };
    CreatePage {
        shell: shell(language),
        payment_url: url(),
        action: url(),
        reference: hostile(),
        notice: (is_wrong || !is_offered).then(hostile),
        form: is_offered.then_some(form),
        facts: facts(),
    }
}

fn confirm(language: Language) -> ConfirmPage {
    ConfirmPage {
        shell: shell(language),
        payment_url: url(),
        action: url(),
        reference: hostile(),
        heading: hostile(),
        fields: vec![("amount", hostile()), ("reason", hostile())],
        sentences: vec![hostile(), hostile()],
        button: hostile(),
    }
}

fn refund(language: Language) -> RefundPage {
    let happening = |tone| Happening {
        tone,
        title: hostile(),
        detail: hostile(),
        at: (tone != "wait").then(|| now(language)),
        more: None,
    };
    RefundPage {
        shell: shell(language),
        list_url: url(),
        url: url(),
        notice: None,
        id: "rfd_1".to_owned(),
        version: "1".to_owned(),
        amount: rupiah(),
        heading: hostile(),
        badge: badge("wait"),
        sentence: hostile(),
        of_label: "Pembayaran".to_owned(),
        of_url: url(),
        reference: hostile(),
        facts: facts(),
        created: now(language),
        happenings: ["", "good", "bad", "wait"].map(happening).into(),
        claim: None,
        approval: None,
        typing: None,
        transfer: None,
        may_cancel: false,
        found: None,
        came_back: None,
        simulated: Vec::new(),
        may_simulate: false,
    }
}

fn open_claim() -> ClaimBox {
    ClaimBox::Open(OpenClaim { text: hostile(), url: hostile(), whatsapp_url: url() })
}

fn unclaimed(language: Language, claim: ClaimBox) -> RefundPage {
    let has_ended = matches!(claim, ClaimBox::Ended);
    RefundPage {
        claim: Some(claim),
        typing: Some(account(has_ended)),
        notice: has_ended.then(hostile),
        may_cancel: true,
        ..refund(language)
    }
}

fn unapproved(language: Language, may_approve: bool) -> RefundPage {
    let approval = ApprovalBox {
        sentences: vec![hostile(), hostile()],
        warning: Some(hostile()),
        may_approve,
        decline: answer(!may_approve),
    };
    RefundPage { approval: Some(approval), may_cancel: true, ..refund(language) }
}

fn by_hand(language: Language, is_wrong: bool) -> RefundPage {
    let account = if is_wrong { Vec::new() } else { facts() };
    let transfer = TransferBox {
        text: hostile(),
        known: uncertainty(is_wrong),
        account,
        failed_text: hostile(),
        done: answer(is_wrong),
        failed: answer(is_wrong),
    };
    let simulated = vec![("succeeded", hostile()), ("failed", hostile())];
    RefundPage { transfer: Some(transfer), simulated, may_simulate: true, ..refund(language) }
}

fn uncertainty(is_uncertain: bool) -> Uncertainty {
    let sentences = if is_uncertain { vec![hostile(), hostile()] } else { Vec::new() };
    Uncertainty { sentences, doubted: is_uncertain.then(hostile), asks_confirmation: is_uncertain }
}

fn transfers(language: Language, rows: usize, may_export: bool) -> TransfersPage {
    let batch = |_| BatchRow {
        url: url(),
        name: hostile(),
        made: hostile(),
        amount: rupiah(),
        standing: hostile(),
        csv_url: url(),
        excel_url: url(),
    };
    TransfersPage {
        shell: shell(language),
        list_url: url(),
        url: url(),
        notice: may_export.then(hostile),
        may_export,
        attempt: "0".repeat(32),
        sum: hostile(),
        ready: (0..rows).map(|_| row(language)).collect(),
        batches: (0..rows).map(batch).collect(),
    }
}

fn batch(language: Language) -> BatchPage {
    BatchPage {
        shell: shell(language),
        list_url: url(),
        name: hostile(),
        sub: hostile(),
        csv_url: Some(url()),
        released: Some(hostile()),
        rows: vec![row(language)],
    }
}

pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
    let found = FoundBox { known: uncertainty(true), done: answer(true) };
    let found = RefundPage { found: Some(found), ..refund(language) };
    let came_back = RefundPage { came_back: Some(answer(true)), ..refund(language) };
    vec![
        ("refunds", list(language, Some(2), false).render().unwrap()),
        ("no refunds", list(language, Some(0), true).render().unwrap()),
        ("no matching refunds", list(language, Some(0), false).render().unwrap()),
        ("mistaken filter of refunds", list(language, None, false).render().unwrap()),
        ("new refund", create(language, false, true).render().unwrap()),
        ("mistaken new refund", create(language, true, true).render().unwrap()),
        ("nothing to refund", create(language, false, false).render().unwrap()),
        ("refund to confirm", confirm(language).render().unwrap()),
        ("refund", refund(language).render().unwrap()),
        ("refund without an account", unclaimed(language, open_claim()).render().unwrap()),
        ("refund whose link is hidden", unclaimed(language, ClaimBox::Hidden { prove_url: url() }).render().unwrap()),
        ("refund whose link has ended", unclaimed(language, ClaimBox::Ended).render().unwrap()),
        ("refund to approve", unapproved(language, true).render().unwrap()),
        ("one's own refund", unapproved(language, false).render().unwrap()),
        ("refund to transfer", by_hand(language, false).render().unwrap()),
        ("mistaken record of a transfer", by_hand(language, true).render().unwrap()),
        ("refund that may be found done", found.render().unwrap()),
        ("refund that came back", came_back.render().unwrap()),
        ("transfers", transfers(language, 2, true).render().unwrap()),
        ("transfers for a viewer", transfers(language, 2, false).render().unwrap()),
        ("no transfers", transfers(language, 0, true).render().unwrap()),
        ("batch", batch(language).render().unwrap()),
    ]
}
