@testable import TarnStore

/// Classes with a property of every kind.
enum PastClasses {
  static let thing = ClassID(0)
  static let other = ClassID(1)
  static let part = ClassID(2)

  static let all = [
    ClassDefinition(
      name: "Thing",
      properties: [.init(name: "id", type: .int, isPrimaryKey: true)] + scalars(isOptional: false)
        + scalars(isOptional: true) + collections + anything + [
          .init(name: "other", type: .link, isOptional: true, target: "Other"),
          .init(name: "things", type: .link, collection: .list, target: "Thing"),
          .init(name: "others", type: .link, collection: .set, target: "Other"),
          .init(
            name: "otherByName", type: .link, collection: .map, isOptional: true, target: "Other"),
          .init(name: "part", type: .link, isOptional: true, target: "Part"),
          .init(name: "parts", type: .link, collection: .list, target: "Part"),
          .init(
            name: "partByName", type: .link, collection: .map, isOptional: true, target: "Part"),
        ]),
    ClassDefinition(
      name: "Other",
      properties: [
        .init(name: "name", type: .string, isOptional: true, isPrimaryKey: true),
        .init(name: "text", type: .string, isIndexed: true),
        .init(name: "thing", type: .link, isOptional: true, target: "Thing"),
        .init(
          name: "owned", type: .link, collection: .list, target: "Other", deleteRule: .cascade),
        .init(name: "any", type: .any),
      ]),
    ClassDefinition(
      name: "Part",
      properties: [
        .init(name: "size", type: .int), .init(name: "text", type: .string),
        .init(name: "thing", type: .link, isOptional: true, target: "Thing"),
        .init(name: "inner", type: .link, collection: .list, target: "Part"),
        .init(name: "numbers", type: .int, collection: .list),
      ], isEmbedded: true),
  ]

  static let scalarTypes: [ColumnType] = [
    .int, .bool, .string, .data, .date, .float, .double, .objectID, .decimal, .uuid,
  ]

  private static func scalars(isOptional: Bool) -> [ClassDefinition.Property] {
    scalarTypes.map { type in
      let mayBeIndexed = isOptional && [.int, .string, .uuid].contains(type)
      return .init(
        name: "\(type)\(isOptional ? "OrNil" : "")", type: type, isOptional: isOptional,
        isIndexed: mayBeIndexed)
    }
  }

  private static let collections: [ClassDefinition.Property] = [
    .init(name: "ints", type: .int, collection: .list),
    .init(name: "texts", type: .string, collection: .list, isOptional: true),
    .init(name: "textSet", type: .string, collection: .set),
    .init(name: "doubleSet", type: .double, collection: .set),
    .init(name: "intByName", type: .int, collection: .map),
    .init(name: "dataByName", type: .data, collection: .map, isOptional: true),
  ]

  private static let anything: [ClassDefinition.Property] = [
    .init(name: "any", type: .any), .init(name: "anyList", type: .any, collection: .list),
    .init(name: "anySet", type: .any, collection: .set),
    .init(name: "anyByName", type: .any, collection: .map),
  ]
}
