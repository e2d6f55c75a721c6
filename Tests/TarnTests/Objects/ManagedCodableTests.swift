import Foundation
import Testing

@testable import Tarn

private enum Size: String, PersistableEnum, Codable { case small, large }

private class Crate: Object, Codable {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = "crate"
  @Persisted var weight: Double?
  @Persisted var size: Size
  @Persisted var price: Decimal128
  @Persisted var tag: ObjectId
  @Persisted var packed: Date
  @Persisted var bytes: Data
  @Persisted var lid: Lid?
  @Persisted var inner: Crate?
  @Persisted var crates: List<Crate>
  @Persisted var lids: List<Lid>
  @Persisted var marks: MutableSet<Int>
  @Persisted var owners: Map<String, String?>
  @Persisted(originProperty: "inner") var outer: LinkingObjects<Crate>
  var shade = "not stored"

  private enum CodingKeys: CodingKey {
    case id, name, weight, size, price, tag, packed, bytes, lid, inner, crates, lids, marks, owners
  }

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Lid: EmbeddedObject, Codable {
  @Persisted var colour: String?
  @Persisted var handle: Handle?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Handle: EmbeddedObject, Codable {
  @Persisted var length = 0
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Types that have objects.
private struct Delivery: Codable {
  var first: Crate
  var second: Crate?
  var others: [Crate]
}

/// One that encodes its objects by hand, in a row.
private struct Row: Encodable {
  let crates: [Crate]

  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for crate in crates { try container.encode(crate) }
  }
}

/// Objects of a Realm into JSON, and what JSON may leave out.
struct ManagedCodableTests {
  private let a: Instance

  init() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Crate.self, Lid.self, Handle.self]
    a = try Instance(configuration, shelter)
  }

  private let least =
    #""price":1.5,"tag":"5f7f1c0e2b3a4c5d6e7f8091","packed":10,"bytes":"AQI=","size":"large""#

  private func decode(_ id: Int, _ rest: String = "") throws -> Crate {
    let text = #"{"id":\#(id),"name":"c\#(id)",\#(least)\#(rest)}"#
    return try JSONDecoder().decode(Crate.self, from: Data(text.utf8))
  }

