//! The commands of the real binary: what they print, how they fail, and what they change.

mod bank;
mod beside_a_server;
mod command_line;
mod config_check;
mod config_file;
mod copy;
mod dev;
mod doctor;
mod event;
mod listen;
mod listen_pages;
mod open_files;
mod postgres;
mod rehearse;
mod request_log;
mod secret_rotate;
mod serve;
mod shutdown;
mod trigger;
mod user;
mod webhook_rotate_secret;
mod webhook_verify;
