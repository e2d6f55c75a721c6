import TestSupport
import Testing

@testable import Tarn
@testable import TarnStore

/// The kinds of changes agree with the two states that they lie between.
@Suite struct ChangeKindTests {
  private struct Seen {
    let isSelected: Bool
    let key: ObjectKey
    let values: [String: RecordedValue]
  }

  /// The objects of a version, by class and identity.
  private typealias Seens = [String: [ObjectIdentity: Seen]]

  private let shelter: Shelter
  private let instance: Instance
  private var realm: Realm { instance.realm }

  init() throws {
    shelter = try Shelter()
    shelter.moreTypes = [FedDog.self, FedPerson.self, FedNote.self, FedAddress.self, FedRoom.self]
    instance = try shelter.open()
  }

  /// A commit, often one that deletes all objects of a class, and may add new ones.
  private func commit(_ program: inout FedProgram) throws {
    if program.random.chance(70) { return try program.commit(realm) }
    let count = program.random.below(4)
    let names = ["a", "b", "c", "d"].prefix(count)
    try realm.write {
      switch program.random.below(3) {
      case 0:
        realm.delete(realm.objects(FedDog.self))
        for id in 0..<count {
          realm.create(FedDog.self, value: ["id": id, "age": program.random.below(8)])
        }
      case 1:
        realm.delete(realm.objects(FedPerson.self))
        for name in names {
          realm.create(FedPerson.self, value: ["name": name, "rank": program.random.below(5)])
        }
      default:
        realm.delete(realm.objects(FedNote.self))
        for name in names { realm.create(FedNote.self, value: ["text": name]) }
      }
    }
  }

  private func seen(_ selection: CursorSelection, _ frozen: Realm) throws -> Seens {
    let core = frozen.core
    let reader = core.rows().reader
    let rows = RecordedRows(core, PastRows(reader, RecordedPast(at: reader.snapshot.version)))
    var seen: Seens = [:]
    for part in try BoundSelection(selection, core).parts {
      let name = reader.schema[part.classID].name
      let spec = QuerySpec(dynamicClass: name)
      let selected = Results<DynamicObject>(core, spec.filtered(part.condition))
      let keys = Set(selected.map { ObjectKey($0._key) })
      let binding = core.dynamicBinding(name)
      let columns = binding.schema.columns.filter { !$0.isRemoved }.map(\.id)
      for object in Results<DynamicObject>(core, spec) {
        let key = ObjectKey(object._key)
        let identity = try rows.identity(ObjectRef(classID: part.classID, key: key))
        seen[name, default: [:]][identity] = Seen(
          isSelected: keys.contains(key), key: key,
          values: try rows.values(of: key, columns, binding))
      }
    }
    return seen
  }

  /// The keys of objects that commits made, also of those that went again.
  private func made(in name: String, _ from: UInt64, _ to: UInt64) throws -> KeySet {
    let snapshot = try realm.core.store.newestSnapshot()
    let id = try #require(snapshot.schema.schema.named(name)).id
    var keys = KeySet()
    for version in from + 1...to {
      let record = try ChangeLog.record(of: Version(version), in: snapshot.transaction)
      keys.formUnion(record.changes[id]?.inserted ?? KeySet())
    }
    return keys
  }

  /// What may be told of an identity; nil for nothing.
  private func allowed(
    _ before: Seen?, _ after: Seen?, isNew: Bool, knowsOldValues: Bool, mayLackPaths: Bool
  ) -> Set<RecordedChange.Kind?> {
    switch (before?.isSelected ?? false, after?.isSelected ?? false) {
    case (false, false):
      if knowsOldValues || before == nil { return [nil] }
      return [nil, after == nil ? .deleted : .left]
    case (false, true):
      if !isNew { return [.entered] }
      return knowsOldValues || before == nil ? [.inserted] : [.inserted, .replaced]
    case (true, true):
      if isNew { return [.replaced] }
      var kinds: Set<RecordedChange.Kind?> = knowsOldValues ? [.modified] : [.modified, .entered]
      if mayLackPaths || before?.values == after?.values { kinds.insert(nil) }
      return kinds
    case (true, false): return [after == nil ? .deleted : .left]
    }
  }

  private func check(
    _ selection: ExactBatchTests.Selection, from: (UInt64, Seens), to: (UInt64, Seens),
    knowsOldValues: Bool
  ) throws {
    let changes = try realm.changes(from: from.0, to: to.0, of: selection.selection)
    let names = Set(from.1.keys).union(to.1.keys).union(changes.classNames)
    for name in names {
      let (before, after) = (from.1[name] ?? [:], to.1[name] ?? [:])
      let made = try made(in: name, from.0, to.0)
      var told: [ObjectIdentity: RecordedChange.Kind] = [:]
      for change in changes.changes(ofClass: name).recorded {
        let former = told.updateValue(change.kind, forKey: change.identity)
        #expect(former == nil, "\(change.identity) is told twice")
      }
      for identity in Set(before.keys).union(after.keys).union(told.keys) {
        let isNew = after[identity].map { made.contains($0.key) } ?? false
        let kinds = allowed(
          before[identity], after[identity], isNew: isNew, knowsOldValues: knowsOldValues,
          mayLackPaths: selection.testDescription.contains("path"))
        #expect(
          kinds.contains(told[identity]),
          "\(identity): \(told[identity].map { "\($0)" } ?? "nothing"), \(from.0) to \(to.0)")
      }
    }
  }

  @Test(arguments: ExactBatchTests.withPaths, Seeds.of(1...3))
  func kindsAgreeWithBothStates(of selection: ExactBatchTests.Selection, seed: Int) throws {
    for knowsOldValues in [true, false] {
      realm.core.store.keepBefore { _ in knowsOldValues ? .oldValues : .keys }
      var program = FedProgram(seed: seed)
      var states: [(version: UInt64, seen: Seens)] = []
      // The first one keeps the change records.
      var first: Realm?
      for _ in 0...12 {
        try commit(&program)
        realm.refresh()
        let frozen = realm.freeze()
        first = first ?? frozen
        let version = frozen.core.rows().reader.snapshot.version.rawValue
        states.append((version, try seen(selection.selection, frozen)))
      }
      for _ in 0..<16 {
        let from = program.random.below(states.count - 1)
        // Without old values conditions are tested at the newest version.
        let last = states.count - 1
        let to = knowsOldValues ? from + 1 + program.random.below(last - from) : last
        try check(
          selection, from: states[from], to: states[to], knowsOldValues: knowsOldValues)
      }
      withExtendedLifetime(first) {}
    }
  }
}
