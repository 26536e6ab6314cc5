//! The settings that an account has in the end, as they would be written: those of its profile, changed by its own.

use std::ops::RangeInclusive;

use super::parameters::Parameters;

impl Parameters {
    /// The name and the value of every setting that has one.
    pub fn in_force(&self) -> Vec<(String, String)> {
        let optional = |value: &Option<String>| value.clone().unwrap_or_default();
        let plain = [
            ("partner_service_id", optional(&self.partner_service_id)),
            ("base_url", self.base_url.as_ref().map(ToString::to_string).unwrap_or_default()),
            ("merchant_id", optional(&self.merchant_id)),
            ("terminal_id", optional(&self.terminal_id)),
            ("store_id", optional(&self.store_id)),
            ("codes", self.codes.word().to_owned()),
            ("numbers", self.numbers.word().to_owned()),
            ("status_delay", self.status_delay.as_secs().to_string()),
            ("service_code", self.service_code.clone()),
            ("receipt", self.receipt.word().to_owned()),
            ("qr_info", self.qr_info.to_string()),
            ("va_info", self.va_info.to_string()),
            ("grant_member", self.grant_member.word().to_owned()),
            ("hosting", self.hosting.word().to_owned()),
            ("sign_in", self.sign_in.word().to_owned()),
            ("asks_token", yes_or_no(self.asks_token)),
            ("bare_token", yes_or_no(self.bare_token)),
            ("sign_out", self.sign_out.word().to_owned()),
            ("signature_encoding", self.signature_encoding.word().to_owned()),
            ("precision", self.precision.word().to_owned()),
            ("external_id", self.external_id.to_string()),
            ("channel_id", self.channel_id.to_string()),
            ("partner_id", self.partner_id.to_string()),
            ("customer_digits", self.customer_digits.to_string()),
            ("number_digits", range(&self.number_digits, ToString::to_string)),
            ("customer_no", self.customer_no.word().to_owned()),
            ("service_id_padding", self.service_id_padding.word().to_owned()),
            ("payment_needs", self.payment_needs.to_string()),
            ("amounts", range(&self.amounts, |amount| amount.get().to_string())),
            ("validity", range(&self.validity, |life| life.as_secs().to_string())),
            ("deadline", self.deadline.as_secs().to_string()),
            ("skew", self.skew.as_secs().to_string()),
            ("ips", self.networks()),
            ("name_max", self.name_max.to_string()),
            ("request_id_max", self.request_id_max.to_string()),
            ("query_key", self.query_key.word().to_owned()),
            ("retry", self.retry.word().to_owned()),
            ("repeat", self.repeat.word().to_owned()),
            ("undecided", self.undecided.word().to_owned()),
            ("notify_retries", yes_or_no(self.notify_retries)),
            ("refusal_reverses", yes_or_no(self.refusal_reverses)),
            ("full_answers", yes_or_no(self.full_answers)),
            ("void", yes_or_no(self.void)),
            ("token_type", self.token_type.clone()),
            ("inquiry_expired", self.inquiry_expired.to_string()),
            ("bad_data", self.bad_data.to_string()),
        ];
        let paths = self.paths.iter().map(|(service, path)| (format!("path.{}", service.word()), path.clone()));
        let methods = self
            .methods
            .iter()
            .map(|(service, method)| (format!("method.{}", service.word()), method.word().to_owned()));
        let of_sending = self.transfers.in_force().into_iter().chain(self.refunds.in_force());
        let plain = plain.into_iter().chain(of_sending).map(|(name, value)| (name.to_owned(), value));
        plain.chain(paths).chain(methods).filter(|(_, value)| !value.is_empty()).collect()
    }

    fn networks(&self) -> String {
        let networks: Vec<String> = self.ips.iter().map(ToString::to_string).collect();
        if networks.is_empty() { "any".to_owned() } else { networks.join(",") }
    }
}

fn yes_or_no(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}

fn range<T>(range: &RangeInclusive<T>, write: impl Fn(&T) -> String) -> String {
    format!("{}..{}", write(range.start()), write(range.end()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::snap::{Profile, known_settings};

    #[test]
    fn every_setting_that_has_a_value_is_in_force() {
        for profile in Profile::all() {
            let own = [
                ("partner_service_id", "88899"),
                ("base_url", "https://api.bank.test/prefix"),
                ("merchant_id", "M1"),
                ("terminal_id", "T1"),
                ("store_id", "S1"),
                ("ips", "203.0.113.0/24,198.51.100.7"),
                ("partner_id", "SHOP"),
                ("external_id", "digits:9"),
                ("method.status", "GET"),
                ("path.token", "/v1.0/access-token/b2b"),
                ("source_account", "1234567890"),
                ("own_bank", "014"),
            ];
            let own: BTreeMap<String, String> =
                own.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            let parameters = profile.parameters(&own).unwrap();
            let shown: BTreeMap<String, String> = parameters.in_force().into_iter().collect();
            // Services are shown where they have a path or a method of their own; everything else always is.
            let missing: Vec<String> = known_settings()
                .map(|(name, _)| name)
                .filter(|name| !name.contains('.') && !shown.contains_key(name))
                .collect();
            assert_eq!(missing, [""; 0], "{}", profile.name);
        }
    }
}
