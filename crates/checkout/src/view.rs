//! The views: one struct per page, filled by its handler and rendered by its template.
//!
//! Views contain values that are ready to be shown, never types of the domain, so that templates decide nothing about payments.

use askama::Template;
use i18n_embed_fl::fl;
use web::page::{moment::Moment, page_error::ProblemKind};

use crate::{preview::Preview, price_field::PriceField, words::Words};

/// What surrounds the content of every page: header, language switch and footer.
pub(crate) struct Frame {
    pub(crate) words: Words,
    /// `id` or `en`.
    pub(crate) language: &'static str,
    /// This same page in the other language.
    pub(crate) switch_url: String,
    pub(crate) style_url: String,
    pub(crate) script_url: String,
    /// Why no money moves; none where it is real.
    pub(crate) stripe: Option<Stripe>,
    /// The merchant's name; none where it is not known, as on error pages.
    pub(crate) merchant: Option<String>,
    /// What the merchant's pages show besides its name.
    pub(crate) face: ShopFace,
    /// How chats show the page; only links have that.
    pub(crate) preview: Option<Preview>,
    /// None where the page is not shown in a shop's page.
    pub(crate) framed: Option<Framed>,
}

/// A shop's face; nothing where the merchant has given none, or is not known.
#[derive(Default)]
pub(crate) struct ShopFace {
    pub(crate) logo: Option<FrameLogo>,
    /// A style sheet with the shop's colour.
    pub(crate) style_url: Option<String>,
    /// Ways to reach the merchant; the first is the one to offer where there is room for one.
    pub(crate) contacts: Vec<ContactLink>,
}

/// A logo, and its size in pixels.
pub(crate) struct FrameLogo {
    pub(crate) url: String,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// How the customer reaches the merchant.
pub(crate) struct ContactLink {
    pub(crate) url: String,
    pub(crate) way: ContactWay,
    /// What can be read and dialled on paper.
    pub(crate) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContactWay {
    WhatsApp,
    Phone,
    Email,
    Site,
}

/// The frame in a shop's page that shows a page.
pub(crate) struct Framed {
    /// The origin of the shop's page.
    pub(crate) origin: String,
    pub(crate) script_url: String,
    /// None while there is no payment.
    pub(crate) payment: Option<FramedPayment>,
}

/// What the shop's page is told of the payment.
pub(crate) struct FramedPayment {
    pub(crate) id: String,
    pub(crate) reference: String,
    /// A status of the API.
    pub(crate) status: &'static str,
}

/// Why no money moves on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stripe {
    /// The project is a sandbox.
    Sandbox,
    /// The installation is for development, so the bank is not a real one.
    Rehearsal,
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
    /// `3 × Rp50.000`, where the customer has chosen how many.
    pub(crate) pieces: Option<String>,
}

/// `/p/<link_id>`: the form in which the customer chooses how to pay.
#[derive(Template)]
#[template(path = "choose.html")]
pub(crate) struct Choose {
    pub(crate) frame: Frame,
    pub(crate) order: Order,
    /// Where the customer says how many, or types the amount; none where it is fixed.
    pub(crate) price: Option<PriceField>,
    pub(crate) methods: Vec<MethodRow>,
    pub(crate) fields: Vec<Field>,
    /// The URL that the form is sent to.
    pub(crate) action: String,
    /// The id of this form, by which sending it twice creates one payment.
    pub(crate) attempt: String,
    /// The pending payment that the new one replaces.
    pub(crate) replaces: Option<Replaced>,
    pub(crate) notice: Option<Notice>,
    /// Whether there is nothing to choose and nothing to fill in, so that the script sends the form by itself.
    pub(crate) is_straight: bool,
    /// The request's id, which the customer gives to support; only beside a notice about a failure of ours.
    pub(crate) support_reference: Option<String>,
}

pub(crate) struct Replaced {
    pub(crate) payment_id: String,
    pub(crate) url: String,
}

/// The message above the form when it is shown again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notice {
    /// A field or the method has a mistake; the message beside it says which.
    Mistakes,
    /// The chosen payment method is unavailable at the moment.
    MethodDown,
}

pub(crate) struct MethodRow {
    /// The value that the form sends: `qris`, `virtual_account:bca`.
    pub(crate) value: String,
    /// None for QRIS.
    pub(crate) bank: Option<BankRow>,
    pub(crate) checked: bool,
    /// Whether its bank is unavailable.
    pub(crate) down: bool,
}

