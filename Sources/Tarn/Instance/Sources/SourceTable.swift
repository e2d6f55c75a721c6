import TarnStore

/// The sources of one instance that have observers, found by the parts of a change that can concern
/// them: their owner, the classes of their content, and the values of the rows that changed.
///
/// A source that a change cannot concern is not visited: its content at the step before is that at
/// the step after.
///
/// Confined to the instance's scheduler.
final class SourceTable {
  private struct Entry {
    let source: any ObservedSource
    /// Rises when the source, or an observer that looks farther, is added.
    var arrival: Int
    /// The classes whose changes can concern it, and for how many reasons.
    var reasons = Reasons()
    /// The class by whose rows it is found; nil if it is asked about every change.
    let routedClass: ClassID?
  }

  /// How often each class was noted. Most sources have one class.
  private struct Reasons {
    private var first: (id: ClassID, count: Int)?
    private var others: [ClassID: Int] = [:]

    subscript(id: ClassID) -> Int {
      get { first?.id == id ? first!.count : others[id] ?? 0 }
      set {
        if let known = first?.id, known != id {
          others[id] = newValue > 0 ? newValue : nil
        } else if first == nil, others[id] != nil {
          others[id] = newValue > 0 ? newValue : nil
        } else {
          first = newValue > 0 ? (id, newValue) : nil
        }
      }
    }
  }

  /// The sources that changes of one class can concern.
  private struct Listed {
    /// The numbers of those that are asked.
    var asked: [Int] = []
    /// The routers that find others, and how many these are; mostly one.
    var routed: [(router: Router, users: Int)] = []

    var isEmpty: Bool { asked.isEmpty && routed.isEmpty }

    mutating func count(_ change: Int, in router: Router) {
      guard let index = routed.firstIndex(where: { $0.router === router }) else {
        return routed.append((router, change))
      }
      routed[index].users += change
      if routed[index].users == 0 { routed.remove(at: index) }
    }
  }

  /// By number; nil for a number that is free.
  private var entries: [Entry?] = []
  private var freeNumbers: [Int] = []
  private var byOwner: [ClassID: [ObjectKey: [Int]]] = [:]
  private var byClass: [ClassID: Listed] = [:]
  private var routers: [ClassID: Router] = [:]
  /// Rises with each source that arrives.
  private(set) var arrivals = 0
  /// The search that found a source last, by number.
  private var marks: [Int] = []
  private var searches = 0

  var isEmpty: Bool { entries.count == freeNumbers.count }
  /// True if nothing is left of sources that were removed. For tests.
  var isClear: Bool { isEmpty && byOwner.isEmpty && byClass.isEmpty && routers.isEmpty }
  var all: [any ObservedSource] { entries.compactMap { $0?.source } }

  // MARK: - Coming and going

  func insert(_ source: any ObservedSource) {
    let number = freeNumbers.popLast() ?? entries.count
    if number == entries.count {
      entries.append(nil)
      marks.append(0)
    }
    let route = source.route
    arrivals += 1
    entries[number] = Entry(source: source, arrival: arrivals, routedClass: route?.classID)
    source.number = number
    if let owner = source.owner {
      byOwner[owner.classID, default: [:]][owner.key, default: []].append(number)
    }
    if let route { router(route.classID).insert(route, number) }
    register(number, under: source.concerningClasses)
  }

  func remove(_ source: any ObservedSource) {
    guard let number = source.number, let entry = entries[number] else { return }
    unregister(number, under: source.concerningClasses)
    if let id = entry.routedClass {
      router(id).remove(number)
      if router(id).isEmpty { routers[id] = nil }
    }
    if let owner = source.owner, var there = byOwner[owner.classID]?[owner.key] {
      there.removeAll { $0 == number }
      byOwner[owner.classID]?[owner.key] = there.isEmpty ? nil : there
      if byOwner[owner.classID]?.isEmpty == true { byOwner[owner.classID] = nil }
    }
    entries[number] = nil
    freeNumbers.append(number)
    source.number = nil
  }

  private func router(_ id: ClassID) -> Router {
    if let router = routers[id] { return router }
    let made = Router(id)
    routers[id] = made
    return made
  }

