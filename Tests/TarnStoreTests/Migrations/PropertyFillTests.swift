import TestSupport
import Testing

@testable import TarnStore

/// Values that a new property gives to objects that are there already.
@Suite struct PropertyFillTests {
  private static let (box, kind) = (ClassID(0), ColumnID(1))

  private func classes(_ kind: ClassDefinition.Property? = nil) -> [ClassDefinition] {
    [
      ClassDefinition(
        name: "Box",
        properties: [.init(name: "id", type: .int, isPrimaryKey: true)] + (kind.map { [$0] } ?? []))
    ]
  }

  @Test(arguments: [false, true])
  func `who has the file open sees them as one commit`(_ isIndexed: Bool) throws {
    let file = TemporaryStore()
    let first = try file.open(classes())
    try first.write { session in
      for number in 0..<700 as Range<Int64> {
        try session.create([ColumnID(0): .int(number)], in: Self.box)
      }
    }
    let before = try first.newestSnapshot()
    let kind = ClassDefinition.Property(
      name: "kind", type: .string, isIndexed: isIndexed, initial: .string("oak"))
    _ = try file.open(classes(kind))
    let after = try first.newestSnapshot()
    #expect(after.version.rawValue == before.version.rawValue + 1)
    let changes = try ChangeLog.changes(from: before, to: after)
    #expect(changes.classes.map(\.id) == [Self.box])
    #expect(changes.classes.first?.touchedKeys(in: Self.kind).count == 700)
    let reader = try SnapshotReader(after)
    try reader.checkInvariants(of: Self.box)
    for key in [0, 350, 699] as [Int64] {
      #expect(
        try reader.value(of: Self.kind, at: ObjectKey(key), in: Self.box) == .string("oak"))
    }
    if isIndexed {
      #expect(try reader.keys(in: Self.box, where: Self.kind, is: .string("oak")).count == 700)
    }
    // The version before still has none.
    #expect(try SnapshotReader(before).schema[Self.box].named("kind") == nil)
  }
}
