//! What `lunas doctor` says about mail: whether it is set up, and letters that wait for long or were given up. It sends nothing.

use domain::time::{HOUR, Timestamp};
use engine::{Engine, LetterCounts};

use super::point::Point;
use crate::{error::CliError, mail_options::MailOptions};

const MAIL: &str = "mail";
const LETTERS: &str = "letters";

/// Whether mail is set up.
pub(super) fn set_up(options: &MailOptions) -> Point {
    match options.mailer() {
        Ok(None) => Point::ok(MAIL, "not set up, so no letters are sent; LUNAS_MAIL_URL and LUNAS_MAIL_FROM set it up"),
        Ok(Some(mailer)) => Point::ok(MAIL, format!("letters go to {mailer}; `lunas mail test ADDRESS` tries it")),
        Err(error) => Point::failure(MAIL, error.reasons().join("; ")),
    }
}

pub(super) async fn examine(engine: &Engine, now: Timestamp) -> Result<Vec<Point>, CliError> {
    Ok(judge(&engine.letter_counts().await?, now))
}

fn judge(counts: &LetterCounts, now: Timestamp) -> Vec<Point> {
    let mut points = Vec::new();
    if let Some(since) = counts.due_since.filter(|since| since.plus(HOUR) < now) {
        let mend = "`lunas mail list --state waiting` shows why, and `lunas mail test` tries the relay";
        points.push(Point::warning(LETTERS, format!("{} wait, the first was due at {since}; {mend}", counts.waiting)));
    }
    let ended = counts.given_up + counts.dropped;
    if ended > 0 {
        let what = format!("given up within a day: {}, dropped: {}", counts.given_up, counts.dropped);
        points.push(Point::warning(LETTERS, format!("{what}; `lunas mail list --state given_up` shows why")));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_wait_for_long_or_were_given_up_are_told() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        let judged = |counts: LetterCounts| judge(&counts, now).len();
        let waiting = |due_since| LetterCounts { waiting: 3, due_since: Some(due_since), ..LetterCounts::default() };
        assert_eq!(judged(LetterCounts::default()), 0);
        assert_eq!(judged(waiting(now)), 0);
        assert_eq!(judged(waiting(now.minus(2 * HOUR))), 1);
        assert_eq!(judged(LetterCounts { given_up: 1, ..waiting(now.minus(2 * HOUR)) }), 2);
        assert_eq!(judged(LetterCounts { dropped: 1, ..LetterCounts::default() }), 1);
    }
}
