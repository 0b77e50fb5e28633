//! Default name of this device.

/// Returns the default name of this device in the player's list of devices. The name contains only
/// the operating system, because the host name may be private.
pub(crate) fn default_device_label() -> String {
    format!("ply on {}", std::env::consts::OS)
}
