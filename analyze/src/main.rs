//! The command `diytrace`.
fn main() {}
