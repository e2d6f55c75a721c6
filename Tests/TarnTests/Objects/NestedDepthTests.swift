import Foundation
import Testing

@testable import Tarn

class Nest: Object {
  @Persisted var value: AnyRealmValue
  @Persisted var values: List<AnyRealmValue>
}

/// Lists and maps within values of any type lie a hundred deep at most, however they come there.
struct NestedDepthTests: TrapSuite {
  private let shelter = Result { try Shelter() }

  private static func open(_ shelter: Shelter) throws -> (Place, Nest) {
    var configuration = shelter.configuration
    configuration.objectTypes = [Nest.self]
    let place = try Place(configuration, shelter)
    let nest = Nest()
    try place.write { place.realm.add(nest) }
    return (place, nest)
  }

  /// Appends a list to the innermost one, so many times.
  private static func grow(_ first: List<AnyRealmValue>, by levels: Int) {
    var list = first
    for level in 0..<levels {
      if level % 2 == 0 {
        list.append(AnyRealmValue.fromArray([.int(level)]))
      } else {
        list[0] = .fromArray([.int(level)])
      }
      list = list.last!.listValue!
    }
  }

  @Test func oneAfterTheOtherUpToTheLimit() throws {
    let (place, nest) = try Self.open(shelter.get())
    try place.write { Self.grow(nest.values, by: 100) }
    #expect(nest.detached().values.count == 1)
    try place.write { nest.values.removeAll() }
    try place.write {
      nest.value = .fromArray([])
      Self.grow(nest.value.listValue!, by: 99)
    }
    try place.write { place.realm.delete(nest) }
    #expect(place.realm.isEmpty)
  }

  @Test func oneMoreThanTheLimit() async throws {
    let folder = try shelter.get().folder
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = folder as String] in
      let (place, nest) = try NestedDepthTests.open(Shelter(within: folder))
      try place.write { NestedDepthTests.grow(nest.values, by: 101) }
    }
    try expect("Lists and maps within values may be up to 100 deep.", in: result)
  }

  @Test func oneMoreThanTheLimitInAMap() async throws {
    let folder = try shelter.get().folder
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = folder as String] in
      let (place, nest) = try NestedDepthTests.open(Shelter(within: folder))
      try place.write {
        nest.value = .fromDictionary([:])
        var map = nest.value.dictionaryValue!
        while true {
          map["k"] = AnyRealmValue.fromDictionary([:])
          map = map["k"]!.dictionaryValue!
        }
      }
    }
    try expect("Lists and maps within values may be up to 100 deep.", in: result)
  }
}

/// What is kept of writes that were cancelled.
struct CancelledWriteTests {
  @Test func nothingIsKeptOfAWriteWhoseObjectsAreGone() throws {
    let place = try Shelter().open()
    weak var mark: WriteMark?
    for id in 0..<100 {
      place.realm.beginWrite()
      mark = place.realm.core.write.mark
      #expect(mark != nil)
      place.realm.add(Cat(id))
      place.realm.cancelWrite()
      #expect(mark == nil)
    }
    #expect(place.cats.isEmpty)
  }

  @Test func anObjectOfACancelledWriteStaysDead() throws {
    let place = try Shelter().open()
    place.realm.beginWrite()
    let cat = Cat(1)
    place.realm.add(cat)
    let again = place.cat(1)
    place.realm.cancelWrite()
    // The same row, of another write.
    try place.add(1)
    for _ in 0..<3 {
      #expect(cat.isInvalidated && again?.isInvalidated == true)
      try place.write { place.realm.add(Cat(2), update: .all) }
    }
    let (kept, life) = (Cat(3), place.realm)
    try place.write { life.add(kept) }
    #expect(!kept.isInvalidated && place.realm.core.write.mark == nil)
  }
}
