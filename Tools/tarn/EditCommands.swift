import TarnStore
import ToolSupport

/// `tarn delete`: removes the objects that a filter matches, in one commit.
struct DeleteCommand {
  private let path: String
  private let className: String
  private let condition: Condition
  private let patience: WriterPatience

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    className = arguments.required("CLASS")
    condition = try StoreAccess.deliberateCondition(arguments)
    patience = try WriterPatience(arguments)
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let store = try StoreAccess.openExisting(path, writing: patience)
    let (count, version) = try StoreAccess.write(store, patience) { session in
      let view = try ClassView.named(className, in: session.schema, path)
      let query = try condition.query(on: view.id, session.schema)
      let keys = try query.evaluate(Rows(session.reader, session)).keys
      for key in keys {
        try Interruption.check()
        try session.delete(key, in: view.id)
      }
      return keys.count
    }
    try output.write(
      "deleted \(counted(count, "object")) of \(printable(className)), "
        + "version \(version.rawValue)\n")
    return .success
  }
}

/// `tarn set`: changes properties of the objects that a filter matches, in one commit. Values that
/// are equal already are not written.
struct SetCommand {
  private let path: String
  private let className: String
  private let condition: Condition
  private let patience: WriterPatience
  private let rounds: Bool
  private let assignments: [(name: String, text: String)]

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    className = arguments.required("CLASS")
    condition = try StoreAccess.deliberateCondition(arguments)
    patience = try WriterPatience(arguments)
    rounds = arguments.has("round")
    assignments = try arguments.positionals("COLUMN=VALUE").map { text in
      let (name, value) = PathText.first(of: text[...], before: "=")
      guard let value, !name.isEmpty else {
        throw UsageError("'\(text)' is not of the form COLUMN=VALUE")
      }
      return (String(name), String(value))
    }
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let store = try StoreAccess.openExisting(path, writing: patience)
    let (count, version) = try StoreAccess.write(store, patience) { session in try change(session) }
    try output.write(
      "changed \(counted(count, "object")) of \(printable(className)), "
        + "version \(version.rawValue)\n")
    return .success
  }

  private func change(_ session: WriteSession) throws -> Int {
    let view = try ClassView.named(className, in: session.schema, path)
    let query = try condition.query(on: view.id, session.schema)
    let parser = ContentParser(
      schema: session.schema.schema, links: LinkFinder(session), rounds: rounds)
    var places: [(name: String, place: AssignedPlace)] = []
    let values = try assignments.map { assignment in
      let place = try AssignedPlace(assignment.name, in: view.schema, session.schema.schema)
      for (name, other) in places where place.overlaps(other) {
        throw ToolError(
          "'\(name)' and '\(assignment.name)' give two values for one property; give one of them")
      }
      places.append((assignment.name, place))
      return (place, try parser.content(place.raw(assignment.text, session), place.reading))
    }
    var count = 0
    for key in try query.evaluate(Rows(session.reader, session)).keys {
      try Interruption.check()
      var isChanged = false
      for (place, content) in values {
        let object = try place.object(of: key, session)
        let old = try Rows(session).content(of: place.column, at: object.key, in: object.classID)
        if content.isSame(as: old) { continue }
        try session.put(content, place.column, at: object.key, in: object.classID)
        isChanged = true
      }
      if isChanged { count += 1 }
    }
    return count
  }
}
