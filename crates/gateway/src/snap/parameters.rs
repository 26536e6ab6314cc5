//! In what one bank's contract differs from another's: a profile's values, changed by an account's settings. The
//! comments here say how each setting is written; `settings` reads them.

use std::{collections::BTreeMap, net::IpAddr, ops::RangeInclusive, time::Duration};

use domain::{destination::Rail, money::Rupiah};
use ipnet::IpNet;
use url::Url;

use super::{
    codes::CodeKind,
    extra_members::ExtraMembers,
    payment_needs::PaymentNeeds,
    sending::{Refunds, Transfers},
    values::{
        ChannelIds, Codes, CustomerNo, Encoding, ExternalId, GrantMember, Hosting, HttpMethod, Numbers, Padding,
        PartnerId, Precision, QueryKey, ReceiptMember, RefundWay, Repeat, ResponseCase, Retry, Service, SignIn,
        SignOut, Undecided,
    },
};

/// What banks are known to write before a token, in capitals or not.
const SCHEMES: [&str; 2] = ["Bearer", "BearerToken"];

/// All that the code needs to know about a contract with a bank, but for keys and secrets.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// `codes=va|qris|both|none`: which codes the account issues, of those that its profile serves.
    pub codes: Codes,
    /// `hosting=ours|theirs`: where virtual accounts live. QR codes always live at the bank.
    pub hosting: Hosting,
    /// `numbers=ours|theirs`: who chooses the number of a virtual account that the bank hosts.
    pub numbers: Numbers,
    /// `path.SERVICE=/openapi/v1.0/access-token/b2b`: where a service is below `base_url`. Services: see [`Service`].
    pub paths: BTreeMap<Service, String>,
    /// `method.SERVICE=GET|POST|PUT|DELETE`, where it is not the standard's.
    pub methods: BTreeMap<Service, HttpMethod>,
    /// `sign_out=none|type1|type2`: how our calls are signed.
    pub sign_out: SignOut,
    /// `signature_encoding=base64|hex`: how our HMACs are written. Those that we get are read in both.
    pub signature_encoding: Encoding,
    /// `sign_in=type1|type2|client_ts`: how the bank's calls are signed.
    pub sign_in: SignIn,
    /// `asks_token=yes|no`: whether the bank first asks us for a token. One that signs by type 1 always does.
    pub asks_token: bool,
    /// `bare_token=yes|no`: whether Authorization may have the token alone, without `Bearer` before it.
    pub bare_token: bool,
    /// `precision=seconds|milliseconds`: how we write X-TIMESTAMP.
    pub precision: Precision,
    /// `external_id=digits:N|numeric:N|alnum:N|reference`: the form of X-EXTERNAL-ID.
    pub external_id: ExternalId,
    /// `channel_id=any`, or ids such as `95231`, `60xx,6199` or `00001-00009`: the form of CHANNEL-ID.
    pub channel_id: ChannelIds,
    /// `partner_id=any|service_id|TEXT`: what stands in X-PARTNER-ID.
    pub partner_id: PartnerId,
    /// `customer_digits=11`: how many digits of a number we allot, after the partner service id. 6 to 18, and at most
    /// what the bank allows.
    pub customer_digits: u32,
    /// `number_digits=17..19`: how long the bank allows the whole number to be, without padding.
    pub number_digits: RangeInclusive<usize>,
    /// `customer_no=rest|any`: what customerNo holds where the bank writes it: the customer's part of a number, or that or
    /// the whole number.
    pub customer_no: CustomerNo,
    /// `service_id_padding=spaces|any`: with what the bank pads partnerServiceId: spaces, or spaces or zeros.
    pub service_id_padding: Padding,
    /// `payment_needs=none`, or members such as `totalAmount,trxDateTime`: what the bank's own papers say that a payment
    /// request always has. One without them is refused, and the bank gives the money back; what is not named here may be
    /// missing.
    pub payment_needs: PaymentNeeds,
    /// `name_max=30`: how many characters of a name the bank takes. 1 to 255.
    pub name_max: usize,
    /// `request_id_max=30`: how many characters inquiryRequestId and paymentRequestId may have. 1 to 128.
    pub request_id_max: usize,
    /// `query_key=ours|theirs|number`: by what the bank finds a transaction.
    pub query_key: QueryKey,
    /// `status_delay=60`: how many seconds after a payment a query tells of it at the latest. 0 to 600.
    pub status_delay: Duration,
    /// `service_code=47`: what queries about a QR name as the service that has made it.
    pub service_code: String,
    /// `receipt=bank_reference|rrn|payment_reference`: which member names the receipt of a QR's money.
    pub receipt: ReceiptMember,
    /// `qr_info=acquirer:gopay`: members of additionalInfo when a QR is made.
    pub qr_info: ExtraMembers,
    /// `va_info=channel:VIRTUAL_ACCOUNT_BCA`: members of additionalInfo in calls about a virtual account.
    pub va_info: ExtraMembers,
    /// `grant_member=grantType|grant_type`: how the body of a token request names the grant.
    pub grant_member: GrantMember,
    /// `retry=same|fresh|query_first`: what to do when the outcome of creating a code is unknown.
    pub retry: Retry,
    /// `repeat=4042518|stored`: what a repeated payment request is answered.
    pub repeat: Repeat,
    /// `undecided=2022500|silence|5xx`: what the bank is told when it is not known whether its money is booked. It must not
    /// make the bank give the money back.
    pub undecided: Undecided,
    /// `notify_retries=yes|no`: whether the bank repeats a notification that failed. If not, we must ask.
    pub notify_retries: bool,
    /// `deadline=10`: seconds within which the bank wants our answer. 1 to 25.
    pub deadline: Duration,
    /// `validity=60..2592000`: the shortest and the longest life of a code, in seconds. At most 366 days.
    pub validity: RangeInclusive<Duration>,
    /// `amounts=10000..50000000`: the smallest and the largest amount, in whole rupiah.
    pub amounts: RangeInclusive<Rupiah>,
    /// `void=yes|no`: whether a code can be voided by a call.
    pub void: bool,
    /// How money is given back by a call; see [`Refunds`].
    pub refunds: Refunds,
    /// How money is sent to bank accounts; see [`Transfers`].
    pub transfers: Transfers,
    /// `token_type=Bearer`: what our token answers call their tokens. Letters.
    pub token_type: String,
    /// `skew=300`: how many seconds the bank's clock may be off. 30 to 900.
    pub skew: Duration,
    /// `ips=any`, or addresses and networks such as `203.0.113.0/24,198.51.100.7`: where the bank's calls come from.
    /// Empty: anywhere.
    pub ips: Vec<IpNet>,
    /// `refusal_reverses=yes|no`: whether the bank gives the money back when we answer flag 01.
    pub refusal_reverses: bool,
    /// `full_answers=yes|no`: whether refusals of malformed requests, too, must have status and reason filled in.
    pub full_answers: bool,
    /// `inquiry_expired=404xx19`: the code for an inquiry about an expired bill.
    pub inquiry_expired: ResponseCase,
    /// `bad_data=400xx01`: the code for a member with a bad value.
    pub bad_data: ResponseCase,
    /// `base_url=https://…`: where we call the bank. A path before the services' paths is part of what is signed.
    pub base_url: Option<Url>,
    /// `partner_service_id=88899`: 1 to 8 digits, without padding. Every number begins with it.
    pub partner_service_id: Option<String>,
    /// `merchant_id=TEXT`
    pub merchant_id: Option<String>,
    /// `terminal_id=TEXT`
    pub terminal_id: Option<String>,
    /// `store_id=TEXT`
    pub store_id: Option<String>,
    /// Which of `merchant_id`, `terminal_id` and `store_id` the bank needs for a QR. The profile says so.
    pub(super) qr_needs: &'static [&'static str],
}

