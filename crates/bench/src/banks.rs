//! How fast money is taken at the doors for banks: signed calls of service 25, each for a payment of its own.

use std::{collections::BTreeMap, io, net::SocketAddr, sync::Arc};

use demobank::{Bank, BankKey, Contract, Knobs, Payment, Prepared, Style};
use domain::{bank::Bank as BankCode, id::ProjectId, method::Method, project::Environment};
use engine::{Clock, Engine, NewBankAccount, NewProject, ProjectUpdate, SystemClock};
use secrecy::ExposeSecret;
use serde::Deserialize;

use crate::{
    bench::Bench,
    load::{self, CONNECTIONS, Requests},
    process::{Caller, Home},
    report::{Finding, at_least},
    requests::{AMOUNT, VIRTUAL_ACCOUNT, creates, creates_by},
    rounds::interleave,
};

const COMPANY_CODE: &str = "88899";

/// A bank with a contract, and the production project that takes payments by it.
struct Contracted {
    bank: Bank,
    contract: Contract,
    caller: Caller,
}

impl Bench {
    /// Payments are created and calls signed before each round, so that neither is measured.
    pub(crate) async fn snap_pay(&mut self) -> io::Result<Vec<Finding>> {
        let prefilled = self.prefilled().await?;
        let product = self.product().await?;
        let contracted = contracted(&prefilled.home, product.address).await?;
        let (address, duration, prepared, run_id) =
            (product.address, self.duration, self.prepared(), std::process::id());
        let pay = |round: u64| {
            let run = format!("snap-{round}-{run_id}");
            let contracted = &contracted;
            async move {
                let made = creates_by(vec![contracted.caller.clone()], VIRTUAL_ACCOUNT, &run);
                let answers = load::collect(address, CONNECTIONS, prepared, &made).await?;
                let calls = contracted.calls(answers).await?;
                load::count(address, CONNECTIONS, prepared, &calls).await
            }
        };
        let create = |round: u64| {
            let requests = creates(&product, VIRTUAL_ACCOUNT, &format!("beside-snap-{round}-{run_id}"));
            async move { load::run(address, CONNECTIONS, duration, &requests).await }
        };
        let measured = interleave(self.rounds, pay, create).await?;
        Ok(vec![at_least("snap-pay", &measured, 500)])
    }
}

impl Contracted {
    /// A signed call for each payment of these `answers`.
    async fn calls(&self, answers: Vec<Vec<u8>>) -> io::Result<Requests> {
        #[derive(Deserialize)]
        struct Made {
            instructions: Instructions,
        }
        #[derive(Deserialize)]
        struct Instructions {
            virtual_account_number: String,
        }
        let mut calls = Vec::with_capacity(answers.len());
        for answer in answers {
            let made: Made = serde_json::from_slice(&answer).map_err(io::Error::other)?;
            let payment = Payment::of(made.instructions.virtual_account_number, AMOUNT);
            let prepared = self.bank.prepare_payment(&self.contract, payment, &Knobs::default()).await;
            let prepared = prepared.map_err(|refused| io::Error::other(format!("no token: {}", refused.text)))?;
            calls.push(http(&prepared));
        }
        Ok(Arc::new(move |index, out| out.extend_from_slice(&calls[index as usize])))
    }
}

/// The call as HTTP/1.1, on a connection that stays open.
fn http(prepared: &Prepared) -> Vec<u8> {
    let mut head = format!("POST {} HTTP/1.1\r\nHost: bench\r\n", prepared.path());
    for (name, value) in &prepared.headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("Content-Length: {}\r\n\r\n", prepared.body.len());
    [head.into_bytes(), prepared.body.clone()].concat()
}

/// Sets up both sides of a contract: the product's in its database, beside the server that is running.
async fn contracted(home: &Home, address: SocketAddr) -> io::Result<Contracted> {
    let (store, engine) = home.engine().await?;
    let made = contract(&engine, address).await;
    store.close().await;
    made
}

/// A production project that takes payments, and a key of it.
pub(crate) async fn approved_project(engine: &Engine) -> Result<(ProjectId, Caller), engine::Error> {
    let new = NewProject { name: "Bank".to_owned(), environment: Environment::Production, merchant_name: None };
    let (project, _) = engine.create_project(new).await?;
    let approved = ProjectUpdate { approved: Some(true), ..ProjectUpdate::default() };
    engine.update_project(project.id, approved).await?;
    let (_, api_key) = engine.create_key(project.id, "bench".to_owned()).await?;
    Ok((project.id, Caller { project_id: project.id.to_string(), api_key: api_key.reveal().to_owned() }))
}

async fn contract(engine: &Engine, address: SocketAddr) -> io::Result<Contracted> {
    let (project_id, caller) = approved_project(engine).await.map_err(io::Error::other)?;
    let (style, key) = (Style::BCA, BankKey::generate().map_err(io::Error::other)?);
    let settings = BTreeMap::from([("partner_service_id".to_owned(), COMPANY_CODE.to_owned())]);
    let new = NewBankAccount { name: "Bench".to_owned(), profile: style.profile.to_owned(), settings };
    let account = engine.create_bank_account(new).await.map_err(io::Error::other)?.id;
    engine.import_bank_key(account, &key.public_key_pem()).await.map_err(io::Error::other)?;
    let inbound = engine.set_bank_inbound(account, None, None).await.map_err(io::Error::other)?;
    engine.enable_bank_account(account, true).await.map_err(io::Error::other)?;
    let method = Method::VirtualAccount(BankCode::Bca);
    engine.assign_bank_account(account, project_id, method).await.map_err(io::Error::other)?;
    Ok(Contracted {
        bank: Bank::new(Arc::new(|| SystemClock.now().as_millis()))?,
        contract: Contract {
            name: style.profile.to_owned(),
            inbound_url: format!("http://{address}/snap/{account}"),
            signed_prefix: None,
            client_id: inbound.client_id,
            client_secret: inbound.secret.expose_secret().to_owned(),
            company_code: COMPANY_CODE.to_owned(),
            key,
            style,
        },
        caller,
    })
}
