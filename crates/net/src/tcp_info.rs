//! What the kernel counts for one connection.

/// The counters of `TCP_INFO` (tcp(7)) since the connection began. Heads and framing of the protocol above are included,
/// headers of TCP and IP are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Bytes received in order, whether read or not.
    pub bytes_received: u64,
    /// Bytes sent that the peer has acknowledged.
    pub bytes_acked: u64,
    /// Segments received, those without data included; what offloads joined into one is counted as the packets that it was.
    pub segments_in: u32,
    /// Segments sent, those without data included.
    pub segments_out: u32,
    /// Segments received that carried data.
    pub data_segments_in: u32,
    /// Segments sent that carried data.
    pub data_segments_out: u32,
}
