import TarnStore
import TarnText
import ToolSupport

/// The changes of one list, set or map of a modified object.
struct WatchedSequence {
  struct Element {
    var index: Int
    /// The key, for a map.
    var key: String?
    var value: JSONValue
  }

  var column: String
  /// The positions and keys that lead to it inside the property's value; empty for the value
  /// itself.
  var path: [JSONValue]
  var deletions: [Element] = []
  var insertions: [Element] = []
  var modifications: [(old: Element, new: Element)] = []
  /// Positions of elements that are both deleted and inserted.
  var moves: [IndexChanges.Move] = []

  var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}

/// Reads how objects of a class changed between two snapshots. Changes of lists, sets and maps come
/// from the edit scripts of the commits in between, so unchanged elements are not read.
///
/// The scripts have the same meaning as in the library's live sources. But there is no source for
/// each row's collections: a source holds its content in memory and is asked at every version, and
/// a result may have millions of rows of which a commit changes a few. The rows' source says which
/// rows changed. Only their collections are compared, and nothing is kept afterwards.
struct ModificationReader {
  private let old: (view: ClassView, reader: SnapshotReader)
  private let new: (view: ClassView, reader: SnapshotReader)
  private let scripts: [ObjectKey: [SequenceChange]]

  /// - Parameter changes: the class's changes from `old` to `new`.
  init(
    from old: (view: ClassView, reader: SnapshotReader),
    to new: (view: ClassView, reader: SnapshotReader), _ changes: ClassChanges?
  ) {
    self.old = old
    self.new = new
    scripts = Dictionary(grouping: changes?.sequences ?? [], by: \.name.key)
  }

  /// - Parameters:
  /// - index: the object's old and new position in a result.
  func modification(
    of key: ObjectKey, at index: (old: Int, new: Int)? = nil
  ) throws -> WatchedModification {
    let edited = try editedColumns(key)
    let before = try old.view.fields(of: key, Rows(old.reader), without: edited)
    let after = try new.view.fields(of: key, Rows(new.reader), without: edited)
    if before == nil { throw WatchedRow.missing(key, old.view, old.reader) }
    if after == nil { throw WatchedRow.missing(key, new.view, new.reader) }
    var modification = WatchedModification(
      try WatchedRow(old.view, key, before, at: index?.old, old.reader),
      try WatchedRow(new.view, key, after, at: index?.new, new.reader))
    for column in new.view.columns where edited.contains(column.id) {
      modification.sequences += try differences(column, key)
    }
    return modification
  }

  /// The columns whose list, set or map is still the same collection.
  private func editedColumns(_ key: ObjectKey) throws -> Set<ColumnID> {
    var result: Set<ColumnID> = []
    for column in new.view.columns where old.view.columns.contains(where: { $0.id == column.id }) {
      if column.collection != .none {
        result.insert(column.id)
      } else if column.type == .any {
        let before = try old.reader.value(of: column.id, at: key, in: new.view.id)
        let after = try new.reader.value(of: column.id, at: key, in: new.view.id)
        switch (before, after) {
        case (.list(let a), .list(let b)) where a == b: result.insert(column.id)
        case (.map(let a), .map(let b)) where a == b: result.insert(column.id)
        default: break
        }
      }
    }
    return result
  }

  private func differences(_ column: ColumnSchema, _ key: ObjectKey) throws -> [WatchedSequence] {
    let place = SequencePlace(classID: new.view.id, key: key, column: column.id)
    let changes = (scripts[key] ?? []).filter { $0.name.column == column.id }
    var found: [WatchedSequence] = []
    if column.collection != .none {
      let change = changes.first { $0.name.nested == nil }
      found.append(try difference(change?.script, column, place, path: []))
    }
    let nested = changes.filter { $0.name.nested != nil }
    if !nested.isEmpty {
      let paths = try paths(to: Set(nested.compactMap(\.name.nested)), column, place)
      for change in nested {
        guard let id = change.name.nested, let path = paths[id] else { continue }
        found.append(try difference(change.script, column, place.nested(id), path: path))
      }
    }
    return found.filter { !$0.isEmpty }
  }

  /// The effect of the script, and the embedded objects whose contents changed. Without a script,
  /// nothing was inserted, removed or moved.
  private func difference(
    _ script: EditScript?, _ column: ColumnSchema, _ place: SequencePlace, path: [JSONValue]
  ) throws -> WatchedSequence {
    var result = WatchedSequence(column: column.name, path: path)
    guard let before = try old.reader.sequence(at: place),
      let after = try new.reader.sequence(at: place)
    else { return result }
    let fitting = EditScript.fitting(
      script ?? .identity(count: after.count), from: before.count, to: after.count)
    let indexes =
      try fitting
      .modifying(embeddedPositions(column, place, before, after)).indexChanges(withMoves: true)
    func element(
      _ index: Int, _ sequence: StoredSequence, _ reader: SnapshotReader
    ) throws -> WatchedSequence.Element {
      let rows = Rows(reader)
      let content = try rows.content(sequence.value(at: index), column, place)
      let json = try ContentJSON.element(content, column, rows)
      let inner = new.view.chosen?.within(column.name)
      return WatchedSequence.Element(
        index: index, key: sequence.shape.isMap ? try sequence.key(at: index) : nil,
        value: inner?.part(ofElement: json, column, reader.schema.schema) ?? json)
    }
    result.deletions = try indexes.deletions.map { try element($0, before, old.reader) }
    result.insertions = try indexes.insertions.map { try element($0, after, new.reader) }
    result.modifications = try zip(indexes.modifications, indexes.modificationsNew).map {
      (try element($0, before, old.reader), try element($1, after, new.reader))
    }
    if new.view.chosen != nil { result.modifications.removeAll { $0.old.value == $0.new.value } }
    result.moves = indexes.moves
    return result
  }

