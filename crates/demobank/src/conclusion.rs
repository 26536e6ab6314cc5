//! What a bank does with its customer's money once the merchant's side has answered, or has not.

/// What became of the customer's money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// The payment is final: the merchant gets the money.
    Booked,
    /// The customer has the money back.
    Reversed,
    /// The bank does not know. It keeps the money until a resend or a person settles the case.
    Suspended,
}

/// Whose rules for reading an answer a bank follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concludes {
    /// 2002500, 2022500 and 4042518 go by the flag: 00 books, 01 reverses, anything else suspends. All other codes reverse,
    /// also those of failures: only silence and what cannot be read suspend.
    LikeBca,
    /// 2002500 goes by the flag. The codes of `BRI_REVERSES` and the flag 01 reverse; all other answers suspend.
    LikeBri,
}

/// The refusals that BRI knows. What is not in the list, such as 4292500, suspends.
const BRI_REVERSES: [&str; 15] = [
    "4002500", "4002501", "4002502", "4012500", "4012501", "4032500", "4042501", "4042511", "4042512", "4042513",
    "4042514", "4042516", "4042518", "4042519", "4092500",
];

impl Concludes {
    /// Reads an answer to a payment: the HTTP status (0 for silence), the response code and the payment flag.
    ///
    /// An answer whose code does not begin with its HTTP status says two things at once, so it settles nothing.
    pub fn conclude(self, status: u16, code: &str, flag: &str) -> Conclusion {
        let is_readable = status != 0 && code.len() == 7 && code.starts_with(&status.to_string());
        if !is_readable {
            return Conclusion::Suspended;
        }
        let goes_by_flag = match self {
            Concludes::LikeBca => ["2002500", "2022500", "4042518"].contains(&code),
            Concludes::LikeBri => code == "2002500",
        };
        match (flag, self) {
            ("00", _) if goes_by_flag => Conclusion::Booked,
            ("01", _) if goes_by_flag => Conclusion::Reversed,
            (_, Concludes::LikeBca) if goes_by_flag => Conclusion::Suspended,
            (_, Concludes::LikeBca) => Conclusion::Reversed,
            (_, Concludes::LikeBri) if status >= 500 => Conclusion::Suspended,
            (_, Concludes::LikeBri) if flag == "01" || BRI_REVERSES.contains(&code) => Conclusion::Reversed,
            (_, Concludes::LikeBri) => Conclusion::Suspended,
        }
    }
}

impl Conclusion {
    /// The conclusion in one word, for the screens.
    pub fn word(self) -> &'static str {
        match self {
            Conclusion::Booked => "booked",
            Conclusion::Reversed => "reversed",
            Conclusion::Suspended => "suspended",
        }
    }

    /// What it means for the customer's money.
    pub fn meaning(self) -> &'static str {
        match self {
            Conclusion::Booked => "The customer's money has left their account, and the merchant gets it.",
            Conclusion::Reversed => "The customer has their money back. The merchant gets nothing.",
            Conclusion::Suspended => {
                "The bank does not know whether the merchant took it: the customer's money is held until a resend or a \
                 person settles the case."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Concludes::{LikeBca, LikeBri},
        Conclusion::{Booked, Reversed, Suspended},
        *,
    };

    #[track_caller]
    fn check(rows: &[(Concludes, u16, &str, &str, Conclusion)]) {
        for (rule, status, code, flag, expected) in rows {
            assert_eq!(rule.conclude(*status, code, flag), *expected, "{rule:?} {status} {code} {flag}");
        }
    }

    #[test]
    fn bca_goes_by_the_flag_of_three_codes_and_reverses_on_all_others() {
        check(&[
            (LikeBca, 200, "2002500", "00", Booked),
            (LikeBca, 200, "2002500", "01", Reversed),
            (LikeBca, 200, "2002500", "02", Suspended),
            (LikeBca, 200, "2002500", "", Suspended),
            (LikeBca, 202, "2022500", "00", Booked),
            (LikeBca, 404, "4042518", "00", Booked),
            (LikeBca, 404, "4042518", "01", Reversed),
            (LikeBca, 404, "4042518", "", Suspended),
            (LikeBca, 404, "4042514", "01", Reversed),
            (LikeBca, 404, "4042512", "00", Reversed),
            (LikeBca, 409, "4092500", "", Reversed),
            (LikeBca, 401, "4012501", "", Reversed),
            (LikeBca, 429, "4292500", "", Reversed),
            (LikeBca, 500, "5002500", "02", Reversed),
            (LikeBca, 202, "2022500", "02", Suspended),
        ]);
    }

    #[test]
    fn bri_reverses_on_listed_refusals_and_suspends_on_what_it_does_not_know() {
        check(&[
            (LikeBri, 200, "2002500", "00", Booked),
            (LikeBri, 200, "2002500", "01", Reversed),
            (LikeBri, 200, "2002500", "02", Suspended),
            (LikeBri, 202, "2022500", "00", Suspended),
            (LikeBri, 404, "4042518", "00", Reversed),
            (LikeBri, 404, "4042514", "01", Reversed),
            (LikeBri, 404, "4042513", "", Reversed),
            (LikeBri, 409, "4092500", "", Reversed),
            (LikeBri, 429, "4292500", "", Suspended),
            (LikeBri, 500, "5002500", "", Suspended),
            (LikeBri, 504, "5042500", "01", Suspended),
            (LikeBri, 202, "2022500", "02", Suspended),
            (LikeBri, 404, "4042577", "", Suspended),
            (LikeBri, 404, "4042577", "01", Reversed),
        ]);
    }

    #[test]
    fn silence_and_answers_that_contradict_themselves_suspend() {
        for rule in [LikeBca, LikeBri] {
            check(&[
                (rule, 0, "", "", Suspended),
                (rule, 503, "2002500", "00", Suspended),
                (rule, 200, "5002500", "00", Suspended),
                (rule, 404, "2002500", "00", Suspended),
                (rule, 200, "", "00", Suspended),
                (rule, 404, "", "", Suspended),
            ]);
        }
    }
}
