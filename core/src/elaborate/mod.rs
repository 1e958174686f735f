//! Typed ast → [`ir`](crate::ir).
