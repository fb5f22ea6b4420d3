//! Downloads through std.http.Client; bodies are streamed into a writer, as its own `fetch` does.

const std = @import("std");
const Io = std.Io;
const lines = @import("lines.zig");

pub const std_options: std.Options = .{ .http_disable_tls = true };

const Client = struct {
    http: std.http.Client,
    uri: std.Uri,
    keep: bool,
    buffer: []u8,

    pub fn fetch(client: *Client, io: Io, file: ?Io.File) !lines.Fetched {
        var request = try client.http.request(.GET, client.uri, .{ .keep_alive = client.keep });
        defer request.deinit();
        try request.sendBodiless();
        var redirect_buffer: [8192]u8 = undefined;
        var response = try request.receiveHead(&redirect_buffer);
        const status: u16 = @backingInt(response.head.status);
        const declared = response.head.content_length;

        var transfer_buffer: [64]u8 = undefined;
        const reader = response.reader(&transfer_buffer);
        const received = receive(reader, io, file, client.buffer) catch |err| switch (err) {
            error.ReadFailed => return response.bodyErr() orelse (request.connection.?.getReadError() orelse err),
            else => return err,
        };
        // A connection that ends early looks like the end of the body to the reader.
        if (declared) |bytes| if (received != bytes) return error.BodyTruncated;
        return .{ .status = status, .body_bytes = received };
    }

    fn receive(reader: *Io.Reader, io: Io, file: ?Io.File, buffer: []u8) !u64 {
        if (file) |kept| {
            var writer = kept.writerStreaming(io, buffer);
            const received = reader.streamRemaining(&writer.interface) catch |err| return writer.err orelse err;
            writer.interface.flush() catch |err| return writer.err orelse err;
            return received;
        }
        var discarding: Io.Writer.Discarding = .init(buffer);
        return reader.streamRemaining(&discarding.writer);
    }
};

pub fn main(init: std.process.Init) !void {
    const allocator = std.heap.c_allocator;
    const settings: lines.Settings = try .read(init.environ_map);
    var client: Client = .{
        .http = .{ .allocator = allocator, .io = init.io },
        .uri = try .parse(settings.url),
        .keep = settings.keep,
        .buffer = try allocator.alloc(u8, settings.buffer_bytes),
    };
    try lines.serve(init.io, &client);
    client.http.deinit();
}
