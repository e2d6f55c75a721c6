import Foundation
import TestSupport
import Testing

@testable import Tarn

class Carton: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var data: AnyRealmValue
  @Persisted var inner: Carton?
}

/// Objects in the order of a property of any type, and told apart by one, against a ladder of
/// values that is written down here.
@Suite struct MixedOrderTests {
  /// Ascending; values on a rung are equal. Objects, lists and maps are above all of them.
  private static var ladder: [[AnyRealmValue]] {
    let long = "a beginning that is as long for both "
    let (low, high) = (UUID(uuidString: "00000000-0000-0000-0000-000000000001")!, UUID.last)
    return [
      [.none], [.bool(false)], [.bool(true)],
      [.double(.nan), .float(.nan), .decimal128("NaN")],
      [.double(-.infinity), .float(-.infinity)], [.int(.min), .double(-0x1p63)], [.int(.min + 1)],
      [.double(-0.5), .float(-0.5)],
      [.int(0), .double(0), .double(-0.0), .float(0), .decimal128(0)],
      [.double(.leastNonzeroMagnitude)], [.decimal128("0.1")], [.double(0.1)],
      [.float(Float(0.1)), .double(Double(Float(0.1)))],
      [.int(1), .double(1), .float(1), .decimal128("1.00")],
      [.int(1 << 53), .double(0x1p53)], [.int(1 << 53 + 1), .decimal128("9007199254740993")],
      [.double(0x1p53 + 2)], [.int(.max)], [.double(0x1p63), .float(0x1p63)],
      [.double(.greatestFiniteMagnitude)], [.decimal128("1E400")], [.decimal128("2E400")],
      [.double(.infinity), .float(.infinity)],
      [.string("")], [.string("B")], [.string("a")], [.string("a\0")],
      [.string(long)], [.string(long + "a")], [.string(long + "b")],
      [.string(String(repeating: "long", count: 5000))], [.string("ä")],
      [.data(Data())], [.data(Data([0]))], [.data(Data([0, 0]))],
      [.data(Data(repeating: 7, count: 30))],
      [.date(Date(timeIntervalSince1970: -5))], [.date(Date(timeIntervalSince1970: 0))],
      [.date(Date(timeIntervalSince1970: 0.5))],
      [.objectId(ObjectId("000000000000000000000001"))],
      [.objectId(ObjectId("000000000000000000000002"))],
      [.uuid(low)], [.uuid(high)],
    ]
  }

  /// Where an object's value stands, as the test knows it.
  private struct Standing: Hashable {
    var rung: Int
    /// Of a carton its id; of a list or map which one it is.
    var number = 0
    var isObject: Bool { rung == ladder.count }
    var isCollection: Bool { rung == ladder.count + 1 }
  }

  private func open(_ shelter: Shelter) throws -> Instance {
    var configuration = shelter.configuration
    configuration.fileURL = URL(fileURLWithPath: shelter.folder + "/cartons.realm")
    configuration.objectTypes = [Carton.self]
    return try Instance(configuration, shelter)
  }

  /// What the test believes, and random changes of it and of the file.
  private struct Model {
    var numbers: SeededRandom
    var standings: [Int: Standing] = [:]
    var inner: [Int: Int] = [:]
    private var collections = 0

    init(seed: UInt64) { numbers = SeededRandom(seed: seed) }

    mutating func change(_ realm: Realm) {
      let (id, other) = (numbers.below(60), numbers.below(60))
      let target = realm.object(ofType: Carton.self, forPrimaryKey: other)
      guard let carton = realm.object(ofType: Carton.self, forPrimaryKey: id) else {
        realm.create(Carton.self, value: ["id": id])
        standings[id] = Standing(rung: 0)
        return
      }
      switch numbers.below(20) {
      case 0..<13:
        let rung = numbers.below(MixedOrderTests.ladder.count)
        carton.data = numbers.pick(MixedOrderTests.ladder[rung])
        standings[id] = Standing(rung: rung)
      case 13, 14:
        guard let target else { return }
        carton.data = .object(target)
        standings[id] = Standing(rung: MixedOrderTests.ladder.count, number: other)
      case 15:
        collections += 1
        carton.data = numbers.chance(50) ? .fromArray([.int(1)]) : .fromDictionary(["a": .int(1)])
        standings[id] = Standing(rung: MixedOrderTests.ladder.count + 1, number: collections)
      case 16, 17, 18:
        carton.inner = target
        inner[id] = target == nil ? nil : other
      default: delete(carton, realm)
      }
    }

