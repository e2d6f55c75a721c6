import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Random writes, commits, cancels and moves: what observers know from what they were told is what
/// there is, at every moment.
struct PropertyModelTests {
  @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
  func whatObserversWereToldIsWhatThereIs(seed: UInt64) throws {
    let a = try Shelter().openKennel(1, 2, 3)
    try a.write { for id in 0..<3 { a.realm.add(Yard(id)) } }
    let b = try Instance(a.realm.configuration)
    var operations = KennelOperations(numbers: SeededRandom(seed: seed))
    let mirrors = [PropertyMirror(a), PropertyMirror(b)]
    for _ in 0..<120 {
      let writer = operations.numbers.chance(70) ? 0 : 1
      let instance = writer == 0 ? a : b
      instance.realm.beginWrite()
      mirrors[writer].check()
      for _ in 0...operations.numbers.below(6) {
        operations.apply(to: instance)
        mirrors[writer].check()
      }
      if operations.numbers.chance(30) {
        instance.realm.cancelWrite()
      } else {
        try instance.realm.commitWrite()
      }
      mirrors[writer].check()
      mirrors[1 - writer].check()
      if operations.numbers.chance(40) {
        (writer == 0 ? b : a).pump()
        mirrors[1 - writer].check()
      }
      for mirror in mirrors where operations.numbers.chance(30) { mirror.observeNew() }
    }
    for mirror in mirrors {
      #expect(mirror.problems == [])
      #expect(mirror.calls > 200)
    }
  }
}

/// What the observers of a kennel and its hounds were told.
private final class PropertyMirror {
  private let instance: Instance
  private(set) var problems: [String] = []
  private(set) var calls = 0
  private var ages: [Int: Int] = [:]
  private var rooms: [Int: String] = [:]
  private var list: [Int] = []
  private var hounds: [Int: Hound] = [:]
  private var tokens: [Int: [NotificationToken]] = [:]
  private var listToken: NotificationToken?
  /// Told that a call comes, and not yet told that it happened.
  private var pending = 0

  init(_ instance: Instance) {
    self.instance = instance
    list = instance.kennel.hounds.map(\.id)
    listToken = instance.kennel.observe(\.hounds, options: [.prior]) { [unowned self] in
      follow($0.hounds, $1)
    }
    observeNew()
  }

  /// Observes the hounds that are not observed.
  func observeNew() {
    for hound in instance.realm.objects(Hound.self) where hounds[hound.id] == nil { observe(hound) }
  }

  private func observe(_ hound: Hound) {
    let id = hound.id
    hounds[id] = hound
    tokens[id] = [
      hound.observe(\.age, options: [.initial, .old, .new]) { [unowned self] _, change in
        calls += 1
        if let old = change.oldValue { expect(ages[id] == old, "age \(id) was \(old)") }
        ages[id] = change.newValue
      },
      hound.observe(\.yard?.rooms, options: [.initial, .old, .new]) { [unowned self] _, change in
        calls += 1
        if let old = change.oldValue {
          expect(rooms[id] == "\(old ?? -1)", "rooms \(id) were \(old ?? -1)")
        }
        rooms[id] = change.newValue.map { "\($0 ?? -1)" }
      },
      hound.observe(\.isInvalidated, options: [.new]) { [unowned self] hound, change in
        calls += 1
        if change.newValue == true {
          (hounds[id], ages[id], rooms[id]) = (nil, nil, nil)
          // It may come back; whatever has that key meanwhile is another one.
          gone[id, default: []].append(tokens.removeValue(forKey: id) ?? [])
        } else {
          tokens[id] = gone[id]?.popLast()
          expect(hounds[id] == nil, "hound \(id) came back twice")
          (hounds[id], ages[id], rooms[id]) = (hound, hound.age, Self.rooms(hound))
        }
      },
    ]
  }
  private var gone: [Int: [[NotificationToken]]] = [:]

  private func follow(_ hounds: List<Hound>, _ change: PropertyObservedChange<List<Hound>>) {
    calls += 1
    if change.isPrior {
      pending += 1
      return expect(Array(hounds.map(\.id)) == list, "the list before")
    }
    pending -= 1
    let new = Array(hounds.map(\.id))
    let indexes = change.indexes.map { Array($0) } ?? []
    switch change.kind {
    case .setting: list = new
    case .insertion: for index in indexes { list.insert(new[index], at: index) }
    case .removal: for index in indexes.reversed() { list.remove(at: index) }
    case .replacement: for index in indexes { list[index] = new[index] }
    }
    expect(list == new, "\(change.kind) \(indexes) gives \(list), not \(new)")
  }

  /// Compares what was told with what there is.
  func check() {
    expect(pending == 0, "a call before a change without one after it")
    expect(list == Array(instance.kennel.hounds.map(\.id)), "the list is another one")
    for (id, hound) in hounds {
      guard !hound.isInvalidated else {
        expect(false, "hound \(id) is gone")
        continue
      }
      expect(ages[id] == hound.age, "age \(id) is \(hound.age), told \(ages[id] as Any)")
      let there = Self.rooms(hound)
      expect(rooms[id] == there, "rooms \(id) are \(there), told \(rooms[id] ?? "nothing")")
    }
  }

  private static func rooms(_ hound: Hound) -> String { "\(hound.yard?.rooms ?? -1)" }

  private func expect(_ isRight: Bool, _ problem: String) {
    if !isRight, problems.count < 10 { problems.append("\(problem), call \(calls)") }
  }
}
