internal import CTarn
internal import Glibc

/// A thread of the library, for long waits and computations, which must not occupy a thread of a
/// shared pool.
///
/// While the process forks, all of them rest: a lock of Swift's runtime that one of them held would
/// stay locked in the child, and what others guard could be half changed.
package enum BackgroundThread {
  private final class Body {
    let name: StaticString
    let run: @Sendable () -> Void
    init(_ name: StaticString, _ run: @escaping @Sendable () -> Void) {
      self.name = name
      self.run = run
    }
  }

  /// - Parameter name: shown by the system's tools; 15 bytes at most.
  /// - Returns: false if the process cannot start another thread.
  package static func start(_ name: StaticString, _ body: @escaping @Sendable () -> Void) -> Bool {
    let argument = unsafe Unmanaged.passRetained(Body(name, body)).toOpaque()
    // Signals are for the program's own threads; the new thread inherits this mask.
    var all = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    tarn_thread_busy()
    var thread = pthread_t()
    let result = unsafe pthread_create(
      &thread, nil,
      { argument in
        tarn_thread_begin()
        unsafe BackgroundThread.run(Unmanaged<Body>.fromOpaque(argument!))
        tarn_thread_resting()
        return nil
      }, argument)
    unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    guard result == 0 else {
      unsafe Unmanaged<Body>.fromOpaque(argument).release()
      tarn_thread_resting()
      return false
    }
    pthread_detach(thread)
    return true
  }

  private static func run(_ started: Unmanaged<Body>) {
    let body = unsafe started.takeRetainedValue()
    unsafe UnsafeRawPointer(body.name.utf8Start).withMemoryRebound(
      to: CChar.self, capacity: body.name.utf8CodeUnitCount + 1
    ) { unsafe tarn_name_thread($0) }
    body.run()
  }

  /// Runs `sleep` on such a thread, and lets the process fork meanwhile.
  package static func rest(_ sleep: () -> Void) {
    tarn_thread_resting()
    sleep()
    tarn_thread_busy()
  }

  /// Runs `body`, on any thread, while the process does not fork. A fork waits for it, for a second
  /// at most.
  package static func holdingForks<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    tarn_section_begin()
    defer { tarn_section_end() }
    return try body()
  }
}
