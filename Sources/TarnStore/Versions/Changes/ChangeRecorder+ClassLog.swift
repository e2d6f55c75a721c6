extension ChangeRecorder {
  /// Keys in the order of their notes, adjacent ones joined into runs.
  struct KeyLog {
    private var runs: ContiguousArray<KeyRun> = []
    private var tidyLimit = KeyLog.tidyLimitMin
    private static let tidyLimitMin = 1 << 18

    var isEmpty: Bool { runs.isEmpty }

    @inline(__always)
    mutating func append(_ key: Int64) {
      let last = runs.count - 1
      if last >= 0 {
        let run = runs[last]
        if key >= run.first && key <= run.last { return }
        if key > run.last && key - 1 == run.last {
          runs[last].last = key
          return
        }
      }
      if runs.count == runs.capacity { grow() }
      runs.append(KeyRun(first: key, last: key))
    }

    /// Makes room. Setting the same few objects repeatedly takes no more room than once.
    @inline(never)
    private mutating func grow() {
      if runs.count >= tidyLimit {
        runs = KeySet(unsorted: runs).runs
        tidyLimit = max(Self.tidyLimitMin, runs.count * 2)
      }
      runs.reserveCapacity(max(8, runs.count * 2))
    }

    var keys: KeySet { KeySet(unsorted: runs) }

    mutating func reset() {
      runs.removeAll(keepingCapacity: runs.count <= 1024)
      tidyLimit = Self.tidyLimitMin
    }
  }

  /// Inserted or deleted keys, in order.
  fileprivate struct Event {
    var first: Int64
    var last: Int64
    var isInsertion: Bool
  }

  /// The notes about one class.
  struct ClassLog {
    var isActive = false
    fileprivate var isCleared = false
    /// Whether notes of properties of the last inserted key may be skipped.
    fileprivate var hasLastInserted = false
    fileprivate var lastInserted: Int64 = 0
    fileprivate var events: ContiguousArray<Event> = []
    fileprivate var touched: ContiguousArray<KeyLog> = []
    fileprivate var backTouched: ContiguousArray<BackLog> = []
    fileprivate var lastBackLog = 0
    /// Events folded so far, and all keys in them, whether or not they cancelled out.
    fileprivate var folded: ClassChanges?
    fileprivate var foldedKeys = KeySet()
    fileprivate var foldLimit = ClassLog.foldLimitMin
    private static let foldLimitMin = 1 << 16

    fileprivate struct BackLog {
      var origin: ClassID
      var column: ColumnID
      var keys = KeyLog()
    }

    @inline(__always)
    mutating func insert(_ key: Int64) {
      hasLastInserted = true
      lastInserted = key
      let last = events.count - 1
      if last >= 0 && events[last].isInsertion && events[last].last < key
        && events[last].last == key - 1
      {
        events[last].last = key
        return
      }
      append(Event(first: key, last: key, isInsertion: true))
    }

    mutating func delete(_ key: Int64) {
      hasLastInserted = false
      let last = events.count - 1
      if last >= 0 && !events[last].isInsertion && events[last].last < key
        && events[last].last == key - 1
      {
        events[last].last = key
        return
      }
      append(Event(first: key, last: key, isInsertion: false))
    }

    @inline(__always)
    mutating func touch(_ key: Int64, _ column: Int) {
      if hasLastInserted && key == lastInserted { return }
      if column >= touched.count { addColumns(column) }
      touched[column].append(key)
    }

    mutating func backTouch(_ key: Int64, _ origin: ClassID, _ column: ColumnID) {
      if hasLastInserted && key == lastInserted { return }
      if lastBackLog >= backTouched.count || backTouched[lastBackLog].origin != origin
        || backTouched[lastBackLog].column != column
      {
        if let index = backTouched.firstIndex(where: { $0.origin == origin && $0.column == column })
        {
          lastBackLog = index
        } else {
          lastBackLog = backTouched.count
          backTouched.append(BackLog(origin: origin, column: column))
        }
      }
      backTouched[lastBackLog].keys.append(key)
    }

    mutating func clear() {
      reset()
      isActive = true
      isCleared = true
    }

    mutating func reset() {
      isActive = false
      isCleared = false
      hasLastInserted = false
      events.removeAll(keepingCapacity: events.count <= 1024)
      for index in touched.indices { touched[index].reset() }
      backTouched.removeAll(keepingCapacity: true)
      folded = nil
      foldedKeys = KeySet()
      foldLimit = Self.foldLimitMin
    }

    @inline(never)
    private mutating func addColumns(_ column: Int) {
      touched.reserveCapacity(column + 1)
      while touched.count <= column { touched.append(KeyLog()) }
    }

    @inline(never)
    private mutating func append(_ event: Event) {
      events.append(event)
      if events.count >= foldLimit {
        fold()
        foldLimit = max(Self.foldLimitMin, foldedKeys.runs.count)
      }
    }
  }
}

