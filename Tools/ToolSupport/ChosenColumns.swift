package import TarnStore
package import TarnText

/// The properties to write, chosen by paths: a property at the end of a path is written as a whole;
/// of a property within a path, with its embedded objects, only the chosen parts are.
package struct ChosenColumns: Sendable, Equatable {
  /// Names are compared by their bytes.
  private struct Member: Equatable {
    let name: String
    var chosen: ChosenColumns
  }

  private var members: [Member] = []
  /// Whether a path ends here.
  private var isWhole = false

  /// - Parameter paths: as key paths are written: `name`, `address.city`.
  package init(_ paths: [String]) {
    for path in paths { add(PathText.names(in: path)[...]) }
  }

  private init() {}

  private mutating func add(_ names: ArraySlice<String>) {
    guard let name = names.first else {
      isWhole = true
      return
    }
    let place = members.firstIndex { $0.name.hasSameBytes(as: name) } ?? members.endIndex
    if place == members.endIndex { members.append(Member(name: name, chosen: ChosenColumns())) }
    members[place].chosen.add(names.dropFirst())
  }

  /// The names of the properties, in the order of the paths.
  package var names: [String] { members.map(\.name) }

  /// - Parameter followsLinks: whether a path may continue through a link to another object.
  /// - Throws: for names that the class, or an embedded class, does not have.
  package func check(
    on described: ClassSchema, _ schema: StoreSchema, followsLinks: Bool
  ) throws(ToolError) {
    for member in members {
      guard let column = described.named(member.name) else {
        let names = described.shownColumns.map(\.name)
        throw ToolError(
          "class \(described.name) has no column '\(member.name)'; it has: "
            + names.joined(separator: ", "))
      }
      let inner = member.chosen
      guard let first = inner.members.first else { continue }
      guard let target = column.target.flatMap({ schema[$0] }), target.isEmbedded || followsLinks
      else {
        throw ToolError(
          "class \(described.name): '\(member.name)' holds no embedded objects, so nothing in it "
            + "is called '\(first.name)'; give '\(member.name)' alone")
      }
      try inner.check(on: target, schema, followsLinks: followsLinks)
    }
  }

  /// The choice within a property; nil if it is not written.
  package func within(_ name: String) -> ChosenColumns? {
    isWhole ? self : members.first { $0.name.hasSameBytes(as: name) }?.chosen
  }

  /// The part of a property's value that is written.
  ///
  /// - Parameter column: the property that this is the choice within.
  package func part(
    of value: JSONValue, _ column: ColumnSchema, _ schema: StoreSchema
  ) -> JSONValue {
    guard !isWhole, let target = column.target.flatMap({ schema[$0] }), target.isEmbedded else {
      return value
    }
    switch (column.collection, value) {
    case (.none, .object(let members)): return object(members, target, schema)
    case (.list, .array(let items)), (.set, .array(let items)):
      return .array(items.map { element($0, target, schema) })
    case (.map, .object(let members)):
      return .object(members.map { JSONMember($0.name, element($0.value, target, schema)) })
    default: return value
    }
  }

  /// The same for an element of a property that is a list, a set or a map.
  package func part(
    ofElement value: JSONValue, _ column: ColumnSchema, _ schema: StoreSchema
  ) -> JSONValue {
    guard !isWhole, let target = column.target.flatMap({ schema[$0] }), target.isEmbedded else {
      return value
    }
    return element(value, target, schema)
  }

  private func element(
    _ value: JSONValue, _ target: ClassSchema, _ schema: StoreSchema
  ) -> JSONValue {
    if case .object(let members) = value { object(members, target, schema) } else { value }
  }

  private func object(
    _ members: [JSONMember], _ target: ClassSchema, _ schema: StoreSchema
  ) -> JSONValue {
    .object(
      members.compactMap { member in
        guard let inner = within(member.name), let column = target.named(member.name) else {
          return nil
        }
        return JSONMember(member.name, inner.part(of: member.value, column, schema))
      })
  }
}
