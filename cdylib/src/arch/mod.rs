//! What depends on the processor, one file each, with the same names in all of them.

#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod x86_64;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
pub use x86_64::*;

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")))]
compile_error!("diytrace records on x86-64 Linux with glibc");
