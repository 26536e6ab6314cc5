//! How fast codes are issued by banks that we call: an order, a signed call, and the payment, with two commits. And what a
//! bank that never answers costs the others.

use std::{collections::BTreeMap, io, net::SocketAddr, time::Duration};

use demobank::BankKey;
use domain::{bank::Bank as BankCode, method::Method};
use engine::{Engine, NewBankAccount};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    task::JoinSet,
    time::{Instant, sleep, timeout_at},
};

use crate::{
    banks::approved_project,
    bench::Bench,
    load::{self, CONNECTIONS, Requests},
    process::{Caller, Home, Served},
    report::{Finding, at_least, memory},
    requests::{VIRTUAL_ACCOUNT, creates, creates_by},
    rounds::{Measured, interleave},
};

/// What is ordered of the banks that we call.
const HOSTED_THERE: &str = r#"{"type":"virtual_account","bank":"bni"}"#;
/// Creates that wait for the silent bank.
const WAITING: u64 = 1_000;
/// How much longer than one side of a round they do so: 25 seconds, unless a run is told otherwise.
const WAITING_PERCENT: u32 = 625;
/// A client whose create was refused tries again after this time.
const TRY_AGAIN: Duration = Duration::from_secs(1);
const RESIDENT_MIB_MOST: u64 = 150;

impl Bench {
    pub(crate) async fn snap_issue(&mut self) -> io::Result<Vec<Finding>> {
        let prefilled = self.prefilled().await?;
        let (product, bank) = (self.product().await?, Served::ceiling(&["bank"]).await?);
        let caller = contracted(&prefilled.home, &bank).await?;
        let (address, duration, run_id) = (product.address, self.duration, std::process::id());
        let issue = |round: u64| {
            let requests = creates_by(vec![caller.clone()], HOSTED_THERE, &format!("issue-{round}-{run_id}"));
            async move { load::run(address, CONNECTIONS, duration, &requests).await }
        };
        let create = |round: u64| {
            let requests = creates(&product, VIRTUAL_ACCOUNT, &format!("beside-issue-{round}-{run_id}"));
            async move { load::run(address, CONNECTIONS, duration, &requests).await }
        };
        let measured = interleave(self.rounds, issue, create).await?;
        Ok(vec![at_least("snap-issue", &measured, 250)])
    }

    /// A bank that works, alone and while another one keeps many calls waiting.
    pub(crate) async fn snap_silent(&mut self) -> io::Result<Vec<Finding>> {
        // Every create that waits has a connection.
        rlimit::increase_nofile_limit(u64::MAX)?;
        let prefilled = self.prefilled().await?;
        let (bank, silent) = (Served::ceiling(&["bank"]).await?, Served::ceiling(&["bank", "silent"]).await?);
        let product = self.product().await?;
        let caller = contracted(&prefilled.home, &bank).await?;
        let waits = contracted(&prefilled.home, &silent).await?;
        let (address, duration, run_id) = (product.address, self.duration, std::process::id());
        let issue = |part: &str, duration: Duration| {
            let requests = creates_by(vec![caller.clone()], HOSTED_THERE, &format!("{part}-{run_id}"));
            async move { load::run(address, CONNECTIONS, duration, &requests).await }
        };
        let alone = issue("alone", duration * 2).await?.per_second.max(1);
        let before = product.resident_kib()?;
        let count = WAITING.min(self.prefill).max(1);
        let waiting = duration * WAITING_PERCENT / 100;
        let waiters = Waiters::begin(address, waits, count, Instant::now() + waiting);
        let first = issue("first", waiting / 4).await?;
        let early = product.resident_kib()?;
        let rest = issue("rest", waiting / 4 * 3).await?;
        let late = product.resident_kib()?;
        let refused = waiters.end().await?;
        let beside = (first.per_second + rest.per_second * 3) / 4;
        let measured = Measured { product: beside, ceiling: alone, ratios: vec![beside * 1_000 / alone] };
        let when = |kib: u64, when: &str| memory("snap-silent", when, kib, RESIDENT_MIB_MOST);
        Ok(vec![
            at_least("snap-silent", &measured, 800),
            when(before, "before"),
            when(early, &format!("{count} creates wait")),
            when(late, &format!("the same, later; {refused} were refused meanwhile")),
        ])
    }
}

/// Clients whose payments a bank does not issue.
struct Waiters(JoinSet<io::Result<u64>>);

impl Waiters {
    fn begin(address: SocketAddr, caller: Caller, count: u64, until: Instant) -> Waiters {
        let mut tasks = JoinSet::new();
        for number in 0..count {
            let requests = creates_by(vec![caller.clone()], HOSTED_THERE, &format!("waits-{number}"));
            tasks.spawn(async move { waits(address, &requests, until).await });
        }
        Waiters(tasks)
    }

    /// How many creates were refused.
    async fn end(mut self) -> io::Result<u64> {
        let mut refused = 0;
        while let Some(done) = self.0.join_next().await {
            refused += done.map_err(io::Error::other)??;
        }
        Ok(refused)
    }
}

/// Creates a payment, and another one when that was refused, until the time is over. Counts refusals.
async fn waits(address: SocketAddr, requests: &Requests, until: Instant) -> io::Result<u64> {
    let (mut request, mut answer, mut refused) = (Vec::new(), Vec::new(), 0);
    let mut stream = load::connect(address).await?;
    while Instant::now() < until {
        request.clear();
        requests(refused, &mut request);
        stream.write_all(&request).await?;
        answer.clear();
        while load::whole(&answer).is_none() {
            let Ok(read) = timeout_at(until, stream.read_buf(&mut answer)).await else { return Ok(refused) };
            if read? == 0 {
                return Err(io::Error::other("the server has closed the connection"));
            }
        }
        if answer.get(9) == Some(&b'2') {
            return Err(io::Error::other("a bank that does not answer has issued a code"));
        }
        refused += 1;
        sleep(TRY_AGAIN).await;
    }
    Ok(refused)
}

/// Sets up the product's side of a contract, in its database beside the server that is running.
async fn contracted(home: &Home, bank: &Served) -> io::Result<Caller> {
    let (store, engine) = home.engine().await?;
    let made = contract(&engine, bank.address).await;
    store.close().await;
    made.map_err(io::Error::other)
}

async fn contract(engine: &Engine, bank: SocketAddr) -> Result<Caller, engine::Error> {
    let (project_id, caller) = approved_project(engine).await?;
    let settings = [
        ("base_url", format!("http://{bank}")),
        ("hosting", "theirs".to_owned()),
        ("partner_service_id", "77777".to_owned()),
        ("channel_id", "95221".to_owned()),
    ];
    let settings: BTreeMap<_, _> = settings.map(|(name, value)| (name.to_owned(), value)).into();
    let new = NewBankAccount { name: "Bench".to_owned(), profile: "generic".to_owned(), settings };
    let account = engine.create_bank_account(new).await?.id;
    engine.make_bank_key(account).await?;
    if let Ok(key) = BankKey::generate() {
        engine.import_bank_key(account, &key.public_key_pem()).await?;
    }
    engine.set_bank_inbound(account, None, None).await?;
    engine.set_bank_outbound(account, format!("client-{account}"), format!("secret-{account}").into()).await?;
    engine.assign_bank_account(account, project_id, Method::VirtualAccount(BankCode::Bni)).await?;
    engine.enable_bank_account(account, true).await?;
    Ok(caller)
}
