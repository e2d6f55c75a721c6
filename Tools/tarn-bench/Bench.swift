import BenchFloors
import Foundation
import Tarn
import ToolSupport

/// The object of every workload; the floors store the same one.
class Person: Object {
  @Persisted(primaryKey: true) var _id: Int
  @Persisted var name = ""
  @Persisted var age = 0
  @Persisted var score = 0.0
  @Persisted var dob = Date(timeIntervalSince1970: 0)
  @Persisted var isActive = false
  @Persisted var city = ""

  /// The person with a number, with the same values as in the floors.
  static func made(_ id: Int) -> Person {
    var values = bf_person()
    bf_person_make(Int64(id), &values)
    let person = Person()
    person._id = id
    person.name = benchText(&values.name)
    person.age = Int(values.age)
    person.score = values.score
    person.dob = Date(timeIntervalSince1970: Double(values.dob))
    person.isActive = values.is_active != 0
    person.city = benchText(&values.city)
    return person
  }
}

/// The C string in a struct's bytes.
func benchText<Bytes>(_ bytes: inout Bytes) -> String {
  withUnsafeBytes(of: &bytes) { bytes in
    String(decoding: bytes[..<(bytes.firstIndex(of: 0) ?? bytes.count)], as: UTF8.self)
  }
}

/// A number of objects in a workload's title: `1,000,000`.
func amount(_ count: Int) -> String { grouped(Double(count)) }

/// The clock of all measurements: monotonic and shared by all processes.
func benchNow() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

/// The duration of `body`, in seconds.
func benchTime(_ body: () throws -> Void) rethrows -> Double {
  let start = benchNow()
  try body()
  return benchNow() - start
}

/// Shared by the workloads of one run: the folder, the stores, the figures.
///
/// The stores of `options.objects` persons are created on first use and kept.
final class Bench {
  let options: BenchOptions
  let folder: String
  private(set) var table: BenchTable
  /// Takes turns for every Realm that the workloads observe.
  let scheduler = ManualScheduler()
  private var known: BenchStores?

  init(_ options: BenchOptions) throws {
    self.options = options
    table = BenchTable(machine: .current, objects: options.objects)
    var template = Array((options.folder + "/tarn-bench-XXXXXX").utf8CString)
    guard let made = mkdtemp(&template) else {
      throw ToolError("cannot make a folder in", options.folder, errno: errno)
    }
    folder = String(cString: made)
  }

  func removeFolder() {
    known = nil
    try? FileManager.default.removeItem(atPath: folder)
  }

  var objects: Int { options.objects }
  var isTiny: Bool { options.isTiny }

  /// The number of rounds: `many`, or `tiny` in a tiny run.
  func rounds(_ many: Int, tiny: Int) -> Int { isTiny ? tiny : many }

  func add(_ figure: BenchFigure) { table.figures.append(figure) }

  func stores() throws -> BenchStores {
    if let known { return known }
    let made = try BenchStores(self)
    known = made
    return made
  }

  func configuration(
    _ name: String, _ durability: Realm.Configuration.Durability = .relaxed
  ) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(fileURLWithPath: "\(folder)/\(name).realm"),
      objectTypes: [Person.self, Ping.self], durability: durability)
  }

  /// Fills a store with persons in one write. Returns the duration of the write in seconds.
  func fill(_ realm: Realm, objects: Int) throws -> Double {
    try benchTime {
      try realm.write {
        for id in 1...objects { realm.add(Person.made(id)) }
      }
    }
  }

  /// Medians of several rounds that alternate between Tarn, the floor and SQLite, after one warm-up
  /// round.
  func alternate(
    rounds: Int = 5, warm: Bool = true, _ sides: [() throws -> Double]
  ) throws -> [Double] {
    var values = [[Double]](repeating: [], count: sides.count)
    if warm { for side in sides { _ = try side() } }
    for _ in 0..<(isTiny ? 1 : rounds) {
      for (number, side) in sides.enumerated() { values[number].append(try side()) }
    }
    return values.map { Statistics.median($0) }
  }
}

/// Throws a floor's error number as an error with its text.
func floor(_ error: Int32, _ what: String = #function) throws {
  if error != 0 { throw ToolError("floor of \(what): \(String(cString: bf_error_text(error)))") }
}

/// The same persons in a Tarn file, in raw LMDB and in SQLite.
final class BenchStores {
  let realm: Realm
  let lmdb: OpaquePointer
  let sqlite: OpaquePointer
  /// The duration of the inserts in seconds: Tarn, the floor, SQLite.
  let insertSeconds: [Double]
  /// The next number of the scattered changes.
  var nextUpdate = 0
  private let objects: Int

  init(_ bench: Bench) throws {
    objects = bench.objects
    realm = try Realm(configuration: bench.configuration("main"), scheduler: bench.scheduler)
    let ours = try bench.fill(realm, objects: bench.objects)
    var seconds = (0.0, 0.0)
    var handles: (OpaquePointer?, OpaquePointer?)
    let count = Int64(bench.objects)
    try floor(bf_lmdb_create(bench.folder, count, 0, &handles.0, &seconds.0), "insert")
    try floor(bf_sqlite_create(bench.folder, count, &handles.1, &seconds.1), "insert")
    guard let lmdb = handles.0, let sqlite = handles.1 else {
      throw ToolError("a floor has no store")
    }
    self.lmdb = lmdb
    self.sqlite = sqlite
    insertSeconds = [ours, seconds.0, seconds.1]
  }

  deinit {
    bf_lmdb_destroy(lmdb)
    bf_sqlite_destroy(sqlite)
  }

  /// A scattered primary key, different each time.
  func scatteredID() -> Int {
    nextUpdate += 1
    return Self.scattered(nextUpdate, objects)
  }

  static func scattered(_ number: Int, _ objects: Int) -> Int {
    let mixed = UInt64(number) &* 0x9e37_79b9_7f4a_7c15
    return 1 + Int((mixed >> 16) % UInt64(objects))
  }

  func person(_ id: Int) throws -> Person {
    guard let person = realm.object(ofType: Person.self, forPrimaryKey: id) else {
      throw ToolError("person \(id) is missing")
    }
    return person
  }
}
