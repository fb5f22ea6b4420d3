import java.lang.management.ManagementFactory;

/** What the language counts by itself; asked in the instrumented pass only. */
final class Counters {
    private Counters() {}

    /** Bytes that all living threads have allocated so far; those of threads that have ended are not in it. */
    static long allocatedBytes() {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long sum = 0;
        for (long bytes : threads.getThreadAllocatedBytes(threads.getAllThreadIds())) {
            sum += Math.max(bytes, 0);
        }
        return sum;
    }

    /** The counters' part of an answer. */
    static String since(long before) {
        long heapBytes = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        return ",\"allocated_bytes\":" + (allocatedBytes() - before) + ",\"heap_bytes\":" + heapBytes;
    }
}
