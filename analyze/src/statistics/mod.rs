//! Tests of hypotheses.

pub mod ks;
