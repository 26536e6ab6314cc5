//! Certificates for servers that are not ours, made on the spot and signed by nobody else.

use std::{fs, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// What the files are called that [`write_self_signed`] writes.
pub(crate) const CERTIFICATE: &str = "fullchain.pem";
pub(crate) const PRIVATE_KEY: &str = "privkey.pem";

/// Writes certificate and key of a server of this name into the directory; answers with the certificate itself.
pub(crate) fn write_self_signed(name: &str, directory: &Path) -> Vec<u8> {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    write_pem(&directory.join(CERTIFICATE), "CERTIFICATE", made.cert.der());
    write_pem(&directory.join(PRIVATE_KEY), "PRIVATE KEY", &made.signing_key.serialize_der());
    made.cert.der().to_vec()
}

fn write_pem(path: &Path, label: &str, content: &[u8]) {
    let encoded = STANDARD.encode(content);
    let lines: Vec<&str> = encoded.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    fs::write(path, format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))).unwrap();
}
