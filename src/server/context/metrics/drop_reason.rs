/// Reason why a connection was dropped before it became a WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The operating system failed to accept the connection, usually for lack of file descriptors.
    NotAccepted,
    /// The TLS handshake failed, or the client did not use TLS.
    TlsHandshake,
    /// The client violated HTTP or disconnected during a request.
    BrokenRequest,
    /// The request took too long.
    SlowRequest,
    /// There were too many connections, and a newer one replaced this one.
    Displaced,
    /// A web page from a forbidden origin opened the connection.
    ForbiddenOrigin,
    /// The client address had exceeded one of its limits.
    AddressLimit,
}

impl DropReason {
    /// All reasons, in the order of the enum.
    pub const ALL: [Self; 7] = [
        Self::NotAccepted,
        Self::TlsHandshake,
        Self::BrokenRequest,
        Self::SlowRequest,
        Self::Displaced,
        Self::ForbiddenOrigin,
        Self::AddressLimit,
    ];

    /// Returns the label of the reason in the metrics.
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
