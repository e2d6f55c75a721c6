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

  private static func open(_ shelter: Shelter) throws -> (Instance, Nest) {
    var configuration = shelter.configuration
    configuration.objectTypes = [Nest.self]
    let instance = try Instance(configuration, shelter)
    let nest = Nest()
    try instance.write { instance.realm.add(nest) }
    return (instance, nest)
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
    let (instance, nest) = try Self.open(shelter.get())
    try instance.write { Self.grow(nest.values, by: 100) }
    #expect(nest.detached().values.count == 1)
    try instance.write { nest.values.removeAll() }
    try instance.write {
      nest.value = .fromArray([])
      Self.grow(nest.value.listValue!, by: 99)
    }
    try instance.write { instance.realm.delete(nest) }
    #expect(instance.realm.isEmpty)
  }

  @Test func oneMoreThanTheLimit() async throws {
    let folder = try shelter.get().folder
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = folder as String] in
      let (instance, nest) = try NestedDepthTests.open(Shelter(within: folder))
      try instance.write { NestedDepthTests.grow(nest.values, by: 101) }
    }
    try expect("Lists and maps within values may be up to 100 deep.", in: result)
  }

  @Test func oneMoreThanTheLimitInAMap() async throws {
    let folder = try shelter.get().folder
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = folder as String] in
      let (instance, nest) = try NestedDepthTests.open(Shelter(within: folder))
      try instance.write {
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
    let instance = try Shelter().open()
    weak var mark: WriteMark?
    for id in 0..<100 {
      instance.realm.beginWrite()
      mark = instance.realm.core.write.mark
      #expect(mark != nil)
      instance.realm.add(Cat(id))
      instance.realm.cancelWrite()
      #expect(mark == nil)
    }
    #expect(instance.cats.isEmpty)
  }

  @Test func anObjectOfACancelledWriteStaysDead() throws {
    let instance = try Shelter().open()
    instance.realm.beginWrite()
    let cat = Cat(1)
    instance.realm.add(cat)
    let again = instance.cat(1)
    instance.realm.cancelWrite()
    // The same row, of another write.
    try instance.add(1)
    for _ in 0..<3 {
      #expect(cat.isInvalidated)
      #expect(again?.isInvalidated == true)
      try instance.write { instance.realm.add(Cat(2), update: .all) }
    }
    let (kept, life) = (Cat(3), instance.realm)
    try instance.write { life.add(kept) }
    #expect(!kept.isInvalidated)
    #expect(instance.realm.core.write.mark == nil)
  }
}
