//! Sample terms of payments and openings.

use domain::{
    bank::Bank, link::Link, metadata::Metadata, method::Method, money::Rupiah, payment::PaymentTerms, project::Project,
    return_url::ReturnUrl,
};

use crate::samples::{after, checkout};

/// Terms that leave nothing out, and in which no two values are alike. Payments and openings with them are read back by tests, so a
/// new field is tested by its value here.
pub(crate) fn full_terms(project: &Project, link: &Link) -> PaymentTerms {
    PaymentTerms {
        project_id: project.id,
        link_id: Some(link.id),
        reference: "INV-99".to_owned(),
        amount: Rupiah::new(99_000),
        quantity: Some(99),
        fee: Rupiah::new(693),
        method: Method::VirtualAccount(Bank::Bri),
        checkout: Some(checkout()),
        metadata: Some(Metadata { members: vec![("meja".to_owned(), "É 12".to_owned())] }),
        return_url: Some(ReturnUrl::stored("https://shop.example/?a=É#b".to_owned())),
        expires_at: after(800_000),
    }
}
