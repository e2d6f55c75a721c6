internal import CTarn
internal import Glibc

/// A descriptor that becomes readable when a signal file is written, closed by a writer, moved or
/// deleted, for a run loop or a custom pump: without a hop through the watcher's thread.
///
/// It is an inotify descriptor, so the rules of `SignalWatcher` apply: an event only means "check
/// again", and a check is due every `Lookout.lookEveryNanoseconds` even without events. A user can
/// have 128 of these across all processes; then it is an event descriptor that the watcher's thread
/// writes to.
///
/// Threading: one thread at a time.
package final class WaitDescriptor: Sendable {
  /// The events since the last `drain`.
  package struct Arrivals: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    /// Compare the counter.
    package static let changed = Arrivals(rawValue: 1)
    /// A process closed the file, perhaps a writer that died between commit and announcement: check
    /// the data's head record as well.
    package static let closed = Arrivals(rawValue: 2)
    /// The file was moved or deleted, or its watch was removed.
    package static let lost = Arrivals(rawValue: 4)

    /// The counter alone might not show the change. Written without a literal of several options,
    /// which generic code would build at every wake-up.
    package var callsForProbe: Bool { contains(.closed) || contains(.lost) }
  }

  package let descriptor: Int32
  private let relay: Relay?

  /// The watcher's thread, in the place of inotify.
  private struct Relay {
    let waker: Waker
    let registration: SignalRegistration
  }

  /// Errors: `.limitExceeded` if the process can start no thread or has no descriptor left.
  fileprivate init(relaying file: SignalFile) throws(StorageError) {
    let waker = try Waker()
    descriptor = waker.descriptor
    relay = Relay(
      waker: waker,
      registration: try SignalWatcher.shared.add(
        file, seen: file.version, probeHead: nil, onChange: { waker.wake() }))
  }

  /// Errors: `.limitExceeded` when the user has no inotify instance or watch left.
  init() throws(StorageError) {
    relay = nil
    descriptor = tarn_above_standard(inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC)))
    guard descriptor < 0 else { return }
    let number = errno
    // One number for two limits.
    if number == EMFILE, Self.hasDescriptorLeft {
      throw StorageError(
        .limitExceeded, operation: "watch", path: "",
        detail: "the user has no inotify instance left: " + Self.way("instances"))
    }
    throw StorageError(errno: number, operation: "watch", path: "")
  }

  private static var hasDescriptorLeft: Bool {
    let probe = tarn_event()
    if probe >= 0 { close(probe) }
    return probe >= 0
  }

  deinit { if relay == nil { close(descriptor) } }

  /// Watches the file that is open, whatever is at its path by now.
  func add(_ file: SignalFile) throws(StorageError) -> Int32 {
    let events = IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF
    let target = "/proc/self/fd/\(file.descriptor)"
    let watch = unsafe inotify_add_watch(descriptor, target, UInt32(events))
    guard watch >= 0 else {
      let number = errno
      if number == ENOSPC {
        throw StorageError(
          .limitExceeded, operation: "watch", path: file.path,
          detail: "the user has no inotify watch left: " + Self.way("watches"))
      }
      throw StorageError(errno: number, operation: "watch", path: file.path)
    }
    return watch
  }

  /// - Parameter what: "instances" or "watches".
  static func way(_ what: String) -> String {
    "raise the limit (sysctl fs.inotify.max_user_\(what)), which is "
      + SystemLimit.value(of: "fs/inotify/max_user_\(what)")
  }

  func remove(_ watch: Int32) { _ = inotify_rm_watch(descriptor, watch) }

  /// Reads the pending events, without waiting.
  @discardableResult
  package func drain() -> Arrivals {
    if let relay {
      relay.waker.drain()
      return .changed
    }
    var all: Arrivals = []
    drain { _, arrivals in all.formUnion(arrivals) }
    return all
  }

  /// As above, with a call for each event and its watch; -1 means all watches (overflow).
  func drain(_ body: (Int32, Arrivals) -> Void) {
    unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      while true {
        let count = unsafe read(descriptor, buffer.baseAddress, buffer.count)
        guard count > 0 else { return }
        var at = 0
        // i32 watch, u32 events, u32 cookie, u32 length of the name that follows
        while at + 16 <= count {
          let watch = unsafe buffer.loadUnaligned(fromByteOffset: at, as: Int32.self)
          let events = unsafe buffer.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self)
          let name = unsafe buffer.loadUnaligned(fromByteOffset: at + 12, as: UInt32.self)
          body(watch, Self.arrivals(events))
          at += 16 + Int(name)
        }
        // With this much room left, there was nothing more to read.
        if count < buffer.count / 2 { return }
      }
    }
  }

  private static func arrivals(_ events: UInt32) -> Arrivals {
    var arrivals: Arrivals = .changed
    if events & UInt32(IN_CLOSE_WRITE | IN_Q_OVERFLOW) != 0 { arrivals.insert(.closed) }
    let lost = IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED
    if events & UInt32(lost) != 0 { arrivals.insert(.lost) }
    return arrivals
  }
}

extension SignalFile {
  /// Errors: `.limitExceeded` if the process has no descriptors left.
  package func makeWaitDescriptor() throws(StorageError) -> WaitDescriptor {
    do throws(StorageError) {
      let descriptor = try WaitDescriptor()
      _ = try descriptor.add(self)
      return descriptor
    } catch {
      guard error.code == .limitExceeded else { throw error }
      return try WaitDescriptor(relaying: self)
    }
  }
}

/// Wakes a thread from its wait: on a descriptor, or on a word.
@safe package final class Waker: @unchecked Sendable {
  // because: the word is accessed only by atomics.

  package let descriptor: Int32
  private let rings: UnsafeMutablePointer<UInt32>

  /// Errors: `.limitExceeded` if the process has no descriptors left.
  package init() throws(StorageError) {
    descriptor = tarn_event()
    unsafe rings = .allocate(capacity: 1)
    unsafe rings.initialize(to: 0)
    if descriptor < 0 { throw StorageError(errno: errno, operation: "observe", path: "") }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    unsafe rings.deallocate()
  }

  package func wake() {
    var one: UInt64 = 1
    _ = unsafe write(descriptor, &one, 8)
    _ = unsafe tarn_add32(rings, 1)
    unsafe tarn_futex_wake(rings, 1)
  }

  /// The word, and how often it has been rung.
  var bell: tarn_bell { unsafe tarn_bell(word: rings, seen: tarn_load32(rings)) }

  package func drain() {
    var count: UInt64 = 0
    _ = unsafe read(descriptor, &count, 8)
  }
}
