//! The little of a response's head that the socket client needs.

const std = @import("std");

pub const Head = struct {
    status: u16,
    /// Length of the head in bytes, its empty line included.
    bytes: usize,
    content_length: u64,
    keep_alive: bool,
};

pub const Error = error{ NotHttp11, BadHeaderField, NoContentLength, TwoContentLengths };

/// Reads a head that begins `received`; null as long as its end is not there.
pub fn parse(received: []const u8) Error!?Head {
    const end = std.mem.find(u8, received, "\r\n\r\n") orelse return null;
    var fields = std.mem.splitSequence(u8, received[0..end], "\r\n");
    const first = fields.first();
    const prefix = "HTTP/1.1 ";
    if (!std.mem.startsWith(u8, first, prefix) or first.len < prefix.len + 3) return error.NotHttp11;
    const status = number(u16, first[prefix.len..][0..3]) orelse return error.NotHttp11;

    var content_length: ?u64 = null;
    var keep_alive = true;
    while (fields.next()) |field| {
        const colon = std.mem.findScalar(u8, field, ':') orelse return error.BadHeaderField;
        const name = field[0..colon];
        const value = std.mem.trim(u8, field[colon + 1 ..], " \t");
        if (std.ascii.eqlIgnoreCase(name, "content-length")) {
            if (content_length != null) return error.TwoContentLengths;
            content_length = number(u64, value) orelse return error.NoContentLength;
        } else if (std.ascii.eqlIgnoreCase(name, "transfer-encoding")) {
            return error.NoContentLength;
        } else if (std.ascii.eqlIgnoreCase(name, "connection")) {
            keep_alive = !std.ascii.eqlIgnoreCase(value, "close");
        }
    }
    return .{
        .status = status,
        .bytes = end + 4,
        .content_length = content_length orelse return error.NoContentLength,
        .keep_alive = keep_alive,
    };
}

/// A decimal number of nothing but digits: the standard parser also takes signs and underscores.
fn number(comptime T: type, text: []const u8) ?T {
    for (text) |byte| if (!std.ascii.isDigit(byte)) return null;
    return std.fmt.parseInt(T, text, 10) catch null;
}

const good = "HTTP/1.1 200 OK\r\nServer: x\r\ncontent-LENGTH:  12 \r\n\r\nHello World!";

test "a head is found once its empty line is there and never before" {
    for (0..good.len + 1) |cut| {
        const head = try parse(good[0..cut]);
        if (cut < good.len - 12) {
            try std.testing.expectEqual(null, head);
        } else {
            try std.testing.expectEqual(Head{
                .status = 200,
                .bytes = good.len - 12,
                .content_length = 12,
                .keep_alive = true,
            }, head.?);
        }
    }
}

test "a body whose end can not be known is an error" {
    for ([_][]const u8{
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1_0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno field\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 20\r\n\r\n",
        "\r\n\r\n",
    }) |bad| {
        if (parse(bad)) |_| return error.WasTaken else |_| {}
    }
}

test "no change of one byte breaks the parser" {
    var changed = good.*;
    for (0..good.len) |place| {
        for (0..256) |byte| {
            changed[place] = @intCast(byte);
            if (parse(&changed) catch null) |head| try std.testing.expect(head.bytes <= changed.len);
        }
        changed[place] = good[place];
    }
}
