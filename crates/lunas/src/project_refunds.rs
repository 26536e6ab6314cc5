//! What `lunas project update` sets about refunds.

use clap::Args;
use domain::{money::Rupiah, refund::RefundSettings};

#[derive(Args)]
pub(crate) struct RefundSettingOptions {
    /// Have refunds above this amount wait for another person's approval; `none` lets all go.
    #[arg(long, value_name = "RUPIAH", value_parser = limit)]
    refund_approval_above: Option<Limit>,
    /// Whether refunds to an account that was named with an API key wait for an approval: true, false, or `default`, which is
    /// true in production alone.
    #[arg(long, value_name = "TRUE_OR_FALSE", value_parser = choice)]
    refund_key_accounts_wait: Option<Choice>,
    /// Whether the fee of a payment is given back to the merchant when the payment is refunded: true or false.
    #[arg(long, value_name = "TRUE_OR_FALSE", action = clap::ArgAction::Set)]
    refund_returns_fee: Option<bool>,
}

/// An amount; none for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limit(Option<Rupiah>);

/// Yes or no; none for what is usual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Choice(Option<bool>);

fn limit(text: &str) -> Result<Limit, String> {
    if text == "none" {
        return Ok(Limit(None));
    }
    let amount = text.parse().ok().filter(|amount| (0..=Rupiah::MAX.get()).contains(amount));
    let rule = || format!("it must be a whole number from 0 to {}, or `none`", Rupiah::MAX.get());
    amount.map(|amount| Limit(Some(Rupiah::new(amount)))).ok_or_else(rule)
}

fn choice(text: &str) -> Result<Choice, String> {
    match text {
        "default" => Ok(Choice(None)),
        "true" => Ok(Choice(Some(true))),
        "false" => Ok(Choice(Some(false))),
        _ => Err("it must be true, false or `default`".to_owned()),
    }
}

impl RefundSettingOptions {
    /// The settings with what was given changed; none if nothing was.
    pub(crate) fn changed(&self, now: RefundSettings) -> Option<RefundSettings> {
        let changed = RefundSettings {
            approval_above: self.refund_approval_above.map_or(now.approval_above, |limit| limit.0),
            key_destination_needs_approval: self
                .refund_key_accounts_wait
                .map_or(now.key_destination_needs_approval, |choice| choice.0),
            returns_fee: self.refund_returns_fee.unwrap_or(now.returns_fee),
        };
        (changed != now).then_some(changed)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: RefundSettingOptions,
    }

    fn read(arguments: &[&str], now: RefundSettings) -> Option<RefundSettings> {
        let line = Line::try_parse_from(["update"].iter().chain(arguments));
        line.unwrap_or_else(|error| panic!("{error}")).options.changed(now)
    }

    #[test]
    fn only_given_settings_change_and_each_can_be_taken_back() {
        let usual = RefundSettings::default();
        assert_eq!(read(&[], usual), None);
        let limited = RefundSettings { approval_above: Some(Rupiah::new(50_000)), ..usual };
        assert_eq!(read(&["--refund-approval-above", "50000"], usual), Some(limited));
        assert_eq!(read(&["--refund-approval-above", "none"], limited), Some(usual));
        let open = RefundSettings { key_destination_needs_approval: Some(false), ..limited };
        assert_eq!(read(&["--refund-key-accounts-wait", "false"], limited), Some(open));
        assert_eq!(read(&["--refund-key-accounts-wait", "default"], open), Some(limited));
        let returned = RefundSettings { returns_fee: true, ..usual };
        assert_eq!(read(&["--refund-returns-fee", "true"], usual), Some(returned));
        for wrong in
            [["--refund-approval-above", "-1"], ["--refund-approval-above", "1.5"], ["--refund-key-accounts-wait", "x"]]
        {
            assert!(Line::try_parse_from(["update"].iter().chain(&wrong)).is_err(), "{wrong:?}");
        }
    }
}
