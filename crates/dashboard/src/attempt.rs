//! The id of one filling-in of a form: a form that is sent twice with the same id does its work once.

use rand::RngExt;

/// The length of an id in hexadecimal digits.
const CHARACTERS: usize = 32;

/// A new id, for a form that is shown for the first time.
pub(crate) fn fresh() -> String {
    format!("{:032x}", rand::rng().random::<u128>())
}

/// The id that a form brought back; a new one where it brought none of ours.
pub(crate) fn sent(text: Option<&str>) -> String {
    let ours = |id: &&str| id.len() == CHARACTERS && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.filter(ours).map_or_else(fresh, str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_keeps_the_id_it_was_given_and_no_id_that_was_made_up() {
        let id = fresh();
        assert_eq!(sent(Some(&id)), id);
        for made_up in ["", "1", &"x".repeat(32), &"a".repeat(33)] {
            assert_ne!(sent(Some(made_up)), made_up);
        }
        assert_ne!(fresh(), id);
    }
}
