//! Passwords for commands: generated, or read from standard input. No flag takes one, because the process list shows flags.

use std::io::{self, Read};

use rand::RngExt;
use secrecy::{ExposeSecret, SecretString};

use crate::error::CliError;

/// 142 bits. It may be long, since browsers remember passwords.
const RANDOM_CHARACTERS: usize = 24;
const ALPHABET: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Far more than the longest password.
const STDIN_BYTES_MOST: u64 = 4_096;

/// A password for a user, and whether it was generated, so that the answer must show it.
pub(crate) struct Password {
    secret: SecretString,
    is_generated: bool,
}

impl Password {
    pub(crate) fn get(from_stdin: bool) -> Result<Password, CliError> {
        match from_stdin {
            true => Ok(Password { secret: read(io::stdin().lock())?, is_generated: false }),
            false => Ok(Password { secret: generate(), is_generated: true }),
        }
    }

    pub(crate) fn secret(&self) -> SecretString {
        self.secret.clone()
    }

    /// The password if it was generated, for the one answer that shows it.
    pub(crate) fn to_show(&self) -> Option<String> {
        self.is_generated.then(|| self.secret.expose_secret().to_owned())
    }
}

/// A random password.
pub(crate) fn generate() -> SecretString {
    let mut random = rand::rng();
    let letter = |_| char::from(ALPHABET[random.random_range(0..ALPHABET.len())]);
    (0..RANDOM_CHARACTERS).map(letter).collect::<String>().into()
}

/// The only line of `input`, without its line break.
fn read(input: impl Read) -> Result<SecretString, CliError> {
    let mut text = String::new();
    let unread = |error: io::Error| CliError::because("cannot read the password from standard input", &error);
    input.take(STDIN_BYTES_MOST).read_to_string(&mut text).map_err(unread)?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    match line {
        "" => Err(CliError::new("there is no password on standard input; send it as one line")),
        line if line.contains(['\n', '\r']) => {
            Err(CliError::new("there is more than one line on standard input; send the password as a single line"))
        }
        line => Ok(line.to_owned().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_password_is_long_and_new_each_time() {
        let (one, other) = (generate(), generate());
        assert_eq!(one.expose_secret().len(), RANDOM_CHARACTERS);
        assert!(one.expose_secret().bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_ne!(one.expose_secret(), other.expose_secret());
    }

    #[test]
    fn a_password_is_one_line_with_any_line_break_and_keeps_its_spaces() {
        for text in [" correct horse ", " correct horse \n", " correct horse \r\n"] {
            assert_eq!(read(text.as_bytes()).unwrap().expose_secret(), " correct horse ");
        }
        for wrong in ["", "\n", "\r\n", "one\ntwo", "one\n\n"] {
            assert!(read(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
        assert!(read(&b"\xff\xfe"[..]).is_err());
    }
}