extension ChangeRecorder.ClassLog {
  /// The notes as changes, without touches of inserted or deleted objects, and without objects that
  /// were both inserted and deleted.
  mutating func changes(of id: ClassID) -> ClassChanges {
    var changes = ClassChanges(id: id)
    if !events.isEmpty { fold() }
    if let folded {
      changes.inserted = folded.inserted
      if !isCleared { changes.deleted = folded.deleted }
    }
    changes.isCleared = isCleared
    for column in touched.indices where !touched[column].isEmpty {
      changes.touched.append(.init(column: ColumnID(UInt16(column)), keys: touched[column].keys))
    }
    if !backTouched.isEmpty {
      let sorted = backTouched.sorted { ($0.origin, $0.column) < ($1.origin, $1.column) }
      changes.backTouched = sorted.map {
        .init(origin: $0.origin, column: $0.column, keys: $0.keys.keys)
      }
    }
    changes.removeTouches(of: foldedKeys)
    return changes
  }

  /// Folds the events into changes and starts a new list.
  private mutating func fold() {
    var inserted: ContiguousArray<KeyRun> = []
    var deleted: ContiguousArray<KeyRun> = []
    for event in events {
      let run = KeyRun(first: event.first, last: event.last)
      if event.isInsertion { inserted.append(run) } else { deleted.append(run) }
    }
    var changes = ClassChanges(id: ClassID(0))
    changes.inserted = KeySet(unsorted: inserted)
    changes.deleted = KeySet(unsorted: deleted)
    let keys = changes.inserted.union(changes.deleted)
    foldedKeys = foldedKeys.isEmpty ? keys : foldedKeys.union(keys)
    let both = changes.inserted.intersection(changes.deleted)
    if !both.isEmpty { resolve(both, in: &changes) }
    folded = folded.map { $0.merging(changes) } ?? changes
    events.removeAll(keepingCapacity: events.count <= 1024)
  }

  /// For keys that were inserted and deleted: the first event tells whether an object existed
  /// before, the last one whether it exists now.
  private func resolve(_ both: KeySet, in changes: inout ClassChanges) {
    var starts: ContiguousArray<Int> = []
    var count = 0
    for run in both.runs {
      starts.append(count)
      count += run.count
    }
    var firstIsInsertion = ContiguousArray<Bool?>(repeating: nil, count: count)
    var lastIsInsertion = ContiguousArray<Bool>(repeating: false, count: count)
    for event in events {
      var index = both.firstRun(endingAtOrAfter: event.first)
      while index < both.runs.count && both.runs[index].first <= event.last {
        let run = both.runs[index]
        let first = starts[index] + Int(max(run.first, event.first) - run.first)
        let last = starts[index] + Int(min(run.last, event.last) - run.first)
        for position in first...last {
          if firstIsInsertion[position] == nil { firstIsInsertion[position] = event.isInsertion }
          lastIsInsertion[position] = event.isInsertion
        }
        index += 1
      }
    }
    var gone: ContiguousArray<KeyRun> = []
    var new: ContiguousArray<KeyRun> = []
    for (position, key) in both.enumerated() {
      let run = KeyRun(first: key.rawValue, last: key.rawValue)
      if !lastIsInsertion[position] { gone.append(run) }
      if firstIsInsertion[position] == true { new.append(run) }
    }
    changes.inserted = changes.inserted.subtracting(KeySet(unsorted: gone))
    changes.deleted = changes.deleted.subtracting(KeySet(unsorted: new))
  }
}
