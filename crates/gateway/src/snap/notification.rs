//! Reads what banks notify us of: 25 and 34 for virtual accounts, 52 and 56 for QR codes. Whether to believe it is
//! decided by its signature, and not here.

use serde_json::Value;

use super::{
    codes::{About, Heard, Notice, Standing},
    parameters::Parameters,
    standing::{qr_about, qr_standing, va_about, va_money},
};

/// What a notification says; none where it names no code of ours or no status.
pub fn read_notification(parameters: &Parameters, notice: Notice, body: &Value) -> Option<Heard> {
    let (about, standing) = match notice {
        Notice::QrNotify | Notice::DebitNotify => (qr_about(body), qr_standing(parameters, body, None)?),
        // These are sent of money alone. What they lack is asked for.
        Notice::VaNotify | Notice::VaPayment => {
            (va_about(parameters, body), va_money(body).map_or(Standing::AskAgain, Standing::Paid))
        }
    };
    (about != About::default()).then_some(Heard { about, standing })
}
