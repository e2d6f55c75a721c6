import Foundation
import Tarn
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Values of the server that a column has, and the Swift type of a property does not.
@MainActor @Suite struct LimitedTypeTests {
  private let synced: SyncedApp
  private let user: User

  init() async throws {
    synced = try SyncedApp(classes: [Gauge.self, Dial.self, Slot.self])
    user = try await synced.app.login(
      credentials: .emailPassword(email: synced.role, password: "…"))
  }

  private func open(
    _ name: String = "one",
    _ classes: [ObjectBase.Type] = [Gauge.self, Dial.self, Slot.self]
  ) async throws -> Realm {
    var configuration = user.flexibleSyncConfiguration(initialSubscriptions: { subs in
      if classes.contains(where: { $0 == Gauge.self }) {
        subs.append(QuerySubscription<Gauge>(name: "gauges"))
        subs.append(QuerySubscription<Slot>(name: "slots"))
      }
    })
    configuration.fileURL = URL(filePath: synced.folder.file(name))
    configuration.objectTypes = classes
    return try await Realm(configuration: configuration, downloadBeforeOpen: .always)
  }

  private func left(_ realm: Realm) throws -> [String] {
    try #require(realm.syncSession).leftOutValues.map {
      "\($0.className) \($0.primaryKey).\($0.property): \($0.reason)"
    }.sorted()
  }

  private func update(_ column: String, _ value: String) throws {
    try synced.server.rows("UPDATE \"Gauge\" SET \"\(column)\" = \(value)")
  }

  private func download(_ realm: Realm) async throws {
    try await realm.syncSession?.wait(for: .download)
    realm.refresh()
  }

  private static let tooWide = "is out of the range of Int8 (-128 to 127)"
  private static let noCase = "is none of the cases of the property"

  @Test func `numbers out of a type's range are left out, and the rest arrives`() async throws {
    try synced.server.rows(
      """
      INSERT INTO "Gauge" (_id, text, small, maybe, percent, mood, smalls, maybes, widths, level)
      VALUES (1, 'a', 300, -129, 128, 'wild', '[1, 300, -128]', '[null, 5, 128]',
        '{"a": 32767, "b": 32768}', 2)
      """)
    try update("dial", "'{\"label\": \"x\", \"depth\": 3000000000, \"mood\": \"wild\"}'")
    let realm = try await open()
    let gauge = try #require(realm.object(ofType: Gauge.self, forPrimaryKey: 1))
    #expect(gauge.text == "a" && gauge.mood == .wild && gauge.level == .high)
    #expect(gauge.small == 0 && gauge.maybe == nil && gauge.percent.number == 0)
    #expect(Array(gauge.smalls) == [1, -128])
    #expect(Set(gauge.maybes) == [nil, 5])
    #expect(gauge.widths.count == 1 && gauge.widths["a"] == 32_767)
    #expect(gauge.dial?.label == "x" && gauge.dial?.depth == 0 && gauge.dial?.mood == .wild)
    #expect(
      try left(realm) == [
        "Gauge 1.dial.depth: 3000000000 is out of the range of Int32 (-2147483648 to 2147483647)",
        "Gauge 1.maybe: -129 \(Self.tooWide)",
        "Gauge 1.maybes[2]: 128 \(Self.tooWide)",
        "Gauge 1.percent: 128 \(Self.tooWide)",
        "Gauge 1.small: 300 \(Self.tooWide)",
        "Gauge 1.smalls[1]: 300 \(Self.tooWide)",
        "Gauge 1.widths[\"b\"]: 32768 is out of the range of Int16 (-32768 to 32767)",
      ])
    for (column, value) in [
      ("small", "30"), ("maybe", "-128"), ("percent", "99"), ("smalls", "'[7]'"),
      ("maybes", "'[null]'"), ("widths", "'{\"c\": 3}'"), ("dial", "'{\"depth\": 4}'"),
    ] {
      try update(column, value)
    }
    try await download(realm)
    #expect(try left(realm) == [])
    #expect(gauge.small == 30 && gauge.maybe == -128 && gauge.percent.number == 99)
    #expect(Array(gauge.smalls) == [7] && gauge.widths["c"] == 3 && gauge.dial?.depth == 4)
    // A value that was readable once stays.
    try update("small", "-1000")
    try update("text", "'b'")
    try await download(realm)
    #expect(gauge.small == 30)
    #expect(gauge.text == "b")
    #expect(try left(realm) == ["Gauge 1.small: -1000 \(Self.tooWide)"])
  }

  @Test func `raw values of no case are left out, and the rest arrives`() async throws {
    try synced.server.rows(
      """
      INSERT INTO "Gauge" (_id, text, mood, level, "moodMaybe", moods, levels)
      VALUES (1, 'a', 'tired', 3, 'tired', '["calm", "tired", null, "wild"]', '[1, 0, 3]')
      """)
    try update(
      "dials",
      "'[{\"label\": \"x\", \"mood\": \"?\", \"levels\": [2, 9]}, {\"mood\": null}]'")
    let realm = try await open()
    let gauge = try #require(realm.object(ofType: Gauge.self, forPrimaryKey: 1))
    // The first case, as where a program has set none.
    #expect(gauge.text == "a" && gauge.mood == .calm && gauge.level == .low)
    #expect(gauge.moodMaybe == nil)
    #expect(Array(gauge.moods) == [.calm, .wild])
    #expect(Array(gauge.levels) == [.low])
    #expect(gauge.dials.map(\.label) == ["x", ""])
    #expect(gauge.dials.map(\.mood) == [.calm, .calm])
    #expect(Array(gauge.dials[0].levels) == [.high])
    #expect(
      try left(realm) == [
        "Gauge 1.dials[0].levels[1]: 9 \(Self.noCase)",
        "Gauge 1.dials[0].mood: \"?\" \(Self.noCase)",
        "Gauge 1.level: 3 \(Self.noCase)",
        "Gauge 1.levels[1]: 0 \(Self.noCase)",
        "Gauge 1.levels[2]: 3 \(Self.noCase)",
        "Gauge 1.mood: \"tired\" \(Self.noCase)",
        "Gauge 1.moods[1]: \"tired\" \(Self.noCase)",
        "Gauge 1.moods[2]: null is not an element of it",
      ])
    // Another property can be written, and this one not.
    try realm.write { gauge.text = "b" }
    try await realm.syncSession?.wait(for: .upload)
    #expect(try synced.server.value("SELECT text || mood FROM \"Gauge\"") == "btired")
    try update("mood", "'wild'")
    try update("level", "0")
    try update("moods", "'[\"wild\"]'")
    try update("levels", "'[]'")
    try update("dials", "'[]'")
    try await download(realm)
    #expect(gauge.mood == .wild && gauge.level == .low && Array(gauge.moods) == [.wild])
    #expect(try left(realm) == [])
  }

  @Test func `a program with more cases and a wider type reads what was left out`() async throws {
    try synced.server.rows(
      """
      INSERT INTO "Gauge" (_id, text, small, mood, moods)
      VALUES (1, 'a', 300, 'tired', '["tired", "calm"]')
      """)
    let (session, store) = try await former()
    let epoch = try store.newestSnapshot().schema.epoch
    let later = try await open("one", [LaterGauge.self])
    #expect(later.store === store)
    #expect(try store.newestSnapshot().schema.epoch == epoch + 1)
    // The session began before, and begins again.
    try await session.wait(for: .download)
    try await download(later)
    let gauge = try #require(later.object(ofType: LaterGauge.self, forPrimaryKey: 1))
    #expect(gauge.small == 300 && gauge.mood == .tired && Array(gauge.moods) == [.tired, .calm])
    #expect(try left(later) == [])
  }

  /// What keeps the file and its session after the Realm of the former program.
  private func former() async throws -> (SyncSession, Store) {
    let realm = try await open()
    #expect(try left(realm).count == 3)
    return (try #require(realm.syncSession), realm.store)
  }

  @Test func `rows whose keys are out of range are left out as a whole`() async throws {
    try synced.server.rows(
      """
      INSERT INTO "Slot" (_id, text, next) VALUES (300, 'far', NULL), (1, 'a', 300), (2, 'b', 1)
      """)
    let realm = try await open()
    #expect(realm.objects(Slot.self).map(\.text).sorted() == ["a", "b"])
    #expect(realm.objects(Slot.self).map { $0.next?._id ?? -1 }.sorted() == [-1, 1])
    #expect(try left(realm) == ["Slot 300._id: 300 \(Self.tooWide)"])
    #expect(try #require(realm.syncSession).leftOutValues.allSatisfy(\.isWholeObject))
    try synced.server.rows("SELECT tarn.renew(id) FROM tarn.class WHERE name = 'Slot'")
    try synced.server.rows("INSERT INTO \"Slot\" (_id, text) VALUES (-129, 'c'), (3, 'd')")
    try await download(realm)
    #expect(realm.objects(Slot.self).map(\.text).sorted() == ["a", "b", "d"])
    #expect(try left(realm).map { $0.prefix(10) } == ["Slot -129.", "Slot 300._"])
    try synced.server.rows("DELETE FROM \"Slot\" WHERE _id NOT BETWEEN -128 AND 127")
    try await download(realm)
    #expect(try left(realm) == [])
  }
}
