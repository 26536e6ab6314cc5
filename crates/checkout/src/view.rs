//! What each page shows: one struct a page, filled by its handler and rendered by its template.
//!
//! Views hold texts that are ready to be shown, never values of the domain, so a template decides nothing about payments.

use askama::Template;
use i18n_embed_fl::fl;
use web::page::{moment::Moment, page_error::ProblemKind};

use crate::words::Words;

/// What stands around the content of every page.
pub(crate) struct Frame {
    pub(crate) words: Words,
    /// `id` or `en`.
    pub(crate) language: &'static str,
    /// This same page in the other language.
    pub(crate) switch_url: String,
    pub(crate) style_url: String,
    pub(crate) script_url: String,
    /// Whether no money moves here.
    pub(crate) sandbox: bool,
    /// Whose page this is; none where that is not known, as on a page that does not exist.
    pub(crate) merchant: Option<String>,
}

/// What is being paid for.
pub(crate) struct Order {
    pub(crate) merchant: String,
    /// Direct payments have neither title nor description.
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) reference: String,
    /// `Rp150.000`.
    pub(crate) amount: String,
}

/// `/p/<link_id>`: how do you want to pay?
#[derive(Template)]
#[template(path = "choose.html")]
pub(crate) struct Choose {
    pub(crate) frame: Frame,
    pub(crate) order: Order,
    pub(crate) methods: Vec<MethodRow>,
    pub(crate) fields: Vec<Field>,
    /// Where the form goes.
    pub(crate) action: String,
    /// Tells one filling-in of the form from another, so that sending it twice pays once.
    pub(crate) attempt: String,
    /// The payment that this choice replaces, and where it is.
    pub(crate) replaces: Option<Replaced>,
    pub(crate) notice: Option<Notice>,
}

pub(crate) struct Replaced {
    pub(crate) payment_id: String,
    pub(crate) url: String,
}

/// What stands above the form when it comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notice {
    /// Some field or the method is wrong; the field says what.
    Mistakes,
    /// The method that was chosen cannot be had at the moment.
    MethodDown,
}

pub(crate) struct MethodRow {
    /// What the form sends: `qris`, `virtual_account:bca`.
    pub(crate) value: String,
    /// None for QRIS.
    pub(crate) bank: Option<BankRow>,
    pub(crate) checked: bool,
    /// Its provider cannot be reached.
    pub(crate) down: bool,
}

pub(crate) struct BankRow {
    pub(crate) name: &'static str,
    /// A few letters in a neutral tile, `BCA`; banks' own marks are theirs.
    pub(crate) mark: String,
}

