import Foundation
import Testing

@testable import Tarn

/// `maximumBytesOfActiveVersions`.
@MainActor struct ActiveVersionLimitTests {
  private let shelter: Shelter

  init() throws { shelter = try Shelter() }

  private var configuration: Realm.Configuration {
    var configuration = shelter.configuration
    configuration.maximumBytesOfActiveVersions = 200_000
    return configuration
  }

  private func filled() throws -> Realm {
    let realm = try Realm(configuration: configuration)
    try realm.write {
      for id in 0..<100 { realm.add(Cat(id, String(repeating: "cat \(id) ", count: 30))) }
    }
    return realm
  }

  private func age(_ number: Int, _ realm: Realm) {
    realm.object(ofType: Cat.self, forPrimaryKey: number % 100)!.age += 1
  }

  private func total(_ realm: Realm) -> Int { realm.objects(Cat.self).sum(of: \.age) }

  @Test func `writes are refused while too much is kept for a frozen Realm`() throws {
    let realm = try filled()
    var frozen: Realm? = realm.freeze()
    #expect(throws: Realm.Error.invalidInput) {
      for number in 0..<10_000 { try realm.write { age(number, realm) } }
    }
    let before = total(realm)
    #expect(before > 3)
    do {
      try realm.write { age(0, realm) }
      Issue.record("a write beyond the limit")
    } catch {
      #expect("\(error)".contains("this process has been reading an old version"), "\(error)")
      #expect("\(error)".contains("maximumBytesOfActiveVersions is 200000"))
    }
    #expect(!realm.isInWriteTransaction)
    #expect(frozen?.objects(Cat.self).sum(of: \.age) == 0)
    frozen = nil
    try realm.write { age(0, realm) }
    #expect(total(realm) == before + 1)
  }

  @Test func `an asynchronous write gets the error, too`() async throws {
    let realm = try filled()
    let frozen = realm.freeze()
    var code: Realm.Error.Code?
    for number in 0..<10_000 where code == nil {
      do {
        try await realm.asyncWrite { age(number, realm) }
      } catch let error as Realm.Error {
        code = error.code
      }
    }
    #expect(code == .invalidInput)
    #expect(frozen.objects(Cat.self).count == 100)
  }

  @Test func `an instance that was itself behind writes`() throws {
    _ = try filled()
    let behind = try Realm(configuration: configuration, scheduler: ManualScheduler())
    behind.autorefresh = false
    _ = behind.objects(Cat.self).count
    let writer = try Realm(configuration: shelter.configuration, scheduler: ManualScheduler())
    for number in 0..<150 { try writer.write { age(number, writer) } }
    try behind.write { behind.add(Cat(1_000)) }
    #expect(total(behind) == 150)
  }

  @Test func `without readers of old versions the limit is never reached`() throws {
    let realm = try filled()
    for number in 0..<150 { try realm.write { age(number, realm) } }
    #expect(total(realm) == 150)
  }
}
