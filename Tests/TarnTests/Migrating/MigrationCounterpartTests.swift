import Foundation
import TestSupport
import Testing

@testable import Tarn

/// What the values of `Migration.create(_:value:)` lead to on the old side.
struct MigrationCounterpartTests {
  private let folder = TemporaryFolder()
  private var url: URL { folder.url("web.realm") }

  /// Two nodes with keys, and a holder that has them in every kind of property.
  private func fill() throws {
    let realm = try Realm(configuration: PetFile.configuration(url, WebByID.types))
    try realm.write {
      let node = realm.create(WebByID.Node.self, value: ["id": 1, "name": "one"])
      let other = realm.create(WebByID.Node.self, value: ["id": 2, "name": "two", "one": node])
      node.one = node
      node.part = WebByID.Part(value: ["name": "of one", "nodes": [other]])
      let holder = WebByID.Holder()
      holder.one = node
      holder.list.append(objectsIn: [node, other, node])
      holder.set.insert(objectsIn: [node, other])
      holder.map["a"] = other
      holder.any = .object(node)
      holder.anyList.append(.object(other))
      holder.anyList.append(.list([.object(node)]))
      holder.anySet.insert(.object(node))
      holder.anyMap["b"] = .dictionary(["c": .object(other)])
      holder.part = WebByID.Part(value: ["name": "whole", "nodes": [node], "any": other])
      holder.partMap["p"] = WebByID.Part(value: ["name": "mapped", "nodes": [other]])
      realm.add(holder)
    }
  }

  private func migrate(
    _ body: @escaping @Sendable (_ old: MigrationObject, _ migration: Migration) -> Void
  ) throws -> Realm {
    try fill()
    let configuration = PetFile.configuration(url, WebByID.types, version: 1) { migration, _ in
      var holders: [MigrationObject] = []
      migration.enumerateObjects(ofType: "Holder") { old, _ in holders.append(old!) }
      for holder in holders { body(holder, migration) }
    }
    let realm = try Realm(configuration: configuration)
    try realm.checkIndexes()
    #expect(realm.objects(WebByID.Node.self).map(\.name) == ["one", "two"])
    return realm
  }

  /// The nodes that a holder leads to, by the names of its properties.
  private func text(_ holder: WebByID.Holder) -> [String] {
    func name(_ value: AnyRealmValue?) -> String {
      value?.object(WebByID.Node.self)?.name ?? "none"
    }
    func names(_ nodes: some Sequence<WebByID.Node>) -> String {
      nodes.map(\.name).joined(separator: ",")
    }
    let nested = holder.anyMap["b"]?.dictionaryValue
    let part = holder.part
    let inside = names(part.map { Array($0.nodes) } ?? [])
    let mapped = holder.partMap["p"] ?? nil
    return [
      "one \(holder.one?.name ?? "none")", "list \(names(holder.list))", "set \(names(holder.set))",
      "map \((holder.map["a"] ?? nil)?.name ?? "none")", "any \(name(holder.any))",
      "anyList \(name(holder.anyList.first)) \(name(holder.anyList.last?.listValue?.first))",
      "anySet \(name(holder.anySet.first))", "anyMap \(name(nested?["c"]))",
      "part \(part?.name ?? "none") \(inside) \(name(part?.any))",
      "partMap \(mapped?.name ?? "none") \(names(mapped.map { Array($0.nodes) } ?? []))",
    ]
  }

  @Test func anObjectMadeOfAnOldOneLinksToTheSameObjects() throws {
    let realm = try migrate { old, migration in migration.create("Holder", value: old) }
    let holders = realm.objects(WebByID.Holder.self)
    #expect(holders.count == 2)
    #expect(text(holders[1]) == text(holders[0]))
    #expect(text(holders[1]).allSatisfy { !$0.hasSuffix("none") })
    #expect(realm.objects(WebByID.Node.self).first?.part?.name == "of one")
  }

  @Test func soDoOldLinksListsAndMapsAmongItsValues() throws {
    let realm = try migrate { old, migration in
      let names = old.objectSchema.properties.map(\.name)
      let values = Dictionary(uniqueKeysWithValues: names.map { ($0, old[$0] as Any) })
      migration.create("Holder", value: values)
      migration.create("Holder", value: names.map { old[$0] as Any })
    }
    let holders = realm.objects(WebByID.Holder.self)
    #expect(holders.count == 3)
    #expect(text(holders[1]) == text(holders[0]))
    #expect(text(holders[2]) == text(holders[0]))
  }

  @Test func soDoOldObjectsDeepWithinIt() throws {
    let realm = try migrate { old, migration in
      let node = old["one"] as! MigrationObject
      let nodes = Array(old["list"] as! List<MigrationObject>)
      migration.create(
        "Holder",
        value: [
          "list": nodes, "set": Set(nodes.map { $0 }), "map": ["x": node],
          "any": [["deep": node]], "part": ["nodes": [node], "any": node],
          "partMap": ["y": ["nodes": nodes]],
        ])
    }
    let holder = try #require(realm.objects(WebByID.Holder.self).last)
    #expect(holder.list.map(\.name) == ["one", "two", "one"])
    #expect(holder.set.count == 2)
    #expect((holder.map["x"] ?? nil)?.name == "one")
    #expect(holder.part?.nodes.first?.name == "one")
    let deep = holder.any.listValue?.first?.dictionaryValue?["deep"]
    #expect(deep?.object(WebByID.Node.self)?.name == "one")
    #expect((holder.partMap["y"] ?? nil)?.nodes.count == 2)
  }

  @Test func aCopyOfANodeLinksToTheNodeThatItsOriginalLinksTo() throws {
    try fill()
    let configuration = PetFile.configuration(url, WebByCode.types, version: 1) { migration, _ in
      var nodes: [MigrationObject] = []
      migration.enumerateObjects(ofType: "Node") { old, new in
        new!["code"] = old!["id"]
        nodes.append(old!)
      }
      migration.create("Node", value: ["code": 3, "name": "three", "one": nodes[0]["one"] as Any])
    }
    let realm = try Realm(configuration: configuration)
    try realm.checkIndexes()
    let three = try #require(realm.object(ofType: WebByCode.Node.self, forPrimaryKey: 3))
    #expect(three.one?.code == 1)
    #expect(realm.objects(WebByCode.Node.self).count == 3)
  }

  @Test func aListOfTheNewSideFindsAndLosesOldObjects() throws {
    try fill()
    let configuration = PetFile.configuration(url, WebByID.types, version: 1) { migration, _ in
      migration.enumerateObjects(ofType: "Holder") { old, new in
        let one = old!["one"] as! MigrationObject
        let list = new!["list"] as! List<MigrationObject>
        let set = new!["set"] as! MutableSet<MigrationObject>
        #expect(list.index(of: one) == 0)
        #expect(set.contains(one))
        #expect(list.filter("one == %@", one).count == 3)
        set.remove(one)
        #expect(!set.contains(one))
        #expect(set.count == 1)
      }
    }
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(WebByID.Holder.self).first?.set.map(\.name) == ["two"])
  }
}
