/// The order of groups: null, NaN, then by value, strings byte by byte, as rows are sorted. All NaN
/// are one group, and so are 0 and -0, and equal decimals.
extension GroupValue: Comparable {
  static let null = GroupValue.scalar(.null)

  static func < (a: GroupValue, b: GroupValue) -> Bool {
    switch (a, b) {
    case (.scalar(let a), .scalar(let b)): Scalar.compare(a, b) < 0
    case (.bytes(let a), .bytes(let b)): a.lexicographicallyPrecedes(b)
    // A column of strings has only null besides strings.
    case (.scalar, .bytes): true
    case (.bytes, .scalar): false
    case (.any, _), (_, .any): trap("internal error: groups by a mixed column")
    }
  }

  /// The value for a column of that type; equal group values always give the same one.
  func value(of type: ColumnType) -> Value {
    switch (self, type) {
    case (.bytes(let bytes), .string): .string(String(decoding: bytes, as: UTF8.self))
    case (.bytes(let bytes), _): .data(bytes)
    case (.any(let key), _): key.value
    case (.scalar(.double(let number)), .float): .float(Float(Self.only(number)))
    case (.scalar(.double(let number)), _): .double(Self.only(number))
    case (.scalar(.decimal(let number)), _): .decimal(number.shortest.cell)
    case (.scalar(let scalar), _): scalar.value
    }
  }

  private static func only(_ number: Double) -> Double {
    number.isNaN ? .nan : number == 0 ? 0 : number
  }
}