impl Parameters {
    /// What the standard says, and where it is silent, what is safe: profiles name what differs from this.
    pub(super) fn standard() -> Parameters {
        Parameters {
            codes: Codes::Va,
            hosting: Hosting::Ours,
            numbers: Numbers::Ours,
            paths: BTreeMap::new(),
            methods: BTreeMap::new(),
            sign_out: SignOut::None,
            signature_encoding: Encoding::Base64,
            sign_in: SignIn::Type1,
            asks_token: false,
            bare_token: false,
            precision: Precision::Seconds,
            external_id: ExternalId::Alnum(ExternalId::LENGTH_MOST),
            channel_id: ChannelIds::default(),
            partner_id: PartnerId::Any,
            customer_digits: 11,
            number_digits: 1..=28,
            customer_no: CustomerNo::Any,
            service_id_padding: Padding::Any,
            payment_needs: PaymentNeeds::default(),
            name_max: 255,
            request_id_max: 128,
            query_key: QueryKey::Number,
            status_delay: Duration::ZERO,
            service_code: "47".to_owned(),
            receipt: ReceiptMember::Bank,
            qr_info: ExtraMembers::default(),
            va_info: ExtraMembers::default(),
            grant_member: GrantMember::Camel,
            retry: Retry::QueryFirst,
            // Every bank books on the answer that it did not read; what it does on 4042518 must be known from the bank.
            repeat: Repeat::Stored,
            undecided: Undecided::InProgress,
            notify_retries: true,
            deadline: Duration::from_secs(10),
            // A number that we host ends with the link that it pays, however soon that is.
            validity: Duration::from_secs(1)..=Duration::from_hours(30 * 24),
            amounts: Rupiah::new(10_000)..=Rupiah::MAX,
            void: false,
            refunds: Refunds::default(),
            transfers: Transfers::default(),
            token_type: "Bearer".to_owned(),
            skew: Duration::from_mins(5),
            ips: Vec::new(),
            refusal_reverses: true,
            full_answers: false,
            inquiry_expired: ResponseCase::new(404, 19),
            bad_data: ResponseCase::new(400, 1),
            base_url: None,
            partner_service_id: None,
            merchant_id: None,
            terminal_id: None,
            store_id: None,
            qr_needs: &["merchant_id"],
        }
    }

