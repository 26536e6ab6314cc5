//! Which methods of a production project can take money, in words: for its members, and for the operator who approves it.

use domain::method::Method;
use engine::MethodStanding;
use i18n_embed_fl::fl;

use crate::{
    labels::{Badge, method_name},
    words::Words,
};

/// A method or several, and whether the project can take money by them.
pub(crate) struct MethodState {
    pub(crate) name: String,
    pub(crate) badge: Badge,
}

/// One row for each method, and one for all that have no account.
pub(crate) fn method_states(words: Words, standings: &[(Method, MethodStanding)]) -> Vec<MethodState> {
    let lacks_account = |(_, standing): &&(Method, MethodStanding)| *standing == MethodStanding::NoAccount;
    let rows = standings.iter().filter(|each| !lacks_account(each)).map(|(method, standing)| MethodState {
        name: method_name(words, *method),
        badge: standing_badge(words, *standing),
    });
    let name = |method: Method| method.bank().map_or("QRIS", |bank| bank.name());
    let names: Vec<&str> = standings.iter().filter(lacks_account).map(|(method, _)| name(*method)).collect();
    let others = (!names.is_empty())
        .then(|| MethodState { name: names.join(", "), badge: standing_badge(words, MethodStanding::NoAccount) });
    rows.chain(others).collect()
}

/// Whether no method has an enabled account, so that the operator has to act before any money can come.
pub(crate) fn lacks_accounts(standings: &[(Method, MethodStanding)]) -> bool {
    !standings.iter().any(|(_, standing)| standing.has_account())
}

fn standing_badge(words: Words, standing: MethodStanding) -> Badge {
    let (status, text) = match standing {
        MethodStanding::Ready => ("good", fl!(words, "method-ready")),
        MethodStanding::NoAccount => ("off", fl!(words, "method-no-account")),
        MethodStanding::AccountDisabled => ("wait", fl!(words, "method-account-disabled")),
        MethodStanding::NotApproved => ("wait", fl!(words, "method-not-approved")),
        MethodStanding::Inactive => ("wait", fl!(words, "method-inactive")),
        MethodStanding::NotOffered => ("off", fl!(words, "method-not-offered")),
    };
    Badge { status, text }
}
