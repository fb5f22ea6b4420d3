//! A mix writes its requests into memory that it already has.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use photofinish_load::mix::{Body, Entry, Mix, Order, RowOrder, Rows, Wanted};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counted by thread.
struct Counting;

// SAFETY: every call is passed on as it is; counting touches no memory that is being allocated.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that is ending has no counter any more, and counts nothing.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: `block` came from `System`.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: `block` came from `System`.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations_of(mut work: impl FnMut()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

#[test]
fn once_the_largest_request_was_written_no_request_allocates() {
    let rows = Rows::read("t.csv", "v\nshort\nlonger value\n".as_bytes(), RowOrder::Random).unwrap();
    let rows = Arc::new(rows);
    let wanted = |path: &'static str, body| Wanted {
        method: "POST",
        authority: "a",
        path,
        fields: &[],
        body,
        weight: 1.0,
        expect_status: None,
    };
    let entries = [
        wanted("/", Body::None),
        wanted("/{{seq 1000000000}}/{{uuid}}/{{hex 40}}/{{now_ms}}", Body::Fixed(b"x")),
        wanted("/{{random -9000000000000000000 9000000000000000000}}", Body::Template("{{csv.v}} {{choice a bb}}")),
    ];
    let entries = entries.iter().map(|one| Entry::new(one, Some(&rows)).unwrap()).collect();
    let mut mix = Mix::new(entries, Order::Weighted).unwrap();
    let mut bytes = 0;
    let mut send = |count: u32| (0..count).for_each(|_| bytes += mix.next().rendered.len());
    assert!(allocations_of(|| send(1000)) > 0, "the counter counts");
    assert_eq!(allocations_of(|| send(10_000)), 0);
    assert!(bytes > 0);
}
