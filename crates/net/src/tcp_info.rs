//! What the kernel counts for one connection.

/// The counters of `TCP_INFO` (tcp(7)) since the connection began. Heads and framing of the protocol above are included,
/// headers of TCP and IP are not. The kernel counts SYN and FIN
/// as a byte each; a FIN that has been received is not counted here.
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

/// States of a connection whose peer has sent FIN (`enum` in the kernel's `net/tcp_states.h`): `TIME_WAIT`, `CLOSE_WAIT`,
/// `LAST_ACK`, `CLOSING`.
const FIN_RECEIVED: [u8; 4] = [6, 8, 9, 11];

impl TcpInfo {
    /// How much a kernel has to write so that all counters are there (Linux 4.6).
    pub(crate) const KERNEL_BYTES: usize = std::mem::offset_of!(libc::tcp_info, tcpi_data_segs_out) + size_of::<u32>();
}

impl From<&libc::tcp_info> for TcpInfo {
    fn from(info: &libc::tcp_info) -> Self {
        let fin = u64::from(FIN_RECEIVED.contains(&info.tcpi_state));
        Self {
            bytes_received: info.tcpi_bytes_received.saturating_sub(fin),
            bytes_acked: info.tcpi_bytes_acked,
            segments_in: info.tcpi_segs_in,
            segments_out: info.tcpi_segs_out,
            data_segments_in: info.tcpi_data_segs_in,
            data_segments_out: info.tcpi_data_segs_out,
        }
    }
}
