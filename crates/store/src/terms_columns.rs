//! The columns of a payment's terms. The tables `payments` and `openings` both have them, and what the checkout learnt about a
//! customer is both in `checkouts` and in `opening_attempts`. These columns are named, written and read here and nowhere else.

use domain::payment::{Checkout, Customer, Device, Location, PaymentTerms};

use crate::{
    error::StoreError,
    language_column, metadata_column,
    value::{Columns, Value},
};

/// Names of columns, each of which begins with `$of`: `"p."` in a query, nothing in an INSERT.
macro_rules! columns_of {
    ($of:literal, $first:literal $(, $more:literal)*) => {
        concat!($of, $first $(, ", ", $of, $more)*)
    };
}

/// The columns of terms, in the order of [`terms_values`] and [`terms`]. Macros instead of constants, so that `concat!` can build
/// statements at compile time.
macro_rules! terms_columns {
    ($of:literal) => {
        $crate::terms_columns::columns_of!(
            $of,
            "project_id",
            "link_id",
            "reference",
            "amount",
            "quantity",
            "fee",
            "method",
            "metadata",
            "return_url",
            "expires_at"
        )
    };
}

/// The columns of a checkout, in the order of [`checkout_values`] and [`checkout`].
macro_rules! checkout_columns {
    ($of:literal) => {
        $crate::terms_columns::columns_of!(
            $of,
            "customer_name",
            "customer_email",
            "customer_phone",
            "customer_address",
            "ip",
            "country",
            "device_kind",
            "device_os",
            "device_browser",
            "user_agent",
            "language"
        )
    };
}

pub(crate) use {checkout_columns, columns_of, terms_columns};

/// What is stored of terms. Their checkout has a row of its own.
pub(crate) fn terms_values(terms: PaymentTerms) -> [Value; 10] {
    let PaymentTerms {
        project_id,
        link_id,
        reference,
        amount,
        quantity,
        fee,
        method,
        checkout: _,
        metadata,
        return_url,
        expires_at,
    } = terms;
    [
        Value::stored(project_id),
        link_id.map(Value::stored).unwrap_or(Value::Null),
        reference.into(),
        amount.into(),
        quantity.into(),
        fee.into(),
        Value::stored(method),
        metadata.as_ref().map(metadata_column::written).into(),
        return_url.map(|url| url.as_str().to_owned()).into(),
        expires_at.into(),
    ]
}

/// Terms without their checkout.
pub(crate) fn terms(columns: &mut Columns<'_>) -> Result<PaymentTerms, StoreError> {
    Ok(PaymentTerms {
        project_id: columns.project_id()?,
        link_id: columns.optional_parsed()?,
        reference: columns.text()?,
        amount: columns.rupiah()?,
        quantity: columns.optional_integer()?,
        fee: columns.rupiah()?,
        method: columns.method()?,
        metadata: columns.metadata()?,
        return_url: columns.return_url()?,
        expires_at: columns.timestamp()?,
        checkout: None,
    })
}

pub(crate) fn checkout_values(checkout: Checkout) -> [Value; 11] {
    let Checkout { customer, location, device, language } = checkout;
    [
        customer.name.into(),
        customer.email.into(),
        customer.phone.into(),
        customer.address.into(),
        location.ip.into(),
        location.country.into(),
        device.kind.into(),
        device.os.into(),
        device.browser.into(),
        device.user_agent.into(),
        language.map(language_column::word).into(),
    ]
}

pub(crate) fn checkout(columns: &mut Columns<'_>) -> Result<Checkout, StoreError> {
    Ok(Checkout {
        customer: Customer {
            name: columns.text()?,
            email: columns.text()?,
            phone: columns.text()?,
            address: columns.text()?,
        },
        location: Location { ip: columns.optional_text()?, country: columns.optional_text()? },
        device: Device {
            kind: columns.optional_text()?,
            os: columns.optional_text()?,
            browser: columns.optional_text()?,
            user_agent: columns.optional_text()?,
        },
        language: columns.optional_word(language_column::read)?,
    })
}

#[cfg(test)]
mod tests {
    use domain::{id::mint, method::Method, money::Rupiah, time::Timestamp};

    use super::*;

    #[test]
    fn each_column_has_a_value() {
        let now = Timestamp::from_millis(1);
        let terms = PaymentTerms::direct(mint(now, [1; 10]), String::new(), Rupiah::new(1), Method::Qris, now);
        for (columns, values) in [
            (terms_columns!(""), terms_values(terms).len()),
            (checkout_columns!(""), checkout_values(Checkout::default()).len()),
        ] {
            assert_eq!(columns.split(", ").count(), values, "{columns}");
        }
    }
}
