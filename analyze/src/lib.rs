//! Reads profiles.

pub mod correct;
pub mod demangle;
pub mod elf;
pub mod error;
pub mod functions;
pub mod histogram;
pub mod load;
pub mod merge;
pub mod nearest;
pub mod record;
pub mod report;
pub mod symbolize;
#[cfg(test)]
mod testing;
pub mod time;
