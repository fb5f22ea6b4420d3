//! The published pure-Zig client's design on the host: the C library's sockets, one buffer on the stack, a head read by
//! hand, then recv until the body is whole.

const std = @import("std");
const c = std.c;
const Io = std.Io;
const head_of = @import("head.zig");
const lines = @import("lines.zig");

/// The buffer lies on the stack, as published, so that its largest size is fixed.
const most_buffer_bytes = 65536;

const Client = struct {
    address: c.sockaddr.in,
    request: []const u8,
    keep: bool,
    buffer_bytes: usize,
    fd: ?c.fd_t = null,

    pub fn fetch(client: *Client, io: Io, file: ?Io.File) !lines.Fetched {
        var storage: [most_buffer_bytes]u8 = undefined;
        const fd = client.fd orelse try client.open();
        // Whatever fails from here on ends the connection; the next repetition makes another.
        client.fd = null;
        errdefer _ = c.close(fd);

        try sendAll(fd, client.request);
        const head = try exchange(fd, storage[0..client.buffer_bytes], io, file);
        if (client.keep and head.keep_alive) client.fd = fd else _ = c.close(fd);
        return .{ .status = head.status, .body_bytes = head.content_length };
    }

    fn open(client: *const Client) !c.fd_t {
        const fd = c.socket(c.AF.INET, c.SOCK.STREAM | c.SOCK.CLOEXEC, 0);
        if (fd < 0) return failure(error.SocketFailed);
        errdefer _ = c.close(fd);
        if (c.connect(fd, @ptrCast(&client.address), @sizeOf(c.sockaddr.in)) != 0) return failure(error.ConnectFailed);
        return fd;
    }
};

/// Reads the response to its end.
fn exchange(fd: c.fd_t, buffer: []u8, io: Io, file: ?Io.File) !head_of.Head {
    var filled: usize = 0;
    const head = while (filled < buffer.len) {
        const got = try receive(fd, buffer[filled..]);
        if (got == 0) return error.ConnectionEndedInHead;
        filled += got;
        if (try head_of.parse(buffer[0..filled])) |found| break found;
    } else return error.HeadTooLong;

    const begun = buffer[head.bytes..filled];
    if (begun.len > head.content_length) return error.MoreThanContentLength;
    try keep(io, file, begun);
    var missing = head.content_length - begun.len;
    while (missing > 0) {
        const got = try receive(fd, buffer[0..@min(missing, buffer.len)]);
        if (got == 0) return error.ConnectionEndedInBody;
        try keep(io, file, buffer[0..got]);
        missing -= got;
    }
    return head;
}

fn keep(io: Io, file: ?Io.File, piece: []const u8) !void {
    if (file) |kept| try kept.writeStreamingAll(io, piece);
}

fn sendAll(fd: c.fd_t, bytes: []const u8) !void {
    var rest = bytes;
    while (rest.len > 0) {
        const count = c.send(fd, rest.ptr, rest.len, c.MSG.NOSIGNAL);
        if (count >= 0) {
            rest = rest[@intCast(count)..];
        } else if (c.errno(count) != .INTR) return failure(error.SendFailed);
    }
}

fn receive(fd: c.fd_t, buffer: []u8) !usize {
    while (true) {
        const count = c.recv(fd, buffer.ptr, buffer.len, 0);
        if (count >= 0) return @intCast(count);
        if (c.errno(count) != .INTR) return failure(error.ReceiveFailed);
    }
}

/// The error of the last call: what the peer did, by its name, or else what failed.
fn failure(otherwise: anytype) (@TypeOf(otherwise) || error{ ConnectionReset, ConnectionRefused, BrokenPipe, NoPortLeft }) {
    return switch (c.errno(-1)) {
        .CONNRESET => error.ConnectionReset,
        .CONNREFUSED => error.ConnectionRefused,
        .PIPE => error.BrokenPipe,
        .ADDRNOTAVAIL => error.NoPortLeft,
        else => otherwise,
    };
}

fn setUp(settings: lines.Settings, allocator: std.mem.Allocator) !Client {
    if (settings.buffer_bytes > most_buffer_bytes) return error.BufferTooLarge;
    const uri: std.Uri = try .parse(settings.url);
    var host_buffer: [256]u8 = undefined;
    const host = try (uri.host orelse return error.UrlWithoutHost).toRaw(&host_buffer);
    const port = uri.port orelse 80;
    const ip: Io.net.Ip4Address = try .parse(host, port);
    return .{
        .address = .{ .port = std.mem.nativeToBig(u16, port), .addr = @bitCast(ip.bytes) },
        .request = try std.fmt.allocPrint(allocator, "GET {f} HTTP/1.1\r\nHost: {s}:{d}\r\n\r\n", .{
            uri.fmt(.{ .path = true, .query = true }), host, port,
        }),
        .keep = settings.keep,
        .buffer_bytes = settings.buffer_bytes,
    };
}

pub fn main(init: std.process.Init) !void {
    const settings: lines.Settings = try .read(init.environ_map);
    var client = try setUp(settings, std.heap.c_allocator);
    try lines.serve(init.io, &client);
    if (client.fd) |fd| _ = c.close(fd);
}
