//! What several tests share: acts, request bodies, browsers over HTTP, commands, and the load of the fault tests.

pub(crate) mod acquirers;
pub(crate) mod bank_accounts;
pub(crate) mod banks;
pub(crate) mod commands;
pub(crate) mod customer;
pub(crate) mod dashboard;
pub(crate) mod dashboard_browser;
pub(crate) mod faulty_server;
pub(crate) mod held_writes;
pub(crate) mod history;
pub(crate) mod hostile;
pub(crate) mod json;
pub(crate) mod links;
pub(crate) mod load;
pub(crate) mod nodes;
pub(crate) mod options;
pub(crate) mod payments;
pub(crate) mod people;
pub(crate) mod refusals;
pub(crate) mod rehearsal;
pub(crate) mod repository;
pub(crate) mod routes;
pub(crate) mod rows;
pub(crate) mod samples;
pub(crate) mod wait;
pub(crate) mod webhooks;
