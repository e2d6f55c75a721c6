import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

/// Rows that move because their integer primary key becomes another one, with all that holds them
/// and all that they hold; and properties of every kind that get other names.
struct RekeyingTests {
  private let folder = TemporaryFolder()
  private var url: URL { folder.url("web.realm") }
  private static let count = 40

  private func open(
    _ types: [ObjectBase.Type], version: UInt64 = 0, _ block: MigrationBlock? = nil
  ) throws -> Realm {
    try Realm(configuration: PetFile.configuration(url, types, version: version, block))
  }

  // MARK: - A web

  /// Objects that hold others at random, some of them in lists that have pages of their own.
  private func fill(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let realm = try open(WebByID.types)
    try realm.write {
      let nodes = (0..<Self.count).map { number in
        realm.create(
          WebByID.Node.self,
          value: ["id": number, "code": (number * 7 + 3) % Self.count, "name": "node \(number)"])
      }
      for node in nodes { fill(node, nodes, &random) }
      for _ in 0..<10 { fill(realm.create(WebByID.Holder.self), nodes, &random) }
    }
  }

  private func fill(
    _ node: WebByID.Node, _ nodes: [WebByID.Node], _ random: inout SeededRandom
  ) {
    node.one = random.chance(50) ? random.pick(nodes) : nil
    node.list.append(objectsIn: some(nodes, random.chance(20) ? 300 : 4, &random))
    node.any = any(nodes, &random, 2)
    if random.chance(50) { node.part = part(nodes, &random) }
    for _ in 0..<random.below(3) { node.parts.append(part(nodes, &random)) }
    node.texts["none"] = .some(nil)
    node.texts["long"] = String(repeating: "long ", count: random.below(800))
  }

  private func fill(
    _ holder: WebByID.Holder, _ nodes: [WebByID.Node], _ random: inout SeededRandom
  ) {
    holder.one = random.pick(nodes)
    holder.list.append(objectsIn: some(nodes, random.chance(30) ? 400 : 5, &random))
    holder.set.insert(objectsIn: some(nodes, 9, &random))
    for key in 0..<random.below(6) {
      holder.map["\(key)"] = random.chance(20) ? .some(nil) : random.pick(nodes)
    }
    holder.any = any(nodes, &random, 3)
    for _ in 0..<5 { holder.anyList.append(any(nodes, &random, 2)) }
    for _ in 0..<5 { holder.anySet.insert(any(nodes, &random, 0)) }
    for key in 0..<5 { holder.anyMap["\(key)"] = any(nodes, &random, 2) }
    holder.part = part(nodes, &random)
    holder.partMap["a"] = part(nodes, &random)
    holder.partMap["none"] = .some(nil)
  }

  private func some(
    _ nodes: [WebByID.Node], _ limit: Int, _ random: inout SeededRandom
  ) -> [WebByID.Node] {
    (0..<random.below(limit)).map { _ in random.pick(nodes) }
  }

  private func part(_ nodes: [WebByID.Node], _ random: inout SeededRandom) -> WebByID.Part {
    let part = WebByID.Part()
    part.name = "part \(random.below(1_000))"
    part.nodes.insert(objectsIn: some(nodes, 5, &random))
    part.any = any(nodes, &random, 1)
    return part
  }

  private func any(
    _ nodes: [WebByID.Node], _ random: inout SeededRandom, _ depth: Int
  ) -> AnyRealmValue {
    switch random.below(depth == 0 ? 3 : 5) {
    case 0: return .int(random.below(5))
    case 1, 2: return .object(random.pick(nodes))
    case 3: return .fromArray((0..<random.below(4)).map { _ in any(nodes, &random, depth - 1) })
    default:
      return .fromDictionary(["a": any(nodes, &random, depth - 1), "b": .object(nodes[0])])
    }
  }

  // MARK: - What is there

  /// A line for each object, by names that do not change, in an order that keys do not decide.
  private func lines(_ realm: Realm) -> [String] {
    ["Node", "Holder"].flatMap { name in
      Array(realm.dynamicObjects(name)).map { "\(name) \(described($0))" }.sorted()
    }
  }

  private func described(_ object: DynamicObject) -> String {
    object.objectSchema.properties.sorted { $0.name < $1.name }.map { property in
      let name = property.name.hasSuffix("2") ? String(property.name.dropLast()) : property.name
      return "\(name)=\(shown(object[property.name]))"
    }.joined(separator: " ")
  }