pub(crate) struct BankRow {
    pub(crate) name: &'static str,
    /// The bank's name in a few letters, in place of a logo, such as `BCA`: banks' logos are their trademarks.
    pub(crate) mark: String,
    /// The CSS class of the mark's colour: a pale shade of a colour that people know the bank by.
    pub(crate) tint: &'static str,
}

/// One field for the customer's details.
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
    /// It has control characters, or is not an email address or phone number.
    Malformed,
}

/// Money that came for a payment but did not pay it.
pub(crate) struct Unapplied {
    /// `Rp150.000`.
    pub(crate) amount: String,
    pub(crate) standing: UnappliedStanding,
}

/// Why the money did not pay, or what the merchant has done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnappliedStanding {
    TooLate,
    /// It came after the payment had been cancelled.
    Cancelled,
    OtherAmount,
    PaidTwice,
    /// Another payment has paid the link.
    LinkPaid,
    /// It must be looked into.
    Unclear,
    Returned,
    /// The merchant used it for another payment.
    UsedElsewhere,
}

/// What the pages of pending QRIS and virtual account payments share.
pub(crate) struct Pending {
    pub(crate) order: Order,
    pub(crate) unapplied: Vec<Unapplied>,
    pub(crate) payment_id: String,
    pub(crate) deadline: Moment,
    /// Both in milliseconds of the server's clock, so that the countdown does not depend on the phone's clock.
    pub(crate) expires_at_millis: i64,
    pub(crate) now_millis: i64,
    /// This page itself: the link "Check status" reloads it without script.
    pub(crate) page_url: String,
    /// Answers `{"status": "pending"}`, for polling.
    pub(crate) status_url: String,
    /// Sends the status as server-sent events.
    pub(crate) events_url: String,
    pub(crate) change: Change,
    pub(crate) looked: Looked,
    /// The target of the sandbox panel's form; none in production.
    pub(crate) simulate_url: Option<String>,
}

/// When the server looked at the payment's status for the page: a sentence around the time, which the script replaces.
pub(crate) struct Looked {
    pub(crate) before: String,
    /// `21.30.05`.
    pub(crate) time: String,
    /// The same in UTC.
    pub(crate) utc: String,
    pub(crate) after: String,
}

/// Whether the customer may change the payment method.
pub(crate) enum Change {
    Allowed {
        url: String,
    },
    /// The merchant chose the method: the payment is direct, or its link offers no other.
    NotAllowed,
    /// Another payment of the same link is being processed, so the customer should not pay this one.
    BeingPaid,
    /// The link takes no new payments at the moment.
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
    /// A card with the same code, shop, amount and deadline, as a file to download.
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
    /// The number, or its parts and then the whole where a screen of the bank asks for the parts.
    pub(crate) numbers: Vec<NumberRow>,
    /// `150000`, for copying.
    pub(crate) amount_digits: String,
    pub(crate) steps: Vec<Steps>,
}

