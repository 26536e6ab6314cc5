//! What happens when a process, a connection or a database fails, or when several nodes share one database.

mod bad_connections;
mod durability;
mod failover;
mod fair_scans;
mod full_disk;
mod killed_nodes;
mod killed_while_sending;
mod letters;
mod letters_and_notices;
mod notices;
mod postgres_outages;
mod sign_in_flood;
mod standby_away;
mod three_nodes;
mod unread_bodies;
mod webhook_crashes;
