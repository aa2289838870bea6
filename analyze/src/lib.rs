//! Reads profiles.
