mod codes;
mod faults;
mod receipts;
mod support;
mod token;
