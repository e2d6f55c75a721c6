import Foundation
import Testing

@testable import Tarn
@testable import TarnStore

/// `deleteRealmIfDamaged`.
struct DamagedCacheTests {
  private let shelter = Result { try Shelter() }

  private func path() throws -> String { try shelter.get().configuration.fileURL!.path }

  private func open(_ deletes: Bool) throws -> Realm {
    var configuration = try shelter.get().configuration
    configuration.deleteRealmIfDamaged = deletes
    return try Realm(configuration: configuration, scheduler: ManualScheduler())
  }

  private func makeCache() throws { _ = try shelter.get().open(cats: 3) }

  /// As if the machine had ended before pages were on the disk.
  private func endMachine(zeroing page: Int?) throws {
    let file = try OwnedDescriptor(opening: path(), flags: O_RDWR, operation: "test")
    var mark = UseMark(state: .inUse, place: .of(file.raw))
    mark.place.run.0 += 1
    #expect(mark.write(file.raw) == 0)
    if let page {
      let zeros = [UInt8](repeating: 0, count: 4096)
      #expect(pwrite(file.raw, zeros, zeros.count, off_t(page * 4096)) == zeros.count)
    }
  }

  @Test func `a sound cache is kept`() throws {
    try makeCache()
    try endMachine(zeroing: nil)
    #expect(throws: Realm.Error.mayBeDamaged) { try open(false) }
    #expect(try open(true).objects(Cat.self).count == 3)
    #expect(try open(false).objects(Cat.self).count == 3)
  }

  @Test func `a damaged cache begins anew`() throws {
    try makeCache()
    let header = try Environment.verifyPages(path: path())
    #expect(header.problems == [])
    let root = try withExtendedLifetime(shelter.get()) {
      let file = try OwnedDescriptor(opening: path(), flags: O_RDONLY, operation: "test")
      return try #require(try StoreHeader.read(descriptor: file.raw, path: path())).main.root
    }
    try endMachine(zeroing: Int(root))
    #expect(throws: Realm.Error.mayBeDamaged) { try open(false) }
    do { #expect(try open(true).objects(Cat.self).isEmpty) }
    let again = try shelter.get().open(cats: 1)
    #expect(again.cats.count == 1)
  }

  /// Others would go on in a file without a name.
  @Test func `a cache that somebody has open is not deleted`() throws {
    let shelter = try shelter.get()
    let a = try shelter.open(cats: 1)
    #expect(StorageError.code { try StoreRegistry.removeDamaged(path()) } == .alreadyOpen)
    #expect(a.cats.count == 1)
  }
}
