//! What we tell a bank about a bill, in SNAP's codes and in words.

use domain::bank_request::Verdict;
use gateway::snap::ResponseCase;

use crate::answer::Reason;

pub(crate) const fn case(verdict: Verdict) -> ResponseCase {
    match verdict {
        Verdict::Accepted => ResponseCase::new(200, 0),
        Verdict::Unknown => ResponseCase::new(404, 12),
        Verdict::WrongAmount => ResponseCase::new(404, 13),
        Verdict::AlreadyPaid => ResponseCase::new(404, 14),
        Verdict::Expired => ResponseCase::new(404, 19),
    }
}

/// `00` lets the bank go on, `01` makes it stop and give money back.
pub(crate) const fn flag(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Accepted => "00",
        Verdict::Unknown | Verdict::WrongAmount | Verdict::AlreadyPaid | Verdict::Expired => "01",
    }
}

pub(crate) const fn message(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Accepted => "Successful",
        Verdict::Unknown => "Invalid Bill/Virtual Account [Not Found]",
        Verdict::WrongAmount => "Invalid Amount",
        Verdict::AlreadyPaid => "Paid Bill",
        Verdict::Expired => "Invalid Bill/Virtual Account [Expired]",
    }
}

pub(crate) const fn reason(verdict: Verdict) -> Reason {
    match verdict {
        Verdict::Accepted => Reason { english: "Success", indonesia: "Sukses" },
        Verdict::Unknown => Reason { english: "Bill not found", indonesia: "Tagihan tidak ditemukan" },
        Verdict::WrongAmount => {
            Reason { english: "The amount is not the bill's", indonesia: "Jumlah tidak sesuai tagihan" }
        }
        Verdict::AlreadyPaid => Reason { english: "Bill has been paid", indonesia: "Tagihan telah dibayar" },
        Verdict::Expired => Reason { english: "Bill has expired", indonesia: "Tagihan telah kedaluwarsa" },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_taken_has_the_flag_that_books() {
        for verdict in Verdict::ALL {
            let is_taken = verdict == Verdict::Accepted;
            assert_eq!((flag(verdict) == "00", case(verdict).status == 200), (is_taken, is_taken), "{verdict:?}");
            let Reason { english, indonesia } = reason(verdict);
            assert!(english.len() <= 64 && indonesia.len() <= 64);
        }
    }
}
