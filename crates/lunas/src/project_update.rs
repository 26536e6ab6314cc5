//! `lunas project update`: checks the given settings against the project, and changes all of them in one commit.

use clap::Args;
use domain::{
    bank::Bank,
    event::EventKind,
    fee::FeeOverrides,
    method::Method,
    money::Rupiah,
    project::{MerchantProfile, Project, SuccessWord, checked_merchant, not_offered},
    rules::distinct,
};
use engine::{Engine, ProjectUpdate, addresses};

use crate::{error::CliError, options::WebhookTargets, project_refunds::RefundSettingOptions};

const BASIS_POINTS_MOST: i64 = 10_000;

#[derive(Args)]
pub(crate) struct UpdateOptions {
    /// The project's id, prj_….
    pub(crate) id: String,
    /// The URL that webhooks are sent to; it must be https in production. An empty one stops webhooks.
    #[arg(long, value_name = "URL")]
    webhook_url: Option<String>,
    #[command(flatten)]
    pub(crate) targets: WebhookTargets,
    /// Also send events of this type: payment.expired, payment.cancelled, payment.held, refund.requires_action, refund.succeeded,
    /// refund.failed, refund.cancelled or refund.returned. It may be repeated; the given types replace the list, and a single
    /// empty one clears it.
    #[arg(long = "extra-event", value_name = "TYPE", value_parser = extra_event)]
    extra_events: Option<Vec<ExtraEvent>>,
    /// Let web pages of this origin call the API. It may be repeated; the given origins replace the list, and a single empty one
    /// clears it.
    #[arg(long = "allow-origin", value_name = "ORIGIN")]
    allow_origins: Option<Vec<String>>,
    /// Let web pages of this origin show the checkout in a frame. It may be repeated; the given origins replace the list, and a
    /// single empty one clears it.
    #[arg(long = "frame-origin", value_name = "ORIGIN")]
    frame_origins: Option<Vec<String>>,
    /// Approve a production project, so that its keys work.
    #[arg(long)]
    approve: bool,
    /// Whether the project's keys work at all: true or false.
    #[arg(long, value_name = "TRUE_OR_FALSE", action = clap::ArgAction::Set)]
    active: Option<bool>,
    /// The status of paid payments in the API and in events: paid or succeeded.
    #[arg(long, value_name = "WORD", value_parser = success_word)]
    success_status: Option<SuccessWord>,
    /// The name that customers see.
    #[arg(long, value_name = "NAME")]
    merchant_name: Option<String>,
    /// The merchant's city in QRIS codes.
    #[arg(long, value_name = "CITY")]
    merchant_city: Option<String>,
    /// The merchant's postal code in QRIS codes, five digits.
    #[arg(long, value_name = "DIGITS")]
    merchant_postal_code: Option<String>,
    /// This project's own fee on QRIS payments, in hundredths of a percent; `default` restores the installation's fee.
    #[arg(long, value_name = "POINTS", value_parser = basis_points)]
    fee_qris_basis_points: Option<OwnFee>,
    /// This project's own fee on virtual account payments, in rupiah; `default` restores the installation's fee.
    #[arg(long, value_name = "RUPIAH", value_parser = rupiah)]
    fee_virtual_account: Option<OwnFee>,
    /// Offer virtual accounts of this bank, such as bca. It may be repeated; the given banks replace the list.
    #[arg(long = "bank", value_name = "CODE", value_parser = bank)]
    banks: Option<Vec<Bank>>,
    /// A payment method of links that name none: qris, or virtual_account:bca. It may be repeated; the given methods replace the list.
    #[arg(long = "default-method", value_name = "METHOD", value_parser = method)]
    default_methods: Option<Vec<Method>>,
    #[command(flatten)]
    refunds: RefundSettingOptions,
}

/// The project's own fee, or none for the installation's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OwnFee(Option<i64>);

/// A type of extra events; none to clear the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ExtraEvent(Option<EventKind>);

fn extra_event(word: &str) -> Result<ExtraEvent, String> {
    if word.is_empty() {
        return Ok(ExtraEvent(None));
    }
    let kind = EventKind::parse_extra(word);
    kind.map(|kind| ExtraEvent(Some(kind)))
        .ok_or_else(|| format!("the types are {}", EventKind::EXTRA.map(EventKind::word).join(", ")))
}

