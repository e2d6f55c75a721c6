/// The value as people write it, for messages: 2, not int(2). See `predicateText` for a form that
/// can be read back.
extension Value: CustomStringConvertible {
  package var description: String {
    switch self {
    case .null: "nil"
    case .string(let text): text
    case .bool(let value): value ? "true" : "false"
    case .data(let bytes): "\(bytes.count) bytes"
    case .date(let date): date.iso8601
    case .objectID(let id): id.hexadecimal
    case .uuid(let uuid): uuid.uuidText
    case .decimal(let cell): DecimalNumber(cell).text
    case .link(let key), .object(_, let key): "object \(key.rawValue)"
    case .list: "a list"
    case .map: "a map"
    case .int, .float, .double: predicateText
    }
  }
}
