import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

struct RealmCopyingTests {
  private let shelter: Shelter
  private var copy: URL { URL(fileURLWithPath: shelter.folder + "/copy.realm") }
  private var file: URL { shelter.configuration.fileURL! }

  init() throws { shelter = try Shelter() }

  private func configuration(_ url: URL) -> Realm.Configuration {
    var configuration = shelter.configuration
    configuration.fileURL = url
    return configuration
  }

  private func open(_ url: URL? = nil) throws -> Realm {
    try Realm(configuration: configuration(url ?? file), scheduler: ManualScheduler())
  }

  private func names(_ realm: Realm) -> [String] {
    realm.objects(Cat.self).sorted(by: \.id).map(\.name)
  }

  private func fill(_ realm: Realm, _ count: Int = 100) throws {
    let first = realm.objects(Cat.self).count
    try realm.write {
      for number in first..<first + count { realm.add(Cat(number, "cat \(number)")) }
    }
  }

  @Test func `a copy has the objects and goes its own way`() throws {
    let realm = try open()
    try fill(realm)
    var fractions: [Double] = []
    let report = try realm.writeCopy(toFile: copy) { fractions.append($0.fraction) }
    #expect(fractions.last == 1)
    #expect(report.growth == 0)
    #expect(report.byteCount == Int(FileFacts.at(copy.path)?.byteCount ?? 0))
    let other = try open(copy)
    #expect(names(other) == names(realm))
    try fill(other, 1)
    #expect(other.objects(Cat.self).count == realm.objects(Cat.self).count + 1)
  }

  @Test func `an existing file is not replaced`() throws {
    let realm = try open()
    try Data("notes".utf8).write(to: copy)
    #expect(throws: Realm.Error.fileExists) { try realm.writeCopy(toFile: copy) }
    #expect(try Data(contentsOf: copy) == Data("notes".utf8))
  }

  @Test func `the version that a Realm shows is copied`() throws {
    let realm = try open()
    try fill(realm)
    let frozen = realm.freeze()
    try fill(realm)
    try frozen.writeCopy(toFile: copy)
    #expect(try open(copy).objects(Cat.self).count == 100)
    try realm.write {
      realm.add(Cat(1_000))
      let late = URL(fileURLWithPath: shelter.folder + "/late.realm")
      #expect(throws: Realm.Error.fail) { try realm.writeCopy(toFile: late) }
      #expect(FileFacts.at(late.path) == nil)
    }
  }

  @Test func `a Realm in memory becomes a file, with the durability of a configuration`() throws {
    var inMemory = shelter.configuration
    inMemory.inMemoryIdentifier = shelter.folder
    let realm = try Realm(configuration: inMemory, scheduler: ManualScheduler())
    try fill(realm)
    #expect(throws: Realm.Error.invalidInput) { try realm.writeCopy(configuration: inMemory) }
    var target = configuration(copy)
    target.durability = .full
    try realm.writeCopy(configuration: target)
    #expect(names(try Realm(configuration: target)) == names(realm))
  }

  @Test func `a seed is copied where there is no file`() throws {
    try fill(open())
    var seeded = configuration(copy)
    seeded.seedFilePath = file
    let realm = try Realm(configuration: seeded, scheduler: ManualScheduler())
    #expect(realm.objects(Cat.self).count == 100)
    try fill(realm, 5)
    // Later the file itself is opened.
    seeded.seedFilePath = URL(fileURLWithPath: shelter.folder + "/missing.realm")
    #expect(try Realm(configuration: seeded).objects(Cat.self).count == 105)
    #expect(try open().objects(Cat.self).count == 100)
    seeded.fileURL = URL(fileURLWithPath: shelter.folder + "/third.realm")
    #expect(throws: Realm.Error.fileNotFound) { try Realm(configuration: seeded) }
    #expect(!Realm.fileExists(for: seeded))
  }

  @Test func `many that begin with a seed share one file`() async throws {
    try fill(open())
    let seed = file
    let seeded = {
      var seeded = configuration(copy)
      seeded.seedFilePath = seed
      return seeded
    }()
    await withTaskGroup(of: Int?.self) { group in
      for _ in 0..<8 {
        group.addTask {
          try? Realm(configuration: seeded, scheduler: ManualScheduler()).objects(Cat.self).count
        }
      }
      for await count in group { #expect(count == 100) }
    }
  }

  @Test func `a file is compacted, and not while it is open`() throws {
    do {
      let realm = try open()
      try fill(realm, 3_000)
      try realm.write { realm.delete(realm.objects(Cat.self).where { $0.id >= 100 }) }
      #expect(throws: Realm.Error.alreadyOpen) { try Realm.compact(at: file) }
    }
    let report = try Realm.compact(at: file)
    #expect(report.byteCount < report.byteCountBefore)
    let realm = try open()
    #expect(realm.objects(Cat.self).count == 100)
    try fill(realm, 1)
    #expect(throws: Realm.Error.fileNotFound) { try Realm.compact(at: copy) }
  }

  @Test func `the first opener may compact`() throws {
    do {
      let realm = try open()
      try fill(realm, 3_000)
      try realm.write { realm.delete(realm.objects(Cat.self).where { $0.id >= 100 }) }
    }
    let before = try #require(FileFacts.at(file.path)?.byteCount)
    let asked = Lock<[Int]>([])
    var compacting = configuration(file)
    compacting.shouldCompactOnLaunch = { total, used in
      asked.withLock { $0 += [total, used] }
      return Double(used) / Double(total) < 0.5
    }
    do {
      let realm = try Realm(configuration: compacting, scheduler: ManualScheduler())
      #expect(realm.objects(Cat.self).count == 100)
      let second = try Realm(configuration: compacting, scheduler: ManualScheduler())
      #expect(second.objects(Cat.self).count == 100)
    }
    let numbers = asked.withLock { $0 }
    #expect(numbers.count == 2)
    #expect(numbers.first == Int(before))
    #expect((FileFacts.at(file.path)?.byteCount ?? before) < before)
  }
}
