import TarnStore
import TarnText
import ToolSupport

/// A property that `tarn set` assigns: of the objects, or of embedded objects within them, such as
/// `address.city`.
struct AssignedPlace {
  private let described: ClassSchema
  /// The properties that lead to the embedded object.
  private let way: [ColumnSchema]
  let column: ColumnSchema

  /// - Parameter name: as it is written. A property whose name has a dot needs no back quotes.
  init(_ name: String, in described: ClassSchema, _ schema: StoreSchema) throws {
    self.described = described
    let whole = PathText.name(name)
    let names = described.named(whole) == nil ? PathText.names(in: name) : [whole]
    var (way, owner): ([ColumnSchema], ClassSchema) = ([], described)
    for (position, name) in names.enumerated() {
      guard let column = owner.named(name) else {
        throw ToolError("class \(owner.name) has no property '\(name)'")
      }
      way.append(column)
      if position + 1 == names.count { break }
      guard column.collection == .none, let target = column.target.flatMap({ schema[$0] }),
        target.isEmbedded
      else {
        throw ToolError(
          "'\(name)' of class \(owner.name) is not an embedded object, whose properties could be "
            + "set; a list, set or map is set as a whole, and a linked object by its own class")
      }
      owner = target
    }
    column = way.removeLast()
    self.way = way
    guard column.id != described.primaryKey || !way.isEmpty else {
      throw ToolError("'\(column.name)' is the primary key, which cannot be changed")
    }
  }

  var reading: ColumnReading { ColumnReading(column) }

  /// Whether both places are the same, or one is within the other.
  func overlaps(_ other: AssignedPlace) -> Bool {
    zip(way + [column], other.way + [other.column]).allSatisfy { $0.id == $1.id }
  }

  /// The value as it is typed.
  func raw(_ text: String, _ session: WriteSession) -> GivenValue {
    let isJSON = column.mayHaveParts(session.schema)
    return .text(text.isEmpty ? nil : text == "\"\"" && !isJSON ? "" : text)
  }

  /// The object that has the property.
  ///
  /// - Throws: a `ToolError` if an embedded object on the way is missing.
  func object(of key: ObjectKey, _ session: WriteSession) throws -> ObjectRef {
    var object = ObjectRef(classID: described.id, key: key)
    for step in way {
      guard let target = step.target,
        case .link(let next)? = try session.value(of: step.id, at: object.key, in: object.classID)
      else {
        let name = try ContentJSON.name(of: key, in: described.id, Rows(session))
        throw ToolError(
          "\(described.name) \(ValueText.shown(name)) has null in '\(step.name)': set all of it, "
            + "as \(step.name)={…}")
      }
      object = ObjectRef(classID: target, key: next)
    }
    return object
  }
}
