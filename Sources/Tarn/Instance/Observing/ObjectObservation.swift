import TarnStore

/// The argument of an object's observer.
public enum ObjectChange<T> {
  /// The file can no longer be observed; this is the last call.
  case error(any Error)
  /// Properties of the object were assigned, each listed once in the order of declaration.
  case change(_ object: T, _ properties: [PropertyChange])
  /// The object was deleted; this is the last call.
  case deleted
}

/// One property in an object's change.
public struct PropertyChange {
  /// The property's name.
  public let name: String
  /// The value at the observer's last call, or at registration before the first one; nil for null
  /// and for collections.
  public let oldValue: Any?
  /// The value now, nil for null and for collections.
  public let newValue: Any?
}

/// The effect of one step on one observed object, with the values before it.
struct ObjectNews {
  let isDeletion: Bool
  let oldValues: [(column: ColumnID, Value)]
  let observations: [ObjectObservation]

  /// - Parameter rows: the rows before the step.
  init(
    _ changes: ClassChanges, _ key: ObjectKey, _ observations: [ObjectObservation],
    _ rows: Rows
  ) {
    isDeletion = changes.isCleared || changes.deleted.contains(key)
    self.observations = observations
    guard !isDeletion else {
      oldValues = []
      return
    }
    oldValues = changes.touched.compactMap { entry in
      guard entry.keys.contains(key) else { return nil }
      // A collection is only named; its own observers receive its former content.
      let value = trapping { () throws(StorageError) in
        try rows.plainValue(of: entry.column, at: key, in: changes.id)
      }
      return (entry.column, value)
    }
  }
}

/// An observation of one object's row: collects changes until they are delivered.
class ObjectObservation: Observation {
  /// Undelivered changes: columns with their values at the last call; the first value is kept.
  private struct Entry {
    var step: Int
    var isDeletion: Bool
    var oldValues: [(column: ColumnID, Value)]
    /// The former values at the ends of key paths on which something changed, by number.
    var ends: [Int: Value] = [:]
  }

  let classID: ClassID
  let key: ObjectKey
  /// The only properties that count, and the paths behind them; nil for the object's own
  /// properties.
  let watch: KeyPathScope?
  private var entries: [Entry] = []

  init(
    state: ObservationState, serial: Int, seen: Int, classID: ClassID, key: ObjectKey,
    _ watch: KeyPathScope?
  ) {
    self.classID = classID
    self.key = key
    self.watch = watch
    super.init(state: state, serial: serial, seen: seen)
  }

  /// - Returns: false if none of it is to be reported.
  func log(_ news: ObjectNews, step: Int) -> Bool {
    var oldValues = news.oldValues
    if let watch { oldValues.removeAll { !watch.observes($0.column) } }
    if oldValues.isEmpty, !news.isDeletion { return false }
    entries.append(Entry(step: step, isDeletion: news.isDeletion, oldValues: oldValues))
    return true
  }

  /// Logs a change on a key path that begins with a property, which itself need not have been set.
  ///
  /// - Parameters:
  ///   - value: the property's, unless that was set.
  ///   - end: the former value at the end of the key path, if that is to be reported.
  func log(
    behind property: KeyPathScope.FirstProperty, _ value: Value, end: Value?, step: Int
  ) {
    if entries.last?.step != step {
      entries.append(Entry(step: step, isDeletion: false, oldValues: []))
    }
    let last = entries.count - 1
    guard end == nil, let column = property.column else {
      entries[last].ends[property.number] = end ?? .null
      return
    }
    if entries[last].oldValues.contains(where: { $0.column == column }) { return }
    entries[last].oldValues.append((column, value))
  }

  override func hasPendingChange(upTo target: Int) -> Bool {
    guard let first = entries.first else { return false }
    return first.step <= target
  }

  override func skip(step: Int, from former: PastState) {
    entries.removeAll { $0.step == step && !$0.isDeletion }
  }

  override func deliver(upTo target: Int, _ host: any DeliveryHost) {
    if isDeletedMeanwhile(after: target, host) { return }
    let told = takeEntries(upTo: target)
    seen = target
    if told.contains(where: \.isDeletion) {
      if state.end() { host.delivery.observers.remove(state) }
      return tellOfDeletion()
    }
    tell(Self.firstValues(told), ends: Self.firstEnds(told))
  }

  /// A callback has deleted the object since. The deletion is reported in a later round, and
  /// earlier changes are not, because the object no longer exists.
  private func isDeletedMeanwhile(after target: Int, _ host: any DeliveryHost) -> Bool {
    if let deletion = entries.first(where: \.isDeletion) { return deletion.step > target }
    // An object deleted by an open write may exist again after it.
    return host.session != nil && isGone
  }

  /// True if the object does not exist now.
  var isGone: Bool { false }

  /// True if changes are waiting to be delivered.
  var hasEntries: Bool { !entries.isEmpty }

  /// Merges all entries into one, as if they were one step.
  func mergeEntries() {
    guard entries.count > 1, let last = entries.last else { return }
    entries = [
      Entry(
        step: last.step, isDeletion: entries.contains(where: \.isDeletion),
        oldValues: Self.firstValues(entries), ends: Self.firstEnds(entries))
    ]
  }

  /// Steps are logged in order, so the entries to deliver are the first ones.
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

  /// The value at the end of each key path before the first step that changed something on it.
  private static func firstEnds(_ told: [Entry]) -> [Int: Value] {
    told.reduce(into: [:]) { $0.merge($1.ends) { first, _ in first } }
  }

  /// Calls the callback with the assigned columns, and their values at its last call.
  ///
  /// - Parameter ends: the values that were at the ends of key paths, by number; for an object's
  ///   observer only those of key paths that begin with backlinks.
  func tell(_ oldValues: [(column: ColumnID, Value)], ends: [Int: Value]) {}

  /// Notifies the callback of the deletion, which is its last call.
  func tellOfDeletion() {}
}

@available(*, unavailable, message: "it may hold an object: pass the value in it")
extension PropertyChange: Sendable {}

@available(*, unavailable, message: "it belongs to one thread or actor: pass names of properties")
extension ObjectChange: Sendable {}
