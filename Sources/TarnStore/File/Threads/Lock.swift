internal import CTarn
internal import Synchronization

/// A value protected by a lock.
///
/// Not Synchronization's `Mutex`, which stores the kernel's id of the thread that holds it, and in
/// a forked child that id is the parent's: the first thread that waits for such a lock there ends
/// the program. This lock stores only whether it is held, so a child of a single-threaded process
/// can use every lock of its parent.
///
/// A waiting thread spins for some hundred nanoseconds, then sleeps. The order of several sleepers
/// is undefined.
///
/// Threading: any thread. Not recursive: locking a lock again that the thread holds never returns.
package struct Lock<Content: ~Copyable>: ~Copyable, @unchecked Sendable {
  // because: only the thread that holds the lock uses the content.

  /// Free, held, or held while others may sleep; see `tarn_lock_wait`. In a cell because the kernel
  /// needs the address of the word on which a thread sleeps.
  private let word = _Cell(Atomic<UInt32>(0))
  private let content: _Cell<Content>

  package init(_ value: consuming sending Content) { content = _Cell(value) }

  @inline(__always)
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Content) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    // Addresses first: to the thread sanitizer, an `inout` use of a property changes all of `self`.
    let word = unsafe word._address
    let content = unsafe content._address
    if unsafe !word.pointee.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged
    {
      unsafe tarn_lock_wait(word)
    }
    defer {
      if unsafe word.pointee.exchange(0, ordering: .releasing) == 2 {
        unsafe tarn_lock_wake(word)
      }
    }
    return try unsafe body(&content.pointee)
  }
}
