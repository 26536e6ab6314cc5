//! The doors for banks: what a bank may ask, in which shape it is answered, and what is booked.

mod acts;
mod bodies;
mod browser_rehearsal;
mod crashes;
mod disabled;
mod numbers;
mod order_of_checks;
mod outages;
mod races;
mod rate;
mod repeats;
mod roads;
mod secrets;
mod shape;
mod signing;
mod strays;
mod times;
mod two_nodes;
mod verdicts;
