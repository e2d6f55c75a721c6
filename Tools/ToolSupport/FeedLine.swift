package import Tarn
package import TarnStore
package import TarnText

/// A batch of one class as a line of JSON, in pieces; or as several lines, if it is long.
///
///     {"version":20,"from":17,"class":"Dog","position":"…","deleted":[{"key":1}],
///      "modified":[{"key":2,"properties":["age"],"old":{"age":3},"new":{"id":2,"age":4}}]}
///
/// A snapshot has `"fullResync":"expired"` and `"objects"` instead. If a batch has several lines,
/// each has `"part"`, counted from 1, and all except the last have `"more":true`. Only the first
/// has `"fullResync"` or `"cleared"`, so that a consumer that empties its copy keeps the parts
/// after it. Only the last has `"position"`, which is that of the whole batch.
///
/// A line can also be made of some of its items, for a consumer that refuses others. Reading throws
/// if the file is damaged. Confined to one thread at a time.
package final class FeedLine {
  /// The position of a class's lines in the batch.
  package struct Parts: Sendable {
    /// The number of the first line.
    let first: Int
    /// Whether no other class follows.
    let isEnd: Bool

    package init(first: Int, isEnd: Bool) {
      self.first = first
      self.isEnd = isEnd
    }

    /// For a batch of one class.
    package static let all = Parts(first: 1, isEnd: true)
  }

  private enum Place {
    case begin
    /// The next object, or its change.
    case objects(Int)
    case done

    var index: Int { if case .objects(let index) = self { index } else { 0 } }
  }

  /// The approximate size of a piece.
  private static let pieceBytes = 1 << 15

  private let batch: ChangeBatch
  private let className: String
  private let values: RecordedJSON
  /// Nil if the file does not have the class, and so none of its objects.
  private let described: ClassSchema?
  private let members: [JSONMember]
  private let limit: Int
  private let isRepeated: Bool
  private let tellsOldValues: Bool
  private let parts: Parts
  private let position: String
  private let isNewBeginning: Bool
  private let changes: ObjectChanges<DynamicObject>?
  /// The content of the lines, read when it is needed: the objects of a snapshot, or the changes in
  /// the order in which they are written.
  private var objects: SelectedObjects?
  private var recorded: [RecordedChange]?

  private var place = Place.begin
  /// Where the next line continues.
  private var rest = Place.begin
  private var part: Int
  private var lineBytes = 0
  /// Where in the line the position belongs, if only its end decides whether it has one.
  private var positionPlace: Int?
  /// The kind of the changes whose array is open.
  private var kind: RecordedChange.Kind?
  private var json = JSONText()

  /// - Parameters:
  ///   - columns: the columns to write, besides the primary key; nil for all.
  ///   - limit: the approximate maximum size of a line in bytes.
  ///   - parts: the position of the lines in a batch of several classes.
  ///   - position: the position that the last line has; nil for that of the batch.
  ///   - isRepeated: whether to note that some of it may have been delivered before; nil to use the
  ///     batch's own flag, except for a snapshot, which replaces everything. A repeated batch has
  ///     the same bytes only if this is the same.
  ///   - tellsOldValues: whether to include the old values, if they are kept.
  ///   - members: written first.
  package init(
    _ batch: ChangeBatch, ofClass className: String, columns: ChosenColumns? = nil,
    limit: Int = .max, parts: Parts = .all, position: String? = nil, isRepeated: Bool? = nil,
    tellsOldValues: Bool = true, _ members: [JSONMember] = []
  ) {
    self.batch = batch
    self.className = className
    self.members = members
    self.limit = limit
    self.parts = parts
    self.position = position ?? "\(batch.position)"
    part = parts.first
    self.isRepeated = isRepeated ?? (batch.isRepeated && batch.fullResync == nil)
    self.tellsOldValues = tellsOldValues
    values = RecordedJSON(schema: batch.storeSchema, columns: columns)
    let described = batch.storeSchema.named(className)
    self.described = described?.isVacant == false ? described : nil
    changes = self.described.map { _ in batch.changes(ofClass: className) }
    isNewBeginning = batch.fullResync != nil
    rest = .objects(0)
  }

  /// The items of the last line that `nextLine` returned.
  package private(set) var lineItems = 0..<0

  /// The number of the line after the last one.
  package var nextPart: Int { part }

  /// The whole batch.
  package func bytes() throws(StorageError) -> [UInt8] {
    var bytes: [UInt8] = []
    while let piece = try next() { bytes += piece }
    return bytes
  }

  /// The next line; nil at the end.
  package func nextLine() throws(StorageError) -> [UInt8]? {
    let first = rest.index
    var line: [UInt8] = []
    while line.last != 0x0a, let piece = try next() { line += piece }
    if case .done = place, let positionPlace, parts.isEnd, !line.isEmpty {
      line.insert(contentsOf: positionMember, at: positionPlace)
    }
    if line.isEmpty { return nil }
    let isEnd = if case .done = place { true } else { false }
    let head = headCount
    lineItems =
      (first == 0 ? 0 : head + first)..<(isEnd ? try itemCount() : head + rest.index)
    return line
  }

  /// The next piece, which is never empty; nil at the end. For a batch without a limit.
  package func next() throws(StorageError) -> [UInt8]? {
    if case .begin = place {
      beginLine(isHead: rest.index == 0)
      place = rest
    }
    switch place {
    case .begin: break
    case .objects(let first): try writeItems(from: first)
    case .done: return nil
    }
    lineBytes += json.bytes.count
    return json.takeBytes()
  }

  /// - Parameter isHead: whether it is the beginning of the class.
  private func beginLine(isHead: Bool) {
    lineBytes = 0
    json.beginObject()
    for member in members {
      json.key(member.name)
      json.value(member.value)
    }
    for (name, version) in [("version", batch.to), ("from", batch.from)] {
      json.key(name)
      json.unsigned(version)
    }
    json.key("class")
    json.string(className)
    if limit < .max {
      positionPlace = json.bytes.count
    } else if parts.isEnd {
      json.key("position")
      json.string(position)
    }
    if let reason = batch.fullResync, part == 1 {
      json.key("fullResync")
      json.string("\(reason)")
    }
    let isCleared = !isNewBeginning && changes?.isCleared == true && isHead
    for (name, isTrue) in [("repeated", isRepeated), ("cleared", isCleared)] where isTrue {
      json.key(name)
      json.bool(true)
    }
    if isNewBeginning {
      json.key("objects")
      json.beginArray()
    }
  }

  private var positionMember: String.UTF8View { #","position":"\#(position)""#.utf8 }

  private var isLineFull: Bool { lineBytes + json.bytes.count >= limit }
  private var isPieceFull: Bool { json.bytes.count >= Self.pieceBytes }

  private func writeItems(from first: Int) throws(StorageError) {
    let count = try objectCount()
    var index = first
    while index < count, !isPieceFull, !isLineFull || index == first {
      try writeItem(index)
      index += 1
    }
    if index >= count {
      endLine(goingOnAt: nil)
    } else if isLineFull {
      endLine(goingOnAt: .objects(index))
    } else {
      place = .objects(index)
    }
  }

  private func writeItem(_ index: Int) throws(StorageError) {
    guard let described else { return }
    if isNewBeginning {
      let object = try readObjects().object(at: index)
      json.beginObject()
      json.key("key")
      json.value(RecordedJSON.name(of: object.identity))
      json.key("new")
      json.value(values.object(object.values, of: described))
      json.endObject()
      return
    }
    let change = try readChanges()[index]
    if change.kind != kind {
      if kind != nil { json.endArray() }
      json.key(change.kind.rawValue)
      json.beginArray()
      kind = change.kind
    }
    values.write(change, described, to: &json)
  }

  private func objectCount() throws(StorageError) -> Int {
    if described == nil { return 0 }
    return isNewBeginning ? try readObjects().count : try readChanges().count
  }

  private func readObjects() throws(StorageError) -> SelectedObjects {
    if let objects { return objects }
    let made = try batch.selectedObjects(ofClass: className)
    objects = made
    return made
  }

  private func readChanges() throws(StorageError) -> [RecordedChange] {
    if let recorded { return recorded }
    let kept = try changes?.readRecorded() ?? []
    let all = tellsOldValues ? kept : kept.map(\.withoutOldValues)
    let made = RecordedChange.Kind.allCases.flatMap { kind in all.filter { $0.kind == kind } }
    recorded = made
    return made
  }

  private func endLine(goingOnAt next: Place?) {
    closeLine(
      part: next != nil || part > 1 || !parts.isEnd, more: next != nil || !parts.isEnd)
    rest = next ?? rest
    part += 1
    place = next == nil ? .done : .begin
  }

  private func closeLine(part hasPart: Bool, more: Bool) {
    if isNewBeginning || kind != nil { json.endArray() }
    kind = nil
    if hasPart {
      json.key("part")
      json.integer(Int64(part))
    }
    if more {
      json.key("more")
      json.bool(true)
    }
    json.endObject()
    json.endLine()
  }

  // MARK: - Items

  /// The items of the class: its beginning, if that has `fullResync` or `cleared`, its objects, and
  /// the end of the batch. A consumer that refuses an object still gets the others.
  package func itemCount() throws(StorageError) -> Int {
    headCount + (try objectCount()) + (parts.isEnd ? 1 : 0)
  }

  private var headCount: Int { isNewBeginning || changes?.isCleared == true ? 1 : 0 }

  /// The object of an item; nil for the beginning and the end.
  package func identity(ofItem item: Int) throws(StorageError) -> ObjectIdentity? {
    let index = item - headCount
    guard index >= 0, index < (try objectCount()) else { return nil }
    return isNewBeginning
      ? try readObjects().identity(at: index) : try readChanges()[index].identity
  }

  /// Whether an item is an object that the consumer no longer has after the batch.
  package func isRemoval(_ item: Int) throws(StorageError) -> Bool {
    let index = item - headCount
    guard !isNewBeginning, index >= 0, index < (try objectCount()) else { return false }
    return [.deleted, .left, .gone].contains(try readChanges()[index].kind)
  }

  /// A line of some items: as many of them as fit, and at least one object.
  ///
  /// - Parameter number: the number of the part.
  /// - Returns: the line, and the items in it.
  package func line(
    of items: Range<Int>, number: Int
  ) throws(StorageError) -> (bytes: [UInt8], items: Range<Int>) {
    let (head, count, all) = (headCount, try objectCount(), try itemCount())
    let first = min(max(0, items.lowerBound - head), count)
    let last = min(max(first, items.upperBound - head), count)
    part = number
    beginLine(isHead: items.lowerBound == 0)
    var index = first
    while index < last, json.bytes.count < limit || index == first {
      try writeItem(index)
      index += 1
    }
    let end = index < last ? head + index : items.upperBound
    let isEnd = parts.isEnd && end == all
    closeLine(part: true, more: !isEnd)
    var bytes = json.takeBytes()
    if isEnd, let positionPlace { bytes.insert(contentsOf: positionMember, at: positionPlace) }
    return (bytes, items.lowerBound..<end)
  }
}
