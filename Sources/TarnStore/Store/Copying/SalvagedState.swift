/// The records of one version in a damaged file, as a store in a file without a name. It lacks
/// indexes, row counts, change records and cursors; some of its values may be missing.
package final class SalvagedState {
  /// Rows whose clusters are lost.
  package struct LostRows {
    package let classID: ClassID
    package let keys: ClosedRange<ObjectKey>
  }

  package let reader: SnapshotReader
  package let lostRows: [LostRows]
  /// Its losses, page by page.
  package let problems: [String]
  /// Keeps the bytes.
  private let spool: FileInMaking
  private let store: Store

  package var schema: StoreSchema { reader.schema.schema }
  package var head: HeadRecord { reader.snapshot.head }

  /// - Parameter spare: the tree of the other header, whose classes and head record are used if
  ///   those of this one are lost.
  init(
    _ tree: TreeSalvage, spare: TreeSalvage?, of file: SalvagedFile, besides path: String
  ) throws(StorageError) {
    spool = try FileInMaking(for: path, mode: 0o600, operation: "repair")
    let entries = try Self.chosen(tree, spare)
    let byteCount = entries.reduce(1 << 20) { $0 + 2 * $1.byteCount + 200 }
    let bulk = try BulkFile(spool.descriptor, path: path, roomFor: byteCount)
    for entry in entries { try Self.append(entry, of: file, to: bulk) }
    _ = try bulk.finish()
    store = try Store.open(salvaged: spool, path: path)
    reader = try SnapshotReader(store.newestSnapshot())
    var lostRows: [LostRows] = []
    for described in reader.schema.schema.classes {
      for rows in Self.lostRows(of: described.id, tree) {
        // The rows of the cluster before are known.
        let before = try? reader.cluster(for: rows.keys.lowerBound, in: described.id)
        let known = before.map { ObjectKey($0.image.lastKey.rawValue &+ 1) }
        let low = max(rows.keys.lowerBound, known ?? .smallest)
        guard low <= rows.keys.upperBound else { continue }
        lostRows.append(LostRows(classID: described.id, keys: low...rows.keys.upperBound))
      }
    }
    self.lostRows = lostRows
    problems = tree.lost.map(\.reason)
  }

  // MARK: - Entries

  /// The entries that rows are made of. Without a head record or classes there are no rows.
  private static func chosen(
    _ tree: TreeSalvage, _ spare: TreeSalvage?
  ) throws(StorageError) -> [TreeSalvage.Entry] {
    var chosen = tree.entries.filter { isOfRows($0.key) }
    for tag in [TreeKey.Tag.schema, .head] {
      let from = [tag.rawValue]
      let to = [tag.rawValue + 1]
      let isLost = tree.lost.contains {
        TreeSalvage.comesBefore($0.from, to)
          && $0.to.map { TreeSalvage.comesBefore(from, $0) } ?? true
      }
      guard isLost, let spare else { continue }
      chosen.removeAll { $0.key[0] == tag.rawValue }
      chosen += spare.entries.filter { $0.key[0] == tag.rawValue }
    }
    chosen.sort { TreeSalvage.comesBefore($0.key, $1.key) }
    for (tag, what) in [(TreeKey.Tag.schema, "classes"), (.head, "head record")]
    where !chosen.contains(where: { $0.key[0] == tag.rawValue }) {
      throw StorageError(
        .corrupted, operation: "repair", path: "", detail: "the \(what) of this version are lost")
    }
    return chosen
  }

  private static func isOfRows(_ key: [UInt8]) -> Bool {
    switch TreeKey.Tag(rawValue: key[0]) {
    case .schema, .classRecord, .cluster, .longValue, .sequencePage, .sequenceRowCounts,
      .longElement, .nested, .head:
      true
    case .replica: key.count > 1 && key[1] == ReplicaKey.domains
    default: false
    }
  }

  private static func append(
    _ entry: TreeSalvage.Entry, of file: SalvagedFile, to bulk: BulkFile
  ) throws(StorageError) {
    let count = (entry.offset + entry.byteCount + file.pageSize - 1) / file.pageSize
    guard let bytes = file.bytes(ofPage: entry.page, count: max(1, count)) else {
      throw StorageError(
        .inputOutput, operation: "repair", path: "", detail: "a page cannot be read again")
    }
    try unsafe withBytes(of: entry.key) { key throws(StorageError) in
      try unsafe withBytes(of: bytes) { bytes throws(StorageError) in
        let value = unsafe UnsafeRawBufferPointer(
          rebasing: bytes[entry.offset..<entry.offset + entry.byteCount])
        try unsafe bulk.append(value, forKey: key)
      }
    }
  }

  /// Whether a value is what its key says: for records with a checksum.
  static func isSound(_ key: [UInt8], _ value: ArraySlice<UInt8>) -> Bool {
    let bytes = Array(value)
    do throws(StorageError) {
      try unsafe withBytes(of: bytes) { value throws(StorageError) in
        switch TreeKey.Tag(rawValue: key[0]) {
        case .cluster, .sequencePage:
          let image = unsafe try ClusterImage(validating: value)
          try image.verifyChecksum()
        case .sequenceRowCounts:
          let page = unsafe try RowCountPage(validating: value)
          try page.verify()
        case .head: _ = unsafe try HeadRecord(decoding: value)
        case .classRecord: _ = unsafe try ClassRecord(decoding: value)
        default: break
        }
      }
      return true
    } catch {
      return false
    }
  }

  // MARK: - Lost rows

  private static func boundary(_ key: [UInt8], _ id: ClassID) -> ObjectKey? {
    unsafe key.withUnsafeBytes {
      guard let parsed = unsafe TreeKey.parseCluster($0), parsed.classID == id else { return nil }
      return parsed.first
    }
  }

  private static func lostRows(of id: ClassID, _ tree: TreeSalvage) -> [LostRows] {
    let first = TreeKey.cluster(id, first: .smallest).array
    let end = TreeKey.cluster(ClassID(id.rawValue + 1), first: .smallest).array
    return tree.lost.compactMap { lost in
      let from = TreeSalvage.comesBefore(lost.from, first) ? first : lost.from
      let to = lost.to.map { TreeSalvage.comesBefore(end, $0) ? end : $0 } ?? end
      guard TreeSalvage.comesBefore(from, to) else { return nil }
      // The next cluster that there is bounds the rows.
      let next = tree.entries.first { !TreeSalvage.comesBefore($0.key, to) }
        .flatMap { boundary($0.key, id) }
      guard next != .smallest else { return nil }
      let low = boundary(Array(from.prefix(first.count)), id) ?? .smallest
      let high = next?.predecessor ?? .largest
      return low <= high ? LostRows(classID: id, keys: low...high) : nil
    }
  }
}

extension TreeKey {
  fileprivate var array: [UInt8] { unsafe withBytes { bytes -> [UInt8] in unsafe Array(bytes) } }
}

extension Store {
  /// A store in a file that only this process has.
  fileprivate static func open(
    salvaged file: FileInMaking, path: String
  ) throws(StorageError) -> Store {
    let environment = try Environment.open(owned: file.descriptor, path: path)
    do throws(StorageError) {
      return Store(environment: environment, signal: try SignalFile(for: environment))
    } catch {
      environment.close()
      throw error
    }
  }
}
