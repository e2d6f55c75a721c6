import TarnStore
import ToolSupport

/// An object as shown: its values, and its class in the version of the values.
struct WatchedRow {
  var view: ClassView
  /// Its position in a result; nil in a result without an order.
  var index: Int?
  var key: Value
  /// In the order of the view's columns.
  var values: [Field]
  /// The key that names it; nil for a single group of all objects.
  var name: Value? { view.isOfGroups && view.keyPosition == nil ? nil : key }

  init(
    _ view: ClassView, _ key: ObjectKey, _ values: [Field]?, at index: Int?,
    _ reader: SnapshotReader
  )
    throws
  {
    self.view = view
    self.index = index
    self.values = values ?? view.columns.map { _ in .value(.null) }
    self.key = try view.identity(key, self.values, reader)
  }

  /// A group.
  init(group values: [Value], at index: Int, _ view: ClassView) {
    self.view = view
    self.index = index
    self.values = values.map { .value($0) }
    key = view.keyPosition.map { values[$0] } ?? .null
  }

  /// An object that a change record names for that version, so it must exist.
  init(of key: ObjectKey, _ view: ClassView, _ reader: SnapshotReader) throws {
    guard let values = try view.fields(of: key, Rows(reader)) else {
      throw Self.missing(key, view, reader)
    }
    try self.init(view, key, values, at: nil, reader)
  }

  static func missing(
    _ key: ObjectKey, _ view: ClassView, _ reader: SnapshotReader
  ) -> ToolError {
    ToolError(
      "the file is damaged: a change record names object \(key.rawValue) of \(view.name), which "
        + "version \(reader.snapshot.version.rawValue) does not have")
  }

  /// The object in the reader's version.
  init(_ view: ClassView, _ key: ObjectKey, at index: Int? = nil, _ reader: SnapshotReader) throws {
    try self.init(view, key, view.fields(of: key, Rows(reader)), at: index, reader)
  }
}

/// A modified object, before and after. Only `changed` columns differ.
struct WatchedModification {
  /// The index of a column in the old row and in the new one; nil if the column does not exist
  /// there.
  struct Column {
    var old: Int?
    var new: Int?
  }

  var old: WatchedRow
  var new: WatchedRow
  var changed: [Column] = []
  /// The changes inside lists, sets and maps, whose columns are not in `changed`.
  var sequences: [WatchedSequence] = []

  var isEmpty: Bool { changed.isEmpty && sequences.isEmpty }

  init(_ old: WatchedRow, _ new: WatchedRow) {
    self.old = old
    self.new = new
    var gone = Set(old.view.columns.indices)
    var indices: [Int?] = new.view.columns.map { column in
      old.view.columns.firstIndex { $0.id == column.id }
    }
    for case let index? in indices { gone.remove(index) }
    // A migration may have replaced the property's column.
    for (index, column) in new.view.columns.enumerated() where indices[index] == nil {
      indices[index] = gone.first { old.view.columns[$0].name == column.name }
      if let found = indices[index] { gone.remove(found) }
    }
    for (index, before) in indices.enumerated() {
      if let before, old.values[before].isSame(as: new.values[index]) { continue }
      changed.append(Column(old: before, new: index))
    }
    changed += gone.sorted().map { Column(old: $0, new: nil) }
  }
}

/// The change of one class or result.
struct WatchedDifference {
  var version: Version
  /// The number of objects after the change, in the result or in the class.
  var count: Int
  var deletions: [WatchedRow] = []
  var insertions: [WatchedRow] = []
  var modifications: [WatchedModification] = []
  /// Rows that are both deleted and inserted, by position.
  var moves: [IndexChanges.Move] = []

  var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

  /// The kinds of change that people see.
  enum Kind {
    case insertion, deletion, modification, move

    var sign: String {
      switch self {
      case .insertion: "+"
      case .deletion: "-"
      case .modification: "~"
      case .move: "↕"
      }
    }
    var style: Terminal.Style {
      switch self {
      case .insertion: .green
      case .deletion: .red
      case .modification: .yellow
      case .move: .cyan
      }
    }
  }

  /// The number of rows of each kind in one line; `text` formats each number.
  func summary(_ text: (Int, Kind) -> String) -> String {
    let numbers: [(Int, Kind)] = [
      (insertions.count - moves.count, .insertion), (deletions.count - moves.count, .deletion),
      (modifications.count, .modification), (moves.count, .move),
    ]
    return numbers.filter { $0.0 > 0 }.map(text).joined(separator: " ")
  }
}
