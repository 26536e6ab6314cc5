//! Reads what banks notify us of: 25 and 34 for virtual accounts, 52 and 56 for QR codes. Whether to believe it is
//! decided by its signature, and not here.

use serde_json::Value;

use super::{
    codes::{About, NotificationKind, NotificationRead, Standing, Unreadable},
    parameters::Parameters,
    standing::{is_paid, qr_about, qr_money, qr_standing, qr_unreadable, va_about, va_money, va_unreadable},
};

/// What a notification says; none where it is no object, says nothing, or is about no money and no code.
pub fn read_notification(parameters: &Parameters, notice: NotificationKind, body: &Value) -> Option<NotificationRead> {
    body.as_object().filter(|members| !members.is_empty())?;
    let (about, standing, unreadable) = match notice {
        NotificationKind::QrNotify | NotificationKind::DebitNotify => {
            let standing = qr_standing(parameters, body, None);
            // Without a status it may be about money; status 00 is, also where it cannot be booked.
            let is_unreadable = standing.is_none() || (is_paid(body) && qr_money(parameters, body).is_none());
            let unreadable = is_unreadable.then(|| qr_unreadable(parameters, body));
            (qr_about(body), standing.unwrap_or(Standing::AskAgain), unreadable)
        }
        // These are sent of money alone. What they lack is asked for.
        NotificationKind::VaNotify | NotificationKind::VaPayment => match va_money(body) {
            Some(money) => (va_about(parameters, body), Standing::Paid(money), None),
            None => (va_about(parameters, body), Standing::AskAgain, Some(va_unreadable(body))),
        },
    };
    if about != About::default() {
        return Some(NotificationRead { about, standing, unreadable });
    }
    // It names no code that anybody could be asked about.
    let is_money = unreadable.is_some() || matches!(standing, Standing::Paid(_));
    is_money.then_some(NotificationRead { about, standing, unreadable: Some(Unreadable::Malformed) })
}
