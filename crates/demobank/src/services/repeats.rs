//! What a bank makes of an order that it has carried out already.

/// What a second call with the same reference and the same content is answered with. Other content is always 404xx18.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// The first answer once more.
    SameAnswer,
    /// 409xx01
    Refused,
}
