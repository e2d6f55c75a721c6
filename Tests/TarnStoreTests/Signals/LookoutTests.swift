import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite struct LookoutTests {
  let folder = SignalFolder()
  private let second: UInt64 = 1_000_000_000

  private func looks(_ file: SignalFile, at time: UInt64, isClosed: Bool = false) -> Bool {
    file.lookout.ask(file, now: time, isClosed: isClosed).looks
  }

  @Test func `one of several processes looks, and another one after it`() throws {
    let files = [try folder.open(), try folder.open(), try folder.open()]
    for file in files { file.lookout.begin() }
    let start = GateWord.now()
    #expect(files.map { looks($0, at: start) } == [true, false, false])
    // Four times a second, and at once if a process has closed the file.
    #expect(!looks(files[0], at: start + second / 5))
    #expect(looks(files[0], at: start + second / 4))
    #expect(looks(files[0], at: start + second / 4, isClosed: true))
    #expect(!looks(files[1], at: start + second / 4, isClosed: true))
    // It ends.
    let alarms = files[1].alarms
    files[0].lookout.end(files[0])
    #expect(files[1].alarms == alarms + 1)
    let later = start + second / 2
    #expect([1, 2].map { looks(files[$0], at: later, isClosed: true) } == [true, false])
    #expect(files.map(\.lookout.hasDuty) == [false, true, false])
  }

  @Test func `the process that dies leaves the duty to another`() throws {
    var first: SignalFile? = try folder.open()
    let other = try folder.open()
    let start = GateWord.now()
    #expect(first.map { looks($0, at: start) } == true)
    #expect(!looks(other, at: start))
    first = nil
    #expect(looks(other, at: start + 1, isClosed: true))
  }

  @Test func `in the place of one that is stopped looks the first to notice, alone`() throws {
    let files = [try folder.open(), try folder.open(), try folder.open()]
    let start = GateWord.now()
    #expect(files.map { looks($0, at: start) } == [true, false, false])
    let noticed = start + 3 * second
    #expect([1, 2].map { looks(files[$0], at: noticed) } == [true, false])
    let next = noticed + second / 4
    #expect([2, 1].map { looks(files[$0], at: next) } == [false, true])
    // The stopped one continues.
    #expect(looks(files[0], at: next + 1))
    #expect([1, 2].map { looks(files[$0], at: next + 1 + second / 4) } == [false, false])
  }

  @Test func `what one finds, all are told`() throws {
    let head = SignalWatcherTests.Head()
    let bells = (0..<3).map { _ in SignalWatcherTests.Bell() }
    let files = try bells.map { _ in try folder.open() }
    let watchers: [SignalWatcher] = [.init(), .init(), .init(.bells)]
    let registrations = try (0..<3).map { number -> SignalRegistration in
      // Only the first can see the version.
      let probe: @Sendable () -> UInt64? = { head.get() }
      return try watchers[number].add(
        files[number], seen: 0, probeHead: number == 0 ? probe : nil,
        onChange: { bells[number].ring() })
    }
    head.set(7)
    for bell in bells { #expect(bell.wait()) }
    #expect(files.map(\.version) == [7, 7, 7])
    withExtendedLifetime(registrations) {}
  }

  @Test(arguments: [SignalWatcher.Means.bells, .polling])
  func `many that have no inotify instance are told of each version`(
    means: SignalWatcher.Means
  ) throws {
    let writer = try folder.open()
    let bells = (0..<40).map { _ in SignalWatcherTests.Bell() }
    let registrations = try bells.map { bell in
      try SignalWatcher(means).add(
        try folder.open(), seen: 0, probeHead: { nil }, onChange: { bell.ring() })
    }
    for version in 1...20 as ClosedRange<UInt64> {
      writer.raise(to: version)
      writer.wake()
      for bell in bells { #expect(bell.wait()) }
    }
    withExtendedLifetime(registrations) {}
  }

  @Test func `a process that nothing wakes sleeps longer, the longer nothing happens`() throws {
    let file = try folder.open()
    let watched = WatchedFile(
      file: file, seen: 0, observer: WatchedFile.Observer(probeHead: { nil }, onChange: {}))
    #expect(watched.pollAfterNanoseconds == SignalWatcher.pollEveryNanoseconds)
    let limit = GateWord.now() + 300 * second
    while watched.pollAfterNanoseconds < 2 * SignalWatcher.pollEveryNanoseconds {
      try #require(GateWord.now() < limit)
      sched_yield()
    }
    file.raise(to: 1)
    #expect(watched.lookAtCounter())
    #expect(watched.pollAfterNanoseconds == SignalWatcher.pollEveryNanoseconds)
  }
}
