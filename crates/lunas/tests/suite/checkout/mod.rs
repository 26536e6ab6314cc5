//! The pages on which customers pay, over HTTP and in a real browser.

mod attempts;
mod bad_input;
mod browser_hostile;
mod browser_pages;
mod browser_road;
mod change;
mod choose;
mod failures;
mod headers;
mod held;
mod live;
mod open;
mod panel;
mod prices;
mod production;
mod watching;
mod way_back;
