import TarnStore
import TarnText
import ToolSupport

/// `tarn diff`: compares two files, or versions of files: their classes, and their objects by
/// primary key, or by object key where a class has none.
struct DiffCommand {
  private let first: String
  private let second: String
  private let className: String?
  private let usesJSON: Bool
  private let terminal: Terminal

  init(_ arguments: ParsedArguments) throws {
    first = arguments.required("FILE")
    second = arguments.required("OTHER")
    className = arguments.positional("CLASS")
    usesJSON = arguments.has("json")
    terminal = try StoreAccess.terminal(arguments)
  }

  /// - Returns: `.failure` if they differ, as `diff` does.
  func run(_ output: OutputPipe) throws -> ExitCode {
    let (old, new) = (try ComparedRows(first), try ComparedRows(second))
    var differs = false
    let names = Set(Self.names(old) + Self.names(new)).sorted()
    if let className, !names.contains(className) {
      throw ToolError("neither \(first) nor \(second) has a class '\(className)'")
    }
    for name in names where className == nil || className == name {
      switch (try view(name, old), try view(name, new)) {
      case (let a?, let b?):
        if try compareColumns(a, b, old, new, output) { differs = true }
        if !a.schema.isEmbedded, try compareObjects(a, b, old, new, output) { differs = true }
      case (nil, let view?):
        differs = true
        try report("+", view.name, nil, nil, view, output)
      case (let view?, nil):
        differs = true
        try report("-", view.name, nil, view, nil, output)
      case (nil, nil): break
      }
    }
    return differs ? .failure : .success
  }

  private static func names(_ rows: ComparedRows) -> [String] {
    rows.schema.schema.classes.filter { !$0.isVacant }.map(\.name)
  }

  private func view(_ name: String, _ rows: ComparedRows) throws -> ClassView? {
    guard let found = rows.schema.schema.named(name), !found.isVacant else { return nil }
    return ClassView(found)
  }

  // MARK: - Classes

  private func compareColumns(
    _ a: ClassView, _ b: ClassView, _ old: ComparedRows, _ new: ComparedRows,
    _ output: OutputPipe
  ) throws -> Bool {
    let before = SchemaJSON.json([a.schema], old.schema.schema)
    let after = SchemaJSON.json([b.schema], new.schema.schema)
    guard before != after else { return false }
    if usesJSON {
      try write(
        output,
        [
          JSONMember("class", .string(a.name)), JSONMember("change", .string("schema")),
          JSONMember("old", before), JSONMember("new", after),
        ])
    } else {
      let names = Set((a.columns + b.columns).map(\.name)).sorted()
      try output.write(terminal.styled("~ \(printable(a.name))", .yellow) + "\n")
      for name in names {
        let types = (
          a.schema.named(name).map { SchemaText.type(of: $0, old.schema.schema) },
          b.schema.named(name).map { SchemaText.type(of: $0, new.schema.schema) }
        )
        guard types.0 != types.1 else { continue }
        let text = "\(printable(name)): \(types.0 ?? "none") → \(types.1 ?? "none")"
        try output.write("    \(text)\n")
      }
    }
    return true
  }

  private func report(
    _ sign: String, _ name: String, _ key: Value?, _ old: ClassView?, _ new: ClassView?,
    _ output: OutputPipe
  ) throws {
    if usesJSON {
      try write(
        output,
        [
          JSONMember("class", .string(name)),
          JSONMember("change", .string(sign == "+" ? "class added" : "class removed")),
        ])
    } else {
      let style: Terminal.Style = sign == "+" ? .green : .red
      try output.write(terminal.styled("\(sign) class \(printable(name))", style) + "\n")
    }
  }

  // MARK: - Objects

  /// Iterates the objects of both files in the order of their keys.
  private func compareObjects(
    _ a: ClassView, _ b: ClassView, _ old: ComparedRows, _ new: ComparedRows,
    _ output: OutputPipe
  ) throws -> Bool {
    var left = try ObjectWalk(a, old, first)
    var right = try ObjectWalk(b, new, second)
    var differs = false
    while left.current != nil || right.current != nil {
      let order: Int
      switch (left.current, right.current) {
      case (let x?, let y?): order = SequenceOrder.compare(x.identity, y.identity)
      case (_?, nil): order = -1
      default: order = 1
      }
      if order == 0, let x = left.current, let y = right.current {
        if try !isSame(x, y, a, b) {
          differs = true
          try write(.changed(x, y), a, b, output)
        }
      } else if order < 0, let x = left.current {
        differs = true
        try write(.removed(x), a, b, output)
      } else if let y = right.current {
        differs = true
        try write(.added(y), a, b, output)
      }
      if order <= 0 { try left.advance() }
      if order >= 0 { try right.advance() }
    }
    return differs
  }

