internal import Glibc

/// The length up to which this process may write files: RLIMIT_FSIZE, `ulimit -f`.
///
/// A write beyond it fails, and the system sends SIGXFSZ to the thread, which ends the process by
/// default. Here it is an error like that of a full disk.
enum SizeLimit {
  /// Nil without a limit.
  static var byteCount: Int64? {
    var limits = rlimit()
    guard unsafe getrlimit(resource, &limits) == 0 else { return nil }
    return Int64(exactly: limits.rlim_cur)
  }

  static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_FSIZE.rawValue) }

  /// Whether a short write to the file ended at the limit.
  static func isReached(by descriptor: Int32) -> Bool {
    guard let byteCount, let facts = FileFacts.of(descriptor: descriptor) else { return false }
    return facts.byteCount >= byteCount
  }

  /// Why a write to the file has written fewer bytes than it was given, as an error number.
  static func reason(forShortWriteTo descriptor: Int32) -> Int32 {
    isReached(by: descriptor) ? EFBIG : ENOSPC
  }

  /// Keeps SIGXFSZ from this thread.
  struct Silence {
    /// Nil without a limit.
    private let before: sigset_t?

    init() {
      guard SizeLimit.byteCount != nil else {
        before = nil
        return
      }
      var signals = Self.signals
      var before = sigset_t()
      unsafe pthread_sigmask(SIG_BLOCK, &signals, &before)
      self.before = before
    }

    /// On the same thread. Takes away the signal that was sent meanwhile.
    func end() {
      guard var before else { return }
      var signals = Self.signals
      var none = timespec()
      while unsafe sigtimedwait(&signals, nil, &none) > 0 {}
      unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    private static var signals: sigset_t {
      var signals = sigset_t()
      unsafe sigemptyset(&signals)
      unsafe sigaddset(&signals, SIGXFSZ)
      return signals
    }
  }
}
