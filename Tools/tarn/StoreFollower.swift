import Foundation
import TarnStore
import ToolSupport

/// Waits, in one `poll`, for commits of other processes, for the end of the program, for the loss
/// of the file, and for the reader of the output to exit.
///
/// A wake-up only says that something may be new; the data decides. The follower also checks every
/// quarter of a second, because a writer may have died between its commit and the wake-up, or the
/// file may have been deleted. Without a descriptor to wait on, or after the signal file was
/// deleted, it checks every few milliseconds and says so once.
final class StoreFollower {
  enum Event { case news, lost, stopped, readerGone, writable, silence, keys }

  private let store: Store
  private let stop: StopSignal
  private let descriptor: WaitDescriptor?
  private var saidPolling = false

  init(_ store: Store, _ stop: StopSignal) {
    self.store = store
    self.stop = stop
    do {
      descriptor = try store.signal.makeWaitDescriptor()
    } catch {
      descriptor = nil
      sayPolling("\(error)")
    }
  }

  /// Returns when something may be newer than `shown`.
  ///
  /// - Parameters:
  ///   - toWrite: returns also when the output can be written.
  ///   - keys: a descriptor; returns also when it can be read. -1 for none.
  func wait(beyond shown: Version, toWrite: Bool, keys: Int32 = -1) -> Event {
    while true {
      // Other processes may announce commits in the file that replaced this one.
      if (try? store.environment.checkIdentity()) == nil { return .lost }
      if descriptor != nil, !store.signal.isIntact {
        sayPolling("the signal file was deleted or replaced")
      }
      let timeout =
        (saidPolling ? SignalWatcher.pollEveryNanoseconds : Lookout.lookEveryNanoseconds)
        / 1_000_000
      var waits = [
        pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: descriptor?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        // The end of the reader is always reported.
        pollfd(fd: STDOUT_FILENO, events: toWrite ? Int16(POLLOUT) : 0, revents: 0),
        pollfd(fd: keys, events: Int16(POLLIN), revents: 0),
      ]
      // Commits before this call have raised the counter.
      let isBehind = store.newestKnownVersion > shown
      let ready = poll(&waits, nfds_t(waits.count), isBehind ? 0 : Int32(timeout))
      if stop.isRequested || waits[0].revents != 0 { return .stopped }
      if waits[2].revents & Int16(POLLERR | POLLHUP) != 0 { return .readerGone }
      if waits[2].revents & Int16(POLLOUT) != 0 { return .writable }
      // The end of a pipe is not input.
      if waits[3].revents & Int16(POLLIN | POLLHUP) != 0 { return .keys }
      let arrivals = waits[1].revents != 0 ? descriptor?.drain() ?? [] : []
      if isBehind || ready == 0 || !arrivals.isEmpty { return .news }
    }
  }

  /// Waits until the output can be written, for at most that long.
  ///
  /// - Returns: `.writable`, `.silence`, `.stopped` or `.readerGone`.
  func waitToWrite(milliseconds: Int32) -> Event {
    var waits = [
      pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0),
    ]
    _ = poll(&waits, nfds_t(waits.count), milliseconds)
    if waits[0].revents != 0 { return .stopped }
    if waits[1].revents & Int16(POLLERR | POLLHUP) != 0 { return .readerGone }
    return waits[1].revents != 0 ? .writable : .silence
  }

  private func sayPolling(_ reason: String) {
    if saidPolling { return }
    saidPolling = true
    TarnProgram.complain("cannot wait for commits (\(reason)); checking every few ms instead")
  }
}

/// A request by a signal to end, as a descriptor that can be polled.
///
/// Until the command follows the file, a signal ends the process: it may be checking a large file,
/// sorting, or waiting for a writer.
final class StopSignal: Sendable {
  let descriptor: Int32
  private let writeEnd: Int32
  private let isFollowing = Lock(false)

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw ToolError("cannot wait for", "signals", errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    descriptor = ends[0]
    writeEnd = ends[1]
  }

  deinit {
    close(descriptor)
    close(writeEnd)
  }

  /// Catches the signals for as long as the trap exists.
  ///
  /// - Parameter cancel: called with the request, to end the command's wait.
  func trap(_ cancel: @escaping @Sendable () -> Void) -> SignalTrap {
    SignalTrap { _ in
      self.request()
      cancel()
    }
  }

  /// From now on the command ends by itself. It has written nothing yet.
  func beginFollowing() { isFollowing.withLock { $0 = true } }

  private func request() {
    isFollowing.withLock { isFollowing in
      if !isFollowing { _exit(ExitCode.success.rawValue) }
    }
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }

  /// Never becomes false again.
  var isRequested: Bool {
    var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&wait, 1, 0) > 0
  }
}