  private func isSame(
    _ x: ObjectWalk.Found, _ y: ObjectWalk.Found, _ a: ClassView, _ b: ClassView
  ) throws -> Bool {
    changed(x, y, a, b).isEmpty
  }

  /// The columns of the new file whose values differ.
  private func changed(
    _ x: ObjectWalk.Found, _ y: ObjectWalk.Found, _ a: ClassView, _ b: ClassView
  ) -> [(name: String, old: Field?, new: Field)] {
    zip(b.columns, y.fields).compactMap { column, field in
      let place = a.columns.firstIndex { $0.name == column.name }
      let former = place.map { x.fields[$0] }
      return former?.isSame(as: field) ?? false ? nil : (column.name, former, field)
    }
  }

  private enum Difference {
    case added(ObjectWalk.Found)
    case removed(ObjectWalk.Found)
    case changed(ObjectWalk.Found, ObjectWalk.Found)
  }

  private func write(
    _ difference: Difference, _ a: ClassView, _ b: ClassView, _ output: OutputPipe
  ) throws {
    switch difference {
    case .added(let y):
      try write(output, "+", .green, b.name, y.identity, "inserted", nil, Self.json(y, b))
    case .removed(let x):
      try write(output, "-", .red, a.name, x.identity, "deleted", Self.json(x, a), nil)
    case .changed(let x, let y):
      let parts = changed(x, y, a, b)
      try write(
        output, "~", .yellow, b.name, y.identity, "modified",
        .object(parts.compactMap { part in part.old.map { JSONMember(part.name, Self.json($0)) } }),
        .object(parts.map { JSONMember($0.name, Self.json($0.new)) }))
    }
  }

  private static func json(_ field: Field) -> JSONValue {
    switch field {
    case .value(let value): ValueText.json(value)
    case .json(let value): value
    }
  }

  private static func json(_ found: ObjectWalk.Found, _ view: ClassView) -> JSONValue {
    .object(zip(view.columns, found.fields).map { JSONMember($0.name, json($1)) })
  }

  private func write(
    _ output: OutputPipe, _ sign: String, _ style: Terminal.Style, _ className: String,
    _ identity: Value, _ change: String, _ old: JSONValue?, _ new: JSONValue?
  ) throws {
    if usesJSON {
      var members = [
        JSONMember("class", .string(className)), JSONMember("change", .string(change)),
        JSONMember("key", ValueText.json(identity)),
      ]
      if let old { members.append(JSONMember("old", old)) }
      if let new { members.append(JSONMember("new", new)) }
      return try write(output, members)
    }
    let texts = [old, new].compactMap { $0.map { printable(JSONText.text($0)) } }
    let head = terminal.styled(
      "\(sign) \(printable(className)) \(ValueText.shown(identity))", style)
    try output.write("\(head)  \(texts.joined(separator: " → "))\n")
  }

  private func write(_ output: OutputPipe, _ members: [JSONMember]) throws {
    try output.write(JSONText.text(.object(members)) + "\n")
  }
}

/// Walks through the objects of a class in the order of their primary keys, or object keys.
struct ObjectWalk {
  struct Found {
    let identity: Value
    let fields: [Field]
  }

  private(set) var current: Found?
  private let view: ClassView
  private let rows: ComparedRows
  private let keys: [(identity: Value, key: ObjectKey)]
  private var next = 0

  /// - Parameter name: the file and the version, for messages.
  init(_ view: ClassView, _ rows: ComparedRows, _ name: String) throws {
    self.view = view
    self.rows = rows
    keys = try rows.keys(of: view.schema, name).sorted {
      SequenceOrder.compare($0.identity, $1.identity) < 0
    }
    try advance()
  }

  mutating func advance() throws {
    guard next < keys.count, let fields = try rows.fields(of: keys[next].key, view) else {
      current = nil
      return
    }
    current = Found(identity: keys[next].identity, fields: fields)
    next += 1
  }
}
