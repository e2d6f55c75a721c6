internal import CTarn
internal import Synchronization

/// A value that one thread at a time uses.
///
/// Not Synchronization's `Mutex`, which remembers the thread that holds it by the kernel's number,
/// and that number is the parent's in a forked child: the first thread that waits for such a lock
/// there ends the program. This lock remembers only whether it is held, so a child of a
/// single-threaded process can use every lock of its parent's.
///
/// A thread that waits looks for some hundred nanoseconds, then sleeps. Which of several sleepers
/// is next is not defined.
///
/// Threading: any thread. Not recursive: a closure that locks again what it holds never returns.
package struct Lock<Content: ~Copyable>: ~Copyable, @unchecked Sendable {
  // because: the content is only used by the thread that holds the lock.

  /// Free, held, or held while others may sleep; see `tarn_lock_wait`. In a cell because the kernel
  /// needs the address of a word on which a thread sleeps.
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
