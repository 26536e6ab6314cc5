//! The pages on which customers pay, over HTTP and in a real browser.

mod accounts;
mod again;
mod answers;
mod attempts;
mod bad_input;
mod browser_customer;
mod browser_hostile;
mod browser_pages;
mod browser_road;
mod cancelled;
mod change;
mod choose;
mod failures;
mod headers;
mod held;
mod live;
mod open;
mod panel;
mod preview;
mod prices;
mod production;
mod receipts;
mod straight;
mod watching;
mod way_back;
