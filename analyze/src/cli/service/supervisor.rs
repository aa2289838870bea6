//! Whoever has started an agent or a service, and wants to know when it is ready: systemd, for a unit of `Type=notify`.

use sd_notify::NotifyState;

/// Tells that all is ready, if somebody wants to know.
pub fn is_ready() {
    if let Err(error) = sd_notify::notify(true, &[NotifyState::Ready]) {
        tracing::warn!("systemd is not told that this is ready: {error}");
    }
}
