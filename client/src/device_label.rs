//! What this device is called.

/// What this device is called in the list of the player's, unless the player says: by the system alone, since
/// what the machine is called is nobody's business.
pub(crate) fn default_device_label() -> String {
    format!("ply on {}", std::env::consts::OS)
}
