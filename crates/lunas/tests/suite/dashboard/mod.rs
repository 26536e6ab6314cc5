//! The pages for merchants and operators, over HTTP and in a real browser.

mod account;
mod banks;
mod browser_hostile;
mod browser_pages;
mod browser_pictures;
mod browser_road;
mod browser_use;
mod invites;
mod keys;
mod links;
mod members;
mod money;
mod new_link;
mod operator;
mod payments;
mod repeated_forms;
mod routes;
mod sessions;
mod settings;
mod sign_in;
mod simulator;
mod strays;
mod webhook_settings;
mod webhooks;
