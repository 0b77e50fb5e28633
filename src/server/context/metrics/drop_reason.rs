//! Why connections come to nothing.

/// Why a connection came to nothing before it was a WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The operating system could not accept it: most often there are no descriptors left.
    NotAccepted,
    /// The TLS handshake failed, or the client spoke no TLS.
    TlsHandshake,
    /// It was no HTTP, or ended in the middle of a request.
    BrokenRequest,
    /// It took too long over its request.
    SlowRequest,
    /// It was evicted by a newer one, since there were too many.
    Displaced,
    /// It came from a page of another origin.
    ForbiddenOrigin,
    /// Its address was over one of its limits.
    AddressLimit,
}

impl DropReason {
    /// Every cause.
    pub const ALL: [Self; 7] = [
        Self::NotAccepted,
        Self::TlsHandshake,
        Self::BrokenRequest,
        Self::SlowRequest,
        Self::Displaced,
        Self::ForbiddenOrigin,
        Self::AddressLimit,
    ];

    /// Its name among the metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotAccepted => "not_accepted",
            Self::TlsHandshake => "no_tls",
            Self::BrokenRequest => "broken_request",
            Self::SlowRequest => "slow_request",
            Self::Displaced => "displaced",
            Self::ForbiddenOrigin => "origin",
            Self::AddressLimit => "address",
        }
    }
}
