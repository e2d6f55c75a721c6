import Dispatch
import TarnStore
import ToolSupport

/// One path of the table: the file that is open there, and whom it concerns.
///
/// Threading: files are opened, and listeners called, on its own queue, one after another. The rest
/// may be called on any thread and never waits, but for `waitUntilIdle`.
final class FileTurn: Sendable {
  private struct Entry {
    let listener: any FileTable.Listener
    /// Whether its configuration has the path itself, and not only a pattern.
    let isNamed: Bool
    /// Left when the file has begun for the listener, or cannot be opened.
    var group: DispatchGroup?
    let added = DispatchTime.now()
    var hasBegun = false
  }

  private struct State {
    var file: OpenFile?
    var reason: String?
    var entries: [Entry] = []
    /// Whether its work is under way.
    var isBusy = false
    /// Whether the file that is open is to be ended.
    var isLost = false
    /// An opening that took long is not tried again before that.
    var notBefore = DispatchTime.now()
    /// When a file whose disk has failed is tried to be written again.
    var resumesAt = DispatchTime.now()

    /// Whether only patterns have found it, and it is not open.
    var mayGo: Bool { file == nil && !isBusy && !entries.contains(where: \.isNamed) }
  }

  /// After an opening that failed, it waits for so many times the time that this took: openings of
  /// a process come one after another, and the other files need them, too.
  private static let pauseFactor: UInt64 = 10
  /// How long a file rests after each attempt to write it again.
  private static let resumePause = DispatchTimeInterval.seconds(5)

  let path: String
  private let queue = DispatchQueue(label: "tarn-file")
  private let state = Lock(State())

  init(_ path: String) { self.path = path }

  var status: (file: OpenFile?, reason: String?) { state.withLock { ($0.file, $0.reason) } }
  var hasListeners: Bool { state.withLock { !$0.entries.isEmpty } }

  var mayGo: Bool { state.withLock { $0.mayGo } }

  /// Whether only patterns have found it, and nothing is there any more.
  var isGone: Bool { mayGo && FileFacts.at(path) == nil && !PathRights.isLink(path) }

  /// - Returns: false if the listener is there already.
  func add(
    _ listener: any FileTable.Listener, isNamed: Bool, _ group: DispatchGroup?
  ) -> Bool {
    state.withLock { state in
      if state.entries.contains(where: { $0.listener === listener }) { return false }
      group?.enter()
      state.entries.append(Entry(listener: listener, isNamed: isNamed, group: group))
      return true
    }
  }

  /// - Returns: false if the listener was not there.
  func remove(_ listener: any FileTable.Listener) -> Bool {
    state.withLock { state in
      guard let index = state.entries.firstIndex(where: { $0.listener === listener }) else {
        return false
      }
      state.entries.remove(at: index).group?.leave()
      return true
    }
  }

  func waitUntilIdle() { queue.sync {} }

