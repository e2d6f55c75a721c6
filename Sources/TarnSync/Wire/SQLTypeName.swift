import TarnStore

/// The name of a type in the form of PostgreSQL's `format_type`, possibly with a collation:
/// `character varying(5)[]`, `text COLLATE "C"`.
struct SQLTypeName {
  /// Without quotes around a plain name: `quote_all_identifiers` adds some.
  let text: String
  /// Without length, precision and collation: `character varying[]`, `timestamp with time zone`.
  let base: String

  init(_ name: String) {
    let type = Self.beforeCollation(name)
    let bare = Self.unquoted(type)
    text = bare + (name.rest(afterBytesOf: type) ?? "")
    base = Self.withoutModifier(bare)
  }

  private static func beforeCollation(_ name: String) -> String {
    guard let place = name.utf8.firstRange(of: " COLLATE ".utf8) else { return name }
    return String(name[..<place.lowerBound])
  }

  /// Names that need quotes keep them: they are types of an application.
  private static func unquoted(_ name: String) -> String {
    guard name.beginsWithBytes(of: "\"") else { return name }
    let inner = name.utf8.dropFirst()
    guard let end = inner.firstIndex(of: UInt8(ascii: "\"")) else { return name }
    let isPlain = inner[..<end].allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
    }
    let rest = name[name.utf8.index(after: end)...]
    guard isPlain, !rest.beginsWithBytes(of: "\"") else { return name }
    return String(name[inner.startIndex..<end]) + rest
  }

  private static func withoutModifier(_ name: String) -> String {
    guard !name.beginsWithBytes(of: "\""), let open = name.firstASCII("("),
      let close = name[open...].firstASCII(")")
    else { return name }
    return String(name[..<open]) + name[name.utf8.index(after: close)...]
  }

  /// The property type for a column of this type; nil if it cannot be a property, or has parts.
  var propertyType: ColumnType? {
    switch base {
    case "bigint", "integer", "smallint": .int
    case "boolean": .bool
    case "bytea": .data
    case "real": .float
    case "double precision": .double
    case "uuid": .uuid
    case "text", "character varying": .string
    case "timestamp with time zone": .date
    case "numeric": .decimal
    default: nil
    }
  }
}
