//! Tests of wide code.