  func run(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  /// Ends a file that another one, or none, has replaced.
  ///
  /// - Returns: whether it ends, until it has.
  @discardableResult
  func endIfLost() -> Bool {
    guard let file = state.withLock({ $0.file }) else { return false }
    if file.isLost { state.withLock { $0.isLost = true } }
    return state.withLock { $0.isLost }
  }

  /// Lets a file be written again that a failure of its disk has closed for writing.
  func resumeWriting() {
    let file = state.withLock { state -> OpenFile? in
      guard let file = state.file, file.store.environment.isClosedForWriting,
        state.resumesAt <= .now()
      else { return nil }
      state.resumesAt = .now() + Self.resumePause
      return file
    }
    guard let file else { return }
    queue.async {
      do {
        try file.store.resumeWriting()
      } catch {
        StoreLog.shared.write(.info, "\(error)")
      }
    }
  }

  /// Releases the callers that wait for the file.
  func giveUp() {
    state.withLock { state in
      for index in state.entries.indices { state.entries[index].group.take()?.leave() }
    }
  }

  /// Whether there is something to be done that is not under way; then the caller must let it
  /// `work`.
  ///
  /// - Parameter isEnding: whether a file must not begin here before it has ended elsewhere.
  func isDue(besides isEnding: (FileIdentity) -> Bool) -> Bool {
    let isDue = state.withLock { state in
      if state.isBusy { return false }
      let waits = state.entries.contains { !$0.hasBegun }
      let isDue = state.isLost || waits && (state.file != nil || state.notBefore <= .now())
      state.isBusy = isDue
      return isDue
    }
    guard isDue else { return false }
    if state.withLock({ $0.file == nil }), let found = FileFacts.at(path)?.identity,
      isEnding(found)
    {
      state.withLock { $0.isBusy = false }
      return false
    }
    return true
  }

  /// Does what is to be done, and then calls `ended`.
  func work(_ ended: @escaping @Sendable () -> Void) {
    queue.async { [self] in
      work()
      ended()
    }
  }

  // MARK: - On the queue

  private func work() {
    end()
    let opens = state.withLock { $0.file == nil && !$0.entries.isEmpty }
    let hasPromise = opens && open()
    // The promise is also for the listeners.
    defer { if hasPromise { DescriptorReserve.endPromise() } }
    // Listeners that were added meanwhile begin, too.
    while let (listener, file) = next() {
      listener.begin(file)
      tell(listener)
    }
  }

  /// A listener that the file has not begun for. Without one, the work is done.
  private func next() -> (any FileTable.Listener, OpenFile)? {
    state.withLock { state in
      guard let file = state.file, !state.isLost,
        let index = state.entries.firstIndex(where: { !$0.hasBegun })
      else {
        state.isBusy = false
        return nil
      }
      state.entries[index].hasBegun = true
      return (state.entries[index].listener, file)
    }
  }

  private func tell(_ listener: any FileTable.Listener) {
    state.withLock { state in
      guard let index = state.entries.firstIndex(where: { $0.listener === listener }) else {
        return
      }
      state.entries[index].group.take()?.leave()
    }
  }

  private func end() {
    let listeners = state.withLock { state -> [any FileTable.Listener] in
      guard state.isLost else { return [] }
      return state.entries.filter(\.hasBegun).map(\.listener)
    }
    for listener in listeners { listener.end(path) }
    state.withLock { state in
      guard state.isLost else { return }
      state.isLost = false
      state.file = nil
      for index in state.entries.indices { state.entries[index].hasBegun = false }
    }
  }

  /// - Returns: whether descriptors are promised.
  private func open() -> Bool {
    let begin = DispatchTime.now()
    var hasPromise = false
    do {
      if let refusal = DescriptorReserve.promiseStore() { throw ToolError(refusal) }
      hasPromise = true
      let file = try OpenFile(path)
      state.withLock { state in
        state.file = file
        state.reason = nil
      }
    } catch {
      let spent = DispatchTime.now().uptimeNanoseconds - begin.uptimeNanoseconds
      let isBusy = Passing.isBusy(error)
      let entries = state.withLock { state -> [Entry] in
        let isNew = state.reason != "\(error)"
        state.reason = "\(error)"
        state.notBefore = .now() + .nanoseconds(Int(spent * Self.pauseFactor))
        var entries = state.entries
        for index in entries.indices where entries[index].group != nil {
          // Perhaps another process opens it: the start of the daemon waits for that, too.
          if isBusy, entries[index].added + Passing.time > .now() {
            entries[index].group = nil
            state.notBefore = .now()
          } else {
            state.entries[index].group = nil
          }
        }
        let isGone = error as? OpenFile.Absence == .noFile
        return entries.filter { $0.group != nil || isNew && ($0.isNamed || !isGone) }
      }
      for entry in entries {
        entry.listener.isWaiting(for: path, "\(error)")
        entry.group?.leave()
      }
    }
    return hasPromise
  }
}
