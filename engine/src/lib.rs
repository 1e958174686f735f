//! A NESL session: entries in, outcomes out.
