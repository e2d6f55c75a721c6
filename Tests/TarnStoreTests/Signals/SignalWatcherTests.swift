import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite struct SignalWatcherTests {
  let position = SignalFolder()

  /// Counts calls and lets a test wait for one.
  final class Bell: Sendable {
    let semaphore = DispatchSemaphore(value: 0)
    func ring() { semaphore.signal() }
    func wait(_ seconds: Double = 300) -> Bool {
      semaphore.wait(timeout: .now() + seconds) == .success
    }
  }

  final class Head: Sendable {
    private let value = Lock<UInt64?>(0)
    func set(_ new: UInt64?) { value.withLock { $0 = new } }
    func get() -> UInt64? { value.withLock { $0 } }
  }

  @Test func `a raise and a wake reach the watcher`() throws {
    let writer = try position.open()
    let reader = try position.open()
    let bell = Bell()
    let registration = try SignalWatcher().add(
      reader, seen: 0, probeHead: { nil }, onChange: { bell.ring() })
    for version in 1...50 as ClosedRange<UInt64> {
      writer.raise(to: version)
      writer.wake()
      #expect(bell.wait())
    }
    registration.cancel()
  }

  /// A waking thread that is stopped between its two steps has written to the descriptor, and has
  /// not yet rung the bell.
  @Test(.timeLimit(.minutes(30)))
  func `a wake takes one turn of the thread, also before its bell is rung`() async throws {
    let watcher = SignalWatcher()
    let reader = try position.open()
    // Without a probe, so that no turn comes by time.
    let registration = try watcher.add(reader, seen: 0, probeHead: nil, onChange: {})
    let descriptor = try #require(watcher.waker).descriptor
    let wakes = 20
    for _ in 0..<wakes {
      let before = watcher.turns.load(ordering: .relaxed)
      var one: UInt64 = 1
      #expect(write(descriptor, &one, 8) == 8)
      try await yieldUntil { watcher.turns.load(ordering: .relaxed) > before }
    }
    // A few for the registration.
    #expect(watcher.turns.load(ordering: .relaxed) <= wakes + 5)
    registration.cancel()
  }

  @Test func `what happened before the registration is told at once`() throws {
    let file = try position.open()
    file.raise(to: 3)
    let bell = Bell()
    let registration = try SignalWatcher().add(
      file, seen: 2, probeHead: { nil }, onChange: { bell.ring() })
    #expect(bell.wait())
    registration.cancel()
  }

  @Test func `a writer that dies before it announces is found by its close`() throws {
    var writer: SignalFile? = try position.open()
    let reader = try position.open()
    let bell = Bell()
    let head = Head()
    let registration = try SignalWatcher().add(
      reader, seen: 0, probeHead: { head.get() }, onChange: { bell.ring() })
    head.set(1)
    if writer != nil { writer = nil }
    #expect(bell.wait())
    #expect(reader.version == 1)
    registration.cancel()
  }

  @Test func `a writer that is stopped before it announces is found by the timeout`() throws {
    let reader = try position.open()
    let bell = Bell()
    let head = Head()
    let registration = try SignalWatcher().add(
      reader, seen: 0, probeHead: { head.get() }, onChange: { bell.ring() })
    head.set(4)
    #expect(bell.wait())
    #expect(reader.version == 4)
    registration.cancel()
  }

  @Test func `a deleted file is watched by looking at the data`() throws {
    let reader = try position.open()
    let bell = Bell()
    let head = Head()
    let registration = try SignalWatcher().add(
      reader, seen: 0, probeHead: { head.get() }, onChange: { bell.ring() })
    try FileManager.default.removeItem(atPath: position.path)
    // Until the watcher has noticed, and while it polls: each is told.
    for version in 1...20 as ClosedRange<UInt64> {
      head.set(version)
      #expect(bell.wait())
    }
    registration.cancel()
  }

  @Test func `two files and two observers of one are told apart`() throws {
    let other = SignalFolder()
    let watcher = SignalWatcher()
    let bells = [Bell(), Bell(), Bell()]
    let files = [try position.open(), try position.open(), try other.open()]
    let registrations = try zip(files, bells).map { file, bell in
      try watcher.add(file, seen: 0, probeHead: { nil }, onChange: { bell.ring() })
    }
    files[0].raise(to: 1)
    files[0].wake()
    #expect(bells[0].wait())
    #expect(bells[1].wait())
    files[2].raise(to: 1)
    files[2].wake()
    #expect(bells[2].wait())
    registrations[1].cancel()
    files[0].raise(to: 2)
    files[0].wake()
    #expect(bells[0].wait())
    #expect(!bells[1].wait(0))
    #expect(!bells[2].wait(0))
    withExtendedLifetime(registrations) {}
  }

  @Test func `a descriptor of one's own becomes readable and says what arrived`() throws {
    let reader = try position.open()
    var writer: SignalFile? = try position.open()
    let descriptor = try reader.makeWaitDescriptor()
    func isReadable(_ milliseconds: Int32) -> Bool {
      var set = pollfd(fd: descriptor.descriptor, events: Int16(POLLIN), revents: 0)
      return poll(&set, 1, milliseconds) == 1
    }
    #expect(!isReadable(0))
    writer?.wake()
    #expect(isReadable(300_000))
    #expect(descriptor.drain() == .changed)
    #expect(!isReadable(0))
    writer = nil
    #expect(isReadable(300_000))
    #expect(descriptor.drain().contains(.closed))
    try FileManager.default.removeItem(atPath: position.path)
    #expect(isReadable(300_000))
    #expect(descriptor.drain().contains(.lost))
  }
}
