import BenchFloors
import Foundation
import TestSupport
import Testing

/// Each floor at a tiny size: the figures mean nothing here, but the work must be done. One after
/// the other, because two of them fork this process.
@Suite(.serialized) struct BenchFloorsTests {
  private let folder: TemporaryFolder
  private let rows: Int64 = 2000

  init() { folder = TemporaryFolder() }

  private func check(_ error: Int32, _ position: SourceLocation = #_sourceLocation) {
    #expect(error == 0, "\(String(cString: bf_error_text(error)))", sourceLocation: position)
  }

  private func madePerson(_ id: Int64) -> bf_person {
    var person = bf_person()
    bf_person_make(id, &person)
    return person
  }

  private func text<Bytes>(_ bytes: Bytes) -> String {
    withUnsafeBytes(of: bytes) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  private func expectEqual(_ a: bf_person, _ b: bf_person) {
    #expect(a.id == b.id)
    #expect(a.age == b.age)
    #expect(a.score == b.score)
    #expect(a.dob == b.dob)
    #expect(a.is_active == b.is_active)
    #expect(text(a.name) == text(b.name))
    #expect(text(a.city) == text(b.city))
  }

  private var people: [bf_person] { (1...rows).map(madePerson) }

  @Test func peopleAreAsTheWorkloadsWantThem() {
    let people = people
    #expect(people.allSatisfy { (0...99).contains($0.age) && (0..<1).contains($0.score) })
    #expect(people.allSatisfy { text($0.name).count == 12 })
    #expect(Set(people.map { text($0.city) }).count == 100)
    #expect(Set(people.map(\.age)).count == 100)
    #expect(Set(people.map { text($0.name) }).count == people.count)
  }

  @Test(arguments: [Int32(0), 1]) func lmdbStoresAndChangesRows(append: Int32) throws {
    var handle: OpaquePointer?
    var seconds = 0.0
    var count: Int64 = 0
    check(bf_lmdb_create(folder.path, rows, append, &handle, &seconds))
    let store = try #require(handle)
    #expect(seconds > 0)
    check(bf_lmdb_count(store, &count))
    #expect(count == rows)
    check(bf_lmdb_file_bytes(store, &count))
    #expect(count > rows * 50)
    var person = bf_person()
    check(bf_lmdb_person(store, 1234, &person))
    expectEqual(person, madePerson(1234))
    #expect(bf_lmdb_person(store, rows + 1, &person) != 0)
    var ages = try ages { bf_lmdb_person(store, $0, $1) }
    for sync in [bf_full, bf_one_sync, bf_no_sync] {
      check(bf_lmdb_commits(store, 30, sync, &seconds))
      let changed = try self.ages { bf_lmdb_person(store, $0, $1) }
      #expect(steps(from: ages, to: changed) == 30)
      ages = changed
    }
    check(bf_lmdb_bulk_update(store, 50, &seconds))
    check(bf_lmdb_age(store, 3, 100, 20))
    let changed = try self.ages { bf_lmdb_person(store, $0, $1) }
    #expect(steps(from: ages, to: changed) == 50 + 300 + 20)
    check(bf_lmdb_reopen(store, &seconds))
    check(bf_lmdb_count(store, &count))
    #expect(count == rows)
    bf_lmdb_destroy(store)
    #expect(folder.names.isEmpty)
  }

  @Test func sqliteStoresAndChangesRows() throws {
    var handle: OpaquePointer?
    var seconds = 0.0
    var count: Int64 = 0
    check(bf_sqlite_create(folder.path, rows, &handle, &seconds))
    let store = try #require(handle)
    check(bf_sqlite_count(store, &count))
    #expect(count == rows)
    check(bf_sqlite_file_bytes(store, &count))
    #expect(count > rows * 30)
    var person = bf_person()
    check(bf_sqlite_person(store, 1234, &person))
    expectEqual(person, madePerson(1234))
    #expect(bf_sqlite_person(store, rows + 1, &person) != 0)
    let ages = try ages { bf_sqlite_person(store, $0, $1) }
    for sync in [bf_full, bf_no_sync] { check(bf_sqlite_commits(store, 30, sync, &seconds)) }
    check(bf_sqlite_bulk_update(store, 50, &seconds))
    check(bf_sqlite_age(store, 3, 100, 20))
    let changed = try self.ages { bf_sqlite_person(store, $0, $1) }
    #expect(steps(from: ages, to: changed) == 60 + 50 + 300 + 20)
    check(bf_sqlite_reopen(store, &seconds))
    check(bf_sqlite_commits(store, 1, bf_no_sync, &seconds))
    bf_sqlite_destroy(store)
    #expect(folder.names.isEmpty)
  }

  private func ages(_ read: (Int64, UnsafeMutablePointer<bf_person>) -> Int32) throws -> [Int64] {
    try (1...rows).map { id in
      var person = bf_person()
      try #require(read(id, &person) == 0)
      return person.age
    }
  }

  /// How often somebody had a birthday; no one has a hundred here.
  private func steps(from old: [Int64], to new: [Int64]) -> Int64 {
    zip(old, new).reduce(0) { $0 + ($1.1 - $1.0 + 100) % 100 }
  }

  @Test func bothEnginesFindTheSame() throws {
    let people = people
    let oldest = people.min { ($0.age, $0.id) < ($1.age, $1.id) }
    let named = people.min { text($0.name) < text($1.name) }
    let matching = Int64(people.count { $0.age > 50 })
    var lmdb: OpaquePointer?
    var sqlite: OpaquePointer?
    var seconds = 0.0
    var first: Int64 = 0
    check(bf_lmdb_create(folder.path, rows, 0, &lmdb, &seconds))
    check(bf_sqlite_create(folder.path, rows, &sqlite, &seconds))
    defer {
      bf_lmdb_destroy(lmdb)
      bf_sqlite_destroy(sqlite)
    }
    for (byName, expected) in [(Int32(0), oldest), (1, named)] {
      check(bf_lmdb_sort(lmdb, byName, &first, &seconds))
      #expect(first == expected?.id)
      check(bf_sqlite_sort(sqlite, byName, &first, &seconds))
      #expect(first == expected?.id)
    }
    check(bf_lmdb_requery(lmdb, &first, &seconds))
    #expect(first == matching)
    check(bf_sqlite_requery(sqlite, &first, &seconds))
    #expect(first == matching)
    check(bf_lmdb_lookup(lmdb, 500, &seconds))
    #expect(seconds > 0)
    check(bf_sqlite_lookup(sqlite, 500, &seconds))
    #expect(seconds > 0)
    var inOrder: Int32 = 0
    check(bf_lmdb_reinsert(lmdb, 200, &inOrder, &seconds))
    #expect(inOrder == 1)
  }

  @Test func anotherProcessIsWoken() {
    var latency = bf_latency()
    check(bf_lmdb_wake(folder.path, 50, -1, &latency))
    #expect(latency.p50 > 0)
    #expect(latency.p50 <= latency.p99)
    check(bf_sqlite_wake(folder.path, 20, -1, &latency))
    #expect(latency.p50 > 0)
    #expect(latency.p50 <= latency.p99)
    #expect(folder.names.isEmpty)
  }

  @Test func memoryIsRead() {
    var int = 0.0
    var string = 0.0
    check(bf_memory_reads(100_000, &int, &string))
    #expect(int > 0)
    #expect(string > 0)
  }

  @Test func aMissingFolderIsAnError() {
    var handle: OpaquePointer?
    var seconds = 0.0
    var latency = bf_latency()
    #expect(bf_lmdb_create("/no/such/folder", 1, 0, &handle, &seconds) != 0)
    #expect(handle == nil)
    #expect(bf_sqlite_create("/no/such/folder", 1, &handle, &seconds) != 0)
    #expect(handle == nil)
    #expect(bf_lmdb_wake("/no/such/folder", 1, -1, &latency) != 0)
    #expect(bf_sqlite_wake("/no/such/folder", 1, -1, &latency) != 0)
    let long = String(repeating: "x", count: 2000)
    #expect(bf_lmdb_create(long, 1, 0, &handle, &seconds) == ENAMETOOLONG)
    #expect(!String(cString: bf_error_text(ENAMETOOLONG)).isEmpty)
    #expect(String(cString: bf_error_text(100_014)).contains("open"))
  }
}
