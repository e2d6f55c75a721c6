import CTarn
import Foundation
import Testing

@testable import TarnStore

/// The numbers in the documentation of the format are those of the code.
struct FormatDocumentTests {
  private static let document = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../../Sources/Tarn/Documentation.docc/Format.md")

  /// Rows like "| `head.bytes` | 84 |".
  static func stated(in text: String) -> [String: UInt64] {
    var found: [String: UInt64] = [:]
    for line in text.split(separator: "\n") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 2, cells[0].hasPrefix("`"), cells[0].contains(".") else { continue }
      let digits = cells[1].hasPrefix("0x") ? String(cells[1].dropFirst(2)) : cells[1]
      let number = UInt64(digits, radix: cells[1].hasPrefix("0x") ? 16 : 10)
      if let number { found[cells[0].trimmingCharacters(in: ["`"])] = number }
    }
    return found
  }

  @Test func everyStatedNumberIsTheCodes() throws {
    let stated = Self.stated(in: try String(contentsOf: Self.document, encoding: .utf8))
    var actual = Self.codes.merging(Self.signals) { first, _ in first }
    for tag in [
      TreeKey.Tag.head, .schema, .classRecord, .cluster, .rowCounts, .index, .longValue, .change,
      .sequencePage, .sequenceRowCounts, .longElement, .linkCount, .nested,
      .unique, .oldValue, .feed, .replica,
    ] {
      actual["tag.\(tag)"] = UInt64(tag.rawValue)
    }
    for kind in (0...7).compactMap({ ClusterColumnKind(rawValue: $0) }) {
      actual["kind.\(kind)"] = UInt64(kind.rawValue)
    }
    for type in ColumnType.allCases { actual["type.\(type)"] = UInt64(type.rawValue) }
    for (name, number) in actual.sorted(by: { $0.key < $1.key }) {
      #expect(stated[name] == number, "\(name) is \(number)")
    }
    #expect(Set(stated.keys).subtracting(actual.keys).isEmpty)
  }

  @Test func aWrongNumberWouldBeSeen() {
    let text = "| `head.bytes` | 85 |\n| `tag.head` | 0x10 |\n| other | 3 |\n"
    #expect(Self.stated(in: text) == ["head.bytes": 85, "tag.head": 16])
  }

  private static var codes: [String: UInt64] {
    let head = HeadRecord(historyID: Bytes16(high: 1, low: 2), commitID: 3)
    let magic = head.withEncoded { $0.loadUnaligned(as: UInt32.self) }
    let numbers: [(String, Int)] = [
      ("page.magic", Int(StoreHeader.magic)), ("head.magic", Int(magic)),
      ("head.format", Int(HeadRecord.currentFormat)), ("head.bytes", HeadRecord.byteCount),
      ("schema.pieceBytes", SchemaCodec.pieceByteCountMax),
      ("domains.kind", Int(ReplicaKey.domains)),
      ("classRecord.bytes", ClassRecord.byteCount),
      ("cluster.format", Int(TARN_CLUSTER_FORMAT)),
      ("cluster.headerBytes", ClusterFormat.headerBytes),
      ("cluster.descriptorBytes", ClusterFormat.descriptorBytes),
      ("cluster.paddingBytes", ClusterFormat.paddingBytes),
      ("cluster.checkedFrom", ClusterFormat.checkedFrom),
      ("cluster.bytesMax", ClusterFormat.imageBytesMax),
      ("cluster.rowsMax", ClusterFormat.rowsMax),
      ("cluster.inlineBytesMax", ClusterFormat.inlineBytesMax),
      ("cluster.dictionaryEntriesMax", ClusterFormat.dictionaryEntriesMax),
      ("cluster.longBitmap", Int(TARN_LONG_BITMAP)),
      ("rowCounts.clustersMax", RowCountPage.entryCountMax),
      ("index.bytesMax", IndexPage.byteCountMax), ("index.entriesMax", IndexPage.entryCountMax),
      ("index.headerBytes", IndexPage.headerByteCount),
      ("index.checkedFrom", PageSeal.coveredFrom),
      ("index.keyBytesMax", IndexPageKey.byteCountMax),
      ("orderKey.bytesMax", OrderKey.byteCountMax),
      ("unique.bytesMax", UniqueKey.byteCountMax),
      ("longValue.pieceBytes", Pieces.byteCountMax),
      ("longValue.sumBytes", Pieces.sumByteCount),
      ("oldValue.inlineBytesMax", OldValue.inlineBytesMax),
      ("tagged.inlineBytesMax", TaggedValue.inlineBytesMax),
      ("tagged.null", Int(TaggedValue.Tag.null.rawValue)),
      ("tagged.list", Int(TaggedValue.Tag.list.rawValue)),
      ("tagged.longData", Int(TaggedValue.Tag.longData.rawValue)),
      ("cell.smallBytesMax", CollectionCell.smallBytesMax),
      ("cell.shrunkBytesMax", CollectionCell.shrunkBytesMax),
      ("cell.largeBytes", CollectionCell.largeBytes),
      ("nested.headerBytes", NestedRecord.headerBytes),
      ("change.format", Int(ChangeRecord.format)),
      ("change.chunkBytesMax", ChangeRecord.chunkBytesMax),
      ("change.chunkStartBytes", ChangeRecord.chunkStartBytes),
      ("change.headerBytes", ChangeRecord.headerBytes),
      ("section.startOfClass", Int(ChangeRecord.Section.startOfClass)),
      ("section.inserted", Int(ChangeRecord.Section.inserted)),
      ("section.deleted", Int(ChangeRecord.Section.deleted)),
      ("section.touched", Int(ChangeRecord.Section.touched)),
      ("section.backTouched", Int(ChangeRecord.Section.backTouched)),
      ("section.sequence", Int(ChangeRecord.Section.sequence)),
      ("script.runsMax", EditScript.runsMax), ("script.countMax", EditScript.countMax),
      ("script.isFirst", Int(SequencePart.Flag.isFirst)),
      ("script.isLast", Int(SequencePart.Flag.isLast)),
      ("script.hasModified", Int(SequencePart.Flag.hasModified)),
      ("section.optionalBit", Int(ChangeRecord.Section.optionalBit)),
    ]
    return Dictionary(uniqueKeysWithValues: numbers.map { ($0, UInt64($1)) })
  }

  private static var signals: [String: UInt64] {
    let numbers: [(String, Int)] = [
      ("format", Int(SignalLayout.format)), ("bytes", SignalLayout.byteCount),
      ("wakeAt", SignalLayout.wakeAt), ("versionAt", SignalLayout.versionAt),
      ("ownerAt", SignalLayout.ownerAt),
      ("changedAt", SignalLayout.changedAt), ("lastTicketAt", SignalLayout.lastTicketAt),
      ("waitingAt", SignalLayout.waitingAt), ("processesAt", SignalLayout.processesAt),
      ("processes", SignalLayout.processCount), ("waitersAt", SignalLayout.waitersAt),
      ("waiters", SignalLayout.waiterCount),
    ]
    var all = ["signal.magic": SignalLayout.magic]
    for (name, number) in numbers { all["signal." + name] = UInt64(number) }
    return all
  }
}
