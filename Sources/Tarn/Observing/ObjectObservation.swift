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

  /// - Parameter rows: what there was before.
  init(
    _ changes: ClassChanges, _ key: ObjectKey, _ observations: [ObjectObservation],
    _ rows: StoreRows
  ) {
    isDeletion = changes.isCleared || changes.deleted.contains(key)
    self.observations = observations
    guard !isDeletion else {
      oldValues = []
      return
    }
    oldValues = changes.touched.compactMap { entry in
      guard entry.keys.contains(key) else { return nil }
      // A collection is named; what it held is told to its own observers.
      let value = trapping { () throws(StorageError) in
        try rows.plainValue(of: entry.column, at: key, in: changes.id)
      }
      return (entry.column, value)
    }
  }
}

/// An observation of one object's row: what is to be told of it, until it is told.
class ObjectObservation: Observation {
  /// What is to be told: columns with their values at the last call, kept first-wins.
  private struct Entry {
    var step: Int
    var isDeletion: Bool
    var oldValues: [(column: ColumnID, Value)]
    /// What was at the ends of key paths that something on them has changed of, by their numbers.
    var ends: [Int: Value] = [:]
  }

  let classID: ClassID
  let key: ObjectKey
  /// The only properties that count, and what is behind them; nil for the object's own.
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

  /// - Returns: false if nothing of that is to be told.
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
  ///   - end: what was at the end, if that is to be told.
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

  /// A callback has deleted the object since. That is told in a later round, and nothing before it:
  /// there is no object any more that a change could be told of.
  private func isDeletedMeanwhile(after target: Int, _ host: any DeliveryHost) -> Bool {
    if let deletion = entries.first(where: \.isDeletion) { return deletion.step > target }
    // What an open write has deleted may be there again after it.
    return host.session != nil && isGone
  }

  /// The object is not there now.
  var isGone: Bool { false }

  /// Something is to be told.
  var hasEntries: Bool { !entries.isEmpty }

  /// Leaves one entry of what was logged, as if it had been one step.
  func mergeEntries() {
    guard entries.count > 1, let last = entries.last else { return }
    entries = [
      Entry(
        step: last.step, isDeletion: entries.contains(where: \.isDeletion),
        oldValues: Self.firstValues(entries), ends: Self.firstEnds(entries))
    ]
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

  /// What was at the end of each key path before the first step that changed something on it.
  private static func firstEnds(_ told: [Entry]) -> [Int: Value] {
    told.reduce(into: [:]) { $0.merge($1.ends) { first, _ in first } }
  }

  /// Calls the callback with the columns that were assigned, and what was in them at its last call.
  ///
  /// - Parameter ends: what was at the ends of key paths then, by their numbers: of an object's
  ///   observer only for those that begin with what links to the object.
  func tell(_ oldValues: [(column: ColumnID, Value)], ends: [Int: Value]) {}

  /// Tells the callback that the object is gone, and nothing more to come.
  func tellOfDeletion() {}
}

@available(*, unavailable, message: "it may hold an object: pass the value in it")
extension PropertyChange: Sendable {}

@available(*, unavailable, message: "it belongs to one thread or actor: pass names of properties")
extension ObjectChange: Sendable {}
