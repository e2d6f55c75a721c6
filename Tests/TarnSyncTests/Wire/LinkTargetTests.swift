import TarnStore
import TarnText
import TestSupport
import Testing

@testable import TarnSync

/// Maps in mixed values with the words of a link.
@Suite struct LinkTargetTests {
  private let folder = TemporaryFolder()

  private static let entries: [(key: String, value: Value)] = [
    ("$type", .string("link")), ("class", .string("Odd")),
    ("value", .string("000000000000000000000009")), ("\u{e9}", .int(1)), ("e\u{301}", .int(2)),
  ]

  private func set(_ replica: OddReplica, _ entries: [(key: String, value: Value)]) throws {
    try replica.change(1, "any") { session, place in
      let map = CopiedValue.map(
        keys: entries.map(\.key), values: entries.map { .value($0.value) })
      _ = try LocalWriter(session: session).set(.list([map, .value(.int(0))]), at: place)
    }
  }

  /// A store that changes another part of the value must not take the map for a link without its
  /// target, which it does not show.
  @Test func `a map whose keys are those of a link is a map everywhere`() throws {
    let (database, role) = try OddReplica.server()
    let (a, b) = (
      try OddReplica(folder.file("a")) { try database.connect(as: role) },
      try OddReplica(folder.file("b")) { try database.connect(as: role) }
    )
    defer {
      a.end()
      b.end()
    }
    try a.create(1)
    try set(a, Self.entries)
    for one in [a, b] { try one.synchronize() }
    let text = try #require(try a.shown(1, "any"))
    #expect(text.contains("\"$type\":\"map\""))
    #expect(text.contains("\"\u{e9}\":1") && text.contains("\"e\u{301}\":2"))
    #expect(try b.shown(1, "any") == text)
    try set(b, Self.entries.dropLast() + [("e\u{301}", .int(3))])
    for one in [b, a] { try one.synchronize() }
    let later = text.replacing("\"e\u{301}\":2", with: "\"e\u{301}\":3")
    #expect(later.utf8.elementsEqual(text.utf8) == false)
    for one in [a, b] { #expect(try one.shown(1, "any") == later) }
  }

  @Test func `the words of a link within a map are no link`() throws {
    var options = Store.Options()
    options.classes = OddReplica.classes
    let store = try StoreRegistry.open(folder.file("a"), options)
    let schema = try store.newestSnapshot().schema.schema
    let column = try #require(schema.classes[0].named("any"))
    let link = MixedJSON.link(to: "Odd", .string("000000000000000000000009"))
    var found: [LinkTarget] = []
    func filter(_ json: JSONValue) -> JSONValue {
      LinkTarget.filter(json, column, schema) { target throws(Never) in
        found.append(target)
        return false
      }
    }
    let map = MixedJSON.typed("map", link)
    for json in [map, .array([map]), .object([JSONMember("a", map)])] {
      #expect(filter(json) == json)
      #expect(found == [])
    }
    // Links in such a map are links.
    guard case .object(let members) = link else { return }
    let holder = ItemCoder.map(members + [JSONMember("z", link)])
    #expect(filter(holder) == ItemCoder.map(members + [JSONMember("z", .null)]))
    #expect(found.count == 1)
  }
}
