internal import CTarn

/// Whether this process looks after a signal file, for all processes that follow the file: it reads
/// the data's head record several times a second, because a writer may be stopped between its
/// commit and the announcement, and checks that the files are still there. It announces what it
/// finds.
///
/// So any number of idle processes cost as much as one. The process with the lock on a byte of the
/// file has the duty; the lock ends with the process. The others try to take the lock when a
/// process has closed the file, and every few seconds. Then they also see when the last look was:
/// a process that is stopped keeps the lock and does not look. The first to find that looks in its
/// place, until another process does.
///
/// Threading: any thread.
package final class Lookout: Sendable {
  /// How often the file is looked at.
  package static let lookEveryNanoseconds: UInt64 = 250_000_000
  /// Without a look for that long, another process looks.
  private static let stalledNanoseconds: UInt64 = 1_000_000_000
  /// How often a process without the duty checks that another one performs it.
  private static let checkEveryNanoseconds: UInt64 = 2_000_000_000
  /// The kernel reports the close of a file before it releases the locks.
  private static let afterCloseNanoseconds: UInt64 = 20_000_000

  private struct State {
    var followers = 0
    var hasDuty = false
    /// When to try to take the lock.
    var nextTry: UInt64 = 0
    /// The time of the last look that this process made in the place of another; 0 for none.
    var lookedInPlace: UInt64 = 0
    var nextLook: UInt64 = 0
  }

  private let state = Lock(State())

  var hasDuty: Bool { state.withLock { $0.hasDuty } }

  /// A follower of the file begins.
  func begin() { state.withLock { $0.followers += 1 } }

  /// A follower ends. After the last one, another process takes the duty over.
  func end(_ file: SignalFile) {
    let wasOurs = state.withLock { state in
      state.followers -= 1
      guard state.followers == 0, state.hasDuty else { return false }
      state.hasDuty = false
      state.nextTry = 0
      return true
    }
    guard wasOurs, !file.isForked else { return }
    _ = tarn_unlock(file.descriptor, SignalLayout.lookoutLockByte, 1)
    file.alarm()
  }

  /// Whether to look at the file now, and when to ask again.
  ///
  /// - Parameter isClosed: whether a process has just closed the file.
  func ask(
    _ file: SignalFile, now: UInt64, isClosed: Bool
  ) -> (looks: Bool, again: UInt64) {
    state.withLock { state in
      if !state.hasDuty, isClosed || now >= state.nextTry {
        state.hasDuty =
          tarn_lock_exclusive(file.descriptor, SignalLayout.lookoutLockByte, 1) == 0
        if state.hasDuty { state.nextLook = now }
        // At different times, so that not all of them run at once.
        let check = UInt64.random(in: Self.checkEveryNanoseconds / 2...Self.checkEveryNanoseconds)
        state.nextTry = now + (isClosed ? Self.afterCloseNanoseconds : check)
      }
      let word = unsafe file.base + SignalLayout.lookedAt
      if state.hasDuty {
        guard isClosed || now >= state.nextLook else { return (false, state.nextLook) }
        unsafe tarn_store64(word, now)
        state.nextLook = now + Self.lookEveryNanoseconds
        return (true, state.nextLook)
      }
      let last = unsafe tarn_load64(word)
      let isInPlace = state.lookedInPlace != 0 && last == state.lookedInPlace
      let patience = isInPlace ? Self.lookEveryNanoseconds : Self.stalledNanoseconds
      let isDue = isInPlace && isClosed || last > now || now - last >= patience
      if isDue, unsafe tarn_swap_if64(word, last, now) {
        state.lookedInPlace = now
        return (true, now + Self.lookEveryNanoseconds)
      }
      return (false, isInPlace ? min(state.nextTry, last + patience) : state.nextTry)
    }
  }
}
