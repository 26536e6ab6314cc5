//! The menus that lead to the payment of a virtual account: in each bank's apps, at its machines, and from other banks.
//!
//! Names are those on the banks' own screens, so they are the same in every language. `docs/checkout.md` says which of them
//! could be checked, and against what.

use crate::bank::Bank;

/// Where the customer pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    Mobile,
    Atm,
    Internet,
    /// Any app or machine of another bank.
    OtherBank,
}

/// How the payment form asks for the account number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Whole,
    /// A search field takes the number, and the merchant's service is chosen among what it finds.
    Search,
    /// The company code on one screen, the customer number on the next.
    Split,
    /// A transfer from another bank, which also asks for the destination bank and the amount.
    Interbank,
}

/// The menu entries that lead to the payment form of one channel.
pub(crate) struct Menu {
    pub(crate) channel: Channel,
    /// The product name of the channel, such as `BRImo`; without one, its title is made of its kind and the bank.
    pub(crate) product: Option<&'static str>,
    pub(crate) path: &'static str,
    pub(crate) entry: Entry,
}

/// Everything that differs between banks.
pub(crate) struct Guide {
    /// The bank's short name, as in `ATM BCA`; none where customers pay from any bank.
    pub(crate) brand: Option<&'static str>,
    pub(crate) menus: Vec<Menu>,
}

const fn app(product: &'static str, path: &'static str) -> Menu {
    Menu { channel: Channel::Mobile, product: Some(product), path, entry: Entry::Whole }
}

const fn atm(path: &'static str) -> Menu {
    Menu { channel: Channel::Atm, product: None, path, entry: Entry::Whole }
}

const fn internet(product: Option<&'static str>, path: &'static str) -> Menu {
    Menu { channel: Channel::Internet, product, path, entry: Entry::Whole }
}

impl Menu {
    const fn split(self) -> Menu {
        Menu { entry: Entry::Split, ..self }
    }

    const fn interbank(channel: Channel) -> Menu {
        Menu { channel, product: None, path: "Transfer › Bank Lain", entry: Entry::Interbank }
    }
}

/// The menus of each bank, today's apps first.
pub(crate) fn guide(bank: Bank) -> Guide {
    let of = |brand, own: Vec<Menu>| {
        let menus = own.into_iter().chain([Menu::interbank(Channel::OtherBank)]).collect();
        Guide { brand: Some(brand), menus }
    };
    match bank {
        Bank::Bca => of(
            "BCA",
            vec![
                app("myBCA", "Transfer › Virtual Account"),
                app("BCA mobile", "m-BCA › m-Transfer › BCA Virtual Account"),
                atm("Transaksi Lainnya › Transfer › ke Rek BCA Virtual Account"),
                internet(Some("KlikBCA"), "Transfer Dana › Transfer ke BCA Virtual Account"),
            ],
        ),
        Bank::Bni => of(
            "BNI",
            vec![
                app("wondr by BNI", "Transfer › Virtual Account"),
                app("BNI Mobile Banking", "Transfer › Virtual Account Billing › Input Baru"),
                atm("Menu Lainnya › Transfer › Rekening Tabungan › Virtual Account Billing"),
                internet(None, "Transfer › Virtual Account Billing"),
            ],
        ),
        Bank::Bri => of(
            "BRI",
            vec![
                app("BRImo", "BRIVA"),
                atm("Transaksi Lain › Pembayaran › Lainnya › BRIVA"),
                internet(None, "Pembayaran › BRIVA"),
            ],
        ),
        Bank::Mandiri => of(
            "Mandiri",
            vec![
                Menu { entry: Entry::Search, ..app("Livin' by Mandiri", "Bayar/VA") },
                atm("Bayar/Beli › Lainnya › Multi Payment").split(),
                internet(None, "Pembayaran › Multi Payment").split(),
            ],
        ),
        Bank::Permata => of(
            "Permata",
            vec![
                app("PermataME", "Bayar Tagihan › Virtual Account"),
                atm("Transaksi Lainnya › Pembayaran › Pembayaran Lainnya › Virtual Account"),
                internet(Some("PermataNet"), "Pembayaran Tagihan › Virtual Account"),
            ],
        ),
        Bank::Cimb => of(
            "CIMB Niaga",
            vec![
                app("OCTO by CIMB Niaga", "Transfer › Rekening CIMB Niaga Lain"),
                atm("Pembayaran › Lanjut › Virtual Account"),
                internet(Some("OCTO Clicks"), "Transfer › Rekening CIMB Niaga Lain"),
            ],
        ),
        Bank::Bsi => of(
            "BSI",
            vec![
                app("BYOND by BSI", "Bayar & Beli › Institusi").split(),
                atm("Pembayaran/Pembelian › Institusi").split(),
                internet(Some("BSI Net"), "Pembayaran › Institusi").split(),
            ],
        ),
        Bank::Danamon | Bank::Btn | Bank::Maybank | Bank::Bjb | Bank::Bnc | Bank::Bss => {
            let channels = [Channel::Mobile, Channel::Atm, Channel::Internet];
            Guide { brand: None, menus: channels.map(Menu::interbank).into() }
        }
    }
}