  private func coder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return encoder
  }

  private func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }

  /// A managed crate with everything in it, and its JSON.
  private func filled() throws -> (Crate, String) {
    let crate = try decode(
      1,
      #","weight":2.5,"marks":[2,1],"owners":{"a":"x","b":null},"lid":{"handle":{"length":3}}"#
        + #","lids":[{"colour":"red"},{"colour":null}]"#)
    crate.inner = try decode(2)
    crate.crates.append(try decode(3))
    let expected = text(try coder().encode(crate))
    try a.write { a.realm.add(crate) }
    // As a set in a Realm has them.
    return (crate, expected.replacing("[2,1]", with: "[1,2]"))
  }

  @Test func whatMayBeMissingOrNull() throws {
    let crate = try decode(1)
    #expect(crate.weight == nil)
    #expect(crate.lid == nil)
    #expect(crate.inner == nil)
    #expect(crate.crates.isEmpty)
    #expect(crate.marks.isEmpty)
    #expect(crate.owners.isEmpty)
    #expect(crate.price == "1.5")
    #expect(crate.size == .large)
    #expect(crate.bytes == Data([1, 2]))
    #expect(crate.packed == Date(timeIntervalSinceReferenceDate: 10))
    #expect(crate.realm == nil)
    #expect(crate.shade == "not stored")
    let nulls = try decode(
      1, #","weight":null,"lid":null,"inner":null,"crates":null,"marks":null,"owners":null"#)
    #expect(nulls.weight == nil)
    #expect(nulls.lid == nil)
    #expect(nulls.crates.isEmpty)
    #expect(nulls.marks.isEmpty)
    #expect(nulls.owners.isEmpty)
    let encoded = text(try coder().encode(crate))
    #expect(encoded.contains(#""crates":[]"#))
    #expect(encoded.contains(#""weight":null"#))
    #expect(encoded.contains(#""price":"1.5""#))
  }

  @Test(
    arguments: [
      #"{"name":"x"}"#, #"{"id":1,"name":null}"#, #"{"id":1,"name":"x","marks":[null]}"#,
      #"{"id":1,"name":"x","size":"huge"}"#, #"{"id":1,"name":"x","price":"a"}"#,
      #"{"id":1,"name":"x","price":1,"tag":"5f"}"#, #"{"id":1,"name":"x","owners":[1]}"#,
    ])
  func whatIsRefused(_ text: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Crate.self, from: Data(text.utf8))
    }
  }

  @Test func aDecodedObjectIsAdded() throws {
    let crate = try filled().0
    #expect(crate.realm == a.realm)
    #expect(crate.name == "c1")
    #expect(crate.weight == 2.5)
    #expect(crate.lid?.handle?.length == 3)
    #expect(crate.lids.map(\.colour) == ["red", nil])
    #expect(Array(crate.marks) == [1, 2])
    #expect(crate.owners["b"] == .some(nil))
    #expect(crate.inner?.outer.first == crate)
    #expect(crate.crates[0].id == 3)
    #expect(a.realm.objects(Crate.self).count == 3)
  }

  @Test func managedObjectsAreEncodedWhereTheirTypeIsKnown() throws {
    let (crate, expected) = try filled()
    #expect(text(try coder().encode(crate)) == expected)
    #expect(text(try coder().encode([crate, crate])) == "[\(expected),\(expected)]")
    #expect(text(try coder().encode(crate.freeze())) == expected)
    #expect(text(try coder().encode(crate.lid!)) == #"{"colour":null,"handle":{"length":3}}"#)
    // In a write it is as it is there.
    try a.write {
      crate.name = "new"
      let now = text(try coder().encode(crate))
      #expect(now.contains(#""name":"new""#))
    }
    #expect(crate.realm == a.realm)
  }

  @Test func propertiesOfOtherTypes() throws {
    let (crate, expected) = try filled()
    let inner = text(try coder().encode(crate.inner!.detached()))
    var delivery = Delivery(first: crate, second: crate.inner, others: [crate.inner!])
    let all = #"{"first":\#(expected),"others":[\#(inner)],"second":\#(inner)}"#
    #expect(text(try coder().encode(delivery)) == all)
    delivery.second = nil
    #expect(!text(try coder().encode(delivery)).contains("second"))
    let decoded = try JSONDecoder().decode(Delivery.self, from: Data(all.utf8))
    #expect(decoded.second?.id == 2)
    #expect(decoded.first.realm == nil)
    // Unmanaged, with a link to a managed one.
    let other = try decode(9)
    other.inner = crate
    #expect(text(try coder().encode(other)).contains(#""inner":\#(expected)"#))
  }

  @Test func propertyLists() throws {
    let crate = try filled().0
    crate.realm?.beginWrite()
    crate.owners["b"] = "y"
    // A property list has no null.
    crate.inner = nil
    let data = try PropertyListEncoder().encode(crate.lids[0].detached().colour.map { [$0] })
    #expect(try PropertyListDecoder().decode([String].self, from: data) == ["red"])
    let handle = try PropertyListEncoder().encode(crate.lid!.handle!)
    #expect(try PropertyListDecoder().decode(Handle.self, from: handle).length == 3)
    let handles = try PropertyListEncoder().encode([crate.lid!.handle!])
    #expect(try PropertyListDecoder().decode([Handle].self, from: handles).map(\.length) == [3])
    crate.realm?.cancelWrite()
  }

  @Test func strategiesOfTheCoderAreKept() throws {
    let crate = try decode(1, #","owners":{"firstOwner":"x"}"#)
    let encoder = coder()
    encoder.dateEncodingStrategy = .secondsSince1970
    encoder.dataEncodingStrategy = .custom { data, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(data.count)
    }
    encoder.keyEncodingStrategy = .convertToSnakeCase
    let encoded = text(try encoder.encode(crate))
    #expect(encoded.contains(#""bytes":2,"#))
    #expect(encoded.contains(#""packed":978307210"#))
    #expect(encoded.contains(#""owners":{"firstOwner":"x"}"#))
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let dated = #"{"id":1,"name":"x",\#(least),"owners":{"first_owner":"x"}}"#
      .replacing(#""packed":10"#, with: #""packed":"2001-01-01T00:00:07Z""#)
    let decoded = try decoder.decode(Crate.self, from: Data(dated.utf8))
    #expect(decoded.packed == Date(timeIntervalSinceReferenceDate: 7))
    #expect(decoded.owners.keys == ["first_owner"])
  }

  @Test func genericCodeIsToldWhatToDo() throws {
    func encode<Value: Encodable>(_ value: Value) throws -> Data { try coder().encode(value) }
    let (crate, expected) = try filled()
    let error = #expect(throws: EncodingError.self) { try encode(crate) }
    #expect(error.map { "\($0)" }?.contains("detached()") == true)
    #expect(throws: EncodingError.self) { try encode(["a": crate]) }
    #expect(throws: EncodingError.self) { try coder().encode(Row(crates: [crate])) }
    let row = text(try coder().encode(Row(crates: [crate.detached()])))
    #expect(row == "[\(expected)]")
    #expect(text(try encode(crate.detached())) == expected)
    #expect(text(try encode(crate.crates)).hasPrefix(#"[{"bytes""#))
    #expect(text(try encode(a.realm.objects(Crate.self))).hasPrefix("[\(expected),"))
  }

  @Test func collectionsAlone() throws {
    let decoder = JSONDecoder()
    let list = try decoder.decode(List<Double?>.self, from: Data("[1.5,null]".utf8))
    #expect(Array(list) == [1.5, nil])
    let set = try decoder.decode(MutableSet<String>.self, from: Data(#"["b","a","b"]"#.utf8))
    #expect(set.count == 2)
    let map = try decoder.decode(Map<String, Lid?>.self, from: Data(#"{"a":{},"b":null}"#.utf8))
    #expect(map.keys == ["a", "b"])
    #expect(map["a"]??.colour == nil)
    #expect(text(try coder().encode(map)).hasPrefix(#"{"a":{"colour":null"#))
    let any = try decoder.decode(List<AnyRealmValue>.self, from: Data(#"[1,"x",null,[2]]"#.utf8))
    #expect(any[0] == .int(1))
    #expect(any[1] == .string("x"))
    #expect(any[3].listValue?.count == 1)
    #expect(text(try coder().encode(any)) == #"[1,"x",null,[2]]"#)
    let numbers = try decoder.decode(
      List<AnyRealmValue>.self,
      from: Data(
        "[18446744073709551615,-9223372036854775809,9223372036854775807,1.5,1e300,1e30]".utf8))
    #expect(
      Array(numbers) == [
        .decimal128(try Decimal128(string: "18446744073709551615")),
        .decimal128(try Decimal128(string: "-9223372036854775809")), .int(.max), .double(1.5),
        .double(1e300), .double(1e30),
      ])
    let sizes = try decoder.decode(List<Size>.self, from: Data(#"["large"]"#.utf8))
    #expect(Array(sizes) == [.large])
    #expect(text(try coder().encode(sizes)) == #"["large"]"#)
  }
}
