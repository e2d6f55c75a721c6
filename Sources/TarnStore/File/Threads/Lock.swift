internal import CTarn
internal import Synchronization

/// A value protected by a lock.
///
/// Not Synchronization's `Mutex`, which stores the kernel's id of the thread that holds it, and in
/// a forked child that id is the parent's: the first thread that waits for such a lock there ends
/// the program. This lock stores only whether it is held, and by a thread of which process: in a
/// child, one that a thread of the parent held is free.
///
/// A waiting thread spins for some hundred nanoseconds, then sleeps. The order of several sleepers
/// is undefined.
///
/// Threading: any thread. Not recursive: locking a lock again that the thread holds never returns.
package struct Lock<Content: ~Copyable>: ~Copyable, @unchecked Sendable {
  // because: only the thread that holds the lock uses the content.

  /// Free, held, or held while others may sleep; see `tarn_lock_wait`. In a cell because the kernel
  /// needs the address of the word on which a thread sleeps.
  private let word: _Cell<Atomic<UInt32>>
  private let content: _Cell<Content>

  package init(_ value: consuming sending Content) {
    word = _Cell(Atomic(0))
    content = _Cell(value)
  }

  /// A lock of the process, for a static property: a fork takes it, so that the child finds its
  /// content whole. Take no other lock while you hold it.
  package init(ofProcess value: consuming sending Content) {
    word = _Cell(Atomic(tarn_lock_new))
    content = _Cell(value)
  }

  /// Runs `body` if no thread holds the lock, and returns false otherwise.
  borrowing func withLockIfFree(_ body: (inout sending Content) -> Void) -> Bool {
    let word = unsafe word._address
    let content = unsafe content._address
    let held = tarn_lock_held()
    let wasFree = unsafe word.pointee.compareExchange(
      expected: 0, desired: held, ordering: .acquiring
    ).exchanged
    guard wasFree else { return false }
    defer {
      if unsafe word.pointee.exchange(0, ordering: .releasing) == held &+ 1 {
        unsafe tarn_lock_wake(word)
      }
    }
    unsafe body(&content.pointee)
    return true
  }

  @inline(__always)
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Content) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    // Addresses first: to the thread sanitizer, an `inout` use of a property changes all of `self`.
    let word = unsafe word._address
    let content = unsafe content._address
    let held = tarn_lock_held()
    let wasFree = unsafe word.pointee.compareExchange(
      expected: 0, desired: held, ordering: .acquiring
    ).exchanged
    if !wasFree { unsafe tarn_lock_wait(word) }
    defer {
      if unsafe word.pointee.exchange(0, ordering: .releasing) == held &+ 1 {
        unsafe tarn_lock_wake(word)
      }
    }
    return try unsafe body(&content.pointee)
  }
}
