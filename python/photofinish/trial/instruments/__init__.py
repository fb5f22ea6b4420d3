"""What is counted rather than timed: system calls, bytes that they copy, allocations; in passes of their own."""
