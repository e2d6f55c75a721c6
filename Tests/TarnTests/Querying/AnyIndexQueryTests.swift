import Foundation
import TestSupport
import Testing

@testable import Tarn

class Packet: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: true) var label: AnyRealmValue
  @Persisted var inner: Packet?
}

/// Conditions on an indexed property of any type, against closures.
@Suite struct AnyIndexQueryTests {
  private let instance: Instance

  init() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.fileURL = URL(fileURLWithPath: shelter.folder + "/packets.realm")
    configuration.objectTypes = [Packet.self]
    instance = try Instance(configuration, shelter)
    try instance.write {
      for id in 0..<2000 {
        let packet = Packet()
        packet.id = id
        packet.label = Self.label(id)
        instance.realm.add(packet)
      }
    }
  }

  private static func label(_ id: Int) -> AnyRealmValue {
    switch id % 8 {
    case 0: .none
    case 1: .int(id)
    case 2: .double(Double(id - 1))
    case 3: .string("p\(id)")
    case 4: .bool(id % 16 == 4)
    case 5: .date(Date(timeIntervalSince1970: Double(id)))
    case 6: .decimal128(Decimal128(number: NSNumber(value: id - 5)))
    default: .uuid(UUID(uuidString: "00000000-0000-0000-0000-00000000\(1000 + id)")!)
    }
  }

  private var packets: Results<Packet> { instance.realm.objects(Packet.self) }

  private func ids(
    _ condition: (Query<Packet>) -> Query<Bool>, isIndexed: Bool = true,
    _ location: SourceLocation = #_sourceLocation
  ) -> [Int] {
    let found = packets.where(condition)
    let way = "find: the index on 'label'"
    #expect(
      found.explain().hasPrefix(way) == isIndexed, "\(found.explain())",
      sourceLocation: location)
    return found.map(\.id)
  }

  @Test func `values of each type are found through the index`() {
    // A number is found as whatever type it has.
    #expect(ids { $0.label == 801 } == [801, 802, 806])
    #expect(ids { $0.label == 801.0 } == [801, 802, 806])
    #expect(ids { $0.label > 801 && $0.label <= 809 } == [809, 810, 814])
    #expect(ids { $0.label == "p803" } == [803])
    #expect(ids { $0.label.starts(with: "p80") } == [803])
    #expect(ids { $0.label == .date(Date(timeIntervalSince1970: 805)) } == [805])
    let some: [AnyRealmValue] = [.string("p11"), .int(9), Self.label(7), .date(Date.distantPast)]
    #expect(ids { $0.label.in(some) } == [7, 9, 10, 11, 14])
    #expect(ids { $0.label == "p804" } == [])
    #expect(ids({ $0.label != 801 }, isIndexed: false).count == 1997)
    #expect(ids({ $0.label.contains("80") }, isIndexed: false) == [803, 1803])
  }

  @Test func `nil has an entry from the first write on`() throws {
    try instance.write {
      for packet in packets.where({ $0.label == nil }) where packet.id > 40 { packet.label = 1 }
    }
    #expect(ids { $0.label == nil } == [0, 8, 16, 24, 32, 40])
    try instance.write { instance.realm.create(Packet.self, value: ["id": 5000]) }
    #expect(ids { $0.label == nil } == [0, 8, 16, 24, 32, 40, 5000])
  }

  @Test func `an object is found where the value is it, not where it is within the value`() throws {
    let target = try #require(packets.first)
    try instance.write {
      packets[10].label = .object(target)
      packets[11].label = .list([.object(target)])
      packets[12].label = .list([.int(1), .list([.object(target)])])
    }
    #expect(ids { $0.label == .object(target) } == [10])
    try instance.write { packets[11].label = .object(target) }
    #expect(ids { $0.label == .object(target) } == [10, 11])
    #expect(packets.where { $0.label[0] == .object(target) }.isEmpty)
    try instance.write { instance.realm.delete(target) }
    #expect(ids { $0.label == nil }.prefix(4) == [8, 10, 11, 16])
    #expect(packets.where { $0.label[0] == 1 }.map(\.id) == [12])
  }

  @Test func `a write finds what it has written`() throws {
    try instance.write {
      packets[1].label = "p803"
      packets[2].label = .list([.int(4)])
      #expect(packets.where { $0.label == "p803" }.map(\.id) == [1, 803])
      #expect(packets.where { $0.label == 1 }.map(\.id) == [6])
      instance.realm.delete(packets[1])
      #expect(packets.where { $0.label == "p803" }.map(\.id) == [803])
    }
    #expect(ids { $0.label == "p803" } == [803])
    try instance.write { instance.realm.delete(packets) }
    #expect(ids { $0.label == nil }.isEmpty)
  }
}