  /// Observers of a source look that far from now on.
  func register(_ source: any ObservedSource, seeing scope: BoundScope) {
    guard let number = source.number, let entry = entries[number] else { return }
    arrivals += 1
    entries[number]?.arrival = arrivals
    register(number, under: scope.concerningClasses)
    if let id = entry.routedClass { router(id).insert(scope) }
  }

  /// No observer of the source looks that far any more.
  func unregister(_ source: any ObservedSource, seeing scope: BoundScope) {
    guard let number = source.number, let entry = entries[number] else { return }
    unregister(number, under: scope.concerningClasses)
    if let id = entry.routedClass { router(id).remove(scope) }
  }

  /// Adds one more reason why changes of these classes concern the source.
  private func register(_ number: Int, under classes: Set<ClassID>) {
    let routed = entries[number]?.routedClass
    for id in classes {
      let reasons = entries[number]?.reasons[id] ?? 0
      entries[number]?.reasons[id] = reasons + 1
      guard reasons == 0 else { continue }
      if let routed {
        byClass[id, default: Listed()].count(1, in: router(routed))
      } else {
        byClass[id, default: Listed()].asked.append(number)
      }
    }
  }

  /// Removes one of these reasons.
  private func unregister(_ number: Int, under classes: Set<ClassID>) {
    let routed = entries[number]?.routedClass
    for id in classes {
      let reasons = entries[number]?.reasons[id] ?? 0
      entries[number]?.reasons[id] = max(0, reasons - 1)
      guard reasons == 1 else { continue }
      if let routed {
        byClass[id]?.count(-1, in: router(routed))
      } else {
        byClass[id]?.asked.removeAll { $0 == number }
      }
      if byClass[id]?.isEmpty == true { byClass[id] = nil }
    }
  }

  // MARK: - Finding

  /// The sources that `changes` can concern, each once.
  ///
  /// - Parameters:
  ///   - most: if more rows are affected, all sources of their class are asked.
  ///   - move: the move that made the changes; called if values of rows are looked at.
  func concerned(
    by changes: ChangeSet, atMost most: Int = .max, _ move: () throws(StorageError) -> LiveMove
  ) throws(StorageError) -> [any ObservedSource] {
    if isEmpty || changes.schemaChanged { return all }
    var found = beginSearch()
    var routers: [Router] = []
    for change in changes.classes {
      if let listed = byClass[change.id] {
        note(listed.asked, in: &found)
        for (router, _) in listed.routed {
          if !router.isWorthwhile {
            note(router.numbers, in: &found)
          } else if !routers.contains(where: { $0 === router }) {
            routers.append(router)
          }
        }
      }
      guard let owners = byOwner[change.id] else { continue }
      for owner in owners.concerned(by: change) { note(owner.value, in: &found) }
    }
    for router in routers {
      let isRouted = try router.findConcerned(by: move(), atMost: most) { note($0, in: &found) }
      if !isRouted { note(router.numbers, in: &found) }
    }
    return found
  }

  /// Some sources that were found at an earlier time, and all that have arrived since, each once.
  ///
  /// - Parameter arrivals: the number of arrivals at that time.
  func with(
    _ sources: [any ObservedSource], arrivedAfter arrivals: Int
  ) -> [any ObservedSource] {
    var found = beginSearch()
    note(sources.compactMap(\.number), in: &found)
    for (number, entry) in entries.enumerated() {
      if let entry, entry.arrival > arrivals { note(CollectionOfOne(number), in: &found) }
    }
    return found
  }

  private func beginSearch() -> [any ObservedSource] {
    searches += 1
    return []
  }

  private func note(_ numbers: some Sequence<Int>, in found: inout [any ObservedSource]) {
    for number in numbers where marks[number] != searches {
      marks[number] = searches
      if let entry = entries[number] { found.append(entry.source) }
    }
  }
}

extension Dictionary where Key == ObjectKey {
  /// The values of the objects that `changes` touched or deleted, found from the smaller side.
  func concerned(by changes: ClassChanges) -> [(key: ObjectKey, value: Value)] {
    if let keys = changes.concernedKeys(ifFewerThan: count) {
      return keys.compactMap { key in self[key].map { (key, $0) } }
    }
    var found: [(key: ObjectKey, value: Value)] = []
    for entry in self where changes.concerns(entry.key) { found.append(entry) }
    return found
  }
}
