import Foundation
import TarnStore
import TestSupport
import Testing
import ToolSupport

@testable import Tarn
@testable import TarnDaemon

/// A hub is woken by the commits that may concern its watch.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct HubFollowingTests {
  class Remark: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var text = ""
  }

  @Test func aHubRestsAtCommitsThatDoNotConcernIt() throws {
    let folder = TemporaryFolder()
    let path = folder.file("notes.tarn")
    let realm = try Realm(
      configuration: Realm.Configuration(
        fileURL: URL(filePath: path), objectTypes: [Remark.self]),
      scheduler: ManualScheduler())
    try realm.write { _ = realm.create(Remark.self, value: ["id": 1, "text": "a"]) }
    var watch = WatchSettings(name: "notes", file: path, className: "Remark")
    watch.filter = "text == 'b'"
    let hub = FeedHub(
      watch, sink: "socket",
      try DaemonContext(DaemonSettings(instance: "test"), DaemonLog(upTo: .error)))
    let file = try OpenFile(path)
    hub.begin(file)
    defer { hub.stop() }
    let status = try #require(hub.statuses.first)
    let router = try FeedRouter.of(file.store)
    func rests(after change: () throws -> Void) throws -> Bool {
      try change()
      router.settle()
      let newest = file.store.newestKnownVersion
      let isResting = router.restsThrough(1) == newest
      hub.queue.sync {}
      #expect(status.content.version == newest.rawValue)
      return isResting
    }
    #expect(try rests {})
    #expect(try rests { try realm.write { _ = realm.create(Remark.self, value: ["id": 2]) } })
    // It looks, and rests again.
    _ = try rests { try realm.write { realm.objects(Remark.self)[0].text = "b" } }
    hub.queue.sync {}
    #expect(try rests {})
  }
}
