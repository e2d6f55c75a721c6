import TestSupport
import Testing

@testable import TarnStore

/// Integers that are too far apart for less than eight bytes are stored as eight, as differences
/// from the least one at that time. A row that is set later may get a lesser value.
@Suite struct PatchedScanTests {
  private static let id = ClassID(0)
  private static let classes = [
    ClassDefinition(name: "Frog", properties: [.init(name: "age", type: .int)])
  ]

  private static let ages: [[Int64]] = [
    [1 << 40, 1 << 41, 1 << 42], [.max - 1, 0, 5], [.min + 1, 3, .max - 1],
  ]

  @Test(arguments: ages)
  func `conditions find rows that were set beyond all others`(_ ages: [Int64]) throws {
    let file = TemporaryStore()
    let store = try file.open(Self.classes)
    var keys: [ObjectKey] = []
    try store.write { session in
      for age in ages { keys.append(try session.create([ColumnID(0): .int(age)], in: Self.id)) }
    }
    for age in [ages.min()! - 1, ages.max()! + 1, ages.min()! / 2, 1, -1] {
      try store.write { session in
        _ = try session.set(ColumnID(0), at: keys[0], in: Self.id, to: .int(age))
      }
      let rows = Rows(try SnapshotReader(store.newestSnapshot()))
      let now = [age] + ages.dropFirst()
      func check(
        _ comparison: ComparisonOperator, _ bound: Int64, _ passes: (Int64) -> Bool
      ) throws {
        let query = try CompiledQuery(
          .compare("age", comparison, .int(bound)), [], on: Self.id, rows.schema)
        let found = try query.evaluate(rows).keys
        let right = zip(keys, now).filter { passes($0.1) }.map(\.0)
        #expect(found == right, "\(comparison) \(bound) of \(now)")
      }
      for bound in now + [.min, 0, .max] {
        try check(.equal, bound) { $0 == bound }
        try check(.notEqual, bound) { $0 != bound }
        try check(.less, bound) { $0 < bound }
        try check(.lessOrEqual, bound) { $0 <= bound }
        try check(.greater, bound) { $0 > bound }
        try check(.greaterOrEqual, bound) { $0 >= bound }
      }
    }
  }
}
