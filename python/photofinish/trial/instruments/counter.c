/* Counts calls of malloc and its kin, and the bytes that they hand out, into a file that PHOTOFINISH_ALLOCATIONS names and
 * all processes share. Sizes are those that the allocator really reserved (malloc_usable_size), so that what is freed is
 * what was counted. Loaded by LD_PRELOAD; a program without the C library's malloc is not touched by it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct counters {
    _Atomic int64_t calls, bytes, live, peak;
};

static struct counters before_main, *counters = &before_main;
static void *(*real_malloc)(size_t), *(*real_calloc)(size_t, size_t), *(*real_realloc)(void *, size_t);
static void *(*real_memalign)(size_t, size_t), (*real_free)(void *);

/* dlsym may itself allocate before there is anything to forward to. */
static char early[8192];
static size_t early_used;

static int is_early(const void *p) { return (const char *)p >= early && (const char *)p < early + sizeof early; }

static void *early_bytes(size_t size) {
    size_t at = (early_used + 15) & ~(size_t)15;
    if (size > sizeof early || at > sizeof early - size) return NULL;
    early_used = at + size;
    return early + at;
}

static int resolve(void) {
    static _Thread_local int resolving;
    if (real_free) return 1;
    if (resolving) return 0;
    resolving = 1;
    real_malloc = dlsym(RTLD_NEXT, "malloc");
    real_calloc = dlsym(RTLD_NEXT, "calloc");
    real_realloc = dlsym(RTLD_NEXT, "realloc");
    real_memalign = dlsym(RTLD_NEXT, "memalign");
    real_free = dlsym(RTLD_NEXT, "free");
    resolving = 0;
    return real_free != NULL;
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("PHOTOFINISH_ALLOCATIONS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *shared = mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (shared == MAP_FAILED) return;
    /* What a process before this one has left without freeing it died with it. */
    atomic_store(&((struct counters *)shared)->live, atomic_load(&before_main.live));
    counters = shared;
}

static void take(void *p) {
    if (!p || is_early(p)) return;
    int64_t size = (int64_t)malloc_usable_size(p);
    atomic_fetch_add_explicit(&counters->calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counters->bytes, size, memory_order_relaxed);
    int64_t live = atomic_fetch_add_explicit(&counters->live, size, memory_order_relaxed) + size;
    int64_t peak = atomic_load_explicit(&counters->peak, memory_order_relaxed);
    while (live > peak && !atomic_compare_exchange_weak(&counters->peak, &peak, live)) {
    }
}

static void give(void *p) {
    if (p) atomic_fetch_sub_explicit(&counters->live, (int64_t)malloc_usable_size(p), memory_order_relaxed);
}

void *malloc(size_t size) {
    if (!resolve()) return early_bytes(size);
    void *p = real_malloc(size);
    take(p);
    return p;
}

void *calloc(size_t count, size_t size) {
    if (!resolve()) { /* static memory is zero */
        return size && count > sizeof early / size ? NULL : early_bytes(count * size);
    }
    void *p = real_calloc(count, size);
    take(p);
    return p;
}

void *realloc(void *old, size_t size) {
    if (!resolve()) return NULL;
    if (is_early(old)) {
        void *p = malloc(size);
        size_t known = (size_t)(early + sizeof early - (char *)old);
        if (p) memcpy(p, old, size < known ? size : known);
        return p;
    }
    int64_t before = old ? (int64_t)malloc_usable_size(old) : 0;
    void *p = real_realloc(old, size);
    if (p || size == 0) atomic_fetch_sub_explicit(&counters->live, before, memory_order_relaxed);
    take(p);
    return p;
}

void free(void *p) {
    if (!p || is_early(p) || !resolve()) return;
    give(p);
    real_free(p);
}

void *memalign(size_t alignment, size_t size) {
    if (!resolve()) return NULL;
    void *p = real_memalign(alignment, size);
    take(p);
    return p;
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **out, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) || !alignment || (alignment & (alignment - 1))) return 22; /* EINVAL */
    void *p = memalign(alignment, size);
    if (!p) return 12; /* ENOMEM */
    *out = p;
    return 0;
}
