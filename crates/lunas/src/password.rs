//! Passwords as commands get them: made up, or read from standard input. No flag takes one, as every process sees flags.

use std::io::{self, Read};

use rand::RngExt;
use secrecy::{ExposeSecret, SecretString};

use crate::error::CliError;

/// 142 bits: nobody has to remember it, since browsers do.
const RANDOM_CHARACTERS: usize = 24;
const ALPHABET: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Far more than the longest password has.
const STDIN_BYTES_MOST: u64 = 4_096;

/// A password for somebody, and whether they are still to be told.
pub(crate) struct Password {
    secret: SecretString,
    is_new: bool,
}

impl Password {
    pub(crate) fn get(from_stdin: bool) -> Result<Password, CliError> {
        match from_stdin {
            true => Ok(Password { secret: read(io::stdin().lock())?, is_new: false }),
            false => Ok(Password { secret: made_up(), is_new: true }),
        }
    }

    pub(crate) fn secret(&self) -> SecretString {
        self.secret.clone()
    }

    /// The text itself where nobody knows it yet, for the one moment at which it is shown.
    pub(crate) fn to_show(&self) -> Option<String> {
        self.is_new.then(|| self.secret.expose_secret().to_owned())
    }
}

/// A password that nobody guesses.
pub(crate) fn made_up() -> SecretString {
    let mut random = rand::rng();
    let letter = |_| char::from(ALPHABET[random.random_range(0..ALPHABET.len())]);
    (0..RANDOM_CHARACTERS).map(letter).collect::<String>().into()
}

/// The one line that `input` holds, without what ends it.
fn read(input: impl Read) -> Result<SecretString, CliError> {
    let mut text = String::new();
    let unread = |error: io::Error| CliError::because("cannot read the password from standard input", &error);
    input.take(STDIN_BYTES_MOST).read_to_string(&mut text).map_err(unread)?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    match line {
        "" => Err(CliError::new("there is no password on standard input; write it there on one line")),
        line if line.contains(['\n', '\r']) => {
            Err(CliError::new("there is more than one line on standard input; write the password alone on one"))
        }
        line => Ok(line.to_owned().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_that_is_made_up_is_long_and_new_each_time() {
        let (one, other) = (made_up(), made_up());
        assert_eq!(one.expose_secret().len(), RANDOM_CHARACTERS);
        assert!(one.expose_secret().bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_ne!(one.expose_secret(), other.expose_secret());
    }

    #[test]
    fn a_password_is_one_line_whatever_ends_it_and_keeps_its_spaces() {
        for text in [" correct horse ", " correct horse \n", " correct horse \r\n"] {
            assert_eq!(read(text.as_bytes()).unwrap().expose_secret(), " correct horse ");
        }
        for wrong in ["", "\n", "\r\n", "one\ntwo", "one\n\n"] {
            assert!(read(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
        assert!(read(&b"\xff\xfe"[..]).is_err());
    }
}
