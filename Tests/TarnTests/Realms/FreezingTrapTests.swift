import Foundation
import Testing

@testable import Tarn

/// What a program is told before it stops that treats frozen things as live ones.
struct FreezingTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  /// Something that is not allowed, with glaciers of the ids 1 and 2 there.
  struct Misuse: Sendable {
    let name: String
    let message: String
    let body: @Sendable (Instance) throws -> Void

    init(_ name: String, _ message: String, _ body: @escaping @Sendable (Instance) throws -> Void) {
      self.name = name
      self.message = message
      self.body = body
    }
  }

  static let misuses =
    changing + writing + observing + freezing + thawing + mixing + readingWhatIsInvalidated

  private static let changing = [
    Misuse("property", "Cannot set Glacier.name of a frozen Realm") {
      $0.glacier(1)!.freeze().name = "new"
    },
    Misuse("indexed property", "Cannot set Glacier.age of a frozen Realm") {
      $0.glacier(1)!.freeze().age += 1
    },
    Misuse("link", "Cannot set Glacier.largest of a frozen Realm") {
      $0.glacier(1)!.freeze().largest = nil
    },
    Misuse("new link", "Call thaw() on the object, the collection or the Realm") {
      $0.glacier(1)!.freeze().largest = Stone(1)
    },
    Misuse("value of any type", "Cannot set Glacier.anything of a frozen Realm") {
      $0.glacier(1)!.freeze().anything = 7
    },
    Misuse("embedded object", "Cannot set Drill.depth of a frozen Realm") {
      $0.glacier(1)!.freeze().drill!.depth = 7
    },
    Misuse("property by name", "Cannot set Glacier.size of a frozen Realm") {
      $0.glacier(1)!.freeze()["size"] = 1.5
    },
    Misuse("dynamic property", "a frozen Realm: what is frozen of '") {
      $0.realm.freeze().dynamicObjects("Glacier")[0].name = "new"
    },
    Misuse("list", "Cannot change the list 'depths' of a frozen Realm") {
      $0.glacier(1)!.freeze().depths.append(1)
    },
    Misuse("assigned list", "Cannot change the list 'depths' of a frozen Realm") {
      $0.glacier(1)!.freeze().depths = List()
    },
    Misuse("set", "Cannot change the set 'words' of a frozen Realm") {
      $0.glacier(1)!.words.freeze().insert("new")
    },
    Misuse("map", "Cannot change the map 'scores' of a frozen Realm") {
      $0.glacier(1)!.freeze().scores["new"] = 1
    },
    Misuse("nested list", "Cannot change the list 'anything' of a frozen Realm") {
      $0.glacier(1)!.freeze().anything.dictionaryValue!["list"]!.listValue!.removeAll()
    },
    Misuse("all of results", "of a frozen Realm: what is frozen of '") {
      $0.glaciers.freeze().setValue(1, forKey: "age")
    },
  ]

  private static let writing = [
    Misuse("write", "Can't perform transactions on a frozen Realm") { instance in
      try instance.realm.freeze().write { instance.realm.deleteAll() }
    },
    Misuse("begin", "Can't perform transactions on a frozen Realm") {
      $0.realm.freeze().beginWrite()
    },
    Misuse("add", "Cannot add objects of a frozen Realm") { $0.realm.freeze().add(Glacier(7)) },
    Misuse("create", "Cannot create objects of a frozen Realm") {
      $0.realm.freeze().create(Glacier.self)
    },
    Misuse("delete", "Cannot delete objects of a frozen Realm") { instance in
      instance.realm.freeze().delete(instance.glacier(1)!.freeze())
    },
    Misuse("autorefresh", "Cannot turn autorefresh on for a frozen Realm") {
      $0.realm.freeze().autorefresh = true
    },
  ]

  private static let nothingToObserve = "nothing can be observed of, a frozen Realm"
  private static let observing = [
    Misuse("observed Realm", nothingToObserve) { _ = $0.realm.freeze().observe { _, _ in } },
    Misuse("observed object", nothingToObserve) {
      _ = $0.glacier(1)!.freeze().observe { (_: ObjectChange<Glacier>) in }
    },
    Misuse("observed results", nothingToObserve) { _ = $0.glaciers.freeze().observe { _ in } },
    Misuse("observed list", nothingToObserve) {
      _ = $0.glacier(1)!.stones.freeze().observe { _ in }
    },
    Misuse("observed map", nothingToObserve) {
      _ = $0.glacier(1)!.scores.freeze().observe { _ in }
    },
    Misuse("observed links", nothingToObserve) {
      _ = $0.stones[0].freeze().glaciers.observe { _ in }
    },
    Misuse("observed values", nothingToObserve) {
      _ = $0.glacier(1)!.depths.sorted(ascending: true).freeze().observe { _ in }
    },
    Misuse("observed properties", nothingToObserve) {
      _ = $0.glacier(1)!.stones.projectTo.weight.freeze().observe { _ in }
    },
    Misuse("observed sections", nothingToObserve) {
      _ = $0.glaciers.sectioned(by: \.age).freeze().observe { _ in }
    },
    Misuse("observed section", nothingToObserve) {
      _ = $0.glaciers.sectioned(by: \.age)[0].freeze().observe { _ in }
    },
  ]

  private static let freezing = [
    Misuse("unmanaged object", "'Glacier': only what is managed by a Realm can be frozen") { _ in
      _ = Glacier(1).freeze()
    },
    Misuse("unmanaged list", "'List<Int>': only what is managed by a Realm can be frozen") { _ in
      _ = Glacier(1).depths.freeze()
    },
    Misuse("deleted object", "'Glacier' has been deleted or invalidated and cannot be frozen") {
      instance in
      let glacier = instance.glacier(1)!
      try instance.write { instance.realm.delete(glacier) }
      _ = glacier.freeze()
    },
    Misuse("new object", "'Glacier' was made in the open write and cannot be frozen") { instance in
      try instance.write {
        let glacier = Glacier(7)
        instance.realm.add(glacier)
        _ = glacier.freeze()
      }
    },
    Misuse("new object's list", "'List<Int>' was made in the open write and cannot be frozen") {
      instance in
      try instance.write { _ = instance.realm.create(Glacier.self).depths.freeze() }
    },
    Misuse("new object's results", "was made in the open write and cannot be frozen") { instance in
      try instance.write {
        let stones = instance.realm.create(Glacier.self, value: [9]).stones
        _ = stones.where { $0.weight > 0 }.freeze()
      }
    },
    Misuse("new section", "was made in the open write and cannot be frozen") { instance in
      let sections = instance.glaciers.sectioned(by: \.age)
      try instance.write {
        instance.realm.add(Glacier(9))
        _ = sections[2].freeze()
      }
    },
    Misuse("section that went", "has been deleted or invalidated and cannot be frozen") {
      instance in
      let section = instance.glaciers.sectioned(by: \.age)[0]
      try instance.write { instance.realm.delete(instance.glacier(1)!) }
      _ = section.freeze()
    },
    Misuse("another instance's", "The object or collection belongs to another instance") {
      instance in
      let other = try Realm(configuration: instance.realm.configuration)
      _ = other.freeze(instance.glacier(1)!)
    },
    Misuse("another thread's", "Realm accessed from incorrect thread") { instance in
      nonisolated(unsafe) let realm = instance.realm  // because: this breaks the rule on purpose
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        _ = realm.freeze()
        done.signal()
      }
      done.wait()
    },
  ]

  private static let thawing = [
    Misuse("unmanaged, thawed", "'Glacier': only what is managed by a Realm can be thawed") { _ in
      _ = Glacier(1).thaw()
    },
    Misuse("into frozen", "Nothing can be thawed into a frozen Realm") { instance in
      let frozen = instance.realm.freeze()
      _ = frozen.thaw(frozen.objects(Glacier.self)[0])
    },
    Misuse("into another thread's", "Realm accessed from incorrect thread") { instance in
      // because: this breaks the rule on purpose
      nonisolated(unsafe) let (realm, frozen) = (instance.realm, instance.glacier(1)!.freeze())
      onAThread { _ = realm.thaw(frozen) }
    },
    Misuse("of another file", "and has no counterpart in '") { instance in
      let other = try Realm(
        configuration: Realm.Configuration(
          inMemoryIdentifier: "other \(UUID())",
          objectTypes: [Glacier.self, Stone.self, Drill.self]))
      _ = other.thaw(instance.glacier(1)!.freeze())
    },
  ]

  private static let isFrozen = "A frozen object of class 'Stone' cannot become part of a live"
  private static let mixing = [
    Misuse("appended", isFrozen) { instance in
      let list = instance.glacier(1)!.stones.freeze()
      try instance.write { list.thaw()!.append(instance.stones[0].freeze()) }
    },
    Misuse("linked", isFrozen) { instance in
      try instance.write { instance.glacier(1)!.largest = instance.stones[0].freeze() }
    },
    Misuse("added", isFrozen) { instance in
      try instance.write { instance.realm.add(instance.stones[0].freeze()) }
    },
    Misuse("deleted", isFrozen) { instance in
      try instance.write { instance.realm.delete(instance.stones[0].freeze()) }
    },
    Misuse("deleted with others", isFrozen) { instance in
      try instance.write { instance.realm.delete(Array(instance.stones.freeze())) }
    },
    Misuse("as a value of any type", isFrozen) { instance in
      try instance.write { instance.glacier(1)!.anything = .object(instance.stones[0].freeze()) }
    },
    Misuse("as a dynamic value", isFrozen) { instance in
      try instance.write {
        instance.realm.dynamicObjects("Glacier")[0]["largest"] = instance.stones[0].freeze()
      }
    },
  ]

  private static let readingWhatIsInvalidated = [
    Misuse("object's property", "an object of class 'Glacier' is used after that") { instance in
      let glacier = instance.glacier(1)!.freeze()
      glacier.realm!.invalidate()
      print(glacier.name)
    },
    Misuse("list's element", "The collection 'depths' is used after") { instance in
      let depths = instance.glacier(1)!.freeze().depths
      depths.realm!.invalidate()
      print(depths[0])
    },
    Misuse("results' elements", "This Results<Glacier> has been invalidated with its") { instance in
      let glaciers = instance.glaciers.freeze()
      print(glaciers.count)
      glaciers.realm!.invalidate()
      print(glaciers[0])
    },
    Misuse("key", "is read after invalidate(). Freeze the live one again.") { instance in
      let frozen = instance.realm.freeze()
      frozen.invalidate()
      print(frozen.object(ofType: Glacier.self, forPrimaryKey: 1)?.name ?? "none")
    },
    Misuse("thawed object", "'Glacier' has been deleted or invalidated and cannot be thawed") {
      instance in
      let glacier = instance.glacier(1)!.freeze()
      glacier.realm!.invalidate()
      print(glacier.thaw()?.name ?? "none")
    },
  ]

  @Test(arguments: misuses.indices)
  func misuse(_ number: Int) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String, number = number as Int] in
      let instance = try Shelter(within: folder).openIce(glaciers: 2)
      try FreezingTrapTests.misuses[number].body(instance)
    }
    let misuse = Self.misuses[number]
    try expect(misuse.message, in: result)
    #expect(result != nil, "\(misuse.name)")
  }
}