  private func shown(_ value: Any?) -> String {
    switch value {
    case let object as DynamicObject:
      object._className == "Part" ? "{\(described(object))}" : "\(object["name"]!)"
    // A link leads to an object of the program's class.
    case let object as ObjectBase: shown(object._core?.dynamicObject(for: object))
    case let collection as any _CollectionProperty: shown(collection.backing)
    case let value?: "\(value)"
    case nil: "nil"
    }
  }

  private func shown(_ elements: any SequenceBacking) -> String {
    let items = elements.all.map { boxed -> String in
      if let nested = boxed.nested { return shown(nested) }
      return shown(boxed.object ?? DynamicValue.unboxed(boxed))
    }
    switch elements.kind {
    case .set: return "\(items.sorted())"
    case .map: return "\(zip(elements.allKeys, items).map { "\($0): \($1)" })"
    case .list, .none: return "\(items)"
    }
  }

  /// What indexes say of links is what the values say.
  private func checkLinks(_ realm: Realm) throws {
    try realm.checkIndexes()
    let reader = realm.core.shown()
    for described in reader.schema.schema.classes {
      for column in described.columns where !column.isRemoved {
        guard column.type == .link || column.type == .any else { continue }
        for key in try reader.allKeys(in: described.id) {
          for (target, count) in try reader.links(from: column, at: key, in: described.id) {
            #expect(try reader.row(target.key, in: target.classID) != nil)
            let origins = try reader.origins(of: target, in: described.id, through: column.id)
            let found = origins.count { $0 == key }
            #expect(found == count || column.collection == .set && found == 1)
          }
        }
      }
    }
  }

  // MARK: - Keys

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func whatHoldsThemHoldsThemStill(seed: UInt64) throws {
    try fill(seed: seed)
    let before = lines(try open(WebByID.types))
    #expect(before.count == Self.count + 10)
    let models: [(UInt64, [ObjectBase.Type])] = [
      (1, WebByCode.types), (2, WebByName.types), (3, WebByCode.types), (4, WebByID.types),
    ]
    for (version, types) in models {
      let realm = try open(types, version: version)
      #expect(lines(realm) == before, "version \(version)")
      try checkLinks(realm)
    }
    // Links are taken away from where they are now.
    let realm = try open(WebByID.types, version: 4)
    try realm.write { realm.delete(realm.objects(WebByID.Node.self)) }
    try checkLinks(realm)
    let holders = realm.objects(WebByID.Holder.self)
    #expect(holders.allSatisfy { $0.list.isEmpty && $0.set.isEmpty && $0.part!.nodes.isEmpty })
  }

  @Test func theBlockGivesKeysAndChangesWhatHoldsThem() throws {
    try fill(seed: 9)
    let realm = try open(WebByCode.types, version: 1) { migration, _ in
      var last: MigrationObject?
      migration.enumerateObjects(ofType: "Node") { old, new in
        guard let id = old!["id"] as? Int else { return }
        if id % 4 == 0 { return migration.delete(new!) }
        new!["code"] = 1_000 - id
        new!["list"] = last.map { [$0, new!, $0] } ?? []
        new!["any"] = last.map { ["k": [$0]] } ?? [Any]()
        last = new
      }
    }
    let nodes = realm.objects(WebByCode.Node.self)
    #expect(nodes.count == Self.count - Self.count / 4)
    for node in nodes {
      #expect(node.code == 1_000 - node.id)
      #expect(node.id % 4 != 0)
      guard let last = node.list.first else { continue }
      #expect(node.list.map(\.name) == [last.name, node.name, last.name])
      let nested = node.any.dictionaryValue?["k"]?.listValue?.first
      #expect(nested?.object(WebByCode.Node.self) == last)
    }
    #expect(nodes.count { !$0.list.isEmpty } == nodes.count - 1)
    try checkLinks(realm)
  }

  // MARK: - Names

  @Test(arguments: 4...5 as ClosedRange<UInt64>)
  func everyKindOfPropertyGetsAnotherName(seed: UInt64) throws {
    try fill(seed: seed)
    let before = lines(try open(WebByID.types))
    let realm = try open(WebRenamed.types, version: 1) { migration, _ in
      for schema in migration.newSchema.objectSchema {
        for property in schema.properties where property.name.hasSuffix("2") {
          let old = String(property.name.dropLast())
          migration.renameProperty(onType: schema.className, from: old, to: property.name)
        }
      }
    }
    #expect(lines(realm).map(withoutNil) == before.map(withoutNil))
    #expect(realm.objects(WebRenamed.Node.self).allSatisfy { $0.texts2["none"] == "" })
    try checkLinks(realm)
  }

  /// A text that must not be nil any more is empty.
  private func withoutNil(_ line: String) -> String {
    line.replacingOccurrences(of: "\"none: nil\"", with: "\"none: \"")
  }
}
