import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

private enum BoxOld {
  class Box: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var tags: List<String>
    @Persisted var marks: MutableSet<Int>
    @Persisted var sizes: Map<String, Int>
    @Persisted var inside: List<Box>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

private enum BoxNew {
  class Box: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var labels: List<String>
    @Persisted var sizes: Map<String, String>
    @Persisted var inside: List<Box>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

private enum BoxLoose {
  class Box: Object {
    @Persisted var words: List<String?>
    @Persisted var marks: MutableSet<Int?>
    @Persisted var sizes: Map<String, Double?>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

private enum BoxStrict {
  class Box: Object {
    @Persisted var words: List<String>
    @Persisted var marks: MutableSet<Int>
    @Persisted var sizes: Map<String, Double>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

private enum BoxRenamed {
  class Box: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var contents: List<Box>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

private enum BoxRekeyed {
  class Box: Object {
    @Persisted var id: Int
    @Persisted(primaryKey: true) var number: Int
    @Persisted var inside: List<Box>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

/// Collections in migrations and of dynamic objects.
struct CollectionMigrationTests {
  private let folder = TemporaryFolder()
  private var url: URL { folder.url("boxes.realm") }

  private func open(
    _ types: [ObjectBase.Type], version: UInt64 = 0, _ block: MigrationBlock? = nil
  ) throws -> Realm {
    try Realm(configuration: PetFile.configuration(url, types, version: version, block))
  }

  private static let tags = (0..<500).map { "tag \($0)" }

  private func fill() throws {
    let realm = try open([BoxOld.Box.self])
    try realm.write {
      let boxes = (1...2).map { id in
        realm.create(BoxOld.Box.self, value: ["id": id])
      }
      boxes[0].tags.append(objectsIn: Self.tags)
      boxes[0].marks.insert(objectsIn: [3, 1, 2])
      boxes[0].sizes["small"] = 1
      boxes[0].sizes["large"] = 9
      boxes[0].inside.append(objectsIn: [boxes[1], boxes[1]])
    }
  }

  @Test func elementsOfDynamicObjects() throws {
    try fill()
    let realm = try open([])
    let boxes = realm.dynamicObjects("Box")
    let tags = try #require(boxes[0].tags as? List<String>)
    let marks = try #require(boxes[0].marks as? MutableSet<Int>)
    let sizes = try #require(boxes[0].sizes as? Map<String, Int>)
    let inside = try #require(boxes[0].inside as? List<DynamicObject>)
    #expect(Array(tags) == Self.tags)
    #expect(Array(marks) == [1, 2, 3])
    #expect(sizes == ["small": 1, "large": 9])
    #expect(inside.map { $0.id as? Int } == [2, 2])
    try realm.write {
      tags.append("more")
      marks.insert(7)
      sizes["x"] = 0
      inside.removeLast()
      inside.append(boxes[0])
    }
    #expect(tags.last == "more")
    #expect(marks.contains(7))
    #expect(sizes.keys == ["large", "small", "x"])
    #expect(inside.map { $0.id as? Int } == [2, 1])
    #expect(inside.max(ofProperty: "id") == 2)
    #expect(inside.filter("id == 1").count == 1)
    try realm.write {
      boxes[1].tags = ["one", "two"]
      boxes[1].inside = [boxes[0]]
      realm.dynamicCreate("Box", value: ["id": 3, "marks": [5, 4, 5], "sizes": ["x": 2]])
    }
    #expect(boxes[1].tags as? List<String> == ["one", "two"])
    #expect(boxes[1].inside as? List<DynamicObject> == [boxes[0]])
    #expect(boxes[2].marks as? MutableSet<Int> == [4, 5])
    #expect(boxes[2].sizes as? Map<String, Int> == ["x": 2])
    try realm.write {
      boxes[2].tags = boxes[1].tags
      boxes[2].sizes = boxes[0].sizes
      boxes[2].inside = boxes[0].inside
      boxes[2].marks = nil
    }
    #expect(boxes[2].tags as? List<String> == ["one", "two"])
    #expect(boxes[2].sizes as? Map<String, Int> == ["small": 1, "large": 9, "x": 0])
    #expect(boxes[2].inside as? List<DynamicObject> == [boxes[1], boxes[0]])
    let schema = boxes[0].objectSchema
    #expect(schema["tags"]?.isArray == true)
    #expect(schema["tags"]?.type == .string)
    #expect(schema["marks"]?.isSet == true)
    #expect(schema["sizes"]?.isMap == true)
    #expect(schema["inside"]?.objectClassName == "Box")
    #expect(schema["id"]?.isArray == false)
  }