    private mutating func delete(_ carton: Carton, _ realm: Realm) {
      let id = carton.id
      realm.delete(carton)
      standings[id] = nil
      inner[id] = nil
      for (origin, standing) in standings where standing.isObject && standing.number == id {
        standings[origin] = Standing(rung: 0)
      }
      inner = inner.filter { $0.value != id }
    }

    /// Below zero if `a` comes first. Lists and maps are all equal here.
    private func order(_ a: Standing, _ b: Standing) -> Int {
      if a.rung != b.rung { return a.rung - b.rung }
      return a.isObject ? a.number - b.number : 0
    }

    func sorted(_ isAscending: Bool) -> [Int] {
      let sign = isAscending ? 1 : -1
      return standings.keys.sorted {
        (sign * order(standings[$0]!, standings[$1]!), $0) < (0, $1)
      }
    }

    /// By what the carton within has. Those without one come last.
    func sortedByInner(_ isAscending: Bool) -> [Int] {
      let sign = isAscending ? 1 : -1
      return standings.keys.sorted {
        guard let a = inner[$0], let b = inner[$1] else {
          let rank = (inner[$0] == nil ? 1 : 0) - (inner[$1] == nil ? 1 : 0)
          return (sign * rank, $0) < (0, $1)
        }
        return (sign * order(standings[a]!, standings[b]!), $0) < (0, $1)
      }
    }

    var distinct: [Int] {
      var seen: Set<Standing> = []
      return standings.keys.sorted().filter { seen.insert(standings[$0]!).inserted }
    }
  }

  @Test(arguments: Array(1...6) as [UInt64])
  func `orders and firsts are those of the ladder, also after changes`(_ seed: UInt64) throws {
    let shelter = try Shelter()
    let (a, b) = (try open(shelter), try open(shelter))
    var model = Model(seed: seed)
    try b.write { for _ in 0..<200 { model.change(b.realm) } }
    a.pump()
    let ascending = seed % 2 == 0
    func views(_ realm: Realm) -> [Results<Carton>] {
      let cartons = realm.objects(Carton.self)
      return [
        cartons.sorted(by: \.data, ascending: ascending),
        cartons.sorted(byKeyPath: "inner.data", ascending: ascending),
        cartons.distinct(by: [\.data]),
      ]
    }
    let recorders = views(a.realm).map { SequenceRecorder($0) { "\($0.id)" } }
    a.pump()
    for _ in 0..<40 {
      try b.write {
        for _ in 0...model.numbers.below(4) { model.change(b.realm) }
        // What is not committed yet counts, too.
        #expect(views(b.realm)[0].map(\.id) == model.sorted(ascending))
      }
      if model.numbers.chance(60) { a.pump() }
    }
    a.pump()
    let expected = [model.sorted(ascending), model.sortedByInner(ascending), model.distinct]
    for ((view, recorder), expected) in zip(zip(views(a.realm), recorders), expected) {
      #expect(view.map(\.id) == expected)
      #expect(recorder.mirror == expected.map { "\($0)" })
      #expect(recorder.problems == [])
    }
  }

  @Test func `the first ones without sorting all`() throws {
    let instance = try open(Shelter())
    try instance.write {
      for (id, rung) in Self.ladder.reversed().enumerated() {
        instance.realm.create(Carton.self, value: ["id": id, "data": rung[0]])
      }
    }
    let count = Self.ladder.count
    let sorted = instance.realm.objects(Carton.self).sorted(by: \.data)
    #expect(sorted.limit(3).map(\.id) == [count - 1, count - 2, count - 3])
    #expect(sorted.first?.id == count - 1)
    #expect(sorted.last?.id == 0)
  }
}

extension UUID {
  fileprivate static let last = UUID(uuidString: "ffffffff-ffff-ffff-ffff-ffffffffffff")!
}
