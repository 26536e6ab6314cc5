//! For tests: servers that encrypt, with a certificate that is made on the spot.

use std::sync::Arc;

use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
    },
};

/// What a server of this name encrypts with, and its certificate, which nobody else has signed.
pub(crate) fn self_signed(name: &str) -> (TlsAcceptor, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let certificate = made.cert.der().clone();
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate.clone()], key);
    (TlsAcceptor::from(Arc::new(config.unwrap())), certificate)
}
