//! What happened to a refund, for events.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefundNews {
    RequiresAction,
    Succeeded,
    Failed,
    Cancelled,
    Returned,
}

impl RefundNews {
    pub const ALL: &[RefundNews] = &[
        RefundNews::RequiresAction,
        RefundNews::Succeeded,
        RefundNews::Failed,
        RefundNews::Cancelled,
        RefundNews::Returned,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            RefundNews::RequiresAction => "requires_action",
            RefundNews::Succeeded => "succeeded",
            RefundNews::Failed => "failed",
            RefundNews::Cancelled => "cancelled",
            RefundNews::Returned => "returned",
        }
    }
}
