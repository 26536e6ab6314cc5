//! 75 and 76: the bank tells merchants what became of their transfers by SKN and RTGS.

use super::transfers::Transfer;
use crate::{
    answer::Answer,
    journal::held,
    notification::{Notification, TransferTold},
    order::Knobs,
    prepared::Service,
    services::bank::BankServices,
};

impl BankServices {
    /// Tells merchants what became of their transfers since they were told last. A merchant without a door is told nothing.
    pub async fn tell_transfers(&self, knobs: Knobs) -> Vec<Answer> {
        let now_ms = self.now_ms();
        let untold: Vec<(Transfer, &str)> = {
            let mut ledger = held(&self.ledger);
            ledger.advance(now_ms);
            let untold = ledger.take_untold();
            let known = |(id, status): (String, &'static str)| Some((ledger.transfers.of_any(&id)?.clone(), status));
            untold.into_iter().filter_map(known).collect()
        };
        let mut answers = Vec::new();
        for (transfer, status) in untold {
            answers.extend(self.notify_of(&transfer, status, knobs.clone()).await);
        }
        answers
    }

    async fn notify_of(&self, transfer: &Transfer, status: &str, knobs: Knobs) -> Option<Answer> {
        let service = match transfer.service {
            Service::Rtgs => Service::RtgsNotify,
            _ => Service::SknNotify,
        };
        let door = self.member(&transfer.client_id)?.door.clone()?;
        let told = Notification {
            reference: transfer.reference.clone(),
            bank_reference: transfer.bank_reference.clone(),
            amount: transfer.amount,
            status: status.to_owned(),
            paid_at_ms: Some(transfer.at_ms),
            transfer: TransferTold {
                external_id: transfer.external_id.clone(),
                bank: transfer.beneficiary.bank.clone(),
                number: transfer.beneficiary.number.clone(),
                name: transfer.name.clone(),
                source: transfer.source.number.clone(),
            },
            ..Notification::default()
        };
        Some(door.bank.notify(&door.contract, service, told, knobs).await)
    }
}
