import TestSupport
import Testing

@testable import Tarn

/// The same of elements of an isle's own collections, which may also have been set.
struct NestedSourceModelTests {
  @Test(arguments: Seeds.of(1...12))
  func whatIsToldOfElementsIsWhatAWalkOverBothVersionsFinds(seed: Int) throws {
    var run = try SourceRun(seed: UInt64(seed))
    for _ in 0..<40 { try run.step() }
    #expect(run.told > 60)
  }
}

/// What one was told: of each element its changes, and whether it was told to be modified.
private final class SourceWatch {
  struct Element: Hashable {
    var changes: [String]
    var isModified: Bool
  }

  var token: NotificationToken?
  var calls: [[Element]] = []

  func record<C, Element>(_ change: ObservedChange<C, CollectionDelta<Element>>) {
    guard case .update(_, let delta) = change else { return }
    calls.append(
      (0..<delta.count).map { position in
        SourceWatch.Element(
          changes: delta.nested(at: position).map(\.text).sorted(),
          isModified: delta.modificationsNew.contains(position))
      })
  }

  func record(_ change: ObservedChange<Map<String, Isle?>, MapDelta<String, Isle?>>) {
    guard case .update(let map, let delta) = change else { return }
    calls.append(
      map.keys.sorted().map { key in
        Element(
          changes: delta.nested(for: key).map(\.text).sorted(),
          isModified: delta.modifications.contains(key))
      })
  }
}

private struct SourceRun {
  private let writer: Instance
  private let instance: Instance
  private var script: IsleScript
  private let list = SourceWatch()
  private let set = SourceWatch()
  private let map = SourceWatch()
  private let back = SourceWatch()
  private(set) var told = 0

  init(seed: UInt64) throws {
    script = IsleScript(seed: seed)
    let shelter = try Shelter()
    writer = try shelter.openIsles()
    instance = try shelter.openIsles()
    try writer.write { script.begin(in: writer.realm) }
    instance.realm.refresh()
    script.model.forgetTouches()
    let isle = instance.isle(0)
    list.token = isle.list.observeChanges(list.record)
    set.token = isle.set.observeChanges(set.record)
    map.token = isle.map.observeChanges(map.record)
    back.token = isle.back.observeChanges(back.record)
    instance.pump()
  }

  mutating func step() throws {
    let before = script.model
    try script.commit(to: instance.realm, or: writer.realm)
    instance.pump()
    writer.pump()
    let after = script.model
    let walk = IsleWalk(before: before, after: after)
    let (old, new) = (before.isles[0]!, after.isles[0]!)
    check(list, "list", walk) {
      new.list.map { slot in
        let former = old.list.first { $0.serial == slot.serial }
        return (slot.target, former != nil, former.map { $0.settings != slot.settings } ?? false)
      }
    }
    check(set, "set", walk) { new.set.sorted().map { ($0, old.set.contains($0), false) } }
    check(map, "map", walk) {
      new.map.sorted { $0.key < $1.key }.map { key, entry in
        let former = old.map[key]
        return (entry.target, former != nil, former != nil && former != entry)
      }
    }
    let origins = before.origins(of: 0)
    check(back, "back", walk) {
      after.origins(of: 0).map { ($0[0], origins.contains($0), false) }
    }
    script.model.forgetTouches()
  }

  /// - Parameter elements: what is in the collection, whether it was, and whether it was set.
  private mutating func check(
    _ watch: SourceWatch, _ name: String, _ walk: IsleWalk,
    _ elements: () -> [(target: Int?, wasThere: Bool, wasSet: Bool)]
  ) {
    let expected = elements().map { element in
      let own = element.target.map { walk.changes(of: $0, within: 3) } ?? []
      return SourceWatch.Element(
        changes: (own + (element.wasSet ? ["self"] : [])).sorted(),
        isModified: element.wasThere && (element.wasSet || !own.isEmpty))
    }
    for call in watch.calls {
      #expect(call == expected, "\(name)")
      told += call.reduce(0) { $0 + $1.changes.count }
    }
    watch.calls = []
  }
}
