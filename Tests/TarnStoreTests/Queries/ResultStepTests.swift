import TestSupport
import Testing

@testable import TarnStore

/// Steps of a maintained result over random commits: what an update finds out on its way makes the
/// same difference as looking every row up again.
@Suite struct ResultStepTests {
  private static let id = ClassID(0)
  private static let (name, age, note) = (ColumnID(0), ColumnID(1), ColumnID(2))
  private static let classes = [
    ClassDefinition(
      name: "Frog",
      properties: [
        .init(name: "name", type: .string), .init(name: "age", type: .int),
        .init(name: "note", type: .int),
      ])
  ]

  /// One commit of about so many changes.
  private func write(
    _ session: WriteSession, _ changes: Int, _ random: inout SeededRandom
  ) throws {
    var keys = try session.allKeys(in: Self.id)
    for _ in 0..<changes {
      if keys.isEmpty || random.chance(20) {
        keys.append(
          try session.create(
            [Self.name: .string("n\(random.below(50))"), Self.age: .int(Int64(random.below(10)))],
            in: Self.id))
        continue
      }
      let index = random.below(keys.count)
      switch random.below(5) {
      case 0: try session.delete(keys.remove(at: index), in: Self.id)
      case 1:
        try session.set(
          Self.age, at: keys[index], in: Self.id, to: .int(Int64(random.below(10))))
      case 2:
        try session.set(
          Self.note, at: keys[index], in: Self.id, to: .int(Int64(random.below(9))))
      default:
        try session.set(
          Self.name, at: keys[index], in: Self.id, to: .string("n\(random.below(50))"))
      }
    }
  }

  private func expect(_ step: ResultStep, _ difference: IndexChanges) {
    let (old, new) = (step.before.keys, step.after.keys)
    var mirror = old
    for index in difference.deletions.reversed() { mirror.remove(at: index) }
    for index in difference.insertions { mirror.insert(new[index], at: index) }
    #expect(mirror == new)
    let deleted = Set(difference.deletions.map { old[$0] })
    let modified = Set(old).intersection(step.modified).subtracting(deleted)
    #expect(Set(difference.modifications.map { old[$0] }) == modified)
    #expect(difference.modificationsNew.map { new[$0] } == difference.modifications.map { old[$0] })
    let searched = step.difference(from: step.before)
    #expect(difference.deletions.count <= searched.deletions.count)
    #expect(difference.modifications.count >= searched.modifications.count)
    #expect(step.isNews == (difference != IndexChanges()))
  }

  @Test(arguments: [true, false], 0..<4)
  func `each step's difference is that of its rows`(isSorted: Bool, seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let file = TemporaryStore()
    let store = try file.open(Self.classes)
    try store.write { try write($0, 300, &random) }
    var snapshot = try store.newestSnapshot()
    let query = try CompiledQuery(
      .comparison(.init(.path(["age"]), .greater, .value(.int(4)))),
      isSorted ? [OrderTerm("name")] : [], on: Self.id, snapshot.schema)
    let scope = BoundScope(.standard, from: [Self.id], snapshot.schema)
    var root = try query.evaluate(Rows(SnapshotReader(snapshot)))
    for _ in 0..<60 {
      let count = random.pick([1, 1, 2, 7, 40])
      try store.write { try write($0, count, &random) }
      let next = try store.newestSnapshot()
      let rows = Rows(try SnapshotReader(next))
      let changes = try ChangeLog.changes(from: snapshot, to: next)
      let move = try query.move(root, over: changes, to: rows)
      move.after.checkInvariants()
      #expect(try move.after.keys == query.evaluate(rows).keys)
      let step = try query.step(move, over: changes, to: rows, seen: scope)
      if let step { expect(step, step.difference()) } else { #expect(move.after.keys == root.keys) }
      (root, snapshot) = (move.after, next)
    }
  }
}
