import Foundation
import TarnStore
import Testing

@testable import Tarn

/// Files that go away under their observers, and read-only Realms, which are observed like others.
struct LostStoreTests {
  enum Loss: String, CaseIterable { case deleted, dataDeleted, replaced, lockDeleted }

  private func lose(_ shelter: Shelter, _ loss: Loss) throws {
    let path = shelter.folder + "/cats.realm"
    let files = FileManager.default
    switch loss {
    case .deleted:
      for ending in ["-signal", "", "-lock"] { try files.removeItem(atPath: path + ending) }
    case .dataDeleted: try files.removeItem(atPath: path)
    case .lockDeleted: try files.removeItem(atPath: path + "-lock")
    case .replaced:
      try files.copyItem(atPath: path, toPath: path + "-new")
      #expect(rename(path + "-new", path) == 0)
    }
  }

  @Test(arguments: Loss.allCases)
  func observersAreToldOnceThatTheFileIsGone(loss: Loss) throws {
    let shelter = try Shelter()
    let instance = try shelter.open(cats: 2)
    let recorder = CatRecorder(instance.cats)
    instance.pump()
    // This one looks for the file each time that it is asked.
    let watched = WatchedStore(instance.realm.core.store, probeEvery: .zero) {}
    try lose(shelter, loss)
    // The loss itself ends the wait.
    while recorder.calls.count < 2, instance.scheduler.wait(timeout: 300) { instance.pump() }
    #expect(recorder.calls.count == 2)
    let last = recorder.calls.last ?? ""
    #expect(last.hasPrefix("error follow /"), "\(last)")
    #expect(last.contains("cats.realm: "), "\(last)")
    // Nothing is left to be looked for, and what was shown stays.
    #expect(!instance.scheduler.wait(timeout: 0))
    instance.pump()
    #expect(recorder.calls.count == 2)
    #expect(instance.cats.count == 2)
    #expect(!instance.realm.refresh())
    #expect(throws: Realm.Error.incompatibleLockFile) { try instance.realm.write {} }
    watched.poll()
    #expect(watched.isEnded)
    #expect(!watched.mustPoll)
    #expect(watched.rawDescriptor == -1)
    // Who comes later is told as well.
    let late = CatRecorder(instance.cats)
    instance.pump()
    try #require(late.calls.count == 1, "\(late.calls)")
    #expect(late.calls[0].hasPrefix("error"), "\(late.calls)")
    if loss == .deleted { #expect(try shelter.open().realm.isEmpty) }
  }

  @Test func observersAndWritersOfAnEmptiedFileGetAnError() async {
    let result = await #expect(
      processExitsWith: .exitCode(0), observing: [\.standardErrorContent]
    ) {
      let shelter = try Shelter()
      let instance = try shelter.open(cats: 2)
      let other = try shelter.open()
      let recorder = CatRecorder(instance.cats)
      instance.pump()
      precondition(truncate(shelter.folder + "/cats.realm", 0) == 0)
      do {
        try other.realm.write {}
        preconditionFailure("the write succeeded")
      } catch let error as Realm.Error {
        precondition(error.code == .invalidDatabase, "\(error)")
      }
      while recorder.calls.count < 2, instance.scheduler.wait(timeout: 300) { instance.pump() }
      let last = recorder.calls.last ?? ""
      precondition(last.hasPrefix("error follow /") && last.contains("was cut from"), last)
      exit(0)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(result != nil, "\(text)")
  }

  /// An observer of sections has no case for it; one of their deltas has.
  @Test func sectionsLogThatTheFileIsGone() async {
    let result = await #expect(
      processExitsWith: .exitCode(0), observing: [\.standardErrorContent]
    ) {
      let shelter = try Shelter()
      let instance = try shelter.open(cats: 2)
      let sections = instance.cats.sectioned(by: \.name)
      var told: [String] = []
      let tokens = [
        sections.observe { change in
          switch change {
          case .initial: told.append("initial")
          case .update: told.append("update")
          }
        },
        sections[0].observe { _ in told.append("section") },
        sections.observeChanges { if case .error = $0 { told.append("error") } },
      ]
      instance.pump()
      try FileManager.default.removeItem(atPath: shelter.folder + "/cats.realm")
      while told.last != "error", instance.scheduler.wait(timeout: 300) { instance.pump() }
      precondition(told == ["initial", "section", "error"], "\(told)")
      precondition(tokens.count == 3)
      exit(0)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let lines = text.split(separator: "\n").filter {
      $0.contains("an observer of sections is not called any more: ")
    }
    #expect(lines.count == 2, "\(text)")
  }

  @Test func observersOnAQueueAreToldToo() throws {
    let shelter = try Shelter()
    let queue = DispatchQueue(label: "lost")
    let told = DispatchSemaphore(value: 0)
    var token: NotificationToken?
    try queue.sync { () throws -> Void in
      let realm = try Realm(configuration: shelter.configuration, queue: queue)
      token = realm.objects(Cat.self).observe { change in
        if case .error = change { told.signal() }
      }
    }
    queue.sync { () -> Void in }
    try lose(shelter, .deleted)
    #expect(told.wait(timeout: .now() + 300) == .success)
    // Turns that were asked for meanwhile have passed once this block runs.
    queue.sync { _ = token?.invalidate() }
    #expect(told.wait(timeout: .now()) == .timedOut)
  }

  @Test func aReadOnlyRealmFollowsAndIsObserved() throws {
    let shelter = try Shelter()
    let writer = try shelter.open(cats: 1)
    var configuration = shelter.configuration
    configuration.readOnly = true
    let reader = try Instance(configuration, shelter)
    let recorder = CatRecorder(reader.cats)
    reader.pump()
    try writer.add(7)
    #expect(reader.realm.refresh())
    #expect(reader.cats.count == 2)
    try writer.add(8)
    reader.pump()
    #expect(recorder.calls == ["initial 1", "-[] +[1] ~[]", "-[] +[2] ~[]"])
    #expect(recorder.problems == [])
  }

  @Test func aDamagedCounterMakesNobodyDeaf() throws {
    let shelter = try Shelter()
    let writer = try shelter.open(cats: 1)
    let reader = try shelter.open()
    let recorder = CatRecorder(reader.cats)
    reader.pump()
    let file = try #require(
      FileHandle(forUpdatingAtPath: shelter.folder + "/cats.realm-signal"))
    try file.seek(toOffset: 64)
    try file.write(contentsOf: withUnsafeBytes(of: UInt64(1) << 62) { Data($0) })
    reader.pump()
    let news = DispatchSemaphore(value: 0)
    let deaf = WatchedStore(reader.realm.core.store) { news.signal() }
    try writer.add(7)
    deaf.poll()
    #expect(news.wait(timeout: .now()) == .success)
    reader.pump()
    #expect(recorder.calls.last == "-[] +[1] ~[]")
  }
}
