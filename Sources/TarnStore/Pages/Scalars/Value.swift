/// One property's value, outside the file. Hot paths read columns directly; this form is for code
/// that handles any type: predicates' constants, change details, import, export, the shell.
package enum Value: Sendable {
  case null
  case int(Int64)
  case bool(Bool)
  case float(Float)
  case double(Double)
  case string(String)
  case data([UInt8])
  case date(Timestamp)
  case objectID(Bytes12)
  case uuid(Bytes16)
  /// An IEEE 754-2008 decimal128, in the binary integer encoding.
  case decimal(Bytes16)
  /// A to-one link: the key of an object in the column's target class.
  case link(ObjectKey)
  /// An object in a mixed value, which therefore includes the class.
  case object(ClassID, ObjectKey)
  /// A list in a mixed value.
  case list(CollectionID)
  /// A map in a mixed value.
  case map(CollectionID)
}

extension Value {
  /// An unmanaged object, which no property can hold. No class has that id.
  package static let unmanagedObject = Value.object(ClassID(.max), ObjectKey(.max))

  /// The type of a column for the value; nil for null and for collections.
  var scalarType: ColumnType? {
    switch self {
    case .null, .list, .map: nil
    case .int: .int
    case .bool: .bool
    case .float: .float
    case .double: .double
    case .string: .string
    case .data: .data
    case .date: .date
    case .objectID: .objectID
    case .uuid: .uuid
    case .decimal: .decimal
    case .link, .object: .link
    }
  }

  /// The list or map, if the value is one.
  var collection: CollectionID? {
    switch self {
    case .list(let id), .map(let id): id
    default: nil
    }
  }

  /// True for a reference to an object.
  var isLink: Bool {
    switch self {
    case .link, .object: true
    default: false
    }
  }
}

/// The type of a column. The raw values are on disk, and are those of `PropertyType`.
package enum ColumnType: UInt8, Sendable, CaseIterable {
  case int = 0
  case bool = 1
  case string = 2
  case data = 3
  case date = 4
  case float = 5
  case double = 6
  case link = 7
  /// A mixed value, including nil.
  case any = 9
  case objectID = 10
  case decimal = 11
  case uuid = 12
}

/// How many values a column has per object. The raw values are on disk.
package enum CollectionKind: UInt8, Sendable, CaseIterable {
  /// One value of the column's type.
  case none = 0
  /// Values in an order given by the program, with duplicates.
  case list = 1
  /// Values without duplicates, in the order of values.
  case set = 2
  /// Values under string keys, in the order of the keys' UTF-8.
  case map = 3
}

/// The treatment of the objects that a column links to when the linking object is deleted. The raw
/// values are on disk.
package enum DeleteRule: UInt8, Sendable, CaseIterable {
  /// They stay.
  case nullify = 0
  /// They are deleted, too.
  case cascade = 1
}

/// A point in time: seconds since 1970 and nanoseconds 0..<1_000_000_000 after them.
package struct Timestamp: Hashable, Comparable, Sendable {
  package var seconds: Int64
  package var nanoseconds: Int32
  package init(seconds: Int64, nanoseconds: Int32) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }
  package static func < (a: Self, b: Self) -> Bool {
    (a.seconds, a.nanoseconds) < (b.seconds, b.nanoseconds)
  }
}

/// Twelve bytes in order, as in an ObjectId; compares bytewise.
package struct Bytes12: Hashable, Comparable, Sendable {
  /// The first eight bytes, most significant first.
  package var high: UInt64
  /// The last four bytes, most significant first.
  package var low: UInt32
  package init(high: UInt64, low: UInt32) {
    self.high = high
    self.low = low
  }
  package static func < (a: Self, b: Self) -> Bool { (a.high, a.low) < (b.high, b.low) }
}

/// Sixteen bytes in order, as in a UUID; compares bytewise.
package struct Bytes16: Hashable, Comparable, Sendable {
  /// The first eight bytes, most significant first.
  package var high: UInt64
  /// The last eight bytes, most significant first.
  package var low: UInt64
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
  package static func < (a: Self, b: Self) -> Bool { (a.high, a.low) < (b.high, b.low) }
}

extension ColumnType {
  /// The default where null is not allowed; null for links and mixed values, which have no such
  /// default.
  package var zero: Value {
    switch self {
    case .int: .int(0)
    case .bool: .bool(false)
    case .string: .string("")
    case .data: .data([])
    case .date: .date(Timestamp(seconds: 0, nanoseconds: 0))
    case .float: .float(0)
    case .double: .double(0)
    case .objectID: .objectID(Bytes12(high: 0, low: 0))
    case .uuid: .uuid(Bytes16(high: 0, low: 0))
    case .decimal: .decimal(DecimalNumber(0).cell)
    case .link, .any: .null
    }
  }
}
