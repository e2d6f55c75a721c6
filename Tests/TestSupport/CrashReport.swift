import Foundation

/// Says at which place a test process gets an invalid address: thousands of tests run in one
/// process, which ends without a word.
enum CrashReport {
  private typealias Backtrace =
    @convention(c) (
      UnsafeMutablePointer<UnsafeMutableRawPointer?>, Int32
    ) -> Int32
  private typealias Symbols =
    @convention(c) (
      UnsafeMutablePointer<UnsafeMutableRawPointer?>, Int32, Int32
    ) -> Void

  private static let depth = 64

  // Made before the handler is installed, and never changed: it must not allocate.
  private nonisolated(unsafe) static let frames =  // because: see above
    UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: depth)
  private nonisolated(unsafe) static let text =  // because: see above
    strdup("Fatal error: a test process got SIGSEGV here:\n")!
  private static let backtrace = unsafeBitCast(dlsym(nil, "backtrace"), to: Backtrace.self)
  private static let symbols = unsafeBitCast(
    dlsym(nil, "backtrace_symbols_fd"), to: Symbols.self)

  /// From now on the process writes the stack of the thread to standard error before it ends.
  static let install: Void = {
    // The first call loads a library.
    _ = backtrace(frames, Int32(depth))
    _ = (text, symbols)
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in report() }
    // The instruction is executed again, and ends the process as it would without this.
    action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
    sigaction(SIGSEGV, &action, nil)
  }()

  private static func report() {
    _ = write(STDERR_FILENO, text, strlen(text))
    symbols(frames, backtrace(frames, Int32(depth)), STDERR_FILENO)
  }
}
