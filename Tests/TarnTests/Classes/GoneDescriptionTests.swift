import Foundation
import Testing

@testable import Tarn

/// Printing what is deleted or invalidated, which says so and does not stop the program.
struct GoneDescriptionTests {
  enum End: CaseIterable {
    case deleted, deletedInThisWrite, deletedAndCancelled, addedAndCancelled, invalidated
    case frozenInvalidated
  }

  /// Everything that a chest and its coins can give.
  private func everything(_ chest: Chest, _ safe: Safe) -> [String: Any] {
    let coin = chest.coins[0]
    var all: [String: Any] = ["chest": chest, "coin": coin, "safe": safe]
    all["numbers"] = chest.numbers
    all["coins"] = chest.coins
    all["tags"] = chest.tags
    all["gems"] = chest.gems
    all["scores"] = chest.scores
    all["named"] = chest.named
    all["backlinks"] = coin.chests
    all["gemBacklinks"] = coin.gemChests
    all["results"] = chest.coins.where { $0.value > 0 }
    all["sorted"] = chest.numbers.sorted(ascending: true)
    all["projected"] = chest.coins.projectTo.value
    all["erased"] = AnyRealmCollection(chest.coins)
    all["sections"] = chest.coins.sectioned(by: \.value)
    all["section"] = chest.coins.sectioned(by: \.value)[0]
    all["slice"] = chest.coins[0..<1]
    all["dynamicList"] = chest.dynamicList("coins")
    all["dynamic"] = chest.realm!.dynamicObjects("Chest")[0]
    all["dynamicResults"] = chest.realm!.dynamicObjects("Chest")
    all["any"] = safe.content
    all["anys"] = safe.other
    all["anyObject"] = AnyRealmValue.object(chest)
    all["anyList"] = AnyRealmValue.fromArray([.object(chest)])
    all["anyMap"] = AnyRealmValue.fromDictionary(["a": .object(chest)])
    all["array"] = [chest, chest]
    all["dictionary"] = ["a": chest]
    all["optional"] = Optional(chest) as Any
    return all
  }

  private func texts(_ values: [String: Any]) -> [String: String] {
    values.mapValues { value in
      var dumped = ""
      dump(value, to: &dumped)
      let children = Mirror(reflecting: value).children.map { "\($0.value)" }
      return "\(value)\n\(String(reflecting: value))\n\(dumped)\n\(children)"
    }
  }

  @Test(arguments: End.allCases)
  func printingDoesNotTrap(end: End) throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Safe.self, Chest.self, Coin.self]
    let instance = try Instance(configuration, shelter)
    let realm = instance.realm
    let (chest, safe) = (Chest(1), Safe())
    chest.numbers = [3]
    chest.tags = ["a"]
    chest.coins = [Coin(1)]
    chest.gems.insert(chest.coins[0])
    chest.named["a"] = chest.coins[0]
    safe.content = ["a": [.object(chest)]]
    safe.other = [.object(chest), .object(safe)]
    realm.beginWrite()
    realm.add(chest)
    realm.add(safe)
    if end != .addedAndCancelled { try realm.commitWrite() }
    if end == .deletedInThisWrite || end == .deletedAndCancelled { realm.beginWrite() }
    let values =
      end == .frozenInvalidated
      ? everything(chest.freeze(), safe.freeze()) : everything(chest, safe)
    for (name, text) in texts(values) {
      #expect(!text.contains("[invalid"), "\(name): \(text)")
    }
    switch end {
    case .deleted: try realm.write { realm.deleteAll() }
    case .deletedInThisWrite, .deletedAndCancelled: realm.deleteAll()
    case .addedAndCancelled: break
    case .invalidated: realm.invalidate()
    case .frozenInvalidated: (values["chest"] as? Chest)?.realm?.invalidate()
    }
    if end == .deletedAndCancelled { _ = texts(values) }
    if end == .deletedAndCancelled || end == .addedAndCancelled { realm.cancelWrite() }
    let after = texts(values)
    if realm.isInWriteTransaction { realm.cancelWrite() }
    // What is deleted in a write that is cancelled is there again.
    if end == .deletedAndCancelled { return }
    for (name, text) in [
      ("chest", "[invalid object]"), ("coins", "List<Coin> [invalidated]"),
      ("tags", "MutableSet<string> [invalidated]"), ("named", "Coin> [invalidated]"),
      ("backlinks", "LinkingObjects<Chest> [invalidated]"), ("anyObject", "[invalid object]"),
      ("array", "[invalid object]"), ("dynamic", "[invalid object]"),
      ("slice", "List<Coin> [invalidated]"), ("anys", "List<mixed> [invalidated]"),
    ] {
      #expect(after[name]?.contains(text) == true, "\(after[name] ?? "nothing")")
    }
  }

  @Test func dumpsShowPropertiesAndElements() throws {
    let shelter = try Shelter()
    let instance = try shelter.openChests()
    let chest = Chest(7)
    chest.numbers = [3, 4]
    chest.inner = [chest]
    chest.scores = ["a": 1]
    for isManaged in [false, true] {
      if isManaged { try instance.write { instance.realm.add(chest) } }
      let mirror = Mirror(reflecting: chest)
      #expect(mirror.children.map(\.label).prefix(2) == ["id", "numbers"])
      #expect(mirror.children.first?.value as? Int == 7)
      #expect(mirror.superclassMirror == nil)
      #expect(mirror.displayStyle == .class)
      #expect(Mirror(reflecting: chest.numbers).children.map { $0.value as? Int } == [3, 4])
      #expect(Mirror(reflecting: chest.inner).children.first?.value is Chest)
      #expect(Mirror(reflecting: chest.scores).displayStyle == .dictionary)
      var text = ""
      dump(chest, to: &text)
      #expect(text.contains("- id: 7\n"))
      #expect(text.contains("[0] Chest {\n"))
      #expect(text.contains("<Maximum depth exceeded>"))
    }
  }
}
