//! What several tests share: acts, request bodies, browsers over HTTP and the load of the fault tests.

pub(crate) mod acts;
pub(crate) mod customer;
pub(crate) mod dashboard_browser;
pub(crate) mod load;
pub(crate) mod options;
pub(crate) mod payments;
pub(crate) mod people;
pub(crate) mod refusals;
pub(crate) mod samples;
