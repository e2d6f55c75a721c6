import TarnStore
import TestSupport

/// One thing that a write does to one class.
enum FateOperation {
  case insert(Int64)
  case delete(Int64)
  case touch(Int64, UInt16)
  case backTouch(Int64, UInt32, UInt16)
  case clear
}

/// What happens to objects, kept the dumb way: each object ever made has a number, and the whole
/// history of (version, operation) is there to be asked.
struct FateModel {
  /// Key to the number of the object that has it now.
  private(set) var objects: [Int64: Int] = [:]
  private var nextNumber = 1
  /// After each operation.
  private var states: [[Int64: Int]] = [[:]]
  private var operations: [(operation: FateOperation, numbers: [Int64: Int])] = []

  /// The number of operations so far, a position in history.
  var moment: Int { operations.count }

  mutating func apply(_ operation: FateOperation) {
    operations.append((operation, objects))
    switch operation {
    case .insert(let key):
      objects[key] = nextNumber
      nextNumber += 1
    case .delete(let key): objects[key] = nil
    case .clear: objects = [:]
    case .touch, .backTouch: break
    }
    states.append(objects)
  }

  /// The changes between two moments, derived from both states and the touches between.
  func changes(_ id: ClassID, from: Int, to: Int) -> ClassChanges {
    let before = states[from]
    let after = states[to]
    var changes = ClassChanges(id: id)
    var isCleared = false
    var touched: [UInt16: Set<Int64>] = [:]
    var backTouched: [UInt64: Set<Int64>] = [:]
    for (operation, numbers) in operations[from..<to] {
      switch operation {
      case .clear: isCleared = true
      case .touch(let key, let column) where numbers[key] != nil && numbers[key] == after[key]:
        if before[key] == after[key] { touched[column, default: []].insert(key) }
      case .backTouch(let key, let origin, let column)
      where numbers[key] != nil && numbers[key] == after[key]:
        if before[key] == after[key] {
          backTouched[UInt64(origin) << 16 | UInt64(column), default: []].insert(key)
        }
      default: break
      }
    }
    changes.inserted = KeySet(after.keys.filter { after[$0] != before[$0] }.map { ObjectKey($0) })
    changes.isCleared = isCleared
    if !isCleared {
      changes.deleted = KeySet(
        before.keys.filter { after[$0] != before[$0] }.map { ObjectKey($0) })
    }
    changes.touched = touched.keys.sorted().map {
      .init(column: ColumnID($0), keys: KeySet(touched[$0]!.map { ObjectKey($0) }))
    }
    changes.backTouched = backTouched.keys.sorted().map {
      .init(
        origin: ClassID(UInt32($0 >> 16)), column: ColumnID(UInt16(truncatingIfNeeded: $0)),
        keys: KeySet(backTouched[$0]!.map { ObjectKey($0) }))
    }
    return changes
  }

  func changeSet(_ id: ClassID, from: Int, to: Int) -> ChangeSet {
    let changes = changes(id, from: from, to: to)
    return ChangeSet(
      from: Version(UInt64(from)), to: Version(UInt64(to)),
      classes: changes.isEmpty ? [] : [changes])
  }

  /// An operation that makes sense now. `reuses` lets deleted keys come again.
  func randomOperation(
    keys: Int64, reuses: Bool, clears: Bool, _ random: inout SeededRandom
  ) -> FateOperation {
    while true {
      let key = Int64.random(in: 0..<keys, using: &random)
      let exists = objects[key] != nil
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<35 where !exists:
        if reuses { return .insert(key) }
        return .insert(keys + Int64(nextNumber))
      case 35..<55:
        let victim = reuses ? key : objects.keys.sorted().randomElement(using: &random) ?? -1
        if objects[victim] != nil { return .delete(victim) }
      case 55..<80 where exists:
        return .touch(key, UInt16.random(in: 0..<4, using: &random))
      case 80..<98 where exists:
        return .backTouch(
          key, UInt32.random(in: 1..<3, using: &random), UInt16.random(in: 0..<2, using: &random))
      case 98 where clears: return .clear
      default: break
      }
    }
  }
}
