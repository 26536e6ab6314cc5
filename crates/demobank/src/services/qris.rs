//! QRIS payloads, written and read by the bank's own code: tags with two digits, lengths with two digits, values, and a
//! checksum at the end.

use super::faults::QrFault;

/// The longest payload that is read.
const PAYLOAD_BYTES_MOST: usize = 512;
const CRC_TAG: &str = "6304";

/// What a payload is to say.
pub(super) struct Payload<'a> {
    pub(super) merchant: &'a str,
    pub(super) merchant_id: &'a str,
    pub(super) terminal_id: &'a str,
    pub(super) bank_reference: &'a str,
    pub(super) amount: i64,
}

/// What a person sees who scans a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scanned {
    pub(crate) merchant: String,
    pub(crate) city: String,
    /// None where the person is to type it.
    pub(crate) amount: Option<i64>,
    pub(crate) currency: String,
}

/// Writes a dynamic payload, right or with one fault.
pub(super) fn write(payload: &Payload<'_>, fault: Option<&QrFault>) -> String {
    let amount = match fault {
        Some(QrFault::OtherAmount(amount)) => Some(*amount),
        Some(QrFault::NoAmount) => None,
        _ => Some(payload.amount),
    };
    let digits: String = payload.merchant_id.bytes().filter(u8::is_ascii_digit).map(char::from).collect();
    let digits = format!("{digits:0>13}");
    let digits = &digits[digits.len() - 13..];
    let acquirer = [
        field("00", "ID.CO.REHEARSAL.WWW"),
        field("01", &format!("93600999{}", &digits[3..])),
        field("02", &plain(payload.merchant_id, 15)),
        field("03", "UKE"),
    ];
    let national = [field("00", "ID.CO.QRIS.WWW"), field("02", &format!("ID{digits}")), field("03", "UKE")];
    let label = &payload.bank_reference[payload.bank_reference.len().saturating_sub(25)..];
    let more = [field("05", label), field("07", &plain(payload.terminal_id, 25))];
    let parts = [
        field("00", "01"),
        field("01", if fault == Some(&QrFault::Static) { "11" } else { "12" }),
        field("26", &acquirer.concat()),
        field("51", &national.concat()),
        field("52", "5999"),
        field("53", if fault == Some(&QrFault::OtherCurrency) { "840" } else { "360" }),
        amount.map(|amount| field("54", &amount.to_string())).unwrap_or_default(),
        field("58", "ID"),
        field("59", &plain(&payload.merchant.to_uppercase(), 25)),
        field("60", "JAKARTA"),
        field("61", "12190"),
        field("62", &more.concat()),
    ];
    let text = parts.concat() + CRC_TAG;
    let right = crc(text.as_bytes());
    let crc = if fault == Some(&QrFault::BadCrc) { !right } else { right };
    format!("{text}{crc:04X}")
}

/// Reads a payload. An error is a sentence about what is wrong with it.
pub(crate) fn read(text: &str) -> Result<Scanned, &'static str> {
    let text = text.trim();
    let not_qris = "This is not a QRIS code.";
    if text.len() > PAYLOAD_BYTES_MOST || !text.starts_with("000201") {
        return Err(not_qris);
    }
    let at = text.len().checked_sub(8).filter(|_| text.is_ascii()).ok_or(not_qris)?;
    let (covered, checksum) = text.split_at(at + CRC_TAG.len());
    if !covered.ends_with(CRC_TAG) || checksum != format!("{:04X}", crc(covered.as_bytes())) {
        return Err("The checksum of this QRIS code is wrong: some of it is missing or changed.");
    }
    let fields = fields(&text[..at]).ok_or(not_qris)?;
    let value = |tag: &str| fields.iter().find(|(known, _)| *known == tag).map(|(_, value)| (*value).to_owned());
    let amount = match value("54") {
        Some(written) => Some(rupiah(&written).ok_or("The amount of this QRIS code cannot be read.")?),
        None => None,
    };
    Ok(Scanned {
        merchant: value("59").ok_or(not_qris)?,
        city: value("60").unwrap_or_default(),
        amount,
        currency: value("53").unwrap_or_default(),
    })
}

