/// Compares the checksums of a tree's entries as they pass in the order of their keys, and the
/// numbers of rows and pieces: for copies, which read every entry once. A damaged entry in a copy
/// would look like a sound one as soon as its page is edited.
///
/// It compares neither rows with indexes nor collections with their owners: `StoreCheck` does.
/// Confined to one thread.
struct EntryCheck {
  private let path: String
  private var schemaBytes: [UInt8] = []
  private var schema = StoreSchema()
  private var pieces: PassingPieces?
  private var record: (name: ReplicaKey, pieces: Int, bytes: [UInt8])?
  private var last: (classID: ClassID, key: ObjectKey)?
  private var rowCounts: [ClassID: Int] = [:]
  private var clusters: [ClassID: Listing] = [:]
  private var listed: [ClassID: Listing] = [:]
  private var sequencePages = Listing()
  private var listedSequencePages = Listing()
  /// True if a long value has either a wrong checksum or, from an older library, none. The rows
  /// know its length.
  private(set) var isInDoubt = false

  /// - Parameter path: the path in errors.
  init(_ path: String) { self.path = path }

  /// Checks the next entry.
  ///
  /// Errors: `.corrupted` names the entry; `.newerFormat`.
  mutating func take(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(StorageError) {
    unsafe try endParts(before: key)
    do throws(StorageError) {
      unsafe try check(key, value)
    } catch {
      throw unsafe damaged(name(of: key), error)
    }
  }

  /// Checks what only the last entry completes.
  mutating func finish() throws(StorageError) {
    unsafe try endParts(before: UnsafeRawBufferPointer(start: nil, count: 0))
    endPieces()
    for described in schema.classes {
      let id = described.id
      let found = clusters[id] ?? Listing()
      guard found == listed[id] ?? Listing(), found.rows == rowCounts[id] ?? 0 else {
        throw damaged("the row counts of class \(described.name)", Self.misfit)
      }
    }
    guard sequencePages == listedSequencePages else {
      throw damaged("the row counts of a list, set or map", Self.misfit)
    }
  }

  private static let misfit = wrong("they do not fit the rows")

  fileprivate static func wrong(_ detail: String) -> StorageError {
    StorageError(.corrupted, operation: "read", path: "", detail: detail)
  }

  private func damaged(_ name: String, _ error: StorageError) -> StorageError {
    guard error.code == .corrupted else { return error }
    var reason = error.detail
    if reason.endsWithBytes(of: ".") { reason.removeLast() }
    return StorageError(
      .corrupted, operation: "read", path: path,
      detail: "the file is damaged: \(name): \(reason). 'tarn repair' makes a new file of what "
        + "can be read")
  }

  // MARK: - Entries

  private mutating func check(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(StorageError) {
    guard let tag = unsafe TreeKey.tag(of: key) else { throw Self.wrong("its kind is unknown") }
    switch tag {
    case .schema: unsafe schemaBytes.append(contentsOf: value)
    case .classRecord:
      let id = try Self.parsed(unsafe TreeKey.parseClassRecord(key))
      rowCounts[id] = unsafe try ClassRecord(decoding: value).rowCount
    case .cluster: unsafe try checkCluster(Self.parsed(TreeKey.parseCluster(key)), value)
    case .rowCounts:
      let (id, first) = try Self.parsed(unsafe TreeKey.parseRowCounts(key))
      let page = unsafe try RowCountPage(validating: value)
      try listed[id, default: Listing()].add(page, under: first)
    case .index, .unique:
      let page = unsafe try IndexPage(validating: value)
      try page.verify()
      guard let index = unsafe PackedIndex(ofPageUnder: key),
        let own = unsafe IndexPageKey(copying: key, of: index), try page.treeKey(in: index) == own
      else { throw IndexPage.damaged("it is stored under another entry's key") }
    case .longValue, .longElement, .oldValue: unsafe try checkPiece(key, value)
    case .sequencePage:
      let (id, label) = try Self.parsed(unsafe TreeKey.parseSequencePage(key))
      let image = unsafe try ClusterImage(validating: value)
      try image.verifyChecksum()
      sequencePages.add(label, rows: image.rowCount, of: id)
    case .sequenceRowCounts:
      let (id, first) = try Self.parsed(unsafe TreeKey.parseSequenceRowCounts(key))
      try listedSequencePages.add(
        unsafe RowCountPage(validating: value), under: first, of: id)
    case .nested: _ = unsafe try NestedRecord.decode(value)
    case .linkCount:
      guard value.count == MemoryLayout<UInt64>.size,
        unsafe value.loadUnaligned(as: UInt64.self).littleEndian > 1
      else { throw Self.wrong("it is impossible") }
    case .replica: unsafe try checkReplica(Self.parsed(TreeKey.parseReplica(key)), value)
    case .change:
      let (version, id, chunk) = try Self.parsed(unsafe TreeKey.parseChange(key))
      _ = unsafe try ChangeRecord.open(
        value, version: version, classField: id.map { $0.rawValue + 1 } ?? 0, chunk: chunk)
    case .feed:
      guard unsafe RecordSeal.contentCount(value) != nil else {
        throw Self.wrong("its checksum is wrong")
      }
    case .head: _ = unsafe try HeadRecord(decoding: value)
    }
  }

  private static func parsed<T>(_ key: T?) throws(StorageError) -> T {
    guard let key else { throw Self.wrong("its key is impossible") }
    return key
  }

  /// Checks the schema and a replica's record when all of their pieces have passed.
  private mutating func endParts(before key: UnsafeRawBufferPointer) throws(StorageError) {
    if !schemaBytes.isEmpty, unsafe TreeKey.tag(of: key) != .schema {
      do throws(StorageError) {
        schema = try SchemaCodec.decode(schemaBytes)
      } catch {
        throw damaged("the classes", error)
      }
      schemaBytes = []
    }
    if let ended = record, unsafe TreeKey.parseReplica(key)?.name != ended.name {
      record = nil
      let isWhole = unsafe ended.bytes.withUnsafeBytes {
        unsafe RecordSeal.contentCount($0) != nil
      }
      guard isWhole else {
        throw damaged("a record of the synchronization", Self.wrong("its checksum is wrong"))
      }
    }
  }

  private mutating func checkCluster(
    _ name: (classID: ClassID, first: ObjectKey), _ value: UnsafeRawBufferPointer
  ) throws(StorageError) {
    let image = unsafe try ClusterImage(validating: value)
    try image.verifyChecksum()
    let isAfterLast = last.map { $0.classID != name.classID || $0.key < name.first } ?? true
    guard image.rowCount > 0, image.key(at: 0) >= name.first, isAfterLast else {
      throw Self.wrong("rows are outside its range")
    }
    last = (name.classID, image.lastKey)
    clusters[name.classID, default: Listing()].add(name.first, rows: image.rowCount)
  }

  // MARK: - Values in pieces

  private mutating func checkPiece(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(StorageError) {
    let width = unsafe key.first == TreeKey.Tag.oldValue.rawValue ? 2 : 4
    guard key.count > width else { throw Self.wrong("its key is impossible") }
    let name = unsafe UnsafeRawBufferPointer(rebasing: key.dropLast(width))
    if let pieces, unsafe !name.elementsEqual(pieces.name) { endPieces() }
    let number = unsafe key.suffix(width).reduce(0) { $0 << 8 | Int($1) }
    if pieces == nil {
      guard number == 0 else { throw Self.wrong("pieces of it are missing") }
      pieces = unsafe PassingPieces(Array(name), seed: Checksum.of(key))
    }
    unsafe try pieces!.take(value, number)
  }

  private mutating func endPieces() {
    if let ended = pieces.take(), ended.isInDoubt { isInDoubt = true }
  }

  private mutating func checkReplica(
    _ key: (name: ReplicaKey, piece: UInt16), _ value: UnsafeRawBufferPointer
  ) throws(StorageError) {
    let count = record?.pieces ?? 0
    guard Int(key.piece) == count else { throw Self.wrong("pieces of it are missing") }
    record = record ?? (key.name, 0, [])
    record!.pieces += 1
    unsafe record!.bytes.append(contentsOf: value)
  }

  // MARK: - Names

  private func name(of key: UnsafeRawBufferPointer) -> String {
    func text(_ id: ClassID?) -> String {
      id.flatMap { schema[$0] }.map { "class \($0.name)" } ?? "an unknown class"
    }
    switch unsafe TreeKey.tag(of: key) {
    case .schema: return "the classes"
    case .classRecord: return text(unsafe TreeKey.parseClassRecord(key)) + ", its record"
    case .cluster:
      let parsed = unsafe TreeKey.parseCluster(key)
      return text(parsed?.classID) + ", cluster at \(parsed?.first.rawValue ?? 0)"
    case .rowCounts: return text(unsafe TreeKey.parseRowCounts(key)?.classID) + ", its row counts"
    case .index: return text(unsafe PackedIndex(ofPageUnder: key)?.classID) + ", an index"
    case .unique: return text(unsafe PackedIndex(ofPageUnder: key)?.classID) + ", a unique rule"
    case .longValue:
      let parsed = unsafe TreeKey.parseLongValue(key)
      return text(parsed?.classID) + ", a long value of object \(parsed?.object.rawValue ?? 0)"
    case .sequencePage, .sequenceRowCounts, .nested: return "a list, set or map"
    case .longElement: return "a long value in a list, set or map"
    case .linkCount: return "a count of links"
    case .replica: return "a record of the synchronization"
    case .change, .oldValue: return "a change record"
    case .feed: return "a cursor or the retention"
    case .head: return "the head record"
    case nil: return "an entry"
    }
  }
}

/// How many pages there are, with how many rows; `sum` depends on where each begins.
private struct Listing: Equatable {
  private(set) var rows = 0
  private var pages = 0
  private var sum = 0

  mutating func add(_ first: ObjectKey, rows count: Int, of owner: CollectionID? = nil) {
    rows += count
    pages += 1
    var hasher = Hasher()
    hasher.combine(first)
    hasher.combine(count)
    hasher.combine(owner)
    sum &+= hasher.finalize()
  }

  mutating func add(
    _ page: RowCountPage, under first: ObjectKey, of owner: CollectionID? = nil
  ) throws(StorageError) {
    try page.verify()
    guard page.first(0) == first else {
      throw RowCountPage.damaged("it is stored under another cluster's key")
    }
    for index in 0..<page.count { add(page.first(index), rows: page.rows(index), of: owner) }
  }
}

/// A value in pieces, of which the last may be its checksum; see `Pieces`.
private struct PassingPieces {
  /// The key without the number of the piece.
  let name: [UInt8]
  private var sum: UInt32
  private var count = 0
  private var lastByteCount = Pieces.byteCountMax
  private var isComplete = false
  private(set) var isInDoubt = false

  init(_ name: [UInt8], seed: UInt32) {
    self.name = name
    sum = seed
  }

  mutating func take(_ value: UnsafeRawBufferPointer, _ number: Int) throws(StorageError) {
    guard number == count, !isComplete, 1...Pieces.byteCountMax ~= value.count else {
      throw EntryCheck.wrong("pieces of it are missing or damaged")
    }
    count += 1
    let hasSumLength = number > 0 && value.count == Pieces.sumByteCount
    if hasSumLength, unsafe value.loadUnaligned(as: UInt32.self) == sum.littleEndian {
      isComplete = true
      isInDoubt = false
      return
    }
    guard lastByteCount == Pieces.byteCountMax else {
      throw EntryCheck.wrong("its checksum is wrong")
    }
    // Either a wrong checksum, or the end of a value without one.
    isInDoubt = hasSumLength
    unsafe sum = Checksum.of(value, after: sum)
    lastByteCount = value.count
  }
}
