import Foundation
import Tarn
import TarnText
import TestSupport
import Testing
import ToolSupport

final class Tenant: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var age: Int
  @Persisted var home: Home?
  @Persisted var others: List<Home>
}

final class Home: EmbeddedObject {
  @Persisted var city: String
  @Persisted var zip: Int

  convenience init(_ city: String, _ zip: Int) {
    self.init()
    (self.city, self.zip) = (city, zip)
  }
}

/// `columns` of a watch, with embedded objects.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct ChosenColumnsTests {
  private let folder = TemporaryFolder()

  private func realm() throws -> Realm {
    try Realm(
      configuration: Realm.Configuration(
        fileURL: folder.url("tenants.tarn"), objectTypes: [Tenant.self, Home.self],
        durability: .relaxed))
  }

  /// The members "new" of the last line of each sink.
  private func shown() throws -> [String] {
    try ["whole", "path"].compactMap { sink in
      let data = FileManager.default.contents(atPath: folder.file("\(sink).jsonl")) ?? Data()
      guard let line = String(decoding: data, as: UTF8.self).split(separator: "\n").last else {
        return nil
      }
      let json = try JSONScanner.value(in: String(line))
      guard case .array(let changes)? = json["objects"] ?? json["modified"] else { return nil }
      return changes.first?["new"].map { JSONText.text($0) }
    }
  }

  @Test func selectAtEachDepth() async throws {
    let add = {
      let realm = try realm()
      try realm.write {
        let tenant = Tenant()
        tenant.home = Home("Bonn", 1)
        tenant.others.append(Home("Köln", 2))
        realm.add(tenant)
      }
    }
    try add()
    let daemon = try DaemonProcess(
      folder,
      """
      watches:
        - {name: whole, file: $/tenants.tarn, class: Tenant, columns: [home, others],
           sinks: [{file: $/whole.jsonl}]}
        - {name: path, file: $/tenants.tarn, class: Tenant, columns: [home.city, others.zip],
           sinks: [{file: $/path.jsonl}]}
      """)
    let others = #""others":[{"city":"Köln","zip":2}]"#
    try await yieldUntil {
      try shown() == [
        #"{"id":0,"home":{"city":"Bonn","zip":1},"# + others + "}",
        #"{"id":0,"home":{"city":"Bonn"},"others":[{"zip":2}]}"#,
      ]
    }
    let change = { (body: (Tenant) -> Void) in
      let realm = try realm()
      try realm.write { body(try #require(realm.objects(Tenant.self).first)) }
    }
    try change { $0.home?.zip = 5 }
    try await yieldUntil {
      try shown().first == #"{"id":0,"home":{"city":"Bonn","zip":5},"# + others + "}"
    }
    try change { $0.home?.city = "Ulm" }
    try await yieldUntil {
      try shown() == [
        #"{"id":0,"home":{"city":"Ulm","zip":5},"# + others + "}",
        #"{"id":0,"home":{"city":"Ulm"},"others":[{"zip":2}]}"#,
      ]
    }
    daemon.stop()
  }
}