fn success_word(word: &str) -> Result<SuccessWord, String> {
    SuccessWord::parse(word).ok_or_else(|| "it must be `paid` or `succeeded`".to_owned())
}

fn basis_points(text: &str) -> Result<OwnFee, String> {
    own_fee(text, BASIS_POINTS_MOST)
}

fn rupiah(text: &str) -> Result<OwnFee, String> {
    own_fee(text, Rupiah::MAX.get())
}

fn own_fee(text: &str, most: i64) -> Result<OwnFee, String> {
    if text == "default" {
        return Ok(OwnFee(None));
    }
    let fee = text.parse().ok().filter(|fee| (0..=most).contains(fee));
    fee.map(|fee| OwnFee(Some(fee))).ok_or_else(|| format!("it must be a whole number from 0 to {most}, or `default`"))
}

fn bank(code: &str) -> Result<Bank, String> {
    let codes = || Bank::ALL.map(Bank::code).join(", ");
    Bank::from_code(code).ok_or_else(|| format!("the banks are {}", codes()))
}

fn method(text: &str) -> Result<Method, String> {
    Method::parse(text).ok_or_else(|| "it must be `qris`, or `virtual_account:` followed by a bank's code".to_owned())
}

pub(crate) async fn update(options: UpdateOptions, project: Project, engine: &Engine) -> Result<Project, CliError> {
    let id = project.id;
    let update = checked(options, project).map_err(CliError::new)?;
    Ok(engine.update_project(id, update).await?)
}

/// The change that the options ask for, or the rule that they break.
fn checked(options: UpdateOptions, project: Project) -> Result<ProjectUpdate, String> {
    let fees = changed_fees(&options, project.fees);
    let merchant = changed_merchant(&options, &project.merchant)?;
    let banks = options.banks.map(distinct);
    let offered = banks.as_ref().unwrap_or(&project.banks);
    let default_methods = options.default_methods.map(distinct);
    if let Some(method) = default_methods.as_deref().and_then(|methods| not_offered(methods, offered)) {
        return Err(format!("the project does not offer {method}; add its bank with --bank first"));
    }
    Ok(ProjectUpdate {
        merchant,
        active: options.active,
        approved: options.approve.then_some(true),
        success_word: options.success_status,
        // The engine checks whether webhooks may be sent there when it saves the URL.
        webhook_url: options.webhook_url.map(|url| Some(url).filter(|url| !url.is_empty())),
        extra_events: options.extra_events.map(|events| distinct(events.iter().filter_map(|event| event.0).collect())),
        fees,
        allowed_origins: options
            .allow_origins
            .as_deref()
            .map(addresses::origins)
            .transpose()
            .map_err(|wrong| wrong.to_string())?,
        frame_origins: options
            .frame_origins
            .as_deref()
            .map(|origins| addresses::frame_origins(origins, project.environment))
            .transpose()
            .map_err(|wrong| wrong.to_string())?,
        banks,
        default_methods,
        refunds: options.refunds.changed(project.refunds),
        // A shop's face is set in the dashboard.
        ..ProjectUpdate::default()
    })
}

fn changed_fees(options: &UpdateOptions, fees: FeeOverrides) -> Option<FeeOverrides> {
    let (qris, account) = (options.fee_qris_basis_points, options.fee_virtual_account);
    (qris.is_some() || account.is_some()).then(|| FeeOverrides {
        qris_basis_points: qris.map_or(fees.qris_basis_points, |fee| fee.0),
        virtual_account: account.map_or(fees.virtual_account, |fee| fee.0.map(Rupiah::new)),
    })
}

