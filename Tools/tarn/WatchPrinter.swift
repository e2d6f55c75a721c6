import TarnStore
import TarnText
import ToolSupport

/// Prints the results of a watch.
protocol WatchPrinter {
  /// - Parameter row: the object at a position of a result, now and after each change.
  func initial(
    _ view: ClassView, _ version: Version, count: Int,
    _ row: @escaping (Int) throws -> WatchedRow) throws
  func difference(_ view: ClassView, _ difference: WatchedDifference) throws
}

/// Prints JSON, one object per line, with all values.
struct JSONWatchPrinter: WatchPrinter {
  private let output: OutputPipe

  init(_ output: OutputPipe) { self.output = output }

  func initial(
    _ view: ClassView, _ version: Version, count: Int, _ row: @escaping (Int) throws -> WatchedRow
  ) throws {
    var json = start(view, version)
    json.key("initial")
    json.beginArray()
    var keys: [Value] = []
    let namesByKeys = view.keyPosition == nil && !view.isOfGroups
    for index in 0..<count {
      let row = try row(index)
      view.write(row.values, to: &json)
      if namesByKeys { keys.append(row.key) }
      // Written in chunks; the pipe has its own buffer.
      if json.bytes.count > 1 << 15 { try output.write(json.takeBytes()) }
    }
    json.endArray()
    if namesByKeys { write(keys, to: &json) }
    json.endObject()
    json.endLine()
    try output.write(json.bytes)
  }

  /// Writes the keys that name the objects in later lines, if no property does.
  private func write(_ keys: [Value], to json: inout JSONText) {
    json.key("keys")
    json.beginArray()
    for key in keys { ValueText.write(key, to: &json) }
    json.endArray()
  }

  private func start(_ view: ClassView, _ version: Version) -> JSONText {
    var json = JSONText()
    json.beginObject()
    json.key("version")
    json.unsigned(version.rawValue)
    json.key("class")
    json.string(view.name)
    return json
  }

  func difference(_ view: ClassView, _ difference: WatchedDifference) throws {
    var json = start(view, difference.version)
    json.key("deletions")
    json.beginArray()
    for row in difference.deletions { write(row, "old", to: &json) }
    json.endArray()
    json.key("insertions")
    json.beginArray()
    for row in difference.insertions { write(row, "new", to: &json) }
    json.endArray()
    json.key("modifications")
    json.beginArray()
    for modification in difference.modifications { write(modification, to: &json) }
    json.endArray()
    json.endObject()
    json.endLine()
    try output.write(json.bytes)
  }

  private func begin(_ row: WatchedRow, to json: inout JSONText) {
    json.beginObject()
    if let index = row.index {
      json.key("index")
      json.integer(Int64(index))
    }
    if let name = row.name {
      json.key("key")
      ValueText.write(name, to: &json)
    }
  }

  private func write(_ row: WatchedRow, _ name: String, to json: inout JSONText) {
    begin(row, to: &json)
    json.key(name)
    row.view.write(row.values, to: &json)
    json.endObject()
  }

  private func write(_ modification: WatchedModification, to json: inout JSONText) {
    begin(modification.old, to: &json)
    let changed = modification.changed
    write("old", modification.old, changed.compactMap(\.old), to: &json)
    write("new", modification.new, changed.compactMap(\.new), to: &json)
    if !modification.sequences.isEmpty {
      json.key("collections")
      json.beginArray()
      for sequence in modification.sequences { sequence.write(to: &json) }
      json.endArray()
    }
    json.endObject()
  }
  /// Writes the values of some columns.
  private func write(
    _ name: String, _ row: WatchedRow, _ indices: [Int], to json: inout JSONText
  ) {
    json.key(name)
    json.beginObject()
    for index in indices {
      json.key(row.view.columns[index].name)
      row.values[index].write(to: &json)
    }
    json.endObject()
  }
}
