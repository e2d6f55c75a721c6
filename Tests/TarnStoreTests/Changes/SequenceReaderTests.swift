import TestSupport
import Testing

@testable import TarnStore

/// Sections as only damage could make them, one mistake each.
@Suite("Reading parts of scripts")
struct SequenceReaderTests {
  private static let first = SequencePart.Flag.isFirst
  private static let last = SequencePart.Flag.isLast
  private static let modified = SequencePart.Flag.hasModified
  private static let whole = first | last

  /// A payload: name, flags, counts, then runs as (item, zigzag distance) and what follows.
  private static func part(
    key: UInt64 = 2, _ flags: UInt8, _ counts: [UInt64] = [], runs: Int, _ numbers: [UInt64],
    then rest: [UInt8] = []
  ) -> [UInt8] {
    var writer = RecordWriter(capacity: 64)
    writer.varint(3)
    writer.varint(key)
    writer.varint(0)
    writer.byte(flags)
    for count in counts { writer.varint(count) }
    writer.word(UInt16(runs))
    for number in numbers { writer.varint(number) }
    return writer.bytes + rest
  }

  private func read(_ parts: [[UInt8]]) throws -> [SequenceChange] {
    var reader = SequenceReader()
    var sequences: [SequenceChange] = []
    for part in parts {
      try part.withUnsafeBytes {
        var bytes = RecordReader($0)
        try reader.read(&bytes, into: &sequences)
      }
    }
    try reader.finish()
    return sequences
  }

  @Test("joins them")
  func joins() throws {
    let sequences = try read([
      Self.part(Self.first, [10, 6], runs: 1, [4, 8]),
      Self.part(0, runs: 2, [3, 4, 4]),
      Self.part(Self.modified, runs: 0, [], then: [0, 2, 0]),
      Self.part(Self.modified | Self.last, runs: 1, [3], then: [0, 8, 0]),
      Self.part(key: 4, Self.whole, [1, 0], runs: 0, []),
    ])
    var builder = EditScript.Builder(oldCount: 10)
    builder.append(old: 4)
    builder.append(old: 5, isModified: true)
    builder.appendFresh()
    builder.append(old: 8)
    builder.append(old: 9, isModified: true)
    builder.appendFresh()
    let column = ColumnID(3)
    #expect(
      sequences == [
        SequenceChange(
          name: SequenceName(column: column, key: ObjectKey(1)), script: builder.finish()),
        SequenceChange(
          name: SequenceName(column: column, key: ObjectKey(2)),
          script: .replacingAll(oldCount: 1, newCount: 0)),
      ])
  }

  private static let huge = UInt64(EditScript.countMax)

  private static let mistakes: [(String, [[UInt8]])] = [
    ("nothing", [[]]),
    ("no first part", [part(last, runs: 1, [3])]),
    ("no last part", [part(first, [0, 1], runs: 1, [3])]),
    ("another name", [part(first, [0, 1], runs: 1, [3]), part(key: 4, last, runs: 0, [])]),
    ("two first parts", [part(first, [0, 2], runs: 1, [3]), part(whole, [0, 2], runs: 1, [5])]),
    ("goes on after its end", [part(whole, [0, 1], runs: 1, [3]), part(last, runs: 1, [3])]),
    (
      "the same name again",
      [part(whole, [0, 1], runs: 1, [3]), part(whole, [2, 1], runs: 1, [3])]
    ),
    (
      "an earlier name",
      [part(whole, [0, 1], runs: 1, [3]), part(key: 1, whole, [1, 0], runs: 0, [])]
    ),
    ("identity", [part(whole, [3, 3], runs: 1, [6, 0])]),
    ("identity of nothing", [part(whole, [0, 0], runs: 0, [])]),
    ("too few elements", [part(whole, [3, 3], runs: 1, [4, 0])]),
    ("too many elements", [part(whole, [3, 2], runs: 2, [4, 0, 3])]),
    ("an empty run", [part(whole, [3, 1], runs: 2, [0, 0, 3])]),
    ("an empty fresh run", [part(whole, [3, 2], runs: 2, [1, 4, 0])]),
    ("a position twice", [part(whole, [3, 4], runs: 3, [4, 0, 3, 2, 1])]),
    ("a position before the first", [part(whole, [3, 1], runs: 1, [2, 1])]),
    ("a position after the last", [part(whole, [3, 1], runs: 1, [2, 6])]),
    ("a run over the end", [part(whole, [3, 2], runs: 1, [4, 4])]),
    ("neighbours that are one", [part(whole, [4, 3], runs: 2, [4, 0, 2, 0])]),
    ("fresh neighbours", [part(whole, [4, 3], runs: 2, [3, 5])]),
    ("a fresh element modified", [part(whole | modified, [0, 1], runs: 1, [3], then: [0, 0, 0])]),
    ("too high modified", [part(whole | modified, [2, 1], runs: 1, [2, 0], then: [0, 2, 0])]),
    ("a negative modified", [part(whole | modified, [2, 1], runs: 1, [2, 0], then: [0, 1, 0])]),
    ("no modified", [part(whole | modified, [2, 1], runs: 1, [2, 0])]),
    ("too many bytes", [part(whole, [2, 1], runs: 1, [2, 0], then: [0])]),
    ("too few runs", [part(whole, [2, 1], runs: 2, [2, 0])]),
    ("a huge old count", [part(whole, [huge + 1, 0], runs: 0, [])]),
    ("a huge new count", [part(whole, [0, huge + 1], runs: 1, [(huge + 1) << 1 | 1])]),
    ("a count that is no Int", [part(whole, [.max, 0], runs: 0, [])]),
    ("a run that is no Int", [part(whole, [0, 1], runs: 1, [.max])]),
    ("sums that overflow", [part(whole, [0, 1], runs: 3, [huge << 1 | 1, 3, huge << 1 | 1])]),
    ("a distance too far up", [part(whole, [3, 2], runs: 2, [2, 2, 2, .max - 1])]),
    ("a distance too far down", [part(whole, [3, 2], runs: 2, [2, 2, 2, .max])]),
  ]

  @Test("reports each mistake as damage", arguments: mistakes)
  func reportsMistake(_ name: String, _ parts: [[UInt8]]) {
    #expect {
      _ = try read(parts)
    } throws: {
      ($0 as? StorageError)?.code == .corrupted
    }
  }

  @Test("leaves unknown flags to newer versions")
  func unknownFlags() {
    #expect {
      _ = try read([Self.part(Self.whole | 8, [1, 0], runs: 0, [])])
    } throws: {
      ($0 as? StorageError)?.code == .newerFormat
    }
  }
}
