//! Everything as incremental queries; alone in naming salsa.
