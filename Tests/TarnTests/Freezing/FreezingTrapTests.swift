import Foundation
import Testing

@testable import Tarn

/// What a program is told before it stops that treats frozen things as live ones.
struct FreezingTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  /// Something that is not allowed, with glaciers of the ids 1 and 2 there.
  private static func misuse(
    _ name: String, _ message: String, _ body: @escaping @Sendable (Instance) throws -> Void
  ) -> TrapCase {
    TrapCase(name, message) { try body($0.openIce(glaciers: 2)) }
  }

  static let traps: [TrapCase] =
    changing + writing + observing + freezing + thawing + mixing + readingWhatIsInvalidated

  private static let changing: [TrapCase] = [
    misuse("property", "Cannot set Glacier.name of a frozen Realm") {
      $0.glacier(1)!.freeze().name = "new"
    },
    misuse("indexed property", "Cannot set Glacier.age of a frozen Realm") {
      $0.glacier(1)!.freeze().age += 1
    },
    misuse("link", "Cannot set Glacier.largest of a frozen Realm") {
      $0.glacier(1)!.freeze().largest = nil
    },
    misuse("new link", "Call thaw() on the object, the collection or the Realm") {
      $0.glacier(1)!.freeze().largest = Stone(1)
    },
    misuse("value of any type", "Cannot set Glacier.anything of a frozen Realm") {
      $0.glacier(1)!.freeze().anything = 7
    },
    misuse("embedded object", "Cannot set Drill.depth of a frozen Realm") {
      $0.glacier(1)!.freeze().drill!.depth = 7
    },
    misuse("property by name", "Cannot set Glacier.size of a frozen Realm") {
      $0.glacier(1)!.freeze()["size"] = 1.5
    },
    misuse("dynamic property", "a frozen Realm: frozen data of '") {
      $0.realm.freeze().dynamicObjects("Glacier")[0].name = "new"
    },
    misuse("list", "Cannot change the list 'depths' of a frozen Realm") {
      $0.glacier(1)!.freeze().depths.append(1)
    },
    misuse("assigned list", "Cannot change the list 'depths' of a frozen Realm") {
      $0.glacier(1)!.freeze().depths = List()
    },
    misuse("set", "Cannot change the set 'words' of a frozen Realm") {
      $0.glacier(1)!.words.freeze().insert("new")
    },
    misuse("map", "Cannot change the map 'scores' of a frozen Realm") {
      $0.glacier(1)!.freeze().scores["new"] = 1
    },
    misuse("nested list", "Cannot change the list 'anything' of a frozen Realm") {
      $0.glacier(1)!.freeze().anything.dictionaryValue!["list"]!.listValue!.removeAll()
    },
    misuse("all of results", "of a frozen Realm: frozen data of '") {
      $0.glaciers.freeze().setValue(1, forKey: "age")
    },
  ]

  private static let writing: [TrapCase] = [
    misuse("write", "Can't perform transactions on a frozen Realm") { instance in
      try instance.realm.freeze().write { instance.realm.deleteAll() }
    },
    misuse("begin", "Can't perform transactions on a frozen Realm") {
      $0.realm.freeze().beginWrite()
    },
    misuse("add", "Cannot add objects of a frozen Realm") { $0.realm.freeze().add(Glacier(7)) },
    misuse("create", "Cannot create objects of a frozen Realm") {
      $0.realm.freeze().create(Glacier.self)
    },
    misuse("delete", "Cannot delete objects of a frozen Realm") { instance in
      instance.realm.freeze().delete(instance.glacier(1)!.freeze())
    },
    misuse("autorefresh", "Cannot turn autorefresh on for a frozen Realm") {
      $0.realm.freeze().autorefresh = true
    },
  ]

  private static let nothingToObserve = "Cannot observe a frozen Realm"
  private static let observing: [TrapCase] = [
    misuse("observed Realm", nothingToObserve) { _ = $0.realm.freeze().observe { _, _ in } },
    misuse("observed object", nothingToObserve) {
      _ = $0.glacier(1)!.freeze().observe { (_: ObjectChange<Glacier>) in }
    },
    misuse("observed results", nothingToObserve) { _ = $0.glaciers.freeze().observe { _ in } },
    misuse("observed list", nothingToObserve) {
      _ = $0.glacier(1)!.stones.freeze().observe { _ in }
    },
    misuse("observed map", nothingToObserve) {
      _ = $0.glacier(1)!.scores.freeze().observe { _ in }
    },
    misuse("observed links", nothingToObserve) {
      _ = $0.stones[0].freeze().glaciers.observe { _ in }
    },
    misuse("observed values", nothingToObserve) {
      _ = $0.glacier(1)!.depths.sorted(ascending: true).freeze().observe { _ in }
    },
    misuse("observed properties", nothingToObserve) {
      _ = $0.glacier(1)!.stones.projectTo.weight.freeze().observe { _ in }
    },
    misuse("observed sections", nothingToObserve) {
      _ = $0.glaciers.sectioned(by: \.age).freeze().observe { _ in }
    },
    misuse("observed section", nothingToObserve) {
      _ = $0.glaciers.sectioned(by: \.age)[0].freeze().observe { _ in }
    },
  ]

  private static let freezing: [TrapCase] = [
    misuse("unmanaged object", "'Glacier': only managed objects and collections can be") { _ in
      _ = Glacier(1).freeze()
    },
    misuse("unmanaged list", "'List<Int>': only managed objects and collections can be") { _ in
      _ = Glacier(1).depths.freeze()
    },
    misuse("deleted object", "'Glacier' has been deleted or invalidated and cannot be frozen") {
      instance in
      let glacier = instance.glacier(1)!
      try instance.write { instance.realm.delete(glacier) }
      _ = glacier.freeze()
    },
    misuse("new object", "'Glacier' was created in the open write and cannot") { instance in
      try instance.write {
        let glacier = Glacier(7)
        instance.realm.add(glacier)
        _ = glacier.freeze()
      }
    },
    misuse("new object's list", "'List<Int>' was created in the open write and cannot be frozen") {
      instance in
      try instance.write { _ = instance.realm.create(Glacier.self).depths.freeze() }
    },
    misuse("new object's results", "was created in the open write and cannot be") { instance in
      try instance.write {
        let stones = instance.realm.create(Glacier.self, value: [9]).stones
        _ = stones.where { $0.weight > 0 }.freeze()
      }
    },
    misuse("new section", "was created in the open write and cannot be frozen") { instance in
      let sections = instance.glaciers.sectioned(by: \.age)
      try instance.write {
        instance.realm.add(Glacier(9))
        _ = sections[2].freeze()
      }
    },
    misuse("section that went", "has been deleted or invalidated and cannot be frozen") {
      instance in
      let section = instance.glaciers.sectioned(by: \.age)[0]
      try instance.write { instance.realm.delete(instance.glacier(1)!) }
      _ = section.freeze()
    },
    misuse("another instance's", "The object or collection belongs to another instance") {
      instance in
      let other = try Realm(configuration: instance.realm.configuration)
      _ = other.freeze(instance.glacier(1)!)
    },
    misuse("another thread's", "Realm accessed from incorrect thread") { instance in
      nonisolated(unsafe) let realm = instance.realm  // because: this breaks the rule on purpose
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        _ = realm.freeze()
        done.signal()
      }
      done.wait()
    },
  ]

  private static let thawing: [TrapCase] = [
    misuse("unmanaged, thawed", "'Glacier': only managed objects and collections can be") { _ in
      _ = Glacier(1).thaw()
    },
    misuse("into frozen", "Cannot thaw into a frozen Realm") { instance in
      let frozen = instance.realm.freeze()
      _ = frozen.thaw(frozen.objects(Glacier.self)[0])
    },
    misuse("into another thread's", "Realm accessed from incorrect thread") { instance in
      // because: this breaks the rule on purpose
      nonisolated(unsafe) let (realm, frozen) = (instance.realm, instance.glacier(1)!.freeze())
      onAThread { _ = realm.thaw(frozen) }
    },
    misuse("of another file", "and does not exist in '") { instance in
      let other = try Realm(
        configuration: Realm.Configuration(
          inMemoryIdentifier: "other \(UUID())",
          objectTypes: [Glacier.self, Stone.self, Drill.self]))
      _ = other.thaw(instance.glacier(1)!.freeze())
    },
  ]

  private static let isFrozen = "A frozen object of class 'Stone' cannot become part of a live"
  private static let mixing: [TrapCase] = [
    misuse("appended", isFrozen) { instance in
      let list = instance.glacier(1)!.stones.freeze()
      try instance.write { list.thaw()!.append(instance.stones[0].freeze()) }
    },
    misuse("linked", isFrozen) { instance in
      try instance.write { instance.glacier(1)!.largest = instance.stones[0].freeze() }
    },
    misuse("added", isFrozen) { instance in
      try instance.write { instance.realm.add(instance.stones[0].freeze()) }
    },
    misuse("deleted", isFrozen) { instance in
      try instance.write { instance.realm.delete(instance.stones[0].freeze()) }
    },
    misuse("deleted with others", isFrozen) { instance in
      try instance.write { instance.realm.delete(Array(instance.stones.freeze())) }
    },
    misuse("as a value of any type", isFrozen) { instance in
      try instance.write { instance.glacier(1)!.anything = .object(instance.stones[0].freeze()) }
    },
    misuse("as a dynamic value", isFrozen) { instance in
      try instance.write {
        instance.realm.dynamicObjects("Glacier")[0]["largest"] = instance.stones[0].freeze()
      }
    },
  ]

  private static let readingWhatIsInvalidated: [TrapCase] = [
    misuse("object's property", "an object of class 'Glacier' was used afterwards") { instance in
      let glacier = instance.glacier(1)!.freeze()
      glacier.realm!.invalidate()
      print(glacier.name)
    },
    misuse("list's element", "The collection 'depths' was used after") { instance in
      let depths = instance.glacier(1)!.freeze().depths
      depths.realm!.invalidate()
      print(depths[0])
    },
    misuse("results' elements", "This Results<Glacier> has been invalidated with its") { instance in
      let glaciers = instance.glaciers.freeze()
      print(glaciers.count)
      glaciers.realm!.invalidate()
      print(glaciers[0])
    },
    misuse("key", "was read after invalidate(). Freeze the live one again.") { instance in
      let frozen = instance.realm.freeze()
      frozen.invalidate()
      print(frozen.object(ofType: Glacier.self, forPrimaryKey: 1)?.name ?? "none")
    },
    misuse("thawed object", "'Glacier' has been deleted or invalidated and cannot be thawed") {
      instance in
      let glacier = instance.glacier(1)!.freeze()
      glacier.realm!.invalidate()
      print(glacier.thaw()?.name ?? "none")
    },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String, name] in
      try await FreezingTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
