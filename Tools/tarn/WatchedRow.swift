import TarnStore
import ToolSupport

/// An object as it is shown: its values, and the class as it was in the version that has them.
struct WatchedRow {
  var view: ClassView
  /// Where it is in a result; nil where there is no order.
  var index: Int?
  var key: Value
  /// In the order of the view's columns.
  var values: [Field]
  /// What names it among the others; nil for the one group of all objects.
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

  /// An object that a change record names as one of that state: it has to be there.
  init(of key: ObjectKey, _ view: ClassView, _ reader: SnapshotReader) throws {
    guard let values = try view.fields(of: key, reader) else {
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

  /// The object as the reader shows it.
  init(_ view: ClassView, _ key: ObjectKey, at index: Int? = nil, _ reader: SnapshotReader) throws {
    try self.init(view, key, view.fields(of: key, reader), at: index, reader)
  }
}

/// An object that stayed, before and after. Only `changed` columns differ.
struct WatchedModification {
  /// Indices of one column among those of the old row and of the new one; nil where it was not
  /// there yet or is not there any more.
  struct Column {
    var old: Int?
    var new: Int?
  }

  var old: WatchedRow
  var new: WatchedRow
  var changed: [Column] = []
  /// What changed inside of lists, sets and maps; their columns are not among `changed`.
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
    // A migration may have given the property a new column.
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

/// What one class's part of a difference is.
struct WatchedDifference {
  var version: Version
  /// Objects after the change: of the result, or of the class.
  var count: Int
  var deletions: [WatchedRow] = []
  var insertions: [WatchedRow] = []
  var modifications: [WatchedModification] = []
  /// Rows that are among both the deletions and the insertions, by their positions.
  var moves: [IndexChanges.Move] = []

  var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

  /// What can happen to a row, as a person sees it.
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

  /// How many rows of each kind there are, in a line, as `text` writes a number.
  func summary(_ text: (Int, Kind) -> String) -> String {
    let numbers: [(Int, Kind)] = [
      (insertions.count - moves.count, .insertion), (deletions.count - moves.count, .deletion),
      (modifications.count, .modification), (moves.count, .move),
    ]
    return numbers.filter { $0.0 > 0 }.map(text).joined(separator: " ")
  }
}