  /// The positions of embedded objects that existed before and have other contents now.
  private func embeddedPositions(
    _ column: ColumnSchema, _ place: SequencePlace, _ before: StoredSequence,
    _ after: StoredSequence
  ) throws -> KeySet {
    guard let target = column.target, new.reader.schema.isEmbedded(target) else { return KeySet() }
    var known: Set<Value> = []
    for index in 0..<before.count { known.insert(try before.value(at: index)) }
    var positions: [ObjectKey] = []
    for index in 0..<after.count {
      let value = try after.value(at: index)
      guard value != .null, known.contains(value) else { continue }
      let then = try Rows(old.reader).content(value, column, place)
      let now = try Rows(new.reader).content(value, column, place)
      if !now.isSame(as: then) { positions.append(ObjectKey(Int64(index))) }
    }
    return KeySet(positions)
  }

  /// The path to each of those lists and maps inside the property's value, in the new version.
  private func paths(
    to ids: Set<CollectionID>, _ column: ColumnSchema, _ place: SequencePlace
  ) throws -> [CollectionID: [JSONValue]] {
    var paths: [CollectionID: [JSONValue]] = [:]
    var pending: [(place: SequencePlace, path: [JSONValue])] = []
    // A damaged file may refer to a collection several times.
    var met: Set<CollectionID> = []
    func take(_ value: Value, _ path: [JSONValue]) {
      switch value {
      case .list(let id), .map(let id):
        guard met.insert(id).inserted else { return }
        if ids.contains(id) { paths[id] = path }
        pending.append((place.nested(id), path))
      default: break
      }
    }
    if column.collection == .none {
      take(try new.reader.value(of: column.id, at: place.key, in: place.classID) ?? .null, [])
    } else {
      pending.append((place, []))
    }
    while paths.count < ids.count, let next = pending.popLast() {
      guard let sequence = try new.reader.sequence(at: next.place) else { continue }
      for index in 0..<sequence.count {
        let value = try sequence.value(at: index)
        guard value.isNested else { continue }
        let step: JSONValue =
          sequence.shape.isMap ? .string(try sequence.key(at: index)) : .integer(Int64(index))
        take(value, next.path + [step])
      }
    }
    return paths
  }
}

extension Value {
  fileprivate var isNested: Bool {
    switch self {
    case .list, .map: true
    default: false
    }
  }
}

// MARK: - For machines

extension WatchedSequence {
  func write(to json: inout JSONText) {
    json.beginObject()
    json.key("column")
    json.string(column)
    if !path.isEmpty {
      json.key("path")
      json.value(.array(path))
    }
    write("deletions", deletions, to: &json)
    write("insertions", insertions, to: &json)
    json.key("modifications")
    json.beginArray()
    for (old, new) in modifications {
      begin(old, to: &json)
      json.key("old")
      json.value(old.value)
      json.key("new")
      json.value(new.value)
      json.endObject()
    }
    json.endArray()
    json.endObject()
  }

  private func begin(_ element: Element, to json: inout JSONText) {
    json.beginObject()
    if let key = element.key {
      json.key("key")
      json.string(key)
    } else {
      json.key("index")
      json.integer(Int64(element.index))
    }
  }

  private func write(_ name: String, _ elements: [Element], to json: inout JSONText) {
    json.key(name)
    json.beginArray()
    for element in elements {
      begin(element, to: &json)
      json.key("value")
      json.value(element.value)
      json.endObject()
    }
    json.endArray()
  }
}

// MARK: - For people

extension WatchedSequence {
  private static let elementsShown = 5
  private static let charactersShown = 40

  /// `tags +[0] red -[2] blue ~[1] a → b ↕[4→0]`; long values and long lists are cut.
  var shown: String {
    let from = Set(moves.map(\.from))
    let to = Set(moves.map(\.to))
    var parts = [printable(column + path.map { "[\(JSONText.text($0))]" }.joined())]
    func add(_ items: [String]) {
      parts += items.prefix(Self.elementsShown)
      if items.count > Self.elementsShown {
        parts.append("… and \(items.count - Self.elementsShown) more")
      }
    }
    add(deletions.filter { !from.contains($0.index) }.map { "-\(name($0)) \(text($0))" })
    add(insertions.filter { !to.contains($0.index) }.map { "+\(name($0)) \(text($0))" })
    add(modifications.map { "~\(name($0.new)) \(text($0.old)) → \(text($0.new))" })
    add(moves.map { "↕[\($0.from)→\($0.to)]" })
    return parts.joined(separator: " ")
  }

  private func name(_ element: Element) -> String {
    "[\(element.key.map { printable(JSONText.text(.string($0))) } ?? "\(element.index)")]"
  }

  private func text(_ element: Element) -> String {
    let text = Field.json(element.value).shown
    return text.count > Self.charactersShown ? text.prefix(Self.charactersShown) + "…" : text
  }
}
