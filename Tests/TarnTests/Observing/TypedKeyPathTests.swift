import Foundation
import Testing

@testable import Tarn

/// Key paths that the compiler has checked, as observers take them.
struct TypedKeyPathTests {
  /// No Realm and no object of the program's is needed.
  @Test func collectionsAreGoneThroughByAnyOfTheirElements() {
    let other = 7
    #expect(
      _names(of: [\Pound.hounds[0].name, \Pound.hounds[other].friend?.age]) == [
        "hounds.name", "hounds.friend.age",
      ])
    #expect(_names(of: [\Pound.pack[3].name]) == ["pack.name"])
    #expect(_names(of: [\Pound.byName["a"]??.name]) == ["byName.name"])
    #expect(_names(of: [\Pound.byName["a"]!!.collar!.color]) == ["byName.collar.color"])
    #expect(
      _names(of: [
        \Whelp.kennels[0].name, \Whelp.kennels[2].hounds[1].kennels[0].best?.collar?.width,
      ])
        == ["kennels.name", "kennels.hounds.kennels.best.collar.width"])
    #expect(_names(of: [\Pound.best?.kennels[0].hounds[0].name]) == ["best.kennels.hounds.name"])
  }

  @Test func anElementAtTheEndIsItsCollection() {
    #expect(_names(of: [\Pound.hounds, \Pound.hounds[0]]) == ["hounds", "hounds"])
    #expect(_names(of: [\Whelp.kennels, \Whelp.kennels[0]]) == ["kennels", "kennels"])
    #expect(_names(of: [\Pound.byName["b"]]) == ["byName"])
  }

  /// What else a collection has is no way to a property.
  @Test func othersThanElementsAreRefused() {
    func fault<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>) -> String {
      do throws(KeyPathFault) {
        return try Tracer.steps(of: keyPath, throughElements: true).map(\.name).joined()
      } catch {
        return error.message(for: .observing)
      }
    }
    let paths: [PartialKeyPath<Pound>] = [
      \.hounds.count, \.hounds.first?.name, \.hounds[0].name.count, \.hounds[-1].name,
      \.hounds[1_000_000].name, \.things[0].intValue, \.things[-1],
    ]
    for path in paths {
      let text = fault(path)
      #expect(text.contains("goes into a value"), "\(text)")
      #expect(text.contains("cannot be observed"), "\(text)")
    }
    #expect(fault(\Whelp.firstOfKennel?.name).contains("is not stored"))
    #expect(fault(\Pound.hounds[0].firstOfKennel?.age).contains("is not stored"))
  }

  @Test func typedOnesTellWhatTextsTell() throws {
    let pounds = try Pounds()
    var calls: [String] = []
    func told(_ change: ObjectChange<Pound>) {
      if case .change(_, let properties) = change { calls += properties.map(\.name) }
    }
    let tokens = [
      pounds.kennel.observe(keyPaths: [\.hounds[0].name, \.best?.friend?.age]) { told($0) },
      pounds.kennel.observe(keyPaths: ["hounds.name", "best.friend.age"]) { told($0) },
    ]
    let writes = [
      { pounds.hound(3).name = "x" }, { pounds.hound(1).age = 1 }, { pounds.hound(2).age = 1 },
      { pounds.written.hounds.removeLast() },
    ]
    let got = try pounds.follow(writes) { calls }
    #expect(got == ["hounds", "hounds", "best", "best", "-", "hounds", "hounds"])
    for token in tokens { token.invalidate() }
  }

  @Test func everySourceTakesThem() throws {
    let pounds = try Pounds()
    let (kennel, whelps) = (pounds.kennel, pounds.whelps.sorted(by: \.id))
    var calls: [String] = []
    func note<C>(_ name: String) -> (RealmCollectionChange<C>) -> Void {
      { change in
        if case .update(_, _, _, let modifications) = change {
          calls.append("\(name)\(modifications)")
        }
      }
    }
    func noteSections<C>(_ name: String) -> (SectionedResultsChange<C>) -> Void {
      { change in
        if case .update(_, _, _, let modifications, _, _) = change {
          calls.append("\(name)\(modifications.map(\.item))")
        }
      }
    }
    let sections = whelps.sectioned(by: \.age)
    let kennels = pounds.whelps.filter { $0.id == 0 }.first!.kennels
    let tokens = [
      whelps.observe(keyPaths: [\.kennels[0].name], note("results")),
      kennel.hounds.observe(keyPaths: [\.kennels[0].name], note("list")),
      kennel.pack.observe(keyPaths: [\.kennels[0].name], note("set")),
      AnyRealmCollection(whelps).observe(keyPaths: [\.kennels[0].name], note("any")),
      kennels.observe(keyPaths: [\.hounds[0].name, \.name], note("links")),
      sections.observe(keyPaths: [\.kennels[0].name], noteSections("sections")),
      sections[0].observe(keyPaths: [\.kennels[0].name], noteSections("section")),
      kennel.byName.observe(keyPaths: [\Whelp.kennels[0].name]) { change in
        if case .update(_, _, _, let modifications) = change { calls.append("map\(modifications)") }
      },
    ]
    pounds.b.pump()
    let all = "[0, 1, 2, 3]"
    let got = try pounds.follow([{ pounds.written.name = "x" }, { pounds.hound(0).age += 0 }]) {
      calls
    }
    #expect(
      got == [
        "results\(all)", "list\(all)", "set[0]", "any\(all)", "links[0]", "sections\(all)",
        "section\(all)", "map[\"a\", \"b\"]", "-",
      ])
    for token in tokens { token.invalidate() }
  }
}
