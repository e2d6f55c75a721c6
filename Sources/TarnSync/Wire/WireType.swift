import TarnStore

/// A type of PostgreSQL in its binary protocol. Narrower types of an application's table are cast
/// by the statements.
enum WireType: UInt32, Sendable, CaseIterable {
  case boolean = 16
  case bytea = 17
  case bigint = 20
  case text = 25
  case real = 700
  case double = 701
  case timestamp = 1184
  case numeric = 1700
  case uuid = 2950
  case jsonb = 3802

  /// For properties with one value; mixed values and structured ones are jsonb.
  ///
  /// - Parameter type: the type of the property, or for a link of the target's primary key.
  init(_ type: ColumnType) {
    self =
      switch type {
      case .int, .link: .bigint
      case .bool: .boolean
      case .string: .text
      case .data, .objectID: .bytea
      case .date: .timestamp
      case .float: .real
      case .double: .double
      case .decimal: .numeric
      case .uuid: .uuid
      case .any: .jsonb
      }
  }

  /// The number of the array's type.
  var array: UInt32 {
    switch self {
    case .boolean: 1000
    case .bytea: 1001
    case .bigint: 1016
    case .text: 1009
    case .real: 1021
    case .double: 1022
    case .timestamp: 1185
    case .numeric: 1231
    case .uuid: 2951
    case .jsonb: 3807
    }
  }

  /// The name that statements cast to.
  var name: String {
    switch self {
    case .boolean: "boolean"
    case .bytea: "bytea"
    case .bigint: "bigint"
    case .text: "text"
    case .real: "real"
    case .double: "double precision"
    case .timestamp: "timestamptz"
    case .numeric: "numeric"
    case .uuid: "uuid"
    case .jsonb: "jsonb"
    }
  }

  /// Values as one array parameter.
  func array(of values: [[UInt8]?]) -> [UInt8] {
    var writer = BigEndianWriter()
    // One dimension, whether there is a null, the type, the number of values, and the first index.
    writer.write(Int32(values.isEmpty ? 0 : 1))
    writer.write(Int32(values.contains { $0 == nil } ? 1 : 0))
    writer.write(rawValue)
    if values.isEmpty { return writer.bytes }
    writer.write(Int32(values.count))
    writer.write(Int32(1))
    for value in values {
      guard let value else {
        writer.write(Int32(-1))
        continue
      }
      writer.write(Int32(value.count))
      writer.write(value)
    }
    return writer.bytes
  }
}
