//! The counter-based random numbers: one seed determines every number, whatever the order.
