//! Values as text.