  @Test func collectionsAreRenamedRemovedAndChanged() throws {
    try fill()
    #expect(throws: Realm.Error.schemaMismatch) { try open([BoxNew.Box.self]) }
    let realm = try open([BoxNew.Box.self], version: 1) { migration, _ in
      migration.renameProperty(onType: "Box", from: "tags", to: "labels")
      migration.enumerateObjects(ofType: "Box") { old, new in
        guard let sizes = old?.sizes as? Map<String, Int> else { return }
        new?.sizes = Dictionary(uniqueKeysWithValues: sizes.map { ($0.key, "\($0.value) cm") })
      }
    }
    let boxes = realm.objects(BoxNew.Box.self)
    #expect(Array(boxes[0].labels) == Self.tags)
    #expect(boxes[0].sizes["large"] == "9 cm")
    #expect(boxes[0].sizes.count == 2)
    #expect(boxes[0].inside.map(\.id) == [2, 2])
    #expect(boxes[1].labels.isEmpty)
    try realm.write { boxes[0].labels.remove(at: 0) }
    #expect(boxes[0].labels.count == 499)
    try realm.checkIndexes()
    let reader = realm.core.shown()
    let described = try #require(reader.schema.schema.named("Box"))
    #expect(described.named("marks") == nil)
    #expect(described.named("tags") == nil)
  }

  @Test func elementsBecomeRequiredAndOptionalAgain() throws {
    try {
      let realm = try open([BoxLoose.Box.self])
      try realm.write {
        let box = realm.create(BoxLoose.Box.self)
        box.words.append(objectsIn: ["a", nil, "b", nil])
        box.marks.insert(objectsIn: [nil, 0, 3])
        box.sizes["none"] = .some(nil)
        box.sizes["one"] = 1
      }
    }()
    #expect(throws: Realm.Error.schemaMismatch) { try open([BoxStrict.Box.self]) }
    try {
      let realm = try open([BoxStrict.Box.self], version: 1)
      let box = try #require(realm.objects(BoxStrict.Box.self).first)
      #expect(Array(box.words) == ["a", "", "b", ""])
      #expect(Array(box.marks) == [0, 3])
      #expect(box.sizes["none"] == 0)
      #expect(box.sizes["one"] == 1)
    }()
    let realm = try open([BoxLoose.Box.self], version: 2)
    let box = try #require(realm.objects(BoxLoose.Box.self).first)
    #expect(Array(box.words) == ["a", "", "b", ""])
    #expect(Array(box.marks) == [0, 3])
    try realm.write { box.words.append(nil) }
    #expect(box.words.count == 5)
  }

  @Test func aCollectionOfLinksIsRenamed() throws {
    try fill()
    let realm = try open([BoxRenamed.Box.self], version: 1) { migration, _ in
      migration.renameProperty(onType: "Box", from: "inside", to: "contents")
    }
    let boxes = realm.objects(BoxRenamed.Box.self)
    #expect(boxes[0].contents.map(\.id) == [2, 2])
    #expect(boxes[1].contents.isEmpty)
    try realm.write { realm.delete(boxes[1]) }
    #expect(boxes[0].contents.isEmpty)
  }

  @Test func rowsWithCollectionsGetNewKeys() throws {
    try fill()
    let realm = try open([BoxRekeyed.Box.self], version: 1) { migration, _ in
      migration.enumerateObjects(ofType: "Box") { old, new in
        new?.number = 3 - (old?.id as? Int ?? 0)
      }
    }
    let boxes = realm.objects(BoxRekeyed.Box.self)
    #expect(boxes.map(\.number) == [1, 2])
    #expect(boxes.map(\.id) == [2, 1])
    #expect(boxes[1].inside.map(\.id) == [2, 2])
    #expect(boxes[0].inside.isEmpty)
    try realm.checkIndexes()
  }
}
