internal import CTarn
internal import Synchronization

/// A value that one thread at a time uses: Synchronization's `Mutex`, which the thread sanitizer
/// can follow.
///
/// On Linux a contended `Mutex` is passed on by the kernel (a priority-inheritance futex). The
/// sanitizer does not see that, and reports a race between two closures that never ran together. A
/// build for it (`THREAD_SANITIZER`) tells it when the lock changes hands; any other build has the
/// `Mutex` and nothing else.
///
/// Threading: any thread. Not recursive: a closure that locks again what it holds never returns.
package struct Lock<Content: ~Copyable>: ~Copyable, Sendable {
  private let mutex: Mutex<Content>
  #if THREAD_SANITIZER
    /// Its address stands for the lock.
    private let token = Token()
    private final class Token: Sendable {}
  #endif

  package init(_ value: consuming sending Content) { mutex = Mutex(value) }

  @inline(__always)
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Content) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    #if THREAD_SANITIZER
      let address = unsafe Unmanaged.passUnretained(token).toOpaque()
      return try mutex.withLock { value throws(Failure) in
        unsafe tarn_lock_acquired(address)
        defer { unsafe tarn_lock_released(address) }
        return try body(&value)
      }
    #else
      return try mutex.withLock(body)
    #endif
  }
}