/// One question to the customer.
pub(crate) struct Field {
    pub(crate) kind: FieldKind,
    pub(crate) value: String,
    pub(crate) mistake: Option<Mistake>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldKind {
    Name,
    Email,
    Phone,
    Address,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    Missing,
    TooLong {
        most: usize,
    },
    /// Control characters, or no address of that kind.
    Malformed,
}

/// What both kinds of a pending payment's page have.
pub(crate) struct Pending {
    pub(crate) order: Order,
    pub(crate) payment_id: String,
    pub(crate) deadline: Moment,
    /// Milliseconds, on the server's clock: the countdown goes by these, not by the phone's clock.
    pub(crate) expires_at_millis: i64,
    pub(crate) now_millis: i64,
    /// This page itself: what "check status" leads to without script.
    pub(crate) page_url: String,
    /// `{"status": "pending"}`, for polling.
    pub(crate) status_url: String,
    /// The same as server-sent events.
    pub(crate) events_url: String,
    pub(crate) change: Change,
    /// Where the sandbox panel's form goes; none in production.
    pub(crate) simulate_url: Option<String>,
}

/// Whether the customer may pay in another way instead.
pub(crate) enum Change {
    Allowed {
        url: String,
    },
    /// The merchant chose this method; ask there.
    NotAllowed,
    /// Another payment of the same link is on its way, so this one had better not be paid.
    BeingPaid,
    /// The merchant takes no new payments at the moment.
    Closed,
}

/// `/pay/<payment_id>` of a pending QRIS payment.
#[derive(Template)]
#[template(path = "qris.html")]
pub(crate) struct Qris {
    pub(crate) frame: Frame,
    pub(crate) pending: Pending,
    /// A PNG as a `data:` URI.
    pub(crate) image: String,
    /// The same as a file to download, named by the reference.
    pub(crate) image_url: String,
    pub(crate) image_name: String,
}

/// `/pay/<payment_id>` of a pending virtual account payment.
#[derive(Template)]
#[template(path = "account.html")]
pub(crate) struct Account {
    pub(crate) frame: Frame,
    pub(crate) pending: Pending,
    pub(crate) bank: BankRow,
    /// Digits only, for copying.
    pub(crate) number: String,
    /// In fours, for reading.
    pub(crate) grouped_number: String,
    /// `150000`, for copying.
    pub(crate) amount_digits: String,
    pub(crate) steps: Vec<Steps>,
}

/// How to pay at one kind of place, folded.
pub(crate) struct Steps {
    pub(crate) title: String,
    pub(crate) steps: Vec<String>,
}

/// What the payments that are no longer pending have.
pub(crate) struct Ended {
    pub(crate) order: Order,
    pub(crate) payment_id: String,
    /// `QRIS`, or the bank's name.
    pub(crate) method: String,
}

#[derive(Template)]
#[template(path = "paid.html")]
pub(crate) struct Paid {
    pub(crate) frame: Frame,
    pub(crate) ended: Ended,
    pub(crate) paid_at: Moment,
}

/// The bank has seen the payment and is not sure of it yet; it is still watched.
#[derive(Template)]
#[template(path = "processing.html")]
pub(crate) struct Processing {
    pub(crate) frame: Frame,
    pub(crate) ended: Ended,
    pub(crate) page_url: String,
    pub(crate) status_url: String,
    pub(crate) events_url: String,
    pub(crate) simulate_url: Option<String>,
}

/// Expired, failed, or cancelled. Each may still turn out paid when the bank's word comes late, so they are watched too.
#[derive(Template)]
#[template(path = "unpaid.html")]
pub(crate) struct Unpaid {
    pub(crate) frame: Frame,
    pub(crate) ended: Ended,
    pub(crate) why: Why,
    pub(crate) expired_at: Moment,
    pub(crate) next: Next,
    pub(crate) status_url: String,
    pub(crate) events_url: String,
}

/// What to do after a payment that came to nothing.
pub(crate) enum Next {
    /// The link still takes payments.
    Again {
        url: String,
    },
    /// Someone has paid it by another payment: nobody is to pay once more.
    AlreadyPaid,
    BeingPaid,
    /// Only the merchant can help.
    AskMerchant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Expired,
    Failed,
    /// Replaced by another attempt, or its link was cancelled or paid by another payment.
    Cancelled,
}

/// `/p/<link_id>` of a link that takes no more payments.
#[derive(Template)]
#[template(path = "closed.html")]
pub(crate) struct Closed {
    pub(crate) frame: Frame,
    pub(crate) order: Order,
    pub(crate) reason: ClosedReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClosedReason {
    Cancelled,
    /// Past its `expires_at`, or its merchant takes no payments at the moment.
    Inactive,
    AlreadyPaid,
    /// Someone's payment is on its way.
    BeingPaid,
}

/// Everything else that can go wrong, with one thing to do about it.
#[derive(Template)]
#[template(path = "problem.html")]
pub(crate) struct Problem {
    pub(crate) frame: Frame,
    pub(crate) kind: ProblemKind,
    /// What to tell whoever runs the service: the request's id. None on the page that is the same for every miss.
    pub(crate) support_reference: Option<String>,
    /// Where the one next action leads; none where there is nothing to go back to.
    pub(crate) next_url: Option<String>,
}
