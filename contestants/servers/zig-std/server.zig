//! A std.http server that answers GET / with "Hello World!"; one concurrent task a connection.

const std = @import("std");
const Io = std.Io;

pub fn main(init: std.process.Init) !void {
    const arguments = try init.minimal.args.toSlice(init.arena.allocator());
    if (arguments.len != 3) {
        std.debug.print("usage: {s} ADDRESS PORT\n", .{arguments[0]});
        return error.Usage;
    }
    const address: Io.net.IpAddress = try .parse(arguments[1], try std.fmt.parseInt(u16, arguments[2], 10));
    var listener = try address.listen(init.io, .{ .reuse_address = true });
    defer listener.socket.close(init.io);

    var connections: Io.Group = .init;
    defer connections.cancel(init.io);
    while (true) {
        const stream = listener.accept(init.io) catch |err| switch (err) {
            error.ConnectionAborted => continue,
            else => return err,
        };
        connections.concurrent(init.io, serve, .{ init.io, stream }) catch |err| {
            stream.close(init.io);
            return err;
        };
    }
}

/// Answers the requests of one connection until either end closes it.
fn serve(io: Io, stream: Io.net.Stream) Io.Cancelable!void {
    defer stream.close(io);
    var receive_buffer: [8192]u8 = undefined;
    var send_buffer: [1024]u8 = undefined;
    var reader = stream.reader(io, &receive_buffer);
    var writer = stream.writer(io, &send_buffer);
    var server: std.http.Server = .init(&reader.interface, &writer.interface);
    while (true) {
        var request = server.receiveHead() catch return;
        const keep_alive = request.head.keep_alive;
        request.respond("Hello World!", .{
            .extra_headers = &.{.{ .name = "content-type", .value = "text/plain" }},
        }) catch return;
        if (!keep_alive) return;
    }
}
