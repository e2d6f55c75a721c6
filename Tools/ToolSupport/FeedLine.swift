package import Tarn
package import TarnStore
package import TarnText

/// A batch of one class as a line of JSON, in pieces; or as several lines, if it is long.
///
///     {"version":20,"from":17,"class":"Dog","position":"…","deleted":[{"key":1}],
///      "modified":[{"key":2,"properties":["age"],"old":{"age":3},"new":{"id":2,"age":4}}]}
///
/// A snapshot has `"startAnew":"expired"` and `"objects"` instead. If a batch has several lines,
/// each has `"part"`, counted from 1, and all except the last have `"more":true`. Only the first
/// has `"startAnew"` or `"cleared"`, so that a consumer that empties its copy keeps the parts after
/// it. Only the last has `"position"`, which is that of the whole batch.
///
/// If each object has its own line, the first of several lines has no object if it has
/// `"startAnew"` or `"cleared"`, and the last has none either: a consumer that refuses an object
/// still gets these. Reading throws where the file is damaged. Confined to one thread at a time.
package final class FeedLine {
  /// Where the lines of the class stand in the batch.
  package struct Parts: Sendable {
    /// The number of the first line.
    let first: Int
    /// Whether no other class follows.
    let isEnd: Bool

    package init(first: Int, isEnd: Bool) {
      self.first = first
      self.isEnd = isEnd
    }

    /// Of a batch of one class.
    package static let all = Parts(first: 1, isEnd: true)
  }

  private enum Place {
    case begin
    case objects(Int)
    case changes(Int)
    case done
  }

  /// The approximate size of a piece.
  private static let pieceBytes = 1 << 15

  private let batch: ChangeBatch
  private let className: String
  private let values: RecordedJSON
  private let described: ClassSchema?
  private let members: [JSONMember]
  private let limit: Int
  private let tellsRepeats: Bool
  private let tellsOldValues: Bool
  private let isByObject: Bool
  private let parts: Parts
  private let isNewBeginning: Bool
  private let changes: ObjectChanges<DynamicObject>
  /// What is written, read when it is needed: the objects of a new beginning, or else the changes
  /// in the order in which they are written.
  private var objects: SelectedObjects?
  private var recorded: [RecordedChange]?

  private var place = Place.begin
  /// Where the next line continues.
  private var rest = Place.begin
  private var part: Int
  private var lineBytes = 0
  /// The object of the last line, if each has one.
  package private(set) var lineIdentity: ObjectIdentity?
  private var isAtLastLine = false
  /// Where in the line the position belongs, if only its end decides whether it has one.
  private var positionPlace: Int?
  /// The kind of the changes whose array is open.
  private var kind: RecordedChange.Kind?
  private var json = JSONText()

  /// - Parameters:
  ///   - columns: the columns to write, besides the primary key; nil for all.
  ///   - limit: the approximate maximum size of a line in bytes.
  ///   - isByObject: whether each object has its own line.
  ///   - parts: where the lines stand in a batch of several classes.
  ///   - tellsRepeats: whether to note that some of it may have been delivered before; without it,
  ///     a repeated batch has the same bytes.
  ///   - tellsOldValues: whether it has the old values, if they are kept.
  ///   - members: written first.
  package init(
    _ batch: ChangeBatch, ofClass className: String, columns: ChosenColumns? = nil,
    limit: Int = .max, isByObject: Bool = false, parts: Parts = .all,
    tellsRepeats: Bool = true, tellsOldValues: Bool = true, _ members: [JSONMember] = []
  ) {
    self.batch = batch
    self.className = className
    self.members = members
    self.limit = isByObject ? 1 : limit
    self.isByObject = isByObject
    self.parts = parts
    part = parts.first
    self.tellsRepeats = tellsRepeats
    self.tellsOldValues = tellsOldValues
    values = RecordedJSON(schema: batch.storeSchema, columns: columns)
    described = batch.storeSchema.named(className)
    changes = batch.changes(ofClass: className)
    isNewBeginning = batch.startAnew != nil
    rest = isNewBeginning ? .objects(0) : .changes(0)
  }

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
    var line: [UInt8] = []
    while line.last != 0x0a, let piece = try next() { line += piece }
    if case .done = place, let positionPlace, parts.isEnd, !line.isEmpty {
      line.insert(contentsOf: #","position":"\#(batch.position)""#.utf8, at: positionPlace)
    }
    return line.isEmpty ? nil : line
  }

  /// The next piece, which is never empty; nil at the end. For a batch without a limit.
  package func next() throws(StorageError) -> [UInt8]? {
    if case .begin = place { beginLine() }
    switch place {
    case .begin: break
    case .objects(let first): try writeObjects(from: first)
    case .changes(let first): try writeChanges(from: first)
    case .done: return nil
    }
    lineBytes += json.bytes.count
    return json.takeBytes()
  }

  private func beginLine() {
    lineBytes = 0
    lineIdentity = nil
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
      json.string(batch.position.description)
    }
    if let reason = batch.startAnew {
      if part == 1 {
        json.key("startAnew")
        json.string("\(reason)")
      }
      json.key("objects")
      json.beginArray()
    } else {
      for (name, isTrue) in [
        ("repeated", tellsRepeats && batch.isRepeated),
        ("cleared", changes.isCleared && part == parts.first),
      ] where isTrue {
        json.key(name)
        json.bool(true)
      }
    }
    place = rest
  }

  /// Whether the line has no object, and begins what is divided by objects.
  private var isHead: Bool {
    isByObject && part == parts.first
      && (isNewBeginning && part == 1 || !isNewBeginning && changes.isCleared)
  }

  private var isLineFull: Bool { lineBytes + json.bytes.count >= limit }
  private var isPieceFull: Bool { json.bytes.count >= Self.pieceBytes }

  private func writeObjects(from first: Int) throws(StorageError) {
    guard let described else { return endLine(goingOnAt: nil) }
    if isHead { return endLine(goingOnAt: .objects(0)) }
    let objects = try readObjects()
    var index = first
    while index < objects.count, !isPieceFull, !isLineFull || index == first {
      let object = try objects.object(at: index)
      if isByObject { lineIdentity = object.identity }
      json.beginObject()
      json.key("key")
      json.value(RecordedJSON.name(of: object.identity))
      json.key("new")
      json.value(values.object(object.values, of: described))
      json.endObject()
      index += 1
    }
    goOn(.objects(index), isAtEnd: index >= objects.count)
  }

  private func readObjects() throws(StorageError) -> SelectedObjects {
    if let objects { return objects }
    let made = try batch.selectedObjects(ofClass: className)
    objects = made
    return made
  }

  private func readChanges() throws(StorageError) -> [RecordedChange] {
    if let recorded { return recorded }
    let kept = try changes.readRecorded()
    let all = tellsOldValues ? kept : kept.map(\.withoutOldValues)
    let made = RecordedChange.Kind.allCases.flatMap { kind in all.filter { $0.kind == kind } }
    recorded = made
    return made
  }

  private func writeChanges(from first: Int) throws(StorageError) {
    guard let described else { return endLine(goingOnAt: nil) }
    if isHead { return endLine(goingOnAt: .changes(0)) }
    let recorded = try readChanges()
    var index = first
    while index < recorded.count, !isPieceFull, !isLineFull || index == first {
      let change = recorded[index]
      if isByObject { lineIdentity = change.identity }
      if change.kind != kind {
        if kind != nil { json.endArray() }
        json.key(change.kind.rawValue)
        json.beginArray()
        kind = change.kind
      }
      values.write(change, described, to: &json)
      index += 1
    }
    goOn(.changes(index), isAtEnd: index >= recorded.count)
  }

  private func goOn(_ next: Place, isAtEnd: Bool) {
    if isAtEnd, isByObject, parts.isEnd, part > 1, !isAtLastLine {
      isAtLastLine = true
      endLine(goingOnAt: next)
    } else if isAtEnd {
      endLine(goingOnAt: nil)
    } else if isLineFull {
      endLine(goingOnAt: next)
    } else {
      place = next
    }
  }

  private func endLine(goingOnAt next: Place?) {
    if isNewBeginning || kind != nil { json.endArray() }
    kind = nil
    if next != nil || part > 1 || !parts.isEnd {
      json.key("part")
      json.integer(Int64(part))
    }
    if next != nil || !parts.isEnd {
      json.key("more")
      json.bool(true)
    }
    rest = next ?? rest
    json.endObject()
    json.endLine()
    part += 1
    place = next == nil ? .done : .begin
  }
}
