import Foundation

@testable import Tarn

/// Objects that hold each other in every way that there is, with another primary key in each model.
enum WebByID {
  static let types: [ObjectBase.Type] = [Node.self, Part.self, Holder.self]

  class Node: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var code: Int
    @Persisted var name: String
    @Persisted var one: Node?
    @Persisted var list: List<Node>
    @Persisted var any: AnyRealmValue
    @Persisted var part: Part?
    @Persisted var parts: List<Part>
    @Persisted var texts: Map<String, String?>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  class Part: EmbeddedObject {
    @Persisted var name: String
    @Persisted var nodes: MutableSet<Node>
    @Persisted var any: AnyRealmValue
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  class Holder: Object {
    @Persisted var one: Node?
    @Persisted var list: List<Node>
    @Persisted var set: MutableSet<Node>
    @Persisted var map: Map<String, Node?>
    @Persisted var any: AnyRealmValue
    @Persisted var anyList: List<AnyRealmValue>
    @Persisted var anySet: MutableSet<AnyRealmValue>
    @Persisted var anyMap: Map<String, AnyRealmValue>
    @Persisted var part: Part?
    @Persisted var partMap: Map<String, Part?>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

/// The same nodes by another integer, and by none, and by a text: the holders stay as they are.
enum WebByCode {
  static let types: [ObjectBase.Type] = [Node.self, Part.self]

  class Node: Object {
    @Persisted var id: Int
    @Persisted(primaryKey: true) var code: Int
    @Persisted var name: String
    @Persisted var one: Node?
    @Persisted var list: List<Node>
    @Persisted var any: AnyRealmValue
    @Persisted var part: Part?
    @Persisted var parts: List<Part>
    @Persisted var texts: Map<String, String?>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  class Part: EmbeddedObject {
    @Persisted var name: String
    @Persisted var nodes: MutableSet<Node>
    @Persisted var any: AnyRealmValue
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

enum WebByName {
  static let types: [ObjectBase.Type] = [Node.self, Part.self]

  class Node: Object {
    @Persisted var id: Int
    @Persisted var code: Int
    @Persisted(primaryKey: true) var name: String
    @Persisted var one: Node?
    @Persisted var list: List<Node>
    @Persisted var any: AnyRealmValue
    @Persisted var part: Part?
    @Persisted var parts: List<Part>
    @Persisted var texts: Map<String, String?>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  class Part: EmbeddedObject {
    @Persisted var name: String
    @Persisted var nodes: MutableSet<Node>
    @Persisted var any: AnyRealmValue
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

/// Other names for what holds objects, and elements that must not, or may, be nil.
enum WebRenamed {
  static let types: [ObjectBase.Type] = [Node.self, Part.self, Holder.self]

  class Node: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var code: Int
    @Persisted var name: String
    @Persisted var one2: Node?
    @Persisted var list2: List<Node>
    @Persisted var any2: AnyRealmValue
    @Persisted var part2: Part?
    @Persisted var parts2: List<Part>
    @Persisted var texts2: Map<String, String>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  class Part: EmbeddedObject {
    @Persisted var name: String
    @Persisted var nodes2: MutableSet<Node>
    @Persisted var any2: AnyRealmValue
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  class Holder: Object {
    @Persisted var one2: Node?
    @Persisted var list2: List<Node>
    @Persisted var set2: MutableSet<Node>
    @Persisted var map2: Map<String, Node?>
    @Persisted var any2: AnyRealmValue
    @Persisted var anyList2: List<AnyRealmValue>
    @Persisted var anySet2: MutableSet<AnyRealmValue>
    @Persisted var anyMap2: Map<String, AnyRealmValue>
    @Persisted var part2: Part?
    @Persisted var partMap2: Map<String, Part?>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}
