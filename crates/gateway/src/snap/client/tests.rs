mod codes;
mod faults;
mod orders;
mod orders_answered;
mod receipts;
mod statements;
mod support;
mod token;
