//! What the clients of this folder share: settings, where bodies go, and the lines that are read and answered. The
//! contract is in docs/contestants.md.

const std = @import("std");
const Io = std.Io;

pub const Settings = struct {
    url: []const u8,
    /// All repetitions over one connection.
    keep: bool,
    /// For reading; `BUFFER_BYTES` if that is set, else `PHOTOFINISH_BUFFER`.
    buffer_bytes: usize,

    pub fn read(environ: *const std.process.Environ.Map) !Settings {
        const connection = try variable(environ, "PHOTOFINISH_CONNECTION");
        const keep = std.mem.eql(u8, connection, "keep");
        if (!keep and !std.mem.eql(u8, connection, "new")) {
            std.debug.print("PHOTOFINISH_CONNECTION is {s}; it has to be keep or new\n", .{connection});
            return error.WrongSetting;
        }
        const protocol = try variable(environ, "PHOTOFINISH_PROTOCOL");
        if (!std.mem.eql(u8, protocol, "http/1.1")) {
            std.debug.print("PHOTOFINISH_PROTOCOL is {s}; only http/1.1 can be asked for here\n", .{protocol});
            return error.WrongSetting;
        }
        const buffer = environ.get("BUFFER_BYTES") orelse try variable(environ, "PHOTOFINISH_BUFFER");
        const buffer_bytes = std.fmt.parseInt(usize, buffer, 10) catch 0;
        if (buffer_bytes == 0) {
            std.debug.print("the buffer is {s}; it has to be a number of bytes above 0\n", .{buffer});
            return error.WrongSetting;
        }
        return .{ .url = try variable(environ, "PHOTOFINISH_URL"), .keep = keep, .buffer_bytes = buffer_bytes };
    }

    fn variable(environ: *const std.process.Environ.Map, name: []const u8) ![]const u8 {
        return environ.get(name) orelse {
            std.debug.print("{s} is not set; the laboratory sets it\n", .{name});
            return error.MissingSetting;
        };
    }
};

pub const Fetched = struct { status: u16, body_bytes: u64 };

/// Answers until the end of input. `client` has `fetch(io, ?Io.File) !Fetched`, which writes the body to the file or
/// throws it away; what is left of a failed call must not harm the next one.
pub fn serve(io: Io, client: anytype) !void {
    var command_buffer: [8192]u8 = undefined;
    var answer_buffer: [1024]u8 = undefined;
    var commands = Io.File.stdin().readerStreaming(io, &command_buffer);
    var answers = Io.File.stdout().writerStreaming(io, &answer_buffer);
    const out = &answers.interface;
    try out.writeAll("{\"ready\":true}\n");
    try out.flush();
    while (try commands.interface.takeDelimiter('\n')) |line| {
        // The names of errors are plain words: nothing in them has to be escaped.
        if (repeat(io, client, line)) |fetched| {
            try out.print("{{\"bytes\":{d},\"status\":{d}}}\n", .{ fetched.body_bytes, fetched.status });
        } else |err| {
            try out.print("{{\"error\":\"{s}\"}}\n", .{@errorName(err)});
        }
        try out.flush();
    }
}

fn repeat(io: Io, client: anytype, line: []const u8) !Fetched {
    const save = "save ";
    if (std.mem.eql(u8, line, "go")) return client.fetch(io, null);
    if (!std.mem.startsWith(u8, line, save)) return error.UnknownCommand;
    const file = try Io.Dir.cwd().createFile(io, line[save.len..], .{});
    defer file.close(io);
    return client.fetch(io, file);
}