fn changed_merchant(options: &UpdateOptions, merchant: &MerchantProfile) -> Result<Option<MerchantProfile>, String> {
    let or = |given: &Option<String>, now: &String| given.as_ref().unwrap_or(now).clone();
    let changed = MerchantProfile {
        name: or(&options.merchant_name, &merchant.name),
        city: or(&options.merchant_city, &merchant.city),
        postal_code: or(&options.merchant_postal_code, &merchant.postal_code),
    };
    if changed == *merchant {
        return Ok(None);
    }
    checked_merchant(changed).map(Some).map_err(|invalid| invalid.to_string())
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use domain::{
        id::{ENTROPY_BYTES, mint},
        project::{Environment, initial_default_methods},
        time::Timestamp,
    };

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: UpdateOptions,
    }

    fn project(environment: Environment) -> Project {
        let now = Timestamp::from_millis(1);
        Project {
            id: mint(now, [1; ENTROPY_BYTES]),
            name: "Toko".to_owned(),
            environment,
            merchant: MerchantProfile {
                name: "Toko".to_owned(),
                city: "SOLO".to_owned(),
                postal_code: "57111".to_owned(),
            },
            active: true,
            approved: true,
            success_word: SuccessWord::Paid,
            webhook_url: None,
            extra_events: Vec::new(),
            face: domain::face::Face::default(),
            fees: FeeOverrides { qris_basis_points: Some(30), virtual_account: None },
            banks: vec![Bank::Bca],
            default_methods: initial_default_methods(),
            frame_origins: Vec::new(),
            refunds: domain::refund_settings::RefundSettings::default(),
            accounts: Vec::new(),
            created_at: now,
            version: 1,
        }
    }

    fn read(environment: Environment, arguments: &[&str]) -> Result<ProjectUpdate, String> {
        let line =
            Line::try_parse_from(["update", "prj_1"].iter().chain(arguments)).map_err(|error| error.to_string())?;
        checked(line.options, project(environment))
    }

    #[test]
    fn only_given_settings_change() {
        let update = read(Environment::Sandbox, &[]).unwrap();
        assert!(update.merchant.is_none() && update.active.is_none() && update.approved.is_none());
        assert!(update.webhook_url.is_none() && update.fees.is_none() && update.allowed_origins.is_none());
        assert!(update.banks.is_none() && update.default_methods.is_none() && update.success_word.is_none());
        let update = read(Environment::Sandbox, &["--merchant-city", "BOGOR", "--fee-virtual-account", "0"]).unwrap();
        assert_eq!(update.merchant.unwrap().name, "Toko");
        let fees = FeeOverrides { qris_basis_points: Some(30), virtual_account: Some(Rupiah::ZERO) };
        assert_eq!(update.fees, Some(fees));
        let update = read(Environment::Sandbox, &["--fee-qris-basis-points", "default"]).unwrap();
        assert_eq!(update.fees, Some(FeeOverrides::default()));
    }

    #[test]
    fn lists_are_replaced_and_empty_values_clear() {
        let arguments =
            ["--allow-origin", "https://b.example", "--allow-origin=https://a.example", "--webhook-url", ""];
        let update = read(Environment::Sandbox, &arguments).unwrap();
        assert_eq!(update.allowed_origins.unwrap(), ["https://b.example", "https://a.example"]);
        assert_eq!(update.webhook_url, Some(None));
        let local = ["--frame-origin", "http://localhost:3000"];
        assert_eq!(read(Environment::Sandbox, &local).unwrap().frame_origins.unwrap(), [local[1]]);
        assert!(read(Environment::Production, &local).is_err_and(|why| why.contains("https://")));
        assert_eq!(read(Environment::Production, &["--frame-origin", ""]).unwrap().frame_origins, Some(Vec::new()));
        let arguments =
            ["--extra-event", "payment.held", "--extra-event=payment.expired", "--extra-event=payment.held"];
        let update = read(Environment::Sandbox, &arguments).unwrap();
        assert_eq!(update.extra_events.unwrap(), [EventKind::PaymentHeld, EventKind::PaymentExpired]);
        assert_eq!(read(Environment::Sandbox, &["--extra-event", ""]).unwrap().extra_events, Some(Vec::new()));
        assert_eq!(read(Environment::Sandbox, &["--allow-origin", ""]).unwrap().allowed_origins, Some(Vec::new()));
    }

    #[test]
    fn settings_that_break_a_rule_are_refused() {
        for arguments in [
            &["--allow-origin", "https://shop.example/path"][..],
            &["--merchant-name", ""],
            &["--merchant-city", "a\u{7}"],
            &["--merchant-postal-code", "1011"],
            &["--fee-qris-basis-points", "10001"],
            &["--fee-virtual-account=-1"],
            &["--bank", "xyz"],
            &["--default-method", "virtual_account:bni"],
            &["--default-method", "cash"],
            &["--active", "maybe"],
            &["--success-status", "done"],
            &["--extra-event", "payment.paid"],
        ] {
            assert!(read(Environment::Production, arguments).is_err(), "{arguments:?}");
        }
        let both = ["--bank", "bni", "--default-method", "virtual_account:bni", "--default-method", "qris"];
        assert!(read(Environment::Production, &both).is_ok());
    }
}
