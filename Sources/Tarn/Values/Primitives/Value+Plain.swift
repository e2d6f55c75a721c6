import Foundation
import TarnStore

extension Value {
  /// The value in the type of a dynamic property: `Int` for every integer. Nil for null, for links,
  /// and for lists and maps.
  var plain: Any? {
    switch self {
    case .null, .link, .object, .list, .map: nil
    case .int(let number): Int(number)
    case .bool(let value): value
    case .float(let value): value
    case .double(let value): value
    case .string(let value): value
    case .data(let bytes): Data(bytes)
    case .date(let time): Date(time)
    case .objectID(let bytes): ObjectId(bytes)
    case .uuid(let bytes): UUID(bytes)
    case .decimal(let cell): Decimal128(cell)
    }
  }
}