/// `1000`, `1000.` or `1000.00`.
fn rupiah(written: &str) -> Option<i64> {
    let (whole, decimals) = written.split_once('.').unwrap_or((written, ""));
    let is_whole = decimals.bytes().all(|digit| digit == b'0') && whole.bytes().all(|byte| byte.is_ascii_digit());
    whole.parse().ok().filter(|amount| is_whole && *amount > 0)
}

fn fields(mut text: &str) -> Option<Vec<(&str, &str)>> {
    let mut fields = Vec::new();
    while !text.is_empty() {
        let length: usize =
            text.get(2..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()?;
        fields.push((text.get(..2)?, text.get(4..4 + length)?));
        text = text.get(4 + length..)?;
    }
    Some(fields)
}

/// A tag with its value. Callers keep values below a hundred bytes.
fn field(tag: &str, value: &str) -> String {
    format!("{tag}{:02}{value}", value.len())
}

/// Letters, digits and a few signs of ASCII, up to a length.
fn plain(text: &str, most: usize) -> String {
    let kept = text.chars().filter(|character| character.is_ascii_alphanumeric() || " -.".contains(*character));
    let text: String = kept.take(most).collect();
    if text.trim().is_empty() { "0".to_owned() } else { text }
}

/// CRC-16 with the polynomial 1021, beginning with FFFF.
fn crc(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xFFFF, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            let shifted = crc << 1;
            if crc & 0x8000 == 0 { shifted } else { shifted ^ 0x1021 }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBU: &str = "00020101021226670016COM.NOBUBANK.WWW01189360050300000488910214051200000314150303UMI51440014\
                        ID.CO.QRIS.WWW0215ID20200814001780303UMI52045499530336054061750005802ID5912FLORIST LILY6015Banten \
                        - Kota T61051581162540114051600001421300617202305161512305480703A010804POSP63046D61";

    fn payload() -> Payload<'static> {
        Payload {
            merchant: "Toko Uji Coba",
            merchant_id: "SBX000000000001",
            terminal_id: "A01",
            bank_reference: "20260115102030ABCDEFGHIJKLMNOP",
            amount: 15_000,
        }
    }

    #[test]
    fn the_checksum_is_that_of_the_standard_and_payloads_of_others_are_read() {
        assert_eq!(crc(b"123456789"), 0x29B1);
        let scanned = read(NOBU).unwrap();
        assert_eq!((scanned.merchant.as_str(), scanned.amount), ("FLORIST LILY", Some(175_000)));
        assert_eq!((scanned.city.as_str(), scanned.currency.as_str()), ("Banten - Kota T", "360"));
    }

    #[test]
    fn what_is_written_is_a_dynamic_payload_with_tags_in_order() {
        let text = write(&payload(), None);
        let fields = fields(&text).unwrap();
        let tags: Vec<&str> = fields.iter().map(|(tag, _)| *tag).collect();
        assert_eq!(tags.join(" "), "00 01 26 51 52 53 54 58 59 60 61 62 63");
        assert_eq!((fields[1].1, fields[5].1, fields[6].1), ("12", "360", "15000"));
        let scanned = read(&format!(" {text}\n")).unwrap();
        assert_eq!((scanned.merchant.as_str(), scanned.amount), ("TOKO UJI COBA", Some(15_000)));
    }

    #[test]
    fn each_fault_spoils_one_thing() {
        let spoiled = |fault| write(&payload(), Some(&fault));
        assert!(read(&spoiled(QrFault::BadCrc)).unwrap_err().contains("checksum"));
        assert_eq!(read(&spoiled(QrFault::OtherAmount(15_001))).unwrap().amount, Some(15_001));
        assert_eq!(read(&spoiled(QrFault::NoAmount)).unwrap().amount, None);
        assert_eq!(read(&spoiled(QrFault::OtherCurrency)).unwrap().currency, "840");
        let is_static = spoiled(QrFault::Static);
        assert!(is_static.starts_with("000201010211") && read(&is_static).is_ok());
    }

    #[test]
    fn what_is_no_payload_is_told_in_a_sentence() {
        let cut = &NOBU[..NOBU.len() - 1];
        let long = NOBU.repeat(3);
        for text in ["", "hello", "000201", "000201630", "0002016304é000", cut, &long, "https://lunas.example/p/1"] {
            assert!(read(text).unwrap_err().ends_with('.'), "{text}");
        }
    }
}
