import TarnStore
import Testing

@testable import TarnSync

/// The record of what joined commits did to one object.
@Suite struct JoinedChangeTests {
  private typealias Pending = UnsentChanges.Pending

  private func write(_ version: UInt64) -> JoinedChange.Write {
    JoinedChange.Write(version: version, time: Int64(version) * 10)
  }

  @Test func `a property has its last commit`() {
    var change = JoinedChange()
    change.add(Pending(columns: [ColumnID(1), ColumnID(2)]), by: write(3))
    change.add(Pending(columns: [ColumnID(2)]), by: write(5))
    #expect(change.writes == [ColumnID(1): write(3), ColumnID(2): write(5)])
    #expect(change.pending(after: 3) == Pending(columns: [ColumnID(2)]))
    change.drop(through: 3)
    #expect(change.writes == [ColumnID(2): write(5)])
    change.drop(through: 5)
    #expect(change.isEmpty)
  }

  @Test func `a deletion ends what was before it, and a creation begins anew`() {
    var change = JoinedChange()
    change.add(Pending(columns: [ColumnID(1)]), by: write(2))
    change.add(Pending(isDeleted: true), by: write(3))
    #expect(change.pending(after: 0) == Pending(isDeleted: true))
    change.add(Pending(isCreated: true), by: write(4))
    change.add(Pending(columns: [ColumnID(1)]), by: write(5))
    #expect(
      change.pending(after: 0)
        == Pending(isCreated: true, isDeleted: true, columns: [ColumnID(1)]))
    #expect(change.pending(after: 3) == Pending(isCreated: true, columns: [ColumnID(1)]))
    #expect(change.pending(after: 4) == Pending(columns: [ColumnID(1)]))
  }

  @Test func `a record has all of it`() {
    var change = JoinedChange()
    change.add(Pending(isCreated: true, isDeleted: true), by: write(1 << 40))
    change.add(Pending(columns: [ColumnID(7), ColumnID(300)]), by: write(1 << 41))
    change.primaryKey = [1, 2, 3]
    #expect(JoinedChange(decoding: change.encoded) == change)
    #expect(JoinedChange(decoding: change.encoded.dropLast()) == nil)
    #expect(JoinedChange(decoding: change.encoded + [0]) == nil)
  }

  @Test func `a record of many properties stays short, and has the last commit for all`() {
    var change = JoinedChange()
    for column in 0..<1_000 {
      change.add(
        Pending(columns: [ColumnID(UInt16(column))]), by: write(1 << 40 + UInt64(column)))
    }
    #expect(change.encoded.count < 4_000)
    let decoded = JoinedChange(decoding: change.encoded)
    #expect(decoded?.writes.count == 1_000)
    #expect(decoded?.writes.values.allSatisfy { $0 == write(1 << 40 + 999) } == true)
  }
}