/// A number to copy.
pub(crate) struct NumberRow {
    pub(crate) label: NumberLabel,
    /// Digits only, for copying.
    pub(crate) digits: String,
    /// In groups of four digits, for reading.
    pub(crate) grouped: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberLabel {
    Account,
    CompanyCode,
    CustomerNumber,
    /// BSI's name for the company code.
    InstitutionCode,
    /// BSI's name for the customer number.
    PaymentCode,
    /// The whole number of an account whose parts are shown too.
    Whole,
}

/// The instructions for one channel, such as an ATM, which the customer can unfold.
pub(crate) struct Steps {
    pub(crate) title: String,
    pub(crate) steps: Vec<StepLine>,
}

/// One step. Names of menus are Indonesian in every language, so they stand apart.
pub(crate) struct StepLine {
    pub(crate) text: String,
    pub(crate) menu: Option<&'static str>,
}

/// What the pages of payments that are no longer pending share.
pub(crate) struct Ended {
    pub(crate) order: Order,
    pub(crate) unapplied: Vec<Unapplied>,
    pub(crate) payment_id: String,
    /// `QRIS`, or the bank's name.
    pub(crate) method: String,
    pub(crate) back: Option<Back>,
}

/// The way back to the merchant's own site.
pub(crate) struct Back {
    pub(crate) url: String,
    /// Only a paid payment's page leaves by itself.
    pub(crate) leaves: Option<Leaves>,
}

/// When a page leaves by itself: when it has seen the payment become paid, or right after that.
pub(crate) struct Leaves {
    /// Whether the payment was paid a moment ago, so that this is no old receipt.
    pub(crate) is_fresh: bool,
    pub(crate) script_url: String,
}

#[derive(Template)]
#[template(path = "paid.html")]
pub(crate) struct Paid {
    pub(crate) frame: Frame,
    pub(crate) ended: Ended,
    /// What paid it, where that is another amount than the bill.
    pub(crate) received: Option<String>,
    pub(crate) paid_at: Moment,
    /// The page on which the customer of a link for many payments pays once more.
    pub(crate) again_url: Option<String>,
    /// The receipt for counter printers.
    pub(crate) slip_url: String,
    /// How it prints.
    pub(crate) style_url: String,
}

/// `/pay/<payment_id>?print=80mm`: the receipt on a strip of paper.
#[derive(Template)]
#[template(path = "slip.html")]
pub(crate) struct Slip {
    pub(crate) frame: Frame,
    pub(crate) ended: Ended,
    /// What paid it, where that is another amount than the bill.
    pub(crate) received: Option<String>,
    pub(crate) paid_at: Moment,
    pub(crate) style_url: String,
    /// The usual receipt.
    pub(crate) page_url: String,
}

/// The page of a payment that the bank has not confirmed yet. It watches for changes.
#[derive(Template)]
#[template(path = "processing.html")]
pub(crate) struct Processing {
    pub(crate) frame: Frame,
    pub(crate) ended: Ended,
    pub(crate) page_url: String,
    pub(crate) status_url: String,
    pub(crate) events_url: String,
    /// In milliseconds of the server's clock.
    pub(crate) now_millis: i64,
    pub(crate) looked: Looked,
    pub(crate) simulate_url: Option<String>,
}

/// The page of an expired, failed or cancelled payment. The bank may still confirm it late, so the page watches for changes.
#[derive(Template)]
#[template(path = "unpaid.html")]
pub(crate) struct Unpaid {
    pub(crate) frame: Frame,
    pub(crate) ended: Ended,
    pub(crate) why: UnpaidReason,
    pub(crate) expired_at: Moment,
    pub(crate) next: NextStep,
    pub(crate) status_url: String,
    pub(crate) events_url: String,
    /// In milliseconds of the server's clock.
    pub(crate) now_millis: i64,
}

/// What the customer can do after a payment that was not paid.
pub(crate) enum NextStep {
    /// Choose again: the link still takes payments.
    Again { url: String },
    /// Nothing: the link was paid by another payment.
    AlreadyPaid,
    /// Wait: another payment of the link is being processed.
    BeingPaid,
    /// Nothing: the merchant has cancelled the link.
    Withdrawn,
    /// Nothing that the page has not said already.
    Nothing,
    /// Ask the merchant for a new link.
    AskMerchant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnpaidReason {
    Expired,
    Failed,
    /// The customer replaced it by another payment.
    Replaced,
    /// The merchant cancelled its link.
    Withdrawn,
    /// Another payment has paid its link.
    Superseded,
    /// It was cancelled without any of these reasons being known.
    Cancelled,
}

/// `/p/<link_id>` of a link that takes no more payments.
#[derive(Template)]
#[template(path = "closed.html")]
pub(crate) struct Closed {
    pub(crate) frame: Frame,
    pub(crate) order: Order,
    pub(crate) reason: ClosedReason,
    pub(crate) looked: Looked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClosedReason {
    Cancelled,
    /// The link has expired, or its merchant takes no payments at the moment.
    Inactive,
    AlreadyPaid,
    /// Another payment of the link is being processed.
    BeingPaid,
    /// The merchant cannot take money yet by any method of the link.
    NoMethod,
}

/// `/p/<link_id>` after an attempt for which the link has no room at the moment.
#[derive(Template)]
#[template(path = "try_later.html")]
pub(crate) struct TryLater {
    pub(crate) frame: Frame,
    pub(crate) order: Order,
    /// When there may be room again.
    pub(crate) until: Moment,
    /// The link's page.
    pub(crate) url: String,
    /// The request's id, which the customer gives to support.
    pub(crate) support_reference: Option<String>,
}

/// The error page, with one next action.
#[derive(Template)]
#[template(path = "problem.html")]
pub(crate) struct Problem {
    pub(crate) frame: Frame,
    pub(crate) kind: ProblemKind,
    /// The request's id, which the customer gives to support. None on the 404 page, which is identical for all paths.
    pub(crate) support_reference: Option<String>,
    /// The target of the next action; none where there is no page to go back to.
    pub(crate) next_url: Option<String>,
}
