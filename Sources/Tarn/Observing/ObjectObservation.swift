import TarnStore

/// What an object observer is called with.
public enum ObjectChange<T> {
  /// The file can no longer be followed; nothing comes after this.
  case error(any Error)
  /// Properties of the object were assigned, each listed once in the order of declaration.
  case change(_ object: T, _ properties: [PropertyChange])
  /// The object was deleted; nothing comes after this.
  case deleted
}

/// One property in an object's change.
public struct PropertyChange {
  /// The property's name.
  public let name: String
  /// The value at the observer's last call (at registration, if there was none), nil for null and
  /// for collections.
  public let oldValue: Any?
  /// The value now, nil for null and for collections.
  public let newValue: Any?
}

/// What one step did to one observed object, with the values before it.
struct ObjectNews {
  let isDeletion: Bool
  let oldValues: [(column: ColumnID, Value)]
  let observations: [ObjectObservation]

  /// Reads from the state that is shown still, without an open write.
  init(
    _ changes: ClassChanges, _ key: ObjectKey, _ observations: [ObjectObservation],
    _ core: RealmCore
  ) {
    isDeletion = changes.isCleared || changes.deleted.contains(key)
    self.observations = observations
    guard !isDeletion else {
      oldValues = []
      return
    }
    let reader = core.shown()
    oldValues = changes.touched.compactMap { entry in
      guard entry.keys.contains(key) else { return nil }
      // A collection is named; what it held is told to its own observers.
      if reader.schema[changes.id][entry.column].collection != .none {
        return (entry.column, .null)
      }
      let value = trapping { () throws(StorageError) in
        try reader.value(of: entry.column, at: key, in: changes.id)
      }
      return value.map { (entry.column, $0) }
    }
  }
}

/// An observation of one object. It is bound to the row, not to the accessor: a stale accessor is
/// brought up to date before each call.
final class ObjectObservation: Observation {
  /// What is to be told: columns with their values at the last call, kept first-wins.
  private struct Entry {
    var step: Int
    var isDeletion: Bool
    var oldValues: [(column: ColumnID, Value)]
  }

  let classID: ClassID
  let key: ObjectKey
  /// Replaced by a new accessor if the program has invalidated the instance meanwhile.
  private var object: ObjectBase
  private let block: (ObjectChange<ObjectBase>) -> Void
  private var entries: [Entry] = []

  init(
    state: ObservationState, serial: Int, seen: Int, classID: ClassID, object: ObjectBase,
    block: @escaping (ObjectChange<ObjectBase>) -> Void
  ) {
    self.classID = classID
    self.key = ObjectKey(object._key)
    self.object = object
    self.block = block
    super.init(state: state, serial: serial, seen: seen)
  }

  func log(_ news: ObjectNews, step: Int) {
    entries.append(
      Entry(step: step, isDeletion: news.isDeletion, oldValues: news.oldValues))
  }

  override func hasPendingChange(upTo target: Int) -> Bool {
    guard let first = entries.first else { return false }
    return first.step <= target
  }

  override func skip(step: Int) {
    entries.removeAll { $0.step == step && !$0.isDeletion }
  }

  override func deliver(upTo target: Int, _ core: RealmCore) {
    let told = takeEntries(upTo: target)
    seen = target
    if told.contains(where: \.isDeletion) {
      if state.end() { core.delivery.observers.remove(state) }
      return block(.deleted)
    }
    if object._life != core.state.life || object._state.contains(.invalidated) {
      object = core.object(key, core.binding(for: object))
    }
    let binding = core.binding(for: object)
    let changes = binding.properties(of: Self.firstValues(told)).map { property, old in
      PropertyChange(
        name: property.name, oldValue: core.swiftValue(old, of: property),
        newValue: property.readFlat(object))
    }
    if !changes.isEmpty { block(.change(object, changes)) }
  }

  /// Steps are logged in their order, so that those to be told are the first ones.
  private func takeEntries(upTo target: Int) -> [Entry] {
    let count = entries.partitioningIndex { $0.step > target }
    if count == entries.count {
      defer { entries = [] }
      return entries
    }
    defer { entries.removeFirst(count) }
    return Array(entries[..<count])
  }

  /// The value of each column before the first step that touched it.
  private static func firstValues(_ told: [Entry]) -> [(column: ColumnID, Value)] {
    if told.count == 1 { return told[0].oldValues }
    var first: [ColumnID: Value] = [:]
    for entry in told {
      for (column, value) in entry.oldValues where first[column] == nil { first[column] = value }
    }
    return first.map { ($0, $1) }
  }

  override func end(with error: Realm.Error) {
    if state.end() { block(.error(error)) }
  }
}