    /// The settings that an account must be given before it can take money.
    pub fn missing(&self) -> Vec<&'static str> {
        // Where we host the numbers, the bank calls us and no call of ours is needed.
        let (creates_va, creates_qr) = (self.codes.has_va() && self.hosting == Hosting::Theirs, self.codes.has_qris());
        let we_call = self.calls_bank();
        let lacks = |service| !self.paths.contains_key(&service);
        let lacks_both = |one, other| lacks(one) && lacks(other);
        let id = |name: &'static str, value: &Option<String>| {
            (name, creates_qr && value.is_none() && self.qr_needs.contains(&name))
        };
        let needed = [
            ("partner_service_id", self.codes.has_va() && self.partner_service_id.is_none()),
            id("merchant_id", &self.merchant_id),
            id("terminal_id", &self.terminal_id),
            id("store_id", &self.store_id),
            ("base_url", we_call && self.base_url.is_none()),
            ("sign_out", we_call && self.sign_out == SignOut::None),
            ("path.token", we_call && self.sign_out == SignOut::Type1 && lacks(Service::Token)),
            ("path.create_va", creates_va && lacks(Service::CreateVa)),
            ("path.status", creates_va && lacks(Service::Status)),
            ("path.delete_va", creates_va && self.void && lacks(Service::DeleteVa)),
            ("path.qr_generate", creates_qr && lacks(Service::QrGenerate)),
            ("path.qr_query", creates_qr && lacks_both(Service::QrQuery, Service::DebitStatus)),
            ("path.qr_cancel", creates_qr && self.void && lacks_both(Service::QrCancel, Service::DebitCancel)),
        ];
        let needed = needed.into_iter().chain(self.needs_of_transfers()).chain([
            ("path.qr_refund", creates_qr && self.refunds.way == RefundWay::Qr && lacks(Service::QrRefund)),
            ("path.debit_refund", creates_qr && self.refunds.way == RefundWay::Debit && lacks(Service::DebitRefund)),
        ]);
        needed.filter(|(_, is_missing)| *is_missing).map(|(name, _)| name).collect()
    }

    fn needs_of_transfers(&self) -> impl Iterator<Item = (&'static str, bool)> {
        let rails = &self.transfers.rails;
        let lacks = |service| !self.paths.contains_key(&service);
        let by_switch = rails.has(Rail::BiFast) || rails.has(Rail::Online);
        let between_banks = by_switch || rails.has(Rail::Skn) || rails.has(Rail::Rtgs);
        let by_bank = between_banks || rails.has(Rail::Intrabank);
        let (within_bank, by_wallet) = (rails.has(Rail::Intrabank), rails.has(Rail::Wallet));
        [
            ("source_account", !rails.is_empty() && self.transfers.source_account.is_none()),
            // Without it nobody knows which destinations are at the bank itself.
            ("own_bank", by_bank && self.transfers.own_bank.is_none()),
            ("path.account_internal", within_bank && lacks(Service::AccountInternal)),
            ("path.transfer_intrabank", within_bank && lacks(Service::TransferIntrabank)),
            ("path.account_external", between_banks && lacks(Service::AccountExternal)),
            ("path.transfer_interbank", by_switch && lacks(Service::TransferInterbank)),
            ("path.transfer_rtgs", rails.has(Rail::Rtgs) && lacks(Service::TransferRtgs)),
            ("path.transfer_skn", rails.has(Rail::Skn) && lacks(Service::TransferSkn)),
            ("path.transfer_status", by_bank && lacks(Service::TransferStatus)),
            ("path.wallet_inquiry", by_wallet && lacks(Service::WalletInquiry)),
            ("path.wallet_transfer", by_wallet && lacks(Service::WalletTransfer)),
            ("path.wallet_status", by_wallet && lacks(Service::WalletStatus)),
        ]
        .into_iter()
    }

    /// Whether the account issues codes by calling the bank, for which it needs our key and what we show the bank.
    pub fn issues_by_call(&self) -> bool {
        self.codes.has_qris() || (self.codes.has_va() && self.hosting == Hosting::Theirs)
    }

    /// Whether the account can be used only if we call the bank: for codes, or to send money.
    pub fn calls_bank(&self) -> bool {
        self.issues_by_call() || !self.transfers.rails.is_empty()
    }

    /// Whether the account issues codes whose money the bank asks us to take, or tells us of.
    pub fn takes_money(&self) -> bool {
        self.codes != Codes::None
    }

    /// Whether the bank tells us later what became of transfers by this rail (75, 76).
    pub fn tells_of_transfers(&self, rail: Rail) -> bool {
        matches!(rail, Rail::Skn | Rail::Rtgs) && self.transfers.rails.has(rail)
    }

    /// Whether the bank calls us: about money for us, or about transfers of ours.
    pub fn is_told(&self) -> bool {
        self.takes_money() || [Rail::Skn, Rail::Rtgs].into_iter().any(|rail| self.tells_of_transfers(rail))
    }

    /// The service by which the money of a QR is given back; none where the bank has none.
    pub fn refund_service(&self) -> Option<Service> {
        match self.refunds.way {
            RefundWay::None => None,
            RefundWay::Qr => Some(Service::QrRefund),
            RefundWay::Debit => Some(Service::DebitRefund),
        }
    }

    /// CHANNEL-ID in calls of a service.
    pub(super) fn channel_of(&self, service: Service) -> Option<&str> {
        let of_transfers = self.transfers.channel_id.as_deref().filter(|_| service.is_of_transfers());
        of_transfers.or_else(|| self.channel_id.to_send())
    }

    /// X-PARTNER-ID in calls of a service; none where our client id is sent.
    pub(super) fn partner_id_of(&self, service: Service) -> Option<&str> {
        let of_transfers = self.transfers.partner_id.as_deref().filter(|_| service.is_of_transfers());
        of_transfers.or_else(|| self.partner_id())
    }

    /// Whether the bank asks us for a token, for which it needs a client id and a secret of ours.
    pub fn takes_token(&self) -> bool {
        self.is_told() && (self.sign_in == SignIn::Type1 || self.asks_token)
    }

    /// Whether Authorization may have this word before the token: banks write it in several ways.
    pub fn knows_scheme(&self, word: &str) -> bool {
        SCHEMES.into_iter().chain([self.token_type.as_str()]).any(|known| known.eq_ignore_ascii_case(word))
    }

    pub(super) fn service_id(&self) -> &str {
        self.partner_service_id.as_deref().unwrap_or_default()
    }

    /// What X-PARTNER-ID must be; none where any is taken, and we send our client id.
    pub fn partner_id(&self) -> Option<&str> {
        match &self.partner_id {
            PartnerId::Any => None,
            PartnerId::ServiceId => self.partner_service_id.as_deref(),
            PartnerId::Fixed(id) => Some(id),
        }
    }

    pub fn method(&self, service: Service) -> HttpMethod {
        self.methods.get(&service).copied().unwrap_or(service.method())
    }

    /// Where a service is; none where its path or the bank's address is not set. Its path is what gets signed.
    pub fn url(&self, service: Service) -> Option<Url> {
        let mut url = self.base_url.clone()?;
        let path = format!("{}{}", url.path().trim_end_matches('/'), self.paths.get(&service)?);
        url.set_path(&path);
        Some(url)
    }

    /// The service that tells where a code stands: for a QR 55 where the bank has it.
    pub fn query_service(&self, kind: CodeKind) -> Service {
        match kind {
            CodeKind::Va => Service::Status,
            CodeKind::Qr if self.paths.contains_key(&Service::DebitStatus) => Service::DebitStatus,
            CodeKind::Qr => Service::QrQuery,
        }
    }

    /// The service that makes a code unpayable, for a QR 57 where the bank has it; none if the bank voids no code.
    pub fn void_service(&self, kind: CodeKind) -> Option<Service> {
        let service = match kind {
            CodeKind::Va => Service::DeleteVa,
            CodeKind::Qr if self.paths.contains_key(&Service::DebitCancel) => Service::DebitCancel,
            CodeKind::Qr => Service::QrCancel,
        };
        self.void.then_some(service)
    }

    /// Whether the bank's calls may come from this address.
    pub fn allows(&self, address: IpAddr) -> bool {
        // A listener for both families sees IPv4 callers under mapped addresses.
        let address = address.to_canonical();
        self.ips.is_empty() || self.ips.iter().any(|network| network.contains(&address))
    }
}
